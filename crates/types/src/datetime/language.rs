//! The languages of SQL Server: names of months and days, order of dates, first day of the week.
//!
//! The list is a fixed one, `sys.syslanguages` of every instance. Its names are not those of
//! CLDR or .NET, which FORMAT asks (`builtins/src/culture`): the Czech short months are Roman
//! numbers, the Greek May has an underscore, East Asian months are numbers.
//!
//! 1. A language stands in the list at the place of its id.
//! 2. Names of months are matched in any case and with their accents.

use super::language_list::LANGUAGES;
use super::parse::DateFormat;
use std::hash::{Hash, Hasher};

/// A row of `sys.syslanguages`.
#[derive(Debug)]
pub struct Language {
    /// `@@LANGID`
    pub id: i16,
    /// `@@LANGUAGE`
    pub name: &'static str,
    /// The English name, which SET LANGUAGE also takes.
    pub alias: &'static str,
    /// DATEFORMAT of a session that sets the language.
    pub date_format: DateFormat,
    /// DATEFIRST of such a session.
    pub date_first: u8,
    /// The locale's number in Windows.
    pub lcid: i32,
    /// The language whose messages are said: its own locale's, or English ones.
    pub messages: i16,
    /// The .NET culture that FORMAT and PARSE use.
    pub culture: &'static str,
    /// From January, with commas between them.
    pub months: &'static str,
    /// Abbreviated, from January, with commas between them.
    pub short_months: &'static str,
    /// From Monday, with commas between them.
    pub days: &'static str,
}

impl PartialEq for Language {
    fn eq(&self, other: &Language) -> bool {
        self.id == other.id
    }
}

impl Eq for Language {}

impl Hash for Language {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl Language {
    /// All of them, by id.
    pub fn all() -> &'static [Language] {
        &LANGUAGES
    }

    /// us_english, with which sessions begin.
    pub fn us_english() -> &'static Language {
        &LANGUAGES[0]
    }

    /// The language of an id.
    pub fn by_id(id: i16) -> Option<&'static Language> {
        // rule 1
        LANGUAGES.get(usize::try_from(id).ok()?)
    }

    /// A language by its name or alias, in any case.
    pub fn by_name(name: &str) -> Option<&'static Language> {
        let same = |own: &str| {
            let mut letters = own.chars().flat_map(char::to_lowercase);
            name.chars().flat_map(char::to_lowercase).eq(letters.by_ref())
        };
        LANGUAGES.iter().find(|l| same(l.name) || same(l.alias))
    }

    /// The name of a month, from 1.
    pub fn month(&self, month: u32) -> &'static str {
        item(self.months, month.wrapping_sub(1))
    }

    /// The short name of a month, from 1.
    pub(super) fn short_month(&self, month: u32) -> &'static str {
        item(self.short_months, month.wrapping_sub(1))
    }

    /// The name of a day, from 0 for Monday.
    pub(super) fn day(&self, day: u32) -> &'static str {
        item(self.days, day)
    }

    /// Whether months have numbers for names.
    pub(super) fn numbers_months(&self) -> bool {
        self.short_months.starts_with("01")
    }

    /// The month with whose name a text begins, and the length of that name. The name of a month
    /// is a word: no letter follows it.
    pub(super) fn leading_month(&self, text: &str) -> Option<(u32, usize)> {
        let names = self.months.split(',').chain(self.short_months.split(',')).enumerate();
        let found = names.filter_map(|(n, name)| Some((leading(text, name)?, n)));
        // `marts` is not `mar` with letters behind it, but `Rabie II` begins with `Rabie I`.
        let (length, n) = found.max_by_key(|(length, _)| *length)?;
        Some((n as u32 % 12 + 1, length))
    }
}

/// A name of a list.
fn item(list: &'static str, n: u32) -> &'static str {
    list.split(',').nth(n as usize).unwrap_or("")
}

/// The bytes of a text that are this word, in any case.
fn leading(text: &str, word: &str) -> Option<usize> {
    let mut rest = text.chars();
    for letter in word.chars() {
        let own = rest.next()?;
        if own != letter && !own.to_lowercase().eq(letter.to_lowercase()) {
            return None;
        }
    }
    let length = text.len() - rest.as_str().len();
    (!rest.next().is_some_and(char::is_alphabetic)).then_some(length)
}

/// How a session writes and reads dates as text: SET LANGUAGE and SET DATEFORMAT.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dialect {
    /// The order of numbers.
    pub format: DateFormat,
    /// Names of months.
    pub language: &'static Language,
}

impl Default for Dialect {
    /// That of us_english.
    fn default() -> Dialect {
        Dialect { format: DateFormat::default(), language: Language::us_english() }
    }
}

impl From<DateFormat> for Dialect {
    fn from(format: DateFormat) -> Dialect {
        Dialect { format, ..Dialect::default() }
    }
}

impl Dialect {
    /// Whether something is the same however a session writes dates: in each order, and, where
    /// `named` says that names of months matter, in each language.
    pub fn decides_nothing(self, named: bool, mut same: impl FnMut(Dialect) -> bool) -> bool {
        let orders = DateFormat::ALL.into_iter().map(|format| Dialect { format, ..self });
        let languages = Language::all().iter().map(|language| Dialect { language, ..self });
        orders.into_iter().all(&mut same) && (!named || languages.into_iter().all(&mut same))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_whole() {
        assert_eq!(LANGUAGES.len(), 34);
        for (n, l) in LANGUAGES.iter().enumerate() {
            assert_eq!(usize::try_from(l.id), Ok(n), "{}", l.name);
            let lists = [(l.months, 12, 372), (l.short_months, 12, 132), (l.days, 7, 217)];
            for (list, names, most) in lists {
                assert!(list.encode_utf16().count() <= most, "{}: {list}", l.name);
                assert_eq!(list.split(',').count(), names, "{}: {list}", l.name);
                assert!(list.split(',').all(|name| !name.is_empty()), "{}: {list}", l.name);
            }
            for name in [l.name, l.alias] {
                assert_eq!(Language::by_name(&name.to_uppercase()), Some(l), "{name}");
            }
        }
        let sundays = LANGUAGES.iter().filter(|l| l.date_first == 7).count();
        assert_eq!(sundays, 8, "as in SQL Server");
    }

    #[test]
    fn every_name_of_a_month_is_read() {
        for l in LANGUAGES.iter().filter(|l| !l.numbers_months()) {
            for (n, name) in l.months.split(',').enumerate() {
                let text = format!("{name} 5");
                assert_eq!(l.leading_month(&text), Some((n as u32 + 1, name.len())), "{text}");
            }
            for (n, name) in l.short_months.split(',').enumerate() {
                assert_eq!(l.leading_month(name), Some((n as u32 + 1, name.len())), "{name}");
                assert_eq!(l.leading_month(&format!("{name}Q")), None, "{name}");
            }
        }
        let french = Language::by_name("french").unwrap();
        assert_eq!(french.leading_month("FÉVR"), Some((2, 5)));
        assert_eq!(french.leading_month("aout"), None, "accents matter");
        assert_eq!(french.leading_month("March"), None, "no English name");
    }
}
