//! Checks that a session sees its own writes at once, inside and outside of transactions, and no trace of what it rolled back.

use std::io;

use super::stage::Stage;
use super::voice::{Outcome, Trouble, Voice};

/// The statement that creates the table. Each session writes one row in it.
pub fn setup() -> Vec<String> {
    vec!["CREATE TABLE own (id INT PRIMARY KEY, n BIGINT NOT NULL, note VARCHAR(20))".into()]
}

/// Writes the row `id`, which belongs to this session alone, and reads it after each write, until the run is over.
pub fn worker(voice: &mut Voice, stage: &Stage, id: usize) -> io::Result<()> {
    let mut n = 0;
    while stage.goes_on() {
        stage.pause(&mut voice.random);
        n += 10;
        if let Err(trouble) = round(voice, stage, id, n) {
            voice.recover(&trouble)?;
        }
    }
    Ok(())
}

/// Writes the value `n` to the row, and then once more in a random way.
fn round(voice: &mut Voice, stage: &Stage, id: usize, n: i64) -> Outcome<()> {
    voice.text(&format!("REPLACE INTO own VALUES ({id}, {n}, 'outside')"))?;
    expect(voice, stage, id, Some(n))?;
    match voice.random.below(50) {
        0 if stage.plan.redefines => shadowed(voice, stage, id, n),
        1..=9 => deleted(voice, stage, id, n),
        10..=19 => called(voice, stage, id, n),
        _ => inside(voice, stage, id, n),
    }
}

/// Changes the row in a transaction with a savepoint, and commits it or rolls it back.
fn inside(voice: &mut Voice, stage: &Stage, id: usize, n: i64) -> Outcome<()> {
    let level = voice.random.word(&["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "READ UNCOMMITTED"]);
    voice.text(&format!("SET TRANSACTION ISOLATION LEVEL {level}"))?;
    let begin = voice.random.word(&["BEGIN", "START TRANSACTION", "SET autocommit = 0"]);
    voice.text(begin)?;
    expect(voice, stage, id, Some(n))?;
    voice.run(&format!("UPDATE own SET n = {} WHERE id = {id}", n + 1))?;
    expect(voice, stage, id, Some(n + 1))?;
    voice.run("SAVEPOINT s")?;
    voice.run(&format!("UPDATE own SET n = n + 1 WHERE id = {id}"))?;
    expect(voice, stage, id, Some(n + 2))?;
    voice.run("ROLLBACK TO s")?;
    expect(voice, stage, id, Some(n + 1))?;
    let is_commit = voice.random.percent(50);
    voice.all(&[if is_commit { "COMMIT" } else { "ROLLBACK" }, "SET autocommit = 1"])?;
    expect(voice, stage, id, Some(if is_commit { n + 1 } else { n }))
}

/// Hides the row for a while behind a temporary table of the same name.
fn shadowed(voice: &mut Voice, stage: &Stage, id: usize, n: i64) -> Outcome<()> {
    voice.text("CREATE TEMPORARY TABLE own (id INT PRIMARY KEY, n BIGINT)")?;
    let hidden = expect(voice, stage, id, None);
    voice.text("DROP TEMPORARY TABLE own")?;
    hidden?;
    expect(voice, stage, id, Some(n))?;
    // The plugin caches nothing for a session that has had a temporary table.
    voice.reconnect().map(drop).map_err(|_| Trouble::Lost)
}

fn deleted(voice: &mut Voice, stage: &Stage, id: usize, n: i64) -> Outcome<()> {
    voice.run(&format!("DELETE FROM own WHERE id = {id}"))?;
    // A DELETE that is killed while it is planned succeeds without deleting anything, on a server without the plugin, too.
    if voice.text("SELECT ROW_COUNT()")?[0][0].as_deref() != Some(b"1") {
        stage.count("deletes in vain");
        return expect(voice, stage, id, Some(n));
    }
    expect(voice, stage, id, None)?;
    voice.run(&format!("INSERT INTO own VALUES ({id}, {n}, 'again')"))?;
    expect(voice, stage, id, Some(n))
}

/// Writes by a prepared statement, and by the first of several statements.
fn called(voice: &mut Voice, stage: &Stage, id: usize, n: i64) -> Outcome<()> {
    let update = format!("UPDATE own SET n = n + 1 WHERE id = {id}");
    if stage.plan.redefines {
        voice.all(&[&format!("PREPARE p FROM '{update}'"), "EXECUTE p"])?;
    } else {
        voice.run(&update)?;
    }
    expect(voice, stage, id, Some(n + 1))?;
    voice.text(&format!("{update}; SELECT 1"))?;
    expect(voice, stage, id, Some(n + 2))
}

/// Reads the row, and notes a violation if it has another value. `wanted` is None if there must be no row.
fn expect(voice: &mut Voice, stage: &Stage, id: usize, wanted: Option<i64>) -> Outcome<()> {
    let statement = format!("SELECT n FROM own WHERE id = {id}");
    let rows = voice.numbers(&statement)?;
    stage.count("own writes checks");
    let found = rows.first().map(|row| row[0]);
    if found != wanted {
        stage.violation(format!(
            "own write not seen: `{statement}` answered {found:?} right after the session left {wanted:?}"
        ));
    }
    Ok(())
}
