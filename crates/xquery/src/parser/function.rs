//! Calls: functions of the library, casts spelled like calls, values of the statement.

use super::{FUNCTIONS, Parser, SqlName, TypedExpr};
use crate::atomic::{AtomicType, Class};
use crate::statics::{ItemType, Occurs, Static};
use crate::tree::{Expr, Function};
use base::{SqlResult, messages};
use types::SqlType;

/// Name, function, fewest and most arguments.
const LIBRARY: &[(&str, Function, usize, usize)] = &[
    ("avg", Function::Avg, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("concat", Function::Concat, 2, usize::MAX),
    ("contains", Function::Contains, 2, 2),
    ("count", Function::Count, 1, 1),
    ("data", Function::Data, 1, 1),
    ("distinct-values", Function::DistinctValues, 1, 1),
    ("empty", Function::Empty, 1, 1),
    ("floor", Function::Floor, 1, 1),
    ("last", Function::Last, 0, 0),
    ("local-name", Function::LocalName, 0, 1),
    ("lower-case", Function::LowerCase, 1, 1),
    ("max", Function::Max, 1, 1),
    ("min", Function::Min, 1, 1),
    ("namespace-uri", Function::NamespaceUri, 0, 1),
    ("not", Function::Not, 1, 1),
    ("number", Function::Number, 0, 1),
    ("position", Function::Position, 0, 0),
    ("round", Function::Round, 1, 1),
    ("string", Function::String, 0, 1),
    ("string-length", Function::StringLength, 0, 1),
    ("substring", Function::Substring, 2, 3),
    ("sum", Function::Sum, 1, 1),
    ("upper-case", Function::UpperCase, 1, 1),
];

impl Parser<'_, '_> {
    pub(super) fn call_or_constructor(&mut self) -> SqlResult<TypedExpr> {
        let (prefix, local) = self.lexical()?;
        self.scan.skip()?;
        if prefix.is_empty() && self.scan.peek() != Some('(') {
            return self.computed(&local);
        }
        if !self.scan.eat("(")? {
            return self.scan.syntax();
        }
        if prefix == "sql" && matches!(local.as_str(), "variable" | "column") {
            return self.sql_value(&local);
        }
        let mut arguments = Vec::new();
        if !self.scan.eat(")")? {
            loop {
                arguments.push(self.nested(Self::single_expr)?);
                if self.scan.eat(")")? {
                    break;
                }
                self.scan.expect(",")?;
            }
        }
        let uri = match prefix.is_empty() {
            true => FUNCTIONS.into(),
            false => self.namespace(&prefix)?,
        };
        let cast = match prefix.as_str() {
            "xs" => AtomicType::by_local_name(&local),
            "xdt" if local == "untypedAtomic" => Some(AtomicType::Untyped),
            _ => None,
        };
        if let Some(to) = cast {
            self.count(to.name(), arguments.len(), 1, 1)?;
            return match arguments.pop() {
                Some(operand) => self.cast_to(operand, to),
                None => self.scan.syntax(),
            };
        }
        if *uri == *FUNCTIONS {
            if let (true, "true" | "false") = (arguments.is_empty(), local.as_str()) {
                let literal = crate::atomic::Atomic::Boolean(local == "true");
                return Ok(TypedExpr::new(Expr::Literal(literal), Static::BOOLEAN));
            }
            if let Some(&(name, function, fewest, most)) =
                LIBRARY.iter().find(|(name, ..)| *name == local)
            {
                let shown = format!("{name}()");
                self.count(&shown, arguments.len(), fewest, most)?;
                return self.library(function, &shown, arguments);
            }
        }
        let uri = format!("{{{uri}}}");
        self.scan.error(messages::XQUERY_FUNCTION, &[&uri, &local])
    }

    fn count(&self, name: &str, given: usize, fewest: usize, most: usize) -> SqlResult<()> {
        if given < fewest {
            return self.scan.error(messages::XQUERY_ARGUMENTS_FEW, &[&name]);
        }
        if given > most {
            return self.scan.error(messages::XQUERY_ARGUMENTS_MANY, &[&name]);
        }
        Ok(())
    }

    /// Arguments checked, and the type of the result.
    fn library(
        &mut self,
        function: Function,
        name: &str,
        arguments: Vec<TypedExpr>,
    ) -> SqlResult<TypedExpr> {
        use Function as F;
        let bare = name.trim_end_matches("()");
        if matches!(function, F::Last | F::Position) && self.context.len() < 2 {
            return self.scan.error(messages::XQUERY_POSITION, &[&bare]);
        }
        for a in &arguments {
            if a.ty.item == ItemType::Constructed && function != F::Not {
                return self.constructed(&format!("'{name}'"));
            }
        }
        // Without an argument it is of the context item.
        let mut given: Vec<Static> = arguments.iter().map(|a| a.ty.clone()).collect();
        let mut args: Vec<Expr> = arguments.into_iter().map(|a| a.expr).collect();
        let of_item = matches!(
            function,
            F::LocalName | F::NamespaceUri | F::Number | F::String | F::StringLength
        );
        if args.is_empty() && of_item {
            given.push(self.context.last().cloned().unwrap_or(Static::EMPTY));
            args.push(Expr::Context);
        }
        let ty = self.library_type(function, name, &given)?;
        Ok(TypedExpr::new(Expr::Call(function, args), ty))
    }

    /// What a function gives for arguments of some types, which it may refuse.
    fn library_type(&self, function: Function, name: &str, given: &[Static]) -> SqlResult<Static> {
        use Function as F;
        let first = given.first().cloned().unwrap_or(Static::EMPTY);
        Ok(match function {
            F::Concat | F::Contains | F::LowerCase | F::UpperCase | F::StringLength => {
                given.iter().try_for_each(|t| self.string_argument(t, name))?;
                Static::one(match function {
                    F::Contains => AtomicType::Boolean,
                    F::StringLength => AtomicType::Integer,
                    _ => AtomicType::String,
                })
            }
            F::Substring => {
                self.string_argument(&first, name)?;
                given.iter().skip(1).try_for_each(|t| self.number_argument(t, name))?;
                Static::one(AtomicType::String)
            }
            F::String => {
                self.single(&first, name)?;
                Static::one(AtomicType::String)
            }
            F::LocalName | F::NamespaceUri => {
                self.nodes_argument(&first, name)?;
                self.single(&first, name)?;
                Static::one(AtomicType::String)
            }
            F::Number => {
                self.nodes_argument(&first, name)?;
                self.single(&first, name)?;
                Static::optional(AtomicType::Double)
            }
            F::Count | F::Last | F::Position => Static::one(AtomicType::Integer),
            F::Not => {
                self.condition(&first)?;
                Static::BOOLEAN
            }
            F::Empty => Static::BOOLEAN,
            F::Data => first.atomized(),
            F::DistinctValues => {
                let ty = first.atomized();
                Static::new(ty.item, Occurs::Many)
            }
            F::Ceiling | F::Floor | F::Round => {
                self.number_argument(&first, name)?;
                Static::optional(computed(&first))
            }
            F::Sum => Static::one(computed(&first)),
            F::Avg if computed(&first) == AtomicType::Integer => {
                Static::optional(AtomicType::Decimal)
            }
            F::Avg => Static::optional(computed(&first)),
            F::Max | F::Min => Static::optional(match first.atomic() {
                Some(t) if t.class() != Class::Untyped => t,
                _ => AtomicType::Double,
            }),
        })
    }

    /// 2374 for values where nodes are due.
    fn nodes_argument(&self, ty: &Static, name: &str) -> SqlResult<()> {
        match ty.item {
            ItemType::Atomic(_) => self.scan.error(messages::XQUERY_NODES_REQUIRED, &[&name]),
            _ => Ok(()),
        }
    }

    fn string_argument(&self, ty: &Static, name: &str) -> SqlResult<()> {
        let ty = ty.atomized();
        self.single(&ty, name)?;
        match ty.atomic().map(AtomicType::class) {
            None | Some(Class::Untyped | Class::Text) => Ok(()),
            Some(_) => self.scan.error(messages::XQUERY_IMPLICIT, &[&ty, &"xs:string"]),
        }
    }

    fn number_argument(&self, ty: &Static, name: &str) -> SqlResult<()> {
        let ty = ty.atomized();
        self.single(&ty, name)?;
        match ty.atomic().map(AtomicType::class) {
            None | Some(Class::Untyped | Class::Number) => Ok(()),
            Some(_) => self.scan.error(messages::XQUERY_IMPLICIT, &[&ty, &"xs:decimal"]),
        }
    }

    /// `sql:variable("@v")`, `sql:column("c")`
    fn sql_value(&mut self, kind: &str) -> SqlResult<TypedExpr> {
        let text = self.literal()?;
        self.scan.expect(")")?;
        let name = match kind {
            "variable" => SqlName::Variable(text.into()),
            _ => SqlName::Column(text.into()),
        };
        let sql_type = (self.resolve)(&name)?;
        let place = Expr::Sql(self.sql_values);
        self.sql_values += 1;
        if sql_type == SqlType::Xml {
            return match self.takes_xml {
                true => Ok(TypedExpr::new(place, Static::new(ItemType::Node, Occurs::Many))),
                false => self.scan.error(messages::XQUERY_SQL_XML, &[]),
            };
        }
        match AtomicType::of_sql(sql_type) {
            Some(t) => Ok(TypedExpr::new(place, Static::optional(t))),
            None => self.scan.error(messages::XQUERY_SQL_TYPE, &[&sql_type.name()]),
        }
    }
}

/// The type in which a number of some type is computed.
fn computed(ty: &Static) -> AtomicType {
    match ty.atomic() {
        Some(AtomicType::Decimal) => AtomicType::Decimal,
        Some(AtomicType::Float) => AtomicType::Float,
        Some(t) if t.class() == Class::Number && t != AtomicType::Double => AtomicType::Integer,
        None => AtomicType::Integer,
        Some(_) => AtomicType::Double,
    }
}
