//! The process: its configuration, reload and drain, and malformed input from clients and servers.

use crate::beside::{self, Folder, LIMIT, near, near_with, server, wait_until};
use fqc_tests::checkout;
use fqc_tests::client::{Client, Endpoint, Login};
use fqc_tests::random::Random;
use fqc_tests::server::{Options, Product, Server};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::thread;

/// Runs `fqc-near` until it ends. Returns its exit status, which is none after a signal, its output, and its errors.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(beside::program()).args(arguments).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_wrong_configuration_is_told_before_anything_listens() {
    let (code, _, error) = run(&["--server", "db", "--max-connections", "many"]);
    assert_eq!(code, Some(2));
    assert_eq!(
        error.trim(),
        "fqc-near: max-connections = \"many\" (from --max-connections): must be a number from 1 to 100000"
    );
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let (code, _, error) = run(&["--server", "db", "--metrics=off", "--listen", &address]);
    assert_eq!(code, Some(1));
    assert!(error.contains(&format!("cannot listen on {address}: Address already in use")), "{error}");
}

#[test]
fn a_file_is_checked_without_starting() {
    let folder = Folder::fresh();
    let file = folder.write("near.toml", "server = 'db:3306'\nlisten = ['127.0.0.1:3307', '/run/x.sock']\n");
    assert_eq!(run(&["--check", "--config", &file]).1, "the configuration is valid\n");
    let file = folder.write("near.toml", "server = 'db:3306'\nlistne = 1\n");
    let (code, _, error) = run(&["--check", "--config", &file]);
    assert_eq!(code, Some(2));
    assert!(error.contains("unknown option `listne`"), "{error}");
}

#[test]
fn help_and_man_page_tell_every_option() {
    let (help, man) = (run(&["--help"]).1, run(&["--man"]).1);
    for option in near::options::OPTIONS {
        assert!(help.contains(&format!("  --{} {}", option.name, option.value)), "{}", option.name);
        assert!(man.contains(&option.name.replace('-', "\\-")) && man.contains(&option.variable()), "{}", option.name);
    }
    let longest = help.lines().map(str::len).max();
    assert!(longest < Some(80), "a line of the help is wider than a terminal: {longest:?}");
    assert!(run(&["--version"]).1.starts_with("fqc-near "));
}

