//! A replica never serves a state older than the one that its applier has made visible.

use crate::shared::{options, ready, start};
use crate::traps::{Arena, all, plugin, rows_text, until};
use fqc_tests::client::{Client, Login};
use fqc_tests::server::Server;
use std::sync::Arc;

const READERS: usize = 3;
const SUM: &str = "SELECT COUNT(*), SUM(v) FROM t";

/// Starts a source, and a replica with the plugin that applies the source's changes from now on. The arguments are those of both, and
/// further ones of the replica. Both have the tables `r.t` and `r.u`.
fn pair(on_both: &[&str], on_replica: &[&str]) -> (Server, Arc<Server>) {
    let source = Server::start(options(&[&["--server-id=1", "--log-bin=binlog"], on_both].concat())).unwrap();
    let of_replica = [&["--server-id=2", "--log-bin=binlog"], on_both, on_replica].concat();
    let replica = Arc::new(ready(start(&of_replica)));
    let place = rows_text(&source.admin().unwrap().must("SHOW BINARY LOG STATUS").unwrap());
    let place: Vec<_> = place.split(',').collect();
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {}, SOURCE_USER = 'root', \
         SOURCE_LOG_FILE = '{}', SOURCE_LOG_POS = {}",
        source.port(),
        place[0],
        place[1]
    );
    all(&mut replica.admin().unwrap(), &[&change, "START REPLICA"]);
    let tables = ["CREATE DATABASE r", "CREATE TABLE r.t (id INT PRIMARY KEY, v INT)", "CREATE TABLE r.u LIKE r.t"];
    all(&mut source.admin().unwrap(), &tables);
    let mut admin = replica.admin().unwrap();
    until("the tables", || admin.query("SELECT * FROM r.u").unwrap().failure().is_none());
    (source, replica)
}

fn client(server: &Server) -> Client {
    let login = Login { database: Some("r".into()), ..Login::default() };
    Client::connect(&server.endpoint(), &login).unwrap()
}

#[test]
fn rows_that_a_replica_applies_in_either_format() {
    for format in ["ROW", "STATEMENT"] {
        // The replica saves its positions as often as it can.
        let (source, replica) = pair(&[&format!("--binlog-format={format}")], &["--replica-checkpoint-period=1"]);
        let (mut writer, mut reader) = (client(&source), client(&replica));
        let mut arena = Arena::on(replica.clone(), "own");
        let untouched = "SELECT COUNT(*) FROM u";
        arena.warm(&mut reader, untouched);
        let mut kept = 0;
        for row in 1..20 {
            arena.warm(&mut reader, SUM);
            all(&mut writer, &[&format!("INSERT INTO r.t VALUES ({row}, 1)")]);
            let expected = format!("{row},{row}");
            until("the row", || arena.server_answer("SELECT COUNT(*), SUM(v) FROM r.t") == expected);
            assert_eq!(rows_text(&reader.must(SUM).unwrap()), expected, "{format}");
            kept += u32::from(arena.ask(&mut reader, untouched).1);
        }
        assert_eq!(kept, 19, "{format}: what the stream does not touch is outdated");
        all(&mut replica.admin().unwrap(), &["STOP REPLICA"]);
    }
}

/// Checks that the end of an XA transaction on a replica invalidates results at once. The transaction was prepared by another worker, and
/// the applier that ends it has committed others before and goes on.
#[test]
fn what_a_replica_applies_of_xa_transactions_shows_at_once() {
    let numbered = ["--gtid-mode=ON", "--enforce-gtid-consistency=ON"];
    for (on_both, on_replica) in [
        // What has been written to the binary log becomes visible later.
        (numbered.as_slice(), ["--replica-parallel-workers=4", "--binlog-group-commit-sync-delay=20000"].as_slice()),
        // Without a binary log, no binary log coordinates the end.
        (&numbered, &["--skip-log-bin", "--replica-parallel-workers=4"]),
        (&[], &["--log-replica-updates=OFF", "--replica-preserve-commit-order=OFF"]),
        (&["--binlog-format=STATEMENT"], &["--replica-parallel-workers=1", "--replica-checkpoint-period=1"]),
    ] {
        let (source, replica) = pair(on_both, on_replica);
        let mut arena = Arena::on(replica.clone(), "own");
        let mut reader = client(&replica);
        let read = "SELECT SUM(v) FROM r.t";
        all(&mut client(&source), &["INSERT INTO t VALUES (1, 0), (2, 0)"]);
        until("the rows", || arena.server_answer(read) == "0");
        arena.warm(&mut reader, read);
        let writing = [1, 2].map(|row| {
            let mut writer = client(&source);
            std::thread::spawn(move || (0..transactions()).for_each(|number| run_branch(&mut writer, row, number)))
        });
        let expected = 2 * (0..transactions()).filter(|number| is_committed(*number)).count() as u64;
        std::thread::scope(|scope| {
            for _ in 0..READERS {
                scope.spawn(|| never_sees_the_past(&replica, read, expected));
            }
        });
        writing.into_iter().for_each(|one| one.join().unwrap());
        assert_eq!(arena.warm(&mut reader, read), expected.to_string(), "{on_both:?}, {on_replica:?}");
    }
}

