//! Reads by a complete unique key, on a server of either product. They depend on the row that they show, and every way in which their
//! result can change is noticed.

use crate::traps::{all, rows_text};
use crate::with_table;
use fqc_tests::client::Param;

const CREATE: &str = "CREATE TABLE p (id INT AUTO_INCREMENT PRIMARY KEY, space INT NOT NULL, title VARBINARY(50) NOT NULL, \
    v INT, UNIQUE KEY place (space, title)) ENGINE = InnoDB";
const FILL: &str =
    "INSERT INTO p VALUES (1, 0, 'a', 10), (2, 0, 'b', 20), (3, 1, 'a', 30), (4, 1, 'b', 40), (5, 2, 'é', 50)";
const READ: &str = "SELECT id, v FROM p WHERE space = 0 AND title = 'a' LIMIT 1";
const OTHER: &str = "UPDATE p SET v = v + 1 WHERE id = 5";

/// A table with a unique key of two columns, whose rows the engine already distinguishes.
macro_rules! with_pages {
    ($db:literal) => {{
        let (mut arena, mut writer, mut reader) = with_table($db);
        all(&mut writer, &[CREATE, FILL]);
        arena.await_row(&mut reader, &mut writer, READ, OTHER);
        (arena, writer, reader)
    }};
}

#[test]
fn a_read_by_a_whole_unique_key_outlives_writes_of_other_rows() {
    let (mut arena, mut writer, mut reader) = with_pages!("unique_others");
    for read in [
        "SELECT v,id FROM p WHERE (title='a' AND space=0)",
        "SELECT * FROM p AS x WHERE (x.space = 0) AND ((x.title = 'a')) ORDER BY v LIMIT 5",
        "SELECT MAX(v), x.id AS n FROM p x WHERE space = 0 AND title = 'a' GROUP BY id",
        "SELECT id FROM p WHERE space = 1 AND title = 'b'",
    ] {
        arena.await_row(&mut reader, &mut writer, read, OTHER);
    }
    let binary = reader.prepare("SELECT title, v, id FROM p WHERE space = ? AND title = 'a'").unwrap().1.unwrap();
    let expected = arena.warm_prepared(&mut reader, &binary, &[Param::Int(0)]);
    for write in [
        "UPDATE p SET title = 'z', v = 1 WHERE id = 5",
        "DELETE FROM p WHERE id = 2",
        "INSERT INTO p (space, title, v) VALUES (7, 'a', 1)",
        "INSERT IGNORE INTO p (id, space, title, v) VALUES (59, 0, 'a', 99)",
        "INSERT INTO p (id, space, title) VALUES (60, 0, 'c'), (61, 8, 'a')",
    ] {
        writer.must(write).unwrap();
        arena.hit(&mut reader, READ, "1,10");
        let (response, is_hit) = arena.ask_prepared(&mut reader, &binary, &[Param::Int(0)]);
        assert!(is_hit, "after `{write}`");
        assert_eq!(response, expected, "after `{write}`");
    }
}

#[test]
fn a_unique_key_beyond_ascii_is_told_apart_where_bytes_are_compared() {
    let (mut arena, mut writer, mut reader) = with_pages!("unique_bytes");
    let other = "UPDATE p SET v = v + 1 WHERE id = 1";
    let read = "SELECT id, v > 0 FROM p WHERE space = 2 AND title = 'é'";
    arena.warm(&mut reader, read);
    writer.must(other).unwrap();
    arena.hit(&mut reader, read, "5,1");
}

