//! The events that the server reports to plugins, and what the engine does where the server reports nothing.

use crate::shared::{enter, hits, options, ready, start, stock};
use crate::traps::{Arena, all, plugin, rows_text, small_table, until};
use fqc_tests::client::{Client, Login, command};
use fqc_tests::server::{Options, Product, Server};
use std::sync::Arc;

const SUM: &str = "SELECT COUNT(*), SUM(v) FROM t";

fn obstacle(server: &Server) -> String {
    rows_text(&server.admin().unwrap().must("SHOW GLOBAL STATUS LIKE 'Fqc_obstacle'").unwrap())
}

fn serves_nothing(server: &Server) {
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    let mut reader = server.admin().unwrap();
    (0..50).for_each(|_| assert_eq!(rows_text(&reader.must("SELECT * FROM d.t").unwrap()), ""));
    assert_eq!(hits(&mut admin), 0);
}

/// Checks that nothing is served if the self-test receives no report from one of the engine's hooks in the server. Another build of the
/// server may bypass a table of functions, and only the self-test can detect that.
#[test]
fn a_seam_that_tells_nothing_keeps_everything_from_being_served() {
    for seam in ["Lock", "Statement", "Commit", "Definition", "SecondPhase"] {
        let environment = vec![("FQC_FAULT".to_owned(), format!("silent:{seam}"))];
        let options = Options { plugin: Some(plugin::path()), environment, ..options(&[]) };
        let server = Server::start(options).unwrap();
        let line = format!("the self-test failed: a write was not told at the seam {seam} by: ");
        until(&line, || server.error_log().contains(&line));
        until("what stands in the way", || {
            obstacle(&server).contains("the self-test of this server has not passed yet")
        });
        serves_nothing(&server);
        let left = "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'fqc%'";
        until("the end of its tables", || server.admin().unwrap().scalar(left).unwrap().as_deref() == Some("0"));
    }
}

/// Checks that nothing is served if a storage engine's locks are not reported. A fault suppresses those of MEMORY.
#[test]
fn an_engine_whose_locks_are_not_told_keeps_everything_from_being_served() {
    let environment = vec![("FQC_FAULT".to_owned(), "silent:memory".to_owned())];
    let options = Options { plugin: Some(plugin::path()), environment, ..options(&[]) };
    let server = Server::start(options).unwrap();
    let line = "the self-test failed: a write was not told at the seam Lock by: INSERT INTO fqc_self_test_";
    until(line, || server.error_log().contains(line));
    serves_nothing(&server);
}

#[test]
fn a_server_that_may_not_be_written_to_is_served_once_it_may() {
    let mut server = Server::start(options(&[])).unwrap();
    std::fs::copy(plugin::path(), server.plugins().join("fqc.so")).unwrap();
    let arguments = ["--plugin-load-add=fqc.so", "--super-read-only=ON", "--log-error-verbosity=3"];
    let mut admin = server.restart_with(&arguments).unwrap();
    until("the failure", || server.error_log().contains("the self-test failed"));
    until("what stands in the way", || obstacle(&server).contains("the self-test"));
    all(&mut admin, &["SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF"]);
    until("nothing in the way", || obstacle(&server) == "Fqc_obstacle,");
}

/// Checks that commits of events invalidate results. The scheduler's threads have no connection whose responses would show a commit, so it
/// must be reported by whatever coordinates transactions, with a binary log or without.
#[test]
fn a_commit_without_a_connection_is_told_with_and_without_a_binary_log() {
    for arguments in [&["--event-scheduler=ON"][..], &["--event-scheduler=ON", "--server-id=1", "--log-bin=binlog"]] {
        let mut arena = Arena::on(Arc::new(ready(start(arguments))), "coordinated");
        let (mut writer, mut reader) = (arena.client(), arena.client());
        small_table(&mut writer, "t", "InnoDB");
        let body = "BEGIN START TRANSACTION; UPDATE t SET v = v + 1 WHERE id = 1; SELECT SLEEP(0.2) INTO @a; ";
        for (end, expected) in [("COMMIT", "5,151"), ("ROLLBACK", "5,151")] {
            arena.warm(&mut reader, SUM);
            writer.must(&format!("CREATE EVENT e ON SCHEDULE AT NOW() DO {body} {end}; END")).unwrap();
            let left = "SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'coordinated'";
            until("the event", || {
                let truth = arena.server_answer(SUM);
                let served = rows_text(&reader.must(SUM).unwrap());
                assert!(served == truth || truth != expected, "{served} is served, {truth} was seen");
                truth == expected && arena.server_answer(left) == "0"
            });
            assert_eq!(arena.warm(&mut reader, SUM), expected, "{arguments:?}, {end}");
        }
    }
}

