//! The memory within the budget: whole pages from the operating system, never more than the limit.
//!
//! Pages that readers may still be using are *retired*: they count against the budget until every reader that could have seen them is
//! gone. Then they are unmapped, except for a few that are kept for the next segments of the same size, because mapping and unmapping
//! stop every thread of the process for a moment. While the cache grows, a background thread maps and touches some pages ahead of need.

use locks::Mutex;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

/// The pages of a cache, and the count that keeps them within the budget.
pub(crate) struct Memory {
    /// The maximum of `mapped`, in bytes.
    limit: AtomicU64,
    /// The bytes of all pages in use, including retired ones.
    mapped: AtomicU64,
    /// The part of `mapped` that is released as soon as no pinned reader can be using it.
    retired: AtomicU64,
    /// Mapped pages that are not in use, kept for new segments. They do not count in `mapped`.
    idle: Mutex<Vec<Pages>>,
    /// The number of segments that were requested since pages were last made ready.
    wanted: AtomicUsize,
    /// The size of the segment that was requested last.
    wanted_bytes: AtomicUsize,
    page: usize,
}

/// The maximum number of retired segments whose pages are kept for new segments.
const MOST_IDLE: usize = 8;
/// Idle pages, which are mapped but not in use, may take `limit / IDLE` bytes.
const IDLE: u64 = 128;

/// Mapped pages that are not in use. Dropping this unmaps them.
struct Pages {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: only the owner of this value knows the pages.
unsafe impl Send for Pages {}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages are from one `map` and not in use.
        unsafe { system::unmap(self.start, self.bytes) };
    }
}

impl Memory {
    /// Creates a memory without pages. `limit`: the maximum of all mapped bytes.
    pub fn new(limit: u64) -> Arc<Self> {
        let [limit, mapped, retired] = [limit, 0, 0].map(AtomicU64::new);
        let [wanted, wanted_bytes] = [0, 0].map(AtomicUsize::new);
        let page = system::page_bytes();
        Arc::new(Memory { limit, mapped, retired, idle: Mutex::default(), wanted, wanted_bytes, page })
    }

    // The counts are only bookkeeping and publish nothing: all accesses are Relaxed. The limit is hard because a reservation is one atomic
    // update of `mapped`, made before the pages exist and undone after they are gone.

    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Sets the maximum of all mapped bytes. Unmaps nothing: while more is mapped, [`map`](Self::map) returns `None`.
    pub fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// The bytes that count against the limit: all pages in use, including retired ones that readers may still be using.
    pub fn mapped(&self) -> u64 {
        self.mapped.load(Ordering::Relaxed)
    }

    /// The bytes that are released as soon as no pinned reader can be using them; part of [`mapped`](Self::mapped).
    pub fn retired(&self) -> u64 {
        self.retired.load(Ordering::Relaxed)
    }

    /// The bytes in use, without retired ones: so many stay mapped once no pinned reader uses retired pages any more.
    pub fn kept(&self) -> u64 {
        self.mapped().saturating_sub(self.retired())
    }

    /// The page size of the system, in bytes.
    pub fn page(&self) -> usize {
        self.page
    }

