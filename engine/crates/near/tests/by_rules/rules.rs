//! With rules, results may be stale for as long as a rule allows, and are only served to sessions with the same account and settings.

use crate::beside::executions::{ELSEWHERE, Twins, prepared, run};
use crate::beside::scene::{READ, ask, furnish, reads_run_for_those_who_go, said};
use crate::beside::{Folder, LIMIT, Near, near, wait_until};
use fqc_tests::checkout;
use fqc_tests::client::{Client, Login, Param, Prepared, command, execute_body};
use fqc_tests::random::Random;
use fqc_tests::server::{Options, Product, Server};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A rule for all tables of `d` with a time to live that is longer than a test takes.
pub const LONG: &str = "[[rule]]\ntable = 'd.%'\ncache = 'always'\nttl = 3600\n";

/// Starts a server, and makes the tables and accounts of [`furnish`].
fn started(options: Options) -> Server {
    let server = Server::start(options).expect("a server");
    furnish(&server);
    server
}

/// Starts MariaDB without the plugin, with the tables and accounts of [`furnish`].
fn mariadb() -> Server {
    started(Options::default())
}

/// Starts MariaDB without the plugin, and then each version of MySQL that is installed in `target/servers`, all with the tables and
/// accounts of [`furnish`]. Returns each server with its name.
pub fn servers() -> impl Iterator<Item = (&'static str, Server)> {
    let mysqls = ["5.7", "8.0", "9.7"].into_iter().filter_map(|line| {
        let program = checkout::file(&format!("target/servers/MySQL-{line}/sbin/mysqld"));
        if !program.exists() {
            eprintln!("SKIPPED: NO MYSQL {line} IS HERE");
            return None;
        }
        let options = Options { product: Product::MySql, program: Some(program), ..Options::default() };
        Some((line, started(options)))
    });
    std::iter::once_with(|| ("MariaDB", mariadb())).chain(mysqls)
}

/// Starts a near cache in front of the server. `rules`: the text of its file with rules.
pub fn ruled(server: &Server, rules: &str) -> Near {
    let folder = Folder::fresh();
    near(server, &["--rules", &folder.write("rules.toml", rules)])
}

/// Sends a read, and returns the answer as text, and true if it came from memory. No other client may be served in the meantime.
pub fn served(near: &Near, client: &mut Client, read: &str) -> (String, bool) {
    let before = near.metric("hits_total");
    let answer = ask(client, read);
    (answer, near.metric("hits_total") > before)
}

/// Changes the row 1 of `d.t` on the server itself, so that the near cache does not see the write.
pub fn write(server: &Server, value: &str) {
    let mut direct = Client::root(&server.endpoint()).expect("a connection");
    direct.must(&format!("UPDATE d.t SET v = '{value}' WHERE id = 1")).expect("it is written");
}

#[test]
fn a_result_is_served_until_its_time_is_over_and_not_after() {
    const TTL: Duration = Duration::from_millis(1500);
    for (line, server) in servers() {
        let near = ruled(&server, "[[rule]]\ntable = 'd.t'\ncache = 'always'\nttl = 1.5\n");
        let mut client = near.client();
        for round in 0..3 {
            let value = format!("round {round}");
            write(&server, &value);
            let begun = Instant::now();
            while ask(&mut client, READ) != value {
                assert!(begun.elapsed() < LIMIT, "{line}: it is never read anew");
            }
            let known = Instant::now();
            write(&server, "later");
            let (mut hits, mut last) = (0, Instant::now());
            loop {
                let asked = Instant::now();
                let (answer, is_hit) = served(&near, &mut client, READ);
                if answer == "later" {
                    break;
                }
                (hits, last) = (hits + usize::from(is_hit), asked);
                assert!(begun.elapsed() < LIMIT);
                sleep(Duration::from_millis(1));
            }
            assert!(hits > 0, "{line}: {}", near.log());
            // The result was served to a read that began at `last`, and had been read from the server before `known`.
            let outdated = last.saturating_duration_since(known);
            assert!(outdated < TTL, "{line}: {outdated:?}");
        }
    }
}

#[test]
fn an_answer_from_memory_is_byte_for_byte_that_of_the_server() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let mut client = near.client();
        let expected = Client::root(&server.endpoint()).unwrap().query(READ).expect("an answer").bytes;
        for round in 0..5 {
            let before = near.metric("hits_total");
            assert_eq!(client.query(READ).expect("an answer").bytes, expected, "{line}");
            assert_eq!(near.metric("hits_total") - before, u64::from(round > 0), "{line}: {}", near.log());
        }
        // The near cache has sent a query of its own to the server; the session must not show any trace of it.
        assert_eq!(ask(&mut client, "SELECT v FROM d.t ORDER BY id"), "one;two");
        assert_eq!(ask(&mut client, "SHOW WARNINGS"), "", "{line}");
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "2", "{line}");
    }
}

/// MariaDB keeps the warnings of the last statement during a read that names no table. Checks that a query of the near cache's own before
/// such a read does not delete them.
#[test]
fn warnings_outlive_a_read_without_a_table_before_which_the_server_could_be_asked_for_the_session() {
    for (line, server) in servers() {
        let near = ruled(&server, "[[rule]]\ntext = 'from'\ncache = 'always'\nttl = 3600\n");
        let mut direct = Client::root(&server.endpoint()).expect("a connection");
        for read in ["SELECT 1 FROM DUAL", "SELECT EXTRACT(YEAR FROM '2020-02-02')"] {
            let mut client = near.client();
            ask(&mut client, "USE d");
            let [told, truth] = [&mut client, &mut direct].map(|client| {
                ask(client, "SELECT CAST('x' AS SIGNED) FROM d.t");
                assert!(!ask(client, "SHOW COUNT(*) WARNINGS").is_empty());
                ask(client, "INSERT IGNORE INTO d.t SELECT * FROM d.t");
                ask(client, read);
                ask(client, "SHOW COUNT(*) WARNINGS")
            });
            assert_eq!(told, truth, "{line}: {read}");
        }
    }
}

/// A read that is answered from memory would have cleared the warnings, but the server has not seen the read and still has them. Checks
/// that the client sees the warnings that it would see on a direct connection.
#[test]
fn warnings_are_gone_after_an_answer_from_memory_and_a_read_without_a_table() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let mut client = near.client();
        let mut direct = Client::root(&server.endpoint()).expect("a connection");
        wait_until("an answer from memory", || served(&near, &mut client, READ).1);
        for read in ["SELECT 1", "SELECT @@SESSION.sql_mode", "SELECT FOUND_ROWS()", "SELECT 1 FROM DUAL"] {
            let [told, truth] = [&mut client, &mut direct].map(|client| {
                ask(client, "SELECT CAST('x' AS SIGNED)");
                ask(client, READ);
                ask(client, read);
                ask(client, "SHOW WARNINGS")
            });
            assert_eq!(told, truth, "{line}: {read}");
        }
    }
}

