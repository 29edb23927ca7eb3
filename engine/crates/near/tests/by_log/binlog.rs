//! Near caches that follow the server's binary log never serve a result that has been stale for longer than the bound. Writes through the
//! near cache are seen at once.

use crate::beside::cluster::{self, Cluster};
use crate::beside::followed::{
    Kind, LONG, direct, is_said, kinds, mariadb, mysql, run, show, until_heard, with_stores,
};
use crate::beside::scene::{READ, ask, hits, said, until_served};
use crate::beside::store::Store;
use crate::beside::{Folder, LIMIT, Near, near_with, wait_until};
use fqc_tests::client::{Client, Endpoint, Param, Prepared, command};
use fqc_tests::server::Server;
use fqc_tests::wire::Wire;
use locks::Mutex;
use std::collections::VecDeque;
use std::fmt::Display;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_read_that_repeats_is_answered_from_memory_byte_for_byte() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut other) = (near.client(), near.client());
        let expected = direct(&server).query(READ).expect("an answer").bytes;
        until_served(&near, &mut client, READ);
        let before = hits(&near);
        for _ in 0..20 {
            assert_eq!(client.query(READ).expect("an answer").bytes, expected);
        }
        assert_eq!(hits(&near) - before, 20, "{}", near.log());
        assert_eq!(until_served(&near, &mut other, READ), "1");
        assert!(near.metric("staleness_microseconds") < 3_600_000_000);
    }
}

/// Checks that new connections are served from their second read on, although the near cache asks for the log's position only a few times a
/// second. PHP opens such a short connection for each page.
#[test]
fn a_connection_of_a_moment_is_served_what_earlier_ones_have_read() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let [_, expected] = [READ, OTHER].map(|read| until_served(&near, &mut near.client(), read));
        for _ in 0..5 {
            let mut client = near.client();
            // The near cache asks for the session's settings before it can look up the first read.
            ask(&mut client, READ);
            let before = hits(&near);
            assert_eq!(ask(&mut client, OTHER), expected);
            assert_eq!(hits(&near), before + 1, "{}", near.log());
        }
    }
}

#[test]
fn what_others_write_by_any_way_ends_what_was_read() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut writer) = (near.client(), direct(&server));
        let definitions = [
            "CREATE TRIGGER d.after_u AFTER INSERT ON d.u FOR EACH ROW UPDATE d.t SET v = NEW.v WHERE id = 1",
            "CREATE PROCEDURE d.p(x INT) UPDATE d.t SET v = x WHERE id = 1",
        ];
        run(&mut writer, &definitions);
        for round in 10..34 {
            until_served(&near, &mut client, READ);
            let value = round.to_string();
            let update = format!("UPDATE d.t SET v = {value} WHERE id = 1");
            match round % 8 {
                0 => run(&mut writer, &[&update]),
                1 => run(&mut writer, &["BEGIN", &update, "COMMIT"]),
                2 => run(&mut writer, &[&format!("INSERT INTO d.u VALUES ({value}, {value})")]),
                3 => run(&mut writer, &[&format!("CALL d.p({value})")]),
                4 => run(
                    &mut writer,
                    &["SET SESSION binlog_format = STATEMENT", &update, "SET SESSION binlog_format = ROW"],
                ),
                5 => run(&mut writer, &["SET SESSION binlog_row_image = MINIMAL", &update]),
                6 => {
                    let copy = format!("INSERT INTO d.other SELECT id, {value} FROM d.t");
                    let swap = "RENAME TABLE d.t TO d.old, d.other TO d.t";
                    run(&mut writer, &["CREATE TABLE d.other LIKE d.t", &copy, swap, "DROP TABLE d.old"]);
                }
                _ => {
                    let insert = format!("INSERT INTO d.t VALUES (1, {value})");
                    run(&mut writer, &["FLUSH BINARY LOGS", "TRUNCATE TABLE d.t", &insert]);
                }
            }
            is_said(&near, &mut client, READ, &value);
            assert_eq!(until_served(&near, &mut client, READ), value);
        }
    }
}

#[test]
fn what_goes_through_is_seen_at_once_by_every_connection() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut other, mut prepared) = (near.client(), near.client(), near.client());
        run(&mut direct(&server), &["CREATE PROCEDURE d.p(x INT) UPDATE d.t SET v = x WHERE id = 1"]);
        for round in 10..50 {
            until_served(&near, &mut other, READ);
            let value = round.to_string();
            let update = format!("UPDATE d.t SET v = {value} WHERE id = 1");
            match round % 4 {
                0 => run(&mut client, &[&update]),
                1 => run(&mut client, &["BEGIN", &update, "COMMIT"]),
                2 => {
                    let (_, statement) = prepared.prepare(&update).expect("it is prepared");
                    prepared.execute(&statement.expect("a statement"), &[]).expect("an answer");
                }
                _ => run(&mut near.client(), &[&format!("CALL d.p({value})")]),
            }
            assert_eq!(ask(&mut other, READ), value, "{}", near.log());
            assert_eq!(ask(&mut near.client(), READ), value);
        }
    }
}

/// Repeats `READ` until it is no longer answered from memory, because the near cache has received a change, and returns the answer then.
/// Two reads in a row must go to the server: a single one may, as the near cache passes a read on now and then.
fn until_ended(near: &Near, client: &mut Client) -> String {
    let begun = Instant::now();
    loop {
        let before = hits(near);
        let answers = [(); 2].map(|()| ask(client, READ));
        if hits(near) == before {
            return answers[1].clone();
        }
        assert!(begun.elapsed() < LIMIT, "{}", near.log());
    }
}

