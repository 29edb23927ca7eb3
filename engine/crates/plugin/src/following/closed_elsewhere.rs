//! Connections that another thread has closed. In MySQL, the thread that kills a session also closes its connection, while the session
//! may still be working. A commit in progress becomes visible later, and the session's thread may still use a descriptor number that
//! belongs to another connection by then.
//!
//! So the session's writes in progress stay open until the server reports its end, and its thread may not read or write any more.
//! What the session still does is handled like the work of a background thread.

use crate::engine::engine;
use crate::server;
use locks::Mutex;
use session::Session;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{MutexGuard, PoisonError};

/// A session whose connection another thread has closed, and the descriptor number that it had.
struct ClosedSession {
    fd: c_int,
    session: Session,
}

/// The sessions of closed connections, by the server's thread id.
static CLOSED: Mutex<BTreeMap<u64, ClosedSession>> = Mutex::new(BTreeMap::new());
/// The number of sessions in `CLOSED`. Usually 0, so that the map need not be locked.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn all() -> MutexGuard<'static, BTreeMap<u64, ClosedSession>> {
    CLOSED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the session of a connection that another thread has closed, until the server reports the session's end. The engine no longer
/// follows it, but its writes in progress stay open. Call before the descriptor number can be reused.
pub fn keep(thread_id: u64, fd: c_int, mut session: Session) {
    session.abandon(engine());
    let mut all = all();
    all.insert(thread_id, ClosedSession { fd, session });
    COUNT.store(all.len(), Ordering::Release);
}

/// True if the session of any connection that another thread has closed is still kept here. Takes no lock.
#[inline]
pub fn is_any() -> bool {
    COUNT.load(Ordering::Acquire) > 0
}

/// True if the session on this thread no longer owns this descriptor, because another thread has closed it. Call while the descriptor is
/// taken.
pub fn has_lost(fd: c_int) -> bool {
    server::get().session_here().is_some_and(|here| all().get(&here).is_some_and(|cut| cut.fd == fd))
}

/// Closes the session with this thread id if another thread has closed its connection, which ends its writes in progress. Otherwise does
/// nothing. Called when the server reports the session's end.
pub fn ended(thread_id: u64) {
    if is_any() {
        let mut all = all();
        let ended = all.remove(&thread_id);
        COUNT.store(all.len(), Ordering::Release);
        drop(all);
        ended.into_iter().for_each(close);
    }
}

/// Closes the sessions of all connections that another thread has closed, which ends their writes in progress. Called when nothing is
/// stored any more and the server no longer reports the end of sessions.
pub fn forget() {
    let forgotten = std::mem::take(&mut *all());
    COUNT.store(0, Ordering::Release);
    forgotten.into_values().for_each(close);
}

fn close(mut cut: ClosedSession) {
    cut.session.close(engine());
}
