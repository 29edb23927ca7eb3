//! The status variables: `Fqc_*`, and the eight `Qcache_*` variables of MySQL's query cache, which existing tools read.

use crate::declared::abi::*;
use crate::numbers::{FREE_BLOCKS, FREE_MEMORY, NUMBERS, ROWS, TOTAL_BLOCKS};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The variables of MySQL's query cache, with the counter behind each.
pub const CLASSIC: [(&CStr, &AtomicU64); 8] = [
    (c"Qcache_hits", &NUMBERS.hits),
    (c"Qcache_inserts", &NUMBERS.inserts),
    (c"Qcache_not_cached", &NUMBERS.not_cached),
    (c"Qcache_lowmem_prunes", &NUMBERS.evictions),
    (c"Qcache_queries_in_cache", &NUMBERS.queries),
    (c"Qcache_free_memory", &FREE_MEMORY),
    (c"Qcache_free_blocks", &FREE_BLOCKS),
    (c"Qcache_total_blocks", &TOTAL_BLOCKS),
];

/// A status variable that is a text instead of a number.
struct Words {
    name: &'static CStr,
    text: AtomicPtr<c_char>,
}

/// Why nothing is served on this server; empty if something can be.
static OBSTACLE: Words = Words::of(c"Fqc_obstacle");
/// Product and version of a server that the engine has not been tested on; empty on a tested one.
static UNTESTED_SERVER: Words = Words::of(c"Fqc_untested_server");
const WORDS: [&Words; 2] = [&OBSTACLE, &UNTESTED_SERVER];

impl Words {
    const fn of(name: &'static CStr) -> Words {
        Words { name, text: AtomicPtr::new(c"".as_ptr().cast_mut()) }
    }

    /// Sets the text of the variable. The previous text is leaked.
    fn show(&self, words: String) {
        let words = CString::new(words).unwrap_or_default();
        // The previous text is never freed, because a `SHOW` may be reading it.
        self.text.store(words.into_raw(), Ordering::Release);
    }
}

/// Sets `Fqc_obstacle`: why nothing is served. None empties it.
pub fn show_obstacle(words: Option<&'static str>) {
    OBSTACLE.show(words.unwrap_or_default().to_owned());
}

/// Sets `Fqc_untested_server`: product and version of the server. None empties it.
pub fn show_untested_server(server: Option<String>) {
    UNTESTED_SERVER.show(server.unwrap_or_default());
}

#[cfg(test)]
pub fn names() -> impl Iterator<Item = String> {
    let counted = ROWS.iter().chain(&CLASSIC).map(|(name, _)| *name);
    counted.chain(WORDS.map(|words| words.name)).map(|name| name.to_str().unwrap().to_owned())
}

/// A list of status variables for the server, which ends with an empty one.
pub struct Rows<const N: usize>(pub [ShowVar; N]);
// SAFETY: pointers to statics.
unsafe impl<const N: usize> Sync for Rows<N> {}

/// This plugin's own status variables, as the server reads them.
pub static LIST: Rows<{ ROWS.len() + WORDS.len() + 1 }> = Rows({
    let mut rows = list(ROWS);
    let mut i = 0;
    while i < WORDS.len() {
        let value = &WORDS[i].text as *const AtomicPtr<c_char> as *const c_void;
        rows[ROWS.len() + i] = ShowVar { name: WORDS[i].name.as_ptr(), value, kind: SHOW_CHAR_PTR, scope: SHOW_GLOBAL };
        i += 1;
    }
    rows
});
/// The `Qcache_*` variables, as the server reads them, for a server that has none of its own.
pub static CLASSIC_LIST: Rows<{ CLASSIC.len() + 1 }> = Rows(list(&CLASSIC));

/// Returns a row for each of the counters, followed by empty rows. The first empty row ends the list.
const fn list<const N: usize>(numbers: &[(&CStr, &'static AtomicU64)]) -> [ShowVar; N] {
    let mut rows = [ShowVar { name: null(), value: null(), kind: SHOW_UNDEF, scope: 0 }; N];
    let mut i = 0;
    while i < numbers.len() {
        rows[i] = ShowVar {
            name: numbers[i].0.as_ptr(),
            value: numbers[i].1 as *const AtomicU64 as *const c_void,
            kind: SHOW_ULONGLONG,
            scope: SHOW_GLOBAL,
        };
        i += 1;
    }
    rows
}
