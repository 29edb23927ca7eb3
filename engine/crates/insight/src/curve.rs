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

use level::RequestOutcome;
use locks::Mutex;
use sampled::{PreviousState, Sampled};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The cache sizes for which the hit ratio is predicted, in eighths of the current size.
pub const FACTORS: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];
const PRESENT: usize = 3;

const BITS: u32 = 24;
const ALL: u32 = 1 << BITS;
const LEAST: u32 = 1 << (BITS - 16);
/// The number of keys in the sample above which the threshold falls, so that fewer keys are tracked.
const KEYS: usize = 8192;
/// The number of tracked requests in a second above which the threshold falls, so that fewer keys are tracked.
const REQUESTS: u64 = 20_000;
/// The sample gets larger again after `IDLE_TICKS` calls of `tick` in a row at which it had less than `1 / IDLE` of its maximum of keys and
/// requests.
const IDLE: u64 = 16;
const IDLE_TICKS: u32 = 50;
/// When the sampled requests exceed this number, all counts are halved, so that the past counts less and less.
const MEMORY: f64 = 32_768.0;
/// The least number of requests in the sample for which there is a prediction.
const ENOUGH: f64 = 200.0;

/// A result in the sample of a [`Curve`], without its bytes. `V` is the caller's data for deciding whether the result is still fresh.
#[derive(Clone, Debug)]
pub struct Sample<V> {
    /// All bytes that the result takes in the cache, its share of the index included.
    pub bytes: u32,
    /// How long the server took to compute the result, in microseconds.
    pub cost_us: u32,
    /// The caller's data, which [`Curve::requested`] passes back to it.
    pub validity: V,
}

/// A prediction: with a cache of this size, this part of the requests would be hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub size_bytes: u64,
    /// From 0 to 1.
    pub hit_ratio: f64,
}

/// The totals that [`Curve::tick`] needs, at the time of the call.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// All requests so far, in the sample or not.
    pub requests: u64,
    /// The requests among them that were only observed: the cache was off for them, and the [`Trial`] estimates what it would have done.
    pub observed: u64,
    /// The current size of the cache.
    pub size_bytes: u64,
    /// True while requests are only observed. It decides whether the hits since the last `tick` belong to the trial, since a hit is counted
    /// when its request arrives, and `observed` only when the server has responded.
    pub is_trial: bool,
    /// The time in nanoseconds, by any clock that never goes back.
    pub now_ns: u64,
}

/// The outcome of a trial: an estimate of what a cache of the current size would have done while the cache was off and requests were only
/// observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// The observed requests.
    pub requests: u64,
    /// The observed requests that the cache would have answered.
    pub hits: u64,
    /// The server's time for those, in microseconds.
    pub saved_us: u64,
}

/// Predicts the hit ratio of a cache at other sizes from a sample of its requests. The methods that sessions call for a request never wait
/// for a lock. Nothing is recorded before the first [`tick`](Self::tick).
pub struct Curve<V> {
    /// A key is in the sample if its [`place`] is below this.
    threshold: AtomicU32,
    /// The requests since the last `tick` that were not recorded because another thread held the lock.
    lost: AtomicU64,
    inner: Mutex<Inner<V>>,
}

struct Inner<V> {
    sampled: Sampled<V>,
    size_bytes: u64,
    /// The recorded requests. This and the next two are halved from time to time, so that the past counts less and less.
    requests: f64,
    /// The requests that should have been recorded, by the threshold and the number of all requests.
    expected: f64,
    /// The recorded requests that would have been hits, for each of [`FACTORS`].
    hits: [f64; FACTORS.len()],
    /// The counts in the sample since the last [`Curve::tick`].
    fresh: Fresh,
    total: u64,
    observed: u64,
    trial: TrialSums,
    now_ns: u64,
    idle_ticks: u32,
}

/// Sums of a trial, see [`Trial`].
#[derive(Clone, Copy, Default)]
struct TrialSums {
    requests: f64,
    hits: f64,
    /// The hits in the sample, not scaled to all requests.
    sampled_hits: f64,
    /// The server's time for the hits in the sample, not scaled, in microseconds.
    sampled_us: f64,
}

/// Whether the sample has too many keys or requests, the right number, or so few that it can be larger.
enum SampleSize {
    TooLarge,
    Right,
    TooSmall,
}

/// The counts in the sample since the last `tick`.
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
            trial: TrialSums::default(),
            now_ns: 0,
            idle_ticks: 0,
        };
        Curve { threshold: AtomicU32::new(ALL), lost: AtomicU64::new(0), inner: Mutex::new(inner) }
    }
}

impl<V> Curve<V> {
    /// True if the key with this hash is in the sample. For others, no other method that takes a hash may be called. It costs next to
    /// nothing.
    #[inline]
    pub fn wants(&self, hash: u64) -> bool {
        // Relaxed, here and below: a lock protects the sample, and the threshold is only a hint.
        place(hash) < self.threshold.load(Ordering::Relaxed)
    }

    /// Records a request of a key in the sample. `is_fresh` is asked whether the result that the sample knows is still current. Returns
    /// false if the sample has no current result: the caller then calls [`stored`](Self::stored) once it has a result from the cache or the
    /// server, or [`missed`](Self::missed) if it gets none that can be stored. True: nothing more is to be done.
    pub fn requested(&self, hash: u64, is_fresh: impl Fn(&V) -> bool) -> bool {
        self.with(|inner| inner.requested(hash, is_fresh)).unwrap_or(true)
    }

