//! A type as a column or parameter declares it.

use crate::context::unsupported;
use base::{SqlError, SqlResult, messages};
use catalog::view::{DatabaseView, SchemaId, UserType, UserTypeKind};
use std::sync::Arc;
use tsql::ast::{TypeArguments, TypeName};
use types::{SqlType, TypeSize, declare};

/// `sys.types.user_type_id` of numeric and sysname, which differ from that of their system types.
const NUMERIC: i32 = 108;
const SYSNAME: i32 = 256;

/// Types of SQL Server that are not supported yet.
const NOT_YET: &[&str] =
    &["hierarchyid", "geometry", "geography", "json", "vector", "cursor", "table"];

/// A declared type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredType {
    pub(crate) sql_type: SqlType,
    pub(crate) user_type_id: i32,
    /// The nullability that the type itself prescribes.
    pub(crate) nullable: Option<bool>,
}

/// The column, parameter or other thing that is declared: its number, kind and name in messages.
#[derive(Clone, Copy)]
pub(crate) struct Declaree<'a> {
    pub(crate) number: usize,
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
}

/// The declared type: a system type, or a user's alias of one. An alias without a schema is looked
/// up in the schema `first`, then in dbo.
pub(crate) fn declared(
    written: &TypeName,
    who: Declaree<'_>,
    view: &DatabaseView,
    first: SchemaId,
) -> SqlResult<DeclaredType> {
    match user_type(written, view, first) {
        Some(user_type) => alias(written, &user_type, who),
        None => declared_system(written, who),
    }
}

/// The user type of this name. Without a schema it is looked up in `first`, then in dbo. `None` if
/// the name is that of a system type, or of no type.
pub fn user_type(
    written: &TypeName,
    view: &DatabaseView,
    first: SchemaId,
) -> Option<Arc<UserType>> {
    let (schema, name) = (written.name.schema.as_deref(), &*written.name.object);
    let system = schema.is_none() && SqlType::by_name(name, 1).is_some();
    let found = view
        .user_type_within(first, schema, name)
        .filter(|_| !system && written.name.database.is_none());
    found.cloned()
}

/// The declared type for a user type. A table type is refused.
fn alias(written: &TypeName, found: &UserType, who: Declaree<'_>) -> SqlResult<DeclaredType> {
    let line = written.span.line;
    if !matches!(written.arguments, TypeArguments::None) {
        let args: [&dyn std::fmt::Display; 2] = [&who.number, &written.name];
        return Err(SqlError::new(messages::COLUMN_TYPE_NO_WIDTH, &args).at_line(line));
    }
    match found.kind {
        UserTypeKind::Alias { sql_type, nullable, .. } => {
            let nullable = Some(nullable);
            Ok(DeclaredType { sql_type, user_type_id: found.user_type_id, nullable })
        }
        UserTypeKind::Table(_) => {
            let args: [&dyn std::fmt::Display; 2] = [&who.name, &written.name];
            Err(SqlError::new(messages::TABLE_TYPE_FOR_COLUMN, &args).at_line(line))
        }
    }
}

/// The declared type, which must be a system type.
pub(crate) fn declared_system(written: &TypeName, who: Declaree<'_>) -> SqlResult<DeclaredType> {
    resolve(written, who).map_err(|e| e.at_line(written.span.line))
}

fn resolve(written: &TypeName, who: Declaree<'_>) -> SqlResult<DeclaredType> {
    let name = &*written.name.object;
    let system = written.name.schema.as_ref().is_none_or(|s| s.eq_ignore_ascii_case("sys"));
    if system && NOT_YET.iter().any(|n| n.eq_ignore_ascii_case(name)) {
        return Err(unsupported(&format!("data type {}", name.to_lowercase()), written.span.line));
    }
    let bare = SqlType::by_name(name, 1).filter(|_| system).ok_or_else(|| {
        let e = SqlError::new(messages::DATA_TYPE_NOT_FOUND, &[&who.number, &written.name]);
        if who.kind == "column" { e.with_state(6) } else { e }
    })?;
    let mut sizes = Vec::with_capacity(2);
    match &written.arguments {
        TypeArguments::None => {}
        TypeArguments::Max => sizes.push(TypeSize::Max),
        TypeArguments::One(n) => sizes.push(TypeSize::N(*n)),
        TypeArguments::Two(a, b) => sizes.extend([TypeSize::N(*a), TypeSize::N(*b)]),
        TypeArguments::Schema(collection) if name.eq_ignore_ascii_case("xml") => {
            let e = SqlError::new(messages::XML_COLLECTION_UNKNOWN, &[&collection.object]);
            return Err(e);
        }
        TypeArguments::Schema(_) => {
            return Err(SqlError::new(messages::COLUMN_TYPE_NO_WIDTH, &[&who.number, &name]));
        }
    }
    let sql_type = declare(name, &sizes, 1).map_err(|e| renumbered(&e, bare, &sizes, who))?;
    let user_type_id = match () {
        () if name.eq_ignore_ascii_case("numeric") => NUMERIC,
        () if name.eq_ignore_ascii_case("sysname") => SYSNAME,
        () => sql_type.user_type_id(),
    };
    // sysname itself is NOT NULL.
    let nullable = (user_type_id == SYSNAME).then_some(false);
    Ok(DeclaredType { sql_type, user_type_id, nullable })
}

/// Puts the number and name of this column or parameter into an error of `types`, which does not
/// know them.
fn renumbered(e: &SqlError, bare: SqlType, sizes: &[TypeSize], who: Declaree<'_>) -> SqlError {
    let size = |at: usize| match sizes.get(at) {
        Some(TypeSize::N(n)) => *n,
        Some(TypeSize::Max) | None => 0,
    };
    match e.number() {
        2716 => SqlError::new(messages::COLUMN_TYPE_NO_WIDTH, &[&who.number, &bare.name()]),
        2750 => SqlError::new(messages::PRECISION_EXCEEDS, &[&who.number, &size(0), &38]),
        2751 => SqlError::new(messages::SCALE_EXCEEDS, &[&who.number, &size(1), &size(0)]),
        // For such a type SQL Server says "parameter" for a column, too.
        131 if matches!(bare, SqlType::NChar(_) | SqlType::NVarChar(_)) => {
            let args: [&dyn std::fmt::Display; 4] = [&size(0), &"parameter", &who.name, &4000];
            SqlError::new(messages::SIZE_EXCEEDS_COLUMN, &args).with_state(2)
        }
        131 => {
            let args: [&dyn std::fmt::Display; 4] = [&size(0), &who.kind, &who.name, &8000];
            SqlError::new(messages::SIZE_EXCEEDS_MAX, &args).with_state(2)
        }
        _ => e.clone(),
    }
}
