//! The stored results of the server, and the check whether they may be served.
//!
//! Invariants:
//! - once [`Results::apply`] returns, cells that the frame closes are closed for all threads, since each thread looks at them
//!   under the lock. The frame is acknowledged only then;
//! - a thread notes the time *after* its read has arrived, and then checks whether the result is current. So a result that is
//!   served was still current when its read began;
//! - results, and answers that are still being received to be stored, take at most `size` bytes together.

use crate::published::{Published, ServedRead};
use crate::recent::RecentTexts;
use crate::result_set::ResultSet;
use crate::session_flags::FlagOffsets;
use crate::uses::{ResultSource, Uses};
use cache::{Cache, CellId, Key, Meta, Stamp, Stats};
use feed::{Attachment, CommandReport, FeedBroken, Frame, FromNear, NearEnd, NearEvent};
use locks::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

/// The share of the memory for answers until it is known whether they can be stored: one part in this many.
const UNFINISHED_SHARE: u64 = 8;

/// The stored results of all connections, with the state of the feed that decides which of them may be served by a lease.
pub struct Results {
    cache: Cache,
    /// The state of the feed. Results are served under its read lock, and frames are applied under its write lock.
    near: RwLock<NearEnd>,
    /// The memory with results for other processes, if they may read them.
    pub published: Option<Arc<Published>>,
    /// The memory that unfinished answers take, in bytes; see [`MemoryReservation`].
    unfinished_bytes: AtomicU64,
    /// The maximum of `unfinished_bytes`.
    max_unfinished_bytes: u64,
    pub uses: Uses,
    /// Reads that were answered from memory.
    pub hits: AtomicU64,
    /// Hits in transactions. `hits` includes them.
    pub hits_in_transactions: AtomicU64,
    /// Hits in the processes of applications, as far as they have been reported. `hits` includes them.
    pub hits_in_applications: AtomicU64,
    /// Reads whose results could be stored, and that went to the server.
    pub misses: AtomicU64,
    /// The time of the last change of accounts, in microseconds. By rules, no result that was read before it is served, because
    /// its account's name may belong to a different account now.
    pub accounts_changed: AtomicU64,
    /// The texts whose results were stored recently. If sessions are identified by asking the server, it is asked about the
    /// session before such a read is sent.
    pub recent: RecentTexts,
}

impl Results {
    /// Creates an empty set of results. `size` is the memory in bytes for stored results and unfinished answers
    /// together.
    pub fn new(size: u64) -> Results {
        Results::with_published(size, None)
    }

    /// Creates an empty set of results. `size` is the memory in bytes for stored results and unfinished answers
    /// together. `published` is the memory that other processes read results from; none if they may not.
    pub fn with_published(size: u64, published: Option<Arc<Published>>) -> Results {
        let max_unfinished_bytes = size / UNFINISHED_SHARE;
        Results {
            cache: Cache::new(size - max_unfinished_bytes),
            near: RwLock::default(),
            published,
            unfinished_bytes: AtomicU64::new(0),
            max_unfinished_bytes,
            uses: Uses::default(),
            hits: AtomicU64::new(0),
            hits_in_transactions: AtomicU64::new(0),
            hits_in_applications: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            accounts_changed: AtomicU64::new(0),
            recent: RecentTexts::default(),
        }
    }

