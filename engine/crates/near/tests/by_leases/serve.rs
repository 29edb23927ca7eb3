//! With leases, reads are answered from memory, and never with a stale result.

use crate::beside::executions::prepared;
use crate::beside::scene::{READ, Scene, ask, attached, hits, reads_run_for_those_who_go, said, until_served};
use crate::beside::{Near, near, wait_until};
use fqc_tests::client::{Client, Login, Param, command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_read_that_repeats_is_answered_from_memory_byte_for_byte() {
    let scene = Scene::of(1);
    let mut client = scene.near().client();
    let expected = scene.direct().query(READ).expect("an answer").bytes;
    assert_eq!(until_served(scene.near(), &mut client, READ), "1");
    let before = hits(scene.near());
    for _ in 0..100 {
        assert_eq!(client.query(READ).expect("an answer").bytes, expected);
    }
    wait_until("hits", || hits(scene.near()) > before);
    let mut other = Client::root(&scene.near().unix()).expect("a connection");
    assert_eq!(until_served(scene.near(), &mut other, READ), "1");
    assert!(scene.near().log().contains("attached"), "{}", scene.near().log());
}

/// Checks the first read after commands such as those that PHP begins each connection with. The server reports the session's context on the
/// feed at about the time of the next command, so not every attempt has to succeed.
#[test]
fn the_first_read_after_a_command_that_sets_up_the_session_or_writes_is_answered_from_memory() {
    let scene = Scene::of(1);
    let mut client = scene.near().client();
    for command in ["SET NAMES utf8mb4", "SET sql_mode = ''", "USE d", "SELECT FOUND_ROWS()", "UPDATE d.u SET v = 1"] {
        wait_until(command, || {
            ask(&mut client, command);
            let before = hits(scene.near());
            ask(&mut client, READ);
            hits(scene.near()) > before
        });
    }
}

/// Checks reads of `@@SESSION.sql_mode`, which WordPress sends on each connection: they are answered from memory, with the session's own
/// value, and keep warnings as the server does.
#[test]
fn a_setting_is_shown_from_memory_as_it_is_in_force_in_the_session() {
    const MODE: &str = "SELECT @@SESSION.sql_mode";
    let scene = Scene::of(1);
    let mode_of = |client: &mut Client| said(&client.query(MODE).expect("an answer"));
    let usual = mode_of(&mut scene.direct());
    for set in ["SET NAMES utf8mb4", "USE d"] {
        wait_until(set, || {
            let mut client = scene.near().client();
            ask(&mut client, set);
            let before = hits(scene.near());
            assert_eq!(mode_of(&mut client), usual);
            hits(scene.near()) > before
        });
    }
    let mut client = scene.near().client();
    for (set, expected) in [("SET sql_mode = ''", ""), ("SET sql_mode = 'ANSI_QUOTES'", "ANSI_QUOTES")] {
        ask(&mut client, set);
        (0..5).for_each(|_| assert_eq!(mode_of(&mut client), expected));
    }
    // A read without a table keeps the warnings of the statement before it.
    for before in ["SELECT CAST('12x' AS SIGNED)", READ, "DO 1"] {
        let mut direct = scene.direct();
        ask(&mut direct, "SET sql_mode = 'ANSI_QUOTES'");
        let [shown, truth] = [&mut client, &mut direct].map(|one| {
            [before, MODE, "SHOW WARNINGS", before, MODE, MODE, READ, MODE, "SHOW WARNINGS", "SELECT FOUND_ROWS()"]
                .map(|statement| said(&one.query(statement).expect("an answer")))
        });
        assert_eq!(shown, truth, "{before}");
    }
}

#[test]
fn a_setting_counts_from_the_next_read_on_in_both_protocols() {
    const TEXT: &str = "SELECT CONCAT(FROM_UNIXTIME(v)) FROM d.t WHERE id = 1";
    const PREPARED: &str = "SELECT CONCAT(FROM_UNIXTIME(v)) FROM d.t WHERE id = ?";
    const ROUNDS: usize = 50;
    let scene = Scene::of(1);
    let mut client = scene.near().client();
    let mut before = prepared(&mut client, PREPARED);
    let zones = [("+00:00", "1970-01-01 00:00:01"), ("+01:00", "1970-01-01 01:00:01")];
    let mut served = [0; 2];
    for round in 0.. {
        assert!(round < 100 * ROUNDS, "never answered from memory: {served:?}");
        for (zone, expected) in zones {
            ask(&mut client, &format!("SET time_zone = '{zone}'"));
            let since = prepared(&mut client, PREPARED);
            for (protocol, statement) in [(1, &before), (0, &since), (1, &since), (1, &since), (1, &since), (0, &since)]
            {
                let hits_before = hits(scene.near());
                let params = [Param::Int(1)];
                let response = if protocol == 0 { client.query(TEXT) } else { client.execute(statement, &params) };
                let rows = response.expect("an answer").rows(protocol == 1);
                assert_eq!(rows, [[Some(expected.as_bytes().to_vec())]]);
                served[protocol] += hits(scene.near()) - hits_before;
            }
            client.close(&std::mem::replace(&mut before, since)).expect("it is closed");
        }
        if round >= ROUNDS && !served.contains(&0) {
            break;
        }
    }
}

#[test]
fn nothing_is_run_for_a_client_that_goes() {
    let scene = Scene::of(1);
    assert_eq!(reads_run_for_those_who_go(&scene.server, scene.near()), 0);
}

#[test]
fn a_write_by_any_way_is_seen_at_once() {
    let scene = Scene::of(2);
    let mut readers: Vec<Client> = scene.nears.iter().map(Near::client).collect();
    let mut direct = scene.direct();
    let mut through = scene.nears[1].client();
    let statements = [
        "CREATE TRIGGER d.after_u AFTER INSERT ON d.u FOR EACH ROW UPDATE d.t SET v = NEW.v WHERE id = 1",
        "CREATE PROCEDURE d.p(x INT) UPDATE d.t SET v = x WHERE id = 1",
    ];
    statements.iter().for_each(|one| drop(direct.must(one).expect(one)));
    for round in 10..40 {
        for (reader, near) in readers.iter_mut().zip(&scene.nears) {
            until_served(near, reader, READ);
        }
        let value = round.to_string();
        let (client, statements): (&mut Client, Vec<String>) = match round % 6 {
            0 => (&mut direct, vec![format!("UPDATE d.t SET v = {value} WHERE id = 1")]),
            1 => (&mut through, vec![format!("UPDATE d.t SET v = {value} WHERE id = 1")]),
            2 => (&mut direct, vec![format!("INSERT INTO d.u VALUES ({round}, {value})")]),
            3 => (&mut through, vec!["BEGIN".into(), format!("UPDATE d.t SET v = {value}"), "COMMIT".into()]),
            4 => (&mut direct, vec![format!("CALL d.p({value})")]),
            _ => (
                &mut direct,
                vec![
                    "CREATE TABLE d.other LIKE d.t".into(),
                    format!("INSERT INTO d.other SELECT id, {value} FROM d.t"),
                    "DROP TABLE d.t".into(),
                    "RENAME TABLE d.other TO d.t".into(),
                ],
            ),
        };
        statements.iter().for_each(|one| drop(client.must(one).expect(one)));
        for reader in &mut readers {
            assert_eq!(ask(reader, READ), value, "round {round}");
        }
    }
}

/// Checks that a write of a row is seen at once after rows with generated keys were inserted. Results of the row stay valid after such an
/// insertion, so the write must still wait for the near caches that hold them.
#[test]
fn a_row_is_not_forgotten_when_another_is_inserted_under_a_generated_key() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    [&mut client, &mut direct].into_iter().for_each(|one| drop(one.must("USE d").expect("a database")));
    direct.must("CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT)").expect("a table");
    direct.must("INSERT INTO a (v) VALUES (0), (0)").expect("rows");
    let read = "SELECT v FROM a WHERE id = 1";
    // Waits until the server invalidates row by row.
    wait_until("a result that outlives an insertion", || {
        until_served(near, &mut client, read);
        direct.must("INSERT INTO a (v) VALUES (7)").expect("a row");
        let before = hits(near);
        ask(&mut client, read);
        hits(near) > before
    });
    for value in 1..20 {
        until_served(near, &mut client, read);
        direct.must("INSERT INTO a (v) VALUES (7)").expect("a row");
        direct.must(&format!("UPDATE a SET v = {value} WHERE id = 1")).expect("it is written");
        assert_eq!(ask(&mut client, read), value.to_string());
    }
}

