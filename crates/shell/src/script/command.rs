//! Lines that are commands of the shell: GO and those that begin with a colon.
//!
//! A command stands alone on its line, in any case. GO, EXIT, QUIT, RESET, ED and `!!` need no
//! colon; other words without one are T-SQL.

/// A command with its arguments as they were written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// Run the batch so many times.
    Go(u32),
    /// End, with what stood in parentheses: EXIT, EXIT(), EXIT(query).
    Exit(Option<String>),
    /// End.
    Quit,
    /// Forget the batch.
    Reset,
    /// Show the batch.
    List,
    /// Show the variables.
    ListVariables,
    /// Read lines from a file.
    Read(String),
    /// Set a variable, or forget it.
    SetVariable(String, Option<String>),
    /// What an error of a batch does: end, or nothing.
    OnError { exit: bool },
    /// Results go to a file, stdout or stderr.
    Out(String),
    /// Errors go to a file, stdout or stderr.
    Error(String),
    /// Another connection: the words behind it.
    Connect(Vec<String>),
    /// The list of commands.
    Help,
    /// Run a program, or an editor.
    System(String),
    /// A command of sqlcmd that we don't have.
    Unsupported(String),
    /// A command with wrong arguments.
    Wrong(String),
}

/// What `:help` prints.
pub(crate) const HELP: &str = "\
GO [n]                 runs the batch (n times)
[:]EXIT                ends without running the batch
[:]EXIT()              runs the batch, then ends
[:]EXIT(query)         runs the batch and the query, ends with its first value as exit code
[:]QUIT                ends
[:]RESET               forgets the batch
:LIST                  shows the batch
:LISTVAR               shows the scripting variables
:SETVAR name [\"value\"] sets or forgets a scripting variable, $(name) in scripts
:R file                reads lines from a file
:ON ERROR exit|ignore  ends at an error, or goes on
:OUT file              sends results to a file, stdout or stderr
:ERROR file            sends errors to a file, stdout or stderr
:CONNECT host[,port] [-U user] [-P password]
                       changes to another server
";

/// The command on a line that stands in plain text; `None` for T-SQL.
pub(crate) fn parse(line: &str, terminator: &str) -> Option<Command> {
    let line = line.trim();
    if let Some(rest) = strip_word(line, terminator) {
        return go(rest);
    }
    let (colon, body) = match line.strip_prefix(':') {
        Some(body) => (true, body),
        None => (false, line),
    };
    if let Some(program) = body.strip_prefix("!!") {
        return Some(Command::System(format!("!!{}", program.trim_end())));
    }
    let end = body.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(body.len());
    let (word, rest) = body.split_at(end);
    let known = without_colon(&word.to_ascii_uppercase(), rest);
    match (known, colon) {
        (Some(command), _) => Some(command),
        (None, true) => with_colon(&word.to_ascii_uppercase(), rest).or_else(|| unknown(word)),
        (None, false) => None,
    }
}

/// The rest of a line that begins with a word and then something else than a name goes on.
fn strip_word<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    let head = line.get(..word.len())?;
    let rest = &line[word.len()..];
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || "_@#$".contains(c));
    (head.eq_ignore_ascii_case(word) && ends).then_some(rest)
}

/// GO alone, with a semicolon, a count or a comment; anything else behind GO and a blank is
/// wrong, and what has no blank is T-SQL.
fn go(rest: &str) -> Option<Command> {
    let plain = rest.split("--").next().unwrap_or("");
    let spaced = plain.starts_with(|c: char| c.is_whitespace());
    let count = plain.trim().trim_end_matches(';').trim_end();
    if count.is_empty() {
        return Some(Command::Go(1));
    }
    if !spaced {
        return None;
    }
    match count.parse() {
        Ok(n) if n > 0 => Some(Command::Go(n)),
        _ => Some(Command::Wrong("GO".to_owned())),
    }
}

