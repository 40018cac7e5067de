//! `$(name)` in a batch or in a command's argument becomes the variable's value.
//!
//! Within strings and names too, but not within comments. A value is not looked at again.

use super::scan::LexicalContext;
use super::variables::{Variables, is_name};

/// Why text could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// `$(` without a name and `)`; the line of the text, counted from 0.
    Malformed { line: u32 },
    /// There is no such variable.
    Undefined { name: String },
}

/// A batch with its variables' values.
pub(crate) fn batch(text: &str, variables: &Variables) -> Result<String, Fault> {
    replace(text, variables, Some(LexicalContext::Nothing))
}

/// A command's argument with its variables' values; `--` and `/*` are nothing special there.
pub(crate) fn argument(text: &str, variables: &Variables) -> Result<String, Fault> {
    replace(text, variables, None)
}

fn replace(
    text: &str,
    variables: &Variables,
    scan: Option<LexicalContext>,
) -> Result<String, Fault> {
    if !text.contains("$(") {
        return Ok(text.to_owned());
    }
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut scan, mut at, mut copied, mut line) = (scan, 0, 0, 0);
    while at < bytes.len() {
        let comment =
            matches!(scan, Some(LexicalContext::Comment(_) | LexicalContext::LineComment));
        if !comment && bytes[at..].starts_with(b"$(") {
            let name = reference(&text[at + 2..]).ok_or(Fault::Malformed { line })?;
            let Some(value) = variables.get(name) else {
                return Err(Fault::Undefined { name: name.to_owned() });
            };
            out.push_str(&text[copied..at]);
            out.push_str(&value);
            at += name.len() + 3;
            copied = at;
            continue;
        }
        line += u32::from(bytes[at] == b'\n');
        match &mut scan {
            Some(within) => {
                let (after, next) = within.step(bytes, at);
                // A step of two is over a comment's mark, which has no line break.
                (*within, at) = (after, next);
            }
            None => at += 1,
        }
    }
    out.push_str(&text[copied..]);
    Ok(out)
}

/// The name at the start of what follows `$(`.
fn reference(rest: &str) -> Option<&str> {
    let name = rest.split_once(')')?.0;
    is_name(name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        let mut v = Variables::new(|_| None);
        for (name, value) in [("t", "dbo.T"), ("q", "it's $(t)"), ("e", "")] {
            v.set(name, Some(value)).unwrap();
        }
        v
    }

    #[test]
    fn values_stand_where_names_stood() {
        let cases = [
            ("select * from $(t)", "select * from dbo.T"),
            ("select '$(t)', [$(T)], \"$(t)\"", "select 'dbo.T', [dbo.T], \"dbo.T\""),
            ("$(q)$(e)$(t)ä", "it's $(t)dbo.Tä"),
            ("-- $(nobody)\nselect $(t) /* $(x y */", "-- $(nobody)\nselect dbo.T /* $(x y */"),
            ("select $1, $, $ (x)", "select $1, $, $ (x)"),
        ];
        for (text, expected) in cases {
            assert_eq!(batch(text, &variables()).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn faults_tell_the_name_or_the_line() {
        let undefined = Err(Fault::Undefined { name: "nobody".to_owned() });
        assert_eq!(batch("select $(nobody)", &variables()), undefined);
        assert_eq!(argument("-- $(nobody)", &variables()), undefined);
        for (text, line) in [("$(", 0), ("a\n$(a b)", 1), ("\n\n'$()'", 2), ("$('x')", 0)] {
            assert_eq!(batch(text, &variables()), Err(Fault::Malformed { line }), "{text}");
        }
    }
}
