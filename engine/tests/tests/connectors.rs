//! The client libraries that applications use, each against a cached server: `../connectors` holds the programs.
//!
//! Every program says the same words, and what it reads again comes from memory. Its dependencies are installed once
//! into `FQC_CONNECTORS_CACHE`, by default below the system's temporary directory.

mod traps;

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use fqc_tests::client::Endpoint;
use traps::{Arena, all};

const ITEM: [&str; 4] = [
    "CREATE OR REPLACE DATABASE c",
    "CREATE TABLE c.item (id INT PRIMARY KEY, name VARCHAR(40) CHARACTER SET utf8mb4, note VARCHAR(40), price DECIMAL(9,2), day DATE, moment DATETIME)",
    "INSERT INTO c.item VALUES (1, 'Zoë 🦭', NULL, 12.50, '2024-02-29', '2024-02-29 12:34:56')",
    "INSERT INTO c.item VALUES (2, 'other', NULL, 1, '2024-01-01', '2024-01-01')",
];

const READ: &str = "SELECT name FROM c.item WHERE id = 1";
/// Of twenty reads in each of five groups outside of transactions; the first ones go to the server.
const LEAST_HITS: u64 = 75;

const STEPS: [(&str, &str); 6] = [
    ("first", "1|Zoë 🦭|NULL|12.50|2024-02-29|2024-02-29 12:34:56"),
    ("fresh", "1|Zoë 🦭|NULL|13.50|2024-02-29|2024-02-29 12:34:56"),
    ("inside", "1|Zoë 🦭|gone|13.50|2024-02-29|2024-02-29 12:34:56"),
    ("rolled back", "1|Zoë 🦭|NULL|13.50|2024-02-29|2024-02-29 12:34:56"),
    ("committed", "1|ʎʇıʌ 🐬|NULL|13.50|2024-02-29|2024-02-29 12:34:56"),
    ("empty", ""),
];

fn expected(ways: &[&str]) -> String {
    let lines =
        |(step, row): &(&str, &str)| ways.iter().map(|way| format!("{step} {way}: {row}\n")).collect::<String>();
    STEPS.iter().map(lines).collect()
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("connectors")
}

const BOTH: [&str; 2] = ["text", "prepared"];

static INSTALLING: Mutex<()> = Mutex::new(());

/// Where the dependencies named by these files are, installed by `install` if they are not yet.
fn ready(name: &str, files: &[&str], install: impl FnOnce(&Path)) -> PathBuf {
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut hasher = DefaultHasher::new();
    files.iter().for_each(|file| fs::read(programs().join(name).join(file)).unwrap().hash(&mut hasher));
    let cache = std::env::var_os("FQC_CONNECTORS_CACHE").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| std::env::temp_dir().join("fqc-connectors"));
    let place = cache.join(format!("{name}-{:016x}", hasher.finish()));
    if !place.join("ready").exists() {
        fs::create_dir_all(&place).unwrap();
        files
            .iter()
            .map(|file| fs::copy(programs().join(name).join(file), place.join(file)))
            .for_each(|copied| _ = copied.unwrap());
        install(&place);
        fs::write(place.join("ready"), "").unwrap();
    }
    place
}

/// Runs a command to its end; what it says, or a panic with its complaint.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{complaint}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command that fetches something: networks fail now and then.
fn fetch(command: &mut Command) {
    let succeeds = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    if !(0..2).any(|_| succeeds(command)) {
        run(command);
    }
}

/// A database with the table of the scenario, of which the server knows already that its reads may be kept.
fn stage(db: &str) -> (Arena, u16) {
    let mut arena = Arena::enter(db);
    let mut client = arena.client();
    all(&mut client, &ITEM);
    arena.warm(&mut client, READ);
    let Endpoint::Tcp(port) = arena.server.endpoint() else { unreachable!("servers listen on TCP") };
    (arena, port)
}

fn scenario(db: &str, ways: &[&str], command: &mut Command) {
    let hits = hits_of(db, ways, command);
    assert!(hits >= LEAST_HITS * ways.len() as u64, "only {hits} reads came from memory");
}