/// MySQL's answer to a ping contains the number of warnings of the last statement. Checks that this number is right after a read that the
/// server has not seen.
#[test]
fn a_ping_after_an_answer_from_memory_counts_no_older_warnings() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let mut client = near.client();
        let mut direct = Client::root(&server.endpoint()).unwrap();
        wait_until("an answer from memory", || served(&near, &mut client, READ).1);
        for before in ["SELECT v AS ' v' FROM d.t", "SELECT nothing FROM d.t", "SELECT 1"] {
            for client in [&mut client, &mut direct] {
                client.query(before).expect("an answer");
            }
            assert!(served(&near, &mut client, READ).1, "{line}: {}", near.log());
            ask(&mut direct, READ);
            let [told, truth] = [&mut client, &mut direct].map(|client| client.ping().expect("an answer").bytes);
            assert_eq!(told, truth, "{line}: {before}");
        }
    }
}

#[test]
fn one_client_refreshes_and_the_others_get_what_there_is() {
    let server = mariadb();
    let rules = "[[rule]]\nname = 'soft'\ntable = 'd.t'\ncache = 'always'\nttl = 3600\nsoft_ttl = 0.1\n";
    let near = ruled(&server, rules);
    let (mut client, mut other) = (near.client(), near.client());
    let begun = Instant::now();
    ask(&mut client, READ);
    ask(&mut other, READ);
    write(&server, "new");
    let mut locker = Client::root(&server.endpoint()).expect("a connection");
    locker.must("LOCK TABLES d.t WRITE").expect("a lock");
    wait_until("the soft end", || begun.elapsed() > Duration::from_millis(200));
    let counts = || (near.metric("misses_total"), near.metric("rule_refreshes_total{rule=\"soft\"}"));
    let before = counts();
    // The client that refreshes the result waits for the lock.
    client.send(command::QUERY, READ.as_bytes()).expect("it is sent");
    near.wait_for_metric("misses_total", |misses| misses == before.0 + 1);
    for _ in 0..20 {
        assert_eq!(served(&near, &mut other, READ), ("one".into(), true));
    }
    locker.must("UNLOCK TABLES").expect("it is free");
    assert_eq!(said(&client.read_response().expect("an answer")), "new");
    assert_eq!(ask(&mut other, READ), "new");
    let after = counts();
    assert_eq!(after.0 - before.0, after.1 - before.1);
}

#[test]
fn a_hint_serves_where_hints_are_on() {
    let server = mariadb();
    let near = near(&server, &["--hints", "yes"]);
    let mut client = near.client();
    let read = format!("/* cache_ttl=3600000 */ {READ}");
    for statement in [&read[..], READ, "SELECT '/* cache_ttl=3600000 */' FROM d.t"] {
        ask(&mut client, statement);
        assert_eq!(served(&near, &mut client, statement).1, statement == read, "{statement}");
    }
    write(&server, "new");
    assert_eq!(ask(&mut client, &read), "one");
    assert_eq!(ask(&mut client, READ), "new");
}

#[test]
fn nothing_is_served_that_no_rule_fits() {
    let server = mariadb();
    let rules = "[[rule]]\ntable = 'd.u'\ncache = 'always'\nttl = 3600\n";
    let near = ruled(&server, rules);
    let mut client = near.client();
    for value in ["a", "b", "c"] {
        write(&server, value);
        assert_eq!(ask(&mut client, READ), value);
    }
    assert_eq!((near.metric("hits_total"), near.metric("misses_total"), near.metric("entries")), (0, 0, 0));
}

#[test]
fn a_rule_for_an_account_is_for_that_account_alone() {
    for (line, server) in servers() {
        let near = ruled(&server, "[[rule]]\naccount = 'app@%'\ncache = 'always'\nttl = 3600\n");
        let mut app = near.login("app", "").expect("a connection");
        let mut root = near.client();
        ask(&mut app, READ);
        write(&server, "new");
        assert_eq!(served(&near, &mut app, READ), ("one".into(), true), "{line}: {}", near.log());
        for _ in 0..3 {
            assert_eq!(served(&near, &mut root, READ), ("new".into(), false), "{line}");
        }
    }
}

#[test]
fn nobody_gets_a_row_that_was_read_for_another_account() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let mut app = near.login("app", "").expect("a connection");
        ask(&mut app, READ);
        assert_eq!(served(&near, &mut app, READ), ("one".into(), true), "{line}");
        let mut other = near.login("other", "").expect("a connection");
        for _ in 0..3 {
            assert_eq!(ask(&mut other, READ), "error 1142", "{line}");
        }
        // The same connection changes to another account and back.
        app.change_user(&Login::user("other", "")).expect("an answer");
        for _ in 0..3 {
            assert_eq!(ask(&mut app, READ), "error 1142", "{line}");
        }
        app.change_user(&Login::user("app", "")).expect("an answer");
        ask(&mut app, READ);
        assert_eq!(served(&near, &mut app, READ), ("one".into(), true), "{line}");
        // A view that shows each account its own rows.
        let mut admin = Client::root(&server.endpoint()).expect("a connection");
        let view = "CREATE SQL SECURITY INVOKER VIEW d.own AS SELECT id FROM d.t WHERE USER() LIKE 'app@%'";
        for statement in [view, "GRANT SELECT ON d.* TO other@'127.0.0.1'"] {
            admin.must(statement).expect(statement);
        }
        let mut other = near.login("other", "").expect("a connection");
        for _ in 0..3 {
            assert_eq!(ask(&mut app, "SELECT * FROM d.own ORDER BY id"), "1;2", "{line}");
            assert_eq!(ask(&mut other, "SELECT * FROM d.own ORDER BY id"), "", "{line}");
        }
    }
}

/// Replaces an account in several ways, or takes its privileges away, and checks that a new session of it gets no result that was stored
/// before.
#[test]
fn an_account_that_is_made_anew_gets_nothing_that_was_read_before() {
    const GRANT: &str = "GRANT SELECT ON d.* TO app@'127.0.0.1'";
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let mut root = near.client();
        for change in [
            &["DROP USER app@'127.0.0.1'", "CREATE USER app@'127.0.0.1'"][..],
            &["RENAME USER app@'127.0.0.1' TO old@'127.0.0.1'", "CREATE USER app@'127.0.0.1'"],
            &["REVOKE SELECT ON d.* FROM app@'127.0.0.1'"],
        ] {
            root.must("DROP USER IF EXISTS old@'127.0.0.1'").expect("it is gone");
            root.must(GRANT).expect("it may read");
            let mut before = near.login("app", "").expect("a connection");
            wait_until("an answer from memory", || served(&near, &mut before, READ).1);
            drop(before);
            change.iter().for_each(|statement| root.must(statement).map(drop).expect(statement));
            let mut after = near.login("app", "").expect("a connection");
            // The near cache learns the session's account with its first read, so it could serve from the second read on.
            for _ in 0..3 {
                let answer = ask(&mut after, READ);
                assert_eq!(answer, "error 1142", "{line}: {change:?}");
            }
        }
    }
}

#[test]
fn a_connection_sees_its_own_writes() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let (mut client, mut other) = (near.client(), near.client());
        let mut prepared = near.client();
        let (_, statement) = prepared.prepare("UPDATE d.t SET v = 'prepared' WHERE id = 1").expect("it is prepared");
        let statement = statement.expect("a statement");
        ask(&mut client, READ);
        for round in 0..6 {
            let (mine, value) = (round % 2 == 0, format!("v{round}"));
            // Another connection reads before the write. After it, this connection must not get that result.
            ask(&mut other, READ);
            ask(&mut client, if mine { "BEGIN" } else { "SELECT 1" });
            ask(&mut client, &format!("UPDATE d.t SET v = '{value}' WHERE id = 1"));
            if mine {
                assert_eq!(ask(&mut client, READ), value, "{line}: in the transaction");
                ask(&mut other, READ);
                ask(&mut client, "COMMIT");
            }
            assert_eq!(ask(&mut client, READ), value, "{line}");
            assert_eq!(served(&near, &mut client, READ), (value, true), "{line}");
        }
        prepared.execute(&statement, &[]).expect("an answer");
        assert_eq!(ask(&mut prepared, READ), "prepared", "{line}");
    }
}

