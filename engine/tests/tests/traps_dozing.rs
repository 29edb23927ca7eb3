//! While the cache would not pay, the engine is in light mode (`fqc_doze`): the server reports nothing to it, and sessions are followed by
//! their bytes alone. What they do in that time must never make a later answer wrong, and the sessions of a pool must be served again
//! afterwards.

mod traps;

use fqc_tests::client::{Client, Login, Param};
use fqc_tests::server::{Options, Server};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use traps::{Arena, all, plugin, rows_text, small_table, until};

const READ: &str = "SELECT v FROM d.t WHERE id = 1";

/// A server whose engine enters light mode when the test asks for it. Database `d` has a table of five rows, and `e` another one.
struct LightModeServer {
    server: Arc<Server>,
    /// The path of a file whose existence makes the engine enter light mode.
    sign: PathBuf,
}

impl LightModeServer {
    fn new() -> LightModeServer {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let sign = std::env::temp_dir().join(format!("fqc-doze-{}-{number}", std::process::id()));
        let environment = vec![("FQC_FAULT".to_owned(), format!("doze:{}", sign.display()))];
        let options = Options { plugin: Some(plugin::path()), environment, ..Options::default() };
        let server = Arc::new(Server::start(options).unwrap());
        let mut admin = server.admin().unwrap();
        admin.must("SET GLOBAL fqc_doze = ON").unwrap();
        for database in ["d", "e"] {
            all(&mut admin, &[&format!("CREATE DATABASE {database}"), &format!("USE {database}")]);
            small_table(&mut admin, "t", "InnoDB");
        }
        all(&mut admin, &["UPDATE e.t SET v = v + 1000"]);
        LightModeServer { server, sign }
    }

    fn client(&self) -> Client {
        client(&self.server)
    }

    fn status(&self, name: &str) -> String {
        rows_text(&self.server.admin().unwrap().must(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap())
    }

    /// Lets the engine enter light mode, and waits until it has.
    fn enter_light_mode(&self) {
        fs::write(&self.sign, "").unwrap();
        until("the doze", || self.status("Fqc_dozing") == "Fqc_dozing,1" && self.status("Fqc_awake") == "Fqc_awake,0");
    }

    /// Lets the engine leave light mode, and waits until it has. Returns an arena with a new database on the server.
    fn wake(&self) -> Arena {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        fs::remove_file(&self.sign).unwrap();
        until("the waking", || {
            self.status("Fqc_awake") == "Fqc_awake,1" && self.status("Fqc_dozing") == "Fqc_dozing,0"
        });
        Arena::on(self.server.clone(), &format!("a{}", NUMBER.fetch_add(1, Ordering::Relaxed)))
    }
}

impl Drop for LightModeServer {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.sign);
    }
}

fn client(server: &Server) -> Client {
    let login = Login { database: Some("d".into()), ..Login::default() };
    let mut client = Client::connect(&server.endpoint(), &login).unwrap();
    client.set_timeout(Some(traps::PATIENCE)).unwrap();
    client
}

/// Checks that the engine opens no table when it enters or leaves light mode. That may happen at any moment, also while a user replaces the
/// files of a table after FLUSH TABLES.
#[test]
fn a_doze_reads_no_definition_of_a_table() {
    let light = LightModeServer::new();
    let mut client = light.client();
    all(&mut client, &["CREATE VIEW w AS SELECT v FROM e.t", "FLUSH TABLES"]);
    light.enter_light_mode();
    assert_eq!(rows_text(&client.must("SHOW OPEN TABLES FROM e").unwrap()), "");
    drop(light.wake());
    assert_eq!(rows_text(&client.must("SHOW OPEN TABLES FROM e").unwrap()), "");
}

#[test]
fn the_sessions_of_a_pool_are_served_again() {
    let light = LightModeServer::new();
    let mut pool: Vec<_> = (0..3).map(|_| light.client()).collect();
    // A prepared statement is served under the settings of its preparation.
    let mut before = Arena::on(light.server.clone(), "first");
    for one in &mut pool {
        all(one, &["SET NAMES utf8mb4"]);
        before.warm(one, READ);
    }
    let read = "SELECT v FROM t WHERE id = ?";
    let early = pool[0].prepare(read).unwrap().1.unwrap();
    pool[0].execute(&early, &[Param::Int(1)]).unwrap();
    for round in 0..3 {
        light.enter_light_mode();
        let late = pool[1].prepare(read).unwrap().1.unwrap();
        for (at, one) in pool.iter_mut().enumerate() {
            all(
                one,
                &["BEGIN", &format!("UPDATE t SET v = {round} WHERE id = 1"), "SELECT v FROM t WHERE id = 1", "COMMIT"],
            );
            all(one, &["SET NAMES utf8mb4", "START TRANSACTION READ ONLY", "SELECT SUM(v) FROM t;", "ROLLBACK"]);
            let prepared = [&early, &late].get(at).copied();
            if let Some(prepared) = prepared {
                assert_eq!(traps::binary_rows_text(&one.execute(prepared, &[Param::Int(2)]).unwrap()), "20");
            }
        }
        assert!(rows_text(&pool[2].must("SHOW FQC STATUS LIKE 'Cache'").unwrap()).contains("DOZING"));
        let mut arena = light.wake();
        for one in &mut pool {
            assert_eq!(arena.warm(one, READ), round.to_string());
        }
        let (first, others) = pool.split_at_mut(1);
        let write = || drop(first[0].must(&format!("UPDATE t SET v = {round} + 50 WHERE id = 1")).unwrap());
        arena.check_write_shows(&mut others[0], READ, write, &(round + 50).to_string());
        assert_eq!(traps::binary_rows_text(&arena.warm_prepared(&mut pool[0], &early, &[Param::Int(2)])), "20");
        assert_eq!(traps::binary_rows_text(&arena.warm_prepared(&mut pool[1], &late, &[Param::Int(2)])), "20");
    }
}

