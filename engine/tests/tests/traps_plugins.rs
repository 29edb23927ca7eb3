//! While plugins come and go the server does not report every statement to each of them: a session keeps the plugins that
//! it knew, and what it learns late or never must not make a later answer wrong.

mod traps;

use fqc_tests::client::{Client, Login};
use fqc_tests::server::Server;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use traps::{Arena, all, said, small_table, start, until};

const READ: &str = "SELECT v FROM d.t WHERE id = 1";

fn server() -> Arc<Server> {
    let server = Arc::new(start(&[]));
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE d", "USE d"]);
    small_table(&mut admin, "t", "InnoDB");
    server
}

fn client(server: &Server) -> Client {
    let mut client = Client::connect(&server.endpoint(), &Login::default()).unwrap();
    client.set_timeout(Some(traps::PATIENCE)).unwrap();
    client
}

fn set(client: &mut Client, value: u64) {
    client.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).unwrap();
}

fn status(server: &Server) -> String {
    let status = "SELECT plugin_status FROM information_schema.plugins WHERE plugin_name = 'fqc'";
    server.admin().unwrap().scalar(status).unwrap().unwrap_or_default()
}

fn take_out(server: &Server) {
    server.admin().unwrap().must("UNINSTALL SONAME 'fqc'").unwrap();
}

/// The server keeps a plugin that is taken out until the last session has let it go, and reports nothing to it of others.
#[test]
fn a_write_of_a_session_that_no_longer_knows_the_plugin() {
    let server = server();
    let mut arena = Arena::on(server.clone(), "a");
    // Each of them knows the plugin for one more statement.
    let mut readers: Vec<_> = (0..100).map(|_| client(&server)).collect();
    readers.iter_mut().for_each(|reader| drop(arena.warm(reader, READ)));
    let mut writer = client(&server);
    set(&mut writer, 10);
    take_out(&server);
    assert_eq!(status(&server), "DELETED");
    let (first, later) = readers.split_at_mut(60);
    for reader in first {
        assert_eq!(said(&reader.query(READ).unwrap()), "10");
        // As long as the plugin may take to find its way after such a change.
        thread::sleep(Duration::from_millis(10));
    }
    for (value, reader) in (11..).zip(later) {
        set(&mut writer, value);
        assert_eq!(said(&reader.query(READ).unwrap()), value.to_string());
    }
}

/// A statement between a plugin's end and its return leaves a session deaf: the server believes that it knows all plugins.
#[test]
fn a_write_of_a_session_that_was_left_deaf() {
    let server = server();
    let mut arena = Arena::on(server.clone(), "a");
    let mut holder = client(&server);
    arena.warm(&mut holder, READ);
    take_out(&server);
    let mut writer = client(&server);
    set(&mut writer, 11);
    drop((holder, arena));
    until("the plugin's end", || status(&server).is_empty());
    server.install_plugin().unwrap();
    let mut arena = Arena::on(server.clone(), "b");
    let mut reader = client(&server);
    arena.warm(&mut reader, READ);
    for value in 12..20 {
        arena.follows(&mut reader, READ, || set(&mut writer, value), &value.to_string());
    }
}
