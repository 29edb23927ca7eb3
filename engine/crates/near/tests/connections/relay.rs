//! Clients receive the same bytes through `fqc-near` as without it.

use crate::beside::{Folder, LIMIT, mariadb, near, server, server_with, wait_until};
use fqc_tests::client::{Client, Line, Login, Param, Response, capability, command};
use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

/// Statements whose answers contain no statement id and no connection id, as these differ between connections.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(100), b LONGBLOB)",
    "INSERT INTO t VALUES (1, 'one', NULL), (2, 'two', x'00ff')",
    "SELECT * FROM t",
    "SELECT * FROM nowhere",
    "SELECT 1; SELECT 2 UNION SELECT 3; UPDATE t SET v = 'three' WHERE id = 2; SELECT * FROM t",
    "SELECT 1; SELECT FROM; SELECT 2",
    "CREATE PROCEDURE p() BEGIN SELECT v FROM t; SELECT 5; END",
    "CALL p()",
    "SET @x = 1, SESSION sql_mode = 'ANSI_QUOTES'",
    "SELECT @x, @@sql_mode",
    "BEGIN",
    "DELETE FROM t",
    "ROLLBACK",
    "SELECT COUNT(*) FROM t",
    "SHOW WARNINGS",
    "SHOW COLUMNS FROM t",
    "EXPLAIN SELECT * FROM t WHERE id = 1",
    "",
];

/// Returns the client's capabilities without and with DEPRECATE_EOF, which changes how a result ends.
fn both_ends() -> [u64; 2] {
    [capability::BASE, capability::BASE | capability::DEPRECATE_EOF]
}

#[test]
fn every_answer_is_byte_for_byte_that_of_the_server() {
    let (straight, beside) = (server(), server());
    let near = near(&beside, &[]);
    for (endpoint, capabilities) in [near.tcp(), near.unix()].into_iter().zip(both_ends()) {
        let login = Login { capabilities, ..Login::default() };
        let mut one = Client::connect(&straight.endpoint(), &login).expect("a connection");
        let mut other = Client::connect(&endpoint, &login).expect("a connection");
        for statement in STATEMENTS.iter().chain(&["DROP DATABASE d"]) {
            let expected = one.query(statement).expect("an answer");
            assert_eq!(other.query(statement).expect("an answer").bytes, expected.bytes, "{statement}");
        }
        for kind in [command::PING, command::DEBUG, command::RESET_CONNECTION, 0x77] {
            one.send(kind, b"").expect("it is sent");
            other.send(kind, b"").expect("it is sent");
            let expected = one.read_response().expect("an answer");
            assert_eq!(other.read_response().expect("an answer").bytes, expected.bytes, "{kind}");
        }
    }
    assert_eq!(near.metric("unread_connections_total{reason=\"not_understood\"}"), 0);
}

#[test]
fn prepared_statements_and_their_parameters_pass() {
    let server = server();
    let near = near(&server, &[]);
    let mut client = near.client();
    let prepared = client.prepare("SELECT ? + 1, ?").expect("it is prepared").1.expect("a statement");
    for number in 0..3 {
        let parameters = [Param::Int(number), Param::Text("text".into())];
        let answer = client.execute(&prepared, &parameters).expect("an answer");
        assert_eq!(answer.rows(true)[0][1].as_deref(), Some(&b"text"[..]));
    }
}

#[test]
fn commands_that_are_sent_ahead_are_answered_in_their_order() {
    let server = server();
    let near = near(&server, &[]);
    let mut client = near.client();
    let texts: Vec<String> = (0..500).map(|number| format!("SELECT {number}")).collect();
    let commands: Vec<_> = texts.iter().map(|text| (command::QUERY, text.as_bytes())).collect();
    client.send_together(&commands).expect("they are sent");
    for number in 0..500 {
        let answer = client.read_response().expect("an answer");
        assert_eq!(answer.scalar(), Some(number.to_string()));
    }
    near.wait_for_metric("commands_total", |commands| commands == 500);
    assert_eq!(near.metric("unread_connections_total{reason=\"not_understood\"}"), 0);
}

#[test]
fn packets_of_more_than_16_mib_pass_both_ways() {
    let server = server();
    let near = near(&server, &[]);
    let (mut straight, mut client) = (server.admin().expect("a connection"), near.client());
    for length in [(1 << 24) - 1 - 9, (1 << 24) + 5, 40 << 20] {
        let query = format!("SELECT '{}' AS v", "x".repeat(length));
        let expected = straight.query(&query).expect("an answer").bytes;
        assert!(client.query(&query).expect("an answer").bytes == expected, "{length}");
    }
    let refused = client.query(format!("SELECT '{}'", "x".repeat(65 << 20)));
    // The server sends an error or just closes the connection, as it does without a relay.
    assert!(refused.map_or(true, |answer| answer.failure().is_some()));
    assert_eq!(near.metric("unread_connections_total{reason=\"not_understood\"}"), 0);
}

