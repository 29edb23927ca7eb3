//! Transfers between accounts. The sum of all balances never changes, and one snapshot shows one state however often it is read.

use std::io;
use std::thread;
use std::time::Duration;

use super::session::{Outcome, Session};
use super::stage::Stage;

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
pub fn writer(session: &mut Session, stage: &Stage) -> io::Result<()> {
    while stage.goes_on() {
        stage.pause(&mut session.random);
        let outcome = if session.random.percent(60) { transfer(session) } else { step_both(session) };
        if let Err(failure) = outcome {
            session.recover(&failure)?;
        }
    }
    Ok(())
}

fn transfer(session: &mut Session) -> Outcome<()> {
    let (from, to) = (session.random.below(ACCOUNTS), session.random.below(ACCOUNTS));
    let amount = session.random.below(10);
    if session.random.percent(15) {
        return session.run(&format!(
            "UPDATE bank SET balance = balance + CASE id WHEN {from} THEN -{amount} ELSE {amount} END WHERE id IN ({from}, {}) AND {from} <> {to}",
            if from == to { from } else { to }
        ));
    }
    let begin = begin(session);
    session.text(begin)?;
    session.run(&format!("UPDATE bank SET balance = balance - {amount} WHERE id = {from}"))?;
    if session.random.percent(5) {
        session.run("SAVEPOINT s")?;
        session.run(&format!("UPDATE bank SET balance = 0 WHERE id <> {from}"))?;
        session.run("ROLLBACK TO s")?;
    }
    session.run(&format!("UPDATE bank SET balance = balance + {amount} WHERE id = {to}"))?;
    finish(session)
}

fn step_both(session: &mut Session) -> Outcome<()> {
    let id = session.random.below(ACCOUNTS);
    if session.random.percent(20) {
        return session.run(&format!(
            "UPDATE left_side l JOIN right_side r ON l.id = r.id SET l.n = l.n + 1, r.n = r.n + 1 WHERE l.id = {id}"
        ));
    }
    let begin = begin(session);
    session.text(begin)?;
    session.run(&format!("UPDATE left_side SET n = n + 1 WHERE id = {id}"))?;
    session.run(&format!("UPDATE right_side SET n = n + 1 WHERE id = {id}"))?;
    finish(session)
}

/// A random statement that begins a transaction.
fn begin(session: &mut Session) -> &'static str {
    session.random.word(&[
        "BEGIN",
        "START TRANSACTION",
        "SET autocommit = 0",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    ])
}

/// Ends the transaction in a random way, mostly by a commit, and leaves autocommit on.
fn finish(session: &mut Session) -> Outcome<()> {
    match session.random.below(24) {
        0 | 1 => session.all(&["ROLLBACK", "SET autocommit = 1"]),
        2 => session.send_and_die("COMMIT").map_err(|_| super::session::NoResult::Lost),
        // SET autocommit = 1 commits the transaction implicitly.
        3 => session.all(&["BEGIN", "COMMIT", "SET autocommit = 1"]),
        4 => session.all(&["SET autocommit = 1", "COMMIT"]),
        5 => session.all(&["COMMIT AND CHAIN", "COMMIT", "SET autocommit = 1"]),
        6 => session.all(&["CALL commits()", "COMMIT", "SET autocommit = 1"]),
        7 => {
            session.text("COMMIT; SELECT n FROM left_side WHERE id = 1")?;
            session.run("SET autocommit = 1")
        }
        8 => {
            session.text("SET completion_type = CHAIN")?;
            session.run("COMMIT")?;
            session.text("SET completion_type = NO_CHAIN")?;
            session.all(&["COMMIT", "SET autocommit = 1"])
        }
        _ => session.all(&["COMMIT", "SET autocommit = 1"]),
    }
}

/// Checks sums, pairs and snapshots until the run is over.
pub fn reader(session: &mut Session, stage: &Stage) -> io::Result<()> {
    while stage.goes_on() {
        let outcome = match session.random.below(10) {
            0..=3 => single_sums(session, stage),
            4..=6 => snapshot(session, stage),
            7 if stage.plan.beside.is_some() => outside(session, stage),
            _ => both_or_none(session, stage),
        };
        if let Err(failure) = outcome {
            session.recover(&failure)?;
        }
    }
    Ok(())
}

