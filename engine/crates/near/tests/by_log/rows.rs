//! With the server's log, a read that names rows by their key is invalidated only by changes of these rows, and by everything that may be
//! such a change.

use crate::beside::followed::{Kind, LONG, direct, is_said, kinds, mariadb, mysql, run, until_heard};
use crate::beside::scene::{READ, ask, hits, until_served};
use crate::beside::{Near, wait_until};
use fqc_tests::client::Client;
use fqc_tests::server::Server;

/// A server and a near cache that follows its log, with a connection through the near cache and one to the server itself.
struct Scene {
    kind: Kind,
    near: Near,
    /// The connection through the near cache.
    client: Client,
    /// The connection to the server itself.
    writer: Client,
    /// The server, which ends when the scene is dropped.
    _server: Server,
}

/// The expected effect of a change on a result in memory: the result stays, or is invalidated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Kept,
    Outdated,
}
use Then::{Kept, Outdated};

impl Scene {
    /// Starts a server and a near cache that follows its log, and runs the statements on the server.
    fn of(kind: Kind, statements: &[&str]) -> Scene {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (client, mut writer) = (near.client(), direct(&server));
        run(&mut writer, &["INSERT INTO d.u VALUES (1, 0)"]);
        run(&mut writer, statements);
        Scene { kind, near, client, writer, _server: server }
    }

    /// Waits until all reads are answered from memory, runs the statements on the server, and checks for each read whether its result was
    /// kept or invalidated. Also compares each answer with the server's.
    fn after(&mut self, statements: &[&str], reads: &[(&str, Then)]) {
        // A result may be dropped while the near cache has not learned about its table yet, so this waits until all reads are served in one
        // round.
        wait_until("all of them to be served", || {
            let before = hits(&self.near);
            reads.iter().for_each(|(read, _)| drop(ask(&mut self.client, read)));
            hits(&self.near) == before + reads.len() as u64
        });
        run(&mut self.writer, statements);
        until_heard(&self.near);
        for (read, then) in reads {
            let (before, expected) = (hits(&self.near), ask(&mut self.writer, read));
            assert_eq!(ask(&mut self.client, read), expected, "{read} after {statements:?}");
            let found = if hits(&self.near) > before { Kept } else { Outdated };
            assert_eq!(found, *then, "{read} after {statements:?} on {}", self.kind.name);
        }
    }
}

#[test]
fn a_change_of_a_row_leaves_what_was_read_from_others() {
    const OTHER: &str = "SELECT v FROM d.t WHERE id = 2";
    for kind in kinds() {
        let mut scene = Scene::of(kind, &[]);
        scene.after(&["UPDATE d.t SET v = 5 WHERE id = 2"], &[(READ, Kept), (OTHER, Outdated)]);
        scene.after(&["UPDATE d.t SET v = 6 WHERE id = 1"], &[(READ, Outdated), (OTHER, Kept)]);
        scene.after(&["UPDATE d.t SET v = v + 1"], &[(READ, Outdated), (OTHER, Outdated)]);
        scene.after(&["INSERT INTO d.t VALUES (3, 3)", "DELETE FROM d.t WHERE id = 3"], &[(READ, Kept)]);
        scene.after(&["DELETE FROM d.t WHERE id = 1"], &[(READ, Outdated), (OTHER, Kept)]);
        // A read of a missing row depends on its key, too.
        scene.after(&["INSERT INTO d.t VALUES (1, 8)"], &[(READ, Outdated), (OTHER, Kept)]);
        scene.after(&["REPLACE INTO d.t VALUES (2, 9)"], &[(READ, Kept), (OTHER, Outdated)]);
        scene.after(
            &["INSERT INTO d.t VALUES (2, 1) ON DUPLICATE KEY UPDATE v = 4"],
            &[(READ, Kept), (OTHER, Outdated)],
        );
        scene.after(&["BEGIN", "UPDATE d.t SET v = 1", "ROLLBACK"], &[(READ, Kept), (OTHER, Kept)]);
        let partly = [
            "BEGIN",
            "UPDATE d.t SET v = 3 WHERE id = 2",
            "SAVEPOINT s",
            "UPDATE d.t SET v = 3 WHERE id = 1",
            "ROLLBACK TO s",
        ];
        scene.after(&[&partly[..], &["COMMIT"]].concat(), &[(READ, Kept), (OTHER, Outdated)]);
        // A read without a key depends on all rows of the table.
        scene.after(&["UPDATE d.t SET v = 7 WHERE id = 2"], &[("SELECT SUM(v) FROM d.t", Outdated), (READ, Kept)]);
        let joined = "SELECT t.v FROM d.t JOIN d.u ON u.id = t.id WHERE t.id = 1";
        scene.after(&["UPDATE d.t SET v = 8 WHERE id = 2"], &[(joined, Outdated), (READ, Kept)]);
    }
}

