//! Reserved virtual memory: addresses that cost nothing until touched and can be given back.
//!
//! The buffer pool computes a page's address from its id; these are the regions it computes
//! into. Under Miri a region is plain zeroed heap.

use std::io;

/// A range of addresses of this process, zero until written, freed when dropped.
pub struct Region {
    base: *mut u8,
    bytes: usize,
}

// SAFETY: a region is only an address range; who may read or write which part of it when is the
// owner's protocol (buffer's latches).
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves addresses; memory comes with the first touch of each 4 KB.
    ///
    /// # Errors
    /// When the address space or the kernel's limits do not allow it.
    #[cfg(not(miri))]
    pub fn reserve(bytes: usize) -> io::Result<Region> {
        use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh anonymous mapping overlaps nothing; the advice changes no contents.
        let base = unsafe {
            let base = mmap_anonymous(std::ptr::null_mut(), bytes, access, flags)?;
            // Huge pages would make eviction of single 8 KB pages free nothing.
            let _ = madvise(base, bytes, Advice::LinuxNoHugepage);
            base
        };
        Ok(Region { base: base.cast(), bytes })
    }

    /// Reserves zeroed heap.
    ///
    /// # Errors
    /// When the heap is exhausted.
    #[cfg(miri)]
    pub fn reserve(bytes: usize) -> io::Result<Region> {
        let layout = std::alloc::Layout::from_size_align(bytes, 8192)
            .map_err(|_| io::ErrorKind::OutOfMemory)?;
        // SAFETY: the size is not zero.
        let base = unsafe { std::alloc::alloc_zeroed(layout) };
        if base.is_null() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        Ok(Region { base, bytes })
    }

    /// The first address.
    pub fn base(&self) -> *mut u8 {
        self.base
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether the region has no addresses.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Gives the memory of a range back; it reads as zero afterwards.
    ///
    /// # Panics
    /// When the range is not within the region.
    ///
    /// # Safety
    /// Nobody holds a reference into the range.
    pub unsafe fn release(&self, offset: usize, bytes: usize) {
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.bytes));
        #[cfg(not(miri))]
        {
            use rustix::mm::{Advice, madvise};
            // SAFETY: the range is within our own mapping and the caller vouches for references.
            let done =
                unsafe { madvise(self.base.add(offset).cast(), bytes, Advice::LinuxDontNeed) };
            assert!(done.is_ok(), "memory of our own mapping can be given back");
        }
        #[cfg(miri)]
        // SAFETY: the range is within our own allocation and the caller vouches for references.
        unsafe {
            std::ptr::write_bytes(self.base.add(offset), 0, bytes);
        }
    }
}

/// Brings a cache line near, if the processor likes; the address need not be anybody's.
///
/// For what is read soon but not next: a search that must wait for one line after the other has
/// them all on their way.
#[inline(always)]
pub fn prefetch(at: *const u8) {
    #[cfg(not(miri))]
    // SAFETY: the instruction reads nothing that the program could see, whatever the address is.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) at, options(nostack, preserves_flags));
    }
    let _ = at;
}

/// Bytes of a cache line, nearly everywhere.
pub const CACHE_LINE_BYTES: usize = 64;

impl Drop for Region {
    fn drop(&mut self) {
        #[cfg(not(miri))]
        // SAFETY: we own the mapping and nobody can reach it any more.
        unsafe {
            let _ = rustix::mm::munmap(self.base.cast(), self.bytes);
        }
        #[cfg(miri)]
        // SAFETY: allocated above with this layout.
        unsafe {
            let layout = std::alloc::Layout::from_size_align_unchecked(self.bytes, 8192);
            std::alloc::dealloc(self.base, layout);
        }
    }
}

/// A heap buffer whose address suits O_DIRECT transfers.
pub struct AlignedBuffer {
    region: Region,
}

impl AlignedBuffer {
    /// A zeroed buffer; the size is rounded up to 4 KB.
    ///
    /// # Panics
    /// When memory cannot be had.
    pub fn new(bytes: usize) -> Self {
        let bytes = bytes.max(1).next_multiple_of(4096);
        AlignedBuffer { region: Region::reserve(bytes).expect("a small buffer can be mapped") }
    }

    /// The same where nothing could go on without it.
    pub fn or_stop(bytes: usize) -> Self {
        let bytes = bytes.max(1).next_multiple_of(4096);
        match Region::reserve(bytes) {
            Ok(region) => AlignedBuffer { region },
            Err(e) => crate::stop::process(&format!("no memory for a buffer: {e}")),
        }
    }
}

impl std::ops::Deref for AlignedBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is initialised (zero) memory that only this buffer refers to.
        unsafe { std::slice::from_raw_parts(self.region.base, self.region.bytes) }
    }
}

impl std::ops::DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and &mut self makes the borrow unique.
        unsafe { std::slice::from_raw_parts_mut(self.region.base, self.region.bytes) }
    }
}
