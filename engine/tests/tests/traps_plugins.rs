//! While plugins are loaded and unloaded, the server does not report every statement to each of them: a session keeps the plugins that it
//! knew when it last looked. What the engine learns late or never must not make a later answer wrong.

mod traps;

use fqc_tests::client::{Client, Login};
use fqc_tests::replication::point_at;
use fqc_tests::server::{Options, Server};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use traps::{Arena, all, install_listener, rows_text, small_table, start, until};

const READ: &str = "SELECT v FROM d.t WHERE id = 1";

fn server() -> Arc<Server> {
    server_with(&[])
}

/// Starts a server with the plugin, these arguments, and a table of five rows in a database `d`.
fn server_with(arguments: &[&str]) -> Arc<Server> {
    let server = Arc::new(start(arguments));
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

/// Writes a value to the row that [`READ`] shows.
fn set(client: &mut Client, value: u64) {
    client.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).unwrap();
}

/// The plugin's status in the server's list, such as `ACTIVE` or `DELETED`. Empty if it is not listed.
fn status(server: &Server) -> String {
    let status = "SELECT plugin_status FROM information_schema.plugins WHERE plugin_name = 'fqc'";
    server.admin().unwrap().scalar(status).unwrap().unwrap_or_default()
}

fn take_out(server: &Server) {
    server.admin().unwrap().must("UNINSTALL SONAME 'fqc'").unwrap();
}

/// Checks the writes of a session that no longer knows the plugin. The server keeps an unloaded plugin until the last session has released
/// it, and does not report other sessions to it.
#[test]
fn a_write_of_a_session_that_no_longer_knows_the_plugin() {
    let server = server();
    leaves(&server, &mut server.admin().unwrap());
}

/// Uninstalls the plugin through `admin` while a hundred sessions have cached results, and checks that they see every later write.
fn leaves(server: &Arc<Server>, admin: &mut Client) {
    let mut arena = Arena::on(server.clone(), "a");
    // Each of these sessions still reports one more statement to the plugin.
    let mut readers: Vec<_> = (0..100).map(|_| client(server)).collect();
    readers.iter_mut().for_each(|reader| drop(arena.warm(reader, READ)));
    let mut writer = client(server);
    set(&mut writer, 10);
    admin.must("UNINSTALL SONAME 'fqc'").unwrap();
    assert_eq!(status(server), "DELETED");
    let (first, later) = readers.split_at_mut(60);
    for reader in first {
        assert_eq!(rows_text(&reader.query(READ).unwrap()), "10");
        // The pause is as long as the plugin may take to adapt to such a change.
        thread::sleep(Duration::from_millis(10));
    }
    for (value, reader) in (11..).zip(later) {
        set(&mut writer, value);
        assert_eq!(rows_text(&reader.query(READ).unwrap()), value.to_string());
    }
}

/// Statements that name the cache, or would load the plugin again without effect.
const ABOUT_THE_CACHE: [&str; 11] = [
    "INSTALL SONAME 'fqc'",
    "INSTALL SONAME IF NOT EXISTS 'fqc'",
    "INSTALL PLUGIN fqc SONAME 'fqc.so'",
    "SET GLOBAL query_cache_type = 1",
    "set @@session.Query_Cache_Type = 1",
    "SELECT @@GLOBAL.query_cache_size",
    "SET GLOBAL fqc_type = ON",
    "SHOW FQC STATUS",
    "SHOW FQC REASONS",
    "FLUSH QUERY CACHE",
    "RESET QUERY CACHE",
];

/// Checks that a session gets an error for each statement about the cache, which says that the plugin was uninstalled, and none for others.
#[track_caller]
fn refuses_the_cache(client: &mut Client) {
    for statement in ABOUT_THE_CACHE {
        let response = client.query(statement).unwrap();
        let failure = response.failure().unwrap_or_else(|| panic!("`{statement}` was carried out"));
        assert_eq!((failure.code, failure.state.as_str()), (1644, "45000"), "{statement}: {failure:?}");
        assert!(failure.message.starts_with("fqc was uninstalled"), "{statement}: {failure:?}");
    }
    let (response, prepared) = client.prepare("SET GLOBAL query_cache_type = ?").unwrap();
    assert!(response.failure().is_some_and(|failure| failure.code == 1644) && prepared.is_none());
    // Other statements are not refused.
    assert_eq!(rows_text(&client.query("SELECT 'query_cache_type', 1 AS fqc_type").unwrap()), "query_cache_type,1");
    let long = format!("SELECT LENGTH('{}')", "x".repeat(100_000));
    assert_eq!(rows_text(&client.query(long).unwrap()), "100000");
    let own = "SELECT variable_value FROM information_schema.global_variables WHERE variable_name = 'query_cache_type'";
    assert_eq!(rows_text(&client.query(own).unwrap()), "OFF");
}

