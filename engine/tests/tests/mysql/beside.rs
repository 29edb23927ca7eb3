//! Other plugins and storage engines in the server: which of them the engine tolerates, and which stop it.

use crate::shared::{hits, options, start};
use crate::traps::{all, plugin, rows_text, until};
use fqc_tests::checkout;
use fqc_tests::client::Client;
use fqc_tests::server::Server;
use std::process::Command;

fn obstacle(admin: &mut Client) -> String {
    rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_obstacle'").unwrap())
}

fn serves_nothing(server: &Server, words: &str) {
    let mut admin = server.admin().unwrap();
    until("the obstacle", || obstacle(&mut admin).contains(words));
    all(&mut admin, &["CREATE DATABASE IF NOT EXISTS d", "CREATE TABLE IF NOT EXISTS d.t (id INT PRIMARY KEY)"]);
    let before = hits(&mut admin);
    let mut reader = server.admin().unwrap();
    (0..50).for_each(|_| assert_eq!(rows_text(&reader.must("SELECT * FROM d.t").unwrap()), ""));
    assert_eq!(hits(&mut admin), before);
}

fn stops_while_it_is_installed(name: &str, words: &str) {
    let server = crate::shared::ready(start(&["--server-id=1", "--log-bin=binlog"]));
    if !server.bring(&format!("{name}.so")) {
        return assert!(std::env::var_os("FQC_MYSQLD").is_some());
    }
    let mut admin = server.admin().unwrap();
    admin.must(&format!("INSTALL PLUGIN {name} SONAME '{name}.so'")).unwrap();
    serves_nothing(&server, words);
    admin.must(&format!("UNINSTALL PLUGIN {name}")).unwrap();
    // The plugin may stay loaded as long as a session that has used it.
    drop(admin);
    until("nothing in the way", || obstacle(&mut server.admin().unwrap()) == "Fqc_obstacle,");
}

/// Checks that nothing is served while group replication is installed, because other members of the group write here, too.
#[test]
fn nothing_is_served_where_group_replication_is_installed() {
    stops_while_it_is_installed("group_replication", "member of a replication group");
}

/// Checks that nothing is served while the Rewriter plugin is installed. It rewrites texts by rules that the engine does not know.
#[test]
fn nothing_is_served_where_statements_are_rewritten() {
    stops_while_it_is_installed("rewriter", "the plugin Rewriter is installed");
}

/// Builds a storage engine for exactly this version of the server.
fn build_engine(server: &Server) {
    let version = server.admin().unwrap().scalar("SELECT @@version").unwrap().unwrap();
    let parts = version.split(['.', '-']).filter_map(|part| part.parse::<u32>().ok());
    let number = parts.take(3).fold(0, |number, part| number * 100 + part);
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wall", "-Werror", &format!("-DSERVER={number}"), "-o"])
        .arg(server.plugins().join("outsider.so"))
        .arg(checkout::file("tests/tests/mysql/outsider.c"))
        .status();
    assert!(built.expect("a C compiler").success());
}

/// Checks that nothing is served while a foreign storage engine is loaded, whose reads and writes are not reported to the engine. MySQL's
/// own tests bring one that has tables.
#[test]
fn nothing_is_served_beside_a_storage_engine_of_others() {
    let server = crate::shared::ready(start(&[]));
    let has_tables = server.bring("ha_example.so");
    let (name, library) = if has_tables { ("EXAMPLE", "ha_example.so") } else { ("outsider", "outsider.so") };
    if !has_tables {
        build_engine(&server);
    }
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    let mut reader = server.admin().unwrap();
    let mut read = "SELECT COUNT(*) FROM d.t";
    let before = hits(&mut admin);
    until("a hit", || rows_text(&reader.must(read).unwrap()) == "0" && hits(&mut admin) > before);
    admin.must(&format!("INSTALL PLUGIN {name} SONAME '{library}'")).unwrap();
    if has_tables {
        admin.must("CREATE TABLE d.e (id INT) ENGINE = EXAMPLE").unwrap();
        read = "SELECT COUNT(*) FROM d.t LEFT JOIN d.e ON t.id = e.id";
    }
    // Serving stops at once, not only when the plugin looks at the list of engines.
    let before = hits(&mut admin);
    (0..50).for_each(|_| assert_eq!(rows_text(&reader.must(read).unwrap()), "0"));
    assert_eq!(hits(&mut admin), before);
    serves_nothing(&server, "a storage engine is loaded");
    all(&mut admin, &["DROP TABLE IF EXISTS d.e", &format!("UNINSTALL PLUGIN {name}")]);
    until("nothing in the way", || obstacle(&mut admin) == "Fqc_obstacle,");
    until("a hit", || rows_text(&reader.must("SELECT COUNT(*) FROM d.t").unwrap()) == "0" && hits(&mut admin) > before);
}