    /// The cache itself, for results that do not depend on a lease.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Returns a view of the results, with which they are looked up. While it exists, no frame of the feed is applied, so it must
    /// not be kept for long.
    pub fn view(&self) -> View<'_> {
        View {
            cache: &self.cache,
            uses: &self.uses,
            published: self.published.as_deref(),
            near: self.near.read().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Returns true if the server's lease is in force. `now` is a time by [`clock::now`](crate::clock::now) after the read has
    /// arrived.
    pub fn has_lease(&self, now: u64) -> bool {
        self.view().near.has_lease(now)
    }

    /// Applies a frame of the feed. When this returns, no thread serves what the frame invalidates. Returns the events that the
    /// host must handle, the attachment, and the acknowledgement to send. After an error nothing is served until the next
    /// attachment, as after [`detach`](Self::detach).
    pub fn apply(&self, frame: Frame) -> Result<(Vec<NearEvent>, Attachment, FromNear), FeedBroken> {
        let mut near = self.near.write().unwrap_or_else(PoisonError::into_inner);
        let cells = self.published.as_ref().map(|_| frame.cells()).unwrap_or_default();
        let heard = near.receive(frame);
        self.follow_feed(&near, &cells);
        let heard = heard?;
        Ok((heard, near.attachment().ok_or(FeedBroken)?, near.acknowledgement()))
    }

    /// Ends the attachment to the feed: no result is served by a lease until the next one.
    pub fn detach(&self) {
        let mut near = self.near.write().unwrap_or_else(PoisonError::into_inner);
        near.lose();
        self.follow_feed(&near, &[]);
    }

    /// Lets processes that map the results follow the new state of the feed: its attachment, its lease and these
    /// changed cells. Must be called while `near` is locked, so that no thread serves anything during the change.
    fn follow_feed(&self, near: &NearEnd, cells: &[u32]) {
        self.published.iter().for_each(|published| published.follow_feed(near, cells));
    }

    /// Drops all stored results.
    pub fn clear(&self) {
        self.cache.clear();
    }

    /// Returns the message that requests a new lease, to be sent at once. `now` must be taken before.
    pub fn renewal(&self, now: u64) -> FromNear {
        self.view().near.renew(now)
    }

    /// Returns the interval between two renewals of the lease in nanoseconds.
    pub fn renew_every(&self) -> u64 {
        self.view().near.renew_every()
    }

    /// Stores the answer to a command with the dependencies that the server has reported for it. `payload` is the key: the
    /// command, or for an execution [`Execution::key`](crate::prepared::Execution::key). Returns false if there is no room for
    /// the answer.
    pub fn store(
        &self,
        payload: &[u8],
        result: ResultSet<'_>,
        source: ResultSource,
        report: &CommandReport,
        attachment: Attachment,
    ) -> bool {
        let attached = bytes_of(attachment);
        let key = Key { context: report.context, parts: [payload, &attached] };
        let cells: Vec<CellId> = report.cells.iter().map(|(cell, _)| CellId(*cell)).collect();
        let ResultSource { shape, cost_ns } = source;
        let flag_offsets = result.flag_offsets.filter(|_| report.is_for_transactions);
        let flags = flag_offsets.map_or(0, FlagOffsets::bits);
        let meta = Meta { stamp: Stamp(report.stamp), rows: result.rows, cost_ns, flags, owner: shape.0 };
        self.uses.keep(&self.cache, &key, meta, &cells, result.bytes)
    }

    /// Drops some of the results that can certainly not be served any more, and prepares memory for new ones. Must be called
    /// every second.
    pub fn tidy(&self) {
        const SEGMENTS: usize = 4;
        self.cache.make_ready();
        // The lock is taken for each entry, so that no frame waits for long.
        let is_alive = |entry: &cache::Entry| self.view().near.may_be_fresh(cells(entry), entry.stamp().0);
        self.cache.sweep(is_alive, SEGMENTS);
    }

    /// Updates the statistics of uses. Must be called every second, with the time in nanoseconds.
    pub fn tick(&self, now: u64) {
        self.uses.tick(self.hits.load(Ordering::Relaxed), self.budget(), now);
    }

    /// Returns the maximum size of the stored results in bytes.
    pub fn budget(&self) -> u64 {
        self.cache.budget()
    }

    /// Returns the cache's own figures.
    pub fn stats(&self) -> Stats {
        self.cache.stats()
    }

    /// Returns the figures that the near cache reports to the server and in its metrics.
    pub fn counted(&self) -> feed::NearCacheCounts {
        let stats = self.cache.stats();
        let [hits, misses] = [&self.hits, &self.misses].map(|count| count.load(Ordering::Relaxed));
        feed::NearCacheCounts { entries: stats.entries, bytes: stats.used_bytes, hits, misses }
    }
}

fn bytes_of(attachment: Attachment) -> [u8; 16] {
    let mut out = [0; 16];
    out[..8].copy_from_slice(&attachment[0].to_le_bytes());
    out[8..].copy_from_slice(&attachment[1].to_le_bytes());
    out
}

fn cells<'a>(entry: &'a cache::Entry) -> impl Iterator<Item = u32> + use<'a> {
    entry.cells().iter().map(|cell| cell.0)
}

