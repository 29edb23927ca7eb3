//! The behaviour that users of the store rely on, one per test.

mod keys;

use cache::{Cache, CellId, EndedEntries, Key, Meta, NotStored, Stamp, Versions, pin};
use keys::{BUDGETS, key, meta};

fn put(cache: &Cache, key: &Key, value: &[u8]) -> Result<(), NotStored> {
    cache.insert(cache.hash(key), key, meta(0), &[], value)
}

/// Stores a result, and tries again while the pins of other tests, which run at the same time, keep memory in use.
fn put_patiently(cache: &Cache, key: &Key, value: &[u8]) -> Result<(), NotStored> {
    loop {
        let stored = put(cache, key, value);
        if stored != Err(NotStored::Busy) {
            return stored;
        }
        std::thread::yield_now();
    }
}

fn read(cache: &Cache, key: &Key) -> Option<Vec<u8>> {
    let pin = pin();
    cache.get(cache.hash(key), key, &pin).map(|entry| entry.value().to_vec())
}

#[test]
fn an_entry_comes_back_with_everything_stored_with_it() {
    let cache = Cache::new(1 << 20);
    let key = key(7, b"SELECT ?", b"\x01");
    let meta = Meta { stamp: Stamp(77), rows: u64::MAX, cost_ns: 1_234_567, flags: 0xdead_beef, owner: 2047 };
    let cells = [CellId(3), CellId(u32::MAX)];
    cache.insert(cache.hash(&key), &key, meta, &cells, b"rows").expect("fits");
    let pin = pin();
    let entry = cache.get(cache.hash(&key), &key, &pin).expect("was stored");
    assert_eq!(entry.value(), b"rows");
    assert_eq!(entry.cells(), cells);
    assert_eq!(entry.stamp(), Stamp(77));
    assert_eq!(entry.rows(), u64::from(u32::MAX), "saturates");
    assert_eq!(entry.cost_ns(), 1_234_000, "whole microseconds");
    assert_eq!(entry.flags(), 0xdead_beef);
    assert_eq!(entry.owner(), 2047);
}

#[test]
fn keys_differ_by_context_by_text_and_by_where_the_parts_meet() {
    let keys = [
        key(1, b"ab", b"c"),
        key(2, b"ab", b"c"),
        key(1 << 47, b"ab", b"c"),
        key(1, b"a", b"bc"),
        key(1, b"", b"abc"),
        key(1, b"abc", b""),
        key(1, b"abc\x01\0\0\0", b""),
        key(1, b"ab", b"c\x01\0\0\0"),
    ];
    let by_own_hash: fn(&Cache, &Key) -> u64 = Cache::hash;
    for hash in [by_own_hash, |_, _| 42] {
        let cache = Cache::new(1 << 20);
        for (n, key) in keys.iter().enumerate() {
            cache.insert(hash(&cache, key), key, meta(0), &[], &[n as u8]).expect("fits");
        }
        for (n, key) in keys.iter().enumerate() {
            let pin = pin();
            let found = cache.get(hash(&cache, key), key, &pin);
            assert_eq!(found.map(|entry| entry.value()), Some(&[n as u8][..]));
        }
    }
}

#[test]
fn a_context_of_more_than_48_bits_is_refused() {
    let cache = Cache::new(1 << 20);
    let [largest, larger] = [(1 << 48) - 1, 1 << 48].map(|context| key(context, b"q", b""));
    assert_eq!((put(&cache, &largest, b"one"), put(&cache, &larger, b"two")), (Ok(()), Err(NotStored::TooLarge)));
    assert_eq!((read(&cache, &largest).as_deref(), read(&cache, &larger)), (Some(&b"one"[..]), None));
}

#[test]
fn keys_with_equal_hashes_are_told_apart() {
    let cache = Cache::new(1 << 20);
    let [one, two, three] = [b"1", b"2", b"3"].map(|text| key(0, text, b""));
    for key in [&one, &two] {
        cache.insert(42, key, meta(0), &[], key.parts[0]).expect("fits");
    }
    assert_eq!(cache.get(42, &one, &pin()).map(|entry| entry.value().len()), Some(1));
    assert_eq!(cache.get(42, &two, &pin()).expect("stored").value(), b"2");
    assert!(cache.get(42, &three, &pin()).is_none());
    assert!(!cache.remove(42, &three) && cache.remove(42, &one) && !cache.remove(42, &one));
    assert!(cache.get(42, &one, &pin()).is_none());
    assert_eq!(cache.get(42, &two, &pin()).expect("stored").value(), b"2");
}

