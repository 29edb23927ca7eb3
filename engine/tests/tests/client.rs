//! The raw client against a plain server. The testers' verdicts depend on it.

use fqc_tests::client::{Client, Login, Param, Part, capability, command};
use fqc_tests::server::{Options, Server};

fn plain() -> Server {
    Server::start(Options::default()).expect("a plain server")
}

#[test]
fn text_and_binary_rows_carry_the_same_values() {
    let server = plain();
    for endpoint in [server.endpoint(), server.unix_endpoint()] {
        for optional in [0, capability::DEPRECATE_EOF, capability::EXTENDED_METADATA, capability::CACHE_METADATA] {
            let login = Login { capabilities: capability::BASE | optional, ..Login::default() };
            let mut client = Client::connect(&endpoint, &login).unwrap();
            let text = client.query("SELECT -7, NULL, 'x'").unwrap().rows(false);
            let (_, prepared) = client.prepare("SELECT ?, ?, ?").unwrap();
            let params = [Param::Int(-7), Param::Null, Param::Text("x".into())];
            let binary = client.execute(&prepared.unwrap(), &params).unwrap().rows(true);
            assert_eq!(text, binary, "with capability {optional:#x}");
        }
    }
}

#[test]
fn rows_beyond_16_megabytes_arrive_whole() {
    let server = plain();
    let mut client = server.admin().unwrap();
    let response = client.query("SELECT REPEAT('a', 17 * 1024 * 1024), 'end'").unwrap();
    let Part::Rows(rows) = &response.parts[0] else { panic!("no rows: {:?}", response.parts) };
    assert_eq!(rows.rows.len(), 1);
    assert!(response.bytes.len() > 17 * 1024 * 1024);
    assert_eq!(client.scalar("SELECT 1").unwrap().as_deref(), Some("1"));
}

#[test]
fn accounts_with_passwords_log_in_and_change_users() {
    let server = plain();
    let mut root = server.admin().unwrap();
    root.must("CREATE USER 'ann'@'%' IDENTIFIED BY 'secret'").unwrap();
    let mut ann = Client::connect(&server.endpoint(), &Login::user("ann", "secret")).unwrap();
    assert_eq!(ann.scalar("SELECT CURRENT_USER()").unwrap().as_deref(), Some("ann@%"));
    assert!(Client::connect(&server.endpoint(), &Login::user("ann", "wrong")).is_err());
    assert!(root.change_user(&Login::user("ann", "secret")).unwrap().failure().is_none());
    assert_eq!(root.scalar("SELECT CURRENT_USER()").unwrap().as_deref(), Some("ann@%"));
}

#[test]
fn several_results_and_a_pipeline_are_told_apart() {
    let server = plain();
    let capabilities = capability::BASE | capability::MULTI_STATEMENTS;
    let mut client = Client::connect(&server.endpoint(), &Login { capabilities, ..Login::default() }).unwrap();
    assert_eq!(client.query("SELECT 1; SELECT 2; DO 3").unwrap().parts.len(), 3);
    client.send_together(&[(command::QUERY, b"SELECT 4"), (command::PING, b""), (command::QUERY, b"SELECT")]).unwrap();
    assert_eq!(client.read_response().unwrap().scalar().as_deref(), Some("4"));
    assert!(matches!(client.read_response().unwrap().parts[0], Part::Ok(_)));
    assert_eq!(client.read_response().unwrap().failure().unwrap().code, 1064);
}

#[test]
fn a_local_file_is_loaded() {
    let server = plain();
    let mut client = server.admin().unwrap();
    client.must("CREATE DATABASE d").unwrap();
    client.must("CREATE TABLE d.t (a INT)").unwrap();
    client.local_file = b"1\n2\n3\n".to_vec();
    client.must("LOAD DATA LOCAL INFILE 'f' INTO TABLE d.t").unwrap();
    assert_eq!(client.scalar("SELECT SUM(a) FROM d.t").unwrap().as_deref(), Some("6"));
}

#[test]
fn a_killed_server_comes_back_with_its_data() {
    let mut server = plain();
    server.admin().unwrap().must("CREATE DATABASE kept").unwrap();
    assert!(server.resident_bytes().unwrap() > 1 << 20);
    server.cpu_time().unwrap();
    server.kill9().unwrap();
    server.restart().unwrap();
    server.admin().unwrap().must("USE kept").unwrap();
    server.shutdown().unwrap();
}
