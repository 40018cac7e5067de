//! Text to an expression with its static type.
//!
//! ```text
//! mod.rs          prolog, names, and what opens a text
//! operator.rs     sequences, operators, conditions
//! path.rs         steps, predicates, primaries
//! function.rs     calls and casts
//! flwor.rs        FLWOR, quantified expressions, if
//! constructor.rs  elements and attributes that are made
//! update.rs       insert, delete, replace value of
//! ```
//!
//! Each rule answers an expression and what it gives; a rule that restricts what its parts may
//! give refuses them here, whatever a document will hold.

mod constructor;
mod flwor;
mod function;
mod operator;
mod path;
mod update;

use crate::scan::Scan;
use crate::statics::{ItemType, Occurs, Static};
use crate::tree::{Body, Expr, QName};
use base::{SqlError, SqlResult, messages};
use types::SqlType;

/// How deep expressions may nest.
const DEPTH_MAX: usize = 64;

/// Prefixes that need no declaration.
pub(crate) const PREDECLARED: [(&str, &str); 6] = [
    ("xs", "http://www.w3.org/2001/XMLSchema"),
    ("xsi", "http://www.w3.org/2001/XMLSchema-instance"),
    ("xdt", "http://www.w3.org/2004/07/xpath-datatypes"),
    ("fn", FUNCTIONS),
    ("sql", SQL),
    ("xml", "http://www.w3.org/XML/1998/namespace"),
];
const FUNCTIONS: &str = "http://www.w3.org/2004/07/xpath-functions";
const SQL: &str = "urn:schemas-microsoft-com:xml-sql";

/// A value of the statement that an expression names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SqlName {
    /// `sql:variable("@v")`
    Variable(Box<str>),
    /// `sql:column("t.c")`
    Column(Box<str>),
}

/// Which method an expression is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// `query()`
    Query,
    /// `value()`
    Value,
    /// `exist()`
    Exist,
    /// `nodes()`
    Nodes,
    /// `modify()`
    Modify,
}

impl Method {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Query => "query",
            Method::Value => "value",
            Method::Exist => "exist",
            Method::Nodes => "nodes",
            Method::Modify => "modify",
        }
    }

    /// The method of a name: case counts.
    pub fn by_name(name: &str) -> Option<Method> {
        [Method::Query, Method::Value, Method::Exist, Method::Nodes, Method::Modify]
            .into_iter()
            .find(|m| m.name() == name)
    }
}

/// What a text is read with.
pub struct Setting<'a> {
    /// Which method it is for.
    pub method: Method,
    /// The column that the method is called on, as errors name it; empty for others.
    pub subject: &'a str,
    /// WITH XMLNAMESPACES: prefixes with their namespaces, the default under an empty prefix.
    pub namespaces: &'a [(Box<str>, Box<str>)],
    /// The context item is a node of a row of `nodes()`.
    pub at_node: bool,
}

/// Finds the type of a value of the statement, and remembers its place.
pub type Resolve<'a> = dyn FnMut(&SqlName) -> SqlResult<SqlType> + 'a;

/// An expression with what it gives.
pub(crate) struct TypedExpr {
    pub(crate) expr: Expr,
    pub(crate) ty: Static,
}

impl TypedExpr {
    fn new(expr: Expr, ty: Static) -> TypedExpr {
        TypedExpr { expr, ty }
    }
}

/// A text that has been read.
pub(crate) struct Read {
    pub(crate) body: Body,
    pub(crate) variables: usize,
    pub(crate) sql_values: usize,
    /// Prefixes that results may use, the prolog's first.
    pub(crate) bindings: Vec<(Box<str>, Box<str>)>,
}

pub(crate) struct Parser<'t, 'r> {
    scan: Scan<'t>,
    method: Method,
    /// Prefixes with their namespaces, innermost last; the empty one is for elements.
    namespaces: Vec<(Box<str>, Box<str>)>,
    variables: Vec<(QName, usize, Static)>,
    slots: usize,
    resolve: &'r mut Resolve<'r>,
    sql_values: usize,
    depth: usize,
    /// What `.` is, innermost last: more than one within predicates.
    context: Vec<Static>,
    /// `sql:variable` may be xml here.
    takes_xml: bool,
}

/// Reads a text.
pub(crate) fn read<'r>(
    text: &str,
    setting: &Setting<'_>,
    resolve: &'r mut Resolve<'r>,
) -> SqlResult<Read> {
    let name = setting.method.name();
    let dot = if setting.subject.is_empty() { "" } else { "." };
    let method = format!("{}{dot}{name}()", setting.subject);
    let item = if setting.at_node { ItemType::Node } else { ItemType::Document };
    let mut namespaces: Vec<(Box<str>, Box<str>)> =
        PREDECLARED.iter().map(|&(p, u)| (p.into(), u.into())).collect();
    namespaces.extend(setting.namespaces.iter().cloned());
    let mut parser = Parser {
        scan: Scan { text, at: 0, method },
        method: setting.method,
        namespaces,
        variables: Vec::new(),
        slots: 0,
        resolve,
        sql_values: 0,
        depth: 0,
        context: vec![Static::new(item, Occurs::One)],
        takes_xml: false,
    };
    parser.whole()
}

