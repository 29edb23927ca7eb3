//! Prints what noting a hit costs, beside what the whole hit costs: `cargo run --release -p fqc-session --example noting`.
//!
//! All hits are of one shape of statement, as in a benchmark: the threads then count in the same places.

#[path = "measure/mod.rs"]
mod measure;
#[path = "../tests/talk/mod.rs"]
mod talk;

use measure::measure;
use session::{Decision, Outlet};
use std::hint::black_box;

const HITS: u32 = 3_000_000;
const READ: &str = "SELECT c FROM t WHERE id = 7";

struct Nowhere;

impl Outlet for Nowhere {
    fn deliver(&mut self, pieces: &[&[u8]]) {
        black_box(pieces);
    }
}

fn main() {
    let engine = &talk::engine();
    talk::connect(engine).read(READ, &"x".repeat(120), talk::AUTOCOMMIT);
    for threads in [1, 2, 4] {
        let hit = measure(threads, HITS, || {
            let mut session = talk::connect(engine).session;
            let packet = talk::packet(READ);
            move || assert_eq!(session.on_command(engine, &packet, &mut Nowhere), Decision::Answered)
        });
        let slot = engine.insight.digests.find(1, || b"SELECT".to_vec());
        let noting = measure(threads, HITS, || {
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
