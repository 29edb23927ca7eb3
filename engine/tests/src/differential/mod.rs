//! One stream of random statements against a cached and a plain server, in lockstep: every answer must be equal.
//!
//! Invariants: one statement at a time over all sessions, no waiting for locks (every lock timeout is 0), the clock of
//! each session set by `SET timestamp`; so two plain servers never differ. The stream comes in epochs, each from a seed
//! of its own and on empty servers, so that a failing history is short to begin with.
//! Deliberately absent: anything concurrent; that is what `histories` is for.

pub mod action;
mod compare;
pub mod generate;
mod lane;
mod report;
mod shrink;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use crate::random::Random;
use crate::server::Server;
use action::{Action, Kind};
use generate::Generator;
use lane::{Answer, Lane};

pub const SESSIONS: usize = 6;

/// No statement may wait: what waits depends on time.
pub const ARGUMENTS: &[&str] = &[
    "--innodb-lock-wait-timeout=0",
    "--lock-wait-timeout=0",
    "--innodb-stats-auto-recalc=0",
    "--innodb-stats-persistent=1",
    "--long-query-time=1000",
    "--innodb-deadlock-detect=0",
    "--default-time-zone=+00:00",
];

/// Brings back what a history may have changed for the whole server.
const RESTORING: &[&str] = &[
    "SET SESSION lock_wait_timeout = 20, SESSION foreign_key_checks = 0, SESSION group_concat_max_len = 1000000, SESSION sql_mode = ''",
    "SET GLOBAL sql_mode = DEFAULT",
    "SET GLOBAL time_zone = '+00:00'",
    "SET GLOBAL group_concat_max_len = DEFAULT",
    "SET GLOBAL div_precision_increment = DEFAULT",
    "SET GLOBAL lc_time_names = DEFAULT",
    "SET GLOBAL sql_select_limit = DEFAULT",
    "SET GLOBAL collation_connection = DEFAULT",
];

pub struct Plan {
    pub seed: u64,
    pub statements: u64,
    pub time: Duration,
    pub epoch: u64,
    pub shrink_time: Duration,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seed: 1,
            statements: u64::MAX,
            time: Duration::from_secs(60),
            epoch: 4000,
            shrink_time: Duration::from_secs(120),
        }
    }
}

#[derive(Debug, Default)]
pub struct Summary {
    pub statements: u64,
    pub epochs: u64,
    pub elapsed: Duration,
    /// `Qcache_hits` of the cached server over this run; `None` when it knows no such counter.
    pub hits: Option<u64>,
    /// Steps of this kind, and how many of them failed on both servers.
    pub per_kind: BTreeMap<Kind, (u64, u64)>,
    pub per_error: BTreeMap<u16, u64>,
}

impl Summary {
    fn count(&mut self, kind: Kind, answer: &Answer) {
        self.statements += 1;
        let counts = self.per_kind.entry(kind).or_default();
        counts.0 += 1;
        if let Some(failure) = answer.responses.iter().find_map(|one| one.failure()) {
            counts.1 += 1;
            *self.per_error.entry(failure.code).or_default() += 1;
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let speed = self.statements as f64 / self.elapsed.as_secs_f64();
        writeln!(out, "{} statements in {} epochs, {speed:.0}/s, hits {:?}", self.statements, self.epochs, self.hits)?;
        for (kind, (count, errors)) in &self.per_kind {
            writeln!(out, "  {kind:?}: {count}, of these {errors} errors")?;
        }
        writeln!(out, "  errors by code: {:?}", self.per_error)
    }
}

/// What was found, ready for a person to read.
#[derive(Debug)]
pub struct Difference {
    pub seed: u64,
    /// Steps up to the difference, before shrinking.
    pub steps: usize,
    pub history: Vec<Action>,
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        writeln!(out, "DIFFERENCE, replay with --seed {} --statements {}", self.seed, self.steps)?;
        writeln!(out, "history of {} steps, [session] statement:", self.history.len())?;
        write!(out, "{}{}", report::history(&self.history), self.what)
    }
}

