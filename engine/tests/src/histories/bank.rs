//! Transfers between accounts. The sum of all balances never changes, and one snapshot shows one state however often it is read.

use std::io;
use std::thread;
use std::time::Duration;

use super::stage::Stage;
use super::voice::{Outcome, Voice};

const ACCOUNTS: usize = 16;
const TOTAL: i64 = 100 * ACCOUNTS as i64;

/// The statements that create the accounts, and pairs of rows whose halves are always written together.
pub fn setup() -> Vec<String> {
    let rows: Vec<_> = (0..ACCOUNTS).map(|id| format!("({id}, 100)")).collect();
    vec![
        "CREATE TABLE bank (id INT PRIMARY KEY, balance BIGINT NOT NULL)".into(),
        format!("INSERT INTO bank VALUES {}", rows.join(", ")),
        // Both sides of a pair are always written together.
        "CREATE PROCEDURE commits() COMMIT".into(),
        "CREATE TABLE left_side (id INT PRIMARY KEY, n BIGINT)".into(),
        "CREATE TABLE right_side (id INT PRIMARY KEY, n BIGINT)".into(),
        format!("INSERT INTO left_side SELECT id, 0 FROM bank"),
        format!("INSERT INTO right_side SELECT id, 0 FROM bank"),
    ]
}

/// Moves money, and writes pairs, until the run is over.
pub fn writer(voice: &mut Voice, stage: &Stage) -> io::Result<()> {
    while stage.goes_on() {
        stage.pause(&mut voice.random);
        let outcome = if voice.random.percent(60) { transfer(voice) } else { step_both(voice) };
        if let Err(trouble) = outcome {
            voice.recover(&trouble)?;
        }
    }
    Ok(())
}

fn transfer(voice: &mut Voice) -> Outcome<()> {
    let (from, to) = (voice.random.below(ACCOUNTS), voice.random.below(ACCOUNTS));
    let amount = voice.random.below(10);
    if voice.random.percent(15) {
        return voice.run(&format!(
            "UPDATE bank SET balance = balance + CASE id WHEN {from} THEN -{amount} ELSE {amount} END WHERE id IN ({from}, {}) AND {from} <> {to}",
            if from == to { from } else { to }
        ));
    }
    let begin = begin(voice);
    voice.text(begin)?;
    voice.run(&format!("UPDATE bank SET balance = balance - {amount} WHERE id = {from}"))?;
    if voice.random.percent(5) {
        voice.run("SAVEPOINT s")?;
        voice.run(&format!("UPDATE bank SET balance = 0 WHERE id <> {from}"))?;
        voice.run("ROLLBACK TO s")?;
    }
    voice.run(&format!("UPDATE bank SET balance = balance + {amount} WHERE id = {to}"))?;
    finish(voice)
}

fn step_both(voice: &mut Voice) -> Outcome<()> {
    let id = voice.random.below(ACCOUNTS);
    if voice.random.percent(20) {
        return voice.run(&format!(
            "UPDATE left_side l JOIN right_side r ON l.id = r.id SET l.n = l.n + 1, r.n = r.n + 1 WHERE l.id = {id}"
        ));
    }
    let begin = begin(voice);
    voice.text(begin)?;
    voice.run(&format!("UPDATE left_side SET n = n + 1 WHERE id = {id}"))?;
    voice.run(&format!("UPDATE right_side SET n = n + 1 WHERE id = {id}"))?;
    finish(voice)
}

/// A random statement that begins a transaction.
fn begin(voice: &mut Voice) -> &'static str {
    voice.random.word(&[
        "BEGIN",
        "START TRANSACTION",
        "SET autocommit = 0",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    ])
}

/// Ends the transaction in a random way, mostly by a commit, and leaves autocommit on.
fn finish(voice: &mut Voice) -> Outcome<()> {
    match voice.random.below(24) {
        0 | 1 => voice.all(&["ROLLBACK", "SET autocommit = 1"]),
        2 => voice.send_and_die("COMMIT").map_err(|_| super::voice::Trouble::Lost),
        // SET autocommit = 1 commits the transaction implicitly.
        3 => voice.all(&["BEGIN", "COMMIT", "SET autocommit = 1"]),
        4 => voice.all(&["SET autocommit = 1", "COMMIT"]),
        5 => voice.all(&["COMMIT AND CHAIN", "COMMIT", "SET autocommit = 1"]),
        6 => voice.all(&["CALL commits()", "COMMIT", "SET autocommit = 1"]),
        7 => {
            voice.text("COMMIT; SELECT n FROM left_side WHERE id = 1")?;
            voice.run("SET autocommit = 1")
        }
        8 => {
            voice.text("SET completion_type = CHAIN")?;
            voice.run("COMMIT")?;
            voice.text("SET completion_type = NO_CHAIN")?;
            voice.all(&["COMMIT", "SET autocommit = 1"])
        }
        _ => voice.all(&["COMMIT", "SET autocommit = 1"]),
    }
}

/// Checks sums, pairs and snapshots until the run is over.
pub fn reader(voice: &mut Voice, stage: &Stage) -> io::Result<()> {
    while stage.goes_on() {
        let outcome = match voice.random.below(10) {
            0..=3 => single_sums(voice, stage),
            4..=6 => snapshot(voice, stage),
            7 if stage.plan.beside.is_some() => outside(voice, stage),
            _ => both_or_none(voice, stage),
        };
        if let Err(trouble) = outcome {
            voice.recover(&trouble)?;
        }
    }
    Ok(())
}