#[test]
fn a_row_whose_key_changes_is_changed_under_both() {
    const AWAY: &str = "SELECT v FROM d.t WHERE id = 7";
    for kind in kinds() {
        let mut scene = Scene::of(kind, &[]);
        let other = ("SELECT v FROM d.t WHERE id = 2", Kept);
        for image in ["FULL", "MINIMAL"] {
            run(&mut scene.writer, &[&format!("SET SESSION binlog_row_image = {image}")]);
            scene.after(&["UPDATE d.t SET id = 7 WHERE id = 1"], &[(READ, Outdated), (AWAY, Outdated), other]);
            scene.after(&["UPDATE d.t SET id = 1 WHERE id = 7"], &[(READ, Outdated), (AWAY, Outdated), other]);
            let back = ["UPDATE d.t SET id = 7, v = v + 1 WHERE id = 1", "UPDATE d.t SET id = 1 WHERE id = 7"];
            scene.after(&back, &[(READ, Outdated), (AWAY, Outdated), other]);
        }
    }
}

#[test]
fn rows_are_told_apart_whatever_the_row_image() {
    for kind in kinds() {
        let table =
            "CREATE TABLE d.x (v INT, id INT PRIMARY KEY DEFAULT 5, b TEXT, w VARCHAR(300), n INT) ENGINE = InnoDB";
        let mut scene =
            Scene::of(kind, &[table, "INSERT INTO d.x VALUES (1, 1, 'b', 'w', NULL), (2, 2, 'c', NULL, 3)"]);
        let (one, two) = ("SELECT v, w, n FROM d.x WHERE id = 1", "SELECT v, w, n FROM d.x WHERE id = 2");
        for image in ["FULL", "MINIMAL", "NOBLOB"] {
            run(&mut scene.writer, &[&format!("SET SESSION binlog_row_image = {image}")]);
            for column in ["v = v + 1", "w = CONCAT(w, 'x')", "n = NULL", "n = 4", "b = 'long'"] {
                let [first, second] = [1, 2].map(|id| format!("UPDATE d.x SET v = v + 1, {column} WHERE id = {id}"));
                scene.after(&[&first], &[(one, Outdated), (two, Kept)]);
                scene.after(&[&second], &[(one, Kept), (two, Outdated)]);
            }
            scene.after(&["DELETE FROM d.x WHERE id = 1"], &[(one, Outdated), (two, Kept)]);
            scene.after(&["INSERT INTO d.x (id, v) VALUES (1, 7)"], &[(one, Outdated), (two, Kept)]);
        }
        let computed =
            "CREATE TABLE d.g (v INT, a INT AS (v + 1) VIRTUAL, b INT AS (v + 2) STORED, id INT PRIMARY KEY)";
        run(
            &mut scene.writer,
            &["SET SESSION binlog_row_image = FULL", computed, "INSERT INTO d.g (v, id) VALUES (1, 1), (2, 2)"],
        );
        let (one, two) = ("SELECT v, a, b FROM d.g WHERE id = 1", "SELECT v, a, b FROM d.g WHERE id = 2");
        scene.after(&["UPDATE d.g SET v = 5 WHERE id = 1"], &[(one, Outdated), (two, Kept)]);
        scene.after(&["UPDATE d.g SET v = 6, id = 3 WHERE id = 2"], &[(one, Kept), (two, Outdated)]);
        // The server itself sets the key to its default, so a minimal row image may not contain it.
        let made = "SELECT v FROM d.x WHERE id = 5";
        run(&mut scene.writer, &["SET SESSION binlog_row_image = MINIMAL"]);
        until_served(&scene.near, &mut scene.client, made);
        run(&mut scene.writer, &["INSERT INTO d.x (v) VALUES (55)"]);
        is_said(&scene.near, &mut scene.client, made, "55");
    }
}

