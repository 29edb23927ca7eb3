//! The common parts of all traps: a server with the plugin, a database of the test's own, and the verdict "was it a hit?".
//!
//! Invariants: there is one server per test program and one test on it at a time, so that an increase of its counters belongs to the
//! statement just sent. Every test works in a database of its own.
//! A trap must also show that caching happens where it should: a cache that stores nothing is never stale.

#![allow(dead_code, reason = "not every test program needs every word")]

#[path = "../plugin/mod.rs"]
pub mod plugin;

use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fqc_tests::checkout;
use fqc_tests::client::{Client, Login, Param, Prepared, Response, capability};
use fqc_tests::server::{Options, Server};

pub const PATIENCE: Duration = Duration::from_secs(120);
/// The interval between two looks. Looking takes processor time away from what is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(2);

static SHARED: Mutex<Option<Arc<Server>>> = Mutex::new(None);
static TURN: Mutex<()> = Mutex::new(());

/// The program's server, which is started when it is first needed.
fn shared() -> Arc<Server> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared
        .get_or_insert_with(|| {
            // SAFETY: the handler touches only a static of this program.
            unsafe { libc::atexit(end_shared) };
            let server = start(&["--event-scheduler=ON", "--max-statement-time=30"]);
            settle(&server);
            Arc::new(server)
        })
        .clone()
}

/// Waits until the engine knows the initial settings of sessions. Sessions that began before share no results with later ones.
fn settle(server: &Server) {
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE first", "USE first"]);
    small_table(&mut admin, "t", "InnoDB");
    let mut reader = server.admin().unwrap();
    until("the first hit", || {
        reader.must("SELECT v FROM first.t WHERE id = 1").unwrap();
        said(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_hits'").unwrap()) != "Fqc_hits,0"
    });
    admin.must("DROP DATABASE first").unwrap();
}

/// Statics are never dropped, and a server must not outlive its program.
extern "C" fn end_shared() {
    drop(SHARED.lock().unwrap_or_else(PoisonError::into_inner).take());
}

pub fn options(arguments: &[&str]) -> Options {
    Options { arguments: arguments.iter().map(|one| one.to_string()).collect(), ..Options::default() }
}

/// A server with the plugin under test.
pub fn start(arguments: &[&str]) -> Server {
    Server::start(Options { plugin: Some(plugin::path()), ..options(arguments) }).expect("a server with the plugin")
}

/// Every value of every row as text: `1,a;2,NULL`. An error is given by its number.
pub fn said(response: &Response) -> String {
    worded(response, false)
}

pub fn said_binary(response: &Response) -> String {
    worded(response, true)
}

fn worded(response: &Response, is_binary: bool) -> String {
    if let Some(failure) = response.failure() {
        return format!("error {}", failure.code);
    }
    let value = |value: &Option<Vec<u8>>| match value {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "NULL".into(),
    };
    let rows = response.rows(is_binary);
    let rows: Vec<_> = rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>().join(",")).collect();
    rows.join(";")
}

/// `t` has a rule that its results live this long, and `u` has the same rows and no rule.
pub fn with_rule(db: &str, seconds: u64) -> (Arena, Client) {
    let arena = Arena::enter(db);
    arena.client_with(&[
        "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE u LIKE t",
        "INSERT INTO t VALUES (1, 0), (2, 1000)",
        "INSERT INTO u SELECT * FROM t",
        &format!(r#"SET GLOBAL fqc_rules = '[{{"table": "{db}.t", "cache": "always", "ttl": {seconds}}}]'"#),
    ]);
    // Connections share results if the same settings were in force when they began.
    let client = arena.client();
    (arena, client)
}

/// Polls until the condition holds. Fails if that takes too long.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "in vain waited for: {what}");
        thread::sleep(LOOK_EVERY);
    }
}

/// The statement that resets the whole server's counters. Before 11.5 it names no scope.
pub fn flush_of_all(client: &mut Client) -> &'static str {
    let knows_scopes = client.query("FLUSH SESSION STATUS").unwrap().failure().is_none();
    if knows_scopes { "FLUSH GLOBAL STATUS" } else { "FLUSH STATUS" }
}

pub struct Arena {
    pub server: Arc<Server>,
    pub db: String,
    counters: Client,
    /// A session that is never served, so it sees the truth.
    plain: Client,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Arena {
    /// The shared server, for this test alone, with an empty database of this name.
    pub fn enter(db: &str) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Self { _turn: Some(turn), ..Self::on(shared(), db) }
    }

    /// The same on a server of one's own.
    pub fn on(server: Arc<Server>, db: &str) -> Self {
        let mut admin = server.admin().unwrap();
        admin.must(&format!("CREATE DATABASE {db}")).unwrap();
        let login = Login { database: Some(db.into()), ..Login::default() };
        let mut plain = Client::connect(&server.endpoint(), &login).unwrap();
        plain.must("SET SESSION fqc_type = OFF").unwrap();
        let counters = server.admin().unwrap();
        Self { server, db: db.into(), counters, plain, _turn: None }
    }