/// Checks that an old value is not kept that is read after its change was received in the log and before the change is visible. That takes
/// as long as the server waits for a semi-synchronous replica, which does not exist here.
#[test]
fn what_is_read_while_a_commit_waits_is_not_kept() {
    const BOUND: Duration = Duration::from_millis(400);
    let kind = mariadb();
    let server = kind.logging();
    let near = kind.following(&server, "400");
    let (mut client, mut writer) = (near.client(), direct(&server));
    until_served(&near, &mut client, READ);
    let waiting = [
        "SET GLOBAL rpl_semi_sync_master_wait_point = 'AFTER_SYNC'",
        "SET GLOBAL rpl_semi_sync_master_timeout = 3600000",
        "SET GLOBAL rpl_semi_sync_master_enabled = 1",
    ];
    run(&mut writer, &waiting);
    writer.send(command::QUERY, b"UPDATE d.t SET v = 7 WHERE id = 1").expect("it is sent");
    assert_eq!(until_ended(&near, &mut client), "1");
    for _ in 0..20 {
        ask(&mut client, READ);
    }
    run(&mut direct(&server), &["SET GLOBAL rpl_semi_sync_master_enabled = 0"]);
    assert!(writer.read_response().expect("an answer").failure().is_none());
    let known = Instant::now();
    wait_until("the bound", || known.elapsed() > BOUND);
    assert_eq!(ask(&mut client, READ), "7");
    assert_eq!(until_served(&near, &mut client, READ), "7");
}

#[test]
fn a_result_is_kept_only_if_all_that_can_change_it_is_known() {
    for kind in kinds() {
        let server = kind.logging();
        let mut admin = direct(&server);
        let statements = [
            "USE d",
            "CREATE FUNCTION d.f() RETURNS INT READS SQL DATA RETURN (SELECT MAX(v) FROM d.t)",
            "CREATE VIEW d.w AS SELECT d.f() AS v FROM d.t",
            "CREATE TABLE d.`par\u{e9}nt` (id INT PRIMARY KEY) ENGINE = InnoDB",
            "CREATE TABLE d.child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.`par\u{e9}nt` (id) ON DELETE CASCADE) ENGINE = InnoDB",
            &format!("CREATE TABLE d.plain (id INT PRIMARY KEY) ENGINE = {}", kind.other_engine),
            "CREATE TABLE d.times (id INT PRIMARY KEY, t TIME) ENGINE = InnoDB",
            "CREATE TABLE d.old (id INT PRIMARY KEY) ENGINE = InnoDB /*M! WITH SYSTEM VERSIONING */",
            "CREATE DATABASE unseen",
            "CREATE TABLE unseen.t (id INT PRIMARY KEY) ENGINE = InnoDB",
        ];
        run(&mut admin, &statements);
        let near = kind.following(&server, LONG);
        let mut client = near.client();
        let reads = [
            "SELECT v FROM d.w",
            "SELECT d.f() FROM d.t",
            "SELECT * FROM d.child",
            "SELECT * FROM d.plain",
            "SELECT * FROM d.times",
            "SELECT * FROM d.old",
            "SELECT * FROM unseen.t",
            "SELECT NOW() FROM d.t",
            "SELECT t.v FROM d.t, d.w",
            "SELECT * FROM nowhere.t",
            "SELECT COUNT(*) FROM mysql.user",
        ];
        // After these reads and the waits below, the near cache knows all tables: it looks them up in order, and the last ones are served.
        // MySQL has no tables with system versioning.
        let reads = reads.into_iter().filter(|read| !kind.is_mysql() || !read.contains("d.old"));
        for read in reads.clone() {
            ask(&mut client, read);
        }
        until_served(&near, &mut client, READ);
        until_served(&near, &mut client, "SELECT COUNT(*) FROM d.u, d.t");
        for read in reads {
            let before = hits(&near);
            for _ in 0..5 {
                ask(&mut client, read);
            }
            assert_eq!(hits(&near), before, "{read}");
        }
        // The results of a session that reads uncommitted changes are not kept.
        let mut dirty = near.client();
        run(&mut dirty, &["SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"]);
        run(&mut admin, &["BEGIN", "UPDATE d.t SET v = 9 WHERE id = 1"]);
        (0..5).for_each(|_| assert_eq!(ask(&mut dirty, READ), "9"));
        run(&mut admin, &["ROLLBACK"]);
        assert_eq!(ask(&mut dirty, READ), "1");
        assert_eq!(until_served(&near, &mut client, READ), "1");
    }
}

#[test]
fn a_temporary_table_that_a_routine_makes_is_of_its_session_alone() {
    for kind in kinds() {
        let server = kind.logging();
        let mut admin = direct(&server);
        let function = "CREATE FUNCTION d.f() RETURNS INT MODIFIES SQL DATA BEGIN \
            CREATE TEMPORARY TABLE d.t (id INT PRIMARY KEY, v INT); INSERT INTO d.t VALUES (1, 777); RETURN 1; END";
        run(&mut admin, &["SET GLOBAL log_bin_trust_function_creators = ON", function]);
        let near = kind.following(&server, LONG);
        let (mut client, mut other) = (near.client(), near.client());
        until_served(&near, &mut client, READ);
        assert_eq!(ask(&mut client, "SELECT d.f()"), "1");
        for _ in 0..10 {
            assert_eq!(ask(&mut client, READ), "777");
            assert_eq!(ask(&mut other, READ), "1");
        }
        assert_eq!(until_served(&near, &mut other, READ), "1");
    }
}

#[test]
fn a_name_that_comes_to_stand_for_something_else_is_asked_about_again() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut admin) = (near.client(), direct(&server));
        let read = "SELECT v FROM d.x WHERE id = 1";
        for round in 0..4 {
            let value = (20 + round).to_string();
            run(&mut admin, &["CREATE TABLE d.x LIKE d.t", &format!("INSERT INTO d.x VALUES (1, {value})")]);
            is_said(&near, &mut client, read, &value);
            assert_eq!(until_served(&near, &mut client, read), value);
            run(&mut admin, &["DROP TABLE d.x", "CREATE VIEW d.x AS SELECT * FROM d.t"]);
            show(&mut admin, &["d.x"]);
            is_said(&near, &mut client, read, "1");
            assert_eq!(until_served(&near, &mut client, read), "1");
            run(&mut admin, &["DROP VIEW d.x"]);
        }
    }
}

