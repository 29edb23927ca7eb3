//! Runs of pages to which entries are appended, and the queues of these segments.
//!
//! A segment's head holds the link to the next one, so that a queue of any length takes no memory outside the budget. A *single*
//! segment was created for one large entry.

use std::ptr::NonNull;
use std::sync::Arc;

use crate::entry::{ALIGN, RawEntry};
use crate::memory::Memory;

struct Head {
    next: Option<Segment>,
    bytes: usize,
    used: usize,
    single: bool,
}

/// The bytes at the start of a segment that are not available for entries.
pub(crate) const HEAD: usize = size_of::<Head>().next_multiple_of(ALIGN);

/// A segment, which owns its pages. They stay mapped until [`retire`](Self::retire). Used under the shard's lock only.
pub(crate) struct Segment(NonNull<Head>);

// SAFETY: owns its pages; the lock of its shard hands it from thread to thread.
unsafe impl Send for Segment {}

impl Segment {
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

    pub fn is_single(&self) -> bool {
        self.head().single
    }

    /// The bytes of all entries, dead ones included.
    pub fn entry_bytes(&self) -> usize {
        self.head().used - HEAD
    }

    /// Reserves `size` bytes, a multiple of [`ALIGN`]. Returns `None` if the segment is full.
    pub fn append(&mut self, size: usize) -> Option<NonNull<u8>> {
        let at = self.head().used;
        if self.bytes() - at < size {
            return None;
        }
        self.head_mut().used += size;
        // SAFETY: `at` was within the pages.
        Some(unsafe { self.0.cast::<u8>().add(at) })
    }

    /// All entries that were appended, dead ones included. The iterator is valid until the segment is retired.
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

    /// Releases the pages once no reader uses them.
    ///
    /// # Safety
    /// The segment came from `memory`, and no slot points into it any more.
    pub unsafe fn retire(self, memory: &Arc<Memory>) {
        // SAFETY: the caller's guarantee.
        unsafe { memory.retire(self.0.cast(), self.bytes(), true) };
    }
}

/// Segments in order of age: the linked ones, then the one that is open for small entries.
#[derive(Default)]
pub(crate) struct Queue {
    first: Option<Segment>,
    last: Option<NonNull<Head>>,
    open: Option<Segment>,
    linked: usize,
    bytes: u64,
}

// SAFETY: `last` points into a segment that the queue owns.
unsafe impl Send for Queue {}

impl Queue {
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn len(&self) -> usize {
        self.linked + usize::from(self.open.is_some())
    }

    /// Reserves bytes in the open segment. Returns `None` if it is full, or there is none.
    pub fn append(&mut self, size: usize) -> Option<NonNull<u8>> {
        self.open.as_mut()?.append(size)
    }

    /// Opens `segment` for new entries, and closes the one that was open.
    pub fn open(&mut self, segment: Segment) {
        self.bytes += segment.bytes() as u64;
        if let Some(full) = self.open.replace(segment) {
            self.link(full);
        }
    }

    /// Appends a closed segment as the youngest.
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

    /// Takes the oldest segment. Returns `None` if the queue is empty.
    pub fn pop(&mut self) -> Option<Segment> {
        self.take(0)
    }

    /// Takes the segment at `place`, counted from the oldest. Returns `None` if there are fewer.
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

    /// Returns the segment at `place`, counted from the oldest.
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

    /// True if the segment at `place` is the one that is open for new entries.
    pub fn is_open(&self, place: usize) -> bool {
        place == self.linked
    }
}
