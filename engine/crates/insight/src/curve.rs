//! Predicts the hit ratio at other cache sizes from a sample of the keys. A key is in the sample if its hash is below a threshold; then all
//! of its requests are. If the sample holds one key in n, a cache of an nth of the size treats it as the whole cache treats all keys.
//!
//! For each size, the sample is replayed through the eviction that the cache really uses. Reuse distances alone would not do: they
//! describe a cache that evicts the least recently used entry. At each request the caller is asked whether the result is still fresh,
//! so writes count as they do in the cache.
//!
//! The threshold falls if there are too many keys or requests to track, so that memory and time are bounded. A few hot keys can make the
//! sample's ratio better or worse than the whole. The number of requests that the sample should have seen is known, so the difference
//! is added to the hits at every size, or subtracted. A request that finds the sample locked is left out.

mod level;
mod sampled;

use level::Room;
use locks::Mutex;
use sampled::{Before, Sampled};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The sizes for which the ratio is predicted, in eighths of the current one.
pub const FACTORS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
const PRESENT: usize = 3;

const BITS: u32 = 24;
const ALL: u32 = 1 << BITS;
const LEAST: u32 = 1 << (BITS - 16);
/// The number of keys that are tracked.
const KEYS: usize = 8192;
/// The number of requests that are tracked in a second.
const REQUESTS: u64 = 20_000;
/// The threshold rises again after `IDLE_TICKS` ticks in which less than `1 / IDLE` of the possible keys and requests was tracked.
const IDLE: u64 = 16;
const IDLE_TICKS: u32 = 50;
/// When the sampled requests exceed this number, all counts are halved, so that the past counts less and less.
const MEMORY: f64 = 32_768.0;
/// With fewer expected requests there is no prediction.
const ENOUGH: f64 = 200.0;

/// The part of a stored result that the sample keeps. `V` is what the caller needs to decide whether the result is still fresh.
#[derive(Clone, Debug)]
pub struct Sample<V> {
    /// All bytes that it takes in the cache.
    pub bytes: u32,
    pub cost_us: u32,
    pub validity: V,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub size_bytes: u64,
    pub hit_ratio: f64,
}

/// The totals that `tick` needs.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// All requests so far, tracked or not.
    pub requests: u64,
    /// The requests among them that were only observed, which form the trial.
    pub observed: u64,
    pub size_bytes: u64,
    /// True while the trial goes on. A hit is counted when its request arrives, and `observed` when the server has responded.
    pub is_trial: bool,
    pub now_ns: u64,
}

/// The outcome of a trial: what a cache of the current size would have done while the cache was off and requests were only observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    pub requests: u64,
    pub hits: u64,
    pub saved_us: u64,
}

pub struct Curve<V> {
    threshold: AtomicU32,
    lost: AtomicU64,
    inner: Mutex<Inner<V>>,
}

struct Inner<V> {
    sampled: Sampled<V>,
    size_bytes: u64,
    /// Sampled requests, the number that there should have been, and hits at each size; all halved from time to time.
    requests: f64,
    expected: f64,
    hits: [f64; FACTORS.len()],
    /// Counts since the last `tick`.
    fresh: Fresh,
    total: u64,
    observed: u64,
    trial: Tried,
    now_ns: u64,
    idle_ticks: u32,
}

/// Sums of a trial. The sampled ones are not scaled to all requests.
#[derive(Clone, Copy, Default)]
struct Tried {
    requests: f64,
    hits: f64,
    sampled_hits: f64,
    sampled_us: f64,
}

/// How much there is to track.
enum Pace {
    TooMuch,
    Right,
    Idle,
}

#[derive(Clone, Copy, Default)]
struct Fresh {
    requests: u64,
    hits: [u64; FACTORS.len()],
    saved_us: u64,
}

impl<V> Default for Curve<V> {
    fn default() -> Self {
        let inner = Inner {
            sampled: Sampled::default(),
            size_bytes: 0,
            requests: 0.0,
            expected: 0.0,
            hits: Default::default(),
            fresh: Fresh::default(),
            total: 0,
            observed: 0,
            trial: Tried::default(),
            now_ns: 0,
            idle_ticks: 0,
        };
        Curve { threshold: AtomicU32::new(ALL), lost: AtomicU64::new(0), inner: Mutex::new(inner) }
    }
}

