//! Hands the memory with the results to programs on this machine, which then read results from it without a request.
//!
//! Invariant: the socket's permissions decide who gets the memory. A process that has the memory can read every result in it,
//! of all accounts, and can change nothing.

use crate::config::ShareSocket;
use crate::{os, random};
use mapped::{Layout, handover};
use near_core::published::Published;
use near_core::say;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixListener as Listener;
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{sleep, timeout};

/// How long to wait until a program takes the memory that it has connected for. After that, its connection is closed.
const PATIENCE: Duration = Duration::from_secs(1);
/// The pause after an error of `accept`: an immediate retry would fail again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Makes memory for `size` bytes of results that other processes may read. Returns the side that writes to it, and the file that others map
/// read-only; see [`serve`].
pub fn create_memory(size: u64) -> io::Result<(Published, File)> {
    let layout = Layout::for_results(size);
    let (map, file) = mapped::create_memory(layout)?;
    let seed = u64::from_le_bytes(random::bytes()?);
    let published = Published::new(map, layout, seed).ok_or_else(|| io::Error::other("the memory is too small"))?;
    Ok((published, file))
}

/// Listens on the socket with the configured permissions and group. Fails if a file exists at the path.
pub fn listen(share: &ShareSocket) -> io::Result<UnixListener> {
    let listener = os::with_private_umask(|| Listener::bind(&share.path))?;
    if share.group.is_some() {
        chown(&share.path, None, share.group)?;
    }
    fs::set_permissions(&share.path, fs::Permissions::from_mode(share.mode))?;
    listener.set_nonblocking(true)?;
    UnixListener::from_std(listener)
}

/// Hands the memory with the results to every program that connects, one after the other. Never returns.
pub async fn serve(listener: UnixListener, memory: File) {
    loop {
        match listener.accept().await {
            // Programs are served one after the other. A program that does not take the memory delays the others by at most PATIENCE.
            Ok((stream, _)) => _ = timeout(PATIENCE, hand(&stream, &memory)).await,
            Err(error) => {
                say!("the memory with results could not be handed to a program: {error}");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Sends the file descriptor of the memory to a program, as soon as its socket takes it.
async fn hand(stream: &UnixStream, memory: &File) -> io::Result<()> {
    stream.async_io(Interest::WRITABLE, || handover::send(stream.as_raw_fd(), memory)).await
}
