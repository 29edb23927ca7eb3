//! The settings of a session, and what its client is notified of about them.

use crate::shared::{enter, ready, start};
use crate::traps::{Arena, all, rows_text, small_table, until};
use fqc_tests::client::{Client, Login, capability};
use std::sync::Arc;

/// Checks that a client with session tracking gets a notification of each transaction. The server sends these even if
/// `session_track_transaction_info` is off.
#[test]
fn a_client_that_tracks_its_session_is_told_of_its_transactions() {
    let mut arena = enter("tracked");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    let mut login = arena.login();
    login.capabilities |= capability::SESSION_TRACK;
    let (mut served, mut plain) = (arena.client_as(&login), arena.client_as(&login));
    plain.must("SET SESSION fqc_type = OFF").unwrap();
    let statements = [
        &["BEGIN", read, read, "COMMIT", "START TRANSACTION READ ONLY", read, "ROLLBACK"][..],
        &["SET autocommit = 0", read, read, "COMMIT", read, "SET autocommit = 1"],
        &["SET session_track_transaction_info = 'STATE'", "BEGIN", read, read, "COMMIT"],
    ];
    for statement in statements.concat() {
        arena.warm(&mut admin, read);
        assert_eq!(served.query(statement).unwrap(), plain.query(statement).unwrap(), "`{statement}`");
    }
    assert!(served.reset_connection().unwrap().failure().is_none());
    served.must("USE tracked").unwrap();
    arena.warm(&mut served, read);
}

/// Checks that a session that sets `gtid_next` is not served. Only the server knows which transactions it then skips or refuses.
#[test]
fn a_session_that_numbers_its_transactions_is_left_to_the_server() {
    let mut arena = enter("numbered");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    let (read, write) = ("SELECT SUM(v) FROM t", "UPDATE t SET v = v + 1 WHERE id = 1");
    let mut reader = arena.client();
    arena.warm(&mut reader, read);
    let number = "SET gtid_next = '00000000-0000-0000-0000-0000000000aa:1'";
    all(&mut reader, &[number, write]);
    assert_eq!(rows_text(&reader.query(write).unwrap()), "error 1837");
    arena.warm(&mut admin, read);
    for _ in 0..3 {
        assert!(!arena.ask(&mut reader, read).1);
    }
    all(&mut reader, &["SET gtid_next = 'AUTOMATIC'"]);
    assert_eq!(arena.warm(&mut reader, read), "151");
}

#[test]
fn collations_that_hang_on_what_was_set_before_are_not_shared() {
    let mut arena = enter("collated");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    // The literal has the connection's collation, which SET NAMES took from the default at that time.
    let read = "SELECT COUNT(*) FROM t WHERE id = 1 AND 'ß' = 's'";
    let other = "SET default_collation_for_utf8mb4 = utf8mb4_general_ci";
    let usual = "SET default_collation_for_utf8mb4 = DEFAULT";
    for (first, expected) in [
        (&["SET NAMES utf8mb4"][..], "0"),
        (&[other, "SET NAMES utf8mb4"], "1"),
        (&[other, "SET NAMES utf8mb4", usual], "1"),
        (&[other, usual, "SET NAMES utf8mb4"], "0"),
    ] {
        let mut session = arena.client_with(first);
        assert_eq!(arena.warm(&mut session, read), expected, "{first:?}");
    }
}

