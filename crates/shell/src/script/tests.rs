//! Stories of scripts: what is sent, what is printed, what the exit code is.

use super::*;
use crate::backend::{Backend, BackendError, Cancel};
use crate::files::Scratch;
use crate::interrupt::Interrupt;
use crate::print::tests::{SharedOutput, column, done};
use crate::print::{Outputs, Redirect};
use base::SqlError;
use session::ResultSink;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use types::{SqlType, Value};

type SentTexts = Rc<RefCell<Vec<String>>>;

/// A server that notes batches, and obeys a few words of them: `rows N` gives a table of the
/// numbers below N, `error S` an error of severity S, `leave N` one of state 127, `cut` ends the
/// connection, `interrupt` is a person's Ctrl-C.
struct Fake {
    sent: SentTexts,
    interrupt: Interrupt,
}

struct Nobody;
impl Cancel for Nobody {
    fn cancel(&self) {}
}

impl Backend for Fake {
    fn server_name(&self) -> &str {
        "SRV"
    }

    fn run(&mut self, batch: &str, sink: &mut dyn ResultSink) -> Result<(), BackendError> {
        self.sent.borrow_mut().push(batch.to_owned());
        for line in batch.lines() {
            let number = line.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
            match line.split(' ').next() {
                Some("rows") => {
                    let _ = sink.columns(&[column("n", SqlType::Int)]);
                    (0..number).all(|n| sink.row(&[Value::Int(n)]).is_ok());
                    sink.done(done(Some(number as u64)));
                }
                Some("error") => {
                    sink.message(&SqlError::raw(50000, number as u8, 1, "wrong".into()).at_line(1));
                }
                Some("leave") => sink.message(&SqlError::raw(number, 16, 127, "out".into())),
                Some("cut") => return Err(BackendError::Closed),
                Some("interrupt") => self.interrupt.press(),
                _ => {}
            }
        }
        Ok(())
    }

    fn cancel_handle(&self) -> Arc<dyn Cancel> {
        Arc::new(Nobody)
    }
}

#[derive(Debug)]
struct Story {
    sent: Vec<String>,
    printed: String,
    complaints: String,
    code: i32,
}

fn rules() -> Rules {
    let on_error = OnError::default();
    Rules { substitute: true, echo: false, terminator: "GO".to_owned(), on_error }
}

fn tell(rules: Rules, lines: &mut dyn Lines) -> Story {
    let (out, err, sent) = (SharedOutput::default(), SharedOutput::default(), SentTexts::default());
    let outputs = Outputs::new(Box::new(out.clone()), Box::new(err.clone()), Redirect::None);
    let interrupt = Interrupt::default();
    let backend = Box::new(Fake { sent: sent.clone(), interrupt: interrupt.clone() });
    let dial = |server: &str, _: Option<&str>, _: Option<&str>| match server {
        "other" => {
            let backend = Fake { sent: SentTexts::default(), interrupt: Interrupt::default() };
            Ok(Box::new(backend) as Box<dyn Backend>)
        }
        _ => Err(BackendError::Lost("no way".to_owned())),
    };
    let variables = Variables::new(|name| (name == "HERE").then(|| "env".to_owned()));
    let mut interpreter =
        Interpreter::new(backend, Box::new(dial), outputs, variables, rules, interrupt);
    interpreter.run(lines, None, AtEnd::Run);
    let code = interpreter.finish();
    let sent = sent.borrow().clone();
    Story { sent, printed: out.text(), complaints: err.text(), code }
}

fn script(text: &str) -> Story {
    tell(rules(), &mut TextLines(text.lines()))
}

/// A person who types.
struct Typist<'t>(std::str::Lines<'t>, Vec<String>);
impl Lines for Typist<'_> {
    fn next_line(&mut self, prompt: &str) -> std::io::Result<Line> {
        self.1.push(prompt.to_owned());
        Ok(match self.0.next() {
            Some("^C") => Line::Interrupted,
            Some(line) => Line::Text(line.to_owned()),
            None => Line::End,
        })
    }
    fn is_interactive(&self) -> bool {
        true
    }
}

#[test]
fn go_sends_what_stands_before_it_as_often_as_it_says() {
    let story = script("a\n\nb\nGO\ngo\n \nGO 3\nc\ngo 2\nd");
    assert_eq!(story.sent, ["a\n\nb", "c", "c", "d"]);
    assert_eq!((story.code, story.complaints.as_str()), (0, ""));
}