#[test]
fn nothing_is_run_for_a_client_that_goes() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        assert_eq!(reads_run_for_those_who_go(&server, &near), 0, "{line}");
    }
}

/// A statement that MariaDB's connector for Java begins each connection with. It reads a global variable, and cannot write.
const TRACKING: &str =
    "SET session_track_system_variables = CONCAT(@@global.session_track_system_variables, ',auto_increment_increment')";

/// Checks that the statements that applications begin a connection with do not prevent it from being served earlier results, while
/// statements that may write do.
#[test]
fn what_cannot_write_leaves_a_connection_what_was_read_before() {
    const BEGINNING: [&str; 7] = [
        "SET NAMES utf8mb4",
        TRACKING,
        "SELECT @@SESSION.sql_mode",
        "SET SESSION sql_mode = @@GLOBAL.sql_mode",
        "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')",
        "SELECT @@version, NOW(), CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC')",
        "SELECT FOUND_ROWS()",
    ];
    for (line, server) in servers() {
        let near = ruled(&server, "[[rule]]\ntable = 'd.%'\ncache = 'always'\nttl = 3600\n");
        let enter = || {
            let mut client = near.client();
            BEGINNING.iter().for_each(|one| drop(client.must(one).expect(one)));
            // At the first read, the near cache asks the server for the session's account and settings.
            ask(&mut client, "SELECT v FROM d.u");
            client
        };
        assert_eq!(ask(&mut enter(), READ), "one");
        write(&server, "two");
        assert_eq!(served(&near, &mut enter(), READ), ("one".into(), true), "{line}: {}", near.log());
        let mut direct = Client::root(&server.endpoint()).unwrap();
        direct.must("CREATE FUNCTION d.f() RETURNS INT DETERMINISTIC RETURN 1").expect("a function");
        for may_write in ["SELECT @@version, d.f()", "SET @a = d.f()", "SELECT NOW(), RELEASE_LOCK('a')"] {
            let mut client = enter();
            client.must(may_write).expect(may_write);
            write(&server, may_write.split('\'').next().unwrap());
            let (answer, is_hit) = served(&near, &mut client, READ);
            assert!(may_write.starts_with(&answer) && !is_hit, "{line}: `{answer}` after `{may_write}`");
        }
    }
}

#[test]
fn what_a_session_is_decides_what_it_gets() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let mut client = near.client();
        let mut admin = Client::root(&server.endpoint()).expect("a connection");
        for statement in ["CREATE DATABASE d2", "CREATE TABLE d2.t SELECT 1 AS id, 'elsewhere' AS v"] {
            admin.must(statement).expect(statement);
        }
        let rules = "[[rule]]\ntable = '%.t'\ncache = 'always'\nttl = 3600\n";
        let near_all = ruled(&server, rules);
        let mut mover = near_all.client();
        let short = "SELECT v FROM t WHERE id = 1";
        for (database, expected) in [("d", "one"), ("d2", "elsewhere"), ("d", "one"), ("d2", "elsewhere")] {
            ask(&mut mover, &format!("USE {database}"));
            assert_eq!(ask(&mut mover, short), expected, "{line}");
            assert_eq!(served(&near_all, &mut mover, short), (expected.into(), true), "{line}: {}", near_all.log());
            mover.init_db(if database == "d" { "d2" } else { "d" }).expect("an answer");
            assert_ne!(ask(&mut mover, short), expected, "{line}");
        }
        let divided = r"SELECT 1 / (id + 2), LENGTH('\n') FROM d.t WHERE id = 1";
        let before = ask(&mut client, divided);
        assert_eq!(served(&near, &mut client, divided), (before.clone(), true));
        let settings = [
            "SET SESSION div_precision_increment = 1",
            "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'",
            "SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')",
            "SET SESSION sql_select_limit = 0",
        ];
        for setting in settings {
            ask(&mut client, setting);
            let now = ask(&mut client, divided);
            assert_ne!(now, before, "{line}: {setting}");
            assert_eq!(ask(&mut client, divided), now);
            let mut fresh = near.client();
            ask(&mut fresh, divided);
            assert_eq!(served(&near, &mut fresh, divided), (before.clone(), true), "{line}: {setting}");
        }
        client.reset_connection().expect("an answer");
        ask(&mut client, divided);
        assert_eq!(served(&near, &mut client, divided), (before, true), "{line}: {}", near.log());
    }
}

/// A near cache with the rule `crowd`, and a connection that can lock the table `d.t`, so that every read of it waits. While one client
/// waits for the server, others with the same read wait for its answer.
struct Crowd {
    near: Near,
    locker: Client,
}

impl Crowd {
    /// Starts a near cache with the rule `crowd`, and connects to the server. `coalesce_ms`: how many milliseconds a client waits for the
    /// answer to another one's equal read.
    fn of(server: &Server, coalesce_ms: u64) -> Crowd {
        let rule = "[[rule]]\nname = 'crowd'\ntable = 'd.%'\ncache = 'always'\nttl = 3600\n";
        let near = ruled(server, &format!("{rule}coalesce_ms = {coalesce_ms}\n"));
        Crowd { near, locker: Client::root(&server.endpoint()).expect("a connection") }
    }

    /// Connects a client and lets it read once. After that, the near cache knows the session's account, database and settings, which decide
    /// what it may serve to it.
    fn client(&self, user: &str) -> Client {
        let mut client = self.near.login(user, "").expect("a connection");
        ask(&mut client, "SELECT v FROM d.u");
        client
    }

    /// Locks the table until [`unlock`](Self::unlock). Reads of it wait on the server.
    fn lock(&mut self) {
        self.locker.must("LOCK TABLES d.t WRITE").expect("a lock");
    }

    fn unlock(&mut self) {
        self.locker.must("UNLOCK TABLES").expect("it is free");
    }

    /// Sends `READ` without waiting for the answer, and waits until the rule's counter has grown by `more`. `counter`: `SENT` or `WAITS`.
    fn send(&self, client: &mut Client, counter: &str, more: u64) {
        let counter = format!("{counter}{{rule=\"crowd\"}}");
        let before = self.near.metric(&counter);
        client.send(command::QUERY, READ.as_bytes()).expect("it is sent");
        self.near.wait_for_metric(&counter, |count| count >= before + more);
    }

    /// Returns how many reads have waited for another client's answer.
    fn waits(&self) -> u64 {
        self.near.metric("rule_waits_total{rule=\"crowd\"}")
    }
}

/// The metric of reads that were sent to the server.
const SENT: &str = "rule_misses_total";
/// The metric of reads that have waited for another client's answer.
const WAITS: &str = "rule_waits_total";
/// A time to wait for another client's answer, in milliseconds, that is longer than the test: a wait that ends earlier has another reason.
const FOR_LONG: u64 = 60_000;

