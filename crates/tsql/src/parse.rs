//! The doors: a whole batch, and the pieces that the catalog and procedures keep as text.

use base::{SqlError, SqlResult, messages};

use crate::ast::{Batch, Condition, Expr, ObjectName, Parameter, TypeName};
use crate::parser::Parser;

/// How text is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOptions {
    /// SET QUOTED_IDENTIFIER: whether `"…"` is a name (on) or a string (off).
    pub quoted_identifier: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions { quoted_identifier: true }
    }
}

/// What became of a batch. With any error the batch isn't run and `batch` is what came before.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedBatch {
    /// The tree.
    pub batch: Batch,
    /// What to tell the client, in order.
    pub errors: Vec<SqlError>,
}

/// The longest text: positions are 32 bits wide.
const TEXT_BYTES_MAX: usize = 1 << 30;

/// Parses a batch.
pub fn parse(text: &str, options: ParseOptions) -> ParsedBatch {
    let mut batch = Batch::default();
    if text.len() > TEXT_BYTES_MAX {
        let error = SqlError::new(messages::STATEMENT_NESTED_TOO_DEEPLY, &[]);
        return ParsedBatch { batch, errors: vec![error] };
    }
    let mut parser = Parser::new(text, options.quoted_identifier);
    let result = parser.batch(&mut batch);
    if let Some(why) = parser.stopped.take() {
        return ParsedBatch { batch: Batch::default(), errors: vec![why] };
    }
    // An error before the place where the lexer gave up comes first.
    let mut errors = parser.unclosed();
    if let Err(error) = result
        && errors.first().is_none_or(|unclosed| unclosed.number() != error.number())
    {
        errors.insert(0, error);
    }
    ParsedBatch { batch, errors }
}

/// Parses text that is one thing as a whole.
pub(crate) fn parse_whole<T>(
    text: &str,
    options: ParseOptions,
    production: impl FnOnce(&mut Parser<'_>) -> SqlResult<T>,
) -> SqlResult<T> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(SqlError::new(messages::STATEMENT_NESTED_TOO_DEEPLY, &[]));
    }
    let mut parser = Parser::new(text, options.quoted_identifier);
    if let Some(why) = parser.stopped.take() {
        return Err(why);
    }
    if let Some(error) = parser.unclosed().into_iter().next() {
        return Err(error);
    }
    let value = production(&mut parser);
    if let Some(why) = parser.stopped.take() {
        return Err(why);
    }
    let value = value?;
    parser.expect_end()?;
    Ok(value)
}

/// Parses an expression alone: a stored default or computed column.
///
/// # Errors
/// The syntax error that a batch would give.
pub fn parse_expression(text: &str, options: ParseOptions) -> SqlResult<Expr> {
    parse_whole(text, options, |p| p.expr())
}

/// Parses a condition alone: a stored check or filter.
///
/// # Errors
/// The syntax error that a batch would give.
pub fn parse_condition(text: &str, options: ParseOptions) -> SqlResult<Condition> {
    parse_whole(text, options, |p| p.condition())
}

/// Parses a type alone.
///
/// # Errors
/// The syntax error that a batch would give.
pub fn parse_type(text: &str) -> SqlResult<TypeName> {
    parse_whole(text, ParseOptions::default(), |p| p.type_name())
}

/// Parses a name alone, as OBJECT_ID and `sp_…` procedures take it.
///
/// # Errors
/// The syntax error that a batch would give.
pub fn parse_object_name(text: &str) -> SqlResult<ObjectName> {
    parse_whole(text, ParseOptions::default(), |p| p.object_name())
}

/// Parses the parameter list of sp_executesql and sp_prepare; empty text has none.
///
/// # Errors
/// The syntax error that a batch would give.
pub fn parse_parameters(text: &str, options: ParseOptions) -> SqlResult<Vec<Parameter>> {
    parse_whole(text, options, |p| p.parameter_list())
}