#[test]
fn another_row_under_the_unique_key_is_seen_however_it_comes_there() {
    let (mut arena, mut writer, mut reader) = with_pages!("unique_changes");
    for (writes, expected) in [
        (&["UPDATE p SET v = 11 WHERE id = 1"][..], "1,11"),
        (&["UPDATE p SET v = 12 WHERE space = 0 AND title = 'a'"], "1,12"),
        (&["UPDATE p SET title = 'x' WHERE id = 1"], ""),
        (&["UPDATE p SET title = 'a' WHERE id = 2"], "2,20"),
        (
            &["BEGIN", "UPDATE p SET title = 'y' WHERE id = 2", "UPDATE p SET title = 'a' WHERE id = 1", "COMMIT"],
            "1,12",
        ),
        (
            &["BEGIN", "DELETE FROM p WHERE id = 1", "INSERT INTO p (space, title, v) VALUES (0, 'a', 13)", "COMMIT"],
            "6,13",
        ),
        (&["REPLACE INTO p VALUES (70, 0, 'a', 14)"], "70,14"),
        (&["REPLACE INTO p (space, title, v) VALUES (0, 'a', 15)"], "71,15"),
        (&["INSERT INTO p VALUES (73, 0, 'a', 1) ON DUPLICATE KEY UPDATE v = 16"], "71,16"),
        (&["UPDATE p SET id = 1 WHERE id = 71"], "1,16"),
        (&["UPDATE p x JOIN p y ON x.id = y.id SET x.v = 17 WHERE y.id = 1"], "1,17"),
        (&["DELETE FROM p WHERE title = 'a'"], ""),
        (&["INSERT INTO p VALUES (75, 0, 'a', 18)"], "75,18"),
        (&["ALTER TABLE p DROP INDEX place", "INSERT INTO p VALUES (1, 0, 'a', 19)"], "1,19"),
    ] {
        arena.check_write_shows(&mut reader, READ, || all(&mut writer, writes), expected);
    }
    let read = "SELECT id, v FROM p WHERE space = 0 AND title = 'a' ORDER BY id DESC LIMIT 1";
    let more = "INSERT INTO p VALUES (90, 0, 'a', 20)";
    arena.check_write_shows(&mut reader, read, || drop(writer.must(more).unwrap()), "90,20");
}

/// Checks that reads that find several rows, or could find several, depend on the whole table. Each of them shows the last row.
#[test]
fn what_finds_several_rows_depends_on_the_table() {
    let (mut arena, mut writer, mut reader) = with_pages!("unique_many");
    all(
        &mut writer,
        &[
            "CREATE TABLE q (id INT PRIMARY KEY, name VARCHAR(20) CHARACTER SET latin1 NOT NULL UNIQUE, \
             n BIGINT NOT NULL UNIQUE, maybe INT UNIQUE, begin VARCHAR(20) NOT NULL, v INT, UNIQUE KEY b (begin(3))) ENGINE = InnoDB",
            "INSERT INTO q VALUES (1, '0', 9007199254740992, NULL, 'a', 1), (2, '7', 5, 7, 'b', 2)",
        ],
    );
    let insert = "INSERT INTO q VALUES (3, '00', 9007199254740993, NULL, 'c', 3)";
    let last = " ORDER BY id DESC LIMIT 1";
    arena.await_row(&mut reader, &mut writer, READ, OTHER);
    for condition in ["name = 0", "maybe IS NULL", "name >= '0' AND name < '1'", "n = 5 OR n > 100"] {
        let read = format!("SELECT id FROM q WHERE {condition}{last}");
        arena.check_write_shows(&mut reader, &read, || drop(writer.must(insert).unwrap()), "3");
        writer.must("DELETE FROM q WHERE id = 3").unwrap();
    }
    let read = format!("SELECT id FROM p WHERE title = 'a'{last}");
    let more = "INSERT INTO p VALUES (80, 9, 'a', 3)";
    arena.check_write_shows(&mut reader, &read, || drop(writer.must(more).unwrap()), "80");
}

