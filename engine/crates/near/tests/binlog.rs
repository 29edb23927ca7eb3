//! With the server's binary log nothing is served that is older than the bound, and what goes through is seen at once.

mod beside;

use beside::scene::{READ, ask, hits, until_served};
use beside::{Folder, LIMIT, Near, near, wait_until};
use fqc_tests::client::{Client, command};
use fqc_tests::server::{Options, Server};
use locks::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const ARGUMENTS: [&str; 4] = ["--log-bin=log", "--binlog-format=ROW", "--server-id=1", "--log-slave-updates"];
/// No test waits for it: what shows within it was proved, and did not just grow old.
const LONG: &str = "3600000";

fn logging() -> Server {
    server_with(&ARGUMENTS)
}

fn server_with(arguments: &[&str]) -> Server {
    let arguments = arguments.iter().map(|one| one.to_string()).collect();
    let server = Server::start(Options { arguments, ..Options::default() }).expect("a server");
    let statements = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT) ENGINE = InnoDB",
        "INSERT INTO d.t VALUES (1, 1), (2, 2)",
        "CREATE TABLE d.u (id INT PRIMARY KEY, v INT) ENGINE = InnoDB",
        "CREATE USER follower@'%' IDENTIFIED BY 'secret'",
        "GRANT REPLICATION SLAVE, BINLOG MONITOR, PROCESS ON *.* TO follower@'%'",
        "GRANT SELECT ON d.* TO follower@'%'",
    ];
    let mut admin = server.admin().expect("a connection");
    statements.iter().for_each(|one| drop(admin.must(one).expect(one)));
    server
}

fn following(server: &Server, max_staleness_ms: &str) -> Near {
    let near = started(server, max_staleness_ms);
    near.wait_for_metric("serving", |serving| serving == 1);
    near
}

fn started(server: &Server, max_staleness_ms: &str) -> Near {
    let folder = Folder::fresh();
    let password = folder.write("password", "secret\n");
    let options = ["--binlog-user", "follower", "--binlog-password-file", &password];
    near(server, &[&options[..], &["--max-staleness-ms", max_staleness_ms]].concat())
}

fn direct(server: &Server) -> Client {
    Client::root(&server.endpoint()).expect("a connection")
}

fn run(client: &mut Client, statements: &[&str]) {
    statements.iter().for_each(|one| drop(client.must(one).expect(one)));
}

/// Asks until it says so. It may take a while, but not for ever.
fn until_said(near: &Near, client: &mut Client, read: &str, expected: &str) {
    let begun = Instant::now();
    while ask(client, read) != expected {
        assert!(begun.elapsed() < LIMIT, "`{read}` never says {expected}; {}", near.log());
    }
}

#[test]
fn a_read_that_repeats_is_answered_from_memory_byte_for_byte() {
    let server = logging();
    let near = following(&server, LONG);
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

#[test]
fn what_others_write_by_any_way_ends_what_was_read() {
    let server = logging();
    let near = following(&server, LONG);
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
            4 => {
                run(&mut writer, &["SET SESSION binlog_format = STATEMENT", &update, "SET SESSION binlog_format = ROW"])
            }
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
        until_said(&near, &mut client, READ, &value);
        assert_eq!(until_served(&near, &mut client, READ), value);
    }
}

