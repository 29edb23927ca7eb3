//! Decides how many results of one shape of statement are worth storing. Pure: it takes evidence and returns a level.
//!
//! - Level 0: every result is stored.
//! - Level n above 0: a result is stored only if its statement was missed before, not long ago, and then only one in 2^(n-1). A shape whose
//!   results end before they are reused costs next to nothing this way, and a change is still noticed. Level 1 is for
//!   shapes with some reused results and mostly unused ones.
//!
//! The level rises when results have ended, invalidated or evicted, without having been worth their cost. While results live, little counts
//! against their shape, with two exceptions. A shape whose statements are hardly ever repeated does not have to fill the memory
//! first: it gets the highest level at once, where most requests are not even looked up, and returns as soon as its statements are
//! repeated. And where results are large, a few that were not requested again are enough for level 1, because filling new memory
//! costs more than anything else.

/// The highest level, at which the fewest results are stored: of the requests that are looked up and missed, one in 32 of the repeated
/// statements and one in 64 of all.
pub const HIGHEST: u8 = 6;

/// The least number of results that must have been invalidated, evicted or replaced before fewer results of a shape are
/// stored because of them.
const ENDS: u32 = 64;
/// The least number of stored results of a shape before more of its results are stored because they are hit.
const STORED: u32 = 8;
/// The least number of hits of a shape before more of its results are stored because of them.
const HITS: u32 = 32;
/// The misses that are enough to see that hardly any statement is repeated.
const FEW: u32 = 512;
/// The misses that are enough to see that a good part of the statements are repeated.
const MANY: u32 = 2048;
/// If fewer than one request in this many is repeated, hardly any is.
const HARDLY_ANY: u64 = 64;
/// If more than one request in this many is repeated, a good part is.
const GOOD_PART: u64 = 12;
/// After this many bytes of stored results, large results must have shown some reuse.
const BULK: u64 = 256 << 10;
/// After this many stored results, large results must have shown some reuse.
const SOME: u32 = 16;
/// The hits per stored result below which even the results of repeated statements are not worth storing.
const POOR: f64 = 1.0 / 16.0;
/// The hits per stored result above which every result is worth storing.
const RICH: f64 = 1.0 / 2.0;

/// One in this many requests of a shape is looked up in the cache while the shape has the highest level, where the
/// fewest results are stored. Fewer than one in a hundred of the others would be a hit.
const LOOKED_UP: u32 = 4;

/// What happened to the requests and results of a shape since [`judge`] last returned a level for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Requests that the server answered, without those whose result could not be stored for a temporary reason.
    pub misses: u32,
    /// The misses of statements that had been missed recently before. Not counted at level 0.
    pub returns: u32,
    /// Misses whose result was stored.
    pub stored: u32,
    pub stored_bytes: u64,
    /// Requests that the cache answered.
    pub hits: u32,
    /// Results that were invalidated, evicted or replaced.
    pub ended: u32,
    /// True if the memory is not full: an unused result then evicts no other.
    pub has_room: bool,
}

/// Decides how many results of a shape (statements that differ only in literals) are stored from now on. Returns the next level, from 0
/// (all) to [`HIGHEST`] (fewest), which may be the present one; the caller then collects evidence from zero again. None: there is not
/// enough evidence yet, so the level stays and the caller goes on collecting.
pub fn judge(level: u8, evidence: Evidence) -> Option<u8> {
    let Evidence { misses, returns, stored, stored_bytes, hits, ended, has_room } = evidence;
    let looked_up = if level == HIGHEST { LOOKED_UP } else { 1 };
    let hits = hits.saturating_mul(looked_up);
    let gain = f64::from(hits) / f64::from(stored.max(ended).max(1));
    let is_bulky = stored >= SOME && stored_bytes >= BULK;
    let is_settled = ended >= ENDS && ended >= stored / 2;
    // The hits that there would be if all results had been stored and had lived.
    let possible = u64::from(hits) + u64::from(returns) * u64::from(looked_up);
    let comes_back = |one_in: u64| possible * one_in >= u64::from(misses);
    let lives = u64::from(ended) * 2 <= u64::from(stored);
    // If results were stored at the first request, each repeated one would have been a hit, and each other one unused, which costs little
    // while there is room for all.
    let pays_at_once = lives && has_room || f64::from(returns) >= RICH * f64::from(misses - returns.min(misses));
    if is_settled && gain < POOR {
        Some((level + 2).min(HIGHEST))
    } else if level < HIGHEST && misses >= FEW && !comes_back(HARDLY_ANY) {
        Some(HIGHEST)
    } else if (stored >= STORED || hits >= HITS) && gain > RICH
        || level > 0 && misses >= MANY && lives && comes_back(GOOD_PART)
    {
        Some(level.saturating_sub(3).max(u8::from(level > 0 && !pays_at_once)))
    } else if level == 0 && (is_settled && gain < RICH || is_bulky && gain < POOR) {
        Some(1)
    } else {
        (is_settled || misses >= MANY).then_some(level)
    }
}

/// True if the result of a missed request is to be stored. `level` is that of its shape, from 0 (all results are
/// stored) to [`HIGHEST`] (the fewest); `n` counts the shape's misses on one thread, and `returns` is true if the same
/// statement was missed recently before.
pub fn admits(level: u8, n: u32, returns: bool) -> bool {
    let one_in = |power: u8| n & ((1 << power) - 1) == 0;
    level == 0 || one_in(HIGHEST) || returns && one_in(level - 1)
}

/// True if the `n`th request of a session is to be looked up in the cache. `level` is that of its shape, from 0 (every
/// request is) to [`HIGHEST`]. Which requests are is scattered, because sessions request the same shapes in the same
/// order again and again.
pub fn looks_up(level: u8, n: u32) -> bool {
    level < HIGHEST || n.wrapping_mul(0x9E37_79B9) < u32::MAX / LOOKED_UP
}
