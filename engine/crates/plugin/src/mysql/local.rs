//! A session of the plugin in the MySQL server that it runs in: without a socket and without a password.
//!
//! Only for the worker's own thread, never for a client's.

use crate::mysql::abi::{COM_QUERY, Callbacks, QueryCommand, TEXT};
use crate::mysql::group;
use crate::mysql::symbols::{self, ThdRef};
use host::{Link, Row};
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_ulonglong, c_void};
use std::ptr::null;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The handle that the server gave to the plugin `fqc` at its start.
static PLUGIN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
/// True once the plugin has ended: each query then returns an error instead of its result.
static IS_UNLINKED: AtomicBool = AtomicBool::new(false);

/// Keeps the plugin's handle. Call at load, before anything needs it.
pub fn keep(plugin: *mut c_void) {
    PLUGIN.store(plugin, Ordering::Release);
}

/// Returns the plugin's handle; null before the first load.
pub fn plugin() -> *mut c_void {
    PLUGIN.load(Ordering::Acquire)
}

/// Enables queries by `Local`. Call when the plugin starts.
pub fn link() {
    IS_UNLINKED.store(false, Ordering::Release);
}

/// Makes all queries by `Local` fail, also a running one, because the plugin ends.
pub fn unlink() {
    IS_UNLINKED.store(true, Ordering::Release);
}

thread_local! {
    /// True if this thread is initialised for sessions.
    static HAS_ENTERED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Initialises this thread for calls into the server. Call before the thread's first query.
pub fn enter_thread() {
    // SAFETY: takes no argument.
    unsafe { (symbols::get().thread_begin)() };
}

/// Undoes `enter_thread`, and the initialisation for sessions. Call on the same thread, with no `Local` open.
pub fn leave_thread() {
    // SAFETY: as above; the sessions of this thread are closed.
    unsafe {
        if HAS_ENTERED.replace(false) {
            (symbols::get().session_thread_end)();
        }
        (symbols::get().thread_end)();
    }
}

/// A session that opens with its first query, with all privileges. Its statements are not written to the binary log.
#[derive(Default)]
pub struct Local {
    session: Option<Session>,
}

impl Link for Local {
    fn query(&mut self, text: &str) -> Result<Vec<Row>, String> {
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(Session::open()?),
        };
        session.query(text)
    }
}

/// An open session, which ends when it is dropped.
struct Session(*mut c_void);

impl Session {
    fn open() -> Result<Session, String> {
        let symbols = symbols::get();
        if !symbols.can_open_sessions() {
            return Err("the server takes no sessions".into());
        }
        // SAFETY: the documented sequence: the thread first, then the session, with the plugin's own handle.
        unsafe {
            if !HAS_ENTERED.get() {
                if (symbols.session_thread_begin)(plugin()) != 0 {
                    return Err("no thread for sessions could be had".into());
                }
                HAS_ENTERED.set(true);
            }
            let session = (symbols.session_open)(on_open_error, std::ptr::null_mut());
            if session.is_null() {
                return Err("no session could be opened".into());
            }
            let mut session = Session(session);
            if !ThdRef::of((symbols.session_thd)(session.0)).skip_grants() {
                return Err("the session got no privileges".into());
            }
            session.query("SET NAMES utf8mb4, sql_log_bin = 0, lock_wait_timeout = 60, autocommit = 1")?;
            session.query(&group::not_held())?;
            Ok(session)
        }
    }

