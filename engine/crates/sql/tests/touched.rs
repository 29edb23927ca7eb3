//! Which rows a statement can touch: forms that are understood, forms that are not, and what holds for all of them.

use flavour::MARIADB;
use footprint::{KeyColumn, KeyPart, Keys, PartKind};
use sql::touched::{self, Text, WrittenRows};
use sql::{LexMode, TableName};

fn column() -> KeyColumn {
    let plain = KeyColumn::new(b"id".to_vec(), i32::MIN.into(), i32::MAX.into());
    KeyColumn { position: Some(0), is_generated: true, is_sole: true, ..plain }
}

fn text(text: &str) -> Text<'_> {
    Text { text: text.as_bytes(), mode: LexMode::new(&MARIADB), bound: &[] }
}

fn read(statement: &str) -> Option<Keys> {
    touched::read(text(statement), &column()).map(|(_, keys)| keys)
}

fn written(statement: &str) -> Option<WrittenRows> {
    touched::written(text(statement), &column()).map(|(_, written)| written)
}

fn points(keys: &[i128]) -> Option<Keys> {
    Some(Keys::Points(keys.to_vec()))
}

fn range(low: i128, high: i128) -> Option<Keys> {
    Some(Keys::Range { low, high })
}

#[test]
fn reads_of_rows_and_ranges_are_understood() {
    for (condition, keys) in [
        ("id = 7", points(&[7])),
        ("`t`.`ID`=-7 ;", points(&[-7])),
        ("id = 7 AND a > 3 AND (b = 1 OR c = 2) AND d LIKE 'x' ORDER BY a LIMIT 3", points(&[7])),
        ("a BETWEEN 1 AND 3 AND id = 7", points(&[7])),
        ("id IN (7, 9)", points(&[7, 9])),
        ("id BETWEEN 7 AND 99 GROUP BY a HAVING COUNT(*) > 1", range(7, 99)),
        ("id >= 7 and id <= 99", range(7, 99)),
        ("id > 7 AND id < 99", range(8, 98)),
        ("id > 7 AND id < 7", points(&[])),
        ("id BETWEEN 1 AND 9 AND id IN (3)", points(&[3])),
    ] {
        assert_eq!(read(&format!("SELECT a, SUBSTR(c FROM 2) FROM t WHERE {condition}")), keys, "{condition}");
    }
    assert_eq!(read("SELECT x.a FROM d.t AS x WHERE x.id = 7"), points(&[7]));
}

#[test]
fn writes_of_one_table_count_what_they_change() {
    for (text, counts) in [
        ("UPDATE t SET a = 1", true),
        ("update /* c */ `d`.`t` as x set x.a = 1 where x.b = 2 limit 1", true),
        ("UPDATE t x SET a = (SELECT MAX(b) FROM u)", true),
        ("DELETE FROM d.t WHERE a = 1 ORDER BY b LIMIT 3", true),
        ("DELETE FROM t", false),
        ("DELETE FROM t x WHERE a = 1", false),
        ("DELETE QUICK FROM t WHERE a = 1", false),
        ("DELETE t FROM t WHERE a = 1", false),
        ("DELETE FROM t USING t, u WHERE a = 1", false),
        ("DELETE FROM t FOR PORTION OF p FROM 1 TO 2 WHERE a = 1", false),
        ("UPDATE t FOR PORTION OF p FROM 1 TO 2 SET a = 1", false),
        ("UPDATE t, u SET t.a = 1", false),
        ("UPDATE t JOIN u SET t.a = 1", false),
        ("UPDATE t PARTITION (p) SET a = 1", false),
        ("UPDATE (SELECT 1) x SET a = 1", false),
        ("UPDATE t /*! , u */ SET a = 1", false),
        ("UPDATE IGNORE t SET a = 1", false),
        ("UPDATE LOW_PRIORITY t SET a = 1", false),
        ("WITH c AS (SELECT 1) UPDATE t SET a = 1", false),
        ("INSERT INTO t VALUES (1)", false),
        ("REPLACE INTO t VALUES (1)", false),
        ("", false),
    ] {
        assert_eq!(touched::counts_changes(text.as_bytes(), LexMode::new(&MARIADB)), counts, "{text}");
    }
}

