//! The stored text of a CHECK, a DEFAULT or a computed column: SQL Server's normal form.
//!
//! ```text
//! a in (1, 2) and B between c + 1 and 9   ([a]=(2) OR [a]=(1)) AND ([B]>=([c]+(1)) AND [B]<=(9))
//! cast(a as int) % 2 <> 0                 CONVERT([int],[a])%(2)<>(0)
//! ```
//! Microsoft documents that such a form exists, but not its rules. The rules here come from outputs
//! of SQL Server 2022 that public projects recorded (SSDT and SMO scripts, and a list of texts with
//! their definitions).
//!
//! Invariants
//!  1. The normal form parses, and its own normal form is the same text. An expression without such
//!     a form is stored as it was written: one whose chain is too long for so many parentheses, or
//!     one with a part whose form nobody recorded.
//!  2. This file binds no names. A column gets the table's spelling of its name, if the table has
//!     such a column.

use std::collections::BTreeSet;
use tsql::ast::{
    Arithmetic, BinaryOp, Case, CaseBranches, Cast, CastForm, ColumnName, CompareOp, Condition,
    ConditionKind, Expr, ExprKind, FunctionCall, Iif, Literal, ObjectName, Trim, TrimSide,
    TypeArguments, TypeName, UnaryOp,
};
use tsql::{ParseOptions, parse_condition, parse_expression};
use types::datetime::DatePart;

/// A normal form.
pub(crate) struct NormalForm {
    /// In parentheses.
    pub(crate) text: Box<str>,
    /// The columns that it names, by their ordinals.
    pub(crate) columns: BTreeSet<usize>,
}

/// The normal form of a value: of a default or a computed column.
pub(crate) fn value(e: &Expr, columns: &[&str]) -> Option<NormalForm> {
    let normal = whole(|f| f.value(e), columns)?;
    let again = parse_expression(&normal.text, ParseOptions::default()).ok()?;
    let second = whole(|f| f.value(&again), columns)?;
    (second.text == normal.text).then_some(normal)
}

/// The normal form of a condition: of a check.
pub(crate) fn condition(c: &Condition, columns: &[&str]) -> Option<NormalForm> {
    let normal = whole(|f| f.condition(c), columns)?;
    let again = parse_condition(&normal.text, ParseOptions::default()).ok()?;
    let second = whole(|f| f.condition(&again), columns)?;
    (second.text == normal.text).then_some(normal)
}

fn whole<'a>(
    write: impl FnOnce(&mut Form<'a>) -> Option<Part>,
    columns: &'a [&'a str],
) -> Option<NormalForm> {
    let mut form = Form { columns, met: BTreeSet::new() };
    let text = write(&mut form)?.wrapped().into();
    Some(NormalForm { text, columns: form.met })
}

/// The precedence of an expression's outermost operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// It never needs parentheses.
    Atom,
    /// `* / %`
    Product,
    /// `+ - & | ^`, a sign
    Sum,
    /// A comparison, LIKE, IS NULL …
    Test,
    Not,
    And,
    Or,
}

struct Part {
    text: String,
    level: Level,
}

impl Part {
    fn new(level: Level, text: String) -> Option<Part> {
        Some(Part { text, level })
    }

    fn atom(text: impl Into<String>) -> Option<Part> {
        Part::new(Level::Atom, text.into())
    }

    fn wrapped(&self) -> String {
        format!("({})", self.text)
    }

    /// The text, in parentheses if its level is one of `levels`.
    fn within(self, levels: &[Level]) -> String {
        if levels.contains(&self.level) { self.wrapped() } else { self.text }
    }
}

struct Form<'a> {
    columns: &'a [&'a str],
    met: BTreeSet<usize>,
}

