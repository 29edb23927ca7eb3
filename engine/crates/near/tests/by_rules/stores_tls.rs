//! TLS to memcached and Valkey: which servers a near cache sends data to, and what it reports about those that it refuses.

use crate::beside::cluster::{self, Cluster};
use crate::beside::scene::{READ, ask, furnish};
use crate::beside::store::{Kind, Store};
use crate::beside::{Authority, Certificates, Folder, Near, near, wait_until};
use fqc_tests::client::Client;
use fqc_tests::server::{Options, Server};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// A rule for all tables of `d` with a time to live that is longer than a test takes.
const RULES: &str = "[[rule]]\ntable = 'd.%'\ncache = 'always'\nttl = 3600\n";
/// Another read that the rules match. After it, the near cache knows the session context of the client.
const OTHER: &str = "SELECT v FROM d.u";
/// The host that all stores of these tests listen on.
const HOST: &str = "127.0.0.1";

/// Starts MariaDB without the plugin, with the tables and accounts of [`furnish`].
fn furnished() -> Server {
    let server = Server::start(Options::default()).expect("a server");
    furnish(&server);
    server
}

/// Starts a near cache with `RULES` and a store. `option`: the option that names the store; `addresses`: its value; `arguments`: additional
/// ones.
fn near_of(server: &Server, option: &str, addresses: &str, arguments: &[&str]) -> Near {
    let folder = Folder::fresh();
    let rules = folder.write("rules.toml", RULES);
    let all = ["--rules", &rules, option, addresses, "--store-timeout-ms", "1000"];
    near(server, &[&all, arguments].concat())
}

/// Connects a client and lets it read once. After that, the near cache knows the session's account, database and settings, which decide
/// what it may serve to it.
fn known(near: &Near) -> Client {
    let mut client = near.client();
    ask(&mut client, OTHER);
    client
}

/// Checks that the second near cache finds a result in the store that the first one has put there.
fn share(first: &Near, second: &Near) {
    let before = first.metric("store_inserts_total");
    assert_eq!(ask(&mut known(first), READ), "one");
    first.wait_for_metric("store_inserts_total", |count| count > before);
    let before = second.metric("store_hits_total");
    assert_eq!(ask(&mut known(second), READ), "one");
    assert_eq!(second.metric("store_hits_total"), before + 1, "{}", second.log());
}

#[test]
fn what_near_caches_share_goes_by_tls() {
    let server = furnished();
    for kind in Kind::ALL {
        for (name, more) in [
            (HOST, vec!["name"]),
            ("db.internal", vec!["name", "--store-tls-name", "db.internal"]),
            ("db.internal", vec!["ca"]),
        ] {
            let certificates = Certificates::of(name);
            let Some(store) = Store::at_port(kind, Some(&certificates), &[]) else { continue };
            let authority = certificates.file("ca.pem");
            let arguments = [&["--store-ca", &authority, "--store-tls"], &more[..]].concat();
            let [first, second] = [(); 2].map(|()| near_of(&server, kind.option(), &store.address(), &arguments));
            share(&first, &second);
            assert_eq!(first.metric(&format!("store_failures_total{{server=\"{}\"}}", store.address())), 0);
        }
    }
}

/// Checks that the near cache does not use the store and still answers reads, and that SHOW FQC STATUS, `/metrics` and the log all give a
/// reason that contains these words.
fn is_refused(near: &Near, store: &Store, words: &str) {
    let mut client = known(near);
    assert_eq!(ask(&mut client, READ), "one");
    let address = store.address();
    let (of_store, begins) =
        (format!("SHOW FQC STATUS LIKE 'Store {address}'"), format!("Store {address},does not answer: "));
    let says = |text: &str, begins: &str| text.lines().any(|line| line.starts_with(begins) && line.contains(words));
    wait_until(words, || says(&ask(&mut client, &of_store), &begins));
    let metrics = near.get("/metrics");
    assert!(says(&metrics, &format!("fqc_near_store_obstacle{{server=\"{address}\",reason=\"")), "{words}: {metrics}");
    assert_eq!(near.metric(&format!("store_answers{{server=\"{address}\"}}")), 0);
    let log = near.log();
    assert!(
        says(&log, &format!("the store {address} does not answer, and is tried once a second: ")),
        "{words}: {log}"
    );
    assert_eq!((near.metric("store_inserts_total"), near.metric("store_hits_total")), (0, 0));
}

