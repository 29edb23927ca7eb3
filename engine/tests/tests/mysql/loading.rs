//! The plugin is loaded and unloaded, or refuses to load.

use crate::shared::{hits, options, ready, start};
use crate::traps::{all, plugin, rows_text, until};
use fqc_tests::client::Client;
use fqc_tests::server::{Options, Server};
use std::time::{Duration, Instant};

/// Checks that a plugin with this fault (`FQC_FAULT`) refuses to load, names a reason in the log, and leaves the server running. Returns
/// the log.
fn refused(fault: &str) -> String {
    refused_with(fault, &[])
}

fn refused_with(fault: &str, arguments: &[&str]) -> String {
    let environment = vec![("FQC_FAULT".to_owned(), fault.to_owned())];
    let server = Server::start(Options { environment, ..options(arguments) }).unwrap();
    std::fs::copy(plugin::path(), server.plugins().join("fqc.so")).unwrap();
    let mut admin = server.admin().unwrap();
    let failure = admin.query("INSTALL PLUGIN fqc SONAME 'fqc.so'").unwrap();
    assert!(failure.failure().is_some(), "{fault}");
    assert_eq!(admin.scalar("SELECT 1").unwrap().as_deref(), Some("1"));
    let log = server.error_log();
    let line = log.lines().find(|line| line.contains("FQC: not loaded")).unwrap_or_else(|| panic!("{log}"));
    // The line has the form of the server's own error lines: time, severity and source.
    assert!(line.contains("Z ") && line.contains("[ERROR]") && line.contains("Plugin fqc reported"), "{line}");
    assert!(line.contains("take fqc.so out of plugin-load-add"), "what to do is missing: {line}");
    log
}

#[test]
fn a_line_that_was_never_tested_is_refused() {
    for version in ["8.0.43", "8.4.6", "9.8.0"] {
        let log = refused(&format!("version:{version}"));
        assert!(
            log.contains(&format!("nothing was changed: this is MySQL {version}, and only 9.7 has been tested")),
            "{log}"
        );
        assert!(log.contains("to load it all the same, start the server with fqc_allow_untested_server = ON"), "{log}");
    }
}

/// Checks that with fqc_allow_untested_server the plugin loads on a release line that was never tested, and says so. A fault makes the
/// server seem to be of such a line.
#[test]
fn a_line_that_was_never_tested_is_served_where_the_administrator_has_asked_for_it() {
    let environment = vec![("FQC_FAULT".to_owned(), "version:9.8.0".to_owned())];
    let options = Options { environment, ..options(&["--loose-fqc-allow-untested-server=ON"]) };
    let server = Server::start(Options { plugin: Some(plugin::path()), ..options }).unwrap();
    let server = ready(server);
    let mut admin = server.admin().unwrap();
    let told = rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_untested_server'").unwrap());
    assert_eq!(told, "Fqc_untested_server,MySQL 9.8.0");
    let log = server.error_log();
    let words = "MySQL 9.8.0: this server version has not been tested with this engine; it was loaded because \
        fqc_allow_untested_server is ON";
    assert_eq!(log.matches(words).count(), 1, "{log}");
    assert!(log.contains("the self-test has passed"), "{log}");
    let refused = admin.query("SET GLOBAL fqc_allow_untested_server = OFF").unwrap();
    assert_eq!(refused.failure().map(|failure| failure.code), Some(1238));
}

#[test]
fn a_line_into_which_nothing_can_be_loaded_is_refused_whatever_the_administrator_asks() {
    let log = refused_with("version:5.7.44", &["--loose-fqc-allow-untested-server=ON"]);
    assert!(
        log.contains("this is MySQL 5.7.44, and only 9.7 has been tested with this engine, which cannot be loaded"),
        "{log}"
    );
}

#[test]
fn a_server_that_lacks_a_symbol_or_a_slot_is_refused_by_name() {
    for name in [
        "_ZTV11ha_innobase",
        "_ZTI12TC_LOG_DUMMY",
        "_ZN11ha_innopart13external_lockEP3THDi",
        "_ZN12TC_LOG_DUMMY6commitEP3THDb",
        "_ZN3THD33notify_hton_pre_acquire_exclusiveEPK7MDL_keyPb",
        "thd_test_options",
    ] {
        let log = refused(&format!("symbol:{name}"));
        assert!(log.contains(&format!("nothing was changed: this server does not export {name}")), "{log}");
    }
}

/// Follows the steps of the guide on a server without any setting of its own.
#[test]
fn a_stock_server_is_served_once_it_has_passed_the_self_test() {
    is_served_once_it_has_passed_the_self_test(&[]);
}

