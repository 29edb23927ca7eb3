//! Tests release lines of MySQL that the engine was not built for. The server refuses the library and goes on. Also tests what these lines
//! have in common with the line that the engine was built for.
//!
//! `scripts/fetch-server` downloads them. `make test-engine-mysql` prints which ones it could not download.

use crate::shared::options;
use crate::traps::{all, plugin, rows_text, until};
use flavour::{Flavour, Names};
use fqc_tests::checkout;
use fqc_tests::client::Client;
use fqc_tests::server::{Options, Product, Server};
use std::path::PathBuf;

/// The path of the server's program of this release line. None, with a printed note, if it was not downloaded.
fn program(line: &str) -> Option<PathBuf> {
    let program = checkout::file(&format!("target/servers/MySQL-{line}/sbin/mysqld"));
    if !program.exists() {
        eprintln!("SKIPPED: NO MYSQL {line} IS HERE");
    }
    program.exists().then_some(program)
}

/// Starts a server with the library in its plugin directory, but not installed.
fn start(program: PathBuf, arguments: &[&str]) -> Server {
    let server = Server::start(Options { program: Some(program), ..options(arguments) }).unwrap();
    std::fs::copy(plugin::path(), server.plugins().join("fqc.so")).unwrap();
    server
}

/// Checks that a server of this release line does not load the plugin, and goes on. `is_told`: each plugin logs a reason. None can if the
/// server itself refuses the library because of its interface.
fn refused(line: &str, is_told: bool) {
    let Some(program) = program(line) else { return };
    let mut server = start(program, &[]);
    let mut admin = server.admin().unwrap();
    for statement in Product::MySql.installing() {
        assert!(admin.query(statement).unwrap().failure().is_some(), "{line}: {statement}");
        assert_eq!(admin.scalar("SELECT 1").unwrap().as_deref(), Some("1"), "{line}: {statement}");
    }
    let log = server.error_log();
    let told = format!("nothing was changed: this is MySQL {line}.");
    let expected = if is_told { Product::MySql.installing().len() } else { 0 };
    assert_eq!(log.matches(&told).count(), expected, "{log}");
    let mut again = server.restart_with(&["--plugin-load-add=fqc.so"]).unwrap();
    let listed = again.scalar("SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_library = 'fqc.so'");
    assert_eq!(listed.unwrap().as_deref(), Some("0"), "{line}");
    assert!(server.is_running());
}

#[test]
fn a_server_whose_plugins_have_other_fields_refuses_the_library() {
    refused("5.7", false);
}

#[test]
fn a_server_of_an_older_line_refuses_each_plugin() {
    refused("8.0", true);
}

/// Checks that the self-test fails on a server with another layout, and that the server goes on without serving. In 8.0.15 the number for
/// tables in a metadata lock's key is another one, although it exports everything that the plugin needs.
#[test]
fn a_server_with_another_layout_fails_the_self_test_and_goes_on_without_serving() {
    let Some(program) = program("8.0") else { return };
    let server = start(program, &["--loose-fqc-allow-untested-server=ON"]);
    let mut admin = server.admin().unwrap();
    all(&mut admin, Product::MySql.installing());
    let line = "nothing will be served, because the self-test failed: a write was not told at the seam Definition by: CREATE TABLE";
    until(line, || server.error_log().contains(line));
    let mut obstacle = || rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_obstacle'").unwrap());
    until("what stands in the way", || obstacle().contains("the self-test of this server has not passed yet"));
    all(
        &mut admin,
        &[
            "SET GLOBAL query_cache_size = 64*1024*1024",
            "SET GLOBAL query_cache_type = 1",
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
            "INSERT INTO d.t VALUES (1, 0)",
        ],
    );
    let mut reader = server.admin().unwrap();
    for value in 1..20 {
        admin.must(&format!("UPDATE d.t SET v = {value}")).unwrap();
        (0..3).for_each(|_| assert_eq!(rows_text(&reader.must("SELECT v FROM d.t").unwrap()), value.to_string()));
    }
    assert_eq!(rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Qcache_hits'").unwrap()), "Qcache_hits,0");
    let told = rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_untested_server'").unwrap());
    assert!(told.starts_with("Fqc_untested_server,MySQL 8.0."), "{told}");
}

/// Checks that the engine follows the connections of a server whose program is bound lazily. Programs of older lines are: a function that
/// was not called yet is looked up by its first call.
#[test]
fn connections_are_followed_from_the_start_of_a_server_that_is_bound_lazily() {
    let Some(program) = program("8.0") else { return };
    let mut server = start(program, &[]);
    drop(server.restart_with(&["--plugin-load-add=fqc.so", "--fqc-allow-untested-server=ON"]).unwrap());
    for _ in 0..3 {
        let mut client = server.admin().unwrap();
        let told = rows_text(&client.must("SHOW FQC STATUS").unwrap());
        assert!(told.starts_with("Cache,OFF"), "{told}");
    }
}

/// The names of functions that the engine takes for built-in ones, although this server may call a stored function by them.
fn stored(client: &mut Client, flavour: &Flavour) -> Vec<&'static str> {
    const NO_SUCH_FUNCTION: [u16; 2] = [1305, 1630];
    let known = flavour.functions;
    let lists = [known.syntax, known.deterministic, known.deterministic_if_tight, known.deterministic_with_argument];
    let is_stored = |name: &&str| {
        ["", "1", "1, 1", "1, 1, 1"].into_iter().any(|arguments| {
            let answer = client.query(format!("SELECT {name}({arguments})")).unwrap();
            answer.failure().is_some_and(|failure| NO_SUCH_FUNCTION.contains(&failure.code))
        })
    };
    let names = lists.iter().map(Names::as_slice).flat_map(|names| names.iter().copied());
    names.filter(is_stored).collect()
}

#[test]
fn every_function_that_counts_as_deterministic_on_a_line_is_built_into_its_servers() {
    for line in ["5.7", "8.0", "9.7"] {
        let Some(program) = program(line) else { continue };
        let server = start(program, &[]);
        let mut client = server.admin().unwrap();
        all(&mut client, &["CREATE DATABASE d", "USE d"]);
        let version = client.scalar("SELECT VERSION()").unwrap().unwrap();
        assert_eq!(stored(&mut client, flavour::of(&version)), Vec::<&str>::new(), "{version}");
    }
}
