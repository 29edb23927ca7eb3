//! The engine is suspended (asleep) while no session uses the cache, and it can be loaded into a busy server of either product. Changes
//! that it did not observe must never make a later answer wrong.

use crate::start;
use crate::traps::{Arena, PATIENCE, all, binary_rows_text, rows_text, small_table, until};
use fqc_tests::client::{Client, Login, Param};
use fqc_tests::server::Server;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub const READ: &str = "SELECT v FROM d.t WHERE id = 1";
/// The statement after which new sessions use the cache, so that the engine resumes.
pub const ON: &str = "SET GLOBAL fqc_type = ON";

fn is_awake(server: &Server) -> bool {
    let row = server.admin().unwrap().must("SHOW GLOBAL STATUS LIKE 'Fqc_awake'").unwrap();
    rows_text(&row) == "Fqc_awake,1"
}

/// Switches the cache off, and waits until the engine is suspended.
pub fn fall_asleep(server: &Server) {
    server.admin().unwrap().must("SET GLOBAL fqc_type = OFF").unwrap();
    until("sleep", || !is_awake(server));
}

/// Starts a server whose engine is suspended (asleep), with a table of five rows in a database `d`.
pub fn asleep() -> Arc<Server> {
    let server = Arc::new(start(&["--local-infile=1"]));
    fall_asleep(&server);
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE d", "USE d"]);
    small_table(&mut admin, "t", "InnoDB");
    server
}

/// Opens a session of root in the database `d`.
pub fn client(server: &Server) -> Client {
    let login = Login { database: Some("d".into()), ..Login::default() };
    let mut client = Client::connect(&server.endpoint(), &login).unwrap();
    client.set_timeout(Some(PATIENCE)).unwrap();
    client
}

/// Starts a write that a lock holds up, calls the given function while it waits, and returns when the write has ended.
pub fn during_a_write(server: &Arc<Server>, meanwhile: impl FnOnce()) {
    let mut holder = client(server);
    holder.must("SELECT GET_LOCK('gate', 0)").unwrap();
    let mut writer = client(server);
    let write = thread::spawn(move || {
        writer.must("UPDATE t SET v = v + 1 WHERE id = 1 AND GET_LOCK('gate', 100) = 1").unwrap();
    });
    let waiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'";
    let mut admin = server.admin().unwrap();
    until("the write under way", || admin.scalar(waiting).unwrap().as_deref() == Some("1"));
    meanwhile();
    holder.must("DO RELEASE_LOCK('gate')").unwrap();
    write.join().unwrap();
}

/// Checks that another audit plugin, which counts the statements that the server reports to it, misses none until long after the engine was
/// suspended.
pub fn a_listener_hears_everything(server: &Server) {
    const ROUND: u64 = 50;
    let mut admin = server.admin().unwrap();
    let mut heard = || -> u64 {
        let shown = admin.must("SHOW GLOBAL STATUS LIKE 'Listener_heard'").unwrap();
        rows_text(&shown).rsplit_once(',').unwrap().1.parse().unwrap()
    };
    let mut worked = client(server);
    let begun = Instant::now();
    until("the end of the engine's attention after it fell asleep", || {
        let before = heard();
        for number in 0..ROUND {
            worked.must(&format!("SELECT v + {number} FROM t")).unwrap();
        }
        assert!(heard() >= before + ROUND, "statements that the other plugin was not told of");
        begun.elapsed() > Duration::from_secs(13)
    });
}

/// The server's counter of updated rows, as text.
pub fn updates(server: &Server) -> String {
    rows_text(&server.admin().unwrap().must("SHOW GLOBAL STATUS LIKE 'Handler_update'").unwrap())
}

/// Waits until the counter of [`updates`] differs from `before`. (`innodb_trx` would not do, because it is not refreshed while it is read
/// often.)
pub fn until_written(server: &Server, before: &str) {
    until("the write", || updates(server) != before);
}

