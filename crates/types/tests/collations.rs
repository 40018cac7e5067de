//! Collations and stored forms through the crate's door.

use std::cmp::Ordering::{self, Equal, Greater, Less};
use std::hash::{DefaultHasher, Hasher};
use types::{Collation, Decimal, SqlType, Value, compare, compare_storage, decode_storage};

fn order(c: Collation, wide: bool, a: &str, b: &str) -> Ordering {
    let make = if wide { Value::nvarchar } else { Value::varchar };
    compare(&make(a), &make(b), c)
}

fn hashed(c: Collation, wide: bool, a: &str) -> u64 {
    let mut h = DefaultHasher::new();
    types::hash(&if wide { Value::nvarchar(a) } else { Value::varchar(a) }, c, &mut h);
    h.finish()
}

const DEFAULT: Collation = Collation::SQL_LATIN1_CI_AS;

/// What equals what, in which encoding, under which collation.
#[test]
fn equality_follows_the_collation() {
    let cs = Collation::LATIN1_CS_AS;
    let ai = Collation::LATIN1_CI_AI;
    let bin = Collation::LATIN1_BIN2;
    for (c, a, b, narrow, wide) in [
        (DEFAULT, "abc", "ABC", true, true),
        (DEFAULT, "abc", "abc   ", true, true),
        (DEFAULT, "e", "é", false, false),
        (DEFAULT, "É", "é", true, true),
        (DEFAULT, "ß", "ss", false, true),
        (DEFAULT, "æ", "ae", false, true),
        (DEFAULT, "co-op", "coop", false, false),
        (DEFAULT, " a", "a", false, false),
        (DEFAULT, "", "   ", true, true),
        (cs, "abc", "ABC", false, false),
        (cs, "abc", "abc ", true, true),
        (ai, "Élan", "elan", true, true),
        (bin, "a", "A", false, false),
        (bin, "a", "a  ", true, true),
    ] {
        assert_eq!(order(c, false, a, b) == Equal, narrow, "varchar {a:?} {b:?} {c:?}");
        assert_eq!(order(c, true, a, b) == Equal, wide, "nvarchar {a:?} {b:?} {c:?}");
    }
    for (a, b) in [
        ("ａｂｃ１", "abc1"),
        ("カタ", "かた"),
        ("ｶﾀ", "カタ"),
        ("e\u{301}", "é"),
        ("Ж", "ж"),
        ("Σ", "σ"),
    ] {
        assert_eq!(order(DEFAULT, true, a, b), Equal, "{a} {b}");
        assert_eq!(hashed(DEFAULT, true, a), hashed(DEFAULT, true, b), "{a} {b}");
    }
}

/// Punctuation before digits before letters; a hyphen counts in varchar, hardly in nvarchar.
#[test]
fn order_is_that_of_a_dictionary() {
    let sorted =
        ["", "!", "#x", "0", "9", "a", "A1", "áa", "ab", "Ab c", "b", "ç", "d", "Ñ", "o", "Ö", "z"];
    for wide in [false, true] {
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(order(DEFAULT, wide, a, b), i.cmp(&j), "{wide} {a:?} {b:?}");
            }
        }
    }
    assert_eq!(order(DEFAULT, false, "a-c", "ab"), Less);
    assert_eq!(order(DEFAULT, true, "a-c", "ab"), Greater);
    assert_eq!(order(DEFAULT, true, "coop", "co-op"), Less);
    assert_eq!(order(DEFAULT, true, "co-op", "coopa"), Less);
    assert_eq!(order(DEFAULT, false, "a\t", "a"), Less);
    assert_eq!(order(DEFAULT, true, "côte", "coté"), Greater);
}