/// Commands that osql had, which need no colon.
fn without_colon(word: &str, rest: &str) -> Option<Command> {
    let alone = argument(rest).is_empty();
    let spaced = rest.is_empty() || rest.starts_with(char::is_whitespace);
    match word {
        "EXIT" => exit(rest),
        "QUIT" if spaced || alone => Some(if alone { Command::Quit } else { wrong("QUIT") }),
        "RESET" if alone => Some(Command::Reset),
        "ED" if alone => Some(Command::System("ED".to_owned())),
        _ => None,
    }
}

fn exit(rest: &str) -> Option<Command> {
    let inside = argument(rest);
    if inside.is_empty() {
        return Some(Command::Exit(None));
    }
    if !rest.starts_with(|c: char| c.is_whitespace() || c == '(') {
        return None;
    }
    // A query may have comments of its own.
    let whole = rest.trim().trim_end_matches(';').trim_end();
    let query = whole.strip_prefix('(').and_then(|q| q.strip_suffix(')'));
    Some(match query {
        Some(query) => Command::Exit(Some(query.trim().to_owned())),
        None => wrong("EXIT"),
    })
}

fn with_colon(word: &str, rest: &str) -> Option<Command> {
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let text = argument(rest);
    let alone = |command: Command| if text.is_empty() { command } else { wrong(word) };
    let named = |make: fn(String) -> Command| match unquoted(text) {
        name if name.is_empty() => wrong(word),
        name => make(name),
    };
    Some(match word {
        "RESET" | "QUIT" | "ED" => wrong(word),
        "LIST" => alone(Command::List),
        "LISTVAR" => alone(Command::ListVariables),
        "HELP" => alone(Command::Help),
        "R" => named(Command::Read),
        "OUT" => named(Command::Out),
        "ERROR" => named(Command::Error),
        "SETVAR" => set_variable(text),
        "ON" => on_error(text),
        "CONNECT" => match words(text) {
            list if list.is_empty() => wrong(word),
            list => Command::Connect(list),
        },
        "PERFTRACE" | "SERVERLIST" | "XML" => Command::Unsupported(format!(":{word}")),
        _ => return None,
    })
}

fn unknown(word: &str) -> Option<Command> {
    Some(wrong(word))
}

/// sqlcmd names commands with their colon, except those that need none.
fn wrong(word: &str) -> Command {
    let bare = matches!(word, "GO" | "EXIT" | "QUIT" | "RESET" | "ED");
    let word = word.to_ascii_lowercase();
    Command::Wrong(if bare { word.to_ascii_uppercase() } else { format!(":{word}") })
}

fn set_variable(text: &str) -> Command {
    let (name, value) = match text.split_once(char::is_whitespace) {
        Some((name, value)) => (name, value.trim()),
        None => (text, ""),
    };
    if !super::variables::is_name(name) {
        return wrong("SETVAR");
    }
    if value.is_empty() {
        return Command::SetVariable(name.to_owned(), None);
    }
    // Blanks want quotes, and quotes come in pairs.
    let whole = if value.starts_with('"') { quoted(value) } else { bare_value(value) };
    match whole {
        Some(value) => Command::SetVariable(name.to_owned(), Some(value)),
        None => wrong("SETVAR"),
    }
}

fn bare_value(value: &str) -> Option<String> {
    (!value.contains('"') && !value.contains(char::is_whitespace)).then(|| value.to_owned())
}

/// A text in double quotes, `""` within it for one.
fn quoted(text: &str) -> Option<String> {
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    let pairs = inside.replace("\"\"", "");
    (text.len() > 1 && !pairs.contains('"')).then(|| inside.replace("\"\"", "\""))
}

fn unquoted(text: &str) -> String {
    quoted(text).unwrap_or_else(|| text.to_owned())
}

