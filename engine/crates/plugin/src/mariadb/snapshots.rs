//! Makes a transaction that the engine starts with a snapshot equal to what a first read starts in InnoDB, and nothing more.
//!
//! At `WITH CONSISTENT SNAPSHOT` the server also enters its binary log into the transaction, for programs that need the log position of the
//! snapshot. From then on each SAVEPOINT is logged, as a transaction of its own if nothing is written. So snapshots that the engine opens
//! are hidden from the log.

use crate::admission;
use crate::containment::contain;
use crate::engine::is_loaded;
use crate::exports::symbol;
use crate::faults::Point;
use crate::following::sessions::with_connection;
use crate::log;
use crate::mariadb::abi::Thd;
use crate::mariadb::code::calls;
use crate::mariadb::symbols::ThdRef;
use crate::pointers::{Pointer, ReplacedSlots};
use crate::server;
use locks::Mutex;
use session::Session;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The binary log's function that enters it into a transaction with a snapshot, in older servers. Returns 0 on success.
type OfEngine = unsafe extern "C" fn(*mut c_void, *mut Thd) -> c_int;
/// The binary log's function that enters it into a transaction with a snapshot, in newer servers. Returns 0 on success.
type OfParticipant = unsafe extern "C" fn(*mut Thd) -> c_int;

/// The binary log's own function, which is called for all snapshots that the engine has not opened itself.
static ORIGINAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static INSTALLED: Mutex<ReplacedSlots> = Mutex::new(ReplacedSlots::none());

/// Replaces the binary log's function in older servers, in which the log takes part in transactions as a storage engine.
unsafe extern "C" fn of_engine(log: *mut c_void, thd: *mut Thd) -> c_int {
    // SAFETY: `install` stored the log's own function before this one was reachable; the arguments are those of the server.
    around(thd, |original| unsafe { std::mem::transmute::<*mut c_void, OfEngine>(original)(log, thd) })
}

unsafe extern "C" fn of_participant(thd: *mut Thd) -> c_int {
    // SAFETY: as above.
    around(thd, |original| unsafe { std::mem::transmute::<*mut c_void, OfParticipant>(original)(thd) })
}

/// Does nothing for a snapshot that the engine opens on this thread, and returns success. Otherwise calls the log's own function.
fn around(thd: *mut Thd, call: impl FnOnce(*mut c_void) -> c_int) -> c_int {
    let is_own = contain(Point::Event, false, || {
        // SAFETY: the server passes the session that runs the statement, on its thread.
        let thread_id = unsafe { ThdRef::of(thd) }.thread_id();
        is_loaded() && with_connection(thread_id, Session::opens_snapshot, |_| ()).is_some()
    });
    if is_own { 0 } else { call(ORIGINAL.load(Ordering::Acquire)) }
}

/// Replaces the binary log's function that enters the log into a transaction with a snapshot by the plugin's. Does
/// nothing if there is no binary log. If the replacement is not possible, logs that savepoints are logged, and changes
/// nothing.
pub fn install() {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if !installed.is_empty() {
        return;
    }
    // Without a binary log there is nothing to do.
    // SAFETY: an exported flag, which is set before plugins load, and not after.
    if symbol(c"opt_bin_log").is_ok_and(|flag| unsafe { !flag.cast::<bool>().read() }) {
        return;
    }
    let Some((place, function)) = find() else {
        return log::note(
            "savepoints are logged by this server where the first read of a transaction comes from memory",
        );
    };
    if let Err(error) = installed.exchange(place, function, |before| ORIGINAL.store(before, Ordering::Release)) {
        log::warning(&format!("savepoints after a read from memory are logged: {error}"));
    }
}

/// Restores the slot of the binary log's function for snapshots. If that is not possible, only logs a warning.
pub fn remove() {
    if let Err(error) = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner).put_back() {
        log::warning(&format!("a function could not be removed, and does nothing of its own: {error}"));
    }
}

/// Returns the slot of the binary log's function for snapshots, and the plugin's function that replaces it. The log's function is the only
/// one that enters the log into a transaction. None if it is not found, or if the server version is not a tested one: the arguments are
/// known for those only.
fn find() -> Option<(Pointer, *mut c_void)> {
    if admission::untested(&server::get().version()).is_some() {
        return None;
    }
    // SAFETY: an exported variable of the server, which points to such a structure.
    let of_engine = || unsafe {
        let log: *mut *mut *mut c_void = symbol(c"binlog_hton").ok()?.cast();
        find_in(log.read(), 31, symbol(REGISTER_ENGINE).ok()?).zip(Some(of_engine as *mut c_void))
    };
    // SAFETY: an exported structure of this type.
    let of_participant = || unsafe {
        let log: *mut *mut c_void = symbol(c"binlog_tp").ok()?.cast();
        find_in(log, 20, symbol(REGISTER_PARTICIPANT).ok()?).zip(Some(of_participant as *mut c_void))
    };
    of_engine().or_else(of_participant)
}

const REGISTER_ENGINE: &CStr = c"_Z17trans_register_haP3THDbP10handlertony";
const REGISTER_PARTICIPANT: &CStr = c"_Z17trans_register_haP3THDbP23transaction_participanty";

/// Returns the slot of the only function in `log` that calls `register`. None if there is no such function, or more than one.
///
/// # Safety
/// `log` is null, or points to `words` words; some of these point to functions.
unsafe fn find_in(log: *mut *mut c_void, words: usize, register: *mut c_void) -> Option<Pointer> {
    if log.is_null() {
        return None;
    }
    // SAFETY: the caller's guarantee.
    let places = (0..words).map(|word| unsafe { Pointer::at(log.add(word)) });
    let mut found = places.filter(|place| calls(place.current() as usize, register as usize));
    let place = found.next()?;
    found.next().is_none().then_some(place)
}