#[test]
fn a_local_file_is_loaded() {
    let server = server();
    let near = near(&server, &[]);
    let login = Login { capabilities: capability::BASE | capability::LOCAL_FILES, ..Login::default() };
    let mut client = Client::connect(&near.tcp(), &login).expect("a connection");
    client.must("CREATE DATABASE d").expect("a database");
    client.must("CREATE TABLE d.t (v INT)").expect("a table");
    client.local_file = (0..200_000).map(|row| format!("{row}\n")).collect::<String>().into_bytes();
    client.must("LOAD DATA LOCAL INFILE 'f' INTO TABLE d.t").expect("it is loaded");
    assert_eq!(client.scalar("SELECT COUNT(*) FROM d.t").expect("an answer").as_deref(), Some("200000"));
    assert_eq!(near.metric("unread_connections_total{reason=\"not_understood\"}"), 0);
}

#[test]
fn a_login_is_the_servers_to_judge() {
    let server = server();
    let near = near(&server, &[]);
    let mut admin = server.admin().expect("a connection");
    for account in ["u@'%' IDENTIFIED BY 'secret'", "v@'%' IDENTIFIED BY ''"] {
        admin.must(&format!("CREATE USER {account}")).expect("an account");
    }
    let straight = Client::connect(&server.endpoint(), &Login::user("u", "wrong")).err().expect("it is refused");
    let beside = near.login("u", "wrong").err().expect("it is refused");
    assert_eq!(beside.to_string(), straight.to_string());
    near.wait_for_metric("connections_refused_total{reason=\"login\"}", |count| count == 1);
    let mut client = near.login("u", "secret").expect("a connection");
    assert_eq!(client.scalar("SELECT CURRENT_USER()").expect("an answer").as_deref(), Some("u@%"));
    for (user, password, is_taken) in [("v", "", true), ("u", "secret", true), ("u", "wrong", false)] {
        let changed = client.change_user(&Login::user(user, password)).expect("an answer");
        assert_eq!(changed.failure().is_none(), is_taken, "{user}");
    }
}

#[test]
fn accounts_that_prove_themselves_by_a_signature_log_in() {
    let library = "auth_ed25519.so";
    let installed = std::path::Path::new("/usr/lib/mysql/plugin").join(library);
    if !installed.exists() {
        println!("NOT TESTED: ED25519, FOR WHICH THIS MACHINE HAS NO {library}");
        return;
    }
    let server = server();
    fs::copy(installed, server.plugins().join(library)).expect("a copy");
    let mut admin = server.admin().expect("a connection");
    admin.must("INSTALL SONAME 'auth_ed25519'").expect("it is installed");
    admin.must("CREATE USER e@'%' IDENTIFIED VIA ed25519 USING PASSWORD('secret')").expect("an account");
    let near = near(&server, &[]);
    let port = format!("--port={}", near.port());
    let ask = |password: &str| mariadb(&[&port, "--user=e", password, "--skip-ssl"], "SELECT CURRENT_USER()");
    assert_eq!(ask("--password=secret").as_deref(), Ok("e@%"));
    assert!(ask("--password=wrong").expect_err("it is refused").contains("Access denied"));
}

#[test]
fn compressed_connections_pass_unread_and_are_counted() {
    let server = server();
    let near = near(&server, &[]);
    let port = format!("--port={}", near.port());
    let answer = mariadb(&[&port, "--user=root", "--compress"], "SHOW STATUS LIKE 'Compression'");
    assert_eq!(answer.as_deref(), Ok("Compression\tON"));
    assert_eq!(near.metric("unread_connections_total{reason=\"compressed\"}"), 1);
}

#[test]
fn the_servers_changes_pass_to_a_replica() {
    let server = server_with(&["--log-bin=binlog", "--server-id=1", "--binlog-format=ROW"]);
    let near = near(&server, &[]);
    let mut client = near.client();
    client.must("SET @master_binlog_checksum = @@global.binlog_checksum").expect("an answer");
    let name = b"binlog.000001";
    let body = [&4_u32.to_le_bytes()[..], &[0, 0], &77_u32.to_le_bytes(), name].concat();
    client.send(0x12, &body).expect("it is sent");
    let mut admin = server.admin().expect("a connection");
    near.wait_for_metric("unread_connections_total{reason=\"replication\"}", |count| count == 1);
    let dumps = "SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Binlog Dump'";
    wait_until("the dump", || admin.scalar(dumps).expect("an answer").as_deref() == Some("1"));
    let before = near.metric("bytes_total{from=\"server\"}");
    admin.must("CREATE DATABASE d").expect("a database");
    near.wait_for_metric("bytes_total{from=\"server\"}", |bytes| bytes > before);
}

