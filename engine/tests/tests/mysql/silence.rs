//! While the engine sleeps, the server makes no events of statements, unless another plugin listens to them.

use crate::traps::{Arena, all, rows_text, until};
use crate::waking::{ON, READ, a_listener_hears_everything, asleep, client, fall_asleep};
use fqc_tests::checkout;
use fqc_tests::server::Server;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;

/// The server's masks of the events that it reports to audit plugins: of statements in general, of connections, and of statements inside
/// others. 0 if no plugin wants any. Read from the memory of the server's process.
fn reported(server: &Server) -> [u64; 3] {
    let pid = server.pid().expect("a server that runs");
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let image = maps.lines().find(|line| line.ends_with("/mysqld")).expect("the server's image");
    let base = u64::from_str_radix(image.split('-').next().unwrap(), 16).unwrap();
    let path = &image[image.find('/').unwrap()..];
    let listed = Command::new("nm").args(["-D", "--defined-only", path]).output().expect("nm").stdout;
    let listed = String::from_utf8_lossy(&listed);
    let symbol = listed.lines().find(|line| line.ends_with(" mysql_global_audit_mask")).expect("the server's mask");
    let start = base + u64::from_str_radix(symbol.split(' ').next().unwrap(), 16).unwrap();
    let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
    [0, 1, 9].map(|class| {
        let mut word = [0; 8];
        memory.read_exact_at(&mut word, start + 8 * class).unwrap();
        u64::from_le_bytes(word)
    })
}

#[test]
fn no_events_of_statements_are_made_while_it_sleeps() {
    let server = asleep();
    let mut worked = client(&server);
    all(&mut worked, &["CREATE PROCEDURE rounds() SET SESSION div_precision_increment = 0"]);
    let [_, connections, _] = reported(&server);
    assert_ne!(connections, 0);
    until("silence", || reported(&server) == [0, connections, 0]);
    all(&mut worked, &["BEGIN", "UPDATE t SET v = 11 WHERE id = 1"]);
    server.admin().unwrap().must(ON).unwrap();
    let [general, _, nested] = reported(&server);
    assert!(general != 0 && nested != 0);
    let mut reader = client(&server);
    let mut arena = Arena::on(server.clone(), "e");
    arena.warm(&mut reader, READ);
    arena.check_write_shows(&mut reader, READ, || all(&mut worked, &["COMMIT"]), "11");
    // The text of a CALL does not show what the procedure sets, so the server has to report it.
    let quarter = "SELECT id / 4 FROM d.t WHERE id = 1";
    assert_eq!(arena.warm(&mut reader, quarter), "0.2500");
    all(&mut reader, &["CALL rounds()"]);
    assert_eq!(rows_text(&reader.must(quarter).unwrap()), "0");
    // This works again each time the engine falls asleep.
    drop((reader, arena));
    fall_asleep(&server);
    until("silence again", || reported(&server) == [0, connections, 0]);
}

/// Installs another audit plugin, which counts the ends of statements that the server reports to it.
fn install_listener(server: &Server) {
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"])
        .arg(server.plugins().join("listener.so"))
        .arg(checkout::file("tests/tests/mysql/listener.c"))
        .status();
    assert!(built.expect("a C compiler").success());
    server.admin().unwrap().must("INSTALL PLUGIN listener SONAME 'listener.so'").unwrap();
}

#[test]
fn another_listener_is_told_of_everything() {
    let server = asleep();
    install_listener(&server);
    a_listener_hears_everything(&server);
    assert_ne!(reported(&server)[0], 0);
}