impl Form<'_> {
    fn value(&mut self, e: &Expr) -> Option<Part> {
        match &e.kind {
            ExprKind::Literal(literal) => constant(literal, false),
            ExprKind::Column(name) => self.column(name),
            ExprKind::Unary { op, operand } => self.signed(*op, operand),
            ExprKind::Arithmetic(chain) => self.chain(chain),
            ExprKind::Case(case) => self.case(case),
            ExprKind::Iif(iif) => self.iif(iif),
            ExprKind::Cast(cast) => self.cast(cast),
            ExprKind::Collate { operand, collation } => {
                Part::atom(format!("({}) collate {collation}", self.value(operand)?.text))
            }
            ExprKind::AtTimeZone { operand, zone } => {
                let operand = self.operand(operand)?;
                Part::atom(format!("({operand} AT TIME ZONE {})", self.operand(zone)?))
            }
            ExprKind::Function(call) => self.call(call),
            ExprKind::Niladic(name) => Part::atom(match &**name {
                "CURRENT_TIMESTAMP" => "getdate()",
                "CURRENT_USER" | "SESSION_USER" | "USER" => "user_name()",
                "SYSTEM_USER" => "suser_sname()",
                _ => return None,
            }),
            ExprKind::Trim(trim) => self.trim(trim),
            ExprKind::NextValue(next) if next.over.is_none() => {
                Part::atom(format!("NEXT VALUE FOR {}", object(&next.sequence)))
            }
            ExprKind::NextValue(_)
            | ExprKind::Default
            | ExprKind::Variable(_)
            | ExprKind::Global(_)
            | ExprKind::Method(_)
            | ExprKind::Subquery(_)
            | ExprKind::Identity(_)
            | ExprKind::Odbc { .. } => None,
        }
    }

    /// The text of an operand of a comparison.
    fn operand(&mut self, e: &Expr) -> Option<String> {
        Some(self.value(e)?.within(&[Level::Sum]))
    }

    fn column(&mut self, name: &ColumnName) -> Option<Part> {
        if name.name.starts_with('$') {
            return None;
        }
        let exact = self.columns.iter().position(|c| **c == *name.name);
        let alike = || self.columns.iter().position(|c| c.eq_ignore_ascii_case(&name.name));
        let at = exact.or_else(alike);
        self.met.extend(at);
        let known = at.map_or(&*name.name, |at| self.columns[at]);
        Part::atom(crate::locate::quoted(known))
    }

    fn signed(&mut self, op: UnaryOp, operand: &Expr) -> Option<Part> {
        match (op, &operand.kind) {
            (UnaryOp::Plus, _) => self.value(operand),
            (UnaryOp::Minus, ExprKind::Literal(literal)) if is_number(literal) => {
                constant(literal, true)
            }
            _ => {
                let operand = self.value(operand)?.within(&[Level::Sum, Level::Product]);
                match op {
                    UnaryOp::BitNot => Part::atom(format!("~{operand}")),
                    UnaryOp::Minus | UnaryOp::Plus => Part::new(Level::Sum, format!(" -{operand}")),
                }
            }
        }
    }

    fn chain(&mut self, chain: &Arithmetic) -> Option<Part> {
        let mut left = self.value(&chain.first)?;
        for term in &chain.rest {
            let (sign, level) = operator(term.op)?;
            let inner: &[Level] = match level {
                Level::Product => &[Level::Sum, Level::Product],
                _ => &[Level::Sum],
            };
            let right = self.value(&term.operand)?.within(inner);
            left = Part { text: format!("{}{sign}{right}", left.within(inner)), level };
        }
        Some(left)
    }

    fn case(&mut self, case: &Case) -> Option<Part> {
        let mut out = "case".to_owned();
        match &case.branches {
            CaseBranches::Simple { operand, whens } => {
                out += &format!(" {}", self.value(operand)?.text);
                for (when, then) in whens {
                    let (when, then) = (self.value(when)?.text, self.value(then)?.text);
                    out += &format!(" when {when} then {then}");
                }
            }
            CaseBranches::Searched(whens) => {
                for (when, then) in whens {
                    let (when, then) = (self.condition(when)?.text, self.value(then)?.text);
                    out += &format!(" when {when} then {then}");
                }
            }
        }
        // SQL Server leaves a blank for a missing ELSE.
        out.push(' ');
        if let Some(otherwise) = &case.otherwise {
            out += &format!("else {}", self.value(otherwise)?.text);
        }
        Part::atom(out + " end")
    }

    fn iif(&mut self, iif: &Iif) -> Option<Part> {
        let when = self.condition(&iif.condition)?.text;
        let (then, otherwise) = (self.value(&iif.then)?.text, self.value(&iif.otherwise)?.text);
        Part::atom(format!("case when {when} then {then} else {otherwise} end"))
    }

    fn cast(&mut self, cast: &Cast) -> Option<Part> {
        let (of, target) = (self.value(&cast.operand)?.text, type_name(&cast.target)?);
        let style = match &cast.style {
            Some(style) => format!(",{}", self.value(style)?.text),
            None => String::new(),
        };
        Part::atom(match (cast.form, cast.attempt) {
            (CastForm::Parse, _) => return None,
            (_, true) if cast.style.is_none() => format!("TRY_CAST({of} AS {target})"),
            (_, true) => format!("TRY_CONVERT({target},{of}{style})"),
            (_, false) => format!("CONVERT({target},{of}{style})"),
        })
    }

    fn trim(&mut self, trim: &Trim) -> Option<Part> {
        let operand = self.value(&trim.operand)?.text;
        let side = match trim.side {
            Some(TrimSide::Leading) => "leading ",
            Some(TrimSide::Trailing) => "trailing ",
            Some(TrimSide::Both) => "both ",
            None => "",
        };
        Part::atom(match &trim.characters {
            Some(characters) => {
                format!("trim({side}{} from {operand})", self.value(characters)?.text)
            }
            None => format!("trim({side}{operand})"),
        })
    }

    fn call(&mut self, call: &FunctionCall) -> Option<Part> {
        let plain = !call.star && !call.distinct && call.within_group.is_empty();
        if !plain || call.ignore_nulls.is_some() || call.over.is_some() {
            return None;
        }
        let name = call.name.object.to_ascii_lowercase();
        if call.name.schema.is_some() {
            let arguments = self.arguments(&call.arguments)?;
            return Part::atom(format!("{}({})", object(&call.name), arguments.join(",")));
        }
        if name.starts_with('$') || name.starts_with("json_object") || name == "json_array" {
            return None;
        }
        let [first, rest @ ..] = &call.arguments[..] else {
            return Part::atom(format!("{name}()"));
        };
        let of_dates = [
            "dateadd",
            "datediff",
            "datediff_big",
            "datename",
            "datepart",
            "datetrunc",
            "date_bucket",
        ];
        let mut arguments = match &first.kind {
            ExprKind::Column(part) if of_dates.contains(&&*name) => {
                vec![DatePart::by_name(&part.name)?.name().to_owned()]
            }
            _ => self.arguments(std::slice::from_ref(first))?,
        };
        arguments.extend(self.arguments(rest)?);
        let arguments = arguments.join(",");
        Part::atom(match &*name {
            "year" | "month" | "day" => format!("datepart({name},{arguments})"),
            _ => format!("{name}({arguments})"),
        })
    }

    fn arguments(&mut self, list: &[Expr]) -> Option<Vec<String>> {
        list.iter().map(|e| Some(self.value(e)?.text)).collect()
    }

    fn condition(&mut self, c: &Condition) -> Option<Part> {
        match &c.kind {
            ConditionKind::Compare { op, left, right } => {
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                Part::new(Level::Test, format!("{left}{}{right}", sign(*op)))
            }
            ConditionKind::Between { operand, low, high, negated } => {
                let (of, low) = (self.operand(operand)?, self.operand(low)?);
                let high = self.operand(high)?;
                let part = Part::new(Level::And, format!("{of}>={low} AND {of}<={high}"))?;
                if *negated { not(part) } else { Some(part) }
            }
            ConditionKind::InList { operand, list, negated } => {
                let part = self.one_of(operand, list)?;
                if *negated { not(part) } else { Some(part) }
            }
            ConditionKind::Like { operand, pattern, escape, negated } => {
                let mut out = format!("{} like {}", self.operand(operand)?, self.operand(pattern)?);
                if let Some(escape) = escape {
                    out += &format!(" escape {} ", self.operand(escape)?);
                }
                let part = Part::new(Level::Test, out)?;
                if *negated { not(part) } else { Some(part) }
            }
            ConditionKind::IsNull { operand, negated } => {
                let is = if *negated { "IS NOT NULL" } else { "IS NULL" };
                Part::new(Level::Test, format!("{} {is}", self.operand(operand)?))
            }
            ConditionKind::IsDistinct { left, right, negated } => {
                let is = if *negated { "IS NOT DISTINCT FROM" } else { "IS DISTINCT FROM" };
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                Part::new(Level::Test, format!("{left} {is} {right}"))
            }
            ConditionKind::Not(inner) => not(self.condition(inner)?),
            ConditionKind::And(parts) => self.joined(parts, "AND", Level::And),
            ConditionKind::Or(parts) => self.joined(parts, "OR", Level::Or),
            ConditionKind::Quantified { .. }
            | ConditionKind::InQuery { .. }
            | ConditionKind::Exists(_)
            | ConditionKind::Updated(_)
            | ConditionKind::FullText { .. } => None,
        }
    }

    /// IN as comparisons with each value of the list, the last one first.
    fn one_of(&mut self, operand: &Expr, list: &[Expr]) -> Option<Part> {
        let of = self.operand(operand)?;
        let tests: Option<Vec<String>> =
            list.iter().rev().map(|e| Some(format!("{of}={}", self.operand(e)?))).collect();
        let level = if list.len() == 1 { Level::Test } else { Level::Or };
        Part::new(level, tests?.join(" OR "))
    }

    /// A chain of AND or OR. A part with the same operator loses its parentheses only if it is the
    /// first one.
    fn joined(&mut self, parts: &[Condition], word: &str, level: Level) -> Option<Part> {
        let mut texts = Vec::with_capacity(parts.len());
        for (n, part) in parts.iter().enumerate() {
            let part = self.condition(part)?;
            let looser = level == Level::And && part.level == Level::Or;
            let again = n > 0 && part.level == level;
            texts.push(if looser || again { part.wrapped() } else { part.text });
        }
        Part::new(level, texts.join(&format!(" {word} ")))
    }
}