/// Checks that a session that had chosen its database before a GRANT is served, although it also runs other statements. None of these runs
/// a routine. Such a session used never to be served.
#[test]
fn what_runs_no_routine_leaves_what_is_kept_after_privileges_have_changed() {
    // This needs a server of its own: a routine, trigger or view with a name that is used here matters, whatever schema it is in.
    let mut arena = Arena::on(Arc::new(ready(start(&[]))), "unmoved");
    let (mut admin, mut session) = (arena.client(), arena.client());
    for table in ["t", "u"] {
        small_table(&mut admin, table, "InnoDB");
    }
    let read = "SELECT v FROM t WHERE id = 2";
    arena.warm(&mut session, read);
    all(&mut admin, &["CREATE USER unmoved@'%'", "GRANT SELECT ON unmoved.t TO unmoved@'%'"]);
    let statements = [
        "SHOW GLOBAL STATUS LIKE 'Qcache_hits'",
        "SHOW VARIABLES LIKE 'sql_mode'",
        "SHOW WARNINGS",
        "SELECT 2",
        "SELECT NOW(), CONNECTION_ID(), @@version",
        "SELECT COUNT(*) FROM performance_schema.threads",
        "SELECT v FROM u WHERE id = 1 FOR UPDATE",
        "SET @a = (SELECT MAX(v) FROM t)",
        "DO 1",
        "SAVEPOINT s",
        "UPDATE u SET v = v + 1 WHERE id = 1",
    ];
    type Way<'a> = Box<dyn Fn(&mut Client) + 'a>;
    let run = |text| -> (&str, Way) { (text, Box::new(move |session| drop(session.must(text).unwrap()))) };
    let ping: Way = Box::new(|session| drop(session.ping().unwrap()));
    let reset: Way = Box::new(|session| drop(session.reset_connection().unwrap()));
    let prepare: Way = Box::new(|session| drop(session.prepare("SELECT v FROM t WHERE id = ?").unwrap()));
    let commands = [("a ping", ping), ("a reset", reset), ("a preparation", prepare)];
    for (name, way) in statements.map(run).into_iter().chain(commands) {
        // Once the engine has looked up which accounts have privileges for several hosts, the session shares results with others.
        until(name, || {
            way(&mut session);
            arena.ask(&mut session, read).1
        });
    }
    admin.must("DROP USER unmoved@'%'").unwrap();
}

/// Checks reads after the server may have looked up a session's privileges again. It keeps those on a database until the session chooses
/// the database again, or until the server returns to it from another one.
#[test]
fn privileges_that_may_have_been_looked_up_anew_are_asked_of_the_server() {
    let mut arena = enter("back");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    all(
        &mut admin,
        &[
            "CREATE DATABASE away",
            "CREATE PROCEDURE away.p() BEGIN END",
            "CREATE FUNCTION away.f() RETURNS INT DETERMINISTIC NO SQL RETURN 7",
            "CREATE VIEW away.w AS SELECT away.f() AS x",
            "CREATE TRIGGER told BEFORE INSERT ON t FOR EACH ROW SET NEW.v = away.f()",
            "CREATE USER ian@'%' IDENTIFIED BY 'ian'",
            "GRANT ALL ON away.* TO ian@'%'",
            "GRANT INSERT, TRIGGER ON back.* TO ian@'%'",
        ],
    );
    let login = Login { database: Some("back".into()), ..Login::user("ian", "ian") };
    // Full authentication is only possible through the socket here. The server caches it.
    drop(Client::connect(&arena.server.unix_endpoint(), &login).unwrap());
    let read = "SELECT v FROM t WHERE id = 2";
    let ways = [
        "CALL away.p()",
        "SELECT away.f()",
        "SELECT x FROM away.w",
        "SET @a = away.f()",
        "SET @a = (SELECT x FROM away.w)",
        "DO away.f()",
        "INSERT IGNORE INTO t VALUES (9, 1)",
        "EXPLAIN SELECT x FROM away.w",
        "SHOW CREATE PROCEDURE away.p",
        "SHOW GLOBAL STATUS WHERE Value = away.f()",
        "SHOW COLUMNS FROM away.w",
        "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'away'",
        "USE back",
        "SELECT NOW(), @@version",
        "SET @a = (SELECT MAX(v) FROM t)",
        "SHOW STATUS LIKE 'Qcache_hits'",
        "a reset",
    ];
    let mut are_refused = 0;
    for way in ways {
        admin.must("GRANT SELECT ON back.* TO ian@'%'").unwrap();
        let (mut served, mut plain) = (arena.client_as(&login), arena.client_as(&login));
        plain.must("SET SESSION fqc_type = OFF").unwrap();
        arena.warm(&mut served, read);
        admin.must("REVOKE SELECT ON back.* FROM ian@'%'").unwrap();
        arena.warm(&mut served, read);
        for session in [&mut served, &mut plain] {
            let answer = if way == "a reset" { session.reset_connection() } else { session.query(way) };
            answer.unwrap();
        }
        plain.must("SET SESSION fqc_type = OFF").unwrap();
        let answer = plain.query(read).unwrap();
        are_refused += u32::from(answer.failure().is_some());
        for _ in 0..3 {
            assert_eq!(served.query(read).unwrap(), answer, "{way}");
        }
    }
    assert!(are_refused > 3, "the server has looked up anything anew only {are_refused} times");
    all(&mut admin, &["DROP USER ian@'%'", "DROP DATABASE away"]);
}

