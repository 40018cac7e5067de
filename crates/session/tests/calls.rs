//! What clients do beside batches: calls by number and name, transaction requests, attention.

mod fake;
mod transcript;

use fake::Fake;
use os::wait::CancelReason;
use session::{
    Connection, Login, Parameter, Procedure, Request, Session, TransactionIsolation,
    TransactionRequest,
};
use std::sync::Arc;
use transcript::Transcript;
use types::{SqlType, Value};

fn session(host: &Arc<Fake>) -> Session {
    let login = Login { user: "sa".to_owned(), database: "fake".to_owned(), ..Login::default() };
    Session::new(Arc::clone(host) as Arc<dyn session::Host>, login).expect("a session")
}

fn run(session: &mut Session, request: Request) -> String {
    let mut transcript = Transcript::default();
    assert!(session.run(request, &mut transcript), "the connection stays open");
    transcript.text
}

fn batch(session: &mut Session, text: &str) -> String {
    run(session, Request::Batch(text.to_owned()))
}

fn text(value: &str) -> Parameter {
    parameter("", SqlType::NVARCHAR_MAX, Value::nvarchar(value))
}

fn int(name: &str, value: i32) -> Parameter {
    parameter(name, SqlType::Int, Value::Int(value))
}

fn parameter(name: &str, sql_type: SqlType, value: Value) -> Parameter {
    let (name, table) = (name.to_owned(), None);
    Parameter { name, sql_type, value, output: false, default: false, table }
}

fn output(mut parameter: Parameter) -> Parameter {
    parameter.output = true;
    parameter
}

fn call(session: &mut Session, number: u16, parameters: Vec<Parameter>) -> String {
    let procedure = Procedure::Numbered(number);
    run(session, Request::Call { procedure, parameters, more: false })
}

/// Status, output values and DONEPROC come in the order that drivers expect.
#[test]
fn sp_executesql_gives_rows_status_and_outputs() {
    let host = Fake::new();
    let mut s = session(&host);
    let parameters = || {
        vec![
            text("select @a as a; set @b = @a + 1"),
            text("@a int, @b int output"),
            int("@a", 4),
            output(parameter("@b", SqlType::Int, Value::Null)),
        ]
    };
    let expected = "[a]\n4\n(InProcedure 1 rows)\nstatus 0\n@b int = 5\n(Procedure)\n";
    assert_eq!(call(&mut s, 10, parameters()), expected);
    let before = host.cache_counters();
    assert_eq!(call(&mut s, 10, parameters()), expected);
    let after = host.cache_counters();
    assert_eq!((after.misses, after.hits), (before.misses, before.hits + 1), "compiled once");
}

/// A prepared statement runs by its handle until it is given back.
#[test]
fn prepared_statements_live_by_their_handles() {
    let host = Fake::new();
    let mut s = session(&host);
    let handle = || output(parameter("", SqlType::Int, Value::Null));
    let prepare = vec![handle(), text("@p int"), text("select @p * 2 as twice"), int("", 21)];
    let given = call(&mut s, 13, prepare.clone());
    let expected = "[twice]\n42\n(InProcedure 1 rows)\nstatus 0\n int = 1\n(Procedure)\n";
    assert_eq!(given, expected);
    let again = call(&mut s, 12, vec![int("", 1), int("", 4)]);
    assert_eq!(again, "[twice]\n8\n(InProcedure 1 rows)\nstatus 0\n(Procedure)\n");
    let given = call(&mut s, 11, prepare[..3].to_vec());
    assert_eq!(given, "status 0\n int = 2\n(Procedure)\n");
    assert_eq!(call(&mut s, 15, vec![int("", 1)]), "status 0\n(Procedure)\n");
    for number in [12, 15] {
        let gone = call(&mut s, number, vec![int("", 1), int("", 4)]);
        assert!(gone.contains("Could not find prepared statement with handle 1"), "{gone}");
    }
    let missing = call(&mut s, 12, vec![int("", 2)]);
    assert!(missing.contains("Msg 8178"), "{missing}");
    let wrong = call(&mut s, 11, vec![handle(), text(""), text("select * frm t")]);
    assert!(wrong.contains("Msg 102"), "{wrong}");
}

