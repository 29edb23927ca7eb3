//! Connections that were accepted before this load of the plugin. Only the server's reports show what they write, and these may be
//! missing: a session keeps using its list of plugins until its next command, or for good if it saw a plugin that was being removed.
//!
//! So while such a connection runs a command and has never been reported, no result counts as fresh. Its first report ends that.

use crate::engine::{engine, load};
use crate::following::waking;
use crate::log;
use crate::server;
use crate::sockets::descriptors;
use crate::sockets::io;
use locks::Mutex;
use session::UnreportedConnection;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::c_int;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use wire::Header;

/// A command that this thread runs on a connection that the server has not reported yet in this load. While it exists, no stored result
/// counts as current.
struct UnreportedCommand {
    fd: c_int,
    unreported: UnreportedConnection,
    has_answered: bool,
}

impl UnreportedCommand {
    fn new(fd: c_int) -> UnreportedCommand {
        UNDER_WAY.fetch_add(1, Ordering::Relaxed);
        UnreportedCommand { fd, unreported: UnreportedConnection::new(engine()), has_answered: false }
    }
}

impl Drop for UnreportedCommand {
    fn drop(&mut self) {
        self.unreported.end(engine());
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The number of commands that now run, on all threads, on connections that the server has not reported yet. A thread sees at least its
/// own, so it rarely has to look for one.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The packet that this thread is reading from a connection that the server has not reported yet in this load, once its header has
    /// arrived. None while no packet is being read.
    static PACKET: Cell<Option<Packet>> = const { Cell::new(None) };
    /// The command that this thread runs on a connection that the server has not reported yet in this load. None if it runs none.
    static COMMAND: RefCell<Option<UnreportedCommand>> = const { RefCell::new(None) };
}

/// The ports that the server listened on when the plugin was loaded; 0 for a path, and None before the first load. A socket with another
/// port is one that the server opened itself.
static PORTS: Mutex<Option<HashSet<u16>>> = Mutex::new(None);
/// True once it was logged in this load that a connection older than the plugin runs statements that are not reported.
static HAS_TOLD: AtomicBool = AtomicBool::new(false);

/// Runs `work` on this thread's command, if any. None if the thread is ending, or is inside of another such call.
fn with_command<T>(work: impl FnOnce(&mut Option<UnreportedCommand>) -> T) -> Option<T> {
    COMMAND.try_with(|command| command.try_borrow_mut().ok().map(|mut command| work(&mut command))).ok().flatten()
}

/// Takes this thread's unreported command; none if it runs none. When the caller drops it, stored results may count as current again.
#[inline]
fn take() -> Option<UnreportedCommand> {
    (UNDER_WAY.load(Ordering::Relaxed) > 0).then(|| with_command(Option::take)).flatten().flatten()
}

/// Notes the ports that the server listens on. Call at load, before connections are examined.
pub fn learn() {
    let all = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let ports = numbers.filter(|fd| io::is_listening(*fd)).filter_map(io::own_port).collect();
    *PORTS.lock().unwrap_or_else(PoisonError::into_inner) = Some(ports);
    HAS_TOLD.store(false, Ordering::Relaxed);
}

/// True if the socket was accepted from a client, as far as its port shows.
fn is_client(fd: c_int) -> bool {
    let ports = PORTS.lock().unwrap_or_else(PoisonError::into_inner);
    io::own_port(fd).is_some_and(|port| ports.as_ref().is_none_or(|ports| ports.contains(&port)))
}

/// Called when bytes of a connection that is not followed have arrived and are handed to the server. If they may be a command that writes,
/// and the server has not reported the connection yet in this load, no stored result counts as current until the command ends.
pub fn on_read(fd: c_int, bytes: &[u8]) {
    let Some(load) = load() else { return };
    let Some(descriptor) =
        descriptors::get_or_create(fd).filter(|descriptor| descriptor.heard.load(Ordering::Relaxed) != load)
    else {
        return;
    };
    if !is_client(fd) {
        descriptor.heard.store(load, Ordering::Relaxed);
    } else if may_matter(fd, bytes) {
        // Done even if the engine is suspended, because it may wake before the command has ended.
        with_command(|command| *command = Some(UnreportedCommand::new(fd)));
    }
}

/// True if the bytes may be a command that changes what other sessions read. The server reads the header of a packet first, then the rest
/// in pieces.
fn may_matter(fd: c_int, bytes: &[u8]) -> bool {
    let begun = PACKET.try_with(Cell::take).ok().flatten().filter(|packet| packet.fd == fd);
    let Some(packet) = begun.or_else(|| Packet::begin(fd, bytes)) else { return true };
    let payload = if begun.is_some() { bytes } else { &bytes[Header::SIZE..] };
    let left = packet.left.saturating_sub(payload.len());
    let has_more = left > 0 && PACKET.try_with(|last| last.set(Some(Packet { left, ..packet }))).is_ok();
    let is_header = begun.is_none() && payload.is_empty() && has_more;
    !is_header && UnreportedConnection::may_change_others(engine(), packet.header, payload)
}

/// A packet whose header has arrived, and how many bytes of it are still to come.
#[derive(Clone, Copy)]
struct Packet {
    fd: c_int,
    header: Header,
    left: usize,
}

impl Packet {
    fn begin(fd: c_int, bytes: &[u8]) -> Option<Packet> {
        let header = Header::parse(bytes)?;
        Some(Packet { fd, header, left: header.length })
    }
}

/// Called before the server sends bytes to the client of a connection that is not followed. If the connection has not been reported yet,
/// invalidates all results: what it wrote may be visible from here on.
pub fn on_write(fd: c_int) {
    with_command(|command| {
        for command in command.iter_mut().filter(|command| command.fd == fd) {
            command.unreported.note_response_bytes(engine());
            command.has_answered = true;
            if server::get().has_thread_pool() {
                // In a thread pool, the next command may be read by another thread, and this thread may read nothing for long. So the
                // command ends here.
                waking::wait_for_all(engine());
                waking::doubt(engine(), None);
                command.unreported.end(engine());
            }
        }
    });
}

/// Called when the server has reported something about the session of this thread. From then on the engine trusts that reports about its
/// connection come. If a command of the connection was keeping stored results from counting as current, it no longer does.
pub fn on_report() {
    let Some(command) = take() else { return };
    if let (Some(descriptor), Some(load)) = (descriptors::get(command.fd), load()) {
        descriptor.heard.store(load, Ordering::Relaxed);
    }
}

/// Called when this thread wants to read, so the command that it ran on a connection that is not reported has ended.
#[inline]
pub fn on_wait() {
    if let Some(ended) = take() {
        end(ended);
    }
}

#[cold]
fn end(ended: UnreportedCommand) {
    if !ended.has_answered || !engine().mode().is_awake() {
        return;
    }
    // With a thread pool, `on_write` has done this.
    if !server::get().has_thread_pool() {
        // Nothing is fresh until `ended` is dropped, so the doubt has to begin before that.
        waking::doubt(engine(), None);
    }
    if !HAS_TOLD.swap(true, Ordering::Relaxed) {
        log::note(
            "a connection older than the plugin runs statements that the server does not report: \
             all results are dropped whenever it may write; have it reconnect",
        );
    }
    drop(ended);
}

/// Called before the server closes a descriptor: if this thread runs an unreported command on it, the command has ended.
pub fn on_close(fd: c_int) {
    if let Some(descriptor) = descriptors::get(fd) {
        descriptor.heard.store(0, Ordering::Relaxed);
    }
    with_command(|command| command.take_if(|command| command.fd == fd));
}
