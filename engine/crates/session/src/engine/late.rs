//! Results that wait until it is known what their tables are. What becomes of them is in `responses::late`.

use crate::session::own::Misses;
use crate::statement::recording::Finished;
use locks::Mutex;
use std::sync::{Arc, MutexGuard, PoisonError};

/// A result, and where its session counts what becomes of it.
pub struct Waiting {
    pub finished: Finished,
    pub counted_in: Arc<Misses>,
}

#[derive(Default)]
pub struct Late(Mutex<Vec<Waiting>>);

impl Late {
    pub(crate) fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first so many. There are fewer where they were dropped meanwhile.
    pub(crate) fn take(&self, count: usize) -> Vec<Waiting> {
        let mut waiting = self.waiting();
        let count = count.min(waiting.len());
        waiting.drain(..count).collect()
    }
}