#[test]
fn what_a_session_is_decides_what_it_gets() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    let read = "SELECT 1 / v, v || 'x' FROM d.t WHERE id = 1";
    let first = until_served(near, &mut client, read);
    ask(&mut client, "SET SESSION sql_mode = 'PIPES_AS_CONCAT', div_precision_increment = 1");
    assert_ne!(ask(&mut client, read), first);
    assert_ne!(until_served(near, &mut client, read), first);
    client.reset_connection().expect("an answer");
    assert_eq!(ask(&mut client, read), first);
    // Names of tables without a database.
    let mut admin = scene.direct();
    for statement in ["CREATE DATABASE e", "CREATE TABLE e.t SELECT 1 AS id, 77 AS v"] {
        admin.must(statement).expect(statement);
    }
    let short = "SELECT v FROM t WHERE id = 1";
    ask(&mut client, "USE d");
    assert_eq!(until_served(near, &mut client, short), "1");
    ask(&mut client, "USE e");
    assert_eq!(ask(&mut client, short), "77");
    assert_eq!(until_served(near, &mut client, short), "77");
    client.init_db("d").expect("an answer");
    assert_eq!(ask(&mut client, short), "1");
    // A temporary table of the session.
    until_served(near, &mut client, short);
    ask(&mut client, "CREATE TEMPORARY TABLE t SELECT 1 AS id, 5 AS v");
    for _ in 0..3 {
        assert_eq!(ask(&mut client, short), "5");
    }
    ask(&mut client, "DROP TEMPORARY TABLE t");
    assert_eq!(ask(&mut client, short), "1");
    assert_eq!(until_served(near, &mut client, short), "1");
}

