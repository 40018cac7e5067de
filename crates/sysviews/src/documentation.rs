//! docs/views.md, printed from the declarations of views; a test compares the file with it.

use crate::column::Column;
use crate::view::{View, schema_name, views};
use std::collections::BTreeMap;
use std::fmt::Write;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/views.md");

const HEAD: &str = "\
# System views

Printed from the declarations in `crates/sysviews`: a column is either written by code or declared
constant here, with its reason. `GHOSTLIGHT_BLESS=1 cargo test -p sysviews` prints this file anew;
without it the test fails when the file is not what the declarations say. Another test runs every
view over a populated instance and fails when a column that is not listed here never changes.

## Where we differ from SQL Server

* `sys.messages` has the messages that this server gives, in English, and shows every place of an
  argument as `%ls`.
* `sys.configurations` has only options that mean something here, with what holds.
* `dbo.spt_values` is found in every database, not in master alone. Its rows of type `P` are SQL
  Server's: 0 to 2047 with byte and bit. Of other types there is a selection (`A`, `B`, `D`, `I`,
  `L`, `O9T`), and rows of type `GL` without names, which SQL Server does not have, bring it to the
  number of rows that scripts expect.
* Compatibility views (`sysobjects` and its like) are found as `dbo.sysobjects` too, in every
  database: those of master as well, which SQL Server finds in master alone. `sysindexes` counts the
  pages of each index by itself, as the remarks of SQL Server's page say, not as its columns do.
* sa, dbo and the fixed roles are the only principals; views of permissions list that they may
  connect, and nothing of what SQL Server grants to public.
* `sys.objects`, `columns`, `indexes`, `index_columns`, `partitions` and `allocation_units` list our
  own system tables; some of them (`sysidents`, `sysdrops`, `sysfacts`) SQL Server does not have.
* `sys.dm_exec_query_plan` gives its document as text, not as xml.
* `query_hash` is of a statement's text without constants, comments, case and blanks, so statements
  that name one table in two ways have two; `query_plan_hash` is of the plan's operators and their
  arguments without constants.
* `worker_time` of a run that takes less than a millisecond is the time that it took, waits included.
* `sys.databases` and `sys.master_files` list open databases only.
* Definitions are shown as they were committed: a session does not see its own uncommitted ones here.
* A memory grant grows while its statement runs: `requested_memory_kb` is what it may become,
  `granted_memory_kb` what it is, `ideal_memory_kb` what it might become without a hint.
* Datetimes are UTC.

";

fn constants(view: &View) -> Vec<&Column> {
    view.columns.iter().filter(|c| c.constant.is_some()).collect()
}

/// Names of columns that share a value and a reason, in the order of the first of each.
fn grouped<'a>(constants: &[&'a Column]) -> Vec<(String, &'a str, Vec<&'a str>)> {
    let mut at = BTreeMap::<(String, &str), usize>::new();
    let mut groups: Vec<(String, &str, Vec<&str>)> = Vec::new();
    for column in constants {
        let Some((value, why)) = column.constant else { continue };
        let key = (value.shown(), why);
        let n = *at.entry(key.clone()).or_insert(groups.len());
        if n == groups.len() {
            groups.push((key.0, why, Vec::new()));
        }
        groups[n].2.push(column.name);
    }
    groups
}

fn printed() -> String {
    let mut text = HEAD.to_owned();
    text.push_str("## Columns that are constant\n");
    for view in views() {
        let (name, count) = (view.name, view.columns.len());
        let arguments = view.parameters.map(|p| {
            let names: Vec<&str> = p.iter().map(|(name, _)| *name).collect();
            format!("({})", names.join(", "))
        });
        let arguments = arguments.unwrap_or_default();
        let _ = write!(text, "\n### {}.{name}{arguments}\n\n", schema_name(view.schema));
        let constants = constants(view);
        if constants.is_empty() {
            let _ = writeln!(text, "All {count} columns are written.");
            continue;
        }
        let _ = writeln!(text, "{} of {count} columns are constant.\n", constants.len());
        text.push_str("| columns | value | reason |\n|---|---|---|\n");
        for (value, why, names) in grouped(&constants) {
            let _ = writeln!(text, "| {} | {value} | {why} |", names.join(", "));
        }
    }
    text
}

#[test]
fn the_list_of_constant_columns_is_what_the_views_declare() {
    let printed = printed();
    if std::env::var_os("GHOSTLIGHT_BLESS").is_some() {
        std::fs::write(PATH, &printed).unwrap();
    }
    let file = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(file == printed, "docs/views.md is not what the views declare: bless it");
}

#[test]
fn every_constant_has_a_reason_and_every_column_a_name_of_its_own() {
    for view in views() {
        let mut names: Vec<&str> = view.columns.iter().map(|c| c.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), view.columns.len(), "{} repeats a column", view.name);
        for (_, why) in view.columns.iter().filter_map(|c| c.constant) {
            assert!(why.ends_with('.'), "{}: '{why}' is no sentence", view.name);
        }
    }
}
