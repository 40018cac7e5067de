//! ALTER DATABASE: options, name, files.
//!
//! Some options support only one value. To set this value is accepted; any other value is refused
//! by name.

use crate::context::{DdlContext, unsupported};
use crate::database::file_spec::change;
use crate::databases::{FileChange, WaitLimit, WantedState};
use crate::index::options::{number, on};
use base::{SqlError, SqlResult, messages};
use catalog::{DatabaseOption, DelayedDurability, PageVerify, RecoveryModel, UserAccess};
use tsql::ast::{AlterDatabase, AlterDatabaseAction, Setting, SettingValue, Termination};
use work::GhostRule;

/// Compatibility levels that may be set. They differ in how plans are chosen. Lower levels also
/// change the meaning of statements, which is not implemented.
const LEVELS: &[u64] = &[130, 140, 150, 160];

/// The option of accelerated recovery, and where it has its version store.
const ACCELERATED: &str = "ACCELERATED_DATABASE_RECOVERY";
const STORE_FILEGROUP: &str = "PERSISTENT_VERSION_STORE_FILEGROUP";

/// Compatibility levels of SQL Server that are refused here.
const OLD_LEVELS: &[u64] = &[100, 110, 120];

pub(crate) fn alter(s: &AlterDatabase, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    if cx.work.is_user_transaction() {
        return Err(SqlError::new(messages::NOT_IN_TRANSACTION, &[&"ALTER DATABASE"]));
    }
    if let (Some(name), AlterDatabaseAction::Set { options, termination }) = (&s.name, &s.action) {
        // The database is not opened here: an option may need that no session uses it.
        return set(cx, name, options, *termination);
    }
    let line = s.name.as_ref().map_or(0, |n| n.line);
    // A wrong file specification is reported before an unknown database.
    let changed = match &s.action {
        AlterDatabaseAction::ModifyFile(spec) => Some(change(spec)?),
        _ => None,
    };
    let Some(place) = cx.places.open(s.name.as_deref(), cx.deltas) else {
        let name = s.name.as_deref().unwrap_or_default();
        let why = SqlError::new(messages::CANNOT_ALTER_DATABASE, &[&name]).with_state(5);
        return Err(failed(cx, why.at_line(line)));
    };
    let name = place.view.name();
    let refused = match &s.action {
        AlterDatabaseAction::Set { options, termination } => {
            return set(cx, name, options, *termination);
        }
        AlterDatabaseAction::ModifyName(new_name) => {
            return cx.databases.rename(name, new_name).map_err(|e| failed(cx, e));
        }
        AlterDatabaseAction::ModifyFile(_) => {
            let changed = changed.expect("it was understood");
            return modify_file(cx, name, &changed);
        }
        AlterDatabaseAction::Collate(_) => "ALTER DATABASE COLLATE".to_owned(),
        AlterDatabaseAction::AddFile { .. } => "ALTER DATABASE ADD FILE".to_owned(),
        AlterDatabaseAction::AddLogFile(_) => "ALTER DATABASE ADD LOG FILE".to_owned(),
        AlterDatabaseAction::RemoveFile(_) => "ALTER DATABASE REMOVE FILE".to_owned(),
        AlterDatabaseAction::AddFilegroup { .. } => "ALTER DATABASE ADD FILEGROUP".to_owned(),
        AlterDatabaseAction::RemoveFilegroup(_) => "ALTER DATABASE REMOVE FILEGROUP".to_owned(),
        AlterDatabaseAction::ModifyFilegroup { .. } => "ALTER DATABASE MODIFY FILEGROUP".to_owned(),
        AlterDatabaseAction::ScopedConfiguration { secondary: true, setting, .. } => {
            format!("DATABASE SCOPED CONFIGURATION FOR SECONDARY SET {}", setting.name)
        }
        AlterDatabaseAction::ScopedConfiguration { setting, .. } => {
            let option = scoped(setting)?;
            return match option {
                Some(option) => cx.databases.set_option(name, option, WaitLimit::Forever).map(drop),
                None => Ok(()),
            };
        }
    };
    Err(unsupported(&refused, line))
}

/// Error 5069. The client gets `why` before it.
fn failed(cx: &mut DdlContext<'_>, why: SqlError) -> SqlError {
    cx.after(why, SqlError::new(messages::ALTER_DATABASE_FAILED, &[]))
}