/// Errors of calls: unknown names, parameters that are missing.
#[test]
fn calls_that_fail_end_with_an_error() {
    let host = Fake::new();
    let mut s = session(&host);
    let mut named = |name: &str| {
        let procedure = Procedure::Named(name.to_owned());
        run(&mut s, Request::Call { procedure, parameters: vec![], more: false })
    };
    let missing = named("dbo.missing");
    assert_eq!(
        missing,
        "Msg 2812, Level 16, State 62, Line 1: Could not find stored procedure 'dbo.missing'.\n\
         (Procedure error)\n"
    );
    assert!(named("a.b.c.d.e").contains("Msg 117"));
    let cursor = call(&mut s, 2, vec![]);
    assert!(cursor.contains("Msg 214") && cursor.contains("(Procedure error)"), "{cursor}");
}

/// A procedure that says no status has 10 minus the highest severity of its errors, also where one
/// of them ended it.
#[test]
fn a_called_procedure_has_the_status_of_its_errors() {
    let host = Fake::new();
    let mut s = session(&host);
    let bodies = [
        ("divides", "select 1 / 0", -6),
        ("raises", "raiserror('r', 14, 1)", -4),
        ("catches", "begin try select 1 / 0 end try begin catch end catch", -6),
        ("ends", "select * from nope", -6),
        ("says", "select 1 / 0; return 7", 7),
        ("warns", "raiserror('w', 10, 1)", 0),
    ];
    for (name, body, status) in bodies {
        batch(&mut s, &format!("create procedure {name} as {body}"));
        let procedure = Procedure::Named(name.to_owned());
        let told = run(&mut s, Request::Call { procedure, parameters: Vec::new(), more: false });
        assert!(told.contains(&format!("status {status}\n")), "{name}: {told}");
    }
}

/// Clients learn of transactions that began and ended, by text or by request.
#[test]
fn transactions_are_told_as_changes_of_the_environment() {
    let host = Fake::new();
    let mut s = session(&host);
    let mut request = |r| run(&mut s, Request::Transaction(r));
    let begin = || TransactionRequest::Begin {
        name: String::new(),
        isolation: TransactionIsolation::Serializable,
    };
    assert_eq!(request(begin()), "transaction began\n");
    let next = Some((TransactionIsolation::Unchanged, String::new()));
    let chained = TransactionRequest::Commit { name: String::new(), next };
    assert_eq!(request(chained), "transaction committed\ntransaction began\n");
    let rollback = TransactionRequest::Rollback { name: String::new(), next: None };
    assert_eq!(request(rollback.clone()), "transaction rolled back\n");
    assert!(request(rollback).contains("Msg 3903"));
    assert_eq!(batch(&mut s, "begin tran; commit"), "", "nothing that a client need know");
    assert_eq!(batch(&mut s, "begin tran"), "transaction began\n");
    assert_eq!(batch(&mut s, "print @@trancount"), "1\n");
    assert_eq!(host.sessions()[0].isolation_level, 4);
    assert_eq!(host.sessions()[0].open_transaction_count, 1);
}

