//! Table hints and OPTION.

use base::messages;

use super::{Parse, Parser};
use crate::ast::{IndexRef, Name, QueryOption, QueryOptionKind, TableHint, TableHintKind};
use crate::keywords::Keyword;
use crate::token::TokenKind;

/// Hints of one word.
const PLAIN: &[(&str, TableHintKind)] = &[
    ("NOLOCK", TableHintKind::NoLock),
    ("TABLOCK", TableHintKind::TableLock),
    ("TABLOCKX", TableHintKind::TableLockExclusive),
    ("UPDLOCK", TableHintKind::UpdateLock),
    ("HOLDLOCK", TableHintKind::HoldLock),
    ("ROWLOCK", TableHintKind::RowLock),
    ("PAGLOCK", TableHintKind::PageLock),
    ("XLOCK", TableHintKind::ExclusiveLock),
    ("READPAST", TableHintKind::ReadPast),
    ("READUNCOMMITTED", TableHintKind::ReadUncommitted),
    ("READCOMMITTED", TableHintKind::ReadCommitted),
    ("READCOMMITTEDLOCK", TableHintKind::ReadCommittedLock),
    ("REPEATABLEREAD", TableHintKind::RepeatableRead),
    ("SERIALIZABLE", TableHintKind::Serializable),
    ("SNAPSHOT", TableHintKind::Snapshot),
    ("NOWAIT", TableHintKind::NoWait),
    ("NOEXPAND", TableHintKind::NoExpand),
    ("KEEPIDENTITY", TableHintKind::KeepIdentity),
    ("KEEPDEFAULTS", TableHintKind::KeepDefaults),
    ("IGNORE_CONSTRAINTS", TableHintKind::IgnoreConstraints),
    ("IGNORE_TRIGGERS", TableHintKind::IgnoreTriggers),
    ("FORCESCAN", TableHintKind::ForceScan),
];

