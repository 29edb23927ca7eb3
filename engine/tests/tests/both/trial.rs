//! `fqc_trial`: a session tries the cache out before any other session is served. On a server of either product.

use crate::traps::{PATIENCE, all, rows_text, small_table, until};
use crate::{NO_MEMORY, start};
use fqc_tests::client::{Client, Login};
use fqc_tests::server::Server;
use std::sync::Arc;

const READ: &str = "SELECT v FROM t WHERE id = 1";
const TRY: &str = "SET SESSION fqc_type = ON, fqc_trial = ON";

/// Starts a server whose cache is off for all sessions and has no memory, with a table of five rows in a database `d`.
fn without_memory() -> Arc<Server> {
    let server = Arc::new(start(NO_MEMORY));
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["SET GLOBAL fqc_type = OFF", "SET GLOBAL fqc_size = 0", "CREATE DATABASE d", "USE d"]);
    small_table(&mut admin, "t", "InnoDB");
    server
}

/// Opens a session in the database `d` that has run the statement `first`.
fn client(server: &Server, first: &str) -> Client {
    let login = Login { database: Some("d".into()), ..Login::default() };
    let mut client = Client::connect(&server.endpoint(), &login).unwrap();
    client.set_timeout(Some(PATIENCE)).unwrap();
    client.must(first).unwrap();
    client
}

/// The value in this line of SHOW FQC STATUS. Lines `... of this connection` count the reads of this connection alone.
fn own(client: &mut Client, name: &str) -> String {
    let told = rows_text(&client.query("SHOW FQC STATUS").unwrap());
    let row = told.split(';').find_map(|row| row.strip_prefix(&format!("{name},"))).map(str::to_owned);
    row.unwrap_or_else(|| panic!("no {name} in {told}"))
}

fn hits(client: &mut Client) -> u64 {
    own(client, "Hits of this connection").parse().unwrap()
}

/// Sends a read, and checks its answer. Returns true if it was a hit.
fn is_served(client: &mut Client, expected: &str) -> bool {
    let before = hits(client);
    assert_eq!(rows_text(&client.query(READ).unwrap()), expected);
    hits(client) > before
}

fn bytes_used(server: &Server) -> String {
    rows_text(&server.admin().unwrap().must("SHOW GLOBAL STATUS LIKE 'Fqc_bytes_used'").unwrap())
}

#[test]
fn a_trial_is_served_without_memory_for_all_and_nobody_else_is() {
    let server = without_memory();
    let mut other = client(&server, "SET SESSION fqc_type = ON");
    let mut tries = client(&server, TRY);
    let first = rows_text(&tries.query(READ).unwrap());
    until("a hit of the trial", || is_served(&mut tries, &first));
    assert!(own(&mut tries, "Cache").starts_with("ON for this connection alone"));
    for _ in 0..20 {
        assert!(!is_served(&mut other, &first), "another session was served from the memory of the trial");
    }
    let global = "SELECT @@GLOBAL.fqc_size, @@GLOBAL.fqc_type, @@GLOBAL.fqc_trial";
    assert_eq!(rows_text(&other.query(global).unwrap()), "0,OFF,0");
    other.must("UPDATE t SET v = 77 WHERE id = 1").unwrap();
    assert_eq!(rows_text(&tries.query(READ).unwrap()), "77");
    until("a hit after the write", || is_served(&mut tries, "77"));
    assert_ne!(bytes_used(&server), "Fqc_bytes_used,0");
    drop(tries);
    until("the memory given back", || bytes_used(&server) == "Fqc_bytes_used,0");
}

#[test]
fn a_trial_shares_no_results_and_counts_its_own_reads_alone() {
    let server = without_memory();
    all(&mut server.admin().unwrap(), &["SET GLOBAL fqc_size = 8388608", "SET GLOBAL fqc_type = ON"]);
    let mut other = client(&server, "SET SESSION fqc_type = ON");
    let first = rows_text(&other.query(READ).unwrap());
    until("a hit of another session", || is_served(&mut other, &first));
    let mut tries = client(&server, "SET SESSION fqc_trial = ON");
    assert!(!is_served(&mut tries, &first), "served what another session had stored");
    until("a hit of the trial", || is_served(&mut tries, &first));
    let before = hits(&mut tries);
    for _ in 0..50 {
        assert!(is_served(&mut other, &first));
    }
    assert_eq!(hits(&mut tries), before);
    tries.must("SELECT SQL_NO_CACHE v FROM t").unwrap();
    assert_eq!(own(&mut tries, "Why its last read was not cached"), "sql_no_cache");
}

#[test]
fn a_trial_is_of_one_session_and_ends_with_it() {
    let server = without_memory();
    let mut admin = server.admin().unwrap();
    admin.must("SET GLOBAL fqc_trial = ON").unwrap();
    assert!(rows_text(&admin.query("SHOW WARNINGS").unwrap()).contains("single sessions"));
    assert_eq!(rows_text(&client(&server, "DO 0").query("SELECT @@fqc_trial").unwrap()), "0");
    let mut tries = client(&server, TRY);
    let first = rows_text(&tries.query(READ).unwrap());
    until("a hit of the trial", || is_served(&mut tries, &first));
    tries.must("SET SESSION fqc_trial = OFF").unwrap();
    for _ in 0..20 {
        assert!(!is_served(&mut tries, &first));
    }
    until("the memory given back", || bytes_used(&server) == "Fqc_bytes_used,0");
    tries.must("SET SESSION fqc_trial = ON").unwrap();
    until("a hit of the next trial", || is_served(&mut tries, &first));
    tries.reset_connection().unwrap();
    assert_eq!(rows_text(&tries.query("SELECT @@fqc_trial").unwrap()), "0");
    until("the memory given back", || bytes_used(&server) == "Fqc_bytes_used,0");
}
