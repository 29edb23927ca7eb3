//! Users write `query_cache_size`; the server knows `fqc_size`. Texts are translated on their way in.

use crate::LexMode;

/// The names that tools know, and ours.
pub const ALIASES: [(&str, &str); 6] = [
    ("query_cache_limit", "fqc_limit"),
    ("query_cache_min_res_unit", "fqc_min_res_unit"),
    ("query_cache_size", "fqc_size"),
    ("query_cache_strip_comments", "fqc_strip_comments"),
    ("query_cache_type", "fqc_type"),
    ("query_cache_wlock_invalidate", "fqc_wlock_invalidate"),
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    pub text: Vec<u8>,
    /// Each replaced name once, for translating column names back.
    pub renamed: Vec<Renamed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// As the user wrote it.
    pub theirs: Vec<u8>,
    pub ours: &'static str,
}

/// Replaces the known names where they stand for system variables: `None` if there are none.
pub fn rewrite(_text: &[u8], _mode: LexMode) -> Option<Rewrite> {
    None
}
