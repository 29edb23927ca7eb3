//! With leases, reads in transactions are answered from memory, too, with the result that their transaction would get from the server.

use crate::beside::executions::{prepared, run, until_here};
use crate::beside::scene::{LOOK_EVERY, READ, Scene, ask, hits, until_served};
use crate::beside::{LIMIT, Near, wait_until};
use fqc_tests::client::{Client, Param};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

const OTHER: &str = "SELECT v FROM d.t WHERE id = 2";
const BEGINNINGS: [&str; 6] = [
    "BEGIN",
    "START TRANSACTION",
    "START TRANSACTION READ ONLY",
    "START TRANSACTION READ WRITE",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    "SET autocommit = 0",
];
/// How many reads in a transaction must be sent until the server has certainly reported the transaction to the near cache, if it reports it
/// at all.
const OFTEN: usize = 20;

/// Commits, and switches autocommit on.
fn end(client: &mut Client) {
    ["COMMIT", "SET autocommit = 1"].iter().for_each(|one| drop(client.must(one).expect(one)));
}

/// Writes a value to row 1 on this connection.
fn set(client: &mut Client, value: i32) {
    client.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).expect("it is written");
}

/// Repeats a read, checks that it is never answered from memory and always gets the same answer, and returns that answer.
fn never_served(near: &Near, client: &mut Client, read: &str) -> String {
    let before = hits(near);
    let first = ask(client, read);
    for _ in 0..OFTEN {
        sleep(LOOK_EVERY);
        assert_eq!(ask(client, read), first);
    }
    assert_eq!(hits(near), before, "`{read}` is answered from memory");
    first
}

#[test]
fn reads_in_transactions_are_answered_from_memory_byte_for_byte() {
    let scene = Scene::of(1);
    let near = scene.near();
    for isolation in ["REPEATABLE READ", "READ COMMITTED"] {
        for begin in BEGINNINGS {
            let (mut client, mut direct) = (near.client(), scene.direct());
            for one in [&mut client, &mut direct] {
                ask(one, &format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"));
                ask(one, begin);
            }
            for read in [READ, OTHER] {
                let expected = direct.query(read).expect("an answer").bytes;
                let expected_again = direct.query(read).expect("an answer").bytes;
                until_served(near, &mut client, read);
                let before = hits(near);
                wait_until("an answer from memory", || {
                    let answer = client.query(read).expect("an answer").bytes;
                    assert!([&expected, &expected_again].contains(&&answer), "{isolation}, {begin}");
                    hits(near) > before
                });
            }
            end(&mut client);
        }
    }
}

#[test]
fn executions_in_transactions_are_answered_from_memory_byte_for_byte() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    let text = "SELECT v, ? FROM d.t WHERE id = ?";
    let (here, there) = (prepared(&mut client, text), prepared(&mut direct, text));
    let params = [Param::Int(7), Param::Int(1)];
    for begin in BEGINNINGS {
        [&mut client, &mut direct].into_iter().for_each(|one| drop(one.must(begin).expect(begin)));
        run(&mut direct, &there, &params);
        let expected = run(&mut direct, &there, &params).bytes;
        let answer = until_here(near, || run(&mut client, &here, &params));
        assert_eq!(answer.bytes, expected, "{begin}");
        [&mut client, &mut direct].into_iter().for_each(end);
    }
}

#[test]
fn a_transaction_goes_on_with_its_snapshot_while_others_read_what_is_new() {
    let scene = Scene::of(2);
    let [near, another] = &scene.nears[..] else { panic!("two near caches") };
    let (mut client, mut direct) = (near.client(), scene.direct());
    let mut others = [near.client(), another.client()];
    for (round, begin) in BEGINNINGS.iter().enumerate() {
        let (before, after) = (10 * round as i32, 10 * round as i32 + 1);
        set(&mut direct, before);
        ask(&mut client, begin);
        assert_eq!(until_served(near, &mut client, READ), before.to_string());
        assert_eq!(until_served(near, &mut client, OTHER), "2");
        set(&mut direct, after);
        for (other, near) in others.iter_mut().zip(&scene.nears) {
            assert_eq!(until_served(near, other, READ), after.to_string());
        }
        assert_eq!(never_served(near, &mut client, READ), before.to_string(), "{begin}");
        assert_eq!(ask(&mut client, "SELECT v FROM d.t ORDER BY id"), format!("{before};2"));
        end(&mut client);
        assert_eq!(ask(&mut client, READ), after.to_string());
    }
}

#[test]
fn a_table_that_changed_before_the_snapshot_and_not_since_is_served() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    for value in 10..20 {
        ask(&mut client, "BEGIN");
        set(&mut direct, value);
        assert_eq!(until_served(near, &mut client, READ), value.to_string());
        ask(&mut client, "COMMIT");
    }
}