impl Parser<'_, '_> {
    fn whole(&mut self) -> SqlResult<Read> {
        self.scan.skip()?;
        if self.scan.rest().is_empty() {
            return Err(SqlError::new(messages::XQUERY_NONE, &[]));
        }
        self.prolog()?;
        let bindings = self.namespaces.iter().rev().cloned().collect();
        let body = match self.method {
            Method::Modify => Body::Update(self.update()?),
            method => {
                let typed = self.sequence()?;
                self.check_result(method, &typed.ty)?;
                Body::Expression(typed.expr)
            }
        };
        self.scan.skip()?;
        if !self.scan.rest().is_empty() {
            return self.scan.syntax();
        }
        Ok(Read { body, variables: self.slots, sql_values: self.sql_values, bindings })
    }

    /// What a method does not take.
    fn check_result(&self, method: Method, ty: &Static) -> SqlResult<()> {
        let constructed = ty.item == ItemType::Constructed;
        match method {
            Method::Value if constructed => self.constructed("data()"),
            Method::Value => self.single(&ty.atomized(), "value()"),
            Method::Nodes if constructed => self.constructed("'nodes()'"),
            Method::Nodes if !ty.is_node() => {
                self.scan.error(messages::XQUERY_NODES_REQUIRED, &[&"nodes()"])
            }
            Method::Query if matches!(ty.item, ItemType::Attribute(_)) => {
                self.scan.error(messages::XQUERY_ATTRIBUTE_OUTSIDE, &[])
            }
            _ => Ok(()),
        }
    }

    fn constructed<T>(&self, what: &str) -> SqlResult<T> {
        self.scan.error(messages::XQUERY_CONSTRUCTED, &[&what])
    }

    /// 2389 for what may give more than one item.
    fn single(&self, ty: &Static, what: &str) -> SqlResult<()> {
        match ty.occurs.single() {
            true => Ok(()),
            false => self.scan.error(messages::XQUERY_SINGLETON, &[&what, ty]),
        }
    }

    /// The type of an operand's values: 2373 where a constructor made it.
    fn values(&self, ty: &Static) -> SqlResult<Static> {
        match ty.item {
            ItemType::Constructed => self.constructed("'data()'"),
            _ => Ok(ty.atomized()),
        }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        if self.depth >= DEPTH_MAX {
            return Err(SqlError::new(messages::STATEMENT_NESTED_TOO_DEEPLY, &[]));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn prolog(&mut self) -> SqlResult<()> {
        if self.scan.eat_words(&["xquery", "version"])? {
            self.literal()?;
            self.scan.expect(";")?;
        }
        loop {
            if self.scan.eat_words(&["declare", "namespace"])? {
                self.scan.skip()?;
                let Some(prefix) = self.scan.eat_name() else { return self.scan.syntax() };
                self.scan.expect("=")?;
                let uri = self.literal()?;
                self.namespaces.push((prefix.into(), uri.into()));
            } else if self.scan.eat_words(&["declare", "default", "element", "namespace"])? {
                let uri = self.literal()?;
                self.namespaces.push(("".into(), uri.into()));
            } else if self.scan.eat_words(&["declare", "default", "function", "namespace"])? {
                self.literal()?;
            } else {
                for (words, name) in [
                    (&["declare", "function"][..], "declare function"),
                    (&["declare", "variable"], "declare variable"),
                    (&["import", "schema"], "import schema"),
                    (&["import", "module"], "import module"),
                ] {
                    if self.scan.eat_words(words)? {
                        return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&name]);
                    }
                }
                return Ok(());
            }
            self.scan.expect(";")?;
        }
    }

    /// A string that must stand here.
    fn literal(&mut self) -> SqlResult<String> {
        match self.scan.string()? {
            Some(text) => Ok(text),
            None => self.scan.error(messages::XQUERY_LITERAL_ARGUMENT, &[]),
        }
    }

    /// The namespace of a prefix.
    fn namespace(&self, prefix: &str) -> SqlResult<Box<str>> {
        match self.namespaces.iter().rev().find(|(p, _)| **p == *prefix) {
            Some((_, uri)) => Ok(uri.clone()),
            None if prefix.is_empty() => Ok("".into()),
            None => self.scan.error(messages::XQUERY_PREFIX, &[&prefix]),
        }
    }

    /// A name of an element, or of what takes no default namespace.
    fn named(&self, prefix: &str, local: &str, element: bool) -> SqlResult<QName> {
        let uri = match prefix.is_empty() && !element {
            true => "".into(),
            false => self.namespace(prefix)?,
        };
        Ok(QName { prefix: prefix.into(), local: local.into(), uri })
    }

    /// A name as written: its prefix and what is behind it.
    fn lexical(&mut self) -> SqlResult<(String, String)> {
        let Some(first) = self.scan.eat_name() else { return self.scan.syntax() };
        let from = self.scan.at;
        if self.scan.rest().starts_with(':') && !self.scan.rest().starts_with("::") {
            self.scan.at += 1;
            if let Some(local) = self.scan.eat_name() {
                return Ok((first.to_owned(), local.to_owned()));
            }
            self.scan.at = from;
        }
        Ok((String::new(), first.to_owned()))
    }
}
