//! Follows the transactions of replication appliers. The server does not report the end of an applier's transaction, and reports a
//! statement only after it has run. So the plugin puts its own functions into the virtual function tables of the binary log events.
//!
//! Invariants:
//! - A write of an applier ends only after the server's own function has ended the transaction without an error.
//! - Either all of these functions are in place, or none; then a write lasts until the applier ends.

use crate::containment::contain;
use crate::engine::engine;
use crate::facts::Facts;
use crate::faults::Point;
use crate::log;
use crate::mariadb::applier::with_applier;
use crate::mariadb::rows;
use crate::mariadb::symbols::ThdRef;
use crate::mariadb::vtables;
use crate::pointers::ReplacedSlots;
use locks::Mutex;
use session::{Report, UnreportedConnection};
use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The type of an event's method `int do_apply_event(rpl_group_info *)`, which returns 0 if the event was applied.
type Apply = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;

/// The server's own function in a slot where the plugin has put one of its functions.
struct Original(AtomicPtr<c_void>);

impl Original {
    fn call(&self, event: *mut c_void, group: *mut c_void) -> c_int {
        // SAFETY: `install` stored the function from the event's table before the plugin's function was reachable.
        let function = unsafe { std::mem::transmute::<*mut c_void, Apply>(self.0.load(Ordering::Acquire)) };
        // SAFETY: the arguments are those of the server.
        unsafe { function(event, group) }
    }
}

static COMMIT: Original = Original(AtomicPtr::new(null_mut()));
static STATEMENT: Original = Original(AtomicPtr::new(null_mut()));
static LOAD: Original = Original(AtomicPtr::new(null_mut()));
static ROWS: Original = Original(AtomicPtr::new(null_mut()));

/// Applies a commit or an XA PREPARE. A prepared transaction may end here, because the session that commits it later first marks all tables
/// as being written.
unsafe extern "C" fn on_commit(event: *mut c_void, group: *mut c_void) -> c_int {
    tell(|_| Report::Commits);
    let failed = COMMIT.call(event, group);
    if failed == 0 {
        tell(|thd| Report::Ended { state: thd.transaction_state(), executed: b"COMMIT" });
    }
    failed
}

unsafe extern "C" fn on_statement(event: *mut c_void, group: *mut c_void) -> c_int {
    around(&STATEMENT, event, group)
}

unsafe extern "C" fn on_load(event: *mut c_void, group: *mut c_void) -> c_int {
    around(&LOAD, event, group)
}

/// Applies changed rows. While this runs, `rows` observes the rows.
unsafe extern "C" fn on_rows(event: *mut c_void, group: *mut c_void) -> c_int {
    let _inside = contain(Point::Event, None, || Some(rows::RowEventGuard::begin()));
    ROWS.call(event, group)
}

/// Applies an event of the binary log by the server's own function, and reports to the engine that a statement of the applier starts and
/// ends. If the thread is not known to be an applier, no stored result counts as current until the event is applied.
fn around(original: &Original, event: *mut c_void, group: *mut c_void) -> c_int {
    let is_told = tell(|thd| Report::Applies { state: thd.transaction_state() });
    let unreported =
        if is_told { None } else { contain(Point::Event, None, || Some(UnreportedConnection::new(engine()))) };
    let failed = original.call(event, group);
    if let Some(mut unreported) = unreported {
        contain(Point::Event, (), || unreported.end(engine()));
    }
    if failed == 0 {
        tell(|thd| Report::Ended { state: thd.transaction_state(), executed: b"" });
    }
    failed
}

/// Passes a report to the applier on this thread. Returns false if this thread is not known to be an applier, or a panic was contained: the
/// caller must then assume that anything may change. True does not mean that the report was passed on (see `with_applier`).
fn tell<'a>(report: impl FnOnce(&ThdRef) -> Report<'a>) -> bool {
    with_applier(|thd, thread| thread.report(engine(), report(thd)))
}

/// A method in the virtual function table of an event class, both by exported name, and the plugin's function that replaces it.
struct Seam {
    table: &'static CStr,
    method: &'static CStr,
    function: Apply,
    original: &'static Original,
}

const SEAMS: [Seam; 11] = [
    seam(c"_ZTV13Xid_log_event", c"_ZN19Xid_apply_log_event14do_apply_eventEP14rpl_group_info", on_commit, &COMMIT),
    seam(
        c"_ZTV20XA_prepare_log_event",
        c"_ZN19Xid_apply_log_event14do_apply_eventEP14rpl_group_info",
        on_commit,
        &COMMIT,
    ),
    seam(c"_ZTV15Query_log_event", c"_ZN15Query_log_event14do_apply_eventEP14rpl_group_info", on_statement, &STATEMENT),
    seam(
        c"_ZTV26Query_compressed_log_event",
        c"_ZN15Query_log_event14do_apply_eventEP14rpl_group_info",
        on_statement,
        &STATEMENT,
    ),
    seam(
        c"_ZTV28Execute_load_query_log_event",
        c"_ZN28Execute_load_query_log_event14do_apply_eventEP14rpl_group_info",
        on_load,
        &LOAD,
    ),
    seam(c"_ZTV20Write_rows_log_event", APPLY_ROWS, on_rows, &ROWS),
    seam(c"_ZTV21Update_rows_log_event", APPLY_ROWS, on_rows, &ROWS),
    seam(c"_ZTV21Delete_rows_log_event", APPLY_ROWS, on_rows, &ROWS),
    seam(c"_ZTV31Write_rows_compressed_log_event", APPLY_ROWS, on_rows, &ROWS),
    seam(c"_ZTV32Update_rows_compressed_log_event", APPLY_ROWS, on_rows, &ROWS),
    seam(c"_ZTV32Delete_rows_compressed_log_event", APPLY_ROWS, on_rows, &ROWS),
];

const APPLY_ROWS: &CStr = c"_ZN14Rows_log_event14do_apply_eventEP14rpl_group_info";

const fn seam(table: &'static CStr, method: &'static CStr, function: Apply, original: &'static Original) -> Seam {
    Seam { table, method, function, original }
}

static INSTALLED: Mutex<ReplacedSlots> = Mutex::new(ReplacedSlots::none());

/// Puts the plugin's functions into the virtual function tables of the server's classes of binary log events. If that is not possible,
/// changes nothing and logs that tables that appliers write are not cached. Does nothing if they are there already.
pub fn install() {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if !installed.is_empty() {
        return;
    }
    let places = SEAMS.iter().map(|seam| vtables::find(seam.table, seam.method)).collect::<Option<Vec<_>>>();
    let Some(places) = places.filter(|_| ThdRef::knows_appliers()) else {
        return log::note("this server does not show what its appliers do: tables that they write are not cached");
    };
    for (place, seam) in places.into_iter().zip(&SEAMS) {
        let keep = |before| seam.original.0.store(before, Ordering::Release);
        if let Err(error) = installed.exchange(place, seam.function as *mut c_void, keep) {
            log::warning(&format!("tables that appliers write are not cached: {error}"));
            return put_back(&mut installed);
        }
    }
}

/// Restores the virtual function tables that `install` has changed, and the one that `rows` has.
pub fn remove() {
    rows::remove();
    put_back(&mut INSTALLED.lock().unwrap_or_else(PoisonError::into_inner));
}

fn put_back(installed: &mut ReplacedSlots) {
    if let Err(error) = installed.put_back() {
        log::warning(&format!("a function could not be removed, and does nothing of its own: {error}"));
    }
}
