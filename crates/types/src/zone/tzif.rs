//! TZif (RFC 8536), version 2 and later: moments at which an offset changes, and a POSIX rule for
//! the time after the last of them.
//!
//! | part | what |
//! |---|---|
//! | header | `TZif`, version, 15 bytes unused, six counts of 4 bytes each, high byte first |
//! | version 1 data | of 4-byte times: passed over |
//! | header again | the same form |
//! | version 2 data | 8-byte times, one byte of type each, types of 6 bytes, names, leap seconds |
//! | footer | a line feed, the rule, a line feed |
//!
//! What is malformed gives `None`, never a panic.

/// An offset that holds for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Period {
    /// East of UTC.
    pub(super) seconds: i32,
    pub(super) daylight: bool,
}

impl Period {
    pub(super) fn minutes(self) -> i16 {
        super::minutes(self.seconds)
    }
}

/// When a zone's offset changes.
#[derive(Debug)]
pub(super) struct Transitions {
    first: Period,
    /// Seconds since 1970, rising, with what holds from there.
    changes: Vec<(i64, Period)>,
    rule: Option<Rule>,
}

/// The offsets of a year: standard, and daylight between two days.
#[derive(Debug)]
struct Rule {
    standard: i32,
    daylight: Option<(i32, Change, Change)>,
}

/// `Mm.w.d/time`: the w-th weekday of a month, 5 the last; seconds of local time.
#[derive(Debug)]
struct Change {
    month: u32,
    week: u32,
    weekday: u32,
    seconds: i64,
}

/// The counts of a header, in its order.
struct Counts {
    utc_marks: usize,
    standard_marks: usize,
    leaps: usize,
    times: usize,
    types: usize,
    names: usize,
}

const HEADER: usize = 44;

impl Counts {
    fn read(data: &[u8]) -> Option<Counts> {
        let count = |n: usize| {
            let bytes = data.get(20 + n * 4..24 + n * 4)?.try_into().ok()?;
            usize::try_from(u32::from_be_bytes(bytes)).ok()
        };
        (data.get(..4)? == b"TZif").then_some(())?;
        Some(Counts {
            utc_marks: count(0)?,
            standard_marks: count(1)?,
            leaps: count(2)?,
            times: count(3)?,
            types: count(4)?,
            names: count(5)?,
        })
    }

    /// Bytes of the data behind the header, with times of so many bytes.
    fn bytes(&self, time: usize) -> usize {
        self.times * (time + 1)
            + self.types * 6
            + self.names
            + self.leaps * (time + 4)
            + self.standard_marks
            + self.utc_marks
    }
}

impl Transitions {
    pub(super) fn read(data: &[u8]) -> Option<Transitions> {
        let old = Counts::read(data)?.bytes(4);
        let data = data.get(HEADER + old..)?;
        let counts = Counts::read(data)?;
        let body = data.get(HEADER..)?;
        let (times, rest) = body.split_at_checked(counts.times * 8)?;
        let (kinds, rest) = rest.split_at_checked(counts.times)?;
        let types: Vec<Period> = rest
            .get(..counts.types * 6)?
            .as_chunks::<6>()
            .0
            .iter()
            .map(|t| Period {
                seconds: i32::from_be_bytes([t[0], t[1], t[2], t[3]]),
                daylight: t[4] != 0,
            })
            .collect();
        let times = times.as_chunks::<8>().0.iter().map(|t| i64::from_be_bytes(*t));
        let changes: Option<Vec<(i64, Period)>> = times
            .zip(kinds)
            .map(|(at, kind)| Some((at, *types.get(usize::from(*kind))?)))
            .collect();
        let footer = std::str::from_utf8(body.get(counts.bytes(8)..)?).ok()?;
        let rule = Rule::parse(footer.trim_matches('\n'));
        Some(Transitions { first: *types.first()?, changes: changes?, rule })
    }

    /// What holds at a moment of UTC.
    pub(super) fn at(&self, unix: i64) -> Period {
        let n = self.changes.partition_point(|(at, _)| *at <= unix);
        match (&self.rule, n.checked_sub(1).and_then(|n| self.changes.get(n))) {
            (Some(rule), _) if n == self.changes.len() => rule.at(unix),
            (_, Some((_, period))) => *period,
            (_, None) => self.first,
        }
    }
}

impl Rule {
    /// `CET-1CEST,M3.5.0,M10.5.0/3`: the sign counts westward.
    fn parse(text: &str) -> Option<Rule> {
        let mut parts = text.split(',');
        let mut rest = parts.next()?;
        let standard = -offset(&mut rest, true)?;
        if rest.is_empty() {
            return Some(Rule { standard, daylight: None });
        }
        let daylight = offset(&mut rest, true).map_or(standard + 3600, |west| -west);
        let (begin, end) = (Change::parse(parts.next()?)?, Change::parse(parts.next()?)?);
        Some(Rule { standard, daylight: Some((daylight, begin, end)) })
    }

    fn at(&self, unix: i64) -> Period {
        let standard = Period { seconds: self.standard, daylight: false };
        let Some((seconds, begin, end)) = &self.daylight else { return standard };
        let days = unix.div_euclid(86_400) + 719_162;
        let year = crate::datetime::civil_from_days(i32::try_from(days).unwrap_or(0)).0;
        let moment = |change: &Change, offset: i32| Some(change.local(year)? - i64::from(offset));
        let (Some(begin), Some(end)) = (moment(begin, self.standard), moment(end, *seconds)) else {
            return standard;
        };
        let inside =
            if begin < end { (begin..end).contains(&unix) } else { !(end..begin).contains(&unix) };
        if inside { Period { seconds: *seconds, daylight: true } } else { standard }
    }
}

impl Change {
    fn parse(text: &str) -> Option<Change> {
        let (day, time) = text.split_once('/').unwrap_or((text, "2"));
        let mut numbers = day.strip_prefix('M')?.split('.').map(|n| n.parse::<u32>().ok());
        let (month, week, weekday) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let mut time = time;
        let seconds = i64::from(offset(&mut time, false)?);
        Some(Change { month, week, weekday, seconds })
    }

    /// Its local moment in a year, as seconds since 1970.
    fn local(&self, year: i32) -> Option<i64> {
        let first = crate::datetime::days_from_civil(year, self.month, 1)?;
        // 0 is Sunday in a rule, Monday in the calendar.
        let first_weekday = (crate::datetime::weekday(first) + 1) % 7;
        let mut day = (self.weekday + 7 - first_weekday) % 7 + 7 * (self.week.max(1) - 1);
        while day >= crate::datetime::days_in_month(year, self.month) {
            day -= 7;
        }
        Some((i64::from(first) + i64::from(day) - 719_162) * 86_400 + self.seconds)
    }
}

/// `[+-]hh[:mm[:ss]]` in seconds, taken off the text; a zone's letters come before it where
/// `named`.
fn offset(text: &mut &str, named: bool) -> Option<i32> {
    if named {
        let end = match text.strip_prefix('<') {
            Some(quoted) => quoted.find('>')? + 2,
            None => text.bytes().take_while(u8::is_ascii_alphabetic).count(),
        };
        *text = text.get(end..)?;
    }
    let end = text.bytes().take_while(|b| matches!(b, b'0'..=b'9' | b':' | b'+' | b'-')).count();
    let (number, rest) = text.split_at(end);
    let (negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let mut seconds = 0;
    for (part, unit) in digits.split(':').zip([3600, 60, 1]) {
        seconds += part.parse::<i32>().ok()? * unit;
    }
    *text = rest;
    Some(if negative { -seconds } else { seconds })
}
