//! Functions and variables that MySQL exports and this plugin uses, looked up once at load.
//!
//! Invariant: nothing here is called unless every symbol was found. A server that lacks one is refused at load.

use crate::exports::{function, symbol, variable};
use crate::facts::Facts;
use crate::mysql::abi::{CLASSES, Callbacks, LexString, QueryCommand, Thd};
use std::ffi::{CStr, c_char, c_int, c_longlong, c_uint, c_void};
use std::io::{Write, stderr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU64, Ordering};

type Release = unsafe extern "C" fn(*const c_void) -> c_int;

type Print = unsafe extern "C" fn(*mut *mut c_void, c_int, *const c_char, ...) -> c_int;
const PRINT: &CStr = c"_Z21my_plugin_log_messagePPv16plugin_log_levelPKcz";

/// The server's registry of services, as a service: only its first functions.
#[repr(C)]
struct Registry {
    acquire: unsafe extern "C" fn(*const c_char, *mut *const c_void) -> c_int,
    acquire_related: *const c_void,
    release: Release,
}

type Get = unsafe extern "C" fn(*mut Thd, *const c_char, *mut c_void) -> bool;
type Convert = unsafe extern "C" fn(*mut c_void, *mut c_char, u64, *const c_char) -> bool;
type Destroy = unsafe extern "C" fn(*mut c_void);

/// Functions of the services that the server's own components use to query a session's database.
#[derive(Clone, Copy)]
struct Attributes {
    get: Get,
    convert: Convert,
    destroy: Destroy,
}

/// The addresses of what the server exports. All sessions and threads share one value.
pub struct Symbols {
    thread_id: unsafe extern "C" fn(*const Thd) -> u32,
    isolation: unsafe extern "C" fn(*const Thd) -> c_int,
    is_read_only: unsafe extern "C" fn(*const Thd) -> c_int,
    charset: unsafe extern "C" fn(*mut Thd) -> *const c_uint,
    test_options: unsafe extern "C" fn(*const Thd, c_longlong) -> c_longlong,
    current_thd: unsafe extern "C" fn() -> *mut Thd,
    security_context: unsafe extern "C" fn(*mut Thd, *mut *mut c_void) -> c_int,
    security_option: unsafe extern "C" fn(*mut c_void, *const c_char, *mut c_void) -> c_int,
    skip_grants: unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char),
    started: *const AtomicU8,
    ending: *const AtomicI32,
    thread_handling: *const AtomicU64,
    reported: *const [AtomicU64; CLASSES],
    print: Print,
    raise: unsafe extern "C" fn(c_uint, *const c_char, c_int, ...),
    warn: unsafe extern "C" fn(*mut Thd, c_int, c_uint, *const c_char),
    /// Initialises a thread for calls into the server; `thread_end` undoes it.
    pub thread_begin: unsafe extern "C" fn() -> bool,
    pub thread_end: unsafe extern "C" fn(),
    /// Initialises a thread for sessions, with the plugin's handle; returns 0 on success. `session_thread_end` undoes it.
    pub session_thread_begin: unsafe extern "C" fn(*const c_void) -> c_int,
    pub session_thread_end: unsafe extern "C" fn(),
    /// Opens a session, with a callback for errors and its argument; returns null on failure. `session_close` ends the session.
    pub session_open:
        unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void, c_uint, *const c_char), *mut c_void) -> *mut c_void,
    pub session_close: unsafe extern "C" fn(*mut c_void) -> c_int,
    /// Returns the server's structure for an open session.
    pub session_thd: unsafe extern "C" fn(*mut c_void) -> *mut Thd,
    are_sessions_available: unsafe extern "C" fn() -> c_int,
    /// Runs a command in a session: the command's kind and content, character set, callbacks for the result, its format, and what the
    /// callbacks get. Returns 0 on success.
    pub run_command: unsafe extern "C" fn(
        *mut c_void,
        c_int,
        *const QueryCommand,
        *const c_void,
        *const Callbacks,
        c_int,
        *mut c_void,
    ) -> c_int,
    /// The character set utf8mb4, to pass to `run_command`.
    pub utf8: *const c_void,
    decode_name: unsafe extern "C" fn(*const c_char, *mut c_char, usize, bool, *mut bool) -> usize,
    /// How to query a session's database. None if the server does not offer all of the services for that.
    attributes: Option<Attributes>,
}

// SAFETY: the pointers are to functions and statics of the main executable, which outlives every thread.
unsafe impl Send for Symbols {}
// SAFETY: as above; the pointed-to scalars are read through atomics.
unsafe impl Sync for Symbols {}