/// Under IMPLICIT_TRANSACTIONS a call begins what its client ends, and is not told of a mismatch; a
/// transaction that the client begins by a request is one.
#[test]
fn calls_begin_implicit_transactions() {
    let host = Fake::new();
    let mut s = session(&host);
    batch(&mut s, "create table i (a int)");
    batch(&mut s, "set implicit_transactions on");
    let commit = || TransactionRequest::Commit { name: String::new(), next: None };
    let insert = || vec![text("insert i values (1)")];
    let handle = output(parameter("", SqlType::Int, Value::Null));
    let prepexec = vec![handle, text(""), text("insert i values (2)")];
    for (number, parameters) in [(10, insert()), (13, prepexec), (10, insert())] {
        let said = call(&mut s, number, parameters);
        assert!(said.contains("status 0") && said.contains("transaction began"), "{said}");
        assert!(!said.contains("Msg"), "{said}");
        assert_eq!(batch(&mut s, "print @@trancount"), "1\n");
        assert_eq!(run(&mut s, Request::Transaction(commit())), "transaction committed\n");
    }
    let said = call(&mut s, 10, vec![text("insert i values (3); commit")]);
    assert!(!said.contains("Msg"), "{said}");
    let begin = TransactionRequest::Begin {
        name: String::new(),
        isolation: TransactionIsolation::Unchanged,
    };
    assert_eq!(run(&mut s, Request::Transaction(begin)), "transaction began\n");
    assert_eq!(batch(&mut s, "print @@trancount"), "1\n");
    let said = call(&mut s, 10, vec![text("commit")]);
    assert!(said.contains("Msg 266"), "{said}");
}

/// An attention ends a wait, keeps the transaction, and the session goes on.
#[test]
fn an_attention_ends_the_request_and_nothing_else() {
    let host = Fake::new();
    let mut s = session(&host);
    let waiter = s.waiter();
    let canceller = os::task::spawn("attention", move || {
        os::task::sleep_ns(20_000_000);
        waiter.cancel(CancelReason::Attention);
    });
    let began = os::clock::monotonic_ns();
    let given = batch(&mut s, "begin tran; waitfor delay '00:01'; print 'not here'");
    canceller.join().expect("it cancelled");
    assert!(os::clock::monotonic_ns() - began < 10_000_000_000);
    assert_eq!(given, "transaction began\n");
    s.waiter().reset();
    assert_eq!(batch(&mut s, "print @@trancount"), "1\n");
    // A loop without waits ends too.
    let waiter = s.waiter();
    waiter.cancel(CancelReason::Attention);
    assert_eq!(batch(&mut s, "while 1 = 1 set nocount on"), "");
}

/// KILL ends the connection at its next step, with an error that says so.
#[test]
fn a_killed_session_is_closed() {
    let host = Fake::new();
    let (mut a, mut b) = (session(&host), session(&host));
    let number = b.session_id();
    assert_eq!(batch(&mut a, &format!("kill {number}")), "");
    let mut transcript = Transcript::default();
    let goes_on = b.run(Request::Batch("select 1".to_owned()), &mut transcript);
    assert!(!goes_on && transcript.text.contains("Msg 596"), "{}", transcript.text);
    drop(b);
    assert_eq!(host.sessions().len(), 1);
}

/// A bug ends its connection, whose transaction is rolled back; others go on.
#[test]
fn a_panic_ends_its_connection_and_its_transaction() {
    let host = Fake::new();
    let (mut s, mut other) = (session(&host), session(&host));
    assert_eq!(batch(&mut s, "begin tran"), "transaction began\n");
    let mut transcript = Transcript::default();
    let goes_on = s.run(Request::Batch("checkpoint; print 'not here'".to_owned()), &mut transcript);
    assert!(!goes_on && transcript.ended, "{}", transcript.text);
    let wanted = "Msg 3624, Level 20, State 1, Line 1: A system assertion check has failed. Check \
        the Ghostlight error log for details: a planted bug.\ntransaction rolled back\n";
    assert!(transcript.text.starts_with(wanted), "{}", transcript.text);
    let open = host.sessions().iter().filter(|s| s.open_transaction_count > 0).count();
    assert_eq!(open, 0, "nothing is open");
    drop(s);
    assert_eq!(batch(&mut other, "print 'goes on'"), "goes on\n");
}

