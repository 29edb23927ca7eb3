//! Prints what a hit costs: `cargo run --release -p fqc-cache --example lookup`.
//!
//! 100 000 keys, uniformly chosen; each measurement hashes the key, pins, finds the entry and reads its first byte.

use std::hint::black_box;

use cache::{Cache, Key, Meta, Stamp, pin};

const KEYS: u32 = 100_000;
const HITS: u32 = 10_000_000;

fn main() {
    let cache = Cache::new(256 << 20);
    let texts: Vec<_> = (0..KEYS).map(|n| format!("SELECT c FROM sbtest1 WHERE id={n}")).collect();
    for text in &texts {
        let key = key_of(text);
        let meta = Meta { stamp: Stamp(0), rows: 1, cost_ns: 0, flags: 0 };
        cache.insert(cache.hash(&key), &key, meta, &[], &[1; 200]).expect("fits");
    }
    for threads in [1, 2] {
        let spent: Vec<_> = std::thread::scope(|scope| {
            let (cache, texts) = (&cache, &texts);
            let workers: Vec<_> = (0..threads).map(|n| scope.spawn(move || hit(cache, texts, n))).collect();
            workers.into_iter().map(|worker| worker.join().expect("every key is stored")).collect()
        });
        let [whole, choice] = [|(whole, _): &(f64, f64)| *whole, |(_, choice): &(f64, f64)| *choice]
            .map(|part| spent.iter().map(part).sum::<f64>() / threads as f64);
        println!("{threads} threads: {:.1} ns per hit ({whole:.1} less {choice:.1} for the choice)", whole - choice);
    }
}

fn key_of(text: &str) -> Key<'_> {
    Key { context: 1, parts: [text.as_bytes(), b""] }
}

/// CPU time per hit in nanoseconds: with, and without looking the text up.
fn hit(cache: &Cache, texts: &[String], thread: u32) -> (f64, f64) {
    let whole = measure(texts, thread, |text| {
        let key = key_of(text);
        let pin = pin();
        let entry = cache.get(cache.hash(&key), &key, &pin).expect("everything is stored");
        black_box(entry.value()[0]);
    });
    let choice = measure(texts, thread, |text| _ = black_box(text.as_bytes()[0]));
    (whole, choice)
}

fn measure(texts: &[String], thread: u32, use_text: impl Fn(&str)) -> f64 {
    let mut state = thread + 1;
    let start = cpu_nanoseconds();
    for _ in 0..HITS {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        use_text(&texts[((u64::from(state) * u64::from(KEYS)) >> 32) as usize]);
    }
    (cpu_nanoseconds() - start) as f64 / f64::from(HITS)
}

/// Of this thread, so that a busy machine disturbs less.
fn cpu_nanoseconds() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
