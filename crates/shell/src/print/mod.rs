//! Results and messages as text, the way sqlcmd prints them.

mod columns;
mod format;
mod outputs;
mod printer;
mod table;
mod value;
mod wrap;

pub(crate) use format::Format;
pub(crate) use outputs::{Outputs, Redirect};
pub(crate) use printer::{FirstCell, Printer, Tally};

#[cfg(test)]
pub(crate) mod tests;
