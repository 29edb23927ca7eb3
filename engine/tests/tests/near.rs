//! The feed of a real server, that is, the connection over which the plugin informs near caches (`fqc-near`): what they are notified of,
//! and how writers wait for them. The near cache is simulated: both ends of the feed are the engine's own code, and each test decides how
//! the near cache reacts.
//!
//! Property: once a client sees a new state, no near cache can still serve the old one.

mod traps;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use feed::{CommandReport, Connection, Frame, FromNear, NearEnd, NearEvent, Protocol};
use fqc_tests::client::{Client, Login, command};
use fqc_tests::server::{Options, SWITCH_ON, Server};
use traps::{Arena, PATIENCE, all, plugin, rows_text, small_table, until};

const ATTACH: &str = "ATTACH FQC NEAR 'played' PROTOCOL 1";

/// Nanoseconds since the first call, as the clock of the simulated near cache.
fn now() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The state of a simulated near cache.
#[derive(Default)]
struct State {
    near: NearEnd,
    /// Reports about commands that the plugin has sent and no test has taken yet.
    told: Vec<CommandReport>,
    /// The feed has ended.
    is_over: bool,
}

/// A simulated near cache. A thread reads its feed and renews its lease, the time for which it may serve.
struct Played {
    state: Arc<Mutex<State>>,
    /// Messages that the thread sends next.
    to_send: Arc<Mutex<Vec<FromNear>>>,
    /// The first flag stops the thread of the near cache, which sets the second one once it has stopped.
    is_frozen: [Arc<AtomicBool>; 2],
    is_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Played {
    /// Attaches a near cache to the server's plugin, and waits until it has a lease.
    fn attach(server: &Server) -> Played {
        let mut feed = Client::connect(&server.endpoint(), &Login::default()).unwrap();
        feed.set_timeout(Some(PATIENCE)).unwrap();
        // If another test's near cache has missed a deadline, all near caches of this account and address have to pause.
        until("it may attach", || feed.query(ATTACH).unwrap().failure().is_none());
        feed.set_timeout(Some(Duration::from_millis(2))).unwrap();
        let mut played = Played {
            state: Arc::default(),
            to_send: Arc::default(),
            is_frozen: Default::default(),
            is_ended: Arc::default(),
            thread: None,
        };
        let (state, to_send) = (played.state.clone(), played.to_send.clone());
        let (is_frozen, is_ended) = (played.is_frozen.clone(), played.is_ended.clone());
        played.thread = Some(thread::spawn(move || exchange(feed, &state, &to_send, &is_frozen, &is_ended)));
        until("a lease", || played.state.lock().unwrap().near.has_lease(now()));
        played
    }

    /// Stops the thread: the near cache receives, sends and renews nothing more, but its connection stays open.
    fn freeze(&self) {
        self.is_frozen[0].store(true, Ordering::SeqCst);
        until("it to freeze", || self.is_frozen[1].load(Ordering::SeqCst));
    }

    /// True if the feed has ended.
    fn is_over(&self) -> bool {
        self.state.lock().unwrap().is_over
    }

    /// Reports this connection to the plugin as one of the near cache's own clients. The plugin then sends reports of its commands.
    fn mark(&self, connection: &Marked) {
        self.to_send.lock().unwrap().push(connection.own.mark());
    }

    /// True if the near cache may serve the result in this report now.
    fn serves(&self, told: &CommandReport) -> bool {
        let state = self.state.lock().unwrap();
        let Some(attachment) = state.near.attachment() else { return false };
        state.near.may_serve(attachment, told.cells.iter().map(|(cell, _)| *cell), told.stamp, now())
    }

    /// Repeats a read until the feed reports what its result depends on. Returns the last answer and the report.
    fn told_of(&self, connection: &mut Marked, read: &str) -> (String, CommandReport) {
        let begun = Instant::now();
        loop {
            let answer = connection.ask(read);
            let deadline = Instant::now() + Duration::from_millis(200);
            while Instant::now() < deadline {
                let told = self.state.lock().unwrap().told.pop();
                if let Some(told) = told.filter(|told| {
                    connection.own.apply(told) && connection.own.session_context(Protocol::Text).is_some()
                }) {
                    return (answer, told);
                }
                thread::yield_now();
            }
            assert!(begun.elapsed() < PATIENCE, "`{read}` is never told of");
        }
    }
}

impl Drop for Played {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::SeqCst);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Runs the thread of a near cache: sends its messages, renews its lease and receives, until it is to end or the feed breaks.
fn exchange(
    mut feed: Client,
    state: &Mutex<State>,
    to_send: &Mutex<Vec<FromNear>>,
    is_frozen: &[Arc<AtomicBool>; 2],
    is_ended: &AtomicBool,
) {
    let mut renewed = None::<Instant>;
    while !is_ended.load(Ordering::SeqCst) {
        if is_frozen[0].load(Ordering::SeqCst) {
            is_frozen[1].store(true, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        let mut messages = std::mem::take(&mut *to_send.lock().unwrap());
        if renewed.is_none_or(|renewed| renewed.elapsed() > Duration::from_millis(20)) {
            messages.push(state.lock().unwrap().near.renew(now()));
            renewed = Some(Instant::now());
        }
        match feed.read_payload() {
            Ok(payload) => {
                let mut state = state.lock().unwrap();
                for heard in state.near.receive(Frame::decode(&payload).unwrap()).unwrap() {
                    if let NearEvent::Report(told) = heard {
                        state.told.push(told);
                    }
                }
                messages.push(state.near.acknowledgement());
            }
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
        if !messages.is_empty() && feed.write_payload(&FromNear::encode_all(&messages)).is_err() {
            break;
        }
    }
    let mut state = state.lock().unwrap();
    state.is_over = true;
    if !is_ended.load(Ordering::SeqCst) {
        state.near.lose();
    }
}

/// A client's connection, with what the near cache knows about it.
struct Marked {
    client: Client,
    own: Connection,
}

impl Marked {
    fn new(client: Client) -> Marked {
        let own = Connection::new(client.thread_id, &client.greeting);
        Marked { client, own }
    }

    fn ask(&mut self, statement: &str) -> String {
        self.own.forward(&[&[command::QUERY], statement.as_bytes()].concat());
        rows_text(&self.client.query(statement).unwrap())
    }
}

/// Attaches a near cache that holds a result of the first row of `t`, which it may serve. Returns it with a connection through it, and the
/// report of the result.
fn with_result(arena: &Arena) -> (Played, Marked, CommandReport) {
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    small_table(&mut admin, "u", "InnoDB");
    let played = Played::attach(&arena.server);
    let mut connection = Marked::new(arena.client());
    played.mark(&connection);
    let (_, told) = played.told_of(&mut connection, "SELECT v FROM t WHERE id = 1");
    until("it to serve", || played.serves(&told));
    (played, connection, told)
}

const READ: &str = "SELECT v FROM t WHERE id = 1";

/// Runs `write`, which must change the row, while another session watches it. Once the new value is visible, or the write is acknowledged,
/// the near cache may no longer serve the result in the report.
fn write_and_watch(arena: &Arena, played: &Played, told: &CommandReport, write: impl FnOnce(&mut Client)) {
    let mut watcher = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let before = rows_text(&watcher.query(READ).unwrap());
    let mut writer = arena.client();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| watch(watcher, &before, played, told, &is_done));
        write(&mut writer);
        assert!(!played.serves(told), "it is served after the write was acknowledged");
        is_done.store(true, Ordering::SeqCst);
        watching.join().unwrap();
    });
}

/// Reads until the row differs from `before`, and checks at that moment that the near cache no longer serves the result
/// in the report. Panics if the row is still the same in a read that began after `is_done` was set.
fn watch(mut watcher: Client, before: &str, played: &Played, told: &CommandReport, is_done: &AtomicBool) {
    loop {
        let was_done = is_done.load(Ordering::SeqCst);
        if rows_text(&watcher.query(READ).unwrap()) != before {
            assert!(!played.serves(told), "it is served after its successor was seen");
            return;
        }
        assert!(!was_done, "the write has changed nothing");
    }
}

/// The value in this column of SHOW FQC NEAR, for the only near cache that is attached. None if no near cache is attached.
fn reported(arena: &Arena, column: &str) -> Option<String> {
    let rows = arena.client().must("SHOW FQC NEAR").unwrap();
    let fqc_tests::client::Part::Rows(part) = &rows.parts[0] else { panic!("no rows") };
    let index = part.columns.iter().position(|one| one.name == column.as_bytes()).unwrap();
    let value = rows.rows(false).first()?[index].clone().unwrap();
    Some(String::from_utf8(value).unwrap())
}

#[test]
fn attaching_takes_the_privilege() {
    let arena = Arena::enter("n_privilege");
    let mut admin = arena.client_with(&["CREATE USER nobody@'%'", "GRANT ALL ON n_privilege.* TO nobody@'%'"]);
    let mut nobody = Client::connect(&arena.server.endpoint(), &Login::user("nobody", "")).unwrap();
    assert_eq!(rows_text(&nobody.query(ATTACH).unwrap()), "error 1227");
    assert_eq!(rows_text(&nobody.query("SELECT 1").unwrap()), "1", "its connection is what it was");
    for wrong in ["ATTACH FQC NEAR", "ATTACH FQC NEAR 'x'", "ATTACH FQC NEAR 'x' PROTOCOL y", "ATTACH FQC 'x'"] {
        assert_eq!(rows_text(&admin.query(wrong).unwrap()), "error 1064", "`{wrong}`");
    }
    assert_eq!(reported(&arena, "Name"), None);
    all(&mut admin, &["DROP USER nobody@'%'"]);
}

#[test]
fn a_write_is_seen_by_nobody_before_near_caches_stop_serving_what_it_changes() {
    let arena = Arena::enter("n_writes");
    let (played, mut connection, _) = with_result(&arena);
    let other = "UPDATE t SET v = v + 1 WHERE id = 1";
    let writes: [&dyn Fn(&mut Client); 6] = [
        &|client| _ = client.must(other).unwrap(),
        &|client| all(client, &["BEGIN", other, "COMMIT"]),
        &|client| all(client, &["CREATE TABLE moved LIKE t", "DROP TABLE t", "ALTER TABLE moved RENAME t"]),
        &|client| all(client, &["INSERT INTO t SELECT id, 7 FROM u"]),
        &|client| all(client, &["UPDATE t, u SET t.v = t.v + 9 WHERE t.id = u.id"]),
        &|client| all(client, &["TRUNCATE t"]),
    ];
    for (index, write) in writes.into_iter().enumerate() {
        let (_, told) = played.told_of(&mut connection, READ);
        until(&format!("it to serve before write {index}"), || played.serves(&told));
        write_and_watch(&arena, &played, &told, |client| write(client));
    }
    assert!(!played.is_over(), "whoever acknowledges stays");
}

#[test]
fn a_write_of_another_table_or_row_waits_for_nobody() {
    let mut arena = Arena::enter("n_others");
    let (played, mut connection, _) = with_result(&arena);
    let mut reader = arena.client();
    until("the engine to tell the rows apart", || {
        arena.warm(&mut reader, READ);
        arena.client_with(&["UPDATE t SET v = v + 1 WHERE id = 2"]);
        arena.ask(&mut reader, READ).1
    });
    let (_, told) = played.told_of(&mut connection, READ);
    until("it to serve", || played.serves(&told));
    let waited = reported(&arena, "Writers_waited");
    arena.client_with(&["UPDATE u SET v = 5"]);
    until("it to go on", || played.serves(&told));
    assert_eq!(reported(&arena, "Writers_waited"), waited);
    arena.client_with(&["UPDATE t SET v = 5 WHERE id = 2"]);
    until("the row to be open again", || played.serves(&told));
    assert_eq!(reported(&arena, "Tables").as_deref(), Some("1"));
}

#[test]
fn a_frozen_near_cache_costs_writers_its_lease_and_is_detached() {
    let arena = Arena::enter("n_frozen");
    let (played, _connection, told) = with_result(&arena);
    played.freeze();
    write_and_watch(&arena, &played, &told, |client| _ = client.must("UPDATE t SET v = v + 1 WHERE id = 1").unwrap());
    until("it to be detached", || reported(&arena, "Name").is_none());
}

#[test]
fn a_near_cache_whose_feed_is_cut_still_has_its_lease() {
    let arena = Arena::enter("n_cut");
    let (played, _connection, told) = with_result(&arena);
    // A frozen near cache does not notice that its connection is killed.
    played.freeze();
    let kill = rows_text(&arena.client().query("SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user = 'root' AND db IS NULL AND command = 'Sleep' ORDER BY id DESC LIMIT 1").unwrap());
    arena.client_with(&[&format!("KILL {kill}")]);
    until("it to be detached", || reported(&arena, "Name").is_none());
    write_and_watch(&arena, &played, &told, |client| _ = client.must("UPDATE t SET v = v + 1 WHERE id = 1").unwrap());
}

/// Checks that a write of an event also waits for the near caches. The event writes only when the gate is open, so that it does not
/// invalidate the result before the test watches.
#[test]
fn events_wait_like_everybody() {
    let arena = Arena::enter("n_events");
    let (played, mut connection, _) = with_result(&arena);
    arena.client_with(&[
        "CREATE TABLE gate SELECT 0 AS is_open",
        "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO IF (SELECT is_open FROM gate) THEN \
         UPDATE gate SET is_open = 0; UPDATE t SET v = v + 1 WHERE id = 1; END IF",
    ]);
    for _ in 0..3 {
        let (before, told) = played.told_of(&mut connection, READ);
        until("it to serve", || played.serves(&told));
        write_and_watch(&arena, &played, &told, |client| {
            client.must("UPDATE gate SET is_open = 1").unwrap();
            until("the event", || rows_text(&client.query(READ).unwrap()) != before);
        });
    }
    arena.client_with(&["DROP EVENT e"]);
}

#[test]
fn nobody_is_told_of_a_connection_that_is_not_its_own() {
    let arena = Arena::enter("n_strangers");
    let (played, _connection, _) = with_result(&arena);
    let mut stranger = Marked::new(arena.client());
    let of_another_server = Connection::new(stranger.client.thread_id, b"another greeting");
    played.to_send.lock().unwrap().push(of_another_server.mark());
    let mut own = Marked::new(arena.client());
    played.mark(&own);
    stranger.ask("SELECT v FROM t WHERE id = 2");
    played.told_of(&mut own, READ);
    stranger.ask("SELECT v FROM t WHERE id = 2");
    let (_, told) = played.told_of(&mut own, READ);
    assert_eq!(told.connection, own.client.thread_id);
    assert!(played.state.lock().unwrap().told.iter().all(|told| told.connection != stranger.client.thread_id));
}

#[test]
fn when_the_plugin_has_gone_nothing_is_served() {
    let options = Options { plugin: Some(plugin::path()), ..Options::default() };
    let server = Arc::new(Server::start(options).unwrap());
    all(&mut server.admin().unwrap(), &[SWITCH_ON]);
    let arena = Arena::on(server.clone(), "n_unloaded");
    let (played, _connection, told) = with_result(&arena);
    played.freeze();
    server.admin().unwrap().must("UNINSTALL SONAME 'fqc'").unwrap();
    assert!(!played.serves(&told));
}