/// Waits for the answer to a statement that was sent, and returns it as text.
fn answer_of(client: &mut Client) -> String {
    said(&client.read_response().expect("an answer"))
}

#[test]
fn of_those_who_ask_the_same_at_the_same_time_one_asks_the_server() {
    for (line, server) in servers() {
        let mut crowd = Crowd::of(&server, FOR_LONG);
        let mut clients: Vec<_> = (0..6).map(|_| crowd.client("root")).collect();
        let (first, others) = clients.split_first_mut().expect("clients");
        crowd.lock();
        crowd.send(first, SENT, 1);
        others.iter_mut().for_each(|other| crowd.send(other, WAITS, 1));
        let (sent, hits) = (crowd.near.metric("misses_total"), hits_of(&crowd.near));
        write_by(&mut crowd.locker, "new");
        crowd.unlock();
        clients.iter_mut().for_each(|client| assert_eq!(answer_of(client), "new", "{line}"));
        assert_eq!((crowd.near.metric("misses_total"), hits_of(&crowd.near) - hits), (sent, 5), "{line}");
        // The sessions are unchanged by the wait.
        for client in &mut clients {
            assert_eq!(served(&crowd.near, client, READ), ("new".into(), true), "{line}");
            assert_eq!(ask(client, "SELECT FOUND_ROWS()"), "1", "{line}");
        }
    }
}

fn hits_of(near: &Near) -> u64 {
    near.metric("hits_total")
}

/// Changes the row 1 of `d.t` through this connection.
fn write_by(client: &mut Client, value: &str) {
    client.must(&format!("UPDATE d.t SET v = '{value}' WHERE id = 1")).expect("it is written");
}

#[test]
fn nobody_waits_for_longer_than_the_rule_says() {
    const LONGEST: u64 = 200;
    for (line, server) in servers() {
        let mut crowd = Crowd::of(&server, LONGEST);
        let (mut first, mut second) = (crowd.client("root"), crowd.client("root"));
        crowd.lock();
        crowd.send(&mut first, SENT, 1);
        let asked = Instant::now();
        // The lock is still held, so the second read has gone to the server, too, after its wait.
        crowd.send(&mut second, SENT, 1);
        assert!(asked.elapsed() >= Duration::from_millis(LONGEST), "{line}");
        assert_eq!(crowd.waits(), 1, "{line}");
        crowd.unlock();
        assert_eq!((answer_of(&mut first), answer_of(&mut second)), ("one".into(), "one".into()), "{line}");
    }
}

#[test]
fn whoever_could_not_be_given_the_answer_does_not_wait_for_it() {
    for (line, server) in servers() {
        let mut crowd = Crowd::of(&server, FOR_LONG);
        let mut first = crowd.client("root");
        // One client each with another account, with other settings, with a write of its own since the read was sent, and in a transaction.
        let (mut app, mut other) = (crowd.client("app"), crowd.client("root"));
        ask(&mut other, "SET SESSION sql_mode = 'ANSI_QUOTES'");
        ask(&mut other, "SELECT v FROM d.u");
        let (mut writer, mut transaction) = (crowd.client("root"), crowd.client("root"));
        ask(&mut transaction, "BEGIN");
        crowd.lock();
        crowd.send(&mut first, SENT, 1);
        ask(&mut writer, "UPDATE d.u SET v = 'own'");
        assert_eq!(ask(&mut writer, "SELECT v FROM d.u"), "own", "{line}");
        for client in [&mut app, &mut other, &mut writer] {
            crowd.send(client, SENT, 1);
        }
        transaction.send(command::QUERY, READ.as_bytes()).expect("it is sent");
        let blocked = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT v FROM d.t%'";
        let mut admin = Client::root(&server.endpoint()).expect("a connection");
        wait_until("all at the server", || ask(&mut admin, blocked) == "5");
        assert_eq!(crowd.waits(), 0, "{line}");
        crowd.unlock();
        for client in [&mut first, &mut app, &mut other, &mut writer, &mut transaction] {
            assert_eq!(answer_of(client), "one", "{line}");
        }
    }
}

/// Checks that, if the first read fails, all clients that waited for its answer send their own read at once.
#[test]
fn whoever_waits_for_a_read_that_fails_asks_the_server() {
    for (line, server) in servers() {
        let mut crowd = Crowd::of(&server, FOR_LONG);
        let mut first = crowd.client("root");
        let (mut second, mut third) = (crowd.client("root"), crowd.client("root"));
        let number = ask(&mut first, "SELECT CONNECTION_ID()");
        ask(&mut first, "SELECT v FROM d.u");
        crowd.lock();
        crowd.send(&mut first, SENT, 1);
        crowd.send(&mut second, WAITS, 1);
        crowd.send(&mut third, WAITS, 1);
        let sent = crowd.near.metric("misses_total");
        let mut admin = Client::root(&server.endpoint()).expect("a connection");
        admin.must(&format!("KILL QUERY {number}")).expect("it is killed");
        assert_eq!(answer_of(&mut first), "error 1317", "{line}");
        crowd.near.wait_for_metric("misses_total", |misses| misses == sent + 2);
        // `first` now waits for a read of one of the other two. One of these disconnects, and `first` must get an answer all the same.
        crowd.send(&mut first, WAITS, 1);
        drop(second);
        crowd.unlock();
        assert_eq!((answer_of(&mut third), answer_of(&mut first)), ("one".into(), "one".into()), "{line}");
    }
}

#[test]
fn whoever_waits_when_it_is_told_to_end_gets_an_answer() {
    let server = mariadb();
    let mut crowd = Crowd::of(&server, FOR_LONG);
    let (mut first, mut second) = (crowd.client("root"), crowd.client("root"));
    crowd.lock();
    crowd.send(&mut first, SENT, 1);
    crowd.send(&mut second, WAITS, 1);
    crowd.near.signal(libc::SIGTERM);
    wait_until("the end", || crowd.near.state() == "STOPPING=1");
    crowd.unlock();
    assert_eq!((answer_of(&mut first), answer_of(&mut second)), ("one".into(), "one".into()));
    assert!(crowd.near.ended().success());
}

/// The status flag SERVER_STATUS_METADATA_CHANGED: the columns differ from those at PREPARE.
const METADATA_CHANGED: u16 = 1024;
const BY_KEY: &str = "SELECT v, ? FROM d.t WHERE id = ?";

/// Executes a statement. Returns the first value of the first row, or the error, and true if the answer came from memory.
fn run_here(near: &Near, client: &mut Client, statement: &Prepared, params: &[Param]) -> (String, bool) {
    let before = near.metric("hits_total");
    let answer = run(client, statement, params);
    let value = match answer.failure() {
        Some(failure) => format!("error {}", failure.code),
        None => answer
            .rows(true)
            .first()
            .and_then(|row| row[0].clone())
            .map_or_else(String::new, |value| String::from_utf8_lossy(&value).into_owned()),
    };
    (value, near.metric("hits_total") > before)
}

