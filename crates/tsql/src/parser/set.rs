//! SET: variables, session options, isolation levels.

use base::messages;

use super::select::assign_op;
use super::{Parse, Parser};
use crate::ast::{
    IsolationLevel, SetOption, SetOptionValue, SetVariable, SetVariableValue, StatementKind,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;

/// Options that are ON or OFF, and may stand in a list.
const SWITCHES: &[&str] = &[
    "ANSI_DEFAULTS",
    "ANSI_NULLS",
    "ANSI_NULL_DFLT_OFF",
    "ANSI_NULL_DFLT_ON",
    "ANSI_PADDING",
    "ANSI_WARNINGS",
    "ARITHABORT",
    "ARITHIGNORE",
    "CONCAT_NULL_YIELDS_NULL",
    "CURSOR_CLOSE_ON_COMMIT",
    "DISABLE_DEF_CNST_CHK",
    "FMTONLY",
    "FORCEPLAN",
    "IMPLICIT_TRANSACTIONS",
    "NOCOUNT",
    "NOEXEC",
    "NO_BROWSETABLE",
    "NUMERIC_ROUNDABORT",
    "PARSEONLY",
    "QUOTED_IDENTIFIER",
    "REMOTE_PROC_TRANSACTIONS",
    "RESULT_SET_CACHING",
    "SHOWPLAN_ALL",
    "SHOWPLAN_TEXT",
    "SHOWPLAN_XML",
    "XACT_ABORT",
];

/// Options with a value of another kind.
const VALUED: &[&str] = &[
    "CONTEXT_INFO",
    "DATEFIRST",
    "DATEFORMAT",
    "DEADLOCK_PRIORITY",
    "FIPS_FLAGGER",
    "LANGUAGE",
    "LOCK_TIMEOUT",
    "QUERY_GOVERNOR_COST_LIMIT",
    "ROWCOUNT",
    "TEXTSIZE",
];

impl Parser<'_> {
    pub(super) fn set_statement(&mut self) -> Parse<StatementKind> {
        self.advance();
        if self.kind() == TokenKind::Variable {
            return self.set_variable();
        }
        let level = [["TRANSACTION", "ISOLATION", "LEVEL"], ["TRAN", "ISOLATION", "LEVEL"]];
        if level.iter().any(|words| self.eat_words(words)) {
            return Ok(StatementKind::SetIsolation(self.isolation_level()?));
        }
        if self.eat_keyword(Keyword::IdentityInsert) {
            let table = Box::new(self.object_name()?);
            return Ok(StatementKind::SetIdentityInsert { table, on: self.on_off()? });
        }
        let option = if self.eat_keyword(Keyword::Statistics) {
            self.set_statistics()?
        } else if self.eat_keyword(Keyword::Offsets) {
            self.set_offsets()?
        } else {
            self.set_option()?
        };
        Ok(StatementKind::SetOption(Box::new(option)))
    }

    fn on_off(&mut self) -> Parse<bool> {
        let on = self.eat_keyword(Keyword::On);
        if !on {
            self.expect_keyword(Keyword::Off)?;
        }
        Ok(on)
    }

    pub(super) fn isolation_level(&mut self) -> Parse<IsolationLevel> {
        Ok(match () {
            () if self.eat_words(&["READ", "UNCOMMITTED"]) => IsolationLevel::ReadUncommitted,
            () if self.eat_words(&["READ", "COMMITTED"]) => IsolationLevel::ReadCommitted,
            () if self.eat_words(&["REPEATABLE", "READ"]) => IsolationLevel::RepeatableRead,
            () if self.eat_word("SNAPSHOT") => IsolationLevel::Snapshot,
            () if self.eat_word("SERIALIZABLE") => IsolationLevel::Serializable,
            () => return Err(self.unexpected()),
        })
    }

    fn set_variable(&mut self) -> Parse<StatementKind> {
        let variable = self.take_name()?;
        let value = if self.eat(TokenKind::Dot) {
            let method = self.name()?;
            let arguments = self.call_arguments()?;
            SetVariableValue::Method { method, arguments }
        } else {
            let Some(op) = assign_op(self.kind()) else { return Err(self.unexpected()) };
            self.advance();
            if self.keyword() == Keyword::Cursor {
                SetVariableValue::Cursor(Box::new(self.cursor_definition()?))
            } else {
                SetVariableValue::Expr { op, value: self.expr()? }
            }
        };
        Ok(StatementKind::SetVariable(Box::new(SetVariable { variable, value })))
    }

    /// Behind SET STATISTICS: `IO, TIME ON`
    fn set_statistics(&mut self) -> Parse<SetOption> {
        let names = self.comma_list(|p| {
            for word in ["IO", "TIME", "XML", "PROFILE"] {
                if p.eat_word(word) {
                    return Ok(format!("STATISTICS {word}").into_boxed_str());
                }
            }
            Err(p.unexpected())
        })?;
        Ok(SetOption { names, value: switch(self.on_off()?) })
    }

    /// Behind SET OFFSETS: words and ON or OFF.
    fn set_offsets(&mut self) -> Parse<SetOption> {
        let names = self.comma_list(|p| {
            let word = p.expect(TokenKind::Word)?;
            Ok(format!("OFFSETS {}", p.token_text(word).to_ascii_uppercase()).into_boxed_str())
        })?;
        Ok(SetOption { names, value: switch(self.on_off()?) })
    }

    fn set_option(&mut self) -> Parse<SetOption> {
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return Err(self.unexpected());
        }
        let name = self.token_text(token).to_ascii_uppercase();
        if VALUED.contains(&name.as_str()) {
            self.advance();
            let value = self.option_value()?;
            return Ok(SetOption { names: vec![name.into()], value });
        }
        let names = self.comma_list(Parser::switch_name)?;
        let on = self.on_off()?;
        if names.iter().any(|name| &**name == "QUOTED_IDENTIFIER" || &**name == "ANSI_DEFAULTS") {
            self.set_quoted_identifier(on);
        }
        Ok(SetOption { names, value: switch(on) })
    }

    fn switch_name(&mut self) -> Parse<Box<str>> {
        let token = self.peek();
        let written = self.token_text(token);
        let name = written.to_ascii_uppercase();
        if token.kind != TokenKind::Word || token.keyword != Keyword::None {
            return Err(self.unexpected());
        }
        if !SWITCHES.contains(&name.as_str()) {
            return Err(self.error(messages::NOT_RECOGNIZED, &[&written, &"SET option"]));
        }
        self.advance();
        Ok(name.into())
    }

    /// A constant, a variable or a word.
    fn option_value(&mut self) -> Parse<SetOptionValue> {
        match self.keyword() {
            Keyword::On | Keyword::Off => Ok(switch(self.on_off()?)),
            Keyword::None if self.at_name() => Ok(SetOptionValue::Word(self.name()?)),
            _ => Ok(SetOptionValue::Expr(self.signed_literal()?)),
        }
    }
}

fn switch(on: bool) -> SetOptionValue {
    if on { SetOptionValue::On } else { SetOptionValue::Off }
}
