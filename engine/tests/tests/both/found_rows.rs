//! `SELECT FOUND_ROWS()` after a read with SQL_CALC_FOUND_ROWS, on a server of either product.

use crate::enter;
use crate::traps::{Pair, all, small_table};

const COUNTING: &str = "SELECT SQL_CALC_FOUND_ROWS v FROM t ORDER BY id LIMIT 1";
const FOUND: &str = "SELECT FOUND_ROWS()";

#[test]
fn the_number_of_all_rows_found_is_answered_from_memory() {
    let mut arena = enter("counted");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    arena.warm(&mut pair.served, COUNTING);
    for asked in [FOUND, "select found_rows() AS n /* page 1 */;"] {
        pair.hit(&mut arena, COUNTING);
        pair.alike(asked);
        for _ in 0..2 {
            pair.hit(&mut arena, COUNTING);
            pair.hit(&mut arena, asked);
            pair.alike(FOUND);
            pair.hit(&mut arena, COUNTING);
            pair.hit(&mut arena, asked);
            pair.alike("SHOW WARNINGS");
            pair.alike("SELECT ROW_COUNT()");
        }
    }
    let mut third = arena.client();
    arena.hit(&mut third, COUNTING, "10");
    arena.hit(&mut third, FOUND, "5");
    let mut writer = arena.client();
    writer.must("INSERT INTO t VALUES (6, 60)").unwrap();
    for _ in 0..3 {
        pair.alike(COUNTING);
        pair.alike(FOUND);
    }
    arena.hit(&mut third, COUNTING, "10");
    arena.hit(&mut third, FOUND, "6");
}

#[test]
fn the_number_of_all_rows_found_is_that_of_the_read_right_before() {
    let mut arena = enter("counted_before");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    let others = ["SELECT v FROM t WHERE id = 1", "SELECT SQL_CALC_FOUND_ROWS v FROM t WHERE id < 3 LIMIT 1"];
    for read in [COUNTING, others[0], others[1]] {
        arena.warm(&mut pair.served, read);
        pair.alike(read);
        pair.alike(FOUND);
        pair.hit(&mut arena, read);
        pair.alike(FOUND);
    }
    for between in ["DO 1", "SET @a = 1", "SELECT 1", "SELECT v FROM t", "SELECT nothing FROM t", others[0], others[1]]
    {
        pair.hit(&mut arena, COUNTING);
        pair.alike(between);
        pair.alike(FOUND);
    }
    all(&mut pair.served, &["BEGIN"]);
    all(&mut pair.plain, &["BEGIN"]);
    for between in ["DO 1", "SAVEPOINT s", FOUND, "COMMIT", "BEGIN"] {
        pair.alike(COUNTING);
        pair.alike(FOUND);
        pair.alike(COUNTING);
        pair.alike(between);
        pair.alike(FOUND);
    }
    // After a change the number of rows found is requested from the server.
    let mut reader = arena.client();
    arena.hit(&mut reader, COUNTING, "10");
    pair.served.must("COMMIT").unwrap();
    pair.served.must("INSERT INTO t VALUES (6, 60)").unwrap();
    let (_, is_hit) = arena.ask(&mut reader, FOUND);
    assert!(!is_hit, "the table has changed since the read");
}
