//! Prints the processor time that the engine adds to a read that is never a hit: while results are stored, and once their
//! shape is passed over. Run it with `cargo run --release -p fqc-session --example missing`.

#[path = "measure/mod.rs"]
mod measure;
#[path = "../tests/talk/mod.rs"]
mod talk;

use measure::measure;
use session::{Decision, Engine};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const READS: u32 = 300_000;

fn main() {
    for adapts in [false, true] {
        let engine = &talk::engine();
        engine.cache().resize(64 << 20);
        engine.settings().set_adapts(adapts);
        std::thread::scope(|scope| {
            let judge = scope.spawn(|| keep_judging(engine));
            for threads in [1, 2, 4] {
                let cost = measure(threads, READS, || missing(engine));
                println!("{}, {threads} threads: {cost:.0} ns", if adapts { "passed over" } else { "stored" });
            }
            engine.settings().switch(false);
            judge.join().expect("it ends with the switch");
        });
    }
}

/// Runs the engine's periodic step until the cache is switched off.
fn keep_judging(engine: &Engine) {
    while engine.settings().is_on() {
        engine.tick();
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Returns a function that runs a read on the server at each call, no two of them alike, with all reports of the server.
fn missing(engine: &Engine) -> impl FnMut() {
    let mut talk = talk::connect(engine);
    let response = talk::rows(&"x".repeat(120), talk::AUTOCOMMIT);
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut number = NEXT.fetch_add(u64::from(READS), Ordering::Relaxed);
    move || {
        number += 1;
        let text = format!("SELECT c FROM t WHERE id = 7 LIMIT {number}");
        assert_eq!(talk.ask(&text), Decision::Forward);
        talk.session.report(engine, session::Report::Statement { text: text.as_bytes() });
        talk.session.report(engine, talk::locked(b"t", true));
        talk.reply(&response);
        talk.session.report(engine, talk::ended(talk::state()));
    }
}
