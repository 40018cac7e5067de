//! The options of a database, as ALTER DATABASE sets and `sys.databases` shows them.
//!
//! Options that change nothing yet (AUTO_SHRINK OFF and the like) are here because clients read
//! them back; those whose other value we cannot honour are refused where they are set.

use types::Collation;
use work::GhostRule;

/// RECOVERY
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum RecoveryModel {
    /// FULL
    Full = 1,
    /// BULK_LOGGED
    BulkLogged = 2,
    /// SIMPLE
    Simple = 3,
}

/// DELAYED_DURABILITY
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum DelayedDurability {
    /// DISABLED
    Disabled = 0,
    /// ALLOWED
    Allowed = 1,
    /// FORCED
    Forced = 2,
}

/// PAGE_VERIFY
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PageVerify {
    /// CHECKSUM
    Checksum = 2,
}

/// MULTI_USER and its like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum UserAccess {
    /// MULTI_USER
    Multi = 0,
    /// SINGLE_USER
    Single = 1,
    /// RESTRICTED_USER
    Restricted = 2,
}

macro_rules! spelled {
    ($name:ident { $($variant:ident = $text:literal,)* }) => {
        impl $name {
            /// As T-SQL spells it.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            /// The value of a spelling, in any case.
            pub fn by_name(name: &str) -> Option<$name> {
                [$($name::$variant),*].into_iter().find(|v| v.name().eq_ignore_ascii_case(name))
            }
        }
    };
}

spelled! { RecoveryModel { Full = "FULL", BulkLogged = "BULK_LOGGED", Simple = "SIMPLE", } }
spelled! { DelayedDurability { Disabled = "DISABLED", Allowed = "ALLOWED", Forced = "FORCED", } }
spelled! { PageVerify { Checksum = "CHECKSUM", } }
spelled! {
    UserAccess { Multi = "MULTI_USER", Single = "SINGLE_USER", Restricted = "RESTRICTED_USER", }
}

fn on_off(on: bool) -> &'static str {
    if on { "ON" } else { "OFF" }
}

fn read_on_off(text: &str) -> Option<bool> {
    match text {
        "ON" => Some(true),
        "OFF" => Some(false),
        _ => None,
    }
}