/// Runs a program whose answers must be right; how many of its reads came from memory.
fn hits_of(db: &str, ways: &[&str], command: &mut Command) -> u64 {
    let (mut arena, port) = stage(db);
    let (said, hits) = arena.counted(|| run(command.env("FQC_PORT", port.to_string())));
    assert_eq!(said, expected(ways));
    hits
}

fn python() -> PathBuf {
    let install = |place: &Path| {
        run(Command::new("python3").args(["-m", "venv"]).arg(place.join("venv")));
        fetch(
            Command::new(place.join("venv/bin/pip")).args(["install", "-q", "-r"]).arg(place.join("requirements.txt")),
        );
    };
    ready("python", &["requirements.txt"], install).join("venv/bin/python")
}

#[test]
fn pymysql() {
    scenario("c_pymysql", &["text"], Command::new(python()).arg(programs().join("python/scenario.py")).arg("pymysql"));
}

#[test]
fn mysqlclient() {
    scenario(
        "c_mysqlclient",
        &["text"],
        Command::new(python()).arg(programs().join("python/scenario.py")).arg("MySQLdb"),
    );
}

#[test]
fn mysql2() {
    let install = |place: &Path| fetch(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(place));
    let place = ready("node", &["package.json", "package-lock.json", ".npmrc", "scenario.mjs"], install);
    scenario("c_mysql2", &BOTH, Command::new("node").arg(place.join("scenario.mjs")));
}

#[test]
fn go_sql_driver() {
    let build = |place: &Path| {
        fetch(Command::new("go").args(["build", "-mod=readonly", "-o", "scenario", "."]).current_dir(place));
    };
    let place = ready("go", &["go.mod", "go.sum", "main.go"], build);
    scenario("c_go", &BOTH, &mut Command::new(place.join("scenario")));
}

#[test]
fn connector_j() {
    let install = |place: &Path| {
        let copy = ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"];
        fetch(Command::new("mvn").args(copy).current_dir(place));
    };
    let place = ready("java", &["pom.xml"], install);
    let jars = place.join("jars/*");
    let hits = hits_of(
        "c_java",
        &BOTH,
        Command::new("java")
            .arg("-Dfile.encoding=UTF-8")
            .arg("-Dstdout.encoding=UTF-8")
            .arg("-cp")
            .arg(jars)
            .arg(programs().join("java/Scenario.java")),
    );
    // At connect it sets things by expressions, which are asked for before a read by text alone.
    assert!(hits >= LEAST_HITS, "only {hits} reads came from memory");
}

/// The command-line client has no binary protocol.
#[test]
fn mariadb_client() {
    let (mut arena, port) = stage("c_client");
    let read = "SELECT CONCAT_WS('|', id, name, IFNULL(note, 'NULL'), price, day, moment) FROM c.item WHERE id = 1;\n";
    let mut script = String::new();
    let steps = [
        "",
        "UPDATE c.item SET price = price + 1 WHERE id = 1;",
        "BEGIN; UPDATE c.item SET note = 'gone' WHERE id = 1;",
        "ROLLBACK;",
        "BEGIN; UPDATE c.item SET name = 'ʎʇıʌ 🐬' WHERE id = 1; COMMIT;",
    ];
    steps.iter().for_each(|step| script += &format!("{step}\n{}", read.repeat(20)));
    let (said, hits) = arena.counted(|| speak(port, &script));
    let mut lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 20 * steps.len());
    lines.dedup();
    assert_eq!(lines, STEPS[..5].iter().map(|step| step.1).collect::<Vec<_>>());
    assert!(hits >= 60, "only {hits} reads came from memory:\n{}", arena.server.reasons());
}

fn speak(port: u16, script: &str) -> String {
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "--batch", "--skip-column-names", "--default-character-set=utf8mb4", "--user=root"]);
    command.args(["--protocol=tcp", "--host=127.0.0.1", &format!("--port={port}"), "c"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the mariadb client");
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the mariadb client: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
