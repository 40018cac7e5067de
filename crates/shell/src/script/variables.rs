//! Scripting variables: sqlcmd's own, those of -v and `:setvar`, and the environment's below.
//!
//! Names don't care for case. The variables that lay results out are the only place where that
//! is kept: [`Variables::format`] reads them.

use super::complaint::Complaint;
use crate::print::Format;
use std::collections::BTreeMap;

/// Only the command line and `:connect` set these.
const READ_ONLY: [&str; 5] =
    ["SQLCMDUSER", "SQLCMDSERVER", "SQLCMDDBNAME", "SQLCMDWORKSTATION", "SQLCMDPACKETSIZE"];

/// These have a number in a range.
const NUMBERS: [(&str, i64, i64); 5] = [
    ("SQLCMDCOLWIDTH", 0, 65_535),
    ("SQLCMDERRORLEVEL", -1, 25),
    ("SQLCMDHEADERS", -1, i32::MAX as i64),
    ("SQLCMDMAXFIXEDTYPEWIDTH", 0, 8000),
    ("SQLCMDMAXVARTYPEWIDTH", 0, 8000),
];

/// The variables of a session.
#[derive(Clone, Debug)]
pub(crate) struct Variables {
    /// By name in upper case.
    values: BTreeMap<String, String>,
    trim: bool,
    environment: fn(&str) -> Option<String>,
}

impl Variables {
    /// sqlcmd's defaults above an environment.
    pub(crate) fn new(environment: fn(&str) -> Option<String>) -> Variables {
        let defaults = [
            ("SQLCMDCOLSEP", " "),
            ("SQLCMDCOLWIDTH", "0"),
            ("SQLCMDERRORLEVEL", "0"),
            ("SQLCMDHEADERS", "0"),
            ("SQLCMDMAXFIXEDTYPEWIDTH", "0"),
            ("SQLCMDMAXVARTYPEWIDTH", "256"),
        ];
        let values = defaults.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Variables { values: BTreeMap::from(values), trim: false, environment }
    }

    /// -W, which has no variable.
    pub(crate) fn set_trim(&mut self, trim: bool) {
        self.trim = trim;
    }

    /// What a variable holds.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let own = self.values.get(&name.to_ascii_uppercase());
        own.cloned().or_else(|| (self.environment)(name))
    }

    /// All but the environment's, sorted.
    pub(crate) fn list(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// -v and `:setvar`; without a value the variable is forgotten.
    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), Complaint> {
        let key = name.to_ascii_uppercase();
        if READ_ONLY.contains(&key.as_str()) {
            return Err(Complaint::ReadOnly { name: name.to_owned() });
        }
        if let Some(&(_, least, most)) = NUMBERS.iter().find(|(n, ..)| *n == key) {
            let number = value.and_then(|v| v.trim().parse::<i64>().ok());
            let narrow = key == "SQLCMDCOLWIDTH" && matches!(number, Some(1..=8));
            if narrow || !number.is_some_and(|n| (least..=most).contains(&n)) {
                let value = value.unwrap_or("").to_owned();
                return Err(Complaint::Value { name: key, value });
            }
        }
        self.store(key, value);
        Ok(())
    }

    /// The variables that only the shell sets.
    pub(crate) fn set_own(&mut self, name: &str, value: &str) {
        debug_assert!(READ_ONLY.contains(&name), "others have set");
        self.store(name.to_owned(), Some(value));
    }

    fn store(&mut self, key: String, value: Option<&str>) {
        match value {
            Some(value) => self.values.insert(key, value.to_owned()),
            None if key == "SQLCMDCOLSEP" => self.values.insert(key, " ".to_owned()),
            None => self.values.remove(&key),
        };
    }

    /// How results are laid out now.
    pub(crate) fn format(&self) -> Format {
        let number = |name: &str| {
            // Only numbers in range get in; none is removed.
            self.values.get(name).and_then(|v| v.trim().parse::<i64>().ok()).unwrap_or(0)
        };
        let count = |name: &str| usize::try_from(number(name)).unwrap_or(0);
        Format {
            separator: self.values.get("SQLCMDCOLSEP").cloned().unwrap_or_default(),
            headers: number("SQLCMDHEADERS"),
            trim: self.trim,
            screen_width: count("SQLCMDCOLWIDTH"),
            variable_width: count("SQLCMDMAXVARTYPEWIDTH"),
            fixed_width: count("SQLCMDMAXFIXEDTYPEWIDTH"),
            error_level: i32::try_from(number("SQLCMDERRORLEVEL")).unwrap_or(0),
        }
    }
}

/// Whether a name can stand in `$(name)`.
pub(crate) fn is_name(name: &str) -> bool {
    let fits = |c: char| !c.is_whitespace() && !c.is_control() && !"'\"()$".contains(c);
    !name.is_empty() && name.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        (name == "HOME").then(|| "/home/x".to_owned())
    }

    #[test]
    fn names_have_no_case_and_lie_above_the_environment() {
        let mut v = Variables::new(environment);
        v.set("Table", Some("dbo.T")).unwrap();
        assert_eq!(v.get("TABLE").as_deref(), Some("dbo.T"));
        assert_eq!(v.get("HOME").as_deref(), Some("/home/x"));
        v.set("home", Some("here")).unwrap();
        assert_eq!(v.get("HOME").as_deref(), Some("here"));
        v.set("HOME", None).unwrap();
        v.set("table", None).unwrap();
        assert_eq!(v.get("HOME").as_deref(), Some("/home/x"));
        assert_eq!(v.get("table"), None);
    }

    #[test]
    fn own_variables_are_checked_and_lay_results_out() {
        let mut v = Variables::new(environment);
        assert_eq!(v.format(), Format::default());
        for (name, value) in [
            ("SQLCMDHEADERS", Some("-2")),
            ("sqlcmdcolwidth", Some("8")),
            ("SQLCMDMAXVARTYPEWIDTH", Some("8001")),
            ("SQLCMDERRORLEVEL", None),
            ("SQLCMDSERVER", Some("x")),
        ] {
            assert!(v.set(name, value).is_err(), "{name}");
        }
        v.set("SqlCmdHeaders", Some("-1")).unwrap();
        v.set("SQLCMDCOLSEP", Some("|")).unwrap();
        v.set("SQLCMDCOLWIDTH", Some("80")).unwrap();
        let f = v.format();
        assert_eq!((f.headers, f.separator.as_str(), f.screen_width), (-1, "|", 80));
    }
}
