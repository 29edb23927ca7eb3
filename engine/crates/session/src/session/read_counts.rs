//! Counts of this connection's own reads.

use crate::reason::{self, Reason};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Counts of this connection's own reads since it was accepted.
#[derive(Default)]
pub struct ReadCounts {
    pub hits: u64,
    /// Shared with results that are stored later, because another thread counts their outcome.
    pub misses: Arc<Misses>,
}

/// Counts of a connection's reads that ran on the server while the cache was on for it.
#[derive(Default)]
pub struct Misses {
    pub inserts: AtomicU64,
    pub not_cached: AtomicU64,
    /// The index of the reason why the last uncached read was not cached, plus 1; 0 if there was none.
    last_refusal: AtomicUsize,
}

impl Misses {
    /// Counts a read that ran on the server: whether its result was stored, or why not.
    pub fn count(&self, stored: Result<(), Reason>) {
        match stored {
            Ok(()) => _ = self.inserts.fetch_add(1, Relaxed),
            Err(reason) => {
                self.not_cached.fetch_add(1, Relaxed);
                self.last_refusal.store(reason.index() + 1, Relaxed);
            }
        }
    }

    /// Returns the name of the reason, as in SHOW FQC REASONS, why the last uncached read was not cached. Empty if all
    /// were cached.
    pub fn last_refusal(&self) -> &'static str {
        self.last_refusal.load(Relaxed).checked_sub(1).map_or("", reason::name)
    }
}
