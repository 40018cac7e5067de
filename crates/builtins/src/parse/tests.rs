//! PARSE as .NET reads numbers and dates, in tables.

use super::*;

fn parsed(text: &str, t: SqlType, culture: &str) -> String {
    let culture = Culture::named(culture).expect("it is listed");
    value(text, t, culture).map_or("NULL".to_owned(), |v| {
        let text = convert(&v, t, SqlType::nvarchar(60), if t.is_temporal() { 121 } else { 0 });
        text.map(|v| v.as_text().unwrap_or_default()).unwrap_or_default()
    })
}

#[test]
fn numbers_of_cultures() {
    let dec = SqlType::decimal(18, 2);
    for (text, t, culture, expected) in [
        ("1,234.5", dec, "en-US", "1234.50"),
        ("1.234,5", dec, "de-DE", "1234.50"),
        ("1\u{a0}234,5", dec, "fr-FR", "1234.50"),
        ("1 234,5", dec, "fr-FR", "1234.50"),
        (" -12 ", SqlType::Int, "en-US", "-12"),
        ("12-", SqlType::Int, "en-US", "-12"),
        ("12.0", SqlType::Int, "en-US", "12"),
        ("12.5", SqlType::Int, "en-US", "NULL"),
        ("300", SqlType::TinyInt, "en-US", "NULL"),
        ("€345,98", SqlType::Money, "de-DE", "345.98"),
        ("345,98 €", SqlType::Money, "de-DE", "345.98"),
        ("$345.98", SqlType::Money, "de-DE", "NULL"),
        ("($5.00)", SqlType::Money, "en-US", "-5.00"),
        ("(5)", SqlType::Int, "en-US", "NULL"),
        ("1.5e3", SqlType::Float, "en-US", "1500"),
        ("1,5", SqlType::Float, "de-DE", "1.5"),
        ("1e3", SqlType::Int, "en-US", "NULL"),
        ("Aragorn", dec, "en-US", "NULL"),
        ("", SqlType::Int, "en-US", "NULL"),
    ] {
        assert_eq!(parsed(text, t, culture), expected, "{text:?} {culture}");
    }
}

#[test]
fn dates_of_cultures() {
    let d = SqlType::Date;
    let dt = SqlType::DateTime2(0);
    for (text, t, culture, expected) in [
        ("Monday, 13 December 2010", dt, "en-US", "2010-12-13 00:00:00"),
        ("Tuesday, 13 December 2010", dt, "en-US", "NULL"),
        ("02/03/2024", d, "en-US", "2024-02-03"),
        ("02/03/2024", d, "en-GB", "2024-03-02"),
        ("31.12.2024", d, "de-DE", "2024-12-31"),
        ("31. Dezember 2024", d, "de-DE", "2024-12-31"),
        ("31 décembre 2024", d, "fr-FR", "2024-12-31"),
        ("31 de diciembre de 2024", d, "es-ES", "2024-12-31"),
        ("2024年12月31日", d, "ja-JP", "2024-12-31"),
        ("31 grudnia 2024", d, "pl-PL", "2024-12-31"),
        ("2024-12-31", d, "de-DE", "2024-12-31"),
        ("12/31/29", d, "en-US", "2029-12-31"),
        ("12/31/30", d, "en-US", "1930-12-31"),
        ("13/13/2024", d, "en-US", "NULL"),
        ("12/31/2024 10:11:12 PM", dt, "en-US", "2024-12-31 22:11:12"),
        ("2024-12-31T10:11:12", dt, "en-US", "2024-12-31 10:11:12"),
        ("December 2024", d, "en-US", "2024-12-01"),
        ("10:11", SqlType::Time(0), "en-US", "10:11:00"),
        ("12 AM", SqlType::Time(0), "en-US", "00:00:00"),
        (
            "2024-12-31 10:00 +02:00",
            SqlType::DateTimeOffset(0),
            "en-US",
            "2024-12-31 10:00:00 +02:00",
        ),
        ("nonsense", d, "en-US", "NULL"),
    ] {
        assert_eq!(parsed(text, t, culture), expected, "{text:?} {culture}");
    }
}
