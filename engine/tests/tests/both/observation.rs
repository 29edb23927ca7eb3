//! While the cache is off and `fqc_observe` is on, the report shows for each shape of statements (their text without its literals) what the
//! cache would save. On a server of either product.

use crate::start;
use crate::traps::{Arena, all, flush_of_all, rows_text, small_table, until};
use fqc_tests::client::Client;
use std::sync::Arc;

const REPEATS: &str = "SELECT v FROM observes.t WHERE id =";
const NEVER_REPEATS: &str = "SELECT SUM(v) FROM observes.t WHERE v <";
const IS_WRITTEN: &str = "SELECT v FROM observes.u WHERE id =";

/// Starts a server whose cache is off but observed. Returns it with a session that the engine has followed from its first byte on.
fn observing() -> (Arena, Client) {
    let mut arena = Arena::on(Arc::new(start(&[])), "observes");
    let mut client = arena.client();
    ["t", "u"].into_iter().for_each(|table| small_table(&mut client, table, "InnoDB"));
    // The engine has to know the tables, and the initial settings of sessions.
    ["t", "u"].into_iter().for_each(|table| drop(arena.warm(&mut client, &format!("SELECT COUNT(*) FROM {table}"))));
    all(&mut client, &["RESET QUERY CACHE", "SET GLOBAL fqc_type = OFF", "SET GLOBAL fqc_observe = ON"]);
    let client = arena.client();
    (arena, client)
}

fn counter(client: &mut Client, name: &str) -> u64 {
    let row = rows_text(&client.must(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap());
    row.split_once(',').and_then(|(_, number)| number.parse().ok()).unwrap_or_else(|| panic!("{name}: {row}"))
}

/// For each shape in SHOW FQC QUERIES: its text, and the numbers in these columns.
fn shapes<const N: usize>(client: &mut Client, columns: [usize; N]) -> Vec<(String, [u64; N])> {
    let report = client.must("SHOW FQC QUERIES").unwrap().rows(false);
    let text = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
    report.iter().map(|row| (text(&row[1]), columns.map(|at| text(&row[at]).parse().unwrap()))).collect()
}

/// The numbers in these columns for the shape whose text begins so.
fn of<const N: usize>(client: &mut Client, shape: &str, columns: [usize; N]) -> [u64; N] {
    let all = shapes(client, columns);
    all.iter().find(|(text, _)| text.starts_with(shape)).unwrap_or_else(|| panic!("no {shape} in {all:?}")).1
}

const EXECUTIONS: usize = 2;
const HITS: usize = 3;
const INSERTS: usize = 5;
const NOT_CACHED: usize = 6;
const WASTED: usize = 9;
const STORED_ONE_IN: usize = 13;
const REQUESTS: usize = 16;
const WOULD_HIT: usize = 17;
const WOULD_SAVE_US: usize = 19;

#[test]
fn each_shape_tells_what_the_cache_would_have_served() {
    const ROUNDS: u64 = 600;
    let (mut arena, mut client) = observing();
    let mut admin = arena.client();
    // Wait until the session is followed, and all earlier reads have been counted.
    until("reads are observed", || {
        client.must(&format!("{REPEATS} 5")).unwrap();
        counter(&mut admin, "Fqc_observed_requests") > 0
    });
    until("all of them are counted", || {
        counter(&mut admin, "Fqc_observed_requests") == of(&mut admin, REPEATS, [REQUESTS])[0]
    });
    let flush = flush_of_all(&mut admin);
    admin.must(flush).unwrap();
    assert_eq!(shapes(&mut admin, [REQUESTS]), []);
    let hits = arena.hits();
    for round in 0..ROUNDS {
        client.must(&format!("{REPEATS} {}", round % 4)).unwrap();
        client.must(&format!("{NEVER_REPEATS} {round}")).unwrap();
        client.must(&format!("{IS_WRITTEN} 1")).unwrap();
        admin.must("UPDATE observes.u SET v = v + 1 WHERE id = 1").unwrap();
    }
    until("all of them are in the sums", || {
        let shapes: u64 = shapes(&mut admin, [REQUESTS]).iter().map(|(_, [requests])| requests).sum();
        shapes > 2 * ROUNDS && counter(&mut admin, "Fqc_observed_requests") == shapes
    });
    let columns = [REQUESTS, WOULD_HIT];
    // The sample may be locked for a moment, and then the request is not counted.
    let [requests, would_hit] = of(&mut admin, REPEATS, columns);
    assert!(requests + 8 >= ROUNDS && (4..=8).contains(&(requests - would_hit)), "{would_hit} of {requests}");
    for shape in [NEVER_REPEATS, IS_WRITTEN] {
        let [requests, would_hit] = of(&mut admin, shape, columns);
        // On a busy machine it is locked for longer.
        assert!(requests > ROUNDS / 10 && would_hit <= 4, "{shape}: {would_hit} of {requests}");
    }
    let total: u64 = shapes(&mut admin, [WOULD_HIT]).iter().map(|(_, [would_hit])| would_hit).sum();
    assert!(total.abs_diff(counter(&mut admin, "Fqc_observed_hits")) <= 8, "{total} hits of all shapes together");
    let [saved_us] = of(&mut admin, REPEATS, [WOULD_SAVE_US]);
    let all_us = counter(&mut admin, "Fqc_observed_time_saved_us");
    assert!(saved_us > 0 && (all_us / 2..=all_us * 2).contains(&saved_us), "{saved_us} us of {all_us}");
    // Nothing was served or stored, and nothing is held against a shape.
    assert_eq!(arena.hits(), hits);
    assert_eq!(counter(&mut admin, "Fqc_queries_in_cache"), 0);
    for shape in [REPEATS, NEVER_REPEATS, IS_WRITTEN] {
        let columns = [EXECUTIONS, HITS, INSERTS, WASTED, STORED_ONE_IN];
        assert_eq!(of(&mut admin, shape, columns), [ROUNDS, 0, 0, 0, 1], "{shape}");
        let [requests, not_cached] = of(&mut admin, shape, [REQUESTS, NOT_CACHED]);
        assert_eq!(requests + not_cached, ROUNDS, "{shape}");
    }
    admin.must(flush).unwrap();
    assert_eq!(shapes(&mut admin, [REQUESTS]), []);
}

#[test]
fn the_cache_serves_at_once_what_was_observed() {
    let (mut arena, mut client) = observing();
    until("more reads than a shape is judged by", || {
        (0..100).for_each(|number| drop(client.must(&format!("{NEVER_REPEATS} {number}")).unwrap()));
        shapes(&mut client, [REQUESTS])
            .iter()
            .any(|(text, [requests])| text.starts_with(NEVER_REPEATS) && *requests > 2000)
    });
    client.must("SET GLOBAL fqc_type = ON").unwrap();
    let mut client = arena.client();
    let read = format!("{NEVER_REPEATS} 1");
    client.must(&read).unwrap();
    let expected = arena.server_answer(&read);
    arena.hit(&mut client, &read, &expected);
}
