//! Answers that depend on nothing but the session: those to `SELECT FOUND_ROWS()` and to `SELECT @@sql_mode`. The answer to the
//! latter is the same for all sessions with the same identity. The answer to the former also depends on the number of rows found,
//! which is part of its key. So neither becomes stale.

use super::Identity;
use crate::identified::FoundResult;
use crate::result_set::ResultSet;
use crate::results::Results;
use crate::session_flags::FlagOffsets;
use crate::uses::ResultSource;
use cache::{Key, Meta, Stamp};

/// The context in the keys of these results, which no other results have. It is the largest one that an entry has room for.
const CONTEXT: u64 = u64::MAX >> 16;
/// The stamp of these results. It is the greatest one, so no change of a table is later, and they stay current for
/// ever.
const NEVER: Stamp = Stamp(u64::MAX);

/// Identifies the sessions that get the same answer: by identity, and by the number of rows found if the answer contains that
/// number.
pub struct Audience([u8; 41]);

impl Audience {
    /// Identifies the sessions of this identity. `found` is the number of rows found, if the answer contains that
    /// number; none if it does not.
    pub fn new(identity: &Identity, found: Option<u64>) -> Audience {
        let mut bytes = [0; 41];
        bytes[..32].copy_from_slice(identity);
        bytes[32] = u8::from(found.is_some());
        bytes[33..].copy_from_slice(&found.unwrap_or_default().to_le_bytes());
        Audience(bytes)
    }

    fn key<'a>(&'a self, text: &'a [u8]) -> Key<'a> {
        Key { context: CONTEXT, parts: [text, &self.0] }
    }
}

/// Returns the stored answer to this text for these sessions, if there is one. It is always current.
pub fn find(results: &Results, text: &[u8], audience: &Audience) -> Option<FoundResult> {
    let (key, pin) = (audience.key(text), cache::pin());
    let entry = results.cache().get(results.cache().hash(&key), &key, &pin)?;
    Some(FoundResult::of(&entry, false))
}

/// Stores the answer to this text for these sessions, and counts the miss. If there is no room, it is not stored.
pub fn store(results: &Results, text: &[u8], audience: &Audience, result: ResultSet<'_>, source: ResultSource) {
    let ResultSource { shape, cost_ns } = source;
    let flags = result.flag_offsets.map_or(0, FlagOffsets::bits);
    let meta = Meta { stamp: NEVER, rows: result.rows, cost_ns, flags, owner: shape.0 };
    let is_kept = results.uses.keep(results.cache(), &audience.key(text), meta, &[], result.bytes);
    results.uses.count_miss(source, result.bytes.len(), is_kept);
}