fn modify_file(cx: &mut DdlContext<'_>, name: &str, changed: &FileChange) -> SqlResult<()> {
    cx.databases.modify_file(name, changed).map_err(|e| failed(cx, e))?;
    if let Some(new_name) = &changed.change.name {
        cx.messages.push(SqlError::new(messages::NAME_SET, &[&"file", new_name]));
    }
    Ok(())
}

fn set(
    cx: &mut DdlContext<'_>,
    name: &str,
    settings: &[Setting],
    termination: Option<Termination>,
) -> SqlResult<()> {
    let waiting = match termination {
        None => WaitLimit::Forever,
        Some(Termination::NoWait) => WaitLimit::NotAtAll,
        Some(Termination::RollbackImmediate) => WaitLimit::RollBackAfter(0),
        Some(Termination::RollbackAfter(seconds)) => WaitLimit::RollBackAfter(seconds),
    };
    if let Some(asked) = state_asked(settings).map_err(|e| failed(cx, e))? {
        let done = cx.databases.set_state(name, asked, waiting);
        return told(cx, done);
    }
    // All options are checked before the first is set.
    let options = settings.iter().map(option).collect::<SqlResult<Vec<_>>>()?;
    let conflict = conflict(name, settings, termination.is_some());
    if let Some(why) = conflict.or_else(|| store_misplaced(settings)) {
        let is_there = cx.places.open(Some(name), cx.deltas).is_some();
        let unknown = || SqlError::new(messages::CANNOT_ALTER_DATABASE, &[&name]).with_state(5);
        let why = if is_there { why } else { unknown() };
        return Err(failed(cx, why));
    }
    for option in options {
        let done = cx.databases.set_option(name, option, waiting);
        told(cx, done)?;
    }
    Ok(())
}

/// Adds the message that sessions were rolled back. After an error it ends with 5069.
fn told(cx: &mut DdlContext<'_>, done: SqlResult<bool>) -> SqlResult<()> {
    match done {
        Ok(false) => Ok(()),
        Ok(true) => {
            cx.messages.push(SqlError::new(messages::ROLLED_BACK_FOR_OPTION, &[&100]));
            Ok(())
        }
        Err(e) => Err(failed(cx, e)),
    }
}

/// The state that the options ask for: OFFLINE, ONLINE or EMERGENCY. No other option may stand
/// beside it.
fn state_asked(settings: &[Setting]) -> SqlResult<Option<WantedState>> {
    let states = [WantedState::Online, WantedState::Offline, WantedState::Emergency];
    let of = |s: &Setting| {
        let bare = matches!(s.value, SettingValue::None);
        states.into_iter().find(|state| bare && state.name() == &*s.name)
    };
    let Some(first) = settings.iter().find(|s| of(s).is_some()) else { return Ok(None) };
    match settings.iter().find(|s| of(s) != of(first)) {
        Some(_) => Err(SqlError::new(messages::OPTIONS_CONFLICT, &[&first.name])),
        None => Ok(of(first)),
    }
}

/// The error of a forbidden combination with the two versioning options. Source: Microsoft's table
/// "Setting options" in "ALTER DATABASE SET options". Neither option may stand beside another one,
/// and ALLOW_SNAPSHOT_ISOLATION takes no termination clause. The same option twice with the same
/// value counts as one. For the other options the table forbids more than SQL Server refuses: SQL
/// Server accepts RECOVERY … WITH NO_WAIT, which Management Studio writes, and so do we.
fn conflict(database: &str, settings: &[Setting], terminates: bool) -> Option<SqlError> {
    let is_versioning =
        |s: &&Setting| matches!(&*s.name, "ALLOW_SNAPSHOT_ISOLATION" | "READ_COMMITTED_SNAPSHOT");
    let versioning = settings.iter().find(is_versioning)?;
    if settings.iter().any(|s| s.name == versioning.name && s.value != versioning.value) {
        return Some(SqlError::new(messages::OPTIONS_CONFLICT, &[&versioning.name]));
    }
    if settings.iter().any(|s| s.name != versioning.name) {
        return Some(SqlError::new(messages::VERSIONING_WITH_ANOTHER_STATE, &[&database]));
    }
    let waits = &*versioning.name == "ALLOW_SNAPSHOT_ISOLATION";
    let refused = || SqlError::new(messages::VERSIONING_WITH_TERMINATION, &[]);
    (waits && terminates).then(refused)
}

