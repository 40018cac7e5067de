//! A column as it is declared.

use crate::constraint::generated_name;
use crate::constraint::normal_form;
use crate::context::{DdlContext, Place, unsupported};
use crate::data_type::type_name::{DeclaredType, Declaree, declared};
use crate::locate::{name_taken, same_name};
use crate::table::computed;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Column, Default as Preset, Identity, SchemaId, Table};
use tsql::ast::{
    self, ColumnDefinition, ColumnKind, Expr, ExprKind, Literal, Name, ParsedText, UnaryOp,
};
use types::{Collation, SqlType};

/// A drafted column, and the text from which its nullability comes.
pub(crate) struct DraftColumn {
    pub(crate) column: Column,
    /// NULL (true) or NOT NULL (false), if the text or the type says so.
    pub(crate) said: Option<bool>,
}

/// Drafts the column of a definition. `table` has the columns before it; `text` is the batch.
pub(crate) fn draft(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    definition: &ColumnDefinition,
    text: ParsedText<'_>,
) -> SqlResult<DraftColumn> {
    let line = definition.span.line;
    refuse(definition)?;
    let name = &definition.name;
    if table.columns.iter().any(|c| same_name(place, &c.name, name)) {
        let args: [&dyn std::fmt::Display; 2] = [name, &&*table.name];
        return Err(SqlError::new(messages::COLUMN_NAME_TWICE_IN_TABLE, &args).at_line(line));
    }
    let number = table.columns.len() + 1;
    let of = match &definition.kind {
        ColumnKind::Typed(written) => {
            declared(written, Declaree { number, kind: "column", name }, &place.view, cx.schema)?
        }
        ColumnKind::Computed { .. } => {
            let column = computed::draft(place, table, definition, text);
            return Ok(DraftColumn { column, said: definition.nullable });
        }
        ColumnKind::Untyped if name.eq_ignore_ascii_case("timestamp") => DeclaredType {
            sql_type: SqlType::RowVersion,
            user_type_id: SqlType::RowVersion.user_type_id(),
            nullable: None,
        },
        ColumnKind::Untyped => {
            let e = SqlError::new(messages::COLUMN_NEEDS_TYPE, &[name]);
            return Err(e.at_line(line));
        }
    };
    if of.sql_type == SqlType::RowVersion {
        check_row_version(table, definition)?;
    }
    if definition.row_guid {
        check_row_guid(table, of.sql_type).map_err(|e| e.at_line(line))?;
    }
    let identity = match &definition.identity {
        Some(i) => Some(identity_of(i, of.sql_type, definition, table)?),
        None => None,
    };
    // A rowversion column without NULL or NOT NULL is NOT NULL, whatever the settings.
    let version = (of.sql_type == SqlType::RowVersion).then_some(false);
    let said = definition.nullable.or(of.nullable).or(version);
    let column_id = table.columns.iter().map(|c| c.column_id).max().unwrap_or(0) + 1;
    let mut column = Column {
        column_id,
        name: (**name).into(),
        sql_type: of.sql_type,
        user_type_id: of.user_type_id,
        nullable: said.unwrap_or(cx.settings.null_by_default && identity.is_none()),
        collation: collation_of(cx, place, table, definition.collation.as_ref(), of)?,
        row_guid: definition.row_guid,
        identity,
        default: None,
        computed: None,
        physical: u16::try_from(table.columns.len()).ok(),
    };
    if let Some(d) = &definition.default {
        let named = d.name.as_ref();
        column.default = Some(preset(cx, place, table, &column, named, &d.value, text)?);
    }
    Ok(DraftColumn { column, said })
}

/// Checks that a table has at most one ROWGUIDCOL, and that it is a uniqueidentifier.
fn check_row_guid(table: &Table, sql_type: SqlType) -> SqlResult<()> {
    if sql_type != SqlType::UniqueIdentifier {
        return Err(SqlError::new(messages::ROW_GUID_TYPE, &[]));
    }
    match table.columns.iter().any(|c| c.row_guid) {
        true => Err(SqlError::new(messages::ROW_GUID_TWICE, &[])),
        false => Ok(()),
    }
}

/// Checks that a table has at most one rowversion column, and that it has no default.
fn check_row_version(table: &Table, definition: &ColumnDefinition) -> SqlResult<()> {
    let args: [&dyn std::fmt::Display; 2] = [&table.name, &definition.name];
    let message = if table.row_version().is_some() {
        messages::ROW_VERSION_MULTIPLE
    } else if definition.default.is_some() {
        messages::ROW_VERSION_DEFAULT
    } else {
        return Ok(());
    };
    Err(SqlError::new(message, &args).at_line(definition.span.line))
}

fn refuse(definition: &ColumnDefinition) -> SqlResult<()> {
    let line = definition.span.line;
    if definition.sparse {
        return Err(unsupported("SPARSE", line));
    }
    match definition.attributes.first() {
        Some(attribute) => Err(unsupported(&attribute.name, line)),
        None => Ok(()),
    }
}

/// The collation that the text names, or the database's. In a temporary table DATABASE_DEFAULT
/// means the collation of the session's database. A column without COLLATE has that of tempdb.
pub(crate) fn collation_of(
    cx: &DdlContext<'_>,
    place: &Place,
    table: &Table,
    written: Option<&Name>,
    of: DeclaredType,
) -> SqlResult<Collation> {
    let Some(name) = written else { return Ok(place.view.collation()) };
    if !of.sql_type.is_character() {
        let e = SqlError::new(messages::COLLATE_TYPE, &[&of.sql_type.name()]);
        return Err(e.at_line(name.line));
    }
    if name.eq_ignore_ascii_case("database_default") {
        let temporary = table.name.starts_with('#');
        let own = if temporary { Some(cx.place(None)?) } else { None };
        return Ok(own.as_ref().unwrap_or(place).view.collation());
    }
    let invalid = || SqlError::new(messages::COLLATION_INVALID, &[name]).at_line(name.line);
    let collation = Collation::by_name(name).ok_or_else(invalid)?;
    bind::check_collation(collation, of.sql_type).map_err(|e| e.at_line(name.line))?;
    Ok(collation)
}

