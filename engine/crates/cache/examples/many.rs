//! Prints how many bytes an entry takes beyond its key and its result, for many small entries, and what looking them up costs:
//! `cargo run --release -p fqc-cache --example many -- [entries]`, 1,000,000 without a number.
//!
//! The bytes are the growth of the process's resident memory, so the index and gaps between entries are included.

use cache::{Cache, CellId, Key, Meta, Stamp, pin};
use std::time::Instant;

const TEXT: &[u8] = b"SELECT c FROM sbtest1 WHERE id=?";
const VALUE: [u8; 100] = [1; 100];
const CONTEXT_BYTES: usize = 6;
const PARAMETER_BYTES: usize = 8;
const LOOKUPS: u64 = 2_000_000;

fn main() {
    let entries: u64 = std::env::args().nth(1).map_or(1_000_000, |word| word.parse().expect("a whole number"));
    let payload = (CONTEXT_BYTES + TEXT.len() + PARAMETER_BYTES + VALUE.len()) as u64;
    let before = resident_bytes();
    // The budget has room for all, so that nothing is evicted.
    let cache = Cache::new(entries * (payload + 64) * 9 / 8);
    let begun = Instant::now();
    (0..entries).for_each(|n| store(&cache, n));
    let stored = begun.elapsed();
    let taken = (resident_bytes() - before) as f64 / entries as f64;
    let found = (0..entries).filter(|n| is_known(&cache, *n)).count();
    assert_eq!(found as u64, entries, "nothing was evicted");
    println!("{entries} entries of {payload} bytes: {taken:.1} bytes each, {:.1} beyond", taken - payload as f64);
    println!("stored in {:.0} ns each", stored.as_nanos() as f64 / entries as f64);
    let begun = Instant::now();
    let found = (0..LOOKUPS).filter(|n| is_known(&cache, n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % entries)).count();
    assert_eq!(found as u64, LOOKUPS);
    println!("found in {:.0} ns each, at random", begun.elapsed().as_nanos() as f64 / LOOKUPS as f64);
}

fn store(cache: &Cache, n: u64) {
    let parameter = n.to_le_bytes();
    let key = Key { context: 0, parts: [TEXT, &parameter] };
    let meta = Meta { stamp: Stamp(0), rows: 1, cost_ns: 0, flags: 0, owner: 0 };
    cache.insert(cache.hash(&key), &key, meta, &[CellId(0)], &VALUE).expect("there is room");
}

fn is_known(cache: &Cache, n: u64) -> bool {
    let parameter = n.to_le_bytes();
    let key = Key { context: 0, parts: [TEXT, &parameter] };
    cache.get(cache.hash(&key), &key, &pin()).is_some()
}

fn resident_bytes() -> u64 {
    let told = std::fs::read_to_string("/proc/self/statm").expect("Linux tells it");
    let pages: u64 = told.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("the second number");
    pages * 4096
}
