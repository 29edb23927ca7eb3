//! Connections that are accepted and closed.

use crate::engine::{engine, load_number};
use crate::server;
use crate::signal;
use crate::sockets::descriptors::{self, Descriptor, Taken};
use crate::sockets::io;
use crate::turns;
use host::Connection;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whatever a connection that is accepted now does will be reported.
static ADMITS: AtomicBool = AtomicBool::new(false);

/// The server reports to this plugin from here on: until its load is over it does not.
#[inline]
pub fn admit() {
    // Relaxed: whoever accepts a connection reads it on its own.
    if !ADMITS.load(Ordering::Relaxed) {
        ADMITS.store(true, Ordering::Release);
        signal::wake();
    }
}

/// At the load. Before the server has started nobody has connected.
pub fn begin() {
    ADMITS.store(!server::get().has_started(), Ordering::Release);
}

pub fn number_before_accept() -> u64 {
    engine().settings().inherited()
}

pub fn accepted(fd: c_int, number: u64) {
    let load = load_number();
    if fd >= 0 && load % 2 == 1 && ADMITS.load(Ordering::Acquire) {
        descriptors::open(fd, load, Connection::accepted(engine().flavour(), number, server::get().has_thread_pool()));
    }
}

/// A server that ends stops listening first.
pub fn note_end(fd: c_int) {
    if server::get().is_ending() && !signal::is_this_thread() && io::is_listening(fd) {
        turns::ask_no_more();
    }
}

pub fn closing(fd: c_int) {
    let Some(mut taken) = descriptors::get(fd).and_then(Descriptor::take) else { return };
    taken.descriptor.thread_id.store(0, Ordering::Release);
    if let Some(mut connection) = taken.content().take() {
        connection.session.close(engine());
    }
}

pub fn is_of_this_load(descriptor: &Descriptor) -> bool {
    descriptor.load.load(Ordering::Relaxed) == load_number()
}

/// A connection of an earlier load, once nothing of it is in our hands, is left alone for good.
pub fn lets_go(taken: &mut Taken) -> bool {
    if is_of_this_load(taken.descriptor) {
        return false;
    }
    let is_clean = taken.content().as_ref().is_none_or(Connection::is_clean);
    if is_clean && let Some(mut connection) = taken.content().take() {
        connection.session.close(engine());
    }
    is_clean
}
