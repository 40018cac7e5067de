//! The notes that writers leave about a hobt (`capture/mod.rs`), in memory and in a file.

use access::SpillFile;
use base::{SqlError, SqlResult};
use os::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// The most bytes of notes in memory; then they are moved to the file.
const CHUNK_BYTES: usize = 32 << 10;
/// Whether changes of a hobt are noted, and the place of the notes.
#[derive(Default)]
pub(crate) struct Captures {
    on: AtomicBool,
    list: Mutex<Option<Arc<Notes>>>,
}

/// The notes of one build.
pub(crate) struct Notes {
    pub(crate) columns: Box<[usize]>,
    chunk: Mutex<Vec<u8>>,
    filed: Mutex<NoteFile>,
}

struct NoteFile {
    file: Box<dyn SpillFile>,
    /// The error that kept a writer from noting.
    failed: Option<SqlError>,
}

impl Notes {
    /// Notes of these columns, in a file.
    fn of(columns: &[usize], file: Box<dyn SpillFile>) -> Notes {
        let filed = Mutex::new(NoteFile { file, failed: None });
        Notes { columns: columns.into(), chunk: Mutex::default(), filed }
    }

    /// Hands over the file with the notes so far. Further notes go to `next`.
    ///
    /// # Errors
    /// The error that kept a writer from noting.
    pub(crate) fn take(&self, next: Box<dyn SpillFile>) -> SqlResult<Box<dyn SpillFile>> {
        let mut filed = self.filed.lock();
        let chunk = std::mem::take(&mut *self.chunk.lock());
        if !chunk.is_empty() {
            filed.append(&chunk);
        }
        if let Some(e) = filed.failed.clone() {
            return Err(e);
        }
        Ok(std::mem::replace(&mut filed.file, next))
    }

    pub(crate) fn add(&self, note: &[u8]) {
        let full = {
            let mut chunk = self.chunk.lock();
            chunk.extend_from_slice(note);
            (chunk.len() >= CHUNK_BYTES).then(|| std::mem::take(&mut *chunk))
        };
        if let Some(full) = full {
            self.filed.lock().append(&full);
        }
    }

    /// Makes the build fail.
    pub(crate) fn fail(&self, why: SqlError) {
        self.filed.lock().failed.get_or_insert(why);
    }
}

impl NoteFile {
    fn append(&mut self, chunk: &[u8]) {
        // If a note cannot be kept, the writer continues, and the build fails.
        if self.failed.is_none()
            && let Err(e) = self.file.append(chunk)
        {
            self.failed = Some(e);
        }
    }
}

impl Captures {
    /// Begins to note columns into a file.
    pub(crate) fn begin(&self, columns: &[usize], file: Box<dyn SpillFile>) {
        let former = self.list.lock().replace(Arc::new(Notes::of(columns, file)));
        assert!(former.is_none(), "one build at a time notes what is changed");
        self.on.store(true, Release);
    }

    /// Ends the noting.
    pub(crate) fn end(&self) {
        self.on.store(false, Release);
        self.list.lock().take();
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Relaxed)
    }

    pub(crate) fn notes(&self) -> Option<Arc<Notes>> {
        self.list.lock().clone()
    }
}