#[test]
fn connections_that_are_served_are_counted_at_every_moment() {
    let server = asleep();
    // These sessions work before the cache is switched on, like a pool of connections.
    let mut old = client(&server);
    old.must(READ).unwrap();
    old.must(ON).unwrap();
    let mut until_served = |count: &str| {
        let row = format!("Fqc_connections_served,{count}");
        until(&row, || rows_text(&old.must("SHOW GLOBAL STATUS LIKE 'Fqc_connections_served'").unwrap()) == row);
    };
    until_served("0");
    let (first, mut second) = (client(&server), client(&server));
    until_served("2");
    second.must("SET SESSION fqc_type = OFF").unwrap();
    until_served("1");
    drop(first);
    until_served("0");
}

/// Checks that reads of a new connection have this answer, at once and from the cache later. `db` is the name of a new database.
pub fn reads_well(server: &Arc<Server>, db: &str, expected: &str) {
    let mut arena = Arena::on(server.clone(), db);
    let mut reader = client(server);
    assert_eq!(rows_text(&reader.query(READ).unwrap()), expected);
    assert_eq!(arena.warm(&mut reader, READ), expected);
}

#[test]
fn a_write_older_than_the_waking_is_waited_for() {
    let server = asleep();
    during_a_write(&server, || {
        server.admin().unwrap().must(ON).unwrap();
        let mut reader = client(&server);
        for _ in 0..20 {
            assert_eq!(rows_text(&reader.query(READ).unwrap()), "10");
        }
    });
    reads_well(&server, "a", "11");
}

#[test]
fn a_long_read_older_than_the_waking_delays_nothing() {
    let server = asleep();
    let mut holder = client(&server);
    all(&mut holder, &["LOCK TABLES t WRITE"]);
    let mut slow = client(&server);
    let read = thread::spawn(move || drop(slow.must("SELECT SUM(v) FROM t").unwrap()));
    let waiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'";
    let mut admin = server.admin().unwrap();
    until("the read under way", || admin.scalar(waiting).unwrap().as_deref() == Some("1"));
    admin.must(ON).unwrap();
    let mut arena = Arena::on(server.clone(), "a");
    let mut reader = arena.client();
    small_table(&mut reader, "u", "InnoDB");
    arena.warm(&mut reader, "SELECT SUM(v) FROM u");
    holder.must("UNLOCK TABLES").unwrap();
    read.join().unwrap();
}

#[test]
fn a_transaction_older_than_the_waking() {
    let server = asleep();
    let mut writer = client(&server);
    all(&mut writer, &["BEGIN", "UPDATE t SET v = 11 WHERE id = 1"]);
    let commit = writer.prepare("COMMIT").unwrap().1.unwrap();
    server.admin().unwrap().must(ON).unwrap();
    let mut arena = Arena::on(server.clone(), "a");
    let mut reader = client(&server);
    arena.check_write_shows(&mut reader, READ, || drop(writer.execute(&commit, &[]).unwrap()), "11");
    // The session's later writes are observed, too.
    for value in 12..15 {
        let write = || drop(writer.must(&format!("UPDATE t SET v = {value} WHERE id = 1")).unwrap());
        arena.check_write_shows(&mut reader, READ, write, &value.to_string());
    }
}

#[test]
fn a_commit_that_is_prepared_ends_no_transaction() {
    let server = asleep();
    let mut admin = server.admin().unwrap();
    admin.must("USE d").unwrap();
    small_table(&mut admin, "u", "InnoDB");
    let mut before = client(&server);
    all(&mut before, &["BEGIN", "UPDATE t SET v = 11 WHERE id = 1"]);
    let mut after = client(&server);
    all(&mut after, &["SET autocommit = 0", "SELECT 1 FROM u"]);
    admin.must(ON).unwrap();
    let mut arena = Arena::on(server.clone(), "a");
    let mut reader = client(&server);
    let commit = before.prepare("COMMIT").unwrap().1.unwrap();
    arena.check_write_shows(&mut reader, READ, || drop(before.execute(&commit, &[]).unwrap()), "11");
    after.must("UPDATE u SET v = 11 WHERE id = 1").unwrap();
    let commit = after.prepare("COMMIT").unwrap().1.unwrap();
    for _ in 0..10 {
        assert_eq!(rows_text(&arena.ask(&mut reader, "SELECT v FROM d.u WHERE id = 1").0), "10");
    }
    after.execute(&commit, &[]).unwrap();
    assert_eq!(rows_text(&arena.ask(&mut reader, "SELECT v FROM d.u WHERE id = 1").0), "11");
    arena.warm(&mut reader, "SELECT v FROM d.u WHERE id = 1");
}

