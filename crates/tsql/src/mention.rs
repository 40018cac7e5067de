//! What a text speaks of: the objects that a module, a check or a default names.
//!
//! Names are as written and in their order. What the text itself gives a name (a common table
//! expression, an alias, a temporary table, `inserted` and `deleted`) is no mention.

use crate::ast::{Name, ObjectName};
use crate::parse::{ParseOptions, parse_whole};
use crate::parser::Parser;

/// How an object is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MentionKind {
    /// Its rows are read.
    Rows,
    /// Its rows are changed.
    Target,
    /// It is called for rows.
    RowsOfCall,
    /// It is called for a value.
    Call,
    /// It is executed.
    Procedure,
    /// Numbers are drawn from it.
    Sequence,
}

/// A name and what it is used for.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// How.
    pub kind: MentionKind,
    /// As written.
    pub name: ObjectName,
}

/// Everything that a text mentions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mentions {
    /// Objects.
    pub objects: Vec<Mention>,
    /// Columns, whosever they are.
    pub columns: Vec<Name>,
    /// Built-in functions: called by a name alone.
    pub builtins: Vec<Name>,
    /// Temporary tables.
    pub temporary: Vec<Name>,
    /// The lines of `*` in select lists.
    pub stars: Vec<u32>,
    /// Names that the text gives itself.
    pub(crate) own: Vec<Name>,
}

impl Mentions {
    /// Without what is no mention.
    fn settled(mut self) -> Mentions {
        let own = self.own;
        let alone = |m: &&Mention| m.kind == MentionKind::Call && m.name.schema.is_none();
        self.builtins = self.objects.iter().filter(alone).map(|m| m.name.object.clone()).collect();
        let of_session = |m: &&Mention| {
            m.name.object.starts_with('#')
                && matches!(m.kind, MentionKind::Rows | MentionKind::Target)
        };
        self.temporary =
            self.objects.iter().filter(of_session).map(|m| m.name.object.clone()).collect();
        self.objects.retain(|m| {
            let name = &m.name.object;
            let alone = m.name.schema.is_none() && m.name.database.is_none();
            let rows = matches!(m.kind, MentionKind::Rows | MentionKind::Target);
            let given = own.iter().any(|o| o.eq_ignore_ascii_case(name))
                || ["inserted", "deleted"].iter().any(|l| name.eq_ignore_ascii_case(l));
            // A function without a schema is a built-in one.
            let builtin = alone && m.kind == MentionKind::Call;
            !(name.starts_with('#') || (alone && rows && given) || builtin)
        });
        Mentions { own: Vec::new(), ..self }
    }
}

/// What a batch mentions; none where it is not T-SQL.
pub fn mentions(text: &str, options: ParseOptions) -> Option<Mentions> {
    let mut parser = Parser::new(text, options.quoted_identifier);
    parser.mentions = Some(Box::default());
    parser.batch(&mut crate::ast::Batch::default()).ok()?;
    parser.mentions.take().map(|m| m.settled())
}

/// What an expression or a condition mentions; none where it is neither.
pub fn mentions_of_expression(text: &str) -> Option<Mentions> {
    let within = |condition: bool| {
        parse_whole(text, ParseOptions::default(), |p| {
            p.mentions = Some(Box::default());
            if condition {
                p.condition().map(drop)?
            } else {
                p.expr().map(drop)?
            }
            Ok(p.mentions.take().unwrap_or_default())
        })
    };
    within(false).or_else(|_| within(true)).ok().map(|m| m.settled())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_module_names_is_told_and_what_it_gives_a_name_itself_is_not() {
        let text = "create procedure p as with c as (select a, count(*) n from dbo.t group by a)
            update x set b = s.f(x.b) from u x join c on c.a = x.a where len(x.b) > 1;
            insert d..v select * from #t cross apply g(1) h; delete inserted;
            exec q.run; select next value for s.q, (select z.y from [i n].[t] z)";
        let found = mentions(text, ParseOptions::default()).expect("it parses");
        let shown: Vec<String> =
            found.objects.iter().map(|m| format!("{:?} {}", m.kind, m.name)).collect();
        let wanted = [
            "Rows dbo.t",
            "Call s.f",
            "Rows u",
            "Target d..v",
            "RowsOfCall g",
            "Procedure q.run",
            "Sequence s.q",
            "Rows i n.t",
        ];
        assert_eq!(shown, wanted);
        assert_eq!(found.stars, [3]);
        let builtins: Vec<&str> = found.builtins.iter().map(|name| &*name.text).collect();
        assert_eq!(builtins, ["count", "len"]);
        let check = mentions_of_expression("([a]>(0) AND dbo.f([b])=1)").expect("a condition");
        let columns: Vec<&str> = check.columns.iter().map(|c| &*c.text).collect();
        assert_eq!((columns, check.objects.len()), (vec!["a", "b"], 1));
        assert_eq!(mentions("select from", ParseOptions::default()), None);
    }
}
