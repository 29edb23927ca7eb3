//! The three plugins that MySQL finds in the library. `fqc` is the cache itself. `fqc_events` receives statements and connections.
//! `query` only gives variables and counters their classic names, which have to begin with the name of their plugin.

use crate::admission;
use crate::connections;
use crate::declared::{status_variables, variables};
use crate::engine::is_loaded;
use crate::exports;
use crate::lifecycle;
use crate::mysql::abi::{self, Audit, Plugin};
use crate::mysql::obstacles::{self, Obstacle};
use crate::mysql::{events, product, symbols};
use crate::settings;
use crate::signal;
use std::ffi::{CStr, CString, c_int, c_void};
use std::panic::UnwindSafe;
use std::ptr::null;
use std::sync::atomic::{AtomicI32, Ordering};

#[repr(transparent)]
struct Declarations(#[allow(dead_code, reason = "read by the server")] [Plugin; 4]);
// SAFETY: pointers to statics, read-only for the server.
unsafe impl Sync for Declarations {}
// SAFETY: as above.
unsafe impl Sync for Audit {}

/// The version of the server that loads the library, which is set before the server reads it: a plugin of this type must name exactly that
/// version.
static DAEMON: AtomicI32 = AtomicI32::new(0);

/// Runs when the library is loaded, before the server reads anything in it. Does not decide about the load: `init` checks the server
/// itself.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_ALL: extern "C" fn() = name_server;

/// Fills in the server's version, and has an old MySQL refuse the library.
extern "C" fn name_server() {
    let number = exports::real_server_version().ok().and_then(|version| {
        let mut parts = version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse::<c_int>().ok());
        Some(parts.next()?? * 10_000 + parts.next()?? * 100 + parts.next()??)
    });
    DAEMON.store(number.unwrap_or(0) << 8, Ordering::Relaxed);
    if number.is_some_and(|number| number < FIRST_WITH_THIS_PLUGIN) {
        _mysql_plugin_interface_version_.store(0, Ordering::Relaxed);
    }
}

/// The first server version, as a number, whose `Plugin` has `check_uninstall`. An older MySQL would read every field after it as the next
/// one, and crash. It checks the interface version before it reads a plugin, but accepts a newer one.
const FIRST_WITH_THIS_PLUGIN: c_int = 8_00_00;

static AUDIT: Audit = Audit {
    interface_version: abi::AUDIT_INTERFACE_VERSION,
    release_thd: None,
    event_notify: Some(events::event),
    class_mask: events::MASK,
};

/// Declares a plugin without functions and variables.
const fn plugin(kind: c_int, info: *const c_void, name: &'static CStr, description: &'static CStr) -> Plugin {
    Plugin {
        kind,
        info,
        name: name.as_ptr(),
        author: c"The Fast Query Cache authors".as_ptr(),
        description: description.as_ptr(),
        license: abi::LICENSE_BSD,
        init: None,
        check_uninstall: None,
        deinit: None,
        version: 0x0001,
        status_vars: null(),
        system_vars: null(),
        reserved: null(),
        flags: 0,
    }
}

const END: Plugin =
    Plugin { name: null(), author: null(), description: null(), license: 0, version: 0, ..plugin(0, null(), c"", c"") };

#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "the server looks the symbol up by this name")]
pub static _mysql_plugin_interface_version_: AtomicI32 = AtomicI32::new(abi::PLUGIN_INTERFACE_VERSION);
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "the server looks the symbol up by this name")]
pub static _mysql_sizeof_struct_st_plugin_: c_int = size_of::<Plugin>() as c_int;
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, private_interfaces, reason = "the server looks the symbol up by this name")]
pub static _mysql_plugin_declarations_: Declarations = Declarations([
    Plugin {
        init: Some(init),
        deinit: Some(deinit),
        status_vars: status_variables::LIST.0.as_ptr(),
        system_vars: variables::LIST.0.as_ptr().cast(),
        ..plugin(
            abi::DAEMON_PLUGIN,
            (&raw const DAEMON).cast(),
            c"fqc",
            c"Fast Query Cache: answers repeated reads, never stale",
        )
    },
    Plugin {
        init: Some(begin_events),
        deinit: Some(end_events),
        ..plugin(
            abi::AUDIT_PLUGIN,
            (&raw const AUDIT).cast(),
            c"fqc_events",
            c"What fqc hears of statements and connections",
        )
    },
    Plugin {
        init: Some(begin_names),
        status_vars: status_variables::CLASSIC_LIST.0.as_ptr(),
        system_vars: variables::CLASSIC_LIST.0.as_ptr().cast(),
        ..plugin(
            abi::DAEMON_PLUGIN,
            (&raw const DAEMON).cast(),
            c"query",
            c"query_cache_type and its like, and Qcache_*, of fqc",
        )
    },
    END,
]);

unsafe extern "C" fn init(plugin: *mut c_void) -> c_int {
    // A fault here leaves the plugin unloaded.
    let started = std::panic::catch_unwind(|| lifecycle::start(product::find(plugin)?));
    match started.unwrap_or_else(|_| Err("a fault while starting".into())) {
        Ok(()) => {
            let _ = std::panic::catch_unwind(reconcile);
            0
        }
        Err(reason) => refuse(plugin, &reason),
    }
}

/// Logs why a plugin is not loaded, what the effect is and what to do. Returns 1, with which its start fails. An administrator may read the
/// line without any context.
fn refuse(plugin: *mut c_void, reason: &str) -> c_int {
    let line = format!(
        "not loaded, and nothing was changed: {reason}. The server goes on without this plugin. To start it without this line in \
         its log, take fqc.so out of plugin-load-add. What each version needs is in the guide own-mysql.md"
    );
    symbols::print_error(plugin, &CString::new(line).unwrap_or_default());
    1
}

unsafe extern "C" fn deinit(_: *mut c_void) -> c_int {
    let _ = std::panic::catch_unwind(|| {
        if is_loaded() {
            lifecycle::stop();
        }
    });
    0
}

unsafe extern "C" fn begin_names(plugin: *mut c_void) -> c_int {
    begin_part(plugin, reconcile)
}

/// Starts `fqc_events` or `query`, by `begin`. They are refused if `fqc` cannot be loaded into this server. Returns what the server
/// expects: 0 on success.
fn begin_part(plugin: *mut c_void, begin: impl FnOnce() + UnwindSafe) -> c_int {
    match std::panic::catch_unwind(|| admission::check().map(|()| begin())) {
        Ok(Ok(())) => 0,
        Ok(Err(reason)) => refuse(plugin, &reason),
        Err(_) => 1,
    }
}

/// Makes the variables with two names equal, and passes them on if the plugin is loaded.
fn reconcile() {
    variables::reconcile();
    if is_loaded() {
        settings::changed_without_set();
    }
}

unsafe extern "C" fn begin_events(plugin: *mut c_void) -> c_int {
    begin_part(plugin, || {
        if is_loaded() {
            signal::wake();
        }
    })
}

/// Called when `fqc_events` is removed. Connections accepted from then on are not reported, so nothing is served until it is installed
/// again.
unsafe extern "C" fn end_events(_: *mut c_void) -> c_int {
    let _ = std::panic::catch_unwind(|| {
        obstacles::set(Obstacle::NoEvents, true);
        connections::refuse();
        if is_loaded() {
            settings::note_obstacle();
        }
    });
    0
}
