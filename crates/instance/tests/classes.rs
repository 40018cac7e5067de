//! What errors end, by their class: each case of the table below is provoked in real sessions,
//! and what ran behind it, the count of transactions and XACT_STATE() are as its class says.
//!
//! The classes are `base::ErrorClass`. A case is run in seven forms: in a batch, in a procedure
//! that a batch calls and in text that TRY calls, each with XACT_ABORT off and on; and in TRY
//! itself, where what ends a scope is not caught.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod heard;

use base::{Ends, ErrorClass};
use heard::Response;
use instance::{Instance, InstanceOptions};
use os::disk::RealDisk;
use session::{Login, Session};
use std::path::PathBuf;
use std::sync::Arc;

/// Tables and what else the cases need. Nothing that fails changes them.
const SCHEMA: &[&str] = &[
    "CREATE TABLE t (id int NOT NULL CONSTRAINT pk_t PRIMARY KEY, v int NULL CONSTRAINT ck_t \
     CHECK (v < 100), s varchar(3) NULL, b tinyint NULL)",
    "CREATE UNIQUE INDEX ux_t ON t (v)",
    "INSERT t VALUES (1, 1, 'a', 1), (2, 2, 'b', 2)",
    "CREATE TABLE child (id int NOT NULL CONSTRAINT fk_child REFERENCES t (id))",
    "CREATE TABLE ident (id int IDENTITY, v int NULL)",
    "CREATE TABLE ident2 (id int IDENTITY, v int NULL)",
    "CREATE TABLE twins (v int NULL, w int NOT NULL)",
    "INSERT twins VALUES (NULL, 1), (7, 1)",
    "CREATE TABLE computed (a int NOT NULL, c AS a + 1 PERSISTED)",
    "CREATE TABLE wide (a varchar(900) NOT NULL, b varchar(900) NULL)",
    "CREATE INDEX ix_wide ON wide (a, b)",
    "CREATE TABLE caught (id int)",
    "CREATE VIEW checked AS SELECT id, v, s, b FROM t WHERE v < 50 WITH CHECK OPTION",
    "CREATE TYPE taken FROM int",
    "CREATE TABLE typed (v taken)",
    "CREATE FUNCTION bound() RETURNS int AS BEGIN RETURN 1 END",
    "CREATE TABLE defaulted (v int DEFAULT dbo.bound())",
    "CREATE PROCEDURE takes @a int AS RETURN 0",
    "CREATE PROCEDURE may_take @a int = 1 AS RETURN 0",
    "CREATE PROCEDURE none AS RETURN 0",
    "CREATE PROCEDURE two_columns AS SELECT 1, 2",
    "CREATE PROCEDURE rolls_back AS ROLLBACK",
    "CREATE PROCEDURE nests AS EXEC nests",
    "CREATE TRIGGER caught_i ON caught AFTER INSERT AS BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH \
     END CATCH",
];