impl<V> Curve<V> {
    /// True if requests with this hash are tracked. Check it first: it costs next to nothing.
    #[inline]
    pub fn wants(&self, hash: u64) -> bool {
        // Relaxed, here and below: a lock protects the sample, and the threshold is only a hint.
        place(hash) < self.threshold.load(Ordering::Relaxed)
    }

    /// Records a request. Returns false if its result is not in the sample: the caller then calls [`stored`](Self::stored) for a result
    /// from the cache or the server, or [`missed`](Self::missed) if it has no result that can be stored.
    pub fn requested(&self, hash: u64, is_fresh: impl Fn(&V) -> bool) -> bool {
        self.with(|inner| inner.requested(hash, is_fresh)).unwrap_or(true)
    }

    /// Records a result that could be stored, or was found in the cache. Returns whether a cache of the current size would have answered
    /// the request; none if the request is not tracked.
    pub fn stored(&self, hash: u64, sample: Sample<V>) -> Option<bool> {
        self.with(|inner| inner.stored(hash, sample)).flatten()
    }

    /// One in this many statements is tracked.
    pub fn one_in(&self) -> u64 {
        u64::from(ALL / self.threshold.load(Ordering::Relaxed))
    }

    /// Records a request whose result could not be stored.
    pub fn missed(&self) {
        self.with(|inner| inner.fresh.requests += 1);
    }

    /// Never waits: the number of requests that found the sample locked is taken into account.
    fn with<R>(&self, change: impl FnOnce(&mut Inner<V>) -> R) -> Option<R> {
        match self.inner.try_lock() {
            Ok(mut inner) if inner.size_bytes > 0 => Some(change(&mut inner)),
            Ok(_) => None,
            Err(_) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }

    /// Brings counts, sizes and the threshold up to date. Call several times a second.
    pub fn tick(&self, moment: Moment) {
        let size_bytes = moment.size_bytes;
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        let threshold = self.threshold.load(Ordering::Relaxed);
        let pace = inner.note(moment, self.lost.swap(0, Ordering::Relaxed), threshold);
        if inner.size_bytes != size_bytes {
            inner.size_bytes = size_bytes;
            inner.forget_counts();
        }
        let next = match pace {
            Pace::TooMuch => (threshold / 2).max(LEAST),
            Pace::Idle => (threshold * 2).min(ALL),
            Pace::Right => threshold,
        };
        if next < threshold {
            inner.sampled.keep(|hash| place(hash) < next);
        }
        self.threshold.store(next, Ordering::Relaxed);
        let scaled = |factor: u64| usable(size_bytes / 8 * factor) * f64::from(next) / f64::from(ALL);
        inner.sampled.resize(FACTORS.map(|factor| scaled(factor) as u64));
    }

    /// Returns the prediction; empty until enough requests were seen.
    pub fn points(&self) -> Vec<Point> {
        let inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        if inner.expected < ENOUGH {
            return Vec::new();
        }
        let unseen = inner.expected - inner.requests;
        let mut floor = 0.0_f64;
        let ratios = inner.hits.map(|hits| {
            // More memory never lowers the ratio, except by chance.
            floor = floor.max(((hits + unseen) / inner.expected).clamp(0.0, 1.0));
            floor
        });
        let sizes = FACTORS.map(|factor| inner.size_bytes / 8 * factor);
        sizes.into_iter().zip(ratios).map(|(size_bytes, hit_ratio)| Point { size_bytes, hit_ratio }).collect()
    }

    pub fn forget_trial(&self) {
        self.inner.lock().unwrap_or_else(|e| e.into_inner()).trial = Tried::default();
    }

    /// Returns the totals of the trial, estimated for all of its requests.
    pub fn trial(&self) -> Trial {
        let inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        let Tried { requests, hits, sampled_hits, sampled_us } = inner.trial;
        let hits = hits.clamp(0.0, requests);
        let saved_us = sampled_us / sampled_hits.max(1.0) * hits;
        Trial { requests: requests as u64, hits: hits.round() as u64, saved_us: saved_us.round() as u64 }
    }
}

/// The bytes that a cache of this size has for results. The rest is reserve for evictions, segments that are being filled, and ended
/// entries in full segments.
fn usable(size_bytes: u64) -> f64 {
    const FIXED_BYTES: u64 = 20 << 10;
    size_bytes.saturating_sub(FIXED_BYTES) as f64 * 59.0 / 64.0
}

/// Returns the number that the threshold is compared with. It uses other bits than the cache does to place entries.
fn place(hash: u64) -> u32 {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BITS)) as u32
}

