//! Readers and the writer under every interleaving that the memory model allows, up to the given number of preemptions.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p fqc-mapped --profile models --test loom`

#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use mapped::{ConnectionState, Context, Key, Layout, Reader, Record, Writer};

/// Room for two records at a time: the third one overwrites the first.
const LAYOUT: Layout = Layout::new(1, 0, 5);
const EVERYTHING: u32 = 0;
const FOREVER: u64 = u64::MAX;

/// Memory that the writer and the readers of a model share.
#[derive(Clone)]
struct Memory(Arc<Vec<mapped::AtomicU64>>);

impl AsRef<[mapped::AtomicU64]> for Memory {
    fn as_ref(&self) -> &[mapped::AtomicU64] {
        &self.0
    }
}

/// Returns memory for [`LAYOUT`] that is all zeros.
fn memory() -> Memory {
    Memory(Arc::new((0..LAYOUT.words()).map(|_| mapped::AtomicU64::new(0)).collect()))
}

/// Returns the key of the result for this text.
fn key(text: &[u8]) -> Key<'_> {
    Key { context: 1, parts: [text, b""] }
}

/// Returns a record for ever whose number of rows equals the first byte of the value, so that a record made of two halves would be
/// noticed.
fn record(value: &[u8], stamp: u64) -> Record<'_> {
    Record { stamp, until: FOREVER, rows: u64::from(value[0]), flags: 0, cells: &[], value }
}

/// Returns a writer with an endless lease.
fn attached(memory: &Memory) -> Writer<Memory> {
    let mut writer = Writer::new(memory.clone(), LAYOUT, 7).expect("it is large enough");
    writer.attach();
    writer.grant_lease(FOREVER);
    writer
}

/// Runs the model under every interleaving with at most this many preemptions.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Returns the first byte of the value that is found for this text.
fn found(reader: &mut Reader<Memory>, text: &[u8], clock: impl FnOnce() -> u64) -> Option<u8> {
    let mut value = Vec::new();
    let found = reader.find(&key(text), clock, &mut value).ok()?;
    assert_eq!(found.rows, u64::from(value[0]), "a record of two halves");
    Some(value[0])
}

#[test]
fn a_record_that_is_overwritten_is_found_whole_or_not_at_all() {
    explore(2, || {
        let memory = memory();
        let mut writer = attached(&memory);
        assert!(writer.put(&key(b"a"), &record(b"1", 0)));
        assert!(writer.put(&key(b"b"), &record(b"2", 0)));
        let mut reader = Reader::new(memory).expect("a writer's memory");
        let other = thread::spawn(move || writer.put(&key(b"a"), &record(b"3", 0)));
        assert!(matches!(found(&mut reader, b"a", || 0), None | Some(b'1' | b'3')));
        assert!(other.join().unwrap());
        assert_eq!(found(&mut reader, b"a", || 0), Some(b'3'));
        assert_eq!(found(&mut reader, b"b", || 0), Some(b'2'));
    });
}

/// A write on the server closes the cell, becomes visible, is acknowledged to its client, and opens the cell. A reader that starts after
/// the acknowledgement must not find the result from before the write.
#[test]
fn no_reader_finds_a_state_older_than_one_acknowledged_before() {
    explore(3, || {
        let memory = memory();
        let mut writer = attached(&memory);
        assert!(writer.put(&key(b"a"), &record(b"0", 0)));
        let mut reader = Reader::new(memory).expect("a writer's memory");
        let acknowledged = Arc::new(AtomicU64::new(0));
        let seen = acknowledged.clone();
        let other = thread::spawn(move || {
            writer.close(EVERYTHING);
            seen.store(1, Ordering::Release);
            writer.open(EVERYTHING, 1);
        });
        let before = acknowledged.load(Ordering::Acquire);
        let shown = found(&mut reader, b"a", || 0);
        assert!(shown.is_none() || before == 0);
        other.join().unwrap();
        assert_eq!(found(&mut reader, b"a", || 0), None);
    });
}

