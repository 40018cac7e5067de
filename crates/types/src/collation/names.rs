//! Names of collations: the list, made at first use, and what a name stands for.

use super::families::{FAMILIES, Family, SORTS};
use super::style::Style;
use super::{Collation, FIRST_SORT};
use std::sync::OnceLock;

/// A collation that has a name.
struct NamedCollation {
    collation: Collation,
    name: &'static str,
    listed: bool,
}

/// Every collation, as `fn_helpcollations` has them in order.
struct Names {
    all: Vec<NamedCollation>,
    /// Places in `all`, by number.
    by_number: Vec<u16>,
}

static NAMES: OnceLock<Names> = OnceLock::new();

fn names() -> &'static Names {
    NAMES.get_or_init(|| {
        let mut all = Vec::with_capacity(6000);
        let mut rows: Vec<usize> = (0..FAMILIES.len()).collect();
        rows.sort_by_key(|&row| FAMILIES[row].name);
        for row in rows {
            append_family(row, &mut all);
        }
        let mut sorts: Vec<usize> = (0..SORTS.len()).collect();
        sorts.sort_by_key(|&row| SORTS[row].name);
        for row in sorts {
            let name = SORTS[row].name;
            let collation = Collation::of_row(FIRST_SORT + row, style_of_sort(name));
            all.push(NamedCollation { collation, name, listed: true });
        }
        let mut by_number: Vec<u16> = (0..all.len() as u16).collect();
        by_number.sort_unstable_by_key(|&at| all[usize::from(at)].collation.0);
        Names { all, by_number }
    })
}

fn append_family(row: usize, all: &mut Vec<NamedCollation>) {
    let family = &FAMILIES[row];
    let mut styles = Style::all(family.version);
    if family.name == "Latin1_General_100" {
        styles.push(Style(Style::BIN2.0 | Style::UTF8));
    }
    for style in styles {
        let name = format!("{}_{}", family.name, style.name(family.version));
        let collation = Collation::of_row(row + 1, style);
        // Once a process: a name lives as long as it.
        all.push(NamedCollation { collation, name: name.leak(), listed: family.listed });
    }
}

/// The style that the name of a SQL sort order says.
pub(super) fn style_of_sort(name: &str) -> Style {
    let ends = |part: &str| name.ends_with(part);
    if ends("_BIN2") {
        return Style::BIN2;
    }
    if ends("_BIN") {
        return Style::BIN;
    }
    let mut style = 0;
    if name.contains("_CS_") {
        style |= Style::CASE;
    }
    if ends("_AS") {
        style |= Style::ACCENT;
    }
    Style(style)
}

impl Collation {
    /// Every collation that SQL Server lists.
    pub fn listed() -> impl Iterator<Item = Collation> {
        names().all.iter().filter(|named| named.listed).map(|named| named.collation)
    }

    /// Every collation that a name stands for.
    pub fn all() -> impl Iterator<Item = Collation> {
        names().all.iter().map(|named| named.collation)
    }

    /// Its name in `sys.databases.collation_name`.
    pub fn name(self) -> &'static str {
        if self == Collation::SQL_LATIN1_CI_AS {
            return "SQL_Latin1_General_CP1_CI_AS";
        }
        let names = names();
        let of = |at: &u16| &names.all[usize::from(*at)];
        let found = names.by_number.binary_search_by_key(&self.0, |at| of(at).collation.0);
        found.map_or("", |place| of(&names.by_number[place]).name)
    }

    /// The collation of a name, in any case.
    pub fn by_name(name: &str) -> Option<Collation> {
        if name.eq_ignore_ascii_case("SQL_Latin1_General_CP1_CI_AS") {
            return Some(Collation::SQL_LATIN1_CI_AS);
        }
        let same = |named: &&NamedCollation| named.name.eq_ignore_ascii_case(name);
        names().all.iter().find(same).map(|named| named.collation)
    }

    /// Its description in `fn_helpcollations`.
    pub fn description(self) -> String {
        let (family, style) = (self.family(), self.style());
        let rules = style.description(family.version);
        let words = spoken(family);
        match self.sort() {
            None => format!("{words}, {rules}"),
            Some(sort) => format!(
                "{words}, {rules} for Unicode Data, SQL Server Sort Order {} on Code Page {} for \
                 non-Unicode Data",
                sort.sort_id,
                sort.page.number()
            ),
        }
    }
}

fn spoken(family: &Family) -> String {
    family.name.replace('_', "-")
}
