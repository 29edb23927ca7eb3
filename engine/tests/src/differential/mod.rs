//! The differential tester: one stream of random statements against a cached and a plain server, in lockstep. Every answer must be equal.
//!
//! Invariants: one statement at a time over all sessions, no waiting for locks (every lock timeout is 0), the clock of each session set by
//! `SET timestamp`; so two plain servers never differ, but for locks that something in the background holds for a moment. The stream comes
//! in epochs, each from a seed of its own and on empty servers, so that a failing history is short to begin with. Deliberately absent:
//! anything concurrent; that is what `histories` is for.

pub mod action;
mod compare;
pub mod generate;
mod lane;
mod pair;
mod report;
mod shrink;
mod summary;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::client::Endpoint;
use crate::near::{self, Near};
use crate::random::Random;
use crate::server::{Product, Server};
use action::Action;
pub use generate::Aim;
use generate::Generator;
use pair::{EarlyEnd, Lanes, Pair};
pub use summary::Summary;

/// The number of sessions of each history.
pub const SESSIONS: usize = 6;

/// Arguments for both servers. No statement may wait for a lock, because the outcome would depend on time.
pub const ARGUMENTS: &[&str] = &[
    "--innodb-lock-wait-timeout=0",
    "--lock-wait-timeout=0",
    "--innodb-stats-auto-recalc=0",
    "--innodb-stats-persistent=1",
    "--long-query-time=1000",
    "--innodb-deadlock-detect=0",
    "--default-time-zone=+00:00",
    // Otherwise a connection's id decides whether its first statement opens the table again, and after an insert that has failed InnoDB may
    // skip a row number then. The ids differ as soon as one side has a further connection, such as that of a near cache.
    "--table-open-cache-instances=1",
];

/// Further arguments for both servers, if a near cache follows the binary log ([`Plan::follower`]).
pub fn logging(product: Product) -> impl Iterator<Item = String> {
    // No test depends on the binary log after a power failure, so it is not synchronized to disk.
    near::logging(product).iter().chain(&["--sync-binlog=0"]).map(|one| one.to_string())
}

/// A further argument for both servers, if statements spell names in any case ([`Plan::is_any_case`]).
pub const IN_ANY_CASE: &str = "--lower-case-table-names=1";

/// Statements that restore what a history may have changed for the whole server.
const RESTORING: &[&str] = &[
    "SET SESSION autocommit = 1, SESSION lock_wait_timeout = 20, SESSION foreign_key_checks = 0, SESSION group_concat_max_len = 1000000, SESSION sql_mode = ''",
    "SET GLOBAL sql_mode = DEFAULT",
    "SET GLOBAL autocommit = DEFAULT",
    "SET GLOBAL tx_isolation = DEFAULT",
    "SET GLOBAL init_connect = DEFAULT",
    "SET GLOBAL time_zone = '+00:00'",
    "SET GLOBAL group_concat_max_len = DEFAULT",
    "SET GLOBAL div_precision_increment = DEFAULT",
    "SET GLOBAL lc_time_names = DEFAULT",
    "SET GLOBAL sql_select_limit = DEFAULT",
    "SET GLOBAL collation_connection = DEFAULT",
];

/// The maximum time of a run in `make test`. Only on a very slow machine does it end a run before the last statement.
pub const PATIENCE: Duration = Duration::from_secs(600);
/// A difference that is about locks counts only if it occurs this many times.
const OFTEN: usize = 3;

/// Status variables of the cached server: hits, and those among them that were served although other rows of the table had been written.
const COUNTERS: [&str; 2] = ["Qcache_hits", "Fqc_invalidations_avoided"];

/// How to run the tester. It ends at the first difference, or once `statements` or `time` is reached.
pub struct Plan {
    /// The seed of the first epoch. Each further epoch has the next number.
    pub seed: u64,
    pub aim: Aim,
    /// The servers compare table names without case, and statements spell them in any.
    pub is_any_case: bool,
    /// The cached server enters and leaves light mode (`fqc_doze`) at random.
    pub dozes: bool,
    /// The largest number of steps over all epochs.
    pub statements: u64,
    pub time: Duration,
    /// The largest number of steps of one epoch.
    pub epoch: u64,
    /// The longest time to make a failing history shorter, in addition to `time`.
    pub shrink_time: Duration,
    /// The endpoint that sessions of the cached side connect to instead of the server itself.
    pub cached_endpoint: Option<Endpoint>,
    /// The path of an `fqc-near` to run between the sessions and the cached server. It follows the binary log and is restarted for each
    /// history.
    pub follower: Option<PathBuf>,
    /// A statement that each session of the cached side begins with.
    pub first_words: &'static str,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seed: 1,
            aim: Aim::default(),
            is_any_case: false,
            dozes: false,
            statements: u64::MAX,
            time: Duration::from_secs(60),
            epoch: 4000,
            shrink_time: Duration::from_secs(120),
            cached_endpoint: None,
            follower: None,
            first_words: "SELECT 1",
        }
    }
}

/// A difference that was found, ready to be printed.
#[derive(Debug)]
pub struct Difference {
    pub seed: u64,
    pub aim: Aim,
    /// The number of steps up to the difference, before the history was made shorter.
    pub steps: usize,
    /// The steps that lead to the difference, which the last one shows.
    pub history: Vec<Action>,
    /// The answers of both servers to the last step, and how they differ, for reading.
    pub what: String,
}