/// Checks that the engine, when it wakes up, notices a storage engine that was installed during its sleep. It does not look for new storage
/// engines while it sleeps.
#[test]
fn nothing_is_served_beside_an_engine_that_came_while_this_one_slept() {
    let server = crate::waking::asleep();
    build_engine(&server);
    let mut admin = server.admin().unwrap();
    admin.must("INSTALL PLUGIN outsider SONAME 'outsider.so'").unwrap();
    let before = hits(&mut admin);
    admin.must(crate::waking::ON).unwrap();
    let mut reader = crate::waking::client(&server);
    until("what stands in the way", || {
        assert_eq!(rows_text(&reader.must(crate::waking::READ).unwrap()), "10");
        assert_eq!(hits(&mut admin), before);
        obstacle(&mut admin).contains("a storage engine is loaded")
    });
}

/// Checks that nothing is served under a thread pool, which waits for bytes itself and moves sessions between threads.
#[test]
fn nothing_is_served_under_a_thread_pool() {
    let mut server = Server::start(options(&[])).unwrap();
    if !server.bring("thread_pool.so") {
        return assert!(std::env::var_os("FQC_MYSQLD").is_some());
    }
    std::fs::copy(plugin::path(), server.plugins().join("fqc.so")).unwrap();
    let mut admin = server.restart_with(&["--plugin-load-add=thread_pool.so"]).unwrap();
    let pool = "SELECT COUNT(*) FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'thread_pool' AND PLUGIN_STATUS = 'ACTIVE'";
    if admin.scalar(pool).unwrap().as_deref() == Some("1") {
        server.install_plugin().unwrap();
        serves_nothing(&server, "a thread pool is loaded");
    }
}

/// Checks that no stale result is served while CLONE replaces all data of the server. CLONE shuts the server down for that.
#[test]
fn a_server_that_becomes_another_ones_clone_serves_nothing_of_before() {
    let donor = Server::start(options(&["--server-id=1"])).unwrap();
    let recipient = crate::shared::ready(start(&["--server-id=2"]));
    if !donor.bring("mysql_clone.so") || !recipient.bring("mysql_clone.so") {
        return assert!(std::env::var_os("FQC_MYSQLD").is_some());
    }
    let mut admins = [donor.admin().unwrap(), recipient.admin().unwrap()];
    for admin in &mut admins {
        all(admin, &["INSTALL PLUGIN clone SONAME 'mysql_clone.so'", "CREATE DATABASE d"]);
    }
    let [_, mut admin] = admins;
    all(&mut admin, &["CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"]);
    let (mut reader, mut plain) = (recipient.admin().unwrap(), recipient.admin().unwrap());
    plain.must("SET SESSION fqc_type = OFF").unwrap();
    let before = hits(&mut admin);
    until("a hit", || {
        assert_eq!(rows_text(&reader.must("SELECT id FROM d.t").unwrap()), "1");
        hits(&mut admin) > before
    });
    all(&mut admin, &[&format!("SET GLOBAL clone_valid_donor_list = '127.0.0.1:{}'", donor.port())]);
    let clone = format!("CLONE INSTANCE FROM root@127.0.0.1:{} IDENTIFIED BY ''", donor.port());
    let cloning = std::thread::spawn(move || admin.query(clone).map(|answer| rows_text(&answer)));
    let mut last = String::new();
    until("the end of the server", || {
        let Ok(truth) = plain.query("SELECT id FROM d.t") else { return true };
        let Ok(served) = reader.query("SELECT id FROM d.t") else { return true };
        last = rows_text(&truth);
        assert!(last == "1" || rows_text(&served) != "1", "{last} is the truth, and {} is served", rows_text(&served));
        false
    });
    let outcome = cloning.join().unwrap();
    assert!(
        outcome.as_ref().is_err() || outcome.as_ref().is_ok_and(|rows_text| rows_text == "error 3707"),
        "{outcome:?}, {last}"
    );
}