fn not(part: Part) -> Option<Part> {
    Part::new(Level::Not, format!("NOT {}", part.within(&[Level::And, Level::Or])))
}

fn operator(op: BinaryOp) -> Option<(&'static str, Level)> {
    Some(match op {
        BinaryOp::Add => ("+", Level::Sum),
        BinaryOp::Subtract => ("-", Level::Sum),
        BinaryOp::BitAnd => ("&", Level::Sum),
        BinaryOp::BitOr => ("|", Level::Sum),
        BinaryOp::BitXor => ("^", Level::Sum),
        BinaryOp::Multiply => ("*", Level::Product),
        BinaryOp::Divide => ("/", Level::Product),
        BinaryOp::Modulo => ("%", Level::Product),
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => return None,
    })
}

fn sign(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => "=",
        CompareOp::NotEqual => "<>",
        CompareOp::Less => "<",
        CompareOp::LessOrEqual => "<=",
        CompareOp::Greater => ">",
        CompareOp::GreaterOrEqual => ">=",
    }
}

fn is_number(literal: &Literal) -> bool {
    matches!(
        literal,
        Literal::Integer(_) | Literal::Decimal(_) | Literal::Float(_) | Literal::Money(_)
    )
}

fn constant(literal: &Literal, negative: bool) -> Option<Part> {
    let string = |text: &str| format!("'{}'", text.replace('\'', "''"));
    Part::atom(match literal {
        Literal::Null => "NULL".to_owned(),
        Literal::String(text) => string(text),
        Literal::National(text) => format!("N{}", string(text)),
        Literal::Binary(bytes) => {
            let digits: String = bytes.iter().map(|b| format!("{b:02X}")).collect();
            format!("0x{digits}")
        }
        Literal::Integer(text) => format!("({})", whole_number(text, negative)),
        Literal::Decimal(text) => {
            let (whole, fraction) = text.split_once('.')?;
            let zero = !text.bytes().any(|b| b.is_ascii_digit() && b != b'0');
            let minus = if negative && !zero { "-" } else { "" };
            format!("({minus}{}.{fraction})", significant(whole))
        }
        Literal::Float(text) => float(text, negative)?,
        // Nobody recorded the form of money.
        Literal::Money(_) => return None,
    })
}

