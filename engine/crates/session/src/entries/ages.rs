//! The age of results, by the host's clock. It is needed only for results that may be served although they are stale.

use cache::{Stamp, Versions};
use insight::Timeline;

/// The engine's clock, and the times at which stamps were current.
pub struct Ages {
    /// Maps stamps to times. It is kept up to date only while some rule allows serving stale results.
    timeline: Timeline,
    /// The host's clock: returns a monotonic time in nanoseconds.
    clock: fn() -> u64,
}

impl Ages {
    pub fn new(clock: fn() -> u64) -> Ages {
        Ages { timeline: Timeline::default(), clock }
    }

    /// The time of the host's clock in nanoseconds.
    pub fn now_ns(&self) -> u64 {
        (self.clock)()
    }

    /// True if a result with this stamp is certainly not older than `seconds`. False also if its age is not known.
    pub fn is_younger(&self, stamp: Stamp, seconds: u32) -> bool {
        self.timeline.is_younger(stamp.0, u64::from(seconds) * 1000, self.now_ms())
    }

    /// Notes which stamp was reached at the current time. To be called several times a second while some rule allows
    /// serving stale results.
    pub fn note(&self, versions: &Versions) {
        // The time is read first, as `Timeline::note` requires.
        let now_ms = self.now_ms();
        self.timeline.note(versions.pass().0, now_ms);
    }

    fn now_ms(&self) -> u64 {
        self.now_ns() / 1_000_000
    }
}
