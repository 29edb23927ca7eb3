//! Statistics of each shape of statement: counters for a bounded number of shapes, which are found by the shape's digest.
//!
//! A hit adds to counters through the shape's number, which the stored result carries: without a search, a lock, or a cache line that other
//! threads write. The number of a shape that is rarely requested is reused for another one. Stored results that still carry the number
//! then count for the new shape, which does no harm. Number 0 stands for every shape without a number of its own, also while new
//! shapes arrive faster than `judge` frees numbers.

mod index;
mod missed;
mod observed;
mod stripes;

use crate::curve::Trial;
use crate::policy::{self, Evidence};
use index::Index;
use locks::Mutex;
use missed::Missed;
use observed::Observed;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use stripes::{Stripe, Stripes};

/// The maximum number of tables that are kept for each shape of statement.
pub const TABLES: usize = 4;
/// The number of reasons for not storing a result that can be counted. The caller numbers them from 0.
pub const REASONS: usize = 64;
const SHAPES: usize = 2048;
const TEXT_BYTES: usize = 1024;
/// The interval, in nanoseconds, at which [`Digests::age`] reviews how many results of each shape are stored. While the
/// cache has room, all results of a shape are stored again if fewer than `SELDOM` of its reads were missed in the
/// interval.
const AGE_NS: u64 = 10_000_000_000;
const SELDOM: u64 = 200;
/// The number of shapes that lose their number at once when new shapes need some.
const GIVEN_UP: usize = SHAPES / 16;

/// The number of a shape's counters. A *shape* is a statement without its literals: all statements that differ only in literals have the
/// same. The number may be reused for another shape later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShapeId(pub u16);

/// The number that all shapes share that have no counters of their own, because there are too many shapes.
pub const NOBODY: ShapeId = ShapeId(0);

/// What became of the result of a request that the server answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Stored {
        bytes: u64,
    },
    Refused {
        reason: usize,
    },
    /// Not stored because results of this shape are rarely reused, see [`Digests::admits`]. It has no counter, because many threads would
    /// count it at once: [`Digest::passed_over`] derives the number from the other counts.
    PassedOver,
}

/// The counters of one shape that change seldom; the others are in [`Stripes`].
#[derive(Default)]
#[repr(align(64))]
struct Counters {
    stale_hits: AtomicU64,
    outdated: AtomicU64,
    level: AtomicU8,
    tables: [AtomicU32; TABLES],
    reasons: Reasons,
}

struct Reasons([AtomicU32; REASONS]);

impl Default for Reasons {
    fn default() -> Self {
        Reasons([const { AtomicU32::new(0) }; REASONS])
    }
}

/// The statistics of one shape of statement, since it got its number or since [`Digests::flush`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    pub shape: ShapeId,
    /// The hash of the shape that identifies it for users; 0 for all shapes without counters of their own.
    pub id: u128,
    /// The statement with `?` instead of its literals, cut after 1024 bytes.
    pub text: Vec<u8>,
    /// Requests that the cache answered.
    pub hits: u64,
    /// Those hits that returned a stale result, as a comparison with the server's answer has shown.
    pub stale_hits: u64,
    /// The time that the server would have taken for the hits, in microseconds.
    pub saved_us: u64,
    /// The size of the results that the hits returned.
    pub saved_bytes: u64,
    /// How often a stored result was found that was stale.
    pub outdated: u64,
    /// Requests that the server answered.
    pub misses: u64,
    /// Misses whose result was stored.
    pub stored: u64,
    /// The size of those results.
    pub stored_bytes: u64,
    /// How few of the results are stored. At level 0 all are; above, nearly only those of repeated statements, and of these one in
    /// 2^(level-1). See [`policy`].
    pub level: u8,
    /// The tables that the last stored result of the shape was read from, by the caller's numbers, at most [`TABLES`].
    pub tables: Vec<u32>,
    /// How often a result was not stored for each reason, as pairs of the caller's number of the reason and the count. Reasons that did not
    /// occur are left out.
    pub reasons: Vec<(usize, u32)>,
    /// Reads while the cache was off whose results could have been stored, and what the cache would have done. They are neither hits nor
    /// misses.
    pub observed: Trial,
}