/// A whole number beyond int is numeric; SQL Server shows it with a point at its end.
fn whole_number(text: &str, negative: bool) -> String {
    let digits = significant(text);
    let least = i64::from(i32::MAX) + i64::from(negative);
    let fits = digits.parse::<i64>().is_ok_and(|n| n <= least);
    let minus = if negative && digits != "0" { "-" } else { "" };
    format!("{minus}{digits}{}", if fits { "" } else { "." })
}

fn significant(digits: &str) -> &str {
    match digits.trim_start_matches('0') {
        "" => "0",
        rest => rest,
    }
}

/// `1.0000000000000000e+002`
fn float(text: &str, negative: bool) -> Option<String> {
    let number = text.parse::<f64>().ok().filter(|n| n.is_finite())?;
    let number = if negative { -number } else { number };
    let shown = format!("{number:.16e}");
    let (digits, exponent) = shown.split_once('e')?;
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    Some(format!("({digits}e{sign}{exponent:0>3})"))
}

/// The name of an object with its schema. The default schema of every session is dbo.
fn object(name: &ObjectName) -> String {
    let database = name.database.as_ref().map(|d| format!("{}.", crate::locate::quoted(d)));
    let schema = name.schema.as_deref().unwrap_or("dbo");
    let schema = crate::locate::quoted(schema);
    let object = crate::locate::quoted(&name.object);
    format!("{}{schema}.{object}", database.unwrap_or_default())
}

