//! The WITH list of an index or key, and its ON clause.

use crate::context::unsupported;
use base::{SqlError, SqlResult, messages};
use catalog::view::Index;
use tsql::ast::{Placement, Setting, SettingValue};

/// How full a build makes the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FillFactor {
    Percent(u8),
    /// Each build chooses, from the growth of the index since the build before.
    Auto,
}

/// The options of a WITH list; `None` for an option that it does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexOptions {
    pub(crate) fill_factor: Option<FillFactor>,
    /// PAD_INDEX
    pub(crate) padded: Option<bool>,
    pub(crate) ignore_dup_key: Option<bool>,
    /// STATISTICS_NORECOMPUTE
    pub(crate) no_recompute: Option<bool>,
    /// DROP_EXISTING: the index replaces the one of its name.
    pub(crate) drop_existing: bool,
    /// MAXDOP
    pub(crate) max_workers: Option<u16>,
    /// ONLINE: other sessions read and write the table during the build.
    pub(crate) online: bool,
}

impl IndexOptions {
    /// Sets the fill factor and PAD_INDEX of an index, if given.
    pub(crate) fn fill(&self, index: &mut Index) {
        if let Some(padded) = self.padded {
            index.padded = padded;
        }
        match self.fill_factor {
            None => {}
            Some(FillFactor::Percent(percent)) => {
                (index.fill_factor, index.auto_fill) = (percent, None);
            }
            Some(FillFactor::Auto) => {
                index.auto_fill.get_or_insert_default();
            }
        }
    }

    /// Refuses DROP_EXISTING, which only CREATE INDEX may have.
    pub(crate) fn without_drop_existing(self, line: u32) -> SqlResult<IndexOptions> {
        match self.drop_existing {
            false => Ok(self),
            true => Err(unsupported("DROP_EXISTING = ON", line)),
        }
    }

    /// Refuses ONLINE, which only the build of an index of an existing table may have.
    pub(crate) fn without_online(self, line: u32) -> SqlResult<IndexOptions> {
        match self.online {
            false => Ok(self),
            true => Err(unsupported("ONLINE = ON", line)),
        }
    }
}

/// Parses a WITH list. An option that this server does not have may only ask for the behaviour that
/// it has anyway.
pub(crate) fn options(settings: &[Setting]) -> SqlResult<IndexOptions> {
    let mut options = IndexOptions::default();
    for s in settings {
        match &*s.name {
            "FILLFACTOR" => options.fill_factor = Some(fill_factor(s)?),
            "IGNORE_DUP_KEY" => options.ignore_dup_key = Some(on(s)?),
            "ALLOW_ROW_LOCKS" | "ALLOW_PAGE_LOCKS" => only(s, true)?,
            "STATISTICS_NORECOMPUTE" => options.no_recompute = Some(on(s)?),
            // Sorts always spill to tempdb.
            "SORT_IN_TEMPDB" => drop(on(s)?),
            "MAXDOP" => options.max_workers = Some(max_workers(s)?),
            "PAD_INDEX" => options.padded = Some(on(s)?),
            "DROP_EXISTING" => options.drop_existing = on(s)?,
            "ONLINE" => options.online = online(s)?,
            "RESUMABLE"
            | "STATISTICS_INCREMENTAL"
            | "OPTIMIZE_FOR_SEQUENTIAL_KEY"
            | "XML_COMPRESSION" => only(s, false)?,
            "DATA_COMPRESSION" => match &s.value {
                SettingValue::Word(w) if w.eq_ignore_ascii_case("NONE") => {}
                _ => return Err(unsupported("DATA_COMPRESSION", s.span.line)),
            },
            "HASH" => {
                return Err(SqlError::new(messages::HASH_INDEX_ON_DISK, &[]).at_line(s.span.line));
            }
            other => return Err(unsupported(other, s.span.line)),
        }
    }
    Ok(options)
}

/// Parses the options of a statement that drops an index; options of an index build are refused.
/// MAXDOP is for the other indexes, which are built again when the clustered one is dropped.
pub(crate) fn drop_options(settings: &[Setting]) -> SqlResult<IndexOptions> {
    let of_builds = ["FILLFACTOR", "PAD_INDEX", "DROP_EXISTING", "IGNORE_DUP_KEY"];
    if let Some(s) = settings.iter().find(|s| of_builds.contains(&&*s.name)) {
        let args: [&dyn std::fmt::Display; 2] = [&s.name, &"DROP INDEX"];
        return Err(SqlError::new(messages::OPTION_UNKNOWN, &args).at_line(s.span.line));
    }
    options(settings)
}

/// ON or OFF. ON (WAIT_AT_LOW_PRIORITY) is refused.
fn online(s: &Setting) -> SqlResult<bool> {
    match &s.value {
        SettingValue::Group { .. } => {
            Err(unsupported("ONLINE = ON (WAIT_AT_LOW_PRIORITY)", s.span.line))
        }
        _ => on(s),
    }
}

fn fill_factor(s: &Setting) -> SqlResult<FillFactor> {
    if matches!(&s.value, SettingValue::Word(w) if w.eq_ignore_ascii_case("AUTO")) {
        return Ok(FillFactor::Auto);
    }
    match number(s)? {
        n @ 1..=100 => Ok(FillFactor::Percent(n as u8)),
        n => Err(SqlError::new(messages::SYNTAX_NEAR, &[&n]).at_line(s.span.line)),
    }
}

/// MAXDOP, with the limit that the query hint has.
fn max_workers(s: &Setting) -> SqlResult<u16> {
    let said = number(s)?;
    let workers = u16::try_from(said).ok().filter(|n| *n <= 32_767);
    workers.ok_or_else(|| SqlError::new(messages::SYNTAX_NEAR, &[&said]).at_line(s.span.line))
}

/// The number of a setting.
pub(crate) fn number(s: &Setting) -> SqlResult<u64> {
    let parsed = match &s.value {
        SettingValue::Number { text, unit: None } => text.parse().ok(),
        _ => None,
    };
    parsed.ok_or_else(|| SqlError::new(messages::SYNTAX_NEAR, &[&s.name]).at_line(s.span.line))
}

/// ON or OFF; the name alone means ON.
pub(crate) fn on(s: &Setting) -> SqlResult<bool> {
    match &s.value {
        SettingValue::On | SettingValue::None => Ok(true),
        SettingValue::Off => Ok(false),
        _ => Err(SqlError::new(messages::SYNTAX_NEAR, &[&s.name]).at_line(s.span.line)),
    }
}

/// Checks a setting of which only one value is supported.
fn only(s: &Setting, supported: bool) -> SqlResult<()> {
    if on(s)? == supported {
        return Ok(());
    }
    let value = if supported { "OFF" } else { "ON" };
    Err(unsupported(&format!("{} = {value}", s.name), s.span.line))
}

/// Checks an ON clause: only the primary filegroup exists.
pub(crate) fn placement(on: Option<&Placement>) -> SqlResult<()> {
    let Some(on) = on else { return Ok(()) };
    if on.column.is_some() {
        return Err(unsupported("partition schemes", on.name.line));
    }
    match on.name.eq_ignore_ascii_case("PRIMARY") || on.name.eq_ignore_ascii_case("default") {
        true => Ok(()),
        false => Err(SqlError::new(messages::PLACEMENT_INVALID, &[&"filegroup", &on.name])
            .at_line(on.name.line)),
    }
}