#[test]
fn a_grant_that_is_taken_away_counts() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let mut admin = direct(&server);
        run(&mut admin, &["CREATE USER app@'%'", "GRANT SELECT ON d.* TO app@'%'"]);
        let mut app = near.login("app", "").expect("a connection");
        assert_eq!(until_served(&near, &mut app, READ), "1");
        run(&mut admin, &["REVOKE SELECT ON d.* FROM app@'%'"]);
        is_said(&near, &mut app, READ, "error 1142");
    }
}

/// A server looks up some privileges only when a session begins or changes its database, so an older session may keep those that were
/// revoked. Checks that its results are not served to sessions that began after the change.
#[test]
fn an_older_session_that_may_still_read_shares_nothing() {
    for kind in kinds() {
        let server = kind.logging();
        let mut admin = direct(&server);
        run(&mut admin, &["CREATE USER app@'%'", "GRANT SELECT ON *.* TO app@'%'"]);
        let near = kind.following(&server, LONG);
        let mut older = near.login("app", "").expect("a connection");
        assert_eq!(until_served(&near, &mut older, READ), "1");
        run(&mut admin, &["REVOKE SELECT ON *.* FROM app@'%'"]);
        // The result is kept again after the change of privileges was received, but only for this session, which may still read.
        until_heard(&near);
        assert_eq!(until_served(&near, &mut older, READ), "1");
        let mut newer = near.login("app", "").expect("a connection");
        for _ in 0..20 {
            assert_eq!(ask(&mut newer, READ), "error 1142");
        }
        assert_eq!(until_served(&near, &mut older, READ), "1");
        // Sessions that began after the change share results with each other.
        run(&mut admin, &["GRANT SELECT ON d.* TO app@'%'"]);
        until_heard(&near);
        let mut newest = [(); 2].map(|()| near.login("app", "").expect("a connection"));
        let [one, other] = &mut newest;
        until_served(&near, one, READ);
        until_served(&near, other, READ);
    }
}

#[test]
fn what_is_asked_of_the_cache_tells_of_the_log() {
    let kind = mariadb();
    let server = kind.logging();
    let near = kind.following(&server, LONG);
    let mut client = near.client();
    until_served(&near, &mut client, READ);
    let told = ask(&mut client, "SHOW FQC STATUS");
    assert!(told.starts_with("Cache,ON, beside the application, by the server's binary log;"), "{told}");
    for item in ["Bound in microseconds,3600000000", "Hits of this connection,1", "Log heard in file,1"] {
        assert!(told.split(';').any(|row| row == item), "{item}: {told}");
    }
    // On a busy machine the read may be sent more than twice before it is served from memory, so the exact number is not checked.
    assert!(told.contains(";Results stored,") && !told.contains(";Results stored,0"), "{told}");
    let statements = ask(&mut client, "SHOW FQC QUERIES");
    let (_, figures) = statements.split_once(",SELECT v FROM d.t WHERE id = ?,").expect(&statements);
    let figures: Vec<f64> = figures.split(',').take(3).map(|one| one.parse().expect(&statements)).collect();
    assert!(figures[0] >= 2.0 && figures[1] == 1.0, "{statements}");
    assert!((figures[2] - figures[1] / figures[0]).abs() < 0.0001, "{statements}");
    assert_eq!(near.metric("staleness_limit_microseconds"), 3_600_000_000);
    let before = near.metric("log_position_bytes");
    run(&mut direct(&server), &["UPDATE d.t SET v = 2 WHERE id = 1"]);
    near.wait_for_metric("log_position_bytes", |now| now > before);
    run(&mut direct(&server), &["ALTER USER follower@'%' ACCOUNT LOCK"]);
    let threads = "SELECT id FROM information_schema.processlist WHERE user = 'follower' LIMIT 1";
    let mut admin = direct(&server);
    while let Some(thread) = admin.scalar(threads).expect("an answer") {
        // The connection may have ended already.
        let _ = admin.query(format!("KILL {thread}"));
    }
    near.wait_for_metric("serving", |serving| serving == 0);
    let told = ask(&mut client, "SHOW FQC STATUS");
    assert!(told.starts_with("Cache,OFF: ") && told.contains("Answers may be old by microseconds,NULL"), "{told}");
}

#[test]
fn without_the_log_nothing_is_served_and_with_it_everything_is_read_anew() {
    for kind in kinds() {
        let mut server = kind.logging();
        let near = kind.following(&server, LONG);
        let mut client = near.client();
        until_served(&near, &mut client, READ);
        let mut admin = direct(&server);
        let threads = "SELECT GROUP_CONCAT(id) FROM information_schema.processlist WHERE user = 'follower' AND command LIKE 'Binlog%'";
        // The locked account cannot log in again for now.
        run(&mut admin, &["ALTER USER follower@'%' ACCOUNT LOCK"]);
        let dump = admin.scalar(threads).expect("an answer").expect("it is connected");
        run(&mut admin, &[&format!("KILL {dump}")]);
        near.wait_for_metric("serving", |serving| serving == 0);
        let before = hits(&near);
        for value in ["5", "6"] {
            run(&mut admin, &[&format!("UPDATE d.t SET v = {value} WHERE id = 1")]);
            assert_eq!(ask(&mut client, READ), value);
        }
        assert_eq!(hits(&near), before);
        run(&mut admin, &["ALTER USER follower@'%' ACCOUNT UNLOCK"]);
        near.wait_for_metric("serving", |serving| serving == 1);
        assert_eq!(until_served(&near, &mut client, READ), "6");
        run(&mut admin, &[kind.reset, "UPDATE d.t SET v = 8 WHERE id = 1"]);
        is_said(&near, &mut client, READ, "8");
        // The server is killed and started again.
        server.kill9().expect("it ends");
        near.wait_for_metric("serving", |serving| serving == 0);
        server.restart().expect("it is back");
        run(&mut direct(&server), &["UPDATE d.t SET v = 9 WHERE id = 1"]);
        let mut client = near.client();
        is_said(&near, &mut client, READ, "9");
        assert_eq!(until_served(&near, &mut client, READ), "9");
    }
}

