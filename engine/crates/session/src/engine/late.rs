//! Results that wait until it is known what their tables are. What becomes of them is in `responses::late`.

use crate::engine::Engine;
use locks::Mutex;
use std::sync::{MutexGuard, PoisonError};

/// A result that waits.
pub trait Waiting: Send {
    /// The result's tables were looked up.
    fn store(self: Box<Self>, engine: &Engine);

    /// The result will not be stored.
    fn give_up(self: Box<Self>, engine: &Engine);
}

#[derive(Default)]
pub struct Late(Mutex<Vec<Box<dyn Waiting>>>);

impl Late {
    pub(crate) fn waiting(&self) -> MutexGuard<'_, Vec<Box<dyn Waiting>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first so many. There are fewer where they were dropped meanwhile.
    pub(crate) fn take(&self, count: usize) -> Vec<Box<dyn Waiting>> {
        let mut waiting = self.waiting();
        let count = count.min(waiting.len());
        waiting.drain(..count).collect()
    }
}
