//! `SqlError`: what a user is told. Number, severity, state, line, procedure, text.
//!
//! Three families never mix: the user's mistake (severity 11-16), our resources (17-19),
//! our bug or the disk's (20-25). Each crate has its own error enum; the conversion into
//! `SqlError` stands beside it, so that the number is given where the fact is born.

use crate::{ErrorClass, messages};
use std::fmt;

/// A row of the message table: number, severity and a text with `{0}`, `{1}` ... for facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The number that applications test, as in SQL Server's sys.messages.
    pub number: i32,
    /// 0-10 information, 11-16 the user's mistake, 17-19 resources, 20-25 fatal.
    pub severity: u8,
    /// The text with places for arguments.
    pub text: &'static str,
}

/// The result of anything a user can ask for.
pub type SqlResult<T> = Result<T, SqlError>;

/// An error as a client sees it. One pointer wide: results stay small on hot paths.
#[derive(Clone, PartialEq, Eq)]
pub struct SqlError(Box<Facts>);

#[derive(Clone, PartialEq, Eq)]
struct Facts {
    number: i32,
    severity: u8,
    state: u8,
    line: u32,
    procedure: Option<String>,
    text: String,
    /// The errors that explain this one: told before it, in order.
    earlier: Vec<SqlError>,
}

impl SqlError {
    /// An error of the message table, its places filled in order; its usual state, line unknown.
    pub fn new(message: Message, args: &[&dyn fmt::Display]) -> Self {
        let state = usual_state(message.number);
        SqlError::raw(message.number, message.severity, state, fill(message.text, args))
    }

    /// An error whose text is already whole: THROW, RAISERROR, or one relayed by a client.
    pub fn raw(number: i32, severity: u8, state: u8, text: String) -> Self {
        let facts =
            Facts { number, severity, state, line: 0, procedure: None, text, earlier: Vec::new() };
        SqlError(Box::new(facts))
    }

    /// The same with another state.
    #[must_use]
    pub fn with_state(mut self, state: u8) -> Self {
        self.0.state = state;
        self
    }

    /// The same at a line of its batch or procedure, unless a deeper place has set one.
    #[must_use]
    pub fn at_line(mut self, line: u32) -> Self {
        // An error of a procedure without a line is one of its call: line 0 is its line.
        if self.0.line == 0 && self.0.procedure.is_none() {
            self.0.line = line;
        }
        self.with_earlier(|e| e.at_line(line))
    }

    /// The same within a procedure, unless a deeper place has set one.
    #[must_use]
    pub fn in_procedure(mut self, name: &str) -> Self {
        if self.0.procedure.is_none() {
            self.0.procedure = Some(name.to_owned());
        }
        self.with_earlier(|e| e.in_procedure(name))
    }

    /// The same, told after another one that explains it, and after those that it has already.
    #[must_use]
    pub fn after(mut self, explanation: SqlError) -> Self {
        self.0.earlier.push(explanation);
        self
    }

    /// The messages that are told before this one because they explain it, in order.
    pub fn earlier(&self) -> &[SqlError] {
        &self.0.earlier
    }

    /// The first of the errors that explain this one; itself when there is none.
    #[must_use]
    pub fn explanation(self) -> SqlError {
        let mut error = self;
        while !error.0.earlier.is_empty() {
            error = error.0.earlier.swap_remove(0);
        }
        error
    }

    /// The same without the messages before it that are no errors: they have been told.
    #[must_use]
    pub fn without_warnings(mut self) -> Self {
        self.0.earlier.retain(|e| !e.is_warning());
        self
    }

    /// Whether it informs only: severity 10 and below.
    pub fn is_warning(&self) -> bool {
        self.0.severity <= 10
    }

    /// What it ends: of its class, or that of the first error that explains it.
    pub fn class(&self) -> ErrorClass {
        match self.0.earlier.iter().find(|e| !e.is_warning()) {
            Some(explanation) if !self.is_warning() && self.0.severity < 20 => explanation.class(),
            // State 1 of 8115 is of an identity value.
            _ if self.0.number == messages::ARITHMETIC_OVERFLOW_CONVERT.number
                && self.0.state == 1 =>
            {
                ErrorClass::of_identity()
            }
            _ => ErrorClass::of_error(self.0.number, self.0.severity),
        }
    }