/// Uninstalls the plugin while a connection holds it, checks what sessions get until it has ended, and installs it again. Such a plugin is
/// listed as DELETED, and the server reports no new connection to it.
fn waits_to_go(server: &Arc<Server>) {
    let mut arena = Arena::on(server.clone(), "c");
    let (mut holder, mut older) = (client(server), client(server));
    [&mut holder, &mut older].into_iter().for_each(|one| drop(arena.warm(one, READ)));
    let mut admin = client(server);
    admin.must("UNINSTALL SONAME 'fqc'").unwrap();
    refuses_the_cache(&mut admin);
    refuses_the_cache(&mut older);
    refuses_the_cache(&mut client(server));
    refuses_the_cache(&mut server.admin().unwrap());
    assert_eq!(status(server), "DELETED");
    until("what stands in the way", || {
        rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_obstacle'").unwrap()).contains("the plugin was uninstalled")
    });
    set(&mut client(server), 20);
    assert_eq!(rows_text(&client(server).query(READ).unwrap()), "20");
    drop((holder, older, arena));
    until("the plugin's end", || status(server).is_empty());
    server.install_plugin().unwrap();
    let mut arena = Arena::on(server.clone(), "e");
    let mut reader = client(server);
    until("no obstacle", || {
        rows_text(&reader.must("SHOW GLOBAL STATUS LIKE 'Fqc_obstacle'").unwrap()) == "Fqc_obstacle,"
    });
    arena.check_write_shows(&mut reader, READ, || set(&mut admin, 21), "21");
}

#[test]
fn a_plugin_that_waits_to_go_refuses_its_names_and_an_install() {
    waits_to_go(&server());
}

/// Checks that a plugin that waits to be unloaded refuses statements about the cache, also if it was asleep. The server reports no
/// statement to a sleeping engine, so the UNINSTALL is not reported either.
#[test]
fn a_plugin_that_waits_to_go_refuses_them_where_it_was_asleep() {
    let server = server();
    all(&mut server.admin().unwrap(), &["SET GLOBAL fqc_type = OFF, GLOBAL fqc_size = 0"]);
    let mut admin = server.admin().unwrap();
    until("the engine's sleep", || {
        rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_awake'").unwrap()) == "Fqc_awake,0"
    });
    let mut holder = client(&server);
    assert_eq!(rows_text(&holder.query(READ).unwrap()), "10");
    take_out(&server);
    refuses_the_cache(&mut client(&server));
    refuses_the_cache(&mut admin);
    assert_eq!(status(&server), "DELETED");
}

#[test]
fn a_plugin_that_waits_to_go_refuses_them_in_a_pool_of_threads() {
    waits_to_go(&server_with(&["--thread-handling=pool-of-threads"]));
}

/// Returns a session that the server will never report to the plugin. Its first statement came while the only audit plugin was being
/// unloaded. Since then the server assumes that this session knows all plugins.
fn deaf(server: &Server) -> Client {
    replace_with_listener(server);
    let mut holder = client(server);
    holder.must("DO 1").unwrap();
    server.admin().unwrap().must("UNINSTALL SONAME 'listener'").unwrap();
    let mut deaf = client(server);
    set(&mut deaf, 10);
    drop(holder);
    let left = "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'listener'";
    until("the other plugin's end", || server.admin().unwrap().scalar(left).unwrap().as_deref() == Some("0"));
    server.install_plugin().unwrap();
    deaf
}

#[test]
fn a_write_of_a_session_that_was_left_deaf() {
    // Whether the server leaves a session deaf depends on the timing of its threads, so the test tries several times.
    let is_told = |_| {
        let server = server();
        let mut writer = deaf(&server);
        check_write_shows(&server, &mut writer);
        server.error_log().contains("runs statements that the server does not report")
    };
    assert!((0..5).any(is_told), "no session was left deaf, or none was noted");
}

