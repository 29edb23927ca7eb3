//! Counters since the engine was loaded, or since FLUSH STATUS.

use crate::engine::durations::Durations;
use crate::flushable_counter::FlushableCounter;

/// The counters that the server shows as status variables. All sessions add to them.
#[derive(Default)]
pub struct Counts {
    pub hits: FlushableCounter,
    /// Reads that went to the server while the cache was on for their session.
    pub misses: FlushableCounter,
    pub inserts: FlushableCounter,
    /// Statements that went to the server while the engine followed their session, since the engine was loaded.
    pub followed: FlushableCounter,
    pub not_cached: FlushableCounter,
    /// Number of version cells (of tables, rows and blocks of rows) that got a new version after a write.
    pub invalidations: FlushableCounter,
    /// Hits on results that a write to other rows of their table has left valid. Each result is counted once.
    pub invalidations_avoided: FlushableCounter,
    /// Hits on results that were stale by then, and were served because a rule of `fqc_rules` allows it.
    pub stale_hits: FlushableCounter,
    /// Time in nanoseconds that the server had taken for the results of all hits.
    pub saved_ns: FlushableCounter,
    /// Time in nanoseconds that the server took for the results that were stored.
    pub stored_ns: FlushableCounter,
    /// Size in bytes of the results of all hits.
    pub saved_bytes: FlushableCounter,
    /// Time that the server took for each of the client's statements that it ran.
    pub durations: Durations,
}

impl Counts {
    /// Resets the counters to zero, as FLUSH STATUS demands. `followed` is not reset.
    pub fn flush(&self) {
        let all = [&self.hits, &self.misses, &self.inserts, &self.not_cached, &self.invalidations];
        all.into_iter()
            .chain([&self.invalidations_avoided, &self.stale_hits, &self.saved_ns, &self.stored_ns, &self.saved_bytes])
            .for_each(FlushableCounter::flush);
        self.durations.flush();
    }
}
