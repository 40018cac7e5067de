//! The command line: `ghostlight serve …` and `ghostlight sql …`, the latter with sqlcmd's letters.

use crate::serve::ServeOptions;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// An open database server that speaks T-SQL over TDS, with its shell.
#[derive(Parser, Debug)]
#[command(name = "ghostlight", version)]
pub(crate) struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What the binary does.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run the server until SIGTERM.
    Serve(ServeOptions),
    /// Run scripts, a query or an interactive shell: embedded, or remote with -S.
    Sql(Box<SqlOptions>),
}

/// `ghostlight sql`: the options are sqlcmd's.
#[derive(Args, Debug, Clone, Default)]
#[command(disable_help_flag = true)]
pub(crate) struct SqlOptions {
    /// Scripts to run, one after the other (as -i).
    pub(crate) files: Vec<PathBuf>,
    /// Folder of the embedded engine; without it a temporary one.
    #[arg(long, value_name = "DIR", conflicts_with = "server")]
    pub(crate) data: Option<PathBuf>,
    /// What the embedded engine may use, like 128MB; without it a quarter of the machine's memory,
    /// at least 64 MB, at most 4 GB. Less than 16 MB counts as that, more than the machine has as
    /// all of it.
    #[arg(long, value_name = "BYTES", value_parser = crate::serve::bytes, conflicts_with = "server")]
    pub(crate) max_memory: Option<u64>,
    /// A trace flag of the embedded engine, on from the start; may be repeated.
    #[arg(short = 'T', value_name = "FLAG", conflicts_with = "server")]
    pub(crate) trace_flags: Vec<u16>,
    /// The server: [tcp:]host[,port].
    #[arg(short = 'S', value_name = "HOST[,PORT]")]
    pub(crate) server: Option<String>,
    /// The login.
    #[arg(short = 'U', value_name = "USER", requires = "server")]
    pub(crate) user: Option<String>,
    /// Its password; else that of SQLCMDPASSWORD, else it is asked for.
    #[arg(short = 'P', value_name = "PASSWORD", requires = "server")]
    pub(crate) password: Option<String>,
    /// The database to begin in.
    #[arg(short = 'd', value_name = "DATABASE")]
    pub(crate) database: Option<String>,
    /// Encryption: optional (the login only), mandatory (as without -N), strict (TDS 8).
    #[arg(short = 'N', value_name = "o|m|s", requires = "server", value_parser = encryption)]
    pub(crate) encrypt: Option<Encrypt>,
    /// Trust whatever certificate the server has. Else it must be for the server's name, and signed
    /// by somebody whom this machine trusts.
    #[arg(short = 'C', requires = "server", conflicts_with = "certificate")]
    pub(crate) trust: bool,
    /// A PEM file with the certificate that the server must have, whatever its name.
    #[arg(short = 'J', value_name = "FILE", requires = "server")]
    pub(crate) certificate: Option<PathBuf>,
    /// Seconds to wait for the connection, 0 for ever.
    #[arg(short = 'l', value_name = "SECONDS", default_value_t = 8, requires = "server")]
    pub(crate) login_timeout: u32,
    /// Bytes of a network packet.
    #[arg(short = 'a', value_name = "BYTES", default_value_t = 4096, requires = "server",
          value_parser = clap::value_parser!(u16).range(512..=32767))]
    pub(crate) packet_size: u16,
    /// The name this client tells: HOST_NAME().
    #[arg(short = 'H', value_name = "NAME")]
    pub(crate) workstation: Option<String>,
    /// A script to run; may be repeated.
    #[arg(short = 'i', value_name = "FILE", conflicts_with_all = ["query", "query_then_stay"])]
    pub(crate) input: Vec<PathBuf>,
    /// Where all output goes.
    #[arg(short = 'o', value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// A query to run, then exit.
    #[arg(short = 'Q', value_name = "QUERY", conflicts_with_all = ["files", "query_then_stay"])]
    pub(crate) query: Option<String>,
    /// A query to run first.
    #[arg(short = 'q', value_name = "QUERY", conflicts_with = "files")]
    pub(crate) query_then_stay: Option<String>,
    /// Scripting variables, $(name) in scripts.
    #[arg(short = 'v', value_name = "NAME=VALUE", num_args = 1.., value_parser = assignment)]
    pub(crate) variables: Vec<(String, String)>,
    /// Leave $(name) as it is.
    #[arg(short = 'x')]
    pub(crate) no_substitution: bool,
    /// Stop at the first error of severity 11 or more (or -V's) and exit with 1.
    #[arg(short = 'b')]
    pub(crate) stop_on_error: bool,
    /// Severities from which the exit code is the severity.
    #[arg(short = 'V', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=25))]
    pub(crate) severity: Option<u8>,
    /// Errors below this severity are not printed; -1 prints headers with all messages.
    #[arg(short = 'm', value_name = "LEVEL", allow_negative_numbers = true)]
    pub(crate) error_level: Option<i32>,
    /// Messages to stderr: 0 errors only, 1 all.
    #[arg(short = 'r', value_name = "0|1", num_args = 0..=1, default_missing_value = "0",
          value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(crate) redirect: Option<u8>,
    /// Rows between headers; 0 prints one per result, -1 none.
    #[arg(short = 'h', value_name = "ROWS", allow_negative_numbers = true)]
    pub(crate) headers: Option<i64>,
    /// What stands between columns.
    #[arg(short = 's', value_name = "SEPARATOR")]
    pub(crate) separator: Option<String>,
    /// Trim columns.
    #[arg(short = 'W', conflicts_with_all = ["variable_width", "fixed_width"])]
    pub(crate) trim: bool,
    /// Characters of a line, 9 to 65535.
    #[arg(short = 'w', value_name = "COLUMNS", value_parser = clap::value_parser!(u32).range(9..=65535))]
    pub(crate) screen_width: Option<u32>,
    /// Characters shown of a max type, 0 to 8000; 0 shows all, without headers.
    #[arg(short = 'y', value_name = "WIDTH", value_parser = clap::value_parser!(u32).range(0..=8000))]
    pub(crate) variable_width: Option<u32>,
    /// Characters shown of char, nchar, varchar(n), nvarchar(n), binary(n), varbinary(n).
    #[arg(short = 'Y', value_name = "WIDTH", value_parser = clap::value_parser!(u32).range(0..=8000))]
    pub(crate) fixed_width: Option<u32>,
    /// Print each batch before it runs.
    #[arg(short = 'e')]
    pub(crate) echo: bool,
    /// What ends a batch instead of GO.
    #[arg(short = 'c', value_name = "WORD")]
    pub(crate) terminator: Option<String>,
    /// QUOTED_IDENTIFIER on: it always is.
    #[arg(short = 'I')]
    pub(crate) quoted_identifier: bool,
    /// This text.
    #[arg(long, short = '?', action = clap::ArgAction::Help)]
    pub(crate) help: Option<bool>,
}

