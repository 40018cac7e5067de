//! `insert`, `delete`, `replace value of`: what modify() takes.

use super::{Parser, TypedExpr};
use crate::statics::{ItemType, Static};
use crate::tree::{Expr, Place, Update};
use base::{SqlError, SqlResult, messages};

impl Parser<'_, '_> {
    pub(super) fn update(&mut self) -> SqlResult<Update> {
        if self.scan.eat_word("insert")? {
            return self.insert();
        }
        if self.scan.eat_word("delete")? {
            let target = self.sequence()?;
            let deletable = target.ty.is_node() && target.ty.item != ItemType::Document;
            return match deletable || target.ty.item == ItemType::Empty {
                true => Ok(Update::Delete(target.expr)),
                false => self.scan.error(messages::XQUERY_DELETE_NODES, &[&target.ty]),
            };
        }
        if self.scan.eat_words(&["replace", "value", "of"])? {
            return self.replace();
        }
        self.sequence()?;
        Err(SqlError::new(messages::XQUERY_DATA_MANIPULATION, &[]))
    }

    fn insert(&mut self) -> SqlResult<Update> {
        self.takes_xml = true;
        let content = self.sequence();
        self.takes_xml = false;
        let content = content?;
        let place = if self.scan.eat_words(&["as", "first", "into"])? {
            Place::First
        } else if self.scan.eat_words(&["as", "last", "into"])? || self.scan.eat_word("into")? {
            Place::Last
        } else if self.scan.eat_word("before")? {
            Place::Before
        } else if self.scan.eat_word("after")? {
            Place::After
        } else {
            return self.scan.syntax();
        };
        let target = self.nested(Self::single_expr)?;
        self.check_insert(&content, place, &target.ty)?;
        Ok(Update::Insert { content: content.expr, place, target: target.expr })
    }

    fn check_insert(&self, content: &TypedExpr, place: Place, target: &Static) -> SqlResult<()> {
        if !target.occurs.single() || !target.is_node() {
            return self.scan.error(messages::XQUERY_INSERT_TARGET, &[target]);
        }
        let given = &content.ty;
        if !given.is_node() && given.item != ItemType::Empty {
            return self.scan.error(messages::XQUERY_INSERT_NODES, &[given]);
        }
        let beside = matches!(place, Place::Before | Place::After);
        if beside && matches!(given.item, ItemType::Attribute(_)) {
            return self.scan.error(messages::XQUERY_INSERT_ATTRIBUTE, &[given]);
        }
        match (&target.item, beside) {
            (ItemType::Document | ItemType::Attribute(_), true) => {
                self.scan.error(messages::XQUERY_INSERT_BESIDE, &[target])
            }
            (ItemType::Document | ItemType::Element(_) | ItemType::Node, false) | (_, true) => {
                Ok(())
            }
            (_, false) => self.scan.error(messages::XQUERY_INSERT_INTO, &[target]),
        }
    }

    fn replace(&mut self) -> SqlResult<Update> {
        let target = self.nested(Self::single_expr)?;
        if !self.scan.eat_word("with")? {
            return self.scan.error(messages::XQUERY_EXPECTED, &[&"with"]);
        }
        let with = self.nested(Self::single_expr)?;
        if !target.ty.occurs.single() {
            return self.scan.error(messages::XQUERY_REPLACE_TARGET, &[&target.ty]);
        }
        if !matches!(target.ty.item, ItemType::Attribute(_) | ItemType::Text) {
            return self.scan.error(messages::XQUERY_REPLACE_CONTENT, &[&target.ty]);
        }
        if with.ty.item == ItemType::Constructed {
            return self.scan.error(messages::XQUERY_WITH_CONSTRUCTED, &[]);
        }
        let emptied = matches!(&with.expr, Expr::Sequence(items) if items.is_empty());
        Ok(Update::Replace { target: target.expr, with: with.expr, emptied })
    }
}
