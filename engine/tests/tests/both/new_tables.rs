//! Reads of a table that was created or altered a moment ago, on a server of either product.

use crate::traps::{Arena, PATIENCE, all, binary_rows_text, rows_text, small_table};
use crate::with_table;
use fqc_tests::client::{Client, Param};
use std::time::Instant;

/// The number of new tables in a row whose second read must be a hit. If the engine did not wait for the look-up of a table, only some
/// would be hits, by chance.
const IN_A_ROW: u32 = 10;

/// Calls `is_hit` until it was true [`IN_A_ROW`] times in a row. `is_hit` creates the table with this number, and returns whether its
/// second read was a hit.
#[track_caller]
fn until_all_are_hits(mut is_hit: impl FnMut(u32) -> bool) {
    let (begun, mut number, mut hits) = (Instant::now(), 0, 0);
    while hits < IN_A_ROW {
        assert!(begun.elapsed() < PATIENCE, "the second read of a new table is missed");
        number += 1;
        hits = if is_hit(number) { hits + 1 } else { 0 };
    }
}

/// Sends a read twice, the second time right after the first answer, and returns true if the second one was answered from memory. Fails if one of the answers, in the form of
/// `rows_text`, is not `expected`. `arena` counts the hits of its server.
fn is_second_a_hit(arena: &mut Arena, client: &mut Client, read: &str, expected: &str) -> bool {
    // The second read follows at once, so the look-up of the table is not finished by itself.
    let (responses, hits) = arena.counted(|| [client.query(read).unwrap(), client.query(read).unwrap()]);
    responses.iter().for_each(|response| assert_eq!(rows_text(response), expected));
    hits > 0
}

#[test]
fn the_second_read_of_a_new_table_comes_from_memory() {
    let (mut arena, mut writer, mut reader) = with_table("new_tables");
    until_all_are_hits(|number| {
        let name = format!("new_{number}");
        small_table(&mut writer, &name, "InnoDB");
        is_second_a_hit(&mut arena, &mut reader, &format!("SELECT v FROM {name} WHERE id = 2"), "20")
    });
}

#[test]
fn the_second_read_of_an_altered_table_comes_from_memory() {
    let (mut arena, mut writer, mut reader) = with_table("altered_tables");
    until_all_are_hits(|number| {
        all(&mut writer, &[&format!("ALTER TABLE t ADD COLUMN c{number} INT")]);
        is_second_a_hit(&mut arena, &mut reader, "SELECT v FROM t WHERE id = 2", "20")
    });
}

#[test]
fn the_second_execution_on_a_new_table_comes_from_memory() {
    let (mut arena, mut writer, mut reader) = with_table("new_executions");
    until_all_are_hits(|number| {
        let name = format!("new_{number}");
        small_table(&mut writer, &name, "InnoDB");
        let prepared = reader.prepare(&format!("SELECT v FROM {name} WHERE id = ?")).unwrap().1.unwrap();
        let one = [Param::Int(2)];
        let mut execute = || reader.execute(&prepared, &one).unwrap();
        let (responses, hits) = arena.counted(|| [execute(), execute()]);
        responses.iter().for_each(|response| assert_eq!(binary_rows_text(response), "20"));
        hits > 0
    });
}
