//! Redirects the server's own `Qcache_*` status variables while the plugin is loaded: their entries in `all_status_vars` point to the
//! plugin's counters, and are restored at unload. An entry is one aligned pointer, so a reader sees the old or the new one.

use crate::declared::status_variables::CLASSIC;
use crate::mariadb::abi::ShowVar;
use crate::mariadb::symbols;
use locks::Mutex;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// An entry that was redirected, by its name, and the pointer that it had before.
struct Redirected {
    name: &'static CStr,
    original: *mut c_void,
}
// SAFETY: the pointer is to a static of the server.
unsafe impl Send for Redirected {}

static REDIRECTED: Mutex<Vec<Redirected>> = Mutex::new(Vec::new());

/// Points the server's `Qcache_*` entries to the plugin's counters. Returns false if this server does not have all of them; those that it
/// has are then redirected, and the caller calls `restore`.
pub fn redirect() -> bool {
    let mut redirected = REDIRECTED.lock().unwrap_or_else(|e| e.into_inner());
    if !redirected.is_empty() {
        return true;
    }
    for_each_row(|name, value| {
        if let Some((name, ours)) = CLASSIC.into_iter().find(|(n, _)| *n == name) {
            let original = value.swap((ours as *const AtomicU64).cast_mut().cast(), Ordering::AcqRel);
            redirected.push(Redirected { name, original });
        }
    });
    redirected.len() == CLASSIC.len()
}

/// Points the server's `Qcache_*` entries to its own counters again.
pub fn restore() {
    let mut redirected = REDIRECTED.lock().unwrap_or_else(|e| e.into_inner());
    for_each_row(|name, value| {
        if let Some(row) = redirected.iter().find(|row| row.name == name) {
            value.store(row.original, Ordering::Release);
        }
    });
    redirected.clear();
}

/// Calls `visit` with name and value pointer of each of the server's status variables. Does not call it if their layout is not the expected
/// one.
fn for_each_row(mut visit: impl FnMut(&CStr, &AtomicPtr<c_void>)) {
    // SAFETY: the server's array of status rows; it moves only when a plugin with status variables is
    // installed or removed, which the server serialises with our own installation and removal.
    unsafe {
        let array = &*symbols::get().status_variables;
        if array.element_size != size_of::<ShowVar>() {
            return;
        }
        for index in 0..array.elements {
            let row = array.buffer.cast::<ShowVar>().add(index);
            if (*row).name.is_null() {
                continue;
            }
            let name = CStr::from_ptr((*row).name);
            visit(name, AtomicPtr::from_ptr((&raw mut (*row).value).cast()));
        }
    }
}
