//! A session at work: draws transactions, runs them as one batch or statement by statement, and
//! tells the oracle what it hears, while the locks are held.
//!
//! Behind each step stands a SELECT of its number, `@@ROWCOUNT`, `@@ERROR` and `@@TRANCOUNT`: its
//! row reaches the sink within the transaction, so keys enter the history in the order of locks.

use crate::heard::Response;
use crate::oracle::{Existence, Oracle, Place};
use crate::simulated::{Random, login, whole};
use crate::story::{self, Effect, Step};
use crate::verify::wants_space;
use base::SqlError;
use instance::Instance;
use session::{
    ClosedSink, Completion, Connection, EnvironmentChange, Request, ResultColumn, ResultSink,
    Session,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::{SqlType, Value};

/// Of a deadlock, a lock in time, a key that is there, space of data, files and log.
const EXPECTED: [i32; 8] = [1205, 1222, 2627, 2601, 1105, 5123, 5149, 9002];
/// Behind another error: of a table whose CREATE failed before, of columns that were not added, of
/// a database whose files were not made.
const FOLLOWING: [i32; 7] = [207, 208, 1088, 1802, 3701, 4902, 4924];
const NOTICE_MAX: u8 = 10;

/// What a batch answered, and to whom it tells it meanwhile.
struct Listener<'a> {
    p: &'a Oracle,
    id: i64,
    effects: BTreeMap<i64, Effect>,
    listed: Vec<i64>,
    ledger: bool,
    asked: bool,
    errors: Vec<SqlError>,
    /// Before the step that runs.
    errors_before: usize,
    failed_after_asking: bool,
    in_transaction: bool,
    rows: Option<u64>,
}

impl<'a> Listener<'a> {
    fn new(p: &'a Oracle, id: i64) -> Listener<'a> {
        Listener {
            p,
            id,
            effects: BTreeMap::new(),
            listed: Vec::new(),
            ledger: false,
            asked: false,
            errors: Vec::new(),
            errors_before: 0,
            failed_after_asking: false,
            in_transaction: false,
            rows: None,
        }
    }

    /// A step's own words: its number, rows changed, error, open transactions.
    fn after(&mut self, step: i64, rows: i64, error: i64, transactions: i64) {
        assert_eq!(transactions, 1, "step {step} of {} is in its transaction", self.id);
        let listed = std::mem::take(&mut self.listed);
        // What asks changes nothing; the error may be that of a batch before.
        let asks = matches!(self.effects.get(&step), Some(Effect::Ask));
        let failed = !asks && (error != 0 || self.errors.len() > self.errors_before);
        self.errors_before = self.errors.len();
        if failed {
            return;
        }
        let (p, id) = (self.p, self.id);
        match self.effects.get(&step) {
            Some(Effect::Row(changes)) if rows == 1 => {
                changes.iter().for_each(|(key, now)| p.note(*key, id, step, *now));
            }
            Some(Effect::Done(key, now)) => p.note(*key, id, step, *now),
            Some(Effect::Listed(place, now)) => {
                let gone = now.is_none();
                assert!(!gone || rows == listed.len() as i64, "what was listed was deleted");
                listed.iter().for_each(|k| p.note((*place, *k), id, step, *now));
            }
            Some(Effect::Clear(place)) => p.clear(*place, id, step),
            Some(Effect::Undo(from)) => p.undo(id, *from),
            Some(Effect::Ask) => {
                assert!(self.ledger, "{id} commits with its row of the ledger");
                p.ask(id, false);
                self.asked = true;
            }
            Some(Effect::Row(_) | Effect::Nothing) => self.ledger |= step == 0,
            None => panic!("step {step} was not asked for"),
        }
    }
}

impl ResultSink for Listener<'_> {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<(), ClosedSink> {
        Ok(())
    }

    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        match values {
            [_, key] => self.listed.push(whole(key)),
            [step, rows, error, transactions] => {
                self.after(whole(step), whole(rows), whole(error), whole(transactions));
            }
            // DBCC SHRINKFILE tells lengths.
            [_, _, _, _, _, _] => {}
            _ => panic!("no step answers so: {values:?}"),
        }
        Ok(())
    }

    fn message(&mut self, message: &SqlError) {
        if message.severity() <= NOTICE_MAX {
            return;
        }
        let number = message.number();
        let follows = FOLLOWING.contains(&number) && !self.errors.is_empty();
        assert!(EXPECTED.contains(&number) || follows, "{}: {message:?}", self.id);
        self.failed_after_asking |= self.asked;
        self.errors.push(message.clone());
    }

    fn done(&mut self, done: Completion) {
        self.in_transaction = done.in_transaction;
        self.rows = done.rows.or(self.rows);
    }

    fn return_status(&mut self, _: i32) {}
    fn return_value(&mut self, _: &str, _: SqlType, _: &Value) {}
    fn environment(&mut self, _: &EnvironmentChange) {}
}

