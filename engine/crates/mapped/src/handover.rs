//! Hands the memory from the writer to a reader through a unix socket.

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
    // SAFETY: the macro only computes.
    let length = unsafe { libc::CMSG_SPACE(size_of::<RawFd>() as u32) };
    (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), length as _);
    with(&mut message)
}

/// Sends the descriptor of the mapped memory over the connected unix socket `to`, and the name of the clock for its leases. Does not
/// block: fails with `WouldBlock` if the socket's buffer is full.
pub fn send(to: RawFd, memory: &File) -> io::Result<()> {
    with_message(&mut clock_name(), |message| {
        // SAFETY: the message has room for one header with one descriptor.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
            libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(memory.as_raw_fd());
        }
        // SAFETY: the message and what it points to live until the call returns.
        checked(unsafe { libc::sendmsg(to, message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) }).map(drop)
    })
}

/// Receives over the unix socket `from` what [`send`] has sent. Waits for it only if the socket blocks; otherwise fails with
/// `WouldBlock`. Fails if the sender's clock is another one, since leases would then mean nothing here.
pub fn receive(from: RawFd) -> io::Result<File> {
    let mut name = [0; LONGEST];
    let (count, file) = with_message(&mut name, |message| {
        // SAFETY: the message and what it points to live until the call returns.
        let count = checked(unsafe { libc::recvmsg(from, message, libc::MSG_CMSG_CLOEXEC) });
        count.map(|count| (count, descriptor(message)))
    })?;
    let file = file.ok_or_else(|| io::Error::other("no memory was handed over"))?;
    if name[..count] != clock_name()[..] {
        return Err(io::Error::other("the clock is another one"));
    }
    Ok(file)
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
