//! An append-only array of atomic words whose elements never move, so that readers need no lock.
//!
//! Chunk `k` holds `FIRST << k` words; a word's chunk and place follow from its number. Growing takes a mutex. A chunk is filled
//! before its pointer is published, and lives as long as the array.

use crate::sync::{AtomicPtr, AtomicU64, Mutex, Ordering};

const FIRST_BITS: u32 = if cfg!(loom) { 1 } else { 10 };
const FIRST: u32 = 1 << FIRST_BITS;
const CHUNKS: usize = if cfg!(loom) { 2 } else { 14 };
/// The number of words in all chunks: a little less than 16 Mi.
const CAPACITY: u32 = FIRST * ((1 << CHUNKS) - 1);

/// An append-only array of atomic words, at most [`CAPACITY`]. A word never moves, and is read without a lock.
pub(crate) struct Cells {
    chunks: [AtomicPtr<AtomicU64>; CHUNKS],
    len: Mutex<u32>,
}

impl Cells {
    pub fn new() -> Self {
        let chunks = std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut()));
        Cells { chunks, len: Mutex::new(0) }
    }

    /// Appends `count` words that are zero and returns the number of the first. Panics if that would exceed [`CAPACITY`].
    pub fn extend(&self, count: u32) -> u32 {
        let mut len = self.len.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let first = *len;
        let end = first.checked_add(count).filter(|&end| end <= CAPACITY);
        let end = end.unwrap_or_else(|| panic!("{first} cells exist, {count} more exceed {CAPACITY}"));
        for chunk in 0..CHUNKS {
            if start_of(chunk) < end {
                self.publish(chunk);
            }
        }
        *len = end;
        first
    }

    fn publish(&self, chunk: usize) {
        // Relaxed: chunks are stored under the mutex that the caller holds.
        if self.chunks[chunk].load(Ordering::Relaxed).is_null() {
            let words = zeroes(size_of_chunk(chunk));
            // Release pairs with the Acquire in `get`: a thread that sees the pointer sees the zeroes.
            self.chunks[chunk].store(words, Ordering::Release);
        }
    }

    /// Returns the word with this number. Takes no lock.
    ///
    /// # Panics
    /// May panic if [`extend`](Self::extend) has not appended a word with this number.
    #[inline]
    pub fn get(&self, number: u32) -> &AtomicU64 {
        let (chunk, place) = locate(number);
        // Acquire pairs with the Release in `publish`.
        let words = self.chunks.get(chunk).map_or(std::ptr::null_mut(), |words| words.load(Ordering::Acquire));
        assert!(!words.is_null(), "cell {number} was never allocated");
        // SAFETY: a published chunk has `size_of_chunk(chunk)` words, `locate` stays below that, and chunks are freed only in
        // `drop`, which excludes this borrow.
        unsafe { &*words.add(place) }
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        for (chunk, words) in self.chunks.iter().enumerate() {
            // Relaxed: `&mut self` is already ordered after every use.
            let words = words.load(Ordering::Relaxed);
            if !words.is_null() {
                // SAFETY: `publish` took it from `zeroes` with this length, and this is its only owner.
                unsafe { free(words, size_of_chunk(chunk)) };
            }
        }
    }
}

/// Allocates this many words that are zero; [`free`] must free them. The system provides a large allocation page by page, as it is written,
/// so unused words take no memory.
#[cfg(not(loom))]
fn zeroes(len: usize) -> *mut AtomicU64 {
    const { assert!(size_of::<AtomicU64>() == size_of::<u64>() && align_of::<AtomicU64>() == align_of::<u64>()) };
    Box::into_raw(vec![0u64; len].into_boxed_slice()).cast()
}

#[cfg(loom)]
fn zeroes(len: usize) -> *mut AtomicU64 {
    let words: Box<[AtomicU64]> = (0..len).map(|_| AtomicU64::new(0)).collect();
    Box::into_raw(words).cast()
}

/// Frees words that [`zeroes`] has allocated.
///
/// # Safety
/// `words` came from `zeroes` with this length and is not used any more.
unsafe fn free(words: *mut AtomicU64, len: usize) {
    // SAFETY: it is a box of this many words, all of them plain memory of the same layout.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(words, len)) });
}

fn start_of(chunk: usize) -> u32 {
    FIRST * ((1 << chunk) - 1)
}

fn size_of_chunk(chunk: usize) -> usize {
    (FIRST as usize) << chunk
}

#[inline]
fn locate(number: u32) -> (usize, usize) {
    let shifted = u64::from(number) + u64::from(FIRST);
    let top = shifted.ilog2();
    ((top - FIRST_BITS) as usize, (shifted - (1 << top)) as usize)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "thousands of steps, none of them unsafe")]
    fn every_number_has_its_own_place() {
        let mut next = 0;
        for chunk in 0..4 {
            assert_eq!(start_of(chunk), next);
            for place in 0..size_of_chunk(chunk) {
                assert_eq!(locate(next), (chunk, place));
                next += 1;
            }
        }
        assert_eq!(locate(CAPACITY - 1), (CHUNKS - 1, size_of_chunk(CHUNKS - 1) - 1));
    }

    #[test]
    fn words_keep_their_address_while_the_array_grows() {
        let cells = Cells::new();
        let first = cells.extend(3);
        let address = std::ptr::from_ref(cells.get(first + 2));
        assert_eq!(cells.extend(5000), 3);
        assert_eq!(std::ptr::from_ref(cells.get(2)), address);
        cells.get(5002).store(9, Ordering::Relaxed);
        assert_eq!(cells.extend(1), 5003);
        assert_eq!(cells.get(5002).load(Ordering::Relaxed), 9);
    }

    #[test]
    #[should_panic(expected = "never allocated")]
    fn a_number_beyond_all_chunks_is_refused() {
        Cells::new().get(u32::MAX);
    }

    #[test]
    #[should_panic(expected = "more exceed")]
    fn the_capacity_is_a_hard_end() {
        Cells::new().extend(CAPACITY + 1);
    }
}
