//! The notes that writers leave about a hobt (`capture/mod.rs`), in memory and in a file.

use access::SpillFile;
use base::{SqlError, SqlResult};
use os::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// Notes that are kept in memory before they go to the file.
const CHUNK_BYTES: usize = 32 << 10;
/// Whether changes of a hobt are noted, and where.
#[derive(Default)]
pub(crate) struct Captures {
    on: AtomicBool,
    list: Mutex<Option<Arc<Notes>>>,
}

/// Where notes are put.
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
    /// Of columns, put into a file.
    fn of(columns: &[usize], file: Box<dyn SpillFile>) -> Notes {
        let filed = Mutex::new(NoteFile { file, failed: None });
        Notes { columns: columns.into(), chunk: Mutex::default(), filed }
    }

    /// Hands over what was noted so far, and goes on in another file.
    ///
    /// # Errors
    /// Why a note could not be kept.
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

    /// The build is not to be completed.
    pub(crate) fn fail(&self, why: SqlError) {
        self.filed.lock().failed.get_or_insert(why);
    }
}

impl NoteFile {
    fn append(&mut self, chunk: &[u8]) {
        // Where a note cannot be kept, its writer goes on, and the build does not.
        if self.failed.is_none()
            && let Err(e) = self.file.append(chunk)
        {
            self.failed = Some(e);
        }
    }
}

impl Captures {
    /// Notes columns into a file from now on.
    pub(crate) fn begin(&self, columns: &[usize], file: Box<dyn SpillFile>) {
        let former = self.list.lock().replace(Arc::new(Notes::of(columns, file)));
        assert!(former.is_none(), "one build at a time notes what is changed");
        self.on.store(true, Release);
    }

    /// Notes no more.
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