    pub fn login(&self) -> Login {
        let capabilities = capability::BASE | capability::DEPRECATE_EOF | capability::MULTI_STATEMENTS;
        Login { capabilities, database: Some(self.db.clone()), ..Login::default() }
    }

    pub fn client(&self) -> Client {
        self.client_as(&self.login())
    }

    pub fn client_as(&self, login: &Login) -> Client {
        let mut client = Client::connect(&self.server.endpoint(), login).unwrap();
        client.set_timeout(Some(PATIENCE)).unwrap();
        client
    }

    /// A client that has run these statements.
    pub fn client_with(&self, statements: &[&str]) -> Client {
        let mut client = self.client();
        all(&mut client, statements);
        client
    }

    /// The number of hits, by both of the server's counters. Every verdict "was it a hit?" rests on this.
    pub fn hits(&mut self) -> u64 {
        let show = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Fqc_hits', 'Qcache_hits')";
        let rows = said(&self.counters.must(show).unwrap());
        let numbers: Vec<u64> = rows.split([',', ';']).filter_map(|word| word.parse().ok()).collect();
        assert!(numbers.len() == 2 && numbers[0] == numbers[1], "two counters of one thing: {rows}");
        numbers[0]
    }

    /// Runs an action. Returns its result and the number of hits that it caused.
    pub fn counted<T>(&mut self, action: impl FnOnce() -> T) -> (T, u64) {
        let before = self.hits();
        let outcome = action();
        (outcome, self.hits() - before)
    }

    pub fn ask(&mut self, client: &mut Client, read: &str) -> (Response, bool) {
        let (response, hits) = self.counted(|| client.query(read).unwrap());
        (response, hits > 0)
    }

    pub fn ask_prepared(&mut self, client: &mut Client, prepared: &Prepared, params: &[Param]) -> (Response, bool) {
        let (response, hits) = self.counted(|| client.execute(prepared, params).unwrap());
        (response, hits > 0)
    }

    /// Sends a read until it is a hit. All answers until then must be the same. Returns the answer.
    #[track_caller]
    pub fn warm(&mut self, client: &mut Client, read: &str) -> String {
        let first = said(&client.query(read).unwrap());
        let begun = Instant::now();
        loop {
            let (response, is_hit) = self.ask(client, read);
            assert_eq!(said(&response), first, "`{read}` changed without a write, hit: {is_hit}");
            if is_hit {
                return first;
            }
            assert!(begun.elapsed() < PATIENCE, "`{read}` is never kept:\n{}", self.server.reasons());
        }
    }

    /// The same for a prepared statement.
    #[track_caller]
    pub fn warm_prepared(&mut self, client: &mut Client, prepared: &Prepared, params: &[Param]) -> Response {
        let begun = Instant::now();
        loop {
            let (response, is_hit) = self.ask_prepared(client, prepared, params);
            if is_hit {
                return response;
            }
            assert!(begun.elapsed() < PATIENCE, "the prepared read is never kept:\n{}", self.server.reasons());
        }
    }

    /// Checks that this read is a hit for this client, with this answer.
    #[track_caller]
    pub fn hit(&mut self, client: &mut Client, read: &str, expected: &str) {
        let (response, is_hit) = self.ask(client, read);
        let said = said(&response);
        assert!(is_hit, "`{read}` was answered {said}, and not from memory:\n{}", self.server.reasons());
        assert_eq!(said, expected, "`{read}` from memory");
    }

    /// Writes another row until the result of the read outlives it: the engine looks up keys in the background.
    #[track_caller]
    pub fn await_row(&mut self, reader: &mut Client, writer: &mut Client, read: &str, other: &str) {
        let begun = Instant::now();
        loop {
            let value = self.warm(reader, read);
            writer.must(other).unwrap();
            let (_, is_hit) = self.ask(reader, read);
            if is_hit {
                return self.hit(reader, read, &value);
            }
            assert!(begun.elapsed() < PATIENCE, "`{other}` always invalidates `{read}`");
        }
    }

    /// Sends the read, and checks its answer. Returns true if it was a hit.
    #[track_caller]
    fn says(&mut self, client: &mut Client, read: &str, expected: &str) -> bool {
        let (response, is_hit) = self.ask(client, read);
        assert_eq!(said(&response), expected, "`{read}`, hit: {is_hit}");
        is_hit
    }

