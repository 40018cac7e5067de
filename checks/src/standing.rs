//! How the whole tree stands by its rules, for a proof. Sizes are measured as they are, whatever
//! ratchet.toml allows.

use crate::layers::{self, Layers};
use crate::survey::Survey;
use crate::tidy::{self, Asserts, FILE_LINES_MAX, FUNCTION_LINES_MAX};
use crate::workspace::{Outcome, Violation, Workspace};

/// The longest of its kind, and how long it may be.
pub struct LongestItem {
    /// Its lines; 0 where there is none.
    pub lines: usize,
    /// Where it is.
    pub name: String,
    /// The limit.
    pub lines_max: usize,
}

/// What was found.
pub struct StandingReport {
    /// Violations of layers.toml.
    pub layers: Vec<Violation>,
    /// Violations of the rules of style.
    pub tidy: Vec<Violation>,
    /// The longest function.
    pub function: LongestItem,
    /// The longest file that is neither a test nor a table.
    pub file: LongestItem,
    /// Assertions on floors 2 to 4.
    pub asserts: Asserts,
    /// Crates without the README that they need.
    pub readmes: Vec<Violation>,
}

impl StandingReport {
    /// Looks at the whole tree.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn measure(workspace: &Workspace) -> Outcome<StandingReport> {
        let survey = Survey::take(workspace)?;
        let layers = Layers::read(workspace)?;
        let tables = tidy::tables(workspace)?;
        let functions = survey.sources.iter().flat_map(|source| {
            source.functions.iter().map(|f| (f.lines, format!("{}::{}", source.path, f.name)))
        });
        let counted = survey.sources.iter().filter(|s| !s.is_test && !tables.contains(&s.path));
        let files = counted.map(|source| (source.line_count(), source.path.clone()));
        Ok(StandingReport {
            layers: layers::violations(workspace)?,
            tidy: tidy::check(workspace, &survey)?,
            function: LongestItem::of(functions.max(), FUNCTION_LINES_MAX),
            file: LongestItem::of(files.max(), FILE_LINES_MAX),
            asserts: tidy::total(&tidy::asserts(&layers, &survey)),
            readmes: tidy::missing_readmes(workspace, &layers)?,
        })
    }
}

impl LongestItem {
    fn of(found: Option<(usize, String)>, lines_max: usize) -> LongestItem {
        let (lines, name) = found.unwrap_or_default();
        LongestItem { lines, name, lines_max }
    }
}
