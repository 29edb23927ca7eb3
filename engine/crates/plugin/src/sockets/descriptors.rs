//! The followed connections by file descriptor.
//!
//! A `Descriptor` is created once for each number that a connection ever had, and never freed, so a stale reference never dangles. Its
//! content belongs to the thread that has taken it: the server uses a connection from one thread at a time. In a product in which
//! another thread may close it at any moment (`Server::session_here`), that thread waits, so that the number is not reused while the
//! connection is in use. In the other, a second thread finds the descriptor taken and passes the bytes unseen. A visitor, which only
//! examines the connection, is always waited for, because a thread that went ahead would lose the bytes that were read ahead.

use crate::server;
use host::Connection;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const NOBODY: u8 = 0;
const OWNER: u8 = 1;
const VISITOR: u8 = 2;

/// The state for one file descriptor number: who uses it, and the connection that has it now. It is never freed.
pub struct Descriptor {
    /// The thread that has taken the descriptor: none, the one that works for the connection, or a visitor that only examines it.
    holder: AtomicU8,
    /// The server's thread id of the session, 0 before it is authenticated.
    pub thread_id: AtomicU64,
    /// Identifies the connection among those that had this descriptor number: each new one increments it.
    turn: AtomicU64,
    /// The number of the load of the plugin (see `engine::load_number`) in which the connection was accepted.
    pub load: AtomicU64,
    /// The number of the load in which the server has first reported a connection of an earlier load under this descriptor; 0 if none.
    pub heard: AtomicU64,
    connection: UnsafeCell<Option<Connection>>,
}

// SAFETY: `connection` is only reached through `DescriptorGuard`, and `holder` allows one of these at a time.
unsafe impl Sync for Descriptor {}

const DESCRIPTORS: usize = 1 << 20;

/// The descriptors by their number. All null at first, so the table takes no memory before it is used.
static TABLE: [AtomicPtr<Descriptor>; DESCRIPTORS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; DESCRIPTORS];

/// Returns the descriptor with this number, none if no connection ever had it. It may hold no connection now.
#[inline]
pub fn get(fd: c_int) -> Option<&'static Descriptor> {
    let pointer = TABLE.get(usize::try_from(fd).ok()?)?.load(Ordering::Acquire);
    // SAFETY: null, or a leaked descriptor published with Release in `get_or_create`.
    unsafe { pointer.as_ref() }
}

/// Returns the descriptor with this number, and creates it if there is none. None if the number is negative or too large.
pub fn get_or_create(fd: c_int) -> Option<&'static Descriptor> {
    let place = usize::try_from(fd).ok().and_then(|fd| TABLE.get(fd))?;
    if place.load(Ordering::Acquire).is_null() {
        let descriptor = Box::into_raw(Box::new(Descriptor {
            holder: AtomicU8::new(NOBODY),
            thread_id: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            load: AtomicU64::new(0),
            heard: AtomicU64::new(0),
            connection: UnsafeCell::new(None),
        }));
        if place.compare_exchange(std::ptr::null_mut(), descriptor, Ordering::Release, Ordering::Relaxed).is_err() {
            // SAFETY: created above, and not visible to any other thread.
            drop(unsafe { Box::from_raw(descriptor) });
        }
    }
    get(fd)
}

/// Stores a connection that was just accepted, in this load of the plugin, under its descriptor. Does nothing, so that the connection is
/// not followed, if the descriptor is in use.
pub fn open(fd: c_int, load: u64, connection: Connection) {
    if let Some(mut taken) = get_or_create(fd).and_then(Descriptor::take) {
        taken.descriptor.thread_id.store(0, Ordering::Relaxed);
        taken.descriptor.turn.fetch_add(1, Ordering::Relaxed);
        taken.descriptor.load.store(load, Ordering::Relaxed);
        *taken.content() = Some(connection);
    }
}

/// How long to wait for threads that are in a read: they return within milliseconds if the machine lets them run.
const BACK_AFTER: Duration = Duration::from_secs(1);

/// How long to wait for another thread's use of a connection.
const LONGEST_USE: Duration = Duration::from_secs(60);

/// True if no connection has bytes buffered in the plugin, or responses outstanding. Waits up to a second for connections in the middle of
/// a read.
pub fn all_clean() -> bool {
    let until = Instant::now() + BACK_AFTER;
    all().all(|descriptor| descriptor.is_clean_by(until))
}