#[test]
fn a_transaction_from_a_doze_is_waited_for_until_it_has_ended() {
    let light = LightModeServer::new();
    let (mut writer, mut off, mut kept) = (light.client(), light.client(), light.client());
    all(&mut off, &["SET autocommit = 0"]);
    all(&mut kept, &["BEGIN", "SELECT v FROM t WHERE id = 2"]);
    light.enter_light_mode();
    all(&mut writer, &["BEGIN", "UPDATE t SET v = 11 WHERE id = 1"]);
    all(&mut off, &["UPDATE t SET v = 21 WHERE id = 2"]);
    let commit = writer.prepare("COMMIT").unwrap().1.unwrap();
    let mut arena = light.wake();
    let mut reader = light.client();
    // The snapshot of `kept` does not change, no matter what others commit.
    let read_other = "SELECT v FROM d.t WHERE id = 2";
    arena.check_write_shows(&mut reader, READ, || drop(writer.execute(&commit, &[]).unwrap()), "11");
    assert_eq!(arena.warm(&mut reader, read_other), "20");
    arena.miss(&mut off, read_other, "21");
    arena.check_write_shows(&mut reader, read_other, || drop(off.must("COMMIT").unwrap()), "21");
    arena.miss(&mut kept, read_other, "20");
    all(&mut kept, &["COMMIT"]);
    // From then on the sessions are like any others.
    for one in [&mut writer, &mut off, &mut kept] {
        all(one, &["COMMIT"]);
        assert_eq!(arena.warm(one, READ), "11");
    }
}

#[test]
fn a_connection_that_is_lost_in_a_transaction_from_a_doze_leaves_nothing_wrong() {
    let light = LightModeServer::new();
    let mut writer = light.client();
    light.enter_light_mode();
    all(&mut writer, &["BEGIN", "UPDATE t SET v = 11 WHERE id = 1"]);
    let mut arena = light.wake();
    let mut reader = light.client();
    assert_eq!(arena.warm(&mut reader, READ), "10");
    drop(writer);
    arena.check_write_shows(
        &mut reader,
        READ,
        || drop(light.client().must("UPDATE t SET v = 12 WHERE id = 1").unwrap()),
        "12",
    );
}

#[test]
fn what_is_set_chosen_and_created_in_a_doze_counts_afterwards() {
    let light = LightModeServer::new();
    let (mut here, mut there, mut quoted, mut temporary) =
        (light.client(), light.client(), light.client(), light.client());
    light.enter_light_mode();
    all(&mut here, &["SELECT v FROM t"]);
    all(&mut there, &["SELECT v FROM t", "USE e", "SELECT v FROM t"]);
    all(&mut quoted, &["SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')", "SELECT v FROM t"]);
    all(&mut temporary, &["CREATE TEMPORARY TABLE t (id INT, v INT)", "INSERT INTO t VALUES (1, 7)"]);
    let mut arena = light.wake();
    let read = r#"SELECT v, "id" FROM t WHERE id = 1"#;
    assert_eq!(arena.warm(&mut here, read), "10,id");
    assert_eq!(arena.warm(&mut there, read), "1010,id");
    assert_eq!(arena.warm(&mut quoted, read), "10,1");
    for _ in 0..4 {
        arena.miss(&mut temporary, read, "7,id");
    }
}

#[test]
fn what_stored_programs_do_unseen_is_not_overlooked() {
    let light = LightModeServer::new();
    let mut worked = light.client();
    let mut admin = light.server.admin().unwrap();
    light.enter_light_mode();
    let function = "CREATE FUNCTION d.f() RETURNS INT BEGIN SET SESSION time_zone = '+05:00'; RETURN 1; END";
    all(&mut admin, &["SET GLOBAL log_bin_trust_function_creators = 1", function]);
    all(&mut worked, &["SET time_zone = '+00:00'", "SELECT d.f()"]);
    all(&mut admin, &["DROP FUNCTION d.f", "CREATE TABLE d.s (a TIMESTAMP)", "SET time_zone = '+00:00'"]);
    all(&mut admin, &["INSERT INTO d.s VALUES ('2020-01-01 00:00:00')"]);
    let mut arena = light.wake();
    let mut fresh = light.client();
    all(&mut fresh, &["SET time_zone = '+00:00'"]);
    let read = "SELECT a FROM d.s";
    assert_eq!(arena.warm(&mut fresh, read), "2020-01-01 00:00:00");
    for _ in 0..3 {
        arena.miss(&mut worked, read, "2020-01-01 05:00:00");
    }
}

