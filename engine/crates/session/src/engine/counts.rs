//! Counters since the engine was loaded, or since FLUSH STATUS.

use crate::engine::durations::Durations;
use crate::tally::Tally;

#[derive(Default)]
pub struct Counts {
    pub hits: Tally,
    /// Reads that went to the server while the cache was on for their session.
    pub misses: Tally,
    pub inserts: Tally,
    /// Statements that were forwarded to the server and followed there, since the engine was loaded.
    pub followed: Tally,
    pub not_cached: Tally,
    pub invalidations: Tally,
    /// Hits on results that a write to other rows of their table left valid. Each result is counted once.
    pub outlived: Tally,
    /// Hits on stale results, which a rule allows.
    pub stale_hits: Tally,
    pub saved_ns: Tally,
    /// Time that the server took for the results that were stored, in nanoseconds.
    pub stored_ns: Tally,
    pub saved_bytes: Tally,
    /// How long the server took for the client's statements.
    pub durations: Durations,
}

impl Counts {
    /// Resets the counters, as FLUSH STATUS demands.
    pub fn flush(&self) {
        let all = [&self.hits, &self.misses, &self.inserts, &self.not_cached, &self.invalidations];
        all.into_iter()
            .chain([&self.outlived, &self.stale_hits, &self.saved_ns, &self.stored_ns, &self.saved_bytes])
            .for_each(Tally::flush);
        self.durations.flush();
    }
}