macro_rules! options {
    ($($(#[$doc:meta])* $variant:ident, $field:ident: $t:ty = $default:expr, $name:literal,
       $write:expr, $read:expr;)*) => {
        /// One option and its value.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum DatabaseOption {
            $($(#[$doc])* $variant($t),)*
        }

        /// All options of a database.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct DatabaseOptions {
            $($(#[$doc])* pub $field: $t,)*
        }

        impl Default for DatabaseOptions {
            fn default() -> Self {
                DatabaseOptions { $($field: $default,)* }
            }
        }

        impl DatabaseOption {
            /// Its name and value in `sysfacts`.
            pub fn fact(self) -> (&'static str, String) {
                match self {
                    $(DatabaseOption::$variant(value) => {
                        let write: fn($t) -> String = $write;
                        ($name, write(value))
                    })*
                }
            }
        }

        impl DatabaseOptions {
            /// Sets one.
            pub fn set(&mut self, option: DatabaseOption) {
                match option {
                    $(DatabaseOption::$variant(value) => self.$field = value,)*
                }
            }

            /// Every option with its value.
            pub fn all(&self) -> Vec<DatabaseOption> {
                vec![$(DatabaseOption::$variant(self.$field),)*]
            }

            /// Sets one from its fact; `None` when the value makes no sense. Names of a later
            /// version are passed over.
            pub(crate) fn read_fact(&mut self, name: &str, text: &str) -> Option<()> {
                match name {
                    $($name => {
                        let read: fn(&str) -> Option<$t> = $read;
                        self.$field = read(text)?;
                    })*
                    _ => {}
                }
                Some(())
            }
        }
    };
}

/// Declares an option that is ON or OFF.
fn text(on: bool) -> String {
    on_off(on).to_owned()
}

options! {
    /// RECOVERY
    Recovery, recovery: RecoveryModel = RecoveryModel::Full, "RECOVERY",
        |v| v.name().to_owned(), RecoveryModel::by_name;
    /// DELAYED_DURABILITY
    DelayedDurability, delayed_durability: DelayedDurability = DelayedDurability::Disabled,
        "DELAYED_DURABILITY", |v| v.name().to_owned(), DelayedDurability::by_name;
    /// PAGE_VERIFY
    PageVerify, page_verify: PageVerify = PageVerify::Checksum, "PAGE_VERIFY",
        |v| v.name().to_owned(), PageVerify::by_name;
    /// MULTI_USER, SINGLE_USER, RESTRICTED_USER
    UserAccess, user_access: UserAccess = UserAccess::Multi, "USER_ACCESS",
        |v| v.name().to_owned(), UserAccess::by_name;
    /// COMPATIBILITY_LEVEL
    CompatibilityLevel, compatibility_level: u8 = 160, "COMPATIBILITY_LEVEL",
        |v| v.to_string(), |t| t.parse().ok();
    /// TARGET_RECOVERY_TIME in seconds
    TargetRecoveryTime, target_recovery_seconds: i32 = 60, "TARGET_RECOVERY_TIME",
        |v| v.to_string(), |t| t.parse().ok();
    /// READ_ONLY
    ReadOnly, read_only: bool = false, "READ_ONLY", text, read_on_off;
    /// READ_COMMITTED_SNAPSHOT
    ReadCommittedSnapshot, read_committed_snapshot: bool = false, "READ_COMMITTED_SNAPSHOT",
        text, read_on_off;
    /// ALLOW_SNAPSHOT_ISOLATION
    SnapshotIsolation, snapshot_isolation: bool = false, "ALLOW_SNAPSHOT_ISOLATION",
        text, read_on_off;
    /// OPTIMIZED_LOCKING
    OptimizedLocking, optimized_locking: bool = false, "OPTIMIZED_LOCKING", text, read_on_off;
    /// ACCELERATED_DATABASE_RECOVERY
    AcceleratedRecovery, accelerated_recovery: bool = false, "ACCELERATED_DATABASE_RECOVERY",
        text, read_on_off;
    /// AUTO_CLOSE
    AutoClose, auto_close: bool = false, "AUTO_CLOSE", text, read_on_off;
    /// AUTO_SHRINK
    AutoShrink, auto_shrink: bool = false, "AUTO_SHRINK", text, read_on_off;
    /// AUTO_CREATE_STATISTICS
    AutoCreateStatistics, auto_create_statistics: bool = true, "AUTO_CREATE_STATISTICS",
        text, read_on_off;
    /// AUTO_UPDATE_STATISTICS
    AutoUpdateStatistics, auto_update_statistics: bool = true, "AUTO_UPDATE_STATISTICS",
        text, read_on_off;
    /// AUTO_UPDATE_STATISTICS_ASYNC
    AutoUpdateStatisticsAsync, auto_update_statistics_async: bool = false,
        "AUTO_UPDATE_STATISTICS_ASYNC", text, read_on_off;
    /// ANSI_NULL_DEFAULT
    AnsiNullDefault, ansi_null_default: bool = false, "ANSI_NULL_DEFAULT", text, read_on_off;
    /// ANSI_NULLS
    AnsiNulls, ansi_nulls: bool = false, "ANSI_NULLS", text, read_on_off;
    /// ANSI_PADDING
    AnsiPadding, ansi_padding: bool = false, "ANSI_PADDING", text, read_on_off;
    /// ANSI_WARNINGS
    AnsiWarnings, ansi_warnings: bool = false, "ANSI_WARNINGS", text, read_on_off;
    /// ARITHABORT
    ArithAbort, arith_abort: bool = false, "ARITHABORT", text, read_on_off;
    /// CONCAT_NULL_YIELDS_NULL
    ConcatNullYieldsNull, concat_null_yields_null: bool = false, "CONCAT_NULL_YIELDS_NULL",
        text, read_on_off;
    /// NUMERIC_ROUNDABORT
    NumericRoundAbort, numeric_round_abort: bool = false, "NUMERIC_ROUNDABORT",
        text, read_on_off;
    /// QUOTED_IDENTIFIER
    QuotedIdentifier, quoted_identifier: bool = false, "QUOTED_IDENTIFIER", text, read_on_off;
    /// RECURSIVE_TRIGGERS
    RecursiveTriggers, recursive_triggers: bool = false, "RECURSIVE_TRIGGERS", text, read_on_off;
    /// CURSOR_CLOSE_ON_COMMIT
    CursorCloseOnCommit, cursor_close_on_commit: bool = false, "CURSOR_CLOSE_ON_COMMIT",
        text, read_on_off;
    /// PARAMETERIZATION FORCED
    ForcedParameterization, forced_parameterization: bool = false, "PARAMETERIZATION_FORCED",
        text, read_on_off;
    /// SCOPED CONFIGURATION MAXDOP; 0: what the server says
    MaxDegree, max_degree: u16 = 0, "SCOPED_MAXDOP", |v| v.to_string(), |t| t.parse().ok();
    /// SCOPED CONFIGURATION PARAMETER_SNIFFING
    ParameterSniffing, parameter_sniffing: bool = true, "SCOPED_PARAMETER_SNIFFING",
        text, read_on_off;
    /// SCOPED CONFIGURATION LIGHTWEIGHT_QUERY_PROFILING
    LightweightProfiling, lightweight_profiling: bool = true,
        "SCOPED_LIGHTWEIGHT_QUERY_PROFILING", text, read_on_off;
    /// SCOPED CONFIGURATION LAST_QUERY_PLAN_STATS
    LastPlanStatistics, last_plan_statistics: bool = false, "SCOPED_LAST_QUERY_PLAN_STATS",
        text, read_on_off;
    /// COLLATE: of names, constants, variables and of columns that say none
    Collate, collation: Collation = Collation::SQL_LATIN1_CI_AS, "COLLATION",
        |v| v.name().to_owned(), Collation::by_name;
    /// SCOPED CONFIGURATION GHOST_CLEANUP_RULE, an option of our own
    GhostCleanupRule, ghost_cleanup_rule: GhostRule = GhostRule::Interval,
        "SCOPED_GHOST_CLEANUP_RULE", |v| v.name().to_owned(), GhostRule::by_name;
}

impl DatabaseOption {
    /// Whether plans of the database that were made before are not to be used any more.
    pub fn decides_plans(self) -> bool {
        matches!(
            self,
            DatabaseOption::MaxDegree(_)
                | DatabaseOption::ParameterSniffing(_)
                | DatabaseOption::LightweightProfiling(_)
                | DatabaseOption::LastPlanStatistics(_)
                | DatabaseOption::ForcedParameterization(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_read_as_it_was_written() {
        let mut set = DatabaseOptions::default();
        for option in [
            DatabaseOption::Recovery(RecoveryModel::Simple),
            DatabaseOption::DelayedDurability(DelayedDurability::Forced),
            DatabaseOption::CompatibilityLevel(150),
            DatabaseOption::TargetRecoveryTime(0),
            DatabaseOption::AutoShrink(true),
            DatabaseOption::UserAccess(UserAccess::Single),
        ] {
            set.set(option);
        }
        let mut read = DatabaseOptions::default();
        for option in set.all() {
            let (name, value) = option.fact();
            assert_eq!(read.read_fact(name, &value), Some(()), "{name}");
        }
        assert_eq!(read, set);
        assert_ne!(read, DatabaseOptions::default());
        assert_eq!(read.read_fact("RECOVERY", "SOMETIMES"), None);
        assert_eq!(read.read_fact("FROM_A_LATER_VERSION", "x"), Some(()));
    }
}
