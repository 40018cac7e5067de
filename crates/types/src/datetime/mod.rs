//! Dates and times: the calendar, the parts, text in both directions.
//!
//! Every temporal value becomes a `Moment` (local day, local time, offset) for computing, and
//! goes back into its type with that type's range and rounding.

mod calendar;
mod hijri;
mod language;
mod language_list;
mod moment;
mod parse;
mod parts;
mod print;

pub use calendar::{civil_from_days, days_from_civil, days_in_month, is_leap_year, weekday};
pub(crate) use hijri::{hijri_from_days, is_hijri};
pub use language::{Dialect, Language};
pub use moment::{DAY_TICKS, DAYS_1900, Moment, SECOND_TICKS};
pub use parse::{DateFormat, parse_date};
pub(crate) use parse::{ParseFailure, names_matter, parse};
pub use parts::{DatePart, date_add, date_diff, date_part};
pub use print::{date_name, print_style};
pub(crate) use print::{names_a_month, print_style_in};
