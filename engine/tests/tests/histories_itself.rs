//! The concurrent checkers on a server without the plugin: silent when nothing is wrong, loud when something is.

mod stale;

use std::time::Duration;

use fqc_tests::client::Endpoint;
use fqc_tests::histories::{self, Plan, Report};
use fqc_tests::server::{Options, Server};

const RUNS: u64 = 40;

/// Repeats a run, each time longer, until it is enough to prove something, because a slow machine may get nowhere in its time. `through`
/// returns the endpoint for the sessions, if it is not the server.
fn report(through: impl Fn(Endpoint) -> Option<Endpoint>, is_enough: impl Fn(&Report) -> bool) -> Report {
    let arguments = histories::ARGUMENTS.iter().map(|one| one.to_string()).collect();
    let mut server = Server::start(Options { arguments, ..Options::default() }).expect("a plain server");
    let through = through(server.endpoint());
    let mut run = |seed| {
        let plan = Plan { seed, time: Duration::from_secs(2), through: through.clone(), ..Plan::default() };
        histories::run(&mut server, plan).expect("it answers")
    };
    (1..RUNS).map(&mut run).find(is_enough).unwrap_or_else(|| run(RUNS))
}

#[test]
fn a_plain_server_violates_nothing() {
    let all = ["register checks", "sum checks", "snapshot checks", "own writes checks", "pair checks", "event checks"];
    let missing = |report: &Report| all.into_iter().find(|check| !report.counts.contains_key(check));
    let report = report(|_| None, |report| !report.violations.is_empty() || missing(report).is_none());
    assert!(report.violations.is_empty(), "{report}");
    assert_eq!(missing(&report), None, "{report}");
}

#[test]
fn a_stale_answer_is_a_violation() {
    let has_stale = |report: &Report| report.violations.iter().any(|violation| violation.contains("stale read"));
    let report = report(|direct| Some(stale::start(direct, stale::one_in(50))), has_stale);
    assert!(has_stale(&report), "{report}");
}