    /// Rounds a number of bytes up to whole pages.
    pub fn round_up(&self, bytes: usize) -> usize {
        bytes.next_multiple_of(self.page)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Pages>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All mapped bytes, including pages that are retired and pages that are kept for new segments.
    pub fn resident(&self) -> u64 {
        self.mapped() + bytes_of(&self.idle())
    }

    /// Unmaps all pages that are kept for new segments, and forgets how many [`make_ready`](Self::make_ready) was to prepare.
    pub fn trim(&self) {
        self.wanted.store(0, Ordering::Relaxed);
        self.idle().clear();
    }

    /// Maps zeroed pages of this size, a multiple of the page size, until [`retire`](Self::retire). Returns `None`, and maps nothing, if
    /// fewer than `spare` bytes of the limit would remain, or if the system has no memory.
    pub fn map(&self, bytes: usize, spare: u64) -> Option<NonNull<u8>> {
        self.reserve(bytes, spare)?;
        self.map_reserved(bytes)
    }

    /// Maps pages for a segment, which may have been used before and are not zeroed, until [`retire`](Self::retire).
    /// `bytes` is a multiple of the page size. Returns `None`, and maps nothing, if fewer than `spare` bytes of the
    /// limit would remain, or if the system has no memory.
    pub fn map_any(&self, bytes: usize, spare: u64) -> Option<NonNull<u8>> {
        self.reserve(bytes, spare)?;
        self.wanted_bytes.store(bytes, Ordering::Relaxed);
        self.wanted.fetch_add(1, Ordering::Relaxed);
        self.take_idle(bytes).or_else(|| self.map_reserved(bytes))
    }

    /// Maps and touches pages ahead of need, for as many segments as were requested since the last call and as there is room for. Then a
    /// session does not have to: the first touch of a page can take as long as a small statement. Call it on a background thread.
    pub fn make_ready(&self) {
        let (wanted, bytes) = (self.wanted.swap(0, Ordering::Relaxed), self.wanted_bytes.load(Ordering::Relaxed));
        let ready = self.idle().iter().filter(|pages| pages.bytes == bytes).count();
        for _ in ready..wanted {
            if !self.has_room_for_idle(&self.idle(), bytes) {
                return;
            }
            let Some(start) = system::map(bytes) else { return };
            let pages = Pages { start, bytes };
            // SAFETY: within the pages, which no other thread knows yet.
            (0..bytes).step_by(self.page).for_each(|at| unsafe { start.add(at).write_volatile(0) });
            let mut idle = self.idle();
            if self.has_room_for_idle(&idle, bytes) {
                idle.push(pages);
            }
        }
    }

    /// True if `bytes` can be added to the idle pages without exceeding their part of the limit, or the limit.
    fn has_room_for_idle(&self, idle: &[Pages], bytes: usize) -> bool {
        let (idle, limit) = (bytes_of(idle) + bytes as u64, self.limit());
        idle <= limit / IDLE && self.mapped() + idle <= limit
    }

    fn take_idle(&self, bytes: usize) -> Option<NonNull<u8>> {
        let mut idle = self.idle();
        let at = idle.iter().position(|pages| pages.bytes == bytes)?;
        Some(ManuallyDrop::new(idle.swap_remove(at)).start)
    }

    /// Counts `bytes` as mapped. Returns `None`, and counts nothing, if fewer than `spare` bytes of the limit would remain.
    fn reserve(&self, bytes: usize, spare: u64) -> Option<()> {
        debug_assert!(bytes > 0 && bytes.is_multiple_of(self.page));
        let limit = self.limit();
        let reserve = |mapped: u64| {
            let mapped = mapped + bytes as u64;
            (mapped.saturating_add(spare) <= limit).then_some(mapped)
        };
        self.mapped.fetch_update(Ordering::Relaxed, Ordering::Relaxed, reserve).ok().map(drop)
    }

    /// Maps bytes that [`reserve`](Self::reserve) has counted. Returns `None`, and takes them out of the count, if the system has no
    /// memory.
    fn map_reserved(&self, bytes: usize) -> Option<NonNull<u8>> {
        let mut idle = self.idle();
        if self.mapped() + bytes_of(&idle) > self.limit() {
            idle.clear();
        }
        drop(idle);
        let pages = system::map(bytes);
        if pages.is_none() {
            self.mapped.fetch_sub(bytes as u64, Ordering::Relaxed);
        }
        pages
    }

    /// Keeps the pages for a new segment of the same size if there is room, otherwise unmaps them. Never waits, because any thread may call
    /// it.
    fn keep_idle(&self, pages: Pages) {
        if let Ok(mut idle) = self.idle.try_lock()
            && idle.len() < MOST_IDLE
            && bytes_of(&idle) + pages.bytes as u64 <= self.limit() / IDLE
        {
            idle.push(pages);
        }
    }

    /// Releases the pages as soon as no pinned reader can be using them; does not wait for that. If `is_segment`, the pages may be kept for
    /// a new segment of the same size.
    ///
    /// # Safety
    /// `start` and `bytes` are from one [`map`](Self::map) or [`map_any`](Self::map_any) of this memory, only readers that are already
    /// pinned can still find the pages, and this is the only call for them.
    pub unsafe fn retire(self: &Arc<Self>, start: NonNull<u8>, bytes: usize, is_segment: bool) {
        self.retired.fetch_add(bytes as u64, Ordering::Relaxed);
        let memory = Arc::clone(self);
        let guard = crossbeam_epoch::pin();
        // The caller guarantees that the pages are ours; when the closure runs, the epoch guarantees that no reader is left.
        let pages = Pages { start, bytes };
        let give_up = move || {
            let bytes = pages.bytes as u64;
            if is_segment {
                memory.keep_idle(pages);
            } else {
                drop(pages);
            }
            memory.mapped.fetch_sub(bytes, Ordering::Relaxed);
            memory.retired.fetch_sub(bytes, Ordering::Relaxed);
        };
        // SAFETY: the closure owns what it uses, and may run on any thread at any later time.
        unsafe { guard.defer_unchecked(give_up) };
        guard.flush();
    }
}

fn bytes_of(idle: &[Pages]) -> u64 {
    idle.iter().map(|pages| pages.bytes as u64).sum()
}

/// Unmaps or releases retired pages that no pinned reader can be using. Does not wait for readers, so some pages may remain.
pub(crate) fn collect() {
    // Pages retired in one epoch are unmapped two epochs later; a flush advances by at most one.
    for _ in 0..3 {
        crossbeam_epoch::pin().flush();
    }
}

#[cfg(not(miri))]
mod system {
    use std::ptr::{NonNull, null_mut};

