//! SQL values: numeric, datetime, strings, collations, conversions, their errors.
//!
//! A `Value` is one SQL value, a `SqlType` says what it was declared as, a `Collation` how its
//! characters compare. Everything else here is a function of those three: conversion, arithmetic
//! and its result types, comparison and hash, and the bytes that rows store.
//!
//! Nothing here knows a session, a table or the clock. NULL is a value; what NULL means in a
//! predicate is the caller's.

#![forbid(unsafe_code)]

mod arithmetic;
mod byte_buffer;
mod bytes;
mod collation;
mod compare;
mod convert;
pub mod datetime;
mod decimal;
mod declare;
mod key_bound;
mod restriction;
mod sort_key;
mod sql_type;
mod storage;
mod storage_hash;
pub mod text;
mod value;
mod variant;
mod whole_key;
pub mod zone;

pub use arithmetic::{
    BinaryOp, Operation, apply, bit_not, common_type, comparison_type, negate, negated_type,
    operation,
};
pub use byte_buffer::{ByteBuffer, LONGEST_BYTES, within_longest};
pub use bytes::Bytes;
pub use collation::{CodePage, Collation, TextOrder, trim_char, trim_nchar};
pub use compare::{compare, hash};
pub use convert::{
    Fit, arithmetic_overflow, check_explicit, check_implicit, coerce_for_column,
    conversion_is_deterministic, convert, convert_collated, convert_dated, explicit_allowed,
    fit_number, float_text, implicit_allowed, is_dated, is_named,
};
pub use decimal::{Decimal, PRECISION_MAX};
pub use declare::{TypeSize, declare};
pub use key_bound::{KeyPrecision, day_end, has_bounds, kept, key_bound};
pub use restriction::{ColumnTest, Relation, Requirement, Restriction};
pub use sort_key::append_sort_key;
pub use sql_type::{ALL_TYPES, Family, Length, SqlType};
pub use storage::{
    CorruptValue, StorageOrder, compare_storage, decode_storage, encode_storage, fixed_width,
    number_of, storage_bytes, storage_weights, stored_number,
};
pub use storage_hash::{StorageHash, hash_storage};
pub use value::{DateTime, DateTime2, DateTimeOffset, SmallDateTime, Value};
pub use variant::Variant;
