//! Results that depend on rows: which of them a write of some rows invalidates, and which it leaves current.

mod talk;

use session::{Decision, Engine, Reply, Verdict};
use talk::*;
use wire::ok_packet;

const SEVEN: &str = "SELECT v FROM t WHERE id = 7";
const EIGHT: &str = "SELECT v FROM t WHERE id = 8";
const RANGE: &str = "SELECT v FROM t WHERE id BETWEEN 100 AND 300";
const ALL: &str = "SELECT v FROM t WHERE v > 3";

/// Returns for each of the four reads of this file whether it is served from the cache.
fn served(talk: &mut Talk) -> [bool; 4] {
    [SEVEN, EIGHT, RANGE, ALL].map(|text| talk.is_served(text))
}

/// A new connection on an engine that has the results of the four reads of this file.
fn filled(engine: &Engine) -> Talk<'_> {
    let mut talk = connect(engine);
    for text in [SEVEN, EIGHT, RANGE, ALL] {
        if !talk.is_served(text) {
            talk.session.report(engine, locked(b"t", true));
            talk.reply(&rows("x", AUTOCOMMIT));
        }
    }
    assert_eq!(served(&mut talk), [true; 4]);
    talk
}

#[test]
fn a_write_outdates_results_that_read_its_rows_and_those_of_unknown_rows() {
    let engine = engine();
    for (write, left) in [
        ("UPDATE t SET v = 1 WHERE id = 7", [false, true, true, false]),
        ("UPDATE t SET v = 1 WHERE id = 200", [true, true, false, false]),
        ("DELETE FROM t WHERE id IN (8, 9)", [true, false, true, false]),
        ("UPDATE t SET v = 1 WHERE id BETWEEN 6 AND 9", [false, false, true, false]),
        ("INSERT INTO t VALUES (150, 'x')", [true, true, false, false]),
        ("INSERT INTO d.t VALUES (5000, 'x')", [true, true, true, false]),
        ("UPDATE t SET v = 1", [false; 4]),
        ("UPDATE t SET id = 9 WHERE id = 5000", [false; 4]),
        ("UPDATE t SET v = 1 WHERE id BETWEEN 1000 AND 9000", [false; 4]),
        ("REPLACE INTO t VALUES (5000), (8)", [true, false, true, false]),
        ("INSERT IGNORE INTO t VALUES (5000)", [true, true, true, false]),
        ("INSERT INTO t VALUES (7, 'x') ON DUPLICATE KEY UPDATE v = 1", [false, true, true, false]),
        ("INSERT INTO t VALUES (5000, 'x') ON DUPLICATE KEY UPDATE id = 7", [false; 4]),
        ("REPLACE INTO t (v) VALUES (5000)", [false; 4]),
        ("UPDATE u SET v = 1 WHERE id = 5000", [false; 4]),
        ("UPDATE e.t SET v = 1 WHERE id = 5000", [false; 4]),
    ] {
        let mut reader = filled(&engine);
        connect(&engine).write(write, AUTOCOMMIT);
        assert_eq!(served(&mut reader), left, "{write}");
    }
}

#[test]
fn only_rows_that_are_being_written_are_closed() {
    let engine = engine();
    let (mut reader, mut writer) = (filled(&engine), connect(&engine));
    writer.ask("UPDATE t SET v = 1 WHERE id = 7");
    writer.session.report(&engine, locked(b"t", false));
    assert_eq!(served(&mut reader), [false, true, true, false]);
}

