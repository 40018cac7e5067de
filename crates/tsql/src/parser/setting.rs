//! Options of WITH lists and SET clauses.

use super::{Parse, Parser};
use crate::ast::{Expr, ParsedText, Setting, SettingValue};
use crate::keywords::Keyword;
use crate::token::TokenKind;

/// Words that measure a number.
const UNITS: &[&str] = &[
    "KB", "MB", "GB", "TB", "SECONDS", "SECOND", "MINUTES", "MINUTE", "HOURS", "HOUR", "DAYS",
    "DAY", "WEEKS", "WEEK", "MONTHS", "MONTH", "YEARS", "YEAR", "PERCENT", "ROWS",
];

impl Parser<'_> {
    /// `WITH (setting, …)`, or nothing.
    pub(super) fn optional_with_settings(&mut self) -> Parse<Vec<Setting>> {
        if self.keyword() != Keyword::With || self.peek_at(1).kind != TokenKind::LeftParen {
            return Ok(Vec::new());
        }
        self.advance();
        self.paren_list(Parser::setting)
    }

    /// `WITH setting, …` without parentheses, or nothing.
    pub(super) fn optional_with_list(&mut self) -> Parse<Vec<Setting>> {
        if self.eat_keyword(Keyword::With) {
            self.comma_list(Parser::setting)
        } else {
            Ok(Vec::new())
        }
    }

    /// `NAME`, `NAME = value`, `NAME value`, `NAME (…)`
    pub(super) fn setting(&mut self) -> Parse<Setting> {
        let first = self.peek();
        if first.kind != TokenKind::Word && first.kind != TokenKind::Quoted {
            return Err(self.unexpected());
        }
        let name = self.take_name()?.to_ascii_uppercase();
        if name == "MOVE" && self.eat_keyword(Keyword::To) {
            let target = self.placement()?.name;
            let value = SettingValue::Word(target.text);
            return Ok(Setting { name: "MOVE TO".into(), value, span: self.span_from(first) });
        }
        if name == "RESAMPLE" && self.eat_words(&["ON", "PARTITIONS"]) {
            let partitions = self.partition_ranges()?;
            let value = SettingValue::Partitioned { word: "RESAMPLE".into(), partitions };
            return Ok(Setting { name: name.into(), value, span: self.span_from(first) });
        }
        self.setting_named(first, name)
    }

    /// The value of a setting whose name is read.
    pub(super) fn setting_named(
        &mut self,
        first: crate::token::Token,
        name: String,
    ) -> Parse<Setting> {
        let valued = self.eat(TokenKind::Equal) || self.at_bare_value();
        let value = if valued { self.setting_value()? } else { SettingValue::None };
        Ok(Setting { name: name.into(), value, span: self.span_from(first) })
    }

    /// Whether a value follows a name without `=`: `RECOVERY SIMPLE`, `SAMPLE 10 PERCENT`.
    fn at_bare_value(&self) -> bool {
        match self.kind() {
            TokenKind::Integer | TokenKind::Decimal | TokenKind::String | TokenKind::National => {
                true
            }
            TokenKind::LeftParen | TokenKind::Binary => true,
            TokenKind::Word => {
                let keyword = self.keyword();
                let label = self.peek_at(1).kind == TokenKind::Colon;
                (keyword == Keyword::None && !label)
                    || matches!(keyword, Keyword::On | Keyword::Off | Keyword::Full)
            }
            _ => false,
        }
    }

    fn setting_value(&mut self) -> Parse<SettingValue> {
        let token = self.peek();
        match token.kind {
            TokenKind::Word if matches!(token.keyword, Keyword::On | Keyword::Off) => {
                self.advance();
                let on = token.keyword == Keyword::On;
                if self.eat_words(&["ON", "PARTITIONS"]) {
                    let word = if on { "ON" } else { "OFF" }.into();
                    let partitions = self.partition_ranges()?;
                    return Ok(SettingValue::Partitioned { word, partitions });
                }
                if self.kind() == TokenKind::LeftParen {
                    let settings = self.setting_group()?;
                    return Ok(SettingValue::Group { on: Some(on), settings });
                }
                Ok(if on { SettingValue::On } else { SettingValue::Off })
            }
            TokenKind::Word | TokenKind::Quoted => self.word_value(),
            TokenKind::String | TokenKind::National => Ok(SettingValue::String(self.string()?)),
            TokenKind::Variable => Ok(SettingValue::Variable(self.take_name()?)),
            TokenKind::LeftParen => {
                Ok(SettingValue::Group { on: None, settings: self.setting_group()? })
            }
            _ => self.number_value(),
        }
    }

    fn setting_group(&mut self) -> Parse<Vec<Setting>> {
        self.nested(|p| p.paren_list(Parser::setting))
    }

    /// A word or dotted name, perhaps `ON PARTITIONS (…)`.
    fn word_value(&mut self) -> Parse<SettingValue> {
        let mut word = self.take_name()?.text.into_string();
        while self.eat(TokenKind::Dot) {
            word.push('.');
            word.push_str(&self.name()?);
        }
        if self.eat_words(&["ON", "PARTITIONS"]) {
            let partitions = self.partition_ranges()?;
            return Ok(SettingValue::Partitioned { word: word.into(), partitions });
        }
        // `QUERY_STORE CLEAR ALL`
        if word.eq_ignore_ascii_case("CLEAR") && self.eat_keyword(Keyword::All) {
            word.push_str(" ALL");
        }
        Ok(SettingValue::Word(word.into()))
    }

    /// `(1, 3 TO 5)`
    pub(super) fn partition_ranges(&mut self) -> Parse<Vec<(Expr, Option<Expr>)>> {
        self.paren_list(|p| {
            let low = p.expr()?;
            let high = if p.eat_keyword(Keyword::To) { Some(p.expr()?) } else { None };
            Ok((low, high))
        })
    }

    fn number_value(&mut self) -> Parse<SettingValue> {
        let first = self.peek();
        self.eat(TokenKind::Minus);
        match self.kind() {
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Float | TokenKind::Binary => {}
            _ => return Err(self.unexpected()),
        }
        self.advance();
        let text = self.span_from(first).of(ParsedText::whole(self.text)).into();
        let unit = if self.eat(TokenKind::Percent) {
            Some("%".into())
        } else {
            let unit = UNITS.iter().find(|unit| self.at_word(unit));
            unit.map(|unit| {
                self.advance();
                Box::from(*unit)
            })
        };
        Ok(SettingValue::Number { text, unit })
    }
}
