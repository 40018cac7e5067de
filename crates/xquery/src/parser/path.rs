//! Paths: steps with their predicates, and what a path may begin with.

use super::{Parser, TypedExpr};
use crate::atomic::{Atomic, AtomicType, Class};
use crate::statics::{ItemType, Occurs, Static};
use crate::tree::{Axis, Expr, Predicate, Step, Test};
use base::{SqlResult, messages};
use types::Decimal;

/// Tests that look like calls.
const KINDS: [&str; 7] =
    ["node", "text", "comment", "processing-instruction", "element", "attribute", "document-node"];

impl Parser<'_, '_> {
    pub(super) fn path(&mut self) -> SqlResult<TypedExpr> {
        self.scan.skip()?;
        if self.scan.eat("//")? {
            let start = TypedExpr::new(Expr::Root, Static::new(ItemType::Document, Occurs::One));
            return self.steps(start, true);
        }
        if self.scan.eat("/")? {
            let start = TypedExpr::new(Expr::Root, Static::new(ItemType::Document, Occurs::One));
            self.scan.skip()?;
            let begins = |c: char| matches!(c, '@' | '.' | '*') || xml::is_name_start(c);
            if !self.scan.peek().is_some_and(begins) {
                return match self.scan.peek() {
                    Some('/') => self.step_expected(),
                    _ => Ok(start),
                };
            }
            return self.steps(start, false);
        }
        let first = match self.at_step()? {
            true => {
                let ty = self.context.last().cloned().unwrap_or(Static::EMPTY);
                let (step, ty) = self.step(&ty, false)?;
                TypedExpr::new(Expr::Path(Box::new(Expr::Context), vec![step]), ty)
            }
            false => {
                let primary = self.primary()?;
                self.filtered(primary)?
            }
        };
        match self.scan.eat("//")? {
            true => self.steps(first, true),
            false if self.scan.eat("/")? => self.steps(first, false),
            false => Ok(first),
        }
    }

    fn step_expected<T>(&self) -> SqlResult<T> {
        self.scan.error(messages::XQUERY_STEP_EXPECTED, &[&self.scan.near()])
    }

    /// The steps behind `/`, or behind `//` when `deep`.
    fn steps(&mut self, start: TypedExpr, mut deep: bool) -> SqlResult<TypedExpr> {
        if start.ty.item == ItemType::Constructed {
            return self.constructed("'/'");
        }
        if !start.ty.is_node() {
            return self.scan.error(messages::XQUERY_NODES_REQUIRED, &[&"'/'"]);
        }
        let mut ty = start.ty;
        let (base, mut steps) = match start.expr {
            Expr::Path(base, steps) => (base, steps),
            other => (Box::new(other), Vec::new()),
        };
        loop {
            self.scan.skip()?;
            if !self.at_step()? {
                return match self.scan.peek() {
                    None => self.step_expected(),
                    Some('(') => self.scan.error(messages::XQUERY_UNSUPPORTED, &[&"/("]),
                    Some(_) if self.scan.peek_name().is_some() => {
                        self.scan.error(messages::XQUERY_UNSUPPORTED, &[&"/function()"])
                    }
                    Some(_) => self.step_expected(),
                };
            }
            let (step, given) = self.step(&ty, deep)?;
            let positional = step.predicates.iter().any(|p| !matches!(p, Predicate::Filter(_)));
            match step.axis {
                Axis::Child if deep && !positional => {
                    steps.push(Step { axis: Axis::Descendant, ..step });
                }
                _ => {
                    if deep {
                        let (axis, test) = (Axis::DescendantOrSelf, Test::Node);
                        steps.push(Step { axis, test, predicates: Vec::new() });
                    }
                    steps.push(step);
                }
            }
            ty = given;
            deep = self.scan.eat("//")?;
            if !deep && !self.scan.eat("/")? {
                return Ok(TypedExpr::new(Expr::Path(base, steps), ty));
            }
        }
    }

    /// Whether a step stands here, and no primary.
    fn at_step(&mut self) -> SqlResult<bool> {
        self.scan.skip()?;
        let rest = self.scan.rest();
        let second = rest.chars().nth(1);
        match rest.chars().next() {
            Some('@' | '*') => return Ok(true),
            Some('.') => return Ok(second == Some('.')),
            _ => {}
        }
        let Some(name) = self.scan.peek_name() else { return Ok(false) };
        let from = self.scan.at;
        self.lexical()?;
        let computed = ["element", "attribute", "text", "comment", "processing-instruction"];
        self.scan.skip()?;
        let behind = self.scan.peek();
        let axis = self.scan.rest().starts_with("::");
        let named = self.scan.peek_name().is_some() && self.braced_name()?;
        self.scan.at = from;
        if axis {
            return Ok(true);
        }
        if computed.contains(&name) && (behind == Some('{') || named) {
            return Ok(false);
        }
        Ok(behind != Some('(') || KINDS.contains(&name))
    }

    /// Whether a name stands here and then a brace.
    fn braced_name(&mut self) -> SqlResult<bool> {
        self.lexical()?;
        self.scan.skip()?;
        Ok(self.scan.peek() == Some('{'))
    }

