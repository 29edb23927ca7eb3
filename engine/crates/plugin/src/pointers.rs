//! Replaces function pointers in the server's tables by the plugin's own. No code of the server is overwritten.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// A slot of a table of function pointers in the server, which may be exchanged while the server runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pointer(*mut *mut c_void);

// SAFETY: the tables live as long as the process; accesses go through an atomic.
unsafe impl Send for Pointer {}
// SAFETY: as above.
unsafe impl Sync for Pointer {}

impl Pointer {
    /// Refers to the slot at this address.
    ///
    /// # Safety
    /// `place` is an aligned pointer to a function pointer, in a table that lives as long as the process.
    pub unsafe fn at(place: *mut *mut c_void) -> Pointer {
        Pointer(place)
    }

    /// Returns the function that the slot holds now.
    pub fn current(&self) -> *mut c_void {
        // SAFETY: the guarantee of `at`.
        unsafe { AtomicPtr::from_ptr(self.0) }.load(Ordering::Acquire)
    }

    /// Replaces the function `old` by `new`. An error if the slot holds another function, or the system refuses; the slot then stays as it
    /// is.
    fn exchange(&self, old: *mut c_void, new: *mut c_void) -> std::io::Result<()> {
        let exchange = |pointer| {
            // SAFETY: every call of the server reads one whole pointer.
            let place = unsafe { AtomicPtr::from_ptr(pointer) };
            place.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire)
        };
        self.write(exchange)?.map(drop).map_err(|_| std::io::Error::other("something else has taken its place"))
    }

    /// Runs `exchange` on the slot and returns its result. The page is made writable for that time. An error if the system refuses.
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

/// A slot whose function was replaced: the plugin's function, and the server's that stood there before.
struct ReplacedSlot {
    place: Pointer,
    ours: usize,
    before: usize,
}

/// Slots of the server that hold the plugin's functions, and what is needed to restore them.
pub struct ReplacedSlots {
    placed: Vec<ReplacedSlot>,
    /// Slots that could not be restored, because another library has replaced the plugin's function and calls it.
    left: Vec<ReplacedSlot>,
}

impl ReplacedSlots {
    pub const fn none() -> ReplacedSlots {
        ReplacedSlots { placed: Vec::new(), left: Vec::new() }
    }

    /// True if no function was put in since the last `put_back`. Slots that it could not restore do not count.
    pub fn is_empty(&self) -> bool {
        self.placed.is_empty()
    }

    /// Puts the function `ours` into the slot. `keep` stores the original function before `ours` can be called. A slot that could not be
    /// restored before keeps what it has, and `keep` is not called, because the other library calls `ours`, which would otherwise end up
    /// calling itself. An error leaves the slot unchanged.
    pub fn exchange(
        &mut self,
        place: Pointer,
        ours: *mut c_void,
        keep: impl FnOnce(*mut c_void),
    ) -> std::io::Result<()> {
        let exchange = match self.left.iter().position(|left| left.place == place) {
            Some(at) => self.left.swap_remove(at),
            None => {
                let before = place.current();
                keep(before);
                place.exchange(before, ours)?;
                ReplacedSlot { place, ours: ours as usize, before: before as usize }
            }
        };
        self.placed.push(exchange);
        Ok(())
    }

    /// Restores all slots, the last one first. A thread may still be inside one of the plugin's functions, which stay valid. A slot that
    /// now holds a function of another library is left as it is. Returns the last error if there were any.
    pub fn put_back(&mut self) -> std::io::Result<()> {
        let mut outcome = Ok(());
        for exchange in self.placed.drain(..).rev() {
            let ReplacedSlot { place, ours, before } = exchange;
            if let Err(error) = place.exchange(ours as *mut c_void, before as *mut c_void) {
                outcome = Err(error);
                self.left.push(exchange);
            }
        }
        outcome
    }
}

/// True if the memory at this address is writable. A server linked with BIND_NOW has read-only tables; one with lazy binding keeps its
/// import table writable. An error if nothing is mapped there.
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

    /// Stand-ins for three functions: the server's, the plugin's and another library's.
    fn functions() -> [*mut c_void; 3] {
        [8, 16, 24].map(without_provenance_mut)
    }

    #[test]
    fn what_others_have_put_in_the_place_of_ours_stays() {
        let [before, ours, theirs] = functions();
        let mut table = [before, before];
        // SAFETY: both outlive the test's use of them.
        let [first, second] = [0, 1].map(|at| unsafe { Pointer::at((&raw mut table).cast::<*mut c_void>().add(at)) });
        let mut exchanged = ReplacedSlots::none();
        for place in [first, second] {
            exchanged.exchange(place, ours, |kept| assert_eq!(kept, before)).expect("it is writable");
        }
        first.exchange(ours, theirs).expect("ours stands there");
        assert!(exchanged.put_back().is_err());
        assert_eq!([first.current(), second.current()], [theirs, before]);
        assert!(exchanged.is_empty());
    }

    #[test]
    fn what_is_left_in_its_place_is_not_put_there_twice() {
        let [before, ours, theirs] = functions();
        let mut table = before;
        // SAFETY: the table outlives the test's use of the pointer.
        let place = unsafe { Pointer::at(&raw mut table) };
        let mut exchanged = ReplacedSlots::none();
        exchanged.exchange(place, ours, |_| ()).expect("it is writable");
        place.exchange(ours, theirs).expect("ours stands there");
        assert!(exchanged.put_back().is_err());
        exchanged.exchange(place, ours, |_| panic!("it would call itself")).expect("nothing is done");
        assert_eq!(place.current(), theirs);
        place.exchange(theirs, ours).expect("they have gone");
        exchanged.put_back().expect("ours stands there");
        assert_eq!(place.current(), before);
    }
}
