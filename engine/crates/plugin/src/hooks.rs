//! The hooks: functions that replace the server's socket calls in its import table while the plugin is loaded.
//!
//! A panic never leaves a hook: it is counted and logged, the cache is turned off for the process, the engine stops following that
//! connection, and its bytes are passed on unchanged.

use crate::connections;
use crate::containment::{contain, contained};
use crate::engine::engine;
use crate::faults::{self, Point};
use crate::following::{closed_elsewhere, earlier_connections};
use crate::log;
use crate::pointers::ReplacedSlots;
use crate::settings;
use crate::signal;
use crate::sockets::descriptors::{self, Descriptor};
use crate::sockets::feeds;
use crate::sockets::got;
use crate::sockets::io::{self, PlainConnection, Tls};
use host::{Connection, Io};
use locks::Mutex;
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

unsafe extern "C" fn on_accept(fd: c_int, address: *mut c_void, length: *mut c_void) -> c_int {
    contain(Point::Accept, (), connections::await_ready);
    let number = connections::number_before_accept();
    let accepted = io::accept(fd, address, length);
    contain(Point::Accept, (), || accept(accepted, number));
    accepted
}

unsafe extern "C" fn on_accept4(fd: c_int, address: *mut c_void, length: *mut c_void, flags: c_int) -> c_int {
    contain(Point::Accept, (), connections::await_ready);
    let number = connections::number_before_accept();
    let accepted = io::accept4(fd, address, length, flags);
    contain(Point::Accept, (), || accept(accepted, number));
    accepted
}

fn accept(fd: c_int, number: u64) {
    settings::note_obstacle();
    connections::accepted(fd, number);
}

unsafe extern "C" fn on_close(fd: c_int) -> c_int {
    contain(Point::Close, (), || {
        connections::closing(fd);
        earlier_connections::on_close(fd);
    });
    let _ = catch_unwind(|| connections::note_end(fd));
    io::close(fd)
}

unsafe extern "C" fn on_recv(fd: c_int, buffer: *mut c_void, length: usize, flags: c_int) -> isize {
    let mut plain = PlainConnection { fd, flags };
    // SAFETY: the server passes a buffer of this length.
    let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length) };
    read(fd, &mut plain, bytes)
}

unsafe extern "C" fn on_send(fd: c_int, buffer: *const c_void, length: usize, flags: c_int) -> isize {
    let mut plain = PlainConnection { fd, flags };
    // SAFETY: the server passes a buffer of this length.
    let bytes = unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), length) };
    write(fd, &mut plain, bytes)
}

unsafe extern "C" fn on_ssl_read(ssl: *mut c_void, buffer: *mut c_void, length: c_int) -> c_int {
    let fd = io::descriptor_of(ssl);
    // SAFETY: the server passes a buffer of this length.
    let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length.max(0) as usize) };
    read(fd, &mut Tls { ssl, fd }, bytes) as c_int
}

unsafe extern "C" fn on_ssl_write(ssl: *mut c_void, buffer: *const c_void, length: c_int) -> c_int {
    let fd = io::descriptor_of(ssl);
    // SAFETY: the server passes a buffer of this length.
    let bytes = unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), length.max(0) as usize) };
    write(fd, &mut Tls { ssl, fd }, bytes) as c_int
}

/// Reads bytes of the client for the server, through the followed connection under `fd` if there is one, and otherwise from `io`.
fn read(fd: c_int, io: &mut dyn Io, buffer: &mut [u8]) -> isize {
    earlier_connections::on_wait();
    let taken = descriptors::get(fd).and_then(Descriptor::take);
    if has_lost(fd) {
        return refuse();
    }
    let Some(mut taken) = taken else { return read_unfollowed(fd, io, buffer) };
    descriptors::set_current(fd, &taken);
    if connections::release_if_unused(&mut taken) {
        return read_unfollowed(fd, io, buffer);
    }
    let Some(connection) = taken.content() else { return read_unfollowed(fd, io, buffer) };
    let work = || {
        faults::panic_if_armed(Point::Recv);
        match connection.session.feed() {
            Some(id) => feeds::run(fd, io, id),
            None => connection.read(engine(), io, buffer),
        }
    };
    let count = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(count) => count,
        Err(_) => {
            give_up(connection);
            connection.read(engine(), io, buffer)
        }
    };
    if !connections::is_of_this_load(taken.descriptor) {
        note_unfollowed(fd, buffer, count);
    }
    count
}

/// True if the session on this thread no longer owns the descriptor, whose number may belong to another connection by now. It must not read
/// or write any more.
#[inline]
fn has_lost(fd: c_int) -> bool {
    closed_elsewhere::is_any() && is_among_lost(fd)
}

#[cold]
fn is_among_lost(fd: c_int) -> bool {
    catch_unwind(|| closed_elsewhere::has_lost(fd)).unwrap_or(false)
}

/// Fails a read or write like one of a descriptor that is closed.
fn refuse() -> isize {
    // SAFETY: the thread's own errno.
    unsafe { *libc::__errno_location() = libc::EBADF };
    -1
}

/// Reads from a connection that this load of the plugin does not follow.
fn read_unfollowed(fd: c_int, io: &mut dyn Io, buffer: &mut [u8]) -> isize {
    let count = io.read(buffer);
    note_unfollowed(fd, buffer, count);
    count
}