#[test]
fn where_stored_functions_exist_it_stays_awake() {
    // The definition of a view may call a function of the server's own `sys` schema.
    for (made, dropped) in [
        ("CREATE TRIGGER d.b BEFORE INSERT ON d.t FOR EACH ROW SET NEW.v = NEW.v + 1", "DROP TRIGGER d.b"),
        ("CREATE VIEW d.b AS SELECT v, 'sys' AS a FROM d.t", "DROP VIEW d.b"),
    ] {
        let light = LightModeServer::new();
        let mut admin = light.server.admin().unwrap();
        all(&mut admin, &[made]);
        fs::write(&light.sign, "").unwrap();
        until("the reason", || light.server.error_log().contains("there are stored functions or triggers"));
        assert_eq!(light.status("Fqc_awake"), "Fqc_awake,1");
        all(&mut admin, &[dropped]);
        light.enter_light_mode();
        all(&mut admin, &["SET GLOBAL fqc_doze = OFF"]);
        until("the waking", || light.status("Fqc_awake") == "Fqc_awake,1");
    }
}

#[test]
fn a_write_under_way_at_either_end_of_a_doze() {
    let light = LightModeServer::new();
    // Once something is stored, no connection opened before the load is waited for, which would delay light mode.
    Arena::on(light.server.clone(), "settled").warm(&mut light.client(), READ);
    let mut holder = light.client();
    let write = |gate: &str, value: u64| {
        let mut writer = light.client();
        let text = format!("UPDATE t SET v = {value} WHERE id = 1 AND GET_LOCK('{gate}', 100) = 1");
        let write = thread::spawn(move || {
            writer.must("BEGIN").unwrap();
            writer.must(&text).unwrap();
            writer
        });
        let waiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'";
        let mut admin = light.server.admin().unwrap();
        until("the write under way", || admin.scalar(waiting).unwrap().as_deref() == Some("1"));
        write
    };
    holder.must("SELECT GET_LOCK('one', 0), GET_LOCK('two', 0)").unwrap();
    let before = write("one", 11);
    light.enter_light_mode();
    holder.must("DO RELEASE_LOCK('one')").unwrap();
    let mut before = before.join().unwrap();
    before.must("COMMIT").unwrap();
    let within = write("two", 12);
    fs::remove_file(&light.sign).unwrap();
    until("the waking", || light.status("Fqc_awake") == "Fqc_awake,1");
    let mut reader = light.client();
    for _ in 0..20 {
        assert_eq!(rows_text(&reader.query(READ).unwrap()), "11");
    }
    holder.must("DO RELEASE_LOCK('two')").unwrap();
    let mut within = within.join().unwrap();
    let mut arena = Arena::on(light.server.clone(), "a");
    arena.check_write_shows(&mut reader, READ, || drop(within.must("COMMIT").unwrap()), "12");
    assert_eq!(arena.warm(&mut before, READ), "12");
}

/// Sends reads from four sessions until the condition holds. `repeats`: a few reads again and again, and else each only once. Panics,
/// naming `what`, if that takes too long.
fn under_load(server: &Arc<Server>, repeats: bool, what: &str, mut holds: impl FnMut() -> bool) {
    let ends = Arc::new(AtomicU64::new(0));
    let sessions: Vec<_> = (0..4u64)
        .map(|session| {
            let (mut client, ends) = (client(server), ends.clone());
            thread::spawn(move || {
                let mut number = 0;
                while ends.load(Ordering::Relaxed) == 0 {
                    number += 1;
                    let id = if repeats { number % 5 } else { session << 32 | number };
                    client.must(&format!("SELECT v FROM t WHERE id = {id}")).unwrap();
                }
            })
        })
        .collect();
    until(what, &mut holds);
    ends.store(1, Ordering::Relaxed);
    sessions.into_iter().for_each(|session| session.join().unwrap());
}

#[test]
fn it_dozes_while_nothing_comes_again_and_wakes_when_something_does() {
    let server = Arc::new(traps::start(&[]));
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["SET GLOBAL fqc_adaptation = ON, GLOBAL fqc_doze = ON", "CREATE DATABASE d", "USE d"]);
    small_table(&mut admin, "t", "InnoDB");
    let mut is =
        |name: &str| rows_text(&admin.must(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap()).ends_with(",1");
    under_load(&server, false, "the doze", || is("Fqc_dozing"));
    under_load(&server, true, "the waking", || is("Fqc_awake"));
    assert!(server.error_log().contains("the cache saves less than it costs"));
}
