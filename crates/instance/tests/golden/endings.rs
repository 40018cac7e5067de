//! Transactions that end in any way, anywhere: random statements in batches, procedures, dynamic
//! text, triggers within triggers, INSERT … EXEC and TRY blocks, in one session.
//!
//! Whatever it runs, no assertion of the engine is met, no doomed transaction outlives its batch,
//! and CHECKDB finds nothing. The seed is named where that fails.

use crate::sessions::{Sessions, Wait};
use sim::Random;

const SEEDS: u64 = 10;
const BATCHES: usize = 25;
const PROCEDURES: u64 = 4;
const TABLES: [&str; 3] = ["t", "u", "log"];
/// How deep blocks stand within each other.
const DEPTH: usize = 3;

/// Writes statements.
struct Writer {
    random: Random,
    /// For names that are declared once.
    names: usize,
}

impl Writer {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.random.below(from.len() as u64) as usize]
    }

    fn name(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}{}", self.names)
    }

    fn block(&mut self, depth: usize) -> String {
        let count = 1 + self.random.below(3);
        let statements: Vec<String> = (0..count).map(|_| self.statement(depth)).collect();
        statements.join("; ")
    }

    fn quoted(&mut self, depth: usize) -> String {
        self.block(depth).replace('\'', "''")
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth >= DEPTH || self.random.below(2) == 0 {
            return self.plain();
        }
        let (table, inner) = (self.pick(&TABLES), depth + 1);
        let procedure = self.random.below(PROCEDURES);
        match self.random.below(8) {
            0..=2 => {
                let (first, second) = (self.block(inner), self.block(inner));
                format!("begin try {first} end try begin catch {second} end catch")
            }
            3 => format!("exec ('{}')", self.quoted(inner)),
            4 => format!("exec sp_executesql N'{}'", self.quoted(inner)),
            5 => format!("insert {table} exec p{procedure}"),
            6 => format!("insert {table} exec ('{}; select 1')", self.quoted(inner)),
            _ => {
                let variable = self.name("@rows");
                format!("declare {variable} table (a int); insert {variable} exec p{procedure}")
            }
        }
    }

    fn plain(&mut self) -> String {
        let (table, n) = (self.pick(&TABLES), self.random.below(6));
        let (variable, fresh) = (self.name("@v"), self.name("made"));
        match self.random.below(14) {
            0..=2 => format!("insert {table} values ({n})"),
            3 => format!("delete {table} where a = {n}"),
            4 => format!("update {table} set a = a + 1 where a < {n}"),
            5 => self.pick(&["begin tran", "begin tran named"]).to_owned(),
            6 => self.pick(&["commit", "rollback", "rollback tran named"]).to_owned(),
            7 => format!("{} tran s{}", self.pick(&["save", "rollback"]), n % 3),
            8 => {
                let fails = self.pick(&["cast('x' as int)", "1 / 0", "error_number()"]);
                format!("declare {variable} int = {fails}")
            }
            9 => self.pick(&["raiserror('e', 16, 1)", "throw 50001, 'x', 1"]).to_owned(),
            10 => {
                let option = self.pick(&["xact_abort", "implicit_transactions"]);
                format!("set {option} {}", self.pick(&["on", "off"]))
            }
            11 => self.pick(&["open c", "fetch c", "close c", "select 1 / 0"]).to_owned(),
            12 => format!("create table #{fresh} (i int); truncate table {table}"),
            _ => format!(
                "merge {table} using (values ({n})) s (a) on {table}.a = s.a \
                 when matched then delete when not matched then insert values (s.a);"
            ),
        }
    }

    /// What makes the tables, the procedures and the triggers.
    fn schema(&mut self) -> Vec<String> {
        let mut batches: Vec<String> =
            TABLES.iter().map(|table| format!("create table {table} (a int)")).collect();
        batches.push("declare c cursor global for select a from t".to_owned());
        for n in 0..PROCEDURES {
            batches.push(format!("create procedure p{n} as begin {}; select 1 end", self.block(2)));
        }
        for table in TABLES {
            let when = self.pick(&["after", "after", "instead of"]);
            let events = self.pick(&["insert", "insert, delete", "insert, update, delete"]);
            let (body, handler) = (self.block(1), self.block(2));
            batches.push(format!(
                "create trigger tr_{table} on {table} {when} {events} as \
                 if trigger_nestlevel() < 4 begin \
                 begin try {body} end try begin catch {handler} end catch end"
            ));
        }
        batches
    }
}

/// Runs the statements of a seed; what is wrong.
fn trouble(seed: u64) -> Option<String> {
    let mut writer = Writer { random: Random::new(seed), names: 0 };
    let mut sessions = Sessions::open();
    let mut batches = writer.schema();
    batches.extend((0..BATCHES).map(|_| writer.block(0)));
    for batch in &batches {
        let said = sessions.run('a', batch, Wait::Unexpected);
        if said.contains("Msg 3624") || said.contains("(connection closed)") {
            return Some(format!("seed {seed}: {batch}\n{said}"));
        }
        let state = "select iif(xact_state() = -1, 1, 0)";
        let doomed = sessions.run('a', state, Wait::Unexpected);
        if doomed != "0\n" {
            return Some(format!("seed {seed}: {batch}\nleaves a doomed transaction: {doomed}"));
        }
    }
    let end = "set implicit_transactions off; if @@trancount > 0 rollback; \
               set nocount on; select @@trancount; dbcc checkdb with no_infomsgs";
    let ended = sessions.run('a', end, Wait::Unexpected);
    (ended != "0\n").then(|| format!("seed {seed}: at the end {ended}"))
}

#[test]
fn transactions_end_anywhere() {
    let found: Vec<String> = (1..=SEEDS).filter_map(trouble).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