/// Passes on what was read from a connection that this load of the plugin does not follow: it may be a command.
fn note_unfollowed(fd: c_int, buffer: &[u8], count: isize) {
    let bytes = usize::try_from(count).ok().and_then(|count| buffer.get(..count));
    if let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) {
        contain(Point::Recv, (), || earlier_connections::on_read(fd, bytes));
    }
}

/// Writes to a connection that this load of the plugin does not follow.
fn write_unfollowed(fd: c_int, io: &mut dyn Io, bytes: &[u8]) -> isize {
    contain(Point::Send, (), || earlier_connections::on_write(fd));
    io.write(bytes)
}

/// Writes bytes of the server for the client, through the followed connection under `fd` if there is one, and otherwise to `io`.
fn write(fd: c_int, io: &mut dyn Io, bytes: &[u8]) -> isize {
    settings::note_obstacle();
    let taken = descriptors::get(fd).and_then(Descriptor::take);
    if has_lost(fd) {
        return refuse();
    }
    let Some(mut taken) = taken else { return write_unfollowed(fd, io, bytes) };
    descriptors::set_current(fd, &taken);
    let is_strange = !connections::is_of_this_load(taken.descriptor);
    let Some(connection) = taken.content() else { return write_unfollowed(fd, io, bytes) };
    if is_strange {
        contain(Point::Send, (), || earlier_connections::on_write(fd));
    }
    let work = || {
        faults::panic_if_armed(Point::Send);
        connection.write(engine(), io, bytes)
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(count) => {
            signal::wake_if_wanted();
            count
        }
        Err(_) => {
            give_up(connection);
            let is_ours = catch_unwind(AssertUnwindSafe(|| connection.session.consumes_abandoned_response(bytes)));
            if is_ours.unwrap_or(false) { bytes.len() as isize } else { io.write(bytes) }
        }
    }
}

/// Stops following the connection whose hook panicked, and switches the cache off. Bytes that were read ahead still reach the server.
fn give_up(connection: &mut Connection) {
    contained();
    let _ = catch_unwind(AssertUnwindSafe(|| connection.session.abandon(engine())));
}

/// A function of the server's import table that the plugin replaces. The load fails if a required one is not there.
struct Hook {
    name: &'static CStr,
    function: *mut c_void,
    original: &'static io::Original,
    is_required: bool,
}

fn hooks() -> [Hook; 7] {
    let hook = |name, function, original, is_required| Hook { name, function, original, is_required };
    [
        hook(c"recv", on_recv as *mut c_void, &io::RECV, true),
        hook(c"send", on_send as *mut c_void, &io::SEND, true),
        hook(c"close", on_close as *mut c_void, &io::CLOSE, true),
        hook(c"accept", on_accept as *mut c_void, &io::ACCEPT, false),
        hook(c"accept4", on_accept4 as *mut c_void, &io::ACCEPT4, false),
        hook(c"SSL_read", on_ssl_read as *mut c_void, &io::SSL_READ, false),
        hook(c"SSL_write", on_ssl_write as *mut c_void, &io::SSL_WRITE, false),
    ]
}

/// The entries of the server's import table that hold the hooks, with what stood there before.
static INSTALLED: Mutex<ReplacedSlots> = Mutex::new(ReplacedSlots::none());

/// Installs the hooks, or changes nothing if that fails; the error says why. Returns true if the bytes of TLS connections are seen too. If
/// false, these connections are not cached. Hooks that are still installed from the last load stay.
pub fn install() -> Result<bool, String> {
    let mut installed = INSTALLED.lock().unwrap_or_else(|e| e.into_inner());
    let found: Vec<_> = hooks().into_iter().map(|hook| (got::find(hook.name), hook)).collect();
    if let Some((_, hook)) = found.iter().find(|(import, hook)| import.is_none() && hook.is_required) {
        return Err(format!("this server does not call {} through its table", hook.name.to_string_lossy()));
    }
    if found.iter().filter(|(import, hook)| import.is_some() && hook.name.to_bytes().starts_with(b"accept")).count()
        == 0
    {
        return Err("this server does not accept connections through its table".into());
    }
    let sees_tls =
        found.iter().filter(|(import, hook)| import.is_some() && hook.name.to_bytes().starts_with(b"SSL")).count() == 2;
    if !installed.is_empty() {
        return Ok(sees_tls);
    }
    for (import, hook) in found {
        let Some(import) = import else { continue };
        if !sees_tls && hook.name.to_bytes().starts_with(b"SSL") {
            continue;
        }
        if let Err(error) = installed.exchange(import, hook.function, |before| {
            hook.original.keep(got::resolved(hook.name, before));
        }) {
            put_back(&mut installed);
            return Err(format!("{}: {error}", hook.name.to_string_lossy()));
        }
    }
    Ok(sees_tls)
}

/// Removes the hooks. One that cannot be removed, because the system or another library prevents it, goes on passing bytes unchanged, and a
/// warning is logged.
pub fn remove() {
    put_back(&mut INSTALLED.lock().unwrap_or_else(|e| e.into_inner()));
}

fn put_back(installed: &mut ReplacedSlots) {
    if let Err(error) = installed.put_back() {
        log::warning(&format!("a hook could not be removed and passes bytes through unchanged: {error}"));
    }
}
