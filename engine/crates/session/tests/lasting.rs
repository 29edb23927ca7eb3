//! Results that a rule keeps alive after writes: for how long, and what ends them at once.

mod talk;

use insight::Rules;
use session::Engine;
use std::cell::Cell;
use talk::*;
use wire::ok_packet;

thread_local! {
    static NOW_MS: Cell<u64> = const { Cell::new(0) };
}

const READ: &str = "SELECT v FROM t WHERE v > 3";
const ROW: &str = "SELECT v FROM t WHERE id = 7";
const OTHER: &str = "SELECT v FROM u WHERE v > 3";

/// An engine with a rule that lets results of table `t` be served for five seconds although they are stale. Its clock
/// is `NOW_MS`.
fn ruled() -> Engine {
    let engine = not_yet_ruled();
    engine.tick();
    engine
}

/// An engine with a rule that lets results of table `t` be served for five seconds although they are stale. It has not
/// noted the time yet, so the age of results is not known.
fn not_yet_ruled() -> Engine {
    let engine = engine_at(|| NOW_MS.get() * 1_000_000);
    let rules = r#"[{"table": "d.t", "cache": "always", "ttl": 5}]"#;
    engine.insight().set_rules(Rules::parse(rules).expect("rules"));
    engine
}

/// Advances the clock of the tests by this many milliseconds, and runs the engine's periodic step, which notes the
/// time.
fn pass(engine: &Engine, ms: u64) {
    NOW_MS.set(NOW_MS.get() + ms);
    engine.tick();
}

/// Runs a read of this table on the server if it is not served yet. Panics if it is not served afterwards.
fn read(talk: &mut Talk, text: &str, table: &[u8]) {
    if !talk.is_served(text) {
        talk.session.report(talk.engine, locked(table, true));
        talk.reply(&rows("x", AUTOCOMMIT));
    }
    assert!(talk.is_served(text), "{text}");
}

fn stale_hits(engine: &Engine) -> u64 {
    engine.counts().stale_hits.sum()
}

#[test]
fn a_result_lasts_through_writes_for_its_time_and_no_longer() {
    let engine = ruled();
    let mut reader = connect(&engine);
    read(&mut reader, READ, b"t");
    read(&mut reader, ROW, b"t");
    read(&mut reader, OTHER, b"u");
    connect(&engine).write("UPDATE t SET v = 1", AUTOCOMMIT);
    let mut writer = connect(&engine);
    writer.ask("UPDATE u SET v = 1");
    writer.session.report(&engine, locked(b"u", false));
    writer.reply(&ok_packet(1, 1, 0, AUTOCOMMIT, 0));
    assert!(!reader.is_served(OTHER), "no rule speaks of it");
    for ms in [0, 1000, 3000, 1000] {
        pass(&engine, ms);
        assert!(reader.is_served(READ) && reader.is_served(ROW));
    }
    assert_eq!(stale_hits(&engine), 8);
    NOW_MS.set(NOW_MS.get() + 1);
    assert!(!reader.is_served(READ) && !reader.is_served(ROW), "whether or not anybody noted the time");
    read(&mut reader, READ, b"t");
    assert_eq!(stale_hits(&engine), 8, "it is true again");
    pass(&engine, 60_000);
    assert!(reader.is_served(READ), "what is true has no end");
}

#[test]
fn sweeping_leaves_what_lasts() {
    let engine = ruled();
    let mut reader = connect(&engine);
    read(&mut reader, READ, b"t");
    connect(&engine).write("UPDATE t SET v = 1", AUTOCOMMIT);
    engine.sweep(usize::MAX);
    assert!(reader.is_served(READ));
    pass(&engine, 5001);
    engine.sweep(usize::MAX);
    assert_eq!(engine.cache().stats().entries, 0);
}

#[test]
fn a_transaction_is_told_only_what_is_true() {
    let engine = ruled();
    let mut reader = connect_at(&engine, READ_COMMITTED);
    read(&mut reader, READ, b"t");
    connect(&engine).write("UPDATE t SET v = 1", AUTOCOMMIT);
    assert!(reader.is_served(READ));
    reader.run("START TRANSACTION READ WRITE", IN_TRANS);
    assert!(!reader.is_served(READ));
    reader.run("COMMIT", AUTOCOMMIT);
    assert!(reader.is_served(READ), "of the same cache");
}

#[test]
fn definitions_and_privileges_end_it() {
    let engine = ruled();
    for change in ["ALTER TABLE t ADD x INT", "TRUNCATE t", "GRANT SELECT ON d.* TO a", "SET GLOBAL fqc_rules = ''"] {
        let generation = engine.catalogue().generation();
        engine.catalogue().publish(session::Views::new(generation, false, []));
        let table = engine.tables().find(engine.versions(), b"d", b"t");
        table.set_verdict(table.era(generation), session::Verdict::Snapshot);
        let (mut reader, mut definer) = (connect(&engine), connect(&engine));
        read(&mut reader, READ, b"t");
        definer.ask(change);
        assert!(!reader.is_served(READ), "{change} is on its way");
        definer.reply(&ok_packet(1, 0, 0, AUTOCOMMIT, 0));
        assert!(!reader.is_served(READ), "{change}");
    }
    assert_eq!(stale_hits(&engine), 0);
}

#[test]
fn a_result_that_a_write_overtook_is_stored_where_it_may_last() {
    let engine = ruled();
    let mut reader = connect(&engine);
    reader.ask(READ);
    reader.session.report(&engine, locked(b"t", true));
    connect(&engine).write("UPDATE t SET v = 1", AUTOCOMMIT);
    reader.reply(&rows("x", AUTOCOMMIT));
    assert!(reader.is_served(READ));
    assert_eq!(stale_hits(&engine), 1);
}

#[test]
fn without_notes_of_time_nothing_outdated_is_served() {
    let engine = not_yet_ruled();
    let mut reader = connect(&engine);
    read(&mut reader, READ, b"t");
    connect(&engine).write("UPDATE t SET v = 1", AUTOCOMMIT);
    assert!(!reader.is_served(READ));
}
