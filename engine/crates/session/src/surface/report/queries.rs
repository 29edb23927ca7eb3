//! `SHOW FQC QUERIES`: what the cache does for each shape of statement. Those that saved the most time first, or would have; with them,
//! those for which the most was stored in vain.

use super::rows::Rows;
use crate::engine::Engine;
use crate::reason::{self, Own};
use ::insight::Digest;
use std::collections::{HashMap, HashSet};

/// Shapes shown for what they saved, and as many for what they wasted.
const SHOWN: usize = 500;

pub const COLUMNS: [&str; 20] = [
    "Digest",
    "Query",
    "Executions",
    "Hits",
    "Hit_ratio",
    "Inserts",
    "Not_cached",
    "Reasons",
    "Outdated",
    "Wasted",
    "Time_saved_us",
    "Bytes_saved",
    "Bytes_stored",
    "Stored_one_in",
    "Stale_hits",
    "Tables",
    "Observed_requests",
    "Observed_hits",
    "Observed_hit_ratio",
    "Observed_time_saved_us",
];

pub fn rows(engine: &Engine) -> Rows {
    let list = engine.insight().digests.list();
    let mut by_waste: Vec<_> = (0..list.len()).collect();
    by_waste.sort_by_key(|at| std::cmp::Reverse(list[*at].wasted()));
    let wasteful: HashSet<_> = by_waste.into_iter().take(SHOWN).collect();
    let shown = list.iter().enumerate().filter(|(at, _)| *at < SHOWN || wasteful.contains(at));
    let names = names(engine);
    shown.map(|(_, digest)| row(digest, &names)).collect()
}

/// What tables are called, by the number that a digest has of them.
fn names(engine: &Engine) -> HashMap<u32, String> {
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let tables = engine.tables().list().into_iter();
    tables.map(|table| (table.any.0, format!("{}.{}", text(&table.db), text(&table.name)))).collect()
}

fn row(digest: &Digest, names: &HashMap<u32, String>) -> Vec<Option<String>> {
    let values = [
        format!("{:032x}", digest.id),
        String::from_utf8_lossy(&digest.text).into_owned(),
        digest.executions().to_string(),
        digest.hits.to_string(),
        ratio(digest.hits, digest.executions()),
        digest.stored.to_string(),
        digest.misses.saturating_sub(digest.stored).to_string(),
        reasons(digest),
        digest.outdated.to_string(),
        digest.wasted().to_string(),
        digest.saved_us.to_string(),
        digest.saved_bytes.to_string(),
        digest.stored_bytes.to_string(),
        (1u64 << digest.level).to_string(),
        digest.stale_hits.to_string(),
        tables(digest, names),
        digest.observed.requests.to_string(),
        digest.observed.hits.to_string(),
        ratio(digest.observed.hits, digest.observed.requests),
        digest.observed.saved_us.to_string(),
    ];
    values.into_iter().map(Some).collect()
}

fn ratio(hits: u64, requests: u64) -> String {
    format!("{:.4}", hits as f64 / requests.max(1) as f64)
}

/// `shop.items, shop.prices`
fn tables(digest: &Digest, names: &HashMap<u32, String>) -> String {
    let known = digest.tables.iter().filter_map(|table| names.get(table));
    known.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// `table_unknown=1, changed=3`
fn reasons(digest: &Digest) -> String {
    let mut counts: Vec<_> = digest.reasons.iter().map(|(index, count)| (*index, u64::from(*count))).collect();
    counts.push((Own::NotReused as usize, digest.passed_over()));
    counts.retain(|(_, count)| *count > 0);
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let told: Vec<_> = counts.iter().map(|(index, count)| format!("{}={count}", reason::name(*index))).collect();
    told.join(", ")
}
