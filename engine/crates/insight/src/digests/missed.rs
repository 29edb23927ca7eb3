//! Which statements were missed lately, as far as a few bytes for each can tell: a statement that is missed for the second
//! time would have been a hit, had its result been stored and lived.
//!
//! One fingerprint to a place, the latest wins: what was missed longest ago is forgotten first. A wrong answer costs a result
//! that is stored in vain.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

/// Four megabytes, once any shape of statement needs them.
const PLACES: usize = 1 << 21;

#[derive(Default)]
pub struct Missed(OnceLock<Box<[AtomicU16]>>);

impl Missed {
    /// Whether this statement was missed before. From now on it was.
    pub fn again(&self, hash: u64) -> bool {
        let places = self.0.get_or_init(|| (0..PLACES).map(|_| AtomicU16::new(0)).collect());
        let place = &places[(hash >> 16) as usize % PLACES];
        let fingerprint = hash as u16 | 1;
        // Relaxed: nothing hangs on it but what is worth storing.
        let is_known = place.load(Ordering::Relaxed) == fingerprint;
        if !is_known {
            place.store(fingerprint, Ordering::Relaxed);
        }
        is_known
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
}
