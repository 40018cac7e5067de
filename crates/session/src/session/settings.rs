//! SET options of a session, and how `@@OPTIONS` packs them.

use crate::program::steps::Program;
use access::Isolation;
use catalog::view::Module;
use lock::Timeout;
use types::datetime::{DateFormat, Dialect, Language};

/// The switches that `@@OPTIONS` shows, by their bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Switches(u32);

macro_rules! switches {
    ($($name:ident = $bit:literal, $text:literal;)*) => {
        impl Switches {
            $(#[doc = $text] pub const $name: Switches = Switches($bit);)*

            /// The bits of all of them.
            const ALL: u32 = 0 $(| $bit)*;

            /// A switch by the name that SET uses for it, in upper case.
            pub fn by_name(name: &str) -> Option<Switches> {
                match name { $($text => Some(Switches::$name),)* _ => None }
            }
        }
    };
}

switches! {
    DISABLE_DEF_CNST_CHK = 1, "DISABLE_DEF_CNST_CHK";
    IMPLICIT_TRANSACTIONS = 2, "IMPLICIT_TRANSACTIONS";
    CURSOR_CLOSE_ON_COMMIT = 4, "CURSOR_CLOSE_ON_COMMIT";
    ANSI_WARNINGS = 8, "ANSI_WARNINGS";
    ANSI_PADDING = 16, "ANSI_PADDING";
    ANSI_NULLS = 32, "ANSI_NULLS";
    ARITHABORT = 64, "ARITHABORT";
    ARITHIGNORE = 128, "ARITHIGNORE";
    QUOTED_IDENTIFIER = 256, "QUOTED_IDENTIFIER";
    NOCOUNT = 512, "NOCOUNT";
    ANSI_NULL_DFLT_ON = 1024, "ANSI_NULL_DFLT_ON";
    ANSI_NULL_DFLT_OFF = 2048, "ANSI_NULL_DFLT_OFF";
    CONCAT_NULL_YIELDS_NULL = 4096, "CONCAT_NULL_YIELDS_NULL";
    NUMERIC_ROUNDABORT = 8192, "NUMERIC_ROUNDABORT";
    XACT_ABORT = 16384, "XACT_ABORT";
}

/// The switches that affect the meaning of text.
const MEANING: u32 = Switches::QUOTED_IDENTIFIER.0
    | Switches::ANSI_NULLS.0
    | Switches::ANSI_NULL_DFLT_ON.0
    | Switches::ANSI_PADDING.0
    | Switches::ANSI_WARNINGS.0
    | Switches::ARITHABORT.0
    | Switches::CONCAT_NULL_YIELDS_NULL.0
    | Switches::NUMERIC_ROUNDABORT.0;

impl Switches {
    /// Whether these contain another switch.
    #[inline]
    pub(crate) const fn has(self, other: Switches) -> bool {
        self.0 & other.0 != 0
    }

    /// `@@OPTIONS`
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The switches that must be on for filtered indexes and indexes on computed columns.
    pub(crate) const OF_INDEXES: Switches = Switches::ANSI_NULLS
        .with(Switches::QUOTED_IDENTIFIER)
        .with(Switches::CONCAT_NULL_YIELDS_NULL)
        .with(Switches::ANSI_WARNINGS)
        .with(Switches::ANSI_PADDING);

    /// Whether these contain all of some others.
    #[inline]
    pub(crate) const fn has_all(self, others: Switches) -> bool {
        self.0 & others.0 == others.0
    }

    const fn with(self, other: Switches) -> Switches {
        Switches(self.0 | other.0)
    }
}

/// All SET options. A procedure call copies them, and restores them when it ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    switches: Switches,
    /// SET TRANSACTION ISOLATION LEVEL
    pub isolation: Isolation,
    /// SET LOCK_TIMEOUT
    pub lock_timeout: Timeout,
    /// The same in milliseconds, as `@@LOCK_TIMEOUT` shows it; -1 for none.
    pub lock_timeout_ms: i32,
    /// SET DEADLOCK_PRIORITY
    pub deadlock_priority: i8,
    /// SET DATEFIRST
    pub date_first: u8,
    /// SET DATEFORMAT
    pub date_format: DateFormat,
    /// SET LANGUAGE
    pub language: &'static Language,
    /// The date settings that the batch has set itself.
    pub(crate) said: SaidOfDates,
    /// SET TEXTSIZE
    pub text_size: i32,
    /// SET ROWCOUNT; 0 for all rows.
    pub row_count: u64,
    /// SET NOEXEC
    pub no_exec: bool,
    /// SET PARSEONLY
    pub parse_only: bool,
    /// SET STATISTICS IO
    pub statistics_io: bool,
    /// SET STATISTICS TIME
    pub statistics_time: bool,
    /// SET SHOWPLAN_TEXT, SHOWPLAN_ALL, SHOWPLAN_XML: statements are shown, not run.
    pub showplan: Option<PlanForm>,
    /// SET STATISTICS XML
    pub statistics_xml: bool,
    /// SET STATISTICS PROFILE
    pub statistics_profile: bool,
    /// SET FMTONLY
    pub format_only: bool,
}

