//! Hands the memory with the results to programs on this machine, which then read results from it without a request.
//!
//! Invariant: the socket's permissions decide who gets the memory. A process that has the memory can read every result in it,
//! of all accounts, and can change nothing.

use crate::config::ShareSocket;
use crate::{os, random};
use mapped::{ForeignCounts, Layout, handover};
use near_core::one_line::one_line;
use near_core::processes::{ProcessName, Processes};
use near_core::published::Published;
use near_core::say;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixListener as Listener;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

/// How long to wait until a program takes the memory that it has connected for. After that, its connection is closed.
const PATIENCE: Duration = Duration::from_secs(1);
/// The pause after an error of `accept`: an immediate retry would fail again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The time between two looks for processes that are not answered.
const LOOK: Duration = Duration::from_secs(5);
/// The maximum length of a program's name, which the system does not let become longer.
const LONGEST_NAME: usize = 16;

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

/// Hands the memory with the results to every program that connects, one after the other, and counts what those programs answer
/// themselves in `processes`. Programs beyond the number `most` get the memory, and are not counted. Never returns; the programs'
/// connections end when the returned future is dropped.
pub async fn serve(listener: UnixListener, memory: File, processes: Arc<Processes>, most: usize) {
    let mut attended = JoinSet::new();
    let mut looks = interval(LOOK);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                // Programs are served one after the other. A program that does not take the memory delays the others by at most
                // PATIENCE.
                Ok((stream, _)) => {
                    let is_handed = matches!(timeout(PATIENCE, hand(&stream, &memory)).await, Ok(Ok(())));
                    if is_handed && attended.len() < most {
                        attended.spawn(attend(stream, processes.clone()));
                    }
                }
                Err(error) => {
                    say!("the memory with results could not be handed to a program: {error}");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = attended.join_next() => {}
            _ = looks.tick() => processes.say_reasons(),
        }
    }
}

/// Sends the file descriptor of the memory to a program, as soon as its socket takes it.
async fn hand(stream: &UnixStream, memory: &File) -> io::Result<()> {
    stream.async_io(Interest::WRITABLE, || handover::send(stream.as_raw_fd(), memory)).await
}

/// Takes the counters of a program, and reports them until its connection ends: then the process has ended, or runs another program. A
/// library of an earlier version hands over none, and closes the connection.
async fn attend(stream: UnixStream, processes: Arc<Processes>) {
    let received = || stream.async_io(Interest::READABLE, || handover::receive(stream.as_raw_fd()));
    let Ok(Ok(first)) = timeout(PATIENCE, received()).await else { return };
    let Ok(counts) = ForeignCounts::new(first.file) else { return };
    let Some(_attached) = processes.attach(name_of(&stream), counts) else { return };
    // A program that sends anything else loses its connection.
    let _ = received().await;
}

/// Returns the id of the process that has connected, and the name of its program.
fn name_of(stream: &UnixStream) -> ProcessName {
    let pid = stream.peer_cred().ok().and_then(|peer| peer.pid()).and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
    let program = fs::read(format!("/proc/{pid}/comm")).unwrap_or_else(|_| b"unknown".to_vec());
    ProcessName { pid, program: one_line(String::from_utf8_lossy(&program).trim_end(), LONGEST_NAME) }
}
