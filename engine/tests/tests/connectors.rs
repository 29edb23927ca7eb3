//! The client libraries that applications use, each against a cached server. The programs are in `../connectors`.
//!
//! Each program runs the same scenario, and its repeated reads must be hits.

mod traps;

use std::io::Write;
use std::process::{Command, Stdio};

use fqc_tests::client::Endpoint;
use fqc_tests::connectors::{self, BOTH, ITEM, READ, STEPS, expected, run};
use traps::{Arena, all};

/// The least number of hits for each way, among twenty reads in each of five groups outside of transactions. The first reads of each group
/// go to the server.
const LEAST_HITS: u64 = 75;

/// Creates the table of the scenario in the database of this name, and waits until its reads are cached. Returns the arena and the port to
/// connect to.
fn stage(db: &str) -> (Arena, u16) {
    let mut arena = Arena::enter(db);
    let mut client = arena.client();
    all(&mut client, &ITEM);
    arena.warm(&mut client, READ);
    let Endpoint::Tcp(port) = arena.server.endpoint() else { unreachable!("servers listen on TCP") };
    (arena, port)
}

fn scenario(db: &str, ways: &[&str], command: &mut Command) {
    let hits = hits_of(db, ways, command);
    assert!(hits >= LEAST_HITS * ways.len() as u64, "only {hits} reads came from memory");
}

/// Runs a program, and checks that it prints the right answers in these ways. Returns the number of its hits.
fn hits_of(db: &str, ways: &[&str], command: &mut Command) -> u64 {
    let (mut arena, port) = stage(db);
    let (rows_text, hits) = arena.counted(|| run(command.env("FQC_PORT", port.to_string())));
    assert_eq!(rows_text, expected(ways));
    hits
}

#[test]
fn pymysql() {
    scenario("c_pymysql", &["text"], &mut connectors::of_python("pymysql"));
}

#[test]
fn mysqlclient() {
    scenario("c_mysqlclient", &["text"], &mut connectors::of_python("MySQLdb"));
}

#[test]
fn mysql2() {
    scenario("c_mysql2", &BOTH, &mut connectors::mysql2());
}

#[test]
fn go_sql_driver() {
    scenario("c_go", &BOTH, &mut connectors::go_sql_driver());
}

#[test]
fn connector_j() {
    let hits = hits_of("c_java", &BOTH, &mut connectors::connector_j());
    // On connect the library sets variables by expressions. Reads as text are only served once the values are known.
    assert!(hits >= LEAST_HITS, "only {hits} reads came from memory");
}

/// Checks that the command-line client, which has no binary protocol, gets right answers and hits.
#[test]
fn mariadb_client() {
    let (mut arena, port) = stage("c_client");
    let read = "SELECT CONCAT_WS('|', id, name, IFNULL(note, 'NULL'), price, day, moment) FROM c.item WHERE id = 1;\n";
    let mut script = String::new();
    let steps = [
        "",
        "UPDATE c.item SET price = price + 1 WHERE id = 1;",
        "BEGIN; UPDATE c.item SET note = 'gone' WHERE id = 1;",
        "ROLLBACK;",
        "BEGIN; UPDATE c.item SET name = 'ʎʇıʌ 🐬' WHERE id = 1; COMMIT;",
    ];
    steps.iter().for_each(|step| script += &format!("{step}\n{}", read.repeat(20)));
    let (rows_text, hits) = arena.counted(|| speak(port, &script));
    let mut lines: Vec<_> = rows_text.lines().collect();
    assert_eq!(lines.len(), 20 * steps.len());
    lines.dedup();
    assert_eq!(lines, STEPS[..5].iter().map(|step| step.1).collect::<Vec<_>>());
    assert!(hits >= 60, "only {hits} reads came from memory:\n{}", arena.server.reasons());
}

/// Runs a script through MariaDB's command-line client. Returns its output.
fn speak(port: u16, script: &str) -> String {
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "--batch", "--skip-column-names", "--default-character-set=utf8mb4", "--user=root"]);
    command.args(["--protocol=tcp", "--host=127.0.0.1", &format!("--port={port}"), "c"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the mariadb client");
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the mariadb client: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