/// Accelerated recovery is to have its version store in a filegroup that is not there: only PRIMARY
/// is.
fn store_misplaced(settings: &[Setting]) -> Option<SqlError> {
    let stores = settings.iter().filter(|s| &*s.name == ACCELERATED).filter_map(store_of);
    let (line, filegroup) = stores
        .filter_map(|s| filegroup(s).map(|name| (s.span.line, name)))
        .find(|(_, name)| !name.eq_ignore_ascii_case("PRIMARY"))?;
    Some(SqlError::new(messages::PLACEMENT_INVALID, &[&"filegroup", &filegroup]).at_line(line))
}

/// `PERSISTENT_VERSION_STORE_FILEGROUP = …` behind ON or OFF, if that is all there.
fn store_of(s: &Setting) -> Option<&Setting> {
    match &s.value {
        SettingValue::Group { on: Some(_), settings } => match settings.as_slice() {
            [store] if &*store.name == STORE_FILEGROUP => Some(store),
            _ => None,
        },
        _ => None,
    }
}

fn filegroup(store: &Setting) -> Option<&str> {
    match &store.value {
        SettingValue::Word(name) => Some(name),
        _ => None,
    }
}

fn accelerated(s: &Setting) -> SqlResult<bool> {
    match &s.value {
        SettingValue::On => Ok(true),
        SettingValue::Off => Ok(false),
        SettingValue::Group { on: Some(on), .. } if store_of(s).and_then(filegroup).is_some() => {
            Ok(*on)
        }
        _ => Err(SqlError::new(messages::SYNTAX_NEAR, &[&s.name]).at_line(s.span.line)),
    }
}

fn option(s: &Setting) -> SqlResult<DatabaseOption> {
    let bare = matches!(s.value, SettingValue::None);
    Ok(match &*s.name {
        "RECOVERY" => DatabaseOption::Recovery(named(s, RecoveryModel::by_name)?),
        "DELAYED_DURABILITY" => {
            DatabaseOption::DelayedDurability(named(s, DelayedDurability::by_name)?)
        }
        "PAGE_VERIFY" => DatabaseOption::PageVerify(named(s, PageVerify::by_name)?),
        "COMPATIBILITY_LEVEL" => DatabaseOption::CompatibilityLevel(level(s)?),
        "TARGET_RECOVERY_TIME" => DatabaseOption::TargetRecoveryTime(seconds(s)?),
        "MULTI_USER" if bare => DatabaseOption::UserAccess(UserAccess::Multi),
        "SINGLE_USER" if bare => DatabaseOption::UserAccess(UserAccess::Single),
        "RESTRICTED_USER" if bare => DatabaseOption::UserAccess(UserAccess::Restricted),
        "READ_ONLY" if bare => DatabaseOption::ReadOnly(true),
        "READ_WRITE" if bare => DatabaseOption::ReadOnly(false),
        "PARAMETERIZATION" => {
            let forced = |w: &str| match w {
                _ if w.eq_ignore_ascii_case("SIMPLE") => Some(false),
                _ => None,
            };
            DatabaseOption::ForcedParameterization(named(s, forced)?)
        }
        "AUTO_CREATE_STATISTICS" => DatabaseOption::AutoCreateStatistics(on(s)?),
        "AUTO_UPDATE_STATISTICS" => DatabaseOption::AutoUpdateStatistics(on(s)?),
        "AUTO_UPDATE_STATISTICS_ASYNC" => DatabaseOption::AutoUpdateStatisticsAsync(on(s)?),
        "ANSI_NULL_DEFAULT" => DatabaseOption::AnsiNullDefault(on(s)?),
        "READ_COMMITTED_SNAPSHOT" => DatabaseOption::ReadCommittedSnapshot(on(s)?),
        "ALLOW_SNAPSHOT_ISOLATION" => DatabaseOption::SnapshotIsolation(on(s)?),
        "OPTIMIZED_LOCKING" => DatabaseOption::OptimizedLocking(on(s)?),
        ACCELERATED => DatabaseOption::AcceleratedRecovery(accelerated(s)?),
        "AUTO_CLOSE" => DatabaseOption::AutoClose(off(s)?),
        "AUTO_SHRINK" => DatabaseOption::AutoShrink(off(s)?),
        "ANSI_NULLS" => DatabaseOption::AnsiNulls(off(s)?),
        "ANSI_PADDING" => DatabaseOption::AnsiPadding(off(s)?),
        "ANSI_WARNINGS" => DatabaseOption::AnsiWarnings(off(s)?),
        "ARITHABORT" => DatabaseOption::ArithAbort(off(s)?),
        "CONCAT_NULL_YIELDS_NULL" => DatabaseOption::ConcatNullYieldsNull(off(s)?),
        "NUMERIC_ROUNDABORT" => DatabaseOption::NumericRoundAbort(off(s)?),
        "QUOTED_IDENTIFIER" => DatabaseOption::QuotedIdentifier(off(s)?),
        "RECURSIVE_TRIGGERS" => DatabaseOption::RecursiveTriggers(on(s)?),
        "CURSOR_CLOSE_ON_COMMIT" => DatabaseOption::CursorCloseOnCommit(off(s)?),
        other => return Err(unsupported(other, s.span.line)),
    })
}

