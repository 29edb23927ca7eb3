//! The cache as a whole. All shards share one budget; when it is used up, this module decides which shard evicts.

use locks::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::division::{Division, LEAST_SEGMENT_BYTES, SHARDS};
use crate::ended_by_owner::{EndedByOwner, EndedEntries};
use crate::entry::Draft;
use crate::hash::{Hash, Seed};
use crate::memory::{Memory, collect};
use crate::shard::Shard;
use crate::writer::{MissingBytes, Writer};
use crate::{CellId, Entry, Key, Meta, NotStored, Pin, Stats};

/// The bytes that a cache takes outside of mapped pages, whatever is stored. The counts per owner are statistics and are left out.
const FIXED_BYTES: u64 = (size_of::<Cache>() + size_of::<Memory>() + SHARDS * size_of::<Shard>()) as u64;
/// How often an insertion is tried in total: other threads may take the memory that it has freed.
const ATTEMPTS: usize = 4;
/// Insertions try to keep `budget / AHEAD` bytes free, or more, by evicting before memory is needed.
const AHEAD: u64 = 128;
/// The maximum time for which `clear` and `resize` wait for readers to release memory.
const SETTLE: Duration = Duration::from_secs(1);

/// The stored results, found by their [`Key`]. Finding one takes no lock. A change locks one shard, that is, one of up to 64 independent
/// parts of the cache that keys are distributed over by hash.
pub struct Cache {
    seed: Seed,
    memory: Arc<Memory>,
    budget_bytes: AtomicU64,
    /// The number of shards in use, a power of two, minus one. Changes only while all shards are locked.
    mask: AtomicUsize,
    segment_bytes: AtomicUsize,
    shards: Box<[Shard]>,
    resizing: Mutex<()>,
    /// The number of the shard that is swept next, modulo the number of shards.
    broom: AtomicUsize,
    ended_by_owner: EndedByOwner,
}

impl Cache {
    /// Creates a cache that takes at most `budget_bytes` of memory, bookkeeping included. With 0, or too little for any entry, it stores
    /// nothing.
    pub fn new(budget_bytes: u64) -> Self {
        let memory = Memory::new(budget_bytes.saturating_sub(FIXED_BYTES));
        let division = Division::of(budget_bytes, memory.page());
        Cache {
            seed: Seed::default(),
            memory,
            budget_bytes: AtomicU64::new(budget_bytes),
            mask: AtomicUsize::new(division.shards - 1),
            segment_bytes: AtomicUsize::new(division.segment_bytes),
            shards: (0..SHARDS).map(|_| Shard::new()).collect(),
            resizing: Mutex::new(()),
            broom: AtomicUsize::new(0),
            ended_by_owner: EndedByOwner::new(),
        }
    }

    // `budget_bytes`, `segment_bytes` and `broom` publish nothing and are read as hints: Relaxed.

    /// Returns the maximum memory of the cache in bytes, as last set by [`new`](Self::new) or [`resize`](Self::resize).
    pub fn budget(&self) -> u64 {
        self.budget_bytes.load(Ordering::Relaxed)
    }

    /// Returns the hash of a key, which the other methods take with the key. It is seeded: the same key has another hash in another cache.
    #[inline]
    pub fn hash(&self, key: &Key) -> u64 {
        self.seed.hash(key)
    }