#[test]
fn rows_that_compute_columns_are_told_one_at_a_time() {
    let column = KeyColumn { computes: true, ..column() };
    let read =
        |condition| touched::read(text(&format!("SELECT a FROM t WHERE {condition}")), &column).map(|(_, keys)| keys);
    assert_eq!(read("id = 7 AND a > 3"), points(&[7]));
    assert_eq!((read("id IN (7, 9)"), read("id BETWEEN 7 AND 9"), read("id > 7 AND id < 9")), (None, None, None));
    let written = touched::written(text("UPDATE t SET a = 1 WHERE id IN (7, 9)"), &column).map(|(_, written)| written);
    assert_eq!(written, Some(WrittenRows::Keys(Keys::Points(vec![7, 9]))));
}

#[test]
fn what_may_mean_other_rows_is_not_understood() {
    for condition in [
        "id = 7 OR a = 1",
        "id = 7 XOR a",
        "id = 7 || a",
        "NOT id = 7",
        "id = 7 = 0",
        "id = 7 + 1",
        "id = 7 IS NULL",
        "id <=> 7",
        "id <> 7",
        "id = '7'",
        "id = 7.0",
        "id = 7e0",
        "id = 0x07",
        "id = TRUE",
        "id = a",
        "id > 7",
        "id < 7 AND a = 1",
        "id = 2147483648",
        "id = -2147483649",
        "id = 99999999999999999999999999999999999999999999",
        "a BETWEEN 1 AND id = 7",
        "a NOT BETWEEN 1 AND id = 7",
        "CASE WHEN a AND id = 7 AND b THEN 0 ELSE 1 END",
        "(id = 7)",
        "id IN (7, 'x')",
        "id NOT IN (7)",
        "id IN (SELECT 7)",
        "id IN (7, 8) AND a = 1",
        "id BETWEEN 1 AND 9 AND a = 1",
        "id = 7 AND a = (SELECT MAX(a) FROM t)",
        "id = 7 UNION SELECT 1",
        "id = 7 AND MATCH (c) AGAINST ('x')",
        "id = 7 AND @a := 1",
        "id = 7 /*! OR a */",
        "u.id = 7",
        "d.t.id = 7",
        "\u{131}d = 7",
        "id = ?",
        "a = 7",
    ] {
        assert_eq!(read(&format!("SELECT * FROM t WHERE {condition}")), None, "{condition}");
    }
    for statement in [
        "SELECT * FROM t",
        "SELECT * FROM t, u WHERE id = 7",
        "SELECT * FROM t JOIN u WHERE id = 7",
        "SELECT * FROM t FORCE INDEX (a) WHERE id = 7",
        "SELECT * FROM t PARTITION (p) WHERE id = 7",
        "SELECT * FROM t x WHERE t.id = 7",
        "SELECT (SELECT 1) FROM t WHERE id = 7",
        "SELECT MATCH (c) AGAINST ('x') FROM t WHERE id = 7",
        "(SELECT * FROM t WHERE id = 7)",
        "WITH t AS (TABLE u) SELECT * FROM t WHERE id = 7",
    ] {
        assert_eq!(read(statement), None, "{statement}");
    }
}

#[test]
fn bound_integers_count_by_their_place() {
    let keys = |statement: &str, bound: &[Option<i128>]| {
        let text = Text { bound, ..text(statement) };
        touched::written(text, &column()).map(|(_, written)| written)
    };
    let seven = Some(WrittenRows::Keys(Keys::Points(vec![7])));
    assert_eq!(keys("UPDATE t SET a = a + ?, c = '?' WHERE id = ?", &[Some(1), Some(7)]), seven);
    assert_eq!(keys("UPDATE t SET a = a + ? WHERE id = ?", &[Some(1), None]), None);
    assert_eq!(keys("INSERT INTO t (a, id) VALUES (?, ?)", &[None, Some(7)]), seven);
    assert_eq!(keys("DELETE FROM t WHERE id = -?", &[Some(7)]), None);
}

