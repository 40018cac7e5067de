//! CREATE, ALTER and DROP SEQUENCE.
//!
//! Invariants
//!  1. ALTER gives the sequence a new counter that continues from the old one. A rollback returns
//!     to the old counter.
//!  2. A sequence from which a default draws cannot be dropped (3729).

use crate::context::{DdlContext, Place, unsupported};
use crate::data_type::type_name::{DeclaredType, Declaree, declared};
use crate::locate::{is_temporary, locked_object, name_taken, same_name, schema_for};
use base::{SqlError, SqlResult, messages};
use catalog::view::{Object, Origin, SchemaId, Sequence, Table};
use catalog::{Changes, Delta};
use std::mem::discriminant;
use std::sync::Arc;
use tsql::ast::{self, Expr, ExprKind, Literal, ObjectName, SequenceOption, UnaryOp};
use types::SqlType;

/// CREATE and ALTER.
pub(crate) fn define(s: &ast::Sequence, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let line = s.name.span.line;
    if is_temporary(&s.name) {
        return Err(unsupported("temporary sequences", line));
    }
    if s.name.database.is_some() {
        let statement = "CREATE/ALTER SEQUENCE";
        return Err(SqlError::new(messages::CREATE_PREFIX_DATABASE, &[&statement]));
    }
    refuse(s)?;
    let (place, schema) = schema_for(cx, &s.name)?;
    let found = locked_object(cx, &s.name)?.filter(|(_, o)| o.schema_id() == schema.id);
    let (before, blank) = match (s.alter, found) {
        (true, Some((_, Object::Sequence(before)))) => {
            let blank = Sequence::clone(&before);
            (Some(before), blank)
        }
        (true, Some(_)) => return Err(SqlError::new(messages::NOT_A_SEQUENCE, &[&s.name])),
        (true, None) => return Err(SqlError::new(messages::INVALID_OBJECT, &[&s.name])),
        (false, found) => {
            if found.is_some() || name_taken(&place, schema.id, &s.name.object) {
                let e = SqlError::new(messages::OBJECT_EXISTS, &[&s.name.object]).with_state(3);
                return Err(e.at_line(line));
            }
            (None, blank(s, &place, schema.id, &schema.name)?)
        }
    };
    let last = before.as_ref().and_then(|b| place.identities.last(b.counter));
    let mut after = changed(s, blank, last)?;
    after.counter = place.ids.hobt();
    let database = place.view.id();
    catalog::lock_object(cx.work, database, after.object_id)?;
    let changes = Changes::new(&*place.system);
    changes.put_sequence(cx.work, before.as_deref(), &after)?;
    cx.deltas.push((database, Delta::PutObject(Object::Sequence(Arc::new(after)))));
    Ok(())
}

/// Refuses options that this statement may not have, or has twice.
fn refuse(s: &ast::Sequence) -> SqlResult<()> {
    let fail = |message| Err(SqlError::new(message, &[]));
    for (n, option) in s.options.iter().enumerate() {
        let again = |o: &SequenceOption| discriminant(o) == discriminant(option);
        let caches =
            |o: &SequenceOption| matches!(o, SequenceOption::Cache(_) | SequenceOption::NoCache);
        if s.options[..n].iter().any(|o| again(o) || (caches(o) && caches(option))) {
            return Err(SqlError::new(messages::SEQUENCE_TWICE, &[&word(option)]));
        }
        match option {
            SequenceOption::Restart(_) if !s.alter => {
                return fail(messages::SEQUENCE_RESTART_IN_CREATE);
            }
            SequenceOption::Start(_) if s.alter => return fail(messages::SEQUENCE_START_IN_ALTER),
            _ => {}
        }
    }
    match s.alter {
        true if s.type_name.is_some() => fail(messages::SEQUENCE_AS_IN_ALTER),
        true if s.options.is_empty() => fail(messages::SEQUENCE_NO_PROPERTIES),
        _ => Ok(()),
    }
}

fn word(option: &SequenceOption) -> &'static str {
    match option {
        SequenceOption::Start(_) => "START WITH",
        SequenceOption::Restart(_) => "RESTART WITH",
        SequenceOption::Increment(_) => "INCREMENT BY",
        SequenceOption::MinValue(_) => "MINVALUE",
        SequenceOption::MaxValue(_) => "MAXVALUE",
        SequenceOption::Cycle(_) => "CYCLE",
        SequenceOption::Cache(_) | SequenceOption::NoCache => "CACHE",
    }
}

