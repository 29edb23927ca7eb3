//! A sealed file in memory: its maker writes, others map it read-only.

use crate::layout::Layout;
use crate::sync::AtomicU64;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

const WORD: usize = size_of::<AtomicU64>();

/// The memory of a file, mapped into this process until this value is dropped.
pub struct Map {
    begin: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: the memory belongs to this value alone, and atomics may be used by all threads.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl AsRef<[AtomicU64]> for Map {
    fn as_ref(&self) -> &[AtomicU64] {
        // SAFETY: so many words are mapped until the value is dropped, and the file cannot shrink. Readers only load.
        unsafe { std::slice::from_raw_parts(self.begin.as_ptr(), self.words) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: this is what was mapped, and no reference to it is left.
        unsafe { libc::munmap(self.begin.as_ptr().cast(), self.words * WORD) };
    }
}

/// Returns the outcome of a system call, or the error that it has left in errno.
fn checked(outcome: i32) -> io::Result<i32> {
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(outcome) }
}

/// Maps the first `bytes` bytes of the file, with these `PROT_` flags.
fn mapped(file: &File, bytes: usize, protection: i32) -> io::Result<Map> {
    // SAFETY: no existing mapping is touched, and the descriptor is open.
    let begin = unsafe {
        libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED | libc::MAP_NORESERVE, file.as_raw_fd(), 0)
    };
    let begin = NonNull::new(begin).filter(|begin| begin.as_ptr() != libc::MAP_FAILED);
    let begin = begin.ok_or_else(io::Error::last_os_error)?;
    Ok(Map { begin: begin.cast(), words: bytes / WORD })
}

/// Creates memory for this layout, all zeros. Returns its writable mapping, and a descriptor to hand to others: they can only map it
/// read-only, and cannot resize it.
pub fn create_memory(layout: Layout) -> io::Result<(Map, File)> {
    let bytes = layout.words() * WORD;
    // SAFETY: the name ends with a zero byte.
    let file =
        checked(unsafe { libc::memfd_create(c"fqc-results".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) })?;
    // SAFETY: the descriptor was just made, and belongs to this value alone.
    let file = File::from(unsafe { OwnedFd::from_raw_fd(file) });
    file.set_len(bytes as u64)?;
    let map = mapped(&file, bytes, libc::PROT_READ | libc::PROT_WRITE)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_FUTURE_WRITE | libc::F_SEAL_SEAL;
    // SAFETY: the call takes a number.
    checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
    Ok((map, file))
}

/// Maps read-only what [`create_memory`] has created. Fails for a file that could shrink, because a read beyond its end would kill this
/// process.
pub fn map_memory(file: &File) -> io::Result<Map> {
    // SAFETY: the call takes nothing.
    let seals = checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) })?;
    if seals & libc::F_SEAL_SHRINK == 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file could shrink"));
    }
    let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    mapped(file, bytes / WORD * WORD, libc::PROT_READ)
}
