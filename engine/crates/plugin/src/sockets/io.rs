//! The server's original calls on a connection, plain or inside TLS, as they were before the hooks. A call from here does not run a hook.

use crate::exports::symbol;
use host::Io;
use std::ffi::{c_int, c_void};
use std::io::IoSlice;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

type Recv = unsafe extern "C" fn(c_int, *mut c_void, usize, c_int) -> isize;
type Send = unsafe extern "C" fn(c_int, *const c_void, usize, c_int) -> isize;
type Close = unsafe extern "C" fn(c_int) -> c_int;
type Accept = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) -> c_int;
type Accept4 = unsafe extern "C" fn(c_int, *mut c_void, *mut c_void, c_int) -> c_int;
type SslRead = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int;
type SslWrite = unsafe extern "C" fn(*mut c_void, *const c_void, c_int) -> c_int;

/// A function as the server's table held it before the hook was put there.
pub struct Original(AtomicPtr<c_void>);

impl Original {
    const fn none() -> Original {
        Original(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// Stores the function. Call before the hook is reachable. A later call replaces it.
    pub fn keep(&self, function: *mut c_void) {
        self.0.store(function, Ordering::Release);
    }

    fn get(&self) -> *mut c_void {
        self.0.load(Ordering::Acquire)
    }
}

pub static RECV: Original = Original::none();
pub static SEND: Original = Original::none();
pub static CLOSE: Original = Original::none();
pub static ACCEPT: Original = Original::none();
pub static ACCEPT4: Original = Original::none();
pub static SSL_READ: Original = Original::none();
pub static SSL_WRITE: Original = Original::none();

macro_rules! call {
    ($original:ident as $kind:ty, $($argument:expr),*) => {{
        // SAFETY: `keep` stored the address that the server's table held for this function; a hook only runs after that.
        let function = unsafe { std::mem::transmute::<*mut c_void, $kind>($original.get()) };
        // SAFETY: the arguments are those of the server, or describe buffers of this library.
        unsafe { function($($argument),*) }
    }};
}

pub fn close(fd: c_int) -> c_int {
    call!(CLOSE as Close, fd)
}

pub fn accept(fd: c_int, address: *mut c_void, length: *mut c_void) -> c_int {
    call!(ACCEPT as Accept, fd, address, length)
}

pub fn accept4(fd: c_int, address: *mut c_void, length: *mut c_void, flags: c_int) -> c_int {
    call!(ACCEPT4 as Accept4, fd, address, length, flags)
}

pub fn recv(fd: c_int, buffer: *mut c_void, length: usize, flags: c_int) -> isize {
    call!(RECV as Recv, fd, buffer, length, flags)
}

pub fn send(fd: c_int, buffer: *const c_void, length: usize, flags: c_int) -> isize {
    call!(SEND as Send, fd, buffer, length, flags)
}

pub fn ssl_read(ssl: *mut c_void, buffer: *mut c_void, length: c_int) -> c_int {
    call!(SSL_READ as SslRead, ssl, buffer, length)
}

pub fn ssl_write(ssl: *mut c_void, buffer: *const c_void, length: c_int) -> c_int {
    call!(SSL_WRITE as SslWrite, ssl, buffer, length)
}

/// A connection without TLS: its socket, and the flags that the server passed to its call.
pub struct PlainConnection {
    pub fd: c_int,
    pub flags: c_int,
}

impl Io for PlainConnection {
    fn read(&mut self, buffer: &mut [u8]) -> isize {
        recv(self.fd, buffer.as_mut_ptr().cast(), buffer.len(), self.flags)
    }

    fn peek(&mut self, buffer: &mut [u8]) -> isize {
        recv(self.fd, buffer.as_mut_ptr().cast(), buffer.len(), self.flags | libc::MSG_PEEK)
    }

    fn write(&mut self, bytes: &[u8]) -> isize {
        send(self.fd, bytes.as_ptr().cast(), bytes.len(), self.flags)
    }

    fn try_write(&mut self, pieces: &[&[u8]]) -> usize {
        const QUIET: c_int = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        if let [bytes] = pieces {
            return send(self.fd, bytes.as_ptr().cast(), bytes.len(), QUIET).max(0) as usize;
        }
        let slices: Vec<IoSlice> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        // SAFETY: all-zero is a valid message header; `IoSlice` has the layout of an iovec.
        unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = slices.as_ptr().cast_mut().cast();
            message.msg_iovlen = slices.len();
            libc::sendmsg(self.fd, &message, QUIET).max(0) as usize
        }
    }

    fn learn_to_wait(&mut self) -> bool {
        self.flags & libc::MSG_DONTWAIT != 0 && wait_in_reads(self.fd)
    }

    fn read_patiently(&mut self, buffer: &mut [u8]) -> isize {
        let count = recv(self.fd, buffer.as_mut_ptr().cast(), buffer.len(), self.flags & !libc::MSG_DONTWAIT);
        if count < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
            nothing_has_come();
        }
        count
    }

    fn would_block(&mut self) -> bool {
        if self.flags & libc::MSG_DONTWAIT == 0 {
            return false;
        }
        nothing_has_come();
        true
    }

    fn wait_writable(&mut self, timeout_ms: c_int) -> bool {
        wait(self.fd, libc::POLLOUT, timeout_ms)
    }
}

/// A connection inside TLS: the TLS library's handle of it, and its socket.
pub struct Tls {
    pub ssl: *mut c_void,
    pub fd: c_int,
}

