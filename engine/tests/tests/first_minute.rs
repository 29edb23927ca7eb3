//! Hits of a server's first connections, and of the first reads of a table.

#[path = "both/new_tables.rs"]
mod new_tables;
mod traps;

use fqc_tests::client::{Client, Login};
use fqc_tests::server::{Options, Server};
use std::sync::Arc;
use traps::{Arena, PATIENCE, all, plugin, rows_text, small_table, until, with_table};

fn client(server: &Server, database: &str) -> Client {
    let login = Login { database: Some(database.into()), ..Login::default() };
    let mut client = Client::connect(&server.endpoint(), &login).unwrap();
    client.set_timeout(Some(PATIENCE)).unwrap();
    client
}

/// Checks that the first connection after a start is served if the option file loads the plugin and also contains the settings of the
/// server's own cache.
#[test]
fn the_first_connection_is_served_where_an_option_file_asks_for_it() {
    let mut server = Server::start(Options::default()).unwrap();
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE d", "USE d"]);
    small_table(&mut admin, "t", "InnoDB");
    std::fs::copy(plugin::path(), server.plugins().join("fqc.so")).unwrap();
    for _ in 0..5 {
        let options = ["--plugin-load-add=fqc", "--query-cache-type=1", "--query-cache-size=16M"];
        let mut first = server.restart_with(&options).unwrap();
        assert_eq!(rows_text(&first.must("SELECT @@fqc_type, @@GLOBAL.fqc_size").unwrap()), "ON,16777216");
        all(&mut first, &["USE d"]);
        until("a hit of the first connection", || {
            all(&mut first, &["SELECT v FROM t WHERE id = 1"]);
            rows_text(&first.must("SHOW GLOBAL STATUS LIKE 'Fqc_hits'").unwrap()) != "Fqc_hits,0"
        });
    }
}

/// Checks that the result of a table's first read is stored as soon as the engine has looked up the table.
#[test]
fn one_read_of_an_unknown_table_is_enough() {
    let mut server = traps::start(&[]);
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE d", "USE d"]);
    let engines = ["InnoDB", "MyISAM", "Aria", "MEMORY"];
    engines.iter().for_each(|engine| small_table(&mut admin, engine, engine));
    small_table(&mut admin, "other", "InnoDB");
    drop(admin);
    // After a restart the engine knows nothing about the tables, and the MEMORY table is empty.
    server.restart().unwrap();
    let server = Arc::new(server);
    let mut arena = Arena::on(server.clone(), "a");
    // From here on the engine is awake, and waits for no connection opened before the load.
    arena.warm(&mut client(&server, "d"), "SELECT v FROM other");
    for engine in engines {
        let mut fresh = client(&server, "d");
        let read = format!("SELECT v FROM {engine} WHERE id = 1");
        let expected = if engine == "MEMORY" { "" } else { "10" };
        assert_eq!(rows_text(&fresh.query(&read).unwrap()), expected);
        let kept = format!("d,{engine},1,");
        let mut admin = server.admin().unwrap();
        until("the result of the only read", || rows_text(&admin.must("SHOW FQC TABLES").unwrap()).contains(&kept));
        arena.hit(&mut fresh, &read, expected);
        all(&mut fresh, &[&format!("REPLACE INTO {engine} VALUES (1, 11)")]);
        arena.miss(&mut fresh, &read, "11");
    }
}

/// Checks that a write invalidates a result that still waits until the engine has looked up its table.
#[test]
fn a_write_outdates_a_result_that_waits_for_its_table() {
    let mut server = traps::start(&[]);
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE d", "USE d"]);
    let names: Vec<String> = (0..40).map(|number| format!("t{number}")).collect();
    names.iter().for_each(|name| small_table(&mut admin, name, "InnoDB"));
    drop(admin);
    server.restart().unwrap();
    let server = Arc::new(server);
    let (mut reader, mut writer) = (client(&server, "d"), client(&server, "d"));
    for name in &names {
        let read = format!("SELECT v FROM {name} WHERE id = 1");
        assert_eq!(rows_text(&reader.query(&read).unwrap()), "10");
        writer.must(&format!("UPDATE {name} SET v = 11 WHERE id = 1")).unwrap();
        for _ in 0..3 {
            assert_eq!(rows_text(&reader.query(&read).unwrap()), "11");
        }
        writer.must(&format!("ALTER TABLE {name} MODIFY v VARCHAR(9)")).unwrap();
        assert_eq!(rows_text(&reader.query(&read).unwrap()), "11");
    }
}
