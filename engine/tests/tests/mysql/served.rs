//! Repeated reads are hits, whatever way they come in.

use crate::shared::{enter, stock};
use crate::traps::{all, binary_rows_text, rows_text, small_table, until};
use fqc_tests::client::{Client, Login, Param, command};
use fqc_tests::server::Product;

#[test]
fn texts_and_prepared_statements_are_served_over_tcp_and_the_socket() {
    let mut arena = enter("ways");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 2";
    let mut tcp = arena.client();
    assert_eq!(arena.warm(&mut tcp, read), "20");
    let mut socket = Client::connect(&arena.server.unix_endpoint(), &arena.login()).unwrap();
    assert_eq!(arena.warm(&mut socket, read), "20");
    let prepared = socket.prepare("SELECT v FROM t WHERE id = ?").unwrap().1.unwrap();
    let one = [Param::Int(3)];
    assert_eq!(binary_rows_text(&arena.warm_prepared(&mut socket, &prepared, &one)), "30");
    admin.must("UPDATE t SET v = 31 WHERE id = 3").unwrap();
    let (response, is_hit) = arena.ask_prepared(&mut socket, &prepared, &one);
    assert!(!is_hit);
    assert_eq!(binary_rows_text(&response), "31");
}

#[test]
fn the_stock_client_is_served_with_and_without_tls() {
    let mut arena = enter("stock");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    if Product::MySql.client().is_none() {
        return assert!(std::env::var_os("FQC_MYSQLD").is_some());
    }
    for mode in ["DISABLED", "REQUIRED"] {
        let server = arena.server.clone();
        let ask = || stock(&server, mode, "SELECT SUM(v) FROM stock.t; SELECT SUM(v) FROM stock.t;");
        until("a hit of the stock client", || {
            let (answer, hits) = arena.counted(ask);
            assert_eq!(answer, "150\n150\n", "{mode}");
            hits > 0
        });
    }
}

#[test]
fn an_account_sees_what_it_may_and_not_what_another_was_answered() {
    let mut arena = enter("accounts");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    all(
        &mut admin,
        &["CREATE USER IF NOT EXISTS accounts@'%' IDENTIFIED BY 'x'", "GRANT SELECT ON accounts.* TO accounts@'%'"],
    );
    let login = Login { database: Some("accounts".into()), ..Login::user("accounts", "x") };
    // Full authentication is only possible through the socket here. The server caches it.
    drop(Client::connect(&arena.server.unix_endpoint(), &login).unwrap());
    let read = "SELECT COUNT(*) FROM t";
    let mut root = arena.client();
    arena.warm(&mut root, read);
    let mut user = arena.client_as(&login);
    arena.warm(&mut user, read);
    all(&mut admin, &["REVOKE SELECT ON accounts.* FROM accounts@'%'"]);
    let mut user = Client::connect(&arena.server.endpoint(), &Login { database: None, ..login }).unwrap();
    assert_eq!(rows_text(&user.query("SELECT COUNT(*) FROM accounts.t").unwrap()), "error 1142");
    admin.must("DROP USER accounts@'%'").unwrap();
}

#[test]
fn the_current_database_is_part_of_what_is_asked() {
    let mut arena = enter("current");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    all(&mut admin, &["CREATE DATABASE current_other", "CREATE TABLE current_other.t (id INT PRIMARY KEY, v INT)"]);
    let read = "SELECT COUNT(*) FROM t";
    let mut reader = arena.client();
    assert_eq!(arena.warm(&mut reader, read), "5");
    reader.must("USE current_other").unwrap();
    assert_eq!(arena.warm(&mut reader, read), "0");
    assert!(reader.init_db("current").unwrap().failure().is_none());
    assert_eq!(rows_text(&reader.query(read).unwrap()), "5");
    admin.must("DROP DATABASE current_other").unwrap();
}

#[test]
fn what_other_engines_hold_is_never_stored() {
    let mut arena = enter("engines");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    let mut reader = arena.client();
    for engine in ["MyISAM", "MEMORY", "CSV", "ARCHIVE"] {
        let columns = if engine == "CSV" { "(id INT NOT NULL)" } else { "(id INT)" };
        let made = admin.query(format!("CREATE TABLE {engine} {columns} ENGINE = {engine}")).unwrap();
        if made.failure().is_none() {
            arena.check_never_hit(&mut reader, &format!("SELECT COUNT(*) FROM {engine}"), "SELECT COUNT(*) FROM t");
        }
    }
    for read in [
        "SELECT COUNT(*) FROM performance_schema.threads",
        "SELECT COUNT(*) FROM information_schema.tables",
        "SELECT COUNT(*) FROM t, information_schema.processlist",
        "SELECT COUNT(*) FROM mysql.user",
    ] {
        arena.check_never_hit(&mut reader, read, "SELECT COUNT(*) FROM t");
    }
    all(&mut reader, &["CREATE TEMPORARY TABLE mine (id INT)"]);
    for _ in 0..4 {
        assert!(!arena.ask(&mut reader, "SELECT COUNT(*) FROM mine").1);
    }
}