#[test]
fn writes_of_rows_are_understood() {
    let keys = |points: &[i128]| Some(WrittenRows::Keys(Keys::Points(points.to_vec())));
    for (statement, expected) in [
        ("UPDATE t SET a = a + 1, c = 'id' WHERE id = 7", keys(&[7])),
        ("UPDATE d.t AS x SET x.a = 2 WHERE x.id = 7 AND a > 3 ORDER BY a LIMIT 1", keys(&[7])),
        ("UPDATE t SET a = 1 WHERE id IN (7, 8) AND a = 1", keys(&[7, 8])),
        ("DELETE FROM t WHERE id = 7", keys(&[7])),
        ("DELETE FROM t WHERE id BETWEEN 7 AND 9", Some(WrittenRows::Keys(Keys::Range { low: 7, high: 9 }))),
        ("INSERT INTO t VALUES (7, 'x', f(1, 2)), (-8, '', (3))", keys(&[7, -8])),
        ("INSERT t (a, `Id`) VALUE (1, 7)", keys(&[7])),
        ("INSERT INTO t (a) VALUES (1)", Some(WrittenRows::Generated)),
        ("INSERT INTO t VALUES (NULL, 1)", Some(WrittenRows::Generated)),
        ("INSERT INTO t () VALUES ()", Some(WrittenRows::Generated)),
        ("INSERT IGNORE INTO t VALUES (7, 'x'), (8, f(1))", keys(&[7, 8])),
        ("INSERT IGNORE t (a) VALUES (1)", Some(WrittenRows::Generated)),
        ("REPLACE INTO d.t (a, id) VALUES (1, 7), (2, -8)", keys(&[7, -8])),
        ("REPLACE t VALUES (7, f(id))", keys(&[7])),
        ("INSERT INTO t VALUES (7, 1), (9, 2) ON DUPLICATE KEY UPDATE a = VALUES(a) + 1, c = f('id')", keys(&[7, 9])),
        ("INSERT IGNORE INTO t (id) VALUES (7) ON DUPLICATE KEY UPDATE a = a", keys(&[7])),
    ] {
        assert_eq!(written(statement), expected, "{statement}");
    }
}

#[test]
fn writes_that_may_touch_others_are_not_understood() {
    for statement in [
        "UPDATE t SET id = 8 WHERE id = 7",
        "UPDATE t SET t.`ID` = 8 WHERE id = 7",
        "UPDATE t SET a = 1",
        "UPDATE t SET a = 1 ORDER BY id LIMIT 1",
        "UPDATE t SET a = (SELECT 1) WHERE id = 7",
        "UPDATE t, u SET a = 1 WHERE id = 7",
        "UPDATE IGNORE t SET a = 1 WHERE id = 7",
        "UPDATE t FOR PORTION OF p FROM 1 TO 2 SET a = 1 WHERE id = 7",
        "DELETE t FROM t WHERE id = 7",
        "DELETE FROM t USING t WHERE id = 7",
        "DELETE IGNORE FROM t WHERE id = 7",
        "DELETE FROM t",
        "DELETE FROM t WHERE id = 7 RETURNING a",
        "REPLACE LOW_PRIORITY INTO t VALUES (7)",
        "REPLACE INTO t SELECT 7",
        "REPLACE INTO t SET id = 7",
        "REPLACE INTO t VALUES (7), (NULL)",
        "REPLACE INTO t (a) VALUES (7)",
        "REPLACE INTO t VALUES (0)",
        "REPLACE INTO t VALUES (7) ON DUPLICATE KEY UPDATE a = 1",
        "INSERT IGNORE INTO t VALUES (7), (NULL)",
        "INSERT IGNORE INTO t VALUES (2147483648)",
        "INSERT LOW_PRIORITY IGNORE INTO t VALUES (7)",
        "INSERT DELAYED INTO t VALUES (7)",
        "INSERT INTO t SELECT 7",
        "INSERT INTO t SET id = 7",
        "INSERT INTO t VALUES (7) ON DUPLICATE KEY UPDATE id = 8",
        "INSERT INTO t VALUES (7) ON DUPLICATE KEY UPDATE a = 1, t.`ID` = LAST_INSERT_ID(id)",
        "INSERT INTO t VALUES (7) ON DUPLICATE KEY UPDATE a = (SELECT 1)",
        "INSERT INTO t VALUES (7) ON DUPLICATE KEY UPDATE a = 1 RETURNING a",
        "INSERT INTO t (a) VALUES (7) ON DUPLICATE KEY UPDATE a = 1",
        "INSERT INTO t VALUES (7) ON DUPLICATE KEY",
        "INSERT INTO t PARTITION (p) VALUES (7)",
        "INSERT INTO t VALUES (7 + 1)",
        "INSERT INTO t VALUES ('7')",
        "INSERT INTO t VALUES (0)",
        "INSERT INTO t VALUES (DEFAULT)",
        "INSERT INTO t VALUES (2147483648)",
        "INSERT INTO t VALUES (NULL), (8)",
        "INSERT INTO t (a) VALUES (LAST_INSERT_ID(8))",
        "INSERT INTO t (a) VALUES (1), (2)",
        "INSERT INTO t VALUES ()",
        "INSERT INTO t VALUES ((SELECT 7))",
        "LOAD DATA INFILE 'f' INTO TABLE t",
        "WITH x AS (TABLE u) DELETE FROM t WHERE id = 7",
        "TRUNCATE t",
        "ANALYZE DELETE FROM t WHERE id = 7",
    ] {
        assert_eq!(written(statement), None, "{statement}");
    }
}

