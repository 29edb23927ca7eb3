//! Fast Query Cache as a plugin of a running MariaDB or MySQL server.
//!
//! This crate is the host: it hooks the server's socket calls, receives its audit events and registers variables. The `session` crate,
//! which does no I/O, makes every decision. Invariants:
//! - Nothing in the server changes before every check at load has passed.
//! - No panic leaves a hook: it is caught, the cache is switched off, and bytes are passed on.
//! - No code of this library is ever unmapped (`-z nodelete`), because a thread may still be inside a hook.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

mod admission;
mod connections;
mod containment;
mod declared;
mod engine;
mod exports;
mod facts;
mod faults;
mod following;
mod hooks;
mod lifecycle;
mod log;
mod mariadb;
mod mysql;
mod numbers;
mod pointers;
mod server;
mod settings;
mod signal;
mod sockets;
mod version;
mod worker;
mod worker_permission;

use declared::{status_variables, variables};
use mariadb::abi::{self, Audit, Plugin};
use mariadb::{classes, events, product};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null;

#[repr(transparent)]
struct Declarations(#[allow(dead_code, reason = "read by the server")] [Plugin; 2]);
// SAFETY: pointers to statics, read-only for the server.
unsafe impl Sync for Declarations {}
// SAFETY: as above.
unsafe impl Sync for Audit {}

static AUDIT: Audit = Audit {
    interface_version: abi::AUDIT_INTERFACE_VERSION,
    release_thd: None,
    event_notify: Some(events::event),
    class_mask: [classes::ALL],
};
const END: Plugin = Plugin {
    kind: 0,
    info: null(),
    name: null(),
    author: null(),
    description: null(),
    license: 0,
    init: None,
    deinit: None,
    version: 0,
    status_vars: null(),
    system_vars: null(),
    version_info: null(),
    maturity: 0,
};

#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "the server looks the symbol up by this name")]
pub static _maria_plugin_interface_version_: c_int = abi::MARIA_PLUGIN_INTERFACE_VERSION;
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "the server looks the symbol up by this name")]
pub static _maria_sizeof_struct_st_plugin_: c_int = size_of::<Plugin>() as c_int;
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, private_interfaces, reason = "the server looks the symbol up by this name")]
pub static _maria_plugin_declarations_: Declarations = Declarations([
    Plugin {
        kind: abi::AUDIT_PLUGIN,
        info: (&raw const AUDIT).cast(),
        name: c"fqc".as_ptr(),
        author: c"The Fast Query Cache authors".as_ptr(),
        description: c"Fast Query Cache: answers repeated reads, never stale".as_ptr(),
        license: abi::LICENSE_BSD,
        init: Some(init),
        deinit: Some(deinit),
        version: 0x0001,
        status_vars: status_variables::LIST.0.as_ptr(),
        system_vars: variables::LIST.0.as_ptr().cast(),
        version_info: version::TEXT.as_ptr(),
        maturity: abi::MATURITY_STABLE as c_uint,
    },
    END,
]);

unsafe extern "C" fn init(_: *mut c_void) -> c_int {
    // A fault here leaves the plugin unloaded.
    let started = std::panic::catch_unwind(|| lifecycle::start(product::find()?))
        .unwrap_or_else(|_| Err("a fault while starting".into()));
    match started {
        Ok(()) => 0,
        Err(reason) => {
            log::error(&format!("not loaded, and nothing was changed: {reason}"));
            1
        }
    }
}

unsafe extern "C" fn deinit(_: *mut c_void) -> c_int {
    let _ = std::panic::catch_unwind(lifecycle::stop);
    0
}