/// Checks that, if another server answers at the address, all results of the old server are dropped, and the log of the new one is followed
/// from its current end.
#[test]
fn another_server_behind_the_address_is_followed_anew() {
    for kind in kinds() {
        let (mut old, new) = (kind.logging(), kind.logging());
        run(&mut direct(&new), &["UPDATE d.t SET v = 2 WHERE id = 1"]);
        let address = Wire::to(old.port()).expect("a way");
        let near = kind.started(address.port(), LONG);
        near.wait_for_metric("serving", |serving| serving == 1);
        let mut older = near.client();
        assert_eq!(until_served(&near, &mut older, READ), "1");
        address.lead_to(new.port());
        // The near cache still follows the old server's log, so connections to the new server are passed on.
        let (mut newer, before) = (near.client(), hits(&near));
        (0..20).for_each(|_| assert_eq!(ask(&mut newer, READ), "2"));
        assert_eq!(hits(&near), before);
        assert_eq!(ask(&mut older, READ), "1");
        old.kill9().expect("it ends");
        assert_eq!(until_served(&near, &mut newer, READ), "2");
        run(&mut direct(&new), &["UPDATE d.t SET v = 3 WHERE id = 1"]);
        is_said(&near, &mut newer, READ, "3");
        assert_eq!(until_served(&near, &mut newer, READ), "3");
    }
}

#[test]
fn transactions_in_two_phases_end_it() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut admin) = (near.client(), direct(&server));
        until_served(&near, &mut client, READ);
        let statements =
            ["XA START 'a'", "UPDATE d.t SET v = 3 WHERE id = 1", "XA END 'a'", "XA PREPARE 'a'", "XA COMMIT 'a'"];
        run(&mut admin, &statements);
        wait_until("the obstacle", || near.log().contains("XA transactions"));
        let before = hits(&near);
        for value in ["4", "5"] {
            run(&mut admin, &[&format!("UPDATE d.t SET v = {value} WHERE id = 1")]);
            assert_eq!(ask(&mut client, READ), value);
        }
        assert_eq!(hits(&near), before);
    }
}

#[test]
fn a_transaction_with_another_engine_bars_its_tables_alone() {
    let kind = mariadb();
    let server = kind.logging();
    let near = kind.following(&server, LONG);
    let (mut client, mut admin) = (near.client(), direct(&server));
    run(&mut admin, &["CREATE TABLE d.aria (id INT) ENGINE = Aria", "INSERT INTO d.u VALUES (1, 1)"]);
    let other = "SELECT v FROM d.u";
    until_served(&near, &mut client, READ);
    run(&mut admin, &["BEGIN", "UPDATE d.t SET v = 3", "INSERT INTO d.aria VALUES (1)", "COMMIT"]);
    is_said(&near, &mut client, READ, "3");
    until_served(&near, &mut client, other);
    let before = hits(&near);
    (0..20).for_each(|_| drop(ask(&mut client, READ)));
    assert_eq!(hits(&near), before);
}

/// Checks that an old value is not kept that is read after its change was received in the log and before the change is visible. With
/// `sync_binlog` other than 1, MySQL sends its log to replicas before the end of `binlog_group_commit_sync_delay`.
#[test]
fn what_is_read_while_mysql_delays_a_commit_is_not_kept() {
    for kind in kinds().filter(Kind::is_mysql) {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut writer) = (near.client(), direct(&server));
        run(&mut writer, &["SET GLOBAL sync_binlog = 0", "SET GLOBAL binlog_group_commit_sync_delay = 1000000"]);
        let (mut within, begun) = (0, Instant::now());
        for round in 10.. {
            let before = until_served(&near, &mut client, READ);
            let update = format!("UPDATE d.t SET v = {round} WHERE id = 1");
            writer.send(command::QUERY, update.as_bytes()).expect("it is sent");
            // A round in which the change is received only after the commit, because the machine is busy, does not count.
            let is_within = until_ended(&near, &mut client) == before;
            (0..10).for_each(|_| drop(ask(&mut client, READ)));
            assert!(writer.read_response().expect("an answer").failure().is_none());
            if is_within {
                within += 1;
                assert_eq!(ask(&mut client, READ), round.to_string());
            }
            is_said(&near, &mut client, READ, &round.to_string());
            assert_eq!(until_served(&near, &mut client, READ), round.to_string());
            if within == 3 {
                break;
            }
            assert!(begun.elapsed() < LIMIT, "{within} of {round}");
        }
    }
}

#[test]
fn transactions_of_mysql_with_tags_and_compressed_ones_count() {
    let Some(kind) = mysql("9.7") else { return };
    let server = kind.logging();
    let mut writer = direct(&server);
    let update = |value: u64| format!("UPDATE d.t SET v = {value} WHERE id = 1");
    let tagged = |value: u64| {
        ["SET gtid_next = 'AUTOMATIC:some_tag'".into(), update(value), "SET gtid_next = 'AUTOMATIC'".into()]
    };
    let compressed = |value: u64| {
        let [on, off] = ["ON", "OFF"].map(|to| format!("SET SESSION binlog_transaction_compression = {to}"));
        [on, update(value), off]
    };
    // The log also has such transactions from before it is followed.
    for statement in [tagged(2), compressed(3)].concat() {
        run(&mut writer, &[&statement]);
    }
    let near = kind.following(&server, LONG);
    let mut client = near.client();
    for value in 10..30 {
        until_served(&near, &mut client, READ);
        let statements = if value % 2 == 0 { tagged(value) } else { compressed(value) };
        run(&mut writer, &statements.each_ref().map(String::as_str));
        is_said(&near, &mut client, READ, &value.to_string());
        assert_eq!(until_served(&near, &mut client, READ), value.to_string());
    }
}