#[test]
fn at_read_committed_a_transaction_reads_what_is_new() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    ask(&mut client, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    for begin in BEGINNINGS {
        ask(&mut client, begin);
        for value in 10..15 {
            set(&mut direct, value);
            assert_eq!(ask(&mut client, READ), value.to_string(), "{begin}");
            assert_eq!(until_served(near, &mut client, READ), value.to_string(), "{begin}");
        }
        end(&mut client);
    }
}

#[test]
fn sessions_inside_and_outside_of_transactions_fill_one_memory() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut inside, mut outside) = (near.client(), near.client());
    ask(&mut inside, "SET autocommit = 0");
    // The near cache knows the context of both sessions, and neither of them has sent this read yet.
    for read in ["SELECT v FROM d.t WHERE id = 1 AND v > 0", "SELECT v + 1 FROM d.t WHERE id = 1"] {
        until_served(near, &mut inside, READ);
        until_served(near, &mut outside, READ);
        let readers = if read.contains('+') { [&mut outside, &mut inside] } else { [&mut inside, &mut outside] };
        let [first, second] = readers;
        let expected = until_served(near, first, read);
        wait_until("the other one's result", || {
            until_served(near, second, READ);
            let before = hits(near);
            let answer = ask(second, read);
            assert_eq!(answer, expected);
            hits(near) > before
        });
    }
}

#[test]
fn a_transaction_that_has_written_goes_to_the_server_until_it_ends() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    ask(&mut client, "CREATE FUNCTION d.writes() RETURNS INT BEGIN UPDATE d.u SET v = 9 WHERE id = 1; RETURN 9; END");
    ask(&mut client, "INSERT INTO d.u VALUES (1, 1)");
    for (write, value) in [
        ("UPDATE d.u SET v = 2 WHERE id = 1", "2"),
        ("REPLACE INTO d.u VALUES (1, 3)", "3"),
        ("SELECT d.writes()", "9"),
        ("BEGIN NOT ATOMIC UPDATE d.u SET v = 4 WHERE id = 1; END", "4"),
    ] {
        for begin in BEGINNINGS.iter().filter(|begin| !begin.contains("ONLY")) {
            ask(&mut client, begin);
            until_served(near, &mut client, READ);
            ask(&mut client, write);
            assert_eq!(never_served(near, &mut client, "SELECT v FROM d.u WHERE id = 1"), value, "{begin}; {write}");
            never_served(near, &mut client, READ);
            ask(&mut client, "ROLLBACK");
            assert_eq!(ask(&mut client, "SELECT v FROM d.u WHERE id = 1"), "1");
            end(&mut client);
        }
    }
}

/// Runs a statement between two reads, which may end the transaction or change it. Checks that the second read has the snapshot that it has
/// on the server.
#[test]
fn after_any_other_statement_a_read_is_of_the_transaction_that_there_is_then() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut direct = scene.direct();
    direct.must("CREATE PROCEDURE d.commits() COMMIT").expect("a procedure");
    // Statements, and whether they end the snapshot.
    let betweens = [
        ("COMMIT", true),
        ("ROLLBACK", true),
        ("BEGIN", true),
        ("COMMIT AND CHAIN", true),
        ("ROLLBACK AND CHAIN", true),
        ("START TRANSACTION READ ONLY", true),
        ("START TRANSACTION WITH CONSISTENT SNAPSHOT", true),
        ("CREATE TABLE IF NOT EXISTS d.w (id INT)", true),
        ("SET autocommit = 1", true),
        ("LOCK TABLES d.t READ", true),
        ("CALL d.commits()", true),
        ("BEGIN NOT ATOMIC COMMIT; END", true),
        ("EXECUTE IMMEDIATE 'COMMIT'", true),
        ("SAVEPOINT s", false),
        ("ROLLBACK TO s", false),
        ("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", false),
        ("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", false),
        ("SELECT v FROM d.u WHERE id = 7 FOR UPDATE", false),
        ("SELECT 1 INTO @a", false),
        ("SELECT nothing", false),
        ("DO 1", false),
        ("SHOW WARNINGS", false),
    ];
    for (round, (between, ends)) in betweens.into_iter().enumerate() {
        let (before, after) = (100 + 2 * round as i32, 101 + 2 * round as i32);
        let mut client = near.client();
        set(&mut direct, before);
        ask(&mut client, "SET autocommit = 0");
        until_served(near, &mut client, READ);
        // Before these statements, because afterwards the write would have to wait for the lock, or come too late for the snapshot.
        let is_first = between.starts_with("LOCK") || between.contains("SNAPSHOT");
        let write = |direct: &mut Client, is_due| {
            if is_due {
                set(direct, after)
            }
        };
        write(&mut direct, is_first);
        client.query(between).expect("an answer");
        write(&mut direct, !is_first);
        let expected = if ends { after } else { before };
        for _ in 0..3 {
            assert_eq!(ask(&mut client, READ), expected.to_string(), "{between}");
            sleep(LOOK_EVERY);
        }
    }
}

