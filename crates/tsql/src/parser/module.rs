//! Procedures, views, functions, triggers: each alone in its batch (111).

use base::messages;

use super::{Parse, Parser};
use crate::ast::{
    Function, FunctionBody, ModuleVerb, Parameter, Procedure, Setting, SettingValue, Statement,
    StatementKind, SwitchTrigger, Trigger, TriggerTarget, View,
};
use crate::keywords::Keyword;
use crate::token::TokenKind;

/// Parameters of a procedure or function.
const PARAMETERS_MAX: usize = 2100;

impl Parser<'_> {
    /// Behind CREATE, ALTER or CREATE OR ALTER.
    pub(super) fn module(&mut self, verb: ModuleVerb) -> Parse<StatementKind> {
        let word = self.peek();
        let kind = match word.keyword {
            Keyword::Proc | Keyword::Procedure => "PROCEDURE",
            Keyword::View => "VIEW",
            Keyword::Function => "FUNCTION",
            Keyword::Trigger => "TRIGGER",
            _ => return Err(self.unexpected()),
        };
        let spelled = match verb {
            _ if kind == "PROCEDURE" => "CREATE/ALTER",
            ModuleVerb::Create | ModuleVerb::CreateOrAlter => "CREATE",
            ModuleVerb::Alter => "ALTER",
        };
        let taken = if verb == ModuleVerb::CreateOrAlter { 3 } else { 1 };
        if !self.first_in_batch(taken) {
            let statement = format!("{spelled} {kind}");
            return Err(self.error(messages::MUST_BE_FIRST_IN_BATCH, &[&statement]));
        }
        self.advance();
        match kind {
            "PROCEDURE" => self.procedure(verb),
            "VIEW" => self.view(verb),
            "FUNCTION" => self.function(verb),
            _ => self.trigger(verb),
        }
    }

    fn procedure(&mut self, verb: ModuleVerb) -> Parse<StatementKind> {
        let name = self.object_name()?;
        let numbered =
            self.kind() == TokenKind::Semicolon && self.peek_at(1).kind == TokenKind::Integer;
        let number = if numbered {
            self.advance();
            Some(self.integer()?)
        } else {
            None
        };
        let parameters = self.procedure_parameters()?;
        self.check_parameters(verb, "PROCEDURE", &parameters)?;
        let options = self.module_options()?;
        let for_replication = self.eat_words(&["FOR", "REPLICATION"]);
        self.expect_keyword(Keyword::As)?;
        self.refuse_external()?;
        // A procedure may do nothing.
        let body = self.statements_until(|p| p.kind() == TokenKind::End)?;
        let procedure =
            Procedure { verb, name, number, parameters, options, for_replication, body };
        Ok(StatementKind::Procedure(Box::new(procedure)))
    }

    /// 180
    fn check_parameters(
        &self,
        verb: ModuleVerb,
        kind: &str,
        parameters: &[Parameter],
    ) -> Parse<()> {
        if parameters.len() <= PARAMETERS_MAX {
            return Ok(());
        }
        let verb = if verb == ModuleVerb::Alter { "ALTER" } else { "CREATE" };
        let statement = format!("{verb} {kind}");
        let args: [&dyn std::fmt::Display; 2] = [&statement, &PARAMETERS_MAX];
        Err(self.error(messages::TOO_MANY_PARAMETERS, &args))
    }

    /// Parameters, in parentheses or not.
    fn procedure_parameters(&mut self) -> Parse<Vec<Parameter>> {
        match self.kind() {
            TokenKind::LeftParen if self.peek_at(1).kind == TokenKind::RightParen => {
                self.advance();
                self.advance();
                Ok(Vec::new())
            }
            TokenKind::LeftParen => self.paren_list(Parser::parameter),
            TokenKind::Variable => self.comma_list(Parser::parameter),
            _ => Ok(Vec::new()),
        }
    }

    /// The text of sp_executesql's parameters.
    pub(crate) fn parameter_list(&mut self) -> Parse<Vec<Parameter>> {
        if self.kind() == TokenKind::End {
            return Ok(Vec::new());
        }
        self.procedure_parameters()
    }

    fn parameter(&mut self) -> Parse<Parameter> {
        let first = self.peek();
        let name = self.variable()?;
        self.eat_keyword(Keyword::As);
        let type_name = self.type_name()?;
        let cursor = type_name.is_cursor();
        let varying = cursor && self.eat_keyword(Keyword::Varying);
        let nullable = self.optional_null();
        let default = match self.eat(TokenKind::Equal) {
            true => Some(self.parameter_default()?),
            false => None,
        };
        let mut output = false;
        let mut read_only = false;
        loop {
            if self.eat_word("OUTPUT") || self.eat_word("OUT") {
                output = true;
            } else if self.eat_word("READONLY") {
                read_only = true;
            } else if !(cursor && self.eat_keyword(Keyword::Varying)) {
                // VARYING behind OUTPUT is in the wrong place, as if it were not there.
                break;
            }
        }
        let span = self.span_from(first);
        Ok(Parameter { name, type_name, nullable, default, output, read_only, varying, span })
    }

    /// A constant; a bare word is a string, as in EXEC.
    fn parameter_default(&mut self) -> Parse<crate::ast::Expr> {
        if self.at_name() {
            let token = self.peek();
            let text = self.take_name()?.text;
            let kind = crate::ast::ExprKind::Literal(crate::ast::Literal::National(text));
            return Ok(crate::ast::Expr { kind, span: token.span() });
        }
        self.signed_literal()
    }

    /// `WITH option, …` before AS.
    fn module_options(&mut self) -> Parse<Vec<Setting>> {
        if !self.eat_keyword(Keyword::With) {
            return Ok(Vec::new());
        }
        self.comma_list(Parser::module_option)
    }

    fn module_option(&mut self) -> Parse<Setting> {
        let first = self.peek();
        if matches!(self.keyword(), Keyword::Exec | Keyword::Execute) {
            self.advance();
            return self.execute_as();
        }
        let nulls: [&[&str]; 2] =
            [&["RETURNS", "NULL", "ON", "NULL", "INPUT"], &["CALLED", "ON", "NULL", "INPUT"]];
        if let Some(words) = nulls.into_iter().find(|words| self.eat_words(words)) {
            let name = words.join(" ").into();
            return Ok(Setting { name, value: SettingValue::None, span: self.span_from(first) });
        }
        let token = self.expect(TokenKind::Word)?;
        let name = self.token_text(token).to_ascii_uppercase();
        if self.kind() == TokenKind::Equal {
            return self.setting_named(first, name);
        }
        let value = SettingValue::None;
        Ok(Setting { name: name.into(), value, span: self.span_from(first) })
    }

    /// Statements to the end of the batch; loops outside don't count within.
    fn module_body(&mut self) -> Parse<Vec<Statement>> {
        self.refuse_external()?;
        let body = self.statements_until(|p| p.kind() == TokenKind::End)?;
        if body.is_empty() {
            return Err(self.unexpected());
        }
        Ok(body)
    }

    /// A body within an assembly.
    fn refuse_external(&self) -> Parse<()> {
        match self.keyword() {
            Keyword::External => Err(self.unsupported("EXTERNAL NAME")),
            _ => Ok(()),
        }
    }

    fn view(&mut self, verb: ModuleVerb) -> Parse<StatementKind> {
        let name = self.object_name()?;
        let columns = self.optional_paren_list(Parser::name)?;
        let options = self.module_options()?;
        self.expect_keyword(Keyword::As)?;
        let first = self.peek();
        let query = self.select_statement()?;
        let query_span = self.span_from(first);
        let check_option = self.eat_words(&["WITH", "CHECK", "OPTION"]);
        self.alone()?;
        let view = View { verb, name, columns, options, query, check_option, query_span };
        Ok(StatementKind::View(Box::new(view)))
    }

    /// Nothing may follow a view or function in its batch.
    fn alone(&mut self) -> Parse<()> {
        while self.eat(TokenKind::Semicolon) {}
        self.expect_end()
    }

    fn function(&mut self, verb: ModuleVerb) -> Parse<StatementKind> {
        let name = self.object_name()?;
        self.expect(TokenKind::LeftParen)?;
        let parameters = match self.kind() {
            TokenKind::RightParen => Vec::new(),
            _ => self.comma_list(Parser::parameter)?,
        };
        self.expect(TokenKind::RightParen)?;
        self.check_parameters(verb, "FUNCTION", &parameters)?;
        self.expect_word("RETURNS")?;
        let (options, body) = self.function_returns()?;
        self.alone()?;
        let function = Function { verb, name, parameters, options, body };
        Ok(StatementKind::Function(Box::new(function)))
    }

    fn function_returns(&mut self) -> Parse<(Vec<Setting>, FunctionBody)> {
        if self.eat_keyword(Keyword::Table) {
            if self.kind() == TokenKind::LeftParen {
                // Only rows that an assembly makes have a list of columns and no name.
                self.table_definition()?;
                return Err(self.unsupported("EXTERNAL NAME"));
            }
            let options = self.module_options()?;
            self.eat_keyword(Keyword::As);
            self.refuse_external()?;
            self.expect_keyword(Keyword::Return)?;
            let query = Box::new(self.inline_body()?);
            return Ok((options, FunctionBody::Inline { query }));
        }
        if self.kind() == TokenKind::Variable {
            let variable = self.take_name()?;
            self.expect_keyword(Keyword::Table)?;
            let definition = self.table_definition()?;
            let options = self.module_options()?;
            self.eat_keyword(Keyword::As);
            let body = self.function_block()?;
            return Ok((options, FunctionBody::Table { variable, definition, body }));
        }
        let returns = self.type_name()?;
        let options = self.module_options()?;
        self.eat_keyword(Keyword::As);
        Ok((options, FunctionBody::Scalar { returns, body: self.function_block()? }))
    }

    /// `(query)` or `query`; a CTE too.
    fn inline_body(&mut self) -> Parse<crate::ast::SelectStatement> {
        let wrapped =
            self.kind() == TokenKind::LeftParen && self.peek_at(1).keyword == Keyword::With;
        if wrapped {
            return self.parenthesized(Parser::select_statement);
        }
        self.select_statement()
    }

    /// `BEGIN … END`
    fn function_block(&mut self) -> Parse<Vec<Statement>> {
        self.refuse_external()?;
        if self.keyword() != Keyword::Begin {
            return Err(self.unexpected());
        }
        match self.nested(Parser::begin)? {
            StatementKind::Block(body) => Ok(body),
            StatementKind::Opaque(opaque) => Err(self.unsupported(&opaque.name)),
            _ => Err(self.unexpected()),
        }
    }

    fn trigger(&mut self, verb: ModuleVerb) -> Parse<StatementKind> {
        let name = self.object_name()?;
        self.expect_keyword(Keyword::On)?;
        let target = self.trigger_target()?;
        let options = self.module_options()?;
        let instead_of = self.eat_words(&["INSTEAD", "OF"]);
        if !instead_of && !self.eat_word("AFTER") {
            self.expect_keyword(Keyword::For)?;
        }
        let mut events = self.comma_list(|p| {
            let word = p.expect(TokenKind::Word)?;
            Ok(Box::from(p.token_text(word).to_ascii_uppercase()))
        })?;
        if self.eat_words(&["WITH", "APPEND"]) {
            events.push("WITH APPEND".into());
        }
        let not_for_replication = self.eat_words(&["NOT", "FOR", "REPLICATION"]);
        self.expect_keyword(Keyword::As)?;
        let body = self.module_body()?;
        let trigger =
            Trigger { verb, name, target, options, instead_of, events, not_for_replication, body };
        Ok(StatementKind::Trigger(Box::new(trigger)))
    }

    fn trigger_target(&mut self) -> Parse<TriggerTarget> {
        if self.eat_keyword(Keyword::Database) {
            return Ok(TriggerTarget::Database);
        }
        if self.eat_keyword(Keyword::All) {
            self.expect_word("SERVER")?;
            return Ok(TriggerTarget::Server);
        }
        Ok(TriggerTarget::Table(self.object_name()?))
    }

    /// `ENABLE|DISABLE TRIGGER names|ALL ON target`
    pub(super) fn switch_trigger(&mut self) -> Parse<StatementKind> {
        let enable = self.eat_word("ENABLE");
        if !enable {
            self.advance();
        }
        self.advance();
        let names = match self.eat_keyword(Keyword::All) {
            true => Vec::new(),
            false => self.comma_list(Parser::object_name)?,
        };
        self.expect_keyword(Keyword::On)?;
        let target = self.trigger_target()?;
        Ok(StatementKind::SwitchTrigger(Box::new(SwitchTrigger { enable, names, target })))
    }
}
