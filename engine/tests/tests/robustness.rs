//! The plugin against misbehaving clients and servers that shut down: nothing hangs, nothing crashes, and answers stay right.

mod plugin;

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fqc_tests::client::{Client, Endpoint, Login, Response, capability, command};
use fqc_tests::random::Random;
use fqc_tests::server::{Options, Server};

const READ: &str = "SELECT v FROM d.t WHERE id = 7";
const PATIENCE: Duration = Duration::from_secs(120);
/// The command that `mysqladmin refresh` sends.
const COM_REFRESH: u8 = 7;
const REFRESH_TABLES: u8 = 4;
const STEP: Duration = Duration::from_millis(10);
/// The time of several rounds of the plugin's background thread.
const ROUNDS: Duration = Duration::from_millis(300);

/// Starts a server with the plugin, a table of 1000 rows and a cached read of it.
fn server(arguments: &[&str]) -> Server {
    let arguments = arguments.iter().map(|one| one.to_string()).collect();
    let options = Options { plugin: Some(plugin::path()), arguments, ..Options::default() };
    let server = Server::start(options).expect("a server with the plugin");
    let mut admin = server.admin().unwrap();
    admin.must("CREATE DATABASE d").unwrap();
    admin.must("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)").unwrap();
    // The sequence engine provides such tables in any database.
    admin.must("INSERT INTO d.t SELECT seq, seq * 10 FROM d.seq_1_to_1000").unwrap();
    warm(&server);
    server
}

/// Repeats a read until it is a hit, so that the test works on a cache that serves.
fn warm(server: &Server) {
    let mut client = connect(&server.endpoint());
    let begun = Instant::now();
    let before = hits(server);
    while hits(server) == before {
        assert_eq!(client.scalar(READ).unwrap().as_deref(), Some("70"));
        assert!(begun.elapsed() < PATIENCE, "no hit; not kept:\n{}", server.reasons());
    }
}

fn hits(server: &Server) -> u64 {
    number(server, "Qcache_hits")
}

