//! The near cache counts the reads of each process that maps its memory, and says why a process is not answered, whatever such
//! a process writes or sends.

use crate::beside::applications::Program;
use crate::beside::scene::{READ, Scene, ask, attached, caching_with, prepare};
use crate::beside::{Certificates, Folder, Near, wait_until};
use fqc_tests::client::Client;
use fqc_tests::connectors::{of_python_by_line, of_system_by_line};
use mapped::{Outcome, ProcessCounts, handover};
use std::fs::{self, File};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::process::Command;

/// A server with the plugin and TLS, and a near cache that shares its memory with other processes.
struct Shared {
    folder: Folder,
    scene: Scene,
    certificates: Certificates,
}

impl Shared {
    fn new() -> Shared {
        let certificates = Certificates::of("localhost");
        let tls = certificates.of_server();
        let server = caching_with(&tls.iter().map(String::as_str).collect::<Vec<_>>());
        let folder = Folder::fresh();
        prepare(&server);
        let nears = vec![attached(&server, &["--share", &folder.file("share")])];
        Shared { folder, scene: Scene { nears, server }, certificates }
    }

    fn near(&self) -> &Near {
        self.scene.near()
    }

    /// Starts a client that reads the shared memory in its own process, through the near cache.
    fn start(&self, command: Command) -> Program {
        Program::start(command, &self.folder.file("share"), self.near())
    }

    /// Starts the command-line client with these arguments. Statements end with `;;`.
    fn mariadb(&self, arguments: &[&str]) -> Program {
        let mut command = Command::new("mariadb");
        let port = self.near().port().to_string();
        command.args(["--no-defaults", "--batch", "--unbuffered", "--skip-column-names", "--delimiter=;;"]);
        command.args(["--host=127.0.0.1", "--user=root", "--port", &port]).args(arguments);
        self.start(command)
    }

    /// Starts a program in Python. It finds the near cache's port in `FQC_PORT`.
    fn python(&self, program: &str) -> Program {
        let mut command = Command::new("python3");
        command.args(["-c", program]);
        self.start(command)
    }

    /// Returns the number of reads of all processes with this outcome.
    fn reads(&self, outcome: Outcome) -> u64 {
        self.near().metric(&format!("application_reads_total{{outcome=\"{}\"}}", outcome.name()))
    }

    /// Returns the number of connections that are not answered in their processes for this reason.
    fn unserved(&self, reason: Outcome) -> u64 {
        self.near().metric(&format!("application_unserved_connections_total{{reason=\"{}\"}}", reason.name()))
    }

    fn processes(&self) -> u64 {
        self.near().metric("application_processes")
    }

    /// Returns the number of reads with this outcome in one process that is attached. None if it is not listed.
    fn of_process(&self, pid: u32, outcome: &str) -> Option<u64> {
        let metrics = self.near().get("/metrics");
        let begin = format!("fqc_near_process_reads_total{{pid=\"{pid}\",");
        let of_process = |line: &&str| line.starts_with(&begin) && line.contains(&format!("outcome=\"{outcome}\""));
        let line = metrics.lines().find(of_process)?;
        line.rsplit(' ').next()?.parse().ok()
    }

    /// Waits until the near cache has logged that this process is not answered, with these words.
    fn await_reason(&self, pid: u32, words: &str) {
        let begin = format!("reads of process {pid} (");
        let is_it = |line: &str| line.contains(&begin) && line.contains(words);
        wait_until(words, || self.near().log().lines().any(is_it));
    }
}

/// Returns the number of files that the near cache has open.
fn open_files(near: &Near) -> usize {
    fs::read_dir(format!("/proc/{}/fd", near.id())).expect("it runs").count()
}

