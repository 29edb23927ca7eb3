//! Accepting and closing connections.

use crate::engine::{engine, load_number};
use crate::following::closed_elsewhere;
use crate::server;
use crate::signal;
use crate::sockets::descriptors::{self, Descriptor, DescriptorGuard};
use crate::sockets::io;
use crate::worker_permission;
use host::Connection;
use locks::Mutex;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, PoisonError};
use std::time::Duration;

/// True while the server reports to this plugin, so that a connection accepted now will be reported from its start. Other connections are
/// not followed.
static ADMITS: AtomicBool = AtomicBool::new(false);

/// False while the server starts and the worker has not yet looked up the settings that new sessions inherit. The first connection waits
/// for that.
static IS_READY: Mutex<bool> = Mutex::new(true);
static READY: Condvar = Condvar::new();
/// A copy of `IS_READY` that is read without a lock.
static IS_CERTAINLY_READY: AtomicBool = AtomicBool::new(true);
/// How long the first connection waits at most, because the worker may be unable to query the server.
const LONGEST: Duration = Duration::from_secs(2);

fn set_ready(is_ready: bool) {
    *IS_READY.lock().unwrap_or_else(PoisonError::into_inner) = is_ready;
    IS_CERTAINLY_READY.store(is_ready, Ordering::Release);
    READY.notify_all();
}

/// Ends the wait of the first connection. Called by the worker when it has looked up what it needs from a server that has started.
pub fn ready() {
    if !IS_CERTAINLY_READY.load(Ordering::Relaxed) {
        set_ready(true);
    }
}

/// Blocks the first connection of a server that has started with the plugin until the worker is ready, or for two seconds. Settings of the
/// server's own query cache in an option file are thus taken over before any session inherits them. Later calls return at once.
pub fn await_ready() {
    if IS_CERTAINLY_READY.load(Ordering::Acquire) {
        return;
    }
    signal::wake();
    let is_ready = IS_READY.lock().unwrap_or_else(PoisonError::into_inner);
    drop(READY.wait_timeout_while(is_ready, LONGEST, |is_ready| !*is_ready));
    set_ready(true);
}

/// From here on, newly accepted connections are followed. Called when the server reports something to this plugin, which it does not before
/// the load is complete. Every report may call this.
#[inline]
pub fn admit() {
    // Relaxed is enough: a thread that accepts a connection loads the flag itself.
    if !ADMITS.load(Ordering::Relaxed) {
        ADMITS.store(true, Ordering::Release);
        signal::wake();
    }
}

/// From here on, newly accepted connections are not followed. Called when the server stops reporting to this plugin.
pub fn refuse() {
    ADMITS.store(false, Ordering::Release);
}

/// Resets this module at load. If the server has not started yet, no client can have connected: connections are followed from the first one
/// on, and the first one waits for the worker.
pub fn begin() {
    let has_started = server::get().has_started();
    ADMITS.store(!has_started, Ordering::Release);
    set_ready(has_started);
}

/// Returns `Settings::inherited`, the number of the settings that new sessions inherit. Call before the accept, so that a change in between
/// is noticed.
pub fn number_before_accept() -> u64 {
    engine().settings().inherited()
}

/// Called after an accept: follows the connection if the plugin is loaded and the server reports to it. `fd` is what the accept returned,
/// negative if it failed; `number` is that of `number_before_accept`.
pub fn accepted(fd: c_int, number: u64) {
    let load = load_number();
    if fd >= 0 && load % 2 == 1 && ADMITS.load(Ordering::Acquire) {
        descriptors::open(fd, load, Connection::accepted(engine().flavour(), number, server::get().has_thread_pool()));
    }
}

/// Called before a descriptor is closed. If the server closes a listening socket, it is shutting down: then waits for the worker's last
/// statement, and lets it start no other.
pub fn note_end(fd: c_int) {
    if server::get().is_ending() && !signal::is_worker_thread() && io::is_listening(fd) {
        worker_permission::forbid();
    }
}

/// Called before the server closes a descriptor. Ends the session of its connection. If this is not the session's own thread, the session
/// is kept until the server reports its end, because it may still be working.
pub fn closing(fd: c_int) {
    let Some(descriptor) = descriptors::get(fd) else { return };
    let here = server::get().session_here();
    let Some(mut taken) = descriptor.take() else {
        assert!(here.is_none(), "a connection is closed that another thread still uses");
        return;
    };
    let thread_id = descriptor.thread_id.swap(0, Ordering::AcqRel);
    let Some(mut connection) = taken.content().take() else { return };
    match here {
        Some(here) if thread_id != 0 && thread_id != here => closed_elsewhere::keep(thread_id, fd, connection.session),
        _ => connection.session.close(engine()),
    }
}

/// Called when the server reports, on the session's own thread, that a session has ended. Ends the engine's session of this thread id, also
/// one whose connection another thread has closed. Another thread can no longer affect the session.
pub fn ended(thread_id: u64) {
    let is_its = |descriptor: &Descriptor| descriptor.thread_id.load(Ordering::Acquire) == thread_id;
    if let Some(mut taken) = descriptors::take_current(is_its) {
        taken.descriptor.thread_id.store(0, Ordering::Release);
        taken.content().iter_mut().for_each(|connection| connection.session.close(engine()));
    }
    closed_elsewhere::ended(thread_id);
}

/// True if the connection under this descriptor was accepted in the load of the plugin that is in force now.
#[inline]
pub fn is_of_this_load(descriptor: &Descriptor) -> bool {
    descriptor.load.load(Ordering::Relaxed) == load_number()
}

/// True if a connection of an earlier load no longer needs this plugin. Then the engine's session was ended here, and the caller passes the
/// connection's bytes unchanged for good. Always false for a connection of the current load.
#[inline]
pub fn release_if_unused(taken: &mut DescriptorGuard) -> bool {
    !is_of_this_load(taken.descriptor) && release_older(taken)
}

#[cold]
fn release_older(taken: &mut DescriptorGuard) -> bool {
    let is_clean = taken.content().as_ref().is_none_or(Connection::is_clean);
    if is_clean && let Some(mut connection) = taken.content().take() {
        connection.session.close(engine());
    }
    is_clean
}
