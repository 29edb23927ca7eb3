//! Unmodified clients read the near cache's results in their own process, and never a stale one.

use crate::beside::applications::{Program, in_this_process, twins};
use crate::beside::executions::ELSEWHERE;
use crate::beside::scene::{READ, Scene, ask, attached, caching, prepare};
use crate::beside::{Folder, Near, server, wait_until};
use fqc_tests::client::Client;
use fqc_tests::connectors::{of_c_by_line, of_java_by_line, of_python_by_line, of_system_by_line};
use fqc_tests::random::Random;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use wire::hit_report::HitReport;

/// A server with the plugin, and a near cache that shares its memory with other processes.
struct Shared {
    folder: Folder,
    scene: Scene,
}

impl Shared {
    /// Starts both. `arguments`: additional ones of the near cache.
    fn new(arguments: &[&str]) -> Shared {
        let (server, folder) = (caching(), Folder::fresh());
        prepare(&server);
        let share = folder.file("share");
        let nears = vec![attached(&server, &[&["--share", &share], arguments].concat())];
        Shared { folder, scene: Scene { nears, server } }
    }

    fn near(&self) -> &Near {
        self.scene.near()
    }

    /// Returns the path of the socket where other processes get the memory.
    fn share(&self) -> String {
        self.folder.file("share")
    }

    /// Starts a client that reads the shared memory in its own process.
    fn start(&self, command: Command) -> Program {
        Program::start(command, &self.share(), self.near())
    }

    /// Starts a client that uses PyMySQL.
    fn python(&self) -> Program {
        self.start(of_python_by_line("pymysql"))
    }

    /// Starts the command-line client, which uses the C library. Statements end with `;;`.
    fn mariadb(&self) -> Program {
        let mut command = Command::new("mariadb");
        let port = self.near().port().to_string();
        command.args([
            "--no-defaults",
            "--batch",
            "--unbuffered",
            "--skip-column-names",
            "--skip-reconnect",
            "--force",
        ]);
        command.args(["--host=127.0.0.1", "--user=root", "--skip-ssl", "--delimiter=;;", "--port", &port]);
        self.start(command)
    }

    /// Returns how many reads were answered in the clients' processes, as far as they have reported it.
    fn hits_inside(&self) -> u64 {
        self.near().metric("application_hits_total")
    }
}

/// Formats a statement for clients that read one statement a line; a [`Form`].
fn owned(statement: &str) -> String {
    statement.into()
}

/// Formats a statement for the command-line client; a [`Form`].
fn line(statement: &str) -> String {
    format!("{statement};;")
}

/// Formats a statement as the line that a client reads.
type Form = fn(&str) -> String;

/// Starts the command-line client and clients of several Python libraries, each with the form of its statements.
fn clients(shared: &Shared) -> Vec<(Program, Form)> {
    let python = |arguments: &[&str]| {
        let mut command = of_python_by_line(arguments[0]);
        command.args(&arguments[1..]);
        (shared.start(command), owned as Form)
    };
    const CONNECTOR: &str = "mysql.connector";
    let libraries = [&["pymysql"][..], &["MySQLdb"], &[CONNECTOR], &[CONNECTOR, "pure"]];
    let mut clients = vec![(shared.mariadb(), line as Form)];
    clients.extend(libraries.map(python));
    clients
}

/// How often [`judge`] writes and reads again.
const ROUNDS: usize = 40;
/// How often [`judge`] repeats a read.
const READS: usize = 100;

