//! What the first different bytes of two texts decide by their weights, the whole comparison
//! decides alike: searches of an index ask no more.

use types::{Collation, Length, SqlType, compare_storage, storage_weights};

/// All texts of up to three of these: letters of both cases with accents, digits, symbols, blanks
/// and zeros.
fn texts() -> Vec<Vec<u8>> {
    let alphabet = b"aAbz9 -\0\xE4\xDF";
    let mut all = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..3 {
        let to = all.len();
        for n in from..to {
            for byte in alphabet {
                let mut text: Vec<u8> = all[n].clone();
                text.push(*byte);
                all.push(text);
            }
        }
        from = to;
    }
    all
}

#[test]
fn weights_decide_as_the_comparison_does() {
    let texts = texts();
    let mut decided = 0;
    for collation in Collation::first() {
        let sql_type = SqlType::VarChar(Length::N(10));
        let Some(weights) = storage_weights(sql_type, collation) else { continue };
        let compare = compare_storage(sql_type, collation);
        for (a, b) in texts.iter().flat_map(|a| texts.iter().map(move |b| (a, b))) {
            let Some((x, y)) = a.iter().zip(b).find(|(x, y)| x != y) else { continue };
            let order = weights[usize::from(*x)].cmp(&weights[usize::from(*y)]);
            if order.is_ne() {
                decided += 1;
                assert_eq!(compare.of(a, b), order, "{collation:?}: {a:?} and {b:?}");
            }
        }
    }
    assert!(decided > 1_000_000, "{decided} pairs were decided");
}

#[test]
fn collations_that_look_beyond_bytes_have_no_weights() {
    let of = |collation| storage_weights(SqlType::VarChar(Length::Max), collation).is_some();
    assert!(of(Collation::SQL_LATIN1_CI_AS) && of(Collation::LATIN1_BIN2));
    assert!(!of(Collation::LATIN1_CI_AS));
    assert!(storage_weights(SqlType::NVarChar(Length::Max), Collation::LATIN1_BIN).is_none());
}
