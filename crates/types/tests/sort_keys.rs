//! Sort keys order as their values do.

use std::cmp::Ordering;
use types::{
    Collation, DateTime, DateTime2, DateTimeOffset, Decimal, SmallDateTime, Value, append_sort_key,
    compare,
};

/// A small generator of its own: the same values in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

fn key(value: &Value, collation: Collation) -> Vec<u8> {
    let mut key = Vec::new();
    assert!(append_sort_key(value, collation, usize::MAX, &mut key), "without a limit it is whole");
    key
}

/// Every pair of values orders as its keys do, and no key begins another one.
fn judge(values: &[Value], collation: Collation) {
    let keys: Vec<Vec<u8>> = values.iter().map(|v| key(v, collation)).collect();
    for (a, x) in values.iter().zip(&keys) {
        for (b, y) in values.iter().zip(&keys) {
            let order = compare(a, b, collation);
            assert_eq!(x.cmp(y), order, "{a:?} {b:?} {collation:?}: {x:x?} {y:x?}");
            assert!(order == Ordering::Equal || !y.starts_with(x), "{a:?} {b:?}: {x:x?} {y:x?}");
        }
    }
}

fn with_null(values: impl IntoIterator<Item = Value>) -> Vec<Value> {
    std::iter::once(Value::Null).chain(values).collect()
}

const DEFAULT: Collation = Collation::SQL_LATIN1_CI_AS;

#[test]
fn whole_numbers_of_every_width() {
    let edges = [0, 1, 127, 128, 255, 256, 65_535, 65_536, i64::from(i32::MAX), 1 << 40, i64::MAX];
    let all = edges.iter().flat_map(|&n| [n, -n, n.wrapping_add(1), !n]);
    let mut values: Vec<Value> = all.map(Value::BigInt).collect();
    values.extend([Value::Bit(true), Value::TinyInt(255), Value::SmallInt(-256), Value::Int(-1)]);
    judge(&with_null(values), DEFAULT);
    judge(&with_null(edges.map(Value::Money)), DEFAULT);
}

#[test]
fn decimals_of_every_scale() {
    let mut random = Random(1);
    let mut values = Vec::new();
    for mantissa in [0, 1, 5, 9, 10, 12, 99, 100, 101, 1_000, 123_456_789, 10_i128.pow(37)] {
        for scale in [0, 1, 2, 4, 19, 38] {
            values.extend([mantissa, -mantissa].map(|m| Decimal::new(m, scale).unwrap()));
        }
    }
    for _ in 0..150 {
        let digits = 10_i128.pow(random.below(38) as u32 + 1);
        let mantissa = ((i128::from(random.next()) * i128::from(random.next())) << 40) % digits;
        values.push(Decimal::new(mantissa, random.below(39) as u8).unwrap());
    }
    let most = 10_i128.pow(38) - 1;
    values.extend([(most, 0), (-most, 0), (most, 38)].map(|(m, s)| Decimal::new(m, s).unwrap()));
    judge(&with_null(values.into_iter().map(Value::Decimal)), DEFAULT);
}

#[test]
fn floats_with_both_zeros() {
    let floats = [0.0, -0.0, 1.0, -1.0, 1e-300, -1e300, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY];
    judge(&with_null(floats.map(Value::Float)), DEFAULT);
    judge(&[Value::Real(1.5), Value::Float(1.5), Value::Real(-2.0), Value::Float(-2.5)], DEFAULT);
}

#[test]
fn moments() {
    let moments =
        [(0, 0), (0, 1), (1, 863_999_999_999), (730_000, 5), (3_652_058, 863_999_999_999)];
    let moments = moments.map(|(days, ticks)| DateTime2 { days, ticks });
    judge(&with_null(moments.map(Value::DateTime2)), DEFAULT);
    let offset = |utc| Value::DateTimeOffset(DateTimeOffset { utc, offset: utc.days as i16 });
    judge(&with_null(moments.map(offset)), DEFAULT);
    let days = [(-53_690, 0), (-1, 25_919_999), (0, 0), (0, 1), (2_958_463, 25_919_999)];
    judge(&with_null(days.map(|(days, ticks)| Value::DateTime(DateTime { days, ticks }))), DEFAULT);
    let small = [(0, 0), (0, 1439), (1, 0), (65_535, 1439)];
    let small = small.map(|(days, minutes)| Value::SmallDateTime(SmallDateTime { days, minutes }));
    judge(&with_null(small), DEFAULT);
    judge(&with_null([0, 1, 863_999_999_999].map(Value::Time)), DEFAULT);
    judge(&with_null([0, 1, 730_000, 3_652_058].map(Value::Date)), DEFAULT);
}