/// Checks that an error after a served read, and the answer to a question about it, are the same as without the cache. The engine must send
/// the server the served read before the next read.
#[test]
fn an_error_after_a_served_read_is_still_told_by_a_read_of_a_table() {
    let mut arena = enter("errors_told");
    let mut served = arena.client();
    small_table(&mut served, "t", "InnoDB");
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    for read in ["SELECT v FROM t WHERE id = 9", "SELECT v FROM t WHERE id = 1", "SELECT v FROM t"] {
        for question in [
            "SELECT COUNT(*), @@warning_count, @@error_count FROM t WHERE id = 3",
            "SELECT @@warning_count, @@error_count",
            "SHOW WARNINGS",
        ] {
            arena.warm(&mut served, read);
            assert!(arena.ask(&mut served, read).1, "{read} is served");
            let told = [&mut served, &mut plain].map(|client| {
                assert_eq!(rows_text(&client.prepare("UPDATE nowhere SET id = ?").unwrap().0), "error 1146");
                rows_text(&client.query(question).unwrap())
            });
            assert_eq!(told[0], told[1], "{read}, {question}");
        }
    }
}

/// Checks that FOUND_ROWS() after a failed read is that of the served read before it. MySQL sets the number of rows found only if a read
/// succeeds.
#[test]
fn rows_found_after_a_read_that_fails_on_its_way_are_those_of_the_served_read() {
    let mut arena = enter("failing_reads");
    let mut served = arena.client();
    let table = "CREATE TABLE t (id INT PRIMARY KEY, v BIGINT UNSIGNED)";
    all(&mut served, &[table, "INSERT INTO t VALUES (1, 8), (2, 9), (3, 1), (4, 7)"]);
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    for read in ["SELECT v FROM t WHERE id = 9", "SELECT v FROM t"] {
        arena.warm(&mut served, read);
        for failing in ["SELECT 1 / (v - 3) FROM t ORDER BY id", "SELECT v FROM nowhere"] {
            assert!(arena.ask(&mut served, read).1, "{read} is served");
            plain.must(read).unwrap();
            let told = [&mut served, &mut plain].map(|client| {
                let error = rows_text(&client.query(failing).unwrap());
                assert!(error.starts_with("error"), "{failing}: {error}");
                rows_text(&client.query("SELECT FOUND_ROWS()").unwrap())
            });
            assert_eq!(told[0], told[1], "{read}, {failing}");
        }
    }
}

/// Checks that the first read begins a transaction after a reset that turns autocommit off. After the reset, the server's status flags
/// still say that autocommit is on.
#[test]
fn the_first_read_after_a_reset_to_autocommit_off_begins_a_transaction() {
    let mut arena = Arena::on(Arc::new(ready(start(&[]))), "reset_off");
    let mut writer = arena.client();
    small_table(&mut writer, "t", "InnoDB");
    let mut clients = [arena.client(), arena.client_with(&["SET SESSION fqc_type = OFF"])];
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut clients[0], read);
    writer.must("SET GLOBAL autocommit = 0").unwrap();
    for round in 0..4 {
        arena.warm(&mut arena.client_with(&["SET autocommit = 1"]), read);
        let mut told = Vec::new();
        for (client, is_plain) in clients.iter_mut().zip([false, true]) {
            client.reset_connection().unwrap();
            if is_plain {
                client.must("SET SESSION fqc_type = OFF").unwrap();
            }
            told.push(vec![client.query(read).unwrap()]);
        }
        writer.must(&format!("UPDATE t SET v = {} WHERE id = 1", 100 + round)).unwrap();
        for _ in 0..3 {
            arena.ask(&mut arena.client_with(&["SET autocommit = 1"]), read);
            for (client, told) in clients.iter_mut().zip(&mut told) {
                told.push(client.query(read).unwrap());
            }
        }
        let [served, plain] =
            [0, 1].map(|at| told[at].iter().map(|one| (rows_text(one), one.status())).collect::<Vec<_>>());
        assert_eq!(served, plain, "round {round}");
    }
}
