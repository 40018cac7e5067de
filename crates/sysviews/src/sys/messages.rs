//! `sys.messages`: every message of this server.
//!
//! SQL Server's texts have typed placeholders (`%d`, `%.*ls`). Ours only mark the place of an
//! argument, and are shown as `%ls`.

use crate::cell::{int, text};
use crate::column::{Column, col, number, zero};
use crate::view::{Rows, System, View};
use base::messages::ALL;
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 5] = [
    col("message_id", SqlType::Int),
    number("language_id", SqlType::SmallInt, 1033, "Messages are in English."),
    col("severity", SqlType::TinyInt),
    zero("is_event_logged", SqlType::Bit, "There is no event log of the operating system."),
    col("text", SqlType::nvarchar(2048)),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "messages", parameters: None, columns: &COLUMNS, rows };

/// With `%ls` in place of `{0}`.
fn placed(template: &str) -> String {
    let mut shown = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        shown.push_str(before);
        match after.split_once('}') {
            Some((digits, after)) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                shown.push_str("%ls");
                rest = after;
            }
            _ => {
                shown.push('{');
                rest = after;
            }
        }
    }
    shown.push_str(rest);
    shown
}

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    let row =
        |m: &base::Message| vec![int(m.number), Value::TinyInt(m.severity), text(&placed(m.text))];
    Ok(ALL.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::placed;

    #[test]
    fn placeholders_are_shown() {
        assert_eq!(placed("Near '{0}' {1}."), "Near '%ls' %ls.");
        assert_eq!(placed("a {b} c"), "a {b} c");
        assert_eq!(placed("open {0"), "open {0");
    }
}