fn on_error(text: &str) -> Command {
    let list = words(&text.to_ascii_uppercase());
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    match list.as_slice() {
        ["ERROR", "EXIT"] => Command::OnError { exit: true },
        ["ERROR", "IGNORE"] => Command::OnError { exit: false },
        _ => Command::Wrong(":on error".to_owned()),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(unquoted).collect()
}

/// An argument without blanks around it and without a comment behind a blank.
fn argument(rest: &str) -> &str {
    let mut in_quotes = false;
    let mut after_blank = true;
    for (at, c) in rest.char_indices() {
        if !in_quotes && after_blank && rest[at..].starts_with("--") {
            return rest[..at].trim();
        }
        in_quotes ^= c == '"';
        after_blank = c.is_whitespace();
    }
    rest.trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(n: u32) -> Option<Command> {
        Some(Command::Go(n))
    }

    fn no(name: &str) -> Option<Command> {
        Some(Command::Wrong(name.to_owned()))
    }

    #[test]
    fn go_stands_alone() {
        let cases = [
            ("GO", go(1)),
            ("  go  ", go(1)),
            ("Go;", go(1)),
            ("go 5", go(5)),
            ("GO\t100000 -- often", go(100_000)),
            ("go -- now", go(1)),
            ("go--now", go(1)),
            ("go x", no("GO")),
            ("go 0", no("GO")),
            ("go -1", no("GO")),
            ("go 99999999999", no("GO")),
            ("goto x", None),
            ("go2", None),
            ("go_on", None),
            ("select 1 go", None),
        ];
        for (line, command) in cases {
            assert_eq!(parse(line, "GO"), command, "{line}");
        }
        assert_eq!(parse("run 2", "RUN"), go(2));
        assert_eq!(parse("go", "RUN"), None);
    }

    #[test]
    fn commands_and_their_arguments() {
        let s = str::to_owned;
        let set = |n: &str, v: Option<&str>| Some(Command::SetVariable(s(n), v.map(s)));
        let cases = [
            ("exit", Some(Command::Exit(None))),
            (":EXIT -- bye", Some(Command::Exit(None))),
            ("exit()", Some(Command::Exit(Some(s(""))))),
            (":exit (select 3)", Some(Command::Exit(Some(s("select 3"))))),
            ("exit(select max(x) from t);", Some(Command::Exit(Some(s("select max(x) from t"))))),
            ("exit now", no("EXIT")),
            ("exited", None),
            ("quit", Some(Command::Quit)),
            ("quit now", no("QUIT")),
            ("reset", Some(Command::Reset)),
            (":reset", Some(Command::Reset)),
            (":reset x", no("RESET")),
            ("reset x", None),
            (":list", Some(Command::List)),
            ("list", None),
            (":listvar", Some(Command::ListVariables)),
            (":r a.sql", Some(Command::Read(s("a.sql")))),
            (":R \"a b.sql\" -- why", Some(Command::Read(s("a b.sql")))),
            (":r", no(":r")),
            ("r a.sql", None),
            (":setvar x 1", set("x", Some("1"))),
            (":SetVar x \"a \"\"b\"\" -- c\"", set("x", Some("a \"b\" -- c"))),
            (":setvar x", set("x", None)),
            (":setvar x \"\"", set("x", Some(""))),
            (":setvar", no(":setvar")),
            (":setvar x a b", no(":setvar")),
            (":setvar x \"a", no(":setvar")),
            (":setvar x \"", no(":setvar")),
            (":on error exit", Some(Command::OnError { exit: true })),
            (":ON ERROR Ignore", Some(Command::OnError { exit: false })),
            (":on error", no(":on error")),
            ("on error exit", None),
            (":out x.txt", Some(Command::Out(s("x.txt")))),
            (":error stdout", Some(Command::Error(s("stdout")))),
            ("!!ls", Some(Command::System(s("!!ls")))),
            (":!! ls", Some(Command::System(s("!! ls")))),
            ("ed", Some(Command::System(s("ED")))),
            (":xml on", Some(Command::Unsupported(s(":XML")))),
            (":nonsense", no(":nonsense")),
            (":", no(":")),
            ("select 1", None),
            ("", None),
            ("é", None),
        ];
        for (line, command) in cases {
            assert_eq!(parse(line, "GO"), command, "{line}");
        }
    }
}
