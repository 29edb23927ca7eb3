//! Counters since the engine was loaded, or since FLUSH STATUS.

use crate::engine::durations::Durations;
use crate::tally::Tally;

/// The counters that the server shows as status variables. All sessions add to them.
#[derive(Default)]
pub struct Counts {
    pub hits: Tally,
    /// Reads that went to the server while the cache was on for their session.
    pub misses: Tally,
    pub inserts: Tally,
    /// Statements that went to the server while the engine followed their session, since the engine was loaded.
    pub followed: Tally,
    pub not_cached: Tally,
    /// Number of version cells (of tables, rows and blocks of rows) that got a new version after a write.
    pub invalidations: Tally,
    /// Hits on results that a write to other rows of their table has left valid. Each result is counted once.
    pub invalidations_avoided: Tally,
    /// Hits on results that were stale by then, and were served because a rule of `fqc_rules` allows it.
    pub stale_hits: Tally,
    /// Time in nanoseconds that the server had taken for the results of all hits.
    pub saved_ns: Tally,
    /// Time in nanoseconds that the server took for the results that were stored.
    pub stored_ns: Tally,
    /// Size in bytes of the results of all hits.
    pub saved_bytes: Tally,
    /// Time that the server took for each of the client's statements that it ran.
    pub durations: Durations,
}

impl Counts {
    /// Resets the counters to zero, as FLUSH STATUS demands. `followed` is not reset.
    pub fn flush(&self) {
        let all = [&self.hits, &self.misses, &self.inserts, &self.not_cached, &self.invalidations];
        all.into_iter()
            .chain([&self.invalidations_avoided, &self.stale_hits, &self.saved_ns, &self.stored_ns, &self.saved_bytes])
            .for_each(Tally::flush);
        self.durations.flush();
    }
}
