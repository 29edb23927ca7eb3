//! The common parts of the tests called traps, which try to make the cache give a wrong answer: a server with the plugin, a database of the
//! test's own, and the verdict "was it a hit?".
//!
//! Invariants: there is one server per test program and one test on it at a time, so that an increase of its counters belongs to the
//! statement just sent. Every test works in a database of its own. A trap must also show that caching happens where it should: a cache that
//! stores nothing is never stale.

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

/// The longest wait of a test for an answer or a condition. Only a fault exceeds it.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// The interval between two looks at a condition that is waited for. Looking takes processor time away from it.
const LOOK_EVERY: Duration = Duration::from_millis(2);

static SHARED: Mutex<Option<Arc<Server>>> = Mutex::new(None);
static TURN: Mutex<()> = Mutex::new(());

/// The test program's server, which is started when it is first needed.
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

/// Waits until the engine knows with which settings sessions begin. Sessions opened before that share no results with later ones.
fn settle(server: &Server) {
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE DATABASE first", "USE first"]);
    small_table(&mut admin, "t", "InnoDB");
    let mut reader = server.admin().unwrap();
    until("the first hit", || {
        reader.must("SELECT v FROM first.t WHERE id = 1").unwrap();
        rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Fqc_hits'").unwrap()) != "Fqc_hits,0"
    });
    admin.must("DROP DATABASE first").unwrap();
}

/// Ends the shared server when the test program exits. Statics are never dropped, and a server must not outlive its program.
extern "C" fn end_shared() {
    drop(SHARED.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// The options of a MariaDB server without the plugin, with these command-line arguments.
pub fn options(arguments: &[&str]) -> Options {
    Options { arguments: arguments.iter().map(|one| one.to_string()).collect(), ..Options::default() }
}

/// Starts a MariaDB server with the plugin under test, its cache switched on, and these further arguments. Panics if it does not start.
pub fn start(arguments: &[&str]) -> Server {
    Server::start(Options { plugin: Some(plugin::path()), ..options(arguments) }).expect("a server with the plugin")
}

/// Every value of every row of a response in the text protocol, as text: `1,a;2,NULL`. `error N` for the server's error number N, and an
/// empty text without rows.
pub fn rows_text(response: &Response) -> String {
    format_rows(response, false)
}

/// Every value of every row of a response in the binary protocol, as text: `1,a;2,NULL`. `error N` for the server's
/// error number N, and an empty text without rows.
pub fn binary_rows_text(response: &Response) -> String {
    format_rows(response, true)
}

fn format_rows(response: &Response, is_binary: bool) -> String {
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

/// The shared server with tables `t` and `u` of the same two rows. A rule lets results of `t` be served for this many seconds despite
/// writes; `u` has no rule. The client was opened after the rule was made.
pub fn with_rule(db: &str, seconds: u64) -> (Arena, Client) {
    let arena = Arena::enter(db);
    arena.client_with(&[
        "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
        "CREATE TABLE u LIKE t",
        "INSERT INTO t VALUES (1, 0), (2, 1000)",
        "INSERT INTO u SELECT * FROM t",
        &format!(r#"SET GLOBAL fqc_rules = '[{{"table": "{db}.t", "cache": "always", "ttl": {seconds}}}]'"#),
    ]);
    // Connections share results if the same settings were in force when they were opened.
    let client = arena.client();
    (arena, client)
}

/// Waits until the condition holds, by asking again and again. Panics, naming `what`, after [`PATIENCE`].
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "in vain waited for: {what}");
        thread::sleep(LOOK_EVERY);
    }
}

/// The statement that resets the status counters of the whole server. Before MariaDB 11.5 it names no scope.
pub fn flush_of_all(client: &mut Client) -> &'static str {
    let knows_scopes = client.query("FLUSH SESSION STATUS").unwrap().failure().is_none();
    if knows_scopes { "FLUSH GLOBAL STATUS" } else { "FLUSH STATUS" }
}

/// A server, a database of the test's own on it, and sessions that observe. Methods panic when a check fails.
pub struct Arena {
    pub server: Arc<Server>,
    pub db: String,
    counters: Client,
    /// A session that the cache never serves, so it sees what the server itself answers.
    plain: Client,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Arena {
    /// Waits for the test's turn on the shared server, until the arena of the test before is dropped, and creates an empty database of this
    /// name.
    pub fn enter(db: &str) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Self { _turn: Some(turn), ..Self::on(shared(), db) }
    }

