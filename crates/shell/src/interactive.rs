//! A person at a terminal: line editing, and a history that outlives the shell.

use crate::files;
use crate::script::{Line, Lines};
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor};
use std::io;
use std::path::PathBuf;

const HISTORY_LINES: usize = 5000;

/// Reads lines from a terminal.
pub(crate) struct Terminal {
    editor: Option<DefaultEditor>,
    history: Option<PathBuf>,
}

impl Terminal {
    pub(crate) fn new() -> Terminal {
        let config = Config::builder().max_history_size(HISTORY_LINES).map(|c| c.build());
        let mut editor = config.and_then(DefaultEditor::with_config).ok();
        let history = files::history();
        if let (Some(editor), Some(path)) = (&mut editor, &history) {
            // The first shell of a user has none.
            let _ = editor.load_history(path);
        }
        Terminal { editor, history }
    }

    fn keep(&mut self, line: &str) {
        let Some(editor) = &mut self.editor else { return };
        let added = !line.trim().is_empty() && editor.add_history_entry(line).unwrap_or(false);
        if let (true, Some(path)) = (added, &self.history) {
            // A history that cannot be written is a comfort lost, not a reason to stop.
            let _ = editor.append_history(path);
        }
    }
}

impl Lines for Terminal {
    fn next_line(&mut self, prompt: &str) -> io::Result<Line> {
        let Some(editor) = &mut self.editor else {
            return Err(io::Error::other("the terminal cannot be set up"));
        };
        match editor.readline(prompt) {
            Ok(line) => {
                self.keep(&line);
                Ok(Line::Text(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(ReadlineError::Io(e)) => Err(e),
            Err(e) => Err(io::Error::other(e.to_string())),
        }
    }

    fn is_interactive(&self) -> bool {
        true
    }
}