/// One of eight.
pub(crate) struct Driver {
    pub(crate) instance: Arc<Instance>,
    pub(crate) p: Arc<Oracle>,
    pub(crate) r: Random,
    /// From 1.
    pub(crate) number: i64,
}

impl Driver {
    /// Works through its transactions; a session now and then ends and another begins.
    pub(crate) fn run(mut self, transactions: i64) {
        let mut session = self.connect();
        for t in 1..=transactions {
            let id = self.number * 1000 + t;
            if self.number == 1 {
                self.set_files(&mut session, t);
            }
            match self.r.below(16) {
                0..=3 => self.solo(&mut session, id),
                4 => self.maintain(&mut session),
                5 if self.number == 1 => self.database(&mut session, id),
                _ => self.transaction(&mut session, id),
            }
            if self.r.below(12) == 0 {
                // Its temporary tables and open transaction go with it.
                self.plain(&mut session, "BEGIN TRANSACTION; DELETE dbo.T WHERE k < 5");
                drop(session);
                session = self.connect();
            }
        }
    }

    fn connect(&mut self) -> Session {
        let mut session = self.instance.connect(login("crash")).expect("a session");
        self.plain(&mut session, "SET LOCK_TIMEOUT 20; SET NOCOUNT OFF");
        session
    }

    /// What an operator does meanwhile: the log becomes shorter, an index is made anew.
    fn maintain(&mut self, session: &mut Session) {
        let text = match self.r.below(6) {
            0 | 1 => "CHECKPOINT",
            2 => "DBCC SHRINKFILE (crash_log, 1) WITH NO_INFOMSGS",
            3 => "ALTER INDEX ALL ON dbo.T REBUILD WITH (FILLFACTOR = 50)",
            4 => "ALTER INDEX CX_U ON dbo.U REBUILD",
            _ => "ALTER INDEX UQ_H ON dbo.H REBUILD",
        };
        self.plain(session, text);
    }

    /// A batch that promises nothing.
    fn plain(&mut self, session: &mut Session, text: &str) {
        let mut heard = Listener::new(&self.p, 0);
        assert!(session.run(Request::Batch(text.to_owned()), &mut heard), "{:?}", heard.errors);
    }

    /// MODIFY FILE of the data file, then of tempdb's; now and then of its size, too.
    fn set_files(&mut self, session: &mut Session, number: i64) {
        self.p.files.lock().0 = number;
        let pages = "SELECT size FROM sys.database_files WHERE file_id = 1";
        let longer = (Response::numbers(session, pages)[0][0] + 16) * 8;
        let size = if number % 3 == 0 { format!(", SIZE = {longer}KB") } else { String::new() };
        for (database, file, size) in [("crash", "crash", &*size), ("tempdb", "tempdev", "")] {
            let text = format!(
                "ALTER DATABASE {database} MODIFY FILE (NAME = {file}{size}, MAXSIZE = {}KB, \
                 FILEGROWTH = {}KB)",
                (1 << 20) + 64 * number,
                64 * number
            );
            let answer = Response::ask(session, &text);
            if let Some(e) = answer.error() {
                // Another session may have made it longer meanwhile.
                assert!(wants_space(e) || e.number() == 5039, "{text}: {e:?}");
                return;
            }
        }
        self.p.files.lock().1 = number;
    }

    fn solo(&mut self, session: &mut Session, id: i64) {
        let solo = story::solo(&self.p, id, id * 100, self.number, &mut self.r);
        for (key, now) in &solo.changes {
            self.p.note(*key, id, 0, *now);
        }
        self.p.ask(id, true);
        let mut heard = Listener::new(&self.p, id);
        session.run(Request::Batch(solo.text.clone()), &mut heard);
        if heard.errors.is_empty() && !solo.changes.is_empty() {
            self.p.answer(id, true);
        } else {
            self.p.refuse(id);
        }
        let told = heard.rows;
        let counted = !heard.errors.is_empty() || solo.rows.is_none_or(|n| told == Some(n));
        assert!(counted, "{}: {told:?} rows", solo.text);
        assert!(!heard.in_transaction, "a statement by itself leaves no transaction");
    }

    /// Makes a database, or drops the one it made.
    fn database(&mut self, session: &mut Session, id: i64) {
        let there =
            |(name, is): (&String, &Existence)| (*is == Existence::There).then(|| name.clone());
        let old = self.p.databases.lock().iter().find_map(there);
        let (name, text, then) = match old {
            Some(name) => (name.clone(), format!("DROP DATABASE {name}"), Existence::Gone),
            None => (format!("d{id}"), format!("CREATE DATABASE d{id}"), Existence::There),
        };
        self.p.databases.lock().insert(name.clone(), Existence::Either);
        let mut heard = Listener::new(&self.p, id);
        session.run(Request::Batch(text), &mut heard);
        if heard.errors.is_empty() {
            self.p.databases.lock().insert(name, then);
        }
    }