#[test]
fn the_reads_of_each_process_are_counted_and_stay_in_the_sum_when_it_ends() {
    const READS: u64 = 500;
    let shared = Shared::new();
    let files = open_files(shared.near());
    let mut programs = [(); 2].map(|()| shared.start(of_python_by_line("pymysql")));
    for program in &mut programs {
        assert_eq!(program.ask(&format!("repeat {READS} {READ}")), "1");
        assert_eq!(program.ask("SELECT 2"), "2");
    }
    assert_eq!(shared.processes(), 2);
    let answered = shared.near().metric("application_hits_total");
    assert!(answered > READS, "{answered}");
    assert_eq!(shared.reads(Outcome::Answered), answered, "the notes say the same");
    let of_programs = programs.each_ref().map(|one| shared.of_process(one.id(), "answered").expect("it is listed"));
    assert_eq!(of_programs.iter().sum::<u64>(), answered);
    let [_, other] = programs.each_ref().map(|one| {
        ["answered", "missed", "not_served"].map(|outcome| shared.of_process(one.id(), outcome).expect("it is listed"))
    });
    // The first commands are missing, since the process had no counters when it sent them.
    let counted = other.iter().sum::<u64>();
    assert!((READS..=READS + 10).contains(&counted), "{other:?}");
    let mut client = shared.near().client();
    let told = ask(&mut client, "SHOW FQC STATUS LIKE 'Applications attached'");
    assert_eq!(told, "Applications attached,2");
    let told = ask(&mut client, "SHOW FQC STATUS LIKE 'Reads not answered in applications'");
    let others = Outcome::ALL.into_iter().filter(|one| !one.is_of_connection() && *one != Outcome::Answered);
    let others: u64 = others.map(|outcome| shared.reads(outcome)).sum();
    assert_eq!(told, format!("Reads not answered in applications,{others}"));
    drop(client);
    drop(programs);
    shared.near().wait_for_metric("application_processes", |count| count == 0);
    assert_eq!(shared.reads(Outcome::Answered), answered);
    wait_until("the end of what was opened", || open_files(shared.near()) <= files);
}

#[test]
fn a_write_and_a_changed_row_are_counted_as_what_they_are() {
    let shared = Shared::new();
    let mut program = shared.start(of_python_by_line("pymysql"));
    program.ask(&format!("repeat 50 {READ}"));
    let before = [Outcome::NotLast, Outcome::Outdated].map(|outcome| shared.reads(outcome));
    for round in 0..10 {
        let mut writer = shared.scene.direct();
        writer.must(&format!("UPDATE d.t SET v = {round} WHERE id = 1")).expect("it writes");
        assert_eq!(program.ask(&format!("repeat 50 {READ}")), round.to_string());
    }
    let after = [Outcome::NotLast, Outcome::Outdated].map(|outcome| shared.reads(outcome));
    assert!(after[1] >= before[1] + 10, "each write has made a result outdated: {before:?}, {after:?}");
    assert!(
        after[0] >= before[0] + 10,
        "each read that the server answers holds up the next one: {before:?}, {after:?}"
    );
}

#[test]
fn a_statement_that_is_prepared_for_each_read_passes_and_is_counted_as_new() {
    const READS: u64 = 200;
    let shared = Shared::new();
    let mut writer = shared.scene.direct();
    for library in ["mysqli", "pdo"] {
        let Some(command) = of_system_by_line("php", &[library, "anew"]) else { return };
        let mut program = shared.start(command);
        let before = [Outcome::NewStatement, Outcome::Answered].map(|outcome| shared.reads(outcome));
        for value in 0..10 {
            writer.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).expect("it writes");
            assert_eq!(program.ask(&format!("repeat {} {READ}", READS / 10)), value.to_string(), "{library}");
        }
        let after = [Outcome::NewStatement, Outcome::Answered].map(|outcome| shared.reads(outcome));
        let [new, answered] = [0, 1].map(|at| after[at] - before[at]);
        // The first read of the process comes before it has its counters.
        assert!(new >= READS - 2 && answered == 0, "{library}: {new} new, {answered} answered");
        shared.await_reason(program.id(), "prepared again");
    }
}