/// The writer is stopped, so no cell is closed; the server waits for the end of the lease before it acknowledges a write. A reader that
/// starts after that must find nothing.
#[test]
fn no_reader_finds_anything_after_the_end_of_the_lease() {
    const UNTIL: u64 = 5;
    explore(3, || {
        let memory = memory();
        let mut writer = Writer::new(memory.clone(), LAYOUT, 7).expect("it is large enough");
        writer.attach();
        writer.grant_lease(UNTIL);
        assert!(writer.put(&key(b"a"), &record(b"0", 0)));
        let mut reader = Reader::new(memory).expect("a writer's memory");
        let [clock, acknowledged] = [0, 0].map(|word| Arc::new(AtomicU64::new(word)));
        let (time, seen) = (clock.clone(), acknowledged.clone());
        let other = thread::spawn(move || {
            time.store(UNTIL, Ordering::SeqCst);
            seen.store(1, Ordering::SeqCst);
        });
        let before = acknowledged.load(Ordering::SeqCst);
        let shown = found(&mut reader, b"a", || clock.load(Ordering::SeqCst));
        assert!(shown.is_none() || before == 0);
        other.join().unwrap();
    });
}

/// A row was written just before the feed was lost. The next attachment resets all cells, but results of the earlier one must not be
/// found.
#[test]
fn nothing_of_an_earlier_attachment_is_found_in_a_later_one() {
    explore(3, || {
        let memory = memory();
        let mut writer = attached(&memory);
        writer.open(EVERYTHING, 4);
        assert!(writer.put(&key(b"a"), &record(b"0", 4)));
        let mut reader = Reader::new(memory).expect("a writer's memory");
        let acknowledged = Arc::new(AtomicU64::new(0));
        let seen = acknowledged.clone();
        let other = thread::spawn(move || {
            writer.close(EVERYTHING);
            seen.store(1, Ordering::Release);
            writer.attach();
            writer.grant_lease(FOREVER);
        });
        let before = acknowledged.load(Ordering::Acquire);
        let shown = found(&mut reader, b"a", || 0);
        assert!(shown.is_none() || before == 0);
        other.join().unwrap();
        assert_eq!(found(&mut reader, b"a", || 0), None);
    });
}

/// On the server both cells were closed, but only the first closing was announced, since it kept the result from being served. While both
/// are opened in one step, a reader must not find the result.
#[test]
fn cells_that_are_opened_together_are_found_open_together() {
    explore(3, || {
        let memory = memory();
        let mut writer = attached(&memory);
        assert!(writer.put(&key(b"a"), &Record { cells: &[1], ..record(b"0", 0) }));
        writer.close(1);
        let mut reader = Reader::new(memory).expect("a writer's memory");
        let opened = Arc::new(AtomicU64::new(0));
        let seen = opened.clone();
        let other = thread::spawn(move || {
            writer.open_all(&[(1, 0), (EVERYTHING, 1)]);
            seen.store(1, Ordering::Release);
        });
        // Without this load loom explores one order alone.
        opened.load(Ordering::Acquire);
        assert_eq!(found(&mut reader, b"a", || 0), None);
        other.join().unwrap();
        assert_eq!(found(&mut reader, b"a", || 0), None);
    });
}

/// Each number of received bytes goes with another context. A reader must never see the number of one state with the context of another.
#[test]
fn a_connection_is_read_whole_or_not_at_all() {
    explore(2, || {
        let layout = LAYOUT.with_connections(0);
        let memory = Memory(Arc::new((0..layout.words()).map(|_| mapped::AtomicU64::new(0)).collect()));
        let mut writer = Writer::new(memory.clone(), layout, 7).expect("it is large enough");
        let slot = writer.reserve_slot(5).expect("there is room");
        let text = |number| Context { number, stamp: 0 };
        let served = move |number| ConnectionState {
            token: 5,
            received: number,
            text: text(number),
            ..ConnectionState::default()
        };
        writer.set_connection(&slot, &served(1));
        let reader = Reader::new(memory).expect("a writer's memory");
        let found = reader.connection_slot(5).expect("it is there");
        let changed = Arc::new(AtomicU64::new(0));
        let seen = changed.clone();
        let other = thread::spawn(move || {
            writer.set_connection(&slot, &served(2));
            writer.free_slot(slot);
            seen.store(1, Ordering::Release);
        });
        // Without this load loom explores one order alone.
        changed.load(Ordering::Acquire);
        if let Some(connection) = reader.connection(&found, 5) {
            assert_eq!(connection.received, connection.text.number);
        }
        other.join().unwrap();
        assert_eq!(reader.connection(&found, 5), None);
    });
}
