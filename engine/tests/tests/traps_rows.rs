//! Distinguishing rows, on MariaDB.

mod traps;

#[path = "both/rows.rs"]
mod both;
#[path = "both/unique_rows.rs"]
mod unique_rows;

use both::{READ, await_rows};
use traps::{all, with_table};

#[test]
fn columns_that_are_computed_of_neighbours_can_give_warnings() {
    let (mut arena, mut writer, mut reader) = with_table("rows_virtual");
    await_rows(&mut arena, &mut reader, &mut writer);
    writer.must("CREATE TABLE w (id INT PRIMARY KEY, s VARCHAR(9), v INT AS (CAST(s AS INT)))").unwrap();
    writer.must("INSERT INTO w (id, s) SELECT seq, '1' FROM seq_1_to_99").unwrap();
    let read = "SELECT SUM(v) FROM w WHERE id BETWEEN 1 AND 63";
    arena.warm(&mut reader, read);
    // This is the first row after the range, where the server ends its search.
    writer.must("SET sql_mode = ''").unwrap();
    writer.must("UPDATE w SET s = 'x' WHERE id = 64").unwrap();
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let (kept, truth) = (reader.query(read).unwrap(), plain.query(read).unwrap());
    assert_eq!(kept, truth, "{kept:?} instead of {truth:?}");
}

#[test]
fn a_key_that_the_server_makes_up_is_seen() {
    let (mut arena, mut writer, mut reader) = with_table("rows_generated");
    let create = "CREATE OR REPLACE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=InnoDB";
    all(&mut writer, &[create, "INSERT INTO t VALUES (1, 10), (5, 50)", "SET auto_increment_increment = 10"]);
    await_rows(&mut arena, &mut reader, &mut writer);
    let read = "SELECT v FROM t WHERE id = 11";
    arena.check_write_shows(&mut reader, read, || drop(writer.must("INSERT INTO t (v) VALUES (8)").unwrap()), "8");
    arena.hit(&mut reader, READ, "10");
    let read = "SELECT v FROM t WHERE id = 31";
    arena.check_write_shows(&mut reader, read, || drop(writer.must("INSERT INTO t (v) VALUES (1), (9)").unwrap()), "9");
}
