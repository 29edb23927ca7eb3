//! Isolation levels, snapshots and what ends a transaction, on MariaDB.

mod traps;

#[path = "both/transactions.rs"]
mod both;

use both::{READ, sees, set_v};
use fqc_tests::client::{Client, Login};
use fqc_tests::server::{Options, Server};
use std::sync::Arc;
use traps::{Arena, all, options, plugin, rows_text, small_table, start, with_table};

/// Checks that the server refuses a savepoint in a transaction that has read an Aria table: it must know of the read. The differential
/// tester has found this defect.
#[test]
fn a_transaction_that_read_an_aria_table_has_no_savepoints() {
    let mut arena = Arena::enter("t_aria");
    let mut reader = arena.client();
    small_table(&mut reader, "t", "Aria");
    for isolation in ["READ-COMMITTED", "REPEATABLE-READ"] {
        all(&mut reader, &[&format!("SET tx_isolation = '{isolation}'")]);
        for begin in ["BEGIN", "SET autocommit = 0"] {
            arena.warm(&mut reader, READ);
            reader.must(begin).unwrap();
            arena.miss(&mut reader, READ, "10");
            assert_eq!(rows_text(&reader.query("SAVEPOINT s").unwrap()), "error 1178", "{isolation}, {begin}");
            all(&mut reader, &["COMMIT", "SET autocommit = 1"]);
            arena.hit(&mut reader, READ, "10");
        }
    }
}

#[test]
fn read_committed_sees_what_is_committed() {
    let (mut arena, mut writer, mut reader) = with_table("t_committed");
    for how in ["SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET SESSION tx_isolation = 'READ-COMMITTED'"]
    {
        let mut reader = arena.client_with(&[how, "BEGIN"]);
        let old: i32 = arena.server_answer(READ).parse().unwrap();
        assert_eq!(arena.warm(&mut reader, READ), old.to_string());
        all(&mut writer, &["BEGIN", &format!("UPDATE t SET v = {} WHERE id = 1", old + 1)]);
        sees(&mut reader, READ, &old.to_string());
        writer.must("COMMIT").unwrap();
        arena.miss(&mut reader, READ, &(old + 1).to_string());
        assert_eq!(arena.warm(&mut reader, READ), (old + 1).to_string());
        reader.must("COMMIT").unwrap();
    }
    reader.must("SET TRANSACTION ISOLATION LEVEL READ COMMITTED").unwrap();
    reader.must("BEGIN").unwrap();
    sees(&mut reader, READ, "12");
    set_v(&mut writer, 13);
    sees(&mut reader, READ, "13");
    all(&mut reader, &["COMMIT", "BEGIN"]);
    sees(&mut reader, READ, "13");
    set_v(&mut writer, 14);
    sees(&mut reader, READ, "13");
    reader.must("COMMIT").unwrap();
}

#[test]
fn serializable_and_read_uncommitted_are_never_served() {
    let (mut arena, mut writer, mut reader) = with_table("t_never");
    arena.warm(&mut reader, READ);
    all(&mut reader, &["SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN"]);
    (0..3).for_each(|_| arena.miss(&mut reader, READ, "10"));
    // Its reads lock: a writer must wait.
    writer.must("SET innodb_lock_wait_timeout = 0").unwrap();
    assert_eq!(rows_text(&writer.query("UPDATE t SET v = 11 WHERE id = 1").unwrap()), "error 1205");
    all(&mut reader, &["COMMIT", "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"]);
    all(&mut writer, &["BEGIN", "UPDATE t SET v = 12 WHERE id = 1"]);
    (0..3).for_each(|_| arena.miss(&mut reader, READ, "12"));
    writer.must("ROLLBACK").unwrap();
    (0..3).for_each(|_| arena.miss(&mut reader, READ, "10"));
    let mut other = arena.client();
    assert_eq!(arena.warm(&mut other, READ), "10");
}