#[test]
fn a_transaction_sees_its_own_snapshot_and_its_own_writes() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut other) = (near.client(), near.client());
    until_served(near, &mut client, READ);
    ask(&mut client, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
    scene.direct().must("UPDATE d.t SET v = 2 WHERE id = 1").expect("it is written");
    assert_eq!(until_served(near, &mut other, READ), "2");
    assert_eq!(ask(&mut client, READ), "1", "the snapshot");
    assert_eq!(ask(&mut client, READ), "1", "the snapshot");
    ask(&mut client, "COMMIT");
    assert_eq!(ask(&mut client, READ), "2");
    until_served(near, &mut client, READ);
    ask(&mut client, "SET autocommit = 0");
    ask(&mut client, "UPDATE d.t SET v = 3 WHERE id = 1");
    assert_eq!(ask(&mut client, READ), "3", "its own write");
    assert_eq!(ask(&mut other, READ), "2");
    ask(&mut client, "ROLLBACK");
    assert_eq!(ask(&mut client, READ), "2");
}

#[test]
fn privileges_that_are_revoked_are_gone_at_once() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut admin = scene.direct();
    for statement in ["CREATE USER app@'%'", "GRANT SELECT ON d.t TO app@'%'"] {
        admin.must(statement).expect(statement);
    }
    let mut root = near.client();
    until_served(near, &mut root, READ);
    let mut app = near.login("app", "").expect("a connection");
    assert_eq!(until_served(near, &mut app, READ), "1");
    admin.must("REVOKE SELECT ON d.t FROM app@'%'").expect("it is revoked");
    assert_eq!(ask(&mut app, READ), "error 1142");
    app.change_user(&Login::default()).expect("an answer");
    assert_eq!(until_served(near, &mut app, READ), "1");
    app.change_user(&Login::user("app", "")).expect("an answer");
    assert_eq!(ask(&mut app, READ), "error 1142");
}

#[test]
fn what_a_read_leaves_behind_is_there_for_the_next_statement() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    let two = "SELECT v FROM d.t ORDER BY id";
    until_served(near, &mut client, two);
    until_served(near, &mut client, READ);
    ask(&mut client, "SELECT CAST('x' AS INT)");
    until_served(near, &mut client, READ);
    assert_eq!(until_served(near, &mut client, two), "1;2");
    assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "2");
    assert_eq!(until_served(near, &mut client, READ), "1");
    assert_eq!(ask(&mut client, "SHOW WARNINGS"), "");
    until_served(near, &mut client, two);
    client.ping().expect("an answer");
    assert_eq!(ask(&mut client, "SELECT FOUND_ROWS(), ROW_COUNT()"), "2,-1");
}

#[test]
fn rows_found_are_never_those_of_a_later_state() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, two) = (near.client(), "SELECT v FROM d.t ORDER BY id");
    assert_eq!(until_served(near, &mut client, two), "1;2");
    scene.direct().must("INSERT INTO d.t VALUES (3, 3)").expect("it is written");
    assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "error 1020");
    assert_eq!(ask(&mut client, two), "1;2;3");
    assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "3");
}

#[test]
fn rows_found_are_not_those_of_a_later_state_after_other_statements_either() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    let two = "SELECT v FROM d.t WHERE id < 9 ORDER BY id";
    for (id, between) in ["SET @x = 1", "SHOW WARNINGS", "SELECT nothing FROM d.t", "DO 1"].iter().enumerate() {
        until_served(near, &mut client, two);
        direct.must(&format!("INSERT INTO d.t VALUES ({}, 3)", id + 3)).expect("it is written");
        ask(&mut client, between);
        for _ in 0..2 {
            assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "error 1020", "{between}");
        }
        ask(&mut client, two);
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), (id + 3).to_string(), "{between}");
    }
    until_served(near, &mut client, two);
    direct.must("DELETE FROM d.t WHERE id > 1").expect("it is written");
    ask(&mut client, "SELECT v FROM d.t UNION ALL SELECT 7 UNION ALL SELECT 8");
    assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "3", "another read has been run since");
}