/// Checks that Valkey has received no lookup, which would begin with TIME. The near cache may have connected. For memcached, nothing is
/// checked.
fn was_told_nothing(store: &Store) {
    if store.kind == Kind::Valkey {
        let commands = store.ask("INFO commandstats");
        assert!(!commands.contains("cmdstat_time"), "{commands}");
    }
}

#[test]
fn a_store_that_cannot_prove_who_it_is_is_told_nothing() {
    const PAST: i32 = 2000;
    let (server, trusted, others) = (furnished(), Authority::new(), Authority::new());
    let own = trusted.certificates(HOST, 4000);
    let authority = own.file("ca.pem");
    let verified = ["--store-tls", "name", "--store-ca", &authority];
    for kind in Kind::ALL {
        let cases = [
            (
                others.certificates(HOST, 4000),
                "its certificate comes from no authority that is trusted here (store-ca)",
            ),
            (trusted.certificates("db.internal", 4000), "its certificate is not for 127.0.0.1, but for db.internal"),
            (trusted.certificates(HOST, PAST), "its certificate has expired"),
            (trusted.itself(), "its certificate is an authority's own (CA:TRUE)"),
        ];
        for (certificates, words) in cases {
            let Some(store) = Store::at_port(kind, Some(&certificates), &[]) else { continue };
            is_refused(&near_of(&server, kind.option(), &store.address(), &verified), &store, words);
            was_told_nothing(&store);
        }
    }
    // Without `store-ca`, the system's authorities count, and none of them has signed the certificate.
    let Some(store) = Store::at_port(Kind::Valkey, Some(&own), &[]) else { return };
    let near = near_of(&server, "--valkey", &store.address(), &["--store-tls", "name"]);
    is_refused(&near, &store, "its certificate comes from no authority that is trusted here (store-ca)");
    was_told_nothing(&store);
}

#[test]
fn who_speaks_tls_and_who_does_not_is_told_on_both_sides() {
    let server = furnished();
    let certificates = Certificates::of(HOST);
    let authority = certificates.file("ca.pem");
    let verified = ["--store-tls", "name", "--store-ca", &authority];
    let plain_words = [
        (Kind::Memcached, "it does not speak TLS: is this its port for TLS?"),
        (Kind::Valkey, "TLS with it does not begin in time: is this its port for TLS?"),
    ];
    for (kind, words) in plain_words {
        let Some(store) = Store::at_port(kind, None, &[]) else { continue };
        is_refused(&near_of(&server, kind.option(), &store.address(), &verified), &store, words);
        was_told_nothing(&store);
    }
    for kind in Kind::ALL {
        let Some(store) = Store::at_port(kind, Some(&certificates), &[]) else { continue };
        is_refused(&near_of(&server, kind.option(), &store.address(), &[]), &store, "does it want TLS (store-tls)?");
        was_told_nothing(&store);
    }
    let demanding = Store::at_port(Kind::Valkey, Some(&certificates), &["--tls-auth-clients", "yes"]);
    let Some(store) = demanding else { return };
    is_refused(
        &near_of(&server, "--valkey", &store.address(), &verified),
        &store,
        "does it demand certificates of its clients (tls-auth-clients)?",
    );
    was_told_nothing(&store);
}

#[test]
fn an_account_of_the_store_may_do_no_more_than_it_needs() {
    let server = furnished();
    let folder = Folder::fresh();
    let (password, wrong) = (folder.write("password", "secret\n"), folder.write("wrong", "other\n"));
    let mut account = vec!["--user", "fqc_near", "on", ">secret", "~fqc:*"];
    account.extend(["+get", "+set", "+time", "+info", "+dbsize", "+cluster|slots"]);
    let Some(store) = Store::at_port(Kind::Valkey, None, &account) else { return };
    let login = |password: &str| {
        let arguments = ["--valkey-user", "fqc_near", "--valkey-password-file", password];
        near_of(&server, "--valkey", &store.address(), &arguments)
    };
    is_refused(&login(&wrong), &store, "WRONGPASS");
    share(&login(&password), &login(&password));
}

