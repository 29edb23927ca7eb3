//! The engine waits for the client's next command itself, after a served read. Everything that ends an idle connection or the plugin
//! still works.

mod traps;

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use fqc_tests::client::Client;
use traps::{all, start, until, with_table};

const READ: &str = "SELECT v FROM t WHERE id = 1";
const CLOSELY: usize = 200;

/// Sends commands in quick succession: reads that are hits, reads that the server answers, and writes.
fn ask_closely(client: &mut Client) {
    for number in 0..CLOSELY {
        all(client, &[READ, &format!("SELECT v + {number} FROM t"), "UPDATE t SET v = v + 1 WHERE id = 2"]);
    }
}

/// Waits until the server ends this idle connection. Returns how long that took.
fn time_to_end(mut client: Client) -> Duration {
    let begun = Instant::now();
    let error = client.read_response().expect_err("the server says nothing, and ends it");
    assert!(!matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    begun.elapsed()
}

#[test]
fn a_connection_that_falls_silent_ends_after_its_timeout() {
    let (arena, writer, mut reader) = with_table("w_timeout");
    drop(writer);
    for idle in ["SET SESSION wait_timeout = 1", "SET SESSION idle_transaction_timeout = 1"] {
        let mut client = arena.client_with(&[idle]);
        ask_closely(&mut client);
        all(&mut client, &["BEGIN", READ, "UPDATE t SET v = v + 1 WHERE id = 2"]);
        assert!(time_to_end(client) > Duration::from_millis(900), "{idle}");
        // The server has rolled back the open transaction, so the row is not locked.
        all(&mut reader, &["UPDATE t SET v = v + 1 WHERE id = 2"]);
    }
}

/// Checks that the server ends a connection that only begins a transaction after its timeout. The server knows of a BEGIN even if no
/// statement follows it.
#[test]
fn a_connection_that_only_begins_a_transaction_ends_after_its_timeout() {
    let (mut arena, mut writer, mut reader) = with_table("w_begun");
    arena.warm(&mut reader, READ);
    writer.must("CREATE PROCEDURE hurry() SET idle_readonly_transaction_timeout = 1").unwrap();
    let ways = [
        "SET SESSION idle_transaction_timeout = 1",
        "SET @@idle_readonly_transaction_timeout = 2 - 1, @@wait_timeout = 100",
        "CALL hurry()",
        "BEGIN NOT ATOMIC SET idle_transaction_timeout = 1; END",
        "SET GLOBAL idle_transaction_timeout = 1",
    ];
    for way in ways {
        let mut client = arena.client_with(&[READ, way]);
        if way.contains("GLOBAL") {
            client = arena.client();
            writer.must("SET GLOBAL idle_transaction_timeout = 0").unwrap();
        }
        all(&mut client, &[READ, READ, "BEGIN"]);
        assert!(time_to_end(client) > Duration::from_millis(900), "{way}");
    }
}

#[test]
fn a_kill_ends_a_connection_whose_read_waits() {
    let (arena, mut writer, _reader) = with_table("w_kill");
    for _ in 0..20 {
        let mut client = arena.client();
        ask_closely(&mut client);
        writer.must(&format!("KILL {}", client.thread_id)).unwrap();
        time_to_end(client);
    }
}

#[test]
fn the_plugin_leaves_connections_whose_reads_wait() {
    let server = start(&[]);
    let mut admin = server.admin().unwrap();
    all(
        &mut admin,
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 0), (2, 0)"],
    );
    let mut clients: Vec<_> = (0..8).map(|_| server.admin().unwrap()).collect();
    for client in &mut clients {
        all(client, &["USE d"]);
        ask_closely(client);
    }
    // All of them have just been answered.
    clients.iter_mut().for_each(|client| all(client, &[READ]));
    all(&mut admin, &["UNINSTALL SONAME 'fqc'"]);
    // Each ping lets its connection release the plugin. The last one ends it, while the reads of the others wait.
    for client in &mut clients {
        client.ping().unwrap();
    }
    until("the plugin's last word", || server.error_log().contains("unloaded"));
    assert!(!server.error_log().contains("still go through its hooks"), "{}", server.error_log());
    clients.iter_mut().for_each(ask_closely);
}