#[test]
fn implicit_commits() {
    let (mut arena, mut writer, mut reader) = with_table("t_implicit");
    all(&mut writer, &["CREATE TABLE x (a INT)", "CREATE PROCEDURE ends() COMMIT"]);
    let implicit = [
        "BEGIN",
        "START TRANSACTION",
        "CREATE TABLE y (a INT)",
        "ALTER TABLE x ADD COLUMN b INT",
        "DROP TABLE y",
        "TRUNCATE x",
        "SET autocommit = 1",
        "LOCK TABLES x READ",
        "CREATE INDEX i ON x (a)",
        "ANALYZE TABLE x",
        "FLUSH TABLES",
        "CALL ends()",
        "EXECUTE IMMEDIATE 'COMMIT'",
        "CREATE USER IF NOT EXISTS gil",
        "GRANT SELECT ON *.* TO gil",
        "COMMIT; DO 1",
        "DROP USER gil",
        "XA COMMIT 'none'",
    ];
    let mut value = 10;
    for statement in implicit {
        let autocommit = if statement.starts_with("SET") { "SET autocommit = 0" } else { "BEGIN" };
        value += 1;
        arena.warm(&mut reader, READ);
        all(&mut writer, &[autocommit, &format!("UPDATE t SET v = {value} WHERE id = 1")]);
        sees(&mut reader, READ, &(value - 1).to_string());
        writer.query(statement).unwrap();
        let truth = arena.server_answer(READ);
        sees(&mut reader, READ, &truth);
        all(&mut writer, &["COMMIT", "UNLOCK TABLES", "SET autocommit = 1"]);
        sees(&mut reader, READ, &value.to_string());
    }
    assert_eq!(arena.warm(&mut reader, READ), value.to_string());
}

#[test]
fn a_begin_that_waits_is_not_lost() {
    let (mut arena, mut writer, mut reader) = with_table("t_waits");
    arena.warm(&mut reader, READ);
    all(&mut writer, &["BEGIN"]);
    set_v(&mut writer, 11);
    writer.must("ROLLBACK").unwrap();
    sees(&mut reader, READ, "10");
    for begin in ["BEGIN", "/* x */ START TRANSACTION", "begin work"] {
        writer.must(begin).unwrap();
        sees(&mut writer, "SELECT @@in_transaction", "1");
        set_v(&mut writer, 11);
        writer.must("ROLLBACK").unwrap();
        sees(&mut writer, "SELECT @@in_transaction", "0");
        sees(&mut reader, READ, "10");
    }
    all(&mut writer, &["BEGIN", "BEGIN"]);
    set_v(&mut writer, 12);
    all(&mut writer, &["BEGIN", "ROLLBACK"]);
    sees(&mut reader, READ, "12");
    // A prepared statement may be the first.
    let update = writer.prepare("UPDATE t SET v = 13 WHERE id = 1").unwrap().1.unwrap();
    writer.must("BEGIN").unwrap();
    writer.execute(&update, &[]).unwrap();
    writer.must("ROLLBACK").unwrap();
    sees(&mut reader, READ, "12");
    // And so may the end of the connection.
    writer.must("BEGIN").unwrap();
    drop(writer);
    assert_eq!(arena.warm(&mut reader, READ), "12");
}

#[test]
fn a_write_to_the_rows_of_a_snapshot() {
    let (mut arena, mut writer, mut reader) = with_table("t_mixed");
    reader.must("SET innodb_snapshot_isolation = OFF").unwrap();
    arena.warm(&mut reader, READ);
    reader.must("BEGIN").unwrap();
    arena.hit(&mut reader, READ, "10");
    set_v(&mut writer, 20);
    reader.must("UPDATE t SET v = v + 1 WHERE id = 1").unwrap();
    (0..3).for_each(|_| sees(&mut reader, READ, "21"));
    (0..3).for_each(|_| sees(&mut writer, READ, "20"));
    reader.must("COMMIT").unwrap();
    sees(&mut writer, READ, "21");
    assert_eq!(arena.warm(&mut writer, READ), "21");
}

