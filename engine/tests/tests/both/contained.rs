//! Panics at any place inside the plugin, on a server of either product: clients get right answers, the cache is off, the log says so,
//! and the server shuts down when asked to.

use crate::options;
use crate::traps::{all, plugin, rows_text, until};
use fqc_tests::client::Client;
use fqc_tests::server::{Options, Server};

/// Starts a server whose plugin has this fault (`FQC_FAULT`: a hook and the number of the call that panics), with a table of one row.
pub fn faulty(fault: &str) -> Server {
    let environment = vec![("FQC_FAULT".into(), fault.into())];
    let server = Server::start(Options { plugin: Some(plugin::path()), environment, ..options(&[]) }).unwrap();
    let mut admin = server.admin().unwrap();
    all(
        &mut admin,
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (7, 0)"],
    );
    drop(admin);
    server
}

/// A status variable of the server that is a number.
pub fn number(server: &Server, name: &str) -> u64 {
    let row = rows_text(&server.admin().unwrap().must(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap());
    row.split_once(',').and_then(|(_, number)| number.parse().ok()).unwrap_or_else(|| panic!("{name}: {row}"))
}

/// Writes a value, and asserts that three reads of a new session return it. `fault` names the injected fault in messages.
fn writes_and_reads(server: &Server, value: u64, fault: &str) {
    let mut client = Client::root(&server.endpoint()).unwrap();
    client.must(&format!("UPDATE d.t SET v = {value}")).unwrap();
    (0..3).for_each(|_| assert_eq!(value_of(&mut client), value.to_string(), "{fault}"));
    // With the fault in the variables this fails, but the server answers.
    client.query("SET GLOBAL query_cache_limit = 1048576, SESSION query_cache_type = ON").unwrap();
}

fn value_of(client: &mut Client) -> String {
    rows_text(&client.query("SELECT v FROM d.t WHERE id = 7").unwrap())
}

/// Checks that nothing is served any more, and that the log says why.
pub fn is_off(server: &Server, fault: &str) {
    let log = server.error_log();
    assert!(log.contains("a fault was contained"), "{log}");
    let before = number(server, "Fqc_hits");
    let mut client = Client::root(&server.endpoint()).unwrap();
    let value = value_of(&mut client);
    (0..10).for_each(|_| assert_eq!(value_of(&mut client), value, "{fault}"));
    assert_eq!(number(server, "Fqc_hits"), before, "{fault}");
}

/// Hooks of the plugin, each with the number of the call that panics: one while the cache is loaded, and one while it serves.
const FAULTS: [(&str, u32); 13] = [
    ("accept", 20),
    ("accept", 400),
    ("recv", 20),
    ("recv", 2000),
    ("send", 20),
    ("send", 2000),
    ("close", 20),
    ("close", 400),
    ("event", 20),
    ("event", 8000),
    ("variable", 20),
    ("variable", 200),
    ("worker", 20),
];
const FIRST_CALLS: u32 = 20;

/// Lets this fault happen, and checks that answers stay right and the server can be restarted. Returns true if the cache had answered a
/// read before the panic.
fn survives(fault: &str) -> bool {
    let mut server = faulty(fault);
    let mut value = 0;
    until(fault, || {
        value += 1;
        writes_and_reads(&server, value, fault);
        value > 100 && number(&server, "Fqc_contained_errors") > 0
    });
    let has_served = number(&server, "Fqc_hits") > 0;
    is_off(&server, fault);
    server.restart().unwrap();
    has_served
}

#[test]
fn a_panic_in_any_hook_leaves_the_server_serving() {
    for (hook, call) in FAULTS {
        // On a busy machine more calls are made before the first result is stored.
        let calls = [call, 4 * call, 16 * call, 64 * call];
        let has_served = calls.iter().any(|call| survives(&format!("{hook}:{call}")) || *call == FIRST_CALLS);
        assert!(has_served, "{hook}:{call}: nothing is served before the panic");
    }
}
