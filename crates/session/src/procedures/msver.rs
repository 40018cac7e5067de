//! `xp_msver [name, …]`: facts of the server and its machine, one row for each property.
//!
//! Names, numbers and columns are from the reference and from published outputs. SQL Server reads
//! some properties from its own program file (InternalName, OriginalFilename …); here they describe
//! this program. WindowsVersion and a mask of more than 64 processors do not exist: both are NULL.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::host::rowset::Rowset;
use crate::procedures::call::Call;
use crate::session::Session;
use types::{SqlType, Value};

const LANGUAGE: (i32, &str) = (1033, "English (United States)");

/// A property: its name, its number, its text.
type Property = (&'static str, Option<i32>, Option<String>);

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let all = properties(session);
    let mut wanted = Vec::new();
    for at in 0..call.arguments.len() {
        let name = call.text("", at).unwrap_or_default();
        let found = all.iter().position(|p| p.0.eq_ignore_ascii_case(name.trim()));
        let unknown = || Failure::unsupported(&format!("xp_msver {name}"));
        wanted.push(found.ok_or_else(unknown)?);
    }
    let row = |(at, (name, number, text)): (usize, &Property)| {
        vec![
            Value::SmallInt(at as i16 + 1),
            Value::nvarchar(name),
            number.map_or(Value::Null, Value::Int),
            text.as_deref().map_or(Value::Null, Value::nvarchar),
        ]
    };
    let shown = |at: &usize| wanted.is_empty() || wanted.contains(at);
    let rows = all.iter().enumerate().filter(|(at, _)| shown(at)).map(row).collect();
    let columns = [
        ("Index", SqlType::SmallInt, false),
        ("Name", SqlType::nvarchar(128), false),
        ("Internal_Value", SqlType::Int, true),
        ("Character_Value", SqlType::nvarchar(512), true),
    ];
    let columns = columns.into_iter().map(|(n, t, nullable)| (n.to_owned(), t, nullable)).collect();
    session.send_rowset(&Rowset { columns, rows }, out, DoneScope::InProcedure)?;
    Ok(0)
}

fn properties(session: &Session) -> [Property; 20] {
    let property = |name: &str| session.host.server_property(name).as_text().unwrap_or_default();
    let version = property("PRODUCTVERSION");
    let processors = os::task::processors();
    let text = |text: &str| Some(text.to_owned());
    let memory = os::task::physical_memory_bytes();
    let mb = memory.map(|bytes| bytes >> 20);
    let small = |n: u64| i32::try_from(n).unwrap_or(i32::MAX);
    let all_of = |n: usize| (n <= 64).then(|| format!("{:x}", u64::MAX >> (64 - n.max(1))));
    [
        ("ProductName", None, text("Microsoft SQL Server")),
        ("ProductVersion", major_minor(&version), Some(version.clone())),
        ("Language", Some(LANGUAGE.0), text(LANGUAGE.1)),
        ("Platform", None, text("Linux x64")),
        ("Comments", None, text("Compatible: Ghostlight")),
        ("CompanyName", None, text("Ghostlight")),
        ("FileDescription", None, text("Ghostlight - 64 Bit")),
        ("FileVersion", None, text(env!("CARGO_PKG_VERSION"))),
        ("InternalName", None, text("ghostlight")),
        ("LegalCopyright", None, None),
        ("LegalTrademarks", None, None),
        ("OriginalFilename", None, text("ghostlight")),
        ("PrivateBuild", None, None),
        ("SpecialBuild", build(&version), None),
        ("WindowsVersion", None, None),
        ("ProcessorCount", Some(small(processors as u64)), Some(processors.to_string())),
        ("ProcessorActiveMask", None, all_of(processors)),
        ("ProcessorType", Some(8664), None),
        (
            "PhysicalMemory",
            mb.map(small),
            memory.zip(mb).map(|(bytes, mb)| format!("{mb} ({bytes})")),
        ),
        ("Product ID", None, None),
    ]
}

fn part(version: &str, at: usize) -> Option<i32> {
    version.split('.').nth(at)?.parse().ok()
}

/// Major and minor version in one number: 16.0 is 1048576.
fn major_minor(version: &str) -> Option<i32> {
    Some((part(version, 0)? << 16) | part(version, 1)?)
}

/// The build, in the upper half.
fn build(version: &str) -> Option<i32> {
    Some(part(version, 2)? << 16)
}