fn identity_of(
    written: &ast::Identity,
    sql_type: SqlType,
    definition: &ColumnDefinition,
    table: &Table,
) -> SqlResult<Identity> {
    let name = &*definition.name;
    let fail = |message, args: &[&dyn std::fmt::Display]| {
        Err(SqlError::new(message, args).at_line(definition.span.line))
    };
    let limits = match sql_type {
        SqlType::TinyInt => 0..=i128::from(u8::MAX),
        SqlType::SmallInt => i128::from(i16::MIN)..=i128::from(i16::MAX),
        SqlType::Int => i128::from(i32::MIN)..=i128::from(i32::MAX),
        SqlType::BigInt => i128::from(i64::MIN)..=i128::from(i64::MAX),
        SqlType::Decimal { precision, scale: 0 } => {
            let limit = 10_i128.pow(u32::from(precision)) - 1;
            -limit..=limit
        }
        _ => return fail(messages::IDENTITY_INVALID_TYPE, &[&name]),
    };
    if definition.nullable == Some(true) {
        return fail(messages::IDENTITY_NULLABLE, &[&name, &table.name]);
    }
    if definition.default.is_some() {
        return fail(messages::DEFAULT_ON_IDENTITY, &[&table.name, &name]);
    }
    if table.identity().is_some() {
        return fail(messages::IDENTITY_MULTIPLE, &[&table.name]);
    }
    let seed = written.seed.as_ref().map_or(Some(1), whole_number);
    let Some(seed) = seed.filter(|n| limits.contains(n)) else {
        return fail(messages::IDENTITY_SEED_INVALID, &[&name]);
    };
    let increment = written.increment.as_ref().map_or(Some(1), whole_number);
    match increment.filter(|n| *n != 0 && n.unsigned_abs() <= limits.end().unsigned_abs()) {
        Some(increment) => {
            let not_for_replication = written.not_for_replication;
            Ok(Identity { seed, increment, not_for_replication })
        }
        None => fail(messages::IDENTITY_INCREMENT_INVALID, &[&name]),
    }
}

/// A whole number with its sign.
pub(crate) fn whole_number(e: &Expr) -> Option<i128> {
    let mut negative = false;
    let mut e = e;
    loop {
        match &e.kind {
            ExprKind::Unary { op: UnaryOp::Minus, operand } => {
                negative = !negative;
                e = operand;
            }
            ExprKind::Unary { op: UnaryOp::Plus, operand } => e = operand,
            ExprKind::Literal(Literal::Integer(digits)) => {
                let n: i128 = digits.parse().ok()?;
                return Some(if negative { -n } else { n });
            }
            _ => return None,
        }
    }
}

/// Makes a DEFAULT constraint for a column.
pub(crate) fn preset(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    column: &Column,
    name: Option<&Name>,
    value: &Expr,
    text: ParsedText<'_>,
) -> SqlResult<Preset> {
    let normal = normal_form::value(value, &[]).map(|n| n.text);
    let stored = normal.unwrap_or_else(|| stored_text(value.span.of(text), is_number(value)));
    let quoted = cx.settings.quoted_identifier;
    cx.expressions
        .check_default(&place.view, &stored, column.sql_type, quoted)
        .map_err(|e| e.at_line(value.span.line))?;
    let object_id = place.ids.object();
    let system_named = name.is_none();
    let name = match name {
        Some(name) => free_name(cx, place, table, name)?,
        None => generated_name::of_column("DF", &table.name, Some(&column.name), object_id),
    };
    Ok(Preset { object_id, name, system_named, text: stored })
}

/// Checks that no other object has a constraint's name, and locks the name.
pub(crate) fn free_name(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    name: &Name,
) -> SqlResult<Box<str>> {
    if !table.is_temp {
        catalog::lock_name(cx.work, place.view.id(), table.schema_id, name)?;
    }
    let current = cx.place(Some(place.view.name()))?;
    let own = crate::locate::constraint_names(table).any(|n| same_name(place, n, name));
    let taken = |schema: SchemaId| name_taken(&current, schema, name);
    if own || same_name(place, &table.name, name) || taken(table.schema_id) {
        let e = SqlError::new(messages::OBJECT_EXISTS, &[name]).at_line(name.line);
        let last = SqlError::new(messages::CONSTRAINT_NOT_CREATED, &[]);
        return Err(cx.after(e.with_state(5), last));
    }
    Ok((**name).into())
}

/// The stored form of an expression: in parentheses, a number in two pairs, as in SQL Server.
fn stored_text(written: &str, number: bool) -> Box<str> {
    match number && !written.starts_with('(') {
        true => format!("(({written}))").into(),
        false => format!("({written})").into(),
    }
}

/// A number, perhaps with a sign.
fn is_number(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Unary { operand, .. } => {
            matches!(operand.kind, ExprKind::Literal(_)) && is_number(operand)
        }
        ExprKind::Literal(
            Literal::Integer(_) | Literal::Decimal(_) | Literal::Float(_) | Literal::Money(_),
        ) => true,
        _ => false,
    }
}

/// The stored text of a check.
pub(crate) fn stored_condition(written: &str) -> Box<str> {
    format!("({written})").into()
}
