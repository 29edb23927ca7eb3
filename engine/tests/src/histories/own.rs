//! Checks that a session sees its own writes at once, inside and outside of transactions, and no trace of what it rolled back.

use std::io;

use super::session::{NoResult, Outcome, Session};
use super::stage::Stage;

/// The statement that creates the table. Each session writes one row in it.
pub fn setup() -> Vec<String> {
    vec!["CREATE TABLE own (id INT PRIMARY KEY, n BIGINT NOT NULL, note VARCHAR(20))".into()]
}

/// Writes the row `id`, which belongs to this session alone, and reads it after each write, until the run is over.
pub fn worker(session: &mut Session, stage: &Stage, id: usize) -> io::Result<()> {
    let mut n = 0;
    while stage.goes_on() {
        stage.pause(&mut session.random);
        n += 10;
        if let Err(failure) = round(session, stage, id, n) {
            session.recover(&failure)?;
        }
    }
    Ok(())
}

/// Writes the value `n` to the row, and then once more in a random way.
fn round(session: &mut Session, stage: &Stage, id: usize, n: i64) -> Outcome<()> {
    session.text(&format!("REPLACE INTO own VALUES ({id}, {n}, 'outside')"))?;
    expect(session, stage, id, Some(n))?;
    match session.random.below(50) {
        0 if stage.plan.redefines => shadowed(session, stage, id, n),
        1..=9 => deleted(session, stage, id, n),
        10..=19 => called(session, stage, id, n),
        _ => inside(session, stage, id, n),
    }
}

/// Changes the row in a transaction with a savepoint, and commits it or rolls it back.
fn inside(session: &mut Session, stage: &Stage, id: usize, n: i64) -> Outcome<()> {
    let level = session.random.word(&["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "READ UNCOMMITTED"]);
    session.text(&format!("SET TRANSACTION ISOLATION LEVEL {level}"))?;
    let begin = session.random.word(&["BEGIN", "START TRANSACTION", "SET autocommit = 0"]);
    session.text(begin)?;
    expect(session, stage, id, Some(n))?;
    session.run(&format!("UPDATE own SET n = {} WHERE id = {id}", n + 1))?;
    expect(session, stage, id, Some(n + 1))?;
    session.run("SAVEPOINT s")?;
    session.run(&format!("UPDATE own SET n = n + 1 WHERE id = {id}"))?;
    expect(session, stage, id, Some(n + 2))?;
    session.run("ROLLBACK TO s")?;
    expect(session, stage, id, Some(n + 1))?;
    let is_commit = session.random.percent(50);
    session.all(&[if is_commit { "COMMIT" } else { "ROLLBACK" }, "SET autocommit = 1"])?;
    expect(session, stage, id, Some(if is_commit { n + 1 } else { n }))
}

/// Hides the row for a while behind a temporary table of the same name.
fn shadowed(session: &mut Session, stage: &Stage, id: usize, n: i64) -> Outcome<()> {
    session.text("CREATE TEMPORARY TABLE own (id INT PRIMARY KEY, n BIGINT)")?;
    let hidden = expect(session, stage, id, None);
    session.text("DROP TEMPORARY TABLE own")?;
    hidden?;
    expect(session, stage, id, Some(n))?;
    // The plugin caches nothing for a session that has had a temporary table.
    session.reconnect().map(drop).map_err(|_| NoResult::Lost)
}

fn deleted(session: &mut Session, stage: &Stage, id: usize, n: i64) -> Outcome<()> {
    session.run(&format!("DELETE FROM own WHERE id = {id}"))?;
    // A DELETE that is killed while it is planned succeeds without deleting anything, on a server without the plugin, too.
    if session.text("SELECT ROW_COUNT()")?[0][0].as_deref() != Some(b"1") {
        stage.count("deletes in vain");
        return expect(session, stage, id, Some(n));
    }
    expect(session, stage, id, None)?;
    session.run(&format!("INSERT INTO own VALUES ({id}, {n}, 'again')"))?;
    expect(session, stage, id, Some(n))
}

/// Writes by a prepared statement, and by the first of several statements.
fn called(session: &mut Session, stage: &Stage, id: usize, n: i64) -> Outcome<()> {
    let update = format!("UPDATE own SET n = n + 1 WHERE id = {id}");
    if stage.plan.redefines {
        session.all(&[&format!("PREPARE p FROM '{update}'"), "EXECUTE p"])?;
    } else {
        session.run(&update)?;
    }
    expect(session, stage, id, Some(n + 1))?;
    session.text(&format!("{update}; SELECT 1"))?;
    expect(session, stage, id, Some(n + 2))
}

/// Reads the row, and notes a violation if it has another value. `wanted` is None if there must be no row.
fn expect(session: &mut Session, stage: &Stage, id: usize, wanted: Option<i64>) -> Outcome<()> {
    let statement = format!("SELECT n FROM own WHERE id = {id}");
    let rows = session.numbers(&statement)?;
    stage.count("own writes checks");
    let found = rows.first().map(|row| row[0]);
    if found != wanted {
        stage.violation(format!(
            "own write not seen: `{statement}` answered {found:?} right after the session left {wanted:?}"
        ));
    }
    Ok(())
}
