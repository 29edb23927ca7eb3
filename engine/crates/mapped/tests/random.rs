//! Random steps of a writer, and what a reader must find after each, by a model that keeps everything.

#![cfg(not(loom))]

use mapped::{AtomicU64, Key, Layout, MissReason, Reader, Record, Writer};
use std::collections::HashMap;
use std::sync::Arc;

const LAYOUT: Layout = Layout::new(3, 2, 9);

/// Memory that the writer and the reader share.
#[derive(Clone)]
struct Memory(Arc<Vec<AtomicU64>>);

impl AsRef<[AtomicU64]> for Memory {
    fn as_ref(&self) -> &[AtomicU64] {
        &self.0
    }
}

struct Random(u64);

impl Random {
    /// Returns a random number less than `most`.
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % most
    }
}

/// A record that was put.
#[derive(Clone)]
struct Kept {
    stamp: u64,
    until: u64,
    cells: Vec<u32>,
    value: Vec<u8>,
}

/// The state that the memory should have, without a limit of its size.
#[derive(Default)]
struct Model {
    versions: HashMap<u32, u64>,
    closed: HashMap<u32, bool>,
    kept: HashMap<Vec<u8>, Kept>,
}

impl Model {
    /// Returns true if what the cell stands for is not being changed, and has no version after `stamp`: a result with
    /// this stamp is then current.
    fn is_fresh(&self, cell: u32, stamp: u64) -> bool {
        !self.closed.get(&cell).copied().unwrap_or_default()
            && self.versions.get(&cell).copied().unwrap_or_default() <= stamp
    }

    /// Returns true if the record is current at the time `now`, so that a reader may find it. Whether the lease is in
    /// force is not checked.
    fn may_be_found(&self, kept: &Kept, now: u64) -> bool {
        now < kept.until && kept.cells.iter().chain([&0]).all(|cell| self.is_fresh(*cell, kept.stamp))
    }
}

/// Lets the writer take a random step at this time, and the model follow it.
fn step(writer: &mut Writer<Memory>, model: &mut Model, random: &mut Random, time: u64) {
    let cell = random.below(8) as u32;
    match random.below(40) {
        0 => {
            writer.detach();
            *model = Model::default();
        }
        1 => {
            writer.attach();
            *model = Model::default();
        }
        2..6 => {
            assert!(writer.close(cell));
            model.closed.insert(cell, true);
        }
        6..12 => {
            let version = time - random.below(3);
            assert!(writer.open(cell, version));
            model.closed.insert(cell, false);
            let known = model.versions.entry(cell).or_default();
            *known = version.max(*known);
        }
        12..20 => writer.grant_lease(time + random.below(30)),
        _ => {
            let text = vec![b'a' + random.below(12) as u8; random.below(12) as usize];
            let kept = Kept {
                stamp: time - random.below(4),
                until: time + random.below(60),
                cells: (0..random.below(4)).map(|_| random.below(8) as u32).collect(),
                value: vec![random.below(256) as u8; random.below(300) as usize],
            };
            let record = Record {
                stamp: kept.stamp,
                until: kept.until,
                rows: time,
                flags: cell,
                cells: &kept.cells,
                value: &kept.value,
            };
            assert!(writer.put(&Key { context: 3, parts: [&text, b"x"] }, &record));
            model.kept.insert(text, kept);
        }
    }
}

#[test]
fn a_reader_finds_what_may_be_served_and_nothing_else() {
    let (mut found, mut missed) = (0u64, 0u64);
    for seed in 0..200 {
        let memory = Memory(Arc::new((0..LAYOUT.words()).map(|_| AtomicU64::new(0)).collect()));
        let mut writer = Writer::new(memory.clone(), LAYOUT, seed).expect("it is large enough");
        let mut reader = Reader::new(memory).expect("a writer's memory");
        let (mut model, mut random) = (Model::default(), Random(seed));
        for time in 10..400 {
            step(&mut writer, &mut model, &mut random, time);
            for letter in 0..12 {
                let text = vec![b'a' + letter; random.below(12) as usize];
                let mut value = b"before".to_vec();
                match reader.find(&Key { context: 3, parts: [&text, b"x"] }, || time, &mut value) {
                    Ok(_) => {
                        let kept = model.kept.get(&text).expect("it was put");
                        assert_eq!(value, [&b"before"[..], &kept.value].concat());
                        assert!(model.may_be_found(kept, time));
                        found += 1;
                    }
                    Err(_) => {
                        assert_eq!(value, b"before");
                        missed += 1;
                    }
                }
            }
        }
    }
    assert!(found > 5000 && missed > 5000, "{found} {missed}");
}

#[test]
fn the_newest_record_of_a_key_is_found_and_the_oldest_give_way() {
    let memory = Memory(Arc::new((0..LAYOUT.words()).map(|_| AtomicU64::new(0)).collect()));
    let mut writer = Writer::new(memory.clone(), LAYOUT, 1).expect("it is large enough");
    let mut reader = Reader::new(memory).expect("a writer's memory");
    writer.attach();
    writer.grant_lease(10);
    let key = Key { context: 1, parts: [b"a", b""] };
    for number in 0..200u64 {
        let value = number.to_le_bytes();
        assert!(writer.put(&key, &Record { stamp: 0, until: 10, rows: number, flags: 7, cells: &[3], value: &value }));
        let mut into = Vec::new();
        let found = reader.find(&key, || 9, &mut into).expect("it was put");
        assert_eq!((into, found.rows, found.flags), (value.to_vec(), number, 7));
        assert!(writer.has(&key, 0) && !writer.has(&Key { context: 2, ..key }, 0));
    }
    let large = vec![0; 8 << 9];
    assert!(!writer.put(&key, &Record { stamp: 0, until: 10, rows: 1, flags: 0, cells: &[], value: &large }));
    assert_eq!(reader.find(&key, || 10, &mut Vec::new()), Err(MissReason::NoLease));
    assert!(!writer.close(8) && writer.close(3));
    assert_eq!(reader.find(&key, || 9, &mut Vec::new()), Err(MissReason::Stale));
}

#[test]
fn nonsense_in_the_memory_is_never_followed_beyond_its_end() {
    let mut random = Random(5);
    for round in 0..2000 {
        let memory = Memory(Arc::new((0..LAYOUT.words()).map(|_| AtomicU64::new(0)).collect()));
        let mut writer = Writer::new(memory.clone(), LAYOUT, 1).expect("it is large enough");
        writer.attach();
        writer.grant_lease(u64::MAX);
        let key = Key { context: 1, parts: [b"a", b""] };
        writer.put(&key, &Record { stamp: 0, until: 10, rows: 1, flags: 7, cells: &[3, 2, 1], value: b"some value" });
        let mut reader = Reader::new(memory.clone()).expect("a writer's memory");
        for _ in 0..=round % 7 {
            let words = memory.0.len() as u64;
            let at = if random.below(2) == 0 { words - 512 + random.below(20) } else { random.below(words) };
            let nonsense = [0, 1, u64::MAX, u64::MAX >> 32, random.below(1 << 31), random.below(64)];
            let value = nonsense[random.below(6) as usize];
            memory.0[at as usize].store(value, std::sync::atomic::Ordering::Relaxed);
        }
        let _ = reader.find(&key, || 9, &mut Vec::new());
        let _ = Reader::new(memory);
    }
}
