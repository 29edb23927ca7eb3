//! Prints what a hit costs: `cargo run --release -p fqc-cache --example lookup`.
//!
//! A hit hashes the key, pins, finds the entry and reads its first byte. With a thousand keys everything is in the processor's caches;
//! with 100 000, uniformly chosen, nearly every hit waits for memory.

use std::hint::black_box;

use cache::{Cache, CellId, Key, Meta, Stamp, pin};

const KEYS: [u32; 2] = [1_000, 100_000];
const HITS: u32 = 10_000_000;
/// The first part of every key, the text of a statement; keys differ in the second part. Like a text that was just received, it is in the
/// processor's caches.
const TEXT: &[u8] = b"SELECT c FROM sbtest1 WHERE id=?";

fn main() {
    let cache = Cache::new(256 << 20);
    for n in 0..KEYS[1] {
        let parameter = n.to_le_bytes();
        let key = key_of(&parameter);
        let meta = Meta { stamp: Stamp(0), rows: 1, cost_ns: 0, flags: 0, owner: 0 };
        cache.insert(cache.hash(&key), &key, meta, &[CellId(0)], &[1; 200]).expect("fits");
    }
    for keys in KEYS {
        for threads in [1, 2] {
            let nanoseconds = measure_threads(&cache, keys, threads);
            println!("{keys} keys, {threads} threads: {nanoseconds:.1} ns per hit");
        }
    }
}

fn measure_threads(cache: &Cache, keys: u32, threads: u32) -> f64 {
    let spent: f64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..=threads).map(|seed| scope.spawn(move || measure(cache, keys, seed))).collect();
        workers.into_iter().map(|worker| worker.join().expect("every key is stored")).sum()
    });
    spent / f64::from(threads)
}

fn key_of(parameter: &[u8; 4]) -> Key<'_> {
    Key { context: 1, parts: [TEXT, parameter] }
}

/// Returns the CPU time per hit in nanoseconds, with requests uniformly distributed over this many keys.
fn measure(cache: &Cache, keys: u32, seed: u32) -> f64 {
    let mut state = seed;
    let start = cpu_nanoseconds();
    for _ in 0..HITS {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let parameter = ((u64::from(state) * u64::from(keys)) >> 32) as u32;
        let parameter = parameter.to_le_bytes();
        let key = key_of(&parameter);
        let pin = pin();
        let entry = cache.get(cache.hash(&key), &key, &pin).expect("everything is stored");
        black_box(entry.value()[0]);
    }
    (cpu_nanoseconds() - start) as f64 / f64::from(HITS)
}

/// Returns the CPU time that this thread has used so far, in nanoseconds. On a busy machine it varies less than elapsed time.
fn cpu_nanoseconds() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
