//! Tests a pin that is held for long. Alone in its process, because it holds back memory for all tests.

mod keys;

use cache::{Cache, Versions, pin};
use keys::{key, meta};

const BUDGET: u64 = if cfg!(miri) { 200 << 10 } else { 4 << 20 };

#[test]
fn a_reader_under_a_pin_never_sees_its_entry_change() {
    let cache = Cache::new(BUDGET);
    let versions = Versions::new();
    let key = key(0, b"q", b"");
    let hash = cache.hash(&key);
    cache.insert(hash, &key, meta(0), &[], &[7; 3_000]).expect("fits");
    let pin = pin();
    let entry = cache.get(hash, &key, &pin).expect("stored");
    std::thread::scope(|scope| scope.spawn(|| churn(&cache, &versions)).join().expect("no panic"));
    assert_eq!(entry.value(), [7; 3_000]);
    assert!(cache.stats().retired_bytes > 0, "what the pin protects cannot be unmapped");
    assert!(cache.stats().used_bytes <= BUDGET);
    drop(pin);
    assert_eq!(cache.insert(hash, &key, meta(0), &[], &[8; 3_000]), Ok(()), "memory is back");
}

/// Inserts entries until the cache refuses one, as it must while a pin keeps all evicted memory mapped, and then sweeps all dead entries.
fn churn(cache: &Cache, versions: &Versions) {
    for n in 100.. {
        let text = u64::to_le_bytes(n);
        let key = key(0, &text, b"");
        if cache.insert(cache.hash(&key), &key, meta(0), &[], &[9; 5_000]).is_err() {
            break;
        }
    }
    cache.sweep(|entry| entry.is_fresh(versions), usize::MAX);
}