    fn step(&mut self, from: &Static, deep: bool) -> SqlResult<(Step, Static)> {
        let (axis, test) = self.axis_step()?;
        let step_from = if deep { Occurs::Many } else { Occurs::One };
        let ty = self.step_type(from, axis, &test)?;
        let (predicates, narrowed) = self.predicates(&ty)?;
        let per_node = if narrowed { Occurs::Optional } else { ty.occurs };
        let occurs = from.occurs.times(step_from).times(per_node);
        Ok((Step { axis, test, predicates }, Static::new(ty.item, occurs)))
    }

    fn axis_step(&mut self) -> SqlResult<(Axis, Test)> {
        if self.scan.eat("..")? {
            return Ok((Axis::Parent, Test::Node));
        }
        if self.scan.eat("@")? {
            return Ok((Axis::Attribute, self.test(Axis::Attribute)?));
        }
        let from = self.scan.at;
        if let Some(word) = self.scan.eat_name() {
            if self.scan.rest().starts_with("::") {
                let axis = match word {
                    "child" => Axis::Child,
                    "descendant" => Axis::Descendant,
                    "descendant-or-self" => Axis::DescendantOrSelf,
                    "attribute" => Axis::Attribute,
                    "parent" => Axis::Parent,
                    "self" => Axis::Itself,
                    "ancestor" | "ancestor-or-self" | "following" | "following-sibling"
                    | "preceding" | "preceding-sibling" => {
                        return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&word]);
                    }
                    _ => return self.scan.error(messages::XQUERY_AXIS, &[&word]),
                };
                self.scan.at += "::".len();
                self.scan.skip()?;
                return Ok((axis, self.test(axis)?));
            }
            self.scan.at = from;
        }
        Ok((Axis::Child, self.test(Axis::Child)?))
    }

    fn test(&mut self, axis: Axis) -> SqlResult<Test> {
        self.scan.skip()?;
        if self.scan.eat("*")? {
            if self.scan.rest().starts_with(':') {
                self.scan.at += 1;
                let Some(local) = self.scan.eat_name() else { return self.scan.syntax() };
                return Ok(Test::Local(local.into()));
            }
            return Ok(Test::Any);
        }
        if self.scan.peek().is_none() {
            return self.step_expected();
        }
        let from = self.scan.at;
        let (prefix, local) = self.lexical()?;
        if prefix.is_empty() && self.scan.rest().starts_with(":*") {
            self.scan.at += ":*".len();
            return Ok(Test::Namespace(self.namespace(&local)?));
        }
        if prefix.is_empty() && KINDS.contains(&local.as_str()) && self.scan.eat("(")? {
            self.scan.expect(")")?;
            return match local.as_str() {
                "node" => Ok(Test::Node),
                "text" => Ok(Test::Text),
                "comment" => Ok(Test::Comment),
                "processing-instruction" => Ok(Test::Instruction),
                kind => self.scan.error(messages::XQUERY_UNSUPPORTED, &[&format!("{kind}()")]),
            };
        }
        debug_assert!(self.scan.at > from, "a name has characters");
        Ok(Test::Name(self.named(&prefix, &local, axis != Axis::Attribute)?))
    }

    /// What a step gives for one node.
    fn step_type(&self, from: &Static, axis: Axis, test: &Test) -> SqlResult<Static> {
        let name: Option<Box<str>> = match test {
            Test::Name(n) if n.prefix.is_empty() => Some(n.local.clone()),
            Test::Name(n) => Some(format!("{}:{}", n.prefix, n.local).into()),
            _ => None,
        };
        if axis == Axis::Attribute {
            let one = matches!(test, Test::Name(_));
            let occurs = if one { Occurs::Optional } else { Occurs::Many };
            return Ok(Static::new(ItemType::Attribute(name), occurs));
        }
        let item = match test {
            Test::Node if axis == Axis::Itself => from.item.clone(),
            Test::Node => ItemType::Node,
            Test::Text => ItemType::Text,
            Test::Comment => ItemType::Comment,
            Test::Instruction => ItemType::Instruction,
            _ => ItemType::Element(name.clone()),
        };
        if let (Axis::Itself, Some(name), ItemType::Element(Some(known))) =
            (axis, &name, &from.item)
            && name != known
        {
            let facts: [&dyn std::fmt::Display; 2] = [name, &from.clone()];
            return self.scan.error(messages::XQUERY_NO_ELEMENT, &facts);
        }
        let occurs = match axis {
            Axis::Itself if *test == Test::Node => Occurs::One,
            Axis::Itself | Axis::Parent => Occurs::Optional,
            _ => Occurs::Many,
        };
        Ok(Static::new(item, occurs))
    }

    /// The predicates that follow, and whether one of them leaves at most one item.
    fn predicates(&mut self, ty: &Static) -> SqlResult<(Vec<Predicate>, bool)> {
        let (mut all, mut narrowed) = (Vec::new(), false);
        while self.scan.eat("[")? {
            if ty.item == ItemType::Constructed {
                return self.constructed("'[]'");
            }
            self.context.push(Static::new(ty.item.clone(), Occurs::One));
            let test = self.nested(Self::single_expr);
            self.context.pop();
            let test = test?;
            if !self.scan.eat("]")? {
                let near = self.scan.near();
                return self.scan.error(messages::XQUERY_SYNTAX_EXPECTED, &[&near, &"]"]);
            }
            let number = test.ty.atomic().filter(|_| !test.ty.is_node());
            let predicate = match (number.map(AtomicType::class), &test.expr) {
                (Some(Class::Number), Expr::Literal(n)) => {
                    narrowed = true;
                    let whole = n.number().filter(|n| n.fract() == 0.0 && *n >= 1.0);
                    Predicate::Index(whole.map_or(0, |n| n as usize))
                }
                (Some(Class::Number), _) => {
                    narrowed = true;
                    Predicate::Position(test.expr)
                }
                (Some(Class::Boolean), _) => Predicate::Filter(test.expr),
                _ if test.ty.is_node() || test.ty.item == ItemType::Empty => {
                    Predicate::Filter(test.expr)
                }
                _ => return self.scan.error(messages::XQUERY_PREDICATE, &[&test.ty]),
            };
            all.push(predicate);
        }
        Ok((all, narrowed))
    }

    fn filtered(&mut self, primary: TypedExpr) -> SqlResult<TypedExpr> {
        let (predicates, narrowed) = self.predicates(&primary.ty)?;
        if predicates.is_empty() {
            return Ok(primary);
        }
        let occurs = if narrowed { Occurs::Optional } else { primary.ty.occurs.or_none() };
        let ty = Static::new(primary.ty.item, occurs);
        Ok(TypedExpr::new(Expr::Filter(Box::new(primary.expr), predicates), ty))
    }

    fn primary(&mut self) -> SqlResult<TypedExpr> {
        if let Some(text) = self.scan.string()? {
            let ty = Static::one(AtomicType::String);
            return Ok(TypedExpr::new(Expr::Literal(Atomic::Text(text)), ty));
        }
        match self.scan.peek() {
            Some('$') => {
                self.scan.at += 1;
                self.variable()
            }
            Some('(') => {
                self.scan.at += 1;
                if self.scan.eat(")")? {
                    return Ok(TypedExpr::new(Expr::Sequence(Vec::new()), Static::EMPTY));
                }
                let inner = self.nested(Self::sequence)?;
                self.scan.expect(")")?;
                // What stands in brackets is not one with the path behind it.
                let expr = match inner.expr {
                    path @ Expr::Path(..) => Expr::Sequence(vec![path]),
                    other => other,
                };
                Ok(TypedExpr::new(expr, inner.ty))
            }
            Some('<') => self.direct(),
            Some(c) if c.is_ascii_digit() => self.number(),
            Some('.') if self.scan.rest().chars().nth(1).is_some_and(|c| c.is_ascii_digit()) => {
                self.number()
            }
            Some('.') => {
                self.scan.at += 1;
                let ty = self.context.last().cloned().unwrap_or(Static::EMPTY);
                Ok(TypedExpr::new(Expr::Context, ty))
            }
            Some(c) if xml::is_name_start(c) => self.call_or_constructor(),
            _ => self.scan.syntax(),
        }
    }

    fn variable(&mut self) -> SqlResult<TypedExpr> {
        let name = self.variable_name()?;
        let found = self.variables.iter().rev().find(|(known, ..)| *known == name);
        match found {
            Some((_, slot, ty)) => Ok(TypedExpr::new(Expr::Variable(*slot), ty.clone())),
            None => self.scan.error(messages::XQUERY_VARIABLE, &[&name.local]),
        }
    }

    fn number(&mut self) -> SqlResult<TypedExpr> {
        let rest = self.scan.rest();
        let digits = |s: &str| s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
        let mut end = digits(rest);
        let point = rest.get(end..).is_some_and(|r| r.starts_with('.'));
        if point {
            end += 1 + digits(rest.get(end + 1..).unwrap_or(""));
        }
        let mut approximate = false;
        if let Some(tail) = rest.get(end..).filter(|r| r.starts_with(['e', 'E'])) {
            let unsigned = tail[1..].strip_prefix(['+', '-']).unwrap_or(&tail[1..]);
            let count = digits(unsigned);
            if count > 0 {
                approximate = true;
                end += tail.len() - unsigned.len() + count;
            }
        }
        let text = &rest[..end];
        self.scan.at += end;
        if self.scan.peek().is_some_and(xml::is_name_start) {
            return self.scan.syntax();
        }
        let invalid = messages::XQUERY_NUMBER;
        let (literal, ty) = if approximate {
            let Ok(x) = text.parse() else { return self.scan.error(invalid, &[]) };
            (Atomic::Double(x, false), AtomicType::Double)
        } else {
            let Some(d) = Decimal::parse(text) else { return self.scan.error(invalid, &[]) };
            match point {
                true => (Atomic::Decimal(d), AtomicType::Decimal),
                false => (Atomic::Integer(d), AtomicType::Integer),
            }
        };
        Ok(TypedExpr::new(Expr::Literal(literal), Static::one(ty)))
    }
}
