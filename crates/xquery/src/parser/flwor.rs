//! FLWOR, quantified and conditional expressions.

use super::{Parser, TypedExpr};
use crate::statics::{ItemType, Occurs, Static};
use crate::tree::{Binding, Expr, Flwor, QName};
use base::{SqlResult, messages};

impl Parser<'_, '_> {
    /// Behind `$`.
    pub(super) fn variable_name(&mut self) -> SqlResult<QName> {
        self.scan.skip()?;
        let (prefix, local) = self.lexical()?;
        self.named(&prefix, &local, false)
    }

    /// `$name` of a binding.
    fn bound_name(&mut self) -> SqlResult<QName> {
        self.scan.expect("$")?;
        self.variable_name()
    }

    fn bind(&mut self, name: QName, ty: Static) -> usize {
        let slot = self.slots;
        self.slots += 1;
        self.variables.push((name, slot, ty));
        slot
    }

    pub(super) fn flwor(&mut self) -> SqlResult<TypedExpr> {
        let outer = self.variables.len();
        let made = self.flwor_parts();
        self.variables.truncate(outer);
        made
    }

    fn flwor_parts(&mut self) -> SqlResult<TypedExpr> {
        let (mut bindings, mut occurs) = (Vec::new(), Occurs::One);
        loop {
            if self.scan.at_word_then("for", "$")? {
                self.scan.eat_word("for")?;
                loop {
                    let (binding, times) = self.for_binding()?;
                    bindings.push(binding);
                    occurs = occurs.times(times);
                    if !self.scan.eat(",")? {
                        break;
                    }
                }
            } else if self.scan.at_word_then("let", "$")? {
                self.scan.eat_word("let")?;
                loop {
                    bindings.push(self.let_binding()?);
                    if !self.scan.eat(",")? {
                        break;
                    }
                }
            } else {
                break;
            }
        }
        let mut filter = None;
        if self.scan.eat_word("where")? {
            let test = self.nested(Self::single_expr)?;
            self.condition(&test.ty)?;
            filter = Some(test.expr);
            occurs = occurs.or_none();
        }
        let stable = self.scan.eat_words(&["stable", "order", "by"])?;
        let ordered = stable || self.scan.eat_words(&["order", "by"])?;
        let order = if ordered { self.order_keys()? } else { Vec::new() };
        if !self.scan.eat_word("return")? {
            let near = self.scan.near();
            return match filter.is_none() && !ordered {
                true => self.scan.error(messages::XQUERY_FLWOR, &[&near]),
                false => self.scan.error(messages::XQUERY_SYNTAX_EXPECTED, &[&near, &"return"]),
            };
        }
        let result = self.nested(Self::single_expr)?;
        let ty = Static::new(result.ty.item, occurs.times(result.ty.occurs));
        let flwor = Flwor { bindings, filter, order, result: result.expr };
        Ok(TypedExpr::new(Expr::Flwor(Box::new(flwor)), ty))
    }

    fn for_binding(&mut self) -> SqlResult<(Binding, Occurs)> {
        let name = self.bound_name()?;
        for word in ["at", "as"] {
            if self.scan.eat_word(word)? {
                return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&word]);
            }
        }
        if !self.scan.eat_word("in")? {
            return self.scan.error(messages::XQUERY_EXPECTED, &[&"in"]);
        }
        let source = self.nested(Self::single_expr)?;
        if source.ty.item == ItemType::Constructed {
            return self.constructed("'for'");
        }
        let slot = self.bind(name, Static::new(source.ty.item, Occurs::One));
        Ok((Binding::For(slot, source.expr), source.ty.occurs))
    }

    fn let_binding(&mut self) -> SqlResult<Binding> {
        let name = self.bound_name()?;
        if !self.scan.eat(":=")? {
            return self.scan.error(messages::XQUERY_EXPECTED, &[&":="]);
        }
        let value = self.nested(Self::single_expr)?;
        if value.ty.item == ItemType::Constructed {
            return self.constructed("'let'");
        }
        let slot = self.bind(name, value.ty);
        Ok(Binding::Let(slot, value.expr))
    }

    fn order_keys(&mut self) -> SqlResult<Vec<(Expr, bool)>> {
        let mut keys = Vec::new();
        loop {
            let key = self.nested(Self::single_expr)?;
            self.single(&self.values(&key.ty)?, "order by")?;
            let descending = self.scan.eat_word("descending")?;
            if !descending {
                self.scan.eat_word("ascending")?;
            }
            for words in [["empty", "greatest"], ["empty", "least"]] {
                if self.scan.eat_words(&words)? {
                    let name = words.join(" ");
                    return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&name]);
                }
            }
            if self.scan.eat_word("collation")? {
                return self.scan.error(messages::XQUERY_UNSUPPORTED, &[&"collation"]);
            }
            keys.push((key.expr, descending));
            if !self.scan.eat(",")? {
                return Ok(keys);
            }
        }
    }

    pub(super) fn quantified(&mut self, every: bool) -> SqlResult<TypedExpr> {
        let outer = self.variables.len();
        let made = self.quantified_parts(every);
        self.variables.truncate(outer);
        made
    }

    fn quantified_parts(&mut self, every: bool) -> SqlResult<TypedExpr> {
        self.scan.skip()?;
        self.scan.eat_name();
        let mut bindings = Vec::new();
        loop {
            let name = self.bound_name()?;
            self.word("in")?;
            let source = self.nested(Self::single_expr)?;
            if source.ty.item == ItemType::Constructed {
                return self.constructed(if every { "'every'" } else { "'some'" });
            }
            let slot = self.bind(name, Static::new(source.ty.item, Occurs::One));
            bindings.push((slot, source.expr));
            if !self.scan.eat(",")? {
                break;
            }
        }
        self.word("satisfies")?;
        let test = self.nested(Self::single_expr)?;
        self.condition(&test.ty)?;
        let test = Box::new(test.expr);
        Ok(TypedExpr::new(Expr::Quantified { every, bindings, test }, Static::BOOLEAN))
    }

    /// 9303 for a word that is not there.
    fn word(&mut self, word: &str) -> SqlResult<()> {
        match self.scan.eat_word(word)? {
            true => Ok(()),
            false => {
                let near = self.scan.near();
                self.scan.error(messages::XQUERY_SYNTAX_EXPECTED, &[&near, &word])
            }
        }
    }

    pub(super) fn conditional(&mut self) -> SqlResult<TypedExpr> {
        self.scan.eat_word("if")?;
        self.scan.expect("(")?;
        let test = self.nested(Self::sequence)?;
        self.condition(&test.ty)?;
        self.scan.expect(")")?;
        self.word("then")?;
        let then = self.nested(Self::single_expr)?;
        self.word("else")?;
        let otherwise = self.nested(Self::single_expr)?;
        let item = self.homogeneous(&then.ty, &otherwise.ty)?;
        let none = |t: &Static| t.item == ItemType::Empty;
        let occurs = match (none(&then.ty), none(&otherwise.ty)) {
            (true, _) => otherwise.ty.occurs.or_none(),
            (_, true) => then.ty.occurs.or_none(),
            _ => then.ty.occurs.either(otherwise.ty.occurs),
        };
        let parts = Box::new((test.expr, then.expr, otherwise.expr));
        Ok(TypedExpr::new(Expr::If(parts), Static::new(item, occurs)))
    }
}