/// Runs `work` on each descriptor that becomes free within `BACK_AFTER`, and skips the others. A descriptor may hold no connection.
pub fn visit(mut work: impl FnMut(&mut DescriptorGuard)) {
    let until = Instant::now() + BACK_AFTER;
    all().filter_map(|descriptor| descriptor.visited_by(until)).for_each(|mut taken| work(&mut taken));
}

fn all() -> impl Iterator<Item = &'static Descriptor> {
    TABLE.iter().filter_map(|place| {
        // SAFETY: as in `get`.
        unsafe { place.load(Ordering::Acquire).as_ref() }
    })
}

impl Descriptor {
    /// Takes the right to use the descriptor's connection, until the returned value is dropped. May wait for another thread. None if
    /// another thread, or an outer frame of this one, has it and must not be waited for.
    #[inline]
    pub fn take(&'static self) -> Option<DescriptorGuard> {
        // Acquire: pairs with the Release in `DescriptorGuard::drop`, so that the last thread's changes are seen.
        match self.holder.compare_exchange(NOBODY, OWNER, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Some(DescriptorGuard { descriptor: self }),
            Err(_) => self.take_later(),
        }
    }

    #[cold]
    fn take_later(&'static self) -> Option<DescriptorGuard> {
        let mut until = None;
        loop {
            // Acquire: as above.
            match self.holder.compare_exchange(NOBODY, OWNER, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(DescriptorGuard { descriptor: self }),
                Err(VISITOR) => thread::yield_now(),
                Err(_) if server::get().session_here().is_none() => return None,
                // The other thread is working, or waits on a socket that has been shut down.
                Err(_) if Instant::now() < *until.get_or_insert_with(|| Instant::now() + LONGEST_USE) => {
                    thread::sleep(Duration::from_micros(100));
                }
                Err(_) => return None,
            }
        }
    }

    /// Waits until this connection no longer needs the plugin (`Connection::is_clean`), at most until this time. False if it still does, or
    /// is in use.
    fn is_clean_by(&'static self, until: Instant) -> bool {
        while let Some(mut taken) = self.visited_by(until) {
            if taken.content().as_ref().is_none_or(Connection::is_clean) {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            drop(taken);
            thread::sleep(Duration::from_millis(1));
        }
        false
    }

    /// Takes the descriptor to examine it. Waits at most until this time, and then returns none.
    fn visited_by(&'static self, until: Instant) -> Option<DescriptorGuard> {
        // Acquire: as above.
        while self.holder.compare_exchange(NOBODY, VISITOR, Ordering::Acquire, Ordering::Relaxed).is_err() {
            if Instant::now() >= until {
                return None;
            }
            thread::sleep(Duration::from_millis(1));
        }
        Some(DescriptorGuard { descriptor: self })
    }
}

/// The exclusive right to use a descriptor's connection, for as long as this value lives.
pub struct DescriptorGuard {
    pub descriptor: &'static Descriptor,
}

impl DescriptorGuard {
    /// Returns the connection; none if there is none, or the engine no longer follows it.
    pub fn content(&mut self) -> &mut Option<Connection> {
        // SAFETY: no other holder existed when this value was created; `&mut self` excludes a second reference.
        unsafe { &mut *self.descriptor.connection.get() }
    }
}

impl Drop for DescriptorGuard {
    fn drop(&mut self) {
        self.descriptor.holder.store(NOBODY, Ordering::Release);
    }
}

thread_local! {
    /// The descriptor whose bytes this thread handled last, and its turn. The server's events on this thread are about that connection.
    static CURRENT: Cell<(c_int, u64)> = const { Cell::new((-1, 0)) };
}

/// Notes that this thread handles the bytes of the descriptor's present connection.
pub fn set_current(fd: c_int, taken: &DescriptorGuard) {
    let turn = taken.descriptor.turn.load(Ordering::Relaxed);
    let _ = CURRENT.try_with(|current| current.set((fd, turn)));
}

/// Takes the descriptor whose bytes this thread handled last. None if it belongs to another connection by now, `is_wanted` is false, or it
/// is in use. `is_wanted` may be called twice.
pub fn take_current(is_wanted: impl Fn(&Descriptor) -> bool) -> Option<DescriptorGuard> {
    let (fd, turn) = CURRENT.try_with(Cell::get).unwrap_or((-1, 0));
    let is_it = |descriptor: &Descriptor| descriptor.turn.load(Ordering::Relaxed) == turn && is_wanted(descriptor);
    // Checked again after taking it, because another thread may have closed it in between.
    get(fd).filter(|descriptor| is_it(descriptor))?.take().filter(|taken| is_it(taken.descriptor))
}
