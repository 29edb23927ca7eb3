//! A connection from the plugin to the MariaDB server that it runs in, through the SQL service: without a socket and without a password.
//!
//! Only for the worker's own thread, never for a client's.

use crate::exports::symbol;
use crate::mariadb::abi::SqlService;
use crate::mariadb::neighbours;
use host::{Link, Row};
use std::ffi::{CStr, c_void};
use std::path::PathBuf;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The version of the SQL service that is requested. The server replaces it by the service's address when it loads the library.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "the server looks the symbol up by this name")]
pub static sql_service: AtomicPtr<SqlService> = AtomicPtr::new(without_provenance_mut(0x0100));

/// The address of the SQL service, copied at load. The server clears its pointer in the library before the last statement of the worker has
/// returned, if that statement is the last user of the plugin. The service itself stays.
static SERVICE: AtomicPtr<SqlService> = AtomicPtr::new(null_mut());

/// True once the plugin has ended: results of queries are then replaced by an error.
static IS_UNLINKED: AtomicBool = AtomicBool::new(false);

/// Enables queries by `Local`. Call when the plugin starts.
pub fn link() {
    SERVICE.store(sql_service.load(Ordering::Acquire), Ordering::Release);
    IS_UNLINKED.store(false, Ordering::Release);
}

/// Makes all queries by `Local` fail, because the plugin ends. The statement that is running may have kept the plugin loaded, and its
/// result must be ignored.
pub fn unlink() {
    IS_UNLINKED.store(true, Ordering::Release);
}

/// A connection that opens with its first query. While it is open, the server cannot end the plugin, and the memory of its statements, some
/// kilobytes each, is not freed. So drop it soon.
#[derive(Default)]
pub struct Local {
    handle: Option<Handle>,
}

/// After this many queries, a `Local` opens a new connection, so that the server frees memory.
const MOST_ASKED: u32 = 100;

/// Initialises this thread for calls into the server. Call before the thread's first query.
pub fn enter_thread() {
    call_thread_function(c"my_thread_init");
}

/// Undoes `enter_thread`. Call on the same thread, with no `Local` open.
pub fn leave_thread() {
    call_thread_function(c"my_thread_end");
}

fn call_thread_function(name: &CStr) {
    if let Ok(function) = symbol(name) {
        // SAFETY: both exported functions take no argument; a result is ignored.
        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn()>(function)() }
    }
}

fn service() -> &'static SqlService {
    // SAFETY: the server has filled the pointer in before it called the plugin's init, and `link` was called by that.
    unsafe { &*SERVICE.load(Ordering::Acquire) }
}

impl Link for Local {
    fn query(&mut self, text: &str) -> Result<Vec<Row>, String> {
        self.handle.take_if(|handle| handle.asked == MOST_ASKED);
        let handle = match &mut self.handle {
            Some(handle) => handle,
            none => none.insert(Handle::open()?),
        };
        if text.contains(WITH_FILES) && neighbours::is_one_starting(folders(|question| handle.query(question))?) {
            return Err("another server with the same tmpdir is starting".into());
        }
        handle.query(text)
    }
}

/// The schema in a query's text that says that the server may create temporary tables on disk.
const WITH_FILES: &str = "information_schema";

/// Returns the server's directories for temporary tables. They never change while the server runs, so only the first call runs a query, by
/// `ask`; its error is returned.
pub fn folders(mut ask: impl FnMut(&str) -> Result<Vec<Row>, String>) -> Result<&'static [PathBuf], String> {
    static FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    if let Some(folders) = FOLDERS.get() {
        return Ok(folders);
    }
    let rows = ask("SELECT @@GLOBAL.tmpdir")?;
    let tmpdir = rows.first().and_then(|row| row.first()?.as_deref()).unwrap_or_default();
    Ok(FOLDERS.get_or_init(|| neighbours::folders(&String::from_utf8_lossy(tmpdir))))
}

/// An open connection of the SQL service, and how many queries it has run.
struct Handle {
    pointer: *mut c_void,
    asked: u32,
}

impl Handle {
    fn open() -> Result<Handle, String> {
        // SAFETY: the service's documented sequence: init, then connect_local with the handle.
        unsafe {
            let pointer = (service().init)(null_mut());
            if pointer.is_null() {
                return Err("out of memory".into());
            }
            let mut handle = Handle { pointer, asked: 0 };
            if (service().connect_local)(pointer).is_null() {
                return Err(handle.error());
            }
            // utf8mb4 returns names unconverted, whatever the server's default is. The short lock wait keeps sessions that wait for this
            // query from waiting long.
            handle.query("SET NAMES utf8mb4, lock_wait_timeout = 1").map(|_| handle)
        }
    }

    fn error(&self) -> String {
        // SAFETY: a valid handle; the text lives until the next call with it.
        unsafe { CStr::from_ptr((service().error)(self.pointer)) }.to_string_lossy().into_owned()
    }

    fn query(&mut self, text: &str) -> Result<Vec<Row>, String> {
        self.asked += 1;
        // SAFETY: a valid handle and a buffer of the given length; results are freed before the next query.
        unsafe {
            if (service().query)(self.pointer, text.as_ptr().cast(), text.len() as u64) != 0 {
                return Err(self.error());
            }
            let result = (service().store_result)(self.pointer);
            if result.is_null() {
                return if (service().errno)(self.pointer) == 0 { Ok(Vec::new()) } else { Err(self.error()) };
            }
            let columns = (service().num_fields)(result) as usize;
            let mut rows = Vec::new();
            loop {
                let row = (service().fetch_row)(result);
                if row.is_null() {
                    break;
                }
                let lengths = (service().fetch_lengths)(result);
                rows.push((0..columns).map(|column| value(*row.add(column), *lengths.add(column))).collect());
            }
            (service().free_result)(result);
            if IS_UNLINKED.load(Ordering::Acquire) { Err("the plugin has ended".into()) } else { Ok(rows) }
        }
    }
}

/// Copies a value of a row. None if it is NULL.
///
/// # Safety
/// `start` is null, or points to `length` bytes.
unsafe fn value(start: *const std::ffi::c_char, length: u64) -> Option<Vec<u8>> {
    // SAFETY: the caller's guarantee.
    (!start.is_null()).then(|| unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length as usize) }.to_vec())
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: a valid handle, not used again.
        unsafe { (service().close)(self.pointer) };
    }
}
