//! Simple parameterisation: a statement of a batch whose plan does not depend on its constants is
//! kept once, as a prepared text with parameters `@1`, `@2` …
//!
//! ```text
//!   SELECT v FROM t WHERE id = 5   ─▶  (@1 tinyint)SELECT [v] FROM [t] WHERE [id]=@1     @1 = 5
//! ```
//! The batch itself stays in the cache as a shell: the constants, and the text to run with them.
//!
//! A statement qualifies if it is alone in its batch, begins on the first line and reads one table.
//! Its conditions compare columns with constants, are joined by AND and never use `<>`; a change
//! sets columns to constants. And its plan must be the same for all constants: a unique key is
//! given as a whole, an INSERT has one row, or a query has no nonclustered index to choose. SQL
//! Server also accepts statements that stand beside others, and some with expressions.

use crate::program::shell::Shell;
use crate::session::state::State;
use catalog::view::{Column, Object, Table};
use std::fmt::Write as _;
use std::sync::Arc;
use tsql::ast;
use tsql::ast::{ConditionKind, ExprKind, Literal, StatementKind};
use types::{CodePage, Family, SqlType, Value, convert};

impl State {
    /// The shell of a batch, if the batch qualifies.
    pub(crate) fn shell(&self, statements: &[ast::Statement]) -> Option<Shell> {
        let [statement] = statements else { return None };
        if statement.span.line != 1 {
            return None;
        }
        let mut writer = Writer { state: self, shell: String::new(), constants: Vec::new() };
        match &statement.kind {
            StatementKind::Select(it) => writer.select(it)?,
            StatementKind::Insert(it) => writer.insert(it)?,
            StatementKind::Update(it) => writer.update(it)?,
            StatementKind::Delete(it) => writer.delete(it)?,
            _ => return None,
        }
        writer.finish()
    }
}

/// Writes the text with parameters. Stops at anything that does not qualify.
struct Writer<'s> {
    state: &'s State,
    shell: String,
    constants: Vec<(SqlType, Value)>,
}