/// The date settings of a batch that SET LANGUAGE does not change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SaidOfDates {
    pub(crate) date_first: bool,
    pub(crate) date_format: bool,
}

/// How a plan is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanForm {
    /// One line for each operator.
    Text,
    /// One row for each operator, with all its figures.
    All,
    /// One document for each batch.
    Xml,
}

impl Default for Settings {
    /// As drivers set them: the ANSI options ON, as with ODBC defaults.
    fn default() -> Self {
        let switches = Switches::ANSI_WARNINGS
            .with(Switches::ANSI_PADDING)
            .with(Switches::ANSI_NULLS)
            .with(Switches::ARITHABORT)
            .with(Switches::QUOTED_IDENTIFIER)
            .with(Switches::ANSI_NULL_DFLT_ON)
            .with(Switches::CONCAT_NULL_YIELDS_NULL);
        Settings {
            switches,
            isolation: Isolation::ReadCommitted,
            lock_timeout: Timeout::INFINITE,
            lock_timeout_ms: -1,
            deadlock_priority: 0,
            date_first: 7,
            date_format: DateFormat::Mdy,
            language: Language::us_english(),
            said: SaidOfDates::default(),
            text_size: 2_147_483_647,
            row_count: 0,
            no_exec: false,
            parse_only: false,
            statistics_io: false,
            statistics_time: false,
            showplan: None,
            statistics_xml: false,
            statistics_profile: false,
            format_only: false,
        }
    }
}

impl Settings {
    /// The output of DBCC USEROPTIONS: values, then the switches that are ON, then the isolation
    /// level. The order is that of Microsoft's example; switches that are not in the example
    /// (NOCOUNT, XACT_ABORT and similar) follow ARITHABORT.
    pub(crate) fn shown(&self, reads_versions: bool) -> Vec<(String, String)> {
        let row = |name: &str, value: &dyn std::fmt::Display| (name.to_owned(), value.to_string());
        let mut rows = vec![
            row("textsize", &self.text_size),
            row("language", &self.language.name),
            row("dateformat", &self.date_format.name()),
            row("datefirst", &self.date_first),
            row("lock_timeout", &self.lock_timeout_ms),
        ];
        const SWITCHES: [&str; 13] = [
            "QUOTED_IDENTIFIER",
            "ARITHABORT",
            "NOCOUNT",
            "XACT_ABORT",
            "CURSOR_CLOSE_ON_COMMIT",
            "IMPLICIT_TRANSACTIONS",
            "NUMERIC_ROUNDABORT",
            "ANSI_NULL_DFLT_ON",
            "ANSI_NULL_DFLT_OFF",
            "ANSI_WARNINGS",
            "ANSI_PADDING",
            "ANSI_NULLS",
            "CONCAT_NULL_YIELDS_NULL",
        ];
        let on = |name: &&&str| Switches::by_name(name).is_some_and(|s| self.is_on(s));
        let names = SWITCHES.iter().filter(on);
        rows.extend(names.map(|name| row(&name.to_ascii_lowercase(), &"SET")));
        rows.push(row(
            "isolation level",
            &match self.isolation {
                Isolation::ReadUncommitted => "read uncommitted",
                Isolation::ReadCommitted if reads_versions => "read committed snapshot",
                Isolation::ReadCommitted => "read committed",
                Isolation::RepeatableRead => "repeatable read",
                Isolation::Serializable => "serializable",
                Isolation::Snapshot => "snapshot",
            },
        ));
        rows
    }

    /// Whether a switch is on.
    #[inline]
    pub fn is_on(&self, switch: Switches) -> bool {
        self.switches.0 & switch.0 != 0
    }

