//! The batch that is being collected: its text as written and what its end lies within.

use super::scan::LexicalContext;

/// Lines that wait for GO.
#[derive(Default, Debug)]
pub(crate) struct Batch {
    text: String,
    lines: u32,
    within: LexicalContext,
    /// The line of the script that the first one is.
    first_line: u32,
}

impl Batch {
    /// One more line, which stands on a line of its script.
    pub(crate) fn push(&mut self, line: &str, script_line: u32) {
        if self.lines == 0 {
            self.first_line = script_line;
        } else {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.lines = self.lines.saturating_add(1);
        self.within = self.within.after_line(line);
    }

    /// Nothing is left of it.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.lines = 0;
        self.within = LexicalContext::Nothing;
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn first_line(&self) -> u32 {
        self.first_line
    }

    /// Whether there is nothing to run.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Whether a command may stand here: not within a string or a comment.
    pub(crate) fn takes_commands(&self) -> bool {
        self.within == LexicalContext::Nothing
    }

    /// The prompt for the next line: its number, and a tilde within a string or a comment.
    pub(crate) fn prompt(&self) -> String {
        let mark = if self.takes_commands() { '>' } else { '~' };
        format!("{}{mark} ", self.lines.saturating_add(1))
    }
}