#[test]
fn a_session_that_only_asked_joins_and_one_that_worked_does_not() {
    let server = asleep();
    let (mut asked, mut worked) = (client(&server), client(&server));
    all(&mut asked, &["SET NAMES utf8mb4", "SELECT VERSION(), @@sql_mode, DATABASE()", "SHOW TABLES"]);
    all(&mut worked, &["SELECT v FROM t WHERE id = 2"]);
    let mut arena = Arena::on(server.clone(), "a");
    all(&mut asked, &["SET SESSION query_cache_type = 1"]);
    until("the waking", || is_awake(&server));
    assert_eq!(arena.warm(&mut asked, READ), "10");
    all(&mut worked, &["SET SESSION query_cache_type = 1"]);
    for _ in 0..5 {
        arena.miss(&mut worked, READ, "10");
    }
    let write = || drop(worked.must("UPDATE t SET v = 11 WHERE id = 1").unwrap());
    arena.check_write_shows(&mut asked, READ, write, "11");
    // When the last session that wants the cache ends, the engine falls asleep.
    drop(asked);
    until("sleep", || !is_awake(&server));
}

#[test]
fn what_was_set_while_asleep_counts() {
    let server = asleep();
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE e", "CREATE TABLE e.t AS SELECT id, v + 1000 AS v FROM d.t"]);
    let (mut here, mut there, mut before) = (client(&server), client(&server), client(&server));
    all(&mut there, &["USE e"]);
    all(&mut admin, &["SET GLOBAL sql_mode = 'ANSI_QUOTES'"]);
    let mut after = client(&server);
    let mut arena = Arena::on(server.clone(), "a");
    for one in [&mut here, &mut there, &mut before, &mut after] {
        one.must("SET SESSION query_cache_type = 1").unwrap();
    }
    assert_eq!(arena.warm(&mut here, "SELECT v FROM t WHERE id = 1"), "10");
    assert_eq!(arena.warm(&mut there, "SELECT v FROM t WHERE id = 1"), "1010");
    let read = r#"SELECT "v" FROM t WHERE id = 1"#;
    assert_eq!(arena.warm(&mut before, read), "v");
    assert_eq!(arena.warm(&mut after, read), "10");
}

#[test]
fn a_statement_that_spans_sleep_and_waking() {
    let server = asleep();
    let mut admin = server.admin().unwrap();
    // This session keeps the engine awake, and then writes while it sleeps.
    let mut writer = client(&server);
    all(&mut writer, &["SET SESSION query_cache_type = 1", "BEGIN"]);
    all(&mut admin, &["CREATE TABLE d.u (a INT)", "INSERT INTO d.u VALUES (1)"]);
    let procedure = "CREATE PROCEDURE d.p() BEGIN SET SESSION fqc_type = 0; \
                     DO GET_LOCK('gate', 100); UPDATE d.t SET v = 11 WHERE id = 1; DO RELEASE_LOCK('gate'); \
                     DO GET_LOCK('second', 100); END";
    admin.must(procedure).unwrap();
    let mut holder = client(&server);
    holder.must("SELECT GET_LOCK('gate', 0), GET_LOCK('second', 0)").unwrap();
    let call = thread::spawn(move || {
        writer.must("CALL d.p()").unwrap();
        writer
    });
    until("sleep", || !is_awake(&server));
    let before = updates(&server);
    holder.must("DO RELEASE_LOCK('gate')").unwrap();
    until_written(&server, &before);
    server.admin().unwrap().must(ON).unwrap();
    holder.must("DO RELEASE_LOCK('second')").unwrap();
    let mut writer = call.join().unwrap();
    let mut arena = Arena::on(server.clone(), "a");
    let mut reader = client(&server);
    arena.check_write_shows(&mut reader, READ, || drop(writer.must("COMMIT").unwrap()), "11");
}

