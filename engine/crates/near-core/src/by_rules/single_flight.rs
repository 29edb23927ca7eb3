//! Reads that are pending at the server, for clients that send the same read in the meantime: one client refreshes a result, and the
//! others may wait for its answer.

use crate::wake_flag::WakeFlag;
use locks::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// The reads that are pending at the server, by the hash of their key. Two keys may have the same hash, so a client that has
/// waited looks up its result by the whole key.
#[derive(Default)]
pub struct Flights(Mutex<HashMap<u64, PendingFlight>>);

/// The claim of one client's pending read. It is over when this value is dropped, whether the answer was stored or not; clients
/// that wait for it then go on.
pub struct Flight {
    of: Arc<Flights>,
    hash: u64,
    /// Rings when the read is no longer listed as pending.
    ended: Arc<WakeFlag>,
}

/// A pending read of another client, for whose answer one may wait.
#[derive(Clone)]
pub struct PendingFlight {
    /// A time in microseconds before the server was asked.
    pub begun: u64,
    ended: Arc<WakeFlag>,
}

impl PendingFlight {
    /// Is ready once the other read is over. Its answer may or may not have been stored.
    pub fn poll_ended(&self, context: &mut Context<'_>) -> Poll<()> {
        self.ended.poll_set(context)
    }
}

impl Flights {
    fn pending(&self) -> MutexGuard<'_, HashMap<u64, PendingFlight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a read as pending, until the returned value is dropped. The last argument is the present time in microseconds. If a
    /// read with this hash is pending already, that one is returned as the error, and nothing changes.
    pub fn claim(self: &Arc<Self>, hash: u64, begun: u64) -> Result<Flight, PendingFlight> {
        let mut pending = self.pending();
        if let Some(other) = pending.get(&hash) {
            return Err(other.clone());
        }
        let ended = Arc::<WakeFlag>::default();
        pending.insert(hash, PendingFlight { begun, ended: ended.clone() });
        Ok(Flight { of: self.clone(), hash, ended })
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.of.pending().remove(&self.hash);
        self.ended.set();
    }
}
