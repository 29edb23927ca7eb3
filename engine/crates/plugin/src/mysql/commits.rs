//! Observes the ends of transactions at the transaction coordinator: the binary log, a log of its own, or none.
//!
//! Every commit and rollback goes through it: those of clients, events, replication appliers and detached XA transactions. Only threads
//! without a followed connection are reported here, because a session's responses show what has ended.

use crate::faults;
use crate::mysql::abi::Thd;
use crate::mysql::reports;
use crate::mysql::selftest::{self, Seam, SeamReport};
use crate::mysql::vtables::{Slot, Slots, Vtable};
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The type of a coordinator's functions: coordinator, session, and whether the whole transaction ends, or only a statement. Returns 0 on
/// success.
type End = unsafe extern "C" fn(*mut c_void, *mut Thd, bool) -> c_int;

/// A class of transaction coordinators, and its functions for commit and rollback, by exported names.
struct Coordinator {
    table: &'static CStr,
    commit: &'static CStr,
    rollback: &'static CStr,
}

const COORDINATORS: [Coordinator; 3] = [
    Coordinator {
        table: c"_ZTV13MYSQL_BIN_LOG",
        commit: c"_ZN13MYSQL_BIN_LOG6commitEP3THDb",
        rollback: c"_ZN13MYSQL_BIN_LOG8rollbackEP3THDb",
    },
    Coordinator {
        table: c"_ZTV12TC_LOG_DUMMY",
        commit: c"_ZN12TC_LOG_DUMMY6commitEP3THDb",
        rollback: c"_ZN12TC_LOG_DUMMY8rollbackEP3THDb",
    },
    Coordinator {
        table: c"_ZTV11TC_LOG_MMAP",
        commit: c"_ZN11TC_LOG_MMAP6commitEP3THDb",
        rollback: c"_ZN11TC_LOG_MMAP8rollbackEP3THDb",
    },
];
const COMMIT: usize = 0;
const ROLLBACK: usize = 1;

/// A class whose table holds the plugin's functions: the address that its objects begin with, and the server's own functions.
struct Class {
    point: AtomicUsize,
    originals: [AtomicPtr<c_void>; 2],
}

static ORIGINALS: [Class; COORDINATORS.len()] =
    [const { Class { point: AtomicUsize::new(0), originals: [const { AtomicPtr::new(std::ptr::null_mut()) }; 2] } };
        COORDINATORS.len()];

/// Returns the server's own function for a coordinator: `which` is `COMMIT` or `ROLLBACK`.
fn original(coordinator: *mut c_void, which: usize) -> End {
    // SAFETY: an object of a class with virtual functions begins with the address of their table; `install` has stored the function from
    // that slot, which has this signature.
    unsafe {
        let point = coordinator.cast::<usize>().read();
        let class = ORIGINALS.iter().find(|class| class.point.load(Ordering::Acquire) == point);
        let function = class.expect("only these classes have our functions").originals[which].load(Ordering::Acquire);
        std::mem::transmute::<*mut c_void, End>(function)
    }
}

/// Commits by the server's own function. Reports beginning and end for threads whose connection is not followed.
unsafe extern "C" fn on_commit(coordinator: *mut c_void, thd: *mut Thd, is_whole: bool) -> c_int {
    let commit = original(coordinator, COMMIT);
    selftest::note(|| SeamReport { seam: Seam::Commit, name: None, writes: true });
    let is_of_session = reports::on_call(thd, reports::begins_to_commit);
    if !is_of_session && is_early() {
        reports::on_call(thd, reports::ends_too_early);
    }
    // SAFETY: the class's own function, with the server's arguments.
    let outcome = unsafe { commit(coordinator, thd, is_whole) };
    if !is_of_session {
        reports::on_call(thd, |session| reports::has_ended(session, is_whole));
    }
    outcome
}

/// True if tests have the ends of other threads' transactions reported too early, see `faults`.
fn is_early() -> bool {
    static IS_EARLY: OnceLock<bool> = OnceLock::new();
    *IS_EARLY.get_or_init(|| faults::argument("commit").is_some_and(|moment| moment == "early"))
}

/// Rolls back by the server's own function. Reports the end for threads whose connection is not followed.
unsafe extern "C" fn on_rollback(coordinator: *mut c_void, thd: *mut Thd, is_whole: bool) -> c_int {
    let rollback = original(coordinator, ROLLBACK);
    // SAFETY: as above.
    let outcome = unsafe { rollback(coordinator, thd, is_whole) };
    reports::on_call(thd, |session| reports::has_ended(session, is_whole));
    outcome
}

static SLOTS: Slots = Slots::none();

/// Puts the plugin's functions into the virtual function tables of the server's transaction coordinators. An error leaves the tables
/// unchanged.
pub fn install() -> Result<(), String> {
    SLOTS.install(find)
}

fn find() -> Result<Vec<Slot>, String> {
    let ours = [on_commit as *mut c_void, on_rollback as *mut c_void];
    let mut slots = Vec::new();
    for (coordinator, class) in COORDINATORS.iter().zip(&ORIGINALS) {
        let table = Vtable::find(coordinator.table)?;
        for (which, function) in [coordinator.commit, coordinator.rollback].into_iter().enumerate() {
            slots.push((table.slot(table.position(function)?), ours[which], &class.originals[which]));
        }
        class.point.store(table.address_point() as usize, Ordering::Release);
    }
    Ok(slots)
}

/// Restores the virtual function tables of the server's transaction coordinators. An error if one of them could not be restored.
pub fn remove() -> Result<(), String> {
    SLOTS.remove()
}
