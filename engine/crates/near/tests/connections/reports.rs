//! Reports to the control plane: their content, who receives the token, and that no client waits for them. The control plane is simulated
//! here; `backend/fqc/tests/test_near.py` tests the program with the real one.

use crate::beside::{self, Certificates, Folder, LIMIT, Near, near, wait_until};
use fqc_tests::server::{Options, Server};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

/// A rule for `d.t` with a time to live that is longer than a test takes.
const RULES: &str = "[[rule]]\ntable = 'd.t'\ncache = 'always'\nttl = 3600\n";
const READ: &str = "SELECT v FROM d.t";

/// Starts MariaDB without the plugin, with one row in `d.t`.
fn database() -> Server {
    let server = Server::start(Options::default()).expect("a server");
    let mut admin = server.admin().expect("a connection");
    let statements = ["CREATE DATABASE d", "CREATE TABLE d.t (v INT)", "INSERT INTO d.t VALUES (1)"];
    statements.iter().for_each(|one| drop(admin.must(one).expect(one)));
    server
}

/// Starts a simulated control plane that answers each request with `answer`: a status, a space and a body. With certificates, it uses TLS.
/// Returns its port, and a channel with the requests that it receives, each with its head and body.
fn control_plane(certificates: Option<&Certificates>, answer: &'static str) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let tls = certificates.map(|certificates| Arc::new(tls(certificates)));
    let (asked, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = match &tls {
                None => told(stream, &asked, answer),
                Some(tls) => {
                    let connection = ServerConnection::new(tls.clone()).expect("a connection");
                    told(StreamOwned::new(connection, stream), &asked, answer)
                }
            };
        }
    });
    (port, requests)
}

/// Returns the TLS of a server with this certificate.
fn tls(certificates: &Certificates) -> ServerConfig {
    let chain = CertificateDer::pem_file_iter(certificates.file("cert.pem")).expect("certificates");
    let chain = chain.collect::<Result<_, _>>().expect("certificates");
    let key = PrivateKeyDer::from_pem_file(certificates.file("key.pem")).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    builder.expect("versions").with_no_client_auth().with_single_cert(chain, key).expect("a certificate")
}

/// Reads one request, answers it, and sends it to `asked`. A connection that ends early is ignored.
fn told(mut stream: impl Read + Write, asked: &Sender<String>, answer: &str) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !is_whole(&request) {
        let count = stream.read(&mut piece)?;
        if count == 0 {
            return Ok(());
        }
        request.extend_from_slice(&piece[..count]);
    }
    let (status, body) = answer.split_once(' ').expect("a status and a body");
    write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
    stream.flush()?;
    let _ = asked.send(String::from_utf8(request).expect("text"));
    Ok(())
}

/// Returns true if the request has come with its whole body.
fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).expect("a length");
    body.len() == length.parse::<usize>().expect("a number")
}

/// A near cache that reports to a control plane, and the folder with its rules and its token.
struct Reporting {
    near: Near,
    folder: Folder,
}

/// Starts a near cache called `shop-1` with rules that reports to the control plane at `url` with the token `one`. `more`: additional
/// arguments.
fn reporting(server: &Server, url: &str, more: &[&str]) -> Reporting {
    let folder = Folder::fresh();
    let (rules, token) = (folder.write("rules.toml", RULES), folder.write("token", "one\n"));
    let own = ["--rules", &rules, "--control-plane", url, "--control-plane-token-file", &token, "--name", "shop-1"];
    let near = near(server, &[&own, more].concat());
    Reporting { near, folder }
}

/// Waits for the next report, and returns its HTTP head and its JSON.
fn next(requests: &Receiver<String>) -> (String, serde_json::Value) {
    let request = requests.recv_timeout(LIMIT).expect("a report");
    let (head, body) = request.split_once("\r\n\r\n").expect("a body");
    (head.into(), serde_json::from_str(body).expect("JSON"))
}

#[test]
fn a_control_plane_that_proves_its_name_is_told_what_was_answered() {
    let (server, certificates) = (database(), Certificates::of("localhost"));
    let (port, requests) = control_plane(Some(&certificates), "200 {\"next_seconds\": 1}");
    let url = format!("https://localhost:{port}");
    let here = reporting(&server, &url, &["--control-plane-ca", &certificates.file("ca.pem")]);
    let (head, first) = next(&requests);
    assert!(head.starts_with("POST /api/v1/near-caches/reports HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nAuthorization: Bearer one\r\n"), "{head}");
    let mut client = here.near.client();
    (0..3).for_each(|_| drop(client.must(READ).expect("an answer")));
    here.near.wait_for_metric("hits_total", |hits| hits == 2);
    let mut told = next(&requests).1;
    while told["hits"] != 2 {
        told = next(&requests).1;
    }
    assert_eq!(told["life"], first["life"]);
    let facts = ["name", "mode", "obstacle", "entries", "misses", "is_leaving"].map(|name| told[name].to_string());
    assert_eq!(facts, ["\"shop-1\"", "\"rules\"", "\"\"", "1", "1", "false"]);
    assert_eq!(told["server"], format!("127.0.0.1:{}", server.port()));
    here.folder.write("token", "two\n");
    wait_until("another token", || next(&requests).0.contains("Bearer two"));
    here.near.signal(libc::SIGTERM);
    wait_until("a farewell", || next(&requests).1["is_leaving"] == true);
}

