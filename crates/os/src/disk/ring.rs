//! A write by io_uring, of a file whose writes are durable when they are over (O_DSYNC).
//!
//!  1. One write is under way at a time, and nobody goes on before its completion is there: until
//!     then the kernel reads the caller's bytes.
//!  2. Where the kernel has taken a write and does not tell its end, the process stops: what the
//!     caller would free could still be written.

use crate::stop;
use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;
use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, OwnedFd};

/// The queues of one file: two pages that are shared with the kernel.
pub(super) struct Ring(IoUring);

impl Ring {
    /// None where the kernel has no io_uring, or does not allow it (containers often do not).
    pub(super) fn new() -> Option<Ring> {
        IoUring::new(1).ok().map(Ring)
    }

    /// As pwritev: how many bytes were written.
    ///
    /// # Errors
    /// The write's, or `EAGAIN` where it may not have begun and never will: the ring is to be
    /// dropped.
    pub(super) fn write(
        &mut self,
        file: &OwnedFd,
        parts: &[IoSlice<'_>],
        offset: u64,
    ) -> Result<usize, Errno> {
        // An IoSlice is laid out as an iovec: the standard library promises it.
        let write = opcode::Writev::new(
            types::Fd(file.as_raw_fd()),
            parts.as_ptr().cast(),
            u32::try_from(parts.len()).map_err(|_| Errno::INVAL)?,
        );
        let write = write.offset(offset).build();
        // SAFETY: file and parts are borrowed until this call returns, and it returns when the
        // write is over, or has not begun and never will (the ring is dropped).
        let queued = unsafe { self.0.submission().push(&write) };
        queued.map_err(|_| Errno::AGAIN)?;
        loop {
            let waited = self.0.submit_and_wait(1);
            if let Some(end) = self.0.completion().next() {
                let written = usize::try_from(end.result());
                return written.map_err(|_| Errno::from_raw_os_error(-end.result()));
            }
            match waited {
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) if !self.0.submission().is_empty() => return Err(Errno::AGAIN),
                Err(e) => {
                    stop::process(&format!("io_uring does not tell the end of a log write: {e}"))
                }
            }
        }
    }
}