#[test]
fn a_compressed_transaction_of_mysql_ends_what_read_its_tables_alone() {
    let Some(kind) = mysql("9.7") else { return };
    let server = kind.logging();
    let mut writer = direct(&server);
    run(&mut writer, &["INSERT INTO d.u VALUES (1, 1)", "SET SESSION binlog_transaction_compression = ON"]);
    let near = kind.following(&server, LONG);
    let mut client = near.client();
    let inserts = |client: &mut Client| ask(client, "SHOW STATUS LIKE 'Qcache_inserts'");
    let other = "SELECT v FROM d.u";
    until_served(&near, &mut client, other);
    for value in 10..20 {
        until_served(&near, &mut client, READ);
        let before = inserts(&mut client);
        run(&mut writer, &[&format!("UPDATE d.t SET v = {value} WHERE id = 1")]);
        is_said(&near, &mut client, READ, &value.to_string());
        until_served(&near, &mut client, READ);
        let stored_again = inserts(&mut client);
        assert_ne!(stored_again, before);
        until_served(&near, &mut client, other);
        assert_eq!(inserts(&mut client), stored_again);
    }
    // A transaction that is too long to be unpacked may have changed anything.
    let long = "INSERT INTO d.long_ SELECT id * 1000 + SECOND(NOW()), REPEAT('x', 8000000) FROM d.t";
    run(&mut writer, &["CREATE TABLE d.long_ (id INT PRIMARY KEY, t LONGTEXT)"]);
    until_served(&near, &mut client, other);
    let before = inserts(&mut client);
    run(&mut writer, &[long]);
    wait_until("it is read anew", || {
        until_served(&near, &mut client, other);
        inserts(&mut client) != before
    });
}

#[test]
fn the_password_of_an_account_of_mysql_is_sent_with_tls_alone() {
    for mut kind in kinds().filter(|kind| kind.certificates.is_some()) {
        let server = kind.logging();
        kind.certificates = None;
        let near = kind.started(server.port(), LONG);
        wait_until("the obstacle", || near.log().contains("set server-tls, or use its unix socket"));
        assert_eq!(near.metric("serving"), 0);
    }
}

#[test]
fn what_is_missing_on_the_server_is_told_with_what_mends_it() {
    for kind in kinds() {
        let told = |arguments: &[&str], statements: &[&str], expected: &str| {
            let server = kind.with_only(arguments);
            run(&mut direct(&server), statements);
            let near = kind.started(server.port(), LONG);
            wait_until(expected, || near.log().contains(expected));
            assert_eq!(near.metric("serving"), 0);
            let mut client = near.client();
            (0..3).for_each(|_| assert_eq!(ask(&mut client, READ), "1"));
            assert_eq!(hits(&near), 0);
        };
        let and = |argument| [kind.arguments, &[argument]].concat();
        told(&["--skip-log-bin"], &[], "add `log_bin`");
        told(&and("--skip-log-slave-updates"), &[], "log what it replicates");
        told(&and("--binlog-format=MIXED"), &[], "SET GLOBAL binlog_format = 'ROW'");
        told(&and("--binlog-ignore-db=x"), &[], "remove binlog_do_db and binlog_ignore_db");
        if kind.is_mysql() {
            told(&and("--gtid-mode=ON_PERMISSIVE"), &[], "add `gtid_mode = ON`");
        }
        let grant = format!("run GRANT {} ON *.* TO follower@", kind.privileges.join(", "));
        for privilege in kind.privileges {
            told(kind.arguments, &[&format!("REVOKE {privilege} ON *.* FROM follower@'%'")], &grant);
        }
    }
}

/// A read of `d.t` by another text. After it, a near cache knows the table, so that it looks up `READ` in the store.
const OTHER: &str = "SELECT SUM(v) FROM d.t";

/// Returns a counter of the near cache about the store. `name`: `selects`, `hits` or `inserts`.
fn of_store(near: &Near, name: &str) -> u64 {
    near.metric(&format!("store_{name}_total"))
}

/// Repeats `READ` until the near cache has put its result into the store.
fn put_by(near: &Near, client: &mut Client) {
    let before = of_store(near, "inserts");
    // At first the near cache may not know yet whether the session may share results.
    wait_until("what is put into the store", || {
        ask(client, READ);
        of_store(near, "inserts") > before
    });
}

#[test]
fn what_another_one_has_read_is_found_until_it_is_outdated() {
    for (kind, store) in with_stores() {
        let server = kind.logging();
        let [first, second] = [(); 2].map(|()| kind.sharing(&server, LONG, &store));
        let (mut client, mut other, mut writer) = (first.client(), second.client(), direct(&server));
        let expected = writer.query(READ).expect("an answer").bytes;
        put_by(&first, &mut client);
        until_served(&second, &mut other, OTHER);
        let before = of_store(&second, "hits");
        assert_eq!(other.query(READ).expect("an answer").bytes, expected);
        assert_eq!(of_store(&second, "hits"), before + 1, "{}", second.log());
        let told = ask(&mut other, "SHOW FQC STATUS");
        assert!(told.split(';').any(|row| row == "Store hits,1"), "{told}");
        // A stale result stays in the store until a newer one replaces it.
        for value in ["7", "8", "9"] {
            run(&mut writer, &[&format!("UPDATE d.t SET v = {value} WHERE id = 1")]);
            is_said(&second, &mut other, READ, value);
            assert_eq!(until_served(&second, &mut other, READ), value);
            is_said(&first, &mut client, READ, value);
            assert_eq!(until_served(&first, &mut client, READ), value);
        }
        // Writes through the near cache count, too.
        for value in ["17", "18"] {
            run(&mut other, &[&format!("UPDATE d.t SET v = {value} WHERE id = 1")]);
            assert_eq!(ask(&mut other, READ), value);
            assert_eq!(ask(&mut second.client(), READ), value);
        }
    }
}

/// Checks that results on a replica of the store are used after it has taken over, although its clock is behind: results whose freshness
/// the log decides depend on no clock.
#[test]
fn what_a_replica_of_the_store_was_given_is_found_when_it_has_taken_over() {
    let Some(cluster) = Cluster::start(1, &[3]) else { return };
    let (kind, folder) = (mariadb(), Folder::fresh());
    let (server, password) = (kind.logging(), folder.write("password", cluster::PASSWORD));
    let (primary, replica) = (&cluster.primaries[0], &cluster.replicas[0]);
    let address = primary.address();
    let store = ["--valkey", &address, "--valkey-password-file", &password, "--store-timeout-ms", "1000"];
    let [first, second] = [(); 2].map(|()| kind.following_with(&server, LONG, &store));
    let (mut client, mut other) = (first.client(), second.client());
    put_by(&first, &mut client);
    primary.wait_for_replica();
    until_served(&second, &mut other, OTHER);
    replica.must("CLUSTER FAILOVER");
    let mut number = 0;
    wait_until("the replica, which has taken over", || {
        number += 1;
        ask(&mut other, &format!("{OTHER} /* {number} */"));
        replica.is_found_by(&second)
    });
    let before = of_store(&second, "hits");
    assert_eq!(ask(&mut other, READ), "1");
    assert_eq!(of_store(&second, "hits"), before + 1, "{}", second.log());
}