#[test]
fn it_is_said_once_why_a_process_is_not_answered() {
    let shared = Shared::new();
    let ca = format!("--ssl-ca={}", shared.certificates.file("ca.pem"));
    let mut encrypted = shared.mariadb(&["--ssl", &ca]);
    let mut compressed = shared.mariadb(&["--skip-ssl", "--compress"]);
    for program in [&mut encrypted, &mut compressed] {
        (0..3).for_each(|_| assert_eq!(program.ask(&format!("{READ};;")), "1"));
    }
    shared.await_reason(encrypted.id(), "uses TLS");
    shared.await_reason(compressed.id(), "is compressed");
    assert_eq!([Outcome::Tls, Outcome::Compressed].map(|reason| shared.unserved(reason)), [1, 1]);

    // It waits for the greeting by epoll, and ends when its input does.
    let mut waiting = shared.python(
        "import os, select, socket, sys\n\
         line = socket.create_connection(('127.0.0.1', int(os.environ['FQC_PORT'])))\n\
         events = select.epoll()\n\
         events.register(line, select.EPOLLIN)\n\
         events.poll()\n\
         print(len(line.recv(1000)) > 20, flush=True)\n\
         sys.stdin.read()",
    );
    assert_eq!(waiting.hear(), "True");
    shared.await_reason(waiting.id(), "epoll");
    assert_eq!(shared.unserved(Outcome::Epoll), 1);

    let mut elsewhere = of_python_by_line("pymysql");
    elsewhere.env("FQC_SOCKET", shared.scene.server.socket());
    let mut elsewhere = shared.start(elsewhere);
    assert_eq!(elsewhere.ask(&format!("repeat 300 {READ}")), "1");
    shared.await_reason(elsewhere.id(), "do not go through this fqc-near");
    assert!(shared.reads(Outcome::Elsewhere) > 200);

    let mut served = shared.start(of_python_by_line("pymysql"));
    assert_eq!(served.ask(&format!("repeat 300 {READ}")), "1");
    let pids = [&encrypted, &compressed, &waiting, &elsewhere].map(Program::id);
    drop((encrypted, compressed, waiting, elsewhere));
    shared.near().wait_for_metric("application_processes", |count| count == 1);
    let log = shared.near().log();
    for pid in pids {
        let lines = log.lines().filter(|line| line.contains(&format!("reads of process {pid} ("))).count();
        assert_eq!(lines, 1, "{log}");
    }
    assert!(!log.contains(&format!("reads of process {} (", served.id())), "{log}");
}

#[test]
fn a_process_that_connects_to_no_database_is_not_attached() {
    let shared = Shared::new();
    let mut program = shared.python(
        "import socket, sys\n\
         server = socket.create_server(('127.0.0.1', 0))\n\
         client = socket.create_connection(server.getsockname())\n\
         other = server.accept()[0]\n\
         client.send(b'GET / HTTP/1.1')\n\
         other.send(b'HTTP/1.1 200 OK')\n\
         print(client.recv(100)[:4].decode(), flush=True)\n\
         sys.stdin.read()",
    );
    assert_eq!(program.hear(), "HTTP");
    assert_eq!(shared.processes(), 0);
}

#[test]
fn a_process_has_ended_although_a_child_of_it_lives_on() {
    let shared = Shared::new();
    let mut client = of_python_by_line("pymysql");
    let script = client.get_args().next().expect("a program").to_owned();
    // The child runs the same client on a connection of its own, once its parent has ended.
    let program = format!(
        "import os, sys\n\
         sys.argv = ['lines.py', 'pymysql']\n\
         sys.stdin = open(0, closefd=False)\n\
         import pymysql\n\
         line = pymysql.connect(host='127.0.0.1', port=int(os.environ['FQC_PORT']), user='root', autocommit=True)\n\
         for _ in range(200):\n\
         \x20   cursor = line.cursor()\n\
         \x20   cursor.execute('{READ}')\n\
         print('read', flush=True)\n\
         sys.stdin.readline()\n\
         if os.fork():\n\
         \x20   os._exit(0)\n\
         print(sys.stdin.readline().strip(), flush=True)\n\
         exec(open({script:?}).read())\n",
    );
    client = Command::new(client.get_program());
    client.args(["-c", &program]);
    let mut parent = shared.start(client);
    assert_eq!(parent.hear(), "read");
    let answered = shared.reads(Outcome::Answered);
    assert!(answered > 100 && shared.processes() == 1, "{answered}");
    parent.send("now fork");
    shared.near().wait_for_metric("application_processes", |count| count == 0);
    assert_eq!(parent.ask("I live"), "I live");
    assert_eq!(parent.ask(&format!("repeat 200 {READ}")), "1");
    assert_eq!(shared.processes(), 1);
    assert!(shared.reads(Outcome::Answered) > answered + 100);
}

