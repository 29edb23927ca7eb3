//! What a replica applies, it never serves the past of.

use crate::shared::{options, ready, start};
use crate::traps::{Arena, all, said, until};
use fqc_tests::client::{Client, Login};
use fqc_tests::server::Server;
use std::sync::Arc;

const SUM: &str = "SELECT COUNT(*), SUM(v) FROM t";
const TRANSACTIONS: u64 = 100;

/// A source, and a replica with the plugin that applies what the source does from now on.
fn pair(on_both: &[&str], on_replica: &[&str]) -> (Server, Arc<Server>) {
    let source = Server::start(options(&[&["--server-id=1", "--log-bin=binlog"], on_both].concat())).unwrap();
    let of_replica = [&["--server-id=2", "--log-bin=binlog"], on_both, on_replica].concat();
    let replica = Arc::new(ready(start(&of_replica)));
    let place = said(&source.admin().unwrap().must("SHOW BINARY LOG STATUS").unwrap());
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
        // It notes its positions as often as it can.
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
            until("the row", || arena.truth("SELECT COUNT(*), SUM(v) FROM r.t") == expected);
            assert_eq!(said(&reader.must(SUM).unwrap()), expected, "{format}");
            kept += u32::from(arena.ask(&mut reader, untouched).1);
        }
        assert_eq!(kept, 19, "{format}: what the stream does not touch is outdated");
        all(&mut replica.admin().unwrap(), &["STOP REPLICA"]);
    }
}

/// What an XA transaction has changed shows on a replica when no seam tells of it.
#[test]
fn a_replica_that_applies_xa_transactions_serves_nothing_from_then_on() {
    let numbered = ["--binlog-format=ROW", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"];
    let (source, replica) = pair(&numbered, &["--replica-parallel-workers=4"]);
    let (mut writer, mut reader) = (client(&source), client(&replica));
    let mut arena = Arena::on(replica.clone(), "own");
    let read = "SELECT SUM(v) FROM r.t";
    all(&mut writer, &["INSERT INTO t VALUES (1, 1), (2, 1)"]);
    until("the rows", || arena.truth(read) == "2");
    // One of a client of the replica itself is followed as on any server.
    all(&mut client(&replica), &["XA START 'own'", "SELECT 1 FROM t", "XA END 'own'", "XA ROLLBACK 'own'"]);
    arena.warm(&mut reader, read);
    let writing = std::thread::spawn(move || {
        for number in 0..TRANSACTIONS {
            let of = |verb: &str| format!("XA {verb} 'x{number}'");
            let update = "UPDATE t SET v = v + 1 WHERE id = 1";
            all(&mut writer, &[&of("START"), update, &of("END"), &of("PREPARE"), &of("COMMIT")]);
        }
    });
    let mut sum = 0;
    while sum < 2 + TRANSACTIONS {
        sum = arena.truth(read).parse::<u64>().unwrap();
        for _ in 0..2 {
            let served = said(&reader.must(read).unwrap());
            assert!(served.parse::<u64>().unwrap() >= sum, "{served} is served, {sum} was seen");
        }
    }
    writing.join().unwrap();
    assert!(!arena.ask(&mut reader, read).1);
    let obstacle = said(&replica.admin().unwrap().must("SHOW STATUS LIKE 'Fqc_obstacle'").unwrap());
    assert!(obstacle.contains("has applied an XA transaction"), "{obstacle}");
}
