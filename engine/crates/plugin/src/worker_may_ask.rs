//! When the worker may ask the server: not before it has started, and no more once it ends.

use crate::following::waking;
use crate::server;
use locks::Mutex;
use std::sync::{Condvar, PoisonError};
use std::time::Duration;

const LAST_STATEMENT: Duration = Duration::from_secs(5);
/// It may wait for what waits for it.
const PRESENT_TURN: Duration = Duration::from_secs(1);

/// Whether statements of the worker are running, and whether any may.
#[derive(Default)]
struct Asking {
    is_busy: bool,
    is_over: bool,
}

static ASKING: Mutex<Asking> = Mutex::new(Asking { is_busy: false, is_over: false });
static ASKED: Condvar = Condvar::new();

/// While it lives, the worker may run statements.
pub struct Turn;

impl Turn {
    pub fn take() -> Option<Turn> {
        let mut asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
        let may_ask =
            !asking.is_over && !waking::is_changing() && server::get().has_started() && !server::get().is_ending();
        may_ask.then(|| {
            asking.is_busy = true;
            Turn
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        ASKING.lock().unwrap_or_else(PoisonError::into_inner).is_busy = false;
        ASKED.notify_all();
    }
}

/// Plugins are about to change, and one of which a statement of the worker's makes use could not leave. The next turn comes after
/// that.
pub fn await_end() {
    let asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = ASKED.wait_timeout_while(asking, PRESENT_TURN, |asking| asking.is_busy);
}

pub fn begin() {
    ASKING.lock().unwrap_or_else(PoisonError::into_inner).is_over = false;
}

/// The server is ending: it will clean up what statements need without waiting for the worker's, so the last one must be
/// over before that. Bounded, because it may wait for a lock that only the end of other sessions frees.
pub fn ask_no_more() {
    let mut asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    asking.is_over = true;
    let _ = ASKED.wait_timeout_while(asking, LAST_STATEMENT, |asking| asking.is_busy);
}