#[test]
fn tables_whose_engine_has_no_snapshots_are_read_as_they_are_now() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    for engine in ["MyISAM", "Aria", "MEMORY"] {
        let create = format!("CREATE OR REPLACE TABLE d.m (id INT PRIMARY KEY, v INT) ENGINE = {engine}");
        direct.must(&create).expect("a table");
        direct.must("INSERT INTO d.m VALUES (1, 0)").expect("a row");
        ask(&mut client, "BEGIN");
        until_served(near, &mut client, READ);
        for value in 1..5 {
            direct.must(&format!("UPDATE d.m SET v = {value}")).expect("it is written");
            for _ in 0..3 {
                assert_eq!(ask(&mut client, "SELECT v FROM d.m WHERE id = 1"), value.to_string(), "{engine}");
                sleep(LOOK_EVERY);
            }
            until_served(near, &mut client, READ);
        }
        end(&mut client);
    }
}

#[test]
fn what_was_told_of_a_transaction_ends_with_the_feed() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    ask(&mut client, "BEGIN");
    assert_eq!(until_served(near, &mut client, READ), "1");
    let feeds = "SELECT id FROM information_schema.processlist WHERE user = 'feed'";
    let feed = direct.scalar(feeds).expect("an answer").expect("a feed");
    direct.must(&format!("KILL {feed}")).expect("it ends");
    near.wait_for_metric("serving", |serving| serving == 0);
    set(&mut direct, 5);
    near.wait_for_metric("serving", |serving| serving == 1);
    let mut other = near.client();
    assert_eq!(until_served(near, &mut other, READ), "5");
    assert_eq!(never_served(near, &mut client, READ), "1", "the snapshot");
    ask(&mut client, "COMMIT");
    assert_eq!(ask(&mut client, READ), "5");
    ask(&mut client, "BEGIN");
    assert_eq!(until_served(near, &mut client, READ), "5");
}

#[test]
fn a_server_that_limits_idle_transactions_sees_each_read() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    until_served(near, &mut client, READ);
    ask(&mut client, "SET idle_transaction_timeout = 60");
    ask(&mut client, "BEGIN");
    never_served(near, &mut client, READ);
    ask(&mut client, "COMMIT");
    until_served(near, &mut client, READ);
}

#[test]
fn rows_found_in_a_transaction_are_those_of_its_snapshot() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    let all = "SELECT v FROM d.t ORDER BY id";
    ask(&mut client, "BEGIN");
    assert_eq!(until_served(near, &mut client, all), "1;2");
    direct.must("INSERT INTO d.t VALUES (3, 3)").expect("a row");
    assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "2");
    assert_eq!(ask(&mut client, all), "1;2");
    ask(&mut client, "COMMIT");
    assert_eq!(ask(&mut client, all), "1;2;3");
}

/// Reads two rows alternately in transactions, until enough reads were answered from memory. Panics if a value changes in a transaction, or
/// if the sum of both is not the one that all transfers keep.
fn read_in_transactions(near: &Near) {
    const LENGTH: Duration = Duration::from_secs(4);
    const ENOUGH: u64 = 200;
    let (mut client, begun, mut served) = (near.client(), Instant::now(), 0);
    for begin in BEGINNINGS.iter().cycle() {
        let before = hits(near);
        ask(&mut client, begin);
        let reads = [READ, OTHER].into_iter().cycle().take(20);
        let values: Vec<i64> = reads.map(|read| ask(&mut client, read).parse().expect("a number")).collect();
        end(&mut client);
        values.chunks(2).for_each(|pair| assert_eq!(pair, &values[..2], "one snapshot, two states: {values:?}"));
        assert_eq!(values[0] + values[1], 4, "{values:?}");
        served += hits(near) - before;
        if begun.elapsed() > LENGTH && served > ENOUGH {
            return;
        }
        assert!(begun.elapsed() < LIMIT, "{served} reads from memory prove nothing");
    }
}

#[test]
fn what_a_transaction_reads_is_of_one_moment() {
    let scene = Scene::of(2);
    set(&mut scene.direct(), 2);
    let goes_on = AtomicBool::new(true);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut direct = scene.direct();
            for by in [-2, -1, 0, 1, 2].iter().cycle() {
                let transfer = format!("UPDATE d.t SET v = v + IF(id = 1, {by}, -({by}))");
                direct.must(&transfer).expect("it is written");
                sleep(Duration::from_millis(10));
                if !goes_on.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        // Other sessions read newer states than the snapshots, so that these are in memory.
        for near in &scene.nears {
            scope.spawn(|| {
                let mut client = near.client();
                while goes_on.load(Ordering::Relaxed) {
                    [READ, OTHER].iter().for_each(|read| drop(ask(&mut client, read)));
                }
            });
        }
        let readers: Vec<_> = scene.nears.iter().map(|near| scope.spawn(|| read_in_transactions(near))).collect();
        let ended: Vec<_> = readers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        goes_on.store(false, Ordering::Relaxed);
        ended.into_iter().for_each(|one| one.expect("a reader"));
    });
}
