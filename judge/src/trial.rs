//! A trial: one data set, many statements, every way to compute each.
//!
//! Invariants
//!  1. A seed tells the whole trial: a finding is found again by its seed and number.
//!  2. A change is rolled back, and its tables are compared once more after that.

use crate::answer::Answer;
use crate::engine::Engine;
use crate::generate::{Features, Generator};
use crate::reduce;
use crate::spell::{Dialect, Speller};
use crate::tables::DataSet;
use crate::tree::{Change, Query};
use crate::variant::{CHANGES, KEYED, PLAIN, VARIANTS, Variant, hinted};
use sim::Random;
use std::collections::BTreeMap;

/// One data set in so many has tables of thousands of rows.
const LARGE_EVERY: u64 = 8;

/// Two answers that disagree.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Of which trial.
    pub seed: u64,
    /// Which statement of it.
    pub number: u64,
    /// The statement, made as small as it could be, as the second way spells it.
    pub statement: String,
    /// What was expected.
    pub expected: String,
    /// What came.
    pub came: String,
}

/// What trials came to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Statements made up.
    pub statements: u64,
    /// Statements run, all ways counted.
    pub runs: u64,
    /// Statements whose answer was rows.
    pub answered: u64,
    /// Answers of at least one row.
    pub with_rows: u64,
    /// Runs that were ended since they took too long.
    pub too_long: u64,
    /// Partitions compared.
    pub partitions: u64,
    /// Changes compared.
    pub changes: u64,
    /// Forms refused by name, and how often.
    pub refused: BTreeMap<String, u64>,
    /// Answers that disagree.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Adds another's figures.
    pub fn add(&mut self, other: Report) {
        self.statements += other.statements;
        self.runs += other.runs;
        self.answered += other.answered;
        self.with_rows += other.with_rows;
        self.too_long += other.too_long;
        self.partitions += other.partitions;
        self.changes += other.changes;
        for (what, n) in other.refused {
            *self.refused.entry(what).or_insert(0) += n;
        }
        self.findings.extend(other.findings);
    }
}

struct Trial {
    seed: u64,
    engine: Engine,
    data: DataSet,
    report: Report,
    /// Statements are printed before they run.
    shown: bool,
}

/// Runs a trial of so many statements.
///
/// # Errors
/// The engine does not start, or refuses the data set.
pub fn run(seed: u64, statements: u64) -> Result<Report, String> {
    let mut trial = Trial::begin(seed)?;
    for number in 0..statements {
        if number == statements / 2 {
            trial.engine.restart()?;
        }
        trial.statement(number)?;
    }
    Ok(trial.report)
}

/// Runs one statement of a trial, and prints its tables and every form of it.
///
/// # Errors
/// As [`run`].
pub fn run_one(seed: u64, number: u64) -> Result<Report, String> {
    let mut trial = Trial::begin(seed)?;
    trial.shown = true;
    trial.data.script(PLAIN, false).iter().for_each(|statement| println!("{statement}"));
    trial.statement(number)?;
    Ok(trial.report)
}

impl Trial {
    fn begin(seed: u64) -> Result<Trial, String> {
        let mut random = Random::new(seed);
        let large = random.one_in(LARGE_EVERY);
        let data = DataSet::random(&mut random, large, false);
        let engine = Engine::start()?;
        let mut trial = Trial { seed, engine, data, report: Report::default(), shown: false };
        trial.fill()?;
        Ok(trial)
    }