#[test]
fn an_execution_that_repeats_is_answered_byte_for_byte() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let (mut client, mut direct) = (near.client(), Client::root(&server.endpoint()).expect("a connection"));
        let (here, there) = (prepared(&mut client, BY_KEY), prepared(&mut direct, BY_KEY));
        let several = [
            [Param::Int(7), Param::Int(1)],
            [Param::Int(7), Param::Int(2)],
            [Param::Null, Param::Int(1)],
            [Param::Text("8".into()), Param::Int(1)],
            [Param::Text("7".into()), Param::Text("1".into())],
            [Param::Double(0.5), Param::Unsigned(1)],
        ];
        for params in &several {
            let expected = run(&mut direct, &there, params);
            assert_eq!(run(&mut client, &here, params).bytes, expected.bytes, "{line}: {params:?}");
            let before = near.metric("hits_total");
            for _ in 0..3 {
                let expected = run(&mut direct, &there, params).bytes;
                assert_eq!(run(&mut client, &here, params).bytes, expected, "{line}: {params:?}");
            }
            // MySQL may report at each execution that the columns differ from those at PREPARE. Such results are not kept.
            let flags = &expected.bytes[expected.flags.last().expect("flags").clone()];
            let is_kept = u16::from_le_bytes([flags[0], flags[1]]) & METADATA_CHANGED == 0;
            // MySQL's result depends on all parameter types that the statement has had: it is served while they are those of the first
            // execution.
            let are_first = |params: &[Param]| matches!(params, [Param::Int(_), Param::Int(_)]);
            let expected = if is_kept && (line == "MariaDB" || are_first(params)) { 3 } else { 0 };
            assert_eq!(near.metric("hits_total") - before, expected, "{line}: {params:?}; {}", near.log());
        }
        // The first execution on another connection sends the parameter types to the server. From then on it is served, too.
        write(&server, "later");
        let mut other = near.client();
        let statement = prepared(&mut other, BY_KEY);
        run(&mut other, &statement, &[Param::Int(9), Param::Int(2)]);
        assert_eq!(run_here(&near, &mut other, &statement, &several[0]), ("one".into(), true), "{line}");
    }
}

#[test]
fn who_prepares_and_who_runs_decide_what_an_execution_gets() {
    for (line, server) in servers() {
        let mut admin = Client::root(&server.endpoint()).expect("a connection");
        for statement in ["CREATE DATABASE e", "CREATE TABLE e.t SELECT 1 AS id, 'elsewhere' AS v"] {
            admin.must(statement).expect(statement);
        }
        let near = ruled(&server, "[[rule]]\ntext = '.'\ncache = 'always'\nttl = 3600\n");
        let short = "SELECT v FROM t WHERE id = ?";
        let one = [Param::Int(1)];
        let (mut client, mut other) = (near.client(), near.client());
        let statement_in = |client: &mut Client, database: &str| {
            ask(client, &format!("USE {database}"));
            prepared(client, short)
        };
        let in_d = statement_in(&mut client, "d");
        let in_e = statement_in(&mut other, "e");
        for _ in 0..3 {
            assert_eq!(run_here(&near, &mut other, &in_e, &one).0, "elsewhere", "{line}");
            assert_eq!(run_here(&near, &mut client, &in_d, &one).0, "one", "{line}");
        }
        assert!(run_here(&near, &mut client, &in_d, &one).1 && run_here(&near, &mut other, &in_e, &one).1, "{line}");
        // The current database is not the one that the statement was prepared in.
        ask(&mut client, "USE e");
        for _ in 0..3 {
            assert_eq!(run_here(&near, &mut client, &in_d, &one), ("one".into(), false), "{line}");
        }
        let here_too = prepared(&mut client, short);
        run(&mut client, &here_too, &one);
        assert_eq!(run_here(&near, &mut client, &here_too, &one), ("elsewhere".into(), true), "{line}");
        ask(&mut client, "USE d");
        run(&mut client, &in_d, &one);
        assert_eq!(run_here(&near, &mut client, &in_d, &one), ("one".into(), true), "{line}");
        // Another account may not even prepare the read.
        let mut nobody = near.login("other", "").expect("a connection");
        assert!(nobody.prepare("SELECT v FROM d.t WHERE id = ?").expect("an answer").1.is_none(), "{line}");
        // After the reset the statement is gone, and another statement gets its id.
        client.reset_connection().expect("an answer");
        ask(&mut client, "USE d");
        let second = prepared(&mut client, "SELECT v FROM t WHERE id = ? + 1");
        run(&mut client, &second, &one);
        assert_eq!(run_here(&near, &mut client, &second, &one), ("two".into(), true), "{line}");
    }
}

#[test]
fn executions_see_the_writes_of_their_connection() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let mut client = near.client();
        let read = prepared(&mut client, "SELECT v FROM d.t WHERE id = ?");
        let (one, mut hits) = ([Param::Int(1)], 0);
        run(&mut client, &read, &one);
        let update = prepared(&mut client, "UPDATE d.t SET v = ? WHERE id = 1");
        for round in 0..6 {
            let value = format!("round {round}");
            if round % 2 == 0 {
                run(&mut client, &update, &[Param::Text(value.clone())]);
            } else {
                ask(&mut client, &format!("UPDATE d.t SET v = '{value}' WHERE id = 1"));
            }
            assert_eq!(run_here(&near, &mut client, &read, &one).0, value, "{line}");
            for _ in 0..3 {
                let (answer, is_hit) = run_here(&near, &mut client, &read, &one);
                assert_eq!(answer, value, "{line}");
                hits += usize::from(is_hit);
            }
            ask(&mut client, "BEGIN");
            assert!(!run_here(&near, &mut client, &read, &one).1, "{line}: in a transaction");
            ask(&mut client, "COMMIT");
        }
        assert_eq!(hits, 18, "{line}: {}", near.log());
    }
}

/// A statement's meaning depends on the session's settings at PREPARE. A write may have changed them since, as a trigger can set variables.
/// Checks that a statement that was prepared before a write is not answered from memory, and one that was prepared after it is.
#[test]
fn what_is_first_run_after_a_write_passes_until_it_is_prepared_again() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let mut client = near.client();
        let (read, one) = ("SELECT v FROM d.t WHERE id = ?", [Param::Int(1)]);
        let early = prepared(&mut client, read);
        ask(&mut client, "UPDATE d.t SET v = 'new' WHERE id = 1");
        for _ in 0..3 {
            assert_eq!(run_here(&near, &mut client, &early, &one), ("new".into(), false), "{line}");
        }
        let late = prepared(&mut client, read);
        run(&mut client, &late, &one);
        assert_eq!(run_here(&near, &mut client, &late, &one), ("new".into(), true), "{line}");
    }
}

/// If a statement's columns have changed since PREPARE, the server reports that to the client once. Checks that this execution is not
/// answered from memory.
#[test]
fn an_execution_is_answered_only_with_the_columns_that_its_client_knows_of() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let (mut older, mut admin) = (near.client(), Client::root(&server.endpoint()).expect("a connection"));
        let all = "SELECT * FROM d.t WHERE id = 1";
        let old = prepared(&mut older, all);
        assert_eq!(run(&mut older, &old, &[]).rows(true)[0].len(), 2, "{line}");
        admin.must("ALTER TABLE d.t ADD COLUMN w INT").expect("it is altered");
        let mut newer = near.client();
        ask(&mut newer, "UPDATE d.t SET v = 'new' WHERE id = 1");
        let new = prepared(&mut newer, all);
        assert_eq!(run(&mut newer, &new, &[]).rows(true)[0].len(), 3, "{line}");
        assert!(run_here(&near, &mut newer, &new, &[]).1, "{line}: {}", near.log());
        assert_eq!(run_here(&near, &mut older, &old, &[]), ("1".into(), false), "{line}");
        assert_eq!(run_here(&near, &mut older, &old, &[]), ("1".into(), true), "{line}");
    }
}