/// Checks that reads with SQL_CALC_FOUND_ROWS are answered from the server's own memory, with the right number of rows. A near cache does
/// not know that number.
#[test]
fn rows_that_a_limit_hides_are_counted_in_the_server() {
    const COUNTING: &str = "SELECT SQL_CALC_FOUND_ROWS v FROM d.t ORDER BY id LIMIT 1";
    const FOUND: &str = "SELECT FOUND_ROWS()";
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    direct.must("SET SESSION fqc_type = OFF").expect("it is set");
    let mut counter = scene.direct();
    let mut hits_of_server = || ask(&mut counter, "SHOW GLOBAL STATUS LIKE 'Fqc_hits'");
    for id in 3..9 {
        direct.must(&format!("INSERT INTO d.t VALUES ({id}, {id})")).expect("it is written");
        wait_until("a hit in the server", || {
            let before = hits_of_server();
            let answers = [COUNTING, FOUND, FOUND].map(|read| ask(&mut client, read));
            assert_eq!(answers, ["1".into(), id.to_string(), "1".into()]);
            hits_of_server() != before
        });
        until_served(near, &mut client, READ);
        for between in [READ, "DO 1", "SET @x = 1"] {
            let [shown, truth] =
                [&mut client, &mut direct].map(|one| [COUNTING, between, FOUND].map(|text| ask(one, text)));
            assert_eq!(shown, truth, "{between}");
        }
    }
}

/// Checks that a client that repeats a read whose result has become stale lets the server run the read once, and not a second time in place
/// of the earlier answer from memory.
#[test]
fn a_read_that_is_asked_again_is_run_once() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    let mut counter = scene.direct();
    let mut asked = || -> u64 {
        let counts = ask(&mut counter, "SHOW GLOBAL STATUS WHERE Variable_name IN ('Fqc_hits', 'Fqc_misses')");
        counts.split([',', ';']).filter_map(|word| word.parse::<u64>().ok()).sum()
    };
    for value in 5..9 {
        until_served(near, &mut client, READ);
        direct.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).expect("it is written");
        let before = asked();
        assert_eq!(ask(&mut client, READ), value.to_string());
        assert_eq!(asked() - before, 1);
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "1");
    }
}

/// Checks FOUND_ROWS() after an aggregate over an empty range: it is that of the read before, which was also answered from memory.
#[test]
fn rows_found_before_an_aggregate_over_nothing() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    let nothing = "SELECT BIT_XOR(id) FROM d.t WHERE id BETWEEN 6 AND 5";
    let count = "SELECT COUNT(*) FROM d.t WHERE id < 9";
    let found = "SELECT FOUND_ROWS()";
    for read in [READ, nothing, count] {
        until_served(near, &mut client, read);
    }
    let begin = |client: &mut Client| {
        assert_eq!(ask(client, "SELECT 1 UNION SELECT 2 UNION SELECT 3"), "1;2;3");
        assert_eq!(until_served(near, client, READ), "1");
    };
    begin(&mut client);
    assert_eq!((until_served(near, &mut client, count), ask(&mut client, found)), ("2".into(), "1".into()));
    begin(&mut client);
    for _ in 0..2 {
        assert_eq!((until_served(near, &mut client, nothing), ask(&mut client, found)), ("0".into(), "1".into()));
    }
    // The near cache does not remember that many reads, so the number is unknown. The second question fails, too, although no read is
    // pending any more.
    let many: Vec<_> =
        (0..12).map(|id| format!("SELECT BIT_XOR(id) + {id} FROM d.t WHERE id BETWEEN 6 AND 5")).collect();
    many.iter().for_each(|read| drop(until_served(near, &mut client, read)));
    begin(&mut client);
    many.iter().for_each(|read| drop(until_served(near, &mut client, read)));
    for _ in 0..2 {
        assert_eq!(ask(&mut client, found), "error 1020");
    }
    // The server runs this read, which does not change its number, so the number is still unknown.
    let uncounted = "SELECT MIN(id) FROM d.t WHERE 1 = 0";
    assert_eq!((ask(&mut client, uncounted), ask(&mut client, found)), ("NULL".into(), "error 1020".into()));
    assert_eq!((until_served(near, &mut client, READ), ask(&mut client, found)), ("1".into(), "1".into()));
}