    /// Records the result of a request of a key in the sample: one that could be stored, or was found in the cache. Returns true if a cache
    /// of the current size would have answered the request, and false if it would not have. None if that is not known, because the sample
    /// was locked, full or not started.
    pub fn stored(&self, hash: u64, sample: Sample<V>) -> Option<bool> {
        self.with(|inner| inner.stored(hash, sample)).flatten()
    }

    /// Returns the share of keys in the sample: one in this many.
    pub fn one_in(&self) -> u64 {
        u64::from(ALL / self.threshold.load(Ordering::Relaxed))
    }

    /// Records a request of a key in the sample whose result could not be stored: it counts as a miss at each size.
    pub fn missed(&self) {
        self.with(|inner| inner.fresh.requests += 1);
    }

    /// Runs `change` unless another thread holds the lock or `tick` was never called; then returns none. Never waits. Requests that found
    /// the sample locked are counted, and the prediction takes them into account.
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

    /// Adds up the counts since the last call and adapts the sample to the size of the cache and the number of requests. Call it several
    /// times a second, on a background thread. A new cache size resets the prediction, but not the trial.
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
            SampleSize::TooLarge => (threshold / 2).max(LEAST),
            SampleSize::TooSmall => (threshold * 2).min(ALL),
            SampleSize::Right => threshold,
        };
        if next < threshold {
            inner.sampled.keep(|hash| place(hash) < next);
        }
        self.threshold.store(next, Ordering::Relaxed);
        let scaled = |factor: u64| usable(size_bytes / 8 * factor) * f64::from(next) / f64::from(ALL);
        inner.sampled.resize(FACTORS.map(|factor| scaled(factor) as u64));
    }

    /// Returns the predicted hit ratio for each of [`FACTORS`], in order of size; empty until enough requests were recorded.
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

    /// Starts the trial again with zero counts.
    pub fn forget_trial(&self) {
        self.inner.lock().unwrap_or_else(|e| e.into_inner()).trial = TrialSums::default();
    }

    /// Returns what the cache would have done for the requests that were only observed, since the last
    /// [`forget_trial`](Self::forget_trial), estimated from the sample.
    pub fn trial(&self) -> Trial {
        let inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        let TrialSums { requests, hits, sampled_hits, sampled_us } = inner.trial;
        let hits = hits.clamp(0.0, requests);
        let saved_us = sampled_us / sampled_hits.max(1.0) * hits;
        Trial { requests: requests as u64, hits: hits.round() as u64, saved_us: saved_us.round() as u64 }
    }
}

/// Returns the bytes that a cache of this size has for results. The rest is reserve for evictions, segments that are being filled, and dead
/// entries in full segments.
fn usable(size_bytes: u64) -> f64 {
    const FIXED_BYTES: u64 = 20 << 10;
    size_bytes.saturating_sub(FIXED_BYTES) as f64 * 59.0 / 64.0
}

/// Returns the number of a key, from its hash, that the threshold is compared with. It uses other bits of the hash than the cache does to
/// place entries.
fn place(hash: u64) -> u32 {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - BITS)) as u32
}

impl<V> Inner<V> {
    fn requested(&mut self, hash: u64, is_fresh: impl Fn(&V) -> bool) -> bool {
        let Some(at) = self.sampled.find(hash) else { return false };
        if !is_fresh(self.sampled.validity(at)) {
            self.sampled.mark_stale(at);
            return false;
        }
        self.fresh.requests += 1;
        let cost_us = self.sampled.cost_us(at);
        for (level, hits) in self.fresh.hits.iter_mut().enumerate() {
            let is_hit = self.sampled.request(at, level) == RequestOutcome::Held;
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
        self.fresh.requests += u64::from(before == PreviousState::Nothing);
        Some(before == PreviousState::Held)
    }

    /// Adds the counts since the last call, and resets them. `lost` requests were not recorded. Returns whether the sample has the right
    /// size.
    fn note(&mut self, moment: Moment, lost: u64, threshold: u32) -> SampleSize {
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
        self.sample_size(fresh.requests + lost, moment.now_ns)
    }

    fn sample_size(&mut self, followed: u64, now_ns: u64) -> SampleSize {
        let elapsed_ms = now_ns.saturating_sub(std::mem::replace(&mut self.now_ns, now_ns)) / 1_000_000;
        let may_follow = REQUESTS * elapsed_ms.max(100) / 1000;
        let is_idle = followed < may_follow / IDLE && self.sampled.len() < KEYS / IDLE as usize;
        self.idle_ticks = if is_idle { self.idle_ticks + 1 } else { 0 };
        if followed > may_follow || self.sampled.len() > KEYS {
            return SampleSize::TooLarge;
        }
        if self.idle_ticks < IDLE_TICKS {
            return SampleSize::Right;
        }
        self.idle_ticks = 0;
        SampleSize::TooSmall
    }

    /// Resets the counts of the prediction, because the size of the cache has changed.
    fn forget_counts(&mut self) {
        (self.requests, self.expected, self.hits) = (0.0, 0.0, Default::default());
    }
}
