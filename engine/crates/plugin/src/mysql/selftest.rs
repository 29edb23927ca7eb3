//! The self-test: before anything is served, a session of the plugin writes, and each seam (a place in a table of functions of the server
//! where the plugin has put its own) must report that write. Another build of the server may have inlined functions, or may call them
//! without going through their table.

use crate::faults;
use crate::mysql::obstacles::{self, Obstacle};
use host::Link;
use std::cell::RefCell;

/// A place where the plugin observes the server by a function of its own in one of the server's tables: a lock on a table, a statement
/// under LOCK TABLES, a commit, a change of a definition, the end of a prepared transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seam {
    Lock,
    Statement,
    Commit,
    Definition,
    SecondPhase,
}

/// A report, during the self-test, of a function that the plugin has put into a table of the server.
#[derive(Debug, PartialEq, Eq)]
pub struct SeamReport {
    pub seam: Seam,
    /// Database and table. None if the report has none.
    pub name: Option<(Vec<u8>, Vec<u8>)>,
    /// False if the report is about a read.
    pub writes: bool,
}

thread_local! {
    /// The reports of the seams on this thread since the present step began; none outside of the test.
    static SEEN: RefCell<Option<Vec<SeamReport>>> = const { RefCell::new(None) };
}

/// Records a report of a seam, that is, of a function that the plugin has put into a table of the server. Does nothing, and does not call
/// `seen`, unless the self-test runs on this thread.
#[inline]
pub fn note(seen: impl FnOnce() -> SeamReport) {
    let tests = SEEN.try_with(|all| all.try_borrow().is_ok_and(|all| all.is_some())).unwrap_or(false);
    if tests {
        let seen = seen();
        let _ = SEEN.try_with(|all| all.borrow_mut().as_mut().map(|all| all.push(seen)));
    }
}

/// A table name that is encoded in the name of its file.
const CODED: &str = "t-ä";

/// Storage engines besides InnoDB in which any client can create tables. Their locks must be reported, because that is what keeps their
/// results from being cached.
const OTHER_ENGINES: [&str; 5] = ["myisam", "memory", "csv", "archive", "blackhole"];

/// Runs the self-test, by statements in a database of its own, which is dropped at the end. The error names the statement that was not
/// reported, or is that of a failed statement. `link` must run statements on this thread.
pub fn run(link: &mut dyn Link) -> Result<(), String> {
    let db = format!("fqc_self_test_{}", std::process::id());
    let outcome = told(link, &db);
    let dropped = link.query(&format!("DROP DATABASE IF EXISTS {db}"));
    outcome?;
    dropped.map(drop)
}

/// Checks only that a read is reported, on a server that may not be written to. The handlers of tables that were opened before the load are
/// unknown, so these must have been closed.
pub fn run_reading(link: &mut dyn Link) -> Result<(), String> {
    tell(link, "mysql", "SELECT COUNT(*) FROM mysql.component", &[(Seam::Lock, "component", false)])
}

fn told(link: &mut dyn Link, db: &str) -> Result<(), String> {
    of_innodb(link, db)?;
    OTHER_ENGINES.iter().try_for_each(|engine| of_other_engine(link, db, engine))
}

/// Tests one storage engine. An engine that is disabled or not part of this server creates no table, and is skipped: `Ok`. The error names
/// the statement that was not reported.
fn of_other_engine(link: &mut dyn Link, db: &str, engine: &str) -> Result<(), String> {
    let table = format!("{db}.{engine}");
    if link.query(&format!("CREATE TABLE {table} (v INT NOT NULL) ENGINE = {engine}")).is_err() {
        return Ok(());
    }
    tell(link, db, &format!("INSERT INTO {table} VALUES (1)"), &[(Seam::Lock, engine, true)])?;
    tell(link, db, &format!("SELECT v FROM {table}"), &[(Seam::Lock, engine, false)])?;
    tell(link, db, &format!("DROP TABLE {table}"), &[(Seam::Definition, engine, true)])
}

fn of_innodb(link: &mut dyn Link, db: &str) -> Result<(), String> {
    let mut step = |statement: &str, wanted: &[(Seam, &str, bool)]| tell(link, db, statement, wanted);
    step(&format!("CREATE DATABASE {db}"), &[])?;
    let columns = "(id INT PRIMARY KEY, v INT) ENGINE = InnoDB";
    for (table, partitions) in [("t", ""), ("p", " PARTITION BY HASH (id) PARTITIONS 2"), (CODED, "")] {
        step(
            &format!("CREATE TABLE {db}.`{table}` {columns}{partitions}"),
            &[(Seam::Definition, table, true), (Seam::Commit, "", true)],
        )?;
        step(
            &format!("INSERT INTO {db}.`{table}` VALUES (1, 1)"),
            &[(Seam::Lock, table, true), (Seam::Commit, "", true)],
        )?;
        step(&format!("SELECT v FROM {db}.`{table}`"), &[(Seam::Lock, table, false)])?;
        step(&format!("LOCK TABLES {db}.`{table}` WRITE"), &[(Seam::Lock, table, true)])?;
        step(&format!("UPDATE {db}.`{table}` SET v = 2"), &[(Seam::Statement, table, true), (Seam::Commit, "", true)])?;
        step("UNLOCK TABLES", &[])?;
        step("BEGIN", &[])?;
        step(&format!("DELETE FROM {db}.`{table}`"), &[(Seam::Lock, table, true)])?;
        step("COMMIT", &[(Seam::Commit, "", true)])?;
        step(&format!("ALTER TABLE {db}.`{table}` ADD w INT"), &[(Seam::Definition, table, true)])?;
        step(&format!("DROP TABLE {db}.`{table}`"), &[(Seam::Definition, table, true)])?;
    }
    for end in ["COMMIT", "ROLLBACK"] {
        step(&format!("XA START '{db}'"), &[])?;
        step(&format!("XA END '{db}'"), &[])?;
        step(&format!("XA PREPARE '{db}'"), &[])?;
        step(&format!("XA {end} '{db}'"), &[(Seam::SecondPhase, "", true)])?;
    }
    Ok(())
}

/// Runs one statement and checks that each of the wanted reports has come: seam, table (empty for any) and whether it is a write. More may
/// come. The error says which one was missing, or why the statement failed.
fn tell(link: &mut dyn Link, db: &str, statement: &str, wanted: &[(Seam, &str, bool)]) -> Result<(), String> {
    SEEN.set(Some(Vec::new()));
    let ran = link.query(statement);
    let mut seen = SEEN.take().unwrap_or_default();
    if let Some(silent) = faults::argument("silent") {
        let table = |one: &SeamReport| one.name.as_ref().map(|(_, table)| String::from_utf8_lossy(table).into_owned());
        seen.retain(|one| format!("{:?}", one.seam) != silent && table(one).as_ref() != Some(&silent));
    }
    ran?;
    for (seam, table, writes) in wanted {
        let is_it = |one: &SeamReport| {
            let name = one.name.as_ref().map(|(db, name)| (db.as_slice(), name.as_slice()));
            one.seam == *seam
                && one.writes == *writes
                && (table.is_empty() || name == Some((db.as_bytes(), table.as_bytes())))
        };
        if !seen.iter().any(is_it) {
            let what = if *writes { "a write" } else { "a read" };
            return Err(format!("{what} was not told at the seam {seam:?} by: {statement}"));
        }
    }
    Ok(())
}

/// True until the self-test has passed in this load.
pub fn is_needed() -> bool {
    obstacles::is_set(Obstacle::Untested)
}