#[test]
fn variables_and_counters_have_their_classic_names() {
    let arena = enter("names");
    let mut admin = arena.client();
    all(&mut admin, &["SET GLOBAL query_cache_size = 33554432", "SET GLOBAL query_cache_limit = 2097152"]);
    let both = "SELECT @@GLOBAL.query_cache_size, @@GLOBAL.fqc_size, @@GLOBAL.query_cache_limit, @@GLOBAL.fqc_limit";
    assert_eq!(rows_text(&admin.must(both).unwrap()), "33554432,33554432,2097152,2097152");
    all(&mut admin, &["SET GLOBAL fqc_size = 67108864", "SET GLOBAL fqc_limit = DEFAULT"]);
    assert_eq!(rows_text(&admin.must(both).unwrap()), "67108864,67108864,1048576,1048576");
    all(&mut admin, &["SET SESSION query_cache_type = DEMAND"]);
    assert_eq!(rows_text(&admin.must("SELECT @@fqc_type, @@query_cache_type").unwrap()), "DEMAND,DEMAND");
    assert_eq!(rows_text(&admin.query("SET SESSION query_cache_type = 7").unwrap()), "error 1231");
    let rows = rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Qcache%'").unwrap());
    assert_eq!(rows.split(';').count(), 8, "{rows}");
    assert!(rows_text(&admin.must("SHOW FQC STATUS").unwrap()).contains("Cache,"));
}

/// Checks that BEGIN and similar statements invalidate nothing, even in a session whose sql_mode is unknown because an `EXECUTE` may have
/// changed it. Every mode reads these statements in the same way.
#[test]
fn a_text_that_every_mode_reads_the_same_is_believed_of_a_session_in_doubt() {
    let mut arena = enter("doubt");
    let (mut doubtful, mut reader) = (arena.client(), arena.client());
    small_table(&mut doubtful, "t", "InnoDB");
    all(&mut doubtful, &["PREPARE p FROM 'DO 1'", "EXECUTE p"]);
    arena.warm(&mut reader, "SELECT SUM(v) FROM t");
    for statement in ["BEGIN", "COMMIT", "START TRANSACTION", "ROLLBACK", "UNLOCK TABLES"] {
        doubtful.must(statement).unwrap();
        assert!(arena.ask(&mut reader, "SELECT SUM(v) FROM t").1, "{statement}");
    }
}

/// Checks that warnings raised by `init_connect` are gone after a session's first read, whether it was served or not.
#[test]
fn warnings_of_init_connect_are_gone_after_a_hit() {
    let mut arena = enter("first_warnings");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    all(
        &mut admin,
        &[
            "CREATE USER first_warnings@'%' IDENTIFIED BY 'x'",
            "GRANT ALL ON first_warnings.* TO first_warnings@'%'",
            "SET GLOBAL init_connect = 'SET NAMES utf8mb3'",
        ],
    );
    let login = Login { database: Some("first_warnings".into()), ..Login::user("first_warnings", "x") };
    drop(Client::connect(&arena.server.unix_endpoint(), &login).unwrap());
    let read = "SELECT v FROM t WHERE id = 1";
    arena.share(&login, read, "10");
    let questions =
        [(command::PING, ""), (command::QUERY, "SHOW WARNINGS"), (command::QUERY, "SELECT @@warning_count")];
    for (id, (kind, question)) in (2..).zip(questions) {
        let (mut served, mut plain) = (arena.client_as(&login), arena.client_as(&login));
        until("a hit as the first statement", || {
            let is_hit = arena.ask(&mut served, read).1;
            if !is_hit {
                served = arena.client_as(&login);
            }
            is_hit
        });
        // This read is new to the engine, so the server runs it.
        plain.must(&format!("SELECT v FROM t WHERE id = {id}")).unwrap();
        let [told, truth] = [&mut served, &mut plain].map(|one| {
            one.send(kind, question.as_bytes()).unwrap();
            one.read_response().unwrap()
        });
        assert_eq!(told, truth, "{kind} {question}");
    }
    all(&mut admin, &["SET GLOBAL init_connect = DEFAULT", "DROP USER first_warnings@'%'"]);
}

#[test]
fn rows_found_after_a_hit_and_an_update_are_those_of_the_update() {
    let mut arena = enter("found_by_update");
    let mut served = arena.client();
    small_table(&mut served, "t", "InnoDB");
    small_table(&mut served, "u", "InnoDB");
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let read = "SELECT v FROM t WHERE id < 3";
    arena.warm(&mut served, read);
    for update in [
        "UPDATE u SET v = v + 0",
        "UPDATE u SET v = v + 0 WHERE id = 9",
        "UPDATE u SET nothing = 1",
        "UPDATE u SET id = 2 WHERE id = 1",
        "DELETE FROM u WHERE id = 9",
    ] {
        arena.hit(&mut served, read, "10;20");
        plain.must(read).unwrap();
        let [told, truth] = [&mut served, &mut plain].map(|one| {
            one.query(update).unwrap();
            rows_text(&one.query("SELECT FOUND_ROWS()").unwrap())
        });
        assert_eq!(told, truth, "{update}");
    }
}
