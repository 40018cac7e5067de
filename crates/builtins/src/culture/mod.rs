//! `Culture`: how a country writes numbers, money and dates, for FORMAT and PARSE.
//!
//! ```text
//! countries.rs  separators, currency and date patterns of a culture
//! languages.rs  names of months and days
//! ```
//!
//! The tables follow what .NET Framework answers for these names, which is what SQL Server asks;
//! where its releases differ, that of Windows 10 counts. Names are looked up in any case; a bare
//! language (`de`) means its largest country, and a culture that is not listed is error 9818.

mod countries;
mod languages;

use base::{SqlError, SqlResult, messages};
use countries::CULTURES;

/// Names of months and days; lists have `|` between their items.
pub(crate) struct Language {
    /// From January.
    pub(crate) months: &'static str,
    /// As they stand beside a day; empty where that is no other form.
    pub(crate) months_of_day: &'static str,
    /// Abbreviated, from January.
    pub(crate) months_short: &'static str,
    /// From Sunday.
    pub(crate) days: &'static str,
    /// Abbreviated, from Sunday.
    pub(crate) days_short: &'static str,
    /// Before noon and after.
    pub(crate) halves: (&'static str, &'static str),
}

/// How a country writes.
pub(crate) struct Culture {
    /// `en-US`
    pub(crate) name: &'static str,
    pub(crate) language: &'static Language,
    /// Before the fraction of a number.
    pub(crate) decimal: &'static str,
    /// Between groups of three digits.
    pub(crate) group: &'static str,
    pub(crate) currency: &'static str,
    /// Digits of an amount of money.
    pub(crate) currency_digits: u8,
    /// An amount: `$` is the currency, `n` the number.
    pub(crate) money: &'static str,
    /// The same below zero.
    pub(crate) money_below: &'static str,
    /// A percentage: `n` is the number.
    pub(crate) percent: &'static str,
    /// What a `/` of a pattern becomes.
    pub(crate) date_separator: &'static str,
    pub(crate) short_date: &'static str,
    pub(crate) long_date: &'static str,
    pub(crate) short_time: &'static str,
    pub(crate) long_time: &'static str,
    pub(crate) month_day: &'static str,
    pub(crate) year_month: &'static str,
}

impl Culture {
    /// The culture of us_english, and of what is the same everywhere.
    pub(crate) fn american() -> &'static Culture {
        &CULTURES[0]
    }

    /// The culture of a name.
    ///
    /// # Errors
    /// 9818
    pub(crate) fn named(name: &str) -> SqlResult<&'static Culture> {
        let exact = CULTURES.iter().find(|c| c.name.eq_ignore_ascii_case(name));
        let of_language = || {
            CULTURES.iter().find(|c| {
                c.name.split_once('-').is_some_and(|(bare, _)| bare.eq_ignore_ascii_case(name))
            })
        };
        exact
            .or_else(of_language)
            .ok_or_else(|| SqlError::new(messages::CULTURE_NOT_SUPPORTED, &[&name]))
    }

    /// The order in which its dates have year, month and day: `M`, `d` and `y`.
    pub(crate) fn date_order(&self) -> [char; 3] {
        let at = |c: char| self.short_date.find(c).unwrap_or(0);
        let mut order = ['y', 'M', 'd'];
        order.sort_by_key(|&c| at(c));
        order
    }
}

/// An item of a list of names.
pub(crate) fn item(list: &'static str, n: usize) -> &'static str {
    list.split('|').nth(n).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_whole() {
        for c in CULTURES {
            let l = c.language;
            assert_eq!(l.months.split('|').count(), 12, "{}", c.name);
            assert_eq!(l.months_short.split('|').count(), 12, "{}", c.name);
            assert_eq!(l.days.split('|').count(), 7, "{}", c.name);
            assert_eq!(l.days_short.split('|').count(), 7, "{}", c.name);
            assert!(matches!(l.months_of_day.split('|').count(), 1 | 12), "{}", c.name);
            for pattern in [c.money, c.money_below] {
                assert!(pattern.contains('$') && pattern.contains('n'), "{}", c.name);
            }
            let named = Culture::named(&c.name.to_uppercase()).expect("it is listed");
            assert_eq!(named.name, c.name);
        }
        assert_eq!(Culture::named("de").expect("a language").name, "de-DE");
        assert!(Culture::named("xx-XX").is_err());
    }
}
