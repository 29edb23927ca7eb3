//! Tests that the engine distinguishes rows, on a server of either product: results survive a write of other rows, and every way in which a
//! row changes without being named is noticed.

use crate::traps::{Arena, all, rows_text, small_table};
use crate::with_table;
use fqc_tests::client::{Client, Param};

pub const READ: &str = "SELECT v FROM t WHERE id = 1";

const RANGE: &str = "SELECT SUM(v) FROM t WHERE id BETWEEN 1 AND 3";

/// Waits until the engine distinguishes the rows of the table `t`.
#[track_caller]
pub fn await_rows(arena: &mut Arena, reader: &mut Client, writer: &mut Client) {
    arena.await_row(reader, writer, READ, "UPDATE t SET v = v + 1 WHERE id = 5");
}

#[test]
fn writes_of_other_rows_leave_results_alive() {
    let (mut arena, mut writer, mut reader) = with_table("rows_others");
    await_rows(&mut arena, &mut reader, &mut writer);
    let update = writer.prepare("UPDATE t SET v = ? WHERE id = ?").unwrap().1.unwrap();
    writer.execute(&update, &[Param::Int(7), Param::Int(5)]).unwrap();
    arena.hit(&mut reader, READ, "10");
    for write in [
        "DELETE FROM t WHERE id IN (4, 5)",
        "INSERT INTO t VALUES (4, 40), (5, 50)",
        "UPDATE t SET v = 5 WHERE id BETWEEN 2 AND 4 AND v > 3",
        "DELETE FROM t WHERE id = 1000",
        "REPLACE INTO t VALUES (4, 41), (6, 60)",
        "INSERT IGNORE INTO t VALUES (4, 42), (7, 70)",
        "INSERT INTO t VALUES (4, 43), (8, 80) ON DUPLICATE KEY UPDATE v = v + VALUES(v)",
    ] {
        writer.must(write).unwrap();
        arena.hit(&mut reader, READ, "10");
    }
    writer.must("BEGIN").unwrap();
    arena.hit(&mut writer, READ, "10");
    writer.must("UPDATE t SET v = 6 WHERE id = 2").unwrap();
    arena.hit(&mut writer, READ, "10");
    arena.hit(&mut reader, READ, "10");
    writer.must("COMMIT").unwrap();
    arena.hit(&mut reader, READ, "10");
    small_table(&mut writer, "unread", "InnoDB");
    assert!(avoided(&mut writer, "rows_others", "t") > 0);
    assert_eq!(avoided(&mut writer, "rows_others", "unread"), 0);
}

#[test]
fn a_read_that_locks_other_rows_leaves_results_alive() {
    let (mut arena, mut writer, mut reader) = with_table("rows_locked");
    await_rows(&mut arena, &mut reader, &mut writer);
    for locking in
        ["SELECT v FROM t WHERE id = 5 FOR UPDATE", "SELECT v FROM t WHERE id IN (2, 3) AND v > 0 LIMIT 1 FOR UPDATE"]
    {
        all(&mut writer, &["BEGIN", locking]);
        arena.hit(&mut reader, READ, "10");
        all(&mut writer, &["UPDATE t SET v = v + 1 WHERE id = 5", "COMMIT"]);
        arena.hit(&mut reader, READ, "10");
    }
    all(&mut writer, &["BEGIN", "SELECT v FROM t WHERE id = 1 LIMIT 1 FOR UPDATE", "UPDATE t SET v = 11 WHERE id = 1"]);
    assert_eq!(rows_text(&reader.must(READ).unwrap()), "10");
    arena.check_write_shows(&mut reader, READ, || drop(writer.must("COMMIT").unwrap()), "11");
    // A function that the read calls may write other tables.
    small_table(&mut writer, "u", "InnoDB");
    all(
        &mut writer,
        &[
            "CREATE FUNCTION wrote() RETURNS INT MODIFIES SQL DATA BEGIN UPDATE u SET v = v + 1 WHERE id = 1; RETURN 1; END",
        ],
    );
    let other = "SELECT v FROM u WHERE id = 1";
    let calls = "SELECT wrote() FROM t WHERE id = 5 FOR UPDATE";
    arena.check_write_shows(&mut reader, other, || drop(writer.must(calls).unwrap()), "11");
}

/// The number of results that were served although other rows of this table had been written, from SHOW FQC TABLES.
fn avoided(client: &mut Client, db: &str, table: &str) -> u64 {
    let report = rows_text(&client.must("SHOW FQC TABLES").unwrap());
    let row = report.split(';').find(|row| row.starts_with(&format!("{db},{table},")));
    row.and_then(|row| row.rsplit(',').next()?.parse().ok()).unwrap_or_else(|| panic!("{report}"))
}

