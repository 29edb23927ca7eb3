//! No write escapes the engine, in whatever way it happens.

use crate::shared::{enter, ready, start};
use crate::traps::{Arena, all, rows_text, small_table, until};
use fqc_tests::client::Client;
use std::sync::Arc;

const SUM: &str = "SELECT COUNT(*), SUM(v) FROM t";

pub fn with_table(db: &str) -> (crate::shared::TestTurn, Client, Client) {
    let arena = enter(db);
    let (mut writer, reader) = (arena.client(), arena.client());
    small_table(&mut writer, "t", "InnoDB");
    (arena, writer, reader)
}

#[test]
fn every_statement_that_writes() {
    let (mut arena, mut writer, mut reader) = with_table("statements");
    writer.must("CREATE TABLE s (id INT PRIMARY KEY, v INT)").unwrap();
    for (write, expected) in [
        ("INSERT INTO t VALUES (6, 60)", "6,210"),
        ("UPDATE t SET v = 61 WHERE id = 6", "6,211"),
        ("REPLACE INTO t VALUES (6, 62)", "6,212"),
        ("INSERT INTO t VALUES (6, 0) AS new ON DUPLICATE KEY UPDATE v = new.v + 63", "6,213"),
        ("INSERT INTO t SELECT 7, 70", "7,283"),
        ("INSERT INTO t TABLE s", "7,283"),
        ("INSERT INTO t VALUES ROW(8, 80)", "8,363"),
        ("DELETE FROM t WHERE id = 8", "7,283"),
        ("DELETE t FROM t JOIN t AS o ON t.id = o.id WHERE o.id = 7", "6,213"),
        ("UPDATE t JOIN (SELECT 6 AS id) AS o ON t.id = o.id SET t.v = 60", "6,210"),
        ("WITH o AS (SELECT 6 AS id) DELETE FROM t WHERE id IN (SELECT id FROM o)", "5,150"),
        ("TRUNCATE TABLE t", "0,NULL"),
    ] {
        arena.check_write_shows(&mut reader, SUM, || _ = writer.must(write).unwrap(), expected);
    }
    writer.local_file = b"1\t10\n2\t20\n".to_vec();
    let load = "LOAD DATA LOCAL INFILE 'x' INTO TABLE t";
    arena.check_write_shows(&mut reader, SUM, || _ = writer.must(load).unwrap(), "2,30");
}

#[test]
fn through_views_triggers_routines_and_statements_that_are_prepared() {
    let (mut arena, mut writer, mut reader) = with_table("ways_in");
    all(
        &mut writer,
        &[
            "CREATE VIEW w AS SELECT id, v FROM t",
            "CREATE TABLE other (id INT PRIMARY KEY)",
            "CREATE TRIGGER fires AFTER INSERT ON other FOR EACH ROW UPDATE t SET v = v + 1 WHERE id = NEW.id",
            "CREATE PROCEDURE adds(n INT) UPDATE t SET v = v + n WHERE id = 1",
            "CREATE PROCEDURE adds_text(n INT) BEGIN SET @n = n; PREPARE p FROM 'UPDATE t SET v = v + ? WHERE id = 1'; EXECUTE p USING @n; END",
            "SET GLOBAL log_bin_trust_function_creators = 1",
            "CREATE FUNCTION writes(n INT) RETURNS INT BEGIN UPDATE t SET v = v + n WHERE id = 1; RETURN n; END",
            "PREPARE later FROM 'UPDATE t SET v = v + 1 WHERE id = 1'",
        ],
    );
    for (write, expected) in [
        ("UPDATE w SET v = 11 WHERE id = 1", "5,151"),
        ("INSERT INTO other VALUES (2)", "5,152"),
        ("CALL adds(1)", "5,153"),
        ("CALL adds_text(1)", "5,154"),
        ("SELECT writes(1)", "5,155"),
        ("DO writes(1)", "5,156"),
        ("SET @x = writes(1)", "5,157"),
        ("EXECUTE later", "5,158"),
    ] {
        arena.check_write_shows(&mut reader, SUM, || _ = writer.must(write).unwrap(), expected);
    }
    let prepared = writer.prepare("UPDATE t SET v = v + 1 WHERE id = 1").unwrap().1.unwrap();
    arena.check_write_shows(
        &mut reader,
        SUM,
        || assert!(writer.execute(&prepared, &[]).unwrap().failure().is_none()),
        "5,159",
    );
}

