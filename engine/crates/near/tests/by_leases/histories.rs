//! Runs many sessions at once, directly and through two near caches. The near caches are stopped, killed and cut off, and the server is
//! killed, too. No session may read a state older than one that was seen before. `FQC_TEST_SECONDS` (default 5) is the length of each test,
//! and `FQC_TEST_SEED` the seed.

use crate::beside;
use crate::beside::applications::in_this_process;
use crate::beside::followed::{Kind, mariadb, mysql};
use fqc_tests::histories::{self, ANSWERED_HERE, Plan, Report};
use fqc_tests::server::{Options, Server};
use std::time::Duration;

/// Returns the value of an environment variable, or the default if it is not set.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a whole number"))
}

/// The time limit of a test. Only a fault takes this long.
const PATIENCE: Duration = Duration::from_secs(1200);

/// Starts a MariaDB server with the plugin and runs the plan. Panics if a session has read a state that was older than one seen before, or if so
/// few reads were answered by near caches that the run has shown nothing.
fn judge(plan: Plan) -> Report {
    judge_on(mariadb(), plan)
}

/// Starts a server of this kind with the plugin and runs the plan. Panics if a session has read a state that was older
/// than one seen before, or if so few reads were answered by near caches that the run has shown nothing.
fn judge_on(kind: Kind, plan: Plan) -> Report {
    let arguments = histories::ARGUMENTS.iter().map(|one| one.to_string()).collect();
    let plugin = Some(beside::plugin());
    let mut server = Server::start(Options { plugin, arguments, ..kind.options }).expect("a cached server");
    let report = histories::run(&mut server, plan.clone()).expect("the server answers");
    print!("{report}");
    assert!(report.violations.is_empty(), "{report}");
    assert!(report.proves_something_beside(&plan), "so few hits of near caches prove nothing: {report}");
    report
}

/// Returns the plan that all tests start from: many sessions, directly and through two near caches that are stopped, killed and cut off.
/// The server itself runs on.
fn plan() -> Plan {
    Plan {
        time: Duration::from_secs(number("FQC_TEST_SECONDS", 5)),
        patience: PATIENCE,
        seed: number("FQC_TEST_SEED", 1),
        threads: 30,
        redefines: false,
        beside: Some(beside::program()),
        ..Plan::default()
    }
}

#[test]
fn nobody_sees_the_past_through_near_caches_in_trouble() {
    judge(plan());
}

#[test]
fn nobody_sees_the_past_through_near_caches_of_mysql_in_trouble() {
    mysql("9.7").into_iter().for_each(|kind| drop(judge_on(kind, plan())));
}

#[test]
fn nobody_sees_the_past_through_near_caches_while_the_plugin_comes_and_goes() {
    judge(Plan { reinstalls: true, ..plan() });
}

#[test]
fn nobody_sees_the_past_through_near_caches_while_the_server_is_killed() {
    judge(Plan { kills: true, ..plan() });
}

#[test]
fn nobody_sees_the_past_in_a_process_that_reads_the_results_of_a_near_cache_in_trouble() {
    const NAME: &str = "histories::nobody_sees_the_past_in_a_process_that_reads_the_results_of_a_near_cache_in_trouble";
    in_this_process(NAME, |share| {
        let time = Duration::from_secs(2 * number("FQC_TEST_SECONDS", 5));
        let report = judge(Plan { time, share: Some(share.into()), ..plan() });
        assert!(report.counts[ANSWERED_HERE] > 100, "{report}");
    });
}