/// The arguments of a client program.
type Words = [&'static str];

/// Clients in the languages that the system has packages of, with their arguments.
const OF_SYSTEM: [(&str, &Words); 8] = [
    ("php", &["mysqli"]),
    ("php", &["mysqli", "prepared"]),
    ("php", &["pdo"]),
    ("php", &["pdo", "prepared"]),
    ("perl", &[]),
    ("perl", &["prepared"]),
    ("ruby", &[]),
    ("ruby", &["prepared"]),
];

/// Checks that a client sees its own writes and those of others at once, and that most of its repeated reads are answered in its process.
/// `name`: for messages.
fn judge(shared: &Shared, name: &str, mut client: Program) {
    let mut writer = shared.scene.direct();
    let before = shared.hits_inside();
    for round in 1..=ROUNDS {
        writer.must(&format!("UPDATE d.t SET v = {round} WHERE id = 1")).expect("it writes");
        assert_eq!(client.ask(&format!("repeat {READS} {READ}")), round.to_string(), "{name}");
        assert_eq!(client.ask(&format!("UPDATE d.t SET v = {round} + 100 WHERE id = 1")), "-", "{name}");
        assert_eq!(client.ask(&format!("repeat {READS} {READ}")), (round + 100).to_string(), "{name}");
    }
    client.ask("SELECT 2");
    wait_until("the report of what was answered", || shared.hits_inside() > before);
    let answered = shared.hits_inside() - before;
    println!("{name}: {answered} of {} reads in the process", 2 * READS * ROUNDS);
    assert!(answered > (READS * ROUNDS) as u64, "{name}: {answered}");
}

/// Runs [`judge`], which checks what the client reads and where it is answered, for a client that connects by TCP, and
/// for one that connects by the near cache's unix socket.
fn judge_both_ways(shared: &Shared, name: &str, command: impl Fn() -> Command) {
    judge(shared, name, shared.start(command()));
    let mut by_socket = command();
    by_socket.env("FQC_SOCKET", shared.near().socket());
    judge(shared, &format!("{name} by a socket"), shared.start(by_socket));
}

#[test]
fn programs_in_php_perl_ruby_and_c_are_answered_in_their_process_and_see_each_write_at_once() {
    let shared = Shared::new(&[]);
    for (language, words) in OF_SYSTEM {
        if of_system_by_line(language, words).is_some() {
            let name = format!("{language} {}", words.join(" "));
            judge_both_ways(&shared, &name, || of_system_by_line(language, words).expect("it was there"));
        }
    }
    for words in [&[][..], &["prepared"]] {
        if of_c_by_line(words).is_some() {
            judge_both_ways(&shared, &format!("c {}", words.join(" ")), || of_c_by_line(words).expect("it was there"));
        }
    }
}

#[test]
fn programs_in_java_are_answered_in_their_process_and_see_each_write_at_once() {
    let shared = Shared::new(&[]);
    for words in [&["mariadb"][..], &["mariadb", "prepared"], &["mysql"], &["mysql", "prepared"]] {
        judge(&shared, &format!("java {}", words.join(" ")), shared.start(of_java_by_line(words)));
    }
}

#[test]
fn reads_are_answered_in_the_process_and_each_write_of_others_is_seen_at_once() {
    let shared = Shared::new(&[]);
    let mut writer = shared.scene.direct();
    for (mut client, statement) in clients(&shared) {
        let before = shared.hits_inside();
        for round in 1..=ROUNDS {
            writer.must(&format!("UPDATE d.t SET v = {round} WHERE id = 1")).expect("it writes");
            for _ in 0..READS {
                assert_eq!(client.ask(&statement(READ)), round.to_string());
            }
        }
        assert_eq!(client.ask(&statement("SELECT 2")), "2");
        wait_until("the report of what was answered", || shared.hits_inside() - before > (ROUNDS * READS / 2) as u64);
    }
}

#[test]
fn a_client_sees_its_own_writes_and_what_the_server_has_not_seen_makes_no_difference() {
    const TWO: &str = "SELECT v FROM d.t WHERE id < 3 ORDER BY id";
    let shared = Shared::new(&[]);
    for (mut client, statement) in clients(&shared) {
        let before = shared.hits_inside();
        for round in 1..=ROUNDS {
            for _ in 0..20 {
                client.send(&statement(READ));
                client.hear();
            }
            client.send(&statement(&format!("UPDATE d.t SET v = {round} + 100 WHERE id = 1")));
            if statement("").is_empty() {
                assert_eq!(client.hear(), "-");
            }
            for _ in 0..20 {
                assert_eq!(client.ask(&statement(READ)), (round + 100).to_string());
            }
            let (mut asked, count) = (client.ask(&statement(TWO)), if statement("").is_empty() { 0 } else { 1 });
            (0..count).for_each(|_| asked = client.hear());
            for _ in 0..5 {
                client.send(&statement(TWO));
                (0..=count).for_each(|_| asked = client.hear());
            }
            assert!(!asked.is_empty());
            assert_eq!(client.ask(&statement("SELECT FOUND_ROWS()")), "2", "round {round}");
        }
        assert!(shared.hits_inside() - before > 0, "nothing was answered in the process");
    }
}

#[test]
fn what_a_client_sets_and_begins_counts_from_its_next_read_on() {
    const TIME: &str = "SELECT CONCAT(FROM_UNIXTIME(v)) FROM d.t WHERE id = 2";
    let shared = Shared::new(&[]);
    let mut writer = shared.scene.direct();
    let mut client = shared.python();
    let mut asked = 0;
    let mut repeat = |client: &mut Program, read: &str, expected: &str| {
        asked += READS as u64;
        assert_eq!(client.ask(&format!("repeat {READS} {read}")), expected);
    };
    for round in 1..=ROUNDS {
        for (zone, expected) in [("+00:00", "1970-01-01 00:00:02"), ("+01:00", "1970-01-01 01:00:02")] {
            assert_eq!(client.ask(&format!("SET time_zone = '{zone}'")), "-");
            repeat(&mut client, TIME, expected);
        }
        let [old, new] = [2 * round, 2 * round + 1].map(|value| value.to_string());
        writer.must(&format!("UPDATE d.t SET v = {old} WHERE id = 1")).expect("it writes");
        repeat(&mut client, READ, &old);
        assert_eq!(client.ask("BEGIN"), "-");
        repeat(&mut client, READ, &old);
        writer.must(&format!("UPDATE d.t SET v = {new} WHERE id = 1")).expect("it writes");
        repeat(&mut client, READ, &old);
        assert_eq!(client.ask("COMMIT"), "-");
        repeat(&mut client, READ, &new);
        assert_eq!(client.ask("CREATE TEMPORARY TABLE d.t SELECT 1 AS id, 77 AS v"), "-");
        repeat(&mut client, READ, "77");
        assert_eq!(client.ask("DROP TEMPORARY TABLE d.t"), "-");
        repeat(&mut client, READ, &new);
    }
    assert!(shared.near().metric("commands_total") < asked, "nothing was answered in the process");
}

#[test]
fn a_process_that_forks_or_runs_others_reads_on() {
    let shared = Shared::new(&[]);
    let mut writer = shared.scene.direct();
    let mut client = shared.python();
    for (round, between) in ["fork", "run", "fork", "run"].into_iter().cycle().take(20).enumerate() {
        writer.must(&format!("UPDATE d.t SET v = {round} WHERE id = 1")).expect("it writes");
        assert_eq!(client.ask(&format!("repeat 50 {READ}")), round.to_string());
        assert_eq!(client.ask(between), "0");
        assert_eq!(client.ask(&format!("repeat 50 {READ}")), round.to_string());
    }
    assert_eq!(client.ask("SELECT 2"), "2");
    wait_until("the report of what was answered", || shared.hits_inside() > 500);
}

#[test]
fn a_near_cache_that_is_stopped_leaves_nothing_stale_and_one_that_is_killed_an_error() {
    let shared = Shared::new(&[]);
    let mut writer = shared.scene.direct();
    let mut client = shared.python();
    for round in 1..4 {
        writer.must(&format!("UPDATE d.t SET v = {round} WHERE id = 1")).expect("it writes");
        assert_eq!(client.ask(&format!("repeat 1000 {READ}")), round.to_string());
        shared.near().signal(libc::SIGSTOP);
        // The write waits until the lease has ended.
        writer.must(&format!("UPDATE d.t SET v = {round} + 50 WHERE id = 1")).expect("it writes");
        client.send(READ);
        shared.near().signal(libc::SIGCONT);
        assert_eq!(client.hear(), (round + 50).to_string());
        shared.near().wait_for_metric("serving", |serving| serving == 1);
        wait_until("reads in the process again", || {
            let before = shared.hits_inside();
            client.ask(&format!("repeat 1000 {READ}"));
            client.ask("SELECT 2");
            shared.hits_inside() > before
        });
    }
    shared.near().signal(libc::SIGKILL);
    writer.must("UPDATE d.t SET v = 9 WHERE id = 1").expect("it writes");
    assert!(client.ask(READ).starts_with("error"));
}

#[test]
fn it_is_off_by_one_word_and_without_the_socket_everything_passes() {
    let shared = Shared::new(&[]);
    let mut commands = [of_python_by_line("pymysql"), of_python_by_line("pymysql")];
    commands[0].env("FQC_IN_PROCESS", "0");
    let [off, elsewhere] = commands;
    let elsewhere = Program::start(elsewhere, "/nowhere/share", shared.near());
    for mut client in [shared.start(off), elsewhere] {
        let before = shared.near().metric("commands_total");
        assert_eq!(client.ask(&format!("repeat 500 {READ}")), "1");
        wait_until("all commands", || shared.near().metric("commands_total") >= before + 500);
    }
}

#[test]
fn only_those_who_may_write_to_the_socket_get_the_results() {
    for (arguments, expected) in [(&[][..], 0o600), (&["--share-mode", "0660", "--share-group", "0"], 0o660)] {
        let mut shared = Shared::new(arguments);
        let found = fs::metadata(shared.share()).expect("a socket");
        assert!(found.file_type().is_socket());
        assert_eq!(found.permissions().mode() & 0o777, expected);
        assert!(shared.near().log().contains("may read all results"));
        shared.near().signal(libc::SIGTERM);
        assert!(shared.scene.nears[0].ended().success());
        assert!(!Path::new(&shared.share()).exists());
    }
}

#[test]
fn whatever_a_connection_does_it_gets_what_it_would_get_directly() {
    in_this_process("in_process::whatever_a_connection_does_it_gets_what_it_would_get_directly", |share| {
        let (cached, plain) = (caching(), server());
        prepare(&cached);
        prepare(&plain);
        for server in [&cached, &plain] {
            let mut admin = Client::root(&server.endpoint()).expect("a connection");
            ELSEWHERE.iter().for_each(|one| drop(admin.must(one).expect(one)));
        }
        let near = attached(&cached, &["--share", share]);
        twins(&near, || Client::root(&plain.endpoint()).expect("a connection"), "by leases");
    });
}

/// Returns the number of files that the near cache has open.
fn open_files(near: &Near) -> usize {
    fs::read_dir(format!("/proc/{}/fd", near.id())).expect("it runs").count()
}

#[test]
fn programs_that_flood_the_share_socket_and_take_nothing_hold_nobody_up() {
    let shared = Shared::new(&[]);
    let before = open_files(shared.near());
    let held: Vec<_> = (0..400).map(|_| UnixStream::connect(shared.share()).expect("it listens")).collect();
    judge(&shared, "beside a flood", shared.python());
    drop(held);
    wait_until("the end of what was opened", || open_files(shared.near()) <= before);
}

#[test]
fn processes_that_are_stopped_or_killed_while_they_read_hold_nobody_up() {
    let shared = Shared::new(&[]);
    let mut writer = shared.scene.direct();
    for end in [libc::SIGSTOP, libc::SIGKILL] {
        let mut readers: Vec<_> = (0..3).map(|_| shared.python()).collect();
        readers.iter_mut().for_each(|reader| reader.send(&format!("repeat 1000000 {READ}")));
        for value in 0..60 {
            writer.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).expect("it writes");
            if value % 20 == 10 {
                readers[value / 20].signal(end);
            }
        }
        judge(&shared, "beside processes in trouble", shared.python());
        drop(readers);
    }
    wait_until("the end of their connections", || shared.near().metric("connections") == 0);
}