/// Checks FOUND_ROWS() after a read that fails after it has sent rows: it is the number of these rows.
#[test]
fn rows_found_by_a_read_that_fails_on_its_way_are_its_own() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    let statements =
        ["CREATE TABLE d.b (id INT PRIMARY KEY, v BIGINT UNSIGNED)", "INSERT INTO d.b VALUES (1, 8), (2, 1)"];
    statements.iter().for_each(|one| drop(direct.must(one).expect(one)));
    let block = "BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SHOW WARNINGS; SELECT FOUND_ROWS(); END";
    for question in ["SELECT FOUND_ROWS()", block] {
        for none in ["SELECT v FROM d.t WHERE id = 9", "SELECT v FROM d.t WHERE id = 8"] {
            assert_eq!(until_served(near, &mut client, none), "");
        }
        assert_eq!(ask(&mut client, "SELECT 1 / (v - 3) FROM d.b ORDER BY id"), "error 1690");
        assert_eq!(ask(&mut client, question), "1");
    }
}

#[test]
fn a_connection_that_is_killed_is_served_nothing() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    until_served(near, &mut client, READ);
    scene.direct().must(&format!("KILL {}", client.thread_id)).expect("it is killed");
    wait_until("its end", || client.query(READ).map_or(true, |answer| answer.failure().is_some()));
}

/// Stops the near cache, writes a value and sends reads to the near cache. Checks that it does not answer them from memory when it
/// continues.
#[test]
fn a_near_cache_that_was_stopped_for_longer_than_its_lease_serves_nothing_old() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut clients: Vec<Client> = (0..8).map(|_| near.client()).collect();
    let mut direct = scene.direct();
    for round in 100..106 {
        for client in &mut clients {
            until_served(near, client, READ);
        }
        near.signal(libc::SIGSTOP);
        // The write waits until the lease has ended.
        direct.must(&format!("UPDATE d.t SET v = {round} WHERE id = 1")).expect("it is written");
        for client in &mut clients {
            client.send(command::QUERY, READ.as_bytes()).expect("it is sent");
        }
        near.signal(libc::SIGCONT);
        for client in &mut clients {
            assert_eq!(said(&client.read_response().expect("an answer")), round.to_string());
        }
    }
}

#[test]
fn nothing_is_served_without_a_feed_and_all_again_with_a_new_one() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    let mut direct = scene.direct();
    for value in 50..55 {
        until_served(near, &mut client, READ);
        let feed = "SELECT id FROM information_schema.processlist WHERE user = 'feed'";
        let feed = ask(&mut direct, feed);
        direct.must(&format!("KILL {feed}")).expect("it is killed");
        direct.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).expect("it is written");
        assert_eq!(ask(&mut client, READ), value.to_string());
    }
    until_served(near, &mut client, READ);
}

#[test]
fn a_server_that_restarts_and_a_plugin_that_comes_and_goes() {
    let mut scene = Scene::of(1);
    until_served(&scene.nears[0], &mut scene.nears[0].client(), READ);
    scene.server.restart().expect("it restarts");
    let mut admin = scene.direct();
    admin.must("UPDATE d.t SET v = 9 WHERE id = 1").expect("it is written");
    let near = &scene.nears[0];
    assert_eq!(ask(&mut near.client(), READ), "9");
    admin.must("SET GLOBAL fqc_size = 67108864, GLOBAL fqc_type = ON").expect("it is on");
    near.wait_for_metric("serving", |serving| serving == 1);
    let mut client = near.client();
    assert_eq!(until_served(near, &mut client, READ), "9");
    admin.must("UNINSTALL SONAME 'fqc'").expect("it goes");
    admin.must("UPDATE d.t SET v = 10 WHERE id = 1").expect("it is written");
    let before = hits(near);
    for _ in 0..20 {
        assert_eq!(ask(&mut client, READ), "10");
    }
    assert_eq!(hits(near), before);
    wait_until("a reason", || near.log().contains("does not run Fast Query Cache"));
    // The plugin can only be installed again after the connections that were open when it was removed have ended.
    drop((client, admin));
    wait_until("the plugin", || scene.server.install_plugin().is_ok());
    near.wait_for_metric("serving", |serving| serving == 1);
    assert_eq!(until_served(near, &mut near.client(), READ), "10");
}

