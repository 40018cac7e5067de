//! `ghostlight sql`: connects, chooses where lines come from, runs them.

use crate::backend::{Backend, BackendError, Connector};
use crate::embedded::{EmbeddedConnector, Engine, EngineOptions, OpenEngine};
use crate::files::{self, Scratch};
use crate::interactive::Terminal;
use crate::interrupt::Interrupt;
use crate::options::SqlOptions;
use crate::password;
use crate::print::{Outputs, Redirect};
use crate::remote::{RemoteConnector, Target};
use crate::script::{AtEnd, Flow, Interpreter, OnError, ReaderLines, Rules, TextLines, Variables};
use session::Login;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

const APPLICATION: &str = "SQLCMD";

/// Runs what the options say; the exit code.
pub(crate) fn run(options: &SqlOptions, open: OpenEngine) -> i32 {
    let interrupt = Interrupt::listen();
    match prepare(options).and_then(|prepared| match &options.server {
        Some(server) => with_server(options, server, prepared, interrupt),
        None => with_engine(options, open, prepared, interrupt),
    }) {
        Ok(code) => code,
        Err(why) => {
            // When nobody reads stderr the exit code says it all.
            let _ = io::Write::write_all(&mut io::stderr(), format!("{why}\n").as_bytes());
            1
        }
    }
}

/// What stands ready before there is a connection.
struct ScriptSetup {
    variables: Variables,
    outputs: Outputs,
}

fn prepare(options: &SqlOptions) -> Result<ScriptSetup, String> {
    for path in scripts(options) {
        if !path.is_file() && !is_pipe(path) {
            return Err(format!("Sqlcmd: '{}': Invalid filename.", path.display()));
        }
    }
    let redirect = match options.redirect {
        None => Redirect::None,
        Some(0) => Redirect::Errors,
        Some(_) => Redirect::All,
    };
    let mut outputs = Outputs::standard(redirect);
    if let Some(path) = &options.output {
        let sink = files::output(path)
            .map_err(|e| format!("Sqlcmd: Error: '{}': {e}.", path.display()))?;
        outputs.set_results(sink);
    }
    Ok(ScriptSetup { variables: variables(options)?, outputs })
}

fn scripts(options: &SqlOptions) -> impl Iterator<Item = &PathBuf> {
    options.files.iter().chain(&options.input)
}

/// Something that is there and is read once, like /dev/stdin.
fn is_pipe(path: &std::path::Path) -> bool {
    path.exists() && !path.is_dir()
}

fn variables(options: &SqlOptions) -> Result<Variables, String> {
    let mut variables = Variables::new(|name| std::env::var(name).ok());
    variables.set_trim(options.trim);
    let own = [
        ("SQLCMDCOLSEP", options.separator.clone()),
        ("SQLCMDCOLWIDTH", options.screen_width.map(|n| n.to_string())),
        ("SQLCMDERRORLEVEL", options.error_level.map(|n| n.to_string())),
        ("SQLCMDHEADERS", options.headers.map(|n| n.to_string())),
        ("SQLCMDMAXFIXEDTYPEWIDTH", options.fixed_width.map(|n| n.to_string())),
        ("SQLCMDMAXVARTYPEWIDTH", options.variable_width.map(|n| n.to_string())),
    ];
    let given = options.variables.iter().map(|(name, value)| (name.as_str(), Some(value.clone())));
    for (name, value) in own.into_iter().chain(given) {
        if let Some(value) = value {
            variables.set(name, Some(&value)).map_err(|c| c.to_string())?;
        }
    }
    variables.set_own("SQLCMDSERVER", options.server.as_deref().unwrap_or(""));
    variables.set_own("SQLCMDUSER", options.user.as_deref().unwrap_or(""));
    variables.set_own("SQLCMDDBNAME", options.database.as_deref().unwrap_or(""));
    variables.set_own("SQLCMDWORKSTATION", &workstation(options));
    variables.set_own("SQLCMDPACKETSIZE", &options.packet_size.to_string());
    Ok(variables)
}

fn workstation(options: &SqlOptions) -> String {
    options.workstation.clone().unwrap_or_else(files::host_name)
}

/// Who this client is; embedded, the administrator.
fn login(options: &SqlOptions, user: &str) -> Login {
    Login {
        user: user.to_owned(),
        host: workstation(options),
        application: APPLICATION.to_owned(),
        library: "ghostlight".to_owned(),
        process_id: std::process::id(),
        database: options.database.clone().unwrap_or_default(),
        odbc_defaults: true,
        packet_bytes: u32::from(options.packet_size),
        ..Login::default()
    }
}

