//! Accepting and closing connections.

use crate::engine::{engine, load_number};
use crate::following::closed_elsewhere;
use crate::server;
use crate::signal;
use crate::sockets::descriptors::{self, Descriptor, Taken};
use crate::sockets::io;
use crate::worker_may_ask;
use host::Connection;
use locks::Mutex;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, PoisonError};
use std::time::Duration;

/// True while the server reports to this plugin, so that a connection accepted now will be reported from its start.
static ADMITS: AtomicBool = AtomicBool::new(false);

/// False while the server starts and the worker has not yet looked up the settings that new sessions inherit.
static IS_READY: Mutex<bool> = Mutex::new(true);
static READY: Condvar = Condvar::new();
/// A copy of `IS_READY` that is read without a lock.
static IS_CERTAINLY_READY: AtomicBool = AtomicBool::new(true);
/// How long the first connection waits for a worker that cannot query the server.
const LONGEST: Duration = Duration::from_secs(2);

fn set_ready(is_ready: bool) {
    *IS_READY.lock().unwrap_or_else(PoisonError::into_inner) = is_ready;
    IS_CERTAINLY_READY.store(is_ready, Ordering::Release);
    READY.notify_all();
}

/// Called by the worker when it has looked up what it needs from a server that has started.
pub fn ready() {
    if !IS_CERTAINLY_READY.load(Ordering::Relaxed) {
        set_ready(true);
    }
}

/// Blocks the first connection of a server that has started with the plugin until the worker is ready. Settings of the server's own
/// query cache in an option file are thus taken over before any session inherits them.
pub fn await_ready() {
    if IS_CERTAINLY_READY.load(Ordering::Acquire) {
        return;
    }
    signal::wake();
    let is_ready = IS_READY.lock().unwrap_or_else(PoisonError::into_inner);
    drop(READY.wait_timeout_while(is_ready, LONGEST, |is_ready| !*is_ready));
    set_ready(true);
}

/// Called when the server first reports to this plugin. Until the load is complete, it does not.
#[inline]
pub fn admit() {
    // Relaxed is enough: a thread that accepts a connection loads the flag itself.
    if !ADMITS.load(Ordering::Relaxed) {
        ADMITS.store(true, Ordering::Release);
        signal::wake();
    }
}

/// Called when the server stops reporting to this plugin.
pub fn refuse() {
    ADMITS.store(false, Ordering::Release);
}

/// Called at load. If the server has not started yet, no client can have connected.
pub fn begin() {
    let has_started = server::get().has_started();
    ADMITS.store(!has_started, Ordering::Release);
    set_ready(has_started);
}

/// Returns the number of the settings that sessions inherit. Taken before the accept, so that a change in between is noticed.
pub fn number_before_accept() -> u64 {
    engine().settings().inherited()
}

/// Called after an accept: follows the connection if the plugin is loaded and the server reports to it.
pub fn accepted(fd: c_int, number: u64) {
    let load = load_number();
    if fd >= 0 && load % 2 == 1 && ADMITS.load(Ordering::Acquire) {
        descriptors::open(fd, load, Connection::accepted(engine().flavour(), number, server::get().has_thread_pool()));
    }
}

/// Notes the start of a shutdown: the server closes its listening sockets first.
pub fn note_end(fd: c_int) {
    if server::get().is_ending() && !signal::is_this_thread() && io::is_listening(fd) {
        worker_may_ask::ask_no_more();
    }
}

/// Called before the server closes a descriptor: closes the session of its connection, or keeps it if this is not the session's own thread.
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

/// Called when the server reports, on the session's own thread, that a session has ended. Another thread can no longer affect the session.
pub fn ended(thread_id: u64) {
    let is_its = |descriptor: &Descriptor| descriptor.thread_id.load(Ordering::Acquire) == thread_id;
    if let Some(mut taken) = descriptors::take_current(is_its) {
        taken.descriptor.thread_id.store(0, Ordering::Release);
        taken.content().iter_mut().for_each(|connection| connection.session.close(engine()));
    }
    closed_elsewhere::ended(thread_id);
}

#[inline]
pub fn is_of_this_load(descriptor: &Descriptor) -> bool {
    descriptor.load.load(Ordering::Relaxed) == load_number()
}

/// True if a connection of an earlier load no longer needs this plugin. It is then closed for the engine and left alone for good.
#[inline]
pub fn lets_go(taken: &mut Taken) -> bool {
    !is_of_this_load(taken.descriptor) && lets_go_of_older(taken)
}

#[cold]
fn lets_go_of_older(taken: &mut Taken) -> bool {
    let is_clean = taken.content().as_ref().is_none_or(Connection::is_clean);
    if is_clean && let Some(mut connection) = taken.content().take() {
        connection.session.close(engine());
    }
    is_clean
}
