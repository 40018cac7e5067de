//! SET options. An option that is not implemented is refused, unless it asks for the present
//! behaviour.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::program::steps::PlaceId;
use crate::request::activation::Activation;
use crate::session::Session;
use crate::session::settings::{PlanForm, Switches};
use crate::session::state::State;
use access::Isolation;
use base::{SqlError, messages};
use lock::Timeout;
use tsql::ast::{IsolationLevel, SetOption, SetOptionValue};
use types::Value;
use types::datetime::DateFormat;

/// The value of a SET statement.
enum OptionValue {
    Switch(bool),
    Number(i64),
    Text(String),
    Bytes(Value),
    Null,
}

impl Session {
    pub(crate) fn set_isolation(&mut self, level: IsolationLevel) {
        self.state.settings.isolation = match level {
            IsolationLevel::ReadUncommitted => Isolation::ReadUncommitted,
            IsolationLevel::ReadCommitted => Isolation::ReadCommitted,
            IsolationLevel::RepeatableRead => Isolation::RepeatableRead,
            IsolationLevel::Snapshot => Isolation::Snapshot,
            IsolationLevel::Serializable => Isolation::Serializable,
        };
        self.apply_settings();
    }

    /// SET of one option or of several switches.
    pub(crate) fn set_option(
        &mut self,
        it: &SetOption,
        place: Option<PlaceId>,
        line: u32,
        act: &mut Activation,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let given = match (&it.value, place) {
            (SetOptionValue::On, _) => OptionValue::Switch(true),
            (SetOptionValue::Off, _) => OptionValue::Switch(false),
            (SetOptionValue::Word(word), _) => OptionValue::Text(word.text.to_string()),
            (SetOptionValue::Expr(_), None) => OptionValue::Null,
            (SetOptionValue::Expr(_), Some(place)) => match self.value(act, place)? {
                Value::Null => OptionValue::Null,
                value if value.as_i64().is_some() => {
                    OptionValue::Number(value.as_i64().unwrap_or(0))
                }
                value => match value.as_text() {
                    Some(text) => OptionValue::Text(text),
                    None => OptionValue::Bytes(value),
                },
            },
        };
        for name in &it.names {
            match &given {
                OptionValue::Switch(on) => self.state.set_switch(name, *on)?,
                other => self.set_value(name, other, line, out)?,
            }
        }
        self.apply_settings();
        Ok(())
    }

    fn set_value(
        &mut self,
        name: &str,
        given: &OptionValue,
        line: u32,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let shown = match given {
            OptionValue::Number(n) => n.to_string(),
            OptionValue::Text(t) => t.clone(),
            _ => "NULL".to_owned(),
        };
        let wrong = |message| Failure::from(SqlError::new(message, &[&shown]));
        let unsupported = || {
            let what = format!("SET {name} {shown}");
            Failure::from(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what]))
        };
        match (name, given) {
            ("LOCK_TIMEOUT", OptionValue::Number(n)) => {
                let ms = i32::try_from(*n).map_err(|_| wrong(messages::INTEGER_RANGE))?;
                self.state.settings.lock_timeout = Timeout::from_setting(ms);
                self.state.settings.lock_timeout_ms = ms.max(-1);
            }
            ("DEADLOCK_PRIORITY", OptionValue::Number(n @ -10..=10)) => {
                self.state.settings.deadlock_priority = *n as i8;
            }
            ("DEADLOCK_PRIORITY", OptionValue::Text(t)) => {
                let priority = deadlock_priority(t);
                self.state.settings.deadlock_priority =
                    priority.ok_or_else(|| wrong(messages::DEADLOCK_PRIORITY_INVALID))?;
            }
            ("DEADLOCK_PRIORITY", _) => return Err(wrong(messages::DEADLOCK_PRIORITY_INVALID)),
            ("DATEFIRST", OptionValue::Number(n @ 1..=7)) => {
                self.state.settings.date_first = *n as u8;
                self.state.settings.said.date_first = true;
            }
            ("DATEFIRST", OptionValue::Number(_)) => return Err(wrong(messages::DATEFIRST_RANGE)),
            ("DATEFORMAT", OptionValue::Text(t)) => {
                let format = DateFormat::by_name(t);
                self.state.settings.date_format =
                    format.ok_or_else(|| wrong(messages::DATEFORMAT_INVALID))?;
                self.state.settings.said.date_format = true;
            }
            ("DATEFORMAT", _) => return Err(wrong(messages::DATEFORMAT_INVALID)),
            ("LANGUAGE", OptionValue::Text(t)) => self.set_language(t, line, out)?,
            ("LANGUAGE", _) => return Err(wrong(messages::LANGUAGE_UNKNOWN)),
            ("TEXTSIZE", OptionValue::Number(n)) => {
                self.state.settings.text_size = match i32::try_from(*n) {
                    Err(_) | Ok(..-1) => return Err(wrong(messages::INTEGER_RANGE)),
                    Ok(-1) => i32::MAX,
                    Ok(0) => 4096,
                    Ok(n) => n,
                };
            }
            ("ROWCOUNT", OptionValue::Number(n)) => {
                self.state.settings.row_count =
                    u64::try_from(*n).map_err(|_| wrong(messages::ROWCOUNT_INVALID))?;
            }
            ("CONTEXT_INFO", OptionValue::Bytes(value)) => {
                let mut bytes = value.as_bytes().unwrap_or_default().to_vec();
                bytes.resize(128, 0);
                self.state.context.info = Value::varbinary(&bytes);
            }
            ("QUERY_GOVERNOR_COST_LIMIT", OptionValue::Number(0)) => {}
            ("FIPS_FLAGGER", _) | ("QUERY_GOVERNOR_COST_LIMIT", _) => return Err(unsupported()),
            ("ROWCOUNT", _) => return Err(wrong(messages::ROWCOUNT_INVALID)),
            _ => return Err(wrong(messages::SYNTAX_NEAR)),
        }
        Ok(())
    }
}

