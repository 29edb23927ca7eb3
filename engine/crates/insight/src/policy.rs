//! How many results of a statement's shape are worth storing. Pure: evidence in, a level out.
//!
//! At level 0 every result is stored, at level n one in 2^n, so that a shape whose results are not reused before they end
//! costs next to nothing and still shows when that changes. While results live little is held against a shape: only when
//! they end, outdated or evicted, must they have been worth it. But a shape that was asked for many times and hardly ever
//! twice, as far as its stored results can tell, need not fill the memory first. At the highest level most requests are not
//! even looked up.

/// One result in 64 is always stored.
pub const HIGHEST: u8 = 6;

/// Ends that are needed for a judgement against a shape.
const ENDS: u32 = 64;
/// Stored results, or hits, that are needed for one in its favour.
const STORED: u32 = 8;
const HITS: u32 = 32;
/// Requests that are enough to judge a shape by, whatever lives; of them, one in so many would have to be a hit.
const MANY: u32 = 8192;
const ONE_IN: u32 = 64;
/// Hits per stored result below which storing costs more than it gains, and above which more would gain more.
const POOR: f64 = 1.0 / 16.0;
const RICH: f64 = 1.0 / 2.0;

/// At the highest level one request in so many is looked up: of the rest, fewer than one in a hundred would be a hit.
const LOOKED_UP: u32 = 4;

/// What happened to a shape's results since the last judgement that changed its level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub misses: u32,
    pub stored: u32,
    pub hits: u32,
    /// Results outdated, evicted or replaced.
    pub ended: u32,
}

/// The next level, and with it a new collection of evidence; none: there is not enough of it.
pub fn judge(level: u8, evidence: Evidence) -> Option<u8> {
    let Evidence { misses, stored, hits, ended } = evidence;
    let hits = if level == HIGHEST { hits.saturating_mul(LOOKED_UP) } else { hits };
    let gain = f64::from(hits) / f64::from(stored.max(ended).max(1));
    let is_settled = ended >= ENDS && ended >= stored / 2;
    // Had all results been stored, there would be so many hits.
    let possible = u64::from(hits) << level;
    let is_asked_once = misses >= MANY && possible < u64::from(misses / ONE_IN);
    if is_settled && gain < POOR || is_asked_once {
        Some((level + 2).min(HIGHEST))
    } else if (stored >= STORED || hits >= HITS) && gain > RICH {
        Some(level.saturating_sub(3))
    } else {
        (is_settled || misses >= MANY).then_some(level)
    }
}

/// Whether the `n`th result of a shape at this level is to be stored.
pub fn admits(level: u8, n: u32) -> bool {
    n & ((1 << level) - 1) == 0
}

/// Whether the `n`th request of a session is to be looked up if its shape is at this level. Scattered, since sessions ask
/// for the same shapes in the same order again and again.
pub fn looks_up(level: u8, n: u32) -> bool {
    level < HIGHEST || n.wrapping_mul(0x9E37_79B9) < u32::MAX / LOOKED_UP
}