/// A status variable of the server that is a number.
fn number(server: &Server, name: &str) -> u64 {
    let response = server.admin().unwrap().must(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap();
    let value = response.rows(false)[0][1].clone().unwrap();
    String::from_utf8(value).unwrap().parse().unwrap()
}

fn connect(endpoint: &Endpoint) -> Client {
    let capabilities = capability::BASE | capability::DEPRECATE_EOF;
    let mut client = Client::connect(endpoint, &Login { capabilities, ..Login::default() }).unwrap();
    client.set_timeout(Some(PATIENCE)).unwrap();
    client
}

fn port(server: &Server) -> u16 {
    let Endpoint::Tcp(port) = server.endpoint() else { unreachable!("servers listen on TCP") };
    port
}

/// Checks that the server answers a read rightly, and that the plugin has met no error of its own.
fn still_right(server: &Server) {
    let mut client = connect(&server.endpoint());
    assert_eq!(client.scalar(READ).unwrap().as_deref(), Some("70"), "\n{}", server.error_log());
    assert_eq!(contained(server), 0, "\n{}", server.error_log());
}

/// The number of errors inside the plugin that it has caught.
fn contained(server: &Server) -> u64 {
    number(server, "Fqc_contained_errors")
}

/// The packet of a text query.
fn framed(statement: &str) -> Vec<u8> {
    let mut bytes = ((statement.len() + 1) as u32).to_le_bytes()[..3].to_vec();
    bytes.extend([0, command::QUERY]);
    bytes.extend(statement.as_bytes());
    bytes
}

#[test]
fn the_smallest_stack_that_threads_may_have_is_enough() {
    let server = server(&["--thread-stack=128K"]);
    let mut admin = server.admin().unwrap();
    for report in ["STATUS", "QUERIES", "TABLES", "REASONS", "CURVE"] {
        admin.must(&format!("SHOW FQC {report}")).unwrap();
    }
    still_right(&server);
}

#[test]
fn a_statement_that_arrives_byte_by_byte_is_answered() {
    for arguments in [&[][..], &["--thread-handling=pool-of-threads"]] {
        let server = server(arguments);
        let mut client = connect(&server.endpoint());
        for _ in 0..3 {
            for byte in framed(READ) {
                client.send_raw(&[byte]).unwrap();
            }
            assert_eq!(client.read_response().unwrap().scalar().as_deref(), Some("70"));
        }
    }
}

#[test]
fn statements_sent_together_are_answered_in_order() {
    for arguments in [&[][..], &["--thread-handling=pool-of-threads"]] {
        let server = server(arguments);
        let mut client = connect(&server.endpoint());
        for round in 0..50 {
            let write = format!("UPDATE d.t SET v = {round} WHERE id = 8");
            let own = "SELECT v FROM d.t WHERE id = 8";
            let statements = [READ, own, &write, own, READ, own];
            let commands: Vec<_> = statements.iter().map(|text| (command::QUERY, text.as_bytes())).collect();
            client.send_together(&commands).unwrap();
            let answers: Vec<_> = statements.iter().map(|_| client.read_response().unwrap()).collect();
            let values: Vec<_> = [0, 3, 4, 5].iter().map(|index| answers[*index].scalar().unwrap()).collect();
            assert_eq!(values, ["70", &round.to_string(), "70", &round.to_string()]);
        }
    }
}

#[test]
fn packets_beyond_16_megabytes_pass() {
    let server = server(&[]);
    let mut client = connect(&server.endpoint());
    let long = format!("SELECT v FROM d.t WHERE id = 7 /* {} */", "x".repeat(17 << 20));
    let wide = "SELECT id, REPEAT('y', 17 * 1024 * 1024) FROM d.t WHERE id = 7";
    let first = client.query(wide).unwrap();
    for _ in 0..3 {
        assert_eq!(client.query(&long).unwrap().scalar().as_deref(), Some("70"));
        assert!(client.query(wide).unwrap() == first, "a result over 16 MB changed");
    }
    still_right(&server);
}

#[test]
fn results_up_to_the_limit_are_the_same_from_memory() {
    let server = server(&[]);
    let mut client = connect(&server.endpoint());
    for length in [0, 1, 250, 251, 4000, 16_000, 65_000, 500_000, 1_040_000, 1_048_576] {
        let statement = format!("SELECT id, REPEAT('z', {length}) FROM d.t WHERE id IN (3, 5)");
        let truth = client.query(statement.replacen("SELECT", "SELECT SQL_NO_CACHE", 1)).unwrap();
        for _ in 0..4 {
            assert!(client.query(&statement).unwrap() == truth, "a result of 2 * {length} bytes differs");
        }
    }
}

#[test]
fn garbage_harms_nobody_else() {
    let server = server(&["--max-connect-errors=1000000"]);
    let mut random = Random::new(1);
    for _ in 0..200 {
        let mut line = TcpStream::connect(("127.0.0.1", port(&server))).unwrap();
        let noise: Vec<_> = (0..random.below(200)).map(|_| random.draw() as u8).collect();
        // The server may close the connection in the middle of the garbage.
        let _ = line.write_all(&noise);
    }
    still_right(&server);
}

#[test]
fn every_command_byte_with_any_body_leaves_the_server_well() {
    let server = server(&[]);
    let mut random = Random::new(2);
    // SHUTDOWN is a command too, and DUMP commands never end.
    let left_out = [0x08, 0x0b, 0x0d, 0x12, 0x15, 0x1d, 0x1e];
    for kind in (0..=255).filter(|kind| !left_out.contains(kind)) {
        for length in [0, 1, 4, 9, 40] {
            let mut client = connect(&server.endpoint());
            client.query(READ).unwrap();
            let body: Vec<_> = (0..length).map(|_| random.draw() as u8).collect();
            // Any response is fine, and none is fine too.
            let _ = client.send(kind, &body);
            let _ = client.send(command::QUERY, READ.as_bytes());
            client.abort();
        }
    }
    still_right(&server);
}

#[test]
fn two_thousand_connections_read_at_once() {
    allow_open_files(6_000);
    for model in ["one-thread-per-connection", "pool-of-threads"] {
        let server = server(&["--max-connections=2100", &format!("--thread-handling={model}")]);
        let endpoint = server.endpoint();
        let mut clients: Vec<_> = (0..2000).map(|_| connect(&endpoint)).collect();
        for _ in 0..3 {
            clients.iter_mut().for_each(|client| client.send(command::QUERY, READ.as_bytes()).unwrap());
            for client in &mut clients {
                assert_eq!(client.read_response().unwrap().scalar().as_deref(), Some("70"));
            }
        }
        drop(clients);
        still_right(&server);
    }
}

/// Raises the limit of open files for this process and the servers that it starts.
fn allow_open_files(wanted: u64) {
    // SAFETY: the structure is the caller's own; the calls change this process's limit alone.
    unsafe {
        let mut limit = std::mem::zeroed::<libc::rlimit>();
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit), 0);
        assert!(limit.rlim_max >= wanted, "this test needs {wanted} open files, {} are allowed", limit.rlim_max);
        limit.rlim_cur = limit.rlim_cur.max(wanted);
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &limit), 0);
    }
}