impl State {
    fn set_switch(&mut self, name: &str, on: bool) -> Result<(), Failure> {
        let unsupported = || {
            let what = format!("SET {name} {}", if on { "ON" } else { "OFF" });
            Failure::from(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what]))
        };
        let settings = &mut self.settings;
        match name {
            "ANSI_DEFAULTS" => {
                for switch in [
                    Switches::ANSI_NULLS,
                    Switches::ANSI_NULL_DFLT_ON,
                    Switches::ANSI_PADDING,
                    Switches::ANSI_WARNINGS,
                    Switches::QUOTED_IDENTIFIER,
                ] {
                    if !on {
                        return Err(unsupported());
                    }
                    settings.set(switch, on);
                }
                settings.set(Switches::IMPLICIT_TRANSACTIONS, on);
                settings.set(Switches::CURSOR_CLOSE_ON_COMMIT, on);
            }
            "NOEXEC" => settings.no_exec = on,
            "PARSEONLY" => settings.parse_only = on,
            "FMTONLY" => settings.format_only = on,
            // Their OFF is not implemented; it would change the meaning of strings and errors.
            "ANSI_PADDING" | "ANSI_WARNINGS" | "CONCAT_NULL_YIELDS_NULL" if !on => {
                return Err(unsupported());
            }
            "NO_BROWSETABLE" | "FORCEPLAN" | "REMOTE_PROC_TRANSACTIONS" if !on => {}
            "STATISTICS IO" => settings.statistics_io = on,
            "STATISTICS TIME" => settings.statistics_time = on,
            "STATISTICS XML" => settings.statistics_xml = on,
            "STATISTICS PROFILE" => settings.statistics_profile = on,
            "SHOWPLAN_TEXT" => set_showplan(&mut settings.showplan, PlanForm::Text, on),
            "SHOWPLAN_ALL" => set_showplan(&mut settings.showplan, PlanForm::All, on),
            "SHOWPLAN_XML" => set_showplan(&mut settings.showplan, PlanForm::Xml, on),
            _ if name.starts_with("OFFSETS ") && !on => {}
            "NUMERIC_ROUNDABORT" | "DISABLE_DEF_CNST_CHK" if on => return Err(unsupported()),
            _ => match Switches::by_name(name) {
                Some(switch) => {
                    settings.set(switch, on);
                    if on && switch == Switches::ANSI_NULL_DFLT_ON {
                        settings.set(Switches::ANSI_NULL_DFLT_OFF, false);
                    }
                    if on && switch == Switches::ANSI_NULL_DFLT_OFF {
                        settings.set(Switches::ANSI_NULL_DFLT_ON, false);
                    }
                }
                None => return Err(unsupported()),
            },
        }
        Ok(())
    }
}

fn deadlock_priority(word: &str) -> Option<i8> {
    match word.to_ascii_uppercase().as_str() {
        "LOW" => Some(-5),
        "NORMAL" => Some(0),
        "HIGH" => Some(5),
        _ => None,
    }
}

/// OFF of one form does not turn another form off.
fn set_showplan(now: &mut Option<PlanForm>, form: PlanForm, on: bool) {
    if on {
        *now = Some(form);
    } else if *now == Some(form) {
        *now = None;
    }
}
