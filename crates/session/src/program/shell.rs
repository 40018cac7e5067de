//! The shell of a simple batch: its constants, and the text that all such batches share.

use types::Value;

/// The replacement of a text with constants.
#[derive(Debug)]
pub(crate) struct Shell {
    /// `@1 tinyint,@2 varchar(8000)`
    pub(crate) parameters: Box<str>,
    pub(crate) text: Box<str>,
    /// The constants, in the types of the parameters.
    pub(crate) values: Vec<Value>,
}

impl Shell {
    /// Its kind, as StatementType shows it.
    pub(crate) fn kind(&self) -> &'static str {
        let all = ["SELECT", "INSERT", "UPDATE", "DELETE"];
        all.into_iter().find(|k| self.text.starts_with(k)).unwrap_or_default()
    }

    pub(crate) fn bytes(&self) -> usize {
        let values = self.values.len() * size_of::<Value>();
        size_of::<Shell>() + self.parameters.len() + self.text.len() + values
    }
}
