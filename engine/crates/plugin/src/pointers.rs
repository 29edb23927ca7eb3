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

    /// The error is the system's.
    pub fn swap(&self, function: *mut c_void) -> std::io::Result<*mut c_void> {
        // SAFETY: every call of the server reads one whole pointer.
        self.write(|pointer| unsafe { AtomicPtr::from_ptr(pointer) }.swap(function, Ordering::AcqRel))
    }

    /// Puts back what stood there before ours. An error if it is not ours that stands there: whoever has put another one in its
    /// place since then calls ours, so ours must stay.
    pub fn put_back(&self, ours: *mut c_void, before: *mut c_void) -> std::io::Result<()> {
        let exchange = |pointer| {
            // SAFETY: as above.
            let place = unsafe { AtomicPtr::from_ptr(pointer) };
            place.compare_exchange(ours, before, Ordering::AcqRel, Ordering::Acquire)
        };
        self.write(exchange)?.map(drop).map_err(|_| std::io::Error::other("something else has taken its place"))
    }

    /// Makes the page writable for that long.
    fn write<T>(&self, exchange: impl FnOnce(*mut *mut c_void) -> T) -> std::io::Result<T> {
        let was_writable = is_writable(self.0 as usize)?;
        let page = page_of(self.0.cast());
        if !was_writable {
            protect(page, libc::PROT_READ | libc::PROT_WRITE)?;
        }
        let exchanged = exchange(self.0);
        if !was_writable {
            protect(page, libc::PROT_READ)?;
        }
        Ok(exchanged)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::without_provenance_mut;

    #[test]
    fn what_others_have_put_in_the_place_of_ours_stays() {
        let [before, ours, theirs] = [8, 16, 24].map(without_provenance_mut::<c_void>);
        let mut table = before;
        // SAFETY: it outlives the test's use of it.
        let place = unsafe { Pointer::at(&raw mut table) };
        assert_eq!(place.swap(ours).expect("it is writable"), before);
        assert_eq!(place.swap(theirs).expect("it is writable"), ours);
        assert!(place.put_back(ours, before).is_err());
        assert_eq!(place.current(), theirs);
        place.swap(ours).expect("it is writable");
        place.put_back(ours, before).expect("ours stands there");
        assert_eq!(place.current(), before);
    }
}
