//! The client libraries (connectors) that applications use. Each has a program that runs the same scenario: see `../connectors`.
//!
//! Their dependencies are installed once into `FQC_CONNECTORS_CACHE`, by default below the system's temporary directory. The functions here
//! return commands that are not started yet; they read `FQC_PORT` or, by line, also `FQC_SOCKET`. They panic if an installation fails.

use crate::checkout;
use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The statements that create the database `c` and the table that the scenario reads.
pub const ITEM: [&str; 4] = [
    "CREATE OR REPLACE DATABASE c",
    "CREATE TABLE c.item (id INT PRIMARY KEY, name VARCHAR(40) CHARACTER SET utf8mb4, note VARCHAR(40), price DECIMAL(9,2), day DATE, moment DATETIME)",
    "INSERT INTO c.item VALUES (1, 'Zoë 🦭', NULL, 12.50, '2024-02-29', '2024-02-29 12:34:56')",
    "INSERT INTO c.item VALUES (2, 'other', NULL, 1, '2024-01-01', '2024-01-01')",
];

/// A read that answers a row of [`ITEM`].
pub const READ: &str = "SELECT name FROM c.item WHERE id = 1";
/// The steps of the scenario, each with the row that it must print.
pub const STEPS: [(&str, &str); 6] = [
    ("first", "1|Zoë 🦭|NULL|12.50|2024-02-29|2024-02-29 12:34:56"),
    ("fresh", "1|Zoë 🦭|NULL|13.50|2024-02-29|2024-02-29 12:34:56"),
    ("inside", "1|Zoë 🦭|gone|13.50|2024-02-29|2024-02-29 12:34:56"),
    ("rolled back", "1|Zoë 🦭|NULL|13.50|2024-02-29|2024-02-29 12:34:56"),
    ("committed", "1|ʎʇıʌ 🐬|NULL|13.50|2024-02-29|2024-02-29 12:34:56"),
    ("empty", ""),
];

/// Returns what a scenario prints that runs each step in these ways, of `text` and `prepared`, in this order, if each step finds the right
/// rows.
pub fn expected(ways: &[&str]) -> String {
    let lines =
        |(step, row): &(&str, &str)| ways.iter().map(|way| format!("{step} {way}: {row}\n")).collect::<String>();
    STEPS.iter().map(lines).collect()
}

fn programs() -> PathBuf {
    checkout::file("tests/connectors")
}

/// The ways in which the scenario runs each step with a library that also speaks the binary protocol: for [`expected`].
pub const BOTH: [&str; 2] = ["text", "prepared"];

/// Returns the folder with what `install` makes of these files of `connectors/NAME`; `install` gets the path of a folder with copies of
/// them. Runs it only once for each content of the files, and keeps the folder for later runs. Panics if `install` does.
fn ready(name: &str, files: &[&str], install: impl FnOnce(&Path)) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    files.iter().for_each(|file| fs::read(programs().join(name).join(file)).unwrap().hash(&mut hasher));
    let cache = std::env::var_os("FQC_CONNECTORS_CACHE").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| std::env::temp_dir().join("fqc-connectors"));
    fs::create_dir_all(&cache).unwrap();
    // The lock also excludes other test programs that run at the same time.
    let alone = File::create(cache.join("lock")).unwrap();
    alone.lock().unwrap();
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