static SYMBOLS: OnceLock<Symbols> = OnceLock::new();

/// Finds every symbol. The error names the first one that this server build does not export. Later calls return the same symbols.
pub fn find() -> Result<&'static Symbols, String> {
    if SYMBOLS.get().is_none() {
        let symbols = Symbols::find()?;
        let _ = SYMBOLS.set(symbols);
    }
    Ok(get())
}

/// Returns the symbols found at load. Panics before a successful `find`.
pub fn get() -> &'static Symbols {
    SYMBOLS.get().expect("the plugin has been loaded")
}

/// Logs an error in a server that may lack all other symbols. `plugin` is the server's handle of the plugin that reports it.
pub fn print_error(plugin: *mut c_void, text: &CStr) {
    const ERROR: c_int = 0;
    // SAFETY: the signature of this function in the server's headers.
    match unsafe { function(PRINT) } {
        Ok(function) => print(function, plugin, ERROR, text),
        Err(_) => {
            let _ = writeln!(stderr(), "[ERROR] FQC: {}", text.to_string_lossy());
        }
    }
}

/// Writes a line to the error log by the server's function, after the prefix `FQC: `.
fn print(function: Print, mut plugin: *mut c_void, level: c_int, text: &CStr) {
    // SAFETY: a printf-like function with one %s and one NUL-terminated argument; the plugin's own handle.
    unsafe { function(&mut plugin, level, c"FQC: %s".as_ptr(), text.as_ptr()) };
}

impl Attributes {
    /// Finds the services. None if the server does not offer all of them; an error if it has no registry. Each is released at once, because
    /// the server logs services that are still acquired when it ends. Their functions are part of the server itself, and stay valid.
    fn find() -> Result<Option<Attributes>, String> {
        // SAFETY: the registry's documented use.
        unsafe {
            let acquire: unsafe extern "C" fn() -> *const Registry = function(c"_Z29mysql_plugin_registry_acquirev")?;
            let give_back: Release = function(c"_Z29mysql_plugin_registry_releasePK16s_mysql_registry")?;
            let registry = acquire().as_ref().ok_or("the server's registry of services is not available")?;
            let found = Attributes::find_in(registry);
            give_back((&raw const *registry).cast());
            Ok(found)
        }
    }

    /// Finds the services in the registry. None if the server does not offer all of them.
    ///
    /// # Safety
    /// `registry` is the server's, and has not been released.
    unsafe fn find_in(registry: &Registry) -> Option<Attributes> {
        // SAFETY: the registry's documented use; each function has the signature of its field in the server's headers.
        unsafe {
            let service = |name: &CStr, at: usize| {
                let mut found = std::ptr::null();
                let failed = (registry.acquire)(name.as_ptr(), &mut found) != 0 || found.is_null();
                if failed {
                    return None;
                }
                let function = found.cast::<*const c_void>().add(at).read();
                (registry.release)(found);
                Some(function)
            };
            Some(Attributes {
                get: std::mem::transmute::<*const c_void, Get>(service(c"mysql_thd_attributes", 0)?),
                convert: std::mem::transmute::<*const c_void, Convert>(service(c"mysql_string_converter", 1)?),
                destroy: std::mem::transmute::<*const c_void, Destroy>(service(c"mysql_string_factory", 1)?),
            })
        }
    }
}

