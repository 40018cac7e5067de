//! Programs in the cache as views show them: texts, statements with their offsets, hashes, plans.
//!
//! All of this is computed when a view asks for it; running a statement costs nothing for it.
//!
//! Hashes: the hash of a query covers its text without constants (`tsql::normalize`). The hash of a
//! plan covers its operators and their arguments, also without constants. So statements that differ
//! only in constants have equal hashes, and statements that name something differently do not.

use crate::program::shell::Shell;
use crate::program::steps::{Program, Step};
use crate::session::settings::Settings;
use crate::showplan::describe::{
    ProgramDescription, has_operators, set_options, statement_of, text_of,
};
use crate::showplan::names::{PlanNames, Views};
use plancache::{Entry, Fingerprint, Kind, PlanCell, ShownPlan};
use showplan::Statement;
use std::sync::Arc;
use tsql::ParseOptions;

/// A statement of a program that has a plan.
#[derive(Clone, Debug)]
pub struct CachedStatement {
    /// The offset of its beginning in the text, in bytes of UTF-16.
    pub start_offset: i32,
    /// The offset of its last UTF-16 code unit.
    pub end_offset: i32,
    /// Its newest plan, and its counters.
    pub shown: ShownPlan,
    /// `query_hash`
    pub query_hash: u64,
    /// `query_plan_hash`
    pub plan_hash: u64,
}

/// The text of a program. The text of a prepared one has its parameters in front.
pub fn cached_text(entry: &Entry<Program>) -> String {
    let key = entry.key();
    shown_text(own_parameters(entry), key.text)
}

/// The parameters in front of a text. A module has none, although its cache key has a further part.
fn own_parameters(entry: &Entry<Program>) -> &str {
    let key = entry.key();
    if key.kind == Kind::Procedure { "" } else { key.parameters }
}

/// A text with its parameters in front.
pub(crate) fn shown_text(parameters: &str, text: &str) -> String {
    match parameters.is_empty() {
        true => text.to_owned(),
        false => format!("({parameters}){text}"),
    }
}

/// The compiled statements, in the order of the text.
pub fn cached_statements(entry: &Entry<Program>, views: &dyn Views) -> Vec<CachedStatement> {
    let program = &entry.value;
    let names = PlanNames { views, temp: None, program };
    let options = ParseOptions { quoted_identifier: program.quoted_identifier };
    let statement = |(at, step): (usize, &Step)| {
        let shown = cell_of(program, step)?.shown().filter(|s| has_operators(&s.plan))?;
        let (start_offset, end_offset) = step_offsets(entry, step);
        let query = tsql::normalize(text_of(program, step), options);
        Some(CachedStatement {
            start_offset,
            end_offset,
            query_hash: Fingerprint::of("", &query).half(),
            plan_hash: plan_hash(program, at, &shown, &names),
            shown,
        })
    };
    program.steps.iter().enumerate().filter_map(statement).collect()
}

/// The hash of one query, by its statement's offsets as [`cached_statements`] returns them.
pub fn statement_at(
    entry: &Entry<Program>,
    offsets: (i32, i32),
    views: &dyn Views,
) -> Option<CachedStatement> {
    let all = cached_statements(entry, views);
    all.into_iter().find(|s| (s.start_offset, s.end_offset) == offsets)
}

/// The plans of a program's statements as a document, or only that of the statement with these
/// offsets; `None` if nothing of it has been compiled.
pub fn plan_document(
    entry: &Entry<Program>,
    views: &dyn Views,
    build: &str,
    statement: Option<(i32, i32)>,
) -> Option<String> {
    let program = &entry.value;
    if let Some(shell) = &program.shell {
        return Some(shell_document(entry, shell, views, build));
    }
    let plan = |step: &Step| Some(cell_of(program, step)?.shown()?.plan);
    let plans: Vec<_> = program.steps.iter().map(plan).collect();
    let mut described = ProgramDescription::new(program, &plans);
    let statements = match statement {
        None if plans.iter().flatten().next().is_none() => return None,
        None => described.block(0, program.steps.len()),
        Some(offsets) => {
            let is = |s: &Step| step_offsets(entry, s) == offsets && cell_of(program, s).is_some();
            let at = program.steps.iter().position(is)?;
            plans.get(at)?.as_ref()?;
            vec![described.simple(at)]
        }
    };
    let names = PlanNames { views, temp: None, program };
    let options = set_options(Settings::switches_of(entry.key().options));
    Some(showplan::xml(&statements, &names, build, &options))
}