#[test]
fn a_newer_entry_replaces_the_older_one_and_readers_keep_what_they_found() {
    let cache = Cache::new(1 << 20);
    let key = key(0, b"q", b"");
    put(&cache, &key, b"old").expect("fits");
    let pin = pin();
    let found = cache.get(cache.hash(&key), &key, &pin).expect("stored");
    put(&cache, &key, b"newer").expect("fits");
    assert_eq!(found.value(), b"old");
    assert_eq!(read(&cache, &key).as_deref(), Some(&b"newer"[..]));
    cache.clear();
    assert_eq!(found.value(), b"old", "also after everything was dropped");
    assert_eq!(cache.stats().entries, 0);
}

#[test]
fn an_entry_outlives_the_cache_under_its_pin() {
    let pin = pin();
    let cache = Cache::new(1 << 20);
    let key = key(0, b"q", b"");
    put(&cache, &key, b"value").expect("fits");
    let found = cache.get(cache.hash(&key), &key, &pin).expect("stored");
    drop(cache);
    assert_eq!(found.value(), b"value");
}

#[test]
fn without_a_budget_nothing_is_stored_or_mapped() {
    let cache = Cache::new(0);
    assert_eq!(put(&cache, &key(0, b"q", b""), b""), Err(NotStored::NoBudget));
    assert_eq!(cache.stats(), cache::Stats::default());
}

#[test]
fn a_quarter_of_any_budget_fits_and_more_than_all_of_it_does_not() {
    let budgets = BUDGETS.iter().filter(|&&budget| budget >= 64 << 10);
    for &budget in budgets {
        let cache = Cache::new(budget as u64);
        let [one, two] = [key(0, b"1", b""), key(0, b"2", b"")];
        for key in [&one, &two] {
            assert_eq!(put_patiently(&cache, key, &vec![1; budget / 4]), Ok(()), "budget {budget}");
            assert_eq!(read(&cache, key).map(|value| value.len()), Some(budget / 4));
        }
        assert_eq!(put(&cache, &one, &vec![1; budget]), Err(NotStored::TooLarge));
        assert_eq!(read(&cache, &one), None, "the older result is gone all the same");
        assert!(cache.stats().used_bytes <= budget as u64);
    }
}

#[test]
fn too_many_cells_are_refused() {
    let cache = Cache::new(8 << 20);
    let key = key(0, b"q", b"");
    let cells = vec![CellId(0); 1 << 16];
    let stored = cache.insert(0, &key, meta(0), &cells, b"");
    assert_eq!(stored, Err(NotStored::TooLarge));
    cache.insert(0, &key, meta(0), &cells[1..], b"").expect("as many as can be counted");
}

#[test]
fn hits_need_no_lock() {
    let cache = Cache::new(1 << 20);
    let key = key(0, b"q", b"");
    put(&cache, &key, b"value").expect("fits");
    cache.with_all_shards_locked(|| {
        assert_eq!(read(&cache, &key).as_deref(), Some(&b"value"[..]));
        let elsewhere = std::thread::scope(|scope| scope.spawn(|| read(&cache, &key)).join().expect("no panic"));
        assert_eq!(elsewhere.as_deref(), Some(&b"value"[..]));
    });
}

#[test]
fn a_sweep_drops_what_is_not_fresh_and_gives_dead_segments_back() {
    let cache = Cache::new(1 << 20);
    let versions = Versions::new();
    let (written, spared) = (versions.allocate(), versions.allocate());
    let mut texts = Vec::new();
    for n in 0..200u32 {
        texts.push(n.to_le_bytes());
    }
    for (n, text) in texts.iter().enumerate() {
        let key = key(0, text, b"");
        let cell = if n % 10 == 0 { spared } else { written };
        let meta = Meta { stamp: versions.now(), ..meta(0) };
        cache.insert(cache.hash(&key), &key, meta, &[cell], &[7; 1000]).expect("fits");
    }
    let full = cache.stats();
    assert_eq!(cache.sweep(|entry| entry.is_fresh(&versions), usize::MAX), 0);
    versions.close(written);
    versions.open(written);
    assert_eq!(cache.sweep(|entry| entry.is_fresh(&versions), usize::MAX), 180);
    cache.sweep(|entry| entry.is_fresh(&versions), usize::MAX);
    let swept = cache.stats();
    assert_eq!((swept.entries, swept.swept, swept.evictions), (20, 180, 0));
    assert!(swept.segments < full.segments / 2, "{full:?} {swept:?}");
    for text in texts.iter().step_by(10) {
        assert_eq!(read(&cache, &key(0, text, b"")).map(|value| value.len()), Some(1000));
    }
    versions.advance(spared);
    assert_eq!(cache.sweep(|entry| entry.is_fresh(&versions), usize::MAX), 20);
    assert_eq!((cache.stats().segments, cache.stats().live_bytes), (0, 0));
}

