//! The published matrices, letter by letter, and the laws of conversion.

use super::*;

const TABLE: &[&str] = &[
    "| NL | . | . | . | . | . | . | . | . | . | . | . | . | . |",
    "| Sch-S | . | . | C | . | . | . | . | . | . | . | . | . | . |",
    "| Sch-M | . | C | C | C | C | C | C | C | C | C | C | C | C |",
    "| S | . | . | C | . | . | C | . | . | C | . | C | C | C |",
    "| U | . | . | C | . | C | C | . | C | C | C | C | C | C |",
    "| X | . | . | C | C | C | C | C | C | C | C | C | C | C |",
    "| IS | . | . | C | . | . | C | . | . | . | . | . | . | C |",
    "| IU | . | . | C | . | C | C | . | . | . | . | . | C | C |",
    "| IX | . | . | C | C | C | C | . | . | . | C | C | C | C |",
    "| SIU | . | . | C | . | C | C | . | . | C | . | C | C | C |",
    "| SIX | . | . | C | C | C | C | . | . | C | C | C | C | C |",
    "| UIX | . | . | C | C | C | C | . | C | C | C | C | C | C |",
    "| BU | . | . | C | C | C | C | C | C | C | C | C | C | . |",
];

const KEY_RANGE: &[&str] = &[
    "| S | . | . | C | . | . | . | . | . | C | . | . | C |",
    "| U | . | C | C | . | C | . | . | C | C | . | C | C |",
    "| X | C | C | C | C | C | . | C | C | C | C | C | C |",
    "| RangeS-S | . | . | C | . | . | C | C | C | C | C | C | C |",
    "| RangeS-U | . | C | C | . | C | C | C | C | C | C | C | C |",
    "| RangeI-N | . | . | . | C | C | . | . | . | . | C | C | C |",
    "| RangeI-S | . | . | C | C | C | . | . | . | C | C | C | C |",
    "| RangeI-U | . | C | C | C | C | . | . | C | C | C | C | C |",
    "| RangeI-X | C | C | C | C | C | . | C | C | C | C | C | C |",
    "| RangeX-S | . | . | C | C | C | C | C | C | C | C | C | C |",
    "| RangeX-U | . | C | C | C | C | C | C | C | C | C | C | C |",
    "| RangeX-X | C | C | C | C | C | C | C | C | C | C | C | C |",
];

fn named(name: &str) -> Mode {
    *Mode::ALL.iter().find(|m| m.name() == name).expect("a mode of the table")
}

fn compare(rows: &[&str]) {
    let cells = |row: &str| -> Vec<String> {
        row.trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect()
    };
    let columns: Vec<Mode> = rows.iter().map(|r| named(&cells(r)[0])).collect();
    for row in rows {
        let cells = cells(row);
        assert_eq!(cells.len(), columns.len() + 1);
        for (held, cell) in columns.iter().zip(&cells[1..]) {
            let asked = named(&cells[0]);
            assert_eq!(asked.conflicts(*held), cell == "C", "{asked:?} against {held:?}");
        }
    }
}

#[test]
fn conflicts_are_those_of_the_published_matrices() {
    compare(TABLE);
    compare(KEY_RANGE);
}

#[test]
fn conflict_is_symmetric_and_nobody_conflicts_with_nothing() {
    for &a in Mode::ALL {
        assert!(!a.conflicts(Mode::NL));
        assert_eq!(a.conflicts(Mode::SchM), a != Mode::NL);
        for &b in Mode::ALL {
            assert_eq!(a.conflicts(b), b.conflicts(a), "{a:?} {b:?}");
        }
    }
}

#[test]
fn documented_conversions_hold() {
    use Mode::*;
    let cases = [
        (S, RangeIN, RangeIS),
        (U, RangeIN, RangeIU),
        (X, RangeIN, RangeIX),
        (RangeIN, RangeSS, RangeXS),
        (RangeIN, RangeSU, RangeXU),
        (RangeSS, X, RangeXX),
        (RangeSS, U, RangeSU),
        (RangeIS, X, RangeIX),
        (S, IX, SIX),
        (S, IU, SIU),
        (U, IX, UIX),
        (SIU, IX, SIX),
        (SIX, U, UIX),
        (U, S, U),
        (U, IU, U),
        (IX, IU, IX),
        (IX, IS, IX),
        (SchS, IX, IX),
        (BU, SchS, BU),
        (BU, IX, X),
        (X, SIX, X),
        (SchM, X, SchM),
    ];
    for (a, b, together) in cases {
        assert_eq!(a.combine(b), together, "{a:?} and {b:?}");
    }
}

#[test]
fn together_is_at_least_both_and_no_stronger_than_needed() {
    for &a in Mode::ALL {
        assert_eq!(a.combine(a), a);
        assert_eq!(a.combine(Mode::NL), a);
        for &b in Mode::ALL {
            let both = a.combine(b);
            assert_eq!(both, b.combine(a));
            assert!(both.covers(a) && both.covers(b), "{a:?} and {b:?} give {both:?}");
            let union = a.conflict_set().or(b.conflict_set());
            assert_eq!(union.or(both.conflict_set()), both.conflict_set(), "{a:?} {b:?}");
            let wide = both.conflict_set().0.count_ones();
            for &c in Mode::ALL {
                let enough = union.or(c.conflict_set()) == c.conflict_set();
                let narrower = c.conflict_set().0.count_ones() < wide;
                assert!(!(enough && narrower && c.covers(a) && c.covers(b)), "{a:?}+{b:?}: {c:?}");
            }
        }
    }
}

#[test]
fn each_mode_waits_under_its_own_name() {
    assert_eq!(Mode::SchM.wait_kind().name(), "LCK_M_SCH_M");
    assert_eq!(Mode::RangeIN.wait_kind().name(), "LCK_M_RIn_NL");
    assert_eq!(Mode::RangeXU.wait_kind().name(), "LCK_M_RX_U");
    for &m in &Mode::ALL[1..] {
        let twin = Mode::ALL[1..].iter().filter(|o| o.wait_kind() == m.wait_kind()).count();
        assert_eq!(twin, 1, "{m:?}");
    }
}