/// Sends these counters to the near cache, as a process does. Returns the connection, which keeps the process attached.
fn hand(shared: &Shared, file: &File) -> UnixStream {
    let stream = UnixStream::connect(shared.folder.file("share")).expect("it listens");
    handover::send(stream.as_raw_fd(), file).expect("it is sent");
    stream
}

/// Returns a copy of these counters in memory that the process can shorten.
fn unsealed(counts: &File) -> File {
    let mut bytes = vec![0; counts.metadata().expect("its length").len() as usize];
    counts.read_exact_at(&mut bytes, 0).expect("it is readable");
    // SAFETY: the name ends with a zero byte, and the descriptor belongs to the returned value alone.
    let file = unsafe {
        let file = libc::memfd_create(c"unsealed".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        assert!(file >= 0);
        File::from(OwnedFd::from_raw_fd(file))
    };
    file.write_all_at(&bytes, 0).expect("it is writable");
    file
}

#[test]
fn counters_that_are_nonsense_harm_nobody() {
    let shared = Shared::new();
    let files = open_files(shared.near());
    let mut served = shared.start(of_python_by_line("pymysql"));
    assert_eq!(served.ask(&format!("repeat 200 {READ}")), "1");
    let mut held = Vec::new();
    for round in 0..100_u64 {
        let (_counts, file) = ProcessCounts::create().expect("memory");
        match round % 5 {
            // Everything behind the first word is nonsense.
            0 => file.write_all_at(&[0xff; 2000], 8).expect("it is writable"),
            1 => file.write_all_at(b"other", 0).expect("it is writable"),
            _ => {}
        }
        let file = match round % 10 {
            // The memory becomes shorter as soon as it was handed over.
            2 | 7 => unsealed(&file),
            3 => File::open("/dev/zero").expect("a device"),
            _ => file,
        };
        let stream = hand(&shared, &file);
        if round % 5 == 2 {
            file.set_len(round).expect("it shrinks");
        }
        // Some send more than one descriptor, some leave at once.
        if round % 3 == 0 {
            let _ = handover::send(stream.as_raw_fd(), &file);
        } else if round % 3 == 1 {
            held.push((stream, file));
        }
    }
    let silent: Vec<_> =
        (0..600).map(|_| UnixStream::connect(shared.folder.file("share")).expect("it listens")).collect();
    assert_eq!(served.ask(&format!("repeat 200 {READ}")), "1");
    let answered = shared.reads(Outcome::Answered);
    assert!(answered < 1 << 50, "{answered}");
    let metrics = shared.near().get("/metrics");
    assert!(metrics.lines().filter(|line| line.starts_with("fqc_near_process_reads_total")).count() <= 3 * 64);
    assert!(ask(&mut shared.near().client(), "SHOW FQC STATUS LIKE 'Hits in app%'").starts_with("Hits in app"));
    drop((held, silent));
    shared.near().wait_for_metric("application_processes", |count| count == 1);
    let before = shared.of_process(served.id(), "answered").expect("it is listed");
    assert_eq!(served.ask(&format!("repeat 200 {READ}")), "1");
    assert!(shared.of_process(served.id(), "answered").expect("it is listed") > before + 100);
    drop(served);
    wait_until("the end of what was opened", || open_files(shared.near()) <= files);
    let mut direct = Client::root(&shared.scene.server.endpoint()).expect("a connection");
    assert_eq!(ask(&mut direct, READ), "1");
}