#[test]
fn what_an_applier_is_about_to_end_when_the_engine_wakes_is_waited_for() {
    let (source, replica) = pair(&[], &[]);
    let mut writer = client(&source);
    // No session on the replica uses the cache, so that the engine can fall asleep.
    let [mut admin, mut holder] = [(), ()].map(|()| client(&replica));
    [&mut admin, &mut holder].into_iter().for_each(|one| all(one, &["SET SESSION fqc_type = OFF"]));
    let update = "UPDATE t SET v = 1";
    all(&mut writer, &["INSERT INTO t VALUES (1, 0)", "XA START 'x'", update, "XA END 'x'", "XA PREPARE 'x'"]);
    until("what is prepared", || !rows_text(&admin.must("XA RECOVER").unwrap()).is_empty());
    all(&mut holder, &["SET GLOBAL fqc_type = OFF"]);
    let awake = "SHOW GLOBAL STATUS LIKE 'Fqc_awake'";
    until("the sleep", || rows_text(&admin.must(awake).unwrap()) == "Fqc_awake,0");
    all(&mut holder, &["FLUSH TABLES WITH READ LOCK"]);
    all(&mut writer, &["XA COMMIT 'x'"]);
    let commands = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'XA COMMIT%'";
    until("the command", || rows_text(&admin.must(commands).unwrap()) == "1");
    all(&mut holder, &["SET GLOBAL fqc_type = ON"]);
    until("the wait", || replica.error_log().contains("are still running, on connections"));
    let (read, mut reader) = ("SELECT v FROM r.t", client(&replica));
    for _ in 0..4 {
        assert_eq!(rows_text(&reader.must(read).unwrap()), "0");
    }
    all(&mut holder, &["UNLOCK TABLES"]);
    until("the end", || rows_text(&admin.must(read).unwrap()) == "1");
    assert_eq!(Arena::on(replica.clone(), "own").warm(&mut reader, read), "1");
}

/// Compares the sum that served reads show with the one that the replica itself has shown just before, until that is `expected`.
fn never_sees_the_past(replica: &Server, read: &str, expected: u64) {
    let (mut plain, mut reader) = (client(replica), client(replica));
    plain.must("SET SESSION fqc_type = OFF").unwrap();
    let mut sum = 0;
    while sum < expected {
        sum = rows_text(&plain.must(read).unwrap()).parse().unwrap();
        for _ in 0..2 {
            let served: u64 = rows_text(&reader.must(read).unwrap()).parse().unwrap();
            assert!(served >= sum, "{served} is served, {sum} was seen");
        }
    }
}

/// The number of transactions of each writer: `FQC_TEST_XA`, or 100.
fn transactions() -> u64 {
    plugin::number("FQC_TEST_XA", 100)
}

/// True if [`run_branch`] commits the transaction with this number.
fn is_committed(number: u64) -> bool {
    number % 4 != 3
}

/// Runs an XA transaction that adds 1 to a row. Depending on the number it is committed in one phase or two, or rolled back.
fn run_branch(writer: &mut Client, row: u64, number: u64) {
    let of = |verb: &str| format!("XA {verb} 'x{row}-{number}'");
    let update = format!("UPDATE t SET v = v + 1 WHERE id = {row}");
    all(writer, &[&of("START"), &update, &of("END")]);
    match number % 4 {
        0 => all(writer, &[&format!("{} ONE PHASE", of("COMMIT"))]),
        1 | 2 => all(writer, &[&of("PREPARE"), &of("COMMIT")]),
        _ => all(writer, &[&of("PREPARE"), &of("ROLLBACK")]),
    }
}
