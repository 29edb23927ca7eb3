//! Status variables: `Fqc_*` of this plugin, and the eight `Qcache_*` that every tool knows.
//!
//! The server's own `Qcache_*` rows are redirected while the plugin is loaded: their entries in `all_status_vars`
//! point at our numbers, and point back when it goes. A row is one aligned pointer, so a reader sees the old or the new.

use crate::mariadb::abi::*;
use crate::mariadb::symbols as server;
use std::ffi::{CStr, c_void};
use std::ptr::null;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

macro_rules! numbers {
    ($($field:ident $name:literal)*) => {
        /// One number per status row, written by `refresh`.
        pub struct Numbers { $(pub $field: AtomicU64,)* }
        pub static NUMBERS: Numbers = Numbers { $($field: AtomicU64::new(0),)* };
        const ROWS: &[(&CStr, &AtomicU64)] = &[$(($name, &NUMBERS.$field),)*];
    };
}

numbers! {
    awake c"Fqc_awake"
    bypassed c"Fqc_connections_bypassed"
    bytes_live c"Fqc_bytes_live"
    bytes_used c"Fqc_bytes_used"
    connections c"Fqc_connections_tracked"
    contained c"Fqc_contained_errors"
    differences c"Fqc_differences"
    evictions c"Fqc_evictions"
    hits c"Fqc_hits"
    inserts c"Fqc_inserts"
    invalidations c"Fqc_invalidations"
    outlived c"Fqc_invalidations_avoided"
    misses c"Fqc_misses"
    not_cached c"Fqc_not_cached"
    observed_hits c"Fqc_observed_hits"
    observed_requests c"Fqc_observed_requests"
    observed_saved_us c"Fqc_observed_time_saved_us"
    queries c"Fqc_queries_in_cache"
    saved_bytes c"Fqc_bytes_saved"
    saved_us c"Fqc_time_saved_us"
    stale_hits c"Fqc_stale_hits"
    verified c"Fqc_verified"
}

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
pub static FREE_MEMORY: AtomicU64 = AtomicU64::new(0);
pub static FREE_BLOCKS: AtomicU64 = AtomicU64::new(0);
pub static TOTAL_BLOCKS: AtomicU64 = AtomicU64::new(0);

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

pub fn holding(work: &mut dyn FnMut()) {
    let _held = REDIRECTED.lock().unwrap_or_else(|e| e.into_inner());
    work();
}

fn for_each_row(mut visit: impl FnMut(&str, &AtomicPtr<c_void>)) {
    // SAFETY: the server's array of status rows; it moves only when a plugin with status variables is
    // installed or removed, which the server serialises with our own installation and removal.
    unsafe {
        let array = &*server::get().status_variables;
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

/// Brings every number up to date.
pub fn refresh(engine: &session::Engine) {
    let stats = engine.cache().stats();
    let counts = engine.counts();
    let set = |number: &AtomicU64, value: u64| number.store(value, Ordering::Relaxed);
    set(&NUMBERS.awake, u64::from(engine.vigil().is_awake()));
    set(&NUMBERS.bytes_live, stats.live_bytes);
    set(&NUMBERS.bytes_used, stats.used_bytes);
    set(&NUMBERS.evictions, stats.evictions);
    set(&NUMBERS.queries, stats.entries);
    set(&NUMBERS.hits, counts.hits.sum());
    set(&NUMBERS.misses, counts.misses.sum());
    set(&NUMBERS.inserts, counts.inserts.sum());
    set(&NUMBERS.not_cached, counts.not_cached.sum());
    set(&NUMBERS.invalidations, counts.invalidations.sum());
    set(&NUMBERS.outlived, counts.outlived.sum());
    set(&NUMBERS.stale_hits, counts.stale_hits.sum());
    set(&NUMBERS.saved_bytes, counts.saved_bytes.sum());
    set(&NUMBERS.saved_us, counts.saved_ns.sum() / 1000);
    let trial = engine.insight().curve.trial();
    set(&NUMBERS.observed_requests, trial.requests);
    set(&NUMBERS.observed_hits, trial.hits);
    set(&NUMBERS.observed_saved_us, trial.saved_us);
    set(&NUMBERS.verified, engine.insight().verified.sum());
    set(&NUMBERS.differences, engine.insight().differences.sum());
    set(&FREE_MEMORY, engine.cache().budget().saturating_sub(stats.used_bytes));
    set(&FREE_BLOCKS, u64::from(engine.cache().budget() > stats.used_bytes));
    set(&TOTAL_BLOCKS, stats.segments);
}
