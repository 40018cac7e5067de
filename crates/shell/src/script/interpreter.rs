//! Runs scripts: collects batches, obeys commands, decides when to stop and with which code.
//!
//! Invariants
//!  1. A mistake in a script ends it; one of a person only goes back to the prompt.
//!  2. What is printed before a batch runs is out before the batch is sent.

use super::batch::Batch;
use super::command::{self, Command};
use super::complaint::{Complaint, Place};
use super::lines::{FileLines, Line, Lines};
use super::substitute::{self, Fault};
use super::variables::Variables;
use crate::backend::{Backend, BackendError, Cancel};
use crate::files;
use crate::interrupt::{self, Interrupt};
use crate::print::{FirstCell, Format, Outputs, Printer, Tally};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How deeply files may include files.
const NESTING_MAX: usize = 64;

/// EXIT(query): an error before the value, no rows, no number.
const EXIT_ERROR: i32 = -100;
const EXIT_NO_ROWS: i32 = -101;
const EXIT_NO_NUMBER: i32 = -102;

/// What to do with lines that no GO followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AtEnd {
    /// Run them: a script, a query.
    Run,
    /// Leave them to what includes this file.
    Keep,
}

/// What an error of a batch does: -b and -V.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct OnError {
    /// End.
    pub(crate) stop: bool,
    /// The severity from which an error counts, and then is the exit code; else 11 and 1.
    pub(crate) severity: Option<u8>,
}

/// What the command line says of scripts.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// Replace $(name).
    pub(crate) substitute: bool,
    /// Print batches before they run.
    pub(crate) echo: bool,
    /// What ends a batch: GO.
    pub(crate) terminator: String,
    pub(crate) on_error: OnError,
}

/// Makes the connection that `:connect` asks for: server, user, password.
pub(crate) type Dial<'a> =
    dyn Fn(&str, Option<&str>, Option<&str>) -> Result<Box<dyn Backend>, BackendError> + 'a;

/// What comes after a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// The next line.
    Next,
    /// Back to the prompt, if a person is there.
    Abandon,
    /// The end.
    Stop,
}

/// A script's state.
pub(crate) struct Interpreter<'a> {
    backend: Box<dyn Backend>,
    cancel: Arc<dyn Cancel>,
    server: String,
    dial: Box<Dial<'a>>,
    outputs: Outputs,
    variables: Variables,
    rules: Rules,
    interrupt: Interrupt,
    batch: Batch,
    depth: usize,
    person: bool,
    exit_code: i32,
}