/// Runs a command to its end and returns its output. Panics, with its error output, if it fails or does not start.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{complaint}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command that downloads something. Repeats it twice if it fails, and then panics.
fn fetch(command: &mut Command) {
    let succeeds = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    if !(0..2).any(|_| succeeds(command)) {
        run(command);
    }
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

/// Returns the command that runs the scenario with a Python library: `pymysql` or `MySQLdb`. It prints [`expected`].
pub fn of_python(module: &str) -> Command {
    of_python_by("scenario.py", module)
}

/// Returns the command that runs the scenario with autocommit off, the default of Python's libraries. It prints
/// [`expected_in_transactions`].
pub fn of_python_in_transactions(module: &str) -> Command {
    of_python_by("transactions.py", module)
}

/// Returns the command of a program that runs statements from its standard input, one a line, through a Python library, and prints the
/// first value of each result.
pub fn of_python_by_line(module: &str) -> Command {
    of_python_by("lines.py", module)
}

fn of_python_by(scenario: &str, module: &str) -> Command {
    let mut command = Command::new(python());
    command.arg(programs().join("python").join(scenario)).arg(module);
    command
}

/// Returns what the command of [`of_python_in_transactions`] prints if each step finds the right rows.
pub fn expected_in_transactions() -> String {
    let row = |price: &str, note: &str| format!("1|Zoë 🦭|{note}|{price}|2024-02-29|2024-02-29 12:34:56");
    let steps = [
        ("first", row("12.50", "NULL")),
        ("another row", "2|other|NULL|1.00|2024-01-01|2024-01-01 00:00:00".into()),
        ("the same snapshot", row("12.50", "NULL")),
        ("fresh", row("13.50", "NULL")),
        ("its own write", row("13.50", "gone")),
        ("rolled back", row("13.50", "NULL")),
    ];
    steps.iter().map(|(step, row)| format!("{step} text: {row}\n")).collect()
}

/// Returns the command that runs the scenario with Node's library mysql2. It prints [`expected`].
pub fn mysql2() -> Command {
    let install = |place: &Path| fetch(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(place));
    let place = ready("node", &["package.json", "package-lock.json", ".npmrc", "scenario.mjs"], install);
    let mut command = Command::new("node");
    command.arg(place.join("scenario.mjs"));
    command
}

/// Returns the command that runs the scenario with Go's go-sql-driver. It prints [`expected`].
pub fn go_sql_driver() -> Command {
    let build = |place: &Path| {
        fetch(Command::new("go").args(["build", "-mod=readonly", "-o", "scenario", "."]).current_dir(place));
    };
    Command::new(ready("go", &["go.mod", "go.sum", "main.go"], build).join("scenario"))
}

/// Returns the command that runs the scenario with Java's Connector/J. It prints [`expected`].
pub fn connector_j() -> Command {
    of_java("Scenario.java")
}

fn of_java(program: &str) -> Command {
    let install = |place: &Path| {
        let copy = ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars"];
        fetch(Command::new("mvn").args(copy).current_dir(place));
    };
    let jars = ready("java", &["pom.xml"], install).join("jars/*");
    let mut command = Command::new("java");
    command.args(["-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-cp"]).arg(jars);
    command.arg(programs().join("java").join(program));
    command
}

/// Returns the command of a program that runs statements from its standard input, one a line, through a Connector/J,
/// and prints the first value of each result. `words`: `mariadb` or `mysql` for whose Connector/J, then perhaps
/// `prepared`, to run reads as prepared statements.
pub fn of_java_by_line(words: &[&str]) -> Command {
    let mut command = of_java("Lines.java");
    command.args(words);
    command
}

/// Returns the command of a program that runs statements from its standard input, one a line, and prints the first
/// value of each result. `language` is `php`, `perl` or `ruby`, whose interpreters and libraries come from the system.
/// `words`: for PHP `mysqli` or `pdo`; then for each perhaps `prepared`. Returns None, and prints why, if something is
/// missing.
pub fn of_system_by_line(language: &str, words: &[&str]) -> Option<Command> {
    let (interpreter, program, proof): (_, _, &[&str]) = match language {
        "php" => {
            ("php", "lines.php", &["-r", "exit(extension_loaded('mysqli') && extension_loaded('pdo_mysql') ? 0 : 1);"])
        }
        "perl" => ("perl", "lines.pl", &["-MDBD::mysql", "-e", "1"]),
        _ => ("ruby", "lines.rb", &["-rmysql2", "-e", "1"]),
    };
    let output = Command::new(interpreter).args(proof).output();
    if !output.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: {interpreter} with a library for MySQL is not installed");
        return None;
    }
    let mut command = Command::new(interpreter);
    command.arg(programs().join(language).join(program)).args(words);
    Some(command)
}

/// Returns the command of a program that runs statements from its standard input, one a line, through the installed
/// client library of C, and prints the first value of each result. `words`: perhaps `prepared`. Returns None, and
/// prints why, if the library is missing.
pub fn of_c_by_line(words: &[&str]) -> Option<Command> {
    let flags = Command::new("mariadb_config").args(["--cflags", "--libs"]).output();
    let Some(flags) = flags.ok().filter(|output| output.status.success()) else {
        eprintln!("SKIPPED: the client library of C is not installed");
        return None;
    };
    let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
    let build = |place: &Path| {
        let mut compiler = Command::new("cc");
        compiler.args(["-Wall", "-Werror", "-o"]).arg(place.join("lines")).arg(place.join("lines.c"));
        run(compiler.args(flags.split_whitespace()));
    };
    let mut command = Command::new(ready("c", &["lines.c"], build).join("lines"));
    command.args(words);
    Some(command)
}