#[test]
fn a_sweep_goes_on_where_the_last_one_ended() {
    let cache = Cache::new(1 << 20);
    let versions = Versions::new();
    let cell = versions.allocate();
    for n in 0..100u32 {
        let text = n.to_le_bytes();
        let key = key(0, &text, b"");
        cache.insert(cache.hash(&key), &key, meta(0), &[cell], &[7; 5000]).expect("fits");
    }
    versions.advance(cell);
    let mut rounds = 0;
    while cache.stats().entries > 0 {
        assert!(cache.sweep(|entry| entry.is_fresh(&versions), 1) < 100, "one segment at a time");
        rounds += 1;
        assert!(rounds < 1000, "every entry has its turn");
    }
    assert!(rounds > 1);
}

#[test]
fn what_is_used_survives_a_scan() {
    let cache = Cache::new(1 << 20);
    let hot: Vec<_> = (0..100u32).map(u32::to_le_bytes).collect();
    for text in &hot {
        put(&cache, &key(1, text, b""), &[1; 1000]).expect("fits");
    }
    let mut reused = 0;
    for n in 0..10_000u32 {
        let text = n.to_le_bytes();
        put_patiently(&cache, &key(2, &text, b""), &[2; 1000]).expect("fits");
        let hot = &hot[n as usize % hot.len()];
        reused += u32::from(read(&cache, &key(1, hot, b"")).is_some());
    }
    assert!(reused > 9_000, "only {reused} of 10000 hits on what is used all the time");
    assert!(cache.stats().evictions > 5_000);
}

#[test]
fn the_fate_of_entries_is_counted_for_their_owner() {
    let cache = Cache::new(4 << 20);
    let versions = Versions::new();
    let cell = versions.allocate();
    let store = |key: &Key, owner| {
        let meta = Meta { stamp: versions.now(), owner, ..meta(0) };
        cache.insert(cache.hash(key), key, meta, &[cell], b"rows").expect("fits");
    };
    let keys: Vec<_> = (0u8..3).map(|n| [n]).collect();
    let keys: Vec<_> = keys.iter().map(|text| key(1, text, b"")).collect();
    store(&keys[0], 5);
    store(&keys[1], 5);
    store(&keys[2], 6);
    let mut seen = 0;
    cache.visit(&pin(), |entry| seen += u64::from(entry.owner()));
    assert_eq!(seen, 16, "all three are shown");
    assert!(cache.get(cache.hash(&keys[0]), &keys[0], &pin()).is_some());
    versions.advance(cell);
    assert_eq!(cache.sweep(|entry| entry.is_fresh(&versions), usize::MAX), 3);
    assert_eq!(cache.ended_entries(5), EndedEntries { used: 1, unused: 1 });
    assert_eq!(cache.ended_entries(6), EndedEntries { used: 0, unused: 1 });
    store(&keys[0], 6);
    store(&keys[0], 7);
    assert_eq!(cache.ended_entries(6), EndedEntries { used: 0, unused: 2 }, "replaced");
    assert_eq!(cache.ended_entries(u16::MAX), EndedEntries::default(), "nobody's");
}

#[test]
#[cfg_attr(miri, ignore = "fills a large cache")]
fn results_are_stored_while_a_reader_stands_still() {
    let cache = Cache::new(64 << 20);
    let store = |n: u64| put(&cache, &key(1, &n.to_le_bytes(), b""), &[7; 1000]);
    (0..100_000).for_each(|n| _ = store(n));
    while cache.stats().retired_bytes > 0 {
        cache.sweep(|_| true, 0);
    }
    let (stands, goes) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _pin = pin();
            stands.wait();
            goes.wait();
        });
        stands.wait();
        let stored = (0..300).filter(|n| store(200_000 + n).is_ok()).count();
        goes.wait();
        assert_eq!(stored, 300);
    });
}