impl Symbols {
    fn find() -> Result<Symbols, String> {
        // SAFETY: each of these functions has the signature of its field in the server's headers.
        unsafe {
            Ok(Symbols {
                thread_id: function(c"thd_get_thread_id")?,
                isolation: function(c"thd_tx_isolation")?,
                is_read_only: function(c"thd_tx_is_read_only")?,
                charset: function(c"_Z11thd_charsetP3THD")?,
                test_options: function(c"thd_test_options")?,
                current_thd: function(c"_Z19thd_get_current_thdv")?,
                security_context: function(c"_Z24thd_get_security_contextP3THDPP16Security_context")?,
                security_option: function(c"_Z27security_context_get_optionP16Security_contextPKcPv")?,
                // In older servers this function takes no arguments: two extra ones do no harm.
                skip_grants: function(c"_ZN16Security_context11skip_grantsEPKcS1_")?,
                started: variable(c"mysqld_server_started")?,
                ending: variable(c"connection_events_loop_aborted_flag")?,
                thread_handling: variable(c"_ZN26Connection_handler_manager15thread_handlingE")?,
                reported: variable(c"mysql_global_audit_mask").unwrap_or(std::ptr::null()),
                print: function(PRINT)?,
                raise: function(c"_Z15my_printf_errorjPKciz")?,
                warn: function(c"_Z12push_warningP3THDN13Sql_condition19enum_severity_levelEjPKc")?,
                thread_begin: function(c"_Z14my_thread_initv")?,
                thread_end: function(c"_Z13my_thread_endv")?,
                session_thread_begin: function(c"_Z23srv_session_init_threadPKv")?,
                session_thread_end: function(c"_Z25srv_session_deinit_threadv")?,
                session_open: function(c"_Z16srv_session_openPFvPvjPKcES_")?,
                session_close: function(c"_Z17srv_session_closeP11Srv_session")?,
                session_thd: function(c"_Z24srv_session_info_get_thdP11Srv_session")?,
                are_sessions_available: function(c"_Z31srv_session_server_is_availablev")?,
                run_command: function(c"_Z27command_service_run_commandP11Srv_session19enum_server_commandPK8COM_DATAPK12CHARSET_INFOPK22st_command_service_cbs17cs_text_or_binaryPv")?,
                utf8: symbol(c"my_charset_utf8mb4_general_ci")?,
                // In older servers this function takes one argument less: an extra one does no harm.
                decode_name: function(c"_Z21filename_to_tablenamePKcPcmbPb")?,
                attributes: Attributes::find()?,
            })
        }
    }

    /// True once the server accepts connections, so that its catalogue may be queried.
    pub fn has_started(&self) -> bool {
        // SAFETY: an exported byte-sized flag, only ever stored to; relaxed: no data is published with it.
        unsafe { &*self.started }.load(Ordering::Relaxed) != 0
    }

    /// True if the server accepts no more connections and is about to free what statements need.
    pub fn is_ending(&self) -> bool {
        // SAFETY: an exported atomic word.
        unsafe { &*self.ending }.load(Ordering::Relaxed) != 0
    }

    /// Returns the thread id of the session on this thread, 0 if there is none.
    pub fn session_of_thread(&self) -> u64 {
        // SAFETY: takes no argument; the thread's own session, or null.
        unsafe {
            let thd = (self.current_thd)();
            if thd.is_null() { 0 } else { ThdRef::of(thd).thread_id() }
        }
    }

    /// True if a thread pool has been loaded, whose threads poll connections in their own way.
    pub fn has_thread_pool(&self) -> bool {
        const LOADED: u64 = 2;
        // SAFETY: an exported word.
        unsafe { &*self.thread_handling }.load(Ordering::Relaxed) >= LOADED
    }

    /// Returns the events that the server generates for all audit plugins: a word for each class, with a bit for each kind. The caller may
    /// change them. None if the server does not export them.
    pub fn reported(&self) -> Option<&'static [AtomicU64; CLASSES]> {
        // SAFETY: null, or an exported array of aligned words, one per class, which the server itself reads without a lock. The server
        // writes them, under a lock, when plugins are installed or removed; `waking` checks again after its own changes.
        unsafe { self.reported.as_ref() }
    }

    /// True if the server lets plugins open sessions now.
    pub fn can_open_sessions(&self) -> bool {
        // SAFETY: takes no argument.
        unsafe { (self.are_sessions_available)() != 0 }
    }

    /// Writes a line to the error log. `level` is 0 for an error, 1 for a warning, 2 for a note.
    pub fn print(&self, plugin: *mut c_void, level: c_int, text: &CStr) {
        print(self.print, plugin, level, text);
    }

    /// Raises a warning or an error for the statement on this thread. `number` is one of the server's own error numbers.
    pub fn raise(&self, number: c_uint, is_warning: bool, text: &CStr) {
        const WARNING: c_int = 1;
        // SAFETY: as above; the session that runs on this thread.
        unsafe {
            match is_warning {
                true => (self.warn)((self.current_thd)(), WARNING, number, text.as_ptr()),
                false => (self.raise)(number, c"%s".as_ptr(), 0, text.as_ptr()),
            }
        }
    }

    /// Decodes a component of a file's path to the name of the schema or table that it stands for. Empty if it contains a zero byte.
    pub fn decode(&self, part: &[u8]) -> Vec<u8> {
        let Ok(part) = std::ffi::CString::new(part) else { return Vec::new() };
        let mut name = [0u8; 512];
        // SAFETY: a NUL-terminated text, and a buffer with its length; the pointer for errors may be null.
        let length = unsafe {
            (self.decode_name)(part.as_ptr(), name.as_mut_ptr().cast(), name.len(), true, std::ptr::null_mut())
        };
        name.get(..length).unwrap_or_default().to_vec()
    }
}

