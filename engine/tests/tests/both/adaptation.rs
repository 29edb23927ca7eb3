//! With `fqc_adaptation = ON`, the engine stores results only for those shapes of statements (texts without their literals) whose results
//! are requested again before they end. On a server of either product.

use crate::start;
use crate::traps::{Arena, all, rows_text, small_table, until};
use fqc_tests::client::Client;
use std::sync::Arc;

/// Starts a server with `fqc_adaptation = ON` and a table of five rows.
fn choosing() -> (Arena, Client) {
    let arena = Arena::on(Arc::new(start(&[])), "adapts");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    client.must("SET GLOBAL fqc_adaptation = ON").unwrap();
    (arena, client)
}

/// The number in the report's column `STORED_ONE_IN` for the shape that reads the table: the engine stores one in this many of its results.
fn stored_one_in(client: &mut Client) -> u64 {
    const STORED_ONE_IN: usize = 13;
    let report = client.must("SHOW FQC QUERIES").unwrap().rows(false);
    let text = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
    let shape = report.iter().find(|row| text(&row[1]).starts_with("SELECT v FROM adapts.t"));
    shape.map_or(1, |row| text(&row[STORED_ONE_IN]).parse().unwrap())
}

fn counter(client: &mut Client, name: &str) -> u64 {
    let row = rows_text(&client.must(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap());
    row.split_once(',').and_then(|(_, number)| number.parse().ok()).unwrap_or_else(|| panic!("{name}: {row}"))
}

fn read(client: &mut Client, number: u64) {
    client.must(&format!("SELECT v FROM adapts.t WHERE id = 1 AND v < {number}")).unwrap();
}

/// Reads until the engine stores each result of the shape again.
fn until_stored_again(arena: &mut Arena, client: &mut Client) {
    until("the shape is stored again", || {
        (100..120).for_each(|number| read(client, number));
        stored_one_in(client) == 1
    });
    arena.warm(client, "SELECT v FROM adapts.t WHERE id = 1 AND v < 107");
}

#[test]
fn what_does_not_come_again_is_not_stored_until_it_does() {
    const MORE: u64 = 6400;
    let (mut arena, mut client) = choosing();
    let mut numbers = 1000..;
    until("the shape is passed over", || {
        numbers.by_ref().take(100).for_each(|number| read(&mut client, number));
        stored_one_in(&mut client) == 64
    });
    let before = counter(&mut client, "Qcache_inserts");
    numbers.by_ref().take(MORE as usize).for_each(|number| read(&mut client, number));
    let stored = counter(&mut client, "Qcache_inserts") - before;
    assert!(stored <= MORE / 64, "{stored} of {MORE} reads that never come again were stored");
    until_stored_again(&mut arena, &mut client);
}

#[test]
fn a_shape_that_is_always_outdated_is_passed_over_and_found_again() {
    let (mut arena, mut client) = choosing();
    until("the shape is passed over", || {
        for number in 100..120 {
            read(&mut client, number);
            client.must("UPDATE t SET v = IF(v = 10, 11, 10) WHERE id = 1").unwrap();
        }
        stored_one_in(&mut client) == 64
    });
    let reasons = rows_text(&client.must("SHOW FQC REASONS").unwrap());
    assert!(reasons.contains("not_reused"), "{reasons}");
    until_stored_again(&mut arena, &mut client);
}

/// Checks that results of a query shape that repeats stay stored, no matter how many statements of another shape come only once.
#[test]
fn what_comes_again_stays_stored_beside_what_does_not() {
    let (mut arena, mut client) = choosing();
    let often = "SELECT SUM(v) FROM adapts.t";
    arena.warm(&mut client, often);
    for number in 1000..3000 {
        read(&mut client, number);
        assert_eq!(rows_text(&client.query(often).unwrap()), "150");
    }
    arena.hit(&mut client, often, "150");
    all(&mut client, &["UPDATE t SET v = 11 WHERE id = 1"]);
    assert_eq!(rows_text(&client.query(often).unwrap()), "151");
}
