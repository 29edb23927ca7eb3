//! Prints what noting a hit costs, beside what the whole hit costs: `cargo run --release -p fqc-session --example noting`.
//!
//! All hits are of one shape of statement, as in a benchmark: the threads then count in the same places.

use session::{Account, Decision, Engine, Facts, Outlet, Session, ThreadFacts, Verdict};
use std::hint::black_box;
use wire::{status, surface::text_result};

const HITS: u32 = 3_000_000;
const READ: &str = "SELECT c FROM t WHERE id = 7";

struct Nowhere;

impl Outlet for Nowhere {
    fn deliver(&mut self, pieces: &[&[u8]]) {
        black_box(pieces);
    }
}

fn main() {
    let engine = &engine();
    connect(engine, true);
    for threads in [1, 2, 4] {
        let hit = measure(threads, || {
            let mut session = connect(engine, false);
            let packet = packet();
            move || assert_eq!(session.on_command(engine, &packet, &mut Nowhere), Decision::Answered)
        });
        let slot = engine.insight.digests.find(1, || b"SELECT".to_vec());
        let noting = measure(threads, || {
            || {
                engine.counts.hits.add(1);
                engine.counts.saved_ns.add(20_000);
                engine.counts.saved_bytes.add(200);
                engine.insight.digests.hit(slot, 20, 200);
                engine.insight.requested(engine, u64::MAX >> 1, None);
            }
        });
        println!("{threads} threads: a hit {hit:.1} ns, of which noting it {noting:.1} ns");
    }
}

fn engine() -> Engine {
    let engine = Engine::new(|| 0);
    engine.cache.resize(1 << 20);
    engine.settings.switch(true);
    engine.settings.set_limit(1 << 20);
    let generation = engine.catalogue.generation();
    engine.catalogue.publish(Facts { generation, ..Facts::default() });
    let table = engine.tables.find(&engine.versions, b"d", b"t");
    table.settle(table.era(generation), Verdict::Snapshot);
    engine
}

/// A session for which the read is stored.
fn connect(engine: &Engine, stores: bool) -> Session {
    let mut session = Session::accepted(engine.settings.inherited());
    let facts = ThreadFacts {
        isolation: 2,
        in_lock_tables: false,
        database: b"d",
        collation: 45,
        cache_type: 1,
        is_read_only: false,
        is_null_magic: false,
        has_begun: false,
    };
    session.on_connected(engine, Account { user: b"u".to_vec(), host: b"%".to_vec() }, &facts);
    session.on_status(engine, &facts);
    if stores {
        session.on_command(engine, &packet(), &mut Nowhere);
        session.on_table(engine, b"d", b"t", true);
        session.on_response(engine, &text_result(&["c"], &[vec![Some("x".repeat(120))]], 0, status::AUTOCOMMIT));
        session.after_send(engine);
    }
    session
}

fn packet() -> Vec<u8> {
    let mut packet = Vec::new();
    wire::push_packet(&mut packet, &mut 0, &[b"\x03", READ.as_bytes()].concat());
    packet
}

/// Processor time of one call, so that a busy machine disturbs less.
fn measure<F: FnMut()>(threads: u32, make: impl Fn() -> F + Sync) -> f64 {
    let spent: i64 = std::thread::scope(|scope| {
        let work = || {
            let mut call = make();
            let start = cpu_nanoseconds();
            (0..HITS).for_each(|_| call());
            cpu_nanoseconds() - start
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("every read is a hit")).sum()
    });
    spent as f64 / f64::from(threads) / f64::from(HITS)
}

/// Of this thread, to a few milliseconds.
fn cpu_nanoseconds() -> i64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    told.split(' ').next().and_then(|first| first.parse().ok()).expect("a number comes first")
}
