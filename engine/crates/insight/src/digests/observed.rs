//! Counts the requests of each shape while the cache is off and only observed.
//!
//! All reads are counted, with the server's time for them. For statements that the curve tracks we know how many requests the cache would
//! have answered; the others are taken to have the same ratio. A shape without a tracked statement is either rare or has a few
//! statements that are often repeated: as many reads as one tracked statement stands for count as misses, and the rest as hits.

use super::{SHAPES, ShapeId};
use crate::curve::Trial;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counts of one shape.
#[derive(Default)]
#[repr(align(64))]
struct Counts {
    requests: AtomicU64,
    /// The server's time for the requests, in microseconds.
    us: AtomicU64,
    /// The requests for which it is known whether the cache would have answered them.
    followed: AtomicU64,
    /// The number of `followed` requests that the cache would have answered.
    hits: AtomicU64,
}

/// The requests of each shape that were only observed because the cache was off, and how many of them it would have answered.
#[derive(Default)]
pub struct Observed {
    /// The counts by shape number, allocated when the first request is observed.
    shapes: OnceLock<Box<[Counts]>>,
    /// For one in this many statements it is known whether the cache would have answered them.
    one_in: AtomicU64,
}

// Relaxed throughout: counts order nothing.
impl Observed {
    /// Counts an observed request, which took the server `us` microseconds. `would_hit` says whether the cache would have answered it; none
    /// if that is unknown.
    pub fn note(&self, shape: ShapeId, us: u64, would_hit: Option<bool>) {
        let shapes = self.shapes.get_or_init(|| (0..SHAPES).map(|_| Counts::default()).collect());
        let counts = &shapes[usize::from(shape.0) % SHAPES];
        counts.requests.fetch_add(1, Ordering::Relaxed);
        counts.us.fetch_add(us, Ordering::Relaxed);
        if let Some(would_hit) = would_hit {
            counts.followed.fetch_add(1, Ordering::Relaxed);
            counts.hits.fetch_add(u64::from(would_hit), Ordering::Relaxed);
        }
    }

    /// Sets the share of statements for which [`note`](Self::note) gets `would_hit`: one in `one_in`.
    pub fn follows(&self, one_in: u64) {
        self.one_in.store(one_in, Ordering::Relaxed);
    }

    /// Returns the number of observed requests of a shape.
    pub fn requests(&self, shape: ShapeId) -> u64 {
        self.of(shape).map_or(0, |counts| counts.requests.load(Ordering::Relaxed))
    }

    /// Returns the observed requests of a shape, and an estimate of how many of them the cache would have answered and of the time saved.
    pub fn told(&self, shape: ShapeId) -> Trial {
        let Some(counts) = self.of(shape) else { return Trial::default() };
        let [hits, followed, us, requests] =
            [&counts.hits, &counts.followed, &counts.us, &counts.requests].map(|count| count.load(Ordering::Relaxed));
        let hits = match followed {
            0 => requests.saturating_sub(self.one_in.load(Ordering::Relaxed)),
            // The counts may have grown between the loads.
            _ => part(requests, hits, followed).min(requests),
        };
        Trial { requests, hits, saved_us: part(us, hits, requests) }
    }

    /// Resets the counts of a shape.
    pub fn zero(&self, shape: ShapeId) {
        let counts = self.of(shape).map(|counts| [&counts.requests, &counts.us, &counts.followed, &counts.hits]);
        counts.into_iter().flatten().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    fn of(&self, shape: ShapeId) -> Option<&Counts> {
        self.shapes.get().map(|shapes| &shapes[usize::from(shape.0) % SHAPES])
    }
}

/// Returns `of * share / whole`.
fn part(of: u64, share: u64, whole: u64) -> u64 {
    (of as f64 * share as f64 / whole.max(1) as f64).round() as u64
}