impl<'a> Interpreter<'a> {
    pub(crate) fn new(
        backend: Box<dyn Backend>,
        dial: Box<Dial<'a>>,
        outputs: Outputs,
        variables: Variables,
        rules: Rules,
        interrupt: Interrupt,
    ) -> Interpreter<'a> {
        Interpreter {
            cancel: backend.cancel_handle(),
            server: backend.server_name().to_owned(),
            backend,
            dial,
            outputs,
            variables,
            rules,
            interrupt,
            batch: Batch::default(),
            depth: 0,
            person: false,
            exit_code: 0,
        }
    }

    /// The exit code; everything is printed.
    pub(crate) fn finish(mut self) -> i32 {
        self.outputs.flush();
        match self.outputs.failure() {
            Some(e) => {
                let text = format!("Sqlcmd: Error: The output could not be written: {e}.\n");
                self.outputs.complain(&text);
                1
            }
            None => self.exit_code,
        }
    }

    /// Runs the lines of a source that may be a file.
    pub(crate) fn run(
        &mut self,
        lines: &mut dyn Lines,
        file: Option<&Path>,
        at_end: AtEnd,
    ) -> Flow {
        if lines.is_interactive() {
            self.person = true;
        }
        let file = file.map(|p| p.display().to_string());
        let mut place = Place { file, line: 0 };
        loop {
            if self.outputs.is_closed() {
                return Flow::Stop;
            }
            self.outputs.flush();
            let flow = match lines.next_line(&self.batch.prompt()) {
                Ok(Line::Text(text)) => {
                    place.line = place.line.saturating_add(1);
                    self.line(&text, &place)
                }
                Ok(Line::Interrupted) => {
                    self.batch.clear();
                    Flow::Next
                }
                Ok(Line::End) => break,
                Err(e) => {
                    let name = place.file.clone().unwrap_or("stdin".to_owned());
                    self.complain(&Complaint::File { name, reason: e.to_string() })
                }
            };
            match flow {
                Flow::Next => {}
                Flow::Abandon if lines.is_interactive() => self.batch.clear(),
                Flow::Abandon | Flow::Stop => return flow,
            }
        }
        match at_end {
            AtEnd::Run => self.go(1, &place),
            AtEnd::Keep => Flow::Next,
        }
    }

    fn line(&mut self, text: &str, place: &Place) -> Flow {
        if !self.person && self.interrupt.take() {
            return self.interrupted();
        }
        if self.batch.takes_commands()
            && let Some(command) = command::parse(text, &self.rules.terminator)
        {
            return self.obey(command, place);
        }
        self.batch.push(text, place.line);
        Flow::Next
    }

    fn obey(&mut self, command: Command, place: &Place) -> Flow {
        match command {
            Command::Go(count) => self.go(count, place),
            Command::Exit(None) | Command::Quit => Flow::Stop,
            Command::Exit(Some(query)) => self.exit_with(&query, place),
            Command::Reset => self.quietly(Batch::clear),
            Command::List => self.show(|s| format!("{}\n", s.batch.text())),
            Command::ListVariables => self.show(Self::variable_list),
            Command::Help => self.show(|_| command::HELP.to_owned()),
            Command::OnError { exit } => {
                self.rules.on_error.stop = exit;
                Flow::Next
            }
            Command::SetVariable(name, value) => self.set_variable(&name, value, place),
            Command::Read(name) => self.read(&name, place),
            Command::Out(name) => self.redirect(&name, place, true),
            Command::Error(name) => self.redirect(&name, place, false),
            Command::Connect(words) => self.connect(&words, place),
            Command::System(name) => self.complain(&Complaint::System { name }),
            Command::Unsupported(name) => self.complain(&Complaint::Unsupported { name }),
            Command::Wrong(name) => {
                self.complain(&Complaint::Command { name, place: place.clone() })
            }
        }
    }

    fn quietly(&mut self, change: fn(&mut Batch)) -> Flow {
        change(&mut self.batch);
        Flow::Next
    }

    fn show(&mut self, text: impl FnOnce(&Self) -> String) -> Flow {
        let text = text(self);
        self.outputs.result(&text);
        Flow::Next
    }

    fn variable_list(&self) -> String {
        self.variables.list().map(|(name, value)| format!("{name} = \"{value}\"\n")).collect()
    }

    /// Tells a mistake of the script; invariant 1.
    pub(crate) fn complain(&mut self, complaint: &Complaint) -> Flow {
        self.outputs.complain(&format!("{complaint}\n"));
        if self.person {
            return Flow::Abandon;
        }
        self.exit_code = 1;
        Flow::Stop
    }

    fn interrupted(&mut self) -> Flow {
        let text = "Sqlcmd: Warning: The last operation was terminated because the user pressed \
                    CTRL+C.\n";
        self.outputs.complain(text);
        if self.person {
            return Flow::Abandon;
        }
        self.exit_code = interrupt::EXIT_CODE;
        Flow::Stop
    }

    /// A command's argument with its variables replaced.
    fn argument(&mut self, text: &str, place: &Place) -> Result<String, Flow> {
        if !self.rules.substitute {
            return Ok(text.to_owned());
        }
        let replaced = substitute::argument(text, &self.variables);
        replaced.map_err(|fault| self.fault(fault, place.clone()))
    }

    fn fault(&mut self, fault: Fault, mut place: Place) -> Flow {
        self.complain(&match fault {
            Fault::Undefined { name } => Complaint::Undefined { name },
            Fault::Malformed { line } => {
                place.line = place.line.saturating_add(line);
                Complaint::Reference { place }
            }
        })
    }

    /// The batch as it is to be sent.
    fn batch_text(&mut self, place: &Place) -> Result<String, Flow> {
        if !self.rules.substitute {
            return Ok(self.batch.text().to_owned());
        }
        let replaced = substitute::batch(self.batch.text(), &self.variables);
        let line = self.batch.first_line();
        replaced.map_err(|fault| self.fault(fault, Place { line, ..place.clone() }))
    }

    fn go(&mut self, count: u32, place: &Place) -> Flow {
        if self.batch.is_blank() {
            self.batch.clear();
            return Flow::Next;
        }
        if self.rules.echo {
            self.show(|s| format!("{}\n", s.batch.text()));
        }
        let text = match self.batch_text(place) {
            Ok(text) => text,
            Err(flow) => return flow,
        };
        self.batch.clear();
        let format = self.variables.format();
        for _ in 0..count {
            let (flow, _) = self.execute(&text, &format);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    /// Sends a batch and decides by its messages what comes next.
    fn execute(&mut self, text: &str, format: &Format) -> (Flow, Tally) {
        let mut printer = Printer::new(format, &mut self.outputs, &self.server);
        let backend = &mut self.backend;
        let run = || backend.run(text, &mut printer);
        let ran = self.interrupt.during(Arc::clone(&self.cancel), run);
        let tally = printer.finish();
        if let Err(e) = ran {
            self.outputs.complain(&format!("Sqlcmd: Error: {e}.\n"));
            self.exit_code = 1;
            return (Flow::Stop, tally);
        }
        let flow = if self.outputs.is_closed() {
            Flow::Stop
        } else if self.interrupt.take() {
            self.interrupted()
        } else {
            self.judge(&tally)
        };
        (flow, tally)
    }

    fn judge(&mut self, tally: &Tally) -> Flow {
        if let Some(number) = tally.exit {
            self.exit_code = number;
            return Flow::Stop;
        }
        let OnError { stop, severity } = self.rules.on_error;
        let counts = severity.filter(|s| *s > 0);
        if tally.worst < counts.unwrap_or(11) {
            return Flow::Next;
        }
        if counts.is_some() {
            self.exit_code = i32::from(tally.worst);
        } else if stop {
            self.exit_code = 1;
        }
        if stop { Flow::Stop } else { Flow::Next }
    }

    /// EXIT() and EXIT(query).
    fn exit_with(&mut self, query: &str, place: &Place) -> Flow {
        let query = match self.argument(query, place) {
            Ok(query) => query,
            Err(flow) => return flow,
        };
        let batch = match self.batch_text(place) {
            Ok(text) => text,
            Err(flow) => return flow,
        };
        let text = [batch.as_str(), query.as_str()].join("\n");
        if !text.trim().is_empty() {
            let format = self.variables.format();
            let (flow, tally) = self.execute(&text, &format);
            if !query.is_empty() && flow == Flow::Next {
                self.exit_code = exit_value(&tally);
            }
        }
        Flow::Stop
    }

    fn set_variable(&mut self, name: &str, value: Option<String>, place: &Place) -> Flow {
        let value = match value.map(|v| self.argument(&v, place)).transpose() {
            Ok(value) => value,
            Err(flow) => return flow,
        };
        match self.variables.set(name, value.as_deref()) {
            Ok(()) => Flow::Next,
            Err(complaint) => self.complain(&complaint),
        }
    }

    fn read(&mut self, name: &str, place: &Place) -> Flow {
        let name = match self.argument(name, place) {
            Ok(name) => name,
            Err(flow) => return flow,
        };
        self.read_file(Path::new(&name), AtEnd::Keep)
    }

    /// Runs a file: an argument of the command line, or `:r`.
    pub(crate) fn read_file(&mut self, path: &Path, at_end: AtEnd) -> Flow {
        if self.depth >= NESTING_MAX {
            return self.complain(&Complaint::Nesting { limit: NESTING_MAX });
        }
        match FileLines::open(path) {
            Ok(mut lines) => {
                self.depth += 1;
                let flow = self.run(&mut lines, Some(path), at_end);
                self.depth -= 1;
                flow
            }
            Err(e) => self.complain(&Complaint::file(path, &e)),
        }
    }

    fn redirect(&mut self, name: &str, place: &Place, results: bool) -> Flow {
        let name = match self.argument(name, place) {
            Ok(name) => name,
            Err(flow) => return flow,
        };
        let sink: Box<dyn io::Write> = if name.eq_ignore_ascii_case("stdout") {
            Box::new(io::stdout())
        } else if name.eq_ignore_ascii_case("stderr") {
            Box::new(io::stderr())
        } else {
            let path = Path::new(&name);
            match files::output(path) {
                Ok(sink) => sink,
                Err(e) => return self.complain(&Complaint::file(path, &e)),
            }
        };
        if results {
            self.outputs.set_results(sink)
        } else {
            self.outputs.set_errors(sink)
        }
        Flow::Next
    }

    /// `:connect host[,port] [-U user] [-P password]`.
    fn connect(&mut self, words: &[String], place: &Place) -> Flow {
        let wrong = Complaint::Command { name: ":connect".to_owned(), place: place.clone() };
        let mut replaced = Vec::new();
        for word in words {
            match self.argument(word, place) {
                Ok(word) => replaced.push(word),
                Err(flow) => return flow,
            }
        }
        let (server, mut rest) = match replaced.split_first() {
            Some((server, rest)) if !server.starts_with('-') => (server, rest),
            _ => return self.complain(&wrong),
        };
        let (mut user, mut password) = (None, None);
        while let [letter, value, after @ ..] = rest {
            match letter.as_str() {
                "-U" => user = Some(value.as_str()),
                "-P" => password = Some(value.as_str()),
                _ => return self.complain(&wrong),
            }
            rest = after;
        }
        if !rest.is_empty() {
            return self.complain(&wrong);
        }
        match (self.dial)(server, user, password) {
            Ok(backend) => {
                self.cancel = backend.cancel_handle();
                self.server = backend.server_name().to_owned();
                self.backend = backend;
                self.variables.set_own("SQLCMDSERVER", server);
                self.variables.set_own("SQLCMDUSER", user.unwrap_or(""));
                Flow::Next
            }
            Err(e) => {
                // A script must not go on against the server that it wanted to leave.
                self.outputs.complain(&format!("Sqlcmd: Error: {e}.\n"));
                self.exit_code = if self.person { self.exit_code } else { 1 };
                if self.person { Flow::Abandon } else { Flow::Stop }
            }
        }
    }
}

fn exit_value(tally: &Tally) -> i32 {
    match &tally.first_cell {
        _ if tally.worst > 10 => EXIT_ERROR,
        FirstCell::None => EXIT_NO_ROWS,
        FirstCell::Text(cell) => cell.trim().parse().unwrap_or(EXIT_NO_NUMBER),
    }
}
