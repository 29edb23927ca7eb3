//! Many threads at once. Every value shows by itself that it is whole and belongs to its key.

mod keys;

use std::sync::atomic::{AtomicBool, Ordering};

use cache::{Cache, CellId, NotStored, Versions, pin};
use keys::{Random, key, meta};

const STEPS: u64 = if cfg!(miri) { 150 } else { 30_000 };
const KEYS: u64 = if cfg!(miri) { 20 } else { 3_000 };
const BUDGET: u64 = if cfg!(miri) { 200 << 10 } else { 4 << 20 };
const THREADS: u64 = if cfg!(miri) { 3 } else { 6 };

/// Returns a value of random length for the key with this number. All its words follow from the number and the first word, so that a reader
/// can check that the value is whole.
fn value(number: u64, random: &mut Random) -> Vec<u8> {
    let first = random.next();
    let words = 2 + random.below(if first.is_multiple_of(50) { 4_000 } else { 60 });
    let words = (0..words).map(|n| if n == 0 { first } else { word(number, first, n) });
    words.flat_map(u64::to_le_bytes).collect()
}

fn word(number: u64, first: u64, n: u64) -> u64 {
    (number ^ first).wrapping_mul(n | 1).rotate_left(17)
}

fn check(number: u64, value: &[u8]) {
    let words = value.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()));
    let words: Vec<_> = words.collect();
    for (n, &found) in words.iter().enumerate().skip(1) {
        assert_eq!(found, word(number, words[0], n as u64), "word {n} of key {number}");
    }
}

fn cell_of(number: u64) -> CellId {
    CellId(1 + number as u32 % 8)
}

fn work(cache: &Cache, versions: &Versions, thread: u64) {
    let mut random = Random(thread + 1);
    for _ in 0..STEPS {
        let number = random.below(KEYS).min(random.below(KEYS));
        let text = number.to_le_bytes();
        let key = key(thread % 2, &text, b"");
        let hash = cache.hash(&key);
        match random.below(1000) {
            0..700 => {
                let pin = pin();
                if let Some(entry) = cache.get(hash, &key, &pin) {
                    check(number, entry.value());
                    assert_eq!(entry.cells(), [cell_of(number)]);
                }
            }
            700..970 => {
                let cells = [cell_of(number)];
                let stamp = versions.now();
                let stored = cache.insert(hash, &key, meta(stamp.0), &cells, &value(number, &mut random));
                assert!(matches!(stored, Ok(()) | Err(NotStored::Busy)), "{stored:?}");
            }
            970..990 => drop(cache.remove(hash, &key)),
            990..996 => versions.advance(cell_of(number)),
            _ => drop(cache.sweep(|entry| entry.is_fresh(versions), 5)),
        }
    }
}

fn meddle(cache: &Cache, over: &AtomicBool) {
    let mut random = Random(99);
    while !over.load(Ordering::Relaxed) {
        match random.below(20) {
            0 => cache.clear(),
            1..4 => {
                let budget = BUDGET / [1, 2, 4, 8][random.below(4) as usize];
                cache.resize(budget);
            }
            _ => {
                let used = cache.stats().used_bytes;
                assert!(used <= BUDGET, "{used} exceeds {BUDGET}");
            }
        }
        std::thread::yield_now();
    }
}

#[test]
fn values_stay_whole_under_everything_at_once() {
    let cache = Cache::new(BUDGET);
    let versions = Versions::new();
    versions.allocate_many(8);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (cache, versions, over) = (&cache, &versions, &over);
        let workers: Vec<_> = (0..THREADS).map(|n| scope.spawn(move || work(cache, versions, n))).collect();
        let meddler = scope.spawn(move || meddle(cache, over));
        let ends: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        over.store(true, Ordering::Relaxed);
        ends.into_iter().for_each(|end| end.expect("no worker fails"));
        meddler.join().expect("the meddler does not fail");
    });
    assert!(cache.stats().inserts > 0);
    cache.resize(0);
    while cache.stats().retired_bytes > 0 {
        // The other test may still hold pins on a busy machine.
        cache.clear();
    }
    let stats = cache.stats();
    assert_eq!((stats.used_bytes, stats.entries, stats.segments), (0, 0, 0));
}

#[test]
fn the_budget_holds_while_all_threads_insert() {
    let cache = Cache::new(BUDGET);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (cache, over) = (&cache, &over);
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    let mut random = Random(thread + 7);
                    for n in 0..STEPS {
                        let text = n.to_le_bytes();
                        let key = key(thread, &text, b"");
                        let _ = cache.insert(cache.hash(&key), &key, meta(0), &[], &value(n, &mut random));
                    }
                })
            })
            .collect();
        let watcher = scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let used = cache.stats().used_bytes;
                assert!(used <= BUDGET, "{used} exceeds {BUDGET}");
                std::thread::yield_now();
            }
        });
        let ends: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        over.store(true, Ordering::Relaxed);
        ends.into_iter().for_each(|end| end.expect("no worker fails"));
        watcher.join().expect("the watcher does not fail");
    });
    let stats = cache.stats();
    assert!(stats.evictions > 0 && stats.used_bytes > BUDGET / 2, "{stats:?}");
}
