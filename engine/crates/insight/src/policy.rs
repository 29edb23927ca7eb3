//! How many results of one shape of statement are worth storing. Pure: it takes evidence and gives a level.
//!
//! - Level 0: every result is stored.
//! - Level n above 0: a result is stored only if its statement was missed before, not long ago, and then only one in 2^(n-1). A
//!   shape whose results end before they are reused costs next to nothing this way, and a change is still noticed. Level 1 is for
//!   shapes of which some results are reused and most are not.
//!
//! A shape rises when its results have ended, outdated or evicted, without having been worth their cost. While its results live,
//! little is held against it, with two exceptions. A shape of whose statements hardly any comes back does not have to fill the
//! memory first: it goes to the highest level at once, where most requests are not even looked up, and returns as soon as its
//! statements do come back. And where results are large, a few that nobody asked for again are enough for level 1, because
//! filling new memory costs more than anything else.

/// Of statements that come back one result in 32 is stored, of all that are looked up one in 64.
pub const HIGHEST: u8 = 6;

/// Ends that are needed for a judgement against a shape.
const ENDS: u32 = 64;
/// Stored results, or hits, that are needed for one in its favour.
const STORED: u32 = 8;
const HITS: u32 = 32;
/// Misses that are enough to tell whether anything comes back, and whether much of it does.
const FEW: u32 = 512;
const MANY: u32 = 2048;
/// What comes back of so many requests, hardly any or a good part.
const HARDLY_ANY: u64 = 64;
const GOOD_PART: u64 = 12;
/// Bytes stored, and results, after which large ones must have shown some reuse.
const BULK: u64 = 256 << 10;
const SOME: u32 = 16;
/// Hits per stored result below which even what comes back is not worth storing, and above which every result is.
const POOR: f64 = 1.0 / 16.0;
const RICH: f64 = 1.0 / 2.0;

/// At the highest level one request in so many is looked up: of the rest, fewer than one in a hundred would be a hit.
const LOOKED_UP: u32 = 4;

/// What happened to a shape's results since the last judgement that changed its level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub misses: u32,
    /// Of these, statements that had been missed lately. Not told at level 0.
    pub returns: u32,
    pub stored: u32,
    pub stored_bytes: u64,
    pub hits: u32,
    /// Results outdated, evicted or replaced.
    pub ended: u32,
    /// The memory is not full: what is stored in vain costs no other result its place.
    pub has_room: bool,
}

/// The next level, and with it a new collection of evidence; none: there is not enough of it.
pub fn judge(level: u8, evidence: Evidence) -> Option<u8> {
    let Evidence { misses, returns, stored, stored_bytes, hits, ended, has_room } = evidence;
    let looked_up = if level == HIGHEST { LOOKED_UP } else { 1 };
    let hits = hits.saturating_mul(looked_up);
    let gain = f64::from(hits) / f64::from(stored.max(ended).max(1));
    let is_bulky = stored >= SOME && stored_bytes >= BULK;
    let is_settled = ended >= ENDS && ended >= stored / 2;
    // Had all results been stored, and lived, there would be so many hits.
    let possible = u64::from(hits) + u64::from(returns) * u64::from(looked_up);
    let comes_back = |one_in: u64| possible * one_in >= u64::from(misses);
    let lives = u64::from(ended) * 2 <= u64::from(stored);
    // Stored at the first request, each that comes back would have been a hit, and each other one in vain; which costs little
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

/// Whether the `n`th result of a shape at this level is to be stored; `returns`: its statement was missed lately.
pub fn admits(level: u8, n: u32, returns: bool) -> bool {
    let one_in = |power: u8| n & ((1 << power) - 1) == 0;
    level == 0 || one_in(HIGHEST) || returns && one_in(level - 1)
}

/// Whether the `n`th request of a session is to be looked up if its shape is at this level. Scattered, since sessions ask
/// for the same shapes in the same order again and again.
pub fn looks_up(level: u8, n: u32) -> bool {
    level < HIGHEST || n.wrapping_mul(0x9E37_79B9) < u32::MAX / LOOKED_UP
}
