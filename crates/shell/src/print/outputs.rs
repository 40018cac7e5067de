//! Where text goes: results, messages, and the shell's own complaints.
//!
//! Results are buffered; what stands in the buffer is out before anything goes to the other
//! stream. When nobody reads any more (a closed pipe) writing becomes a no-op and
//! [`Outputs::is_closed`] tells it, so that the shell ends without a word.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};

/// Which messages go to stderr instead of the results' stream (-r).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Redirect {
    #[default]
    None,
    /// Severity 11 and up.
    Errors,
    /// Also PRINT and information.
    All,
}

/// A place that text can go to.
pub(crate) type Sink = Box<dyn Write>;

/// Both streams.
pub(crate) struct Outputs {
    results: BufWriter<Sink>,
    /// Where errors go that are not among the results: `:error`, or stderr.
    errors: Option<Sink>,
    complaints: Sink,
    redirect: Redirect,
    /// A person looks on: rows are not held back.
    live: bool,
    closed: bool,
    failure: Option<io::Error>,
}

const BUFFER_BYTES: usize = 64 * 1024;

impl Outputs {
    /// Results to stdout, complaints to stderr.
    pub(crate) fn standard(redirect: Redirect) -> Outputs {
        let mut outputs = Outputs::new(Box::new(io::stdout()), Box::new(io::stderr()), redirect);
        outputs.live = io::stdout().is_terminal();
        outputs
    }

    pub(crate) fn new(results: Sink, complaints: Sink, redirect: Redirect) -> Outputs {
        Outputs {
            results: BufWriter::with_capacity(BUFFER_BYTES, results),
            errors: None,
            complaints,
            redirect,
            live: false,
            closed: false,
            failure: None,
        }
    }

    /// Results go elsewhere from now on.
    pub(crate) fn set_results(&mut self, sink: Sink) {
        self.flush();
        self.results = BufWriter::with_capacity(BUFFER_BYTES, sink);
        self.live = false;
        self.closed = false;
    }

    /// Errors go elsewhere from now on.
    pub(crate) fn set_errors(&mut self, sink: Sink) {
        self.errors = Some(sink);
    }

    /// A row or the like.
    pub(crate) fn result(&mut self, text: &str) {
        if self.closed {
            return;
        }
        let done = self.results.write_all(text.as_bytes());
        self.note(done);
        if self.live {
            self.flush();
        }
    }

    /// A message of a severity.
    pub(crate) fn message(&mut self, severity: u8, text: &str) {
        let aside = match self.redirect {
            Redirect::None => false,
            Redirect::Errors => severity > 10,
            Redirect::All => true,
        };
        if severity > 10 && self.errors.is_some() {
            self.aside(text);
        } else if aside {
            self.complain(text);
        } else {
            self.result(text);
            // Messages tell how far a script has come: they are not held back.
            self.flush();
        }
    }

    fn aside(&mut self, text: &str) {
        self.flush();
        if let Some(errors) = &mut self.errors {
            let done = errors.write_all(text.as_bytes()).and_then(|()| errors.flush());
            self.note(done);
        }
    }

    /// Something that the shell itself has to say.
    pub(crate) fn complain(&mut self, text: &str) {
        if self.errors.is_some() {
            return self.aside(text);
        }
        self.flush();
        let done =
            self.complaints.write_all(text.as_bytes()).and_then(|()| self.complaints.flush());
        self.note(done);
    }

    /// Everything buffered goes out.
    pub(crate) fn flush(&mut self) {
        if !self.closed {
            let done = self.results.flush();
            self.note(done);
        }
    }

    /// Nobody reads the results.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Why they could not be written, unless the reader just went away.
    pub(crate) fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    fn note(&mut self, done: io::Result<()>) {
        if let Err(e) = done {
            self.closed = true;
            if e.kind() != ErrorKind::BrokenPipe && self.failure.is_none() {
                self.failure = Some(e);
            }
        }
    }
}