#[test]
fn the_server_is_told_the_clients_address_where_that_is_wanted() {
    let server = server_with(&["--proxy-protocol-networks=127.0.0.1"]);
    for version in ["v1", "v2"] {
        let near = near(&server, &["--proxy-protocol", version]);
        let mut client = near.client();
        let Ok(Line::Tcp(stream)) = client.line() else { panic!("a socket") };
        let expected = stream.local_addr().expect("an address").to_string();
        let seen = "SELECT host FROM information_schema.processlist WHERE id = CONNECTION_ID()";
        assert_eq!(client.scalar(seen).expect("an answer"), Some(expected), "{version}");
        let mut local = Client::root(&near.unix()).expect("a connection");
        let port = local.scalar(seen).expect("an answer").expect("a host");
        assert!(port.starts_with("127.0.0.1:"), "{port}");
    }
}

#[test]
fn who_ends_a_connection_ends_it_on_both_sides() {
    let server = server();
    let near = near(&server, &[]);
    let mut admin = server.admin().expect("a connection");
    let mut victim = near.client();
    admin.must(&format!("KILL {}", victim.thread_id)).expect("it is killed");
    assert!(victim.ping().map_or(true, |answer| answer.failure().is_some()));
    let sleeper = near.client();
    let thread = sleeper.thread_id;
    let mut sleeper = sleeper;
    sleeper.send(command::QUERY, b"SELECT SLEEP(1000)").expect("it is sent");
    let listed = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {thread}");
    let running = format!("{listed} AND info LIKE '%SLEEP%'");
    wait_until("the statement", || admin.scalar(&running).expect("an answer").as_deref() == Some("1"));
    sleeper.abort();
    wait_until("its end on the server", || admin.scalar(&listed).expect("an answer").as_deref() == Some("0"));
    near.wait_for_metric("connections", |open| open == 0);
}

#[test]
fn a_server_that_is_gone_ends_its_clients_and_one_that_is_back_takes_new_ones() {
    let mut server = server();
    let near = near(&server, &[]);
    let mut client = near.client();
    server.kill9().expect("it is killed");
    assert!(client.ping().is_err());
    let refused = Client::root(&near.tcp()).err().expect("no server").to_string();
    assert!(refused.contains("1042") && refused.contains("fqc-near cannot connect to 127.0.0.1:"), "{refused}");
    // The C library only shows errors with a code that servers use.
    let told = mariadb(&["--user=root", &format!("--port={}", near.port())], "SELECT 1").expect_err("no server");
    assert!(told.contains("1042") && told.contains("fqc-near cannot connect to 127.0.0.1:"), "{told}");
    assert!(near.metric("connections_refused_total{reason=\"server\"}") >= 1);
    server.restart().expect("it starts");
    assert_eq!(near.client().scalar("SELECT 1").expect("an answer").as_deref(), Some("1"));
}

#[test]
fn one_client_too_many_is_told_so_and_another_may_come_when_one_has_gone() {
    let server = server();
    let near = near(&server, &["--max-connections", "2"]);
    let (one, mut two) = (near.client(), near.client());
    let refused = Client::root(&near.tcp()).err().expect("it is one too many").to_string();
    assert!(refused.contains("error 1040 (08004)") && refused.contains("takes 2"), "{refused}");
    assert_eq!(two.scalar("SELECT 1").expect("an answer").as_deref(), Some("1"));
    one.abort();
    near.wait_for_metric("connections", |open| open == 1);
    near.client();
    assert_eq!(near.metric("connections_refused_total{reason=\"limit\"}"), 1);
}

#[test]
fn many_connections_are_open_at_once_and_all_of_them_work() {
    let wanted: usize = std::env::var("FQC_TEST_CONNECTIONS").map_or(400, |text| text.parse().expect("a number"));
    let server = server_with(&[&format!("--max-connections={}", wanted + 10), "--thread-stack=262144"]);
    let near = near(&server, &["--max-connections", &wanted.to_string()]);
    let idle = near.resident_kib();
    let endpoints = [near.tcp(), near.unix()];
    let connect = |number: usize| Client::root(&endpoints[number % 2]).expect("a connection");
    let mut clients: Vec<_> = (0..wanted).map(connect).collect();
    for round in 0..2 {
        for (number, client) in clients.iter_mut().enumerate() {
            let query = format!("SELECT {}", number + round);
            client.send(command::QUERY, query.as_bytes()).expect("it is sent");
        }
        for (number, client) in clients.iter_mut().enumerate() {
            let answer = client.read_response().expect("an answer");
            assert_eq!(answer.scalar(), Some((number + round).to_string()));
        }
    }
    assert_eq!(near.metric("connections"), wanted as u64);
    let each = (near.resident_kib() - idle) / wanted as u64;
    println!("{wanted} connections, {each} KiB each");
    assert!(each <= 16, "{each} KiB for each connection");
}