#[test]
fn bytes_and_identifiers() {
    let mut random = Random(2);
    let mut bytes: Vec<Vec<u8>> = vec![vec![], vec![0], vec![0, 0, 1], vec![0xFF; 3]];
    for _ in 0..120 {
        let len = random.below(5);
        bytes.push((0..len).map(|_| [0, 1, 2, 0xFE, 0xFF][random.below(5)]).collect());
    }
    judge(&with_null(bytes.iter().map(|b| Value::varbinary(b))), DEFAULT);
    let guid =
        |i: usize| Value::Guid(std::array::from_fn(|j| u8::from(i == j) * 7 + (i + j) as u8));
    judge(&with_null((0..16).map(guid)), DEFAULT);
}

/// Strings made of what collations treat differently.
fn strings(random: &mut Random, alphabet: &[u16]) -> Vec<Vec<u16>> {
    let mut all: Vec<Vec<u16>> = vec![Vec::new(), vec![0x20], vec![0x20, 0x20, 1]];
    for _ in 0..400 {
        let len = random.below(6);
        let string = (0..len).map(|_| alphabet[random.below(alphabet.len())]);
        all.push(string.collect());
    }
    all
}

#[test]
fn strings_under_every_collation() {
    let mut random = Random(3);
    let near: Vec<u16> = "aAbBàÀéEz  -'.\u{1}0 ".encode_utf16().collect();
    let far: Vec<u16> = "aA  -'e\u{301}\u{300}éæßþ0½Жж漢カｶかＡ\u{3000}\u{AD}\u{85}İŁ\u{1E9E}€"
        .encode_utf16()
        .chain([0xD83D, 0xDE00, 0xFFFF, 0, 9])
        .collect();
    for collation in Collation::first() {
        for alphabet in [&near, &far] {
            let strings = strings(&mut random, alphabet);
            let bytes = |s: &Vec<u16>| s.iter().flat_map(|u| u.to_le_bytes()).collect::<Vec<u8>>();
            let wide = strings.iter().map(|s| Value::NChar(bytes(s).into()));
            judge(&with_null(wide), collation);
        }
        let any: Vec<u16> = (0..256).chain([0x20; 40]).collect();
        for alphabet in [&near, &any] {
            let strings = strings(&mut random, alphabet);
            let bytes = |s: &Vec<u16>| s.iter().map(|&u| u as u8).collect::<Vec<u8>>();
            judge(&with_null(strings.iter().map(|s| Value::Char(bytes(s).into()))), collation);
        }
    }
}

/// A key that is cut is the beginning of the whole one, as long as it may be.
#[test]
fn cut_keys_are_beginnings() {
    let values = [
        Value::varchar(&"Blätter, die fallen ".repeat(20)),
        Value::nvarchar(&"Blätter, die fallen ".repeat(20)),
        Value::varbinary(&[0; 300]),
        Value::varbinary(&[1, 0].repeat(300)),
        Value::BigInt(i64::MIN),
        Value::Decimal(Decimal::new(10_i128.pow(37) + 1, 3).unwrap()),
    ];
    for value in &values {
        for collation in Collation::first() {
            let whole = key(value, collation);
            for limit in 0..whole.len().min(40) {
                let mut cut = Vec::new();
                assert!(!append_sort_key(value, collation, limit, &mut cut), "{value:?} {limit}");
                assert_eq!(cut, whole[..limit], "{value:?} {limit}");
            }
            let mut again = Vec::new();
            assert!(append_sort_key(value, collation, whole.len(), &mut again));
            assert_eq!(again, whole);
        }
    }
}