    pub fn page_bytes() -> usize {
        // SAFETY: the call has no preconditions.
        let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(bytes).expect("the system knows its page size")
    }

    pub fn map(bytes: usize) -> Option<NonNull<u8>> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping at an address of the system's choice touches no existing memory.
        let start = unsafe { libc::mmap(null_mut(), bytes, access, kind, -1, 0) };
        if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
    }

    /// Returns the pages to the operating system.
    ///
    /// # Safety
    /// The pages are from one `map` of this size, and not in use any more.
    pub unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
        let start = start.as_ptr().cast();
        // SAFETY: the caller's guarantee.
        if unsafe { libc::munmap(start, bytes) } != 0 {
            // The process has too many mappings to split this one. Its memory can be returned to the system all the same.
            // SAFETY: as above.
            unsafe { libc::madvise(start, bytes, libc::MADV_DONTNEED) };
        }
    }
}

/// The same functions for Miri, which supports the allocator better than `mmap`.
#[cfg(miri)]
mod system {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr::NonNull;

    const PAGE: usize = 4096;

    pub fn page_bytes() -> usize {
        PAGE
    }

    pub fn map(bytes: usize) -> Option<NonNull<u8>> {
        let layout = Layout::from_size_align(bytes, PAGE).ok()?;
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { alloc_zeroed(layout) })
    }

    /// Returns the pages to the allocator.
    ///
    /// # Safety
    /// The pages are from one `map` of this size, and not in use any more.
    pub unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
        let layout = Layout::from_size_align(bytes, PAGE).expect("was valid when mapped");
        // SAFETY: the caller's guarantee.
        unsafe { dealloc(start.as_ptr(), layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn await_readers(memory: &Memory) {
        while memory.retired() > 0 {
            collect();
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_limit_and_the_spare_are_hard() {
        let memory = Memory::new(0);
        let page = memory.page();
        memory.set_limit(3 * page as u64);
        assert!(memory.map(4 * page, 0).is_none());
        assert!(memory.map(3 * page, 1).is_none());
        let start = memory.map(2 * page, page as u64).expect("fits exactly");
        assert_eq!(memory.mapped(), 2 * page as u64);
        // SAFETY: mapped above, known only to this test.
        unsafe { memory.retire(start, 2 * page, false) };
        await_readers(&memory);
        assert_eq!(memory.mapped(), 0);
    }

    #[test]
    fn retired_pages_stay_while_a_reader_is_pinned() {
        let memory = Memory::new(1 << 20);
        let page = memory.page();
        let start = memory.map(page, 0).expect("fits");
        let pin = crate::pin();
        // SAFETY: mapped above, known only to this test.
        unsafe { memory.retire(start, page, false) };
        collect();
        assert_eq!((memory.mapped(), memory.kept()), (page as u64, 0));
        // SAFETY: the pin is older than the retirement.
        assert_eq!(unsafe { start.read() }, 0);
        drop(pin);
    }

    #[test]
    fn idle_pages_are_used_again_and_never_more_than_a_few() {
        let memory = Memory::new(0);
        let page = memory.page();
        let limit = 2 * IDLE * page as u64;
        memory.set_limit(limit);
        let all: Vec<_> = (0..8).map(|_| memory.map_any(page, 0).expect("fits")).collect();
        for start in &all {
            // SAFETY: mapped above, known only to this test.
            unsafe { memory.retire(*start, page, true) };
        }
        await_readers(&memory);
        assert_eq!((memory.mapped(), memory.resident()), (0, 2 * page as u64));
        let again = memory.map_any(page, 0).expect("fits");
        assert!(all.contains(&again));
        assert_eq!(memory.resident(), 2 * page as u64);
        // The idle page has another size, so it is unmapped, and the rest of the limit is used up.
        let large = memory.map(limit as usize - page, 0).expect("fits");
        assert_eq!(memory.resident(), limit);
        // SAFETY: as above.
        unsafe {
            memory.retire(again, page, true);
            memory.retire(large, limit as usize - page, true);
        }
        await_readers(&memory);
        memory.trim();
        assert_eq!(memory.resident(), 0);
    }

    #[test]
    fn what_was_wanted_lately_is_ready_before_it_is_wanted_again() {
        let memory = Memory::new(0);
        let page = memory.page() as u64;
        memory.set_limit(4 * IDLE * page);
        memory.make_ready();
        assert_eq!(memory.resident(), 0, "nothing was wanted");
        (0..3).for_each(|_| _ = memory.map_any(page as usize, 0).expect("fits"));
        memory.make_ready();
        assert_eq!((memory.mapped(), memory.resident()), (3 * page, 6 * page));
        let start = memory.map_any(page as usize, 0).expect("fits");
        assert_eq!((memory.mapped(), memory.resident()), (4 * page, 6 * page));
        // SAFETY: mapped, and known only to this test.
        assert_eq!(unsafe { start.read() }, 0);
        memory.make_ready();
        assert_eq!(memory.resident(), 6 * page, "two were left, and one was wanted");
        (0..9).for_each(|_| _ = memory.map_any(page as usize, 0).expect("fits"));
        memory.make_ready();
        assert_eq!(memory.resident() - memory.mapped(), 4 * page, "no more than a part of the limit");
    }

    #[test]
    fn nothing_is_made_ready_beyond_the_limit() {
        let memory = Memory::new(0);
        let page = memory.page() as u64;
        memory.set_limit(IDLE * page);
        memory.map((IDLE as usize - 1) * page as usize, 0).expect("fits");
        memory.map_any(page as usize, 0).expect("fits");
        memory.make_ready();
        assert_eq!(memory.resident(), IDLE * page);
        memory.set_limit(0);
        assert!(memory.map_any(page as usize, 0).is_none());
        memory.make_ready();
        assert_eq!(memory.resident(), IDLE * page);
    }
}