#[test]
fn with_other_unique_keys_other_rows_may_be_in_the_way() {
    let column = KeyColumn { is_sole: false, ..column() };
    let of = |statement: &str| touched::written(text(statement), &column);
    assert_eq!(of("REPLACE INTO t VALUES (7, 1)"), None);
    assert_eq!(of("INSERT INTO t VALUES (7, 1) ON DUPLICATE KEY UPDATE a = 1"), None);
    assert!(of("INSERT IGNORE INTO t VALUES (7, 1)").is_some(), "a row in the way stays as it is");
}

#[test]
fn without_a_certain_order_of_columns_the_key_must_be_named() {
    let column = KeyColumn { position: None, is_generated: false, ..column() };
    let of = |statement: &str| touched::written(text(statement), &column);
    assert_eq!(of("INSERT INTO t VALUES (7)"), None);
    assert!(of("INSERT INTO t (id) VALUES (0)").is_some(), "0 is a key like any other");
    assert_eq!(of("INSERT INTO t (a) VALUES (1)"), None);
}

#[test]
fn the_named_table_is_told() {
    let named = |statement: &str| touched::read(text(statement), &column()).map(|(table, _)| (table.db, table.name));
    assert_eq!(named("SELECT 1 FROM `d 1`.t WHERE id = 1"), Some((Some(b"d 1".to_vec()), b"t".to_vec())));
    assert_eq!(named("SELECT 1 FROM T x WHERE id = 1"), Some((None, b"T".to_vec())));
    assert_eq!(named("SELECT 1 FROM größe WHERE id = 1"), Some((None, "größe".into())));
    assert_eq!(named("SELECT 1 FROM ä.`表` WHERE id = 1"), Some((Some("ä".into()), "表".into())));
    assert_eq!(named("SELECT größe FROM t WHERE id = 1"), None, "the name of a column may mean the key");
    let latin1 = LexMode { charset: sql::Charset::AsciiSuperset, ..LexMode::new(&MARIADB) };
    let text = Text { mode: latin1, ..text("SELECT 1 FROM `größe` WHERE id = 1") };
    assert_eq!(touched::read(text, &column()), None, "these bytes may be another name");
}

#[test]
fn the_key_by_its_other_name_is_not_understood() {
    for statement in [
        "UPDATE t SET _rowid = 50 WHERE id = 7",
        "UPDATE t SET a = 1, t.`_RowID` = 50 WHERE id = 7",
        "INSERT INTO t (_rowid, a) VALUES (50, 1)",
        "INSERT INTO t VALUES (7, 1) ON DUPLICATE KEY UPDATE _rowid = 50",
        "DELETE FROM t WHERE id = 7 AND _rowid = 50",
    ] {
        assert_eq!(written(statement), None, "{statement}");
    }
    assert_eq!(written("UPDATE t SET a = '_rowid' WHERE id = 7"), Some(WrittenRows::Keys(Keys::Points(vec![7]))));
}

/// Returns a key column `id` of a table with UNIQUE (space, title) and UNIQUE (name).
fn with_unique_keys() -> KeyColumn {
    let part = |name: &str, kind| KeyPart { name: name.into(), kind };
    let pair = vec![part("space", PartKind::Integer), part("title", PartKind::Binary)];
    KeyColumn { unique_keys: vec![pair, vec![part("name", PartKind::Text)]], ..column() }
}

fn place(statement: &str) -> Option<usize> {
    let text = Text { bound: &[Some(3), None], ..text(statement) };
    let mut asked_for = None;
    let shown = |place| {
        asked_for = Some(place);
        Some(&b"7"[..])
    };
    let found = touched::read_by_unique_key(text, &with_unique_keys(), false, shown);
    assert_eq!(found.is_some(), asked_for.is_some());
    found.inspect(|(_, keys)| assert_eq!(*keys, Keys::Points(vec![7])))?;
    asked_for
}

