//! What can go wrong between a page and its caller.

use base::{DatabaseId, PageId, SqlError, messages};

/// Why a page could not be had.
#[derive(Clone, Debug)]
pub enum BufferError {
    /// The operating system failed a transfer: error 823.
    Io {
        /// What was done: "read" or "write".
        doing: &'static str,
        /// The page.
        page: PageId,
        /// Its database.
        database: DatabaseId,
        /// Its file's name.
        file: String,
        /// What the operating system said.
        error: String,
    },
    /// The bytes are not what was written: error 824. The page is unusable, the rest is not.
    Corrupt {
        /// The page.
        page: PageId,
        /// Its database.
        database: DatabaseId,
        /// Its file's name.
        file: String,
        /// What is wrong.
        what: &'static str,
    },
    /// Every frame is latched or unwritable: error 701.
    NoFrames,
}

impl BufferError {
    /// Names the file, if the page was read before its name was known.
    #[must_use]
    pub fn in_file(mut self, name: &dyn std::fmt::Display) -> BufferError {
        if let BufferError::Io { file, .. } | BufferError::Corrupt { file, .. } = &mut self
            && file.is_empty()
        {
            *file = name.to_string();
        }
        self
    }
}

impl From<BufferError> for SqlError {
    fn from(e: BufferError) -> Self {
        match e {
            BufferError::Io { doing, page, file, error, .. } => {
                let offset = format!("{:#018x}", u64::from(page.page) * 8192);
                SqlError::new(messages::PAGE_READ_IO, &[&error, &doing, &offset, &file])
            }
            BufferError::Corrupt { page, database, file, what } => {
                let offset = format!("{:#018x}", u64::from(page.page) * 8192);
                SqlError::new(
                    messages::PAGE_CORRUPT,
                    &[&what, &"read", &page, &database, &offset, &file],
                )
                .with_state(2)
            }
            BufferError::NoFrames => SqlError::new(messages::OUT_OF_MEMORY, &[&"default"]),
        }
    }
}

impl std::fmt::Display for BufferError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BufferError::Io { doing, page, file, error, .. } => {
                write!(f, "{doing} {page} of {file}: {error}")
            }
            BufferError::Corrupt { page, file, what, .. } => write!(f, "{page} of {file}: {what}"),
            BufferError::NoFrames => write!(f, "no buffer frame can be freed"),
        }
    }
}

impl std::error::Error for BufferError {}