#[test]
fn a_write_of_a_session_in_a_pool_that_was_left_deaf() {
    let server = server_with(&["--thread-handling=pool-of-threads"]);
    let mut writer = deaf(&server);
    check_write_shows(&server, &mut writer);
}

#[test]
fn the_end_of_the_plugin_by_a_session_that_was_left_deaf() {
    let server = server();
    let mut admin = deaf(&server);
    leaves(&server, &mut admin);
}

/// Checks that a cached read shows each write of this session, which the server may not report, and that a read of the session invalidates
/// nothing.
fn check_write_shows(server: &Arc<Server>, writer: &mut Client) {
    let mut arena = Arena::on(server.clone(), "b");
    let mut reader = client(server);
    arena.warm(&mut reader, READ);
    for value in 12..20 {
        arena.check_write_shows(&mut reader, READ, || set(writer, value), &value.to_string());
    }
    // A read of a deaf session invalidates nothing.
    assert_eq!(rows_text(&writer.query(READ).unwrap()), "19");
    arena.hit(&mut reader, READ, "19");
}

/// Uninstalls the plugin, waits for its end, and installs another audit plugin.
fn replace_with_listener(server: &Server) {
    take_out(server);
    until("the plugin's end", || status(server).is_empty());
    install_listener(server);
}

/// Checks the writes of a session that knew another plugin before this one was loaded. Such a session looks for a new plugin at the end of
/// its next command, not before.
#[test]
fn a_write_of_a_session_that_knows_another_plugin() {
    let server = server();
    replace_with_listener(&server);
    let mut writer = client(&server);
    set(&mut writer, 11);
    server.install_plugin().unwrap();
    check_write_shows(&server, &mut writer);
}

/// Starts a server with the plugin that is configured to replicate from `source`. The test starts the replication.
fn replica(source: &Server) -> Arc<Server> {
    let replica = Arc::new(start(&["--server-id=2"]));
    point_at(&replica, source, "").unwrap();
    replica
}

/// Starts a server without the plugin that others can replicate from, with a table of five rows in a database `d`.
fn source() -> Server {
    let arguments = ["--log-bin=log", "--server-id=1"].map(String::from).to_vec();
    let source = Server::start(Options { arguments, ..Options::default() }).unwrap();
    let mut admin = source.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE d", "USE d"]);
    small_table(&mut admin, "t", "InnoDB");
    source
}

/// Writes on the source, and checks on the replica: once a replicated change was visible to a session, every later read shows it, served or
/// not.
fn follows_source(source: &Server, replica: &Arc<Server>) {
    let (mut admin, mut plain, mut reader) = (client(source), client(replica), client(replica));
    plain.must("SET SESSION fqc_type = OFF").unwrap();
    for value in 11..40 {
        set(&mut admin, value);
        let value = value.to_string();
        until("a replicated change", || {
            reader.query(READ).unwrap();
            plain.query(READ).is_ok_and(|row| rows_text(&row) == value)
        });
        assert_eq!(rows_text(&reader.query(READ).unwrap()), value);
    }
}

#[test]
fn what_a_replica_applies() {
    let source = source();
    let replica = replica(&source);
    all(&mut replica.admin().unwrap(), &["START SLAVE"]);
    until("the table", || client(&replica).query(READ).is_ok_and(|row| row.failure().is_none()));
    follows_source(&source, &replica);
}

/// Checks an applier that knew another plugin before this one was loaded. It never looks for new plugins.
#[test]
fn what_a_replica_applies_that_knows_another_plugin() {
    let source = source();
    let replica = replica(&source);
    replace_with_listener(&replica);
    all(&mut replica.admin().unwrap(), &["START SLAVE"]);
    until("the table", || client(&replica).query(READ).is_ok_and(|row| row.failure().is_none()));
    set(&mut client(&source), 10);
    replica.install_plugin().unwrap();
    follows_source(&source, &replica);
    // An applier that starts after the plugin was loaded is observed.
    all(&mut replica.admin().unwrap(), &["STOP SLAVE", "START SLAVE"]);
    follows_source(&source, &replica);
}