/// Makes a table with a key of the type `kind` and a row for each of `keys`. Checks that a change of one row invalidates the read of this
/// row only.
fn assert_told_apart(scene: &mut Scene, kind: &str, keys: &[&str]) {
    let values = keys.iter().map(|key| format!("({key}, 1)")).collect::<Vec<_>>().join(", ");
    let table = format!("CREATE OR REPLACE TABLE d.x (id {kind} PRIMARY KEY, v INT) ENGINE = InnoDB");
    let table = if scene.kind.is_mysql() { table.replace("OR REPLACE ", "") } else { table };
    run(&mut scene.writer, &["DROP TABLE IF EXISTS d.x", &table, &format!("INSERT INTO d.x VALUES {values}")]);
    let reads: Vec<_> = keys.iter().map(|key| format!("SELECT v FROM d.x WHERE id = {key}")).collect();
    for changed in keys {
        let then = |key| if key == changed { Outdated } else { Kept };
        let expected: Vec<_> = reads.iter().zip(keys).map(|(read, key)| (read.as_str(), then(key))).collect();
        scene.after(&[&format!("UPDATE d.x SET v = v + 1 WHERE id = {changed}")], &expected);
    }
}

#[test]
fn keys_of_every_integer_type_are_told_apart_to_their_ends() {
    for kind in kinds() {
        let mut scene = Scene::of(kind, &[]);
        for (name, bits) in [("TINYINT", 8u32), ("SMALLINT", 16), ("MEDIUMINT", 24), ("INT", 32), ("BIGINT", 64)] {
            let half = 1i128 << (bits - 1);
            let [signed, unsigned] = [[-half, -1, 0, 1, half - 1], [0, 1, half - 1, half, 2 * half - 1]]
                .map(|keys| keys.map(|key| key.to_string()));
            // MariaDB and MySQL store 0 as it is, since the column is not AUTO_INCREMENT.
            assert_told_apart(&mut scene, name, &signed.each_ref().map(String::as_str));
            assert_told_apart(&mut scene, &format!("{name} UNSIGNED"), &unsigned.each_ref().map(String::as_str));
        }
    }
}

#[test]
fn the_values_of_other_columns_are_passed_over_whatever_their_types() {
    let columns = "a TINYINT, b DECIMAL(20,7), c DATETIME(6), e TIMESTAMP(3) NULL, f DOUBLE, g FLOAT, h ENUM('x', 'y'), \
        i SET('p', 'q', 'r'), j BLOB, k CHAR(255) CHARACTER SET utf8mb4, l VARCHAR(20), m VARCHAR(2000), n YEAR, o DATE, \
        p VARBINARY(300), q BINARY(5), r LONGTEXT, s DECIMAL(65,30), \
        t CHAR(3), u DECIMAL(9,0), w JSON, x BIT(9)";
    let full = "-3, -1234567.1234567, '2026-01-02 03:04:05.678901', '2026-01-02 03:04:05.678', 1.5, 2.5, 'y', 'p,r', REPEAT('j', 300), \
        REPEAT('ä', 200), 'l', REPEAT('m', 1999), 2026, '2026-01-02', REPEAT('p', 299), 'q', REPEAT('r', 5000), 1.5, 't', 7, \
        '{\"k\": [1, 2]}', b'101010101'";
    for kind in kinds() {
        let table = format!("CREATE TABLE d.x ({columns}, id BIGINT PRIMARY KEY, v INT) ENGINE = InnoDB");
        let nulls = vec!["NULL"; 22].join(", ");
        let row = |id: u32, values: &str| format!("INSERT INTO d.x VALUES ({values}, {id}, 1)");
        let mut scene = Scene::of(kind, &[&table, &row(1, full), &row(2, &nulls), &row(3, full), &row(4, &nulls)]);
        let reads = [1, 2, 3, 4].map(|id| format!("SELECT v FROM d.x WHERE id = {id}"));
        let [one, two, three, four] = reads.each_ref().map(String::as_str);
        let expected = [(one, Outdated), (two, Outdated), (three, Kept), (four, Kept)];
        scene.after(&["UPDATE d.x SET v = v + 1 WHERE id < 3"], &expected);
        scene.after(&["UPDATE d.x SET v = v + 1, a = 5, m = 'short' WHERE id < 3"], &expected);
        scene.after(&["DELETE FROM d.x WHERE id < 3", &row(1, &nulls), &row(2, full)], &expected);
        scene.after(
            &["UPDATE d.x SET v = v + 1 WHERE id > 1"],
            &[(one, Kept), (two, Outdated), (three, Outdated), (four, Outdated)],
        );
        // The near cache does not know the length of this type's values in a row event.
        run(&mut scene.writer, &["ALTER TABLE d.x ADD place POINT"]);
        scene.after(&["UPDATE d.x SET v = v + 1 WHERE id = 3"], &[(one, Outdated), (three, Outdated)]);
    }
}

