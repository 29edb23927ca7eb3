//! The counters that every request changes. Each thread has a stripe of its own, so that threads that request the same shape do not contend
//! for its counters.
//!
//! Memory is ordered by stripe, then by shape: a processor that fetches cache lines in pairs then fetches its own. A sum is exact once the
//! additions have ended.

use super::{SHAPES, ShapeId};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

const STRIPES: usize = 16;

/// The counters of one shape that one group of threads changes.
#[derive(Default)]
#[repr(align(64))]
pub struct Stripe {
    pub hits: AtomicU64,
    pub saved_us: AtomicU64,
    pub saved_bytes: AtomicU64,
    pub misses: AtomicU64,
    pub stored: AtomicU64,
    pub stored_bytes: AtomicU64,
    /// The misses for which `policy::admits` was asked whether to store the result.
    pub chances: AtomicU32,
    /// Misses of statements that had been missed recently before. Counted only while not all results of the shape are stored.
    pub returns: AtomicU64,
}

/// The counters of all shapes that every request changes, once for each group of threads.
pub struct Stripes(Box<[Stripe]>);

impl Default for Stripes {
    fn default() -> Self {
        Stripes((0..STRIPES * SHAPES).map(|_| Stripe::default()).collect())
    }
}

// Relaxed throughout: counts order nothing.
impl Stripes {
    /// Returns the counters that the calling thread adds to for a shape. Other threads may share them.
    #[inline]
    pub fn own(&self, shape: ShapeId) -> &Stripe {
        &self.0[own_stripe() * SHAPES + usize::from(shape.0) % SHAPES]
    }

    /// Returns the counters of a shape in all stripes.
    fn of(&self, shape: ShapeId) -> impl Iterator<Item = &Stripe> {
        self.0.iter().skip(usize::from(shape.0) % SHAPES).step_by(SHAPES)
    }

    /// Returns the sum over all threads of the counter that `count` selects. Additions made at the same time may be missing.
    pub fn sum(&self, shape: ShapeId, count: impl Fn(&Stripe) -> &AtomicU64) -> u64 {
        self.of(shape).map(|stripe| count(stripe).load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    }

    /// Resets the counters of a shape, except for `chances` and `returns`.
    pub fn zero(&self, shape: ShapeId) {
        for stripe in self.of(shape) {
            let counts = [&stripe.hits, &stripe.saved_us, &stripe.saved_bytes];
            let counts = counts.into_iter().chain([&stripe.misses, &stripe.stored, &stripe.stored_bytes]);
            counts.for_each(|count| count.store(0, Ordering::Relaxed));
        }
    }
}

#[inline]
fn own_stripe() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        // Relaxed: any assignment of stripes is correct.
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % STRIPES;
    }
    // A thread that is ending may have lost its stripe; any stripe will do.
    OWN.try_with(|&own| own).unwrap_or(0)
}