/// Numbers with a statement that raises them first. None may have been ended before.
const CASES: &[(i32, &str)] = &[
    // Statement: changes and expressions.
    (8134, "SELECT 1/0"),
    (8134, "INSERT t (id) SELECT 1/0"),
    (515, "INSERT t (id) VALUES (NULL)"),
    (547, "INSERT t (id, v) VALUES (9, 100)"),
    (547, "INSERT child VALUES (9)"),
    (547, "DECLARE @i int = 1 UPDATE t SET v = 200 WHERE id = @i"),
    (2627, "INSERT t (id) VALUES (1)"),
    (2601, "INSERT t (id, v) VALUES (9, 1)"),
    (512, "SELECT (SELECT id FROM t)"),
    (220, "INSERT t (id, b) VALUES (9, 300)"),
    (8115, "SELECT CAST(99999999999 AS int)"),
    (2628, "INSERT t (id, s) VALUES (9, 'longer')"),
    (517, "SELECT DATEADD(year, -300, CAST('20200101' AS datetime))"),
    (535, "SELECT DATEDIFF(second, '0001-01-01', '9999-01-01')"),
    (242, "SELECT CAST('20201301' AS datetime)"),
    (9809, "SELECT CONVERT(date, '10-10-10', 140)"),
    (536, "SELECT RIGHT('a', -1)"),
    (537, "SELECT LEFT('a', -1)"),
    (550, "INSERT checked (id, v) VALUES (9, 60)"),
    (544, "INSERT ident (id) VALUES (1)"),
    (530, "WITH r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r"),
    (6401, "ROLLBACK TRANSACTION nowhere"),
    (226, "CREATE DATABASE d"),
    // Statement: calls.
    (2812, "EXEC nowhere"),
    (201, "EXEC takes"),
    (8144, "EXEC takes 1, 2"),
    (201, "EXEC takes @b = 1"),
    (8145, "EXEC may_take @b = 1"),
    (8114, "EXEC takes 'x'"),
    (8146, "EXEC none 1"),
    (8143, "EXEC takes @a = 1, @a = 2"),
    (16916, "OPEN nowhere"),
    (3914, "DECLARE @n int = 1 SAVE TRANSACTION @n"),
    (2732, "RAISERROR(5005, 16, 1)"),
    (16950, "DECLARE @c CURSOR OPEN @c"),
    (1223, "EXEC sp_releaseapplock 'nothing', 'Session'"),
    // What tells only.
    (3701, "DROP TABLE nowhere"),
    (3701, "DROP PROCEDURE nowhere"),
    (3701, "DROP INDEX nowhere ON t"),
    (3701, "DROP VIEW nowhere"),
    (2787, "RAISERROR('%q', 16, 1)"),
    (50_000, "RAISERROR('raised', 16, 1)"),
    (18054, "RAISERROR(60000, 16, 1)"),
    // Scope: what binding finds.
    (208, "SELECT * FROM nowhere"),
    (208, "INSERT nowhere VALUES (1)"),
    (207, "SELECT nothing FROM t"),
    (209, "SELECT id FROM t a JOIN t b ON a.id = b.id"),
    (4104, "SELECT x.id FROM t"),
    (4902, "ALTER TABLE nowhere ADD c int"),
    (2715, "ALTER TABLE t ADD x dog"),
    (2705, "ALTER TABLE t ADD id int"),
    (1752, "ALTER TABLE computed ADD DEFAULT 1 FOR c"),
    (
        2747,
        "RAISERROR('%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d', 10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
     1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)",
    ),
    (16948, "DECLARE @n int OPEN @n"),
    (408, "SELECT id FROM t ORDER BY 'x'"),
    (1008, "DECLARE @v int = 1 SELECT id FROM t ORDER BY @v"),
    // A text that is not parsed.
    (102, "SELECT 1 1"),
    (156, "SELECT FROM FROM t"),
    (137, "SELECT @undeclared"),
    (133, "GOTO nowhere"),
    (134, "DECLARE @twice int DECLARE @twice int"),
    (141, "DECLARE @v int SELECT @v = id, v FROM t"),
    (1049, "DECLARE c SCROLL CURSOR STATIC FOR SELECT id FROM t"),
    (103, "SAVE TRANSACTION a23456789012345678901234567890123"),
    (135, "BREAK"),
    // Transaction: conversions.
    (245, "SELECT CAST('x' AS int)"),
    (245, "INSERT t (id) VALUES ('x')"),
    (241, "SELECT CAST('x' AS datetime)"),
    (8114, "SELECT CAST('x' AS float)"),
    (8169, "SELECT CAST('x' AS uniqueidentifier)"),
    (235, "SELECT CAST('x' AS money)"),
    (293, "SELECT CAST('x' AS smallmoney)"),
    (289, "SELECT DATEFROMPARTS(0, 1, 1)"),
    (3623, "SELECT LOG(0)"),
    (8170, "SELECT CAST(NEWID() AS varchar(3))"),
    (13609, "SELECT JSON_VALUE('x', '$.a')"),
    (13607, "SELECT JSON_VALUE('{}', 'a')"),
    (9436, "SELECT CAST('<a></b>' AS xml)"),
    // Transaction: definitions.
    (2714, "CREATE TABLE t (id int)"),
    (2714, "SELECT 1 AS id INTO t"),
    (2714, "CREATE SEQUENCE t"),
    (2714, "CREATE SYNONYM t FOR nowhere"),
    (219, "CREATE TYPE taken FROM int"),
    (1505, "CREATE UNIQUE INDEX u ON twins (w)"),
    (1505, "ALTER TABLE twins ADD CONSTRAINT u UNIQUE (w)"),
    (1913, "CREATE INDEX ux_t ON t (b)"),
    (1088, "CREATE INDEX i ON nowhere (b)"),
    (10610, "CREATE INDEX i ON checked (id) WHERE id > 1"),
    (1902, "CREATE CLUSTERED INDEX c ON t (b)"),
    (1946, "INSERT wide VALUES (REPLICATE('a', 900), REPLICATE('b', 900))"),
    (1765, "ALTER TABLE computed ADD FOREIGN KEY (c) REFERENCES t (id) ON DELETE SET NULL"),
    (1768, "ALTER TABLE child ADD FOREIGN KEY (id) REFERENCES checked (id)"),
    (1776, "ALTER TABLE child ADD FOREIGN KEY (id) REFERENCES twins (w)"),
    (547, "ALTER TABLE twins ADD CHECK (w > 5)"),
    (547, "ALTER TABLE twins ADD FOREIGN KEY (v) REFERENCES t (id)"),
    (515, "ALTER TABLE twins ALTER COLUMN v int NOT NULL"),
    (4901, "ALTER TABLE t ADD c int NOT NULL"),
    (4924, "ALTER TABLE t DROP COLUMN nothing"),
    (5074, "ALTER TABLE t DROP COLUMN v"),
    (3728, "ALTER TABLE t DROP CONSTRAINT nothing"),
    (3725, "ALTER TABLE t DROP CONSTRAINT pk_t"),
    (3726, "DROP TABLE t"),
    (3723, "DROP INDEX pk_t ON t"),
    (3729, "DROP FUNCTION bound"),
    (3732, "DROP TYPE taken"),
    (2760, "CREATE TABLE nowhere.t (id int)"),
    (4701, "TRUNCATE TABLE nowhere"),
    (4708, "TRUNCATE TABLE checked"),
    (4712, "TRUNCATE TABLE t"),
    (4920, "ALTER TABLE t DISABLE TRIGGER nowhere"),
    (8106, "SET IDENTITY_INSERT t ON"),
    (8107, "SET IDENTITY_INSERT ident2 ON SET IDENTITY_INSERT ident ON"),
    (11700, "CREATE SEQUENCE s INCREMENT BY 0"),
    (11702, "CREATE SEQUENCE s AS varchar(3)"),
    (11703, "CREATE SEQUENCE s START WITH 1 MINVALUE 2"),
    (11705, "CREATE SEQUENCE s MINVALUE 5 MAXVALUE 4"),
    (11706, "CREATE SEQUENCE s CACHE 0"),
    (911, "EXEC('USE nowhere')"),
    // Transaction: calls.
    (217, "EXEC nests"),
    (213, "INSERT t (id) EXEC two_columns"),
    (3915, "INSERT t (id) EXEC rolls_back"),
    (3616, "INSERT caught VALUES (1)"),
    // Batch.
    (11535, "EXEC('SELECT 1 SELECT 2') WITH RESULT SETS ((a int))"),
    (50_001, "; THROW 50001, 'thrown', 1"),
];