#[test]
fn several_rows_and_ranges_are_outdated_by_any_row_within() {
    for kind in kinds() {
        let rows = "INSERT INTO d.t VALUES (3, 3), (40, 4), (50, 5), (1000, 6)";
        let mut scene = Scene::of(kind, &[rows]);
        let (list, range) =
            ("SELECT SUM(v) FROM d.t WHERE id IN (1, 40)", "SELECT COUNT(*) FROM d.t WHERE id BETWEEN 2 AND 12");
        let wide = "SELECT SUM(v) FROM d.t WHERE id > 40 AND id < 900";
        scene.after(&["UPDATE d.t SET v = 8 WHERE id = 40"], &[(list, Outdated), (range, Kept), (wide, Outdated)]);
        scene.after(&["INSERT INTO d.t VALUES (4, 4)"], &[(list, Kept), (range, Outdated), (wide, Outdated)]);
        scene.after(&["DELETE FROM d.t WHERE id = 4"], &[(list, Kept), (range, Outdated)]);
        scene.after(&["UPDATE d.t SET id = 12 WHERE id = 50"], &[(list, Kept), (range, Outdated)]);
        scene.after(&["UPDATE d.t SET v = 9 WHERE id = 1000"], &[(list, Kept), (range, Kept), (wide, Outdated)]);
    }
}

#[test]
fn keys_that_a_collation_compares_or_that_have_parts_are_outdated_by_any_row() {
    for kind in kinds() {
        let tables = [
            "CREATE TABLE d.s (k VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY, v INT) CHARACTER SET utf8mb4 ENGINE = InnoDB",
            "INSERT INTO d.s VALUES ('a', 1), ('b', 2)",
            "CREATE TABLE d.c (a INT, b INT, v INT, PRIMARY KEY (a, b)) ENGINE = InnoDB",
            "INSERT INTO d.c VALUES (1, 1, 1), (1, 2, 2)",
            "CREATE TABLE d.n (id INT UNIQUE, v INT) ENGINE = InnoDB",
            "INSERT INTO d.n VALUES (1, 1), (NULL, 2)",
            "CREATE TABLE d.m (id DECIMAL(10,2) PRIMARY KEY, v INT) ENGINE = InnoDB",
            "INSERT INTO d.m VALUES (1, 1), (1.01, 2)",
        ];
        let mut scene = Scene::of(kind, &tables);
        let text = "SELECT v FROM d.s WHERE k = 'a'";
        for key in ["'A'", "'a '", "'b'"] {
            scene.after(&[&format!("UPDATE d.s SET v = v + 1 WHERE k = {key}")], &[(text, Outdated)]);
        }
        scene.after(&["UPDATE d.s SET k = 'A' WHERE k = 'a'"], &[(text, Outdated)]);
        scene.after(&["UPDATE d.s SET k = 'x' WHERE k = 'a'"], &[(text, Outdated)]);
        let parts = "SELECT v FROM d.c WHERE a = 1 AND b = 1";
        scene.after(&["UPDATE d.c SET v = 9 WHERE a = 1 AND b = 1"], &[(parts, Outdated)]);
        scene.after(&["UPDATE d.c SET b = 3 WHERE b = 1"], &[(parts, Outdated)]);
        let null = "SELECT v FROM d.n WHERE id IS NULL";
        scene.after(&["UPDATE d.n SET id = 5 WHERE id IS NULL"], &[(null, Outdated)]);
        scene.after(
            &["UPDATE d.n SET id = NULL WHERE id = 5"],
            &[(null, Outdated), ("SELECT v FROM d.n WHERE id = 1", Outdated)],
        );
        scene.after(&["UPDATE d.m SET v = 5 WHERE id = 1"], &[("SELECT v FROM d.m WHERE id = 1", Outdated)]);
        // How the server compares these literals with an integer key is not modelled, so such a read depends on all rows.
        for read in [
            "SELECT v FROM d.t WHERE id = '1'",
            "SELECT v FROM d.t WHERE id = 1.0",
            "SELECT v FROM d.t WHERE id = 0x01",
        ] {
            scene.after(&["UPDATE d.t SET v = v + 1 WHERE id = 1"], &[(read, Outdated), (READ, Outdated)]);
        }
    }
}