#[test]
fn through_views_of_documents() {
    let (mut arena, mut writer, mut reader) = with_table("documents");
    let object = "JSON_DUALITY_OBJECT(WITH(INSERT, UPDATE, DELETE) '_id': id, 'v': v)";
    writer.must(&format!("CREATE JSON RELATIONAL DUALITY VIEW w AS SELECT {object} FROM t")).unwrap();
    for (write, expected) in [
        (r#"INSERT INTO w VALUES ('{"_id": 6, "v": 60}')"#, "6,210"),
        ("UPDATE w SET data = JSON_SET(data, '$.v', 61) WHERE data->'$._id' = 6", "6,211"),
        ("DELETE FROM w WHERE data->'$._id' = 6", "5,150"),
    ] {
        arena.check_write_shows(&mut reader, SUM, || _ = writer.must(write).unwrap(), expected);
    }
}

#[test]
fn cascades_of_foreign_keys_of_any_depth() {
    let arena = enter("cascades");
    cascades(arena.client(), arena.client(), arena.server.clone(), "cascades_of_server");
}

/// Checks cascades with `innodb_native_foreign_keys`. InnoDB itself then changes the child rows, and no lock on the child tables is
/// reported, so their results are not stored.
#[test]
fn cascades_of_foreign_keys_that_innodb_itself_follows() {
    let server = Arc::new(ready(start(&["--innodb-native-foreign-keys=ON"])));
    let admin = server.admin().unwrap();
    cascades(admin, server.admin().unwrap(), server.clone(), "cascades_of_innodb");
}

fn cascades(mut writer: Client, mut reader: Client, server: Arc<fqc_tests::server::Server>, db: &str) {
    let _arena = Arena::on(server, db);
    let of = |name: &str| format!("{db}.{name}");
    let (a, b, c) = (of("a"), of("b"), of("c"));
    all(
        &mut writer,
        &[
            &format!("CREATE TABLE {a} (id INT PRIMARY KEY)"),
            &format!(
                "CREATE TABLE {b} (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES {a} (id) ON DELETE CASCADE ON UPDATE CASCADE)"
            ),
            &format!(
                "CREATE TABLE {c} (id INT PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES {b} (id) ON DELETE SET NULL)"
            ),
            &format!("INSERT INTO {a} VALUES (1), (2)"),
            &format!("INSERT INTO {b} VALUES (1, 1), (2, 2)"),
            &format!("INSERT INTO {c} VALUES (1, 1), (2, 2)"),
        ],
    );
    let reads = [format!("SELECT COUNT(*), SUM(a) FROM {b}"), format!("SELECT COUNT(*), SUM(b) FROM {c}")];
    let mut see = |expected: [&str; 2]| {
        for _ in 0..20 {
            for (read, expected) in reads.iter().zip(expected) {
                assert_eq!(rows_text(&reader.must(read).unwrap()), expected, "{read}");
            }
        }
    };
    see(["2,3", "2,3"]);
    writer.must(&format!("UPDATE {a} SET id = 9 WHERE id = 2")).unwrap();
    see(["2,10", "2,3"]);
    writer.must(&format!("DELETE FROM {a} WHERE id = 1")).unwrap();
    see(["1,9", "2,2"]);
}

#[test]
fn a_transaction_shows_when_it_commits_and_only_then() {
    let (mut arena, mut writer, mut reader) = with_table("transactions");
    for (ending, expected) in [("COMMIT", "5,151"), ("ROLLBACK", "5,151"), ("CREATE TABLE implicit (id INT)", "5,152")]
    {
        let before = rows_text(&reader.must(SUM).unwrap());
        all(&mut writer, &["BEGIN", "UPDATE t SET v = v + 1 WHERE id = 1"]);
        for _ in 0..3 {
            assert_eq!(rows_text(&reader.must(SUM).unwrap()), before, "before {ending}");
        }
        writer.must(ending).unwrap();
        assert_eq!(rows_text(&reader.must(SUM).unwrap()), expected, "after {ending}");
        arena.warm(&mut reader, SUM);
    }
    all(&mut writer, &["SET autocommit = 0", "UPDATE t SET v = v + 1 WHERE id = 1"]);
    assert_eq!(arena.server_answer(SUM), "5,152");
    arena.check_write_shows(&mut reader, SUM, || _ = writer.must("COMMIT").unwrap(), "5,153");
    all(&mut writer, &["SET autocommit = 1"]);
    all(&mut writer, &["LOCK TABLES t WRITE", "UPDATE t SET v = v + 1 WHERE id = 1", "UNLOCK TABLES"]);
    assert_eq!(rows_text(&reader.must(SUM).unwrap()), "5,154");
}

#[test]
fn an_xa_transaction_that_another_session_commits() {
    let (mut arena, mut writer, mut reader) = with_table("xa");
    let prepare = ["XA START 'x'", "UPDATE t SET v = v + 1 WHERE id = 1", "XA END 'x'", "XA PREPARE 'x'"];
    for is_gone in [false, true] {
        let before = arena.warm(&mut reader, SUM);
        let mut owner = arena.client_with(&prepare);
        assert_eq!(arena.warm(&mut reader, SUM), before, "prepared alone shows nothing");
        if is_gone {
            drop(owner);
        } else {
            // The owner of the prepared branch may run other statements.
            owner.must("INSERT INTO t VALUES (9, 0)").unwrap();
            owner.must("DELETE FROM t WHERE id = 9").unwrap();
            arena.warm(&mut reader, SUM);
        }
        until("a commit by another", || writer.query("XA COMMIT 'x'").unwrap().failure().is_none());
        assert_eq!(rows_text(&reader.must(SUM).unwrap()), arena.server_answer(SUM));
        assert_ne!(arena.server_answer(SUM), before);
    }
}

#[test]
fn an_event_of_the_scheduler() {
    let (mut arena, mut writer, mut reader) = with_table("scheduled");
    let before = arena.warm(&mut reader, SUM);
    writer.must("CREATE EVENT e ON SCHEDULE AT NOW() DO UPDATE t SET v = v + 1 WHERE id = 1").unwrap();
    until("the event", || arena.server_answer(SUM) != before);
    assert_eq!(rows_text(&reader.must(SUM).unwrap()), "5,151");
    arena.warm(&mut reader, SUM);
}

#[test]
fn partitions_and_names_that_a_path_has_to_code() {
    let mut arena = enter("names_coded");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    for (table, partitions) in [("`t-ü.x`", ""), ("p", " PARTITION BY HASH (id) PARTITIONS 3")] {
        writer.must(&format!("CREATE TABLE {table} (id INT PRIMARY KEY, v INT){partitions}")).unwrap();
        writer.must(&format!("INSERT INTO {table} VALUES (1, 1)")).unwrap();
        let read = format!("SELECT SUM(v) FROM {table}");
        let update = format!("UPDATE {table} SET v = v + 1");
        arena.check_write_shows(&mut reader, &read, || _ = writer.must(&update).unwrap(), "2");
    }
    let truncate = "ALTER TABLE p TRUNCATE PARTITION p0, p1, p2";
    arena.check_write_shows(&mut reader, "SELECT SUM(v) FROM p", || _ = writer.must(truncate).unwrap(), "NULL");
}

/// Checks that transactions with GTIDs invalidate what they write and nothing else. After each write a server thread without an id saves
/// the transaction's GTID.
#[test]
fn transactions_with_numbers_outdate_what_they_write_and_nothing_else() {
    let arguments = ["--log-bin=binlog", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"];
    let mut arena = Arena::on(Arc::new(ready(start(&arguments))), "numbered");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    small_table(&mut writer, "t", "InnoDB");
    small_table(&mut writer, "u", "InnoDB");
    let untouched = "SELECT COUNT(*) FROM u";
    let noted = "SELECT SUM(interval_end - interval_start + 1) FROM mysql.gtid_executed";
    let given = "SELECT SUBSTRING_INDEX(SUBSTRING_INDEX(@@GLOBAL.gtid_executed, ':', -1), '-', -1)";
    for expected in ["5,151", "5,152", "5,153"] {
        until("the numbers", || arena.server_answer(noted) == arena.server_answer(given));
        arena.warm(&mut reader, untouched);
        arena.check_write_shows(
            &mut reader,
            SUM,
            || _ = writer.must("UPDATE t SET v = v + 1 WHERE id = 1").unwrap(),
            expected,
        );
        until("the number", || arena.server_answer(noted) == arena.server_answer(given));
        assert!(arena.ask(&mut reader, untouched).1, "the note of a number has outdated everything");
    }
}