#[test]
fn connections_that_are_cut_at_any_moment_leave_nothing_behind() {
    let server = server(&[]);
    let mut random = Random::new(3);
    let write = "BEGIN; UPDATE d.t SET v = 1 WHERE id = 9";
    for _ in 0..400 {
        let mut client = connect(&server.endpoint());
        let statement = random.word(&[READ, "BEGIN", "UPDATE d.t SET v = v WHERE id = 9", write, "SELECT SLEEP(10)"]);
        let bytes = framed(statement);
        client.send_raw(&bytes[..1 + random.below(bytes.len())]).unwrap();
        client.abort();
    }
    let mut client = connect(&server.endpoint());
    client.must("UPDATE d.t SET v = 5 WHERE id = 9").unwrap();
    assert_eq!(client.scalar("SELECT v FROM d.t WHERE id = 9").unwrap().as_deref(), Some("5"));
    still_right(&server);
}

#[test]
fn a_client_that_does_not_read_stops_nobody() {
    let server = server(&[]);
    let wide = "SELECT id, REPEAT('w', 1000) FROM d.t WHERE id <= 900";
    let mut reader = connect(&server.endpoint());
    let truth = reader.query(wide).unwrap();
    reader.query(wide).unwrap();
    let mut lazy: Vec<_> = (0..20).map(|_| connect(&server.endpoint())).collect();
    for client in &mut lazy {
        let commands = [(command::QUERY, wide.as_bytes()); 20];
        client.send_together(&commands).unwrap();
    }
    reader.must("UPDATE d.t SET v = v + 1 WHERE id = 900").unwrap();
    assert_eq!(reader.scalar("SELECT v FROM d.t WHERE id = 900").unwrap().as_deref(), Some("9001"));
    assert!(reader.query(wide).unwrap() == truth);
    for client in &mut lazy {
        (0..20).for_each(|_| assert!(client.read_response().unwrap() == truth));
    }
}