/// The option that ALTER DATABASE SCOPED CONFIGURATION sets; `None` if it asks for a value that
/// always holds.
fn scoped(s: &Setting) -> SqlResult<Option<DatabaseOption>> {
    let refused = || {
        let value = match &s.value {
            SettingValue::On => " = ON",
            SettingValue::Off => " = OFF",
            _ => "",
        };
        let what = format!("DATABASE SCOPED CONFIGURATION {}{value}", s.name);
        unsupported(&what, s.span.line)
    };
    Ok(Some(match &*s.name {
        "MAXDOP" => {
            let degree = number(s)?;
            let near = || SqlError::new(messages::SYNTAX_NEAR, &[&degree]).at_line(s.span.line);
            let degree = u16::try_from(degree).ok().filter(|&n| n <= 32_767).ok_or_else(near)?;
            DatabaseOption::MaxDegree(degree)
        }
        "PARAMETER_SNIFFING" => DatabaseOption::ParameterSniffing(on(s)?),
        "LIGHTWEIGHT_QUERY_PROFILING" => DatabaseOption::LightweightProfiling(on(s)?),
        "LAST_QUERY_PLAN_STATS" => DatabaseOption::LastPlanStatistics(on(s)?),
        "GHOST_CLEANUP_RULE" => DatabaseOption::GhostCleanupRule(named(s, GhostRule::by_name)?),
        "LEGACY_CARDINALITY_ESTIMATION"
        | "OPTIMIZE_FOR_AD_HOC_WORKLOADS"
        | "QUERY_OPTIMIZER_HOTFIXES" => match on(s)? {
            false => return Ok(None),
            true => return Err(refused()),
        },
        _ => return Err(refused()),
    }))
}

/// The value of an option that is a word. Any word that `by_name` does not know is refused as not
/// supported.
fn named<T>(s: &Setting, by_name: impl Fn(&str) -> Option<T>) -> SqlResult<T> {
    let word = match &s.value {
        SettingValue::Word(w) => &**w,
        SettingValue::On => "ON",
        SettingValue::Off => "OFF",
        _ => "",
    };
    by_name(word).ok_or_else(|| unsupported(&format!("{} {word}", s.name), s.span.line))
}

/// An option that may only be OFF.
fn off(s: &Setting) -> SqlResult<bool> {
    match on(s)? {
        false => Ok(false),
        true => Err(unsupported(&format!("{} ON", s.name), s.span.line)),
    }
}

fn level(s: &Setting) -> SqlResult<u8> {
    let n = number(s)?;
    if LEVELS.contains(&n) {
        return Ok(n as u8);
    }
    if OLD_LEVELS.contains(&n) {
        return Err(unsupported(&format!("COMPATIBILITY_LEVEL = {n}"), s.span.line));
    }
    let levels = "100, 110, 120, 130, 140, 150 or 160";
    Err(SqlError::new(messages::COMPATIBILITY_LEVEL_INVALID, &[&levels]).at_line(s.span.line))
}

fn seconds(s: &Setting) -> SqlResult<i32> {
    let parsed = match &s.value {
        SettingValue::Number { text, unit } => {
            let factor =
                if unit.as_deref().is_some_and(|u| u.starts_with("MINUTE")) { 60 } else { 1 };
            text.parse::<i32>().ok().and_then(|n| n.checked_mul(factor)).filter(|n| *n >= 0)
        }
        _ => None,
    };
    parsed.ok_or_else(|| SqlError::new(messages::SYNTAX_NEAR, &[&s.name]).at_line(s.span.line))
}