#[test]
fn who_may_not_attach_is_told_why_and_relays() {
    let scene = Scene::of(0);
    scene.direct().must("CREATE USER nobody@'%'").expect("an account");
    for (user, reason) in [("nobody", "error 1227"), ("unknown", "error 1045")] {
        let near = near(&scene.server, &["--feed-user", user]);
        wait_until("a reason", || near.log().contains(reason));
        assert_eq!(ask(&mut near.client(), READ), "1");
        assert!(near.get("/metrics").contains(reason));
        assert_eq!(near.metric("serving"), 0);
    }
    let near = near(&scene.server, &[]);
    wait_until("a reason", || near.log().contains("feed-user is not set"));
}

#[test]
fn results_take_no_more_memory_than_they_may() {
    const SIZE: u64 = 4 << 20;
    let scene = Scene::of(0);
    let mut direct = scene.direct();
    direct.must("CREATE TABLE d.big (id INT PRIMARY KEY, v VARCHAR(4000))").expect("a table");
    direct.must("USE d").expect("a database");
    direct.must("INSERT INTO d.big SELECT seq, REPEAT('x', 4000) FROM seq_1_to_3000").expect("rows");
    let near = attached(&scene.server, &["--size", &SIZE.to_string()]);
    let mut client = near.client();
    until_served(&near, &mut client, READ);
    let before = near.resident_kib();
    for id in 1..=3000 {
        ask(&mut client, &format!("SELECT v FROM d.big WHERE id = {id}"));
        assert!(id % 100 != 0 || near.metric("memory_bytes") <= SIZE);
    }
    assert!(near.metric("entries") > 100, "{}", near.metric("entries"));
    let grown = near.resident_kib().saturating_sub(before) * 1024;
    assert!(grown < SIZE + (8 << 20), "{grown}");
}

/// Reads through two near caches and directly while others write. Checks that no client sees an older value than any client has seen
/// before.
#[test]
fn nobody_goes_back_in_time() {
    let scene = Scene::of(2);
    let is_over = AtomicBool::new(false);
    let newest = std::sync::atomic::AtomicU64::new(1);
    thread::scope(|scope| {
        for endpoint in [scene.nears[0].tcp(), scene.nears[1].unix(), scene.server.endpoint()] {
            for _ in 0..2 {
                let (is_over, newest, endpoint) = (&is_over, &newest, endpoint.clone());
                scope.spawn(move || {
                    let mut client = Client::root(&endpoint).expect("a connection");
                    while !is_over.load(Ordering::SeqCst) {
                        let least = newest.load(Ordering::SeqCst);
                        let seen: u64 = ask(&mut client, READ).parse().expect("a number");
                        assert!(seen >= least, "{seen} is older than {least}");
                        newest.fetch_max(seen, Ordering::SeqCst);
                    }
                });
            }
        }
        let mut writers = [scene.direct(), scene.nears[0].client()];
        let begun = Instant::now();
        let mut count = 0;
        while begun.elapsed() < Duration::from_secs(8) {
            count += 1;
            ask(&mut writers[count % 2], "UPDATE d.t SET v = v + 1 WHERE id = 1");
            newest.fetch_max(count as u64 + 1, Ordering::SeqCst);
            if count % 3 == 0 {
                thread::sleep(Duration::from_millis(5));
            }
        }
        is_over.store(true, Ordering::SeqCst);
    });
    assert!(hits(&scene.nears[0]) > 100 && hits(&scene.nears[1]) > 100);
}

#[test]
fn what_is_asked_of_the_cache_is_told_of_the_near_cache() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    until_served(near, &mut client, READ);
    let hits = hits(near);
    let status = ask(&mut client, "SHOW FQC STATUS");
    let items: Vec<_> = status.split(';').filter_map(|row| row.split_once(',')).collect();
    let value = |item| items.iter().find(|(name, _)| *name == item).map(|(_, value)| value.to_string());
    assert!(status.starts_with("Cache,ON, beside the application;"), "{status}");
    assert_eq!(value("Hits"), Some(hits.to_string()));
    assert_eq!(ask(&mut client, "show fqc status LIKE 'hits'"), format!("Hits,{hits}"));
    assert_eq!(ask(&mut client, "SHOW GLOBAL STATUS LIKE 'Qcache\\_hits'"), format!("Qcache_hits,{hits}"));
    let through = ask(&mut client, "SHOW STATUS LIKE 'qcache%'");
    let names =
        |told: &str| told.split(';').filter_map(|row| Some(row.split_once(',')?.0.to_owned())).collect::<Vec<_>>();
    assert_eq!(names(&through), names(&ask(&mut scene.direct(), "SHOW STATUS LIKE 'qcache%'")));
    // These statements are answered by the server, which also reports errors in them.
    let attached = ask(&mut client, "SHOW FQC NEAR");
    assert!(!attached.is_empty() && !attached.starts_with("error"), "{attached}");
    assert_eq!(ask(&mut client, "SHOW FQC STATUS WHERE nothing = 1"), "error 1054");
    // These statements change nothing about what is served, and they can be used in a transaction.
    assert_eq!(until_served(near, &mut client, READ), "1");
    ask(&mut client, "BEGIN");
    let within = client.query("SHOW FQC STATUS").expect("an answer");
    assert_eq!(within.status().map(|flags| flags & 1), Some(1), "it is in a transaction");
    scene.direct().must("UNINSTALL SONAME 'fqc'").expect("it goes");
    wait_until("the reason", || ask(&mut client, "SHOW FQC STATUS").starts_with("Cache,OFF: "));
}