#[test]
fn the_reference_lists_the_options_as_they_are() {
    let path = checkout::file("../docs/reference/near.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let table = near::manual::table();
    assert!(page.contains(&table), "docs/reference/near.md must have this table:\n{table}");
}

#[test]
fn a_reload_takes_over_what_can_change_and_keeps_the_rest() {
    let server = server();
    let folder = Folder::fresh();
    let options =
        |connections: &str| format!("server = '127.0.0.1:{}'\nmax-connections = {connections}\n", server.port());
    let file = folder.write("near.toml", &options("1"));
    let near = near_with(&["--config", &file]);
    let mut first = near.client();
    assert!(Client::root(&near.tcp()).is_err());
    folder.write("near.toml", &options("2"));
    near.signal(libc::SIGHUP);
    wait_until("the reload", || near.log().contains("reloaded; new connections"));
    let second = near.client();
    folder.write("near.toml", &options("'few'"));
    near.signal(libc::SIGHUP);
    wait_until("the refusal", || near.log().contains("nothing was reloaded: max-connections = \"few\""));
    drop(second);
    near.wait_for_metric("connections", |open| open == 1);
    let mut third = near.client();
    for client in [&mut first, &mut third] {
        assert_eq!(client.scalar("SELECT 1").expect("an answer").as_deref(), Some("1"));
    }
    folder.write("near.toml", &format!("{}threads = 3\n", options("2")));
    near.signal(libc::SIGHUP);
    wait_until("the word", || near.log().contains("stay as they are until a restart"));
}

#[test]
fn a_drain_waits_for_transactions_and_for_answers() {
    let server = server();
    let mut near = near(&server, &[]);
    let mut idle = near.client();
    let mut open = near.client();
    open.must("BEGIN").expect("a transaction");
    let mut asking = near.client();
    asking.send(3, b"SELECT GET_LOCK('l', 1000)").expect("it is sent");
    assert!(asking.read_response().expect("an answer").failure().is_none());
    let mut waiting = near.client();
    waiting.send(3, b"SELECT GET_LOCK('l', 1000)").expect("it is sent");
    near.wait_for_metric("commands_total", |commands| commands == 3);
    let tcp = near.tcp();
    near.signal(libc::SIGTERM);
    assert_eq!(near.state(), "STOPPING=1");
    // `asking` is idle, so the drain ends it. That frees its lock, which `waiting` then gets.
    assert!(waiting.read_response().expect("an answer").failure().is_none());
    wait_until("the end of the idle one", || idle.ping().is_err());
    assert!(Client::root(&tcp).is_err(), "nobody new is taken");
    assert!(near.get("/healthz").contains("503"));
    assert!(near.is_running());
    open.must("COMMIT").expect("it is committed");
    assert!(near.ended().success());
    assert!(!near.socket().exists());
}

#[test]
fn what_does_not_end_in_time_is_ended() {
    let server = server();
    let mut near = near(&server, &["--drain-timeout-seconds", "1"]);
    let mut open = near.client();
    open.must("BEGIN").expect("a transaction");
    near.signal(libc::SIGTERM);
    assert!(near.ended().success());
    assert!(near.log().contains("1 connections did not end in time"), "{}", near.log());
    assert!(open.ping().is_err());
}

#[test]
fn a_second_signal_ends_at_once() {
    let server = server();
    let mut near = near(&server, &["--drain-timeout-seconds", "3600"]);
    let mut open = near.client();
    open.must("BEGIN").expect("a transaction");
    near.signal(libc::SIGTERM);
    assert_eq!(near.state(), "STOPPING=1");
    near.signal(libc::SIGTERM);
    assert!(near.ended().success());
}

#[test]
fn the_socket_of_a_process_that_was_killed_is_taken_over_and_one_in_use_is_not() {
    let server = server();
    let folder = Folder::fresh();
    let socket = folder.file("stale");
    drop(std::os::unix::net::UnixListener::bind(&socket).expect("a socket"));
    let near = near(&server, &[]);
    let address = format!("127.0.0.1:{}", server.port());
    let mut child = Command::new(beside::program())
        .args(["--server", &address, "--metrics=off", "--listen", &socket])
        .spawn()
        .expect("it starts");
    wait_until("the listener", || std::os::unix::net::UnixStream::connect(&socket).is_ok());
    child.kill().and_then(|()| child.wait()).expect("it ends");
    let used = near.socket();
    let (code, _, error) = run(&["--server", &address, "--metrics=off", "--listen", used.to_str().expect("a path")]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("Address already in use"), "{error}");
    near.client();
}

#[test]
fn root_does_not_lend_its_name_to_clients_of_a_servers_socket() {
    // SAFETY: geteuid has no preconditions.
    let is_root = unsafe { libc::geteuid() } == 0;
    let (code, _, error) = run(&["--check", "--server", "/run/mysqld/mysqld.sock"]);
    assert_eq!(code, Some(if is_root { 2 } else { 0 }));
    assert_eq!(error.contains("run fqc-near under an account of its own"), is_root);
}

/// Clients send bytes that no proper client would send, at each stage of a connection. Checks that `fqc-near` goes on, and that another
/// client is still served.
#[test]
fn garbage_from_clients_costs_each_its_own_connection() {
    let server = server();
    let mut near = near(&server, &[]);
    let mut other = near.client();
    let mut random = Random::new(7);
    let hello = [&[36, 0, 0, 1][..], &0x8a00_u32.to_le_bytes(), &[0; 28], b"a\0b\0"].concat();
    for round in 0..200 {
        let mut client = TcpStream::connect(("127.0.0.1", near.port())).expect("a connection");
        let mut garbage: Vec<u8> = (0..random.below(300)).map(|_| random.below(256) as u8).collect();
        match round % 4 {
            0 => garbage.splice(0..0, [0xff, 0xff, 0xff, 1]).for_each(drop),
            1 => garbage.splice(0..0, hello.iter().copied()).for_each(drop),
            2 => garbage.clear(),
            _ => {}
        }
        let _ = client.write_all(&garbage);
        if round % 3 == 0 {
            let _ = client.shutdown(std::net::Shutdown::Write);
            let _ = client.read_to_end(&mut Vec::new());
        }
    }
    for _ in 0..100 {
        let mut client = near.client();
        let garbage: Vec<u8> = (0..random.below(300)).map(|_| random.below(256) as u8).collect();
        // COM_SHUTDOWN would be a valid command, and would end the server.
        if garbage.get(4) != Some(&8) {
            let _ = client.send_raw(&garbage);
        }
        client.abort();
    }
    assert_eq!(other.scalar("SELECT 1").expect("an answer").as_deref(), Some("1"));
    near.wait_for_metric("connections", |open| open == 1);
    assert!(near.is_running() && !near.log().contains("panicked"), "{}", near.log());
}

/// A server sends random bytes, some of them after a valid greeting or login. Checks that `fqc-near` goes on, and that each connection
/// ends.
#[test]
fn garbage_from_a_server_costs_each_client_its_own_connection() {
    let real = server();
    let greeting = {
        let mut stream = TcpStream::connect(("127.0.0.1", real.port())).expect("a connection");
        let mut start = [0; 4];
        stream.read_exact(&mut start).expect("a header");
        let mut payload = vec![0; usize::from(start[0])];
        stream.read_exact(&mut payload).expect("a greeting");
        [&start[..], &payload].concat()
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    const ROUNDS: usize = 200;
    let hostile = thread::spawn(move || {
        let mut random = Random::new(11);
        for round in 0..ROUNDS {
            let (mut stream, _) = listener.accept().expect("a client");
            let garbage: Vec<u8> = (0..random.below(400)).map(|_| random.below(256) as u8).collect();
            let truth = [&greeting[..], &[7, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0]].concat();
            let cut = random.below(truth.len() + 1);
            let said = match round % 4 {
                0 => garbage,
                1 => [&greeting[..], &garbage].concat(),
                2 => [&truth[..], &garbage].concat(),
                _ => truth[..cut].to_vec(),
            };
            let _ = stream.write_all(&said);
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
    });
    let mut near = near_with(&["--server", &address, "--connect-timeout-seconds", "5"]);
    for _ in 0..ROUNDS {
        let mut client = TcpStream::connect(("127.0.0.1", near.port())).expect("a connection");
        client.set_read_timeout(Some(LIMIT)).expect("a limit");
        let hello = [&[36, 0, 0, 1][..], &0x8200_u32.to_le_bytes(), &[0; 28], b"a\0b\0"].concat();
        let _ = client.write_all(&[&hello[..], &[9, 0, 0, 0, 3], b"SELECT 1"].concat());
        let _ = client.read_to_end(&mut Vec::new());
    }
    hostile.join().expect("it has ended");
    near.wait_for_metric("connections", |open| open == 0);
    assert!(near.is_running() && !near.log().contains("panicked"), "{}", near.log());
}

/// Checks both kinds of login by `caching_sha2_password`. The first login of an account is a full one, over TLS or with the server's public
/// key. Then the server has cached the account, and later logins are short.
#[test]
fn accounts_of_mysql_log_in() {
    let options = Options { product: Product::MySql, ..Options::default() };
    let server = match Server::start(options) {
        Ok(server) => server,
        Err(error) if error.to_string().contains("No such file") => {
            println!("NOT TESTED: LOGINS OF MYSQL, OF WHICH NO SERVER COULD BE HAD");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let mut admin = server.admin().expect("a connection");
    admin.must("CREATE USER u@'%' IDENTIFIED WITH caching_sha2_password BY 'secret'").expect("an account");
    let near = near(&server, &[]);
    let program = Product::MySql.client().expect("its client");
    let port = format!("--port={}", near.port());
    let ask = |tls: &[&str], password: &str| {
        let arguments = [&[port.as_str(), "--user=u", password], tls].concat();
        beside::stock_client(&program, &arguments, "SELECT CURRENT_USER()")
    };
    let plain = ["--ssl-mode=DISABLED", "--get-server-public-key"];
    assert!(ask(&plain, "--password=wrong").is_err());
    // The first login is a full one, with the server's public key, the second one is short.
    for _ in 0..2 {
        assert_eq!(ask(&plain, "--password=secret").as_deref(), Ok("u@%"));
    }
    assert_eq!(ask(&["--ssl-mode=REQUIRED"], "--password=secret").as_deref(), Ok("u@%"));
    assert_eq!(near.metric("unread_connections_total{reason=\"end_to_end_tls\"}"), 1);
    let mut client = near.login("u", "secret").expect("the short way");
    assert_eq!(client.scalar("SELECT 1").expect("an answer").as_deref(), Some("1"));
}

#[test]
fn rules_of_other_products_become_rules_that_are_valid() {
    let folder = Folder::fresh();
    let cases = [
        (
            "proxysql",
            "mysql_query_rules = ( { rule_id=1, match_digest=\"^SELECT .* FROM t\", cache_ttl=500, client_addr=\"::1\" },\n\
                { rule_id=2, match_digest=\"^SELECT\", cache_ttl=1000, apply=1 } )",
            "line 1, rule 1: client_addr cannot be carried over",
        ),
        ("maxscale", "[c]\nmodule=cache\nhard_ttl=5s\nusers=mixed\n", "line 4, [c]: users is not carried over"),
    ];
    for (product, text, note) in cases {
        let file = folder.write("theirs", text);
        let (code, rules, notes) = run(&["import", product, &file]);
        assert_eq!(code, Some(0), "{notes}");
        assert!(notes.contains(&format!("{file}: {note}")), "{notes}");
        let rules = folder.write("rules.toml", &rules);
        assert_eq!(run(&["--check", "--server", "db", "--rules", &rules]).1, "the configuration is valid\n");
    }
    let (code, _, error) = run(&["import", "varnish", "file"]);
    assert_eq!((code, error.trim()), (Some(2), "fqc-near: usage: fqc-near import proxysql|maxscale FILE"));
    let (code, _, error) = run(&["import", "proxysql", "/no/file"]);
    assert_eq!(code, Some(2));
    assert!(error.starts_with("fqc-near: cannot read /no/file: No such file"), "{error}");
}

#[test]
fn a_log_that_cannot_be_written_ends_nothing() {
    let server = server();
    let folder = Folder::fresh();
    let socket = folder.file("socket");
    let states = UnixDatagram::bind(folder.file("notify")).expect("a socket");
    states.set_read_timeout(Some(LIMIT)).expect("a limit");
    let mut process = Command::new(beside::program())
        .args(["--server", &format!("127.0.0.1:{}", server.port()), "--listen", &socket, "--metrics", "off"])
        .env("NOTIFY_SOCKET", folder.file("notify"))
        .stderr(fs::File::options().write(true).open("/dev/full").expect("a full disk"))
        .spawn()
        .expect("it starts");
    states.recv(&mut [0; 64]).expect("it is ready");
    // A refused client is logged, too, which must not fail on the full disk.
    assert!(Client::connect(&Endpoint::Unix((&socket).into()), &Login::user("nobody", "wrong")).is_err());
    let mut client = Client::root(&Endpoint::Unix((&socket).into())).expect("a connection");
    assert_eq!(client.scalar("SELECT 1").expect("an answer").as_deref(), Some("1"));
    drop(client);
    // SAFETY: the process is this test's own and has not been waited for.
    assert_eq!(unsafe { libc::kill(process.id() as i32, libc::SIGTERM) }, 0);
    assert!(process.wait().expect("it ends").success());
}
