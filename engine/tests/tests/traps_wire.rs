//! The connection itself: sizes, pieces, pipelines, compression, TLS, thread models, and clients that disconnect in the middle of a
//! statement.

mod traps;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use fqc_tests::client::{Client, Endpoint, Login, capability, command};
use fqc_tests::server::{Options, Server};
use traps::{Arena, all, binary_rows_text, plugin, rows_text, small_table, start, until, with_table};

const READ: &str = "SELECT v FROM t WHERE id = 1";

#[test]
fn results_of_many_sizes() {
    let (mut arena, mut writer, mut reader) = with_table("l_sizes");
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    for length in [0, 250, 251, 16_383, 65_535, 65_536, 300_000] {
        let read = format!("SELECT id, REPEAT('z', {length}), v FROM t WHERE id IN (1, 2)");
        arena.warm(&mut reader, &read);
        assert!(reader.query(&read).unwrap() == plain.query(&read).unwrap(), "{length} bytes differ");
    }
    all(&mut writer, &["CREATE TABLE n (a INT)", "INSERT INTO n SELECT seq FROM seq_1_to_60000"]);
    let many = "SELECT a FROM n ORDER BY a";
    arena.warm(&mut reader, many);
    assert!(reader.query(many).unwrap() == plain.query(many).unwrap(), "60000 rows differ");
    for beyond in ["SELECT REPEAT('z', 1100000) FROM t", "SELECT REPEAT('z', 17000000) FROM t WHERE id < 3"] {
        let truth = plain.query(beyond).unwrap();
        for _ in 0..2 {
            let (response, is_hit) = arena.ask(&mut reader, beyond);
            assert!(response == truth && !is_hit, "`{beyond}`, hit: {is_hit}");
        }
    }
}

#[test]
fn results_without_rows() {
    let (mut arena, mut writer, mut reader) = with_table("l_empty");
    let read = "SELECT id, v FROM t WHERE id = 9";
    assert_eq!(arena.warm(&mut reader, read), "");
    arena.check_write_shows(&mut reader, read, || drop(writer.must("INSERT INTO t VALUES (9, 90)").unwrap()), "9,90");
    arena.check_write_shows(&mut reader, read, || drop(writer.must("DELETE FROM t WHERE id = 9").unwrap()), "");
}

/// The packet of a text query.
fn packet(statement: &str) -> Vec<u8> {
    let mut bytes = ((statement.len() + 1) as u32).to_le_bytes()[..3].to_vec();
    bytes.extend([0, command::QUERY]);
    bytes.extend(statement.as_bytes());
    bytes
}

#[test]
fn a_statement_in_pieces() {
    let (mut arena, mut writer, mut reader) = with_table("l_pieces");
    arena.warm(&mut reader, READ);
    for cut in [1, 3, 4, 5, 10, packet(READ).len() - 1] {
        for part in [&packet(READ)[..cut], &packet(READ)[cut..]] {
            reader.send_raw(part).unwrap();
        }
        assert_eq!(rows_text(&reader.read_response().unwrap()), "10");
        let write = packet(&format!("UPDATE t SET v = {cut} WHERE id = 1"));
        for part in [&write[..cut], &write[cut..]] {
            writer.send_raw(part).unwrap();
        }
        assert!(writer.read_response().unwrap().failure().is_none());
        assert_eq!(rows_text(&reader.query(READ).unwrap()), cut.to_string());
        writer.must("UPDATE t SET v = 10 WHERE id = 1").unwrap();
        assert_eq!(arena.warm(&mut reader, READ), "10");
    }
}