    /// Creates an empty database of this name on a server that the test has started itself.
    pub fn on(server: Arc<Server>, db: &str) -> Self {
        let mut admin = server.admin().unwrap();
        admin.must(&format!("CREATE DATABASE {db}")).unwrap();
        let login = Login { database: Some(db.into()), ..Login::default() };
        let mut plain = Client::connect(&server.endpoint(), &login).unwrap();
        plain.must("SET SESSION fqc_type = OFF").unwrap();
        let counters = server.admin().unwrap();
        Self { server, db: db.into(), counters, plain, _turn: None }
    }

    /// The login of root in the test's database, as [`Self::client`] uses it.
    pub fn login(&self) -> Login {
        let capabilities = capability::BASE | capability::DEPRECATE_EOF | capability::MULTI_STATEMENTS;
        Login { capabilities, database: Some(self.db.clone()), ..Login::default() }
    }

    /// Opens a session of root in the test's database.
    pub fn client(&self) -> Client {
        self.client_as(&self.login())
    }

    /// Opens a session with this login.
    pub fn client_as(&self, login: &Login) -> Client {
        let mut client = Client::connect(&self.server.endpoint(), login).unwrap();
        client.set_timeout(Some(PATIENCE)).unwrap();
        client
    }

    /// Opens a session of root in the test's database and runs these statements, which must succeed.
    pub fn client_with(&self, statements: &[&str]) -> Client {
        let mut client = self.client();
        all(&mut client, statements);
        client
    }

    /// The number of reads that the server's cache has answered so far. Panics unless both of its counters say so.
    pub fn hits(&mut self) -> u64 {
        let show = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Fqc_hits', 'Qcache_hits')";
        let rows = rows_text(&self.counters.must(show).unwrap());
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

    /// Sends a read. Returns the response, and whether it was a hit.
    pub fn ask(&mut self, client: &mut Client, read: &str) -> (Response, bool) {
        let (response, hits) = self.counted(|| client.query(read).unwrap());
        (response, hits > 0)
    }

    /// Executes a prepared read. Returns the response, and whether it was a hit.
    pub fn ask_prepared(&mut self, client: &mut Client, prepared: &Prepared, params: &[Param]) -> (Response, bool) {
        let (response, hits) = self.counted(|| client.execute(prepared, params).unwrap());
        (response, hits > 0)
    }

    /// Sends a read until it is a hit, so that its result is cached afterwards. All answers until then must be the same. Returns the answer
    /// as [`rows_text`] writes it. Panics after [`PATIENCE`].
    #[track_caller]
    pub fn warm(&mut self, client: &mut Client, read: &str) -> String {
        let first = rows_text(&client.query(read).unwrap());
        let begun = Instant::now();
        loop {
            let (response, is_hit) = self.ask(client, read);
            assert_eq!(rows_text(&response), first, "`{read}` changed without a write, hit: {is_hit}");
            if is_hit {
                return first;
            }
            assert!(begun.elapsed() < PATIENCE, "`{read}` is never kept:\n{}", self.server.reasons());
        }
    }

    /// Executes a prepared read until it is a hit. Returns the response of the hit. Panics after [`PATIENCE`].
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

    /// Sends a read once, and panics unless it is a hit with this answer, written as [`rows_text`] does.
    #[track_caller]
    pub fn hit(&mut self, client: &mut Client, read: &str, expected: &str) {
        let (response, is_hit) = self.ask(client, read);
        let rows_text = rows_text(&response);
        assert!(is_hit, "`{read}` was answered {rows_text}, and not from memory:\n{}", self.server.reasons());
        assert_eq!(rows_text, expected, "`{read}` from memory");
    }

    /// Waits until a write of another row (`other`, which must not change the answer) leaves the result of `read` cached. Until the engine
    /// has looked up the table's keys in the background, such a write invalidates it.
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

    /// Sends a read once, and panics unless it has this answer. Returns true if it was a hit.
    #[track_caller]
    fn says(&mut self, client: &mut Client, read: &str, expected: &str) -> bool {
        let (response, is_hit) = self.ask(client, read);
        assert_eq!(rows_text(&response), expected, "`{read}`, hit: {is_hit}");
        is_hit
    }

    /// Waits until a new session with this login is served a result of another session with it. That happens once the engine knows with
    /// which settings sessions begin.
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

    /// Sends a read once, and panics unless the server answers it, not the cache, with this answer.
    #[track_caller]
    pub fn miss(&mut self, client: &mut Client, read: &str, expected: &str) {
        let (response, is_hit) = self.ask(client, read);
        assert_eq!(rows_text(&response), expected, "`{read}`, hit: {is_hit}");
        assert!(!is_hit, "`{read}` was answered from memory");
    }

    /// Checks that a statement is never a hit, although another read of its table (`control`) is.
    #[track_caller]
    pub fn check_never_hit(&mut self, client: &mut Client, read: &str, control: &str) {
        self.warm(client, control);
        for _ in 0..4 {
            let (response, is_hit) = self.ask(client, read);
            assert!(response.failure().is_none(), "`{read}`: {:?}", response.failure());
            assert!(!is_hit, "`{read}` was answered from memory");
        }
        self.warm(client, control);
    }

    /// The answer that the server itself gives to a read, without the cache, as [`rows_text`] writes it.
    pub fn server_answer(&mut self, read: &str) -> String {
        rows_text(&self.plain.query(read).unwrap())
    }

    /// Caches a read, then runs `write`. The next read must show `expected` at once, not from the cache, and agree with the server; then it
    /// can be cached again.
    #[track_caller]
    pub fn check_write_shows(&mut self, reader: &mut Client, read: &str, write: impl FnOnce(), expected: &str) {
        let old = self.warm(reader, read);
        write();
        let (response, is_hit) = self.ask(reader, read);
        assert_eq!(rows_text(&response), expected, "`{read}` after the write (before: {old}), hit: {is_hit}");
        assert_eq!(self.server_answer(read), expected, "`{read}` without the cache");
        assert!(!is_hit, "`{read}` came from memory right after a write of its tables");
        assert_eq!(self.warm(reader, read), expected);
    }
}

/// Builds another audit plugin, which counts the statements that the server reports to it, and installs it.
pub fn install_listener(server: &Server) {
    let library = server.plugins().join("listener.so");
    let source = checkout::file("tests/tests/listener/listener.c");
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]).arg(&library).arg(source).status();
    assert!(built.expect("a C compiler").success());
    server.admin().unwrap().must("INSTALL SONAME 'listener'").unwrap();
}

