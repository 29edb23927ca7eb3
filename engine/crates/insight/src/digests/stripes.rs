//! What threads count for every request, each in a stripe of its own, so that those that ask for one shape do not take turns
//! at its counters.
//!
//! Stripe by stripe, not shape by shape: a processor that fetches lines in pairs then fetches its own. A sum is exact once the
//! additions have ended.

use super::{SHAPES, ShapeId};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

const STRIPES: usize = 16;

#[derive(Default)]
#[repr(align(64))]
pub struct Stripe {
    pub hits: AtomicU64,
    pub saved_us: AtomicU64,
    pub saved_bytes: AtomicU64,
    pub misses: AtomicU64,
    pub stored: AtomicU64,
    pub stored_bytes: AtomicU64,
    /// Chances to store a result: see `policy::admits`.
    pub chances: AtomicU32,
    /// Misses of statements that were missed before, where that is asked.
    pub returns: AtomicU64,
}

pub struct Stripes(Box<[Stripe]>);

impl Default for Stripes {
    fn default() -> Self {
        Stripes((0..STRIPES * SHAPES).map(|_| Stripe::default()).collect())
    }
}

// Relaxed throughout: counts order nothing.
impl Stripes {
    /// Where this thread counts.
    #[inline]
    pub fn own(&self, shape: ShapeId) -> &Stripe {
        &self.0[own_stripe() * SHAPES + usize::from(shape.0) % SHAPES]
    }

    fn of(&self, shape: ShapeId) -> impl Iterator<Item = &Stripe> {
        self.0.iter().skip(usize::from(shape.0) % SHAPES).step_by(SHAPES)
    }

    pub fn sum(&self, shape: ShapeId, count: impl Fn(&Stripe) -> &AtomicU64) -> u64 {
        self.of(shape).map(|stripe| count(stripe).load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    }

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
        // Relaxed: any dealing of stripes is correct.
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % STRIPES;
    }
    // A thread that is ending may have lost its stripe; any will do.
    OWN.try_with(|&own| own).unwrap_or(0)
}