impl Parser<'_> {
    /// `(` and a hint: hints without WITH, as old scripts have them.
    pub(super) fn at_old_hints(&self) -> bool {
        if self.kind() != TokenKind::LeftParen {
            return false;
        }
        let next = self.peek_at(2).kind;
        if self.peek_at(1).keyword == Keyword::Index {
            return matches!(next, TokenKind::LeftParen | TokenKind::Equal);
        }
        PLAIN.iter().any(|(word, _)| self.is_word(1, word))
            && matches!(next, TokenKind::RightParen | TokenKind::Comma)
    }

    /// `WITH (hint, …)`, `(hint, …)`, or nothing.
    pub(super) fn optional_table_hints(&mut self) -> Parse<Vec<TableHint>> {
        if self.keyword() == Keyword::With {
            if self.peek_at(1).kind == TokenKind::LeftParen {
                self.advance();
                return self.table_hint_list();
            }
            self.refuse_cte_behind_table()?;
            return Ok(Vec::new());
        }
        if self.at_old_hints() { self.table_hint_list() } else { Ok(Vec::new()) }
    }

    /// Hints in parentheses; commas between them may be missing.
    fn table_hint_list(&mut self) -> Parse<Vec<TableHint>> {
        self.expect(TokenKind::LeftParen)?;
        let mut hints = vec![self.table_hint()?];
        while !self.eat(TokenKind::RightParen) {
            self.eat(TokenKind::Comma);
            hints.push(self.table_hint()?);
        }
        Ok(hints)
    }

    pub(super) fn table_hint(&mut self) -> Parse<TableHint> {
        let first = self.peek();
        if first.kind != TokenKind::Word {
            return Err(self.unexpected());
        }
        let text = self.token_text(first);
        let plain = PLAIN.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
        let kind = if let Some((_, kind)) = plain {
            self.advance();
            kind.clone()
        } else if self.eat_keyword(Keyword::Index) {
            TableHintKind::Index(self.index_refs()?)
        } else if self.eat_word("FORCESEEK") {
            TableHintKind::ForceSeek(self.seek_columns()?)
        } else if self.eat_word("SPATIAL_WINDOW_MAX_CELLS") {
            self.expect(TokenKind::Equal)?;
            TableHintKind::SpatialWindowMaxCells(self.integer()?)
        } else if first.keyword == Keyword::None {
            return Err(self.error(messages::HINT_UNKNOWN, &[&text]));
        } else {
            return Err(self.unexpected());
        };
        Ok(TableHint { kind, span: self.span_from(first) })
    }

    /// `(a, b)`, `= a`, `= (a)`
    fn index_refs(&mut self) -> Parse<Vec<IndexRef>> {
        let equal = self.eat(TokenKind::Equal);
        if equal && self.kind() != TokenKind::LeftParen {
            return Ok(vec![self.index_ref()?]);
        }
        self.paren_list(Parser::index_ref)
    }

    fn index_ref(&mut self) -> Parse<IndexRef> {
        match self.kind() {
            TokenKind::Integer => self.integer().map(IndexRef::Id),
            _ => self.name().map(IndexRef::Name),
        }
    }

    /// `(index (columns))` of FORCESEEK, or nothing.
    fn seek_columns(&mut self) -> Parse<Option<(IndexRef, Vec<Name>)>> {
        if !self.eat(TokenKind::LeftParen) {
            return Ok(None);
        }
        let index = self.index_ref()?;
        let columns = self.paren_list(Parser::name)?;
        self.expect(TokenKind::RightParen)?;
        Ok(Some((index, columns)))
    }

    /// `OPTION (…)`, or nothing.
    pub(super) fn optional_options(&mut self) -> Parse<Vec<QueryOption>> {
        if !self.eat_keyword(Keyword::Option) {
            return Ok(Vec::new());
        }
        self.paren_list(Parser::query_option)
    }

    fn query_option(&mut self) -> Parse<QueryOption> {
        let first = self.peek();
        if first.kind != TokenKind::Word {
            return Err(self.unexpected());
        }
        let kind = if self.eat_words(&["OPTIMIZE", "FOR"]) {
            self.optimize_for()?
        } else if self.eat_words(&["USE", "HINT"]) {
            QueryOptionKind::UseHint(self.paren_list(Parser::string)?)
        } else if self.eat_words(&["TABLE", "HINT"]) {
            self.expect(TokenKind::LeftParen)?;
            let table = self.object_name()?;
            let mut hints = Vec::new();
            while self.eat(TokenKind::Comma) {
                hints.push(self.table_hint()?);
            }
            self.expect(TokenKind::RightParen)?;
            QueryOptionKind::TableHint { table, hints }
        } else {
            self.worded_option()?
        };
        Ok(QueryOption { kind, span: self.span_from(first) })
    }

    /// Words, perhaps with a constant behind them.
    fn worded_option(&mut self) -> Parse<QueryOptionKind> {
        let mut name = self.take_text().to_ascii_uppercase();
        while self.kind() == TokenKind::Word {
            name.push(' ');
            name.push_str(&self.take_text().to_ascii_uppercase());
        }
        let name = name.into_boxed_str();
        let valued = self.eat(TokenKind::Equal);
        match self.kind() {
            TokenKind::Comma | TokenKind::RightParen if !valued => Ok(QueryOptionKind::Word(name)),
            _ => Ok(QueryOptionKind::Value { name, value: self.signed_literal()? }),
        }
    }

    /// `UNKNOWN`, `(@v = constant, @w UNKNOWN)`
    fn optimize_for(&mut self) -> Parse<QueryOptionKind> {
        if self.eat_word("UNKNOWN") {
            return Ok(QueryOptionKind::OptimizeForUnknown);
        }
        let values = self.paren_list(|p| {
            let variable = p.variable()?;
            if p.eat_word("UNKNOWN") {
                return Ok((variable, None));
            }
            p.expect(TokenKind::Equal)?;
            Ok((variable, Some(p.signed_literal()?)))
        })?;
        Ok(QueryOptionKind::OptimizeFor(values))
    }
}
