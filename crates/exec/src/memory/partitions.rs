//! Partitions: rows spread over spill files by the hash of their keys, for what exceeds a grant.

use super::rows::spill_slots;
use crate::run::Run;
use access::SpillFile;
use base::SqlResult;
use plan::Slot;

/// Files at each level.
pub(crate) const FANOUT: usize = 16;
/// From this level on rows are kept in memory without a grant: their hashes do not differ.
pub(crate) const LEVEL_MAX: u32 = 8;

/// The files of a level; those that nothing was written to are not made.
pub(crate) type Files = [Option<Box<dyn SpillFile>>; FANOUT];

/// A set of files.
pub(crate) struct Partitions {
    level: u32,
    files: Files,
    bytes: Vec<u8>,
}

impl Partitions {
    pub(crate) fn new(level: u32) -> Partitions {
        Partitions { level, files: [const { None }; FANOUT], bytes: Vec::new() }
    }

    /// Writes the row in the frame to the file of its hash.
    pub(crate) fn push(
        &mut self,
        run: &mut Run<'_>,
        hash: Option<u64>,
        slots: &[Slot],
    ) -> SqlResult<()> {
        let shift = 60 - 4 * self.level.min(LEVEL_MAX);
        let file = &mut self.files[((hash.unwrap_or(0) >> shift) & 15) as usize];
        if file.is_none() {
            *file = Some(run.spill.create()?);
        }
        let file = file.as_mut().expect("it was made above");
        spill_slots(run, slots, &mut self.bytes, file.as_mut())
    }

    /// Ends writing: the files, each ready to be read.
    pub(crate) fn finish(self, run: &mut Run<'_>, id: usize) -> SqlResult<Files> {
        let mut files = self.files;
        for file in files.iter_mut().flatten() {
            run.counts.of(id).spilled(file.bytes());
            file.rewind()?;
        }
        Ok(files)
    }
}
