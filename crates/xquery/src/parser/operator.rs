//! Sequences and operators, from the weakest to the strongest.

use super::{Parser, TypedExpr};
use crate::atomic::{AtomicType, Class};
use crate::statics::{ItemType, Occurs, Static};
use crate::tree::{Arithmetic, Comparison, Expr, NodeComparison};
use base::{SqlResult, messages};

impl Parser<'_, '_> {
    /// `a, b`
    pub(super) fn sequence(&mut self) -> SqlResult<TypedExpr> {
        let first = self.nested(Self::single_expr)?;
        if !self.scan.eat(",")? {
            return Ok(first);
        }
        let (mut items, mut ty) = (vec![first.expr], first.ty);
        loop {
            let next = self.nested(Self::single_expr)?;
            let item = self.homogeneous(&ty, &next.ty)?;
            let some =
                [ty.occurs, next.ty.occurs].iter().any(|o| matches!(o, Occurs::One | Occurs::Some));
            ty = Static::new(item, if some { Occurs::Some } else { Occurs::Many });
            items.push(next.expr);
            if !self.scan.eat(",")? {
                return Ok(TypedExpr::new(Expr::Sequence(items), ty));
            }
        }
    }

    /// 2210: nodes and values do not stand in one sequence.
    pub(super) fn homogeneous(&self, a: &Static, b: &Static) -> SqlResult<ItemType> {
        let value = |t: &Static| matches!(t.item, ItemType::Atomic(_));
        match (value(a), a.is_node(), value(b), b.is_node()) {
            (true, _, _, true) => self.scan.error(messages::XQUERY_HETEROGENEOUS, &[a, b]),
            (_, true, true, _) => self.scan.error(messages::XQUERY_HETEROGENEOUS, &[b, a]),
            _ => Ok(a.union(b)),
        }
    }

