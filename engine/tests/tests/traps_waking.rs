//! The engine falls asleep and wakes up, on MariaDB.

mod traps;

#[path = "both/waking.rs"]
mod both;

use both::{
    ON, READ, a_listener_hears_everything, asleep, awake, client, during_a_write, fall_asleep, reads_well,
    until_written, updates,
};
use std::io::Write;
use std::process::{Command, Stdio};
use traps::{Arena, all, install_listener, rows_text, start, until};

#[test]
fn a_write_older_than_the_load_is_waited_for() {
    let server = asleep();
    server.admin().unwrap().must("UNINSTALL SONAME 'fqc'").unwrap();
    let listed = "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'fqc'";
    until("the end of the plugin", || server.admin().unwrap().scalar(listed).unwrap().as_deref() == Some("0"));
    during_a_write(&server, || {
        server.install_plugin().unwrap();
        let mut reader = client(&server);
        for _ in 0..20 {
            assert_eq!(rows_text(&reader.query(READ).unwrap()), "10");
        }
    });
    reads_well(&server, "a", "11");
}

#[test]
fn a_transaction_older_than_the_waking_of_a_session_that_cannot_be_read() {
    let server = asleep();
    let mut shell = Command::new("mariadb")
        .args(["--no-defaults", "--skip-ssl", "--unbuffered", "--compress", "--user=root", "--database=d"])
        .arg(format!("--socket={}", server.socket().display()))
        .stdin(Stdio::piped())
        .spawn()
        .expect("the mariadb client");
    let mut input = shell.stdin.take().unwrap();
    let before = updates(&server);
    writeln!(input, "BEGIN; UPDATE t SET v = 11 WHERE id = 1;").unwrap();
    until_written(&server, &before);
    server.admin().unwrap().must(ON).unwrap();
    let mut arena = Arena::on(server.clone(), "a");
    let mut reader = client(&server);
    let commit = || {
        writeln!(input, "COMMIT;").unwrap();
        drop(input);
        assert!(shell.wait().unwrap().success());
    };
    arena.check_write_shows(&mut reader, READ, commit, "11");
}

#[test]
fn another_listener_is_told_of_everything() {
    let server = asleep();
    install_listener(&server);
    a_listener_hears_everything(&server);
}

#[test]
fn a_default_that_is_set_while_asleep() {
    let (server, mut clients) = awake(3);
    let [before, meanwhile, unseen] = &mut clients[..] else { unreachable!() };
    before.must("SET SESSION old_mode = DEFAULT").unwrap();
    fall_asleep(&server);
    all(unseen, &["SELECT v FROM t", "SET GLOBAL old_mode = 'ZERO_DATE_TIME_CAST'"]);
    all(meanwhile, &["SET SESSION old_mode = DEFAULT"]);
    server.admin().unwrap().must(ON).unwrap();
    let mut arena = Arena::on(server.clone(), "a");
    all(unseen, &["CREATE TABLE x (a DATETIME)", "INSERT INTO x VALUES ('2020-01-01')"]);
    for one in [&mut *before, &mut *meanwhile] {
        all(one, &["SET SESSION fqc_type = ON", "DO 1"]);
    }
    arena.warm(before, READ);
    arena.miss(meanwhile, READ, "10");
}

#[test]
fn tables_locked_before_the_waking() {
    let server = asleep();
    let mut locker = client(&server);
    let family = [
        "CREATE TABLE p (id INT PRIMARY KEY)",
        "INSERT INTO p VALUES (1)",
        "CREATE TABLE c (k INT PRIMARY KEY, id INT, FOREIGN KEY (id) REFERENCES p (id) ON UPDATE CASCADE)",
        "INSERT INTO c VALUES (1, 1)",
        "LOCK TABLES p WRITE",
    ];
    all(&mut locker, &family);
    server.admin().unwrap().must(ON).unwrap();
    let mut arena = Arena::on(server.clone(), "a");
    let mut reader = client(&server);
    locker.must("SELECT id FROM p").unwrap();
    let child = "SELECT id FROM c WHERE k = 1";
    arena.warm(&mut reader, child);
    locker.must("UPDATE p SET id = 5").unwrap();
    assert_eq!(rows_text(&reader.query(child).unwrap()), "5");
    locker.must("UNLOCK TABLES").unwrap();
    arena.warm(&mut reader, child);
}