/// `[varchar](10)`
fn type_name(written: &TypeName) -> Option<String> {
    let name = match &written.name.schema {
        Some(_) => object(&written.name),
        None => {
            let lower = written.name.object.to_ascii_lowercase();
            let known = match &*lower {
                "integer" => "int",
                "dec" => "decimal",
                "character" => "char",
                "rowversion" => "timestamp",
                other => other,
            };
            crate::locate::quoted(known)
        }
    };
    Some(match &written.arguments {
        TypeArguments::None => name,
        TypeArguments::Max => format!("{name}(max)"),
        TypeArguments::One(n) => format!("{name}({n})"),
        TypeArguments::Two(p, s) => format!("{name}({p},{s})"),
        TypeArguments::Schema(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[&str] = &["a", "b", "c", "d", "s", "Mixed"];

    fn of_value(text: &str) -> String {
        let parsed = parse_expression(text, ParseOptions::default()).expect(text);
        value(&parsed, COLUMNS).expect(text).text.into()
    }

    fn of_condition(text: &str) -> String {
        let parsed = parse_condition(text, ParseOptions::default()).expect(text);
        condition(&parsed, COLUMNS).expect(text).text.into()
    }

    #[test]
    fn values_have_the_forms_that_were_recorded_of_sql_server() {
        for (text, form) in [
            ("1", "((1))"),
            ("-1", "((-1))"),
            ("0001", "((1))"),
            ("+5", "((5))"),
            ("-(1)", "((-1))"),
            (".5", "((0.5))"),
            ("-1.5", "((-1.5))"),
            ("-0", "((0))"),
            ("1e2", "((1.0000000000000000e+002))"),
            ("2147483648", "((2147483648.))"),
            ("9223372036854775807", "((9223372036854775807.))"),
            ("NULL", "(NULL)"),
            ("N'a''b'", "(N'a''b')"),
            ("0x01", "(0x01)"),
            ("1 + 2 * 3", "((1)+(2)*(3))"),
            ("1 - 2 - 3", "(((1)-(2))-(3))"),
            ("2 * (3 + 4)", "((2)*((3)+(4)))"),
            ("-a", "( -[a])"),
            ("- -1", "( -(-1))"),
            ("a * b * c", "(([a]*[b])*[c])"),
            ("cast(a as bigint)", "(CONVERT([bigint],[a]))"),
            ("convert(varchar(10), d, 120)", "(CONVERT([varchar](10),[d],(120)))"),
            ("try_convert(int, s)", "(TRY_CAST([s] AS [int]))"),
            ("try_convert(datetime2(7), s, 126)", "(TRY_CONVERT([datetime2](7),[s],(126)))"),
            ("case when a > 0 then a end", "(case when [a]>(0) then [a]  end)"),
            ("case a when 1 then 2 else 3 end", "(case [a] when (1) then (2) else (3) end)"),
            ("iif(a > 0, 1, 0)", "(case when [a]>(0) then (1) else (0) end)"),
            ("coalesce(a, b, 0)", "(coalesce([a],[b],(0)))"),
            ("CURRENT_TIMESTAMP", "(getdate())"),
            ("DATEADD(dd, -1, d)", "(dateadd(day,(-1),[d]))"),
            ("YEAR(d)", "(datepart(year,[d]))"),
            ("d at time zone 'UTC'", "(([d] AT TIME ZONE 'UTC'))"),
            ("next value for q", "(NEXT VALUE FOR [dbo].[q])"),
            ("dbo.f(mixed, 1)", "([dbo].[f]([Mixed],(1)))"),
        ] {
            assert_eq!(of_value(text), form, "{text}");
        }
    }

    #[test]
    fn conditions_have_the_forms_that_were_recorded_of_sql_server() {
        for (text, form) in [
            ("a > 0", "([a]>(0))"),
            ("a * (b + 1) - 2 / (a - 1) > 0", "(([a]*([b]+(1))-(2)/([a]-(1)))>(0))"),
            ("(a + b) * c > 0", "(([a]+[b])*[c]>(0))"),
            ("a & 1 = 0", "(([a]&(1))=(0))"),
            ("~(a + b) = 0", "(~([a]+[b])=(0))"),
            ("s + 'x' != 'yx'", "(([s]+'x')<>'yx')"),
            ("a in (1, 2, 3)", "([a]=(3) OR [a]=(2) OR [a]=(1))"),
            ("a not in (7, 8)", "(NOT ([a]=(8) OR [a]=(7)))"),
            ("a not in (1)", "(NOT [a]=(1))"),
            ("a between b + 1 and c * 2", "([a]>=([b]+(1)) AND [a]<=[c]*(2))"),
            ("a not between 1 and 2", "(NOT ([a]>=(1) AND [a]<=(2)))"),
            ("(a > 0 or b > 0) and a <> 3", "(([a]>(0) OR [b]>(0)) AND [a]<>(3))"),
            ("a > 0 and b > 0 or c > 0", "([a]>(0) AND [b]>(0) OR [c]>(0))"),
            ("a > 0 or (b > 0 or c > 0)", "([a]>(0) OR ([b]>(0) OR [c]>(0)))"),
            ("(a > 0 and b > 0) and c > 0", "([a]>(0) AND [b]>(0) AND [c]>(0))"),
            ("a between 1 and 2 and b > 0", "([a]>=(1) AND [a]<=(2) AND [b]>(0))"),
            ("b > 0 or a in (1, 2)", "([b]>(0) OR ([a]=(2) OR [a]=(1)))"),
            ("not (a is null)", "(NOT [a] IS NULL)"),
            ("s not like 'z%'", "(NOT [s] like 'z%')"),
            ("s like 'a|%' escape '|'", "([s] like 'a|%' escape '|' )"),
            (
                "lower(s) = 'x' collate Latin1_General_BIN",
                "(lower([s])=('x') collate Latin1_General_BIN)",
            ),
            ("-a < 0", "(( -[a])<(0))"),
        ] {
            assert_eq!(of_condition(text), form, "{text}");
        }
    }

    #[test]
    fn what_has_no_known_form_or_does_not_come_back_is_left() {
        for text in ["$1", "json_object('a': 1)", "@v", "checksum(*)"] {
            let parsed = parse_expression(text, ParseOptions::default()).expect(text);
            assert!(value(&parsed, COLUMNS).is_none(), "{text}");
        }
        let long = vec!["a"; 2000].join("+");
        let parsed = parse_expression(&long, ParseOptions::default()).expect("a flat chain");
        assert!(value(&parsed, COLUMNS).is_none());
    }
}