#[test]
fn a_read_by_a_whole_unique_key_is_understood() {
    for (condition, is_understood) in [
        ("space = 0 AND title = 'x'", true),
        ("(title = 'é' AND `t`.`SPACE` = -1) LIMIT 1", true),
        ("((space = ?) AND (title = 'x')) ORDER BY a;", true),
        ("name = \"x\" GROUP BY a HAVING COUNT(*) > 0", true),
        ("name = 'é'", false),
        ("name = 0", false),
        ("name = _latin1'x'", false),
        ("name = N'x'", false),
        ("name = 'x' COLLATE latin1_bin", false),
        ("name = 'x' 'y'", false),
        ("name = 'x' OR name = 'y'", false),
        ("name = 'x' AND a = 1", false),
        ("name = 'x' AND space = 0", false),
        ("BINARY name = 'x'", false),
        ("name IN ('x')", false),
        ("name <=> 'x'", false),
        ("name LIKE 'x'", false),
        ("LOWER(name) = 'x'", false),
        ("NOT name = 'x'", false),
        ("name = 'x' = 1", false),
        ("'x' = name", false),
        ("name = a", false),
        ("name = @a", false),
        ("name = (SELECT 'x')", false),
        ("u.name = 'x'", false),
        ("title = 'x'", false),
        ("space = '0' AND title = 'x'", false),
        ("space = 0e0 AND title = 'x'", false),
        ("space = 0.0 AND title = 'x'", false),
        ("space = 0x1 AND title = 'x'", false),
        ("space = 0 AND title = 1", false),
        ("space = 0 AND title = ?", false),
        ("space = 0 AND title > 'x'", false),
        ("(space = 0 AND title = 'x'", false),
        ("space = 0 AND title = 'x')", false),
        ("space + 0 = 0 AND title = 'x'", false),
        ("(space, title) = (0, 'x')", false),
        ("space = 0 AND title = 'x' UNION SELECT 1", false),
        ("space = 0 AND title = 'x' ORDER BY (SELECT 1)", false),
    ] {
        let place = place(&format!("SELECT a, id FROM t WHERE {condition}"));
        assert_eq!(place, is_understood.then_some(1), "{condition}");
    }
    assert_eq!(place("SELECT id FROM t, u WHERE name = 'x'"), None);
    assert_eq!(place("SELECT id FROM t JOIN u WHERE name = 'x'"), None);
    assert_eq!(place("SELECT id FROM t IGNORE INDEX (name) WHERE name = 'x'"), None);
    assert_eq!(place("SELECT id FROM t PARTITION (p) WHERE name = 'x'"), None);
}

fn by_name(column: &KeyColumn, shown: Option<&[u8]>) -> Option<(TableName, Keys)> {
    touched::read_by_unique_key(text("SELECT * FROM t WHERE name = 'x'"), column, false, |_| shown)
}

#[test]
fn the_primary_key_is_found_among_what_a_read_shows() {
    for (shown, expected) in [
        ("id", Some(0)),
        ("*", Some(0)),
        ("a, COUNT(*), IF(a, b, c), x.`ID` AS n, v", Some(3)),
        ("'id, id', id n", Some(1)),
        ("id, *", Some(0)),
        ("*, id", None),
        ("x.*, id", None),
        ("DISTINCT *, id", None),
        ("a * 2, id", None),
        ("a AS id", None),
        ("id + 1", None),
        ("-id", None),
        ("id IS NULL", None),
        ("id DIV 2", None),
        ("(id)", None),
        ("MAX(id)", None),
        ("DISTINCT id", None),
        ("y.id", None),
        ("d.x.id", None),
        ("(SELECT 1), id", None),
        ("@a, id", None),
        ("_rowid", None),
    ] {
        assert_eq!(place(&format!("SELECT {shown} FROM t AS x WHERE name = 'x'")), expected, "{shown}");
    }
    let hidden = KeyColumn { position: None, ..with_unique_keys() };
    assert_eq!(by_name(&hidden, Some(b"7")), None);
    assert_eq!(by_name(&with_unique_keys(), None), None, "no row has NULL for its primary key");
    assert_eq!(by_name(&with_unique_keys(), Some(b"x")), None);
}

#[test]
fn a_read_that_locks_rows_is_told_apart_like_a_write_of_them() {
    for (text, keys) in [
        ("SELECT a FROM t WHERE id = 7 FOR UPDATE", points(&[7])),
        ("SELECT a FROM t WHERE id = 7 AND a = 1 LIMIT 1 FOR UPDATE NOWAIT", points(&[7])),
        ("SELECT * FROM t AS x WHERE x.id IN (7, 9) AND a > 1 ORDER BY a FOR UPDATE SKIP LOCKED", points(&[7, 9])),
        ("SELECT a FROM t WHERE a = 1 FOR UPDATE", None),
        ("SELECT a FROM t, u WHERE id = 7 FOR UPDATE", None),
        ("SELECT a FROM t WHERE id = 7 AND a IN (SELECT b FROM u) FOR UPDATE", None),
        ("SELECT a FROM t WHERE id = 7 OR a = 1 FOR UPDATE", None),
    ] {
        assert_eq!(written(text), keys.map(WrittenRows::Keys), "{text}");
    }
}
