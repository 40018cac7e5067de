//! Functions and aggregates: signature, null rule, row form; owns `SessionFacts`.
//!
//! A function is a row of a table: name, number of arguments, how its result type follows from
//! theirs, what NULL does, and the code. `lookup` finds it when a statement is bound; per row only
//! `Function::call` runs. What depends on a session is asked through `SessionFacts`, which the
//! session implements.
//!
//! Not here: COALESCE, IIF, NULLIF, CASE, CAST, CONVERT and TRY_CAST, which are forms of the
//! language, and COUNT(*)'s star, which is the binder's.

#![forbid(unsafe_code)]

mod aggregate;
mod bits;
mod call;
mod chars;
mod collation;
mod crypto;
mod culture;
mod date;
mod date_bucket;
mod document;
mod extreme;
mod format;
mod json;
mod key;
mod key_bound;
mod like;
mod like_range;
mod math;
mod metadata;
mod parse;
mod password;
mod place;
mod rand;
mod registry;
mod session;
mod string;
mod string_search;
mod table_function;
mod variant;
mod write;
mod xml_method;
mod zone;

pub use aggregate::{Aggregate, JoinedType, Percentile, State};
pub use call::{Call, Fact, Function, NullRule, Question, SessionFacts, datepart_argument};
pub use document::{
    AUTO_DOCUMENT, AUTO_RECORD, AutoForm, AutoShape, ExplicitShape, JSON_ROW, JsonShape, ORDERED,
    RECORDS, XML_DOCUMENT, XML_RECORD, XML_ROW, XmlMode, XmlShape, instruction_target, key_order,
    xml_name,
};
pub use format::{print_message, wrong_placeholder};
pub use json::{JSON_ARRAY, JSON_MODIFY_RAW, JSON_OBJECT, JsonColumn};
pub use key_bound::{DAY_END, KEY_BOUND};
pub use like::LikePattern;
pub use like_range::{LIKE_RANGE_END, LIKE_RANGE_START};
pub use metadata::NEXT_ROW_VERSION;
pub use parse::{PARSE, TRY_PARSE, is_parsed_type};
pub use rand::Rand;
pub use registry::{families, global, lookup};
pub use table_function::{TableFunction, TableRows};
pub use write::WRITE;
pub use xml_method::XmlMethod;
pub use zone::AT_TIME_ZONE;