#[test]
fn the_row_of_a_generated_key_is_told_by_the_response() {
    let engine = engine();
    let (mut reader, mut writer) = (filled(&engine), connect(&engine));
    writer.ask("INSERT INTO t (v) VALUES ('x')");
    writer.session.report(&engine, locked(b"t", false));
    assert_eq!(served(&mut reader), [false; 4], "it may be any row");
    writer.reply(&ok_packet(1, 1, 8, AUTOCOMMIT, 0));
    assert_eq!(served(&mut reader), [true, false, true, false]);
    for (affected, id) in [(2, 5000), (1, 0)] {
        let mut reader = filled(&engine);
        writer.ask("INSERT INTO t (v) VALUES ('x')");
        writer.session.report(&engine, locked(b"t", false));
        writer.reply(&ok_packet(1, affected, id, AUTOCOMMIT, 0));
        assert_eq!(served(&mut reader), [false; 4], "{affected} rows, {id}");
    }
}

/// Runs a write that locks these tables. The response says that this many rows have changed, and has these status
/// flags.
fn write_told(talk: &mut Talk, write: &str, tables: &[&[u8]], affected: u64, flags: u16) {
    assert_eq!(talk.ask(write), Decision::Forward);
    for table in tables {
        talk.session.report(talk.engine, locked(table, false));
    }
    talk.reply(&ok_packet(1, affected, 0, flags, 0));
}

#[test]
fn a_write_of_no_row_outdates_nothing() {
    let engine = engine();
    let mut reader = filled(&engine);
    let mut writer = connect(&engine);
    for write in [
        "UPDATE t SET v = 1 WHERE id = 7",
        "UPDATE t SET v = 1",
        "UPDATE `d`.`t` AS x SET x.v = 1 WHERE x.v IN (SELECT v FROM u)",
        "UPDATE t x SET v = 1 ORDER BY id LIMIT 1",
        "DELETE FROM t WHERE v = -1",
        "DELETE FROM d.t WHERE id = -1",
    ] {
        write_told(&mut writer, write, &[b"t"], 0, AUTOCOMMIT);
        assert_eq!(served(&mut reader), [true; 4], "{write}");
    }
}

#[test]
fn what_may_have_changed_a_row_outdates_it_whatever_it_tells() {
    for (write, tables, affected) in [
        ("UPDATE t SET v = 1", &[&b"t"[..]][..], 1),
        // A trigger or a routine locks the tables that it writes.
        ("UPDATE t SET v = 1 WHERE v = 2", &[b"t", b"u"], 0),
        ("UPDATE t SET v = 1 WHERE v = 2", &[b"u", b"t"], 0),
        ("UPDATE t, u SET t.v = 1", &[b"t"], 0),
        ("UPDATE t JOIN u ON t.id = u.id SET t.v = 1", &[b"t"], 0),
        ("UPDATE IGNORE t SET v = 1", &[b"t"], 0),
        ("UPDATE t /*! , u */ SET t.v = 1", &[b"t"], 0),
        ("UPDATE t FOR PORTION OF p FROM 1 TO 2 SET v = 1", &[b"t"], 0),
        ("DELETE FROM t", &[b"t"], 0),
        ("DELETE IGNORE FROM t WHERE v = 1", &[b"t"], 0),
        ("DELETE t FROM t WHERE v = 1", &[b"t"], 0),
        ("DELETE FROM t FOR PORTION OF p FROM 1 TO 2 WHERE v = 1", &[b"t"], 0),
        ("DELETE HISTORY FROM t", &[b"t"], 0),
        ("INSERT INTO t SELECT * FROM u", &[b"t"], 0),
        ("INSERT INTO t (v) SELECT 1 ON DUPLICATE KEY UPDATE v = 2", &[b"t"], 0),
        ("REPLACE INTO t SELECT * FROM u", &[b"t"], 0),
    ] {
        let engine = engine();
        let (mut reader, mut writer) = (filled(&engine), connect(&engine));
        write_told(&mut writer, write, tables, affected, AUTOCOMMIT);
        assert!(!reader.is_served(ALL), "{write}");
    }
}

#[test]
fn another_engine_than_innodb_may_tell_an_estimate() {
    let engine = engine();
    let mut writer = connect(&engine);
    let table = engine.tables().find(engine.versions(), b"d", b"t");
    table.set_verdict(table.era(engine.catalogue().generation()), Verdict::Plain);
    let mut reader = filled(&engine);
    write_told(&mut writer, "DELETE FROM t WHERE 1", &[b"t"], 0, AUTOCOMMIT);
    assert_eq!(served(&mut reader), [false; 4]);
}

