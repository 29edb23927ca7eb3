//! Finds a shape's number without a lock: words of `fingerprint (48 bits) | number (16 bits)` in buckets of eight.
//!
//! A full bucket drops its first word. Two shapes with the same fingerprint would share their counters; that does no harm, and happens
//! once in 2^48. Only the holder of the lock on the caller's `ShapeNumbers` writes words.

use super::ShapeId;
use std::sync::atomic::{AtomicU64, Ordering};

const WAYS: usize = 8;
const BUCKETS: usize = 1024;
const SHAPE_BITS: u32 = 16;

/// Maps the digests of shapes to their numbers. Searching it takes no lock; only the holder of the lock on
/// `ShapeNumbers` may change it.
pub struct Index(Box<[AtomicU64]>);

impl Default for Index {
    fn default() -> Self {
        Index((0..WAYS * BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }
}

/// Returns the index of the first word of a digest's bucket, and the digest's fingerprint.
fn split(id: u128) -> (usize, u64) {
    (id as usize % BUCKETS * WAYS, (id >> 64) as u64 >> SHAPE_BITS)
}

// Relaxed throughout: a word stands for itself, and what is counted under its number orders nothing.
impl Index {
    /// Returns the number of the shape with this digest, none if it has none.
    #[inline]
    pub fn find(&self, id: u128) -> Option<ShapeId> {
        let (at, fingerprint) = split(id);
        let words = self.0[at..at + WAYS].iter().map(|word| word.load(Ordering::Relaxed));
        words.filter(|word| *word != 0 && word >> SHAPE_BITS == fingerprint).map(|word| ShapeId(word as u16)).next()
    }

    /// Adds a shape with its number. If the bucket is full, another shape is dropped from the index; returns the number of that one, which
    /// the caller must free. None if no shape was dropped.
    pub fn insert(&self, id: u128, shape: ShapeId) -> Option<ShapeId> {
        let (at, fingerprint) = split(id);
        let bucket = &self.0[at..at + WAYS];
        let word = fingerprint << SHAPE_BITS | u64::from(shape.0);
        let free = bucket.iter().find(|word| word.load(Ordering::Relaxed) == 0);
        let old = free.unwrap_or(&bucket[0]).swap(word, Ordering::Relaxed);
        (old != 0).then_some(ShapeId(old as u16))
    }

    pub fn remove(&self, id: u128) {
        let (at, fingerprint) = split(id);
        let is_its = |word: &&AtomicU64| word.load(Ordering::Relaxed) >> SHAPE_BITS == fingerprint;
        self.0[at..at + WAYS].iter().filter(is_its).for_each(|word| word.store(0, Ordering::Relaxed));
    }
}