#[test]
fn a_session_that_began_before_privileges_changed_finds_nothing_that_others_share() {
    for (kind, store) in with_stores() {
        let server = kind.logging();
        let mut admin = direct(&server);
        run(&mut admin, &["CREATE USER app@'%'", "GRANT SELECT ON d.* TO app@'%'"]);
        let [first, second] = [(); 2].map(|()| kind.sharing(&server, LONG, &store));
        let mut older = second.login("app", "").expect("a connection");
        until_served(&second, &mut older, READ);
        run(&mut admin, &["GRANT INSERT ON d.* TO app@'%'", "UPDATE d.t SET v = 5 WHERE id = 1"]);
        is_said(&second, &mut older, READ, "5");
        let before = of_store(&first, "inserts");
        wait_until("what newer ones put into the store", || {
            let mut newer = first.login("app", "").expect("a connection");
            (0..3).for_each(|_| drop(ask(&mut newer, READ)));
            of_store(&first, "inserts") > before
        });
        let selects = of_store(&second, "selects");
        until_served(&second, &mut older, OTHER);
        until_served(&second, &mut older, READ);
        assert_eq!(of_store(&second, "selects"), selects);
    }
}

#[test]
fn what_was_read_before_the_log_was_reset_is_not_found() {
    for (kind, store) in with_stores() {
        let server = kind.logging();
        let mut writer = direct(&server);
        let fill = |client: &mut Client| run(client, &["REPLACE INTO d.u VALUES (1, RAND() * 100000)"]);
        (0..60).for_each(|_| fill(&mut writer));
        let [first, second] = [(); 2].map(|()| kind.sharing(&server, LONG, &store));
        put_by(&first, &mut first.client());
        let at = first.metric("log_position_bytes");
        // The new log file must not have the same creation time, in seconds, as the old one.
        let ask_time = "SELECT UNIX_TIMESTAMP()";
        let time = ask(&mut writer, ask_time);
        wait_until("the next second", || ask(&mut writer, ask_time) != time);
        run(&mut writer, &[kind.reset, "UPDATE d.t SET v = 8 WHERE id = 1"]);
        second.wait_for_metric("log_position_bytes", |now| now < at);
        second.wait_for_metric("serving", |serving| serving == 1);
        let mut other = second.client();
        is_said(&second, &mut other, OTHER, "10");
        until_served(&second, &mut other, OTHER);
        assert!(second.metric("log_position_bytes") < at);
        while second.metric("log_position_bytes") <= at {
            fill(&mut writer);
        }
        let selects = of_store(&second, "selects");
        (0..5).for_each(|_| assert_eq!(ask(&mut other, READ), "8", "{}", second.log()));
        assert!(of_store(&second, "selects") > selects, "it was not even looked for");
    }
}

/// The values that were written, oldest first, each with the time at which its write was known to be done.
type Written = Mutex<VecDeque<(Instant, u64)>>;

/// Runs [`History`] with one near cache, for `FQC_TEST_SECONDS` (default 4) on each product.
#[test]
fn nothing_is_older_than_the_bound_while_there_is_trouble() {
    let seconds = std::env::var("FQC_TEST_SECONDS").map_or(4, |text| text.parse().expect("a number"));
    for kind in kinds() {
        History::run(&kind, Duration::from_secs(seconds), None);
    }
}

#[test]
fn nothing_is_older_than_the_bound_where_two_share_a_store() {
    let seconds = std::env::var("FQC_TEST_SECONDS").map_or(4, |text| text.parse().expect("a number"));
    for (kind, store) in with_stores() {
        History::run(&kind, Duration::from_secs(seconds), Some(&store));
    }
}

/// A test in which one row is written directly and another one through a near cache, while servers and connections are disturbed. Readers
/// check that no value is older than the staleness bound, and that a value that was written through a near cache is seen at once.
struct History {
    /// True once all threads are to end.
    is_over: AtomicBool,
    /// The writes to row 1, sent to the server itself.
    direct: Written,
    /// The last value of row 2, which is written through the first near cache.
    own: AtomicU64,
    /// The number of reads that were checked.
    checks: AtomicU64,
    /// The number of writes whose GTIDs were set by hand.
    by_hand: AtomicU64,
    /// The address of the server.
    server: Endpoint,
    /// The addresses of the near caches.
    nears: Vec<Endpoint>,
}

/// A connection that is opened again after it was lost, as happens when the server is killed.
struct Lasting<'a> {
    endpoint: &'a Endpoint,
    client: Option<Client>,
    /// The statement that is prepared on the current connection.
    prepared: Option<Prepared>,
}