#[test]
fn a_transaction_commits_what_it_has_written_and_not_what_it_has_not() {
    let engine = engine();
    let mut writer = connect(&engine);
    let mut reader = filled(&engine);
    writer.run("START TRANSACTION READ WRITE", IN_TRANS);
    write_told(&mut writer, "DELETE FROM t WHERE v = -1", &[b"t"], 0, IN_TRANS);
    assert_eq!(writer.ask("COMMIT"), Decision::Forward);
    assert_eq!(served(&mut reader), [true; 4], "nothing is committed");
    writer.reply(&ok_packet(1, 0, 0, AUTOCOMMIT, 0));
    writer.run("START TRANSACTION READ WRITE", IN_TRANS);
    write_told(&mut writer, "UPDATE t SET v = 1 WHERE v = 2", &[b"t"], 1, IN_TRANS);
    let mut reader = filled(&engine);
    write_told(&mut writer, "UPDATE t SET v = 1 WHERE v = 3", &[b"t"], 0, IN_TRANS);
    assert_eq!(served(&mut reader), [true; 4], "others see what is committed");
    assert_eq!(writer.ask("COMMIT"), Decision::Forward);
    assert_eq!(served(&mut reader), [false; 4], "the commit is on its way");
}

#[test]
fn a_transaction_is_served_rows_that_it_has_not_written() {
    let engine = engine();
    let mut b = connect_at(&engine, READ_COMMITTED);
    b.run("START TRANSACTION READ WRITE", IN_TRANS);
    b.write("UPDATE t SET v = 1 WHERE id = 7", IN_TRANS);
    let mut a = filled(&engine);
    assert_eq!(served(&mut b), [false, true, true, false], "its own write");
    b.run("ROLLBACK TO SAVEPOINT s", IN_TRANS);
    assert_eq!(served(&mut b), [false, true, true, false], "a savepoint takes nothing back");
    assert_eq!(b.ask("COMMIT"), Decision::Forward);
    assert_eq!(served(&mut a), [false, true, true, false], "the commit is on its way");
    b.reply(&ok_packet(1, 0, 0, AUTOCOMMIT, 0));
    assert_eq!(served(&mut a), [false, true, true, false], "the commit has happened");
}

#[test]
fn a_transaction_of_very_many_rows_is_one_of_unknown_rows() {
    let engine = engine();
    let mut b = connect(&engine);
    b.run("START TRANSACTION READ WRITE", IN_TRANS);
    for id in 1000..1200 {
        b.write(&format!("UPDATE t SET v = 1 WHERE id = {id}"), IN_TRANS);
    }
    let mut a = filled(&engine);
    b.ask("COMMIT");
    assert_eq!(served(&mut a), [false; 4]);
}

#[test]
fn what_is_known_of_a_table_is_not_believed_while_it_is_being_defined() {
    let engine = engine();
    let (mut reader, mut definer, mut writer) = (filled(&engine), connect(&engine), connect(&engine));
    definer.ask("ALTER TABLE t DROP COLUMN v");
    // The server lets the write run: the definition has ended, and its response is on its way.
    writer.ask("UPDATE t SET v = 1 WHERE id = 7");
    writer.session.report(&engine, locked(b"t", false));
    definer.reply(&ok_packet(1, 0, 0, AUTOCOMMIT, 0));
    let table = engine.tables().find(engine.versions(), b"d", b"t");
    let era = table.era(engine.catalogue().generation());
    table.set_verdict(era, Verdict::Snapshot);
    table.set_key(era, Some(key()));
    reader.ask(EIGHT);
    reader.session.report(&engine, locked(b"t", true));
    reader.reply(&rows("x", AUTOCOMMIT));
    assert!(!reader.is_served(EIGHT), "the write may touch any row");
    writer.reply(&ok_packet(1, 1, 0, AUTOCOMMIT, 0));
    assert!(!reader.is_served(EIGHT));
}