#[test]
fn a_row_found_by_another_unique_key_is_outdated_by_changes_of_this_row_alone() {
    for kind in kinds() {
        let statements = [
            "CREATE TABLE d.p (id INT PRIMARY KEY, space INT NOT NULL, title VARBINARY(20) NOT NULL, v INT, \
             UNIQUE s (space, title)) ENGINE = InnoDB",
            "INSERT INTO d.p VALUES (1, 0, 'a', 1), (2, 0, 'b', 2)",
        ];
        let mut scene = Scene::of(kind, &statements);
        let found = "SELECT v, id FROM d.p WHERE space = 0 AND title = 'a'";
        let without_key = "SELECT v FROM d.p WHERE space = 0 AND title = 'a'";
        let missing = "SELECT v, id FROM d.p WHERE space = 0 AND title = 'c'";
        scene.after(
            &["UPDATE d.p SET v = 5 WHERE id = 2"],
            &[(found, Kept), (without_key, Outdated), (missing, Outdated)],
        );
        scene.after(&["INSERT INTO d.p VALUES (3, 0, 'c', 3)"], &[(found, Kept), (missing, Outdated)]);
        scene.after(&["UPDATE d.p SET v = 6 WHERE title = 'a'"], &[(found, Outdated), (missing, Kept)]);
        // Another row has the same unique key only after the first one has changed.
        for others in [
            &["DELETE FROM d.p WHERE id = 1", "INSERT INTO d.p VALUES (5, 0, 'a', 9)"][..],
            &["REPLACE INTO d.p VALUES (6, 0, 'a', 3)"],
            &["UPDATE d.p SET title = 'x' WHERE id = 6", "UPDATE d.p SET title = 'a' WHERE id = 2"],
            &["UPDATE d.p SET id = 8 WHERE id = 2"],
        ] {
            scene.after(others, &[(found, Outdated), (missing, Kept)]);
        }
        scene.after(
            &["ALTER TABLE d.p DROP INDEX s", "INSERT INTO d.p VALUES (9, 0, 'a', 4)"],
            &[(found, Outdated), (missing, Outdated)],
        );
        scene.after(&["UPDATE d.p SET v = 7 WHERE id = 3"], &[(found, Outdated), (missing, Outdated)]);
    }
}

#[test]
fn rows_that_change_by_other_ways_than_they_are_named_count() {
    for kind in kinds() {
        let statements = [
            "CREATE TABLE d.w (id INT PRIMARY KEY, k INT UNIQUE, v INT) ENGINE = InnoDB",
            "INSERT INTO d.w VALUES (1, 10, 1), (2, 20, 2), (3, 30, 3)",
            "CREATE TABLE d.parent (id INT PRIMARY KEY, v INT) ENGINE = InnoDB",
            "CREATE TABLE d.child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.parent (id) ON DELETE CASCADE) ENGINE = InnoDB",
            "INSERT INTO d.parent VALUES (1, 1), (2, 2)",
            "INSERT INTO d.child VALUES (1, 1), (2, 2)",
            "CREATE TABLE d.from_here (id INT PRIMARY KEY) ENGINE = InnoDB",
            "CREATE TRIGGER d.after_insert AFTER INSERT ON d.from_here FOR EACH ROW UPDATE d.w SET v = v + 1 WHERE id = 1",
        ];
        let mut scene = Scene::of(kind, &statements);
        let [one, two, three] = [1, 2, 3].map(|id| format!("SELECT v FROM d.w WHERE id = {id}"));
        let [one, two, three] = [&one, &two, &three].map(String::as_str);
        // REPLACE deletes all rows that share a unique key with the new row.
        scene.after(&["REPLACE INTO d.w VALUES (3, 10, 7)"], &[(one, Outdated), (two, Kept), (three, Outdated)]);
        scene.after(
            &["INSERT INTO d.from_here VALUES (1)", "INSERT INTO d.w VALUES (1, 11, 1)"],
            &[(one, Outdated), (two, Kept)],
        );
        scene.after(&["INSERT INTO d.from_here VALUES (2)"], &[(one, Outdated), (two, Kept)]);
        let many = "UPDATE d.t, d.w SET t.v = t.v + 1, w.v = w.v + 1 WHERE t.id = 2 AND w.id = 2";
        scene.after(
            &[many],
            &[(READ, Kept), (one, Kept), (two, Outdated), ("SELECT v FROM d.t WHERE id = 2", Outdated)],
        );
        let parents = [1, 2].map(|id| format!("SELECT v FROM d.parent WHERE id = {id}"));
        let [first, second] = [&parents[0], &parents[1]].map(String::as_str);
        scene.after(&["DELETE FROM d.parent WHERE id = 1"], &[(first, Outdated), (second, Kept)]);
        let child = "SELECT p FROM d.child WHERE id = 2";
        scene.after(&["INSERT INTO d.parent VALUES (3, 3)"], &[(child, Outdated), (second, Kept)]);
        scene.after(&["DELETE FROM d.parent WHERE id = 2"], &[(child, Outdated), (second, Outdated)]);
    }
}

