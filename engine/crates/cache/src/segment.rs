//! Runs of pages that entries are appended to, and the queues they stand in.
//!
//! A segment's head holds its link, so that a queue of any length costs nothing outside the budget. A *single* segment was
//! made for one large entry.

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

/// What a segment of a given size cannot use for entries.
pub(crate) const HEAD: usize = size_of::<Head>().next_multiple_of(ALIGN);

/// Owns its pages, which stay mapped until [`retire`](Self::retire). Used under the shard's lock only.
pub(crate) struct Segment(NonNull<Head>);

// SAFETY: owns its pages; the lock of its shard hands it from thread to thread.
unsafe impl Send for Segment {}

impl Segment {
    /// # Safety
    /// `start` is `bytes` writable bytes, page-aligned, that nobody else uses.
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

    /// Bytes of all entries, dead ones included.
    pub fn entry_bytes(&self) -> usize {
        self.head().used - HEAD
    }

    /// Room for an entry of `size`, a multiple of [`ALIGN`].
    pub fn append(&mut self, size: usize) -> Option<NonNull<u8>> {
        let at = self.head().used;
        if self.bytes() - at < size {
            return None;
        }
        self.head_mut().used += size;
        // SAFETY: `at` was within the pages.
        Some(unsafe { self.0.cast::<u8>().add(at) })
    }

    /// All entries that were appended, dead ones included. Valid until the segment is retired.
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

    /// Gives the pages back once no reader uses them.
    ///
    /// # Safety
    /// The segment came from `memory`, and no slot points into it any more.
    pub unsafe fn retire(self, memory: &Arc<Memory>) {
        // SAFETY: passed on to the caller.
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

    /// Room in the open segment.
    pub fn append(&mut self, size: usize) -> Option<NonNull<u8>> {
        self.open.as_mut()?.append(size)
    }

    /// Opens `segment` in place of the present one.
    pub fn open(&mut self, segment: Segment) {
        self.bytes += segment.bytes() as u64;
        if let Some(full) = self.open.replace(segment) {
            self.link(full);
        }
    }

    /// Makes a closed segment the youngest.
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

    /// Takes the oldest segment.
    pub fn pop(&mut self) -> Option<Segment> {
        self.take(0)
    }

    /// Takes the segment at `place`, counted from the oldest.
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

    /// Whether the segment at `place` still takes entries.
    pub fn is_open(&self, place: usize) -> bool {
        place == self.linked
    }
}