#[test]
fn a_control_plane_that_cannot_prove_its_name_gets_no_token() {
    let server = database();
    let (certificates, others) = (Certificates::of("other.internal"), Certificates::of("localhost"));
    let (port, requests) = control_plane(Some(&certificates), "200 {\"next_seconds\": 1}");
    for authority in [&certificates, &others] {
        let url = format!("https://localhost:{port}");
        let here = reporting(&server, &url, &["--control-plane-ca", &authority.file("ca.pem")]);
        wait_until("the trouble", || here.near.log().contains("no report to https://localhost"));
        assert!(here.near.log().contains("invalid peer certificate"), "{}", here.near.log());
    }
    assert!(requests.try_recv().is_err());
}

#[test]
fn a_refusal_is_told_in_its_words() {
    let server = database();
    let (port, _requests) = control_plane(None, "401 {\"detail\": \"The token is unknown\"}");
    let here = reporting(&server, &format!("http://127.0.0.1:{port}"), &[]);
    let told = format!("no report to http://127.0.0.1:{port}: it answers 401: The token is unknown");
    wait_until("the refusal", || here.near.log().contains(&told));
}

#[test]
fn nobody_waits_for_a_control_plane_that_does_not_answer() {
    let server = database();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", silent.local_addr().expect("an address"));
    let mut here = reporting(&server, &url, &[]);
    let given_up = |here: &Reporting| here.near.log().matches("no report to").count();
    let begun = Instant::now();
    // A report is given up after ten seconds. If the reads and the reload end earlier, they have not waited for it. On a busy machine they
    // may end later for another reason, so this is tried again.
    let held = loop {
        let (before, held) = (given_up(&here), silent.accept().expect("a report").0);
        let mut client = here.near.client();
        (0..100).for_each(|_| drop(client.must(READ).expect("an answer")));
        here.near.signal(libc::SIGHUP);
        wait_until("the reload", || here.near.log().contains("reloaded; new connections"));
        if given_up(&here) == before {
            break held;
        }
        assert!(begun.elapsed() < LIMIT, "reads and the reload end after the report: {}", here.near.log());
    };
    assert!(here.near.metric("hits_total") >= 99);
    here.near.signal(libc::SIGTERM);
    assert!(here.near.ended().success());
    drop(held);
}

#[test]
fn options_that_count_twice_or_have_nothing_to_tell_are_refused() {
    let folder = Folder::fresh();
    let (rules, token) = (folder.write("rules.toml", RULES), folder.write("token", "one\n"));
    let refused = |arguments: &[&str]| {
        let mut command = std::process::Command::new(beside::program());
        let output = command.args(["--server", "db", "--check"]).args(arguments).output();
        String::from_utf8(output.expect("it runs").stderr).expect("text")
    };
    let url = ["--control-plane", "http://127.0.0.1:8000"];
    let whole = [&url[..], &["--control-plane-token-file", &token]].concat();
    assert!(refused(&[&url[..], &["--rules", &rules]].concat()).contains("needs control-plane-token-file"));
    assert!(refused(&["--control-plane-token-file", &token]).contains("needs control-plane"));
    assert!(refused(&whole).contains("needs rules, hints or binlog-user"));
    assert!(refused(&[&whole[..], &["--feed-user", "feed"]].concat()).contains("the server tells the control plane"));
    assert_eq!(refused(&[&whole[..], &["--rules", &rules]].concat()), "");
    let observe = ["--observe", "yes"];
    assert!(refused(&observe).contains("needs binlog-user, rules or hints"));
    assert!(refused(&[&observe[..], &["--feed-user", "feed"]].concat()).contains("SET GLOBAL fqc_observe = ON"));
    assert!(
        refused(&[&observe[..], &["--rules", &rules, "--share", "/tmp/s"]].concat()).contains("goes without share")
    );
    assert_eq!(refused(&[&observe[..], &["--rules", &rules]].concat()), "");
}