#[test]
fn a_write_that_changes_no_row_outdates_nothing() {
    let (mut arena, mut writer, mut reader) = with_table("rows_none");
    arena.warm(&mut reader, RANGE);
    let update = writer.prepare("UPDATE t SET v = ? WHERE v = ?").unwrap().1.unwrap();
    writer.execute(&update, &[Param::Int(7), Param::Int(-5)]).unwrap();
    arena.hit(&mut reader, RANGE, "60");
    for write in [
        "UPDATE t SET v = v",
        "UPDATE t SET v = 10 WHERE id = 1",
        "UPDATE rows_none.t AS x SET x.v = 1 WHERE x.v IN (-1, -2)",
        "DELETE FROM t WHERE v = -1",
        "DELETE FROM t WHERE id IN (-1, -2)",
        "DELETE FROM t WHERE 0",
    ] {
        writer.must(write).unwrap();
        arena.hit(&mut reader, RANGE, "60");
    }
    all(&mut writer, &["BEGIN", "DELETE FROM t WHERE v = -1", "COMMIT"]);
    arena.hit(&mut reader, RANGE, "60");
    all(&mut writer, &["BEGIN", "UPDATE t SET v = 11 WHERE v = 10", "UPDATE t SET v = 1 WHERE v = -1"]);
    arena.check_write_shows(&mut reader, RANGE, || drop(writer.must("COMMIT").unwrap()), "61");
    arena.check_write_shows(&mut reader, RANGE, || drop(writer.must("DELETE FROM t WHERE 1").unwrap()), "NULL");
}

#[test]
fn a_write_of_no_row_is_seen_where_a_trigger_or_a_function_writes() {
    let (mut arena, mut writer, mut reader) = with_table("rows_none_but");
    all(
        &mut writer,
        &[
            "CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
            "CREATE TRIGGER noted BEFORE UPDATE ON t FOR EACH ROW INSERT INTO log (v) VALUES (NEW.v)",
            "CREATE FUNCTION note() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO log (v) VALUES (0); RETURN -1; END",
        ],
    );
    let read = "SELECT COUNT(*) FROM log";
    arena.check_write_shows(&mut reader, read, || drop(writer.must("UPDATE t SET v = v WHERE id = 1").unwrap()), "1");
    arena.check_write_shows(
        &mut reader,
        read,
        || drop(writer.must("DELETE FROM t WHERE v = note() AND id = 1").unwrap()),
        "2",
    );
}

#[test]
fn writes_of_the_row_are_seen_however_it_is_named() {
    let (mut arena, mut writer, mut reader) = with_table("rows_named");
    await_rows(&mut arena, &mut reader, &mut writer);
    for (write, expected) in [
        ("UPDATE t SET v = 11 WHERE id = 1", "11"),
        ("UPDATE t SET v = 12 WHERE id IN (3, 1)", "12"),
        ("UPDATE t SET v = 13 WHERE id > 0 AND id < 2", "13"),
        ("UPDATE t SET v = 14 WHERE id = '1'", "14"),
        ("UPDATE t SET v = 15 WHERE id = 2 OR id = 1", "15"),
        ("UPDATE t SET v = 16 WHERE v = 15 AND id + 0 = 1", "16"),
        ("UPDATE t x JOIN t y ON x.id = y.id SET x.v = 17 WHERE y.id = 1", "17"),
        ("INSERT INTO t VALUES (5, 0), (1, 18) ON DUPLICATE KEY UPDATE v = 18", "18"),
        ("REPLACE INTO t VALUES (1, 19)", "19"),
        ("UPDATE t SET id = 100 WHERE id = 1", ""),
        ("UPDATE t SET id = 1 WHERE id = 100", "19"),
        ("DELETE FROM t WHERE id = 1", ""),
        ("INSERT IGNORE INTO t VALUES (2, 0), (1, 20)", "20"),
        ("REPLACE INTO t SELECT 1, 22", "22"),
        ("DELETE FROM t WHERE id = 1", ""),
        ("INSERT INTO t SELECT 1, 20", "20"),
        ("TRUNCATE t", ""),
        ("INSERT INTO t VALUES (1, 21)", "21"),
    ] {
        arena.check_write_shows(&mut reader, READ, || drop(writer.must(write).unwrap()), expected);
    }
}

#[test]
fn other_unique_keys_put_other_rows_in_the_way() {
    let (mut arena, mut writer, mut reader) = with_table("rows_unique");
    await_rows(&mut arena, &mut reader, &mut writer);
    writer.must("CREATE UNIQUE INDEX u ON t (v)").unwrap();
    await_rows(&mut arena, &mut reader, &mut writer);
    let upsert = "INSERT INTO t VALUES (9, 10) ON DUPLICATE KEY UPDATE v = 11";
    arena.check_write_shows(&mut reader, READ, || drop(writer.must(upsert).unwrap()), "11");
    await_rows(&mut arena, &mut reader, &mut writer);
    arena.check_write_shows(&mut reader, READ, || drop(writer.must("REPLACE INTO t VALUES (9, 11)").unwrap()), "");
    arena.check_write_shows(
        &mut reader,
        READ,
        || drop(writer.must("INSERT IGNORE INTO t VALUES (1, 11)").unwrap()),
        "",
    );
    writer.must("INSERT IGNORE INTO t VALUES (10, 11), (11, 1000)").unwrap();
    arena.hit(&mut reader, READ, "");
}