/// A new sequence with its name and type, and the defaults of all other properties.
fn blank(s: &ast::Sequence, place: &Place, schema: SchemaId, named: &str) -> SqlResult<Sequence> {
    let of = match &s.type_name {
        Some(t) => {
            let who = Declaree { number: 1, kind: "sequence", name: &s.name.object };
            declared(t, who, &place.view, SchemaId::DBO)?
        }
        None => {
            let user_type_id = SqlType::BigInt.user_type_id();
            DeclaredType { sql_type: SqlType::BigInt, user_type_id, nullable: None }
        }
    };
    let bounds = bounds(of.sql_type);
    let wrong = || SqlError::new(messages::SEQUENCE_TYPE, &[&s.name]);
    let (minimum, maximum) = bounds.ok_or_else(wrong)?;
    Ok(Sequence {
        object_id: place.ids.object(),
        schema_id: schema,
        schema_name: named.into(),
        name: s.name.object.text.clone(),
        sql_type: of.sql_type,
        user_type_id: of.user_type_id,
        start: minimum,
        increment: 1,
        minimum,
        maximum,
        cycles: false,
        cache: Some(0),
        counter: place.ids.hobt(),
        origin: Origin::First(minimum),
        properties: Vec::new(),
    })
}

/// The least and the greatest value of a type that a sequence may have.
fn bounds(sql_type: SqlType) -> Option<(i128, i128)> {
    Some(match sql_type {
        SqlType::TinyInt => (0, i128::from(u8::MAX)),
        SqlType::SmallInt => (i128::from(i16::MIN), i128::from(i16::MAX)),
        SqlType::Int => (i128::from(i32::MIN), i128::from(i32::MAX)),
        SqlType::BigInt => (i128::from(i64::MIN), i128::from(i64::MAX)),
        SqlType::Decimal { .. } if sql_type.scale() == 0 => {
            let limit = 10_i128.pow(u32::from(sql_type.precision())) - 1;
            (-limit, limit)
        }
        _ => return None,
    })
}

/// Applies the options of the statement to a sequence. `last` is the last value that it gave.
fn changed(s: &ast::Sequence, mut to: Sequence, last: Option<i128>) -> SqlResult<Sequence> {
    let (least, greatest) = bounds(to.sql_type).unwrap_or_default();
    let (mut start, mut restart) = (None, None);
    for option in &s.options {
        let invalid = || SqlError::new(messages::SEQUENCE_ARGUMENT, &[&word(option)]);
        let number = |e: &Expr| whole(e).ok_or_else(invalid);
        let value = |e: &Expr| {
            number(e).and_then(|n| match (least..=greatest).contains(&n) {
                true => Ok(n),
                false => Err(invalid()),
            })
        };
        match option {
            SequenceOption::Start(e) => start = Some(value(e)?),
            SequenceOption::Restart(None) => restart = Some(None),
            SequenceOption::Restart(Some(e)) => restart = Some(Some(value(e)?)),
            SequenceOption::Increment(e) => to.increment = number(e)?,
            SequenceOption::MinValue(e) => to.minimum = e.as_ref().map_or(Ok(least), value)?,
            SequenceOption::MaxValue(e) => to.maximum = e.as_ref().map_or(Ok(greatest), value)?,
            SequenceOption::Cycle(on) => to.cycles = *on,
            SequenceOption::NoCache => to.cache = None,
            SequenceOption::Cache(None) => to.cache = Some(0),
            SequenceOption::Cache(Some(e)) => {
                let size = number(e)?;
                if size <= 0 {
                    return Err(SqlError::new(messages::SEQUENCE_CACHE, &[&s.name]));
                }
                to.cache = Some(u32::try_from(size).map_err(|_| invalid())?);
            }
        }
    }
    if !s.alter {
        to.start = start.unwrap_or(if to.increment < 0 { to.maximum } else { to.minimum });
    }
    to.origin = match (restart, last) {
        (Some(value), _) => Origin::First(value.unwrap_or(to.start)),
        (None, _) if !s.alter => Origin::First(to.start),
        (None, Some(last)) => Origin::After(last),
        (None, None) => to.origin,
    };
    check(s, &to)?;
    Ok(to)
}