#[test]
fn the_surface_answers_while_asleep() {
    let server = asleep();
    let mut worked = client(&server);
    all(&mut worked, &["UPDATE t SET v = 10 WHERE id = 1", "SET GLOBAL query_cache_size = 33554432"]);
    assert_eq!(rows_text(&worked.query("SELECT @@query_cache_size").unwrap()), "33554432");
    let show = "SHOW VARIABLES WHERE Variable_name IN ('query_cache_size', 'query_cache_type')";
    assert_eq!(rows_text(&worked.query(show).unwrap()), "query_cache_size,33554432;query_cache_type,OFF");
    assert!(rows_text(&worked.query("SHOW FQC STATUS").unwrap()).contains("OFF: query_cache_type is OFF"));
    all(&mut worked, &["FLUSH STATUS", "FLUSH QUERY CACHE", "RESET QUERY CACHE"]);
    let prepared = worked.prepare("SELECT @@query_cache_size, ?").unwrap().1.unwrap();
    let response = worked.execute(&prepared, &[Param::Int(7)]).unwrap();
    assert_eq!(binary_rows_text(&response), "33554432,7");
    // The content of a file may look like commands, but is none.
    all(&mut worked, &["CREATE TABLE f (a VARCHAR(200))"]);
    worked.local_file = b"\x03SHOW VARIABLES LIKE 'query_cache_size'\n\x03SET GLOBAL query_cache_size = 0\n".to_vec();
    worked.must("LOAD DATA LOCAL INFILE 'f' INTO TABLE f").unwrap();
    assert_eq!(rows_text(&worked.query("SELECT COUNT(*), @@query_cache_size FROM f").unwrap()), "2,33554432");
}