/// Checks the end of an XA transaction that was prepared before a restart. The server finds it in its logs, and no session since the
/// restart has written it.
#[test]
fn an_xa_transaction_from_before_a_restart() {
    let mut server = ready(start(&[]));
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE recovered", "USE recovered"]);
    small_table(&mut admin, "t", "InnoDB");
    for (xid, id) in [("x", 1), ("y", 2)] {
        let of = |verb: &str| format!("XA {verb} '{xid}'");
        let mut owner = server.admin().unwrap();
        let update = format!("UPDATE recovered.t SET v = v + 1 WHERE id = {id}");
        all(&mut owner, &[&of("START"), &update, &of("END"), &of("PREPARE")]);
    }
    server.restart().unwrap();
    let mut arena = Arena::on(Arc::new(server), "own");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    let read = "SELECT COUNT(*), SUM(v) FROM recovered.t";
    for (end, expected) in [("XA COMMIT 'x'", "5,151"), ("XA ROLLBACK 'y'", "5,151")] {
        arena.warm(&mut reader, read);
        until(end, || writer.query(end).unwrap().failure().is_none());
        assert_eq!(rows_text(&reader.must(read).unwrap()), expected, "{end}");
        assert_eq!(arena.server_answer(read), expected);
    }
    arena.warm(&mut reader, read);
}

#[test]
fn views_triggers_and_routines_that_are_defined_anew() {
    let mut arena = enter("anew");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    ["t", "u"].into_iter().for_each(|table| small_table(&mut writer, table, "InnoDB"));
    all(
        &mut writer,
        &[
            "CREATE VIEW inner_view AS SELECT id, v FROM t",
            "CREATE VIEW outer_view AS SELECT id, v FROM inner_view",
            "CREATE PROCEDURE p() DO 1",
            "CREATE FUNCTION f(n INT) RETURNS INT DETERMINISTIC NO SQL RETURN n",
        ],
    );
    let through = "SELECT COUNT(*), SUM(v) FROM outer_view";
    for (change, expected) in [
        ("CREATE OR REPLACE VIEW inner_view AS SELECT id, v FROM u WHERE id < 3", "2,30"),
        ("ALTER VIEW inner_view AS SELECT id, v + 1 AS v FROM t", "5,155"),
        ("ALTER VIEW outer_view AS SELECT id, v FROM u WHERE id = 1", "1,10"),
    ] {
        arena.warm(&mut reader, through);
        writer.must(change).unwrap();
        assert_eq!(rows_text(&reader.must(through).unwrap()), expected, "{change}");
    }
    // From now on a write to one table also writes to the other, until the trigger is dropped.
    let fire = "UPDATE u SET v = v WHERE id = 1";
    for (change, expected) in [
        ("CREATE TRIGGER fires BEFORE UPDATE ON u FOR EACH ROW UPDATE t SET v = v + 1 WHERE id = 1", "5,151"),
        ("DROP TRIGGER fires", "5,151"),
        ("CREATE TRIGGER calls BEFORE UPDATE ON u FOR EACH ROW CALL p()", "5,151"),
        ("DROP PROCEDURE p", "5,151"),
        ("CREATE PROCEDURE p() UPDATE t SET v = v + 1 WHERE id = 1", "5,152"),
    ] {
        arena.warm(&mut reader, SUM);
        writer.must(change).unwrap();
        writer.query(fire).unwrap();
        assert_eq!(rows_text(&reader.must(SUM).unwrap()), expected, "{change}");
        assert_eq!(arena.server_answer(SUM), expected, "{change}");
    }
    let called = "SELECT SUM(f(v)) FROM t";
    for (body, expected) in [("n", "152"), ("n + 1", "157"), ("2 * n", "304")] {
        all(&mut writer, &["DROP FUNCTION f"]);
        all(&mut writer, &[&format!("CREATE FUNCTION f(n INT) RETURNS INT DETERMINISTIC NO SQL RETURN {body}")]);
        (0..5).for_each(|_| assert_eq!(rows_text(&reader.must(called).unwrap()), expected, "{body}"));
    }
}

#[test]
fn a_temporary_table_stands_before_one_that_is_served() {
    let mut arena = enter("hides");
    small_table(&mut arena.client(), "t", "InnoDB");
    let mut other = arena.client();
    for end in ["DROP TEMPORARY TABLE t", "ALTER TABLE t RENAME hidden", "a reset"] {
        let mut reader = arena.client();
        arena.warm(&mut reader, SUM);
        arena.warm(&mut other, SUM);
        all(&mut reader, &["CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v INT)"]);
        (0..3).for_each(|_| assert_eq!(rows_text(&reader.must(SUM).unwrap()), "0,NULL"));
        reader.must("INSERT INTO t VALUES (1, 7)").unwrap();
        (0..3).for_each(|_| assert_eq!(rows_text(&reader.must(SUM).unwrap()), "1,7"));
        // No other session has the temporary table.
        arena.hit(&mut other, SUM, "5,150");
        match end {
            "a reset" => drop(reader.reset_connection().unwrap()),
            _ => drop(reader.must(end).unwrap()),
        }
        (0..3).for_each(|_| assert_eq!(rows_text(&reader.must(SUM).unwrap()), "5,150", "{end}"));
    }
}