impl Io for Tls {
    fn read(&mut self, buffer: &mut [u8]) -> isize {
        ssl_read(self.ssl, buffer.as_mut_ptr().cast(), buffer.len().min(c_int::MAX as usize) as c_int) as isize
    }

    fn peek(&mut self, buffer: &mut [u8]) -> isize {
        static PEEK: OnceLock<Option<SslRead>> = OnceLock::new();
        let peek = PEEK.get_or_init(|| {
            // SAFETY: the TLS library's public function of this name has the signature of SSL_read.
            let cast = |symbol| unsafe { std::mem::transmute::<*mut c_void, SslRead>(symbol) };
            symbol(c"SSL_peek").ok().map(cast)
        });
        let length = buffer.len().min(c_int::MAX as usize) as c_int;
        // SAFETY: the server's TLS connection, and a buffer of this library.
        peek.map_or(-1, |peek| unsafe { peek(self.ssl, buffer.as_mut_ptr().cast(), length) } as isize)
    }

    fn write(&mut self, bytes: &[u8]) -> isize {
        ssl_write(self.ssl, bytes.as_ptr().cast(), bytes.len().min(c_int::MAX as usize) as c_int) as isize
    }

    /// Sends nothing and returns 0, so that the caller sends everything with `write`, which blocks, in one piece: TLS
    /// requires a retried write to pass the same bytes.
    fn try_write(&mut self, _: &[&[u8]]) -> usize {
        0
    }

    /// Returns false: reads of a TLS connection must not wait for a moment, because the TLS library may read more often
    /// than its caller does.
    fn learn_to_wait(&mut self) -> bool {
        false
    }

    fn read_patiently(&mut self, buffer: &mut [u8]) -> isize {
        self.read(buffer)
    }

    fn would_block(&mut self) -> bool {
        false
    }

    fn wait_writable(&mut self, timeout_ms: c_int) -> bool {
        // A renegotiation may need to read. Either direction ends the wait, and the write is tried again.
        wait(self.fd, libc::POLLOUT, timeout_ms)
    }
}

/// Returns the socket of a TLS connection, -1 if the TLS library does not tell.
pub fn descriptor_of(ssl: *mut c_void) -> c_int {
    type SslGetFd = unsafe extern "C" fn(*const c_void) -> c_int;
    static GET_FD: OnceLock<Option<SslGetFd>> = OnceLock::new();
    let function = GET_FD.get_or_init(|| {
        // SAFETY: the TLS library's public function of this name has this signature.
        symbol(c"SSL_get_fd").ok().map(|symbol| unsafe { std::mem::transmute::<*mut c_void, SslGetFd>(symbol) })
    });
    // SAFETY: the server passes its TLS connection.
    function.map_or(-1, |function| unsafe { function(ssl) })
}

/// The longest time that `read_patiently` blocks if nothing has arrived.
const MOMENT: Duration = Duration::from_millis(50);

/// Makes reads of the socket block for up to `MOMENT`. The server's own reads pass MSG_DONTWAIT, so they still do not wait. False if the
/// system refused.
fn wait_in_reads(fd: c_int) -> bool {
    let moment = libc::timeval { tv_sec: 0, tv_usec: MOMENT.as_micros() as libc::suseconds_t };
    let length = size_of::<libc::timeval>() as libc::socklen_t;
    // SAFETY: a descriptor of a connection that the server has open, and an option's value with its size.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        flags >= 0
            && libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVTIMEO, (&raw const moment).cast(), length) == 0
            && libc::fcntl(fd, libc::F_SETFL, flags & !libc::O_NONBLOCK) == 0
    }
}

/// Sets errno as a read does that would block.
fn nothing_has_come() {
    // SAFETY: the thread's own errno.
    unsafe { *libc::__errno_location() = libc::EAGAIN };
}

/// True if this is a socket that accepts connections. False for any other descriptor, also a closed one.
pub fn is_listening(fd: c_int) -> bool {
    let (mut is_listening, mut length) = (0 as c_int, size_of::<c_int>() as libc::socklen_t);
    // SAFETY: an integer and its size, as this option requires; descriptors other than sockets give an error.
    let asked = unsafe {
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN, (&raw mut is_listening).cast(), &mut length)
    };
    asked == 0 && is_listening != 0
}

/// Returns the local port of a TCP socket, 0 for a socket that is bound to a path, none for any other descriptor.
pub fn own_port(fd: c_int) -> Option<u16> {
    // SAFETY: all-zero is a valid address of no family.
    let mut address: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: a buffer and its length.
    if unsafe { libc::getsockname(fd, (&raw mut address).cast(), &mut length) } != 0 {
        return None;
    }
    match c_int::from(address.ss_family) {
        // SAFETY: the family says which type the address has.
        libc::AF_INET => Some(u16::from_be(unsafe { &*(&raw const address).cast::<libc::sockaddr_in>() }.sin_port)),
        // SAFETY: as above.
        libc::AF_INET6 => Some(u16::from_be(unsafe { &*(&raw const address).cast::<libc::sockaddr_in6>() }.sin6_port)),
        libc::AF_UNIX if length as usize > size_of::<libc::sa_family_t>() => Some(0),
        _ => None,
    }
}

/// Waits until one of `events` is there. False after `timeout_ms` milliseconds, or if the call fails.
fn wait(fd: c_int, events: i16, timeout_ms: c_int) -> bool {
    let mut poll = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one descriptor, described by `poll`.
    unsafe { libc::poll(&mut poll, 1, timeout_ms) > 0 }
}
