//! Finds the first of the rows that a join returns for each target row.
//!
//! Target rows are told apart by the key of their base row. When the grant is exceeded, no further
//! key is remembered. Rows of keys in memory are still recognized; others go to partitions on disk
//! by their hash, which are processed one after the other when the join has no more rows. So these
//! rows are changed later than they were read: from the first such row on, target rows stay locked.
//!
//! Invariants
//!  1. A key is in memory, or all its rows are in the file of its hash, in the order in which they
//!     came. So the first row of a key is the first that the join returned.

use super::target::{Locator, Target};
use crate::memory::{KeySet, LEVEL_MAX, Partitions, Sighting, read_slots};
use crate::operator::Node;
use crate::run::{Run, WITHIN};
use access::SpillFile;
use base::SqlResult;
use plan::{OldRow, Physical, Slot};

/// See the module.
pub(crate) struct FirstRows {
    /// The slots that are written of a row that is put aside.
    slots: Vec<Slot>,
    seen: KeySet,
    level: u32,
    aside: Option<Partitions>,
    /// Files that were not read yet, with the level of their partition.
    waiting: Vec<(u32, Box<dyn SpillFile>)>,
    /// The file that is being read.
    file: Option<Box<dyn SpillFile>>,
    /// The join has no more rows.
    ended: bool,
    key: Vec<u8>,
}

impl FirstRows {
    /// For a source that may bring a target row several times.
    pub(crate) fn of(source: &Physical, may_repeat: bool) -> Option<FirstRows> {
        (may_repeat && !source.gives_one_row()).then(|| FirstRows::new(source.written()))
    }

    /// For rows that have these slots.
    pub(crate) fn new(slots: Vec<Slot>) -> FirstRows {
        FirstRows {
            slots,
            seen: KeySet::default(),
            level: 0,
            aside: None,
            waiting: Vec::new(),
            file: None,
            ended: false,
            key: Vec::new(),
        }
    }

    /// Brings the next target row into the frame, from `source` or from disk; false after the last.
    pub(crate) fn next(
        &mut self,
        run: &mut Run<'_>,
        source: &mut Node,
        target: &mut Target,
        old: &OldRow,
    ) -> SqlResult<bool> {
        loop {
            self.ended = self.ended || !source.next(run)?;
            if self.ended && !self.read(run)? {
                return Ok(false);
            }
            run.tick()?;
            if self.look(run, target, old)? == Sighting::First {
                return Ok(true);
            }
        }
    }

    /// Whether the target row in the frame came before. A row of which that is unknown is put
    /// aside.
    pub(crate) fn look(
        &mut self,
        run: &mut Run<'_>,
        target: &mut Target,
        old: &OldRow,
    ) -> SqlResult<Sighting> {
        target.base_key(run, &old.columns, &Locator::of(run, old), &mut self.key);
        let hash = self.seen.hash(&self.key);
        let seen = self.seen.insert(run, &self.key, hash, self.level >= LEVEL_MAX);
        if seen == Sighting::Unknown {
            let aside = self.aside.get_or_insert_with(|| Partitions::new(self.level));
            aside.push(run, Some(hash), &self.slots)?;
            run.keep_back();
        }
        Ok(seen)
    }

    /// Whether one of the rows that were put aside has the key of another.
    pub(crate) fn any_twice(
        &mut self,
        run: &mut Run<'_>,
        target: &mut Target,
        old: &OldRow,
    ) -> SqlResult<bool> {
        while self.read(run)? {
            run.tick()?;
            if self.look(run, target, old)? == Sighting::Before {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The next row that was put aside; false after the last of the last file.
    fn read(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        loop {
            if let Some(file) = &mut self.file
                && read_slots(run, &self.slots, file.as_mut())?
            {
                return Ok(true);
            }
            self.file = self.next_file(run)?;
            if self.file.is_none() {
                return Ok(false);
            }
        }
    }

    /// The next file to read. The keys of the last file are forgotten.
    fn next_file(&mut self, run: &mut Run<'_>) -> SqlResult<Option<Box<dyn SpillFile>>> {
        self.seen.clear(run);
        if let Some(aside) = self.aside.take() {
            let files = aside.finish(run, WITHIN)?;
            self.waiting.extend(files.into_iter().flatten().map(|f| (self.level + 1, f)));
        }
        let Some((level, file)) = self.waiting.pop() else { return Ok(None) };
        self.level = level;
        Ok(Some(file))
    }

    /// Forgets everything and gives its memory back.
    pub(crate) fn clear(&mut self, run: &mut Run<'_>) {
        self.seen.clear(run);
        self.drop_rows();
    }

    /// Forgets everything; the grant is over.
    pub(crate) fn drop_rows(&mut self) {
        *self = FirstRows::new(std::mem::take(&mut self.slots));
    }
}