#[test]
fn what_is_no_row_event_changes_everything() {
    for kind in kinds() {
        let partitions = "CREATE TABLE d.p (id INT PRIMARY KEY, v INT) ENGINE = InnoDB \
            PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (10), PARTITION high VALUES LESS THAN (100))";
        let rows = "INSERT INTO d.p VALUES (1, 1), (2, 2), (50, 5)";
        let mut scene = Scene::of(kind, &[partitions, rows]);
        let (low, high) = ("SELECT v FROM d.p WHERE id = 1", "SELECT v FROM d.p WHERE id = 50");
        scene.after(&["UPDATE d.p SET v = 7 WHERE id = 50"], &[(low, Kept), (high, Outdated)]);
        scene.after(&["UPDATE d.p SET id = 60 WHERE id = 1"], &[(low, Outdated), (high, Kept)]);
        scene.after(&["UPDATE d.p SET id = 1 WHERE id = 60"], &[(low, Outdated), (high, Kept)]);
        scene.after(&["ALTER TABLE d.p TRUNCATE PARTITION low"], &[(low, Outdated), (high, Outdated)]);
        scene.after(&["TRUNCATE TABLE d.p", rows], &[(low, Outdated), (high, Outdated)]);
        let statement = [
            "SET SESSION binlog_format = STATEMENT",
            "UPDATE d.p SET v = 8 WHERE id = 2",
            "SET SESSION binlog_format = ROW",
        ];
        scene.after(&statement, &[(low, Outdated), (READ, Outdated)]);
        let wider = ["ALTER TABLE d.t MODIFY id BIGINT", "UPDATE d.t SET v = 12 WHERE id = 1"];
        scene.after(&wider, &[(READ, Outdated)]);
        scene.after(&["UPDATE d.t SET v = 13 WHERE id = 2"], &[(READ, Kept)]);
        scene
            .after(&["ALTER TABLE d.t ADD c CHAR(9) FIRST", "UPDATE d.t SET v = 14 WHERE id = 1"], &[(READ, Outdated)]);
        scene.after(&["UPDATE d.t SET v = 15 WHERE id = 2"], &[(READ, Kept)]);
        scene.after(&["UPDATE d.t SET v = 16 WHERE id = 1"], &[(READ, Outdated)]);
        scene.after(&["ALTER TABLE d.t DROP PRIMARY KEY, ADD PRIMARY KEY (v)"], &[(READ, Outdated)]);
        scene.after(&["UPDATE d.t SET v = 17 WHERE id = 1"], &[(READ, Outdated)]);
    }
}

