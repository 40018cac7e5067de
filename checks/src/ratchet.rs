//! ratchet.toml: what broke a limit before the limit was law. Entries may shrink, never grow.
//!
//! An entry that measures less than it says fails too, so that ground won is not lost again.

use crate::workspace::{Outcome, Violation, Workspace};
use serde::Deserialize;
use std::collections::BTreeMap;

const PATH: &str = "ratchet.toml";

/// A limit per name: the offender and the most it may measure.
pub(crate) type Allowances = BTreeMap<String, usize>;

/// ratchet.toml.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ratchet {
    /// Files that are nothing but a table: free of the limits on width and length.
    #[serde(default)]
    pub(crate) tables: Vec<String>,
    /// Path: lines.
    #[serde(default)]
    pub(crate) file_lines: Allowances,
    /// Path::function: lines.
    #[serde(default)]
    pub(crate) function_lines: Allowances,
    /// Path: number of lines wider than 100.
    #[serde(default)]
    pub(crate) wide_lines: Allowances,
    /// Crate: files in its largest circle.
    #[serde(default)]
    pub(crate) circle_files: Allowances,
    /// Physical operator: files that name it.
    #[serde(default)]
    pub(crate) operator_files: Allowances,
    /// Type: files beyond its owner that name it.
    #[serde(default)]
    pub(crate) named_beyond: Allowances,
    /// Crate: number of types whose name ends in a participle, a preposition or an adverb.
    #[serde(default)]
    pub(crate) named_by_no_noun: Allowances,
    /// Crate: number of unsafe blocks.
    #[serde(default)]
    pub(crate) unsafe_blocks: Allowances,
}

/// What was measured under one name, and the line to show when it is too much.
pub(crate) struct Measure {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) name: String,
    pub(crate) figure: usize,
}

impl Ratchet {
    pub(crate) fn read(workspace: &Workspace) -> Outcome<Ratchet> {
        let text = workspace.read(PATH)?;
        toml::from_str(&text).map_err(|e| format!("{PATH}: {e}"))
    }
}

/// Compares measures with the limit, and each that stands in the ratchet with its allowance.
pub(crate) fn compare(
    rule: &'static str,
    unit: &str,
    limit: usize,
    allowances: &Allowances,
    measures: &[Measure],
) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut largest = Allowances::new();
    for Measure { path, line, name, figure } in measures {
        let most = largest.entry(name.clone()).or_default();
        *most = (*most).max(*figure);
        let allowed = allowances.get(name).copied().unwrap_or(limit).max(limit);
        if *figure > allowed {
            let text = format!("{name} has {figure} {unit}, at most {allowed} are allowed");
            violations.push(Violation::new(path, *line, rule, text));
        }
    }
    for (name, allowed) in allowances {
        let figure = largest.get(name).copied().unwrap_or(0);
        let text = if figure <= limit {
            format!("{name} is within the limit of {limit} {unit}: remove its entry")
        } else if figure < *allowed {
            format!("{name} has shrunk to {figure} {unit}: lower its entry from {allowed}")
        } else {
            continue;
        };
        violations.push(Violation::new(PATH, 1, rule, text));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Within the limit or the allowance passes; growth and stale entries fail.
    #[test]
    fn a_ratchet_only_turns_one_way() {
        let cases = [
            (70, None, 0),
            (71, None, 1),
            (90, Some(90), 0),
            (91, Some(90), 1),
            (80, Some(90), 1),
            (60, Some(90), 1),
        ];
        for (figure, allowance, count) in cases {
            let measure = Measure { path: "p".to_owned(), line: 1, name: "n".to_owned(), figure };
            let allowances = allowance.map(|most| ("n".to_owned(), most)).into_iter().collect();
            let found = compare("r", "lines", 70, &allowances, &[measure]);
            assert_eq!(found.len(), count, "{figure} against {allowance:?}: {found:?}");
        }
        let gone = Allowances::from([("gone".to_owned(), 99)]);
        assert_eq!(compare("r", "lines", 70, &gone, &[]).len(), 1);
    }
}
