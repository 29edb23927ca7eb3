//! Definitions that change, and what depends on them.

use crate::shared::enter;
use crate::traps::{all, rows_text, small_table};

#[test]
fn every_statement_that_defines() {
    let mut arena = enter("defines");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    small_table(&mut writer, "t", "InnoDB");
    let read = "SELECT * FROM t WHERE id < 3";
    for (change, expected) in [
        ("ALTER TABLE t ADD COLUMN w INT DEFAULT 1, ALGORITHM = INSTANT", "1,10,1;2,20,1"),
        ("ALTER TABLE t RENAME COLUMN w TO x", "1,10,1;2,20,1"),
        ("ALTER TABLE t ALTER COLUMN x SET INVISIBLE", "1,10;2,20"),
        ("ALTER TABLE t DROP COLUMN x, ALGORITHM = COPY", "1,10;2,20"),
        ("ALTER TABLE t ADD COLUMN g INT AS (v * 2) VIRTUAL", "1,10,20;2,20,40"),
        ("ALTER TABLE t DROP COLUMN g", "1,10;2,20"),
        ("CREATE INDEX i ON t ((v + 1))", "1,10;2,20"),
        ("RENAME TABLE t TO t2", "error 1146"),
        ("CREATE TABLE t AS SELECT 1 AS id, 5 AS v", "1,5"),
        ("DROP TABLE t", "error 1146"),
        ("ALTER TABLE t2 RENAME t", "1,10;2,20"),
    ] {
        if arena.server_answer(read).starts_with("error") {
            all(&mut writer, &[change]);
        } else {
            arena.warm(&mut reader, read);
            all(&mut writer, &[change]);
        }
        for _ in 0..3 {
            assert_eq!(rows_text(&reader.query(read).unwrap()), expected, "after {change}");
        }
    }
}

#[test]
fn a_partition_that_is_exchanged_and_a_schema_that_is_dropped() {
    let mut arena = enter("exchanges");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    all(
        &mut writer,
        &[
            "CREATE TABLE p (id INT PRIMARY KEY) PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (10))",
            "CREATE TABLE one (id INT PRIMARY KEY)",
            "INSERT INTO one VALUES (1)",
        ],
    );
    let (read, other) = ("SELECT COUNT(*) FROM p", "SELECT COUNT(*) FROM one");
    arena.warm(&mut reader, other);
    let exchange = "ALTER TABLE p EXCHANGE PARTITION a WITH TABLE one";
    arena.check_write_shows(&mut reader, read, || _ = writer.must(exchange).unwrap(), "1");
    assert_eq!(rows_text(&reader.must(other).unwrap()), "0");
    all(&mut writer, &["CREATE DATABASE exchanges_gone", "CREATE TABLE exchanges_gone.t (id INT PRIMARY KEY)"]);
    let gone = "SELECT COUNT(*) FROM exchanges_gone.t";
    arena.warm(&mut reader, gone);
    all(&mut writer, &["DROP DATABASE exchanges_gone"]);
    assert_eq!(rows_text(&reader.query(gone).unwrap()), "error 1049");
}

#[test]
fn a_view_takes_the_place_of_a_table() {
    let mut arena = enter("places");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    small_table(&mut writer, "t", "InnoDB");
    small_table(&mut writer, "u", "InnoDB");
    let read = "SELECT COUNT(*) FROM t";
    arena.warm(&mut reader, read);
    all(&mut writer, &["DROP TABLE t", "CREATE VIEW t AS SELECT * FROM u"]);
    assert_eq!(rows_text(&reader.must(read).unwrap()), "5");
    all(&mut writer, &["DELETE FROM u WHERE id > 1"]);
    for _ in 0..5 {
        assert_eq!(rows_text(&reader.must(read).unwrap()), "1");
    }
    all(&mut writer, &["CREATE OR REPLACE VIEW t AS SELECT * FROM u WHERE id = 0"]);
    assert_eq!(rows_text(&reader.must(read).unwrap()), "0");
}

/// Checks that the engine's questions about a table open none: they are answered from the data dictionary. So a flushed table stays closed.
#[test]
fn questions_about_tables_open_none() {
    let arena = enter("questions");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    all(
        &mut admin,
        &["CREATE VIEW w AS SELECT v FROM t", "CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET @a = 1"],
    );
    let catalogue = &flavour::MYSQL.catalogue;
    let of_tables = [catalogue.table, catalogue.columns, catalogue.unique_keys];
    let of_tables = [&of_tables, catalogue.unnamed_changes].concat();
    let opened = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.session_status \
         WHERE VARIABLE_NAME IN ('Opened_tables', 'Opened_table_definitions')";
    let mut found = Vec::new();
    // At first the server opens tables of its own.
    for is_first in [true, false] {
        all(&mut admin, &["FLUSH TABLES t, w"]);
        for (name, questions) in [("t", &of_tables[..]), ("w", &[catalogue.table, catalogue.view][..])] {
            for question in questions {
                let before = rows_text(&admin.must(opened).unwrap());
                admin.must(&flavour::fill_in(question, "'questions'", &format!("'{name}'"))).unwrap();
                let is_as_before = rows_text(&admin.must(opened).unwrap()) == before;
                found.extend((!is_first && !is_as_before).then_some((name, *question)));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    let before = rows_text(&admin.must(opened).unwrap());
    all(&mut admin, &["SELECT v FROM w"]);
    assert_ne!(rows_text(&admin.must(opened).unwrap()), before, "a read opens it");
}
