//! Statistics on how the engine is used, for users and for deciding which results are worth storing.
//!
//! They do not change what a hit returns. Requests are counted when they are looked up and when the server has answered.

use crate::engine::tables::Table;
use crate::entries::basis::Basis;
use crate::entries::layout::Layout;
use crate::flushable_counter::FlushableCounter;
use crate::identity::account::Account;
use crate::reason::{ContextReason, PASSING, Reason};
use ::insight::{Caching, Curve, Digests, Moment, Outcome, Rules, Sample, ShapeId, Subject};
use cache::{Cache, CellId, Entry, Key, Meta, Stamp};
use locks::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Default)]
pub struct Insight {
    pub digests: Digests,
    pub curve: Curve<Validity>,
    /// Reads whose result was not stored because results of their shape (the text without its literals) are rarely reused.
    pub(super) passed_over: FlushableCounter,
    /// Reads of sessions with the cache off (`fqc_observe`) that the cache would have stored or served if it had been on.
    pub(super) observed: FlushableCounter,
    /// Hits that the server ran all the same, so that its result could be compared with the stored one. `differences` counts
    /// those where the two were different.
    pub verified: FlushableCounter,
    pub differences: FlushableCounter,
    rules: RwLock<Arc<Rules>>,
    has_rules: AtomicBool,
    unlogged: Mutex<Vec<String>>,
    chosen: AtomicU64,
}

/// The part of a result that shows later whether the result would still be current.
pub struct Validity {
    stamp: Stamp,
    layout: Layout,
    cells: Box<[CellId]>,
}

impl Validity {
    fn of(basis: Basis) -> Validity {
        Validity { stamp: basis.stamp, layout: basis.layout, cells: basis.cells.into() }
    }

    fn basis(&self) -> Basis<'_> {
        Basis { cells: &self.cells, stamp: self.stamp, layout: self.layout }
    }
}

/// The maximum number of statements that are kept for the log because their stored result differed from the server's
/// answer.
const MOST_UNLOGGED: usize = 20;
/// Bytes that a result takes in the index of the cache, besides its entry.
const INDEX_BYTES: usize = 16;

impl Insight {
    /// Counts a read that is being looked up. `hash` is that of its key, and `found` the stored result, if any. `is_alive` says
    /// whether a result may be served to any client.
    #[inline]
    pub(crate) fn requested(&self, hash: u64, found: Option<&Entry>, is_alive: impl Fn(Basis) -> bool) {
        if self.curve.wants(hash) {
            self.follow(hash, found, &is_alive);
        }
    }

    #[cold]
    fn follow(&self, hash: u64, found: Option<&Entry>, is_alive: &dyn Fn(Basis) -> bool) {
        let is_known = self.curve.requested(hash, |validity| is_alive(validity.basis()));
        let Some(entry) = found.filter(|_| !is_known) else { return };
        if is_alive(Basis::of(entry)) {
            let bytes = entry.size() + INDEX_BYTES;
            self.curve.stored(hash, sample(bytes, entry.cost_ns(), Validity::of(Basis::of(entry))));
        }
    }

    /// Counts a result that can be stored. Returns true if a cache that was on would have answered the read, and false if it
    /// would not have. None if this read is not in the sample that is followed, so that this is not known.
    pub(crate) fn stored(
        &self,
        hash: u64,
        key: &Key,
        meta: &Meta,
        cells: &[CellId],
        value_bytes: usize,
    ) -> Option<bool> {
        if !self.curve.wants(hash) {
            return None;
        }
        let bytes = cache::entry_bytes(key, cells.len(), value_bytes) + INDEX_BYTES;
        let basis = Basis { cells, stamp: meta.stamp, layout: Layout(meta.flags) };
        self.curve.stored(hash, sample(bytes, meta.cost_ns, Validity::of(basis)))
    }

    /// Counts a read of a session with the cache off (`fqc_observe`): the server has answered it in `cost_ns` nanoseconds, and
    /// its result could have been stored. `would_hit` is what `stored` has returned: whether the cache would have answered the
    /// read, none if unknown.
    pub(crate) fn observed(&self, shape: ShapeId, cost_ns: u64, would_hit: Option<bool>) {
        self.observed.add(1);
        self.digests.observed(shape, cost_ns / 1000, would_hit);
    }

    /// Notes the tables that a result of this shape was read from. It was stored, or would have been if the cache had
    /// been on. `tables` are the version cells that advance with any change of them.
    pub(crate) fn read_from(&self, shape: ShapeId, tables: impl Iterator<Item = CellId>) {
        self.digests.reads(shape, tables.map(|cell| cell.0));
    }

