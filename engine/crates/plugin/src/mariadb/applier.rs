//! Notes whether this thread is a replication applier.

use crate::containment::contain;
use crate::engine::{engine, is_loaded};
use crate::facts::Facts;
use crate::faults::Point;
use crate::following::unfollowed_threads;
use crate::mariadb::abi::Thd;
use crate::mariadb::symbols::ThdRef;
use session::UnfollowedThread;
use std::cell::Cell;
use std::ptr::null_mut;

thread_local! {
    /// The session of the applier on this thread, known once the server has reported anything about it; null otherwise.
    static APPLIER: Cell<*mut Thd> = const { Cell::new(null_mut()) };
}

/// Notes whether the session of this report is a replication applier, for `with_applier`. Call on the session's own thread.
pub fn note(thd: &ThdRef) {
    let applier = if thd.is_applier() { thd.pointer() } else { null_mut() };
    let _ = APPLIER.try_with(|present| present.set(applier));
}

/// Runs `work` if this thread is a known replication applier. Returns false if it is not, or if a panic was contained. True does not mean
/// that `work` ran: it is skipped while the plugin is unloaded or the engine suspended.
pub fn with_applier(work: impl FnOnce(&ThdRef, &mut UnfollowedThread)) -> bool {
    contain(Point::Event, false, || {
        if !is_loaded() || !engine().mode().is_awake() {
            return true;
        }
        let Some(thd) = APPLIER.try_with(Cell::get).ok().filter(|thd| !thd.is_null()) else { return false };
        // SAFETY: the session of an applier lives as long as its thread, which is this one.
        let thd = unsafe { ThdRef::of(thd) };
        unfollowed_threads::with_thread(thd.thread_id(), |thread| work(&thd, thread));
        true
    })
}