#[test]
fn a_server_under_load_shuts_down_and_comes_back_with_its_cache() {
    let mut server = server(&[]);
    let (endpoint, is_over) = (server.endpoint(), AtomicBool::new(false));
    let reads = AtomicU64::new(0);
    let clients: Vec<Client> = (0..20).map(|_| connect(&endpoint)).collect();
    thread::scope(|scope| {
        for mut client in clients {
            let (is_over, reads) = (&is_over, &reads);
            scope.spawn(move || {
                while let (false, Ok(response)) = (is_over.load(Ordering::Relaxed), client.query(READ)) {
                    if response.failure().is_none() {
                        assert_eq!(response.scalar().as_deref(), Some("70"));
                        reads.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        while reads.load(Ordering::Relaxed) < 10_000 {
            thread::yield_now();
        }
        let outcome = server.shutdown();
        is_over.store(true, Ordering::Relaxed);
        outcome.expect("an orderly end under load");
    });
    server.restart().unwrap();
    warm(&server);
    still_right(&server);
}

/// Checks that the cache stays within its memory limit and gives memory back. It measures what the process holds, not what the cache's
/// counters say.
#[test]
fn memory_stays_within_what_was_granted_and_comes_back() {
    const SMALL: u64 = 8 << 20;
    const GRANTED: u64 = 256 << 20;
    /// The memory that the server's own allocator may keep after the same work.
    const NOISE: u64 = 8 << 20;
    let server = server(&["--innodb-buffer-pool-size=8M"]);
    let mut client = connect(&server.endpoint());
    let grant =
        |client: &mut Client, bytes: u64| client.must(&format!("SET GLOBAL fqc_size = {bytes}")).map(drop).unwrap();
    let mut random = Random::new(8);
    let mut read_all = |client: &mut Client| {
        for _ in 0..60_000 {
            let (id, length) = (random.below(1000) + 1, [20, 300, 5_000, 5_000, 40_000][random.below(5)]);
            let unique = random.below(1 << 30);
            client.query(format!("SELECT id, {unique}, REPEAT('m', {length}) FROM d.t WHERE id = {id}")).unwrap();
        }
    };
    grant(&mut client, SMALL);
    read_all(&mut client);
    let before = server.resident_bytes().unwrap();
    grant(&mut client, GRANTED);
    read_all(&mut client);
    let grown = server.resident_bytes().unwrap().saturating_sub(before);
    assert!(grown < (GRANTED - SMALL) * 102 / 100 + NOISE, "grew by {grown} bytes with {GRANTED} granted");
    assert!(grown > GRANTED / 2, "grew by {grown} bytes only: nothing was tested");
    grant(&mut client, 0);
    let begun = Instant::now();
    while server.resident_bytes().unwrap() > before + NOISE {
        assert!(begun.elapsed() < PATIENCE, "{} bytes are still held", server.resident_bytes().unwrap() - before);
        thread::yield_now();
    }
    still_right(&server);
}

#[test]
fn the_plugin_leaves_and_returns_under_load() {
    let server = server(&[]);
    let (endpoint, is_over) = (server.endpoint(), AtomicBool::new(false));
    thread::scope(|scope| {
        for worker in 0..10 {
            let (endpoint, is_over) = (&endpoint, &is_over);
            scope.spawn(move || {
                let mut client = connect(endpoint);
                let id = 100 + worker;
                for value in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    client.must(&format!("UPDATE d.t SET v = {value} WHERE id = {id}")).unwrap();
                    for _ in 0..5 {
                        let found = client.scalar(&format!("SELECT v FROM d.t WHERE id = {id}")).unwrap();
                        assert_eq!(found, Some(value.to_string()));
                    }
                }
            });
        }
        let mut admin = connect(&endpoint);
        for _ in 0..10 {
            admin.must("UNINSTALL SONAME 'fqc'").unwrap();
            await_gone(&mut admin, || ());
            server.install_plugin().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    warm(&server);
    still_right(&server);
}

/// Waits until the uninstalled plugin has ended, and calls the given function again and again. The server still lists the plugin until its
/// last user has released it.
fn await_gone(admin: &mut Client, mut meanwhile: impl FnMut()) {
    let listed = "SELECT COUNT(*) FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'fqc'";
    let begun = Instant::now();
    while admin.scalar(listed).unwrap().as_deref() != Some("0") {
        meanwhile();
        assert!(begun.elapsed() < PATIENCE, "the plugin stays");
        thread::sleep(STEP);
    }
}

/// True if the plugin's background thread has slept for the whole time of several rounds, so that it waits for the answer to a question to
/// the server. A thread whose pause is over is runnable, even if other processes keep it from the processor. `worker` is its folder in
/// `/proc`.
fn is_stuck(worker: &Path) -> bool {
    let status = || fs::read_to_string(worker.join("status")).unwrap();
    let line = |status: &str, name: &str| status.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    let before = line(&status(), "voluntary_ctxt_switches");
    thread::sleep(ROUNDS);
    let after = status();
    line(&after, "State") == "State:\tS (sleeping)" && line(&after, "voluntary_ctxt_switches") == before
}

/// Makes the plugin's background thread wait for a lock that `holder` takes. The server lets it wait for a second, and then it asks again.
/// Returns the thread's folder in `/proc`.
fn stop_worker(server: &Server, admin: &mut Client, holder: &mut Client) -> PathBuf {
    holder.must("LOCK TABLES mysql.global_priv WRITE").unwrap();
    let (worker, begun) = (worker_of(server), Instant::now());
    while !is_stuck(&worker) {
        assert!(begun.elapsed() < PATIENCE, "nothing is asked");
        admin.must("SET GLOBAL init_connect = IF(@@GLOBAL.init_connect = '', 'SET @a = 1', '')").unwrap();
    }
    worker
}

/// Waits until the condition holds. Panics, naming `what`, after two minutes.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "not so: {what}");
        thread::sleep(STEP);
    }
}

/// The folder in `/proc` of the plugin's background thread.
fn worker_of(server: &Server) -> PathBuf {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.pid().unwrap())).unwrap();
    let is_worker =
        |task: &PathBuf| fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "fqc-worker");
    tasks.map(|task| task.unwrap().path()).find(is_worker).expect("the plugin's thread")
}

/// Checks that the plugin can be unloaded by its own thread. The plugin ends with its last user, and that can be this thread while it asks
/// the server about a table.
#[test]
fn the_plugin_ends_on_its_own_thread_where_that_was_its_last_user() {
    let server = server(&[]);
    let (mut admin, mut holder) = (connect(&server.endpoint()), connect(&server.endpoint()));
    for _ in 0..3 {
        warm(&server);
        stop_worker(&server, &mut admin, &mut holder);
        admin.must("UNINSTALL SONAME 'fqc'").unwrap();
        holder.must("UNLOCK TABLES").unwrap();
        await_gone(&mut admin, || ());
        assert_eq!(admin.scalar(READ).unwrap().as_deref(), Some("70"));
        server.install_plugin().unwrap();
    }
    warm(&server);
}

/// Checks that results of a table are served after the plugin is loaded again, although the table was locked when the plugin left. The
/// engine does not observe the unlocking, and afterwards the connection is idle, as in a pool.
#[test]
fn what_was_locked_when_the_plugin_left_is_not_closed_at_its_next_load() {
    let server = server(&[]);
    let (mut admin, mut holder) = (connect(&server.endpoint()), connect(&server.endpoint()));
    holder.must("LOCK TABLES d.t WRITE").unwrap();
    admin.must("UNINSTALL SONAME 'fqc'").unwrap();
    // The connection releases the plugin with its next statement.
    await_gone(&mut admin, || drop(holder.must("DO 1").unwrap()));
    holder.must("UNLOCK TABLES").unwrap();
    server.install_plugin().unwrap();
    warm(&server);
}

#[test]
fn a_plugin_that_was_told_not_to_start_is_taken_out_like_any_other() {
    let mut server = server(&[]);
    server.shutdown().unwrap();
    server.add_argument("--skip-plugin-fqc");
    server.restart().unwrap();
    server.admin().unwrap().must("UNINSTALL SONAME 'fqc'").unwrap();
    let log = server.error_log();
    assert!(!log.contains("panicked"), "{log}");
    server.shutdown().unwrap();
}

/// Checks that the engine drops its pending questions about a table when FLUSH TABLES closes it. A flushed table must stay closed, so that
/// its file can be replaced.
#[test]
fn a_table_that_was_flushed_is_not_opened_by_a_question() {
    let server = server(&[]);
    let (mut admin, mut holder) = (connect(&server.endpoint()), connect(&server.endpoint()));
    let log = server.scratch().join("general.log");
    admin.must(&format!("SET GLOBAL general_log_file = '{}', GLOBAL general_log = ON", log.display())).unwrap();
    admin.must("CREATE TABLE d.flushed (id INT PRIMARY KEY, v INT)").unwrap();
    admin.must("CREATE TABLE d.asked LIKE d.flushed").unwrap();
    // The worker has to wait, and asks about the tables only when one is flushed.
    stop_worker(&server, &mut admin, &mut holder);
    let begun = Instant::now();
    admin.must("SELECT v FROM d.flushed").unwrap();
    admin.must("FLUSH TABLES d.flushed").unwrap();
    admin.must("SELECT v FROM d.asked").unwrap();
    let before = number(&server, "Opened_tables");
    holder.must("UNLOCK TABLES").unwrap();
    let asks = |table: &str| {
        let name: String = table.bytes().map(|byte| format!("{byte:02x}")).collect();
        let log = fs::read_to_string(&log).unwrap();
        log.lines().any(|line| line.contains("information_schema.STATISTICS") && line.contains(&format!("x'{name}'")))
    };
    while !asks("asked") {
        assert!(begun.elapsed() < PATIENCE, "the table is not asked about");
        thread::sleep(STEP);
    }
    assert!(!asks("flushed"));
    assert_eq!(number(&server, "Opened_tables"), before);
}

/// Checks that statements that may flush tables wait for a question of the engine that is under way. It would read the table's definition
/// after the flush.
#[test]
fn a_flush_waits_for_the_question_that_is_under_way() {
    let server = server(&[]);
    let [mut admin, mut holder, mut reader] = std::array::from_fn(|_| connect(&server.endpoint()));
    let log = server.scratch().join("general.log");
    admin.must(&format!("SET GLOBAL general_log_file = '{}', GLOBAL general_log = ON", log.display())).unwrap();
    admin.must("CREATE TABLE d.asked (id INT PRIMARY KEY, v INT)").unwrap();
    admin.must("CREATE TABLE d.last LIKE d.asked").unwrap();
    admin.must("CREATE PROCEDURE d.p() FLUSH TABLES").unwrap();
    reader.must("BEGIN").unwrap();
    reader.must("SELECT v FROM d.last").unwrap();
    let (_, prepared) = admin.prepare("FLUSH LOCAL TABLES").unwrap();
    let prepared = prepared.unwrap();
    let ways: [&dyn Fn(&mut Client) -> Response; 4] = [
        &|client| client.must("FLUSH TABLES").unwrap(),
        &|client| client.execute(&prepared, &[]).unwrap(),
        &|client| client.must("CALL d.p()").unwrap(),
        &|client| {
            client.send(COM_REFRESH, &[REFRESH_TABLES]).unwrap();
            client.read_response().unwrap()
        },
    ];
    // The server logs the question once it has answered it.
    let answered = |question: &str| fs::read_to_string(&log).unwrap().matches(question).count();
    let question = flavour::fill_in(
        flavour::MARIADB.catalogue.table,
        &flavour::MARIADB.literal(b"d"),
        &flavour::MARIADB.literal(b"asked"),
    );
    for way in ways {
        let worker = stop_worker(&server, &mut admin, &mut holder);
        let (before, views) = (answered(&question), answered("SHOW FULL TABLES"));
        admin.must("SELECT v FROM d.asked").unwrap();
        // The DROP holds a lock on its first table while it waits for the second one, so the question has to wait for the DROP.
        let (mut definer, endpoint) = (connect(&server.endpoint()), server.endpoint());
        let number = definer.scalar("SELECT CONNECTION_ID()").unwrap().unwrap();
        let definer = thread::spawn(move || definer.query("DROP TABLE d.asked, d.last").unwrap().failure().is_some());
        let waiting = format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {number}");
        until("the definition waits", || {
            connect(&endpoint).scalar(&waiting).unwrap().as_deref() == Some("Waiting for table metadata lock")
        });
        let is_over = || answered(&question) > before;
        holder.must("UNLOCK TABLES").unwrap();
        until("the table is asked about", || is_stuck(&worker) && answered("SHOW FULL TABLES") > views || is_over());
        assert!(way(&mut admin).failure().is_none());
        admin.must(&format!("KILL QUERY {number}")).unwrap();
        assert!(definer.join().unwrap(), "the table is still there");
        until("the question is over", is_over);
        assert!(admin.must("SHOW OPEN TABLES FROM d LIKE 'asked'").unwrap().rows(false).is_empty());
    }
}

/// Checks that no question of the engine about a table opens it, at whatever time it is asked. A flushed table stays closed, and its files
/// are not needed.
#[test]
fn questions_about_tables_open_none() {
    let catalogue = &flavour::MARIADB.catalogue;
    let of_all = [catalogue.view, catalogue.table];
    // The engine first asks whether it is a view: questions about a view's columns would open the tables behind it.
    let of_tables = [catalogue.columns, catalogue.unique_keys];
    let of_tables = [&of_tables, catalogue.unnamed_changes, catalogue.programs.as_ref().unwrap().existing].concat();
    let server = Server::start(Options::default()).unwrap();
    let mut admin = server.admin().unwrap();
    admin.must("CREATE DATABASE d").unwrap();
    for engine in ["InnoDB", "Aria", "MyISAM"] {
        let columns = "id INT PRIMARY KEY, v INT, w INT AS (v + 1), UNIQUE (v)";
        admin.must(&format!("CREATE TABLE d.{engine} ({columns}) ENGINE = {engine}")).unwrap();
        admin.must(&format!("CREATE VIEW d.of_{engine} AS SELECT v FROM d.{engine}")).unwrap();
        admin
            .must(&format!("CREATE TRIGGER d.x_{engine} BEFORE INSERT ON d.{engine} FOR EACH ROW SET @a = 1"))
            .unwrap();
    }
    let mut opened = Vec::new();
    // At first the server opens its own table of routines, which then stays open.
    for is_first in [true, false] {
        admin.must("FLUSH TABLES d.InnoDB, d.Aria, d.MyISAM, d.of_InnoDB, d.of_Aria, d.of_MyISAM").unwrap();
        for name in ["InnoDB", "Aria", "MyISAM", "of_InnoDB", "of_Aria", "of_MyISAM"] {
            let further = if name.starts_with("of_") { &[][..] } else { &of_tables };
            for question in of_all.iter().chain(further) {
                let before = number(&server, "Opened_tables");
                admin.must(&flavour::fill_in(question, "'d'", &format!("'{name}'"))).unwrap();
                opened.extend((!is_first && number(&server, "Opened_tables") != before).then_some((name, *question)));
            }
        }
    }
    assert!(opened.is_empty(), "{opened:#?}");
}

/// Checks that the plugin warns at its load of another server with the same tmpdir. A server that starts removes the temporary tables of
/// another server in the same folder, which can crash that one.
#[test]
fn a_server_with_the_same_tmpdir_is_named_at_the_load() {
    let (first, alone) = (Server::start(Options::default()).unwrap(), server(&[]));
    let second = server(&[&format!("--tmpdir={}", first.scratch().display())]);
    let words = format!("another server (process {}) has the same tmpdir", first.pid().unwrap());
    until("the warning", || second.error_log().contains(&words));
    assert!(!alone.error_log().contains("has the same tmpdir"), "{}", alone.error_log());
}

/// Checks that a server survives while others start in the same tmpdir. While another server may remove its files, the engine asks no
/// question that creates one, and asks again afterwards.
#[test]
fn a_server_outlives_the_starts_of_another_with_the_same_tmpdir() {
    const STARTS: usize = 40;
    const TABLES: usize = 50;
    let mut first = server(&[]);
    let mut client = connect(&first.endpoint());
    for table in 0..TABLES {
        client.must(&format!("CREATE TABLE d.t{table} (id INT PRIMARY KEY, v INT) ENGINE = InnoDB")).unwrap();
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        // Each definition makes the engine ask about the table again at its next read.
        scope.spawn(|| {
            for table in (0..TABLES).cycle().take_while(|_| !is_over.load(Ordering::Relaxed)) {
                let (alter, read) = (format!("ALTER TABLE d.t{table} COMMENT ''"), format!("SELECT v FROM d.t{table}"));
                if [alter, read].iter().any(|statement| client.must(statement).is_err()) {
                    return;
                }
            }
        });
        let shared = vec![format!("--tmpdir={}", first.scratch().display())];
        let mut second = Server::start(Options { arguments: shared, ..Options::default() }).unwrap();
        for _ in 0..STARTS {
            second.kill9().unwrap();
            second.restart().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(first.is_running(), "{}", first.error_log());
    warm(&first);
}

/// Checks that looking up a new table takes two temporary tables on disk: one for all that the engine needs to know of the columns, and one
/// for the triggers. MariaDB has no other source of these that opens no table.
#[test]
fn a_table_that_is_met_takes_two_temporary_tables_on_disk() {
    const TABLES: u64 = 100;
    let server = server(&[]);
    let mut client = connect(&server.endpoint());
    for table in 0..TABLES {
        let columns = "id INT PRIMARY KEY, v INT, w INT AS (v + 1), UNIQUE (v)";
        client.must(&format!("CREATE TABLE d.t{table} ({columns}) ENGINE = InnoDB")).unwrap();
    }
    // After this the engine knows everything else.
    warm(&server);
    let before = number(&server, "Created_tmp_disk_tables");
    for table in 0..TABLES {
        let hits_before = hits(&server);
        until("a hit", || {
            client.must(&format!("SELECT v FROM d.t{table}")).unwrap();
            hits(&server) > hits_before
        });
    }
    let made = number(&server, "Created_tmp_disk_tables") - before;
    // Less than one more for each table is allowed, since the engine may also have asked about something else.
    assert!((TABLES..3 * TABLES).contains(&made), "{made} temporary tables for {TABLES} tables");
}
