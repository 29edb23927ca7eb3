//! Hands the memory with results from the writer to a reader through a unix socket, and the reader's counters back.

use std::fs::File;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The maximum length of a clock's name in bytes.
const LONGEST: usize = 64;

/// Returns the name of the clock that leases are measured by. Processes in different time namespaces have different clocks, so leases
/// cannot be passed between them.
pub fn clock_name() -> Vec<u8> {
    let name = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    let mut name = name.into_os_string().into_encoded_bytes();
    name.truncate(LONGEST - 1);
    // A message must not be empty.
    name.push(b'.');
    name
}

fn checked(count: isize) -> io::Result<usize> {
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Room for the control message that carries one descriptor, aligned as such a message must be.
type Control = [u64; 4];

/// Calls `with` with a message that consists of these bytes and has room for a descriptor.
fn with_message<T>(bytes: &mut [u8], with: impl FnOnce(&mut libc::msghdr) -> T) -> T {
    let mut control: Control = [0; 4];
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: zeros are a valid message without parts.
    let mut message: libc::msghdr = unsafe { zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    // With room for padding, the kernel would hand over a second descriptor, which would stay open.
    // SAFETY: the macro only computes.
    let length = unsafe { libc::CMSG_LEN(size_of::<RawFd>() as u32) };
    (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), length as _);
    with(&mut message)
}

/// Sends the descriptor of a file over the connected unix socket `to`: the mapped memory, or a reader's counters. The name of the clock
/// for leases goes with it. Does not block: fails with `WouldBlock` if the socket's buffer is full.
pub fn send(to: RawFd, file: &File) -> io::Result<()> {
    with_message(&mut clock_name(), |message| {
        // SAFETY: the message has room for one header with one descriptor.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
            libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(file.as_raw_fd());
        }
        // SAFETY: the message and what it points to live until the call returns.
        checked(unsafe { libc::sendmsg(to, message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) }).map(drop)
    })
}

/// A file that was received, with the name of the sender's clock.
pub struct Received {
    pub file: File,
    clock: Vec<u8>,
}

impl Received {
    /// Returns true if sender and receiver have the same clock. Otherwise the sender's leases mean nothing here.
    pub fn is_of_this_clock(&self) -> bool {
        self.clock == clock_name()
    }
}

/// Receives over the unix socket `from` what [`send`] has sent. Waits for it only if the socket blocks; otherwise fails with
/// `WouldBlock`. Fails if the sender has closed its end, or has sent anything else.
pub fn receive(from: RawFd) -> io::Result<Received> {
    let mut name = [0; LONGEST];
    let (count, file) = with_message(&mut name, |message| {
        // SAFETY: the message and what it points to live until the call returns.
        let count = checked(unsafe { libc::recvmsg(from, message, libc::MSG_CMSG_CLOEXEC) });
        count.map(|count| (count, descriptor(message)))
    })?;
    let file = file.ok_or_else(|| io::Error::other("nothing was handed over"))?;
    Ok(Received { file, clock: name[..count].to_vec() })
}

/// Returns the file whose descriptor a received message contains. None if it contains none, or several.
fn descriptor(message: &libc::msghdr) -> Option<File> {
    // SAFETY: the kernel has filled the message in. The descriptor is new, and belongs to the returned value alone.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(message);
        let is_one = !header.is_null()
            && (*header).cmsg_level == libc::SOL_SOCKET
            && (*header).cmsg_type == libc::SCM_RIGHTS
            && (*header).cmsg_len as usize == libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize;
        is_one.then(|| File::from(OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    /// Sends one message with these descriptors.
    fn send_several(to: RawFd, files: &[RawFd]) {
        let mut control = [0_u64; 8];
        let mut byte = [1_u8];
        let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
        // SAFETY: zeros are a valid message without parts, and the room for the header is larger than the descriptors.
        unsafe {
            let mut message: libc::msghdr = zeroed();
            (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
            (message.msg_control, message.msg_controllen) =
                (control.as_mut_ptr().cast(), libc::CMSG_SPACE(size_of_val(files) as u32) as _);
            let header = libc::CMSG_FIRSTHDR(&message);
            ((*header).cmsg_level, (*header).cmsg_type) = (libc::SOL_SOCKET, libc::SCM_RIGHTS);
            (*header).cmsg_len = libc::CMSG_LEN(size_of_val(files) as u32) as _;
            libc::CMSG_DATA(header).cast::<RawFd>().copy_from(files.as_ptr(), files.len());
            assert_eq!(libc::sendmsg(to, &message, 0), 1);
        }
    }

    #[test]
    fn of_several_descriptors_one_is_taken_and_no_other_stays_open() {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        // A name that no other test's descriptors have.
        let files: Vec<_> =
            (0..3).map(|_| crate::map::create_file(c"several-descriptors", 1).expect("memory")).collect();
        let is_such = |entry: std::fs::DirEntry| {
            std::fs::read_link(entry.path()).is_ok_and(|path| path.to_string_lossy().contains("several-descriptors"))
        };
        let open = || std::fs::read_dir("/proc/self/fd").expect("descriptors").flatten();
        let count = || open().map(is_such).filter(|is_such| *is_such).count();
        for several in [2, 3] {
            let numbers: Vec<_> = files[..several].iter().map(AsRawFd::as_raw_fd).collect();
            send_several(theirs.as_raw_fd(), &numbers);
            let received = receive(ours.as_raw_fd()).expect("a file");
            assert!(!received.is_of_this_clock());
            assert_eq!(count(), files.len() + 1);
        }
        assert_eq!(count(), files.len());
    }
}