    /// Whether the plans of statements that ran are shown.
    #[inline]
    pub(crate) fn shows_what_ran(&self) -> bool {
        self.statistics_xml | self.statistics_profile
    }

    /// Turns a switch on or off.
    pub fn set(&mut self, switch: Switches, on: bool) {
        if on { self.switches.0 |= switch.0 } else { self.switches.0 &= !switch.0 }
    }

    /// Turns on the switches of these `@@OPTIONS` bits.
    pub(crate) fn set_all(&mut self, bits: u32) {
        self.switches.0 |= bits & Switches::ALL;
    }

    /// `@@OPTIONS`
    pub fn bits(&self) -> u32 {
        self.switches.0
    }

    /// The switches under which statements of a module or a batch are bound.
    #[inline]
    pub(crate) fn bound_under(&self, program: &Program) -> Switches {
        let own = (program.quoted_identifier, program.ansi_nulls);
        let mut switches = self.switches.0 & MEANING;
        for (switch, on) in [(Switches::QUOTED_IDENTIFIER, own.0), (Switches::ANSI_NULLS, own.1)] {
            if program.procedure.is_some() {
                switches = if on { switches | switch.0 } else { switches & !switch.0 };
            }
        }
        Switches(switches)
    }

    /// The options with which the parser reads text.
    pub(crate) fn parse_options(&self) -> tsql::ParseOptions {
        tsql::ParseOptions { quoted_identifier: self.is_on(Switches::QUOTED_IDENTIFIER) }
    }

    /// The settings that affect the meaning of text, as part of a plan's cache key.
    pub(crate) fn plan_key(&self) -> u64 {
        u64::from(self.switches.0 & MEANING)
            | u64::from(self.date_first) << 32
            | u64::from(self.date_format_number()) << 40
            | (self.language.id as u64 & 0xFF) << 48
    }

    /// The same for a module, which has its own QUOTED_IDENTIFIER and ANSI_NULLS.
    pub(crate) fn plan_key_of_module(&self, module: &Module) -> u64 {
        let mut own = self.clone();
        own.set(Switches::QUOTED_IDENTIFIER, module.quoted_identifier);
        own.set(Switches::ANSI_NULLS, module.ansi_nulls);
        own.plan_key()
    }

    /// The part of a plan's cache key that says which guards a bulk load skips.
    pub(crate) fn unguarded_key(unguarded: bind::SkippedGuards) -> u64 {
        u64::from(unguarded.constraints) << 56 | u64::from(unguarded.triggers) << 57
    }

    /// The switches of a plan's key.
    pub fn switches_of(plan_key: u64) -> u32 {
        plan_key as u32
    }

    /// DATEFIRST of a plan's key.
    pub fn date_first_of(plan_key: u64) -> u8 {
        (plan_key >> 32) as u8
    }

    /// The language id of a plan's key.
    pub fn language_of(plan_key: u64) -> u8 {
        (plan_key >> 48) as u8
    }

    /// DATEFORMAT of a plan's key: its position in `DateFormat::ALL`, from 1.
    pub fn date_format_of(plan_key: u64) -> u8 {
        (plan_key >> 40) as u8
    }

    pub(crate) fn date_format_number(&self) -> u8 {
        let at = DateFormat::ALL.iter().position(|f| *f == self.date_format);
        at.map_or(0, |at| at as u8 + 1)
    }

    /// Sets the language, and its DATEFIRST and DATEFORMAT unless the batch has set them. Returns
    /// the former language.
    pub(crate) fn speak(&mut self, language: &'static Language) -> &'static Language {
        if !self.said.date_first {
            self.date_first = language.date_first;
        }
        if !self.said.date_format {
            self.date_format = language.date_format;
        }
        std::mem::replace(&mut self.language, language)
    }

    /// How dates are written and read as text.
    #[inline]
    pub fn dialect(&self) -> Dialect {
        Dialect { format: self.date_format, language: self.language }
    }

    /// The level's number in sys.dm_exec_sessions.transaction_isolation_level.
    pub fn isolation_number(&self) -> u8 {
        match self.isolation {
            Isolation::ReadUncommitted => 1,
            Isolation::ReadCommitted => 2,
            Isolation::RepeatableRead => 3,
            Isolation::Serializable => 4,
            Isolation::Snapshot => 5,
        }
    }
}
