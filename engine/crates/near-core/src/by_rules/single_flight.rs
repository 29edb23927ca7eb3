//! Reads that are under way, for clients that ask the same meanwhile: one refreshes a result, and others may wait for its answer.

use crate::bell::Bell;
use locks::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// By the hash of a read's key. Two may have the same one: what a client has waited for is looked up by the whole key.
#[derive(Default)]
pub struct Flights(Mutex<HashMap<u64, UnderWay>>);

/// Over when it is dropped, whatever became of the read.
pub struct Flight {
    of: Arc<Flights>,
    hash: u64,
    /// Rung once the flight is not found any more.
    over: Arc<Bell>,
}

/// Another client's read.
#[derive(Clone)]
pub struct UnderWay {
    /// In microseconds, before the server was asked.
    pub begun: u64,
    over: Arc<Bell>,
}

impl UnderWay {
    /// Ready once the read is over.
    pub fn poll_over(&self, context: &mut Context<'_>) -> Poll<()> {
        self.over.poll_rung(context)
    }
}

impl Flights {
    fn under_way(&self) -> MutexGuard<'_, HashMap<u64, UnderWay>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails if another client's read is under way.
    pub fn claim(self: &Arc<Self>, hash: u64, begun: u64) -> Result<Flight, UnderWay> {
        let mut under_way = self.under_way();
        if let Some(other) = under_way.get(&hash) {
            return Err(other.clone());
        }
        let over = Arc::<Bell>::default();
        under_way.insert(hash, UnderWay { begun, over: over.clone() });
        Ok(Flight { of: self.clone(), hash, over })
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.of.under_way().remove(&self.hash);
        self.over.ring();
    }
}