impl Lasting<'_> {
    /// Connects when the first statement is sent.
    fn to(endpoint: &Endpoint) -> Lasting<'_> {
        Lasting { endpoint, client: None, prepared: None }
    }

    /// Closes the connection. The next statement opens another one.
    fn lose(&mut self) {
        (self.client, self.prepared) = (None, None);
    }

    /// Runs `act` on the connection, which is opened if there is none. Returns none if it could not be opened, or if `act` failed; a
    /// statement of `act` may have been executed or not.
    fn with<T>(&mut self, act: impl FnOnce(&mut Client) -> io::Result<T>) -> Option<T> {
        if self.client.is_none() {
            self.client = Client::root(self.endpoint).ok();
        }
        let outcome = act(self.client.as_mut()?);
        if outcome.is_err() {
            self.lose();
            thread::sleep(Duration::from_millis(10));
        }
        outcome.ok()
    }

    /// Sends a statement and returns the answer as text. None if the connection or the statement failed; it may have been executed or not.
    fn ask(&mut self, statement: &str) -> Option<String> {
        let answer = self.with(|client| client.query(statement))?;
        // The server is shutting down, or the statement was interrupted.
        if answer.failure().is_some() { None } else { Some(said(&answer)) }
    }

    /// Returns the value of a row, or none if it could not be read. `way` chooses how it is read: by text, by a view, or by a statement
    /// that is prepared once on each connection.
    fn read(&mut self, way: u64, id: u64) -> Option<u64> {
        let said = match way % 3 {
            0 => self.ask(&format!("SELECT v FROM d.t WHERE id = {id}"))?,
            1 => self.ask(&format!("SELECT v FROM d.w WHERE id = {id}"))?,
            _ => self.execute(id)?,
        };
        Some(said.parse().expect("a number"))
    }

    /// Reads the value of a row by a prepared statement. None if that failed.
    fn execute(&mut self, id: u64) -> Option<String> {
        if self.prepared.is_none() {
            self.prepared = self.with(|client| client.prepare("SELECT v FROM d.t WHERE id = ?"))?.1;
        }
        let statement = self.prepared.take()?;
        let answer = self.with(|client| client.execute(&statement, &[Param::Unsigned(id)]))?;
        self.prepared = Some(statement);
        if answer.failure().is_some() {
            return None;
        }
        let value = answer.rows(true).into_iter().next()?.into_iter().next()??;
        Some(String::from_utf8(value).expect("a number"))
    }
}

/// Sets the flag, which makes all threads end, when this is dropped, also by a panic.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The staleness bound of the near caches in [`History`].
const BOUND: Duration = Duration::from_millis(400);

impl History {
    /// Runs the test for this time, with one near cache, or with two that share the store. Panics if a value is too old, or if so few reads
    /// were answered from memory that the run has shown nothing.
    fn run(kind: &Kind, length: Duration, store: Option<&Store>) {
        let mut server = kind.with(&["--max-binlog-size=65536"]);
        let nears: Vec<_> = match store {
            Some(store) => (0..2).map(|_| kind.sharing(&server, "400", store)).collect(),
            None => vec![kind.following(&server, "400")],
        };
        let mut admin = direct(&server);
        run(&mut admin, &["CREATE VIEW d.w AS SELECT id, v FROM d.t"]);
        show(&mut admin, &["d.w"]);
        if kind.is_mysql() {
            // With these settings, MySQL's log has a change some time before it is visible.
            run(&mut admin, &["SET PERSIST sync_binlog = 0", "SET PERSIST binlog_group_commit_sync_delay = 20000"]);
        }
        let history = History {
            is_over: AtomicBool::new(false),
            direct: Written::new(VecDeque::from([(Instant::now(), 1)])),
            own: AtomicU64::new(2),
            checks: AtomicU64::new(0),
            by_hand: AtomicU64::new(0),
            server: server.endpoint(),
            nears: nears.iter().map(Near::tcp).collect(),
        };
        let mut counted = 0;
        thread::scope(|scope| {
            scope.spawn(|| history.write_directly(kind));
            scope.spawn(|| history.write_through());
            for index in 0..4 {
                let history = &history;
                let near = index % history.nears.len();
                scope.spawn(move || history.check(near));
            }
            let _over = Over(&history.is_over);
            let begun = Instant::now();
            for round in 1.. {
                if begun.elapsed() > length {
                    break;
                }
                thread::sleep(Duration::from_millis(300));
                trouble(kind, round, &mut server, &nears[round as usize % nears.len()]);
                counted = round;
            }
        });
        let writes = history.direct.lock().unwrap().len();
        let hits: u64 = nears.iter().map(hits).sum();
        let (checks, by_hand) = (history.checks.into_inner(), history.by_hand.into_inner());
        println!("{checks} checks, {hits} hits, {writes} writes ({by_hand} numbered by hand), {counted} troubles");
        assert!(hits > 0 && by_hand > 0, "this run has proved nothing");
        if store.is_some() {
            let found: u64 = nears.iter().map(|near| of_store(near, "hits")).sum();
            println!("{found} hits in the store");
            assert!(found > 0, "without a hit in the store this run has proved nothing");
        }
    }

    /// Returns false once the threads are to end.
    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::SeqCst)
    }

    /// Writes growing values to row 1 on the server itself, some of them with GTIDs that are set by hand.
    fn write_directly(&self, kind: &Kind) {
        const BY_HAND_EACH: u64 = 5;
        let mut writer = Lasting::to(&self.server);
        for value in (2..).take_while(|_| self.goes_on()) {
            let [number, no_more] = numbers(kind, value);
            let is_by_hand = value.is_multiple_of(BY_HAND_EACH);
            if is_by_hand && writer.ask(&number).is_some() {
                self.by_hand.fetch_add(1, Ordering::Relaxed);
            }
            let written = writer.ask(&format!("UPDATE d.t SET v = {value} WHERE id = 1"));
            if is_by_hand {
                writer.ask(&no_more);
            }
            if written.is_some() {
                self.direct.lock().unwrap().push_back((Instant::now(), value));
            }
            thread::sleep(Duration::from_millis(value % 40));
        }
    }

    /// Writes growing values to row 2 through the first near cache.
    fn write_through(&self) {
        let mut writer = Lasting::to(&self.nears[0]);
        for value in (3..).take_while(|_| self.goes_on()) {
            if writer.ask(&format!("UPDATE d.t SET v = {value} WHERE id = 2")).is_some() {
                self.own.store(value, Ordering::SeqCst);
            }
            thread::sleep(Duration::from_millis(value % 300));
        }
    }

    /// Reads through the near cache with this index, and panics if a value is too old.
    fn check(&self, near: usize) {
        // A connection that was open while the log was interrupted shares no results afterwards, so each is replaced after some reads.
        const READS_OF_ONE: u64 = 30;
        let mut client = Lasting::to(&self.nears[near]);
        for round in (1..).take_while(|_| self.goes_on()) {
            if round % READS_OF_ONE == 0 {
                client.lose();
            }
            let asked = Instant::now();
            let oldest = {
                let writes = self.direct.lock().unwrap();
                writes.iter().rev().find(|(known, _)| *known + BOUND < asked).map_or(0, |(_, value)| *value)
            };
            let Some(value) = client.read(round, 1) else { continue };
            assert!(value >= oldest, "{value} is older than {oldest}");
            self.checks.fetch_add(1, Ordering::Relaxed);
            if near != 0 {
                continue;
            }
            let own = self.own.load(Ordering::SeqCst);
            let Some(value) = client.read(round, 2) else { continue };
            assert!(value >= own, "{value} was written over by {own}, through the near cache");
        }
    }
}

