//! Decides when the worker may query the server: not before the server has started, and no more once it ends.

use crate::following::waking;
use crate::server;
use locks::Mutex;
use std::sync::{Condvar, PoisonError};
use std::time::Duration;

/// How long the end of the server waits for the worker's statements.
const LAST_STATEMENT: Duration = Duration::from_secs(5);
/// How long a change of plugins waits for the worker's statements. Bounded, because these may wait for that change.
const PRESENT_TURN: Duration = Duration::from_secs(1);

/// Whether statements of the worker are running, and whether no more may be started.
#[derive(Default)]
struct WorkerStatements {
    is_busy: bool,
    is_over: bool,
}

static STATEMENTS: Mutex<WorkerStatements> = Mutex::new(WorkerStatements { is_busy: false, is_over: false });
static ENDED: Condvar = Condvar::new();

/// The worker's permission to run statements on the server, for as long as this value lives.
pub struct StatementPermission;

impl StatementPermission {
    /// Returns the permission, or none while statements are not allowed: before the server has started, once it ends, and while plugins
    /// change.
    pub fn take() -> Option<StatementPermission> {
        let mut statements = STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let may_ask =
            !statements.is_over && !waking::is_changing() && server::get().has_started() && !server::get().is_ending();
        may_ask.then(|| {
            statements.is_busy = true;
            StatementPermission
        })
    }
}

impl Drop for StatementPermission {
    fn drop(&mut self) {
        STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner).is_busy = false;
        ENDED.notify_all();
    }
}

/// Waits up to a second for the worker's running statement before plugins change: a plugin that the statement uses could not be removed. Call
/// it while `waking::is_changing` is true, since the worker then begins no statement. A statement that takes longer goes on.
pub fn await_end() {
    let statements = STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = ENDED.wait_timeout_while(statements, PRESENT_TURN, |statements| statements.is_busy);
}

/// Allows the worker to run statements again. Called at load.
pub fn begin() {
    STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner).is_over = false;
}

/// Allows no more statements of the worker, and waits up to five seconds for the running one. Called when the server ends, which frees what
/// statements need without waiting for the worker. The wait is bounded, because the statement may wait for a lock that only the end of
/// other sessions releases.
pub fn forbid() {
    let mut statements = STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    statements.is_over = true;
    let _ = ENDED.wait_timeout_while(statements, LAST_STATEMENT, |statements| statements.is_busy);
}
