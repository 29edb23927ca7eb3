//! Servers with a binary log, and near caches that follow it.

use super::scene::ask;
use super::store::{Kind as StoreKind, Store};
use super::{Certificates, Folder, Near, near_with, wait_until};
use fqc_tests::checkout;
use fqc_tests::client::Client;
use fqc_tests::near;
use fqc_tests::server::{Options, Product, Server};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A value of `max-staleness-ms` that is longer than a test takes. So a result that is no longer served was invalidated, and did not just
/// expire.
pub const LONG: &str = "3600000";

/// A product whose binary log near caches follow, with the statements and options that differ between products.
pub struct Kind {
    /// The name of the product, as `FQC_TEST_PRODUCT` may have it.
    pub name: &'static str,
    /// The product and program to start. Arguments are in `arguments`.
    pub options: Options,
    /// The certificates that the server is given, if its accounts send their password over TLS only.
    pub certificates: Option<Certificates>,
    /// The end of IDENTIFIED in CREATE USER, before the password, which chooses the account's authentication. MySQL's default demands TLS
    /// for the password, and MySQL 8.0 does not do TLS with these certificates, so there another plugin is used.
    pub proof: &'static str,
    /// The server's arguments that switch its binary log on in the form that near caches need.
    pub arguments: &'static [&'static str],
    /// The privileges that the near cache's account needs on all databases.
    pub privileges: &'static [&'static str],
    /// The name of a storage engine without transactions.
    pub other_engine: &'static str,
    /// The statement that deletes the server's binary log and begins a new one.
    pub reset: &'static str,
}

/// Returns MariaDB, whether it is installed or not.
pub fn mariadb() -> Kind {
    Kind {
        name: "MariaDB",
        options: Options::default(),
        certificates: None,
        proof: "BY",
        arguments: near::logging(Product::MariaDb),
        privileges: &["REPLICATION SLAVE", "BINLOG MONITOR", "PROCESS"],
        other_engine: "Aria",
        reset: "RESET MASTER",
    }
}

/// Returns the MySQL of a release line, `8.0` or `9.7`. None if it is not installed in `target/servers`; then a message says so.
pub fn mysql(line: &'static str) -> Option<Kind> {
    let program = checkout::file(&format!("target/servers/MySQL-{line}/sbin/mysqld"));
    if !program.exists() {
        eprintln!("SKIPPED: NO MYSQL {line} IS HERE");
        return None;
    }
    let kind = Kind {
        name: "MySQL 9.7",
        options: Options { product: Product::MySql, program: Some(program), ..Options::default() },
        certificates: Some(Certificates::of("db.example")),
        proof: "BY",
        arguments: near::logging(Product::MySql),
        privileges: &["REPLICATION SLAVE", "REPLICATION CLIENT"],
        other_engine: "MyISAM",
        reset: "RESET BINARY LOGS AND GTIDS",
    };
    Some(match line {
        "8.0" => Kind {
            name: "MySQL 8.0",
            certificates: None,
            proof: "WITH mysql_native_password BY",
            reset: "RESET MASTER",
            ..kind
        },
        _ => kind,
    })
}

/// Returns each MySQL that is installed.
pub fn mysqls() -> impl Iterator<Item = Kind> {
    ["8.0", "9.7"].into_iter().filter_map(mysql)
}

/// Returns MariaDB and each MySQL that is installed; or only the one that the environment variable `FQC_TEST_PRODUCT` names.
pub fn kinds() -> impl Iterator<Item = Kind> {
    let only = std::env::var("FQC_TEST_PRODUCT").ok();
    let kinds = std::iter::once_with(mariadb).chain(mysqls());
    kinds.filter(move |kind| only.as_ref().is_none_or(|only| only == kind.name))
}

/// Returns each installed product with each installed kind of store. A store is started when it is first returned, and keeps its entries
/// for the next product.
pub fn with_stores() -> impl Iterator<Item = (Kind, Arc<Store>)> {
    let stores = StoreKind::ALL.into_iter().filter_map(Store::start);
    stores.flat_map(|store| {
        let store = Arc::new(store);
        kinds().map(move |kind| (kind, store.clone()))
    })
}

impl Kind {
    pub fn is_mysql(&self) -> bool {
        self.options.product == Product::MySql
    }

    /// Starts a server with a binary log, the tables `d.t` (rows 1 and 2) and `d.u` (empty), and the account `follower` for near caches.
    pub fn logging(&self) -> Server {
        self.with(&[])
    }

    /// Starts a server with a binary log, the tables `d.t` (rows 1 and 2) and `d.u` (empty), and the account `follower` for near caches.
    /// `arguments`: additional ones of the server.
    pub fn with(&self, arguments: &[&str]) -> Server {
        self.with_only(&[self.arguments, arguments].concat())
    }

