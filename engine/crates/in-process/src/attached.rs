//! The memory that the near cache (`fqc-near`) fills with results, and how this process gets it; the counters that the near cache gets in
//! return. The application never waits for that.

use crate::connection::{Attached, Counter};
use crate::lock::Lock;
use crate::real;
use mapped::handover::{self, Received};
use mapped::{AtomicU64, Map, Outcome, ProcessCounts, Reader};
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// The environment variable with the path of the near cache's unix socket.
const VARIABLE: &str = "FQC_SHARE";
/// The path of the socket if the variable is not set.
const USUAL: &str = "/run/fqc-near/share.sock";
/// The time in nanoseconds between two tries to connect to a near cache.
const PAUSE_NS: u64 = 1_000_000_000;

/// The near cache's memory, mapped into this process. Clones share the mapping.
#[derive(Clone)]
pub struct MappedMemory(Arc<Map>);

impl AsRef<[AtomicU64]> for MappedMemory {
    fn as_ref(&self) -> &[AtomicU64] {
        self.0.as_ref().as_ref()
    }
}

/// The state of this process's attachment to a near cache.
struct Attachment {
    /// The id of the process that this describes. A child that was forked has another one.
    process: i32,
    /// The memory that was received last, or the reason why it cannot be read.
    memory: Result<MappedMemory, Outcome>,
    /// The counters that the near cache was handed last. None if there are none yet, or they could not be made.
    counts: Option<Arc<ProcessCounts>>,
    /// The connection to the near cache.
    near: Option<NearConnection>,
    /// The time of the last request. Zero: there was none.
    requested_ns: u64,
}

static ATTACHMENT: Lock<Attachment> =
    Lock::new(Attachment { process: 0, memory: Err(Outcome::NoMemory), counts: None, near: None, requested_ns: 0 });

/// Returns the time in nanoseconds by the clock that leases are measured by. Without that clock it is `u64::MAX`, so that no lease is in
/// force.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is valid for the call to write.
    let outcome = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    if outcome == 0 { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { u64::MAX }
}

/// Returns a reader of the near cache's memory, or the reason why there is none, and a counter with which a connection
/// reports its hits and outcomes to the near cache. If this process does not have the memory yet, it is requested, once
/// a second at most, so a later call may succeed. Does not wait.
pub fn attach() -> Attached<MappedMemory> {
    let now = now();
    let attached = ATTACHMENT.with(|attachment| {
        attachment.renew(now);
        let counter = attachment.counts.as_ref().map(Counter::new).unwrap_or_default();
        Attached { reader: attachment.reader(), counter }
    });
    attached.unwrap_or_else(|| Attached { reader: Err(Outcome::NoMemory), counter: Counter::default() })
}

/// Counts something that has happened to a connection, and connects to the near cache if this process has not done that.
pub fn count(outcome: Outcome) {
    attach().counter.count(outcome);
}

impl Attachment {
    /// Returns a reader of the memory, or the reason why there is none.
    fn reader(&self) -> Result<Reader<MappedMemory>, Outcome> {
        let memory = self.memory.as_ref().map_err(|outcome| *outcome)?;
        Reader::new(memory.clone()).ok_or(Outcome::OtherVersion)
    }

    /// Receives the memory if it has arrived, and requests it if it is missing. A memory without a lease may be that of a near cache that
    /// has ended, so another one is requested once its connection has ended, too.
    fn renew(&mut self, now: u64) {
        // SAFETY: getpid has no preconditions.
        let process = unsafe { libc::getpid() };
        if self.process != process {
            // The counters and the connection are those of the process that has forked this one.
            (self.process, self.counts, self.near, self.requested_ns) = (process, None, None, 0);
        }
        let has_lease = self.reader().is_ok_and(|reader| now < reader.lease_ends());
        if has_lease && self.counts.is_some() {
            return;
        }
        match self.near.as_ref().map(NearConnection::answer) {
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Some(Ok(received)) if received.is_of_this_clock() => {
                self.memory = mapped(received.file).ok_or(Outcome::OtherVersion);
            }
            Some(Ok(_)) => self.memory = Err(Outcome::OtherClock),
            Some(Err(_)) => self.near = None,
            None => {}
        }
        let is_due = self.requested_ns == 0 || now.saturating_sub(self.requested_ns) > PAUSE_NS;
        if self.near.is_none() && is_due {
            self.requested_ns = now;
            self.request();
        }
    }

