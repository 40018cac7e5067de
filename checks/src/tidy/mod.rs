//! `tidy`: the rules of style that a machine can read, each in a file of its own.

mod documents;
mod ghosts;
mod marks;
mod names;
mod size;

pub(crate) use size::{FILE_LINES_MAX, FUNCTION_LINES_MAX};

use crate::layers::Layers;
use crate::messages;
use crate::ratchet::Ratchet;
use crate::survey::Survey;
use crate::workspace::{Outcome, Violation, Workspace, crate_of, report};
use std::collections::BTreeMap;

/// What `cargo xtask tidy` can be told.
#[derive(clap::Args, Default)]
pub struct Options {
    /// Fail where floors 2-4 have less than one assertion per function
    #[arg(long)]
    strict: bool,
}

/// Functions and the assertions in them, outside tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asserts {
    /// How many functions.
    pub functions: usize,
    /// How many assertions stand in them.
    pub asserts: usize,
}

impl Asserts {
    /// Assertions a function.
    #[must_use]
    pub fn average(self) -> f64 {
        if self.functions == 0 {
            return 0.0;
        }
        self.asserts as f64 / self.functions as f64
    }
}

/// Checks and prints; true where nothing is violated.
///
/// # Errors
/// A file of the tree cannot be read.
pub fn run(workspace: &Workspace, options: &Options) -> Outcome<bool> {
    let survey = Survey::take(workspace)?;
    let mut violations = check(workspace, &survey)?;
    let per_crate = asserts(&Layers::read(workspace)?, &survey);
    let whole = total(&per_crate);
    for (name, found) in &per_crate {
        println!(
            "{name:<10} {:>5} assertions in {:>5} functions: {:.2} each",
            found.asserts,
            found.functions,
            found.average()
        );
    }
    if whole.functions > 0 && whole.average() < 1.0 {
        let text = format!("floors 2-4 have {:.2} assertions a function, 1 asked", whole.average());
        if options.strict {
            violations.push(Violation::new("layers.toml", 1, "asserts", text));
        } else {
            println!("warning: {text}");
        }
    }
    let files = survey.sources.len();
    let functions: usize = survey.sources.iter().map(|source| source.functions.len()).sum();
    let documents = survey.documents.len();
    let passed = format!("{files} files, {functions} functions, {documents} documents are tidy");
    Ok(report(violations, &passed))
}

/// Every violation but the average of assertions, which `asserts` reports.
pub(crate) fn check(workspace: &Workspace, survey: &Survey) -> Outcome<Vec<Violation>> {
    let layers = Layers::read(workspace)?;
    let ratchet = Ratchet::read(workspace)?;
    let mut violations = size::check(survey, &ratchet);
    violations.extend(names::check(survey, &ratchet));
    violations.extend(marks::check(workspace, survey));
    violations.extend(documents::check(workspace, survey));
    violations.extend(ghosts::check(&layers, survey));
    violations.extend(missing_readmes(workspace, &layers)?);
    if workspace.holds(messages::TABLE) {
        violations.extend(messages::check(&workspace.read(messages::TABLE)?));
    }
    Ok(violations)
}

/// Files that are nothing but a table, which have no limit of length.
pub(crate) fn tables(workspace: &Workspace) -> Outcome<Vec<String>> {
    Ok(Ratchet::read(workspace)?.tables)
}

/// Crates whose hard part must be told in a README, and is not.
pub(crate) fn missing_readmes(workspace: &Workspace, layers: &Layers) -> Outcome<Vec<Violation>> {
    let mut violations = Vec::new();
    for manifest in workspace.files("Cargo.toml")? {
        let Some(folder) = manifest.strip_suffix("/Cargo.toml") else { continue };
        let name = crate_of(folder);
        let Some(floor) = layers.floor_of(name) else { continue };
        let is_hard = (2..=4).contains(&floor) || matches!(name, "optimize" | "exec" | "session");
        if is_hard && !workspace.holds(&format!("{folder}/README.md")) {
            let text = format!("{name} has no README.md that tells its hard part");
            violations.push(Violation::new(&manifest, 1, "readme", text));
        }
    }
    Ok(violations)
}

/// Assertions per crate of floors 2-4.
pub(crate) fn asserts(layers: &Layers, survey: &Survey) -> BTreeMap<String, Asserts> {
    let mut per_crate: BTreeMap<String, Asserts> = BTreeMap::new();
    for source in &survey.sources {
        let name = crate_of(&source.path);
        if !layers.floor_of(name).is_some_and(|floor| (2..=4).contains(&floor)) {
            continue;
        }
        let counted = per_crate.entry(name.to_owned()).or_default();
        for function in source.functions.iter().filter(|function| !function.is_test) {
            counted.functions += 1;
            counted.asserts += function.asserts;
        }
    }
    per_crate
}

pub(crate) fn total(per_crate: &BTreeMap<String, Asserts>) -> Asserts {
    let functions = per_crate.values().map(|found| found.functions).sum();
    let asserts = per_crate.values().map(|found| found.asserts).sum();
    Asserts { functions, asserts }
}