#[test]
fn a_row_that_is_too_long_to_be_kept_changes_its_table_and_many_short_ones_do_not() {
    for kind in kinds() {
        let statements = [
            "CREATE TABLE d.x (id INT PRIMARY KEY, v INT, b MEDIUMTEXT) ENGINE = InnoDB",
            "INSERT INTO d.x VALUES (1, 1, ''), (2, 2, '')",
        ];
        let mut scene = Scene::of(kind, &statements);
        let read = "SELECT v FROM d.x WHERE id = 1";
        scene.after(&["UPDATE d.x SET b = REPEAT('b', 100000) WHERE id = 2"], &[(read, Outdated), (READ, Kept)]);
        scene.after(&["UPDATE d.x SET v = 5, b = REPEAT('b', 100000) WHERE id = 1"], &[(read, Outdated), (READ, Kept)]);
        scene.after(&["UPDATE d.x SET v = 6, b = '' WHERE id = 1"], &[(read, Outdated)]);
        let numbers =
            "SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7";
        let numbers = format!("({numbers})");
        let many = format!(
            "INSERT INTO d.x SELECT @i := @i + 1, 1, REPEAT('m', 20) FROM {numbers} AS a, {numbers} AS b, {numbers} AS c, {numbers} AS e"
        );
        scene.after(&["SET @i = 100", &many], &[(read, Kept), ("SELECT v FROM d.x WHERE id = 2000", Outdated)]);
        scene.after(&["UPDATE d.x SET v = v + 1 WHERE id > 100"], &[(read, Kept)]);
        scene.after(&["UPDATE d.x SET v = v + 1"], &[(read, Outdated)]);
    }
}

#[test]
fn compressed_rows_and_parts_of_documents_count() {
    if let Some(kind) = mysql("9.7") {
        let table = "CREATE TABLE d.x (id INT PRIMARY KEY, v INT, j JSON)";
        let rows = "INSERT INTO d.x VALUES (1, 1, '{\"k\": \"some text\"}'), (2, 2, '{\"k\": \"some text\"}')";
        let mut scene = Scene::of(kind, &[table, rows, "SET SESSION binlog_row_value_options = PARTIAL_JSON"]);
        let read = "SELECT j FROM d.x WHERE id = 1";
        for id in [1, 2] {
            let update = format!("UPDATE d.x SET j = JSON_SET(j, '$.k', 'other') WHERE id = {id}");
            scene.after(&[&update], &[(read, Outdated), (READ, Kept)]);
        }
    }
    if let Some(kind) = mysql("9.7") {
        let mut scene = Scene::of(kind, &["SET SESSION binlog_transaction_compression = ON"]);
        let other = "SELECT v FROM d.t WHERE id = 2";
        scene.after(&["UPDATE d.t SET v = 5 WHERE id = 2"], &[(READ, Kept), (other, Outdated)]);
        scene.after(&["UPDATE d.t SET v = 6 WHERE id = 1"], &[(READ, Outdated), (other, Kept)]);
    }
    // MariaDB compresses each event. The near cache does not unpack these, so they invalidate the whole table.
    let small = ["SET GLOBAL log_bin_compress_min_len = 10", "SET GLOBAL log_bin_compress = ON"];
    let mut scene = Scene::of(mariadb(), &small);
    scene.after(&["UPDATE d.t SET v = 5 WHERE id = 2"], &[(READ, Outdated)]);
    scene.after(&["UPDATE d.t SET v = 6 WHERE id = 1"], &[(READ, Outdated)]);
}

#[test]
fn tables_that_only_letters_case_tells_apart_outdate_each_other_at_most() {
    for kind in kinds() {
        let statements = [
            "CREATE TABLE d.x (id INT PRIMARY KEY, v INT) ENGINE = InnoDB",
            "CREATE TABLE d.X (v INT, id INT PRIMARY KEY) ENGINE = InnoDB",
            "INSERT INTO d.x VALUES (1, 1), (2, 2)",
            "INSERT INTO d.X VALUES (10, 1), (20, 2)",
        ];
        let mut scene = Scene::of(kind, &statements);
        let (small, large) = ("SELECT v FROM d.x WHERE id = 1", "SELECT v FROM d.X WHERE id = 1");
        scene.after(&["UPDATE d.X SET v = 11 WHERE id = 1"], &[(small, Outdated), (large, Outdated)]);
        scene.after(&["UPDATE d.x SET v = 11 WHERE id = 1"], &[(small, Outdated), (large, Outdated)]);
        scene.after(&["UPDATE d.X SET v = 12 WHERE id = 2"], &[(small, Outdated), (large, Outdated)]);
    }
}