/// Runs until the plan ends or the first difference. The `Err` is a fault of the surroundings, not of the plugin.
pub fn run(plain: &Server, cached: &Server, plan: &Plan) -> io::Result<(Summary, Option<Difference>)> {
    let begun = Instant::now();
    let hits_before = hits(cached)?;
    let mut summary = Summary::default();
    let mut found = None;
    while found.is_none() && begun.elapsed() < plan.time && summary.statements < plan.statements {
        let seed = plan.seed + summary.epochs;
        let steps = plan.epoch.min(plan.statements - summary.statements);
        let deadline = begun + plan.time;
        found = epoch(plain, cached, seed, steps, deadline, &mut summary)?.map(|found| (seed, found));
        summary.epochs += 1;
    }
    summary.elapsed = begun.elapsed();
    summary.hits = hits(cached)?.zip(hits_before).map(|(after, before)| after.saturating_sub(before));
    let Some((seed, (history, what))) = found else { return Ok((summary, None)) };
    let first = Difference { seed, steps: history.len(), history, what };
    eprintln!("{}\nshrinking ...", Difference { history: tail(&first.history), ..clone(&first) });
    Ok((summary, Some(shrunk(plain, cached, first, plan.shrink_time))))
}

fn clone(difference: &Difference) -> Difference {
    Difference { seed: difference.seed, steps: difference.steps, history: Vec::new(), what: difference.what.clone() }
}

fn tail(history: &[Action]) -> Vec<Action> {
    history[history.len().saturating_sub(15)..].to_vec()
}

fn shrunk(plain: &Server, cached: &Server, first: Difference, limit: Duration) -> Difference {
    let Difference { seed, steps, history, mut what } = first;
    let last = history[history.len() - 1].clone();
    let history = shrink::shrink(history, limit, |candidate| {
        let (length, found) = replay(plain, cached, candidate).ok()??;
        if candidate[length - 1] != last {
            return None;
        }
        what = found;
        Some(candidate[..length].to_vec())
    });
    Difference { seed, steps, history, what }
}

/// Runs a fixed history; `Some` is the length of the prefix whose last step differs, and how.
pub fn replay(plain: &Server, cached: &Server, history: &[Action]) -> io::Result<Option<(usize, String)>> {
    let mut lanes = Lanes::new(plain, cached)?;
    for (index, action) in history.iter().enumerate() {
        if let Err(what) = lanes.step(action)? {
            return Ok(Some((index + 1, what)));
        }
    }
    Ok(None)
}

type Found = Option<(Vec<Action>, String)>;

fn epoch(
    plain: &Server,
    cached: &Server,
    seed: u64,
    steps: u64,
    deadline: Instant,
    summary: &mut Summary,
) -> io::Result<Found> {
    let mut lanes = Lanes::new(plain, cached)?;
    let mut generator = Generator::new(Random::new(seed), SESSIONS);
    let mut history = Vec::new();
    while (history.len() as u64) < steps && Instant::now() < deadline {
        let action = generator.next_action();
        let outcome = lanes.step(&action)?;
        history.push(action);
        let action = &history[history.len() - 1];
        let answer = match outcome {
            Ok(answer) => answer,
            Err(what) => return Ok(Some((history, what))),
        };
        summary.count(action.kind, &answer);
        if generator.observe(action, &answer.responses, answer.lost.is_some()) {
            generator.learn(lanes.listing(generate::LISTING)?);
        }
    }
    Ok(None)
}

struct Lanes<'a> {
    plain: Lane<'a>,
    cached: Lane<'a>,
}

impl<'a> Lanes<'a> {
    fn new(plain: &'a Server, cached: &'a Server) -> io::Result<Self> {
        Ok(Self { plain: Lane::new(plain, SESSIONS)?, cached: Lane::new(cached, SESSIONS)? })
    }

    /// The answer where both agree, else both in words.
    fn step(&mut self, action: &Action) -> io::Result<Result<Answer, String>> {
        let sent = (self.plain.start(action), self.cached.start(action));
        let (plain, cached) = (self.plain.finish(action), self.cached.finish(action));
        let Some(place) = compare::difference(&plain, &cached, action.is_ordered()) else { return Ok(Ok(plain)) };
        let words = |answer| report::answer(answer, action);
        Ok(Err(format!(
            "at {action}\n  differs: {place} (sent {sent:?})\n  plain:\n{}  cached:\n{}",
            words(&plain),
            words(&cached)
        )))
    }

    /// Asked of both, so that both have opened the same tables.
    fn listing(&mut self, statement: &str) -> io::Result<Vec<crate::client::Row>> {
        self.cached.admin().must(statement)?;
        Ok(self.plain.admin().must(statement)?.rows(false))
    }
}

fn hits(server: &Server) -> io::Result<Option<u64>> {
    let rows = server.admin()?.must("SHOW GLOBAL STATUS LIKE 'Qcache_hits'")?.rows(false);
    let value = rows.first().and_then(|row| row[1].clone());
    Ok(value.and_then(|value| String::from_utf8_lossy(&value).parse().ok()))
}