/// How much of a remote connection is encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Encrypt {
    /// The login, unless the server wants more.
    Optional,
    /// Everything.
    #[default]
    Mandatory,
    /// Everything from the first byte: TDS 8.
    Strict,
}

fn encryption(word: &str) -> Result<Encrypt, String> {
    match word.to_ascii_lowercase().as_str() {
        "o" | "optional" | "no" | "false" => Ok(Encrypt::Optional),
        "m" | "mandatory" | "yes" | "true" => Ok(Encrypt::Mandatory),
        "s" | "strict" => Ok(Encrypt::Strict),
        _ => Err("one of optional, mandatory, strict is asked".to_owned()),
    }
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("name=value is asked; write files before -v or with -i".to_owned());
    };
    let quoted = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    Ok((name.to_owned(), quoted.unwrap_or(value).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(arguments: &[&str]) -> Result<SqlOptions, String> {
        let all = ["ghostlight", "sql"].iter().chain(arguments);
        match CommandLine::try_parse_from(all).map_err(|e| e.to_string())?.command {
            Command::Sql(options) => Ok(*options),
            Command::Serve(_) => Err("not sql".to_owned()),
        }
    }

    #[test]
    fn letters_mean_what_they_mean_to_sqlcmd() {
        let o = sql(&["-S", "tcp:db,1444", "-Usa", "-PP w", "-h-1", "-s,", "-W", "-b", "-m-1"])
            .unwrap();
        assert_eq!(o.server.as_deref(), Some("tcp:db,1444"));
        assert_eq!((o.user.as_deref(), o.password.as_deref()), (Some("sa"), Some("P w")));
        assert_eq!(
            (o.headers, o.separator.as_deref(), o.error_level),
            (Some(-1), Some(","), Some(-1))
        );
        assert!(o.trim && o.stop_on_error);
        let o =
            sql(&["a.sql", "b.sql", "-v", "x=1", "y=\"two words\"", "-i", "c.sql", "-r1"]).unwrap();
        assert_eq!(o.files.len(), 2);
        assert_eq!(o.variables[1], ("y".to_owned(), "two words".to_owned()));
        assert_eq!((o.input.len(), o.redirect), (1, Some(1)));
        assert_eq!(sql(&["-r"]).unwrap().redirect, Some(0));
        assert_eq!(sql(&["-T661", "-T", "7006"]).unwrap().trace_flags, [661, 7006]);
        assert_eq!(sql(&["-S", "x", "-Ns"]).unwrap().encrypt, Some(Encrypt::Strict));
    }

    #[test]
    fn what_cannot_go_together_is_refused() {
        let cases: [&[&str]; 12] = [
            &["-W", "-y", "10"],
            &["-Q", "select 1", "-i", "a.sql"],
            &["-Q", "select 1", "a.sql"],
            &["-S", "x", "--data", "d"],
            &["-S", "x", "-T", "661"],
            &["-T", "many"],
            &["-U", "sa"],
            &["-w", "8"],
            &["-y", "8001"],
            &["-v", "novalue"],
            &["-V", "26"],
            &["-S", "x", "-C", "-J", "c.pem"],
        ];
        for case in cases {
            assert!(sql(case).is_err(), "{case:?}");
        }
    }

    #[test]
    fn help_is_not_h() {
        use clap::CommandFactory;
        CommandLine::command().debug_assert();
        assert!(sql(&["-?"]).unwrap_err().contains("Usage"));
    }
}
