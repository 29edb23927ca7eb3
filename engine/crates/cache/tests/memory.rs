//! Tests the resident memory of the process. There is only one test, because it watches the whole process.

#![cfg(all(target_os = "linux", not(miri)))]

mod keys;

use cache::Cache;
use keys::{key, meta};

const BUDGET: u64 = 256 << 20;
/// The tolerance in bytes: the memory that the process needs besides the cache may vary by this.
const NOISE: u64 = 4 << 20;

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = statm.split(' ').nth(1).expect("a second field").parse().expect("a number");
    // SAFETY: the call has no preconditions.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64
}

fn fill(cache: &Cache, entries: u32, value: &[u8]) {
    for n in 0..entries {
        let text = n.to_le_bytes();
        let key = key(0, &text, b"");
        let cells = [cache::CellId(n)];
        cache.insert(cache.hash(&key), &key, meta(0), &cells, value).expect("nobody holds memory back");
    }
}

#[test]
fn resident_memory_follows_the_budget() {
    let base = resident_bytes();
    let grown = || resident_bytes().saturating_sub(base);
    let cache = Cache::new(BUDGET);
    assert!(grown() < NOISE, "memory is mapped on demand");

    overhead_of_a_million_small_entries_is_small();
    assert!(grown() < NOISE, "{} left after clear", grown());

    fill(&cache, 1_000_000, &[1; 400]);
    assert!(cache.stats().evictions > 100_000);
    assert!(cache.stats().used_bytes > BUDGET / 10 * 9, "the budget is used: {:?}", cache.stats());
    assert!(grown() < BUDGET + NOISE, "{} of {BUDGET} used", grown());

    for budget in [BUDGET / 2, BUDGET / 4, 80 << 20] {
        cache.resize(budget);
        let stats = cache.stats();
        assert!(stats.used_bytes <= budget && stats.entries > 0, "{stats:?}");
        assert!(grown() < budget + NOISE, "{} of {budget} used", grown());
    }
    cache.resize(0);
    assert!(grown() < NOISE, "{} left without a budget", grown());
}

/// Entries like a server's point selects, with two dependencies and of various sizes. The budget has room for far more of them.
fn overhead_of_a_million_small_entries_is_small() {
    const ENTRIES: u64 = 1_000_000;
    const CONTEXT_BYTES: usize = 6;
    let cache = Cache::new(6 * BUDGET);
    let (values, cells) = ([1; 108], [cache::CellId(1), cache::CellId(2)]);
    let mut payload = 0;
    for n in 0..ENTRIES as u32 {
        let (text, value) = (n.to_le_bytes(), &values[..100 + n as usize % 8]);
        let key = key(0, &text, b"");
        cache.insert(cache.hash(&key), &key, meta(0), &cells, value).expect("there is room");
        payload += CONTEXT_BYTES + text.len() + value.len();
    }
    let stats = cache.stats();
    assert_eq!((stats.entries, stats.evictions), (ENTRIES, 0));
    let overhead = (stats.used_bytes as f64 - payload as f64) / ENTRIES as f64;
    println!("{overhead:.1} bytes of overhead per entry with two cells");
    assert!(overhead <= 64.0, "{overhead} bytes per entry");
}