/// True if the text of a difference shows a lock timeout. Whether a statement meets a lock also depends on the server's background threads,
/// so such a difference counts only if it occurs several times.
fn is_of_locks(what: &str) -> bool {
    what.contains("error 1205")
}

impl Difference {
    fn is_of_locks(&self) -> bool {
        is_of_locks(&self.what)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        writeln!(out, "DIFFERENCE, replay with --aim {} --seed {} --statements {}", self.aim, self.seed, self.steps)?;
        writeln!(out, "history of {} steps, [session] statement:", self.history.len())?;
        write!(out, "{}{}", report::history(&self.history), self.what)
    }
}

/// Runs until the plan ends, or to the first difference, which is returned with a shortened history. A server that has crashed is started
/// again. An `Err` is a fault of the environment, not of the plugin.
pub fn run(plain: &mut Server, cached: &mut Server, plan: &Plan) -> io::Result<(Summary, Option<Difference>)> {
    let begun = Instant::now();
    let near = plan.follower.clone().map(|program| Near::following(program, cached)).transpose()?;
    let through = near.as_ref().map(Near::endpoint).or(plan.cached_endpoint.clone());
    let mut pair = Pair { plain, cached, through, near, first_words: plan.first_words };
    let mut summary = Summary::default();
    let mut found = None;
    while found.is_none() && begun.elapsed() < plan.time && summary.statements < plan.statements {
        let seed = plan.seed + summary.epochs;
        let steps = plan.epoch.min(plan.statements - summary.statements);
        let (random, is_calm) = (Random::new(seed), seed % 2 == 1);
        let generator = Generator::new(random, SESSIONS, plan.aim, is_calm, plan.follower.is_some())
            .in_any_case(plan.is_any_case)
            .without_programs(plan.dozes)
            .speaking(pair.plain.product());
        let before = COUNTERS.map(|name| pair.counter(name));
        found = match epoch(&mut pair, generator, seed, steps, begun + plan.time, &mut summary) {
            Err(_) if pair.have_died()? => {
                eprintln!("both servers died in the epoch of seed {seed}");
                summary.deaths += 1;
                None
            }
            outcome => outcome?,
        };
        if let Some(difference) = &found
            && difference.is_of_locks()
            && !pair.replays(&difference.history, OFTEN)?
        {
            eprintln!("did not come again: {}", difference.what);
            summary.unrepeated += 1;
            found = None;
        }
        summary.epochs += 1;
        pair.near.iter().for_each(|near| summary.count_beside(near));
        let after = COUNTERS.map(|name| pair.counter(name));
        for (at, sum) in [&mut summary.hits, &mut summary.outlived].into_iter().enumerate() {
            // A restarted server counts from zero, so the counter may be less than before.
            let grown = after[at].map(|after| after.saturating_sub(before[at].unwrap_or(0)));
            *sum = grown.map(|grown| sum.unwrap_or(0) + grown).or(*sum);
        }
    }
    summary.elapsed = begun.elapsed();
    let shrunk = found.map(|found| {
        eprintln!("{}", found.what);
        if found.what.contains("connection lost") {
            eprint!("{}", pair.last_words());
        }
        eprintln!("shrinking ...");
        shrunk(&mut pair, found, plan.shrink_time)
    });
    Ok((summary, shrunk))
}

/// Shortens the history of a difference, as long as its last step differs.
fn shrunk(pair: &mut Pair, first: Difference, limit: Duration) -> Difference {
    let Difference { seed, aim, steps, history, mut what } = first;
    let last = history[history.len() - 1].clone();
    let history = shrink::shrink(history, limit, |candidate| {
        let (length, found) = pair.replay(candidate).ok()??;
        if candidate[length - 1] != last {
            return None;
        }
        what = found;
        Some(candidate[..length].to_vec())
    });
    Difference { seed, aim, steps, history, what }
}

/// Runs the generator's steps on both servers. Returns the first difference. None if there is none, or if the epoch had to end early.
fn epoch(
    pair: &mut Pair,
    mut generator: Generator,
    seed: u64,
    steps: u64,
    deadline: Instant,
    summary: &mut Summary,
) -> io::Result<Option<Difference>> {
    let mut lanes = Lanes::new(pair)?;
    let mut history = Vec::new();
    while (history.len() as u64) < steps && Instant::now() < deadline {
        let action = generator.next_action();
        lanes.wait_for_log(&action)?;
        let outcome = lanes.step(&action);
        history.push(action);
        let action = &history[history.len() - 1];
        let answer = match outcome {
            Ok(answer) => answer,
            Err(EarlyEnd::Difference(what)) => {
                return Ok(Some(Difference { seed, aim: generator.aim(), steps: history.len(), history, what }));
            }
            Err(parting) => {
                summary.end_early(&parting);
                return Ok(None);
            }
        };
        summary.count(action.kind, &answer);
        if generator.observe(action, &answer.responses, answer.lost.is_some()) {
            generator.learn(lanes.listing(generate::LISTING)?);
        }
    }
    Ok(None)
}