    /// Starts a server with the tables `d.t` (rows 1 and 2) and `d.u` (empty), and the account `follower` for near caches. It has no binary
    /// log unless `arguments` switch it on.
    pub fn with_only(&self, arguments: &[&str]) -> Server {
        println!("{}", self.name);
        let certificates = self.certificates.iter().flat_map(Certificates::of_server);
        let arguments = arguments.iter().map(|one| one.to_string()).chain(certificates).collect();
        let server = Server::start(Options { arguments, ..self.options.clone() }).expect("a server");
        self.fill(&server);
        server
    }

    /// Creates the tables `d.t` (rows 1 and 2) and `d.u` (empty), and the account `follower` for near caches.
    pub fn fill(&self, server: &Server) {
        let identified = format!("CREATE USER follower@'%' IDENTIFIED {} 'secret'", self.proof);
        let statements = [
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v INT) ENGINE = InnoDB",
            "INSERT INTO d.t VALUES (1, 1), (2, 2)",
            "CREATE TABLE d.u (id INT PRIMARY KEY, v INT) ENGINE = InnoDB",
            &identified,
            &format!("GRANT {} ON *.* TO follower@'%'", self.privileges.join(", ")),
            "GRANT SELECT, SHOW VIEW ON d.* TO follower@'%'",
        ];
        run(&mut server.admin().expect("a connection"), &statements);
    }

    /// Starts a near cache that follows the log of the server at this port, as the account `follower`. Reads may not be served from memory
    /// yet.
    pub fn started(&self, port: u16, max_staleness_ms: &str) -> Near {
        self.started_with(port, max_staleness_ms, &[])
    }

    /// Starts a near cache that follows the log of the server at this port, as the account `follower`. Reads may not be served from memory
    /// yet. `arguments`: additional ones of the near cache.
    pub fn started_with(&self, port: u16, max_staleness_ms: &str, arguments: &[&str]) -> Near {
        let folder = Folder::fresh();
        let (address, password) = (format!("127.0.0.1:{port}"), folder.write("password", "secret\n"));
        let options = ["--server", &address, "--binlog-user", "follower", "--binlog-password-file", &password];
        let authority = self.certificates.as_ref().map(|certificates| certificates.file("ca.pem"));
        let tls = authority.as_ref().map(|file| ["--server-tls", "ca", "--server-ca", file]);
        let tls = tls.as_ref().map_or(&[][..], |tls| tls);
        near_with(&[&options[..], &["--max-staleness-ms", max_staleness_ms], tls, arguments].concat())
    }

    /// Starts a near cache that follows the log of this server, and waits until it may serve.
    pub fn following(&self, server: &Server, max_staleness_ms: &str) -> Near {
        self.following_with(server, max_staleness_ms, &[])
    }

    /// Starts a near cache that follows the log of this server, and waits until it may serve. `arguments`: additional ones of the near
    /// cache.
    pub fn following_with(&self, server: &Server, max_staleness_ms: &str, arguments: &[&str]) -> Near {
        let near = self.started_with(server.port(), max_staleness_ms, arguments);
        near.wait_for_metric("serving", |serving| serving == 1);
        near
    }

    /// Starts a near cache that follows the log of this server and shares results with others in `store`, and waits until it may serve. The
    /// timeout for the store is long, since the machine may be busy.
    pub fn sharing(&self, server: &Server, max_staleness_ms: &str, store: &Store) -> Near {
        let arguments = [store.option(), &store.address(), "--store-timeout-ms", "1000"];
        self.following_with(server, max_staleness_ms, &arguments)
    }
}

/// Connects to the server itself, as root.
pub fn direct(server: &Server) -> Client {
    Client::root(&server.endpoint()).expect("a connection")
}

/// Runs statements one after the other. Panics if one fails.
pub fn run(client: &mut Client, statements: &[&str]) {
    statements.iter().for_each(|one| drop(client.must(one).expect(one)));
}

/// Grants the near cache's account what it needs to see the definitions of these views, which are named as `SCHEMA.VIEW`. MySQL 8.0 demands
/// the privilege on the view itself.
pub fn show(admin: &mut Client, views: &[&str]) {
    views.iter().for_each(|view| run(admin, &[&format!("GRANT SELECT, SHOW VIEW ON {view} TO follower@'%'")]));
}

/// Waits until the near cache has received all changes that were visible when this was called, that is, until its staleness is less than
/// the time since then. It sends no read for that, as the server might answer it.
pub fn until_heard(near: &Near) {
    let begun = Instant::now();
    wait_until("the log", || {
        let age = begun.elapsed();
        let metrics = near.get("/metrics");
        let told = metrics.lines().find_map(|line| line.strip_prefix("fqc_near_staleness_microseconds "));
        told.and_then(|old| old.parse().ok()).is_some_and(|old| Duration::from_micros(old) < age)
    });
}

/// Waits until the near cache has received all changes, and then checks that a read through it has this answer, in the form of
/// [`said`](super::scene::said).
pub fn is_said(near: &Near, client: &mut Client, read: &str, expected: &str) {
    until_heard(near);
    assert_eq!(ask(client, read), expected, "{read}; {}", near.log());
}
