//! Scripts: lines into batches and commands, variables into text, and what runs them.

mod batch;
mod command;
mod complaint;
mod interpreter;
mod lines;
mod scan;
mod substitute;
mod variables;

pub(crate) use interpreter::{AtEnd, Flow, Interpreter, OnError, Rules};
pub(crate) use lines::{Line, Lines, ReaderLines, TextLines};
pub(crate) use variables::Variables;

#[cfg(test)]
mod tests;
