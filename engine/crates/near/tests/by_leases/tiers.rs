//! A near cache whose server is another near cache.

use crate::beside::scene::{READ, Scene, ask, attached};
use crate::beside::{self, Folder, Near, near_with, wait_until};
use fqc_tests::client::Client;
use fqc_tests::server::{Options, Server};

/// A rule for all tables of `d` with a time to live that is longer than a test takes.
const LONG: &str = "[[rule]]\ntable = 'd.%'\ncache = 'always'\nttl = 3600\n";
/// A read of another table than [`READ`], `d.u`.
const OTHER: &str = "SELECT v FROM d.u";

/// Starts a near cache whose server is `gateway`, another near cache. `arguments`: additional ones.
fn before(gateway: &Near, arguments: &[&str]) -> Near {
    near_with(&[&["--server", &format!("127.0.0.1:{}", gateway.port())], arguments].concat())
}

/// Starts a near cache that serves by these rules and whose server is `gateway`, another near cache.
fn by_rules_before(gateway: &Near, rules: &str) -> Near {
    let folder = Folder::fresh();
    before(gateway, &["--rules", &folder.write("rules.toml", rules)])
}

/// Writes a value on the server itself, so that no near cache sees the write.
fn set(server: &Server, value: u32) {
    let mut direct = Client::root(&server.endpoint()).expect("a connection");
    direct.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).expect("it is written");
}

/// Returns how many reads each near cache has answered from memory.
fn hits(nears: [&Near; 2]) -> [u64; 2] {
    nears.map(|near| near.metric("hits_total"))
}

/// Repeats a read until the near cache answers it from memory.
fn fill(near: &Near, client: &mut Client, read: &str) {
    wait_until("what is kept", || {
        let before = near.metric("hits_total");
        ask(client, read);
        near.metric("hits_total") > before
    });
}

#[test]
fn by_rules_before_leases_each_tier_has_its_hits() {
    let scene = Scene::of(1);
    let gateway = scene.near();
    let near = by_rules_before(gateway, LONG);
    let (mut filler, mut client) = (gateway.client(), near.client());
    ask(&mut client, READ);
    // A read that is not in the first cache is answered by the gateway, and is then in both.
    let (mut read, mut number) = (String::new(), 0);
    wait_until("an answer of the gateway", || {
        number += 1;
        read = format!("{READ} /* {number} */");
        fill(gateway, &mut filler, &read);
        let before = hits([&near, gateway]);
        assert_eq!(ask(&mut client, &read), "1");
        hits([&near, gateway]) == [before[0], before[1] + 1]
    });
    set(&scene.server, 7);
    assert_eq!(ask(&mut filler, &read), "7", "leases: never outdated");
    let before = hits([&near, gateway]);
    assert_eq!(ask(&mut client, &read), "1", "rules: it may be");
    assert_eq!(hits([&near, gateway]), [before[0] + 1, before[1]]);
    assert_eq!(ask(&mut near.client(), "SHOW FQC STATUS LIKE 'Cache'"), "Cache,ON, beside the application, by rules");
    assert_eq!(ask(&mut filler, "SHOW FQC STATUS LIKE 'Cache'"), "Cache,ON, beside the application");
}

/// Checks that a near cache does not serve connections of another one, which it recognises by their query for the session's context. If
/// both served by rules, the times to live would add up, and a client could get a result from before its own write.
#[test]
fn one_by_rules_stands_aside_for_one_that_keeps_what_it_is_told() {
    let server = Server::start(Options::default()).expect("a server");
    let mut admin = server.admin().expect("a connection");
    let statements = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO d.t VALUES (1, 1), (2, 2)",
        "CREATE TABLE d.u (v INT)",
        "INSERT INTO d.u VALUES (1)",
    ];
    statements.iter().for_each(|one| drop(admin.must(one).expect(one)));
    let folder = Folder::fresh();
    let gateway = beside::near(&server, &["--rules", &folder.write("rules.toml", LONG)]);
    let (near, elsewhere) = (by_rules_before(&gateway, LONG), by_rules_before(&gateway, LONG));
    let (mut writer, mut reader, mut direct) = (near.client(), near.client(), gateway.client());
    let mut other = elsewhere.client();
    for (of, client) in [&mut writer, &mut reader, &mut direct, &mut other].into_iter().enumerate() {
        // No other client sends these reads, so they go to the gateway. After the second one, the gateway also knows the session context.
        (0..2).for_each(|number| drop(ask(client, &format!("{OTHER} /* {of} {number} */"))));
    }
    assert_eq!((ask(&mut other, READ), ask(&mut direct, READ)), ("1".into(), "1".into()));
    let by_gateway = gateway.metric("hits_total");
    assert_eq!(ask(&mut direct, READ), "1");
    assert_eq!(gateway.metric("hits_total"), by_gateway + 1, "it serves others");
    ask(&mut writer, "UPDATE d.t SET v = 2 WHERE id = 1");
    assert_eq!(ask(&mut reader, READ), "2", "read after the write");
    assert_eq!(ask(&mut writer, READ), "2", "its own");
    let before = hits([&near, &gateway]);
    assert_eq!(ask(&mut writer, READ), "2");
    assert_eq!(hits([&near, &gateway]), [before[0] + 1, before[1]]);
}

/// Checks that a near cache whose server is another one gets no lease. The server does not see the commands that the gateway answers, so
/// its reports, which count commands, would not match those of the first near cache.
#[test]
fn leases_are_not_passed_on() {
    let scene = Scene::of(1);
    let gateway = scene.near();
    let folder = Folder::fresh();
    let password = folder.write("password", "secret\n");
    let near = before(gateway, &["--feed-user", "feed", "--feed-password-file", &password]);
    let mut filler = gateway.client();
    let mut value = 1;
    for round in 0..5 {
        let mut client = near.client();
        fill(gateway, &mut filler, READ);
        for _ in 0..3 {
            assert_eq!(ask(&mut client, READ), value.to_string());
        }
        value += 1;
        set(&scene.server, value);
        for _ in 0..3 {
            assert_eq!(ask(&mut client, READ), value.to_string());
        }
        // A connection that the server may have reported on.
        let mut other = near.client();
        for number in 0..5 {
            ask(&mut other, &format!("SELECT v FROM d.t WHERE id = 2 /* {round} {number} */"));
            assert_eq!(ask(&mut other, READ), value.to_string());
        }
    }
    wait_until("a reason", || near.get("/metrics").contains("another fqc-near stands before the server"));
    assert_eq!((near.metric("serving"), near.metric("hits_total")), (0, 0));
    // The same account can attach to the server directly.
    drop(attached(&scene.server, &[]));
}
