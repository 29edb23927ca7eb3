//! Connections that another thread has closed: in MySQL whoever kills a session closes its connection, too, while the session may
//! still be at work. What it was about to commit becomes visible later, and its thread may still come with a descriptor that
//! is somebody else's by then.
//!
//! So what the session holds closed stays closed until the server tells that it has ended, and its thread reads and writes no
//! more. What it still does is that of a thread whose bytes are not seen.

use crate::engine::engine;
use crate::server;
use locks::Mutex;
use session::Session;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{MutexGuard, PoisonError};

struct Cut {
    fd: c_int,
    session: Session,
}

/// By the server's number of the session.
static CUT: Mutex<BTreeMap<u64, Cut>> = Mutex::new(BTreeMap::new());
/// How many there are. Mostly there are none, and nobody has to look.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn all() -> MutexGuard<'static, BTreeMap<u64, Cut>> {
    CUT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// To be called before the descriptor can be another's.
pub fn keep(thread_id: u64, fd: c_int, mut session: Session) {
    session.abandon(engine());
    let mut all = all();
    all.insert(thread_id, Cut { fd, session });
    COUNT.store(all.len(), Ordering::Release);
}

#[inline]
pub fn is_any() -> bool {
    COUNT.load(Ordering::Acquire) > 0
}

/// Whether the session of this thread has lost this descriptor. To be asked with the descriptor taken.
pub fn has_lost(fd: c_int) -> bool {
    server::get().session_here().is_some_and(|here| all().get(&here).is_some_and(|cut| cut.fd == fd))
}

pub fn ended(thread_id: u64) {
    if is_any() {
        let mut all = all();
        let ended = all.remove(&thread_id);
        COUNT.store(all.len(), Ordering::Release);
        drop(all);
        ended.into_iter().for_each(close);
    }
}

/// Nothing is stored any more, and the server tells no more of sessions that end.
pub fn forget() {
    let forgotten = std::mem::take(&mut *all());
    COUNT.store(0, Ordering::Release);
    forgotten.into_values().for_each(close);
}

fn close(mut cut: Cut) {
    cut.session.close(engine());
}
