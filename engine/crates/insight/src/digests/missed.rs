//! Remembers which statements were missed recently. If one is missed a second time, storing its result the first time would have given a
//! hit, provided that the result had lived until then. *Recently* means as long as a result would live: the time in which the memory is
//! filled once.
//!
//! Each place holds one fingerprint, and a new one replaces it, so the oldest misses are forgotten first. A wrong answer costs one
//! stored result that is never used.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

/// The number of places for fingerprints. They take four megabytes, allocated at the first call of [`Missed::again`].
const PLACES: usize = 1 << 21;
/// Phases are numbered from 1 to this and then from 1 again. A place holds a fingerprint of ten bits and the phase of the miss.
const PHASES: u64 = 63;
/// A miss is recent for this many phases. In that time, as many results are evicted as there are in the cache.
const LATELY: u64 = 4;

/// Remembers which statements were missed recently, that is, within the time in which the cache's memory is filled once.
#[derive(Default)]
pub struct Missed {
    places: OnceLock<Box<[AtomicU16]>>,
    /// The number of phases so far. A phase ends when enough results were evicted.
    phase: AtomicU64,
    /// The number of evictions from the cache when the current phase began.
    evicted: AtomicU64,
}

// Relaxed throughout: only the decision what is worth storing depends on it.
impl Missed {
    /// Returns true if the statement with this hash was missed recently, and records that it is missed now. Rarely wrong, either way. Never
    /// waits for a lock.
    pub fn again(&self, hash: u64) -> bool {
        let places = self.places.get_or_init(|| (0..PLACES).map(|_| AtomicU16::new(0)).collect());
        let place = &places[(hash >> 16) as usize % PLACES];
        let phase = self.phase.load(Ordering::Relaxed) % PHASES;
        let now = (hash as u16) << 6 | (phase + 1) as u16;
        let known = place.load(Ordering::Relaxed);
        if known != now {
            place.store(now, Ordering::Relaxed);
        }
        let then = u64::from(known & PHASES as u16);
        known >> 6 == now >> 6 && then > 0 && (phase + 1 + PHASES - then) % PHASES <= LATELY
    }

    /// Lets older misses be forgotten if enough results were evicted since. `entries` is the number of results in the cache, `evictions`
    /// how many were evicted so far. Call it several times a second, on one thread.
    pub fn tick(&self, entries: u64, evictions: u64) {
        let since = evictions.saturating_sub(self.evicted.load(Ordering::Relaxed));
        if since > 0 && since >= entries / LATELY {
            self.evicted.store(evictions, Ordering::Relaxed);
            self.phase.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_time_is_told_from_the_first() {
        let missed = Missed::default();
        let mut random = 1u64;
        let hashes: Vec<u64> = std::iter::repeat_with(|| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            random ^ random >> 29
        })
        .take(100_000)
        .collect();
        let told = || hashes.iter().filter(|hash| missed.again(**hash)).count();
        assert!(told() < 20);
        assert!(told() > 95_000);
    }

    #[test]
    fn what_was_missed_long_ago_was_not_missed_lately() {
        let missed = Missed::default();
        let turn =
            |times: u64| (0..times).for_each(|_| missed.tick(1000, missed.evicted.load(Ordering::Relaxed) + 250));
        assert!(!missed.again(1 << 40));
        turn(4);
        assert!(missed.again(1 << 40));
        turn(5);
        assert!(!missed.again(1 << 40));
        turn(PHASES - 5);
        missed.tick(1000, missed.evicted.load(Ordering::Relaxed) + 249);
        assert!(!missed.again(2 << 40));
    }
}
