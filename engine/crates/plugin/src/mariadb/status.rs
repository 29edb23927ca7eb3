//! Status variables: `Fqc_*` of this plugin, and the eight `Qcache_*` that every tool knows.
//!
//! The server's own `Qcache_*` rows are redirected while the plugin is loaded: their entries in `all_status_vars`
//! point at our numbers, and point back when it goes. A row is one aligned pointer, so a reader sees the old or the new.

use crate::mariadb::abi::*;
use crate::mariadb::symbols;
use crate::numbers::{FREE_BLOCKS, FREE_MEMORY, NUMBERS, ROWS, TOTAL_BLOCKS};
use locks::Mutex;
use std::ffi::{CStr, c_void};
use std::ptr::null;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Rows of MySQL's query cache, by the name that the server lists them under.
static CLASSIC: [(&str, &AtomicU64); 8] = [
    ("Qcache_hits", &NUMBERS.hits),
    ("Qcache_inserts", &NUMBERS.inserts),
    ("Qcache_not_cached", &NUMBERS.not_cached),
    ("Qcache_lowmem_prunes", &NUMBERS.evictions),
    ("Qcache_queries_in_cache", &NUMBERS.queries),
    ("Qcache_free_memory", &FREE_MEMORY),
    ("Qcache_free_blocks", &FREE_BLOCKS),
    ("Qcache_total_blocks", &TOTAL_BLOCKS),
];
#[cfg(test)]
pub fn names() -> impl Iterator<Item = String> {
    let own = ROWS.iter().map(|(name, _)| name.to_str().unwrap());
    own.chain(CLASSIC.iter().map(|(name, _)| *name)).map(str::to_owned)
}

pub struct Rows(pub [ShowVar; ROWS.len() + 1]);
// SAFETY: pointers to statics.
unsafe impl Sync for Rows {}

/// The list that the server shows as this plugin's own status variables.
pub static LIST: Rows = Rows({
    let mut rows = [ShowVar { name: null(), value: null(), kind: SHOW_UNDEF }; ROWS.len() + 1];
    let mut i = 0;
    while i < ROWS.len() {
        rows[i] = ShowVar {
            name: ROWS[i].0.as_ptr(),
            value: ROWS[i].1 as *const AtomicU64 as *const c_void,
            kind: SHOW_ULONGLONG,
        };
        i += 1;
    }
    rows
});

/// What a redirected row pointed at before.
struct Redirected {
    name: &'static str,
    original: *mut c_void,
}
// SAFETY: the pointer is to a static of the server.
unsafe impl Send for Redirected {}

static REDIRECTED: Mutex<Vec<Redirected>> = Mutex::new(Vec::new());

/// Points the server's `Qcache_*` rows at our numbers; false if this server has no such rows.
pub fn redirect() -> bool {
    let mut redirected = REDIRECTED.lock().unwrap_or_else(|e| e.into_inner());
    if !redirected.is_empty() {
        return true;
    }
    for_each_row(|name, value| {
        if let Some((name, ours)) = CLASSIC.iter().find(|(n, _)| *n == name) {
            let original = value.swap((*ours as *const AtomicU64).cast_mut().cast(), Ordering::AcqRel);
            redirected.push(Redirected { name, original });
        }
    });
    redirected.len() == CLASSIC.len()
}

pub fn restore() {
    let mut redirected = REDIRECTED.lock().unwrap_or_else(|e| e.into_inner());
    for_each_row(|name, value| {
        if let Some(row) = redirected.iter().find(|row| row.name == name) {
            value.store(row.original, Ordering::Release);
        }
    });
    redirected.clear();
}

fn for_each_row(mut visit: impl FnMut(&str, &AtomicPtr<c_void>)) {
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
            let name = CStr::from_ptr((*row).name).to_str().unwrap_or("");
            visit(name, AtomicPtr::from_ptr((&raw mut (*row).value).cast()));
        }
    }
}
