//! Pointers to functions in the server's tables, which the plugin exchanges for its own: nothing in the server's code is overwritten.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

#[derive(Clone, Copy, Debug)]
pub struct Pointer(*mut *mut c_void);

// SAFETY: the tables live as long as the process; accesses go through an atomic.
unsafe impl Send for Pointer {}
// SAFETY: as above.
unsafe impl Sync for Pointer {}

impl Pointer {
    /// # Safety
    /// There is an aligned pointer to a function, in a table that lives as long as the process.
    pub unsafe fn at(place: *mut *mut c_void) -> Pointer {
        Pointer(place)
    }

    pub fn current(&self) -> *mut c_void {
        // SAFETY: the promise of `at`.
        unsafe { AtomicPtr::from_ptr(self.0) }.load(Ordering::Acquire)
    }

    /// Makes the page writable, exchanges the pointer, and puts the protection back; the error is the system's.
    pub fn swap(&self, function: *mut c_void) -> std::io::Result<*mut c_void> {
        let was_writable = is_writable(self.0 as usize)?;
        let page = page_of(self.0.cast());
        if !was_writable {
            protect(page, libc::PROT_READ | libc::PROT_WRITE)?;
        }
        // SAFETY: the page is writable now; every call of the server reads one whole pointer.
        let old = unsafe { AtomicPtr::from_ptr(self.0) }.swap(function, Ordering::AcqRel);
        if !was_writable {
            protect(page, libc::PROT_READ)?;
        }
        Ok(old)
    }
}

/// A server linked with BIND_NOW has its tables read-only; one with lazy binding must keep that of its imports writable.
fn is_writable(address: usize) -> std::io::Result<bool> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let covers = |line: &&str| {
        let (start, end) = line.split(' ').next().and_then(|range| range.split_once('-')).unwrap_or(("0", "0"));
        let hex = |text| usize::from_str_radix(text, 16).unwrap_or(0);
        (hex(start)..hex(end)).contains(&address)
    };
    let line = maps.lines().find(covers).ok_or_else(|| std::io::Error::other("the table is not mapped"))?;
    Ok(line.split(' ').nth(1).is_some_and(|rights| rights.starts_with("rw")))
}

fn page_of(address: *mut c_void) -> *mut c_void {
    // SAFETY: no memory is involved.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    (address as usize & !(size - 1)) as *mut c_void
}

fn protect(page: *mut c_void, protection: c_int) -> std::io::Result<()> {
    // SAFETY: the page holds a mapped table of the main executable; one page covers an aligned pointer.
    let failed = unsafe { libc::mprotect(page, size_of::<*mut c_void>(), protection) } != 0;
    if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}
