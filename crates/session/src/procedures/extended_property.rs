//! `sp_addextendedproperty @name, @value, @level0type, @level0name, …` and the related procedures.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::host::definitions::ProcedureCall;
use crate::procedures::call::Call;
use crate::session::Session;
use ddl::{PropertyChange, PropertyVerb};
use types::{SqlType, Value, encode_storage};

pub(crate) fn add(s: &mut Session, c: &mut Call, out: &mut Output<'_>) -> Result<i32, Failure> {
    run(PropertyVerb::Add, s, c, out)
}

pub(crate) fn update(s: &mut Session, c: &mut Call, out: &mut Output<'_>) -> Result<i32, Failure> {
    run(PropertyVerb::Update, s, c, out)
}

pub(crate) fn remove(s: &mut Session, c: &mut Call, out: &mut Output<'_>) -> Result<i32, Failure> {
    run(PropertyVerb::Drop, s, c, out)
}

/// The stored form of a variant; `None` for NULL.
fn stored(value: &Value) -> Option<Box<[u8]>> {
    let mut bytes = Vec::new();
    if !value.is_null() {
        encode_storage(value, SqlType::Variant, &mut bytes);
    }
    (!bytes.is_empty()).then(|| bytes.into())
}

fn run(
    verb: PropertyVerb,
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    // A property that is dropped has no value argument.
    let first = if verb == PropertyVerb::Drop { 1 } else { 2 };
    let level = |n: usize| {
        let at = first + 2 * n;
        let kind = call.text(&format!("@level{n}type"), at);
        (kind, call.text(&format!("@level{n}name"), at + 1))
    };
    let value = match call.get("@value", 1).filter(|_| verb != PropertyVerb::Drop) {
        Some(argument) => stored(&argument.variant()?),
        None => None,
    };
    let change = PropertyChange {
        verb,
        name: call.text("@name", 0).unwrap_or_default(),
        value,
        levels: [level(0), level(1), level(2)],
    };
    session.define_by_call(&ProcedureCall::Property(change), out)?;
    Ok(0)
}