#[test]
fn whatever_one_connection_does_it_gets_what_it_would_get_directly() {
    for ((line, server), (_, plain)) in servers().zip(servers()) {
        for server in [&server, &plain] {
            let mut admin = Client::root(&server.endpoint()).expect("a connection");
            ELSEWHERE.iter().for_each(|one| drop(admin.must(one).expect(one)));
        }
        let near = ruled(&server, "[[rule]]\ntext = '.'\ncache = 'always'\nttl = 3600\n");
        let there = Client::root(&plain.endpoint()).expect("a connection");
        Twins::new(near.client(), there).walk(&near, line);
    }
}

/// The type that the server reports for a parameter depends on the values that this connection has bound to it before. Checks that answers
/// from memory have the same types.
#[test]
fn a_parameter_is_told_with_the_type_that_the_server_would_tell() {
    for (line, server) in servers() {
        let near = ruled(&server, "[[rule]]\ntext = '.'\ncache = 'always'\nttl = 3600\n");
        let there = Client::root(&server.endpoint()).expect("a connection");
        Twins::new(near.client(), there).bind_anything(&near, line);
    }
}

#[test]
fn executions_of_the_same_wait_for_one_another() {
    for (line, server) in servers() {
        let mut crowd = Crowd::of(&server, FOR_LONG);
        let mut clients: Vec<_> = (0..3).map(|_| crowd.client("root")).collect();
        let by_key = |client: &mut Client| prepared(client, "SELECT v FROM d.t WHERE id = 1");
        let statements: Vec<_> = clients.iter_mut().map(by_key).collect();
        crowd.lock();
        for (index, (client, statement)) in clients.iter_mut().zip(&statements).enumerate() {
            let counter = format!("{}{{rule=\"crowd\"}}", if index == 0 { SENT } else { WAITS });
            let before = crowd.near.metric(&counter);
            client.send(command::STMT_EXECUTE, &execute_body(statement.id, &[], &mut Vec::new())).expect("it is sent");
            crowd.near.wait_for_metric(&counter, |count| count > before);
        }
        let sent = crowd.near.metric("misses_total");
        crowd.unlock();
        let answers: Vec<_> =
            clients.iter_mut().map(|client| client.read_response().expect("an answer").bytes).collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{line}");
        assert_eq!(crowd.near.metric("misses_total"), sent, "{line}");
    }
}

/// Checks that two sessions of one account with different user variables get their own rows of a view that depends on them, as in
/// applications with several tenants.
#[test]
fn a_view_may_look_at_user_variables() {
    let server = mariadb();
    let near = ruled(&server, LONG);
    let mut admin = Client::root(&server.endpoint()).expect("a connection");
    let statements = [
        "CREATE FUNCTION d.tenant() RETURNS INT RETURN @tenant",
        "CREATE VIEW d.own AS SELECT v FROM d.t WHERE id = d.tenant()",
    ];
    statements.iter().for_each(|one| drop(admin.must(one).expect(one)));
    let (mut first, mut second) = (near.client(), near.client());
    let read = "SELECT * FROM d.own";
    for (one, two) in [("SET @tenant = 1", "SET @tenant = 2"), ("SELECT @tenant := 1", "SELECT 2 INTO @tenant")] {
        ask(&mut first, one);
        ask(&mut second, two);
        for _ in 0..3 {
            assert_eq!(ask(&mut first, read), "one");
            assert_eq!(ask(&mut second, read), "two");
        }
    }
    assert!(near.metric("hits_total") > 0);
}

#[test]
fn temporary_tables_are_their_sessions_own() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let (mut client, mut other) = (near.client(), near.client());
        let mut admin = Client::root(&server.endpoint()).expect("a connection");
        let procedure = "CREATE PROCEDURE d.p() CREATE TEMPORARY TABLE d.t SELECT 1 AS id, 'hidden' AS v";
        admin.must(procedure).expect("a procedure");
        for statement in ["CREATE TEMPORARY TABLE d.t SELECT 1 AS id, 'hidden' AS v", "CALL d.p()"] {
            ask(&mut client, READ);
            ask(&mut client, statement);
            for _ in 0..3 {
                assert_eq!(ask(&mut client, READ), "hidden", "{line}");
                assert_eq!(ask(&mut other, READ), "one", "{line}");
            }
            client.reset_connection().expect("an answer");
            ask(&mut client, READ);
            assert_eq!(served(&near, &mut client, READ), ("one".into(), true), "{line}: {}", near.log());
        }
    }
}

/// Checks that a temporary table that a trigger creates hides the table of the same name for its session, and for no other one. No
/// statement of the client shows the temporary table, so the near cache has to learn of it from the server.
#[test]
fn a_temporary_table_that_a_trigger_makes_is_its_sessions_own() {
    let server = mariadb();
    let near = ruled(&server, LONG);
    let (mut client, mut other) = (near.client(), near.client());
    let mut admin = Client::root(&server.endpoint()).expect("a connection");
    let statements = [
        "CREATE TABLE d.log (a INT)",
        "CREATE FUNCTION d.f() RETURNS INT BEGIN CREATE TEMPORARY TABLE d.t SELECT 1 AS id, 'hidden' AS v; RETURN 1; END",
        "CREATE TRIGGER d.on_log BEFORE INSERT ON d.log FOR EACH ROW SET NEW.a = d.f()",
    ];
    statements.iter().for_each(|one| drop(admin.must(one).expect(one)));
    ask(&mut client, READ);
    ask(&mut client, "INSERT INTO d.log VALUES (0)");
    for _ in 0..3 {
        assert_eq!(ask(&mut client, READ), "hidden");
        assert_eq!(ask(&mut other, READ), "one");
    }
}

#[test]
fn what_hangs_on_the_moment_or_the_session_is_never_kept() {
    for (line, server) in servers() {
        let near = ruled(&server, "[[rule]]\ntext = '.'\ncache = 'always'\nttl = 3600\n");
        let mut client = near.client();
        ask(&mut client, "SET @x = 1");
        let reads = [
            "SELECT NOW(6), v FROM d.t",
            "SELECT RAND(), v FROM d.t",
            "SELECT UUID() FROM d.t",
            "SELECT @x, v FROM d.t",
            "SELECT @@sql_mode, v FROM d.t",
            "SELECT CONNECTION_ID(), v FROM d.t",
            "SELECT v FROM d.t FOR UPDATE",
            "SELECT GET_LOCK('a', 0), v FROM d.t",
            "SELECT COUNT(*) FROM information_schema.processlist",
            "SELECT v FROM d.t INTO @y",
            "SELECT nothing FROM d.t",
            "SELECT CAST(v AS SIGNED) FROM d.t",
            "SELECT SQL_NO_CACHE v FROM d.t",
        ];
        for read in reads {
            for _ in 0..3 {
                ask(&mut client, read);
            }
        }
        assert_eq!((near.metric("hits_total"), near.metric("entries")), (0, 0), "{line}");
        ask(&mut client, READ);
        // In a transaction, and with autocommit off, nothing is answered from memory.
        for statement in ["BEGIN", READ, READ, "COMMIT", "SET autocommit = 0", READ, READ, "COMMIT"] {
            ask(&mut client, statement);
        }
        assert_eq!(near.metric("hits_total"), 0, "{line}");
    }
}