/// Runs statements that must succeed.
pub fn all(client: &mut Client, statements: &[&str]) {
    for statement in statements {
        client.must(statement).unwrap();
    }
}

/// Creates a table in this storage engine, with `id` from 1 to 5 and `v` ten times that.
pub fn small_table(client: &mut Client, name: &str, engine: &str) {
    client.must(&format!("CREATE TABLE {name} (id INT PRIMARY KEY, v INT) ENGINE = {engine}")).unwrap();
    client.must(&format!("INSERT INTO {name} VALUES (1, 10), (2, 20), (3, 30), (4, 40), (5, 50)")).unwrap();
}

/// Checks that a setting distinguishes results. `one` and `other` are each a statement that sets it, and the answer that `read` has then.
/// Neither session ever sees the other's result, and sessions with equal settings share theirs.
#[track_caller]
pub fn check_separates_results(arena: &mut Arena, read: &str, one: (&str, &str), other: (&str, &str)) {
    let (mut first, mut second) = (arena.client_with(&[one.0]), arena.client_with(&[other.0]));
    assert_eq!(arena.warm(&mut first, read), one.1, "after `{}`", one.0);
    assert_eq!(arena.warm(&mut second, read), other.1, "after `{}`", other.0);
    arena.hit(&mut first, read, one.1);
    let mut third = arena.client_with(&[one.0]);
    arena.hit(&mut third, read, one.1);
    third.must(other.0).unwrap();
    assert_eq!(arena.warm(&mut third, read), other.1, "after `{}` and `{}`", one.0, other.0);
}

/// Enters the shared server with a small table `t`. Returns the arena, a session to write and one to read.
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

    /// Runs a statement in both sessions, and panics unless the responses are equal. Returns the served session's.
    #[track_caller]
    pub fn alike(&mut self, statement: &str) -> Response {
        let (served, plain) = (self.served.query(statement).unwrap(), self.plain.query(statement).unwrap());
        assert_eq!(served, plain, "`{statement}`: {} instead of {}", rows_text(&served), rows_text(&plain));
        served
    }

    /// Runs a read in both sessions, and panics unless the responses are equal and the served session's was a hit. Returns that response.
    #[track_caller]
    pub fn hit(&mut self, arena: &mut Arena, read: &str) -> Response {
        let (served, is_hit) = arena.ask(&mut self.served, read);
        let plain = self.plain.query(read).unwrap();
        assert_eq!(served, plain, "`{read}`: {} instead of {}", rows_text(&served), rows_text(&plain));
        assert!(is_hit, "`{read}` was not answered from memory:\n{}", arena.server.reasons());
        served
    }
}
