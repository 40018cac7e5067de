//! Linking the record that replaces a row to the row before, where writers ask of one row after the
//! other: what becomes of an index's entry, and which in-row versions a snapshot needs.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use crate::versions::in_row::ReplacedRecord;
use crate::versions::{ChainChange, Link, TaggedRecord, committed_by, is_needed_between, outcome};
use access::Deed;
use base::Xsn;
use page::Previous;
use work::Work;

impl RowHobt {
    /// As [`Self::link_to`], for a record of an index that replaces a row. Where that stays in it,
    /// it does not get the in-row version here: the change of the page makes it, and is told how
    /// long it is.
    pub(crate) fn link_entry_to(
        &self,
        work: &mut Work,
        new: &mut TaggedRecord<'_>,
        old: ReplacedRecord<'_>,
    ) -> RowResult<Option<usize>> {
        let Some(xsn) = new.xsn else { return Ok(None) };
        match self.link(work, xsn, old, (&new.record, new.stays))? {
            Link::InRow(bytes, _, tested) => {
                new.in_row = bytes;
                self.leaves_in_row(new, tested);
                Ok(None)
            }
            Link::Ready(tag, tested) => {
                tag.put(new.record.to_mut());
                new.tested = tested;
                Ok(None)
            }
            Link::Room(bytes) => Ok(Some(bytes)),
        }
    }

    /// The replaced record stays in the new one.
    pub(super) fn leaves_in_row(&self, new: &mut TaggedRecord<'_>, tested: ChainChange) {
        new.tested = tested;
        self.did(Deed::VersionInRow);
        self.home.in_row().note_left();
        self.note_in_row();
    }

    /// The same as [`Self::is_needed`] for a writer, who asks of one row after the other: mostly
    /// these are by the same writers, and the unit of work knows what became of them.
    pub(super) fn is_needed_by(&self, work: &Work, born: Xsn, ended: Xsn) -> bool {
        let committed = |writer| {
            committed_by(&self.home, writer, |writer| {
                work.known_commit(writer, || outcome(work.engine(), writer))
            })
        };
        match (committed(born), committed(ended)) {
            (Some(b), Some(e)) => is_needed_between(work.engine(), b, e),
            _ => true,
        }
    }

    /// Whether a snapshot needs the in-row version of a record by `creator`.
    pub(super) fn is_in_row_needed(&self, work: &Work, before: Previous, creator: Xsn) -> bool {
        match before {
            Previous::InRow { born, .. } => self.is_needed_by(work, born, creator),
            Previous::None | Previous::Stored(_) | Previous::Itself(_) | Previous::Lost(_) => false,
        }
    }
}