#[test]
fn a_transaction_of_its_own_kind_is_not_served_from_memory() {
    let server = mariadb();
    let near = ruled(&server, LONG);
    let (mut client, mut writer) = (near.client(), Client::root(&server.endpoint()).expect("a connection"));
    ask(&mut writer, "BEGIN");
    ask(&mut writer, "UPDATE d.t SET v = 'uncommitted' WHERE id = 1");
    for setting in ["SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "SET @@tx_isolation = 'READ-UNCOMMITTED'"] {
        ask(&mut client, READ);
        ask(&mut client, setting);
        assert_eq!(ask(&mut client, READ), "uncommitted");
        assert_eq!(ask(&mut near.client(), READ), "one");
    }
    ask(&mut client, "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
    assert_eq!(ask(&mut client, READ), "uncommitted");
    assert_eq!(ask(&mut near.client(), READ), "one");
}

#[test]
fn huge_results_pass_and_are_not_kept() {
    let server = mariadb();
    let near = ruled(&server, LONG);
    let mut admin = Client::root(&server.endpoint()).expect("a connection");
    for statement in ["USE d", "CREATE TABLE d.big (v LONGTEXT)", "INSERT INTO d.big VALUES (REPEAT('x', 12 << 20))"] {
        admin.must(statement).expect(statement);
    }
    let mut client = near.client();
    for _ in 0..3 {
        assert_eq!(ask(&mut client, "SELECT v FROM d.big").len(), 12 << 20);
    }
    assert_eq!((near.metric("hits_total"), near.metric("entries")), (0, 0));
    // A statement that is too long for the near cache to examine as a whole.
    ask(&mut client, READ);
    let long = format!("INSERT INTO d.t VALUES (3, 'x') /* {} */", " ".repeat(200_000));
    ask(&mut client, &long);
    assert_eq!(ask(&mut client, "SELECT COUNT(*) FROM d.t"), "3");
    ask(&mut client, READ);
    assert_eq!(served(&near, &mut client, READ), ("one".into(), true));
}

#[test]
fn results_take_no_more_memory_than_they_may_and_none_when_their_time_is_over() {
    const SIZE: u64 = 4 << 20;
    let server = mariadb();
    let folder = Folder::fresh();
    let rules = folder.write("rules.toml", "[[rule]]\ntable = 'd.%'\ncache = 'always'\nttl = 3\n");
    let near = near(&server, &["--rules", &rules, "--size", &SIZE.to_string()]);
    let mut client = near.client();
    for id in 1..=1500 {
        ask(&mut client, &format!("SELECT REPEAT('x', 4000), {id} FROM d.t"));
        assert!(id % 100 != 0 || near.metric("memory_bytes") <= SIZE);
    }
    near.wait_for_metric("entries", |entries| entries == 0);
}

/// After an execution, a server may change the type of a parameter according to the bytes of its value. Executes statements with values of
/// many kinds, and checks that all answers are those of a direct connection.
#[test]
fn what_the_bytes_of_a_value_are_taken_for() {
    let text = |text: &str| Param::Text(text.into());
    let (day, moment) = (text("2026-01-01"), text("2026-01-01 10:00:00"));
    let cases = [
        ("SELECT ? + 1 FROM d.words", vec![text("1"), text("80.196"), text("12abc"), text("-1")]),
        ("SELECT ? + 1.5 FROM d.words", vec![Param::Int(1), Param::Decimal("1.5".into()), text("1"), text("1e2")]),
        ("SELECT id FROM d.words WHERE u = ? LIMIT 1", vec![Param::Int(1), Param::Unsigned(1), text("1"), text("-1")]),
        ("SELECT COALESCE(day, ?) FROM d.words", vec![day, moment, Param::Date(2026, 1, 1), text("?")]),
    ];
    for (line, server) in servers().filter(|(line, _)| ["MariaDB", "9.7"].contains(line)) {
        let near = ruled(&server, LONG);
        let mut direct = Client::root(&server.endpoint()).expect("a connection");
        for statement in [
            "CREATE TABLE d.words (id INT PRIMARY KEY, u INT UNSIGNED, day DATE)",
            "INSERT INTO d.words VALUES (1, 1, '2026-01-01')",
        ] {
            direct.must(statement).expect(statement);
        }
        let mut client = near.client();
        let mut random = Random::new(7);
        let before = near.metric("hits_total");
        for round in 0..160 {
            let (read, values) = &cases[round % cases.len()];
            let twins =
                [&mut client, &mut direct].map(|one| one.prepare(read).expect("an answer").1.expect("a statement"));
            let mut history = Vec::new();
            for _ in 0..6 {
                history.push(values[random.below(2 * values.len()).saturating_sub(values.len())].clone());
                let params = &history[history.len() - 1..];
                let answer = client.execute(&twins[0], params).expect("an answer");
                let expected = direct.execute(&twins[1], params).expect("an answer");
                assert_eq!(answer.bytes, expected.bytes, "{line}: {read}, {history:?}");
            }
            for (one, twin) in [&mut client, &mut direct].into_iter().zip(&twins) {
                one.close(twin).expect("it is sent");
                // The ping separates the close from the next PREPARE, so that the two do not arrive in one read.
                one.ping().expect("an answer");
            }
        }
        let hits = near.metric("hits_total") - before;
        assert!(hits > 20, "{line}: {hits}");
    }
}

/// Checks FOUND_ROWS() after an aggregate over an empty range: it is that of the read before, which was also answered from memory.
#[test]
fn rows_found_before_an_aggregate_over_nothing() {
    let server = mariadb();
    let near = ruled(&server, LONG);
    let mut client = near.client();
    let [all, nothing, count] = ["v FROM d.t", "BIT_XOR(id) FROM d.t WHERE id BETWEEN 6 AND 5", "COUNT(*) FROM d.t"]
        .map(|read| format!("SELECT {read}"));
    let one = "SELECT SQL_NO_CACHE v FROM d.t WHERE id = 1";
    let mut found = |last: &str, is_hit| {
        // The first read after FOUND_ROWS() may go to the server, together with a query of the near cache. So all reads are sent once
        // before.
        for read in [&all, &nothing, &count] {
            ask(&mut client, read);
        }
        assert_eq!(ask(&mut client, one), "one");
        assert!(served(&near, &mut client, &all).1);
        assert_eq!(served(&near, &mut client, last).1, is_hit, "{last}");
        [(); 2].map(|()| ask(&mut client, "SELECT FOUND_ROWS()"))
    };
    assert_eq!(found(&count, true), ["1", "1"]);
    // For FOUND_ROWS(), the server now runs both reads that were answered from memory; the number is that of the first one.
    assert_eq!(found(&nothing, true), ["2", "1"]);
    assert_eq!(found("SELECT SQL_NO_CACHE MIN(v) FROM d.t WHERE 1 = 0", false), ["error 1020"; 2]);
    assert_eq!(found("SELECT COUNT(v) FROM d.t", false), ["1", "1"]);
}

#[test]
fn rows_found_are_those_of_the_read_or_it_fails() {
    let server = mariadb();
    let near = ruled(&server, LONG);
    let mut client = near.client();
    let read = "SELECT v FROM d.t";
    ask(&mut client, read);
    assert!(served(&near, &mut client, read).1);
    assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "2");
    ask(&mut client, read);
    Client::root(&server.endpoint()).unwrap().must("INSERT INTO d.t VALUES (3, 'three')").expect("it is written");
    assert_eq!(served(&near, &mut client, read), ("one;two".into(), true));
    assert_eq!(served(&near, &mut client, "SELECT FOUND_ROWS()"), ("2".into(), true));
    assert_eq!(served(&near, &mut client, read), ("one;two".into(), true));
    assert_eq!(ask(&mut client, "SELECT FOUND_ROWS() + 0"), "error 1020");
    assert_eq!(ask(&mut client, read), "one;two;three");
    assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "3");
    // The same by a prepared statement.
    let (_, statement) = client.prepare("SELECT FOUND_ROWS()").expect("it is prepared");
    let statement = statement.expect("a statement");
    ask(&mut client, read);
    Client::root(&server.endpoint()).unwrap().must("INSERT INTO d.t VALUES (4, 'four')").expect("it is written");
    assert_eq!(served(&near, &mut client, read), ("one;two;three".into(), true));
    let answer = client.execute(&statement, &[]).expect("an answer");
    assert_eq!(answer.failure().map(|failure| failure.code), Some(1020));
}

