//! Functions and variables that MariaDB exports and this plugin uses, looked up once at load.
//!
//! Invariant: nothing here is called unless every symbol was found. A server that lacks one is refused at load.

use crate::exports::{function, symbol, variable};
use crate::facts::Facts;
use crate::mariadb::abi::{DynamicArray, Thd};
use std::ffi::{CStr, c_char, c_int, c_longlong, c_uint, c_ulong};
use std::ptr::null;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// The addresses of what the server exports. All sessions and threads share one value.
pub struct Symbols {
    thread_id: unsafe extern "C" fn(*const Thd) -> c_ulong,
    isolation: unsafe extern "C" fn(*const Thd) -> c_int,
    is_read_only: unsafe extern "C" fn(*const Thd) -> c_int,
    charset: unsafe extern "C" fn(*const Thd) -> *const c_uint,
    priv_user: unsafe extern "C" fn(*const Thd, *mut usize) -> *const c_char,
    priv_host: unsafe extern "C" fn(*const Thd, *mut usize) -> *const c_char,
    started: *const AtomicU8,
    ending: *const AtomicU8,
    thread_handling: *const AtomicU64,
    /// The classes of events that the server generates, one bit each. Null if the server does not export a variable of this name and size.
    reported_classes: *const AtomicU64,
    /// The number of changes of plugins so far. Null if the server does not export a variable of this name and size.
    plugins_version: *const AtomicU32,
    /// True if this server is a node of a Galera cluster. Null if the server does not export a variable of this name and size.
    is_cluster_node: *const AtomicU8,
    /// The server's list of status variables (`all_status_vars`).
    pub status_variables: *mut DynamicArray,
    /// The server's function for errors, warnings and lines of the log: error number, format, flags `ME_...`, arguments.
    pub print: unsafe extern "C" fn(c_uint, *const c_char, c_ulong, ...),
    test_options: unsafe extern "C" fn(*const Thd, c_longlong) -> c_longlong,
    /// Tells if a session is a replication applier. None if the server does not export the function.
    is_applier: Option<unsafe extern "C" fn(*const Thd) -> u8>,
}

// SAFETY: the pointers are to functions and statics of the main executable, which outlives every thread.
unsafe impl Send for Symbols {}
// SAFETY: as above; the pointed-to scalars are read through atomics or under the server's own locks.
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

impl Symbols {
    fn find() -> Result<Symbols, String> {
        // SAFETY: each of these functions has the signature of its field in the public headers.
        unsafe {
            Ok(Symbols {
                thread_id: function(c"thd_get_thread_id")?,
                isolation: function(c"thd_tx_isolation")?,
                is_read_only: function(c"thd_tx_is_read_only")?,
                charset: function(c"thd_charset")?,
                priv_user: function(c"thd_priv_user")?,
                priv_host: function(c"thd_priv_host")?,
                // The size of these two depends on the server: only their lowest byte is read.
                started: symbol(c"mysqld_server_started")?.cast(),
                ending: symbol(c"abort_loop")?.cast(),
                thread_handling: variable(c"thread_handling")?,
                reported_classes: variable(c"mysql_global_audit_mask").unwrap_or(null()),
                plugins_version: variable(c"global_plugin_version").unwrap_or(null()),
                is_cluster_node: variable(c"WSREP_ON_").unwrap_or(null()),
                status_variables: variable::<DynamicArray>(c"all_status_vars")?.cast_mut(),
                print: function(c"my_printf_error")?,
                test_options: function(c"thd_test_options")?,
                is_applier: function(c"thd_is_slave").ok(),
            })
        }
    }

    /// True once the server accepts connections, so that its catalogue may be queried.
    pub fn has_started(&self) -> bool {
        // SAFETY: an exported byte-sized flag, only ever stored to; relaxed: no data is published with it.
        unsafe { &*self.started }.load(std::sync::atomic::Ordering::Relaxed) != 0
    }

    /// True if the server accepts no more connections and is about to free what statements need.
    pub fn is_ending(&self) -> bool {
        // SAFETY: as above.
        unsafe { &*self.ending }.load(std::sync::atomic::Ordering::Relaxed) != 0
    }

    /// True if this server is a node of a Galera cluster (`wsrep_on`, with a provider).
    pub fn is_cluster_node(&self) -> bool {
        // SAFETY: null in a server built without Galera, or an exported byte that the server keeps valid.
        unsafe { self.is_cluster_node.as_ref() }
            .is_some_and(|flag| flag.load(std::sync::atomic::Ordering::Relaxed) != 0)
    }

    /// Returns the classes of events that the server generates for all audit plugins, one bit each. The caller may change them. None if the
    /// server does not export them.
    pub fn reported_classes(&self) -> Option<&'static AtomicU64> {
        // SAFETY: null, or an exported aligned word, which the server itself reads without a lock. The server writes it, under a lock, when
        // plugins are installed or removed; `waking` checks again after its own changes.
        unsafe { self.reported_classes.as_ref() }
    }

    /// Makes every session acquire its list of audit plugins again, at its next command. Does nothing if the server does not export the
    /// number that this needs.
    pub fn renew_plugins(&self) {
        // SAFETY: null, or an exported aligned word that sessions read without a lock, to compare it. Losing a concurrent change by the
        // server does no harm, because the number differs from its previous value either way.
        if let Some(version) = unsafe { self.plugins_version.as_ref() } {
            version.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    /// True if the server runs a thread pool: connections may move between threads, and the server polls the socket itself.
    pub fn has_thread_pool(&self) -> bool {
        // SAFETY: an exported word, fixed before plugins load.
        unsafe { &*self.thread_handling }.load(std::sync::atomic::Ordering::Relaxed) >= 2
    }
}

/// One session of the server. Query it only on the thread that runs it.
pub struct ThdRef(*mut Thd);

impl ThdRef {
    /// Refers to a session of the server.
    ///
    /// # Safety
    /// `thd` is the session that the server passed to a callback which has not returned yet.
    pub unsafe fn of(thd: *mut Thd) -> ThdRef {
        ThdRef(thd)
    }

    /// Returns the server's id of the session, as in the process list.
    pub fn thread_id(&self) -> u64 {
        // SAFETY: `ThdRef::of`.
        unsafe { (get().thread_id)(self.0) }
    }

    /// True if the server shows which sessions are replication appliers. If not, `is_applier` is false for all.
    pub fn knows_appliers() -> bool {
        get().is_applier.is_some()
    }

    /// True if the session is a replication applier: it applies changes from another server. False if the server cannot tell.
    pub fn is_applier(&self) -> bool {
        // SAFETY: `ThdRef::of`.
        get().is_applier.is_some_and(|is_applier| unsafe { is_applier(self.0) } != 0)
    }

    /// Returns the account whose privileges apply: copies of user and host part of the matched grant row.
    pub fn account(&self) -> (Vec<u8>, Vec<u8>) {
        let mut length = 0usize;
        // SAFETY: `ThdRef::of`; both return NUL-terminated strings or null, the length is also written.
        unsafe {
            let user = bytes_until_nul((get().priv_user)(self.0, &mut length)).to_vec();
            let host = bytes_until_nul((get().priv_host)(self.0, &mut length)).to_vec();
            (user, host)
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

/// Returns the bytes of a C string; empty if it is null.
///
/// # Safety
/// `text` is null or NUL-terminated and lives as long as the result is used.
unsafe fn bytes_until_nul<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return b"";
    }
    // SAFETY: the caller's guarantee.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}
