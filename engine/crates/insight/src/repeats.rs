//! Counts how many statements are repeated, while nothing is stored.
//!
//! No more can be served than is repeated, so this shows when a cache may be worth filling. There are two samples, because each would miss
//! what the other finds: a few hundred statements that are requested all the time, and millions that are requested now and then.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

const PLACES: usize = 1 << 16;
/// One in this many statements, by hash, is in the long sample.
const LONG: u64 = 64;

/// The counts of a sample of statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub requests: u64,
    /// The requests of statements that had been requested before in the same sample, as far as the sample remembers.
    pub repeats: u64,
}

impl Count {
    /// The part of the requests that were repeats, from 0 to 1; 0 if there were no requests.
    pub fn ratio(self) -> f64 {
        if self.requests == 0 { 0.0 } else { self.repeats as f64 / self.requests as f64 }
    }
}

#[derive(Default)]
struct Sample {
    /// Fingerprints of requested statements, one in each place; a new one replaces it. Allocated at the first request.
    places: OnceLock<Box<[AtomicU32]>>,
    requests: AtomicU64,
    repeats: AtomicU64,
}

// Relaxed throughout: only the decision what is worth trying depends on it.
impl Sample {
    fn note(&self, hash: u64) {
        let places = self.places.get_or_init(|| (0..PLACES).map(|_| AtomicU32::new(0)).collect());
        let place = &places[(hash >> 40) as usize % PLACES];
        let mark = hash as u32 | 1;
        self.requests.fetch_add(1, Ordering::Relaxed);
        if place.load(Ordering::Relaxed) == mark {
            self.repeats.fetch_add(1, Ordering::Relaxed);
        } else {
            place.store(mark, Ordering::Relaxed);
        }
    }

    fn count(&self) -> Count {
        Count { requests: self.requests.load(Ordering::Relaxed), repeats: self.repeats.load(Ordering::Relaxed) }
    }

    fn begin(&self) {
        self.places
            .get()
            .into_iter()
            .flat_map(|places| places.iter())
            .for_each(|place| place.store(0, Ordering::Relaxed));
        self.requests.store(0, Ordering::Relaxed);
        self.repeats.store(0, Ordering::Relaxed);
    }
}

/// Counts repeated statements while nothing is stored, in two samples: a short one of all statements for a few seconds, and a long one of
/// some statements all the time.
#[derive(Default)]
pub struct Repeats {
    /// All statements while the short sample is open.
    short: Sample,
    is_short_open: AtomicBool,
    /// One statement in [`LONG`], until the next `begin`.
    long: Sample,
}

impl Repeats {
    /// Counts a request in the samples that it belongs to. `hash` is that of the statement with its parameters. Never waits for a lock.
    #[inline]
    pub fn note(&self, hash: u64) {
        if hash.is_multiple_of(LONG) {
            self.long.note(hash);
        }
        if self.is_short_open.load(Ordering::Relaxed) {
            self.short.note(hash);
        }
    }

    /// Ends the short sample and restarts the long one with zero counts. Call it on one thread at a time, like the following methods.
    pub fn begin(&self) {
        self.close_short();
        self.long.begin();
    }

    /// Starts the short sample, which contains all statements, with zero counts. Close it after a few seconds.
    pub fn open_short(&self) {
        self.short.begin();
        self.is_short_open.store(true, Ordering::Relaxed);
    }

    /// True between [`open_short`](Self::open_short) and [`close_short`](Self::close_short) or [`begin`](Self::begin).
    pub fn is_short_open(&self) -> bool {
        self.is_short_open.load(Ordering::Relaxed)
    }

    /// Ends the short sample, in which all statements are counted for a few seconds, and returns its counts. The same counts are returned
    /// until the next [`open_short`](Self::open_short).
    pub fn close_short(&self) -> Count {
        self.is_short_open.store(false, Ordering::Relaxed);
        self.short.count()
    }

    /// Returns the counts of the long sample, since the last [`begin`](Self::begin), and does not reset them.
    pub fn long(&self) -> Count {
        self.long.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a number that is mixed as well as a hash is, always the same for the same argument.
    fn hash(number: u64) -> u64 {
        let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ mixed >> 32
    }

    #[test]
    fn a_few_statements_asked_all_the_time_are_found_in_a_moment() {
        let repeats = Repeats::default();
        repeats.open_short();
        (0..1000).for_each(|number| repeats.note(hash(number % 10)));
        assert_eq!(repeats.close_short(), Count { requests: 1000, repeats: 990 });
        (0..1000).for_each(|number| repeats.note(hash(number)));
        assert_eq!(repeats.close_short().requests, 1000, "it was closed");
    }

    #[test]
    fn many_statements_asked_now_and_then_are_found_in_time() {
        let repeats = Repeats::default();
        let ask_all = || (0..1_000_000).for_each(|number| repeats.note(hash(number)));
        ask_all();
        assert!(repeats.long().ratio() < 0.01, "none has come again: {:?}", repeats.long());
        ask_all();
        assert!(repeats.long().ratio() > 0.35, "half of them had come before: {:?}", repeats.long());
        repeats.begin();
        assert_eq!(repeats.long(), Count::default());
    }
}
