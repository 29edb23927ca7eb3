//! Results that wait until it is known what their tables are. What becomes of them is in `responses::late`.

use crate::statement::recording::Finished;
use locks::Mutex;
use std::sync::{MutexGuard, PoisonError};

#[derive(Default)]
pub struct Late(Mutex<Vec<Finished>>);

impl Late {
    pub(crate) fn waiting(&self) -> MutexGuard<'_, Vec<Finished>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(&self) -> Vec<Finished> {
        std::mem::take(&mut self.waiting())
    }
}
