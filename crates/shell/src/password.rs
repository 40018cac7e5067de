//! The password of a login: of the environment, or typed without being shown.

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, BufRead, IsTerminal, Write};

const VARIABLE: &str = "SQLCMDPASSWORD";

/// The password that the command line did not give.
pub(crate) fn obtain() -> io::Result<String> {
    if let Ok(password) = std::env::var(VARIABLE) {
        return Ok(password);
    }
    if !io::stdin().is_terminal() {
        let why = "no password: give it with -P or in SQLCMDPASSWORD";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    ask()
}

fn ask() -> io::Result<String> {
    let mut stderr = io::stderr();
    stderr.write_all(b"Password: ")?;
    let stdin = io::stdin();
    let shown = tcgetattr(&stdin)?;
    let mut hidden: Termios = shown.clone();
    hidden.local_modes -= LocalModes::ECHO;
    tcsetattr(&stdin, OptionalActions::Flush, &hidden)?;
    let mut line = String::new();
    let read = stdin.lock().read_line(&mut line);
    tcsetattr(&stdin, OptionalActions::Flush, &shown)?;
    stderr.write_all(b"\n")?;
    read?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