#[test]
fn a_client_that_does_not_read_holds_the_server_back() {
    let server = server();
    let near = near(&server, &[]);
    let mut client = near.client();
    let idle = near.resident_kib();
    let numbers = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 300)";
    let query = format!("{numbers} SELECT REPEAT('x', 1000000) FROM n");
    client.send(command::QUERY, query.as_bytes()).expect("it is sent");
    let mut last = 0;
    let mut same = 0;
    wait_until("full sockets", || {
        let passed = near.metric("bytes_total{from=\"server\"}");
        let is_same = passed > 1_000_000 && passed == std::mem::replace(&mut last, passed);
        same = if is_same { same + 1 } else { 0 };
        same > 20
    });
    assert!(last < 50_000_000, "{last} bytes");
    let grown = near.resident_kib() - idle;
    assert!(grown < 10_000, "{grown} KiB");
    let answer: Response = client.read_response().expect("an answer");
    assert_eq!(answer.rows(false).len(), 300);
}

#[test]
fn the_socket_has_the_permissions_that_were_asked_for() {
    let server = server();
    for (mode, expected) in [("0600", 0o600), ("0666", 0o666)] {
        let near = near(&server, &["--socket-mode", mode]);
        let found = fs::metadata(near.socket()).expect("a socket").permissions().mode() & 0o777;
        assert_eq!(found, expected);
        assert!(Client::root(&near.unix()).is_ok());
    }
}

#[test]
fn a_client_that_says_nothing_is_let_go() {
    let server = server_with(&["--connect-timeout=3600"]);
    let near = near(&server, &["--connect-timeout-seconds", "1"]);
    let mut silent = std::net::TcpStream::connect(("127.0.0.1", near.port())).expect("a connection");
    silent.set_read_timeout(Some(LIMIT)).expect("a limit");
    let mut greeting = Vec::new();
    silent.read_to_end(&mut greeting).expect("the greeting and the end");
    assert!(!greeting.is_empty());
    near.wait_for_metric("connections", |open| open == 0);
}

#[test]
fn its_health_and_its_counters_are_told() {
    let server = server();
    let near = near(&server, &[]);
    assert!(near.get("/healthz").contains("200 OK"));
    assert!(near.get("/metrics").contains("# TYPE fqc_near_commands_total counter"));
    assert!(near.get("/nowhere").contains("404 Not Found"));
}

/// A query for the number of logins of the account `own` that sent no query. An attempt to attach is not counted, because it sends one.
const OWN_LOGINS: &str = "SELECT COUNT(*) FROM mysql.general_log AS one WHERE command_type = 'Quit' AND user_host LIKE '%own[own]%'
    AND NOT EXISTS (SELECT 1 FROM mysql.general_log AS other WHERE other.thread_id = one.thread_id AND command_type = 'Query')";

#[test]
fn it_logs_in_itself_after_handshakes_that_clients_broke_off() {
    let server = server_with(&["--general-log", "--log-output=TABLE"]);
    let mut admin = server.admin().expect("a connection");
    admin.must("CREATE USER own@'%' IDENTIFIED BY 'secret'").expect("an account");
    let folder = Folder::fresh();
    let password = folder.write("password", "secret");
    let near = near(&server, &["--feed-user", "own", "--feed-password-file", &password]);
    let break_off = |count: usize| {
        for _ in 0..count {
            let mut stream = TcpStream::connect(("127.0.0.1", near.port())).expect("a connection");
            stream.read_exact(&mut [0; 4]).expect("a greeting");
        }
    };
    let lost = |expected| near.wait_for_metric("connections_refused_total{reason=\"lost\"}", |count| count == expected);
    break_off(9);
    lost(9);
    assert_eq!(near.client().scalar("SELECT 1").expect("an answer").as_deref(), Some("1"));
    break_off(9);
    lost(18);
    assert_eq!(admin.scalar(OWN_LOGINS).expect("an answer").as_deref(), Some("0"));
    break_off(1);
    wait_until("its login", || admin.scalar(OWN_LOGINS).expect("an answer").as_deref() == Some("1"));
}