/// A reset leaves nothing of what the last user of a pooled connection did.
#[test]
fn a_reset_session_is_like_new() {
    let host = Fake::new();
    let mut s = session(&host);
    batch(&mut s, "set nocount on; set lock_timeout 5; create table #t (a int); begin tran");
    batch(&mut s, "dbcc traceon (3604); dbcc traceon (661, -1)");
    let mut transcript = Transcript::default();
    s.reset(false, &mut transcript);
    assert!(transcript.text.starts_with("transaction rolled back\n"), "{}", transcript.text);
    assert_eq!(batch(&mut s, "print @@options & 512; print @@lock_timeout"), "0\n-1\n");
    assert!(batch(&mut s, "select * from #t").contains("Msg 208"));
    // Flags of the server stay.
    let status = "dbcc tracestatus (3604, 661) with no_infomsgs";
    let shown = batch(&mut s, status);
    let columns = "[TraceFlag, Status, Global, Session]";
    assert!(shown.starts_with(&format!("{columns}\n3604, 0, 0, 0\n661, 1, 1, 0\n")), "{shown}");
}

/// The language that a login asks for is the session's, also after a reset. One that there is none
/// of fails the login, or gives way to the default where the client does not mind.
#[test]
fn a_login_brings_its_language() {
    let host = Fake::new();
    let login = |language: &str, language_or_nothing| {
        let (user, database) = ("sa".to_owned(), "fake".to_owned());
        let language = language.to_owned();
        let login = Login { user, database, language, language_or_nothing, ..Login::default() };
        Session::new(Arc::clone(&host) as Arc<dyn session::Host>, login)
    };
    let greeted = |s: &mut Session| {
        let mut transcript = Transcript::default();
        s.greet(&mut transcript);
        transcript.text
    };
    let asked = "print @@language; print datename(month, '20240501'); print @@datefirst";
    let mut s = login("French", true).expect("it is one");
    let told = greeted(&mut s);
    assert!(told.contains("Le paramètre de langue est passé à Français."), "{told}");
    assert_eq!(batch(&mut s, asked), "Français\nmai\n1\n");
    batch(&mut s, "set language Japanese; set dateformat ydm; set datefirst 3");
    let mut transcript = Transcript::default();
    s.reset(false, &mut transcript);
    assert!(transcript.text.contains("Français"), "{}", transcript.text);
    assert_eq!(batch(&mut s, asked), "Français\nmai\n1\n");
    assert_eq!(login("Klingon", true).err().map(|e| e.number()), Some(4019));
    let mut s = login("Klingon", false).expect("another is taken");
    let told = greeted(&mut s);
    assert!(told.contains("Msg 4016") && told.contains("to us_english."), "{told}");
    assert_eq!(batch(&mut s, asked), "us_english\nMay\n7\n");
}

/// Two sessions share a compiled batch, and both find a table that one of them made.
#[test]
fn a_definition_reaches_the_plans_of_others() {
    let host = Fake::new();
    let (mut a, mut b) = (session(&host), session(&host));
    let select = "select * from shared_table";
    assert!(batch(&mut b, select).contains("Msg 208"));
    batch(&mut a, "create table shared_table (x int); insert shared_table values (1)");
    assert_eq!(batch(&mut b, select), "[x]\n1\n(Statement 1 rows)\n");
    batch(&mut a, "drop table shared_table");
    assert!(batch(&mut b, select).contains("Msg 208"));
    batch(&mut a, "create table shared_table (y int)");
    assert_eq!(batch(&mut b, select), "[y]\n(Statement 0 rows)\n");
}

/// Text nested without end is an error, not the end of the process.
#[test]
fn nesting_without_end_is_an_error() {
    let host = Fake::new();
    let mut s = session(&host);
    let deep = format!("{}print 1{}", "begin ".repeat(100_000), " end".repeat(100_000));
    assert!(batch(&mut s, &deep).contains("Msg 191"));
    let ifs = format!("{}print 1", "if 1 = 1 ".repeat(100_000));
    assert!(batch(&mut s, &ifs).contains("Msg 191"));
    let recursion =
        "declare @t nvarchar(max) = N'exec sp_executesql @s, N''@s nvarchar(max)'', @s';
        exec sp_executesql @t, N'@s nvarchar(max)', @t";
    assert!(batch(&mut s, recursion).contains("Msg 217"));
}
