//! Wakes and stops the worker, and identifies its thread.

use crate::engine::engine;
use locks::Mutex;
use std::cell::Cell;
use std::sync::{Condvar, PoisonError};
use std::time::Duration;

/// The longest time between two rounds of the worker.
const PAUSE: Duration = Duration::from_millis(100);

/// Requests to the worker: to end, and to start its next round at once.
#[derive(Default)]
struct Signal {
    stops: bool,
    wakes: bool,
}

static SIGNAL: Mutex<Signal> = Mutex::new(Signal { stops: false, wakes: false });
static CHANGED: Condvar = Condvar::new();

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as the worker's, for as long as the thread lives.
pub fn claim_thread() {
    IS_WORKER.with(|is_worker| is_worker.set(true));
}

/// True on the worker's thread.
pub fn is_worker_thread() -> bool {
    IS_WORKER.try_with(Cell::get).unwrap_or(false)
}

/// Makes the worker start its next round at once, because settings have changed or facts are missing.
pub fn wake() {
    signal(|signal| signal.wakes = true);
}

/// Wakes the worker if a session has asked for facts from the catalogue since the last call.
pub fn wake_if_wanted() {
    if engine().is_catalogue_wanted() {
        wake();
    }
}

/// Withdraws all requests before a worker is started, and has it start its first round at once.
pub fn begin() {
    signal(|signal| *signal = Signal { stops: false, wakes: true });
}

/// Makes the worker end after its present round. Does not wait for that.
pub fn stop() {
    signal(|signal| signal.stops = true);
}

fn signal(change: impl FnOnce(&mut Signal)) {
    change(&mut SIGNAL.lock().unwrap_or_else(PoisonError::into_inner));
    CHANGED.notify_all();
}

/// Blocks the worker until it is woken, or for `PAUSE`. Returns false if the worker must end.
pub fn pause() -> bool {
    let signal = SIGNAL.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = CHANGED.wait_timeout_while(signal, PAUSE, |signal| !signal.wakes && !signal.stops);
    let (mut signal, _) = waited.unwrap_or_else(PoisonError::into_inner);
    signal.wakes = false;
    !signal.stops
}
