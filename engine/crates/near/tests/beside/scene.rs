//! A server with the plugin, near caches that are attached to it, and reads through them.

use super::{Folder, LIMIT, Near, near, plugin};
use fqc_tests::client::{Client, Response};
use fqc_tests::near::privilege;
use fqc_tests::server::{Options, Product, Server};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The pause between two tries while a test waits for an answer from memory. Each try costs three requests, which take time from what the
/// test waits for.
pub const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Starts a server with the plugin.
pub fn caching() -> Server {
    caching_with(&[])
}

/// Starts a server with the plugin and these additional arguments.
pub fn caching_with(arguments: &[&str]) -> Server {
    caching_on(Options::default(), arguments)
}

/// Starts a server with the plugin and these additional arguments. `options` choose the product.
fn caching_on(options: Options, arguments: &[&str]) -> Server {
    let arguments = arguments.iter().map(|one| one.to_string()).collect();
    let options = Options { plugin: Some(plugin()), arguments, ..options };
    Server::start(options).expect("a server with the plugin")
}

/// Makes the tables `d.t`, with the rows 1 and 2, and `d.u`, which is empty, and the account `feed` that near caches attach with.
pub fn prepare(server: &Server) {
    let mut admin = server.admin().expect("a connection");
    let statements = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT) ENGINE = InnoDB",
        "INSERT INTO d.t VALUES (1, 1), (2, 2)",
        "CREATE TABLE d.u (id INT PRIMARY KEY, v INT) ENGINE = InnoDB",
        // Over a connection without TLS, MySQL checks a password only if it has seen the account log in over TLS before.
        if server.product() == Product::MySql {
            "CREATE USER feed@'%'"
        } else {
            "CREATE USER feed@'%' IDENTIFIED BY 'secret'"
        },
        &format!("GRANT {} ON *.* TO feed@'%'", privilege(server.product())),
    ];
    statements.iter().for_each(|one| drop(admin.must(one).expect(one)));
}

/// Makes the tables `d.t` and `d.u` with a few rows, the account `app` that may read and change them, and the account `other` that may not.
pub fn furnish(server: &Server) {
    let mut admin = server.admin().expect("a connection");
    let statements = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(30))",
        "INSERT INTO d.t VALUES (1, 'one'), (2, 'two')",
        "CREATE TABLE d.u (v VARCHAR(30))",
        "INSERT INTO d.u VALUES ('u')",
        "CREATE USER app@'127.0.0.1'",
        "CREATE USER other@'127.0.0.1'",
        "GRANT ALL ON d.* TO app@'127.0.0.1'",
    ];
    statements.iter().for_each(|one| drop(admin.must(one).expect(one)));
}

/// Waits until the server answers reads from its own cache. For connections opened before that, the server cannot know whether a prepared
/// statement keeps its meaning.
fn settle(server: &Server) {
    let mut client = Client::root(&server.endpoint()).expect("a connection");
    let mut hits = || ask(&mut client, "SHOW GLOBAL STATUS LIKE 'Qcache_hits'");
    let before = hits();
    let mut reader = Client::root(&server.endpoint()).expect("a connection");
    super::wait_until("an answer from the server's memory", || {
        ask(&mut reader, "SELECT v FROM d.u");
        hits() != before
    });
}

/// A server with the plugin and the tables of [`prepare`], and near caches that are attached to it and may serve.
pub struct Scene {
    pub nears: Vec<Near>,
    pub server: Server,
}

/// A read that the near cache may answer from memory; the result is 1 at first.
pub const READ: &str = "SELECT v FROM d.t WHERE id = 1";

impl Scene {
    /// Starts a MariaDB server and this number of near caches.
    pub fn of(count: usize) -> Scene {
        Scene::on(Options::default(), count)
    }

    /// Starts a server and this number of near caches. `options` choose the product.
    pub fn on(options: Options, count: usize) -> Scene {
        let server = caching_on(options, &[]);
        prepare(&server);
        settle(&server);
        let nears = (0..count).map(|_| attached(&server, &[])).collect();
        Scene { nears, server }
    }

    /// Returns the first near cache of the scene.
    pub fn near(&self) -> &Near {
        &self.nears[0]
    }

    /// Connects to the server itself, as root.
    pub fn direct(&self) -> Client {
        Client::root(&self.server.endpoint()).expect("a connection")
    }
}

/// Starts a near cache that is attached to the server as `feed`, and waits until it may serve. `arguments`: additional ones.
pub fn attached(server: &Server, arguments: &[&str]) -> Near {
    let folder = Folder::fresh();
    let password = folder.write("password", "secret\n");
    let password = if server.product() == Product::MySql { vec![] } else { vec!["--feed-password-file", &password] };
    let near = near(server, &[&["--feed-user", "feed"], &password[..], arguments].concat());
    near.wait_for_metric("serving", |serving| serving == 1);
    near
}

/// Returns a response as text: its rows with `;` between them, columns with `,`, and NULL for NULL; or `error` and the error's code. Empty
/// if there are no rows. For responses of COM_QUERY.
pub fn said(response: &Response) -> String {
    if let Some(failure) = response.failure() {
        return format!("error {}", failure.code);
    }
    let value =
        |value: &Option<Vec<u8>>| value.as_ref().map_or("NULL".into(), |one| String::from_utf8_lossy(one).into_owned());
    let rows = response.rows(false);
    rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>().join(",")).collect::<Vec<_>>().join(";")
}

/// Sends a statement, and returns the response in the form of [`said`]. An error of the server does not make it panic.
pub fn ask(client: &mut Client, statement: &str) -> String {
    said(&client.query(statement).unwrap_or_else(|error| panic!("`{statement}`: {error}")))
}

/// Returns how many reads the near cache has answered from memory, since it started.
pub fn hits(near: &Near) -> u64 {
    near.metric("hits_total")
}

/// Repeats a read until the near cache answers it from memory, and returns that answer in the form of [`said`]. No other client may be
/// served in the meantime.
pub fn until_served(near: &Near, client: &mut Client, read: &str) -> String {
    let begun = Instant::now();
    loop {
        let before = hits(near);
        let answer = ask(client, read);
        if hits(near) > before {
            return answer;
        }
        assert!(begun.elapsed() < LIMIT, "`{read}` is never answered from memory; {}", near.log());
        sleep(LOOK_EVERY);
    }
}

/// Lets many clients be answered from memory and then disconnect. Returns how many reads the server ran because of their disconnects.
pub fn reads_run_for_those_who_go(server: &Server, near: &Near) -> u64 {
    const CLIENTS: u64 = 20;
    const QUIT: u8 = 1;
    // The server does not count a read that the plugin answers from its own memory.
    const READS: &str = "'Com_select', 'Qcache_hits'";
    const CONNECTIONS: &str = "'Threads_connected'";
    let mut direct = Client::root(&server.endpoint()).expect("a connection");
    let mut told = |names: &str| -> u64 {
        let shown = format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({names})");
        let shown = said(&direct.must(&shown).expect("a status"));
        shown.split([',', ';']).filter_map(|word| word.parse::<u64>().ok()).sum()
    };
    let before = told(CONNECTIONS);
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| near.client()).collect();
    clients.iter_mut().for_each(|client| drop(until_served(near, client, READ)));
    let run = told(READS);
    clients.iter_mut().for_each(|client| client.send(QUIT, &[]).expect("a goodbye"));
    super::wait_until("all are gone", || told(CONNECTIONS) <= before);
    told(READS) - run
}