#[test]
fn what_goes_through_is_seen_at_once_by_every_connection() {
    let server = logging();
    let near = following(&server, LONG);
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

/// The log tells of a change before it can be seen, here for as long as the server waits for a replica that is not there.
#[test]
fn what_is_read_while_a_commit_waits_is_not_kept() {
    const BOUND: Duration = Duration::from_millis(400);
    let server = logging();
    let near = following(&server, "400");
    let (mut client, mut writer) = (near.client(), direct(&server));
    until_served(&near, &mut client, READ);
    let waiting = [
        "SET GLOBAL rpl_semi_sync_master_wait_point = 'AFTER_SYNC'",
        "SET GLOBAL rpl_semi_sync_master_timeout = 3600000",
        "SET GLOBAL rpl_semi_sync_master_enabled = 1",
    ];
    run(&mut writer, &waiting);
    writer.send(command::QUERY, b"UPDATE d.t SET v = 7 WHERE id = 1").expect("it is sent");
    // As soon as the near cache has heard of it.
    let (mut before, begun) = (hits(&near), Instant::now());
    loop {
        let answer = ask(&mut client, READ);
        let now = hits(&near);
        assert!(begun.elapsed() < LIMIT);
        if std::mem::replace(&mut before, now) == now {
            assert_eq!(answer, "1");
            break;
        }
    }
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
    let server = logging();
    let mut admin = direct(&server);
    let statements = [
        "USE d",
        "CREATE VIEW d.w AS SELECT * FROM d.t",
        "CREATE FUNCTION d.f() RETURNS INT READS SQL DATA RETURN (SELECT MAX(v) FROM d.t)",
        "CREATE TABLE d.parent (id INT PRIMARY KEY) ENGINE = InnoDB",
        "CREATE TABLE d.child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.parent (id) ON DELETE CASCADE) ENGINE = InnoDB",
        "CREATE TABLE d.aria (id INT PRIMARY KEY) ENGINE = Aria",
        "CREATE TABLE d.times (id INT PRIMARY KEY, t TIME) ENGINE = InnoDB",
        "CREATE TABLE d.old (id INT PRIMARY KEY) ENGINE = InnoDB WITH SYSTEM VERSIONING",
        "CREATE DATABASE unseen",
        "CREATE TABLE unseen.t (id INT PRIMARY KEY) ENGINE = InnoDB",
    ];
    run(&mut admin, &statements);
    let near = following(&server, LONG);
    let mut client = near.client();
    let reads = [
        "SELECT v FROM d.w",
        "SELECT d.f() FROM d.t",
        "SELECT * FROM d.child",
        "SELECT * FROM d.aria",
        "SELECT * FROM d.times",
        "SELECT * FROM d.old",
        "SELECT * FROM unseen.t",
        "SELECT NOW() FROM d.t",
        "SELECT t.v FROM d.t, d.w",
        "SELECT * FROM nowhere.t",
        "SELECT COUNT(*) FROM mysql.user",
    ];
    // Time enough to have learned of all tables: these are learned in the same way, and after them.
    for read in reads {
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
    // Who reads what is not committed keeps nothing.
    let mut dirty = near.client();
    run(&mut dirty, &["SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"]);
    run(&mut admin, &["BEGIN", "UPDATE d.t SET v = 9 WHERE id = 1"]);
    (0..5).for_each(|_| assert_eq!(ask(&mut dirty, READ), "9"));
    run(&mut admin, &["ROLLBACK"]);
    assert_eq!(ask(&mut dirty, READ), "1");
    assert_eq!(until_served(&near, &mut client, READ), "1");
}

#[test]
fn a_name_that_comes_to_stand_for_something_else_is_asked_about_again() {
    let server = logging();
    let near = following(&server, LONG);
    let (mut client, mut admin) = (near.client(), direct(&server));
    let read = "SELECT v FROM d.x WHERE id = 1";
    for round in 0..4 {
        let value = (20 + round).to_string();
        run(&mut admin, &["CREATE TABLE d.x LIKE d.t", &format!("INSERT INTO d.x VALUES (1, {value})")]);
        until_said(&near, &mut client, read, &value);
        assert_eq!(until_served(&near, &mut client, read), value);
        run(&mut admin, &["DROP TABLE d.x", "CREATE VIEW d.x AS SELECT * FROM d.t"]);
        until_said(&near, &mut client, read, "1");
        let before = hits(&near);
        // A view is not kept: its tables are not known.
        (0..20).for_each(|_| assert_eq!(ask(&mut client, read), "1"));
        assert_eq!(hits(&near), before);
        run(&mut admin, &["DROP VIEW d.x"]);
    }
}

#[test]
fn a_grant_that_is_taken_away_counts() {
    let server = logging();
    let near = following(&server, LONG);
    let mut admin = direct(&server);
    run(&mut admin, &["CREATE USER app@'%'", "GRANT SELECT ON d.* TO app@'%'"]);
    let mut app = near.login("app", "").expect("a connection");
    assert_eq!(until_served(&near, &mut app, READ), "1");
    run(&mut admin, &["REVOKE SELECT ON d.* FROM app@'%'"]);
    until_said(&near, &mut app, READ, "error 1142");
}

#[test]
fn without_the_log_nothing_is_served_and_with_it_everything_is_read_anew() {
    let mut server = logging();
    let near = following(&server, LONG);
    let mut client = near.client();
    until_served(&near, &mut client, READ);
    let mut admin = direct(&server);
    let threads = "SELECT GROUP_CONCAT(id) FROM information_schema.processlist WHERE user = 'follower' AND command LIKE 'Binlog%'";
    // The account may not come back yet.
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
    run(&mut admin, &["RESET MASTER", "UPDATE d.t SET v = 8 WHERE id = 1"]);
    until_said(&near, &mut client, READ, "8");
    // Killed, and back with another past.
    server.kill9().expect("it ends");
    near.wait_for_metric("serving", |serving| serving == 0);
    server.restart().expect("it is back");
    run(&mut direct(&server), &["UPDATE d.t SET v = 9 WHERE id = 1"]);
    let mut client = near.client();
    until_said(&near, &mut client, READ, "9");
    assert_eq!(until_served(&near, &mut client, READ), "9");
}

#[test]
fn transactions_in_two_phases_end_it() {
    let server = logging();
    let near = following(&server, LONG);
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

#[test]
fn a_transaction_with_another_engine_bars_its_tables_alone() {
    let server = logging();
    let near = following(&server, LONG);
    let (mut client, mut admin) = (near.client(), direct(&server));
    run(&mut admin, &["CREATE TABLE d.aria (id INT) ENGINE = Aria", "INSERT INTO d.u VALUES (1, 1)"]);
    let other = "SELECT v FROM d.u";
    until_served(&near, &mut client, READ);
    run(&mut admin, &["BEGIN", "UPDATE d.t SET v = 3", "INSERT INTO d.aria VALUES (1)", "COMMIT"]);
    until_said(&near, &mut client, READ, "3");
    until_served(&near, &mut client, other);
    let before = hits(&near);
    (0..20).for_each(|_| drop(ask(&mut client, READ)));
    assert_eq!(hits(&near), before);
}

#[test]
fn what_is_missing_on_the_server_is_told_with_what_mends_it() {
    let told = |arguments: &[&str], statements: &[&str], expected: &str| {
        let server = server_with(arguments);
        run(&mut direct(&server), statements);
        let near = started(&server, LONG);
        wait_until(expected, || near.log().contains(expected));
        assert_eq!(near.metric("serving"), 0);
        let mut client = near.client();
        (0..3).for_each(|_| assert_eq!(ask(&mut client, READ), "1"));
        assert_eq!(hits(&near), 0);
    };
    told(&[], &[], "add `log_bin`");
    told(&ARGUMENTS[..3], &[], "add `log_slave_updates = ON`");
    told(&[&ARGUMENTS[..], &["--binlog-format=MIXED"]].concat(), &[], "SET GLOBAL binlog_format = 'ROW'");
    told(&[&ARGUMENTS[..], &["--binlog-ignore-db=x"]].concat(), &[], "remove binlog_do_db and binlog_ignore_db");
    let grant = "run GRANT REPLICATION SLAVE, BINLOG MONITOR, PROCESS ON *.* TO follower@";
    for privilege in ["PROCESS", "BINLOG MONITOR", "REPLICATION SLAVE"] {
        told(&ARGUMENTS, &[&format!("REVOKE {privilege} ON *.* FROM follower@'%'")], grant);
    }
}

/// What was written, and when that was known.
type Written = Mutex<VecDeque<(Instant, u64)>>;

/// A counter is written directly, another one through the near cache, while all kinds of trouble come.
#[test]
fn nothing_is_older_than_the_bound_while_there_is_trouble() {
    const BOUND: Duration = Duration::from_millis(400);
    let seconds = std::env::var("FQC_TEST_SECONDS").map_or(20, |text| text.parse().expect("a number"));
    let server = server_with(&[&ARGUMENTS[..], &["--max-binlog-size=65536"]].concat());
    let near = following(&server, "400");
    let (is_over, direct_writes, own) = (AtomicBool::new(false), Written::default(), AtomicU64::new(2));
    let goes_on = || !is_over.load(Ordering::SeqCst);
    direct_writes.lock().unwrap().push_back((Instant::now(), 1));
    let checks = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = direct(&server);
            for value in 2.. {
                if !goes_on() {
                    return;
                }
                run(&mut writer, &[&format!("UPDATE d.t SET v = {value} WHERE id = 1")]);
                direct_writes.lock().unwrap().push_back((Instant::now(), value));
                thread::sleep(Duration::from_millis(value % 40));
            }
        });
        scope.spawn(|| {
            let mut writer = near.client();
            for value in 3.. {
                if !goes_on() {
                    return;
                }
                run(&mut writer, &[&format!("UPDATE d.t SET v = {value} WHERE id = 2")]);
                own.store(value, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(value % 300));
            }
        });
        for _ in 0..3 {
            scope.spawn(|| {
                let mut client = near.client();
                while goes_on() {
                    let asked = Instant::now();
                    let value: u64 = ask(&mut client, READ).parse().expect("a number");
                    let expected = {
                        let writes = direct_writes.lock().unwrap();
                        writes.iter().rev().find(|(known, _)| *known + BOUND < asked).map_or(0, |(_, value)| *value)
                    };
                    assert!(value >= expected, "{value} is older than {expected}");
                    let expected = own.load(Ordering::SeqCst);
                    let value: u64 = ask(&mut client, "SELECT v FROM d.t WHERE id = 2").parse().expect("a number");
                    assert!(value >= expected, "{value} was written over by {expected}, through the near cache");
                    checks.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let (mut admin, begun, mut round) = (direct(&server), Instant::now(), 0);
        while begun.elapsed() < Duration::from_secs(seconds) {
            thread::sleep(Duration::from_millis(300));
            round += 1;
            match round % 5 {
                0 => {
                    near.signal(libc::SIGSTOP);
                    thread::sleep(2 * BOUND);
                    near.signal(libc::SIGCONT);
                }
                1 => {
                    let threads =
                        "SELECT id FROM information_schema.processlist WHERE user = 'follower' ORDER BY RAND() LIMIT 1";
                    if let Some(thread) = admin.scalar(threads).expect("an answer") {
                        // It may have ended already.
                        let _ = admin.query(format!("KILL {thread}"));
                    }
                }
                2 => run(&mut admin, &["ALTER TABLE d.t COMMENT = 'altered'"]),
                3 => run(&mut admin, &["FLUSH BINARY LOGS"]),
                _ => {}
            }
        }
        is_over.store(true, Ordering::SeqCst);
    });
    println!("{} checks, {} hits, {} writes", checks.into_inner(), hits(&near), direct_writes.lock().unwrap().len());
    assert!(hits(&near) > 0, "without a hit this run has proved nothing");
}