#[test]
fn a_pipeline_of_reads_and_writes() {
    let (mut arena, _, mut reader) = with_table("l_pipeline");
    arena.warm(&mut reader, READ);
    let write = "UPDATE t SET v = v + 1 WHERE id = 1";
    let texts = [READ, READ, "BEGIN", READ, write, READ, "ROLLBACK", READ, write, READ, "SELECT FOUND_ROWS()"];
    let commands: Vec<_> = texts.iter().map(|text| (command::QUERY, text.as_bytes())).collect();
    for round in 0..5 {
        let (old, new) = ((10 + round).to_string(), (11 + round).to_string());
        reader.send_together(&commands).unwrap();
        let answers: Vec<_> = texts.iter().map(|_| rows_text(&reader.read_response().unwrap())).collect();
        let expected = [&*old, &old, "", &old, "", &new, "", &old, "", &new, "1"];
        assert_eq!(answers, expected);
        arena.warm(&mut reader, READ);
    }
}

#[test]
fn killed_statements_and_sessions() {
    let (mut arena, mut writer, mut reader) = with_table("l_kill");
    arena.warm(&mut reader, READ);
    let slow = "UPDATE t SET v = v + 1 + SLEEP(600) WHERE id <= 2";
    for kill in ["KILL QUERY", "KILL"] {
        let mut victim = arena.client();
        victim.send(command::QUERY, slow.as_bytes()).unwrap();
        let running = format!(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE id = {} AND info LIKE '%SLEEP%'",
            victim.thread_id
        );
        until("the slow statement", || writer.scalar(&running).unwrap().as_deref() == Some("1"));
        writer.must(&format!("{kill} {}", victim.thread_id)).unwrap();
        let refused = victim.read_response().map_or(true, |response| response.failure().is_some());
        assert!(refused, "the statement was not killed");
        let truth = arena.server_answer(READ);
        assert_eq!(rows_text(&reader.query(READ).unwrap()), truth);
        assert_eq!(arena.warm(&mut reader, READ), truth);
    }
    // A killed session that only gets hits also notices the kill.
    let mut victim = arena.client();
    arena.warm(&mut victim, READ);
    writer.must(&format!("KILL {}", victim.thread_id)).unwrap();
    let gone = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {}", victim.thread_id);
    until("the end of the session", || writer.scalar(&gone).unwrap().as_deref() == Some("0"));
    assert!(victim.query(READ).is_err() || victim.query(READ).is_err());
}

#[test]
fn clients_that_die_in_mid_commit() {
    let (mut arena, _, mut reader) = with_table("l_die");
    for round in 0..30 {
        let mut victim = arena.client();
        arena.warm(&mut reader, READ);
        all(&mut victim, &["BEGIN", &format!("UPDATE t SET v = {} WHERE id = 1", 100 + round)]);
        let thread = victim.thread_id;
        victim.send(command::QUERY, b"COMMIT").unwrap();
        victim.abort();
        let gone = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {thread}");
        until("the end of the dead client's session", || arena.server_answer(&gone) == "0");
        let truth = arena.server_answer(READ);
        assert_eq!(rows_text(&reader.query(READ).unwrap()), truth);
    }
    arena.warm(&mut reader, READ);
}

#[test]
fn many_sessions_and_a_pool_of_threads() {
    let server = Arc::new(start(&["--thread-handling=pool-of-threads", "--thread-pool-size=2"]));
    let mut arena = Arena::on(server, "l_pool");
    let mut writer = arena.client();
    small_table(&mut writer, "t", "InnoDB");
    let mut readers: Vec<_> = (0..40).map(|_| arena.client()).collect();
    // When the engine learns about a new table, it invalidates the table's first results once more.
    until("all readers are served", || readers.iter_mut().all(|reader| arena.ask(reader, READ).1));
    for value in 11..16 {
        assert_eq!(arena.warm(&mut readers[0], READ), (value - 1).to_string());
        for reader in &mut readers {
            arena.hit(reader, READ, &(value - 1).to_string());
        }
        writer.must(&format!("UPDATE t SET v = {value} WHERE id = 1")).unwrap();
        for reader in &mut readers {
            assert_eq!(rows_text(&reader.query(READ).unwrap()), value.to_string());
        }
    }
    let commands = [(command::QUERY, READ.as_bytes()); 9];
    for reader in &mut readers {
        reader.send_together(&commands).unwrap();
        (0..9).for_each(|_| assert_eq!(rows_text(&reader.read_response().unwrap()), "15"));
    }
}