    pub(super) fn single_expr(&mut self) -> SqlResult<TypedExpr> {
        self.scan.skip()?;
        if self.scan.at_word_then("for", "$")? || self.scan.at_word_then("let", "$")? {
            return self.flwor();
        }
        for (word, every) in [("some", false), ("every", true)] {
            if self.scan.at_word_then(word, "$")? {
                return self.quantified(every);
            }
        }
        if self.scan.at_word_then("if", "(")? {
            return self.conditional();
        }
        for (word, symbol) in
            [("typeswitch", "("), ("validate", "{"), ("ordered", "{"), ("unordered", "{")]
        {
            if self.scan.at_word_then(word, symbol)? {
                return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&word]);
            }
        }
        self.or()
    }

    /// 2204: a condition is a boolean or nodes.
    pub(super) fn condition(&self, ty: &Static) -> SqlResult<()> {
        let boolean = matches!(ty.item, ItemType::Atomic(AtomicType::Boolean))
            && ty.occurs.single()
            || ty.item == ItemType::Empty;
        match boolean || ty.is_node() {
            true => Ok(()),
            false => self.scan.error(messages::XQUERY_CONDITION, &[ty]),
        }
    }

    fn or(&mut self) -> SqlResult<TypedExpr> {
        self.logical("or", Self::and, Expr::Or)
    }

    fn and(&mut self) -> SqlResult<TypedExpr> {
        self.logical("and", Self::comparison, Expr::And)
    }

    fn logical(
        &mut self,
        word: &str,
        operand: fn(&mut Self) -> SqlResult<TypedExpr>,
        make: fn(Vec<Expr>) -> Expr,
    ) -> SqlResult<TypedExpr> {
        let first = operand(self)?;
        if !self.scan.eat_word(word)? {
            return Ok(first);
        }
        self.condition(&first.ty)?;
        let mut all = vec![first.expr];
        loop {
            let next = operand(self)?;
            self.condition(&next.ty)?;
            all.push(next.expr);
            if !self.scan.eat_word(word)? {
                return Ok(TypedExpr::new(make(all), Static::BOOLEAN));
            }
        }
    }

    fn comparison(&mut self) -> SqlResult<TypedExpr> {
        let left = self.additive()?;
        self.scan.skip()?;
        for (symbol, op) in [("<<", NodeComparison::Before), (">>", NodeComparison::After)] {
            if self.scan.eat(symbol)? {
                return self.nodes_compared(left, op, symbol);
            }
        }
        if self.scan.eat_word("is")? {
            return self.nodes_compared(left, NodeComparison::Is, "is");
        }
        for (symbol, op) in [
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("=", Comparison::Equal),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ] {
            if self.scan.eat(symbol)? {
                let right = self.additive()?;
                self.comparable(symbol, &left.ty, &right.ty)?;
                let sides = Box::new((left.expr, right.expr));
                return Ok(TypedExpr::new(Expr::General(op, sides), Static::BOOLEAN));
            }
        }
        for (word, op) in [
            ("eq", Comparison::Equal),
            ("ne", Comparison::NotEqual),
            ("lt", Comparison::Less),
            ("le", Comparison::LessOrEqual),
            ("gt", Comparison::Greater),
            ("ge", Comparison::GreaterOrEqual),
        ] {
            if self.scan.eat_word(word)? {
                let right = self.additive()?;
                for side in [&left.ty, &right.ty] {
                    self.single(&self.values(side)?, word)?;
                }
                self.comparable(word, &left.ty, &right.ty)?;
                let sides = Box::new((left.expr, right.expr));
                let ty = Static::optional(AtomicType::Boolean);
                return Ok(TypedExpr::new(Expr::Value(op, sides), ty));
            }
        }
        Ok(left)
    }

    fn nodes_compared(
        &mut self,
        left: TypedExpr,
        op: NodeComparison,
        name: &str,
    ) -> SqlResult<TypedExpr> {
        let right = self.additive()?;
        for side in [&left.ty, &right.ty] {
            if side.item == ItemType::Constructed {
                return self.constructed(&format!("'{name}'"));
            }
            self.single(side, name)?;
        }
        if !left.ty.is_node() || !right.ty.is_node() {
            let facts: [&dyn std::fmt::Display; 3] = [&name, &left.ty, &right.ty];
            return self.scan.error(messages::XQUERY_OPERANDS, &facts);
        }
        let sides = Box::new((left.expr, right.expr));
        Ok(TypedExpr::new(Expr::Nodes(op, sides), Static::optional(AtomicType::Boolean)))
    }

    /// 2234 for values of types that do not compare.
    fn comparable(&self, op: &str, left: &Static, right: &Static) -> SqlResult<()> {
        let (left, right) = (self.values(left)?, self.values(right)?);
        let (Some(a), Some(b)) = (left.atomic(), right.atomic()) else { return Ok(()) };
        if a.class() == b.class() || [a, b].iter().any(|t| t.class() == Class::Untyped) {
            return Ok(());
        }
        self.scan.error(messages::XQUERY_OPERANDS, &[&op, &left, &right])
    }

    fn additive(&mut self) -> SqlResult<TypedExpr> {
        let ops = [("+", Arithmetic::Add), ("-", Arithmetic::Subtract)];
        self.arithmetic(&ops, &[], Self::multiplicative)
    }

    fn multiplicative(&mut self) -> SqlResult<TypedExpr> {
        let words = [("div", Arithmetic::Divide), ("mod", Arithmetic::Modulo)];
        self.arithmetic(&[("*", Arithmetic::Multiply)], &words, Self::united)
    }

    fn arithmetic(
        &mut self,
        symbols: &[(&str, Arithmetic)],
        words: &[(&str, Arithmetic)],
        operand: fn(&mut Self) -> SqlResult<TypedExpr>,
    ) -> SqlResult<TypedExpr> {
        let first = operand(self)?;
        let (mut rest, mut ty) = (Vec::new(), first.ty.clone());
        loop {
            let mut found = None;
            for &(symbol, op) in symbols {
                if self.scan.eat(symbol)? {
                    found = Some((symbol, op));
                }
            }
            for &(word, op) in words {
                if found.is_none() && self.scan.eat_word(word)? {
                    found = Some((word, op));
                }
            }
            if self.scan.eat_word("idiv")? {
                return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&"idiv"]);
            }
            let Some((name, op)) = found else { break };
            let next = operand(self)?;
            ty = self.arithmetic_type(name, op, &ty, &next.ty)?;
            rest.push((op, next.expr));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(TypedExpr::new(Expr::Arithmetic(Box::new(first.expr), rest), ty))
    }

    fn arithmetic_type(
        &self,
        name: &str,
        op: Arithmetic,
        left: &Static,
        right: &Static,
    ) -> SqlResult<Static> {
        let (left, right) = (self.values(left)?, self.values(right)?);
        self.single(&left, name)?;
        self.single(&right, name)?;
        let rank = |t: &Static| match t.atomic() {
            None => Some(0),
            Some(AtomicType::Untyped | AtomicType::Double) => Some(3),
            Some(AtomicType::Float) => Some(2),
            Some(AtomicType::Decimal) => Some(1),
            Some(t) if t.class() == Class::Number => Some(0),
            Some(_) => None,
        };
        let (Some(a), Some(b)) = (rank(&left), rank(&right)) else {
            let facts: [&dyn std::fmt::Display; 3] = [&name, &left, &right];
            return self.scan.error(messages::XQUERY_OPERANDS, &facts);
        };
        let result = match a.max(b) {
            0 if op == Arithmetic::Divide => AtomicType::Decimal,
            0 => AtomicType::Integer,
            1 => AtomicType::Decimal,
            2 => AtomicType::Float,
            _ => AtomicType::Double,
        };
        let occurs = left.occurs.times(right.occurs);
        let occurs = if op == Arithmetic::Divide { occurs.or_none() } else { occurs };
        Ok(Static::new(ItemType::Atomic(result), occurs))
    }

    /// What SQL Server reads here and refuses by name.
    fn united(&mut self) -> SqlResult<TypedExpr> {
        let operand = self.cast()?;
        for word in ["union", "intersect", "except", "to"] {
            if self.scan.eat_word(word)? {
                return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&word]);
            }
        }
        if self.scan.eat("|")? {
            return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&"union"]);
        }
        Ok(operand)
    }

    fn cast(&mut self) -> SqlResult<TypedExpr> {
        let operand = self.unary()?;
        for (words, name) in [
            (["instance", "of"], "instance of"),
            (["treat", "as"], "treat as"),
            (["castable", "as"], "castable as"),
        ] {
            if self.scan.eat_words(&words)? {
                return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&name]);
            }
        }
        if !self.scan.eat_words(&["cast", "as"])? {
            return Ok(operand);
        }
        self.scan.skip()?;
        let (prefix, local) = self.lexical()?;
        let known = match prefix.as_str() {
            "xs" => AtomicType::by_local_name(&local),
            "xdt" if local == "untypedAtomic" => Some(AtomicType::Untyped),
            _ => None,
        };
        let Some(to) = known else {
            let name = if prefix.is_empty() { local } else { format!("{prefix}:{local}") };
            return self.scan.error(messages::XQUERY_TYPE, &[&name]);
        };
        if !self.scan.eat("?")? {
            return self.scan.error(messages::XQUERY_CAST_OPTIONAL, &[]);
        }
        self.cast_to(operand, to)
    }

    /// A cast, as an operator or a function.
    pub(super) fn cast_to(&mut self, operand: TypedExpr, to: AtomicType) -> SqlResult<TypedExpr> {
        let ty = self.values(&operand.ty)?;
        if !ty.occurs.single() || ty.item == ItemType::Empty {
            return self.scan.error(messages::XQUERY_EXPLICIT, &[&ty, &to.name()]);
        }
        if let Expr::Literal(literal) = &operand.expr
            && literal.cast(to).is_none()
        {
            return self.scan.error(messages::XQUERY_INVALID_VALUE, &[&literal.text()]);
        }
        Ok(TypedExpr::new(Expr::Cast(Box::new(operand.expr), to), Static::optional(to)))
    }

    fn unary(&mut self) -> SqlResult<TypedExpr> {
        let mut negative = None;
        loop {
            if self.scan.eat("-")? {
                negative = Some(!negative.unwrap_or(false));
            } else if self.scan.eat("+")? {
                negative = Some(negative.unwrap_or(false));
            } else {
                break;
            }
        }
        let operand = self.path()?;
        let Some(negative) = negative else { return Ok(operand) };
        let zero = Static::one(AtomicType::Integer);
        let ty = self.arithmetic_type("-", Arithmetic::Subtract, &zero, &operand.ty)?;
        let expr = if negative { Expr::Negate(Box::new(operand.expr)) } else { operand.expr };
        Ok(TypedExpr::new(expr, ty))
    }
}
