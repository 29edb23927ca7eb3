//! One MySQL server with the plugin for most of the tests, one test on it at a time.

use crate::traps::{Arena, PATIENCE, plugin, rows_text, until};
use fqc_tests::client::Client;
use fqc_tests::server::{Options, Product, Server};
use std::ops::{Deref, DerefMut};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

static SHARED: Mutex<Option<Arc<Server>>> = Mutex::new(None);
static TURN: Mutex<()> = Mutex::new(());

/// One test's turn on the shared server, with a database of its own. It ends when this is dropped. Methods are those of [`Arena`].
pub struct TestTurn {
    arena: Arena,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for TestTurn {
    type Target = Arena;

    fn deref(&self) -> &Arena {
        &self.arena
    }
}

impl DerefMut for TestTurn {
    fn deref_mut(&mut self) -> &mut Arena {
        &mut self.arena
    }
}

/// Waits for the test's turn on the shared server, and creates an empty database of this name. The server is started when it is first
/// needed.
pub fn enter(db: &str) -> TestTurn {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let server = shared.get_or_insert_with(|| {
        // SAFETY: the handler touches only a static of this program.
        unsafe { libc::atexit(end_shared) };
        Arc::new(ready(start(&["--event-scheduler=ON"])))
    });
    TestTurn { arena: Arena::on(server.clone(), db), _turn }
}

/// Ends the shared server when the test program exits. Statics are never dropped, and a server must not outlive its program.
extern "C" fn end_shared() {
    drop(SHARED.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// The options of a MySQL server without the plugin, with these command-line arguments.
pub fn options(arguments: &[&str]) -> Options {
    // The plugin writes notes to the log, which the server suppresses at a lower verbosity.
    let arguments = [&["--log-error-verbosity=3"], arguments].concat();
    let arguments = arguments.iter().map(|one| one.to_string()).collect();
    Options { product: Product::MySql, arguments, ..Options::default() }
}

/// Starts a MySQL server with the plugin under test and these further arguments. It serves nothing before its self-test has passed: see
/// [`ready`].
pub fn start(arguments: &[&str]) -> Server {
    Server::start(Options { plugin: Some(plugin::path()), ..options(arguments) }).expect("a server with the plugin")
}

/// Waits until the plugin's self-test has passed, and the engine knows with which settings sessions begin.
pub fn ready(server: Server) -> Server {
    let mut admin = server.admin().unwrap();
    admin.must("CREATE DATABASE first").unwrap();
    admin.must("CREATE TABLE first.t (id INT PRIMARY KEY)").unwrap();
    until("the first hit", || {
        let mut reader = server.admin().unwrap();
        reader.set_timeout(Some(PATIENCE)).unwrap();
        (0..2).for_each(|_| _ = reader.must("SELECT * FROM first.t").unwrap());
        hits(&mut admin) > 0
    });
    admin.must("DROP DATABASE first").unwrap();
    drop(admin);
    server
}

/// The output of this server's stock client for these statements, without column names. `tls` is its `--ssl-mode`, and may contain further
/// options.
pub fn stock(server: &Server, tls: &str, statements: &str) -> String {
    let mut command = Command::new(Product::MySql.client().expect("a stock client"));
    command.args(["--no-defaults", "-N", "-uroot", "-h127.0.0.1", "-e", statements]);
    let output =
        command.args(format!("--ssl-mode={tls}").split(' ')).arg(format!("-P{}", server.port())).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number of reads that the server's cache has answered so far.
pub fn hits(client: &mut Client) -> u64 {
    let rows = rows_text(&client.must("SHOW GLOBAL STATUS LIKE 'Qcache_hits'").unwrap());
    rows.split(',').nth(1).and_then(|number| number.parse().ok()).expect("a counter")
}
