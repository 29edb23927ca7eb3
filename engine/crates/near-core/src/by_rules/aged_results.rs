//! Results with the time at which they were read, in the same cache that results with leases use.

use crate::identified::FoundResult;
use crate::published::ServedContexts;
use crate::result_set::ResultSet;
use crate::results::Results;
use crate::rules::Terms;
use crate::session_flags::FlagOffsets;
use crate::uses::{ResultSource, Uses};
use cache::{Cache, CellId, Key, Meta, Stamp};
use std::time::Duration;

/// The context in the keys of these results. Results with leases cannot have the same key, because the second part of theirs is
/// shorter than an identity.
const CONTEXT: u64 = 0;

/// Returns the key of a result. `text` is the statement or, for an execution, its key; `identity` is the session's identity.
pub fn key<'a>(text: &'a [u8], identity: &'a [u8; 32]) -> Key<'a> {
    Key { context: CONTEXT, parts: [text, identity] }
}

/// Stores a result. `read_at` is a time in microseconds before the server was asked for it. Returns false if there is no room for
/// it.
pub fn store(results: &Results, key: &Key, result: ResultSet<'_>, source: ResultSource, read_at: u64) -> bool {
    let ResultSource { shape, cost_ns } = source;
    let flags = result.flag_offsets.map_or(0, FlagOffsets::bits);
    let meta = Meta { stamp: Stamp(read_at), rows: result.rows, cost_ns, flags, owner: shape.0 };
    results.uses.keep(results.cache(), key, meta, &[], result.bytes)
}

/// Returns the result with this key if it was read later than `after`, in microseconds, and is no older than the terms allow.
/// `now_ns` is a time after the read has arrived. `uses` counts the lookup, and is none if the read was counted before. `publish`
/// is called if the result is also young enough for other processes; it is given the time in nanoseconds until which they may
/// serve it.
pub fn find(
    cache: &Cache,
    uses: Option<&Uses>,
    key: &Key,
    (now_ns, after): (u64, u64),
    terms: &Terms,
    publish: impl FnOnce(&cache::Entry, u64) -> Option<Box<ServedContexts>>,
) -> Option<FoundResult> {
    let (pin, hash) = (cache::pin(), cache.hash(key));
    let entry = cache.get(hash, key, &pin);
    let is_fresh = |read_at: u64, _: &[CellId]| is_younger(read_at, now_ns, terms.ttl);
    uses.iter().for_each(|uses| uses.count_request(hash, entry.as_ref(), is_fresh));
    let entry = entry?;
    let read_at = entry.stamp().0;
    let is_served = read_at > after && is_younger(read_at, now_ns, terms.ttl);
    is_served.then(|| {
        let found = FoundResult::of(&entry, !is_younger(read_at, now_ns, terms.soft_ttl));
        let served_contexts =
            if found.is_due { None } else { publish(&entry, expires_at(read_at, terms.soft_ttl.min(terms.ttl))) };
        FoundResult { served_contexts, ..found }
    })
}

/// Returns true if there is a result, whether it may be served or not.
pub fn has(cache: &Cache, key: &Key) -> bool {
    let (pin, hash) = (cache::pin(), cache.hash(key));
    cache.get(hash, key, &pin).is_some()
}

/// Returns true if a result that was read at `read_at`, in microseconds, is younger than `ttl` at the time `now_ns`, in
/// nanoseconds.
pub fn is_younger(read_at: u64, now_ns: u64, ttl: Duration) -> bool {
    now_ns < expires_at(read_at, ttl)
}

/// Returns the time in nanoseconds at which a result that was read at `read_at`, in microseconds, is `ttl` old.
fn expires_at(read_at: u64, ttl: Duration) -> u64 {
    read_at.saturating_mul(1000).saturating_add(ttl.as_nanos() as u64)
}

/// Drops some of the results that are older than `longest`, and prepares memory for new ones. Must be called repeatedly.
pub fn tidy(results: &Results, now_ns: u64, longest: Duration) {
    const SEGMENTS: usize = 4;
    results.cache().make_ready();
    results.cache().sweep(|entry| is_younger(entry.stamp().0, now_ns, longest), SEGMENTS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use insight::NOBODY;
    use std::sync::Arc;

    #[test]
    fn a_result_is_found_by_whom_it_is_for_until_its_time_is_over() {
        const AT: u64 = 1_000_000;
        let (ttl, soft_ttl) = (Duration::from_millis(500), Duration::from_millis(200));
        let of_rule = insight::rules::TtlSettings { ttl, soft_ttl, coalesce: Duration::ZERO, in_transactions: false };
        let terms = Terms { of_rule, counts: Arc::default() };
        let results = Results::new(1 << 22);
        let result = ResultSet { bytes: b"answer", rows: 7, flag_offsets: None };
        let source = ResultSource { shape: NOBODY, cost_ns: 0 };
        assert!(store(&results, &key(b"SELECT 1", &[1; 32]), result, source, AT));
        let of = |text: &[u8], identity: u8, now_us: u64, after| {
            let whose = [identity; 32];
            let key = key(text, &whose);
            let found = find(results.cache(), None, &key, (now_us * 1000, after), &terms, |_, _| None);
            found.map(|found| (found.answer, found.rows, found.is_due))
        };
        let text = b"SELECT 1";
        assert_eq!(of(text, 1, AT, AT - 1), Some((b"answer".to_vec(), 7, false)));
        assert_eq!(of(text, 1, AT + 200_000, 0).map(|found| found.2), Some(true));
        assert!(of(text, 1, AT + 499_999, 0).is_some());
        assert!(of(text, 1, AT + 500_000, 0).is_none());
        assert!(of(text, 1, AT, AT).is_none(), "a write in the same microsecond");
        assert!(of(text, 2, AT, 0).is_none());
        assert!(of(b"SELECT 2", 1, AT, 0).is_none());
    }
}