/// Checks writes with `innodb_snapshot_isolation`, the server's default from 11.6 on. The server refuses the write, and decides whether the
/// transaction goes on.
#[test]
fn a_write_to_the_rows_of_an_isolated_snapshot() {
    let (mut arena, mut writer, mut reader) = with_table("t_isolated");
    let mut plain = arena.client();
    plain.must("SET query_cache_type = OFF").unwrap();
    for client in [&mut reader, &mut plain] {
        client.must("SET innodb_snapshot_isolation = ON").unwrap();
    }
    arena.warm(&mut reader, READ);
    let mut v = 10;
    for end in ["COMMIT", "ROLLBACK", "UPDATE t SET v = v + 1 WHERE id = 1"] {
        all(&mut reader, &["BEGIN", READ]);
        all(&mut plain, &["BEGIN", READ]);
        v += 10;
        set_v(&mut writer, v);
        for client in [&mut reader, &mut plain] {
            assert_eq!(rows_text(&client.query("UPDATE t SET v = v + 1 WHERE id = 1").unwrap()), "error 1020");
        }
        let truth = rows_text(&plain.query(READ).unwrap());
        (0..3).for_each(|_| sees(&mut reader, READ, &truth));
        sees(&mut writer, READ, &v.to_string());
        let ended = rows_text(&plain.query(end).unwrap());
        plain.must("ROLLBACK").unwrap();
        assert_eq!(rows_text(&reader.query(end).unwrap()), ended, "`{end}`");
        reader.must("ROLLBACK").unwrap();
        let truth = rows_text(&plain.query(READ).unwrap());
        (0..3).for_each(|_| sees(&mut reader, READ, &truth));
    }
}

#[test]
fn tables_without_transactions_inside_transactions() {
    let (mut arena, mut writer, mut reader) = with_table("t_engines");
    small_table(&mut writer, "m", "MyISAM");
    let read = "SELECT v FROM m WHERE id = 1";
    arena.warm(&mut reader, read);
    all(&mut reader, &["BEGIN", READ]);
    sees(&mut reader, read, "10");
    writer.must("UPDATE m SET v = 11 WHERE id = 1").unwrap();
    sees(&mut reader, read, "11");
    writer.must("UPDATE m SET v = 12 WHERE id = 1").unwrap();
    (0..3).for_each(|_| sees(&mut reader, read, "12"));
    reader.must("COMMIT").unwrap();
    assert_eq!(arena.warm(&mut reader, read), "12");
}

/// Checks that the engine knows the state of the transaction after a failed statement. The error does not show whether the statement began
/// or ended a transaction before it failed.
#[test]
fn what_a_failed_statement_did_to_the_transaction_is_known() {
    let (mut arena, mut writer, mut reader) = with_table("t_failed");
    small_table(&mut writer, "u", "InnoDB");
    writer.must("CREATE PROCEDURE begins() BEGIN START TRANSACTION; INSERT INTO u VALUES (1, 1); END").unwrap();
    writer.must("CREATE PROCEDURE ends() BEGIN COMMIT; INSERT INTO u VALUES (1, 1); END").unwrap();
    reader.must("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").unwrap();
    let flags = |client: &mut Client| format!("{:?}", client.query(READ).unwrap().parts.last());
    for (procedure, expected) in [("begins", "status: 3"), ("ends", "status: 2")].repeat(3) {
        arena.warm(&mut reader, READ);
        assert!(reader.query(format!("CALL {procedure}()")).unwrap().failure().is_some());
        let told = flags(&mut reader);
        assert!(told.contains(expected), "after {procedure}: {told}");
    }
    // The server reports the end of an execution before it answers the client.
    for (procedure, expected) in [("begins", "status: 3"), ("ends", "status: 2")].repeat(3) {
        arena.warm(&mut reader, READ);
        let call = reader.prepare(&format!("CALL {procedure}()")).unwrap().1.unwrap();
        assert!(reader.execute(&call, &[]).unwrap().failure().is_some());
        let told = flags(&mut reader);
        assert!(told.contains(expected), "after {procedure}, prepared: {told}");
    }
}