/// Returns a malformed or false report of answered commands, as a hostile process could send it.
fn nonsense(random: &mut Random) -> Vec<u8> {
    let mut packet = |length: usize| (0..length).map(|_| random.below(256) as u8).collect::<Vec<u8>>();
    let (any, short) = (packet(40), packet(3));
    let commands: [&[u8]; 6] = [
        b"\x1d\0\0\0\x03SELECT v FROM d.t WHERE id = 1",
        b"\x23\0\0\0\x03UPDATE d.t SET v = 666 WHERE id = 1",
        b"\x0a\0\0\0\x17\x01\0\0\0\0\x01\0\0\0",
        b"",
        &any,
        &short,
    ];
    let packet = commands[random.below(commands.len())];
    let [hits, rows] = [0; 2].map(|_| [0, 1, u64::MAX][random.below(3)]);
    let mut report = HitReport { hits, rows, packet }.write();
    match random.below(4) {
        0 => report.truncate(random.below(report.len())),
        1 => {
            let at = random.below(report.len());
            report[at] ^= 1 << random.below(8);
        }
        _ => {}
    }
    report
}

#[test]
fn notes_that_are_nonsense_harm_their_own_connection_alone() {
    let shared = Shared::new(&[]);
    let (mut random, mut writer) = (Random::new(5), shared.scene.direct());
    let mut other = shared.python();
    for value in 0..300 {
        writer.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).expect("it writes");
        let mut hostile = shared.near().client();
        hostile.set_timeout(Some(Duration::from_millis(20))).expect("a limit");
        for _ in 0..random.below(4) {
            let _ = hostile.query(READ);
        }
        // Any answer is right, and so is none.
        let _ = hostile.send_raw(&nonsense(&mut random)).and_then(|()| hostile.query("SELECT FOUND_ROWS()"));
        drop(hostile);
        let mut now = shared.scene.direct();
        let expected = ask(&mut now, READ);
        assert_eq!(other.ask(READ), expected);
    }
    judge(&shared, "after nonsense", shared.python());
    assert!(shared.hits_inside() < 1 << 40, "one connection has spoilt the counters");
    wait_until("the end of connections", || shared.near().metric("connections") == 1);
}
