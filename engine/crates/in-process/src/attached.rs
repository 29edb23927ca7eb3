//! The memory of the near cache, and how this process gets it. The application never waits for it.

use crate::lock::Lock;
use crate::real;
use mapped::{AtomicU64, Map, Reader, handing};
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

const VARIABLE: &str = "FQC_SHARE";
const USUAL: &str = "/run/fqc-near/share.sock";
/// The time between two tries. A near cache that has not answered for so long is asked again.
const PAUSE_NS: u64 = 1_000_000_000;

#[derive(Clone)]
pub struct Shared(Arc<Map>);

impl AsRef<[AtomicU64]> for Shared {
    fn as_ref(&self) -> &[AtomicU64] {
        self.0.as_ref().as_ref()
    }
}

struct Attached {
    memory: Option<Shared>,
    /// The near cache was asked, and has not answered.
    asked: Option<Asked>,
    tried_ns: u64,
}

static ATTACHED: Lock<Attached> = Lock::new(Attached { memory: None, asked: None, tried_ns: 0 });

/// The clock that leases are counted by, in nanoseconds. Without a clock no lease runs.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is valid for the call to write.
    let outcome = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    if outcome == 0 { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { u64::MAX }
}

/// Returns a reader of the near cache's memory, if this process has it.
pub fn reader() -> Option<Reader<Shared>> {
    let now = now();
    ATTACHED.with(|attached| {
        attached.renew(now);
        attached.memory.as_ref().and_then(reader_of)
    })?
}

fn reader_of(memory: &Shared) -> Option<Reader<Shared>> {
    Reader::new(memory.clone())
}

impl Attached {
    /// A memory without a lease may be that of a near cache that has ended, so another one is asked for.
    fn renew(&mut self, now: u64) {
        let reader = self.memory.as_ref().and_then(reader_of);
        if reader.is_some_and(|reader| now < reader.lease_ends()) {
            return;
        }
        match self.asked.as_ref().map(Asked::answer) {
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Some(answer) => {
                self.asked = None;
                self.memory = answer.ok().and_then(mapped).or(self.memory.take());
            }
            None => {}
        }
        if self.tried_ns == 0 || now.saturating_sub(self.tried_ns) > PAUSE_NS {
            self.tried_ns = now;
            self.asked = ask();
        }
    }
}

/// A socket that the memory comes by. The application does not know of it, and may have closed it with all that it does not know of.
struct Asked {
    socket: ManuallyDrop<OwnedFd>,
    inode: u64,
}

impl Asked {
    /// Returns none if the call fails.
    fn inode(socket: RawFd) -> Option<u64> {
        // SAFETY: zeros are valid, and the structure is valid for the call to write.
        unsafe {
            let mut found: libc::stat = std::mem::zeroed();
            (libc::fstat(socket, &raw mut found) == 0).then_some(found.st_ino)
        }
    }

    fn is_there(&self) -> bool {
        Asked::inode(self.socket.as_raw_fd()) == Some(self.inode)
    }

    fn answer(&self) -> io::Result<File> {
        if self.is_there() { handing::receive(self.socket.as_raw_fd()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if self.is_there() {
            // SAFETY: it is not used any more.
            unsafe { ManuallyDrop::drop(&mut self.socket) };
        }
    }
}

fn mapped(file: File) -> Option<Shared> {
    mapped::map(&file).ok().map(|map| Shared(Arc::new(map)))
}

fn ask() -> Option<Asked> {
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
    let inode = Asked::inode(socket.as_raw_fd()).filter(|_| outcome == 0)?;
    Some(Asked { socket: ManuallyDrop::new(socket), inode })
}

pub fn forked() {
    ATTACHED.force_open();
}
