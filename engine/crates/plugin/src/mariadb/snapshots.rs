//! A transaction that the engine begins with its snapshot is to be what the first read makes of it in InnoDB, and nothing else.
//!
//! At `WITH CONSISTENT SNAPSHOT` the server has its binary log take part, too, for programs that ask at which place in the log
//! the snapshot stands. From then on each SAVEPOINT is logged, with a transaction of its own if nothing is written. So the log
//! does not hear of the snapshots that the engine opens.

use crate::containment::contain;
use crate::engine::{engine, is_loaded};
use crate::exports::symbol;
use crate::faults::Point;
use crate::following::sessions::with_connection;
use crate::log;
use crate::mariadb::abi::Thd;
use crate::mariadb::symbols::{self, ThdRef};
use crate::pointers::Pointer;
use locks::Mutex;
use session::Session;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicPtr, Ordering};

/// How the log takes part in a snapshot: 0 if it does.
type OfEngine = unsafe extern "C" fn(*mut c_void, *mut Thd) -> c_int;
type OfParticipant = unsafe extern "C" fn(*mut Thd) -> c_int;

/// What the log itself does.
static ORIGINAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
/// Where our function stands.
static INSTALLED: Mutex<Option<Pointer>> = Mutex::new(None);

/// Before 11.7, the log takes part in transactions as a storage engine does.
unsafe extern "C" fn of_engine(log: *mut c_void, thd: *mut Thd) -> c_int {
    // SAFETY: `install` stored the log's own function before ours was reachable; the arguments are those of the server.
    around(thd, |original| unsafe { std::mem::transmute::<*mut c_void, OfEngine>(original)(log, thd) })
}

unsafe extern "C" fn of_participant(thd: *mut Thd) -> c_int {
    // SAFETY: as above.
    around(thd, |original| unsafe { std::mem::transmute::<*mut c_void, OfParticipant>(original)(thd) })
}

fn around(thd: *mut Thd, call: impl FnOnce(*mut c_void) -> c_int) -> c_int {
    let is_own = contain(Point::Event, false, || {
        // SAFETY: the server passes the session that runs the statement, on its thread.
        let thread_id = unsafe { ThdRef::of(thd) }.thread_id();
        is_loaded() && with_connection(thread_id, Session::opens_snapshot, |_| ()).is_some()
    });
    if is_own { 0 } else { call(ORIGINAL.load(Ordering::Acquire)) }
}

pub fn install() {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if installed.is_some() {
        return;
    }
    let Some((place, function)) = find().filter(|_| engine().flavour().is_tested(&symbols::get().version())) else {
        return log::note(
            "savepoints are logged by this server where the first read of a transaction comes from memory",
        );
    };
    ORIGINAL.store(place.current(), Ordering::Release);
    match place.swap(function) {
        Ok(_) => *installed = Some(place),
        Err(error) => log::warning(&format!("savepoints after a read from memory are logged: {error}")),
    }
}

pub fn remove() {
    let installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Err(error)) = installed.map(|place| place.swap(ORIGINAL.load(Ordering::Acquire))) {
        log::warning(&format!("a function could not be removed, and does nothing of its own: {error}"));
    }
}

/// Where the log's function for snapshots stands, and the one that takes its place.
fn find() -> Option<(Pointer, *mut c_void)> {
    let participant =
        symbol(c"binlog_tp").ok().map(|log| last_function(log, 20).zip(Some(of_participant as *mut c_void)));
    let engine = || {
        let log: *mut *mut c_void = symbol(c"binlog_hton").ok()?.cast();
        // SAFETY: an exported pointer, which the server sets before plugins load.
        last_function(unsafe { log.read() }, 31).zip(Some(of_engine as *mut c_void))
    };
    participant.unwrap_or_else(engine)
}

/// Of the functions in the first words of a structure, the log has none after this one, and none right before.
fn last_function(log: *mut c_void, words: usize) -> Option<Pointer> {
    let log: *mut *mut c_void = log.cast();
    // SAFETY: null, or a structure that lives as long as the server and has as many words.
    let functions = unsafe { log.as_ref().map(|first| std::slice::from_raw_parts(first, words)) }?;
    let last = functions.iter().rposition(|function| !function.is_null())?;
    let stands_alone = last > 0 && functions[last - 1].is_null() && last + 1 < words;
    // SAFETY: as above.
    (stands_alone && is_of_server(functions[last])).then(|| unsafe { Pointer::at(log.add(last)) })
}

/// Whether it points into the server's program.
fn is_of_server(address: *mut c_void) -> bool {
    let base = |address: *const c_void| {
        let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: only looks for the mapped file that has the address, whatever it is, and fills the structure in if there is one.
        unsafe { (libc::dladdr(address, found.as_mut_ptr()) != 0).then(|| found.assume_init().dli_fbase) }
    };
    let server = symbol(c"server_version").ok().and_then(|exported| base(exported));
    server.is_some() && base(address) == server
}
