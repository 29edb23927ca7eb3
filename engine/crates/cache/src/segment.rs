//! Runs of pages to which entries are appended, and the queues of these segments.
//!
//! A segment's head holds the link to the next one, so that a queue of any length takes no memory outside the budget. A *single*
//! segment was created for one large entry.

use std::ptr::NonNull;
use std::sync::Arc;

use crate::entry::{ALIGN, RawEntry};
use crate::memory::Memory;

/// The data at the start of a segment.
struct Head {
    /// The next younger segment of the queue; none for the youngest.
    next: Option<Segment>,
    /// The size of the segment.
    bytes: usize,
    /// The bytes from the start of the segment that are taken, this head included.
    used: usize,
    /// True if the segment was created for one large entry.
    single: bool,
}

/// The bytes at the start of a segment that are not available for entries.
pub(crate) const HEAD: usize = size_of::<Head>().next_multiple_of(ALIGN);

/// A run of pages to which entries are appended and which is freed as a whole. It owns the pages: they stay mapped until
/// [`retire`](Self::retire). Used under the shard's lock only.
pub(crate) struct Segment(NonNull<Head>);

// SAFETY: owns its pages; the lock of its shard hands it from thread to thread.
unsafe impl Send for Segment {}

impl Segment {
    /// Makes an empty segment of these pages. `single`: it is for one large entry.
    ///
    /// # Safety
    /// `start` points to `bytes` writable bytes, page-aligned, that are not in use elsewhere.
    pub unsafe fn format(start: NonNull<u8>, bytes: usize, single: bool) -> Self {
        let head = Head { next: None, bytes, used: HEAD, single };
        let segment = Segment(start.cast());
        // SAFETY: within the pages, and aligned as pages are.
        unsafe { segment.0.write(head) };
        segment
    }

    fn head(&self) -> &Head {
        // SAFETY: formatted and owned; readers never look at heads.
        unsafe { self.0.as_ref() }
    }

    fn head_mut(&mut self) -> &mut Head {
        // SAFETY: formatted and owned; readers never look at heads.
        unsafe { self.0.as_mut() }
    }

    pub fn bytes(&self) -> usize {
        self.head().bytes
    }

    /// True if the segment was created for one large entry.
    pub fn is_single(&self) -> bool {
        self.head().single
    }

    /// The bytes of all entries that were appended, including those that the index no longer points to.
    pub fn entry_bytes(&self) -> usize {
        self.head().used - HEAD
    }

    /// Reserves `size` bytes, a multiple of [`ALIGN`], into which the caller must write an entry. Returns `None`, and reserves nothing, if
    /// the segment has no room for them.
    pub fn append(&mut self, size: usize) -> Option<NonNull<u8>> {
        let at = self.head().used;
        if self.bytes() - at < size {
            return None;
        }
        self.head_mut().used += size;
        // SAFETY: `at` was within the pages.
        Some(unsafe { self.0.cast::<u8>().add(at) })
    }

    /// Returns all entries that were appended, including those that the index no longer points to. The iterator does not borrow the
    /// segment: use it up before the segment is retired.
    pub fn entries(&self) -> impl Iterator<Item = RawEntry> + use<> {
        let (start, used) = (self.0.cast::<u8>(), self.head().used);
        let mut at = HEAD;
        std::iter::from_fn(move || {
            (at < used).then(|| {
                // SAFETY: entries follow one another from `HEAD` to `used`, each written before the lock was released.
                unsafe {
                    let entry = RawEntry::at(start.add(at));
                    at += entry.view().size();
                    entry
                }
            })
        })
    }

    /// Releases the segment's pages as soon as no pinned reader can be using them; does not wait for that.
    ///
    /// # Safety
    /// The segment came from `memory`, and no slot points into it any more.
    pub unsafe fn retire(self, memory: &Arc<Memory>) {
        // SAFETY: the caller's guarantee.
        unsafe { memory.retire(self.0.cast(), self.bytes(), true) };
    }
}

/// The segments of one of a shard's queues, from the oldest to the youngest: the linked ones, then the open one, to which new entries are
/// appended.
#[derive(Default)]
pub(crate) struct Queue {
    first: Option<Segment>,
    last: Option<NonNull<Head>>,
    open: Option<Segment>,
    /// The number of segments without the open one.
    linked: usize,
    /// The sizes of all segments together.
    bytes: u64,
}

// SAFETY: `last` points into a segment that the queue owns.
unsafe impl Send for Queue {}

impl Queue {
    /// The sizes of all segments together.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of segments, the open one included.
    pub fn len(&self) -> usize {
        self.linked + usize::from(self.open.is_some())
    }

    /// Reserves bytes in the open segment, into which the caller must write an entry. Returns `None` if it has no room for them, or if no
    /// segment is open.
    pub fn append(&mut self, size: usize) -> Option<NonNull<u8>> {
        self.open.as_mut()?.append(size)
    }

    /// Adds a segment as the youngest, to which new entries are appended from now on instead of the one that was open.
    pub fn open(&mut self, segment: Segment) {
        self.bytes += segment.bytes() as u64;
        if let Some(full) = self.open.replace(segment) {
            self.link(full);
        }
    }

    /// Adds a segment that gets no new entries, as the youngest except for the open one.
    pub fn push(&mut self, segment: Segment) {
        self.bytes += segment.bytes() as u64;
        self.link(segment);
    }

    fn link(&mut self, segment: Segment) {
        let head = segment.0;
        match self.last.replace(head) {
            // SAFETY: `last` is in the queue and thus mapped; no reference to its head is alive.
            Some(last) => unsafe { (*last.as_ptr()).next = Some(segment) },
            None => self.first = Some(segment),
        }
        self.linked += 1;
    }

    /// Removes the oldest segment and returns it. Returns `None` if the queue is empty.
    pub fn pop(&mut self) -> Option<Segment> {
        self.take(0)
    }

    /// Removes the segment at `place`, counted from the oldest (0), and returns it. Returns `None` if there are fewer.
    pub fn take(&mut self, place: usize) -> Option<Segment> {
        let taken = if place < self.linked { self.unlink(place) } else { self.take_open(place) };
        self.bytes -= taken.as_ref().map_or(0, Segment::bytes) as u64;
        taken
    }

    fn take_open(&mut self, place: usize) -> Option<Segment> {
        if place == self.linked { self.open.take() } else { None }
    }

    fn unlink(&mut self, place: usize) -> Option<Segment> {
        let mut before = None;
        let mut link = &mut self.first;
        for _ in 0..place {
            let segment = link.as_mut()?;
            before = Some(segment.0);
            link = &mut segment.head_mut().next;
        }
        let mut taken = link.take()?;
        *link = taken.head_mut().next.take();
        if link.is_none() {
            self.last = before;
        }
        self.linked -= 1;
        Some(taken)
    }

    /// Returns the segment at `place`, counted from the oldest (0), or `None` if there are fewer.
    pub fn get(&self, place: usize) -> Option<&Segment> {
        if place >= self.linked {
            return self.open.as_ref().filter(|_| place == self.linked);
        }
        let mut segment = self.first.as_ref();
        for _ in 0..place {
            segment = segment?.head().next.as_ref();
        }
        segment
    }

    /// True if the segment at `place`, counted from the oldest (0), is the one to which new entries are appended. There must be a segment.
    pub fn is_open(&self, place: usize) -> bool {
        place == self.linked
    }
}