/// The shell cuts scripts where the language's own splitter does.
#[test]
fn batches_are_those_of_the_language() {
    let scripts = [
        "select 1\nGO\n\nselect 2\n  go 3 -- thrice\ngo\nselect 3\nGo;\nselect 4",
        "select '\ngo\n'\ngo\nselect [\ngo\n]\ngo",
        "/* /*\ngo\n*/\nGO\n*/ select 1\ngo\nselect \"\ngo\n\"",
        "-- it's\ngo\nselect 'it''s\nGO\n'",
        "select gone\ngoto x\ngo_on\ngo2\ngo",
        "go\r\n\r\ngo\r\nselect 1\r\ngo\r\n",
    ];
    for text in scripts {
        let expected: Vec<String> = tsql::batches::split(text)
            .iter()
            .flat_map(|b| std::iter::repeat_n(b.text.replace('\r', ""), b.count as usize))
            .map(|t| t.trim_end_matches('\n').to_owned())
            .collect();
        assert_eq!(script(text).sent, expected, "{text}");
    }
}

#[test]
fn seeds_of_nested_quotes_do_not_hide_go() {
    let story = script("print 'a -- b'\ngo\nprint \"c /* d\"\ngo\nselect [e'f]\ngo");
    assert_eq!(story.sent.len(), 3);
}

#[test]
fn variables_are_replaced_when_the_batch_is_sent() {
    let text = ":setvar t dbo.T\nselect $(T), '$(here)$(HERE)'\n:setvar t \"x y\"\n\
                :setvar here -\ngo";
    assert_eq!(script(text).sent, ["select x y, '--'"]);
    let off = Rules { substitute: false, ..rules() };
    let story = tell(off, &mut TextLines("select $(t)".lines()));
    assert_eq!(story.sent, ["select $(t)"]);
}

#[test]
fn mistakes_in_a_script_end_it() {
    let cases = [
        ("select 1\ngo\nselect $(x)\ngo", "'x' scripting variable not defined."),
        ("\n\nselect 1,\n$(x", "Syntax error at line 4."),
        ("a\ngo x", "Syntax error at line 2 near command 'GO'."),
        (":setvar", "Syntax error at line 1 near command ':setvar'."),
        (":setvar SQLCMDSERVER x", "The scripting variable: 'SQLCMDSERVER' is read-only."),
        (
            ":setvar SQLCMDHEADERS x",
            "The environment variable: 'SQLCMDHEADERS' has invalid value: 'x'.",
        ),
        (
            ":r /nowhere/a.sql",
            "Error occurred while opening or operating on file /nowhere/a.sql \
             (Reason: No such file or directory (os error 2)).",
        ),
        ("!!ls", "The command '!!ls' is disabled: this shell runs no other programs."),
        (":xml on", "The command ':XML' is not supported."),
        (":what", "Syntax error at line 1 near command ':what'."),
        (":connect", "Syntax error at line 1 near command ':connect'."),
        (":connect a -X", "Syntax error at line 1 near command ':connect'."),
        (":connect a", "no way."),
        ("cut\ngo", "the connection was closed by the server."),
    ];
    for (text, complaint) in cases {
        let story = script(&format!("{text}\nafter\ngo"));
        assert_eq!(story.complaints, format!("Sqlcmd: Error: {complaint}\n"), "{text}");
        assert_eq!(story.code, 1, "{text}");
        assert!(!story.sent.contains(&"after".to_owned()), "{text}");
    }
}

#[test]
fn exit_codes_are_sqlcmds() {
    let with = |stop, severity| Rules { on_error: OnError { stop, severity }, ..rules() };
    let text = "error 16\ngo\nerror 10\ngo\nerror 11";
    let cases = [
        (with(false, None), text, 3, 0),
        (with(true, None), text, 1, 1),
        (with(false, Some(12)), text, 3, 16),
        (with(true, Some(17)), text, 3, 0),
        (with(true, Some(16)), text, 1, 16),
        (rules(), ":on error exit\nerror 11\ngo\nx", 1, 1),
        (with(true, None), ":on error ignore\nerror 11\ngo\nx", 2, 0),
        (rules(), "leave 50123\ngo\nx", 1, 50123),
        (rules(), "a\nexit\nx", 0, 0),
        (rules(), "a\ngo\nquit\nx", 1, 0),
        (rules(), "a\nexit()", 1, 0),
        (rules(), "a\nexit(rows 7)", 1, 0),
        (rules(), "exit(select)", 1, -101),
        (rules(), "exit(error 16)", 1, -100),
        (rules(), "interrupt\ngo\nx", 1, 130),
    ];
    for (rules, text, sent, code) in cases {
        let story = tell(rules.clone(), &mut TextLines(text.lines()));
        assert_eq!((story.sent.len(), story.code), (sent, code), "{text} {rules:?}");
    }
    let story = script("rows 1\nexit(rows 3)");
    assert_eq!(story.sent, ["rows 1\nrows 3"]);
}