    /// Waits until a session is served results of another session of its account. That happens once the engine knows the initial settings
    /// of sessions.
    #[track_caller]
    pub fn share(&mut self, login: &Login, read: &str, expected: &str) {
        let begun = Instant::now();
        loop {
            let (mut one, mut other) = (self.client_as(login), self.client_as(login));
            // A session that logged in before that gets no setting from the cache until it has read a table.
            self.says(&mut one, read, expected);
            if self.says(&mut other, read, expected) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "`{read}` is never shared:\n{}", self.server.reasons());
        }
    }

    /// Checks that this read is no hit, and has this answer.
    #[track_caller]
    pub fn miss(&mut self, client: &mut Client, read: &str, expected: &str) {
        let (response, is_hit) = self.ask(client, read);
        assert_eq!(said(&response), expected, "`{read}`, hit: {is_hit}");
        assert!(!is_hit, "`{read}` was answered from memory");
    }

    /// Checks that a statement is never a hit, although other reads of its table (`control`) are.
    #[track_caller]
    pub fn never(&mut self, client: &mut Client, read: &str, control: &str) {
        self.warm(client, control);
        for _ in 0..4 {
            let (response, is_hit) = self.ask(client, read);
            assert!(response.failure().is_none(), "`{read}`: {:?}", response.failure());
            assert!(!is_hit, "`{read}` was answered from memory");
        }
        self.warm(client, control);
    }

    pub fn truth(&mut self, read: &str) -> String {
        said(&self.plain.query(read).unwrap())
    }

    /// Caches a read, then writes. The next read must show the write at once and agree with the server, and can be cached again.
    #[track_caller]
    pub fn follows(&mut self, reader: &mut Client, read: &str, write: impl FnOnce(), expected: &str) {
        let old = self.warm(reader, read);
        write();
        let (response, is_hit) = self.ask(reader, read);
        assert_eq!(said(&response), expected, "`{read}` after the write (before: {old}), hit: {is_hit}");
        assert_eq!(self.truth(read), expected, "`{read}` without the cache");
        assert!(!is_hit, "`{read}` came from memory right after a write of its tables");
        assert_eq!(self.warm(reader, read), expected);
    }
}

/// Builds and loads another audit plugin.
pub fn install_listener(server: &Server) {
    let library = server.plugins().join("listener.so");
    let source = checkout::file("tests/tests/listener/listener.c");
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]).arg(&library).arg(source).status();
    assert!(built.expect("a C compiler").success());
    server.admin().unwrap().must("INSTALL SONAME 'listener'").unwrap();
}

pub fn all(client: &mut Client, statements: &[&str]) {
    for statement in statements {
        client.must(statement).unwrap();
    }
}

/// Creates a table with `id` from 1 to 5, and `v` ten times that.
pub fn small_table(client: &mut Client, name: &str, engine: &str) {
    client.must(&format!("CREATE TABLE {name} (id INT PRIMARY KEY, v INT) ENGINE = {engine}")).unwrap();
    client.must(&format!("INSERT INTO {name} VALUES (1, 10), (2, 20), (3, 30), (4, 40), (5, 50)")).unwrap();
}

/// One text under two settings: neither session ever sees the other's result, and sessions with equal settings share theirs.
#[track_caller]
pub fn facet(arena: &mut Arena, read: &str, one: (&str, &str), other: (&str, &str)) {
    let (mut first, mut second) = (arena.client_with(&[one.0]), arena.client_with(&[other.0]));
    assert_eq!(arena.warm(&mut first, read), one.1, "after `{}`", one.0);
    assert_eq!(arena.warm(&mut second, read), other.1, "after `{}`", other.0);
    arena.hit(&mut first, read, one.1);
    let mut third = arena.client_with(&[one.0]);
    arena.hit(&mut third, read, one.1);
    third.must(other.0).unwrap();
    assert_eq!(arena.warm(&mut third, read), other.1, "after `{}` and `{}`", one.0, other.0);
}

/// A small table `t`, a session to write and one to read.
pub fn with_table(db: &str) -> (Arena, Client, Client) {
    let arena = Arena::enter(db);
    let (mut writer, reader) = (arena.client(), arena.client());
    small_table(&mut writer, "t", "InnoDB");
    (arena, writer, reader)
}

/// Two sessions that run the same statements. One is served by the cache and the other never. All their answers must be equal, byte for
/// byte.
pub struct Pair {
    pub served: Client,
    pub plain: Client,
}

impl Pair {
    pub fn new(arena: &Arena) -> Self {
        Self { served: arena.client(), plain: arena.client_with(&["SET SESSION fqc_type = OFF"]) }
    }

    #[track_caller]
    pub fn alike(&mut self, statement: &str) -> Response {
        let (served, plain) = (self.served.query(statement).unwrap(), self.plain.query(statement).unwrap());
        assert_eq!(served, plain, "`{statement}`: {} instead of {}", said(&served), said(&plain));
        served
    }

    /// Does the same for a read that must be a hit in the served session.
    #[track_caller]
    pub fn hit(&mut self, arena: &mut Arena, read: &str) -> Response {
        let (served, is_hit) = arena.ask(&mut self.served, read);
        let plain = self.plain.query(read).unwrap();
        assert_eq!(served, plain, "`{read}`: {} instead of {}", said(&served), said(&plain));
        assert!(is_hit, "`{read}` was not answered from memory:\n{}", arena.server.reasons());
        served
    }
}
