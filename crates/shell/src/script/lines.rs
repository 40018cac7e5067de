//! Where a script's lines come from: a file, a text, standard input, a person.

use crate::files;
use std::io::{self, BufRead};
use std::path::Path;

/// What comes next.
#[derive(Debug)]
pub(crate) enum Line {
    /// A line without its break.
    Text(String),
    /// Ctrl-C: what was typed is thrown away.
    Interrupted,
    /// Nothing more.
    End,
}

/// Gives the lines of a script.
pub(crate) trait Lines {
    /// The next one; a person is shown the prompt.
    fn next_line(&mut self, prompt: &str) -> io::Result<Line>;

    /// A person types: mistakes don't end the shell.
    fn is_interactive(&self) -> bool {
        false
    }
}

/// Lines of a text: -Q and -q.
pub(crate) struct TextLines<'t>(pub(crate) std::str::Lines<'t>);

impl Lines for TextLines<'_> {
    fn next_line(&mut self, _prompt: &str) -> io::Result<Line> {
        Ok(self.0.next().map_or(Line::End, |line| Line::Text(line.to_owned())))
    }
}

/// Lines of bytes in UTF-8, or in code page 1252 where a line is not UTF-8.
pub(crate) struct ReaderLines<R> {
    reader: R,
    bytes: Vec<u8>,
}

impl<R: BufRead> ReaderLines<R> {
    pub(crate) fn new(reader: R) -> ReaderLines<R> {
        ReaderLines { reader, bytes: Vec::new() }
    }
}

impl<R: BufRead> Lines for ReaderLines<R> {
    fn next_line(&mut self, _prompt: &str) -> io::Result<Line> {
        self.bytes.clear();
        if self.reader.read_until(b'\n', &mut self.bytes)? == 0 {
            return Ok(Line::End);
        }
        let line = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(Line::Text(match std::str::from_utf8(line) {
            Ok(text) => text.to_owned(),
            Err(_) => types::text::decode_1252(line),
        }))
    }
}

/// Lines of a file in UTF-8 or, where a byte order mark says so, UTF-16.
pub(crate) struct FileLines(ReaderLines<Box<dyn BufRead>>);

impl FileLines {
    pub(crate) fn open(path: &Path) -> io::Result<FileLines> {
        files::script(path).map(|reader| FileLines(ReaderLines::new(reader)))
    }
}

impl Lines for FileLines {
    fn next_line(&mut self, prompt: &str) -> io::Result<Line> {
        self.0.next_line(prompt)
    }
}