    /// Counts a read whose result will not be stored because results of its shape are rarely reused. `hash` is that of its key.
    pub(crate) fn passed_over(&self, hash: u64) {
        self.passed_over.add(1);
        if self.curve.wants(hash) {
            self.curve.missed();
        }
    }

    /// Counts a read that the server has answered. `refusal` is why its result was not stored; None if it was, with this size
    /// in bytes.
    pub fn missed(&self, shape: ShapeId, refusal: Option<Reason>, bytes: usize) {
        let outcome = match refusal {
            Some(Reason::Context(ContextReason::NotReused)) => Outcome::PassedOver,
            Some(reason) => Outcome::Refused { reason: reason.index() },
            None => Outcome::Stored { bytes: bytes as u64 },
        };
        self.digests.missed(shape, outcome);
    }

    /// Sets the rules of `fqc_rules`, which say of some reads that they are never cached, or served for a time although stale.
    /// The caller must then invalidate every result, as the SET GLOBAL that brings the rules does.
    pub fn set_rules(&self, rules: Rules) {
        // Relaxed: a session that does not see the new rules yet stores a result that is invalidated at once.
        self.has_rules.store(!rules.is_empty(), Ordering::Relaxed);
        *self.rules.write().unwrap_or_else(|e| e.into_inner()) = Arc::new(rules);
    }

    pub fn has_rules(&self) -> bool {
        self.has_rules.load(Ordering::Relaxed)
    }

    fn rules(&self) -> Arc<Rules> {
        self.rules.read().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// True if some rule allows serving stale results.
    pub fn has_ttl(&self) -> bool {
        self.rules().has_ttl()
    }

    /// Returns what the rules of `fqc_rules` say about a read of these tables by this account: cache as usual, never, or serve
    /// for a time even if stale.
    pub fn caching(&self, shape: ShapeId, account: &Account, tables: &[Arc<Table>]) -> Caching {
        let word = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let account = format!("{}@{}", word(&account.user), word(&account.host));
        let tables: Vec<_> = tables.iter().map(|table| (word(&table.db), word(&table.name))).collect();
        let tables: Vec<_> = tables.iter().map(|(schema, name)| (schema.as_str(), name.as_str())).collect();
        let digest = self.digests.get(shape).map_or(0, |(id, _)| id);
        self.rules().of(&Subject { digest, account: &account, tables: &tables })
    }

    /// True if this hit is to be compared with the server's answer. Chooses `ppm` of a million calls, so it is to be called
    /// once for each hit.
    #[inline]
    pub fn is_to_be_verified(&self, ppm: u64) -> bool {
        ppm > 0 && {
            // Relaxed: hits may be chosen in any order.
            let n = self.chosen.fetch_add(1, Ordering::Relaxed);
            (u128::from(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)) * 1_000_000) >> 64 < u128::from(ppm)
        }
    }

    /// Counts a stored result that differed from the server's answer, and keeps the text of its statement for
    /// `take_differences`.
    pub fn differs(&self, shape: ShapeId) {
        self.differences.add(1);
        let mut unlogged = self.unlogged.lock().unwrap_or_else(|e| e.into_inner());
        if unlogged.len() < MOST_UNLOGGED {
            unlogged.push(self.digests.get(shape).map_or_else(String::new, |(id, text)| {
                format!("digest {id:032x}, {}", String::from_utf8_lossy(&text))
            }));
        }
    }

    /// The statements whose stored results differed from the server's since the last call, as texts for the log; at most 20.
    pub fn take_differences(&self) -> Vec<String> {
        std::mem::take(&mut self.unlogged.lock().unwrap_or_else(|e| e.into_inner()))
    }

    /// Resets the statistics that are shown to users, as FLUSH STATUS demands.
    pub fn flush(&self) {
        self.digests.flush();
        self.curve.forget_trial();
        [&self.verified, &self.differences].into_iter().for_each(FlushableCounter::flush);
    }

    pub(crate) fn tick(&self, cache: &Cache, moment: Moment) {
        self.curve.tick(moment);
        self.digests.follows(self.curve.one_in());
        let stats = cache.stats();
        let has_room = stats.used_bytes < cache.budget() / 8 * 7;
        self.digests.tick(stats.entries, stats.evictions, has_room);
        self.digests.age(moment.now_ns);
        self.digests.judge(&PASSING.map(|own| own as usize), |shape| {
            let fate = cache.ended_entries(shape.0);
            fate.used.wrapping_add(fate.unused)
        });
    }
}

fn sample(bytes: usize, cost_ns: u64, validity: Validity) -> Sample<Validity> {
    let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Sample { bytes: narrow(bytes as u64), cost_us: narrow(cost_ns / 1000), validity }
}
