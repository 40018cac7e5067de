//! FILLFACTOR = AUTO: what the factor was chosen by when the index was last built.
//!
//! Stored as text: `rows inserts growth appends splits spread`.

/// What was known of an index when a build chose its fill factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AutoFill {
    /// Rows that the index had.
    pub rows: u64,
    /// Rows put into it since the build before.
    pub inserts: u64,
    /// Rows that it had more than then: others were deleted.
    pub growth: u64,
    /// Splits at its right edge, where rows had come in the order of its key.
    pub appends: u64,
    /// Splits of other pages.
    pub splits: u64,
    /// On what part of the index the latter fell, in percent.
    pub spread: u8,
}

impl AutoFill {
    pub(crate) fn to_text(self) -> String {
        let AutoFill { rows, inserts, growth, appends, splits, spread } = self;
        format!("{rows} {inserts} {growth} {appends} {splits} {spread}")
    }

    pub(crate) fn from_text(text: &str) -> Option<AutoFill> {
        let mut numbers = text.split(' ').map(|n| n.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let (rows, inserts, growth) = (next()?, next()?, next()?);
        let (appends, splits) = (next()?, next()?);
        let spread = u8::try_from(next()?).ok().filter(|n| *n <= 100)?;
        let read = AutoFill { rows, inserts, growth, appends, splits, spread };
        numbers.next().is_none().then_some(read)
    }
}
