//! Runs a connection that has become a feed, over which the engine sends invalidations and leases to a near cache. Its thread moves the
//! bytes for as long as the near cache is connected.
//!
//! The server believes that it waits for the next command. A KILL or a shutdown of the server ends the feed by shutting the socket down.

use crate::engine::engine;
use feed::NearId;
use host::Io;
use std::ffi::c_int;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::Arc;
use wire::{Header, push_packet};

const BUFFER: usize = 16 * 1024;
/// The longest payload that is accepted from a near cache, in bytes.
const LONGEST: usize = 1 << 20;
/// How often the thread checks whether the near cache is still attached.
const PAUSE_MS: c_int = 500;

/// An event that the engine raises to wake the thread of a feed out of its wait.
struct WakeEvent(File);

impl WakeEvent {
    fn new() -> Option<WakeEvent> {
        // SAFETY: no pointers; the result is a new descriptor, or negative.
        let fd = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
        // SAFETY: just created, and not visible to any other thread.
        (fd >= 0).then(|| WakeEvent(unsafe { File::from_raw_fd(fd) }))
    }

    /// Resets the event, so that the next wait blocks again.
    fn reset(&self) {
        let _ = (&self.0).read(&mut [0; 8]);
    }
}

/// Runs the feed of a near cache, that is, the connection that brings it invalidations and leases, for as long as the near cache is
/// connected. Returns 0, so that the server closes the connection. `id` is none if the near cache could not attach: then returns at once.
#[cold]
#[inline(never)] // otherwise its buffer would be in the stack frame of every read
pub fn run(fd: c_int, io: &mut dyn Io, id: Option<NearId>) -> isize {
    if let Some(id) = id {
        let _end = DetachOnDrop(id);
        if let Some(wake_event) = WakeEvent::new() {
            exchange(fd, io, id, &wake_event);
        }
    }
    0
}

/// Detaches the near cache when the feed ends, also after a panic.
struct DetachOnDrop(NearId);

impl Drop for DetachOnDrop {
    fn drop(&mut self) {
        engine().detach_near(self.0);
    }
}

/// Moves frames to the near cache and messages from it, until it is detached or the connection breaks.
fn exchange(fd: c_int, io: &mut dyn Io, id: NearId, wake_event: &WakeEvent) {
    let Ok(rung) = wake_event.0.try_clone() else { return };
    engine().begin_feed(id, Arc::new(move || _ = (&rung).write(&1u64.to_ne_bytes())));
    let (mut input, mut output, mut sequence) = (Vec::new(), Vec::new(), 0);
    while engine().is_near_attached(id) {
        while output.is_empty()
            && let Some(frame) = engine().take_frame(id)
        {
            push_packet(&mut output, &mut sequence, &frame);
            if !send(io, &mut output) {
                return;
            }
        }
        let wanted = if output.is_empty() { libc::POLLIN } else { libc::POLLIN | libc::POLLOUT };
        let (ready, is_woken) = wait(fd, wanted, wake_event.0.as_raw_fd());
        if is_woken {
            wake_event.reset();
        }
        if ready & libc::POLLOUT != 0 && !send(io, &mut output) {
            return;
        }
        if ready & !libc::POLLOUT != 0 && !receive(io, id, &mut input) {
            return;
        }
    }
}

/// Sends as much of `output` as the socket takes, and removes that from it. Returns false if the socket is broken.
fn send(io: &mut dyn Io, output: &mut Vec<u8>) -> bool {
    while !output.is_empty() {
        match io.write(output) {
            count if count > 0 => _ = output.drain(..count as usize),
            0 => return false,
            _ => return may_go_on(),
        }
    }
    true
}

/// Receives what has arrived, and passes whole messages to the engine. `input` keeps the start of an incomplete one. Returns false at the
/// end of the stream, and after a message that cannot be parsed.
fn receive(io: &mut dyn Io, id: NearId, input: &mut Vec<u8>) -> bool {
    let mut buffer = [0; BUFFER];
    match io.read(&mut buffer) {
        count if count > 0 => input.extend_from_slice(&buffer[..count as usize]),
        0 => return false,
        _ => return may_go_on(),
    }
    while let Some(header) = Header::parse(input) {
        if header.length > LONGEST {
            return false;
        }
        let Some(payload) = input.get(Header::SIZE..Header::SIZE + header.length) else { return true };
        if engine().receive_from_near(id, payload).is_err() {
            return false;
        }
        input.drain(..Header::SIZE + header.length);
    }
    true
}

/// True if the call that has just failed may be repeated. A TLS library that would block leaves no error.
fn may_go_on() -> bool {
    let error = std::io::Error::last_os_error();
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted)
        || error.raw_os_error() == Some(0)
}

/// Waits for the events `wanted` of the socket `fd` or for `wake_event`, at most for `PAUSE_MS`. Returns the socket's events, and whether
/// the bell has rung.
fn wait(fd: c_int, wanted: i16, wake_event: c_int) -> (i16, bool) {
    let mut both = [
        libc::pollfd { fd, events: wanted, revents: 0 },
        libc::pollfd { fd: wake_event, events: libc::POLLIN, revents: 0 },
    ];
    // SAFETY: two descriptors, described by `both`.
    unsafe { libc::poll(both.as_mut_ptr(), 2, PAUSE_MS) };
    (both[0].revents, both[1].revents != 0)
}