/// Checks that FOUND_ROWS() gets an error after a read that has failed. The differential tester has found that it returned the number of
/// the near cache's own query for the session's settings.
#[test]
fn rows_found_are_not_told_after_a_read_that_fails_in_the_place_of_another() {
    let server = mariadb();
    let near = ruled(&server, LONG);
    let mut client = near.client();
    let failing = "SELECT nothing FROM d.t";
    assert_eq!(ask(&mut client, "SELECT 1 UNION SELECT 2"), "1;2");
    for is_served in [false, true] {
        while is_served && !served(&near, &mut client, READ).1 {}
        assert_eq!(ask(&mut client, failing), "error 1054");
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "error 1020");
        assert_eq!(ask(&mut client, "SELECT v FROM d.t"), "one;two");
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "2");
    }
}

/// Checks FOUND_ROWS() after an execution that is never answered from memory, here because a value was sent in pieces before. The
/// differential tester has found a wrong number.
#[test]
fn rows_found_by_an_execution_that_is_always_passed_on_are_told() {
    let server = mariadb();
    let near = ruled(&server, LONG);
    let mut client = near.client();
    let (_, statement) = client.prepare("SELECT v FROM d.t WHERE v <> ?").expect("an answer");
    let statement = statement.expect("a statement");
    for _ in 0..3 {
        ask(&mut client, "SELECT BIT_XOR(id) FROM d.t WHERE id BETWEEN 6 AND 5");
        client.long_data(&statement, 0, b"piece").expect("it is sent");
        client.ping().expect("an answer");
        let rows = client.execute(&statement, &[Param::Blob(Vec::new())]).expect("an answer").rows(true);
        assert_eq!(rows.len(), 2);
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "2");
    }
}

/// Checks that statements that do not use FOUND_ROWS() do not get the error of FOUND_ROWS() for an unknown number. The differential tester
/// has found that an INSERT got it after a statement with SQL_CALC_FOUND_ROWS was prepared.
#[test]
fn who_does_not_ask_for_rows_found_is_not_refused_them() {
    let server = mariadb();
    let near = ruled(&server, LONG);
    let counting = "SELECT SQL_CALC_FOUND_ROWS v FROM d.t ORDER BY id LIMIT 1";
    let nothing = "SELECT BIT_XOR(id) FROM d.t WHERE id BETWEEN 6 AND 5";
    for (further, answer) in [
        (counting, "one"),
        ("INSERT INTO d.u VALUES ('u')", ""),
        ("USE d", ""),
        ("SIGNAL SQLSTATE '01000'", ""),
        ("EXECUTE nothing", "error 1243"),
    ] {
        let mut client = near.client();
        for said in [counting, "SELECT FOUND_ROWS()"] {
            client.prepare(said).expect("an answer").1.expect("a statement");
        }
        [READ, nothing].iter().for_each(|read| drop(ask(&mut client, read)));
        assert_eq!([READ, nothing].map(|read| served(&near, &mut client, read).1), [true; 2]);
        assert_eq!(ask(&mut client, further), answer);
    }
}

#[test]
fn other_rules_count_from_the_next_read_on() {
    let server = mariadb();
    let folder = Folder::fresh();
    let file = folder.write("rules.toml", LONG);
    let near = near(&server, &["--rules", &file]);
    let mut client = near.client();
    ask(&mut client, READ);
    write(&server, "new");
    assert_eq!(served(&near, &mut client, READ), ("one".into(), true));
    folder.write("rules.toml", "[[rule]]\ntable = 'd.t'\ncache = 'sometimes'\n");
    near.signal(libc::SIGHUP);
    wait_until("a refusal", || near.log().contains("nothing was reloaded"));
    assert_eq!(ask(&mut client, READ), "one");
    folder.write("rules.toml", "[[rule]]\ntable = 'd.t'\ncache = 'never'\n");
    near.signal(libc::SIGHUP);
    wait_until("the new rules", || near.log().contains("\nreloaded"));
    assert_eq!(served(&near, &mut client, READ), ("new".into(), false));
}

#[test]
fn statements_are_told_as_rules_let_them_be_answered_to_who_may_see_them() {
    const QUERIES: &str = "SHOW FQC QUERIES WHERE Query LIKE 'SELECT v FROM d.t WHERE id = ?'";
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let mut client = near.client();
        (0..4).for_each(|_| drop(ask(&mut client, READ)));
        let told = client.query(QUERIES).expect("an answer").rows(false);
        let value = |at: usize| String::from_utf8_lossy(told[0][at].as_deref().expect("a value")).into_owned();
        assert_eq!([2, 3, 5].map(value), ["4", "3", "1"], "{line}");
        // A rule can name the digest.
        let digest = told[0][0].clone().expect("a digest");
        let rules = format!("[[rule]]\ndigest = '{}'\ncache = 'always'\nttl = 60\n", String::from_utf8_lossy(&digest));
        let named = ruled(&server, &rules);
        let mut other = named.client();
        (0..3).for_each(|_| drop(ask(&mut other, READ)));
        assert_eq!(named.metric("hits_total"), 2, "{line}");
        let mut app = near.login("app", "").expect("a connection");
        let why = ask(&mut client, "SHOW FQC REASONS LIKE 'first_read'");
        assert!(why.starts_with("first_read,1,0.2500,NULL,the first read of a connection"), "{line}: {why}");
        for report in ["SHOW FQC QUERIES", "SHOW FQC CURVE", "SHOW FQC REASONS", "SHOW FQC STATUS"] {
            (0..3).for_each(|_| drop(ask(&mut app, READ)));
            assert_eq!(ask(&mut app, report), "error 1227", "{line}: {report}");
        }
        assert_eq!(ask(&mut app, READ), "one", "{line}");
    }
}