fn single_sums(session: &mut Session, stage: &Stage) -> Outcome<()> {
    sum(session, stage, "alone")?;
    let joined = "SELECT COUNT(*) FROM left_side l JOIN right_side r ON l.id = r.id WHERE l.n <> r.n";
    let apart = session.numbers(joined)?;
    stage.count("pair checks");
    if apart != [[0]] {
        stage.violation(format!("torn pair: `{joined}` answered {apart:?}"));
    }
    Ok(())
}

/// Checks the sum of all balances. `place` says in a report where it was read.
fn sum(session: &mut Session, stage: &Stage, place: &str) -> Outcome<()> {
    let total = session.numbers("SELECT CAST(SUM(balance) AS SIGNED) FROM bank")?;
    stage.count("sum checks");
    if total != [[TOTAL]] {
        stage.violation(format!("the sum read {place} is {total:?}, not {TOTAL}"));
    }
    Ok(())
}

/// Begins a transaction at REPEATABLE READ, in which all reads show one state.
fn open_snapshot(session: &mut Session) -> Outcome<()> {
    let begin = begin(session);
    session.text(begin)?;
    if session.random.percent(30) {
        // Some of these reads open the server's snapshot, others leave that to the next read.
        let words = ["SELECT id FROM bank WHERE id = 99", "SELECT MAX(id) FROM bank WHERE id > 99", "SELECT 1"];
        let no_row = session.random.word(&words);
        session.text(no_row)?;
    }
    Ok(())
}

fn close_snapshot(session: &mut Session) -> Outcome<()> {
    session.all(&["COMMIT", "SET autocommit = 1"])
}

fn snapshot(session: &mut Session, stage: &Stage) -> Outcome<()> {
    open_snapshot(session)?;
    let mut known: Vec<Option<i64>> = vec![None; ACCOUNTS];
    for _ in 0..6 {
        let id = session.random.below(ACCOUNTS);
        let condition = match session.random.below(4) {
            0 => String::new(),
            1 => format!(" WHERE id IN ({id}, {})", (id + 3) % ACCOUNTS),
            _ => format!(" WHERE id = {id}"),
        };
        let statement = format!("SELECT id, balance FROM bank{condition}");
        for _ in 0..times(session, stage) {
            for row in session.numbers(&statement)? {
                same(stage, &mut known[row[0] as usize], row[1], &statement);
            }
        }
        if session.random.percent(30) {
            sum(session, stage, "in a snapshot")?;
        }
    }
    if known.iter().all(Option::is_some) && known.iter().flatten().sum::<i64>() != TOTAL {
        stage.violation(format!("the balances of one snapshot do not sum up to {TOTAL}: {known:?}"));
    }
    close_snapshot(session)
}

/// The number of times that a read is repeated. A near cache only answers reads that repeat before the next write.
fn times(session: &mut Session, stage: &Stage) -> usize {
    if stage.plan.beside.is_some() { 1 + session.random.below(4) } else { 1 }
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
fn outside(session: &mut Session, stage: &Stage) -> Outcome<()> {
    let id = pair(session, stage);
    (0..8).try_for_each(|_| {
        let statement = one_side(session, id);
        session.run(&statement)
    })
}

/// A random pair. With near caches there are only few, so that several sessions read the same rows.
fn pair(session: &mut Session, stage: &Stage) -> usize {
    session.random.below(if stage.plan.beside.is_some() { 2 } else { ACCOUNTS })
}

fn one_side(session: &mut Session, id: usize) -> String {
    let side = session.random.word(&["left_side", "right_side"]);
    format!("SELECT n FROM {side} WHERE id = {id}")
}

/// Checks that one snapshot shows both halves of a pair in the same state.
fn both_or_none(session: &mut Session, stage: &Stage) -> Outcome<()> {
    open_snapshot(session)?;
    let id = pair(session, stage);
    let mut known = None;
    for _ in 0..if stage.plan.beside.is_some() { 12 } else { 4 } {
        if stage.plan.beside.is_some() && session.random.percent(50) {
            // During this pause other sessions read newer rows. Its length is part of the plan.
            thread::sleep(Duration::from_millis(session.random.below(8) as u64));
        }
        let statement = one_side(session, id);
        for _ in 0..times(session, stage) {
            for row in session.numbers(&statement)? {
                same(stage, &mut known, row[0], &format!("{statement}, the pair's other half or an earlier read,"));
            }
        }
    }
    close_snapshot(session)
}
