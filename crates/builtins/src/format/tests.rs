//! FORMAT as .NET documents it, in tables.

use super::*;
use types::Decimal;

fn number_text(v: Value, pattern: &str) -> String {
    number::format(&v, pattern, Culture::american()).unwrap_or_else(|| "NULL".to_owned())
}

#[test]
fn numbers() {
    let dec = |s: &str| Value::Decimal(Decimal::parse(s).unwrap());
    let f = Value::Float;
    let i = Value::Int;
    for (v, pattern, text) in [
        (f(0.135_902_396_5), "N4", "0.1359"),
        (f(1_234_567.891), "N", "1,234,567.89"),
        (f(-1234.5), "N0", "-1,235"),
        (f(2.5), "N0", "3"),
        (f(-0.001), "N2", "0.00"),
        (i(42), "D5", "00042"),
        (i(-42), "D", "-42"),
        (f(1.5), "D", "NULL"),
        (f(1234.567), "F1", "1234.6"),
        (dec("12.3"), "C", "$12.30"),
        (i(-5), "C", "($5.00)"),
        (f(0.4567), "P", "45.67 %"),
        (f(0.4567), "P0", "46 %"),
        (i(255), "X", "FF"),
        (i(255), "x4", "00ff"),
        (i(-1), "X", "FFFFFFFF"),
        (f(12345.678), "E2", "1.23E+004"),
        (f(0.1), "G", "0.1"),
        (f(1e20), "G", "1E+20"),
        (dec("1.50"), "G", "1.50"),
        (f(1234567.891), "#,##0.00", "1,234,567.89"),
        (i(0), "#,##0.00", "0.00"),
        (i(5), "000", "005"),
        (i(0), "#", ""),
        (f(0.5), "#.##", ".5"),
        (f(0.5), "0.##", "0.5"),
        (f(2.0), "0.##", "2"),
        (f(0.256), "0.0%", "25.6%"),
        (i(-7), "0;(0)", "(7)"),
        (i(-7), "0.0", "-7.0"),
        (i(0), "0;-0;zero", "zero"),
        (i(1_234_567), "#,##0,", "1,235"),
        (i(1_234_567), "0,,.0", "1.2"),
        (i(5_551_234), "###-####", "555-1234"),
        (i(12), "'#'0 pcs", "#12 pcs"),
        (i(12), "\\##", "#12"),
        (f(12345.0), "0.00E+00", "1.23E+04"),
        (i(1_234_567), "#,#", "1,234,567"),
    ] {
        assert_eq!(number_text(v.clone(), pattern), text, "{v} {pattern:?}");
    }
}

#[test]
fn dates() {
    let m = Moment::from_civil(2026, 11, 5, 474_300_123_456 + 70_000_000).unwrap();
    let t = SqlType::DateTime2(7);
    for (pattern, text) in [
        ("d", "11/5/2026"),
        ("D", "Thursday, November 5, 2026"),
        ("g", "11/5/2026 1:10 PM"),
        ("G", "11/5/2026 1:10:37 PM"),
        ("s", "2026-11-05T13:10:37"),
        ("u", "2026-11-05 13:10:37Z"),
        ("o", "2026-11-05T13:10:37.0123456"),
        ("yyyy-MM-dd HH:mm:ss.fff", "2026-11-05 13:10:37.012"),
        ("dd/MM/yy hh:mm t", "05/11/26 01:10 P"),
        ("ddd, MMM d 'at' H", "Thu, Nov 5 at 13"),
        ("MMMM yyyy", "November 2026"),
        ("%d", "5"),
    ] {
        assert_eq!(
            date::format(m, t, pattern, Culture::american()).as_deref(),
            Some(text),
            "{pattern:?}"
        );
    }
    assert_eq!(date::format(m, t, "q", Culture::american()), None);
    let time = |pattern| date::format(m, SqlType::Time(7), pattern, Culture::american());
    assert_eq!(time(r"hh\:mm").as_deref(), Some("13:10"));
    assert_eq!(time("c").as_deref(), Some("13:10:37.0123456"));
    assert_eq!(time("t").as_deref(), Some("13:10:37.0123456"));
    let whole = Moment { ticks: m.ticks - m.ticks % 10_000_000, ..m };
    let shown = date::format(whole, SqlType::Time(7), "c", Culture::american());
    assert_eq!(shown.as_deref(), Some("13:10:37"));
    assert_eq!(time("hh:mm"), None);
}

#[test]
fn messages_print_their_arguments() {
    let s = Value::nvarchar("x");
    for (template, args, text) in [
        ("a %d b %s%%", vec![Value::Int(-5), s.clone()], Some("a -5 b x%")),
        ("%5d|%-5d|%05d", vec![Value::Int(42); 3], Some("   42|42   |00042")),
        ("%x %X %o %u", vec![Value::Int(-1); 4], Some("ffffffff FFFFFFFF 37777777777 4294967295")),
        ("%.2s|%4s", vec![Value::varchar("abcd"), s.clone()], Some("ab|   x")),
        ("%s", vec![], Some("(null)")),
        ("%I64d", vec![Value::BigInt(1 << 40)], Some("1099511627776")),
        ("%d", vec![s.clone()], None),
        ("%q", vec![Value::Int(1)], None),
        ("%", vec![], None),
    ] {
        assert_eq!(print_message(template, &args).as_deref(), text, "{template:?}");
    }
}
