//! The variables that a piece of text uses, found among its tokens: of a statement that is not
//! bound, whose variables must have been declared all the same.

use crate::ast::Name;
use crate::keywords::Keyword;
use crate::lexer::Lexer;
use crate::token::TokenKind;

/// A variable where it is used.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedVariable {
    /// With its line in the piece, from 1.
    pub name: Name,
    /// Where a table stands.
    pub as_table: bool,
}

/// The variables of a piece of text, in order. `@@` functions are none.
pub fn variables(text: &str, quoted_identifier: bool) -> Vec<UsedVariable> {
    let mut lexer = Lexer::new(text, 0, 1, quoted_identifier);
    let mut before = Keyword::None;
    let mut found = Vec::new();
    loop {
        let token = lexer.next();
        if token.kind == TokenKind::End {
            return found;
        }
        let span = token.span();
        let spelled = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        if token.kind == TokenKind::Variable && !spelled.starts_with("@@") {
            let as_table = matches!(
                before,
                Keyword::From
                    | Keyword::Join
                    | Keyword::Into
                    | Keyword::Insert
                    | Keyword::Delete
                    | Keyword::Update
                    | Keyword::Merge
            );
            found.push(UsedVariable {
                name: Name { text: spelled.into(), line: token.line },
                as_table,
            });
        }
        before = token.keyword;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_with_their_lines_and_strings_are_not() {
        let text = "select @a, '@b', [@c], @@rowcount -- @d\nfrom @t join u on u.i = @e /* @f */";
        let found = variables(text, true);
        let shown: Vec<(&str, u32, bool)> =
            found.iter().map(|v| (&*v.name.text, v.name.line, v.as_table)).collect();
        assert_eq!(shown, [("@a", 1, false), ("@t", 2, true), ("@e", 2, false)]);
    }
}