/// Runs statements through MariaDB's command-line client, with these options. Returns its output.
fn client(server: &Server, options: &[&str], script: &str) -> String {
    let Endpoint::Tcp(port) = server.endpoint() else { unreachable!("servers listen on TCP") };
    let output = Command::new("mariadb")
        .args(["--no-defaults", "--batch", "--skip-column-names", "--user=root", "--protocol=tcp", "--host=127.0.0.1"])
        .arg(format!("--port={port}"))
        .args(options)
        .args(["--execute", script])
        .output()
        .expect("the mariadb client");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn compressed_connections_pass_uncached_and_their_writes_count() {
    let (mut arena, _, mut reader) = with_table("l_compress");
    let read = "SELECT v FROM l_compress.t WHERE id = 1";
    arena.warm(&mut reader, read);
    let server = arena.server.clone();
    let script = format!("{read}; {read}; SHOW STATUS LIKE 'Compression'; {read};");
    let (answer, hits) = arena.counted(|| client(&server, &["--compress"], &script));
    assert_eq!((answer.as_str(), hits), ("10\n10\nCompression\tON\n10\n", 0));
    for value in 11..14 {
        let write = format!("UPDATE l_compress.t SET v = {value} WHERE id = 1");
        let write = || drop(client(&server, &["--compress"], &write));
        arena.check_write_shows(&mut reader, read, write, &value.to_string());
    }
    let write = "BEGIN; UPDATE l_compress.t SET v = 20 WHERE id = 1; COMMIT; CREATE VIEW l_compress.w AS SELECT 1";
    arena.check_write_shows(&mut reader, read, || drop(client(&server, &["--compress"], write)), "20");
}

/// Capability bits that only MySQL has (25 to 28), one that MariaDB once had (33), and those that no server has.
const NOT_OFFERED: u64 = 0b11111 << 25 | 1 << 33 | !0 << 38;

#[test]
fn a_client_that_asks_for_more_than_the_server_offers_is_served() {
    let (mut arena, mut writer, mut reader) = with_table("l_more");
    let read = "SELECT v FROM l_more.t WHERE id = 1";
    arena.warm(&mut reader, read);
    let bypassed = number(&mut writer, "Fqc_connections_bypassed");
    let mut asking = arena.client_as(&Login { insists_on: NOT_OFFERED, ..arena.login() });
    arena.hit(&mut asking, read, "10");
    arena.check_write_shows(&mut asking, read, || drop(writer.must("UPDATE t SET v = 11 WHERE id = 1").unwrap()), "11");
    arena.check_write_shows(&mut reader, read, || drop(asking.must("UPDATE t SET v = 12 WHERE id = 1").unwrap()), "12");
    assert_eq!(number(&mut writer, "Fqc_connections_bypassed"), bypassed);
}

fn number(client: &mut Client, name: &str) -> u64 {
    let rows_text = rows_text(&client.must(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap());
    rows_text.split_once(',').and_then(|(_, value)| value.parse().ok()).unwrap_or_else(|| panic!("{name}: {rows_text}"))
}

#[test]
fn a_connection_with_an_unknown_capability_passes_uncached_and_its_writes_count() {
    let environment = vec![("FQC_FAULT".into(), "capability:35".into())];
    let options = Options { plugin: Some(plugin::path()), environment, ..Options::default() };
    let server = Arc::new(Server::start(options).unwrap());
    let mut arena = Arena::on(server, "l_unknown");
    let mut reader = arena.client();
    small_table(&mut reader, "t", "InnoDB");
    arena.warm(&mut reader, READ);
    let login = arena.login();
    let extended = Login { capabilities: login.capabilities | capability::EXTENDED_METADATA, ..login };
    let bypassed = number(&mut reader, "Fqc_connections_bypassed");
    let mut stranger = arena.client_as(&extended);
    for _ in 0..3 {
        arena.miss(&mut stranger, READ, "10");
    }
    assert_eq!(number(&mut reader, "Fqc_connections_bypassed"), bypassed + 1);
    assert!(arena.server.reasons().contains("1 unknown_capability"), "{}", arena.server.reasons());
    arena.check_write_shows(
        &mut reader,
        READ,
        || drop(stranger.must("UPDATE t SET v = 11 WHERE id = 1").unwrap()),
        "11",
    );
    let transaction = ["BEGIN", "UPDATE t SET v = 12 WHERE id = 1", "COMMIT"];
    arena.check_write_shows(&mut reader, READ, || all(&mut stranger, &transaction), "12");
    arena.miss(&mut stranger, READ, "12");
}

fn certificate(directory: &Path) -> [String; 2] {
    let [key, certificate] = ["key.pem", "certificate.pem"].map(|name| directory.join(name).display().to_string());
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-keyout", &key, "-out", &certificate])
        .output()
        .expect("openssl");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    [format!("--ssl-key={key}"), format!("--ssl-cert={certificate}")]
}

#[test]
fn tls_connections_are_served() {
    let directory = std::env::temp_dir().join(format!("fqc-traps-tls-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let [key, certificate] = certificate(&directory);
    let server = Arc::new(start(&[&key, &certificate]));
    let mut arena = Arena::on(server.clone(), "l_tls");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    small_table(&mut writer, "t", "InnoDB");
    let read = "SELECT v FROM l_tls.t WHERE id = 1";
    arena.warm(&mut reader, read);
    let script = format!("SHOW STATUS LIKE 'Ssl_version'; {}", format!("{read}; ").repeat(20));
    let tls = ["--ssl"];
    let (answer, hits) = arena.counted(|| client(&server, &tls, &script));
    assert!(answer.starts_with("Ssl_version\tTLS"), "{answer}");
    assert_eq!(answer.lines().skip(1).collect::<Vec<_>>(), ["10"; 20]);
    assert!(hits >= 15, "only {hits} hits over TLS:\n{}", server.reasons());
    let write = "UPDATE l_tls.t SET v = 11 WHERE id = 1";
    arena.check_write_shows(&mut reader, read, || drop(client(&server, &tls, write)), "11");
    let wide =
        format!("SELECT id, REPEAT('w', 200000) FROM l_tls.t; {read}; SELECT id, REPEAT('w', 200000) FROM l_tls.t;");
    assert_eq!(client(&server, &tls, &wide).len(), client(&server, &["--skip-ssl"], &wide).len());
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn types_of_parameters_that_came_in_pieces() {
    let (mut arena, mut writer, mut reader) = with_table("l_types");
    const NUMBER: u32 = u32::from_le_bytes(*b"\x03abc");
    writer.must("CREATE TABLE s (id INT PRIMARY KEY, a VARCHAR(20))").unwrap();
    writer.must(&format!("INSERT INTO s VALUES (1, 'abc'), (2, '{NUMBER}')")).unwrap();
    let prepared = reader.prepare("SELECT id FROM s WHERE a = ?").unwrap().1.unwrap();
    let body = |types: &[u8]| {
        let head = [&prepared.id.to_le_bytes()[..], &[0, 1, 0, 0, 0, 0, u8::from(!types.is_empty())], types].concat();
        [&head[..], b"\x03abc"].concat()
    };
    let (text, number) = (body(&[0xfd, 0]), body(&[0x03, 0]));
    until("a hit", || {
        let ask = || {
            reader.send(command::STMT_EXECUTE, &text).unwrap();
            reader.read_response().unwrap()
        };
        arena.counted(ask).1 > 0
    });
    // The same bytes as a number. The bytes in the same piece as a ping have arrived before the rest is sent.
    let mut bytes = vec![1, 0, 0, 0, command::PING, number.len() as u8 + 1, 0, 0, 0, command::STMT_EXECUTE];
    bytes.extend(&number);
    reader.send_raw(&bytes[..12]).unwrap();
    reader.read_response().unwrap();
    reader.send_raw(&bytes[12..]).unwrap();
    assert_eq!(binary_rows_text(&reader.read_response().unwrap()), "2");
    reader.ping().unwrap();
    reader.send(command::STMT_EXECUTE, &body(&[])).unwrap();
    assert_eq!(binary_rows_text(&reader.read_response().unwrap()), "2");
}

/// Checks that results are stored while a session is open that has sent COM_DEBUG. A session whose responses the engine cannot follow keeps
/// everything invalid until it ends, but it can follow those of this session.
#[test]
fn a_session_that_had_the_server_log_its_state() {
    let (mut arena, mut reader, mut asking) = with_table("w_debug");
    asking.send(command::DEBUG, &[]).unwrap();
    assert!(asking.read_response().unwrap().failure().is_none());
    arena.warm(&mut reader, "SELECT v FROM t WHERE id = 1");
    arena.warm(&mut asking, "SELECT v FROM t WHERE id = 2");
}

/// Checks that results are stored while the general log is on. The server then also reports connections, as statements whose end it does
/// not report.
#[test]
fn reads_are_kept_while_the_general_log_is_on() {
    for output in ["FILE", "TABLE"] {
        let server = Arc::new(start(&["--general-log=1", &format!("--log-output={output}")]));
        let mut arena = Arena::on(server, "w_logged");
        let mut reader = arena.client();
        small_table(&mut reader, "t", "InnoDB");
        arena.warm(&mut reader, READ);
        let mut other = arena.client();
        other.init_db("mysql").unwrap();
        arena.hit(&mut reader, READ, "10");
    }
}

/// Checks clients behind a load balancer. It sends the client's address before the handshake, and the server uses that address.
#[test]
fn clients_behind_a_balancer_are_served() {
    let server = Arc::new(start(&["--proxy-protocol-networks=127.0.0.1"]));
    let mut arena = Arena::on(server.clone(), "l_balancer");
    let mut writer = arena.client();
    small_table(&mut writer, "t", "InnoDB");
    let mut admin = server.admin().unwrap();
    all(
        &mut admin,
        &["CREATE USER u@'10.1.2.%'", "CREATE USER u@'10.1.3.1'", "GRANT SELECT ON l_balancer.* TO u@'10.1.2.%'"],
    );
    let text = |address| format!("PROXY TCP4 {address} 10.0.0.1 51000 3306\r\n").into_bytes();
    let binary = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\x01\x02\x04\x0a\0\0\x01\xc7\x38\x0c\xea".to_vec();
    let login = |database: Option<&str>| Login { database: database.map(Into::into), ..Login::user("u", "") };
    for header in [text("10.1.2.3"), binary] {
        let mut client = Client::connect_behind(&header, &server.endpoint(), &login(Some("l_balancer"))).unwrap();
        arena.warm(&mut client, READ);
        let before = rows_text(&client.must(READ).unwrap());
        writer.must("UPDATE t SET v = v + 1 WHERE id = 1").unwrap();
        assert_ne!(rows_text(&client.must(READ).unwrap()), before);
    }
    let mut refused = Client::connect_behind(&text("10.1.3.1"), &server.endpoint(), &login(None)).unwrap();
    assert_eq!(rows_text(&refused.query("SELECT v FROM l_balancer.t WHERE id = 1").unwrap()), "error 1142");
    assert_eq!(
        rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_connections_bypassed'").unwrap()),
        "Fqc_connections_bypassed,0"
    );
}
