//! truth 2.1: the tokens that a client gets for each kind of statement, decoded from a server's
//! packets, without and with NOCOUNT, in batches, procedures, triggers and calls.
//!
//! A response is spelled token by token: `info N`, `error N`, `columns`, `row`, `env`, `status N`,
//! `value`, and for each DONE its kind (`done`, `inproc`, `proc`), the statement in hexadecimal,
//! `=n` for a count, `!` for an error, `!!` for one that ends the connection, `t` for an open
//! transaction, `+` where more follows.

use crate::ground::client::Client;
use crate::ground::figure::Figure;
use crate::ground::program::{Ground, ServerProcess};
use checks::Outcome;
use tds::{DoneKind, DoneStatus, DoneToken, Token};

/// What is made first.
const SCHEMA: &[&str] = &[
    "create database test",
    "use test; create table t (a int); create table log (a int)",
    "use test; exec ('create procedure two as begin print ''in''; insert t values (1); \
     return 3 end')",
    "use test; exec ('create procedure outer_two as begin exec two; raiserror(''x'', 16, 1); \
     select 1 a end')",
    "use test; exec ('create procedure quiet as begin set nocount on; print ''in''; \
     insert t values (2); raiserror(''x'', 16, 1); select 1 a end')",
    "use test; exec ('create trigger tr on log after insert as begin print ''fired''; \
     insert t select a from inserted end')",
];

/// Batches and the tokens that answer them; those of the issue first.
const STREAMS: &[(&str, &str)] = &[
    ("use test; select 1/0", "env info 5701 done:0+ columns error 8134 done:c1!"),
    ("print 'a'; print 'b'", "info 0 done:f7+ info 0 done:f7"),
    ("raiserror('x', 10, 1); raiserror('y', 16, 1)", "info 50000 done:f7+ error 50000 done:f7!"),
    ("create table n (a int); drop table n", "done:c6+ done:c7"),
    ("create table n (a int); create index ix on n (a)", "done:c6+ done:c8"),
    ("alter table n add b int; drop index ix on n; drop table n", "done:d8+ done:c9+ done:c7"),
    ("insert t values (1), (2); update t set a = 3", "done:c3=2+ done:c5=2"),
    ("delete t where a = 9; select a from t where a = 9", "done:c4=0+ columns done:c1=0"),
    ("select top (1) a into n from t; drop table n", "done:c2=1+ done:c7"),
    ("merge t using (values (9)) s (a) on t.a = s.a when matched then delete;", "done:117=0"),
    (
        "declare @x int = 1; set @x = 2; select @x = 3; print 'x'",
        "done:f9+ done:c1=1+ info 0 done:f7",
    ),
    ("if 1 = 1 print 'x' else print 'y'; while 1 = 0 print 'z'", "info 0 done:f7"),
    ("set nocount off; set datefirst 7; waitfor delay '00:00'", "done:ba+ done:f9+ done:0"),
    ("begin tran; save tran s; rollback tran s; commit", "done:d4t+ done:0t+ done:d2t+ done:d5"),
    ("begin tran", "env done:d4t"),
    ("rollback", "env done:d2"),
    (
        "declare c cursor for select a from t order by a; open c; fetch c; declare @x int; \
         fetch c into @x; close c; deallocate c",
        "done:20+ columns row done:c1=1+ done:0+ done:0+ done:0",
    ),
    ("set nocount on; print 'a'; insert t values (4)", "done:b9+ info 0 done:f7+ done:c3"),
    (
        "insert t values (5); select 1 a; insert t values (6)",
        "done:c3+ columns row done:c1+ done:c3",
    ),
    ("insert t output inserted.a values (8); print 'b'", "columns row done:c3+ info 0 done:f7"),
    ("raiserror('x', 16, 1); print 'b'", "error 50000 done:f7!+ info 0 done:f7"),
    ("set nocount off", "done:ba"),
    ("exec two", "info 0 inproc:f7+ inproc:c3=1+ status 3 proc:e0"),
    (
        "exec outer_two",
        "info 0 inproc:f7+ inproc:c3=1+ inproc:e0+ error 50000 inproc:f7!+ columns row \
         inproc:c1=1+ status -6 proc:e0",
    ),
    ("exec quiet", "info 0 error 50000 columns row inproc:c1+ status -6 proc:e0"),
    ("exec ('print ''x''')", "info 0 inproc:f7+ status 0 proc:e0"),
    ("insert log values (7)", "info 0 inproc:f7t+ inproc:c3=1t+ done:c3=1"),
    ("throw 50001, 'x', 1; print 'y'", "error 50001 done:0!"),
    ("select cast('x' as int)", "columns error 245 done:c1!"),
    ("select from", "error 156 done:0!"),
    ("begin tran; throw 50001, 'x', 1", "done:d4t+ error 50001 env done:0!t"),
    ("rollback; use master", "done:d2+ env info 5701 env done:0"),
    ("use test; commit", "env info 5701 done:0+ error 3902 done:d5!"),
];

/// Each batch over one connection: how many streams are as they must be, and the first that is not.
pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let folder = ground.folder("truth.streams")?;
    let mut serving = ServerProcess::start(&ground.binary()?, &folder.join("data"))?;
    let wrong = differences(&mut serving.client()?)?;
    serving.stop()?;
    let right = STREAMS.len() - wrong.len();
    Ok(vec![Figure {
        what: "streams of tokens that say what they must".to_owned(),
        figure: match wrong.first() {
            Some(first) => format!("{right} of {}; {first}", STREAMS.len()),
            None => format!("{right} of {}", STREAMS.len()),
        },
        limit: "all".to_owned(),
        pass: wrong.is_empty(),
    }])
}

fn differences(client: &mut Client) -> Outcome<Vec<String>> {
    let told = |e: std::io::Error| format!("ask the server: {e}");
    for text in SCHEMA {
        client.batch(text).map_err(told)?;
    }
    let mut wrong = Vec::new();
    for (text, wanted) in STREAMS {
        let said = spelled(&client.tokens(text).map_err(told)?);
        if said != *wanted {
            wrong.push(format!("{text}: {said}"));
        }
    }
    Ok(wrong)
}

fn spelled(tokens: &[Token]) -> String {
    let words: Vec<String> = tokens.iter().map(word).collect();
    words.join(" ")
}

fn word(token: &Token) -> String {
    match token {
        Token::Info(notice) => format!("info {}", notice.number),
        Token::Error(notice) => format!("error {}", notice.number),
        Token::Columns(_) => "columns".to_owned(),
        Token::Row(_) => "row".to_owned(),
        Token::EnvChange(_) => "env".to_owned(),
        Token::ReturnStatus(status) => format!("status {status}"),
        Token::ReturnValue(_) => "value".to_owned(),
        Token::Done(done) => done_word(done),
        other => format!("{other:?}"),
    }
}

fn done_word(done: &DoneToken) -> String {
    let kind = match done.kind {
        DoneKind::Done => "done",
        DoneKind::InProc => "inproc",
        DoneKind::Proc => "proc",
    };
    let has = |bit, text| if done.status.has(bit) { text } else { "" };
    let count = match done.status.has(DoneStatus::COUNT) {
        true => format!("={}", done.count),
        false => String::new(),
    };
    let error = has(DoneStatus::ERROR, "!");
    let fatal = has(DoneStatus::SERVER_ERROR, "!");
    let open = has(DoneStatus::IN_XACT, "t");
    let more = has(DoneStatus::MORE, "+");
    format!("{kind}:{:x}{count}{error}{fatal}{open}{more}", done.command)
}
