//! A text without what does not change what kind of statement it is: constants, case of names,
//! brackets around them, blanks and comments. Texts that are alike give the same.

use crate::lexer::Lexer;
use crate::parse::ParseOptions;
use crate::token::TokenKind;

/// The tokens of a text with a blank between, every constant as `?`.
pub fn normalize(text: &str, options: ParseOptions) -> String {
    let mut lexer = Lexer::new(text, 0, 1, options.quoted_identifier);
    let mut out = String::with_capacity(text.len());
    loop {
        let token = lexer.next();
        let spelled = text.get(token.start as usize..token.end as usize).unwrap_or_default();
        if !out.is_empty() && token.kind != TokenKind::End {
            out.push(' ');
        }
        match token.kind {
            TokenKind::End => return out,
            TokenKind::String
            | TokenKind::National
            | TokenKind::Integer
            | TokenKind::Decimal
            | TokenKind::Float
            | TokenKind::Money
            | TokenKind::Binary => out.push('?'),
            // A constant that has become a parameter.
            TokenKind::Variable if is_number(spelled) => out.push('?'),
            TokenKind::Quoted => {
                let inner = spelled.get(1..spelled.len().saturating_sub(1)).unwrap_or_default();
                out.push_str(&inner.to_lowercase());
            }
            // There is nothing behind it.
            TokenKind::UnclosedComment => return out,
            _ => out.push_str(&spelled.to_lowercase()),
        }
    }
}

/// `@1`
fn is_number(variable: &str) -> bool {
    let digits = variable.strip_prefix('@').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_case_blanks_and_brackets_do_not_matter_and_names_do() {
        let normal = |text| normalize(text, ParseOptions { quoted_identifier: true });
        let first = normal("select [A] from dbo.T where x = 5 and y like N'a%'");
        assert_eq!(first, "select a from dbo . t where x = ? and y like ?");
        assert_eq!(first, normal("SELECT a\n FROM dbo.\"t\" /* c */ WHERE X=1e3 AND y LIKE 'b'"));
        assert_eq!(first, normal("SELECT [a] FROM [dbo].[t] WHERE [x]=@1 AND y LIKE @2"));
        assert_ne!(first, normal("select b from dbo.t where x = 5 and y like 'a%'"));
        assert_eq!(normal("select /* open"), "select ");
        assert_eq!(normal("'open"), "'open");
    }
}