/// Checks that two accounts with the same user name but different hosts are kept apart. A client that connects through the socket gets one
/// of them, and a client that connects by TCP the other.
#[test]
fn the_host_is_a_part_of_the_account() {
    let mut arena = enter("hosts");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    all(
        &mut admin,
        &[
            "CREATE USER helen@localhost IDENTIFIED BY ''",
            "CREATE USER helen@'127.0.0.1' IDENTIFIED BY ''",
            "GRANT SELECT ON hosts.t TO helen@localhost",
        ],
    );
    let login = Login { database: None, ..Login::user("helen", "") };
    let read = "SELECT COUNT(*) FROM hosts.t";
    let server = arena.server.clone();
    let by_socket = || Client::connect(&server.unix_endpoint(), &login).unwrap();
    let by_tcp = || Client::connect(&server.endpoint(), &login).unwrap();
    let (mut may, mut may_not) = (by_socket(), by_tcp());
    let mut later = [by_socket(), by_tcp()];
    arena.warm(&mut may, read);
    (0..3).for_each(|_| assert_eq!(rows_text(&may_not.query(read).unwrap()), "error 1142"));
    assert_eq!(rows_text(&later[0].query(read).unwrap()), "5");
    assert_eq!(rows_text(&later[1].query(read).unwrap()), "error 1142");
    all(&mut admin, &["DROP USER helen@localhost, helen@'127.0.0.1'"]);
}

/// Checks privileges that are written as rows of the privilege tables. They take effect with FLUSH PRIVILEGES.
#[test]
fn privileges_that_are_written_as_rows() {
    let mut arena = enter("as_rows");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    all(&mut admin, &["CREATE USER rolf@'%' IDENTIFIED BY ''", "GRANT SELECT ON as_rows.* TO rolf@'%'"]);
    let login = Login { database: None, ..Login::user("rolf", "") };
    let read = "SELECT COUNT(*) FROM as_rows.t";
    let mut before = arena.client_as(&login);
    arena.warm(&mut before, read);
    all(&mut admin, &["DELETE FROM mysql.db WHERE User = 'rolf'", "FLUSH PRIVILEGES"]);
    let mut after = arena.client_as(&login);
    assert_eq!(rows_text(&after.query(read).unwrap()), "error 1142");
    let mut plain = arena.client_as(&login);
    plain.must("SET SESSION fqc_type = OFF").unwrap();
    assert_eq!(rows_text(&plain.query(read).unwrap()), "error 1142");
    all(&mut admin, &["DROP USER rolf@'%'"]);
}

/// Checks clients that request rows without column definitions. The byte that says so precedes the number of columns.
#[test]
fn results_without_their_columns() {
    const OPTIONAL_METADATA: u64 = 1 << 25;
    let mut arena = enter("bare_rows");
    let mut writer = arena.client();
    small_table(&mut writer, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 2";
    arena.warm(&mut writer, read);
    let login = arena.login();
    let login = Login { capabilities: login.capabilities | OPTIONAL_METADATA, ..login };
    let mut clients = [arena.client_as(&login), arena.client_as(&login)];
    clients[1].must("SET SESSION fqc_type = OFF").unwrap();
    let whole = |client: &mut Client| {
        client.send(command::QUERY, read.as_bytes()).unwrap();
        let mut payloads = Vec::new();
        while payloads.last().is_none_or(|last: &Vec<u8>| last[0] != 0xfe) {
            payloads.push(client.read_payload().unwrap());
        }
        payloads
    };
    for (columns, packets) in [("FULL", 4), ("NONE", 3), ("FULL", 4), ("NONE", 3)] {
        for round in 0..4 {
            writer.must(&format!("UPDATE t SET v = {} WHERE id = 2", 20 + round % 2)).unwrap();
            for _ in 0..3 {
                let [served, truth] = clients.each_mut().map(|client| {
                    client.must(&format!("SET SESSION resultset_metadata = {columns}")).unwrap();
                    whole(client)
                });
                assert_eq!(served, truth, "{columns}");
                assert_eq!(served.len(), packets, "{columns}");
            }
        }
    }
}

/// Checks that the engine passes the bytes of a compressed connection on unchanged, and still observes its writes.
#[test]
fn connections_that_compress() {
    let mut arena = enter("compressed");
    let mut reader = arena.client();
    small_table(&mut reader, "t", "InnoDB");
    if Product::MySql.client().is_none() {
        return assert!(std::env::var_os("FQC_MYSQLD").is_some());
    }
    for (round, algorithm) in ["zlib", "zstd"].into_iter().enumerate() {
        let server = arena.server.clone();
        let ask =
            |statements: &str| stock(&server, &format!("DISABLED --compression-algorithms={algorithm}"), statements);
        let expected = format!("{}\n", 150 + round);
        let read = "SELECT SUM(v) FROM compressed.t";
        let (answer, hits) = arena.counted(|| ask(&[read; 4].join("; ")));
        assert_eq!((answer, hits), (expected.repeat(4), 0), "{algorithm}");
        let write = || _ = ask("UPDATE compressed.t SET v = v + 1 WHERE id = 1");
        arena.warm(&mut reader, read);
        write();
        assert_eq!(rows_text(&reader.must(read).unwrap()), (151 + round).to_string(), "{algorithm}");
    }
}