/// By THROW a number has the class of none: it ends the batch.
const THROWN: i32 = 50_001;

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn connect(instance: &Arc<Instance>) -> Session {
    let login = Login { user: "sa".to_owned(), odbc_defaults: true, ..Login::default() };
    instance.connect(login).unwrap()
}

fn count_of_transactions(session: &mut Session) -> i32 {
    match Response::ask(session, "SELECT @@TRANCOUNT").rows.as_slice() {
        [row] => row[0].as_i64().unwrap() as i32,
        other => panic!("{other:?}"),
    }
}

/// Whether a row with this text alone came.
fn says(heard: &Response, text: &str) -> bool {
    heard
        .rows
        .iter()
        .any(|row| matches!(row.as_slice(), [v] if v.as_text().as_deref() == Some(text)))
}

/// What a case ends, as its class says.
struct ExpectedEnds {
    ends: Ends,
    /// By XACT_ABORT as well.
    ends_under_abort: Ends,
}

fn wanted(number: i32, statement: &str) -> ExpectedEnds {
    let severity =
        base::messages::ALL.iter().find(|m| m.number == number).map_or(16, |m| m.severity);
    let class = ErrorClass::of_error(number, severity);
    let defines = ["ALTER", "CREATE", "TRUNCATE"].iter().any(|verb| statement.starts_with(verb));
    let ends = match defines {
        _ if number == THROWN => Ends::Batch,
        // Known besides: a synonym's name, an argument's conversion.
        _ if statement.starts_with("CREATE SYNONYM") => Ends::Statement,
        _ if number == 8114 && statement.starts_with("EXEC") => Ends::Statement,
        true => class.ends_definition,
        false => class.ends,
    };
    let spares = class.spares || number == 50_000;
    ExpectedEnds { ends, ends_under_abort: if spares { ends } else { Ends::Transaction } }
}

