//! Who refreshes what: at most one read at a time for each result.

use cache::Key;
use locks::Mutex;
use std::collections::HashSet;
use std::sync::{Arc, MutexGuard, PoisonError};

#[derive(Default)]
pub struct Flights(Mutex<HashSet<u64>>);

/// Over when it is dropped, whatever became of the read.
pub struct Flight {
    of: Arc<Flights>,
    hash: u64,
}

impl Flights {
    fn under_way(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// None if another client's read is under way. Two results may have one hash: then one of them is refreshed later.
    pub fn claim(self: &Arc<Self>, cache: &cache::Cache, key: &Key) -> Option<Flight> {
        let hash = cache.hash(key);
        let is_first = self.under_way().insert(hash);
        is_first.then(|| Flight { of: self.clone(), hash })
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.of.under_way().remove(&self.hash);
    }
}
