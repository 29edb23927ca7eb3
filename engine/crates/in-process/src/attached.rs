//! The memory of the near cache, and how this process gets it.

use crate::lock::Lock;
use mapped::{AtomicU64, Map, Reader, handing};
use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

const VARIABLE: &str = "FQC_SHARE";
const USUAL: &str = "/run/fqc-near/share.sock";
/// Between two tries.
const PAUSE_NS: u64 = 1_000_000_000;
/// A near cache that is stopped holds the application up for so long, once in each pause.
const PATIENCE: Duration = Duration::from_millis(100);

#[derive(Clone)]
pub struct Shared(Arc<Map>);

impl AsRef<[AtomicU64]> for Shared {
    fn as_ref(&self) -> &[AtomicU64] {
        self.0.as_ref().as_ref()
    }
}

struct Attached {
    memory: Option<Shared>,
    tried_ns: u64,
}

static ATTACHED: Lock<Attached> = Lock::new(Attached { memory: None, tried_ns: 0 });

/// The clock that leases are counted by, in nanoseconds. Without a clock no lease runs.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is valid for the call to write.
    let outcome = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    if outcome == 0 { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { u64::MAX }
}

/// Returns a reader of the near cache's memory, for a connection that has just logged in. A memory without a lease may be that of a
/// near cache that has ended, so another is asked for.
pub fn reader() -> Option<Reader<Shared>> {
    let now = now();
    let of = |memory: &Shared| Reader::new(memory.clone());
    ATTACHED.with(|attached| {
        let known = attached.memory.as_ref().and_then(of);
        let is_alive = known.as_ref().is_some_and(|reader| now < reader.lease_ends());
        if !is_alive && (attached.tried_ns == 0 || now.saturating_sub(attached.tried_ns) > PAUSE_NS) {
            attached.tried_ns = now;
            attached.memory = ask();
        }
        attached.memory.as_ref().and_then(of)
    })?
}

fn ask() -> Option<Shared> {
    let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).unwrap_or_else(|| OsString::from(USUAL));
    let stream = UnixStream::connect(path).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let file = handing::receive(stream.as_raw_fd()).ok()?;
    mapped::map(&file).ok().map(|map| Shared(Arc::new(map)))
}

pub fn forked() {
    ATTACHED.force_open();
}