impl ExpectedEnds {
    fn under(&self, abort: bool) -> Ends {
        if abort { self.ends_under_abort } else { self.ends }
    }
}

/// A session within a transaction.
fn begin(instance: &Arc<Instance>, abort: bool) -> Session {
    let mut session = connect(instance);
    let on = if abort { "ON" } else { "OFF" };
    for text in [&*format!("SET XACT_ABORT {on}"), "BEGIN TRANSACTION"] {
        assert!(Response::ask(&mut session, text).error().is_none(), "{text}");
    }
    session
}

const CATCH: &str = "END TRY BEGIN CATCH SELECT CONCAT('caught ', XACT_STATE()) END CATCH";

/// A case and what was not as wanted.
struct Case<'i> {
    instance: &'i Arc<Instance>,
    number: i32,
    statement: &'static str,
    differences: Vec<String>,
}

impl Case<'_> {
    fn check<T: PartialEq + std::fmt::Debug>(&mut self, form: &str, got: T, wanted: T) {
        if got != wanted {
            let (n, statement) = (self.number, self.statement);
            self.differences.push(format!("{n} {form}: {got:?}, wanted {wanted:?}: {statement}"));
        }
    }

    fn wanted(&self) -> ExpectedEnds {
        wanted(self.number, self.statement)
    }

    /// What the session says of its transaction, behind an error that ends so much.
    fn check_transaction(&mut self, form: &str, session: &mut Session, ends: Ends) {
        let open = i32::from(ends != Ends::Transaction);
        self.check(&format!("{form}, @@TRANCOUNT"), count_of_transactions(session), open);
    }

    /// The statements of a batch behind the error.
    fn in_batch(&mut self, abort: bool) {
        let form = format!("in a batch, XACT_ABORT {abort}");
        let mut session = begin(self.instance, abort);
        let heard = Response::ask(&mut session, &format!("{}\nSELECT 'after'", self.statement));
        self.check(&form, heard.error().map(|e| e.number()), Some(self.number));
        let ends = self.wanted().under(abort);
        self.check(
            &format!("{form}, what is behind"),
            says(&heard, "after"),
            ends == Ends::Statement,
        );
        self.check_transaction(&form, &mut session, ends);
    }

    /// Of a procedure that has the statement, what is behind it and what is behind its call.
    fn in_procedure(&mut self, abort: bool) {
        let form = format!("in a procedure, XACT_ABORT {abort}");
        let mut maker = connect(self.instance);
        let create = format!("CREATE PROCEDURE has AS {}\nSELECT 'inner'", self.statement);
        if let Some(refused) = Response::ask(&mut maker, &create).error() {
            return self.check(&form, refused.number(), self.number);
        }
        let mut session = begin(self.instance, abort);
        let heard = Response::ask(&mut session, "EXEC has SELECT 'outer'");
        self.check(&form, heard.error().map(|e| e.number()), Some(self.number));
        let ends = self.wanted().under(abort);
        self.check(&format!("{form}, within"), says(&heard, "inner"), ends == Ends::Statement);
        self.check(&format!("{form}, its caller"), says(&heard, "outer"), ends <= Ends::Scope);
        self.check_transaction(&form, &mut session, ends);
        drop(session);
        assert!(Response::ask(&mut maker, "DROP PROCEDURE has").error().is_none());
    }

    /// In text that TRY calls all is caught; the transaction is doomed where the error ends it,
    /// and under XACT_ABORT always.
    fn in_called_text(&mut self, abort: bool) {
        let mut session = begin(self.instance, abort);
        let text = self.statement.replace('\'', "''");
        let heard = Response::ask(&mut session, &format!("BEGIN TRY EXEC('{text}') {CATCH}"));
        let doomed = abort || self.wanted().ends == Ends::Transaction;
        let state = if doomed { "caught -1" } else { "caught 1" };
        let form = format!("in text that TRY calls, XACT_ABORT {abort}, {state}");
        self.check(&form, says(&heard, state), true);
    }

    /// In TRY itself, what ends a scope is told, and nothing else runs.
    fn in_try(&mut self) {
        let mut session = begin(self.instance, false);
        let heard = Response::ask(&mut session, &format!("BEGIN TRY {}\n{CATCH}", self.statement));
        let told = heard.error().is_some_and(|e| e.number() == self.number);
        let scope = self.wanted().ends == Ends::Scope;
        self.check("in TRY, told", told, scope);
        let mut texts = heard.rows.iter().flatten().filter_map(|v| v.as_text());
        let caught = texts.any(|text| text.starts_with("caught"));
        self.check("in TRY, caught", caught, !scope);
    }
}