impl<V> Inner<V> {
    fn requested(&mut self, hash: u64, is_fresh: impl Fn(&V) -> bool) -> bool {
        let Some(at) = self.sampled.find(hash) else { return false };
        if !is_fresh(self.sampled.validity(at)) {
            self.sampled.outdate(at);
            return false;
        }
        self.fresh.requests += 1;
        let cost_us = self.sampled.cost_us(at);
        for (level, hits) in self.fresh.hits.iter_mut().enumerate() {
            let is_hit = self.sampled.request(at, level) == Room::Held;
            *hits += u64::from(is_hit);
            match (level, is_hit) {
                (PRESENT, true) => self.fresh.saved_us += u64::from(cost_us),
                (PRESENT, false) => self.sampled.evicted(at),
                _ => {}
            }
        }
        self.sampled.settle();
        true
    }

    fn stored(&mut self, hash: u64, sample: Sample<V>) -> Option<bool> {
        // A sample far above its limit accepts no more until the next tick.
        if self.sampled.len() > 4 * KEYS {
            return None;
        }
        let before = self.sampled.store(hash, sample);
        self.fresh.requests += u64::from(before == Before::Nothing);
        Some(before == Before::Held)
    }

    /// Adds the counts since the last call. Returns how much there is to track.
    fn note(&mut self, moment: Moment, lost: u64, threshold: u32) -> Pace {
        let fresh = std::mem::take(&mut self.fresh);
        let rate = f64::from(threshold) / f64::from(ALL);
        let came = moment.requests.saturating_sub(std::mem::replace(&mut self.total, moment.requests)) as f64;
        let observed = moment.observed.saturating_sub(std::mem::replace(&mut self.observed, moment.observed)) as f64;
        if self.requests > MEMORY {
            [&mut self.requests, &mut self.expected].into_iter().for_each(|count| *count /= 2.0);
            self.hits.iter_mut().for_each(|count| *count /= 2.0);
        }
        let expected = (came * rate - lost as f64).max(0.0);
        self.expected += expected;
        self.requests += fresh.requests as f64;
        for (sum, hits) in self.hits.iter_mut().zip(fresh.hits) {
            *sum += hits as f64;
        }
        let hits = fresh.hits[PRESENT] as f64;
        self.trial.requests += observed;
        // The hit ratio of the observed requests is taken to be that of all requests in the same interval.
        self.trial.hits += (hits + expected - fresh.requests as f64) / rate * observed / came.max(1.0);
        if moment.is_trial {
            self.trial.sampled_hits += hits;
            self.trial.sampled_us += fresh.saved_us as f64;
        }
        self.pace(fresh.requests + lost, moment.now_ns)
    }

    fn pace(&mut self, followed: u64, now_ns: u64) -> Pace {
        let elapsed_ms = now_ns.saturating_sub(std::mem::replace(&mut self.now_ns, now_ns)) / 1_000_000;
        let may_follow = REQUESTS * elapsed_ms.max(100) / 1000;
        let is_idle = followed < may_follow / IDLE && self.sampled.len() < KEYS / IDLE as usize;
        self.idle_ticks = if is_idle { self.idle_ticks + 1 } else { 0 };
        if followed > may_follow || self.sampled.len() > KEYS {
            return Pace::TooMuch;
        }
        if self.idle_ticks < IDLE_TICKS {
            return Pace::Right;
        }
        self.idle_ticks = 0;
        Pace::Idle
    }

    /// Resets the counts, which belong to other sizes.
    fn forget_counts(&mut self) {
        (self.requests, self.expected, self.hits) = (0.0, 0.0, Default::default());
    }
}
