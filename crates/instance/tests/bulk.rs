//! INSERT BULK: what is announced, the rows that come, and what is said when they do not fit.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod heard;

use base::{SqlError, SqlResult, messages};
use heard::Response;
use instance::{Instance, InstanceOptions};
use os::disk::RealDisk;
use session::{BulkRows, Connection as _, Login, Session};
use std::path::PathBuf;
use std::sync::Arc;
use types::{Decimal, SqlType, Value};

const SCHEMA: &str = "CREATE TABLE dbo.T (id int IDENTITY(10, 5) CONSTRAINT PK_T PRIMARY KEY,
    name varchar(5) NOT NULL, d decimal(6, 2) NULL CONSTRAINT D_T_d DEFAULT 1.5, c char(3) NULL);
    CREATE TABLE dbo.Checked (a int CONSTRAINT CK_a CHECK (a > 0))";

struct ServedInstance {
    folder: PathBuf,
    instance: Arc<Instance>,
    session: Session,
}

impl ServedInstance {
    fn open(name: &str) -> ServedInstance {
        let folder = std::env::temp_dir().join(format!("ghostlight-{name}-{}", std::process::id()));
        let options = InstanceOptions { max_memory_bytes: 96 << 20, ..InstanceOptions::default() };
        let instance = Instance::open(Arc::new(RealDisk), &folder, options).unwrap();
        let session = instance.connect(Login::default()).unwrap();
        let mut served = ServedInstance { folder, instance, session };
        assert_eq!(served.ask(SCHEMA), Ok(Vec::new()));
        served
    }

    /// The rows of a batch as text, or its error's number.
    fn ask(&mut self, text: &str) -> Result<Vec<String>, i32> {
        let heard = Response::ask(&mut self.session, text);
        assert!(heard.goes_on, "{text}");
        heard.error().map_or(Ok(()), |e| Err(e.number()))?;
        let row =
            |row: &Vec<Value>| row.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
        Ok(heard.rows.iter().map(row).collect())
    }

    /// Announces and sends; the number of the error, if there is one.
    fn load(&mut self, statement: &str, sent: SentRows) -> Result<(), i32> {
        self.ask(statement)?;
        self.send(sent)
    }

    fn send(&mut self, mut sent: SentRows) -> Result<(), i32> {
        let mut heard = Response::default();
        heard.goes_on = self.session.load(&mut sent, &mut heard);
        assert!(heard.goes_on, "a bad row does not end the connection");
        heard.error().map_or(Ok(()), |e| Err(e.number()))
    }
}

