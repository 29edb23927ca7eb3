//! Unfollowed threads: server threads that the engine does not follow by their bytes. These are background threads, events, replication
//! appliers, and connections that are unreadable or were accepted before the load.

use crate::containment::contain;
use crate::engine::engine;
use crate::faults::Point;
use crate::signal;
use locks::Mutex;
use session::{Report, UnfollowedThread};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{MutexGuard, PoisonError};

/// The unfollowed threads (server threads whose packets the engine does not see) by the server's thread id. None while the plugin is not
/// loaded.
static UNFOLLOWED_THREADS: Mutex<Option<HashMap<u64, UnfollowedThread>>> = Mutex::new(None);
/// The thread ids of unfollowed threads that the server has reported since the load. None before the first load.
static REPORTED: Mutex<Option<HashSet<u64>>> = Mutex::new(None);

/// Sessions with a greater thread id started after the engine woke, so everything that they did has been reported. `u64::MAX` while that is
/// not known.
static OLDEST_KNOWN: AtomicU64 = AtomicU64::new(u64::MAX);

/// Sets the highest thread id of a session that may have started before the engine woke; `u64::MAX` if it is not known yet.
pub fn set_oldest_known(thread_id: u64) {
    OLDEST_KNOWN.store(thread_id, Ordering::Relaxed);
}

/// True if it is known which sessions may have started before the engine woke. If not, `set_oldest_known` must be called with the newest
/// thread id.
pub fn knows_all_sessions() -> bool {
    OLDEST_KNOWN.load(Ordering::Relaxed) != u64::MAX
}

/// True if the server has reported anything since the load about this thread, whose packets the engine does not see. A session whose
/// connection is followed is normally not among these threads.
pub fn has_reported(thread_id: u64) -> bool {
    heard().as_ref().is_some_and(|heard| heard.contains(&thread_id))
}

fn heard() -> MutexGuard<'static, Option<HashSet<u64>>> {
    REPORTED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn all() -> MutexGuard<'static, Option<HashMap<u64, UnfollowedThread>>> {
    UNFOLLOWED_THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to keep entries of unfollowed threads, that is, of server threads whose packets the engine does not see.
/// Called at load; until then, `with_thread` and `add` do nothing.
pub fn start() {
    *all() = Some(HashMap::new());
    *heard() = Some(HashSet::new());
}

/// Ends the writes in progress of all unfollowed threads (those whose packets the engine does not see), and keeps none
/// of them any more. Called when the plugin ends.
pub fn stop() {
    forget();
    *all() = None;
}

/// Adds a connection whose packets the engine will not see, at its start: everything that it does will be reported.
pub fn add(thread_id: u64) {
    if let Some(all) = all().as_mut() {
        all.insert(thread_id, UnfollowedThread::new(true));
    }
}

/// Removes all unfollowed threads (those whose packets the engine does not see), and ends the writes that they have in
/// progress. Safe only while nothing is stored and all results are gone.
pub fn forget() {
    let forgotten = all().as_mut().map(std::mem::take).unwrap_or_default();
    forgotten.into_values().for_each(|mut thread| thread.report(engine(), Report::Gone));
}

/// Calls `work` with the entry of a server thread whose packets the engine does not see. It is created if there is none. Does
/// nothing on the worker's thread, and while the plugin is not loaded.
pub fn with_thread(thread_id: u64, work: impl FnOnce(&mut UnfollowedThread)) {
    if signal::is_worker_thread() {
        return;
    }
    if let Some(all) = all().as_mut() {
        work(all.entry(thread_id).or_insert_with(|| {
            let _ = UNTIL_EXIT.try_with(|ending| ending.0.borrow_mut().push(thread_id));
            heard().iter_mut().for_each(|heard| _ = heard.insert(thread_id));
            UnfollowedThread::new(thread_id > OLDEST_KNOWN.load(Ordering::Relaxed))
        }));
    }
}

/// When this thread exits, removes the entries that its reports were for: the server does not report the end of sessions without a
/// client, such as events and delayed inserts.
struct RemoveOnExit(RefCell<Vec<u64>>);

thread_local! {
    static UNTIL_EXIT: RemoveOnExit = const { RemoveOnExit(RefCell::new(Vec::new())) };
}

impl Drop for RemoveOnExit {
    fn drop(&mut self) {
        contain(Point::Event, (), || self.0.borrow_mut().drain(..).for_each(ended));
    }
}

/// Removes the entry of a server thread whose session has ended, and ends its writes in progress. Does nothing if there is
/// none.
pub fn ended(thread_id: u64) {
    heard().iter_mut().for_each(|heard| _ = heard.remove(&thread_id));
    if let Some(mut thread) = all().as_mut().and_then(|all| all.remove(&thread_id)) {
        thread.report(engine(), Report::Gone);
    }
}