fn single_sums(voice: &mut Voice, stage: &Stage) -> Outcome<()> {
    sum(voice, stage, "alone")?;
    let joined = "SELECT COUNT(*) FROM left_side l JOIN right_side r ON l.id = r.id WHERE l.n <> r.n";
    let apart = voice.numbers(joined)?;
    stage.count("pair checks");
    if apart != [[0]] {
        stage.violation(format!("torn pair: `{joined}` answered {apart:?}"));
    }
    Ok(())
}

/// Checks the sum of all balances. `place` says in a report where it was read.
fn sum(voice: &mut Voice, stage: &Stage, place: &str) -> Outcome<()> {
    let total = voice.numbers("SELECT CAST(SUM(balance) AS SIGNED) FROM bank")?;
    stage.count("sum checks");
    if total != [[TOTAL]] {
        stage.violation(format!("the sum read {place} is {total:?}, not {TOTAL}"));
    }
    Ok(())
}

/// Begins a transaction at REPEATABLE READ, in which all reads show one state.
fn open_snapshot(voice: &mut Voice) -> Outcome<()> {
    let begin = begin(voice);
    voice.text(begin)?;
    if voice.random.percent(30) {
        // Some of these reads open the server's snapshot, others leave that to the next read.
        let words = ["SELECT id FROM bank WHERE id = 99", "SELECT MAX(id) FROM bank WHERE id > 99", "SELECT 1"];
        let no_row = voice.random.word(&words);
        voice.text(no_row)?;
    }
    Ok(())
}

fn close_snapshot(voice: &mut Voice) -> Outcome<()> {
    voice.all(&["COMMIT", "SET autocommit = 1"])
}

fn snapshot(voice: &mut Voice, stage: &Stage) -> Outcome<()> {
    open_snapshot(voice)?;
    let mut known: Vec<Option<i64>> = vec![None; ACCOUNTS];
    for _ in 0..6 {
        let id = voice.random.below(ACCOUNTS);
        let condition = match voice.random.below(4) {
            0 => String::new(),
            1 => format!(" WHERE id IN ({id}, {})", (id + 3) % ACCOUNTS),
            _ => format!(" WHERE id = {id}"),
        };
        let statement = format!("SELECT id, balance FROM bank{condition}");
        for _ in 0..times(voice, stage) {
            for row in voice.numbers(&statement)? {
                same(stage, &mut known[row[0] as usize], row[1], &statement);
            }
        }
        if voice.random.percent(30) {
            sum(voice, stage, "in a snapshot")?;
        }
    }
    if known.iter().all(Option::is_some) && known.iter().flatten().sum::<i64>() != TOTAL {
        stage.violation(format!("the balances of one snapshot do not sum up to {TOTAL}: {known:?}"));
    }
    close_snapshot(voice)
}

/// The number of times that a read is repeated. A near cache only answers reads that repeat before the next write.
fn times(voice: &mut Voice, stage: &Stage) -> usize {
    if stage.plan.beside.is_some() { 1 + voice.random.below(4) } else { 1 }
}

/// Checks that `value` is the one that this snapshot has shown before, if any, and notes it in `known`.
fn same(stage: &Stage, known: &mut Option<i64>, value: i64, statement: &str) {
    stage.count("snapshot checks");
    match known {
        Some(before) if *before != value => {
            stage.violation(format!("one snapshot, two states: `{statement}` answered {value} after {before}"));
        }
        _ => *known = Some(value),
    }
}

/// Reads outside of transactions, so that near caches store results that are newer than the snapshots of other sessions.
fn outside(voice: &mut Voice, stage: &Stage) -> Outcome<()> {
    let id = pair(voice, stage);
    (0..8).try_for_each(|_| {
        let statement = one_side(voice, id);
        voice.run(&statement)
    })
}

/// A random pair. With near caches there are only few, so that several sessions read the same rows.
fn pair(voice: &mut Voice, stage: &Stage) -> usize {
    voice.random.below(if stage.plan.beside.is_some() { 2 } else { ACCOUNTS })
}

fn one_side(voice: &mut Voice, id: usize) -> String {
    let side = voice.random.word(&["left_side", "right_side"]);
    format!("SELECT n FROM {side} WHERE id = {id}")
}

/// Checks that one snapshot shows both halves of a pair in the same state.
fn both_or_none(voice: &mut Voice, stage: &Stage) -> Outcome<()> {
    open_snapshot(voice)?;
    let id = pair(voice, stage);
    let mut known = None;
    for _ in 0..if stage.plan.beside.is_some() { 12 } else { 4 } {
        if stage.plan.beside.is_some() && voice.random.percent(50) {
            // During this pause other sessions read newer rows. Its length is part of the plan.
            thread::sleep(Duration::from_millis(voice.random.below(8) as u64));
        }
        let statement = one_side(voice, id);
        for _ in 0..times(voice, stage) {
            for row in voice.numbers(&statement)? {
                same(stage, &mut known, row[0], &format!("{statement}, the pair's other half or an earlier read,"));
            }
        }
    }
    close_snapshot(voice)
}