/// One session of the server. Query it only on the thread that runs it.
#[derive(Clone, Copy)]
pub struct ThdRef(*mut Thd);

impl ThdRef {
    /// Refers to a session of the server.
    ///
    /// # Safety
    /// `thd` is the session that the server passed to a callback which has not returned yet.
    pub unsafe fn of(thd: *mut Thd) -> ThdRef {
        ThdRef(thd)
    }

    /// Returns the server's id of the session, as in the process list. 0 for threads of the server that are not sessions.
    pub fn thread_id(&self) -> u64 {
        // SAFETY: `ThdRef::of`.
        u64::from(unsafe { (get().thread_id)(self.0) })
    }

    /// Returns the account whose privileges apply: copies of user and host part of the matched grant row. None if the server does not say.
    pub fn account(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut context = std::ptr::null_mut();
        // SAFETY: `ThdRef::of`; space for a pointer.
        let failed = unsafe { (get().security_context)(self.0, &mut context) } != 0;
        let option = |name: &CStr| {
            let mut text = LexString { str: std::ptr::null(), length: 0 };
            // SAFETY: the session's own context, and space for the string, which is valid while the session does not change it.
            let failed = unsafe { (get().security_option)(context, name.as_ptr(), (&raw mut text).cast()) } != 0;
            // SAFETY: as above.
            (!failed).then(|| unsafe { text.bytes() }.to_vec())
        };
        if failed || context.is_null() { None } else { Some((option(c"priv_user")?, option(c"priv_host")?)) }
    }

    /// Returns a copy of the name of the current database, empty if there is none. None if the server does not say.
    pub fn database(&self) -> Option<Vec<u8>> {
        let attributes = get().attributes?;
        let mut text: *mut c_void = std::ptr::null_mut();
        let mut name = [0u8; 512];
        // SAFETY: `ThdRef::of`; a string handle, which is destroyed, and a buffer with its length, in which the text ends with a NUL.
        unsafe {
            if (attributes.get)(self.0, c"schema".as_ptr(), (&raw mut text).cast()) {
                return None;
            }
            let failed = !text.is_null()
                && (attributes.convert)(text, name.as_mut_ptr().cast(), name.len() as u64 - 1, c"utf8mb4".as_ptr());
            if !text.is_null() {
                (attributes.destroy)(text);
            }
            if failed {
                return None;
            }
        }
        CStr::from_bytes_until_nul(&name).ok().map(|name| name.to_bytes().to_vec())
    }

    /// Gives the session all privileges. Only for a session of the plugin's own. Returns false if that failed; the session then keeps the
    /// privileges that it has.
    pub fn skip_grants(&self) -> bool {
        let mut context = std::ptr::null_mut();
        // SAFETY: `ThdRef::of`; space for a pointer; names that are static.
        unsafe {
            let failed = (get().security_context)(self.0, &mut context) != 0 || context.is_null();
            if !failed {
                (get().skip_grants)(context, c"skip-grants user".as_ptr(), c"skip-grants host".as_ptr());
            }
            !failed
        }
    }
}

impl Facts for ThdRef {
    fn pointer(&self) -> *mut Thd {
        self.0
    }

    fn isolation(&self) -> i32 {
        // SAFETY: `ThdRef::of`.
        unsafe { (get().isolation)(self.0) }
    }

    fn is_read_only(&self) -> bool {
        // SAFETY: `ThdRef::of`.
        unsafe { (get().is_read_only)(self.0) != 0 }
    }

    /// Returns the collation id, which is the first field of the public charset structure; 0 if the server does not say.
    fn collation_id(&self) -> u32 {
        // SAFETY: `ThdRef::of`; the server returns a pointer to a static charset description.
        unsafe { (get().charset)(self.0).as_ref().copied().unwrap_or(0) }
    }

    fn option(&self, bits: i64) -> bool {
        // SAFETY: `ThdRef::of`.
        unsafe { (get().test_options)(self.0, bits) != 0 }
    }
}

impl LexString {
    /// Returns the bytes of the string; empty if there is none.
    ///
    /// # Safety
    /// The server describes a string that lives as long as the result is used.
    pub unsafe fn bytes<'a>(&self) -> &'a [u8] {
        if self.str.is_null() {
            return b"";
        }
        // SAFETY: the caller's guarantee.
        unsafe { std::slice::from_raw_parts(self.str.cast(), self.length) }
    }
}
