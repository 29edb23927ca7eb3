//! Rules that let results be served despite writes, in the binary protocol. Prepared statements obey them as texts do.

mod traps;

use std::time::{Duration, Instant};

use fqc_tests::client::{Client, Param, Prepared};
use traps::{Arena, all, binary_rows_text, rows_text, until, with_rule};

const WRITE: &str = "UPDATE t SET v = v + 1";
const ONE: [Param; 1] = [Param::Int(1)];
const TWO: [Param; 1] = [Param::Int(2)];

fn prepare(client: &mut Client, table: &str) -> Prepared {
    client.prepare(&format!("SELECT v FROM {table} WHERE id = ?")).unwrap().1.expect("it can be prepared")
}

fn forget_rules(client: &mut Client) {
    all(client, &["SET GLOBAL fqc_rules = DEFAULT"]);
}

/// Writes other values until the cache serves a result despite a write. Returns that result.
fn outlive(arena: &mut Arena, client: &mut Client, read: &Prepared) -> String {
    let mut old = String::new();
    until("a prepared result outlives a write", || {
        old = binary_rows_text(&arena.warm_prepared(client, read, &ONE));
        client.must(WRITE).unwrap();
        let (answer, is_hit) = arena.ask_prepared(client, read, &ONE);
        is_hit && binary_rows_text(&answer) == old
    });
    old
}

/// Checks that the prepared read answers what the table holds now.
#[track_caller]
fn is_true(arena: &mut Arena, client: &mut Client, read: &Prepared, params: &[Param; 1], table: &str) {
    let Param::Int(id) = params[0] else { unreachable!("keys are numbers") };
    let truth = arena.server_answer(&format!("SELECT v FROM {table} WHERE id = {id}"));
    let (answer, is_hit) = arena.ask_prepared(client, read, params);
    assert_eq!((binary_rows_text(&answer), is_hit), (truth, false));
}

#[test]
fn prepared_results_outlive_writes_for_every_connection_and_each_parameter_by_itself() {
    let (mut arena, mut client) = with_rule("l_lasting", 3600);
    let read = prepare(&mut client, "t");
    let old = outlive(&mut arena, &mut client, &read);
    let mut other = arena.client();
    let same = prepare(&mut other, "t");
    let stale = |client: &mut Client| rows_text(&client.query("SHOW GLOBAL STATUS LIKE 'Fqc_stale_hits'").unwrap());
    let before = stale(&mut client);
    for (client, read) in [(&mut client, &read), (&mut other, &same)] {
        client.must(WRITE).unwrap();
        let (answer, is_hit) = arena.ask_prepared(client, read, &ONE);
        assert_eq!((binary_rows_text(&answer), is_hit), (old.clone(), true));
    }
    let count = |shown: &str| shown.split(',').nth(1).and_then(|word| word.parse::<u64>().ok()).expect("a count");
    assert_eq!(count(&stale(&mut client)), count(&before) + 2);
    is_true(&mut arena, &mut other, &same, &TWO, "t");
    forget_rules(&mut client);
    is_true(&mut arena, &mut client, &read, &ONE, "t");
}

#[test]
fn without_a_rule_of_its_own_a_table_is_followed_by_prepared_reads_at_once() {
    let (mut arena, mut client) = with_rule("l_unruled", 3600);
    let read = prepare(&mut client, "u");
    for _ in 0..5 {
        arena.warm_prepared(&mut client, &read, &ONE);
        client.must("UPDATE u SET v = v + 1").unwrap();
        is_true(&mut arena, &mut client, &read, &ONE, "u");
    }
    forget_rules(&mut client);
}

#[test]
fn a_rule_of_a_digest_holds_for_the_prepared_statement_that_has_it() {
    let (mut arena, mut client) = with_rule("l_digest", 3600);
    forget_rules(&mut client);
    let read = prepare(&mut client, "t");
    arena.warm_prepared(&mut client, &read, &ONE);
    let report = client.must("SHOW FQC QUERIES").unwrap().rows(false);
    let text = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
    let row = report.iter().find(|row| text(&row[1]) == "SELECT v FROM t WHERE id = ?").expect("it is reported");
    let digest = text(&row[0]);
    let rule = format!(r#"SET GLOBAL fqc_rules = '[{{"digest": "{digest}", "cache": "always", "ttl": 3600}}]'"#);
    client.must(&rule).unwrap();
    outlive(&mut arena, &mut client, &read);
    forget_rules(&mut client);
    is_true(&mut arena, &mut client, &read, &ONE, "t");
}

#[test]
fn prepared_reads_in_transactions_and_after_definitions_see_what_is_true_despite_a_rule() {
    let (mut arena, mut client) = with_rule("l_ends", 3600);
    let read = prepare(&mut client, "t");
    for level in ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"] {
        let old = outlive(&mut arena, &mut client, &read);
        let mut reader = arena.client_with(&[&format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")]);
        let own = prepare(&mut reader, "t");
        reader.must("BEGIN").unwrap();
        let seen = binary_rows_text(&reader.execute(&own, &ONE).unwrap());
        assert_ne!(seen, old, "{level}");
        reader.must(WRITE).unwrap();
        let next = binary_rows_text(&reader.execute(&own, &ONE).unwrap());
        assert_eq!(next.parse::<u64>().unwrap(), seen.parse::<u64>().unwrap() + 1, "{level}");
        reader.must("ROLLBACK").unwrap();
    }
    for change in ["ALTER TABLE t ADD COLUMN w INT", "GRANT SELECT ON l_ends.* TO PUBLIC", "FLUSH TABLES"] {
        outlive(&mut arena, &mut client, &read);
        client.must(change).unwrap();
        is_true(&mut arena, &mut client, &read, &ONE, "t");
    }
    forget_rules(&mut client);
}

#[test]
fn a_rule_keeps_no_prepared_result_alive_beyond_its_time() {
    let (mut arena, mut client) = with_rule("l_time", 2);
    let read = prepare(&mut client, "t");
    // Each read on the server finds another value, so an old value comes from the same result.
    let (mut value, mut told) = (String::new(), Instant::now());
    let (mut results, mut stale) = (0, 0);
    until("several prepared results have outlived writes, and ended", || {
        client.must(WRITE).unwrap();
        let asked = Instant::now();
        let (answer, is_hit) = arena.ask_prepared(&mut client, &read, &ONE);
        let answer = binary_rows_text(&answer);
        if answer != value {
            (value, told) = (answer, Instant::now());
            results += u64::from(stale > 0);
        } else {
            let age = asked - told;
            assert!(is_hit && age <= Duration::from_millis(2005), "{value} after {age:?}, hit: {is_hit}");
            stale += 1;
        }
        results >= 2
    });
    forget_rules(&mut client);
}