    fn query(&mut self, text: &str) -> Result<Vec<Row>, String> {
        let mut result = Collected::default();
        let command = QueryCommand {
            query: text.as_ptr().cast(),
            length: text.len() as c_uint,
            parameters: null(),
            parameter_count: 0,
            room: [0; 8],
        };
        let symbols = symbols::get();
        // SAFETY: a session of this thread, a text with its length, and callbacks that get `result` before the call returns.
        let failed = unsafe {
            (symbols.run_command)(self.0, COM_QUERY, &command, symbols.utf8, &CALLBACKS, TEXT, (&raw mut result).cast())
        } != 0;
        if IS_UNLINKED.load(Ordering::Acquire) {
            return Err("the plugin has ended".into());
        }
        match result.error {
            Some(error) => Err(error),
            None if failed || result.is_unreadable => Err("the server gave no readable answer".into()),
            None => Ok(result.rows),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: a session of this thread, not used again.
        unsafe { (symbols::get().session_close)(self.0) };
    }
}

unsafe extern "C" fn on_open_error(_: *mut c_void, _: c_uint, _: *const c_char) {}

/// The part of a query's result that the callbacks have received so far.
#[derive(Default)]
struct Collected {
    rows: Vec<Row>,
    row: Row,
    error: Option<String>,
    /// True if a value was of a type that none of the plugin's queries returns.
    is_unreadable: bool,
}

/// Returns what the callbacks share.
///
/// # Safety
/// `context` is the `Collected` of a query that has not returned.
unsafe fn collected<'a>(context: *mut c_void) -> &'a mut Collected {
    // SAFETY: the caller's guarantee.
    unsafe { &mut *context.cast::<Collected>() }
}

/// Appends a value to the present row. Returns 0, with which the server goes on.
///
/// # Safety
/// `context` is the `Collected` of a query that has not returned.
unsafe fn value(context: *mut c_void, value: Option<Vec<u8>>) -> c_int {
    // SAFETY: the caller's guarantee.
    unsafe { collected(context) }.row.push(value);
    0
}

/// Notes that a value cannot be read, so that the query fails. Returns 0, with which the server goes on.
///
/// # Safety
/// `context` is the `Collected` of a query that has not returned.
unsafe fn unreadable(context: *mut c_void) -> c_int {
    // SAFETY: the caller's guarantee.
    unsafe { collected(context) }.is_unreadable = true;
    0
}

static CALLBACKS: Callbacks = Callbacks {
    start_result_metadata: on_metadata,
    field_metadata: on_field,
    end_result_metadata: on_metadata_end,
    start_row: on_row,
    end_row: on_row_end,
    abort_row: on_abort,
    get_client_capabilities: capabilities,
    get_null: on_null,
    get_integer: on_integer,
    get_longlong: on_longlong,
    get_decimal: on_other,
    get_double: on_double,
    get_date: on_other,
    get_time: on_time,
    get_datetime: on_time,
    get_string: on_string,
    handle_ok: on_ok,
    handle_error: on_error,
    shutdown: on_shutdown,
    connection_alive: is_alive,
};

unsafe extern "C" fn on_metadata(context: *mut c_void, _: c_uint, _: c_uint, _: *const c_void) -> c_int {
    // SAFETY: the server passes the context of the query.
    unsafe { collected(context) }.rows.clear();
    0
}
unsafe extern "C" fn on_field(_: *mut c_void, _: *const c_void, _: *const c_void) -> c_int {
    0
}
unsafe extern "C" fn on_metadata_end(_: *mut c_void, _: c_uint, _: c_uint) -> c_int {
    0
}
unsafe extern "C" fn on_row(context: *mut c_void) -> c_int {
    // SAFETY: as above. The same holds for all following callbacks.
    unsafe { collected(context) }.row.clear();
    0
}
unsafe extern "C" fn on_row_end(context: *mut c_void) -> c_int {
    // SAFETY: see `on_row`.
    let collected = unsafe { collected(context) };
    let row = std::mem::take(&mut collected.row);
    collected.rows.push(row);
    0
}
unsafe extern "C" fn on_abort(context: *mut c_void) {
    // SAFETY: see `on_row`.
    unsafe { collected(context) }.row.clear();
}
unsafe extern "C" fn capabilities(_: *mut c_void) -> c_ulong {
    0
}
unsafe extern "C" fn on_null(context: *mut c_void) -> c_int {
    // SAFETY: see `on_row`.
    unsafe { value(context, None) }
}
unsafe extern "C" fn on_integer(context: *mut c_void, number: i64) -> c_int {
    // SAFETY: see `on_row`.
    unsafe { value(context, Some(number.to_string().into_bytes())) }
}
unsafe extern "C" fn on_longlong(context: *mut c_void, number: i64, is_unsigned: c_uint) -> c_int {
    let text = if is_unsigned != 0 { (number as u64).to_string() } else { number.to_string() };
    // SAFETY: see `on_row`.
    unsafe { value(context, Some(text.into_bytes())) }
}
unsafe extern "C" fn on_double(context: *mut c_void, number: f64, _: u32) -> c_int {
    // SAFETY: see `on_row`.
    unsafe { value(context, Some(number.to_string().into_bytes())) }
}
unsafe extern "C" fn on_other(context: *mut c_void, _: *const c_void) -> c_int {
    // SAFETY: see `on_row`.
    unsafe { unreadable(context) }
}
unsafe extern "C" fn on_time(context: *mut c_void, _: *const c_void, _: c_uint) -> c_int {
    // SAFETY: see `on_row`.
    unsafe { unreadable(context) }
}
unsafe extern "C" fn on_string(context: *mut c_void, text: *const c_char, length: usize, _: *const c_void) -> c_int {
    // SAFETY: see `on_row`; a text with its length.
    unsafe { value(context, Some(std::slice::from_raw_parts(text.cast::<u8>(), length).to_vec())) }
}
unsafe extern "C" fn on_ok(_: *mut c_void, _: c_uint, _: c_uint, _: c_ulonglong, _: c_ulonglong, _: *const c_char) {}
unsafe extern "C" fn on_error(context: *mut c_void, _: c_uint, text: *const c_char, _: *const c_char) {
    // SAFETY: see `on_row`; a NUL-terminated text.
    unsafe {
        let text = if text.is_null() { c"" } else { CStr::from_ptr(text) };
        collected(context).error = Some(text.to_string_lossy().into_owned());
    }
}
unsafe extern "C" fn on_shutdown(_: *mut c_void, _: c_int) {}
unsafe extern "C" fn is_alive(_: *mut c_void) -> bool {
    true
}