#[test]
fn with_autocommit_off_the_first_read_of_a_transaction_is_served() {
    let (mut arena, mut writer, mut reader) = with_table("x_first");
    for isolation in ["REPEATABLE READ", "READ COMMITTED"] {
        let level = format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}");
        let mut session = arena.client_with(&[&level, "SET autocommit = 0"]);
        for end in ["COMMIT", "ROLLBACK"] {
            let old = arena.warm(&mut reader, READ);
            sees(&mut session, "SELECT @@in_transaction", "0");
            arena.hit(&mut session, READ, &old);
            sees(&mut session, "SELECT @@in_transaction", "1");
            let new = (old.parse::<i32>().unwrap() + 1).to_string();
            set_v(&mut writer, new.parse().unwrap());
            let seen = if isolation == "READ COMMITTED" { &new } else { &old };
            (0..3).for_each(|_| sees(&mut session, READ, seen));
            sees(&mut session, "SELECT v FROM t WHERE id = 1 -- of the server", seen);
            session.must(end).unwrap();
            sees(&mut session, READ, &new);
            session.must(end).unwrap();
        }
    }
}

/// Checks that a read opens a transaction in this session, which has autocommit off from its first statement on: a later write is not
/// visible to it.
fn has_a_snapshot(arena: &mut Arena, writer: &mut Client, mut session: Client, value: i32) {
    let read = "SELECT v FROM t WHERE id = 1";
    let old = arena.warm(writer, read);
    let first = session.query(read).unwrap();
    assert_eq!((rows_text(&first), first.status().unwrap() & 3), (old.clone(), 1));
    set_v(writer, value);
    sees(&mut session, read, &old);
    all(&mut session, &["COMMIT"]);
    sees(&mut session, read, &value.to_string());
}

#[test]
fn autocommit_off_from_the_beginning() {
    let server = Arc::new(start(&[]));
    let mut arena = Arena::on(server.clone(), "x_begin");
    small_table(&mut arena.client(), "t", "InnoDB");
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE USER u IDENTIFIED BY 'pw'", "GRANT ALL ON x_begin.* TO u"]);
    let login = Login { database: Some("x_begin".into()), ..Login::user("u", "pw") };
    admin.must("SET GLOBAL autocommit = OFF").unwrap();
    let mut writer = arena.client_as(&login);
    writer.must("SET autocommit = 1").unwrap();
    let session = arena.client_as(&login);
    has_a_snapshot(&mut arena, &mut writer, session, 101);
    let mut session = arena.client_as(&login);
    session.reset_connection().unwrap();
    has_a_snapshot(&mut arena, &mut writer, session, 102);
    let mut session = arena.client_as(&login);
    session.change_user(&login).unwrap();
    has_a_snapshot(&mut arena, &mut writer, session, 103);
    all(&mut admin, &["SET GLOBAL autocommit = ON", "SET GLOBAL init_connect = 'SET autocommit = 0'"]);
    let mut writer = arena.client_as(&login);
    writer.must("SET autocommit = 1").unwrap();
    let session = arena.client_as(&login);
    has_a_snapshot(&mut arena, &mut writer, session, 104);
}

#[test]
fn what_is_set_for_one_transaction_waits_for_tables_that_know_transactions() {
    let (mut arena, mut writer, mut reader) = with_table("x_once");
    small_table(&mut writer, "m", "MyISAM");
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut reader, read);
    all(&mut reader, &["SET TRANSACTION READ ONLY", "SELECT v FROM m WHERE id = 1", read]);
    all(&mut reader, &["UPDATE m SET v = 0 WHERE id = 5"]);
    let mut other = arena.client_with(&["SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"]);
    all(&mut other, &["UPDATE m SET v = 1 WHERE id = 5", read]);
    all(&mut writer, &["BEGIN", "UPDATE t SET v = 99 WHERE id = 2"]);
    all(&mut other, &["BEGIN"]);
    sees(&mut other, "SELECT v FROM t WHERE id = 2", "20");
    all(&mut writer, &["ROLLBACK"]);
}