impl Digest {
    /// All requests: hits, misses, and those that were only observed.
    pub fn executions(&self) -> u64 {
        self.hits + self.misses + self.observed.requests
    }

    /// Misses whose result was not stored because results of this shape are rarely reused.
    pub fn passed_over(&self) -> u64 {
        let refused = self.reasons.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
        self.misses.saturating_sub(self.stored + refused)
    }

    /// The least number of stored results that were never used; there may be more.
    pub fn wasted(&self) -> u64 {
        self.stored.saturating_sub(self.hits)
    }
}

/// The statistics of all shapes of statements. A bounded number of shapes have counters of their own; the others share those of number 0.
pub struct Digests {
    counters: Box<[Counters]>,
    stripes: Stripes,
    missed: Missed,
    observed: Observed,
    index: Index,
    /// True if no shape number is free.
    is_full: AtomicBool,
    /// True if the cache has room for more results without evicting others.
    has_room: AtomicBool,
    shape_numbers: Mutex<ShapeNumbers>,
}

/// The assignment of numbers to shapes.
struct ShapeNumbers {
    /// The shape that has each number; `None` for a number that is free.
    owners: Vec<Option<Owner>>,
    free: Vec<ShapeId>,
    /// The time at which [`Digests::age`] last reviewed the levels, in nanoseconds.
    aged_ns: u64,
}

/// The shape that has a number.
#[derive(Clone, Default)]
struct Owner {
    /// See [`Digest::id`].
    id: u128,
    text: Vec<u8>,
    /// The number of executions when numbers were last taken from shapes.
    executions: u64,
    /// The counters when the level was last decided; `None` if that has not happened yet.
    judged: Option<Evidence>,
    /// The number of the shape's misses at the time [`ShapeNumbers::aged_ns`].
    misses: u64,
}

impl Default for Digests {
    fn default() -> Self {
        let free = (1..SHAPES as u16).rev().map(ShapeId).collect();
        let mut owners = vec![None; SHAPES];
        owners[0] = Some(Owner { text: b"(other statements)".to_vec(), ..Owner::default() });
        Digests {
            counters: (0..SHAPES).map(|_| Counters::default()).collect(),
            stripes: Stripes::default(),
            missed: Missed::default(),
            observed: Observed::default(),
            index: Index::default(),
            is_full: AtomicBool::new(false),
            has_room: AtomicBool::new(true),
            shape_numbers: Mutex::new(ShapeNumbers { owners, free, aged_ns: 0 }),
        }
    }
}

// Counts order nothing: all accesses are Relaxed.
impl Digests {
    /// Returns the number of the shape with this digest, and gives it one if it has none. `text` is called for the shape's text only if it
    /// is new. Returns number 0, which such shapes share, if no number is free or another thread is just changing the numbers. Never waits
    /// for a lock.
    pub fn find(&self, id: u128, text: impl FnOnce() -> Vec<u8>) -> ShapeId {
        self.index.find(id).unwrap_or_else(|| self.take(id, text))
    }

    /// Gives a new shape a free number; 0 if there is none or another thread holds the lock.
    fn take(&self, id: u128, text: impl FnOnce() -> Vec<u8>) -> ShapeId {
        if self.is_full.load(Ordering::Relaxed) {
            return NOBODY;
        }
        let Ok(mut shape_numbers) = self.shape_numbers.try_lock() else { return NOBODY };
        if let Some(shape) = self.index.find(id) {
            return shape;
        }
        let Some(shape) = shape_numbers.free.pop() else { return NOBODY };
        self.is_full.store(shape_numbers.free.is_empty(), Ordering::Relaxed);
        let mut text = text();
        text.truncate(TEXT_BYTES);
        self.zero(shape);
        self.of(shape).level.store(0, Ordering::Relaxed);
        shape_numbers.owners[usize::from(shape.0)] = Some(Owner { id, text, ..Owner::default() });
        if let Some(other) = self.index.insert(id, shape) {
            shape_numbers.owners[usize::from(other.0)] = None;
            shape_numbers.free.push(other);
        }
        shape
    }

    /// Takes numbers from rarely requested shapes if few are free, so that new shapes get one. Call it now and then, unless
    /// [`judge`](Self::judge) is called, which does the same.
    pub fn make_room(&self) {
        self.make_room_in(&mut self.shape_numbers());
    }