fn check(s: &ast::Sequence, to: &Sequence) -> SqlResult<()> {
    let fail = |message| Err(SqlError::new(message, &[&s.name]));
    let within = |n: i128| (to.minimum..=to.maximum).contains(&n);
    if to.increment == 0 {
        return fail(messages::SEQUENCE_INCREMENT_ZERO);
    }
    if to.minimum >= to.maximum {
        return fail(messages::SEQUENCE_BOUNDS);
    }
    if to.increment.unsigned_abs() > to.maximum.abs_diff(to.minimum) {
        return fail(messages::SEQUENCE_INCREMENT_TOO_LARGE);
    }
    if !within(to.start) {
        return fail(messages::SEQUENCE_START);
    }
    match to.origin {
        Origin::First(value) if !within(value) => fail(messages::SEQUENCE_START),
        Origin::After(value) if !within(value) => {
            Err(SqlError::new(messages::SEQUENCE_CURRENT, &[&value, &s.name]))
        }
        Origin::First(_) | Origin::After(_) => Ok(()),
    }
}

/// The value of a constant without a fraction.
fn whole(e: &Expr) -> Option<i128> {
    match &e.kind {
        ExprKind::Literal(Literal::Integer(text) | Literal::Decimal(text)) => {
            text.trim_end_matches('.').parse().ok()
        }
        ExprKind::Unary { op: UnaryOp::Minus, operand } => whole(operand).map(|n: i128| -n),
        ExprKind::Unary { op: UnaryOp::Plus, operand } => whole(operand),
        _ => None,
    }
}

/// DROP SEQUENCE
pub(crate) fn drop(
    cx: &mut DdlContext<'_>,
    place: &Place,
    sequence: &Sequence,
    name: &ObjectName,
) -> SqlResult<()> {
    let tables = place.view.objects().filter_map(|o| match o {
        Object::Table(t) => Some(&**t),
        Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => None,
    });
    for table in tables {
        if let Some(default) = drawing_default(place, table, sequence)? {
            let args: [&dyn std::fmt::Display; 3] = [&"DROP SEQUENCE", name, &default];
            let e = SqlError::new(messages::DROP_SCHEMA_REFERENCED, &args);
            return Err(e.at_line(name.span.line));
        }
    }
    crate::module::still_used::not_bound(
        place,
        sequence.object_id,
        &"DROP SEQUENCE",
        &sequence.two_part_name(),
    )
    .map_err(|e| e.at_line(name.span.line))?;
    let database = place.view.id();
    catalog::lock_name(cx.work, database, sequence.schema_id, &sequence.name)?;
    Changes::new(&*place.system).remove_sequence(cx.work, sequence)?;
    cx.deltas.push((database, Delta::RemoveObject(sequence.object_id)));
    Ok(())
}

/// The name of a default of the table that draws from the sequence.
fn drawing_default(place: &Place, table: &Table, of: &Sequence) -> SqlResult<Option<Box<str>>> {
    for default in table.columns.iter().filter_map(|c| c.default.as_ref()) {
        let expr = tsql::parse_expression(&default.text, tsql::ParseOptions::default())?;
        let mut names = Vec::new();
        drawn(&expr, &mut names);
        let same = |n: &&ObjectName| {
            let schema = n.schema.as_deref().unwrap_or("dbo");
            let here = n.database.as_deref().is_none_or(|d| same_name(place, d, place.view.name()));
            here && same_name(place, schema, &of.schema_name)
                && same_name(place, &n.object, &of.name)
        };
        if names.iter().any(same) {
            return Ok(Some(default.name.clone()));
        }
    }
    Ok(None)
}

/// The sequences that an expression names, in those places where NEXT VALUE FOR is allowed (11741).
fn drawn<'e>(e: &'e Expr, names: &mut Vec<&'e ObjectName>) {
    match &e.kind {
        ExprKind::NextValue(n) => names.push(&n.sequence),
        ExprKind::Unary { operand, .. } | ExprKind::Collate { operand, .. } => {
            drawn(operand, names);
        }
        ExprKind::Arithmetic(chain) => {
            drawn(&chain.first, names);
            chain.rest.iter().for_each(|term| drawn(&term.operand, names));
        }
        ExprKind::Cast(cast) => drawn(&cast.operand, names),
        ExprKind::Function(call) => call.arguments.iter().for_each(|a| drawn(a, names)),
        ExprKind::Trim(trim) => drawn(&trim.operand, names),
        _ => {}
    }
}
