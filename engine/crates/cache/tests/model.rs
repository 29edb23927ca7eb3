//! Random operations compared with a plain map: a result that is found was the last one stored, and the budget holds at every moment.

mod keys;

use std::collections::HashMap;

use cache::{Cache, CellId, Key, Meta, NotStored, Stamp, Versions, pin};
use keys::{BUDGETS, Random, key, meta};

const STEPS: u64 = if cfg!(miri) { 300 } else { 30_000 };
const SEEDS: u64 = if cfg!(miri) { 1 } else { 3 };
const CELLS: u64 = 8;

struct Stored {
    value: Vec<u8>,
    cell: CellId,
    stamp: Stamp,
}

struct Run {
    random: Random,
    cache: Cache,
    versions: Versions,
    model: HashMap<(u64, Vec<u8>), Stored>,
    largest: u64,
    refused: u64,
}

#[test]
fn every_value_found_is_the_last_one_stored() {
    for &budget in BUDGETS {
        for seed in 1..=SEEDS {
            run(budget as u64, seed);
        }
    }
}

/// Returns a key with this context and text. Some texts, by their first byte, are split into both parts of the key.
fn key_of(context: u64, text: &[u8]) -> Key<'_> {
    let second = text.len() - usize::from(text[0]) % text.len();
    key(context, &text[..second], &text[second..])
}

fn run(budget: u64, seed: u64) {
    let versions = Versions::new();
    versions.allocate_many(CELLS as u32);
    let mut run = Run {
        random: Random(seed),
        cache: Cache::new(budget),
        versions,
        model: HashMap::new(),
        largest: (budget / 4).clamp(1, if cfg!(miri) { 5_000 } else { 200_000 }),
        refused: 0,
    };
    for _ in 0..STEPS {
        run.step();
    }
    run.check_all();
    run.cache.resize(0);
    let stats = run.cache.stats();
    assert_eq!((stats.used_bytes, stats.entries, stats.live_bytes, stats.segments), (0, 0, 0, 0));
    assert!(budget < 64 << 10 || run.refused < STEPS / 20, "{} refused", run.refused);
}

impl Run {
    fn step(&mut self) {
        let text = self.random.below(500).to_string().into_bytes();
        let context = self.random.below(2);
        match self.random.below(1000) {
            0..500 => self.look_up(context, &text),
            500..900 => self.insert(context, text),
            900..970 => self.remove(context, text),
            970..985 => {
                let cell = self.some_cell();
                self.versions.advance(cell);
            }
            985..998 => self.sweep(),
            998 if self.random.below(10) == 0 => self.clear(),
            _ => self.resize(),
        }
        let (stats, budget) = (self.cache.stats(), self.cache.budget());
        assert!(stats.used_bytes <= budget, "{stats:?} exceeds {budget}");
        assert!(stats.live_bytes <= stats.used_bytes);
        assert!(stats.entries <= self.model.len() as u64);
    }

    fn some_cell(&mut self) -> CellId {
        CellId(1 + self.random.below(CELLS) as u32)
    }

    fn look_up(&self, context: u64, text: &[u8]) {
        let key = key_of(context, text);
        let pin = pin();
        let found = self.cache.get(self.cache.hash(&key), &key, &pin);
        if let Some(found) = found {
            let stored = &self.model[&(context, text.to_vec())];
            assert_eq!(found.value(), stored.value);
            assert_eq!((found.cells(), found.stamp()), (&[stored.cell][..], stored.stamp));
        }
    }

    fn insert(&mut self, context: u64, text: Vec<u8>) {
        let length = match self.random.below(100) {
            0 => self.random.below(self.largest),
            1..20 => self.random.below(self.largest.min(20_000)),
            _ => self.random.below(self.largest.min(400)),
        };
        let value = vec![self.random.next() as u8; length as usize];
        let cell = self.some_cell();
        let stamp = self.versions.now();
        let key = key_of(context, &text);
        let meta = Meta { stamp, ..meta(0) };
        let stored = self.cache.insert(self.cache.hash(&key), &key, meta, &[cell], &value);
        match stored {
            Ok(()) => drop(self.model.insert((context, text), Stored { value, cell, stamp })),
            Err(refusal) => {
                // Other tests of this process may hold back the epoch, so that memory is not released.
                self.refused += u64::from(refusal != NotStored::NoBudget);
                self.model.remove(&(context, text));
            }
        }
    }

    fn remove(&mut self, context: u64, text: Vec<u8>) {
        let key = key_of(context, &text);
        let removed = self.cache.remove(self.cache.hash(&key), &key);
        let known = self.model.remove(&(context, text)).is_some();
        assert!(known || !removed);
    }

    fn sweep(&mut self) {
        let segments = self.random.below(20) as usize;
        self.cache.sweep(|entry| entry.is_fresh(&self.versions), segments);
        if segments > 10 {
            self.cache.sweep(|entry| entry.is_fresh(&self.versions), usize::MAX);
            self.cache.sweep(|entry| entry.is_fresh(&self.versions), usize::MAX);
            self.check_none_is_dead();
        }
    }

    fn clear(&mut self) {
        self.cache.clear();
        self.model.clear();
        assert_eq!((self.cache.stats().segments, self.cache.stats().entries), (0, 0));
    }

    fn resize(&mut self) {
        let budget = BUDGETS[self.random.below(BUDGETS.len() as u64) as usize] as u64;
        let before = self.cache.budget();
        self.cache.resize(budget);
        self.check_all();
        self.cache.resize(before);
    }

    fn check_none_is_dead(&self) {
        let pin = pin();
        for ((context, text), stored) in &self.model {
            let key: Key = key_of(*context, text);
            if self.cache.get(self.cache.hash(&key), &key, &pin).is_some() {
                assert!(self.versions.is_fresh(&[stored.cell], stored.stamp));
            }
        }
    }

    fn check_all(&self) {
        let found = self.model.keys().filter(|(context, text)| {
            self.look_up(*context, text);
            let key = key_of(*context, text);
            self.cache.get(self.cache.hash(&key), &key, &pin()).is_some()
        });
        assert_eq!(found.count() as u64, self.cache.stats().entries, "every entry can be found");
    }
}