#[test]
fn the_smallest_stack_that_threads_may_have_is_enough() {
    is_served_once_it_has_passed_the_self_test(&["--thread-stack=128K"]);
}

fn is_served_once_it_has_passed_the_self_test(arguments: &[&str]) {
    let server = Server::start(options(arguments)).unwrap();
    std::fs::copy(plugin::path(), server.plugins().join("fqc.so")).unwrap();
    let mut admin = server.admin().unwrap();
    all(&mut admin, server.product().installing());
    all(&mut admin, &["SET GLOBAL query_cache_size = 64*1024*1024", "SET GLOBAL query_cache_type = 1"]);
    all(&mut admin, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    let mut reader = server.admin().unwrap();
    until("a hit", || {
        assert_eq!(rows_text(&reader.must("SELECT * FROM d.t").unwrap()), "");
        hits(&mut admin) > 0
    });
    let log = server.error_log();
    assert!(log.contains("the self-test has passed: this server tells of every write"), "{log}");
    assert!(!log.contains("has not been tested with this engine"), "{log}");
    assert_eq!(
        rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_untested_server'").unwrap()),
        "Fqc_untested_server,"
    );
    until("nothing in the way", || {
        rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_obstacle'").unwrap()) == "Fqc_obstacle,"
    });
}

/// Checks that a server that loads the plugin at its start is served. While it starts, the server itself runs statements that are reported
/// to the plugin.
#[test]
fn a_server_that_loads_it_at_its_start_is_served() {
    let mut server = Server::start(options(&[])).unwrap();
    std::fs::copy(plugin::path(), server.plugins().join("fqc.so")).unwrap();
    let cache = ["--plugin-load-add=fqc.so", "--query-cache-size=64M", "--query-cache-type=1", "--fqc-adaptation=OFF"];
    let mut admin = server.restart_with(&cache).unwrap();
    all(&mut admin, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    until("a hit", || {
        let mut reader = server.admin().unwrap();
        (0..2).for_each(|_| assert_eq!(rows_text(&reader.must("SELECT * FROM d.t").unwrap()), ""));
        hits(&mut admin) > 0
    });
}

/// Checks that ordinary work and a shutdown leave no error in the log. An operator who reads the log would investigate each error.
#[test]
fn no_error_is_in_the_log_after_a_day_and_its_end() {
    let mut server = ready(start(&[]));
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"]);
    (0..20).for_each(|_| assert_eq!(rows_text(&admin.must("SELECT * FROM d.t").unwrap()), "1"));
    drop(admin);
    server.shutdown().unwrap();
    let log = server.error_log();
    assert!(log.contains("FQC: unloaded"), "{log}");
    let errors: Vec<_> = log.lines().filter(|line| line.contains("[ERROR]")).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn it_leaves_and_comes_back_while_statements_run() {
    let server = ready(start(&[]));
    let mut admin = server.admin().unwrap();
    all(
        &mut admin,
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 0)"],
    );
    let mut old = server.admin().unwrap();
    for round in 1..4 {
        all(&mut admin, &["UNINSTALL PLUGIN query", "UNINSTALL PLUGIN fqc"]);
        // The plugin ends when the sessions that it has observed have ended.
        assert!(admin.query("UNINSTALL PLUGIN fqc_events").unwrap().failure().is_none());
        all(&mut old, &["UPDATE d.t SET v = v + 1"]);
        assert_eq!(rows_text(&old.must("SELECT v FROM d.t").unwrap()), round.to_string());
        drop(std::mem::replace(&mut old, server.admin().unwrap()));
        drop(std::mem::replace(&mut admin, server.admin().unwrap()));
        until("the end of the old plugin", || {
            let left = "SELECT COUNT(*) FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'fqc_events'";
            server.admin().unwrap().scalar(left).unwrap().as_deref() == Some("0")
        });
        server.install_plugin().unwrap();
        let before = hits(&mut admin);
        until("a hit", || {
            let mut reader = server.admin().unwrap();
            let value = rows_text(&reader.must("SELECT v FROM d.t").unwrap());
            assert_eq!(value, round.to_string());
            (0..2).for_each(|_| assert_eq!(rows_text(&reader.must("SELECT v FROM d.t").unwrap()), value));
            hits(&mut admin) > before
        });
    }
}

/// While the plugin waits to be unloaded, the server does not know its names any more, and no other cache could have them. The server
/// refuses to install the plugin again.
#[test]
fn what_waits_to_go_leaves_no_name_that_means_something_else() {
    let server = ready(start(&[]));
    let mut holder = server.admin().unwrap();
    holder.must("DO 1").unwrap();
    let mut admin = server.admin().unwrap();
    all(&mut admin, server.product().uninstalling());
    assert_eq!(status_of(&mut admin, "fqc_events"), "DELETED");
    for mut client in [admin, server.admin().unwrap()] {
        for (statement, number) in [
            ("SET GLOBAL query_cache_type = 1", 1193),
            ("SELECT @@GLOBAL.query_cache_size", 1193),
            ("SET GLOBAL fqc_type = ON", 1193),
            ("SHOW FQC STATUS", 1064),
            ("INSTALL PLUGIN fqc_events SONAME 'fqc.so'", 1125),
        ] {
            let response = client.query(statement).unwrap();
            let found = response.failure().map(|failure| failure.code);
            assert_eq!(found, Some(number), "{statement}: {:?}", response.failure());
        }
    }
    drop(holder);
}

fn status_of(client: &mut Client, plugin: &str) -> String {
    let question = format!("SELECT PLUGIN_STATUS FROM information_schema.PLUGINS WHERE PLUGIN_NAME = '{plugin}'");
    client.scalar(&question).unwrap().unwrap_or_default()
}

#[test]
fn without_its_events_it_serves_nothing_and_says_so() {
    let server = ready(start(&[]));
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    assert!(admin.query("UNINSTALL PLUGIN fqc_events").unwrap().failure().is_none());
    until("what stands in the way", || {
        rows_text(&admin.must("SHOW FQC STATUS").unwrap()).starts_with("Cache,OFF: the plugin fqc_events is not active")
    });
    let mut reader = server.admin().unwrap();
    let before = hits(&mut admin);
    (0..20).for_each(|_| assert_eq!(rows_text(&reader.must("SELECT * FROM d.t").unwrap()), ""));
    assert_eq!(hits(&mut admin), before);
    until("the log's line", || server.error_log().contains("the plugin fqc_events is not active"));
}

/// Checks that the error log does not complain about plugins that are about to be installed.
#[test]
fn what_is_missing_during_the_installation_is_not_logged() {
    const WHY: &str = "SHOW GLOBAL STATUS LIKE 'Fqc_obstacle'";
    let server = Server::start(options(&[])).unwrap();
    std::fs::copy(plugin::path(), server.plugins().join("fqc.so")).unwrap();
    let mut admin = server.admin().unwrap();
    let begun = Instant::now();
    all(&mut admin, &["INSTALL PLUGIN fqc SONAME 'fqc.so'"]);
    until("what stands in the way", || rows_text(&admin.must(WHY).unwrap()).contains("fqc_events is not active"));
    all(&mut admin, &["INSTALL PLUGIN fqc_events SONAME 'fqc.so'", "INSTALL PLUGIN query SONAME 'fqc.so'"]);
    until("nothing is in the way", || rows_text(&admin.must(WHY).unwrap()) == "Fqc_obstacle,");
    let was_quick = begun.elapsed() < Duration::from_secs(5);
    assert!(!was_quick || !server.error_log().contains("is not active"), "{}", server.error_log());
}

#[test]
fn a_table_that_was_open_before_the_load_is_followed_all_the_same() {
    let server = Server::start(options(&[])).unwrap();
    let mut old = server.admin().unwrap();
    all(
        &mut old,
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "INSERT INTO d.t VALUES (1, 0)"],
    );
    all(&mut old, &["BEGIN", "UPDATE d.t SET v = 1"]);
    std::fs::copy(plugin::path(), server.plugins().join("fqc.so")).unwrap();
    server.install_plugin().unwrap();
    let mut reader = server.admin().unwrap();
    for _ in 0..50 {
        assert_eq!(rows_text(&reader.must("SELECT v FROM d.t").unwrap()), "0");
    }
    all(&mut old, &["COMMIT"]);
    assert_eq!(rows_text(&reader.must("SELECT v FROM d.t").unwrap()), "1");
    let mut admin = server.admin().unwrap();
    until("a hit", || {
        let mut reader = server.admin().unwrap();
        (0..2).for_each(|_| assert_eq!(rows_text(&reader.must("SELECT v FROM d.t").unwrap()), "1"));
        hits(&mut admin) > 0
    });
    all(&mut old, &["UPDATE d.t SET v = 2"]);
    assert_eq!(rows_text(&server.admin().unwrap().must("SELECT v FROM d.t").unwrap()), "2");
}