    /// The steps of a transaction, its row of the ledger first, the question to commit last.
    fn steps(&mut self, id: i64) -> Vec<Step> {
        let nothing = |text: String| Step { text, effect: Effect::Nothing };
        let mut steps = vec![nothing(format!(
            "INSERT dbo.L (id) VALUES ({id}); IF @@ERROR <> 0 BEGIN ROLLBACK; RETURN END"
        ))];
        let mut define = self.r.below(5) == 0;
        for _ in 0..1 + self.r.below(6) {
            let at = steps.len() as i64;
            let value = id * 100 + at;
            match self.r.below(12) {
                0 => steps.extend(story::temporary(id, value, at, &mut self.r)),
                1..=3 => {
                    steps.push(nothing(format!("SAVE TRANSACTION s{at}")));
                    for _ in 0..1 + self.r.below(3) {
                        self.some(id, &mut define, &mut steps);
                    }
                    if self.r.below(3) > 0 {
                        let text = format!("ROLLBACK TRANSACTION s{at}");
                        steps.push(Step { text, effect: Effect::Undo(at) });
                    }
                }
                _ => self.some(id, &mut define, &mut steps),
            }
        }
        if self.r.below(4) == 0 {
            steps.push(nothing(format!(
                "UPDATE dbo.N SET n = n + 1; IF @@ERROR = 0 BEGIN \
                 UPDATE dbo.L SET ticket = (SELECT n FROM dbo.N) WHERE id = {id}; \
                 IF @@ERROR <> 0 BEGIN ROLLBACK; RETURN END END"
            )));
        }
        steps
    }

    /// One statement, or a definition where there was none yet.
    fn some(&mut self, id: i64, define: &mut bool, steps: &mut Vec<Step>) {
        let at = steps.len() as i64;
        let value = id * 100 + at;
        if std::mem::take(define) {
            steps.extend(story::define(&self.p, id, value, self.number, &mut self.r));
        } else {
            steps.push(story::shared(value, at, &mut self.r));
        }
    }

    fn transaction(&mut self, session: &mut Session, id: i64) {
        let steps = self.steps(id);
        let commits = self.r.below(6) > 0;
        let delayed = self.r.below(3) == 0;
        let abort = ["OFF", "ON"][self.r.below(2) as usize];
        let mut texts = vec![format!("SET XACT_ABORT {abort}; BEGIN TRANSACTION")];
        let p = Arc::clone(&self.p);
        let mut heard = Listener::new(&p, id);
        let mut ask = |text: String, effect: Effect| {
            let at = heard.effects.len();
            heard.effects.insert(at as i64, effect);
            texts.push(format!("{text}; SELECT {at}, @@ROWCOUNT, @@ERROR, @@TRANCOUNT"));
        };
        steps.into_iter().for_each(|s| ask(s.text, s.effect));
        if commits {
            ask("DECLARE @commits int".to_owned(), Effect::Ask);
        }
        texts.push(match (commits, delayed) {
            (true, true) => "COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON)".to_owned(),
            (true, false) => "COMMIT TRANSACTION".to_owned(),
            (false, _) => "ROLLBACK TRANSACTION".to_owned(),
        });
        let batches = match self.r.below(2) {
            0 => vec![texts.join("; ")],
            _ => texts,
        };
        for (at, batch) in batches.into_iter().enumerate() {
            heard.errors_before = heard.errors.len();
            session.run(Request::Batch(batch), &mut heard);
            // The first begins it; then an error, or its own end, has ended it.
            if !heard.in_transaction || at == 1 && !heard.ledger {
                break;
            }
        }
        self.ended(session, heard, !delayed);
    }

    fn ended(&mut self, session: &mut Session, heard: Listener<'_>, full: bool) {
        let Listener { id, asked, in_transaction, failed_after_asking, errors, .. } = heard;
        if asked && !failed_after_asking && !in_transaction {
            return self.p.answer(id, full);
        }
        assert!(!asked, "{id} was refused its commit: {errors:?}");
        if in_transaction {
            self.plain(session, "ROLLBACK TRANSACTION");
        }
    }
}

/// A place's name.
pub(crate) fn place_of(table: &str) -> Place {
    match table {
        "T" => Place::Tree,
        "H" => Place::Heap,
        "U" => Place::Log,
        other => panic!("no place is called {other}"),
    }
}
