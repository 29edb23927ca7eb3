//! TLS between client and near cache, between near cache and server, on both legs, and between client and server.

use crate::beside::{self, Certificates, Near, mariadb, near, near_with};
use fqc_tests::client::{Client, Login};
use fqc_tests::server::{Options, Server};
use std::process::Command;

/// Starts MariaDB with TLS, and with two accounts: `u`, and `s`, which must use TLS. Both have the password `secret`.
fn server(certificates: &Certificates) -> Server {
    let server =
        Server::start(Options { arguments: certificates.of_server(), ..Options::default() }).expect("a server");
    let mut admin = server.admin().expect("a connection");
    admin.must("CREATE USER u@'%' IDENTIFIED BY 'secret'").expect("an account");
    admin.must("CREATE USER s@'%' IDENTIFIED BY 'secret' REQUIRE SSL").expect("an account");
    server
}

/// Logs in through the near cache with the stock client. `tls`: the client's arguments for TLS. Returns the cipher between near cache and
/// server, empty without TLS, followed by the account; or the client's error.
fn cipher(near: &Near, user: &str, tls: &[&str]) -> Result<String, String> {
    let port = format!("--port={}", near.port());
    let user = format!("--user={user}");
    let arguments = [&[port.as_str(), &user, "--password=secret"], tls].concat();
    let told = mariadb(&arguments, "SHOW STATUS LIKE 'Ssl_cipher'; SELECT CURRENT_USER()")?;
    Ok(told.replace("Ssl_cipher", "").split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the arguments of `fqc-near` for TLS to clients.
fn of_clients(certificates: &Certificates) -> [String; 4] {
    ["--tls-certificate".into(), certificates.file("cert.pem"), "--tls-key".into(), certificates.file("key.pem")]
}

/// Returns the arguments of `fqc-near` for TLS to the server. `kind`: the value of `server-tls`.
fn of_server(certificates: &Certificates, kind: &str) -> [String; 4] {
    ["--server-tls".into(), kind.into(), "--server-ca".into(), certificates.file("ca.pem")]
}

fn slices(parts: &[String]) -> Vec<&str> {
    parts.iter().map(String::as_str).collect()
}

/// The stock client's argument for a connection without TLS.
const PLAIN: &[&str] = &["--skip-ssl"];

#[test]
fn without_certificates_tls_passes_from_end_to_end_unread() {
    let certificates = Certificates::of("localhost");
    let server = server(&certificates);
    let near = near(&server, &[]);
    let ca = format!("--ssl-ca={}", certificates.file("ca.pem"));
    assert!(cipher(&near, "s", &["--ssl", &ca]).expect("a connection").ends_with(" s@%"));
    assert_eq!(near.metric("unread_connections_total{reason=\"end_to_end_tls\"}"), 1);
    assert_eq!(cipher(&near, "u", PLAIN).as_deref(), Ok("u@%"));
    assert!(cipher(&near, "s", PLAIN).expect_err("it is refused").contains("Access denied"));
}

#[test]
fn a_plain_client_reaches_a_server_that_demands_tls() {
    let certificates = Certificates::of("db.internal");
    let server = server(&certificates);
    let name = ["--server-name".to_owned(), "db.internal".into()];
    for options in
        [slices(&of_server(&certificates, "ca")), slices(&[&of_server(&certificates, "name")[..], &name].concat())]
    {
        let near = near(&server, &options);
        let told = cipher(&near, "s", PLAIN).expect("a connection");
        assert!(told.ends_with(" s@%") && told.len() > 10, "{told}");
        let mut client = near.login("s", "secret").expect("a connection");
        assert_eq!(client.scalar("SELECT 1").expect("an answer").as_deref(), Some("1"));
        let long = format!("SELECT LENGTH('{}')", "x".repeat(17 << 20));
        assert_eq!(client.scalar(&long).expect("an answer"), Some((17 << 20).to_string()));
        assert!(client.change_user(&Login::user("u", "secret")).expect("an answer").failure().is_none());
        assert!(near.login("s", "wrong").err().expect("it is refused").to_string().contains("1045"));
    }
}

#[test]
fn a_server_that_cannot_prove_who_it_is_gets_no_login() {
    let (certificates, others) = (Certificates::of("db.internal"), Certificates::of("db.internal"));
    let server = server(&certificates);
    let wrong_name = ["--server-name".to_owned(), "other.internal".into()];
    let cases = [
        slices(&of_server(&others, "ca")).into_iter().map(str::to_owned).collect::<Vec<_>>(),
        [&of_server(&certificates, "name")[..], &wrong_name].concat(),
        of_server(&certificates, "name").to_vec(),
    ];
    for case in cases {
        let near = near(&server, &slices(&case));
        let refused = near.login("s", "secret").err().expect("it is refused").to_string();
        assert!(refused.contains("1043") && refused.contains("no TLS connection to 127.0.0.1:"), "{case:?}: {refused}");
        assert!(near.log().contains("a client was refused: no TLS connection to"), "{}", near.log());
    }
}

#[test]
fn a_server_without_tls_gets_no_login_where_tls_is_demanded() {
    let certificates = Certificates::of("localhost");
    let plain = beside::server_with(&["--skip-ssl"]);
    let near = near(&plain, &slices(&of_server(&certificates, "ca")));
    let refused = near.login("root", "").err().expect("it is refused").to_string();
    assert!(refused.contains("offers no TLS, which server-tls demands"), "{refused}");
}

#[test]
fn both_legs_have_tls_of_their_own() {
    let (certificates, own) = (Certificates::of("db.internal"), Certificates::of("localhost"));
    let server = server(&certificates);
    let near = near(&server, &slices(&[&of_clients(&own)[..], &of_server(&certificates, "ca")].concat()));
    let ca = format!("--ssl-ca={}", own.file("ca.pem"));
    let servers_ca = format!("--ssl-ca={}", certificates.file("ca.pem"));
    let told = cipher(&near, "s", &["--ssl", &ca]).expect("a connection");
    assert!(told.ends_with(" s@%"), "{told}");
    assert!(cipher(&near, "s", &["--ssl", &servers_ca]).is_err(), "the certificate is this relay's own");
    assert!(cipher(&near, "s", PLAIN).expect("a connection").ends_with(" s@%"));
    assert_eq!(near.metric("unread_connections_total{reason=\"end_to_end_tls\"}"), 0);
    assert_eq!(near.metric("unread_connections_total{reason=\"not_understood\"}"), 0);
}

#[test]
fn clients_by_tcp_can_be_made_to_use_tls() {
    let (certificates, own) = (Certificates::of("db.internal"), Certificates::of("localhost"));
    let server = server(&certificates);
    let options = [&of_clients(&own)[..], &of_server(&certificates, "ca"), &["--tls-required=yes".into()]].concat();
    let near = near(&server, &slices(&options));
    let ca = format!("--ssl-ca={}", own.file("ca.pem"));
    assert!(cipher(&near, "u", &["--ssl", &ca]).is_ok());
    let refused = near.login("u", "secret").err().expect("it is refused").to_string();
    assert!(refused.contains("3159") && refused.contains("insecure transport"), "{refused}");
    assert!(Client::connect(&near.unix(), &Login::user("u", "secret")).is_ok());
}

#[test]
fn tls_towards_clients_alone_is_refused_since_they_may_send_a_password_in_clear_text() {
    let own = Certificates::of("localhost");
    let checked = Command::new(beside::program())
        .args(["--check", "--server", "127.0.0.1:1"])
        .args(of_clients(&own))
        .output()
        .expect("it runs");
    assert_eq!(checked.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&checked.stderr).contains("set server-tls, too"), "{checked:?}");
}

#[test]
fn garbage_instead_of_tls_costs_one_connection() {
    use std::io::{Read, Write};
    let (certificates, own) = (Certificates::of("db.internal"), Certificates::of("localhost"));
    let server = server(&certificates);
    let near = near(&server, &slices(&[&of_clients(&own)[..], &of_server(&certificates, "ca")].concat()));
    let mut client = std::net::TcpStream::connect(("127.0.0.1", near.port())).expect("a connection");
    let request = [&[32, 0, 0, 1][..], &0x8a00_u32.to_le_bytes(), &[0; 28]].concat();
    client.write_all(&request).expect("it is sent");
    client.write_all(&[0x42; 4096]).expect("it is sent");
    let mut rest = Vec::new();
    // The connection may be closed or reset.
    let _ = client.read_to_end(&mut rest);
    near.wait_for_metric("connections_refused_total{reason=\"lost\"}", |count| count == 1);
    assert!(near.login("u", "secret").is_ok());
}

#[test]
fn a_new_certificate_is_shown_after_a_reload() {
    let (certificates, own, later) =
        (Certificates::of("db.internal"), Certificates::of("localhost"), Certificates::of("localhost"));
    let server = server(&certificates);
    let address = format!("127.0.0.1:{}", server.port());
    let options = [&of_clients(&own)[..], &of_server(&certificates, "ca")].concat();
    let near = near_with(&[&["--server", &address][..], &slices(&options)].concat());
    let new_ca = format!("--ssl-ca={}", later.file("ca.pem"));
    assert!(cipher(&near, "u", &["--ssl", &new_ca]).is_err());
    for file in ["cert.pem", "key.pem"] {
        std::fs::copy(later.file(file), own.file(file)).expect("a copy");
    }
    near.signal(libc::SIGHUP);
    beside::wait_until("the reload", || near.log().contains("reloaded"));
    assert!(cipher(&near, "u", &["--ssl", &new_ca]).is_ok());
}