#[test]
fn files_include_files_but_not_for_ever() {
    let scratch = Scratch::new().unwrap();
    let path = |name: &str| scratch.path().join(name).display().to_string();
    std::fs::write(path("a.sql"), "from a\n:r $(dir)/b.sql\nmore of a\n").unwrap();
    std::fs::write(path("b.sql"), "from b\r\ngo\r\nrest of b\r\n").unwrap();
    std::fs::write(path("loop.sql"), format!(":r \"{}\"\n", path("loop.sql"))).unwrap();
    std::fs::write(path("bad.sql"), "\n:list x\n").unwrap();
    let dir = scratch.path().display();
    let story = script(&format!(":setvar dir {dir}\nx\n:r $(dir)/a.sql\ny\ngo"));
    assert_eq!(story.sent, ["x\nfrom a\nfrom b", "rest of b\nmore of a\ny"]);
    let story = script(&format!(":r {}", path("loop.sql")));
    let complaint = "Sqlcmd: Error: Files included by :r are nested more than 64 deep.\n";
    assert_eq!((story.complaints.as_str(), story.code), (complaint, 1));
    let story = script(&format!(":r {}", path("bad.sql")));
    assert_eq!(
        story.complaints,
        format!(
            "Sqlcmd: Error: Syntax error at line 2 near command ':list' in file '{}'.\n",
            path("bad.sql")
        )
    );
}

#[test]
fn results_and_errors_go_where_they_are_sent() {
    let scratch = Scratch::new().unwrap();
    let path = |name: &str| scratch.path().join(name).display().to_string();
    let (out, err) = (path("out.txt"), path("err.txt"));
    let story = script(&format!(":out {out}\n:error {err}\nrows 1\nerror 16\ngo"));
    assert_eq!((story.printed.as_str(), story.complaints.as_str()), ("", ""));
    let table = "n          \n-----------\n          0\n\n(1 rows affected)\n";
    assert_eq!(std::fs::read_to_string(out).unwrap(), table);
    let message = "Msg 50000, Level 16, State 1, Server SRV, Line 1\nwrong\n";
    assert_eq!(std::fs::read_to_string(err).unwrap(), message);
}

#[test]
fn the_batch_and_the_variables_can_be_looked_at() {
    let text = "a\n  b $(x)\n:list\nreset\n:list\n:setvar x 1\n:setvar sqlcmdcolsep |\n:listvar";
    let story = script(text);
    assert!(story.printed.starts_with("a\n  b $(x)\n\nSQLCMDCOLSEP = \"|\"\n"));
    assert!(story.printed.ends_with("X = \"1\"\n"));
    let echo = Rules { echo: true, ..rules() };
    let story = tell(echo, &mut TextLines("a\n$(HERE)\ngo 2".lines()));
    assert_eq!(story.printed, "a\n$(HERE)\n");
    assert_eq!(story.sent, ["a\nenv", "a\nenv"]);
}

#[test]
fn a_person_gets_prompts_and_second_chances() {
    let text = "a '\nx'\n^C\n:nonsense\nb $(x)\ngo\n:connect nowhere\ninterrupt\ngo\nc\ngo\n\
                :connect other\nd\ngo\nnever";
    let mut typed = Typist(text.lines(), Vec::new());
    // A person's last line without GO is not run: the terminal ends, AtEnd::Keep.
    let story = tell(rules(), &mut typed);
    assert_eq!(typed.1[..6], ["1> ", "2~ ", "3> ", "1> ", "1> ", "2> "]);
    assert_eq!(story.sent, ["interrupt", "c"]);
    assert_eq!(story.code, 0);
    let complaints: Vec<&str> = story.complaints.lines().collect();
    assert_eq!(complaints.len(), 4, "{complaints:?}");
    assert!(complaints[3].starts_with("Sqlcmd: Warning: The last operation was terminated"));
}