impl Drop for ServedInstance {
    fn drop(&mut self) {
        let _ = self.instance.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Rows as a client sends them; a stream that is cut behind them, if so told.
struct SentRows {
    types: Vec<SqlType>,
    rows: std::vec::IntoIter<Vec<Value>>,
    cut: bool,
}

fn sent(types: &[SqlType], rows: Vec<Vec<Value>>) -> SentRows {
    SentRows { types: types.to_vec(), rows: rows.into_iter(), cut: false }
}

impl BulkRows for SentRows {
    fn columns(&self) -> &[SqlType] {
        &self.types
    }

    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool> {
        match self.rows.next() {
            Some(values) => {
                row.clone_from_slice(&values);
                Ok(true)
            }
            None if self.cut => Err(SqlError::new(messages::BULK_PREMATURE_END, &[])),
            None => Ok(false),
        }
    }
}

const NAME: SqlType = SqlType::varchar(5);

fn text(s: &str) -> Value {
    Value::varchar(s)
}

#[test]
fn columns_that_are_not_sent_and_nulls_get_what_insert_gives_them() {
    let mut s = ServedInstance::open("bulk-defaults");
    let d = SqlType::decimal(9, 3);
    let cents = |n| Value::Decimal(Decimal::new(n, 3).unwrap());
    let rows = || {
        vec![vec![text("a"), cents(2_500), text("x")], vec![text("b"), Value::Null, Value::Null]]
    };
    let types = [NAME, d, SqlType::Char(3)];
    let columns = "(name varchar(5), d decimal(9,3), c char(3))";
    assert_eq!(s.load(&format!("INSERT BULK dbo.T {columns}"), sent(&types, rows())), Ok(()));
    let kept = format!("INSERT BULK T {columns} WITH (KEEP_NULLS, TABLOCK, ROWS_PER_BATCH = 2)");
    assert_eq!(s.load(&kept, sent(&types, rows())), Ok(()));
    let told = s.ask("SELECT id, name, d, DATALENGTH(c) FROM dbo.T ORDER BY id");
    let expected =
        ["10 | a | 2.50 | 3", "15 | b | 1.50 | NULL", "20 | a | 2.50 | 3", "25 | b | NULL | NULL"];
    assert_eq!(told, Ok(expected.map(str::to_owned).to_vec()));
    // An identity column that is listed takes what is sent, and later values go beyond it.
    let ids = vec![vec![Value::Int(100), text("c")]];
    let listed = "INSERT BULK dbo.T (id int, name varchar(5))";
    assert_eq!(s.load(listed, sent(&[SqlType::Int, NAME], ids)), Ok(()));
    assert_eq!(s.ask("INSERT dbo.T (name) VALUES ('d')"), Ok(Vec::new()));
    let last = s.ask("SELECT id, name FROM dbo.T WHERE id >= 100 ORDER BY id");
    assert_eq!(last, Ok(vec!["100 | c".to_owned(), "105 | d".to_owned()]));
}

#[test]
fn a_load_that_fails_leaves_nothing_and_says_why() {
    let mut s = ServedInstance::open("bulk-failures");
    let listed = "INSERT BULK dbo.T (id int, name varchar(5))";
    let types = [SqlType::Int, NAME];
    let row = |id, name: &str| vec![Value::Int(id), text(name)];
    let twice = vec![row(1, "a"), row(2, "b"), row(1, "c")];
    assert_eq!(s.load(listed, sent(&types, twice)), Err(2627));
    let none = vec![row(1, "a"), vec![Value::Int(2), Value::Null]];
    assert_eq!(s.load(listed, sent(&types, none)), Err(515));
    // Longer than announced; of another type than announced; fewer columns; cut off.
    let wide = [SqlType::Int, SqlType::varchar(50)];
    assert_eq!(s.load(listed, sent(&wide, vec![row(1, "longer")])), Err(4815));
    let other = [SqlType::BigInt, NAME];
    let big = vec![vec![Value::BigInt(1), text("a")]];
    assert_eq!(s.load(listed, sent(&other, big)), Err(4816));
    assert_eq!(s.load(listed, sent(&types[..1], vec![vec![Value::Int(1)]])), Err(4804));
    let cut = SentRows { cut: true, ..sent(&types, vec![row(1, "a")]) };
    assert_eq!(s.load(listed, cut), Err(4804));
    assert_eq!(s.ask("SELECT COUNT(*) FROM dbo.T"), Ok(vec!["0".to_owned()]));
    // Within a transaction the load alone is undone.
    assert_eq!(s.ask("BEGIN TRAN; INSERT dbo.T (name) VALUES ('own')"), Ok(Vec::new()));
    assert_eq!(s.load(listed, sent(&types, vec![row(7, "a"), row(7, "b")])), Err(2627));
    assert_eq!(s.load(listed, sent(&types, vec![row(8, "c")])), Ok(()));
    let both = s.ask("COMMIT; SELECT name FROM dbo.T ORDER BY name");
    assert_eq!(both, Ok(vec!["c".to_owned(), "own".to_owned()]));
}

#[test]
fn rows_are_for_the_announcement_right_before_them_and_options_are_obeyed_or_refused() {
    let mut s = ServedInstance::open("bulk-options");
    let row = || sent(&[SqlType::Int], vec![vec![Value::Int(5)]]);
    assert_eq!(s.send(row()), Err(4805));
    let checked = "INSERT BULK dbo.Checked (a int) WITH (CHECK_CONSTRAINTS)";
    assert_eq!(s.ask(checked), Ok(Vec::new()));
    assert_eq!(s.ask("SELECT 1"), Ok(vec!["1".to_owned()]));
    assert_eq!(s.send(row()), Err(4805));
    assert_eq!(s.load(checked, row()), Ok(()));
    assert_eq!(s.send(row()), Err(4805));
    let wrong = sent(&[SqlType::Int], vec![vec![Value::Int(-5)]]);
    assert_eq!(s.load(checked, wrong), Err(547));
    let unknown = "INSERT BULK dbo.T (name varchar(5)) WITH (DATA_SOURCE = 'x')";
    assert_eq!(s.ask(unknown), Err(40517));
    assert_eq!(s.ask("INSERT BULK dbo.Nothing (a int)"), Err(208));
    assert_eq!(s.ask("INSERT BULK dbo.T (nothing int)"), Err(207));
}

/// Whether the constraints of `dbo.Child` are enabled and not trusted.
const TRUST: &str = "SELECT name, is_disabled, is_not_trusted FROM sys.check_constraints
    WHERE parent_object_id = OBJECT_ID('dbo.Child') UNION ALL
    SELECT name, is_disabled, is_not_trusted FROM sys.foreign_keys ORDER BY name";

const FAMILY: &str = "CREATE TABLE dbo.Parent (p int PRIMARY KEY);
    CREATE TABLE dbo.Child (c int NOT NULL CONSTRAINT UQ_Child UNIQUE
        CONSTRAINT CK_Child CHECK (c > 0),
        p int NOT NULL CONSTRAINT FK_Child REFERENCES dbo.Parent);
    INSERT dbo.Parent VALUES (1)";

fn pair(c: i32, p: i32) -> Vec<Value> {
    vec![Value::Int(c), Value::Int(p)]
}

#[test]
fn rows_that_constraints_have_not_seen_end_trust_until_all_are_checked() {
    let mut s = ServedInstance::open("bulk-unchecked");
    s.ask(FAMILY).unwrap();
    let ints = [SqlType::Int, SqlType::Int];
    let (plain, checked) = (
        "INSERT BULK dbo.Child (c int, p int)",
        "INSERT BULK dbo.Child (c int, p int) WITH (CHECK_CONSTRAINTS)",
    );
    let rows = |rows: &[Vec<Value>]| sent(&ints, rows.to_vec());
    let trust = |s: &mut ServedInstance, not_trusted: u8| {
        let expected =
            ["CK_Child", "FK_Child"].map(|n| format!("{n} | 0 | {not_trusted}")).to_vec();
        assert_eq!(s.ask(TRUST), Ok(expected));
    };
    assert_eq!(s.load(checked, rows(&[pair(1, 1)])), Ok(()));
    trust(&mut s, 0);
    // Plans know of a constraint that is trusted; of one that is not, they read the rows.
    assert_eq!(s.ask("SELECT c FROM dbo.Child WHERE c < 0"), Ok(vec![]));
    assert_eq!(s.load(plain, rows(&[pair(-1, 1), pair(2, 99)])), Ok(()));
    trust(&mut s, 1);
    assert_eq!(s.ask("SELECT c FROM dbo.Child WHERE c < 0"), Ok(vec!["-1".to_owned()]));
    let joined = "SELECT c.c FROM dbo.Child c JOIN dbo.Parent p ON p.p = c.p ORDER BY c.c";
    assert_eq!(s.ask(joined), Ok(vec!["-1".to_owned(), "1".to_owned()]));
    // They hold for everything else, and UNIQUE and NOT NULL hold always.
    assert_eq!(s.load(checked, rows(&[pair(-2, 1)])), Err(547));
    assert_eq!(s.ask("INSERT dbo.Child VALUES (3, 98)"), Err(547));
    assert_eq!(s.ask("UPDATE dbo.Child SET c = -5 WHERE c = 1"), Err(547));
    assert_eq!(s.load(plain, rows(&[pair(1, 1)])), Err(2627));
    assert_eq!(s.load(plain, rows(&[vec![Value::Int(7), Value::Null]])), Err(515));
    // Trust comes back when all rows are seen to be right.
    let again = "ALTER TABLE dbo.Child WITH CHECK CHECK CONSTRAINT ALL";
    assert_eq!(s.ask(again), Err(547));
    trust(&mut s, 1);
    s.ask("DELETE dbo.Child WHERE c < 0 OR p = 99").unwrap();
    s.ask(again).unwrap();
    trust(&mut s, 0);
}

#[test]
fn the_loss_of_trust_is_the_transactions() {
    let mut s = ServedInstance::open("bulk-untrusted");
    s.ask(FAMILY).unwrap();
    let ints = [SqlType::Int, SqlType::Int];
    let plain = "INSERT BULK dbo.Child (c int, p int)";
    let untrusted = |s: &mut ServedInstance| s.ask("SELECT is_not_trusted FROM sys.foreign_keys");
    s.ask("BEGIN TRAN").unwrap();
    assert_eq!(s.load(plain, sent(&ints, vec![pair(-1, 99)])), Ok(()));
    assert_eq!(untrusted(&mut s), Ok(vec!["1".to_owned()]));
    s.ask("ROLLBACK").unwrap();
    assert_eq!(untrusted(&mut s), Ok(vec!["0".to_owned()]));
    assert_eq!(s.ask("SELECT COUNT(*) FROM dbo.Child"), Ok(vec!["0".to_owned()]));
    // Nothing comes into a table that is trusted again behind the announcement.
    let back = format!("BEGIN TRAN; {plain}; ROLLBACK");
    assert_eq!(s.load(&back, sent(&ints, vec![pair(-1, 99)])), Err(4891));
    // A temporary table has constraints of its own.
    s.ask("CREATE TABLE #t (a int CHECK (a > 0))").unwrap();
    let one = || sent(&[SqlType::Int], vec![vec![Value::Int(-1)]]);
    assert_eq!(s.load("INSERT BULK #t (a int) WITH (CHECK_CONSTRAINTS)", one()), Err(547));
    assert_eq!(s.load("INSERT BULK #t (a int)", one()), Ok(()));
    assert_eq!(s.ask("SELECT a FROM #t WHERE a < 0"), Ok(vec!["-1".to_owned()]));
}

#[test]
fn triggers_do_not_fire_for_a_load_that_does_not_ask_for_them() {
    let mut s = ServedInstance::open("bulk-quiet");
    s.ask("CREATE TABLE dbo.Noted (n int CHECK (n > 0))").unwrap();
    s.ask("CREATE TRIGGER dbo.TR ON dbo.T AFTER INSERT AS INSERT dbo.Noted VALUES (1)").unwrap();
    let (quiet, fire) = (
        "INSERT BULK dbo.T (name varchar(5))",
        "INSERT BULK dbo.T (name varchar(5)) WITH (FIRE_TRIGGERS)",
    );
    let row = || sent(&[NAME], vec![vec![text("a")]]);
    assert_eq!(s.load(quiet, row()), Ok(()));
    assert_eq!(s.ask("SELECT n FROM dbo.Noted"), Ok(vec![]));
    // The same INSERT of a client that loads nothing fires them.
    let same = "EXEC sp_executesql N'INSERT INTO [dbo].[T] ([name]) VALUES (@c1)',
        N'@c1 varchar(5)', @c1 = 'b'";
    s.ask(same).unwrap();
    assert_eq!(s.ask("SELECT n FROM dbo.Noted"), Ok(vec!["1".to_owned()]));
    assert_eq!(s.load(quiet, row()), Ok(()));
    assert_eq!(s.ask("SELECT n FROM dbo.Noted"), Ok(vec!["1".to_owned()]));
    // What a trigger changes is guarded, though the load is not.
    s.ask("ALTER TRIGGER dbo.TR ON dbo.T AFTER INSERT AS INSERT dbo.Noted VALUES (-1)").unwrap();
    assert_eq!(s.load(fire, row()), Err(547));
    s.ask("DROP TRIGGER dbo.TR").unwrap();
    s.ask("CREATE TRIGGER dbo.TI ON dbo.T INSTEAD OF INSERT AS INSERT dbo.Noted VALUES (2)")
        .unwrap();
    assert_eq!(s.load(quiet, row()), Ok(()));
    assert_eq!(s.ask("SELECT COUNT(*) FROM dbo.T"), Ok(vec!["4".to_owned()]));
    assert_eq!(s.load(fire, row()), Ok(()));
    assert_eq!(s.ask("SELECT COUNT(*) FROM dbo.T"), Ok(vec!["4".to_owned()]));
    assert_eq!(
        s.ask("SELECT n FROM dbo.Noted ORDER BY n"),
        Ok(vec!["1".to_owned(), "2".to_owned()])
    );
}

#[test]
fn triggers_fire_once_for_a_load_that_asks_for_them() {
    let mut s = ServedInstance::open("bulk-triggers");
    s.ask("CREATE TABLE dbo.Noted (n int)").unwrap();
    let trigger = "CREATE TRIGGER dbo.TR ON dbo.T AFTER INSERT AS
        BEGIN
            INSERT dbo.Noted SELECT COUNT(*) FROM inserted
            IF EXISTS (SELECT * FROM inserted WHERE name = 'bad') SELECT 1 / 0
        END";
    s.ask(trigger).unwrap();
    let fire = "INSERT BULK dbo.T (name varchar(5)) WITH (FIRE_TRIGGERS)";
    let rows = |names: &[&str]| sent(&[NAME], names.iter().map(|n| vec![text(n)]).collect());
    assert_eq!(s.load(fire, rows(&["a", "b", "c"])), Ok(()));
    assert_eq!(s.load(fire, rows(&["d", "bad"])), Err(8134));
    assert_eq!(s.load(fire, rows(&[])), Ok(()));
    assert_eq!(s.ask("SELECT n FROM dbo.Noted"), Ok(vec!["3".to_owned(), "0".to_owned()]));
    assert_eq!(s.ask("SELECT COUNT(*) FROM dbo.T"), Ok(vec!["3".to_owned()]));
}

/// ORDER holds rows to the order of the clustered index where it is that; else it says nothing.
#[test]
fn rows_come_in_the_order_that_was_announced_or_not_at_all() {
    let mut s = ServedInstance::open("bulk-order");
    let tables = "CREATE TABLE dbo.A (a int NOT NULL, b varchar(5) NOT NULL, n int,
        CONSTRAINT PK_A PRIMARY KEY CLUSTERED (a, b DESC));
        CREATE TABLE dbo.D (a int, b int); CREATE CLUSTERED INDEX d ON dbo.D (a);
        CREATE TABLE dbo.H (a int)";
    assert_eq!(s.ask(tables), Ok(Vec::new()));
    let types = [SqlType::Int, NAME];
    let row = |a: i32, b: &str| vec![Value::Int(a), text(b)];
    let rows = || vec![row(1, "b"), row(1, "a"), row(2, "z")];
    let back = || vec![row(2, "z"), row(1, "b")];
    let announced = |order: &str| {
        format!("INSERT BULK dbo.A (a int, b varchar(5)) WITH (TABLOCK, ORDER ({order}))")
    };
    for order in ["a ASC, b DESC", "a", "[A]"] {
        assert_eq!(s.load(&announced(order), sent(&types, back())), Err(4819), "{order}");
        assert_eq!(s.load(&announced(order), sent(&types, rows())), Ok(()), "{order}");
        assert_eq!(s.ask("SELECT COUNT(*) FROM dbo.A"), Ok(vec!["3".to_owned()]), "{order}");
        assert_eq!(s.ask("DELETE dbo.A"), Ok(Vec::new()));
    }
    // Alike in a whole unique key, or before one another in its descending column.
    let alike = vec![row(1, "b"), row(1, "B")];
    assert_eq!(s.load(&announced("a, b DESC"), sent(&types, alike)), Err(4819));
    let ascending = vec![row(1, "a"), row(1, "b")];
    assert_eq!(s.load(&announced("a, b DESC"), sent(&types, ascending)), Err(4819));
    // Another order than the index's is passed over, but its columns must be there.
    for order in ["a DESC", "b DESC", "a, b ASC", "n, a"] {
        assert_eq!(s.load(&announced(order), sent(&types, back())), Ok(()), "{order}");
        assert_eq!(s.ask("DELETE dbo.A"), Ok(Vec::new()));
    }
    assert_eq!(s.ask(&announced("nothing")), Err(4817));
    assert_eq!(s.ask(&announced("a, A DESC")), Err(4818));
    let heap = "INSERT BULK dbo.H (a int) WITH (ORDER (a))";
    let numbers = |ns: &[i32]| ns.iter().map(|&n| vec![Value::Int(n)]).collect();
    assert_eq!(s.load(heap, sent(&[SqlType::Int], numbers(&[2, 1]))), Ok(()));
    // Equal keys are in order where the index takes them; NULL is the least.
    let many = "INSERT BULK dbo.D (a int) WITH (ORDER (a))";
    let some = vec![vec![Value::Null], vec![Value::Int(1)], vec![Value::Int(1)]];
    assert_eq!(s.load(many, sent(&[SqlType::Int], some)), Ok(()));
    let late = vec![vec![Value::Int(1)], vec![Value::Null]];
    assert_eq!(s.load(many, sent(&[SqlType::Int], late)), Err(4819));
    assert_eq!(s.ask("SELECT COUNT(*) FROM dbo.D"), Ok(vec!["3".to_owned()]));
}
