//! `ghostlight serve`: its options. What they start is handed in by the binary.

use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// `ghostlight serve`.
#[derive(Args, Debug, Clone, PartialEq, Eq)]
pub struct ServeOptions {
    /// Folder of the databases; made when it is not there.
    #[arg(long, value_name = "DIR", default_value = "ghostlight-data")]
    pub data: PathBuf,
    /// Where to listen.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:1433")]
    pub listen: SocketAddr,
    /// What the engine may use, like 128MB; without it a quarter of the memory of the machine or of
    /// its container, at least 64 MB, at most 4 GB. Less than 16 MB counts as that, more than the
    /// machine has as all of it.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_memory: Option<u64>,
    /// Whether clients may go without encryption.
    #[arg(long, value_enum, default_value_t = Encryption::Offered)]
    pub encrypt: Encryption,
    /// A PEM file with the certificate that clients are shown, and its issuers; without it the
    /// server makes its own.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// A PEM file with that certificate's key, not encrypted.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// How logs get to the disk: "measured" as is found to be fastest, "direct" or "cached" always.
    #[arg(long, value_name = "WAY", value_parser = log_writes, default_value = "measured")]
    pub log_writes: LogWrites,
    /// New databases have accelerated recovery, as ALTER DATABASE … SET
    /// ACCELERATED_DATABASE_RECOVERY = ON gives it. Those that are there keep what they have.
    #[arg(long)]
    pub accelerated_recovery: bool,
    /// A trace flag that is on for the whole server from the start; may be repeated.
    #[arg(short = 'T', value_name = "FLAG")]
    pub trace_flags: Vec<u16>,
}

/// What the server says to clients about encryption.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Encryption {
    /// As the client wishes.
    Offered,
    /// Everything is encrypted; clients that cannot are refused.
    Required,
}

/// How logs get to the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LogWrites {
    /// As is found to be fastest at the start.
    Measured,
    /// Past the page cache, by calls with RWF_DSYNC.
    Direct,
    /// Through the page cache, and fdatasync.
    Cached,
}

/// A way to write logs, of those that there are.
fn log_writes(text: &str) -> Result<LogWrites, String> {
    if text.eq_ignore_ascii_case("io-uring") {
        let why = "it was slower, and not durable on every file system";
        return Err(format!("logs are not written by io_uring any more: {why}; say \"direct\""));
    }
    <LogWrites as ValueEnum>::from_str(text, true)
        .map_err(|_| "it is one of \"measured\", \"direct\" and \"cached\"".to_owned())
}

/// A number of bytes: `134217728`, `131072KB`, `128MB`, `1GB` (multiples of 1,024).
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" => 10,
        "M" | "MB" => 20,
        "G" | "GB" => 30,
        _ => return Err("a number of bytes like 128MB is asked".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "a number of bytes like 128MB is asked")?;
    number.checked_mul(1 << shift).ok_or_else(|| "too many bytes".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Command, CommandLine};
    use clap::Parser;

    #[test]
    fn sizes_have_units() {
        let cases = [("128MB", 128 << 20), ("1gb", 1 << 30), ("64 KB", 64 << 10), ("7", 7)];
        for (text, n) in cases {
            assert_eq!(bytes(text), Ok(n), "{text}");
        }
        for text in ["", "MB", "-1", "1TB", "1.5GB", "99999999999GB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_defaults_are_local_and_offer_encryption() {
        let line = CommandLine::try_parse_from(["ghostlight", "serve"]).unwrap();
        let Command::Serve(o) = line.command else { panic!("serve was asked") };
        assert_eq!(o.listen.to_string(), "127.0.0.1:1433");
        assert_eq!(o.encrypt, Encryption::Offered);
        assert!(o.trace_flags.is_empty() && !o.accelerated_recovery);
        assert_eq!(o.log_writes, LogWrites::Measured);
        let line = ["ghostlight", "serve", "--accelerated-recovery"];
        let Command::Serve(o) = CommandLine::try_parse_from(line).unwrap().command else {
            panic!("serve was asked")
        };
        assert!(o.accelerated_recovery);
        for wrong in [["--listen", "1433"], ["--tls-cert", "a.pem"], ["--tls-key", "a.pem"]] {
            let line = ["ghostlight", "serve"].into_iter().chain(wrong);
            assert!(CommandLine::try_parse_from(line).is_err(), "{wrong:?}");
        }
    }

    /// A way that there was once is refused by its name.
    #[test]
    fn ways_of_logs_are_told() {
        let parsed =
            |way| CommandLine::try_parse_from(["ghostlight", "serve", "--log-writes", way]);
        for (text, way) in [
            ("measured", LogWrites::Measured),
            ("direct", LogWrites::Direct),
            ("Cached", LogWrites::Cached),
        ] {
            let Command::Serve(o) = parsed(text).unwrap().command else { panic!("serve") };
            assert_eq!(o.log_writes, way);
        }
        let gone = parsed("io-uring").unwrap_err().to_string();
        assert!(gone.contains("not written by io_uring any more"), "{gone}");
        let unknown = parsed("fast").unwrap_err().to_string();
        assert!(unknown.contains("\"measured\", \"direct\" and \"cached\""), "{unknown}");
    }
}
