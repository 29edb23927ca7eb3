//! The keys of the sample, each with its state in all levels.

use super::level::{Keys, Level, Mark, RequestOutcome};
use super::{FACTORS, Sample};
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// A key of the sample, with what is known about its result.
struct Key<V> {
    hash: u64,
    sample: Sample<V>,
    /// The key's state in the simulated cache of each size.
    marks: [Mark; FACTORS.len()],
    /// True if a request found the result stale and no new one was stored since.
    is_outdated: bool,
    /// True if a cache of the current size had evicted the result when it was requested, and it was not stored since.
    is_evicted: bool,
}

/// The state of a key's result in the sample before [`Sampled::store`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviousState {
    /// There was no current result; the request had not been counted yet.
    Nothing,
    /// A cache of the current size had evicted the result, so the request was a miss.
    Evicted,
    /// A cache of the current size still had the result, so the request was a hit.
    Held,
}

/// The keys of the sample, and the simulated cache of each size in [`FACTORS`]. Keys are numbered; a number is valid until
/// [`settle`](Self::settle), [`resize`](Self::resize) or [`keep`](Self::keep).
pub struct Sampled<V> {
    by_hash: HashMap<u64, u32, RandomState>,
    keys: Vec<Option<Key<V>>>,
    free: Vec<u32>,
    /// Keys that some simulated cache has forgotten. Those that all have forgotten are freed when the request is over.
    forgotten: Vec<u32>,
    /// The simulated caches, one for each size.
    levels: [Level; FACTORS.len()],
}

impl<V> Default for Sampled<V> {
    fn default() -> Self {
        Sampled {
            by_hash: HashMap::default(),
            keys: Vec::new(),
            free: Vec::new(),
            forgotten: Vec::new(),
            levels: Default::default(),
        }
    }
}

/// The keys of the sample as one of the simulated caches has access to them.
struct LevelKeys<'a, V> {
    keys: &'a mut [Option<Key<V>>],
    level: usize,
    forgotten: &'a mut Vec<u32>,
    nothing: Mark,
}

impl<V> Keys for LevelKeys<'_, V> {
    fn mark(&mut self, key: u32) -> &mut Mark {
        let level = self.level;
        self.keys[key as usize].as_mut().map_or(&mut self.nothing, |key| &mut key.marks[level])
    }

    fn bytes(&self, key: u32) -> u64 {
        self.keys[key as usize].as_ref().map_or(0, |key| key.sample.bytes.into())
    }

    fn forgotten(&mut self, key: u32) {
        self.forgotten.push(key);
    }
}

impl<V> Sampled<V> {
    pub fn len(&self) -> usize {
        self.by_hash.len()
    }

    /// Returns the number of the key with this hash, none if the key is not in the sample or its result is marked as stale.
    pub fn find(&self, hash: u64) -> Option<u32> {
        let at = *self.by_hash.get(&hash)?;
        (!self.key(at).is_outdated).then_some(at)
    }

    fn key(&self, at: u32) -> &Key<V> {
        self.keys[at as usize].as_ref().expect("a number that is known is in use")
    }

    fn key_mut(&mut self, at: u32) -> &mut Key<V> {
        self.keys[at as usize].as_mut().expect("a number that is known is in use")
    }

    pub fn validity(&self, at: u32) -> &V {
        &self.key(at).sample.validity
    }

    pub fn cost_us(&self, at: u32) -> u32 {
        self.key(at).sample.cost_us
    }

    /// Marks the result of the key with this number as stale, until [`store`](Self::store).
    pub fn mark_stale(&mut self, at: u32) {
        self.key_mut(at).is_outdated = true;
    }

    /// Marks the result of the key with this number as evicted from a cache of the current size, until [`store`](Self::store).
    pub fn evicted(&mut self, at: u32) {
        self.key_mut(at).is_evicted = true;
    }

    /// Simulates a request of the key with this number at one of the sizes, `level` in [`FACTORS`]. After all sizes, call
    /// [`settle`](Self::settle) once.
    pub fn request(&mut self, at: u32, level: usize) -> RequestOutcome {
        self.at_level(level, |level, keys| level.request(at, keys))
    }

    fn at_level<R>(&mut self, level: usize, work: impl FnOnce(&mut Level, &mut LevelKeys<'_, V>) -> R) -> R {
        let (keys, forgotten) = (&mut self.keys, &mut self.forgotten);
        work(&mut self.levels[level], &mut LevelKeys { keys, level, forgotten, nothing: Mark::default() })
    }

    /// Stores what is known about the result of the key with this hash, and adds the key if it is new. If no current result was known,
    /// simulates the request at all sizes, because it was not counted yet. Returns what was known before.
    pub fn store(&mut self, hash: u64, sample: Sample<V>) -> PreviousState {
        let Some(&at) = self.by_hash.get(&hash) else {
            let at = self.add(Key { hash, sample, marks: Default::default(), is_outdated: false, is_evicted: false });
            self.request_everywhere(at);
            return PreviousState::Nothing;
        };
        let key = self.key_mut(at);
        let was_evicted = std::mem::take(&mut key.is_evicted);
        let was_outdated = std::mem::take(&mut key.is_outdated);
        self.replace(at, sample);
        if was_outdated {
            self.request_everywhere(at);
            return PreviousState::Nothing;
        }
        if was_evicted { PreviousState::Evicted } else { PreviousState::Held }
    }

    fn request_everywhere(&mut self, at: u32) {
        (0..FACTORS.len()).for_each(|level| _ = self.request(at, level));
        self.settle();
    }

    fn replace(&mut self, at: u32, sample: Sample<V>) {
        let (old, new) = (self.key(at).sample.bytes.into(), sample.bytes.into());
        let marks = self.key(at).marks;
        self.levels.iter_mut().zip(marks).for_each(|(level, mark)| level.grow(mark, old, new));
        self.key_mut(at).sample = sample;
    }

    fn add(&mut self, key: Key<V>) -> u32 {
        let at = self.free.pop().unwrap_or_else(|| {
            self.keys.push(None);
            self.keys.len() as u32 - 1
        });
        self.by_hash.insert(key.hash, at);
        self.keys[at as usize] = Some(key);
        at
    }

    /// Frees the keys that all simulated caches have forgotten; their numbers become invalid.
    pub fn settle(&mut self) {
        let is_gone = |key: &Key<V>| key.marks.iter().all(|mark| mark.is_gone());
        while let Some(at) = self.forgotten.pop() {
            if let Some(key) = self.keys[at as usize].take_if(|key| is_gone(key)) {
                self.by_hash.remove(&key.hash);
                self.free.push(at);
            }
        }
    }

    /// Sets the capacity of each simulated cache in bytes, in the order of [`FACTORS`], and evicts what exceeds it.
    pub fn resize(&mut self, capacities: [u64; FACTORS.len()]) {
        for (level, capacity) in capacities.into_iter().enumerate() {
            self.at_level(level, |level, keys| level.resize(capacity, keys));
        }
        self.settle();
    }

    /// Drops all keys with a hash for which `is_kept` returns false.
    pub fn keep(&mut self, is_kept: impl Fn(u64) -> bool) {
        for at in 0..self.keys.len() {
            if let Some(key) = self.keys[at].take_if(|key| !is_kept(key.hash)) {
                self.by_hash.remove(&key.hash);
                self.free.push(at as u32);
            }
        }
        let keys = &self.keys;
        let bytes = |at: u32| keys[at as usize].as_ref().map_or(0, |key| key.sample.bytes.into());
        self.levels.iter_mut().for_each(|level| level.keep(|at| keys[at as usize].is_some(), bytes));
    }
}