impl Writer<'_> {
    fn finish(self) -> Option<Shell> {
        if self.constants.is_empty() {
            return None;
        }
        let mut parameters = String::new();
        for (n, (sql_type, _)) in self.constants.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            let _ = write!(parameters, "{comma}@{} {}", n + 1, spelled(*sql_type));
        }
        let values = self.constants.into_iter().map(|(_, value)| value).collect();
        Some(Shell { parameters: parameters.into(), text: self.shell.into(), values })
    }

    fn select(&mut self, it: &ast::SelectStatement) -> Option<()> {
        let ast::QueryBody::Select(select) = &it.query.body else { return None };
        let query = &it.query;
        let plain = it.with.is_none()
            && it.options.is_empty()
            && query.order_by.is_empty()
            && query.offset.is_none()
            && query.for_clause.is_none()
            && !select.distinct
            && select.top.is_none()
            && select.into.is_none()
            && select.group_by.is_none()
            && select.having.is_none()
            && select.windows.is_empty();
        let ([source], Some(filter), true) = (&select.from[..], &select.filter, plain) else {
            return None;
        };
        let ast::TableSourceKind::Table(named) = &source.kind else { return None };
        if !named.hints.is_empty() || named.sample.is_some() || named.system_time.is_some() {
            return None;
        }
        let table = self.table(&named.name)?;
        self.shell.push_str("SELECT ");
        for (n, item) in select.items.iter().enumerate() {
            self.comma(n);
            self.item(item)?;
        }
        self.shell.push_str(" FROM ");
        self.object(&named.name);
        if let Some(alias) = &named.alias {
            self.shell.push(' ');
            self.name(alias);
        }
        let given = self.filter(&table, filter)?;
        let decided = gives_unique_key(&table, &given) || has_one_path(&table);
        decided.then_some(())
    }

    fn item(&mut self, item: &ast::SelectItem) -> Option<()> {
        match item {
            ast::SelectItem::Star(_) => self.shell.push('*'),
            ast::SelectItem::QualifiedStar(of) => {
                self.object(of);
                self.shell.push_str(".*");
            }
            ast::SelectItem::Expr { expr, alias } => {
                self.column(column_of(expr)?);
                if let Some(alias) = alias {
                    self.shell.push(' ');
                    self.name(alias);
                }
            }
            ast::SelectItem::Assign { .. } => return None,
        }
        Some(())
    }

    fn insert(&mut self, it: &ast::Insert) -> Option<()> {
        let ast::InsertSource::Values(rows) = &it.source else { return None };
        let plain = it.with.is_none()
            && it.top.is_none()
            && it.output.is_none()
            && it.options.is_empty()
            && it.target.hints.is_empty();
        let (ast::DmlTargetKind::Table(name), [row], true) = (&it.target.kind, &rows[..], plain)
        else {
            return None;
        };
        let table = self.table(name)?;
        let columns = filled(&table, &it.columns)?;
        if columns.len() != row.len() {
            return None;
        }
        self.shell.push_str("INSERT INTO ");
        self.object(name);
        if !it.columns.is_empty() {
            self.shell.push('(');
            for (n, column) in it.columns.iter().enumerate() {
                self.comma(n);
                self.column(column);
            }
            self.shell.push(')');
        }
        self.shell.push_str(" values(");
        for (n, (value, column)) in row.iter().zip(columns).enumerate() {
            self.comma(n);
            self.given(value, column)?;
        }
        self.shell.push(')');
        Some(())
    }

    fn update(&mut self, it: &ast::Update) -> Option<()> {
        let plain = it.with.is_none()
            && it.top.is_none()
            && it.output.is_none()
            && it.from.is_empty()
            && it.options.is_empty();
        let table = self.target("UPDATE ", &it.target).filter(|_| plain)?;
        for (n, assignment) in it.assignments.iter().enumerate() {
            self.shell.push_str(if n == 0 { " set " } else { "," });
            let ast::AssignmentKind::Column { column, op: ast::AssignOp::Set, value } =
                &assignment.kind
            else {
                return None;
            };
            self.column(column);
            self.shell.push_str(" = ");
            self.given(value, named(&table, &column.name)?)?;
        }
        self.changed(&table, it.filter.as_ref())
    }

    fn delete(&mut self, it: &ast::Delete) -> Option<()> {
        let plain = it.with.is_none()
            && it.top.is_none()
            && it.output.is_none()
            && it.from.is_empty()
            && it.options.is_empty();
        let table = self.target("DELETE ", &it.target).filter(|_| plain)?;
        self.changed(&table, it.filter.as_ref())
    }

    fn target(&mut self, verb: &str, target: &ast::DmlTarget) -> Option<Arc<Table>> {
        let ast::DmlTargetKind::Table(name) = &target.kind else { return None };
        self.shell.push_str(verb);
        self.object(name);
        if target.hints.is_empty() { self.table(name) } else { None }
    }

    /// The condition of an UPDATE or DELETE, which must select one row.
    fn changed(&mut self, table: &Table, filter: Option<&ast::DmlFilter>) -> Option<()> {
        let Some(ast::DmlFilter::Where(condition)) = filter else { return None };
        self.shell.push(' ');
        let given = self.filter(table, condition)?;
        gives_unique_key(table, &given).then_some(())
    }

    /// The columns that equal a constant.
    fn filter<'f>(&mut self, table: &Table, condition: &'f ast::Condition) -> Option<Vec<&'f str>> {
        self.shell.push_str(" WHERE ");
        let parts = match &condition.kind {
            ConditionKind::And(parts) => &parts[..],
            _ => std::slice::from_ref(condition),
        };
        let mut given = Vec::new();
        for (n, part) in parts.iter().enumerate() {
            if n > 0 {
                self.shell.push_str(" AND ");
            }
            let ConditionKind::Compare { op, left, right } = &part.kind else { return None };
            let sign = match op {
                ast::CompareOp::Equal => "=",
                ast::CompareOp::Less => "<",
                ast::CompareOp::LessOrEqual => "<=",
                ast::CompareOp::Greater => ">",
                ast::CompareOp::GreaterOrEqual => ">=",
                ast::CompareOp::NotEqual => return None,
            };
            let column = column_of(left)?;
            let of = named(table, &column.name)?.sql_type;
            self.column(column);
            self.shell.push_str(sign);
            let sql_type = self.constant(right)?;
            let text = sql_type.is_character() && of.family() != Family::Variant;
            if text || is_numeric(sql_type) && is_numeric(of) {
                // The comparison must be the same as with the constant itself.
            } else if sql_type.family() != Family::Binary || of.family() != Family::Binary {
                return None;
            }
            if *op == ast::CompareOp::Equal {
                given.push(&*column.name.text);
            }
        }
        Some(given)
    }

    /// The value of a column: a constant, NULL or its default.
    fn given(&mut self, value: &ast::Expr, column: &Column) -> Option<()> {
        let of = column.sql_type;
        match &value.kind {
            ExprKind::Literal(Literal::Null) => self.shell.push_str("NULL"),
            ExprKind::Default => self.shell.push_str("DEFAULT"),
            // The message about a value that does not fit names the constant's own type. With other
            // types its width would matter.
            _ => {
                let sql_type = self.constant(value)?;
                match sql_type {
                    SqlType::TinyInt | SqlType::SmallInt => {
                        let last = self.constants.last_mut()?;
                        let value = convert(&last.1, sql_type, SqlType::Int, 0).ok()?;
                        *last = (SqlType::Int, value);
                    }
                    SqlType::BigInt => return None,
                    _ => {}
                }
                let text = sql_type.is_character();
                let suits = match of.family() {
                    Family::Char | Family::NChar => text || is_numeric(sql_type),
                    Family::Binary => sql_type.family() == Family::Binary,
                    _ if is_numeric(of) => text || is_numeric(sql_type),
                    Family::Temporal | Family::Guid => text,
                    _ => false,
                };
                suits.then_some(())?;
            }
        }
        Some(())
    }

    /// The type of the constant's parameter.
    fn constant(&mut self, x: &ast::Expr) -> Option<SqlType> {
        let page = || {
            let view = self.state.view(self.state.database.id);
            view.map_or_else(CodePage::default, |v| v.collation().code_page())
        };
        let constant = match &x.kind {
            ExprKind::Literal(literal) => constant_of(literal, "", &page)?,
            ExprKind::Unary { op: ast::UnaryOp::Minus, operand } => match &operand.kind {
                ExprKind::Literal(literal) => constant_of(literal, "-", &page)?,
                _ => return None,
            },
            _ => return None,
        };
        let sql_type = constant.0;
        self.constants.push(constant);
        let _ = write!(self.shell, "@{}", self.constants.len());
        Some(sql_type)
    }

    /// A user table. Views, temporary tables and everything else do not qualify.
    fn table(&self, name: &ast::ObjectName) -> Option<Arc<Table>> {
        if name.server.is_some() || name.object.starts_with('#') {
            return None;
        }
        match self.state.find_object(name, self.state.database.id)? {
            (_, Object::Table(table)) if !table.is_temp => Some(table),
            _ => None,
        }
    }

    fn column(&mut self, column: &ast::ColumnName) {
        if let Some(qualifier) = &column.qualifier {
            self.object(qualifier);
            self.shell.push('.');
        }
        self.name(&column.name);
    }

    fn object(&mut self, name: &ast::ObjectName) {
        let mut begun = false;
        for part in [&name.database, &name.schema] {
            if let Some(part) = part {
                self.name(part);
            }
            begun |= part.is_some();
            if begun {
                self.shell.push('.');
            }
        }
        self.name(&name.object);
    }

    fn name(&mut self, name: &str) {
        let _ = write!(self.shell, "[{}]", name.replace(']', "]]"));
    }

    fn comma(&mut self, n: usize) {
        if n > 0 {
            self.shell.push(',');
        }
    }
}

