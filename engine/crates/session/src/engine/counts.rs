//! What the engine has done since it was loaded, or since FLUSH STATUS.

use crate::engine::durations::Durations;
use crate::tally::Tally;

#[derive(Default)]
pub struct Counts {
    pub hits: Tally,
    /// Reads that went to the server while the cache was on for them.
    pub misses: Tally,
    pub inserts: Tally,
    /// Statements that went to the server and were followed there.
    pub followed: Tally,
    pub not_cached: Tally,
    pub invalidations: Tally,
    /// Results that were served although their table had been written since, as other rows were.
    pub outlived: Tally,
    /// Results that were served although they were outdated, as a rule says.
    pub stale_hits: Tally,
    pub saved_ns: Tally,
    /// How long the server took for what was stored.
    pub stored_ns: Tally,
    pub saved_bytes: Tally,
    /// Of statements that the server answered.
    pub durations: Durations,
}

impl Counts {
    /// FLUSH STATUS.
    pub fn flush(&self) {
        let all = [&self.hits, &self.misses, &self.inserts, &self.not_cached, &self.invalidations];
        all.into_iter()
            .chain([&self.outlived, &self.stale_hits, &self.saved_ns, &self.stored_ns, &self.saved_bytes])
            .for_each(Tally::flush);
        self.durations.flush();
    }
}