#[test]
fn statements_are_told_as_they_are_answered_here() {
    const QUERIES: &str = "SHOW FQC QUERIES WHERE Query LIKE 'SELECT v FROM d.t WHERE id = ?'";
    let scene = Scene::of(1);
    let (near, mut direct) = (scene.near(), scene.direct());
    let mut client = near.client();
    until_served(near, &mut client, READ);
    // By then the server has reported the statement. Statements that differ in literals only are one.
    until_served(near, &mut client, "SELECT v FROM d.t WHERE id = 2");
    let here = client.query(QUERIES).expect("an answer").rows(false);
    let there = direct.query(QUERIES).expect("an answer").rows(false);
    let value =
        |row: &[Option<Vec<u8>>], at: usize| String::from_utf8_lossy(row[at].as_deref().expect("a value")).into_owned();
    assert_eq!((here.len(), value(&here[0], 0), value(&here[0], 1)), (1, value(&there[0], 0), value(&there[0], 1)));
    let number = |at: usize| value(&here[0], at).parse::<u64>().expect("a number");
    let (executions, served, stored) = (number(2), number(3), number(5));
    assert_eq!((served, executions), (hits(near), served + stored));
    assert!(stored >= 2 && number(10) > 0, "what was served has taken the server time: {here:?}");
    // An execution counts for the text that was prepared.
    let prepared = client.prepare("SELECT v FROM d.t WHERE id = ?").expect("an answer").1.expect("it is prepared");
    let before = hits(near);
    wait_until("an execution from memory", || {
        client.execute(&prepared, &[Param::Int(1)]).expect("an answer");
        hits(near) > before
    });
    let again = client.query(QUERIES).expect("an answer").rows(false);
    assert_eq!(value(&again[0], 3), hits(near).to_string());
}

#[test]
fn the_curve_tells_how_other_sizes_would_do_here() {
    let scene = Scene::of(1);
    let (near, mut client) = (scene.near(), scene.near().client());
    let mut curve = Vec::new();
    wait_until("a prediction", || {
        (0..100).for_each(|_| drop(client.query(READ).expect("an answer")));
        curve = client.query("SHOW FQC CURVE").expect("an answer").rows(false);
        !curve.is_empty()
    });
    let number = |row: &[Option<Vec<u8>>], at: usize| -> f64 {
        String::from_utf8_lossy(row[at].as_deref().expect("a value")).parse().expect("a number")
    };
    let size = ask(&mut client, "SHOW FQC STATUS LIKE 'Size in bytes'");
    assert_eq!(size, format!("Size in bytes,{}", number(&curve[3], 0)));
    assert_eq!(curve.len(), 7);
    assert!(curve.iter().all(|row| number(row, 1) > 0.5), "one read repeats: {curve:?}; {}", hits(near));
}

#[test]
fn who_may_not_see_others_statements_on_the_server_may_not_here() {
    const REPORTS: [&str; 3] = ["SHOW FQC QUERIES", "SHOW FQC CURVE", "SHOW FQC STATUS"];
    let scene = Scene::of(1);
    let (near, mut direct) = (scene.near(), scene.direct());
    ["CREATE USER app@'%'", "GRANT SELECT ON d.* TO app@'%'"].iter().for_each(|one| drop(direct.must(one).expect(one)));
    let message = |client: &mut Client, report: &str| {
        client.query(report).expect("an answer").failure().map(|failure| (failure.code, failure.message.clone()))
    };
    let mut there = Client::connect(&scene.server.endpoint(), &Login::user("app", "")).expect("a connection");
    let mut client = near.login("app", "").expect("a connection");
    for report in REPORTS {
        // The server first has to run a read that was answered from memory; it succeeds.
        until_served(near, &mut client, READ);
        let refused = message(&mut client, report);
        assert_eq!(refused.as_ref().map(|(code, _)| *code), Some(1227), "{report}");
        assert_eq!(refused, message(&mut there, report));
        assert_eq!(message(&mut client, report), refused, "nothing is to be answered first");
        assert_eq!(message(&mut client, "SHOW STATUS LIKE 'Qcache%'"), None);
    }
    direct.must("GRANT PROCESS ON *.* TO app@'%'").expect("it is granted");
    let mut client = near.login("app", "").expect("a connection");
    for report in REPORTS {
        until_served(near, &mut client, READ);
        assert_eq!(message(&mut client, report), None, "{report}");
    }
}