/// A type as SQL Server spells it in a parameter that it makes.
fn spelled(sql_type: SqlType) -> String {
    match sql_type {
        SqlType::Decimal { precision, scale } => format!("numeric({precision},{scale})"),
        other => other.to_string(),
    }
}

fn column_of(x: &ast::Expr) -> Option<&ast::ColumnName> {
    match &x.kind {
        // `$action` and similar names are not columns.
        ExprKind::Column(column) if !column.name.starts_with('$') => Some(column),
        _ => None,
    }
}

fn is_numeric(sql_type: SqlType) -> bool {
    matches!(sql_type.family(), Family::Integer | Family::Decimal | Family::Money | Family::Float)
}

fn named<'t>(table: &'t Table, name: &str) -> Option<&'t Column> {
    table.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name))
}

/// The columns that an INSERT sets, in the order of the names.
fn filled<'t>(table: &'t Table, names: &[ast::ColumnName]) -> Option<Vec<&'t Column>> {
    if !names.is_empty() {
        return names.iter().map(|n| named(table, &n.name)).collect();
    }
    let own = |c: &&Column| c.identity.is_none() && c.computed.is_none();
    Some(table.columns.iter().filter(own).collect())
}

/// Whether columns that equal constants form a unique key, so that at most one row qualifies.
fn gives_unique_key(table: &Table, given: &[&str]) -> bool {
    let is_given = |ordinal: usize| {
        let name = &table.columns[ordinal].name;
        given.iter().any(|g| g.eq_ignore_ascii_case(name))
    };
    let unique = |i: &&catalog::view::Index| i.unique && !i.disabled && i.filter.is_none();
    table.indexes.iter().filter(unique).any(|i| i.key.iter().all(|k| is_given(k.column)))
}