#[test]
fn whatever_a_session_did_while_asleep_is_in_force_after_the_waking() {
    let server = asleep();
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE TABLE d.u (at TIMESTAMP)", "INSERT INTO d.u VALUES (FROM_UNIXTIME(86400))"]);
    const TIME: &str = "SELECT at FROM d.u";
    // Each session has sent commands before, which the engine does not read any more.
    let worked = || {
        let mut one = client(&server);
        one.must(READ).unwrap();
        one
    };
    let (mut prepared, mut zoned, mut temporary, mut open) = (worked(), worked(), worked(), worked());
    let read = prepared.prepare("SELECT v + @u FROM t WHERE id = ?").unwrap().1.unwrap();
    all(&mut prepared, &["SET @u = 1000"]);
    all(&mut zoned, &["SET time_zone = '+05:00'"]);
    all(&mut temporary, &["CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 77)"]);
    all(&mut open, &["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "BEGIN", "SELECT v FROM t"]);
    let execute = |one: &mut Client| binary_rows_text(&one.execute(&read, &[Param::Int(1)]).unwrap());
    assert_eq!(execute(&mut prepared), "1010");
    admin.must(ON).unwrap();
    let mut arena = Arena::on(server.clone(), "a");
    let mut reader = client(&server);
    arena.warm(&mut reader, READ);
    let zone = arena.warm(&mut reader, TIME);
    arena.miss(&mut temporary, READ, "77");
    assert_ne!(rows_text(&zoned.must(TIME).unwrap()), zone);
    reader.must("UPDATE t SET v = 11 WHERE id = 1").unwrap();
    assert_eq!(arena.warm(&mut reader, READ), "11");
    // The snapshot of `open` is older than the write.
    arena.miss(&mut open, READ, "10");
    assert_eq!(execute(&mut prepared), "1011");
    // Writes of these sessions invalidate results.
    for (number, one) in [&mut prepared, &mut zoned, &mut open].into_iter().enumerate() {
        let value = 20 + number;
        let write = || {
            one.must(&format!("UPDATE t SET v = {value} WHERE id = 1")).unwrap();
            one.must("COMMIT").unwrap();
        };
        arena.check_write_shows(&mut reader, READ, write, &value.to_string());
    }
}

#[test]
fn a_command_that_comes_in_pieces_while_the_engine_wakes() {
    const WRITE: &[u8] = b"\x03UPDATE t SET v = 11 WHERE id = 1";
    let server = asleep();
    let mut writer = client(&server);
    writer.must(READ).unwrap();
    let packet = [&[WRITE.len() as u8, 0, 0, 0], WRITE].concat();
    // The server has received the beginning of a command, and waits for the rest.
    writer.send_raw(&packet[..9]).unwrap();
    server.admin().unwrap().must(ON).unwrap();
    let mut arena = Arena::on(server.clone(), "a");
    let mut reader = client(&server);
    let write = || {
        writer.send_raw(&packet[9..]).unwrap();
        assert!(writer.read_response().unwrap().failure().is_none());
    };
    arena.check_write_shows(&mut reader, READ, write, "11");
}

/// Starts a server whose engine is at work, with this many sessions that do not use the cache and so do not keep the engine from being
/// suspended.
pub fn awake(sessions: usize) -> (Arc<Server>, Vec<Client>) {
    let server = asleep();
    server.admin().unwrap().must(ON).unwrap();
    let mut clients: Vec<_> = (0..sessions).map(|_| client(&server)).collect();
    clients.iter_mut().for_each(|one| all(one, &["SET SESSION fqc_type = OFF", "SELECT 1"]));
    (server, clients)
}

#[test]
fn what_is_inherited_by_a_reset_while_asleep() {
    let (server, mut clients) = awake(3);
    let [before, reset, unseen] = &mut clients[..] else { unreachable!() };
    fall_asleep(&server);
    all(unseen, &["SELECT v FROM t", "SET GLOBAL sql_mode = 'ANSI_QUOTES', GLOBAL default_week_format = 0"]);
    reset.reset_connection().unwrap();
    all(reset, &["USE d", "SET SESSION fqc_type = OFF"]);
    server.admin().unwrap().must(ON).unwrap();
    let mut arena = Arena::on(server.clone(), "a");
    for one in [&mut *before, &mut *reset] {
        all(one, &["SET SESSION fqc_type = ON", "DO 1"]);
    }
    let read = r#"SELECT "v" FROM t WHERE id = 1"#;
    assert_eq!(arena.warm(before, read), "v");
    assert_eq!(arena.warm(reset, read), "10");
}

#[test]
fn a_database_that_was_chosen_while_asleep() {
    let (server, mut clients) = awake(2);
    let [writer, other] = &mut clients[..] else { unreachable!() };
    let foreign = [
        "CREATE DATABASE e",
        "CREATE TABLE e.t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO e.t VALUES (2, 2)",
        "CREATE TRIGGER e.x AFTER UPDATE ON e.t FOR EACH ROW UPDATE d.t SET v = v + 1 WHERE id = 1",
    ];
    all(other, &foreign);
    fall_asleep(&server);
    writer.must("USE e").unwrap();
    server.admin().unwrap().must(ON).unwrap();
    let mut arena = Arena::on(server.clone(), "a");
    let mut reader = client(&server);
    arena.warm(&mut reader, READ);
    until("rows that are told apart", || {
        other.must("UPDATE d.t SET v = v + 1 WHERE id = 3").unwrap();
        arena.ask(&mut reader, READ).1
    });
    // This is the writer's first statement since the engine woke up. The unqualified name means the table in the database that the writer
    // chose while the engine slept.
    writer.must("UPDATE t SET v = 77 WHERE id = 2").unwrap();
    assert_eq!(rows_text(&reader.query(READ).unwrap()), "11");
}