#[test]
fn a_definition_that_was_refused_leaves_rows_told_apart() {
    let engine = engine();
    let mut reader = filled(&engine);
    let mut other = connect(&engine);
    other.ask("ALTER TABLE t NONSENSE");
    let refusal = wire::ErrPacket::build(1, 1064, b"42000", "You have an error in your SQL syntax");
    assert_eq!(other.reply(&refusal), Reply::Send);
    other.write("UPDATE t SET v = 1 WHERE id = 7", AUTOCOMMIT);
    assert_eq!(served(&mut reader), [false, true, true, false]);
}

#[test]
fn temporary_tables_and_the_switch_end_telling_rows_apart() {
    let engine = engine();
    let (mut reader, mut writer) = (filled(&engine), connect(&engine));
    writer.run("CREATE TEMPORARY TABLE t (id INT)", AUTOCOMMIT);
    writer.write("UPDATE t SET v = f() WHERE id = 5000", AUTOCOMMIT);
    assert_eq!(served(&mut reader), [false; 4]);
    let mut reader = filled(&engine);
    engine.settings().set_tracks_rows(false);
    connect(&engine).write("UPDATE t SET v = 1 WHERE id = 5000", AUTOCOMMIT);
    assert_eq!(served(&mut reader), [false; 4]);
}

#[test]
fn results_that_outlive_a_write_are_counted_once() {
    let engine = engine();
    let mut reader = filled(&engine);
    assert_eq!(engine.counts().invalidations_avoided.sum(), 0);
    connect(&engine).write("UPDATE t SET v = 1 WHERE id = 7", AUTOCOMMIT);
    assert_eq!(served(&mut reader), [false, true, true, false]);
    assert_eq!(served(&mut reader), [false, true, true, false]);
    assert_eq!(engine.counts().invalidations_avoided.sum(), 2);
}

/// The packet of an execution of the prepared statement with this id, with two BIGINT parameters.
fn prepared(id: u32, values: [i64; 2]) -> Vec<u8> {
    let values: Vec<u8> = values.into_iter().flat_map(i64::to_le_bytes).collect();
    let head = [&[0x17][..], &id.to_le_bytes(), &[0, 1, 0, 0, 0], &[0, 1, 8, 0, 8, 0]].concat();
    let mut packet = Vec::new();
    wire::push_packet(&mut packet, &mut 0, &[head, values].concat());
    packet
}

#[test]
fn integers_bound_to_a_prepared_write_tell_its_rows() {
    let engine = engine();
    let (mut reader, mut writer) = (filled(&engine), connect(&engine));
    let mut prepare = Vec::new();
    wire::push_packet(&mut prepare, &mut 0, b"\x16UPDATE t SET v = ? WHERE id = ?");
    assert_eq!(writer.session.on_command(&engine, &prepare, &mut writer.client), Decision::Forward);
    let mut response = Vec::new();
    let parameter = b"\x03def\x00\x00\x00\x01?\x00\x0c?\x00\x00\x00\x00\x00\x08\x80\x00\x00\x00\x00";
    let end = b"\xfe\x00\x00\x02\x00";
    let head = b"\x00\x05\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00";
    for (sequence, payload) in (1..).zip([&head[..], parameter, parameter, end]) {
        wire::push_packet(&mut response, &mut { sequence }, payload);
    }
    assert_eq!(writer.reply(&response), Reply::Send);
    assert_eq!(writer.session.on_command(&engine, &prepared(5, [1, 7]), &mut writer.client), Decision::Forward);
    writer.session.report(&engine, locked(b"t", false));
    writer.reply(&ok_packet(1, 1, 0, AUTOCOMMIT, 0));
    assert_eq!(served(&mut reader), [false, true, true, false]);
}
