//! The connections by their file descriptor.
//!
//! A `Descriptor` is made once for each number that a connection ever had, and never freed, so a stale reference is never dangling.
//! What is in it belongs to the thread that has taken it: the server uses a connection from one thread at a time. Where another
//! thread may close it meanwhile (`Server::session_here`), one waits for the other, so that nobody gets the descriptor's number
//! while it is in use; elsewhere a second thread that comes all the same finds the descriptor taken and passes the bytes unseen.
//! Who only looks in is waited for: a thread that went past what it has read ahead would lose it.

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

pub struct Descriptor {
    holder: AtomicU8,
    /// The server's number of the session, 0 before it is authenticated.
    pub thread_id: AtomicU64,
    /// Which connection it is for: one that comes later under the same number has another.
    turn: AtomicU64,
    /// Which load of the plugin accepted it.
    pub load: AtomicU64,
    /// The load since which the server tells what an older connection under this descriptor does.
    pub heard: AtomicU64,
    connection: UnsafeCell<Option<Connection>>,
}

// SAFETY: `connection` is only reached through `Taken`, of which `holder` allows one at a time.
unsafe impl Sync for Descriptor {}

const DESCRIPTORS: usize = 1 << 20;

/// All null at first, so it takes no memory before it is used.
static TABLE: [AtomicPtr<Descriptor>; DESCRIPTORS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; DESCRIPTORS];

/// What is known of this file descriptor, if a connection was ever accepted under it.
#[inline]
pub fn get(fd: c_int) -> Option<&'static Descriptor> {
    let pointer = TABLE.get(usize::try_from(fd).ok()?)?.load(Ordering::Acquire);
    // SAFETY: null, or a leaked descriptor published with Release in `made`.
    unsafe { pointer.as_ref() }
}

/// The same, made if there is none.
pub fn made(fd: c_int) -> Option<&'static Descriptor> {
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
            // SAFETY: made above, and nobody else has seen it.
            drop(unsafe { Box::from_raw(descriptor) });
        }
    }
    get(fd)
}

/// A new connection under this descriptor.
pub fn open(fd: c_int, load: u64, connection: Connection) {
    if let Some(mut taken) = made(fd).and_then(Descriptor::take) {
        taken.descriptor.thread_id.store(0, Ordering::Relaxed);
        taken.descriptor.turn.fetch_add(1, Ordering::Relaxed);
        taken.descriptor.load.store(load, Ordering::Relaxed);
        *taken.content() = Some(connection);
    }
}

/// Threads that wait in a read are back in a moment, where the machine lets them run.
const BACK_AFTER: Duration = Duration::from_secs(1);

/// Nobody uses a connection so long that another thread wants.
const LONGEST_USE: Duration = Duration::from_secs(60);

/// Whether nothing of any connection is in our hands.
pub fn all_clean() -> bool {
    let until = Instant::now() + BACK_AFTER;
    all().all(|descriptor| descriptor.is_clean_by(until))
}

/// Runs `work` on each descriptor that comes free soon.
pub fn visit(mut work: impl FnMut(&mut Taken)) {
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
    /// None if another thread, or an outer frame of this one, has it, and is not to be waited for.
    #[inline]
    pub fn take(&'static self) -> Option<Taken> {
        // Acquire: pairs with the Release in `Taken::drop`, so that the last thread's changes are seen.
        match self.holder.compare_exchange(NOBODY, OWNER, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Some(Taken { descriptor: self }),
            Err(_) => self.take_later(),
        }
    }

    #[cold]
    fn take_later(&'static self) -> Option<Taken> {
        let mut until = None;
        loop {
            // Acquire: as above.
            match self.holder.compare_exchange(NOBODY, OWNER, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Taken { descriptor: self }),
                Err(VISITOR) => thread::yield_now(),
                Err(_) if server::get().session_here().is_none() => return None,
                // It works, or waits on a socket that has been shut down.
                Err(_) if Instant::now() < *until.get_or_insert_with(|| Instant::now() + LONGEST_USE) => {
                    thread::sleep(Duration::from_micros(100));
                }
                Err(_) => return None,
            }
        }
    }

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

    fn visited_by(&'static self, until: Instant) -> Option<Taken> {
        // Acquire: as above.
        while self.holder.compare_exchange(NOBODY, VISITOR, Ordering::Acquire, Ordering::Relaxed).is_err() {
            if Instant::now() >= until {
                return None;
            }
            thread::sleep(Duration::from_millis(1));
        }
        Some(Taken { descriptor: self })
    }
}

/// The right to use a descriptor's connection.
pub struct Taken {
    pub descriptor: &'static Descriptor,
}

impl Taken {
    pub fn content(&mut self) -> &mut Option<Connection> {
        // SAFETY: nobody held the descriptor before this value did; `&mut self` excludes a second reference.
        unsafe { &mut *self.descriptor.connection.get() }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.descriptor.holder.store(NOBODY, Ordering::Release);
    }
}

thread_local! {
    /// The descriptor whose bytes this thread handled last, and its turn: the server's events are about that connection.
    static CURRENT: Cell<(c_int, u64)> = const { Cell::new((-1, 0)) };
}

pub fn set_current(fd: c_int, taken: &Taken) {
    let turn = taken.descriptor.turn.load(Ordering::Relaxed);
    let _ = CURRENT.try_with(|current| current.set((fd, turn)));
}

/// Taken, if it is still for that connection.
pub fn take_current(is_wanted: impl Fn(&Descriptor) -> bool) -> Option<Taken> {
    let (fd, turn) = CURRENT.try_with(Cell::get).unwrap_or((-1, 0));
    let is_it = |descriptor: &Descriptor| descriptor.turn.load(Ordering::Relaxed) == turn && is_wanted(descriptor);
    // Asked again: another thread may have closed it meanwhile.
    get(fd).filter(|descriptor| is_it(descriptor))?.take().filter(|taken| is_it(taken.descriptor))
}
