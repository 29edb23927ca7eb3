//! Tests the freshness protocol under every interleaving that the memory model allows, up to the given number of preemptions.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p fqc-cache --release --test loom`
//!
//! The server is one word per row: a write is visible once it is stored there. Its accesses are Release and Acquire, which is
//! the least that a server's own locks guarantee.

#![cfg(loom)]

#[path = "loom/doze.rs"]
mod doze;
#[path = "loom/rows.rs"]
mod rows;

use cache::{CellId, Stamp, Versions};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

/// A model of a server with one row, the cell that guards the row, and a cache with room for one result, the row's value.
struct World {
    versions: Versions,
    cell: CellId,
    row: AtomicU64,
    /// `(value + 1) << 32 | stamp`, 0 while nothing is stored: one word, as a slot of the index is.
    cached: AtomicU64,
    /// The greatest value of the row whose write was acknowledged to a client.
    acknowledged: AtomicU64,
}

impl World {
    fn new() -> Arc<Self> {
        let versions = Versions::new();
        let cell = versions.allocate();
        let [row, cached, acknowledged] = [0, 0, 0].map(AtomicU64::new);
        Arc::new(World { versions, cell, row, cached, acknowledged })
    }

    /// Adds 1 to the row like a write statement does: closes the cell, writes, opens the cell, and acknowledges the write to the client.
    fn write(&self) {
        self.versions.close(self.cell);
        let seen = self.row.fetch_add(1, Ordering::AcqRel) + 1;
        self.versions.open(self.cell);
        self.acknowledged.fetch_max(seen, Ordering::AcqRel);
    }

    /// Returns the cached value of the row, or None if nothing is cached or it is not fresh.
    fn hit(&self) -> Option<u64> {
        let cached = self.cached.load(Ordering::Acquire);
        let stamp = Stamp(cached & u64::from(u32::MAX));
        let is_hit = cached != 0 && self.versions.is_fresh(&[self.cell], stamp);
        is_hit.then(|| (cached >> 32) - 1)
    }

    /// Reads the row from the server, and caches the value if the cell has not changed during the read.
    fn miss(&self) -> u64 {
        let stamp = self.versions.now();
        let value = self.row.load(Ordering::Acquire);
        if self.versions.is_fresh(&[self.cell], stamp) {
            self.cached.store((value + 1) << 32 | stamp.0, Ordering::Release);
        }
        value
    }

    fn read(&self) -> u64 {
        self.hit().unwrap_or_else(|| self.miss())
    }

    /// Reads the row, from the cache if that is fresh, and asserts that the result contains all writes acknowledged before.
    fn read_acknowledged(&self) -> u64 {
        let known = self.acknowledged.load(Ordering::Acquire);
        let value = self.read();
        assert!(value >= known, "read {value}, although {known} was acknowledged");
        value
    }
}

/// Runs the scenario under every interleaving with at most this many preemptions, each time with a new world.
fn explore(preemptions: usize, scenario: fn(Arc<World>)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || scenario(World::new()));
}

fn spawn(world: &Arc<World>, run: impl FnOnce(&World) + 'static) -> thread::JoinHandle<()> {
    let world = Arc::clone(world);
    thread::spawn(move || run(&world))
}

/// Waits for all threads, and asserts that the row has had this many writes and that a cached result that is still fresh contains them.
fn settle(world: &World, threads: impl IntoIterator<Item = thread::JoinHandle<()>>, writes: u64) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(world.read(), writes);
    assert_eq!(world.hit(), Some(writes), "a quiet cell is stored and hit");
}

#[test]
fn an_acknowledged_write_is_never_missed() {
    explore(3, |world| {
        let writer = spawn(&world, World::write);
        let reader = spawn(&world, |world| {
            world.read_acknowledged();
            world.read_acknowledged();
        });
        settle(&world, [writer, reader], 1);
    });
}

#[test]
fn reads_never_go_back() {
    explore(3, |world| {
        let writers = [spawn(&world, World::write), spawn(&world, World::write)];
        let (first, second) = (world.read(), world.read());
        assert!(first <= second, "read {first}, then {second}");
        settle(&world, writers, 2);
    });
}

#[test]
fn what_one_reader_saw_of_the_server_no_hit_of_it_takes_back() {
    explore(2, |world| {
        let writer = spawn(&world, World::write);
        let storer = spawn(&world, |world| _ = world.miss());
        let seen = world.row.load(Ordering::Acquire);
        let hit = world.hit();
        assert!(hit.is_none_or(|hit| hit >= seen), "saw {seen}, then hit {hit:?}");
        settle(&world, [writer, storer], 1);
    });
}

#[test]
fn two_writers_and_two_readers_agree() {
    explore(1, |world| {
        let threads = [
            spawn(&world, World::write),
            spawn(&world, World::write),
            spawn(&world, |world| _ = world.read_acknowledged()),
        ];
        let (first, second) = (world.read_acknowledged(), world.read_acknowledged());
        assert!(first <= second, "read {first}, then {second}");
        settle(&world, threads, 2);
    });
}

#[test]
fn cells_can_be_used_while_others_are_allocated() {
    explore(3, |world| {
        let grower = spawn(&world, |world| {
            let first = world.versions.allocate_many(3);
            let last = CellId(first.0 + 2);
            world.versions.advance(last);
            assert!(!world.versions.is_fresh(&[last], Stamp(0)));
        });
        let own = world.versions.allocate();
        assert!(world.versions.is_fresh(&[own, world.cell], Stamp(0)));
        grower.join().unwrap();
    });
}