    /// Connects to the near cache, which then sends its memory, and hands it new counters. Does nothing if there is no near cache at the
    /// socket's path.
    fn request(&mut self) {
        let Some(near) = connect() else { return };
        // Without counters, reads are answered all the same.
        if let Ok((counts, file)) = ProcessCounts::create()
            && handover::send(near.socket.as_raw_fd(), &file).is_ok()
        {
            self.counts = Some(Arc::new(counts));
        }
        CONNECTED.store(near.socket.as_raw_fd(), Ordering::Relaxed);
        self.near = Some(near);
    }
}

/// The descriptor of the last [`NearConnection`]. A child that was forked closes it. -1: there is none.
static CONNECTED: AtomicI32 = AtomicI32::new(-1);
/// The inode of its socket.
static CONNECTED_INODE: AtomicU64 = AtomicU64::new(0);

/// A connection to the near cache, over which it sends its memory. It stays open afterwards: the near cache counts this process's reads
/// until the connection ends. The application does not know of the socket, and may close it together with other descriptors that it does
/// not know of.
struct NearConnection {
    socket: ManuallyDrop<OwnedFd>,
    /// The inode of the socket. A descriptor that was closed and used again has another one.
    inode: u64,
}

/// Returns the inode of a socket. None if the descriptor is closed, or is another kind of file.
fn inode_of(socket: RawFd) -> Option<u64> {
    // SAFETY: zeros are valid, and the structure is valid for the call to write.
    unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        let is_socket = libc::fstat(socket, &raw mut found) == 0 && found.st_mode & libc::S_IFMT == libc::S_IFSOCK;
        is_socket.then_some(found.st_ino)
    }
}

impl NearConnection {
    /// Returns true if the descriptor still belongs to the socket.
    fn is_open(&self) -> bool {
        inode_of(self.socket.as_raw_fd()) == Some(self.inode)
    }

    /// Returns the file that the near cache has sent. Fails with `WouldBlock` if nothing has arrived, and otherwise if nothing ever will.
    fn answer(&self) -> io::Result<Received> {
        if self.is_open() { handover::receive(self.socket.as_raw_fd()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

impl Drop for NearConnection {
    fn drop(&mut self) {
        CONNECTED.store(-1, Ordering::Relaxed);
        if self.is_open() {
            // SAFETY: it is not used any more.
            unsafe { ManuallyDrop::drop(&mut self.socket) };
        }
    }
}

/// Maps a file that was received. None if it is not one that a near cache has made.
fn mapped(file: File) -> Option<MappedMemory> {
    mapped::map_memory(&file).ok().map(|map| MappedMemory(Arc::new(map)))
}

/// Connects to the near cache. None if there is none at the socket's path, or if this process may not connect to it.
fn connect() -> Option<NearConnection> {
    let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).unwrap_or_else(|| USUAL.into());
    // SAFETY: zeros are an address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as _;
    let bytes = path.as_bytes();
    if bytes.len() >= address.sun_path.len() {
        return None;
    }
    address.sun_path.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte as _);
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the call takes numbers.
    let socket = unsafe { real::socket(libc::AF_UNIX, kind, 0) };
    // SAFETY: the descriptor is new, and belongs to this value alone.
    let socket = (socket >= 0).then(|| unsafe { OwnedFd::from_raw_fd(socket) })?;
    let length = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is valid for the call to read.
    let outcome = unsafe { real::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
    let inode = inode_of(socket.as_raw_fd()).filter(|_| outcome == 0)?;
    CONNECTED_INODE.store(inode, Ordering::Relaxed);
    Some(NearConnection { socket: ManuallyDrop::new(socket), inode })
}

/// Closes a forked process's copy of the connection to the near cache, because the near cache takes the connection's
/// end for the end of the parent. Must be called in the child right after the fork. The memory stays mapped there. The
/// system is called directly: little else may be done here.
pub fn after_fork() {
    ATTACHMENT.force_open();
    let socket = CONNECTED.swap(-1, Ordering::Relaxed);
    if socket >= 0 && inode_of(socket) == Some(CONNECTED_INODE.load(Ordering::Relaxed)) {
        // SAFETY: the descriptor is that of the socket, and this process does not use it: see `Attachment::renew`.
        unsafe { libc::syscall(libc::SYS_close, socket) };
    }
}