#[test]
fn errors_end_what_their_class_says() {
    let folder = std::env::temp_dir().join(format!("ghostlight-classes-{}", std::process::id()));
    let folder = Folder(folder);
    let options = InstanceOptions { max_memory_bytes: 96 << 20, ..InstanceOptions::default() };
    let instance = Instance::open(Arc::new(RealDisk), &folder.0, options).unwrap();
    let mut session = connect(&instance);
    for text in SCHEMA {
        let heard = Response::ask(&mut session, text);
        assert!(heard.error().is_none(), "{text}: {:?}", heard.messages);
    }
    let mut differences = Vec::new();
    for &(number, statement) in CASES {
        let mut case = Case { instance: &instance, number, statement, differences: Vec::new() };
        for abort in [false, true] {
            case.in_batch(abort);
            case.in_procedure(abort);
            case.in_called_text(abort);
        }
        case.in_try();
        differences.append(&mut case.differences);
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let heard = Response::ask(&mut session, "RAISERROR('fatal', 20, 1) WITH LOG SELECT 'after'");
    assert!(!heard.goes_on && !says(&heard, "after"), "severity 20 ends the connection");
}

/// No class is left out of the cases.
#[test]
fn every_class_has_cases() {
    for ends in [Ends::Statement, Ends::Scope, Ends::Batch, Ends::Transaction] {
        let of_class = CASES.iter().filter(|(number, text)| wanted(*number, text).ends == ends);
        assert!(of_class.count() > 1, "{ends:?}");
    }
}