/// The document of a batch that runs another text: it has that text's plan.
fn shell_document(entry: &Entry<Program>, shell: &Shell, views: &dyn Views, build: &str) -> String {
    let program = &entry.value;
    let text = shown_text(&shell.parameters, &shell.text);
    let statement = Statement {
        id: 1,
        text: program.text.trim(),
        kind: shell.kind(),
        parameterized: Some(&text),
        ..Statement::default()
    };
    let names = PlanNames { views, temp: None, program };
    showplan::xml(&[statement], &names, build, &[])
}

/// The plans and figures of the last runs of a program's statements, as a document; `None` if none
/// are known.
pub fn last_plan_document(
    entry: &Entry<Program>,
    views: &dyn Views,
    build: &str,
) -> Option<String> {
    let program = &entry.value;
    let lasts: Vec<_> = program
        .steps
        .iter()
        .filter_map(|step| {
            let last = program.places.get(step.place()?)?.last.lock();
            last.as_ref().map(|l| (step, Arc::clone(&l.plan), l.ran.clone()))
        })
        .collect();
    let statements: Vec<Statement<'_>> = lasts
        .iter()
        .enumerate()
        .map(|(n, (step, plan, ran))| {
            let of = statement_of(program, step, plan, ran.clone());
            Statement { id: n as u32 + 1, ..of }
        })
        .collect();
    if statements.is_empty() {
        return None;
    }
    let names = PlanNames { views, temp: None, program };
    let options = set_options(Settings::switches_of(entry.key().options));
    Some(showplan::xml(&statements, &names, build, &options))
}

fn cell_of<'p>(program: &'p Program, step: &Step) -> Option<&'p PlanCell> {
    program.places.get(step.place()?).map(|p| &p.cell)
}

fn plan_hash(program: &Program, at: usize, shown: &ShownPlan, names: &PlanNames<'_>) -> u64 {
    let mut plans = vec![None; program.steps.len()];
    plans[at] = Some(Arc::clone(&shown.plan));
    let statement = ProgramDescription::new(program, &plans).simple(at);
    let mut text = String::new();
    for row in showplan::rows(&statement, names).iter().skip(1) {
        let argument = row.argument.as_deref().unwrap_or_default();
        text.push_str(&format!("{}{:?}", row.parent, (row.physical, row.logical)));
        text.push_str(&tsql::normalize(argument, ParseOptions::default()));
    }
    Fingerprint::of("", &text).half()
}

/// The offsets of a statement; for IF and WHILE without their bodies.
pub(crate) fn step_offsets(entry: &Entry<Program>, step: &Step) -> (i32, i32) {
    let length = text_of(&entry.value, step).len() as u32;
    offsets(entry, step.span.start, step.span.start + length)
}

/// A range of a program's text in bytes of UTF-8, converted to `statement_start_offset` and
/// `statement_end_offset`.
pub(crate) fn offsets(entry: &Entry<Program>, from: u32, to: u32) -> (i32, i32) {
    let text = &*entry.value.text;
    let parameters = own_parameters(entry);
    let before = match parameters.is_empty() {
        true => 0,
        false => units(parameters) + 2,
    };
    let own = own_text(text, from, to);
    let blank = text.get(..from as usize).map_or(0, |b| before + units(b));
    (2 * blank, 2 * (blank + units(own).max(1) - 1))
}

/// The statement in a range of a program's text, and the line in which it begins.
pub(crate) fn statement_text(entry: &Entry<Program>, from: u32, to: u32) -> (u32, &str) {
    let text = &*entry.value.text;
    let before = text.get(..from as usize).unwrap_or_default();
    let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
    (line as u32, own_text(text, from, to))
}

/// A statement's text without what follows it.
fn own_text(text: &str, from: u32, to: u32) -> &str {
    let own = text.get(from as usize..to as usize).unwrap_or_default();
    own.trim_end_matches(|c: char| c.is_whitespace() || c == ';')
}

fn units(text: &str) -> i32 {
    let units = if text.is_ascii() { text.len() } else { text.encode_utf16().count() };
    i32::try_from(units).unwrap_or(i32::MAX / 4)
}
