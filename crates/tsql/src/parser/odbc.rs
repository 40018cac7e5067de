//! Functions that only `{fn …}` knows, in words of the language: `{fn UCASE(x)}` is `UPPER(x)`.
//!
//! Those of the same name and meaning pass as they are; a name that neither knows is the binder's
//! to refuse. INSERT and TRUNCATE are words of statements here: use STUFF and ROUND.

use crate::ast::{ColumnName, Expr, ExprKind, FunctionCall, Name};

/// ODBC's name, ours.
const RENAMED: [(&str, &str); 11] = [
    ("ATAN2", "ATN2"),
    ("CURRENT_TIMESTAMP", "GETDATE"),
    ("DATABASE", "DB_NAME"),
    ("IFNULL", "ISNULL"),
    ("LCASE", "LOWER"),
    ("LENGTH", "LEN"),
    ("LOCATE", "CHARINDEX"),
    ("NOW", "GETDATE"),
    ("OCTET_LENGTH", "DATALENGTH"),
    ("REPEAT", "REPLICATE"),
    ("UCASE", "UPPER"),
];

/// ODBC's name, the function of a part of a date, the part.
const PARTS: [(&str, &str, &str); 10] = [
    ("DAYNAME", "DATENAME", "weekday"),
    ("DAYOFMONTH", "DATEPART", "day"),
    ("DAYOFWEEK", "DATEPART", "weekday"),
    ("DAYOFYEAR", "DATEPART", "dayofyear"),
    ("HOUR", "DATEPART", "hour"),
    ("MINUTE", "DATEPART", "minute"),
    ("MONTHNAME", "DATENAME", "month"),
    ("QUARTER", "DATEPART", "quarter"),
    ("SECOND", "DATEPART", "second"),
    ("WEEK", "DATEPART", "week"),
];

/// Gives a call the name that the language has for it, and the arguments that go with it.
pub(super) fn in_words_of_the_language(call: &mut FunctionCall) {
    if call.name.schema.is_some() {
        return;
    }
    let is = |known: &str| call.name.object.eq_ignore_ascii_case(known);
    if let Some((_, ours)) = RENAMED.into_iter().find(|(odbc, _)| is(odbc)) {
        call.name.object.text = ours.into();
        return;
    }
    if let Some((_, ours, part)) = PARTS.into_iter().find(|(odbc, _, _)| is(odbc)) {
        let name = Name { text: part.into(), ..call.name.object.clone() };
        call.name.object.text = ours.into();
        let kind = ExprKind::Column(Box::new(ColumnName { qualifier: None, name }));
        call.arguments.insert(0, Expr { kind, span: call.span });
    }
}
