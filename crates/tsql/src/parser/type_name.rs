//! Type names with their length, precision, scale.

use base::messages;

use super::{Parse, Parser};
use crate::ast::{Name, ObjectName, TypeArguments, TypeName};
use crate::keywords::Keyword;
use crate::token::TokenKind;

impl Parser<'_> {
    /// A type: `int`, `decimal(12, 2)`, `varchar(max)`, `national character varying(10)`.
    pub(crate) fn type_name(&mut self) -> Parse<TypeName> {
        let first = self.peek();
        let name = match self.keyword() {
            Keyword::Double | Keyword::National | Keyword::Cursor => self.reserved_type()?,
            _ => self.varying_type()?,
        };
        let arguments = self.type_arguments()?;
        Ok(TypeName { name, arguments, span: self.span_from(first) })
    }

    fn simple_type(&self, first: crate::token::Token, word: &str) -> ObjectName {
        let object = Name { text: word.into(), line: first.line };
        let span = self.span_from(first);
        ObjectName { server: None, database: None, schema: None, object, span }
    }

    /// `DOUBLE PRECISION`, `NATIONAL CHAR[ACTER] [VARYING]`, `NATIONAL TEXT`, `CURSOR`
    fn reserved_type(&mut self) -> Parse<ObjectName> {
        let first = self.advance();
        let word = match first.keyword {
            Keyword::Double => {
                // No reserved word elsewhere: `sys.columns` has a column of that name.
                self.eat_word("PRECISION");
                "float"
            }
            Keyword::Cursor => "cursor",
            _ if self.eat_word("TEXT") => "ntext",
            _ if self.eat_word("CHAR") || self.eat_word("CHARACTER") => {
                if self.eat_keyword(Keyword::Varying) { "nvarchar" } else { "nchar" }
            }
            _ => return Err(self.unexpected()),
        };
        Ok(self.simple_type(first, word))
    }

    /// Any other type; `CHAR VARYING` and `BINARY VARYING` are two words.
    fn varying_type(&mut self) -> Parse<ObjectName> {
        let first = self.peek();
        let name = self.object_name()?;
        if !self.eat_keyword(Keyword::Varying) {
            return Ok(name);
        }
        let word = match name.object.to_ascii_lowercase().as_str() {
            "char" | "character" => "varchar",
            "nchar" => "nvarchar",
            "binary" => "varbinary",
            _ => return Err(self.unexpected()),
        };
        Ok(self.simple_type(first, word))
    }

    fn type_arguments(&mut self) -> Parse<TypeArguments> {
        if !self.eat(TokenKind::LeftParen) {
            return Ok(TypeArguments::None);
        }
        let arguments = if self.eat_word("MAX") {
            TypeArguments::Max
        } else if self.at_name() {
            let facet = self.at_word("CONTENT") || self.at_word("DOCUMENT");
            if facet && Self::names(self.peek_at(1)) {
                self.advance();
            }
            TypeArguments::Schema(Box::new(self.object_name()?))
        } else {
            let one = self.type_number()?;
            if self.eat(TokenKind::Comma) {
                TypeArguments::Two(one, self.type_number()?)
            } else {
                TypeArguments::One(one)
            }
        };
        self.expect(TokenKind::RightParen)?;
        Ok(arguments)
    }

    fn type_number(&mut self) -> Parse<u32> {
        let token = self.peek();
        if token.kind == TokenKind::Integer {
            let text = self.token_text(token);
            if text.parse::<u32>().is_err() {
                return Err(self.error(messages::TYPE_LENGTH_INVALID, &[&token.line, &text]));
            }
        }
        self.integer()
    }
}
