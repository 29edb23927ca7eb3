//! The memory that the near cache (`fqc-near`) fills with results, and how this process gets it. The application never waits for it.

use crate::lock::Lock;
use crate::real;
use mapped::{AtomicU64, Map, Reader, handover};
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// The environment variable with the path of the near cache's unix socket.
const VARIABLE: &str = "FQC_SHARE";
/// The path of the socket if the variable is not set.
const USUAL: &str = "/run/fqc-near/share.sock";
/// The time in nanoseconds between two tries. A near cache that has not answered for so long is asked again.
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
    /// The memory that was received last.
    memory: Option<MappedMemory>,
    /// The request for the memory that the near cache has not answered yet.
    request: Option<MemoryRequest>,
    /// The time of the last request. Zero: there was none.
    requested_ns: u64,
}

static ATTACHMENT: Lock<Attachment> = Lock::new(Attachment { memory: None, request: None, requested_ns: 0 });

/// Returns the time in nanoseconds by the clock that leases are measured by. Without that clock it is `u64::MAX`, so that no lease is in
/// force.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is valid for the call to write.
    let outcome = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    if outcome == 0 { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { u64::MAX }
}

/// Returns a reader of the near cache's memory. None if this process does not have the memory yet. It is then requested, once a second at
/// most, so a later call may succeed. Does not wait.
pub fn reader() -> Option<Reader<MappedMemory>> {
    let now = now();
    ATTACHMENT.with(|attachment| {
        attachment.renew(now);
        attachment.memory.as_ref().and_then(reader_of)
    })?
}

fn reader_of(memory: &MappedMemory) -> Option<Reader<MappedMemory>> {
    Reader::new(memory.clone())
}

impl Attachment {
    /// Receives the memory if it has arrived, and requests it if it is missing. A memory without a lease may be that of a near cache that
    /// has ended, so another one is requested then.
    fn renew(&mut self, now: u64) {
        let reader = self.memory.as_ref().and_then(reader_of);
        if reader.is_some_and(|reader| now < reader.lease_ends()) {
            return;
        }
        match self.request.as_ref().map(MemoryRequest::answer) {
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Some(answer) => {
                self.request = None;
                self.memory = answer.ok().and_then(mapped).or(self.memory.take());
            }
            None => {}
        }
        if self.requested_ns == 0 || now.saturating_sub(self.requested_ns) > PAUSE_NS {
            self.requested_ns = now;
            self.request = request_memory();
        }
    }
}

/// A socket over which the near cache will send its memory. The application does not know of the socket, and may close it together with
/// other descriptors that it does not know of.
struct MemoryRequest {
    socket: ManuallyDrop<OwnedFd>,
    /// The inode of the socket. A descriptor that was closed and used again has another one.
    inode: u64,
}

impl MemoryRequest {
    /// Returns the inode of a descriptor. None if it is closed.
    fn inode(socket: RawFd) -> Option<u64> {
        // SAFETY: zeros are valid, and the structure is valid for the call to write.
        unsafe {
            let mut found: libc::stat = std::mem::zeroed();
            (libc::fstat(socket, &raw mut found) == 0).then_some(found.st_ino)
        }
    }

    /// Returns true if the descriptor still belongs to the socket.
    fn is_open(&self) -> bool {
        MemoryRequest::inode(self.socket.as_raw_fd()) == Some(self.inode)
    }

    /// Returns the file that the near cache has sent. Fails with `WouldBlock` if it has not arrived, and otherwise if it never will.
    fn answer(&self) -> io::Result<File> {
        if self.is_open() { handover::receive(self.socket.as_raw_fd()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

impl Drop for MemoryRequest {
    fn drop(&mut self) {
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

/// Connects to the near cache, which then sends its memory. None if there is no near cache at the socket's path.
fn request_memory() -> Option<MemoryRequest> {
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
    let inode = MemoryRequest::inode(socket.as_raw_fd()).filter(|_| outcome == 0)?;
    Some(MemoryRequest { socket: ManuallyDrop::new(socket), inode })
}

/// Must be called in a process that was just forked. The memory stays mapped there.
pub fn after_fork() {
    ATTACHMENT.force_open();
}
