//! Prints the cost of the statistics for a hit next to that of the whole hit: `cargo run --release -p fqc-session --example
//! noting`.
//!
//! All hits have the same shape of statement, as in a benchmark. Each hit is counted, and at most 20,000 a second are also
//! sampled for the curve of cache sizes, which is printed separately. Threads slow each other down unless each has a processor
//! of its own.

#[path = "measure/mod.rs"]
mod measure;
#[path = "../tests/talk/mod.rs"]
mod talk;

use measure::measure;
use session::{ClientOutput, Decision, Engine};
use std::hint::black_box;

const HITS: u32 = 3_000_000;
const STATEMENTS: u32 = 512;

/// Takes answers and drops them.
struct Nowhere;

impl ClientOutput for Nowhere {
    fn deliver(&mut self, pieces: &[&[u8]]) {
        black_box(pieces);
    }
}

fn main() {
    let engine = &talk::engine();
    let mut talk = talk::connect(engine);
    (0..STATEMENTS).for_each(|n| talk.read(&statement(n), &"x".repeat(120), talk::AUTOCOMMIT));
    engine.tick();
    let followed = measure(1, HITS, || hits(engine));
    // Runs until hardly any hit is sampled.
    for _ in 0..16 {
        measure(1, HITS, || hits(engine));
        engine.tick();
    }
    let shape = engine.insight().digests.find(1, || b"SELECT".to_vec());
    for threads in [1, 2, 4] {
        let hit = measure(threads, HITS, || hits(engine));
        let counting = measure(threads, HITS, || {
            || {
                engine.counts().hits.add(1);
                engine.counts().saved_ns.add(20_000);
                engine.counts().saved_bytes.add(200);
                engine.insight().digests.hit(shape, 20, 200);
            }
        });
        println!("{threads} threads: a hit {hit:.1} ns, of which counting it {counting:.1} ns");
    }
    println!("a hit that is followed: {followed:.1} ns");
}

fn statement(n: u32) -> String {
    format!("SELECT c FROM t WHERE id = {n}")
}

/// Returns a function that runs one of the stored reads at each call, and panics if it is no hit.
fn hits(engine: &Engine) -> impl FnMut() {
    let mut session = talk::connect(engine).session;
    let packets: Vec<_> = (0..STATEMENTS).map(|n| talk::packet(&statement(n))).collect();
    let mut at = 0;
    move || {
        at = (at + 1) % packets.len();
        assert_eq!(session.on_command(engine, &packets[at], &mut Nowhere), Decision::Answered);
    }
}