    fn make_room_in(&self, shape_numbers: &mut ShapeNumbers) {
        if shape_numbers.free.len() < GIVEN_UP / 2 {
            self.give_up(shape_numbers);
            self.is_full.store(false, Ordering::Relaxed);
        }
    }

    /// Frees the numbers of the shapes with the fewest requests since the last call, and among equals of those that saved least time.
    fn give_up(&self, shape_numbers: &mut ShapeNumbers) {
        let mut worth = Vec::with_capacity(SHAPES);
        for (at, owner) in shape_numbers.owners.iter_mut().enumerate().skip(1) {
            let Some(owner) = owner else { continue };
            let shape = ShapeId(at as u16);
            let counted = self.sum(shape, |stripe| &stripe.hits) + self.sum(shape, |stripe| &stripe.misses);
            let executions = counted + self.observed.requests(shape);
            let lately = executions.saturating_sub(std::mem::replace(&mut owner.executions, executions));
            worth.push((lately, self.sum(shape, |stripe| &stripe.saved_us), at));
        }
        worth.sort_unstable();
        for (_, _, at) in worth.into_iter().take(GIVEN_UP) {
            let shape = ShapeId(at as u16);
            if let Some(owner) = shape_numbers.owners[at].take() {
                self.index.remove(owner.id);
            }
            shape_numbers.free.push(shape);
        }
    }

    fn shape_numbers(&self) -> MutexGuard<'_, ShapeNumbers> {
        self.shape_numbers.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn of(&self, shape: ShapeId) -> &Counters {
        &self.counters[usize::from(shape.0) % SHAPES]
    }