/// For every pair from an awkward set: order is antisymmetric and transitive, and what is equal
/// hashes alike.
#[test]
fn every_collation_is_an_order_with_a_hash() {
    let set = [
        "",
        " ",
        "a",
        "A",
        "á",
        "a-",
        "-a",
        "'a",
        "a b",
        "ab",
        "a\u{301}",
        "ae",
        "æ",
        "Æ ",
        "ss",
        "ß",
        "a\t",
        "ａ",
        "1",
        "½",
        "z",
        "þ",
        "TH",
        "é",
        "e\u{301}x",
        "ж",
        "\u{1F600}",
        "か",
        "カ",
    ];
    for c in Collation::first() {
        for wide in [false, true] {
            for a in set {
                for b in set {
                    let ab = order(c, wide, a, b);
                    assert_eq!(ab, order(c, wide, b, a).reverse(), "{c:?} {wide} {a:?} {b:?}");
                    if ab == Equal {
                        assert_eq!(
                            hashed(c, wide, a),
                            hashed(c, wide, b),
                            "{c:?} {wide} {a:?} {b:?}"
                        );
                    }
                    for x in set {
                        if ab != Greater && order(c, wide, b, x) != Greater {
                            assert_ne!(
                                order(c, wide, a, x),
                                Greater,
                                "{c:?} {wide} {a:?} {b:?} {x:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn names_ids_and_wire_bytes() {
    assert_eq!(DEFAULT.tds_bytes(), [0x09, 0x04, 0xD0, 0x00, 0x34]);
    for c in Collation::all() {
        assert_eq!(Collation::by_name(&c.name().to_lowercase()), Some(c));
        assert_eq!(Collation::by_id(c.id()), Some(c));
    }
    // As they were when there were no others.
    for (id, name) in [
        "SQL_Latin1_General_CP1_CI_AS",
        "SQL_Latin1_General_CP1_CS_AS",
        "SQL_Latin1_General_CP1_CI_AI",
        "Latin1_General_CI_AS",
        "Latin1_General_CS_AS",
        "Latin1_General_CI_AI",
        "Latin1_General_BIN",
        "Latin1_General_BIN2",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(Collation::by_id(id as u16).map(Collation::name), Some(name));
    }
    assert_eq!(Collation::by_id(8), None);
}

/// The bytes of published dumps.
#[test]
fn stored_forms() {
    let dec = |s: &str| Value::Decimal(Decimal::parse(s).unwrap());
    let text = SqlType::varchar(40);
    let from = |s: &str, t| types::convert(&Value::varchar(s), text, t, 0).unwrap();
    let d2 = SqlType::DateTime2(7);
    for (v, t, bytes) in [
        (Value::Int(-2), SqlType::Int, &[0xFE, 0xFF, 0xFF, 0xFF][..]),
        (dec("-1.23"), SqlType::decimal(5, 2), &[0, 123, 0, 0, 0]),
        (dec("1"), SqlType::decimal(19, 0), &[1, 1, 0, 0, 0, 0, 0, 0, 0]),
        (Value::Money(10_000), SqlType::SmallMoney, &[0x10, 0x27, 0, 0]),
        (from("1900-01-01", SqlType::Date), SqlType::Date, &[0x5B, 0x95, 0x0A]),
        (
            from("1900-01-02 00:00:01", SqlType::DateTime),
            SqlType::DateTime,
            &[0x2C, 1, 0, 0, 1, 0, 0, 0],
        ),
        (from("00:00:00.0000001", SqlType::Time(7)), SqlType::Time(7), &[1, 0, 0, 0, 0]),
        (from("0001-01-02 00:00:00", d2), d2, &[0, 0, 0, 0, 0, 1, 0, 0]),
        (Value::varchar("ab"), SqlType::Char(4), b"ab  "),
        (Value::nvarchar("a"), SqlType::NChar(2), b"a\0 \0"),
        (Value::varbinary(&[1]), SqlType::Binary(2), &[1, 0]),
    ] {
        let mut out = Vec::new();
        types::encode_storage(&v, t, &mut out);
        assert_eq!(out, bytes, "{v} {t}");
        let back = decode_storage(&out, t).unwrap();
        assert_eq!(compare(&back, &v, DEFAULT), Equal, "{t}");
    }
}

/// Stored forms order as their values do.
#[test]
fn stored_forms_order_as_values() {
    let text = SqlType::varchar(60);
    let cases: &[(SqlType, &[&str])] = &[
        (SqlType::Int, &["-2147483648", "-1", "0", "1", "256", "2147483647"]),
        (SqlType::SmallInt, &["-32768", "-1", "0", "255", "256"]),
        (SqlType::BigInt, &["-9223372036854775808", "-1", "0", "4294967296"]),
        (
            SqlType::decimal(38, 4),
            &["-99999999999999999999", "-0.0001", "0", "0.5", "12345678901234567890.1"],
        ),
        (SqlType::Money, &["-922337203685477.5808", "-0.0001", "0", "1"]),
        (SqlType::Float, &["-1e300", "-1e-300", "0", "1e-300", "1e300"]),
        (SqlType::Real, &["-3e38", "0", "3e38"]),
        (SqlType::Date, &["0001-01-01", "1900-01-01", "9999-12-31"]),
        (SqlType::Time(3), &["00:00:00", "00:00:00.001", "23:59:59.999"]),
        (SqlType::DateTime, &["1753-01-01", "1899-12-31 23:59", "1900-01-01", "9999-12-31"]),
        (SqlType::SmallDateTime, &["1900-01-01", "1900-01-01 00:01", "2079-06-06"]),
        (SqlType::DateTime2(7), &["0001-01-01", "2026-01-01 00:00:00.0000001", "2026-01-02"]),
        (SqlType::DateTimeOffset(0), &["2026-01-01 00:00:00 +02:00", "2026-01-01 00:00:00 -02:00"]),
        (
            SqlType::UniqueIdentifier,
            &["FFFFFFFF-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"],
        ),
        (SqlType::varchar(20), &["1", "a", "B", "c"]),
    ];
    for (t, sorted) in cases {
        let compare_bytes = compare_storage(*t, DEFAULT);
        let stored: Vec<(Value, Vec<u8>)> = sorted
            .iter()
            .map(|s| {
                let v = types::convert(&Value::varchar(s), text, *t, 0).unwrap();
                let mut out = Vec::new();
                types::encode_storage(&v, *t, &mut out);
                (v, out)
            })
            .collect();
        for (i, a) in stored.iter().enumerate() {
            for (j, b) in stored.iter().enumerate() {
                assert_eq!(compare_bytes.of(&a.1, &b.1), i.cmp(&j), "{t} {} {}", a.0, b.0);
                assert_eq!(compare(&a.0, &b.0, DEFAULT), i.cmp(&j), "{t} {} {}", a.0, b.0);
            }
        }
    }
    assert_eq!(compare_storage(SqlType::varbinary(9), DEFAULT).of(&[1], &[1, 0, 0]), Equal);
}

/// Stored forms that are equal hash alike, for every type whose equal values differ in bytes.
#[test]
fn equal_stored_values_hash_alike() {
    use std::hash::{DefaultHasher, Hasher as _};
    let wide = |s: &str| s.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let equal: &[(SqlType, Vec<u8>, Vec<u8>)] = &[
        (SqlType::varchar(9), b"abc".to_vec(), b"ABC  ".to_vec()),
        (SqlType::nvarchar(9), wide("Straße"), wide("STRASSE ")),
        (SqlType::varbinary(9), vec![1, 2], vec![1, 2, 0]),
        (SqlType::Float, 0.0_f64.to_le_bytes().to_vec(), (-0.0_f64).to_le_bytes().to_vec()),
        (SqlType::Real, 0.0_f32.to_le_bytes().to_vec(), (-0.0_f32).to_le_bytes().to_vec()),
        (SqlType::DateTimeOffset(0), vec![1, 2, 3, 4, 5, 6, 0, 0], vec![1, 2, 3, 4, 5, 6, 60, 0]),
    ];
    let hashed = |t: SqlType, c: Collation, bytes: &[u8]| {
        let hash = types::hash_storage(t, c).expect("equal values of it may differ in bytes");
        let mut state = DefaultHasher::new();
        hash.feed(bytes, &mut state);
        state.finish()
    };
    for (t, a, b) in equal {
        for collation in [DEFAULT, Collation::LATIN1_CI_AS, Collation::LATIN1_CI_AI] {
            assert_eq!(compare_storage(*t, collation).of(a, b), Equal, "{t}");
            assert_eq!(hashed(*t, collation, a), hashed(*t, collation, b), "{t}");
        }
        assert_ne!(hashed(*t, DEFAULT, a), hashed(*t, DEFAULT, &[7; 8]), "{t}");
    }
    assert!(types::hash_storage(SqlType::Int, DEFAULT).is_none());
}

/// A damaged page gives an error, never a panic.
#[test]
fn any_bytes_decode_or_fail() {
    let mut seed = 1_u64;
    for &t in types::ALL_TYPES {
        for length in 0..=20 {
            for _ in 0..50 {
                let bytes: Vec<u8> = (0..length)
                    .map(|_| {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        (seed >> 56) as u8
                    })
                    .collect();
                if let Ok(v) = decode_storage(&bytes, t) {
                    // What decodes can be shown.
                    assert!(!v.to_string().contains('\u{7}') || v.as_bytes().is_some());
                }
                let _ = compare_storage(t, DEFAULT).of(&bytes, &bytes[..length / 2]);
            }
        }
    }
}

/// What two varchars begin with alike decides nothing, however long it is and wherever they end.
#[test]
fn a_common_beginning_decides_nothing() {
    let sql =
        [DEFAULT, Collation::SQL_LATIN1_CS_AS, Collation::SQL_LATIN1_CI_AI, Collation::LATIN1_BIN2];
    let ends =
        ["", " ", "a", "A", "é", "b", "a  ", "ab", "Éa", "zebra crossing", "-", "eA", "Éa  b"];
    for c in sql {
        for a in ends {
            for b in ends {
                for n in [1, 7, 8, 9, 16, 1000] {
                    let (x, y) = ("Xé".repeat(n) + a, "Xé".repeat(n) + b);
                    assert_eq!(
                        order(c, false, &x, &y),
                        order(c, false, a, b),
                        "{c:?} {a:?} {b:?} {n}"
                    );
                }
            }
        }
    }
}