    fn with_earlier(mut self, change: impl Fn(SqlError) -> SqlError) -> Self {
        if !self.0.earlier.is_empty() {
            let earlier = std::mem::take(&mut self.0.earlier);
            self.0.earlier = earlier.into_iter().map(change).collect();
        }
        self
    }

    /// The number that applications test.
    pub fn number(&self) -> i32 {
        self.0.number
    }

    /// The severity, which TDS calls class.
    pub fn severity(&self) -> u8 {
        self.0.severity
    }

    /// Where in the engine it was raised; constant for a place.
    pub fn state(&self) -> u8 {
        self.0.state
    }

    /// The 1-based line of the batch or procedure, 0 when unknown.
    pub fn line(&self) -> u32 {
        self.0.line
    }

    /// The procedure it was raised in.
    pub fn procedure(&self) -> Option<&str> {
        self.0.procedure.as_deref()
    }

    /// The text, its arguments filled in.
    pub fn text(&self) -> &str {
        &self.0.text
    }
}

/// The state in which users know an error, where the place that raises it names no other.
fn usual_state(number: i32) -> u8 {
    match number {
        302 | 535 | 547 | 1752 | 1779 | 3727 | 4916 | 4917 | 8139 | 8140 | 8141 | 8148 | 8168 => 0,
        137 | 206 | 234 | 313 | 515 | 529 | 2738 | 2744 | 2749 | 2752 | 2753 | 3733 => 2,
        8115 | 8144 | 8146 | 8155 | 8162 | 8169 | 8170 | 11702 | 16950 => 2,
        242 | 257 | 295 | 2705 | 2715 | 4123 | 5362 | 10753 => 3,
        103 | 201 | 4113 => 4,
        3701 | 8114 => 5,
        226 => 6,
        468 | 2560 | 4922 | 10757 => 9,
        195 => 10,
        2812 => 62,
        _ => 1,
    }
}

/// What a text of an error has at most: ERROR_MESSAGE() is nvarchar(4000).
const TEXT_CHARS_MAX: usize = 4000;

/// A text that takes no more than an error's may have.
struct BoundedText<'a> {
    text: &'a mut String,
    left: usize,
}

impl fmt::Write for BoundedText<'_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let end = s.char_indices().nth(self.left).map_or(s.len(), |(at, _)| at);
        self.text.push_str(&s[..end]);
        self.left -= s[..end].chars().count();
        if end < s.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

fn fill(template: &str, args: &[&dyn fmt::Display]) -> String {
    use fmt::Write as _;
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|c| open + c) else { break };
        out.push_str(&rest[..open]);
        match rest[open + 1..close].parse::<usize>().ok().and_then(|n| args.get(n)) {
            Some(arg) => {
                // A long argument is cut.
                let left = TEXT_CHARS_MAX.saturating_sub(out.len());
                let _ = write!(BoundedText { text: &mut out, left }, "{arg}");
            }
            None => out.push_str(&rest[open..=close]),
        }
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    out
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &self.0;
        write!(f, "Msg {}, Level {}, State {}, ", e.number, e.severity, e.state)?;
        if let Some(p) = &e.procedure {
            write!(f, "Procedure {p}, ")?;
        }
        write!(f, "Line {}: {}", e.line, e.text)
    }
}

impl fmt::Debug for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SqlError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_in_order_and_a_deeper_line_wins() {
        let m = Message { number: 208, severity: 16, text: "Invalid object name '{0}'." };
        let e = SqlError::new(m, &[&"dbo.T"]).at_line(3).at_line(9).in_procedure("p");
        assert_eq!(
            e.to_string(),
            "Msg 208, Level 16, State 1, Procedure p, Line 3: Invalid object name 'dbo.T'."
        );
    }

    #[test]
    fn a_missing_argument_leaves_its_place() {
        let m = Message { number: 1, severity: 16, text: "{0} and {1}" };
        assert_eq!(SqlError::new(m, &[&1]).text(), "1 and {1}");
    }
}
