//! `KILL CONNECTION`: on MySQL the killing thread closes the victim's socket, while the victim may still be at work.

use crate::shared::{ready, start};
use crate::traps::{Arena, all, rows_text, until};
use fqc_tests::client::{Client, command};
use fqc_tests::server::Server;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const SUM: &str = "SELECT SUM(v) FROM t";

/// Waits until the statement of the connection with this id is in the middle of its commit, where a kill has no effect.
fn commits(admin: &mut Client, thread_id: u32) {
    let state = format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {thread_id}");
    until("the commit", || rows_text(&admin.must(&state).unwrap()).eq_ignore_ascii_case("waiting for handler commit"));
}

/// True if the server has no thread for this connection any more.
fn is_gone(admin: &mut Client, thread_id: u32) -> bool {
    let left = format!("SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_ID = {thread_id}");
    admin.scalar(&left).unwrap().as_deref() == Some("0")
}

#[test]
fn a_write_that_outlives_its_connection_shows() {
    let server = Arc::new(ready(start(&["--server-id=1", "--log-bin=binlog", "--sync-binlog=1"])));
    let mut arena = Arena::on(server.clone(), "outlives");
    let mut admin = arena.client_with(&["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 0)"]);
    let mut reader = arena.client();
    let update = "UPDATE t SET v = v + 1";
    let ways: [&[&str]; 3] =
        [&[update], &["BEGIN", update, "COMMIT"], &["BEGIN", "SAVEPOINT s", update, "COMMIT AND CHAIN"]];
    for (round, way) in ways.iter().enumerate() {
        let (last, first) = way.split_last().unwrap();
        let mut victim = arena.client_with(first);
        arena.warm(&mut reader, SUM);
        // The server waits this long (in microseconds) for other transactions to commit together.
        admin.must("SET GLOBAL binlog_group_commit_sync_delay = 700000").unwrap();
        victim.send(command::QUERY, last.as_bytes()).unwrap();
        commits(&mut admin, victim.thread_id);
        admin.must(&format!("KILL CONNECTION {}", victim.thread_id)).unwrap();
        admin.must("SET GLOBAL binlog_group_commit_sync_delay = 0").unwrap();
        let expected = (round + 1).to_string();
        until("the end of the commit", || {
            reader.must(SUM).unwrap();
            arena.server_answer(SUM) == expected
        });
        assert_eq!(rows_text(&reader.must(SUM).unwrap()), expected, "{last}");
        until("the end of the session", || is_gone(&mut admin, victim.thread_id));
        arena.warm(&mut reader, SUM);
    }
}

#[test]
fn a_connection_that_is_killed_amid_an_answer_leaves_nothing_behind() {
    let server = ready(start(&[]));
    let mut admin = server.admin().unwrap();
    all(
        &mut admin,
        &[
            "SET SESSION fqc_type = OFF",
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT)",
            "INSERT INTO d.t VALUES (1, REPEAT('x', 1000000))",
            "SET GLOBAL fqc_limit = 16000000",
        ],
    );
    let read = "SELECT a.v, a.v v1, a.v v2, a.v v3, a.v v4, a.v v5, a.v v6, a.v v7 FROM d.t a";
    let mut victim = server.admin().unwrap();
    until("a hit", || {
        let before = crate::shared::hits(&mut admin);
        victim.must(read).unwrap();
        crate::shared::hits(&mut admin) > before
    });
    let before = crate::shared::hits(&mut admin);
    // The client reads nothing, so the thread that serves it blocks.
    victim.send(command::QUERY, read.as_bytes()).unwrap();
    until("the hit", || crate::shared::hits(&mut admin) > before);
    admin.must(&format!("KILL CONNECTION {}", victim.thread_id)).unwrap();
    until("the end of the session", || is_gone(&mut admin, victim.thread_id));
    // New connections reuse the socket's descriptor.
    (0..3).for_each(|_| drop(server.admin().unwrap()));
    admin.must("SET GLOBAL fqc_type = OFF").unwrap();
    until("the sleep of an engine that nobody wants", || {
        rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_awake'").unwrap()) == "Fqc_awake,0"
    });
}

/// Sends pairs of reads with a client's own texts on new connections until `is_over`. Returns wrong answers and refused logins, as texts. A
/// cut connection is no fault.
fn asks(server: &Server, is_over: &AtomicBool, victims: &Mutex<HashSet<u32>>, number: usize) -> Vec<String> {
    let mut faults = Vec::new();
    let mut round = 0;
    while !is_over.load(Ordering::Relaxed) && faults.is_empty() {
        round += 1;
        let endpoint = if number.is_multiple_of(2) { server.endpoint() } else { server.unix_endpoint() };
        let mut client = match Client::root(&endpoint) {
            Ok(client) => client,
            Err(error) => {
                faults.push(format!("a login: {error}"));
                continue;
            }
        };
        victims.lock().unwrap().insert(client.thread_id);
        let words = [0, 1].map(|part| format!("of {number} in {round}, {part}"));
        let asked = words.clone().map(|words| format!("SELECT '{words}' FROM d.t"));
        for _ in 0..200 {
            let sent =
                client.send_together(&[(command::QUERY, asked[0].as_bytes()), (command::QUERY, asked[1].as_bytes())]);
            let answers: Vec<_> = words.iter().map_while(|_| client.read_response().ok()).collect();
            if sent.is_err() || answers.len() < 2 {
                break;
            }
            let rows_text: Vec<_> = answers.iter().map(rows_text).collect();
            let is_own =
                |(rows_text, words): (&String, &String)| rows_text == words || rows_text.starts_with("error 1317");
            if !rows_text.iter().zip(&words).all(is_own) {
                faults.push(format!("{words:?} was answered by {rows_text:?}"));
            }
        }
        victims.lock().unwrap().remove(&client.thread_id);
    }
    faults
}

#[test]
fn who_comes_while_others_are_killed_gets_its_own_answers() {
    let server = ready(start(&[]));
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"]);
    let (is_over, victims) = (AtomicBool::new(false), Mutex::default());
    let faults: Vec<String> = thread::scope(|scope| {
        let (server, is_over, victims) = (&server, &is_over, &victims);
        let asking: Vec<_> = (0..8).map(|number| scope.spawn(move || asks(server, is_over, victims, number))).collect();
        for _ in 0..1500 {
            let victim = victims.lock().unwrap().iter().next().copied();
            let kill = victim.map_or("DO SLEEP(0.001)".into(), |victim| format!("KILL CONNECTION {victim}"));
            let _ = admin.query(&kill).unwrap();
            victim.inspect(|victim| _ = victims.lock().unwrap().remove(victim));
        }
        is_over.store(true, Ordering::Relaxed);
        asking.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(faults, Vec::<String>::new());
}