/// The results under a read lock: which of them may be served by a lease cannot change while this value exists.
pub struct View<'a> {
    cache: &'a Cache,
    uses: &'a Uses,
    published: Option<&'a Published>,
    near: std::sync::RwLockReadGuard<'a, NearEnd>,
}

impl View<'_> {
    /// Makes a result that is being served available to other processes, if they may read results.
    pub fn publish(&self, read: &ServedRead<'_>) {
        self.published.iter().for_each(|published| published.publish(read));
    }

    /// Returns true if, under this attachment, the lease is in force at the time `now`, and no change since this stamp was one of
    /// everything. A session context with this stamp is then still valid.
    pub fn is_context_current(&self, attachment: Attachment, stamp: u64, now: u64) -> bool {
        self.near.may_serve(attachment, std::iter::empty(), stamp, now)
    }

    /// Returns true if there is a result for this key (see [`Results::store`]) in the session context `context` that may be
    /// served at the time `now`.
    pub fn has(&self, attachment: Attachment, context: u64, payload: &[u8], now: u64) -> bool {
        self.look_up(attachment, context, payload, |_, entry| {
            entry.is_some_and(|entry| self.near.may_serve(attachment, cells(entry), entry.stamp().0, now))
        })
    }

    /// Returns true if there is a result for this key in the session context `context`, whether it may be served or not.
    pub fn has_any(&self, attachment: Attachment, context: u64, payload: &[u8]) -> bool {
        self.look_up(attachment, context, payload, |_, entry| entry.is_some())
    }

    /// Passes the result for a client's read to `with`, and returns what that returns. None if no result may be served. `now` is
    /// a time after the read has arrived, and `snapshot` is that of the client's transaction, see [`CommandReport::snapshot`];
    /// none outside of transactions. In a transaction, a result must not have changed since the lesser of its own stamp and the
    /// snapshot. The lookup is counted.
    pub fn find<T>(
        &self,
        attachment: Attachment,
        context: u64,
        payload: &[u8],
        (now, snapshot): (u64, Option<u64>),
        with: impl FnOnce(&cache::Entry) -> T,
    ) -> Option<T> {
        let newest = snapshot.unwrap_or(u64::MAX);
        let may_serve = |stamp: u64, cells: &[CellId]| {
            self.near.may_serve(attachment, cells.iter().map(|cell| cell.0), stamp.min(newest), now)
        };
        let is_for_it = |entry: &cache::Entry| snapshot.is_none() || FlagOffsets::from_bits(entry.flags()).is_some();
        self.look_up(attachment, context, payload, |hash, entry| {
            self.uses.count_request(hash, entry, may_serve);
            entry.filter(|entry| is_for_it(entry) && may_serve(entry.stamp().0, entry.cells())).map(with)
        })
    }

    /// Passes the hash of the key and the entry, if there is one, to `with`.
    fn look_up<T>(
        &self,
        attachment: Attachment,
        context: u64,
        payload: &[u8],
        with: impl FnOnce(u64, Option<&cache::Entry>) -> T,
    ) -> T {
        let attached = bytes_of(attachment);
        let key = Key { context, parts: [payload, &attached] };
        let (pin, hash) = (cache::pin(), self.cache.hash(&key));
        with(hash, self.cache.get(hash, &key, &pin).as_ref())
    }
}

/// The memory that one unfinished answer takes, counted against a common limit. It is given back when this value is dropped.
pub struct MemoryReservation {
    results: Arc<Results>,
    bytes: u64,
}

impl MemoryReservation {
    pub fn new(results: &Arc<Results>) -> MemoryReservation {
        MemoryReservation { results: results.clone(), bytes: 0 }
    }

    /// Adds this many bytes. Returns false if the limit for all unfinished answers is exceeded: the answer must then be dropped.
    /// The bytes count all the same until this value is dropped.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        self.bytes += bytes;
        let before = self.results.unfinished_bytes.fetch_add(bytes, Ordering::Relaxed);
        before + bytes <= self.results.max_unfinished_bytes
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        self.results.unfinished_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