#[test]
fn the_curve_takes_no_read_that_was_not_kept_for_a_hit() {
    let scene = Scene::of(1);
    let mut client = scene.near().client();
    let (mut id, mut curve) = (0, Vec::new());
    wait_until("a prediction", || {
        for _ in 0..3000 {
            id += 1;
            ask(&mut client, &format!("SELECT v FROM d.t WHERE id = {id}"));
        }
        curve = client.query("SHOW FQC CURVE").expect("an answer").rows(false);
        !curve.is_empty()
    });
    let is_none = |row: &[Option<Vec<u8>>]| row[1].as_deref() < Some(b"0.02");
    assert!(curve.iter().all(|row| is_none(row)), "{curve:?}");
}

/// Checks that `/metrics`, `SHOW FQC STATUS` and the log of the near cache, and `SHOW FQC NEAR` of the server, all give the same reason while
/// the near cache is attached and the server's cache reports no results; and that none of them does while it reports results.
#[test]
fn a_near_cache_says_that_the_servers_cache_only_observes_or_has_no_memory() {
    let scene = Scene::of(1);
    let (mut admin, mut client) = (scene.direct(), scene.near().client());
    let size = ask(&mut admin, "SELECT @@query_cache_size");
    let back = format!("SET GLOBAL query_cache_size = {size}");
    let cases = [
        (
            &["SET GLOBAL fqc_observe = ON", "SET GLOBAL query_cache_type = OFF"][..],
            "the server's cache only observes",
            &["SET GLOBAL query_cache_type = ON", "SET GLOBAL fqc_observe = OFF"][..],
        ),
        (&["SET GLOBAL query_cache_size = 0"], "the server's cache is off", &[&back]),
    ];
    let obstacle_of_server = || ask(&mut scene.direct(), "SHOW FQC NEAR").rsplit(',').next().map(str::to_owned);
    for (obstruct, why, restore) in cases {
        obstruct.iter().for_each(|one| drop(admin.must(one).expect(one)));
        scene.near().wait_for_metric("serving", |serving| serving == 0);
        let status = ask(&mut client, "SHOW FQC STATUS WHERE Item = 'Cache'");
        assert_eq!(status, format!("Cache,OFF: {why}"), "{}", scene.near().log());
        let metrics = scene.near().get("/metrics");
        assert!(metrics.contains(&format!("fqc_near_obstacle{{reason=\"{why}\"}} 1")), "{metrics}");
        let logged = format!("attached, but nothing is answered from memory: {why}");
        assert!(scene.near().log().contains(&logged), "{}", scene.near().log());
        assert_eq!(obstacle_of_server().as_deref(), Some(why));
        restore.iter().for_each(|one| drop(admin.must(one).expect(one)));
        scene.near().wait_for_metric("serving", |serving| serving == 1);
        let status = ask(&mut client, "SHOW FQC STATUS WHERE Item = 'Cache'");
        assert!(status.starts_with("Cache,ON"), "{status}");
        assert_eq!(obstacle_of_server().as_deref(), Some(""));
    }
}

/// Checks that a feed that breaks again and again is attached again soon each time, although nothing is answered from memory in between. If
/// each attempt were taken for a failed one, the pauses before the attempts would add up to more than twenty seconds.
#[test]
fn a_feed_that_breaks_is_attached_again_soon_while_the_server_only_observes() {
    let scene = Scene::of(1);
    let mut admin = scene.direct();
    ["SET GLOBAL fqc_observe = ON", "SET GLOBAL query_cache_type = OFF"]
        .iter()
        .for_each(|one| drop(admin.must(one).expect(one)));
    scene.near().wait_for_metric("serving", |serving| serving == 0);
    let begun = Instant::now();
    for _ in 0..8 {
        let attachment = |admin: &mut Client| {
            let row = ask(admin, "SHOW FQC NEAR");
            row.rsplit(',').nth(1).map(str::to_owned)
        };
        let before = attachment(&mut admin);
        let feed = ask(&mut admin, "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'feed'");
        ask(&mut admin, &format!("KILL {feed}"));
        wait_until("the next feed", || attachment(&mut admin).is_some_and(|now| Some(&now) != before.as_ref()));
    }
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}: {}", begun.elapsed(), scene.near().log());
}