    /// Counts a request that the cache answered, with the time that the server would have taken, in microseconds, and the size of the
    /// result. Never waits for a lock.
    #[inline]
    pub fn hit(&self, shape: ShapeId, saved_us: u64, bytes: u64) {
        let own = self.stripes.own(shape);
        own.hits.fetch_add(1, Ordering::Relaxed);
        own.saved_us.fetch_add(saved_us, Ordering::Relaxed);
        own.saved_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a hit that returned a stale result. The hit itself is counted separately, by [`hit`](Self::hit).
    pub fn stale(&self, shape: ShapeId) {
        self.of(shape).stale_hits.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts that a stored result was found, but was stale, so that the request goes to the server.
    pub fn outdated(&self, shape: ShapeId) {
        self.of(shape).outdated.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request that the server answered, and whether its result was stored. A reason for not storing it is
    /// counted only if its number is below [`REASONS`].
    pub fn missed(&self, shape: ShapeId, outcome: Outcome) {
        let own = self.stripes.own(shape);
        own.misses.fetch_add(1, Ordering::Relaxed);
        match outcome {
            Outcome::Stored { bytes } => {
                own.stored.fetch_add(1, Ordering::Relaxed);
                own.stored_bytes.fetch_add(bytes, Ordering::Relaxed);
            }
            Outcome::Refused { reason } => {
                self.of(shape).reasons.0.get(reason).map(|count| count.fetch_add(1, Ordering::Relaxed));
            }
            Outcome::PassedOver => {}
        }
    }

    /// Counts a read that the server answered in `us` microseconds while the cache was off, and whose result could have been stored.
    /// `would_hit` says whether the cache would have answered it, as [`Curve::stored`](crate::Curve::stored) returns it; none if that is
    /// unknown. It has no influence on what is stored.
    pub fn observed(&self, shape: ShapeId, us: u64, would_hit: Option<bool>) {
        self.observed.note(shape, us, would_hit);
    }

    /// Sets the share of statements for which [`observed`](Self::observed) gets to know whether the cache would have answered them: one in
    /// `one_in`, see [`Curve::one_in`](crate::Curve::one_in).
    pub fn follows(&self, one_in: u64) {
        self.observed.follows(one_in);
    }

    /// Sets the tables that results of a shape are read from, by the caller's numbers, which must be above zero. Those after the first
    /// [`TABLES`] are left out.
    pub fn reads(&self, shape: ShapeId, tables: impl Iterator<Item = u32>) {
        for (known, table) in self.of(shape).tables.iter().zip(tables.chain(std::iter::repeat(0))) {
            if known.load(Ordering::Relaxed) != table {
                known.store(table, Ordering::Relaxed);
            }
        }
    }

    /// True if all results of this shape are to be stored. Then [`admits`](Self::admits) need not be called.
    pub fn admits_all(&self, shape: ShapeId) -> bool {
        self.of(shape).level.load(Ordering::Relaxed) == 0
    }

    /// True if the result of a missed statement of this shape is to be stored, false if such results are too rarely reused. `hash` is that
    /// of the statement's key in the cache. Call it once for each miss, because it records the miss.
    pub fn admits(&self, shape: ShapeId, hash: u64) -> bool {
        let level = self.of(shape).level.load(Ordering::Relaxed);
        if level == 0 {
            return true;
        }
        let own = self.stripes.own(shape);
        let returns = self.missed.again(hash);
        own.returns.fetch_add(u64::from(returns), Ordering::Relaxed);
        policy::admits(level, own.chances.fetch_add(1, Ordering::Relaxed), returns)
    }

    /// True if a request of this shape is to be looked up in the cache; false for most requests of a shape that hardly ever hits. `n` is
    /// the number of the request in its session.
    pub fn looks_up(&self, shape: ShapeId, n: u32) -> bool {
        policy::looks_up(self.of(shape).level.load(Ordering::Relaxed), n)
    }

    /// Sets the number of entries in the cache, its evictions so far, and whether it has room for more results without evicting others.
    /// Call it several times a second, on one thread.
    pub fn tick(&self, entries: u64, evictions: u64, has_room: bool) {
        self.has_room.store(has_room, Ordering::Relaxed);
        self.missed.tick(entries, evictions);
    }

    /// Lets all results of seldom missed shapes be stored again while the cache has room. That costs next to nothing then, and an import,
    /// for example, says little about the reads after it. Call it several times a second; it acts every ten seconds. `now_ns` is by any
    /// clock.
    pub fn age(&self, now_ns: u64) {
        let mut shape_numbers = self.shape_numbers();
        if now_ns.saturating_sub(shape_numbers.aged_ns) < AGE_NS {
            return;
        }
        shape_numbers.aged_ns = now_ns;
        let has_room = self.has_room.load(Ordering::Relaxed);
        for (at, owner) in shape_numbers.owners.iter_mut().enumerate() {
            let Some(owner) = owner else { continue };
            let (shape, level) = (ShapeId(at as u16), &self.counters[at].level);
            let misses = self.sum(shape, |stripe| &stripe.misses);
            let lately = misses.saturating_sub(std::mem::replace(&mut owner.misses, misses));
            if has_room && lately < SELDOM && level.swap(0, Ordering::Relaxed) > 0 {
                owner.judged = None;
            }
        }
    }

    /// Decides for each shape again how many of its results are stored ([`Digest::level`]), and frees numbers for new shapes. Call it
    /// several times a second, on a background thread. `ended` returns how many results of a shape were invalidated, evicted or replaced so
    /// far; the number may wrap. `passing` are numbers of temporary reasons: what was refused for them does not count against its shape.
    pub fn judge(&self, passing: &[usize], ended: impl Fn(ShapeId) -> u32) {
        let mut shape_numbers = self.shape_numbers();
        self.make_room_in(&mut shape_numbers);
        for (at, owner) in shape_numbers.owners.iter_mut().enumerate() {
            let Some(owner) = owner else { continue };
            let (shape, known) = (ShapeId(at as u16), &self.counters[at].level);
            let now = self.evidence(shape, passing, ended(shape));
            let then = *owner.judged.get_or_insert(now);
            if let Some(next) = policy::judge(known.load(Ordering::Relaxed), since(then, now)) {
                known.store(next, Ordering::Relaxed);
                owner.judged = Some(now);
            }
        }
    }

    /// Returns the [`Digest::id`] and the text of the shape that has this number, none if the number is not in use. Waits for a lock.
    pub fn get(&self, shape: ShapeId) -> Option<(u128, Vec<u8>)> {
        let shape_numbers = self.shape_numbers();
        let owner = shape_numbers.owners.get(usize::from(shape.0))?.as_ref()?;
        Some((owner.id, owner.text.clone()))
    }

    /// Returns the statistics of all shapes with requests, ordered by the time that they saved, or would have saved while the cache was
    /// off, most first.
    pub fn list(&self) -> Vec<Digest> {
        let shape_numbers = self.shape_numbers();
        let numbered = shape_numbers.owners.iter().enumerate();
        let known = numbered.filter_map(|(at, owner)| Some((at, owner.as_ref()?)));
        let told = known.map(|(at, owner)| self.told(ShapeId(at as u16), owner));
        let mut list: Vec<_> = told.filter(|digest| digest.executions() > 0).collect();
        let worth = |digest: &Digest| (digest.saved_us + digest.observed.saved_us, digest.executions());
        list.sort_by_key(|digest| std::cmp::Reverse(worth(digest)));
        list
    }

    /// Resets the statistics that [`list`](Self::list) returns, except for the tables of each shape, and for how many
    /// of its results are stored. Shapes keep their numbers.
    pub fn flush(&self) {
        let mut shape_numbers = self.shape_numbers();
        for (at, owner) in shape_numbers.owners.iter_mut().enumerate() {
            self.zero(ShapeId(at as u16));
            if let Some(owner) = owner {
                (owner.executions, owner.judged, owner.misses) = (0, None, 0);
            }
        }
    }

    fn sum(&self, shape: ShapeId, count: impl Fn(&Stripe) -> &AtomicU64) -> u64 {
        self.stripes.sum(shape, count)
    }

    fn evidence(&self, shape: ShapeId, passing: &[usize], ended: u32) -> Evidence {
        let reasons = &self.of(shape).reasons.0;
        let passed = passing.iter().map(|reason| reasons[*reason].load(Ordering::Relaxed)).fold(0, u32::wrapping_add);
        Evidence {
            misses: (self.sum(shape, |stripe| &stripe.misses) as u32).wrapping_sub(passed),
            returns: self.sum(shape, |stripe| &stripe.returns) as u32,
            stored: self.sum(shape, |stripe| &stripe.stored) as u32,
            stored_bytes: self.sum(shape, |stripe| &stripe.stored_bytes),
            hits: self.sum(shape, |stripe| &stripe.hits) as u32,
            ended,
            has_room: self.has_room.load(Ordering::Relaxed),
        }
    }

    fn zero(&self, shape: ShapeId) {
        self.stripes.zero(shape);
        self.observed.zero(shape);
        self.of(shape).zero();
    }

    fn told(&self, shape: ShapeId, owner: &Owner) -> Digest {
        let counters = self.of(shape);
        let reasons = counters.reasons.0.iter().map(|count| count.load(Ordering::Relaxed)).enumerate();
        let tables = counters.tables.iter().map(|table| table.load(Ordering::Relaxed));
        Digest {
            shape,
            id: owner.id,
            text: owner.text.clone(),
            hits: self.sum(shape, |stripe| &stripe.hits),
            stale_hits: counters.stale_hits.load(Ordering::Relaxed),
            saved_us: self.sum(shape, |stripe| &stripe.saved_us),
            saved_bytes: self.sum(shape, |stripe| &stripe.saved_bytes),
            outdated: counters.outdated.load(Ordering::Relaxed),
            misses: self.sum(shape, |stripe| &stripe.misses),
            stored: self.sum(shape, |stripe| &stripe.stored),
            stored_bytes: self.sum(shape, |stripe| &stripe.stored_bytes),
            level: counters.level.load(Ordering::Relaxed),
            tables: tables.filter(|table| *table > 0).collect(),
            reasons: reasons.filter(|(_, count)| *count > 0).collect(),
            observed: self.observed.told(shape),
        }
    }
}

/// Returns the difference of two sets of counters, also if counters wrapped between them.
fn since(then: Evidence, now: Evidence) -> Evidence {
    Evidence {
        misses: now.misses.wrapping_sub(then.misses),
        returns: now.returns.wrapping_sub(then.returns),
        stored: now.stored.wrapping_sub(then.stored),
        stored_bytes: now.stored_bytes.wrapping_sub(then.stored_bytes),
        hits: now.hits.wrapping_sub(then.hits),
        ended: now.ended.wrapping_sub(then.ended),
        has_room: now.has_room,
    }
}

impl Counters {
    fn zero(&self) {
        [&self.stale_hits, &self.outdated].into_iter().for_each(|count| count.store(0, Ordering::Relaxed));
        self.reasons.0.iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }
}