fn with_server(
    options: &SqlOptions,
    server: &str,
    prepared: ScriptSetup,
    interrupt: Interrupt,
) -> Result<i32, String> {
    let (user, password) = (options.user.as_deref(), options.password.as_deref());
    let login = login(options, user.unwrap_or(""));
    let backend = dial(options, server, &login, password).map_err(refused)?;
    Ok(interpret(options, backend, prepared, interrupt))
}

fn refused(e: BackendError) -> String {
    format!("Sqlcmd: Error: {e}.")
}

/// A connection to a server: of the command line, or of `:connect`.
fn dial(
    options: &SqlOptions,
    server: &str,
    login: &Login,
    password: Option<&str>,
) -> Result<Box<dyn Backend>, BackendError> {
    if login.user.is_empty() {
        let why = "integrated authentication is not supported: give a login with -U";
        return Err(BackendError::Lost(why.to_owned()));
    }
    let password = match password {
        Some(password) => password.to_owned(),
        None => password::obtain().map_err(|e| BackendError::Lost(e.to_string()))?,
    };
    let certificate = match &options.certificate {
        Some(path) => Some(
            files::read(path)
                .map_err(|e| BackendError::Lost(format!("'{}': {e}", path.display())))?,
        ),
        None => None,
    };
    let target = Target::parse(server)?
        .with_password(&password)
        .with_encryption(options.encrypt.unwrap_or_default())
        .with_trust(options.trust)
        .with_certificate(certificate)
        .with_timeout(options.login_timeout);
    RemoteConnector::new(target).connect(login)
}

fn with_engine(
    options: &SqlOptions,
    open: OpenEngine,
    prepared: ScriptSetup,
    interrupt: Interrupt,
) -> Result<i32, String> {
    let scratch = match &options.data {
        Some(_) => None,
        None => Some(Scratch::new().map_err(|e| format!("Sqlcmd: Error: {e}."))?),
    };
    let folder = match (&options.data, &scratch) {
        (Some(folder), _) => folder.as_path(),
        (None, Some(scratch)) => scratch.path(),
        (None, None) => return Err("Sqlcmd: Error: no folder for the engine.".to_owned()),
    };
    let wishes =
        EngineOptions { max_memory: options.max_memory, trace_flags: options.trace_flags.clone() };
    let engine: Box<dyn Engine> = open(folder, wishes).map_err(|e| refused(e.into()))?;
    let connector = EmbeddedConnector { engine: engine.as_ref() };
    let code = connector
        .connect(&login(options, "sa"))
        .map(|backend| interpret(options, backend, prepared, interrupt))
        .map_err(refused);
    let stopped = engine.stop().map_err(|e| refused(e.into()));
    code.and_then(|code| stopped.map(|()| code))
}

fn interpret(
    options: &SqlOptions,
    backend: Box<dyn Backend>,
    prepared: ScriptSetup,
    interrupt: Interrupt,
) -> i32 {
    let rules = Rules {
        substitute: !options.no_substitution,
        echo: options.echo,
        terminator: options.terminator.clone().unwrap_or("GO".to_owned()),
        on_error: OnError { stop: options.stop_on_error, severity: options.severity },
    };
    let again = move |server: &str, user: Option<&str>, password: Option<&str>| {
        // The database of -d is that of the first connection.
        let login = Login { database: String::new(), ..login(options, user.unwrap_or("")) };
        dial(options, server, &login, password)
    };
    let ScriptSetup { variables, outputs } = prepared;
    let mut interpreter =
        Interpreter::new(backend, Box::new(again), outputs, variables, rules, interrupt);
    run_all(options, &mut interpreter);
    interpreter.finish()
}

/// Scripts, or a query, or what stdin has.
fn run_all(options: &SqlOptions, interpreter: &mut Interpreter<'_>) -> Flow {
    let mut flow = Flow::Next;
    if let Some(query) = &options.query {
        return interpreter.run(&mut TextLines(query.lines()), None, AtEnd::Run);
    }
    if let Some(query) = &options.query_then_stay {
        flow = interpreter.run(&mut TextLines(query.lines()), None, AtEnd::Run);
    }
    let mut files = scripts(options).peekable();
    if files.peek().is_some() {
        return files.fold(flow, |flow, path| match flow {
            Flow::Next => interpreter.read_file(path, AtEnd::Run),
            over => over,
        });
    }
    if flow != Flow::Next {
        return flow;
    }
    if io::stdin().is_terminal() {
        return interpreter.run(&mut Terminal::new(), None, AtEnd::Keep);
    }
    interpreter.run(&mut ReaderLines::new(io::stdin().lock()), None, AtEnd::Run)
}