/// Starts a near cache with TLS to the members of a cluster. `certificates`: of the authority that it trusts; `kind`: the value of
/// `store-tls`.
fn of_cluster(server: &Server, cluster: &Cluster, certificates: &Certificates, kind: &str) -> Near {
    let folder = Folder::fresh();
    let (password, authority) = (folder.write("password", cluster::PASSWORD), certificates.file("ca.pem"));
    let arguments = ["--store-tls", kind, "--store-ca", &authority, "--valkey-password-file", &password];
    near_of(server, "--valkey", &cluster.primaries[0].address(), &arguments)
}

/// Sends 60 different reads, and returns how many of them were answered from the store.
fn found(near: &Near, client: &mut Client) -> u64 {
    let before = near.metric("store_hits_total");
    (0..60).for_each(|number| assert_eq!(ask(client, &format!("{READ} /* {number} */")), "one"));
    near.metric("store_hits_total") - before
}

#[test]
fn each_member_of_a_cluster_proves_that_it_is_the_host_that_the_cluster_tells() {
    let (server, authority) = (furnished(), Authority::new());
    let names = [HOST, HOST, "db.internal"].map(|name| authority.certificates(name, 4000));
    let Some(cluster) = Cluster::with_tls(&names) else { return };
    let [first, second] = [(); 2].map(|()| of_cluster(&server, &cluster, &names[0], "ca"));
    for near in [&first, &second] {
        cluster.primaries.iter().for_each(|node| node.wait_until_found(near));
    }
    let before = first.metric("store_inserts_total");
    assert_eq!(found(&first, &mut known(&first)), 0);
    first.wait_for_metric("store_inserts_total", |count| count >= before + 60);
    assert_eq!(found(&second, &mut known(&second)), 60);

    let third = of_cluster(&server, &cluster, &names[0], "name");
    cluster.primaries[..2].iter().for_each(|node| node.wait_until_found(&third));
    let [.., other] = &cluster.primaries[..] else { panic!("a cluster") };
    let of_others = 60 - found(&third, &mut known(&third));
    assert!(other.keys() >= of_others && of_others > 5, "{of_others}");
    let said = format!(
        "the store {} does not answer, and is tried once a second: its certificate is not for {HOST}",
        other.address()
    );
    assert!(third.log().contains(&said), "{}", third.log());
}

/// Starts a proxy to the store that delays the first byte from the store on each connection, and returns its port. It runs until the test's
/// process ends.
fn delayed(store: &Store, by: Duration) -> u16 {
    let listener = TcpListener::bind((HOST, 0)).expect("a port");
    let (port, store) = (listener.local_addr().expect("an address").port(), store.address());
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(&store) else { continue };
            let ends = [&client, &server].map(|one| one.try_clone().expect("a socket"));
            let [mut to_client, mut to_server] = ends;
            thread::spawn(move || drop(io::copy(&mut &client, &mut to_server)));
            thread::spawn(move || {
                let mut first = [0; 1];
                if (&server).read_exact(&mut first).is_ok() {
                    thread::sleep(by);
                    let _ = to_client.write_all(&first).and_then(|()| io::copy(&mut &server, &mut to_client).map(drop));
                }
            });
        }
    });
    port
}

#[test]
fn tls_that_takes_longer_to_begin_than_a_read_waits_begins_nevertheless() {
    let (server, certificates) = (furnished(), Certificates::of(HOST));
    for kind in Kind::ALL {
        let Some(store) = Store::at_port(kind, Some(&certificates), &[]) else { continue };
        let address = format!("{HOST}:{}", delayed(&store, Duration::from_millis(300)));
        let authority = certificates.file("ca.pem");
        let arguments = ["--store-tls", "name", "--store-ca", &authority];
        let folder = Folder::fresh();
        let rules = folder.write("rules.toml", RULES);
        let all = ["--rules", &rules, kind.option(), &address, "--store-timeout-ms", "100", "--threads", "1"];
        let near = near(&server, &[&all[..], &arguments].concat());
        let (mut client, mut number) = (known(&near), 0);
        wait_until("what is put there", || {
            number += 1;
            assert_eq!(ask(&mut client, &format!("{READ} /* {number} */")), "one");
            near.metric("store_inserts_total") > 0
        });
        assert!(near.log().contains("TLS with it does not begin in time"), "{}", near.log());
    }
}
