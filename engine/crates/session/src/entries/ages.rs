//! How old results are, by the host's clock.

use cache::{Stamp, Versions};
use insight::Timeline;

pub struct Ages {
    /// Goes on while some rule serves outdated results.
    timeline: Timeline,
    /// Monotonic, in nanoseconds.
    clock: fn() -> u64,
}

impl Ages {
    pub fn new(clock: fn() -> u64) -> Ages {
        Ages { timeline: Timeline::default(), clock }
    }

    pub fn now_ns(&self) -> u64 {
        (self.clock)()
    }

    /// Whether a result with this stamp is certainly no older.
    pub fn is_younger(&self, stamp: Stamp, seconds: u32) -> bool {
        self.timeline.is_younger(stamp.0, u64::from(seconds) * 1000, self.now_ms())
    }

    pub fn note(&self, versions: &Versions) {
        // The time is read first: see `Timeline::note`.
        let now_ms = self.now_ms();
        self.timeline.note(versions.pass().0, now_ms);
    }

    fn now_ms(&self) -> u64 {
        self.now_ns() / 1_000_000
    }
}
