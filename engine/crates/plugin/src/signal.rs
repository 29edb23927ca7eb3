//! Wakes and stops the worker, and identifies its thread.

use crate::engine::engine;
use locks::Mutex;
use std::cell::Cell;
use std::sync::{Condvar, PoisonError};
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(100);

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

/// Marks this thread as the worker.
pub fn claim_thread() {
    IS_WORKER.with(|is_worker| is_worker.set(true));
}

pub fn is_this_thread() -> bool {
    IS_WORKER.try_with(Cell::get).unwrap_or(false)
}

/// Makes the worker start its next round at once, because settings have changed or facts are missing.
pub fn wake() {
    signal(|signal| signal.wakes = true);
}

/// Wakes the worker if a session has asked for facts from the catalogue.
pub fn wake_if_wanted() {
    if engine().is_catalogue_wanted() {
        wake();
    }
}

pub fn begin() {
    signal(|signal| *signal = Signal { stops: false, wakes: true });
}

pub fn stop() {
    signal(|signal| signal.stops = true);
}

fn signal(change: impl FnOnce(&mut Signal)) {
    change(&mut SIGNAL.lock().unwrap_or_else(PoisonError::into_inner));
    CHANGED.notify_all();
}

/// Waits until woken, or for `PAUSE`. Returns false if the worker must stop.
pub fn pause() -> bool {
    let signal = SIGNAL.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = CHANGED.wait_timeout_while(signal, PAUSE, |signal| !signal.wakes && !signal.stops);
    let (mut signal, _) = waited.unwrap_or_else(PoisonError::into_inner);
    signal.wakes = false;
    !signal.stops
}