#[test]
fn nothing_is_read_from_an_xa_transaction_that_has_ended() {
    let (mut arena, _, mut reader) = with_table("t_xa_idle");
    reader.must("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").unwrap();
    arena.warm(&mut reader, READ);
    all(&mut reader, &["XA START 'idle'", "XA END 'idle'"]);
    for state in ["XA PREPARE 'idle'", "XA COMMIT 'idle'"] {
        let response = reader.query(READ).unwrap();
        assert_eq!(response.failure().map(|failure| failure.code), Some(1399), "{response:?}");
        reader.must(state).unwrap();
    }
    arena.warm(&mut reader, READ);
    arena.hit(&mut reader, READ, "10");
}

#[test]
fn a_begin_that_is_prepared_and_closed_is_not_lost() {
    let (mut arena, mut writer, mut reader) = with_table("x_closed");
    let begin = writer.prepare("BEGIN").unwrap().1.unwrap();
    arena.warm(&mut reader, READ);
    writer.execute(&begin, &[]).unwrap();
    writer.close(&begin).unwrap();
    set_v(&mut writer, 11);
    sees(&mut reader, READ, "10");
    writer.must("ROLLBACK").unwrap();
    sees(&mut writer, READ, "10");
}

/// Checks that the binary log contains the same for a transaction whose read was served as for one whose read the server has run.
#[test]
fn savepoints_after_a_served_read_are_logged_as_after_any() {
    let mut arena = Arena::on(Arc::new(start(&["--log-bin=log", "--server-id=1"])), "t_logged");
    let mut setup = arena.client();
    small_table(&mut setup, "t", "InnoDB");
    let write = "UPDATE t SET v = v + 1 WHERE id = 2";
    let after_read: [&[&str]; 7] = [
        &["SAVEPOINT s", "RELEASE SAVEPOINT s"],
        &["SAVEPOINT s", READ, "ROLLBACK TO s", READ],
        &["SAVEPOINT s", write, "ROLLBACK TO s", write],
        &["SAVEPOINT s", write, "ROLLBACK TO s"],
        &["SAVEPOINT s", write, "RELEASE SAVEPOINT s", write],
        &["SAVEPOINT s", "ROLLBACK TO s", write],
        &[write, "SAVEPOINT s", write, "ROLLBACK TO s", write],
    ];
    for format in ["ROW", "STATEMENT", "MIXED"] {
        for begin in ["BEGIN", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "SET autocommit = 0"] {
            for statements in after_read {
                let mut client = arena.client_with(&[&format!("SET binlog_format = {format}")]);
                let mut logged = |is_served: bool| {
                    client.must(if is_served { "SET fqc_type = ON" } else { "SET fqc_type = OFF" }).unwrap();
                    setup.must("FLUSH BINARY LOGS").unwrap();
                    let expected = if is_served { arena.warm(&mut client, READ) } else { arena.server_answer(READ) };
                    client.must(begin).unwrap();
                    let (response, is_hit) = arena.ask(&mut client, READ);
                    assert_eq!((rows_text(&response), is_hit), (expected, is_served), "{begin}");
                    all(&mut client, statements);
                    all(&mut client, &["COMMIT", "SET autocommit = 1"]);
                    events(&mut setup)
                };
                let plain = logged(false);
                assert!(!statements.ends_with(&[write]) || plain.iter().any(|event| event == "Xid"), "{plain:?}");
                assert_eq!(logged(true), plain, "{format}, {begin}, {statements:?}");
            }
        }
    }
}

