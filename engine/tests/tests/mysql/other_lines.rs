//! Lines of MySQL that the engine was not built for: the server refuses the library, and goes on.
//!
//! `scripts/fetch-server` brings them; `make test-engine-mysql` says loudly which it could not bring.

use crate::shared::options;
use crate::traps::plugin;
use fqc_tests::checkout;
use fqc_tests::server::{Options, Product, Server};

/// `is_told`: each plugin says why. Where the server itself looks no further than the library's interface, none can.
fn refused(line: &str, is_told: bool) {
    let program = checkout::file(&format!("target/servers/MySQL-{line}/sbin/mysqld"));
    if !program.exists() {
        return eprintln!("SKIPPED: NO MYSQL {line} IS HERE");
    }
    let mut server = Server::start(Options { program: Some(program), ..options(&[]) }).unwrap();
    std::fs::copy(plugin::path(), server.plugins().join("fqc.so")).unwrap();
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
