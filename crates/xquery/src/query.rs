//! `Query`: a text that has been read, and its runs.

use crate::atomic::Atomic;
use crate::parser::{Method, Resolve, Setting, read};
use crate::run::{Run, SqlValue};
use crate::tree::{Body, Expr};
use base::{SqlError, SqlResult, messages};
use types::{SqlType, Value};
use xml::{NodeId, TreeBuilder, Xml};

/// Asked now and then; an error ends the run.
pub type Stop<'a> = dyn FnMut() -> SqlResult<()> + 'a;

/// A text of XQuery, read for one method.
#[derive(Debug)]
pub struct Query {
    text: Box<str>,
    method: Method,
    body: Body,
    variables: usize,
    sql_values: usize,
    bindings: Vec<(Box<str>, Box<str>)>,
}

/// The same text for the same method under the same names.
impl PartialEq for Query {
    fn eq(&self, other: &Query) -> bool {
        self.method == other.method
            && self.text == other.text
            && self.body == other.body
            && self.bindings == other.bindings
    }
}

impl Query {
    /// Reads a text; `resolve` is asked for each value of the statement, in order.
    ///
    /// # Errors
    /// 2203 to 2396, 6305, 6306, 9301 to 9344: what the text has wrong; 191 when it is too deep.
    pub fn read<'r>(
        text: &str,
        setting: &Setting<'_>,
        resolve: &'r mut Resolve<'r>,
    ) -> SqlResult<Query> {
        let parts = read(text, setting, resolve)?;
        Ok(Query {
            text: text.into(),
            method: setting.method,
            body: parts.body,
            variables: parts.variables,
            sql_values: parts.sql_values,
            bindings: parts.bindings,
        })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The method that it is for.
    pub fn method(&self) -> Method {
        self.method
    }

    /// How many values of the statement it takes.
    pub fn sql_values(&self) -> usize {
        self.sql_values
    }

    fn expression(&self) -> SqlResult<&Expr> {
        match &self.body {
            Body::Expression(expr) => Ok(expr),
            Body::Update(_) => Err(SqlError::new(messages::INTERNAL, &[&"a change as a query"])),
        }
    }

    fn run<'a>(
        &self,
        xml: &'a Xml,
        values: &'a [Value],
        types: &[SqlType],
        stop: &'a mut Stop<'a>,
    ) -> SqlResult<Run<'a>> {
        debug_assert_eq!(values.len(), self.sql_values, "a value for each that is named");
        let sql = values.iter().zip(types).map(|(v, t)| SqlValue::of(v, *t)).collect();
        Run::new(xml, sql, self.variables, stop)
    }

    /// The one value, or none.
    ///
    /// # Errors
    /// What `stop` answers.
    pub fn value<'a>(
        &self,
        xml: &'a Xml,
        values: &'a [Value],
        types: &[SqlType],
        stop: &'a mut Stop<'a>,
    ) -> SqlResult<Option<Atomic>> {
        let mut run = self.run(xml, values, types, stop)?;
        let focus = run.focus();
        let items = run.eval(self.expression()?, &focus)?;
        Ok(items.first().map(|item| run.atomized(item)))
    }

    /// Whether there is any item.
    ///
    /// # Errors
    /// What `stop` answers.
    pub fn exist<'a>(
        &self,
        xml: &'a Xml,
        values: &'a [Value],
        types: &[SqlType],
        stop: &'a mut Stop<'a>,
    ) -> SqlResult<bool> {
        let mut run = self.run(xml, values, types, stop)?;
        let focus = run.focus();
        Ok(!run.eval(self.expression()?, &focus)?.is_empty())
    }

    /// The items as a value of xml.
    ///
    /// # Errors
    /// 6307 for an attribute outside of an element, 6308, 6335, 7119; what `stop` answers.
    pub fn query<'a>(
        &self,
        xml: &'a Xml,
        values: &'a [Value],
        types: &[SqlType],
        stop: &'a mut Stop<'a>,
    ) -> SqlResult<Xml> {
        let mut run = self.run(xml, values, types, stop)?;
        let focus = run.focus();
        let items = run.eval(self.expression()?, &focus)?;
        let mut builder = TreeBuilder::new();
        run.append(&items, &mut builder)?;
        Ok(Xml::of_parts(&builder.finish(), &self.bindings))
    }

    /// The nodes, in document order.
    ///
    /// # Errors
    /// What `stop` answers.
    pub fn nodes<'a>(
        &self,
        xml: &'a Xml,
        values: &'a [Value],
        types: &[SqlType],
        stop: &'a mut Stop<'a>,
    ) -> SqlResult<Vec<NodeId>> {
        let mut run = self.run(xml, values, types, stop)?;
        let focus = run.focus();
        let items = run.eval(self.expression()?, &focus)?;
        Ok(items.iter().filter_map(crate::run::Item::of_value).collect())
    }

    /// The changed value.
    ///
    /// # Errors
    /// 6307, 6308, 6320, 6325, 6335, 7119; what `stop` answers.
    pub fn modify<'a>(
        &self,
        xml: &'a Xml,
        values: &'a [Value],
        types: &[SqlType],
        stop: &'a mut Stop<'a>,
    ) -> SqlResult<Xml> {
        let Body::Update(update) = &self.body else {
            return Err(SqlError::new(messages::XQUERY_DATA_MANIPULATION, &[]));
        };
        let mut run = self.run(xml, values, types, stop)?;
        run.update(update, &self.bindings)
    }
}
