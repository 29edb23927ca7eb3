//! The rows of `SHOW FQC QUERIES` and `SHOW FQC CURVE`, and the columns of `SHOW FQC REASONS`, the same in every host.

use crate::{Digest, Digests, Point};
use std::collections::{HashMap, HashSet};

/// A row of a result set; `None` stands for NULL.
pub type Row = Vec<Option<String>>;

/// The number of shapes that are shown because they saved the most time, and of those that are shown for the most unused results.
const SHOWN: usize = 500;

/// The columns of `SHOW FQC QUERIES`.
pub const QUERIES: [&str; 20] = [
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

/// The columns of `SHOW FQC REASONS`, which lists why results were not stored. `Share` is the part of all reads. `Statement` is the shape
/// that was refused most often for the reason.
pub const REASONS: [&str; 6] = ["Reason", "Count", "Share", "Time_us", "Meaning", "Statement"];

/// The columns of `SHOW FQC CURVE`.
pub const CURVE: [&str; 2] = ["Size_bytes", "Hit_ratio"];

/// The names of the host, the server's plugin or `fqc-near`, for reasons and tables. In this crate they only have numbers.
pub trait Names {
    /// Returns the name of a reason for not storing a result, by the host's number in [`Digest::reasons`].
    fn reason(&self, index: usize) -> &'static str;
    /// Returns the name of the reason that results of a shape are rarely reused, see [`Digest::passed_over`].
    fn passed_over(&self) -> &'static str;
    /// Returns the name of a table, with its schema, by the host's number in [`Digest::tables`]; none if the table is no longer known.
    fn table(&self, number: u32) -> Option<&str>;
}

/// Returns the rows of `SHOW FQC QUERIES`, ordered by the time saved, or that would have been saved while the cache was off. The 500 shapes
/// with the most are shown, and the 500 with the most unused results.
pub fn queries(digests: &Digests, names: &impl Names) -> Vec<Row> {
    let list = digests.list();
    let mut by_waste: Vec<_> = (0..list.len()).collect();
    by_waste.sort_by_key(|at| std::cmp::Reverse(list[*at].wasted()));
    let wasteful: HashSet<_> = by_waste.into_iter().take(SHOWN).collect();
    let shown = list.iter().enumerate().filter(|(at, _)| *at < SHOWN || wasteful.contains(at));
    shown.map(|(_, digest)| row(digest, names)).collect()
}

fn row(digest: &Digest, names: &impl Names) -> Row {
    let values = [
        format!("{:032x}", digest.id),
        String::from_utf8_lossy(&digest.text).into_owned(),
        digest.executions().to_string(),
        digest.hits.to_string(),
        ratio(digest.hits, digest.executions()),
        digest.stored.to_string(),
        digest.misses.saturating_sub(digest.stored).to_string(),
        reasons(digest, names),
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

/// Maps the host's number of each reason for not storing a result to the text of the shape that was refused most often for it. Shapes
/// without counters of their own are left out.
pub fn most_refused(digests: &Digests) -> HashMap<usize, String> {
    let mut list = digests.list();
    list.retain(|digest| digest.id != 0);
    let each =
        list.iter().flat_map(|digest| digest.reasons.iter().map(move |(reason, count)| (*reason, *count, digest)));
    let mut most: HashMap<usize, (u32, &Digest)> = HashMap::new();
    for (reason, count, digest) in each {
        let foremost = most.entry(reason).or_insert((count, digest));
        if foremost.0 < count {
            *foremost = (count, digest);
        }
    }
    most.into_iter().map(|(reason, (_, digest))| (reason, String::from_utf8_lossy(&digest.text).into_owned())).collect()
}

/// Formats the part of the requests that were hits with four decimals; `0.0000` if there were no requests.
pub fn ratio(hits: u64, requests: u64) -> String {
    format!("{:.4}", hits as f64 / requests.max(1) as f64)
}

/// Formats the names of a shape's tables, such as `shop.items, shop.prices`, without tables that are no longer known.
fn tables(digest: &Digest, names: &impl Names) -> String {
    let known = digest.tables.iter().filter_map(|table| names.table(*table));
    known.collect::<Vec<_>>().join(", ")
}

/// Formats how often each reason kept a result from being stored, most frequent first, such as `changed=3, table_unknown=1`.
fn reasons(digest: &Digest, names: &impl Names) -> String {
    let told = digest.reasons.iter().map(|(index, count)| (names.reason(*index), u64::from(*count)));
    let mut counts: Vec<_> = told.chain([(names.passed_over(), digest.passed_over())]).collect();
    counts.retain(|(_, count)| *count > 0);
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let told: Vec<_> = counts.iter().map(|(name, count)| format!("{name}={count}")).collect();
    told.join(", ")
}

/// Returns the rows of `SHOW FQC CURVE` from [`Curve::points`](crate::Curve::points): size and predicted hit ratio.
pub fn curve(points: &[Point]) -> Vec<Row> {
    let row = |point: &Point| vec![Some(point.size_bytes.to_string()), Some(format!("{:.4}", point.hit_ratio))];
    points.iter().map(row).collect()
}