/// Checks that the engine takes only the primary key itself as the identity of a row. A column that merely has its name contains other
/// numbers.
#[test]
fn only_the_primary_key_itself_says_which_row_it_is() {
    let (mut arena, mut writer, mut reader) = with_pages!("unique_shown");
    writer.must("UPDATE p SET v = 2 WHERE id = 1").unwrap();
    for (what, expected) in [
        ("v AS id", "5"),
        ("v AS id, v + id", "5,6"),
        ("v * 2, v AS id", "10,5"),
        ("id + 1 AS id, v", "2,5"),
        ("-id, v", "-1,5"),
        ("DISTINCT v, space AS id", "5,0"),
        ("MAX(v) AS id", "5"),
    ] {
        let read = format!("SELECT {what} FROM p WHERE space = 0 AND title = 'a' LIMIT 1");
        arena.warm(&mut reader, &read);
        writer.must("UPDATE p SET v = 5 WHERE id = 1").unwrap();
        assert_eq!(rows_text(&reader.must(&read).unwrap()), expected, "{read}");
        writer.must("UPDATE p SET v = 2 WHERE id = 1").unwrap();
    }
}

/// Checks reads by a text key whose comparison uses another collation than the key, or a function, so that several rows match. It also
/// checks plain comparisons under several character sets of the connection.
#[test]
fn collations_of_the_key_and_of_the_comparison_may_differ() {
    let (mut arena, mut writer, mut reader) = with_pages!("unique_collations");
    all(
        &mut writer,
        &[
            "CREATE TABLE c (id INT PRIMARY KEY, name VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL UNIQUE, \
             v INT) ENGINE = InnoDB",
            "INSERT INTO c VALUES (1, 'a', 1)",
        ],
    );
    let coarse = "SELECT id FROM c WHERE name = 'a' COLLATE utf8mb4_general_ci ORDER BY id DESC LIMIT 1";
    arena.check_write_shows(
        &mut reader,
        coarse,
        || drop(writer.must("INSERT INTO c VALUES (2, 'A', 2)").unwrap()),
        "2",
    );
    let lowered = "SELECT id FROM c WHERE LOWER(name) = 'a' ORDER BY id DESC LIMIT 1";
    arena.check_write_shows(&mut reader, lowered, || drop(writer.must("DELETE FROM c WHERE id = 2").unwrap()), "1");
    for names in ["SET NAMES latin1", "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", "SET NAMES binary"] {
        reader.must(names).unwrap();
        let read = "SELECT id, v FROM c WHERE name = 'a'";
        arena.warm(&mut reader, read);
        writer.must("INSERT INTO c VALUES (2, 'A', 2)").unwrap();
        assert_eq!(rows_text(&reader.must(read).unwrap()), "1,1", "after `{names}`");
        writer.must("UPDATE c SET name = 'b' WHERE id = 1").unwrap();
        assert_eq!(rows_text(&reader.must(read).unwrap()), "", "after `{names}`");
        all(&mut writer, &["UPDATE c SET name = 'a' WHERE id = 1", "DELETE FROM c WHERE id = 2"]);
    }
}

/// Checks reads by a key that has moved to another row. A transaction with an older snapshot still sees the row that has been replaced
/// since.
#[test]
fn a_snapshot_keeps_its_row_while_another_takes_the_key() {
    let (mut arena, mut writer, mut reader) = with_pages!("unique_snapshot");
    let mut old = arena.client();
    all(&mut old, &["BEGIN", READ]);
    arena.warm(&mut reader, READ);
    all(&mut writer, &["BEGIN", "DELETE FROM p WHERE id = 1", "INSERT INTO p VALUES (50, 0, 'a', 1)", "COMMIT"]);
    for _ in 0..3 {
        assert_eq!(rows_text(&old.must(READ).unwrap()), "1,10");
        assert_eq!(rows_text(&reader.must(READ).unwrap()), "50,1");
    }
    all(&mut old, &["COMMIT", "BEGIN", "UPDATE p SET v = 2 WHERE id = 50"]);
    assert_eq!(rows_text(&old.must(READ).unwrap()), "50,2");
    assert_eq!(rows_text(&reader.must(READ).unwrap()), "50,1");
    old.must("ROLLBACK").unwrap();
    assert_eq!(rows_text(&old.must(READ).unwrap()), "50,1");
}