#[test]
fn a_range_sees_rows_that_come_and_go() {
    let (mut arena, mut writer, mut reader) = with_table("rows_range");
    await_rows(&mut arena, &mut reader, &mut writer);
    for (write, expected) in [
        ("UPDATE t SET v = 11 WHERE id = 1", "61"),
        ("DELETE FROM t WHERE id = 3", "31"),
        ("INSERT INTO t VALUES (3, 1)", "32"),
    ] {
        arena.check_write_shows(&mut reader, RANGE, || drop(writer.must(write).unwrap()), expected);
    }
    writer.must("INSERT INTO t VALUES (500, 1)").unwrap();
    arena.hit(&mut reader, RANGE, "32");
}

#[test]
fn triggers_change_rows_that_are_not_named() {
    let (mut arena, mut writer, mut reader) = with_table("rows_trigger");
    await_rows(&mut arena, &mut reader, &mut writer);
    small_table(&mut writer, "u", "InnoDB");
    writer.must("CREATE TRIGGER g AFTER UPDATE ON u FOR EACH ROW UPDATE t SET v = NEW.v WHERE id = 1").unwrap();
    arena.check_write_shows(&mut reader, READ, || drop(writer.must("UPDATE u SET v = 77 WHERE id = 3").unwrap()), "77");
    writer.must("CREATE TRIGGER moved BEFORE UPDATE ON t FOR EACH ROW SET NEW.id = OLD.id - 1").unwrap();
    writer.must("DELETE FROM t WHERE id = 1").unwrap();
    arena.check_write_shows(&mut reader, READ, || drop(writer.must("UPDATE t SET v = 78 WHERE id = 2").unwrap()), "78");
}

#[test]
fn cascades_change_rows_that_are_not_named() {
    let (mut arena, mut writer, mut reader) = with_table("rows_cascade");
    await_rows(&mut arena, &mut reader, &mut writer);
    let own = "ALTER TABLE t ADD FOREIGN KEY (v) REFERENCES t (id) ON DELETE CASCADE ON UPDATE CASCADE";
    all(&mut writer, &["UPDATE t SET v = 2 WHERE id = 1", "UPDATE t SET v = id WHERE id > 1", own]);
    arena.check_write_shows(&mut reader, READ, || drop(writer.must("DELETE FROM t WHERE id = 2").unwrap()), "");
    let child = "CREATE TABLE child (id INT PRIMARY KEY, v INT, FOREIGN KEY (v) REFERENCES t (id) ON DELETE SET NULL)";
    all(&mut writer, &[child, "INSERT INTO child VALUES (1, 3)"]);
    let read = "SELECT v FROM child WHERE id = 1";
    arena.check_write_shows(&mut reader, read, || drop(writer.must("DELETE FROM t WHERE id = 3").unwrap()), "NULL");
}

#[test]
fn another_key_column_is_another_key() {
    let (mut arena, mut writer, mut reader) = with_table("rows_redefined");
    await_rows(&mut arena, &mut reader, &mut writer);
    let other = "ALTER TABLE t DROP PRIMARY KEY, ADD COLUMN n INT AUTO_INCREMENT PRIMARY KEY";
    writer.must(other).unwrap();
    arena.check_write_shows(&mut reader, READ, || drop(writer.must("UPDATE t SET v = 12 WHERE n = 1").unwrap()), "12");
    writer.must("ALTER TABLE t DROP COLUMN n, ADD PRIMARY KEY (id)").unwrap();
    arena.check_write_shows(&mut reader, READ, || drop(writer.must("UPDATE t SET v = 13 WHERE id = 1").unwrap()), "13");
}

#[test]
fn without_the_switch_every_write_outdates_its_table() {
    let (mut arena, mut writer, mut reader) = with_table("rows_off");
    await_rows(&mut arena, &mut reader, &mut writer);
    writer.must("SET GLOBAL fqc_row_footprints = OFF").unwrap();
    for _ in 0..3 {
        let value = arena.warm(&mut reader, READ);
        writer.must("UPDATE t SET v = v + 1 WHERE id = 5").unwrap();
        arena.miss(&mut reader, READ, &value);
    }
    writer.must("SET GLOBAL fqc_row_footprints = ON").unwrap();
    await_rows(&mut arena, &mut reader, &mut writer);
}

#[test]
fn a_key_that_is_moved_under_its_other_name() {
    let (mut arena, mut writer, mut reader) = with_table("rows_rowid");
    await_rows(&mut arena, &mut reader, &mut writer);
    let read = "SELECT id FROM t WHERE id = 50";
    for (write, expected) in [
        ("UPDATE t SET _rowid = 50 WHERE id = 2", "50"),
        ("UPDATE t SET v = 1, `_rowid` = 51 WHERE id = 50", ""),
        ("INSERT INTO t (_rowid, v) VALUES (50, 1)", "50"),
        ("DELETE FROM t WHERE _rowid = 50", ""),
        ("INSERT INTO t VALUES (3, 1) ON DUPLICATE KEY UPDATE _rowid = 50", "50"),
    ] {
        arena.check_write_shows(&mut reader, read, || drop(writer.must(write).unwrap()), expected);
    }
}
