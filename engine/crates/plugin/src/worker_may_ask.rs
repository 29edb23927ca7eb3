//! Decides when the worker may query the server: not before the server has started, and no more once it ends.

use crate::following::waking;
use crate::server;
use locks::Mutex;
use std::sync::{Condvar, PoisonError};
use std::time::Duration;

const LAST_STATEMENT: Duration = Duration::from_secs(5);
/// How long a change of plugins waits for the worker's statements. Bounded, because these may wait for that change.
const PRESENT_TURN: Duration = Duration::from_secs(1);

/// True if statements of the worker are running, and if no more may be started.
#[derive(Default)]
struct Asking {
    is_busy: bool,
    is_over: bool,
}

static ASKING: Mutex<Asking> = Mutex::new(Asking { is_busy: false, is_over: false });
static ASKED: Condvar = Condvar::new();

/// Permission to run statements, for as long as it lives.
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

/// Waits for the worker's statements before plugins change: a plugin that one of them uses could not be removed. The next turn comes after
/// the change.
pub fn await_end() {
    let asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = ASKED.wait_timeout_while(asking, PRESENT_TURN, |asking| asking.is_busy);
}

pub fn begin() {
    ASKING.lock().unwrap_or_else(PoisonError::into_inner).is_over = false;
}

/// Called when the server ends. It frees what statements need without waiting for the worker, so the last statement must be over before
/// that. The wait is bounded, because the statement may wait for a lock that only the end of other sessions releases.
pub fn ask_no_more() {
    let mut asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    asking.is_over = true;
    let _ = ASKED.wait_timeout_while(asking, LAST_STATEMENT, |asking| asking.is_busy);
}