/// The first parts of server UUIDs that no server of the test has.
const SOURCES: [u64; 3] = [11_111_111, 22_222_222, 33_333_333];

/// Returns GTIDs of MySQL as text. `source`: an index in `SOURCES`; `numbers`: one transaction number, or a range.
fn of_source(source: usize, numbers: impl Display) -> String {
    format!("{}-2222-3333-4444-555555555555:{numbers}", SOURCES[source])
}

/// Returns two statements: one sets the GTID of a session's next transaction by hand, one returns to automatic GTIDs. `value`: the number
/// of the write. With growing numbers, GTIDs are left out, and some of them follow later.
fn numbers(kind: &Kind, value: u64) -> [String; 2] {
    const BACK: u64 = 8;
    let number = value ^ BACK;
    if kind.is_mysql() {
        [format!("SET gtid_next = '{}'", of_source(0, number)), "SET gtid_next = AUTOMATIC".into()]
    } else {
        let (domain, server) = (value % 3, 70 + value % 2);
        [
            format!("SET gtid_domain_id = {domain}, server_id = {server}, gtid_seq_no = {number}"),
            "SET gtid_domain_id = DEFAULT, server_id = DEFAULT, gtid_seq_no = 0".into(),
        ]
    }
}

/// Disturbs the server or the near cache in a way that `round` chooses: kills the server, suspends the near cache, ends a connection to the
/// log, changes definitions, or adds to the log.
fn trouble(kind: &Kind, round: u64, server: &mut Server, near: &Near) {
    const KILLED_EACH: u64 = 100;
    const LONG_EACH: u64 = 250;
    if round.is_multiple_of(KILLED_EACH) {
        server.kill9().expect("it ends");
        server.restart().expect("it is back");
        return;
    }
    let mut admin = direct(server);
    if round % LONG_EACH == LONG_EACH / 2 {
        let rows =
            "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT i FROM n";
        // Each product has one of these two variables.
        for limit in ["max_recursive_iterations", "cte_max_recursion_depth"] {
            let _ = admin.query(format!("SET SESSION {limit} = 1000001"));
        }
        run(
            &mut admin,
            &["CREATE TABLE d.long_one (i INT)", &format!("INSERT INTO d.long_one {rows}"), "DROP TABLE d.long_one"],
        );
        return;
    }
    match round % 6 {
        0 => {
            near.signal(libc::SIGSTOP);
            thread::sleep(2 * BOUND);
            near.signal(libc::SIGCONT);
        }
        1 => {
            let threads =
                "SELECT id FROM information_schema.processlist WHERE user = 'follower' ORDER BY RAND() LIMIT 1";
            if let Some(thread) = admin.scalar(threads).expect("an answer") {
                // The connection may have ended already.
                let _ = admin.query(format!("KILL {thread}"));
            }
        }
        2 if round.is_multiple_of(2) => run(&mut admin, &["ALTER TABLE d.t COMMENT = 'altered'"]),
        2 => run(&mut admin, &["CREATE OR REPLACE VIEW d.w AS SELECT id, v FROM d.t WHERE id > 0"]),
        3 => run(&mut admin, &["FLUSH BINARY LOGS"]),
        4 if kind.is_mysql() => leave_out_numbers(&mut admin, round),
        _ => {}
    }
}

/// Adds GTIDs of empty transactions, and of transactions that are in no log, on MySQL. `round`: makes the GTIDs differ.
fn leave_out_numbers(admin: &mut Client, round: u64) {
    let empty = format!("SET gtid_next = '{}'", of_source(1, round));
    let purged = format!("SET GLOBAL gtid_purged = '+{}'", of_source(2, format!("{}-{}", round * 10, round * 10 + 5)));
    run(admin, &[empty.as_str(), "BEGIN", "COMMIT", "SET gtid_next = AUTOMATIC"]);
    if round.is_multiple_of(4) {
        run(admin, &[&purged]);
    }
}

/// Checks that a reload of a file that does not name `binlog-user` any more changes nothing until a restart, as the log says: the binary log
/// is still followed, also after its connection has ended, and results that a write has invalidated are not served.
#[test]
fn a_reload_without_the_account_for_the_log_goes_on_following_it() {
    let server = mariadb().logging();
    let folder = Folder::fresh();
    let password = folder.write("password", "secret\n");
    let place = format!("server = '127.0.0.1:{}'\n", server.port());
    let follows = format!("binlog-user = 'follower'\nbinlog-password-file = '{password}'\nmax-staleness-ms = {LONG}\n");
    let file = folder.write("near.toml", &format!("{place}{follows}"));
    let near = near_with(&["--config", &file]);
    near.wait_for_metric("serving", |serving| serving == 1);
    let (mut client, mut admin) = (near.client(), direct(&server));
    for (round, rest) in ["", "hints = true\n"].into_iter().enumerate() {
        folder.write("near.toml", &format!("{place}{rest}"));
        near.signal(libc::SIGHUP);
        wait_until("the reload", || near.log().matches("reloaded; new connections").count() == round + 1);
        assert_eq!(near.log().matches("stay as they are until a restart").count(), round + 1, "{}", near.log());
        let dump = ask(&mut admin, "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Binlog Dump'");
        ask(&mut admin, &format!("KILL {dump}"));
        wait_until("the next connection", || near.log().matches("following the log of").count() == round + 2);
        near.wait_for_metric("serving", |serving| serving == 1);
        let value = format!("7{round}");
        run(&mut admin, &[&format!("UPDATE d.t SET v = {value} WHERE id = 1")]);
        is_said(&near, &mut client, READ, &value);
        assert_eq!(until_served(&near, &mut client, READ), value);
    }
}