    /// Returns the entry that is stored under this key, or None, and counts a use of it. It may be stale: the caller must check
    /// [`Entry::is_fresh`] before it uses it. Takes no lock. The entry is readable as long as `pin` lives.
    #[inline]
    pub fn get<'g>(&self, hash: u64, key: &Key, pin: &'g Pin) -> Option<Entry<'g>> {
        let hash = Hash(hash);
        self.shards[self.shard_of(hash)].get(hash, key, pin)
    }

    #[inline]
    fn shard_of(&self, hash: Hash) -> usize {
        // Relaxed: with an old mask a reader searches a shard that is empty, or misses. Writers check the mask again under the lock, which
        // orders it.
        hash.shard(self.mask.load(Ordering::Relaxed))
    }

    /// Stores a copy of a result and replaces an older one with the same key; if necessary, evicts others. The older one is removed even if
    /// the new one is refused. `hash` is [`hash`](Self::hash) of the key; `cells` are those that the result depends on. Locks one shard.
    ///
    /// Do not call it while the thread holds a [`Pin`]: that keeps evicted memory in use, so the insertion is refused when memory is short.
    pub fn insert(&self, hash: u64, key: &Key, meta: Meta, cells: &[CellId], value: &[u8]) -> Result<(), NotStored> {
        let stored = self.try_insert(Hash(hash), key, meta, cells, value);
        if stored.is_err() {
            self.remove(hash, key);
        }
        stored
    }

    fn try_insert(&self, hash: Hash, key: &Key, meta: Meta, cells: &[CellId], value: &[u8]) -> Result<(), NotStored> {
        let limit = self.memory.limit();
        if limit < 8 * self.memory.page() as u64 {
            return Err(NotStored::NoBudget);
        }
        let draft = Draft::new(hash, key, meta, cells, value);
        let fits = |draft: &Draft| draft.size() as u64 <= limit / 2;
        let draft = draft.filter(fits).ok_or(NotStored::TooLarge)?;
        for _ in 0..ATTEMPTS {
            let inserted = self.lock(hash).insert(&draft, self.spare());
            match inserted {
                Ok(()) => {
                    self.stay_ahead(hash);
                    return Ok(());
                }
                Err(MissingBytes(bytes)) if !self.make_room(bytes, hash) => break,
                Err(_) => {}
            }
        }
        Err(NotStored::Busy)
    }

    /// Locks the shard that this hash belongs to.
    fn lock(&self, hash: Hash) -> Writer<'_> {
        loop {
            let shard = self.shard_of(hash);
            let writer = self.lock_shard(shard);
            if self.shard_of(hash) == shard {
                return writer;
            }
        }
    }

    fn lock_shard(&self, shard: usize) -> Writer<'_> {
        let segment_bytes = self.segment_bytes.load(Ordering::Relaxed);
        Writer::lock(&self.shards[shard], &self.memory, &self.ended_by_owner, segment_bytes)
    }

    /// The bytes of the budget that are reserved for evictions, to copy the entries into that they spare.
    fn spare(&self) -> u64 {
        let segments = 2 * self.segment_bytes.load(Ordering::Relaxed) as u64;
        segments.min(self.memory.limit() / 8)
    }

    /// Evicts until `bytes` of the budget are free, from the shard of `hash` or the largest one. Returns false if nothing is left to evict,
    /// or if pinned readers still use what was evicted: it does not wait for them, since a reader without a processor can take long.
    fn make_room(&self, bytes: usize, hash: Hash) -> bool {
        let wanted = bytes as u64 + self.spare();
        let least = self.segment_bytes.load(Ordering::Relaxed).clamp(1, LEAST_SEGMENT_BYTES);
        for _ in 0..64 + 4 * bytes / least {
            let limit = self.memory.limit();
            if self.memory.mapped() + wanted <= limit {
                return true;
            }
            let is_enough = self.memory.kept() + wanted <= limit;
            if !is_enough && !self.evict(self.victim(hash)) {
                return false;
            }
            collect();
            if is_enough {
                return self.memory.mapped() + wanted <= self.memory.limit();
            }
        }
        false
    }

    /// Evicts once if little of the budget is free, so that readers have moved on by the time the memory is needed.
    fn stay_ahead(&self, hash: Hash) {
        let segment = self.segment_bytes.load(Ordering::Relaxed) as u64;
        let soon = (segment + self.spare()).max(self.memory.limit() / AHEAD);
        if self.memory.kept() + soon > self.memory.limit() {
            self.evict(self.victim(hash));
        }
    }

    /// Locks this shard and evicts from it. Returns false if it has no segments left to free.
    fn evict(&self, shard: usize) -> bool {
        self.lock_shard(shard).evict()
    }

    /// Returns the shard to evict from: that of the hash if it holds about its fair share of memory, otherwise the one that holds most.
    fn victim(&self, hash: Hash) -> usize {
        let own = self.shard_of(hash);
        let shards = self.mask.load(Ordering::Relaxed) as u64 + 1;
        let fair = self.memory.limit() / shards;
        let is_fair = self.shards[own].held() >= fair / 8 * 7;
        if is_fair { own } else { self.largest() }
    }

    fn largest(&self) -> usize {
        (0..SHARDS).max_by_key(|&shard| self.shards[shard].held()).unwrap_or(0)
    }

    /// Removes the entry with this key. Returns false if there was none. `hash` is [`hash`](Self::hash) of the key. Locks one shard.
    pub fn remove(&self, hash: u64, key: &Key) -> bool {
        let hash = Hash(hash);
        self.lock(hash).remove(hash, key)
    }

    /// Drops all entries and returns their memory to the system. Waits up to a second for pinned readers that may still use it, unless this
    /// thread itself is pinned.
    pub fn clear(&self) {
        for shard in 0..SHARDS {
            self.lock_shard(shard).clear();
        }
        self.settle();
    }

    /// Changes the budget. With a smaller one, the excess is evicted and returned to the system; the call waits up to a second for pinned
    /// readers that may still use it. If the new budget needs another number of shards, all entries are dropped.
    pub fn resize(&self, budget_bytes: u64) {
        let _alone = self.resizing.lock().expect("a resize panicked");
        self.budget_bytes.store(budget_bytes, Ordering::Relaxed);
        let limit = budget_bytes.saturating_sub(FIXED_BYTES);
        let division = Division::of(budget_bytes, self.memory.page());
        // Shrinks under the old limit first, so that evictions can still copy used entries.
        if division.shards == self.mask.load(Ordering::Relaxed) + 1 {
            self.shrink(limit);
        } else {
            self.divide_anew(division.shards);
        }
        self.segment_bytes.store(division.segment_bytes, Ordering::Relaxed);
        self.memory.set_limit(limit);
        self.shrink(limit);
        self.settle();
    }

    /// Drops all entries and uses this many shards from now on.
    fn divide_anew(&self, shards: usize) {
        let mut writers: Vec<_> = (0..SHARDS).map(|shard| self.lock_shard(shard)).collect();
        writers.iter_mut().for_each(Writer::clear);
        self.mask.store(shards - 1, Ordering::Relaxed);
    }

    /// Evicts until the mapped memory, apart from what is only waiting for readers, is within `limit`.
    fn shrink(&self, limit: u64) {
        while self.memory.kept() > limit {
            if !self.evict(self.largest()) {
                // Only tables are left, so the shards are cleared.
                return (0..SHARDS).for_each(|shard| self.lock_shard(shard).clear());
            }
            collect();
        }
    }

    /// Waits until freed memory has been returned to the system, at most [`SETTLE`]. Does not wait if this thread itself is pinned.
    fn settle(&self) {
        let start = Instant::now();
        collect();
        while self.memory.retired() > 0 && !crossbeam_epoch::is_pinned() && start.elapsed() < SETTLE {
            std::thread::yield_now();
            collect();
        }
        self.memory.trim();
    }

    /// Maps memory ahead of need, as much as insertions have taken since the last call, so that they need not do it themselves. Call it
    /// several times a second, on a background thread.
    pub fn make_ready(&self) {
        self.memory.make_ready();
    }

    /// Examines up to `max_segments` segments (runs of pages that hold entries), or as many smaller ones of the same total size, and
    /// continues where the last sweep ended. Drops the entries for which `is_alive` returns false, and frees segments in which few others
    /// are left. Returns how many entries it dropped. `is_alive` is called under a lock of the cache, so it must not change the cache.
    pub fn sweep(&self, is_alive: impl Fn(&Entry) -> bool, max_segments: usize) -> usize {
        let segment_bytes = self.segment_bytes.load(Ordering::Relaxed);
        let (mut dropped, mut left) = (0, max_segments.saturating_mul(segment_bytes));
        for _ in 0..SHARDS {
            let shard = self.broom.load(Ordering::Relaxed) % SHARDS;
            // The lock is taken for one segment at a time, so that sessions do not wait long.
            while left > 0 {
                let swept = self.lock_shard(shard).sweep_next(&is_alive);
                let Some(swept) = swept else { break };
                dropped += swept.dropped;
                left = left.saturating_sub(swept.segment_bytes);
            }
            if left == 0 {
                break;
            }
            self.broom.store(shard + 1, Ordering::Relaxed);
        }
        collect();
        dropped
    }

    /// Returns how many entries of an owner ([`Meta::owner`]) have ended so far, used and unused. Zeroes for an owner from
    /// [`OWNERS`](crate::OWNERS) on.
    pub fn ended_entries(&self, owner: u16) -> EndedEntries {
        self.ended_by_owner.of(owner)
    }

    /// Calls `visit` for every entry that can be found, stale ones included, without a lock and without counting a use. Entries that are
    /// added or removed during the call may be missed.
    pub fn visit<'g>(&self, pin: &'g Pin, mut visit: impl FnMut(Entry<'g>)) {
        self.shards.iter().for_each(|shard| shard.visit(pin, &mut visit));
    }

    /// Returns the counts of the cache. Locks one shard after the other.
    pub fn stats(&self) -> Stats {
        let retired_bytes = self.memory.retired();
        let used_bytes = self.memory.resident() + FIXED_BYTES.min(self.budget());
        let mut stats = Stats { used_bytes, retired_bytes, ..Stats::default() };
        for shard in &self.shards {
            let state = shard.state();
            stats.segments += (state.small.len() + state.main.len()) as u64;
            stats.entries += state.counts.entries;
            stats.live_bytes += state.counts.live_bytes;
            stats.inserts += state.counts.inserts;
            stats.evictions += state.counts.evictions;
            stats.swept += state.counts.swept;
        }
        stats
    }

    /// Runs `f` while all shards are locked, and returns its result. For tests that show what works without locks: a change of the cache in
    /// `f` would wait for ever.
    #[doc(hidden)]
    pub fn with_all_shards_locked<R>(&self, f: impl FnOnce() -> R) -> R {
        let _writers: Vec<_> = (0..SHARDS).map(|shard| self.lock_shard(shard)).collect();
        f()
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // Pinned readers may still use entries, so memory is released through the epoch here, too.
        (0..SHARDS).for_each(|shard| self.lock_shard(shard).clear());
        collect();
    }
}