/// Whether the table has only its heap or clustered index, so that there is no choice of index.
fn has_one_path(table: &Table) -> bool {
    table.indexes.len() == 1
}

/// A constant as a parameter. Its type is the smallest of its kind, for strings the longest, in the
/// code page of the database.
fn constant_of(
    literal: &Literal,
    sign: &str,
    page: &dyn Fn() -> CodePage,
) -> Option<(SqlType, Value)> {
    let number = |text: &str, sql_type: SqlType| {
        let text = Value::varchar(&format!("{sign}{text}"));
        let value = convert(&text, SqlType::varchar(8000), sql_type, 0).ok()?;
        Some((sql_type, value))
    };
    match literal {
        Literal::Integer(text) => {
            let n: i64 = format!("{sign}{text}").parse().ok()?;
            let sql_type = match n {
                0..=255 => SqlType::TinyInt,
                _ if i16::try_from(n).is_ok() => SqlType::SmallInt,
                _ if i32::try_from(n).is_ok() => SqlType::Int,
                _ => SqlType::BigInt,
            };
            number(text, sql_type)
        }
        Literal::Decimal(text) => {
            let (whole, part) = text.split_once('.')?;
            let whole = whole.trim_start_matches('0').len();
            let precision = u8::try_from(whole + part.len()).ok()?.max(1);
            let scale = u8::try_from(part.len()).ok()?;
            (precision <= 38).then(|| number(text, SqlType::decimal(precision, scale)))?
        }
        Literal::Float(text) => number(text, SqlType::Float),
        Literal::Money(text) => number(text, SqlType::Money),
        Literal::String(text) if sign.is_empty() && text.len() <= 8000 => Some((
            SqlType::varchar(8000),
            if text.is_ascii() {
                Value::varchar(text)
            } else {
                Value::Char(page().encode(text).into())
            },
        )),
        Literal::National(text) if sign.is_empty() && text.encode_utf16().count() <= 4000 => {
            Some((SqlType::nvarchar(4000), Value::nvarchar(text)))
        }
        Literal::Binary(bytes) if sign.is_empty() && bytes.len() <= 8000 => {
            Some((SqlType::varbinary(8000), Value::varbinary(bytes)))
        }
        Literal::Null | Literal::String(_) | Literal::National(_) | Literal::Binary(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_has_the_least_type_of_its_kind() {
        let of = |literal: Literal, sign: &str| {
            constant_of(&literal, sign, &CodePage::default)
                .map(|(t, v)| (t.to_string(), v.to_string()))
        };
        let integer = |text: &str, sign: &str| of(Literal::Integer(text.into()), sign).unwrap().0;
        assert_eq!(
            ["255", "256", "32768", "2147483648"].map(|t| integer(t, "")),
            ["tinyint", "smallint", "int", "bigint"]
        );
        assert_eq!(integer("5", "-"), "smallint");
        assert_eq!(of(Literal::Integer("99999999999999999999".into()), ""), None);
        let decimal = of(Literal::Decimal("0.050".into()), "-").unwrap();
        assert_eq!((&*decimal.0, &*decimal.1), ("decimal(3,3)", "-0.050"));
        assert_eq!(of(Literal::Null, ""), None);
        assert_eq!(of(Literal::String("x".into()), "").unwrap().0, "varchar(8000)");
    }
}