    fn fill(&mut self) -> Result<(), String> {
        for (schema, indexed) in [(KEYED, true), (PLAIN, false)] {
            self.engine.must(&format!("create schema {schema}"))?;
            for statement in self.data.script(schema, indexed) {
                self.engine.must(&statement)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, number: u64) -> Result<(), String> {
        self.report.statements += 1;
        let mut random = Random::new(self.seed ^ (number + 1).wrapping_mul(0x9e37_79b9));
        let kind = random.below(10);
        let mut generator = Generator::new(&mut random, &self.data, Features { common: false });
        match kind {
            0 => {
                let change = generator.change();
                self.change(number, &change)?;
            }
            1 | 2 => {
                let parts = generator.partition();
                self.partition(number, &parts);
            }
            _ => {
                let query = generator.query();
                self.query(number, &query);
            }
        }
        Ok(())
    }

    fn ask(&mut self, query: &Query, variant: &Variant) -> Answer {
        self.report.runs += 1;
        let statement = hinted(&spell(query, variant.schema), variant);
        if self.shown {
            println!("{statement}");
        }
        let answer = self.engine.ask(&statement);
        self.report.too_long += u64::from(answer == Answer::TooLong);
        answer
    }

    /// The same rows by every way.
    fn query(&mut self, number: u64, query: &Query) {
        let expected = self.ask(query, &VARIANTS[0]);
        match &expected {
            Answer::Rows(rows) => {
                self.report.answered += 1;
                self.report.with_rows += u64::from(!rows.is_empty());
            }
            Answer::Refused(what) => {
                *self.report.refused.entry(what.clone()).or_insert(0) += 1;
                return;
            }
            Answer::OfData(_) => {}
            Answer::TooLong => return,
            Answer::Failed(what) => {
                let what = what.clone();
                return self.failed(number, query, &what);
            }
        }
        for variant in &VARIANTS[1..] {
            if self.data.large && variant.quadratic {
                continue;
            }
            let came = self.ask(query, variant);
            if !expected.agrees(&came) {
                return self.differs(number, query, variant);
            }
        }
    }

    fn failed(&mut self, number: u64, query: &Query, what: &str) {
        let statement = reduce::smallest(query, &mut |q| {
            let same = |a: Answer| matches!(&a, Answer::Failed(w) if w.get(..5) == what.get(..5));
            same(self.ask(q, &VARIANTS[0]))
        });
        let statement = spell(&statement, PLAIN);
        self.finding(number, statement, "an answer".to_owned(), what.to_owned());
    }

    fn differs(&mut self, number: u64, query: &Query, variant: &'static Variant) {
        let query = reduce::smallest(query, &mut |q| {
            let expected = self.ask(q, &VARIANTS[0]);
            matches!(expected, Answer::Rows(_)) && !expected.agrees(&self.ask(q, variant))
        });
        let expected = self.ask(&query, &VARIANTS[0]).shown();
        let came = self.ask(&query, variant).shown();
        let statement = hinted(&spell(&query, variant.schema), variant);
        self.finding(number, statement, expected, came);
    }

    fn finding(&mut self, number: u64, statement: String, expected: String, came: String) {
        let seed = self.seed;
        self.report.findings.push(Finding { seed, number, statement, expected, came });
    }

    /// Rows for which a condition is true, false and unknown are all rows.
    fn partition(&mut self, number: u64, [yes, no, unknown, whole]: &[Query; 4]) {
        self.report.partitions += 1;
        for variant in &VARIANTS[..2] {
            let parts = [self.ask(yes, variant), self.ask(no, variant), self.ask(unknown, variant)];
            let all = self.ask(whole, variant);
            let Some(sum) = Answer::together(&parts) else { continue };
            if !all.agrees(&sum) {
                let statement = spell(yes, variant.schema);
                let came: Vec<String> = parts.iter().map(Answer::shown).collect();
                return self.finding(number, statement, all.shown(), came.join("\n    "));
            }
        }
    }

    /// A change does the same to a table with indexes and to one without, leaves every index true,
    /// and leaves nothing when it is rolled back.
    fn change(&mut self, number: u64, change: &Change) -> Result<(), String> {
        self.report.changes += 1;
        let [plain, keyed @ ..] = &CHANGES;
        let expected = self.changed(number, change, plain)?;
        for variant in keyed {
            let came = self.changed(number, change, variant)?;
            if !expected.agrees(&came) {
                let statement = hinted(&spell_change(change, variant), variant);
                self.finding(number, statement, expected.shown(), came.shown());
                break;
            }
        }
        Ok(())
    }

    /// Makes a change one way, looks, and takes it back.
    fn changed(
        &mut self,
        number: u64,
        change: &Change,
        variant: &Variant,
    ) -> Result<ChangeAnswer, String> {
        let table = format!("{}.{}", variant.schema, change.table());
        let read = format!("select * from {table}");
        let statement = hinted(&spell_change(change, variant), variant);
        if self.shown {
            println!("{statement}");
        }
        self.report.runs += 1;
        let before = self.engine.ask(&read);
        self.engine.must("begin transaction")?;
        let answer = self.engine.ask(&statement);
        if let Answer::Refused(what) = &answer {
            *self.report.refused.entry(what.clone()).or_insert(0) += 1;
        }
        let rows = self.engine.ask(&read);
        self.check(number, &table, &statement);
        self.engine.ask("if @@trancount > 0 rollback");
        let statement = format!("{statement}; rollback");
        self.check(number, &table, &statement);
        let again = self.engine.ask(&read);
        if again != before {
            self.finding(number, statement, "the rows as before".to_owned(), again.shown());
        }
        Ok(ChangeAnswer { answer, rows })
    }

    /// Every index of a table has the entries of its rows.
    fn check(&mut self, number: u64, table: &str, statement: &str) {
        let came = self.engine.ask(&format!("dbcc checktable ('{table}') with no_infomsgs"));
        if let Answer::Failed(what) = came {
            self.finding(number, statement.to_owned(), "indexes that are true".to_owned(), what);
        }
    }
}

/// What a change answered, and its table's rows then.
struct ChangeAnswer {
    answer: Answer,
    rows: Answer,
}

impl ChangeAnswer {
    fn agrees(&self, other: &ChangeAnswer) -> bool {
        let of_data =
            |a: &Answer| matches!(a, Answer::OfData(_) | Answer::Refused(_) | Answer::TooLong);
        let same = self.answer.agrees(&other.answer) && self.rows.agrees(&other.rows);
        same || of_data(&self.answer) || of_data(&other.answer)
    }

    fn shown(&self) -> String {
        format!("{} then {}", self.answer.shown(), self.rows.shown())
    }
}

fn spell_change(change: &Change, variant: &Variant) -> String {
    Speller { dialect: Dialect::Transact, schema: variant.schema }.change(change)
}

fn spell(query: &Query, schema: &str) -> String {
    Speller { dialect: Dialect::Transact, schema }.query(query)
}