/// Checks that a server without a binary log survives savepoints and drops of tables that do not exist. Where the engine looks for the
/// log's function for snapshots, such a server has another function, which takes a name instead of a session. Whether the server survived a
/// call depended on what was in memory after that name, so the test uses several clients and more than one depth of the stack.
#[test]
fn a_server_without_a_log_drops_what_is_not_there() {
    let (mut arena, ..) = with_table("t_unlogged");
    let mut clients: Vec<Client> = (0..8).map(|_| arena.client()).collect();
    for client in &mut clients {
        arena.warm(client, READ);
        all(client, &["BEGIN"]);
        arena.hit(client, READ, "10");
        all(client, &["SAVEPOINT s", "UPDATE t SET v = 21 WHERE id = 2", "ROLLBACK TO s", "COMMIT"]);
        all(client, &["DROP TABLE IF EXISTS nothing", "EXECUTE IMMEDIATE 'DROP TABLE IF EXISTS nothing'"]);
    }
}

/// Checks that the first read of a transaction is still served if the engine does not find a function of the server's log, and that the
/// error log then says once what this means for savepoints. A fault hides the function's symbol, which has one of these names, depending on
/// the server's release line.
#[test]
fn a_server_whose_log_is_not_known_is_left_alone_and_says_so_once() {
    let names = ["_Z17trans_register_haP3THDbP10handlertony", "_Z17trans_register_haP3THDbP23transaction_participanty"];
    let mut rows_text = names.map(|hidden| {
        let environment = vec![("FQC_FAULT".into(), format!("symbol:{hidden}"))];
        let given = options(&["--log-bin=log", "--server-id=1"]);
        let server = Server::start(Options { plugin: Some(plugin::path()), environment, ..given }).unwrap();
        let mut arena = Arena::on(Arc::new(server), "t_left");
        let mut client = arena.client();
        small_table(&mut client, "t", "InnoDB");
        arena.warm(&mut client, READ);
        all(&mut client, &["BEGIN"]);
        arena.hit(&mut client, READ, "10");
        all(&mut client, &["SAVEPOINT s", "UPDATE t SET v = 11 WHERE id = 1", "ROLLBACK TO s", "COMMIT"]);
        sees(&mut client, READ, "10");
        arena.server.error_log().matches("savepoints are logged by this server").count()
    });
    rows_text.sort_unstable();
    assert_eq!(rows_text, [0, 1]);
}

/// The events of the current binary log as texts, without what changes from one transaction to the next.
fn events(client: &mut Client) -> Vec<String> {
    let present = rows_text(&client.must("SHOW MASTER STATUS").unwrap());
    let file = present.split(',').next().unwrap();
    let response = client.must(&format!("SHOW BINLOG EVENTS IN '{file}'")).unwrap();
    let words = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
    let event = |row: Vec<Option<Vec<u8>>>| match words(&row[2]).as_str() {
        kind @ ("Query" | "Annotate_rows") => format!("{kind} {}", words(&row[5])),
        kind => kind.to_string(),
    };
    // The server writes these events now and then, about files that it has ended.
    response.rows(false).into_iter().map(event).filter(|event| event != "Binlog_checkpoint").collect()
}

/// The stages also flush and lock, which changes nothing that a read could see.
#[test]
fn the_stages_of_a_backup_commit_and_outdate_nothing_else() {
    let mut arena = Arena::enter("x_backup");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    small_table(&mut writer, "t", "InnoDB");
    small_table(&mut writer, "u", "InnoDB");
    let (changed, other) = ("SELECT MAX(v) FROM t", "SELECT MAX(v) FROM u");
    let before = arena.warm(&mut reader, other);
    for statements in [
        &["START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT", "END"].map(|stage| format!("BACKUP STAGE {stage}"))[..],
        &["BACKUP LOCK u", "BACKUP UNLOCK"].map(str::to_owned),
    ] {
        arena.warm(&mut reader, changed);
        all(&mut writer, &["BEGIN", "UPDATE t SET v = v + 1"]);
        for statement in statements {
            all(&mut writer, &[statement]);
            arena.hit(&mut reader, other, &before);
            assert_eq!(rows_text(&reader.must(changed).unwrap()), arena.server_answer(changed), "after {statement}");
        }
        all(&mut writer, &["ROLLBACK"]);
        assert_eq!(arena.warm(&mut reader, changed), arena.server_answer(changed));
    }
}
