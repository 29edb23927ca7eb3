//! The concurrent checkers on MySQL. `FQC_TEST_SECONDS` (10, over all runs) and `FQC_TEST_SEED` set the time and the seed.

use std::path::PathBuf;
use std::time::Duration;

use crate::traps::plugin;
use fqc_tests::group::{self, Setup};
use fqc_tests::histories::{self, Plan, Primaries, Report};
use fqc_tests::server::{Options, Product, Server};

/// The longest extension of a run. Only a fault takes so long.
const PATIENCE: Duration = Duration::from_secs(300);

fn run(plan: Plan, plugin: Option<PathBuf>) -> Report {
    let arguments = histories::ARGUMENTS.iter().map(|one| one.to_string()).collect();
    let options = Options { product: Product::MySql, plugin, arguments, ..Options::default() };
    let mut server = Server::start(options).expect("a server");
    let report = histories::run(&mut server, plan).expect("it answers");
    print!("{report}");
    assert!(report.violations.is_empty(), "{report}");
    report
}

fn plan(share: u64) -> Plan {
    let time = Duration::from_secs(plugin::number("FQC_TEST_SECONDS", 10) * share / 100);
    Plan { time, seed: plugin::number("FQC_TEST_SEED", 1), threads: 16, ..Plan::default() }
}

fn judge(mut plan: Plan) {
    // The counters of an unloaded plugin are lost.
    let counts_hits = !plan.reinstalls;
    // On a busy machine the time may end before anything was served. Then the run gets more time.
    while run(plan.clone(), Some(plugin::path())).hits.unwrap_or(0) == 0 && counts_hits {
        assert!(plan.time < PATIENCE, "without a hit this run has proved nothing");
        plan.time *= 2;
    }
}

#[test]
fn a_plain_server_violates_nothing() {
    let report = run(Plan { time: Duration::from_secs(3), ..Plan::default() }, None);
    assert!(report.counts.contains_key("register checks"), "{report}");
}

#[test]
fn nobody_sees_the_past() {
    judge(Plan { redefines: false, ..plan(40) });
}

#[test]
fn nobody_sees_the_past_while_the_schema_changes() {
    judge(plan(40));
}

#[test]
fn nobody_sees_the_past_while_the_plugin_comes_and_goes() {
    judge(Plan { reinstalls: true, ..plan(20) });
}

/// Starts a group of three members with the plugin. None if this server comes without Group Replication.
fn start_group(primaries: Primaries, environment: &[(&str, &str)]) -> Option<Vec<Server>> {
    let setup = Setup {
        is_single_primary: primaries == Primaries::First,
        plugin: Some(plugin::path()),
        arguments: histories::ARGUMENTS.iter().map(|one| one.to_string()).collect(),
        environment: environment.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
    };
    let members = group::start(&setup).expect("a group");
    assert!(members.is_some() || std::env::var_os("FQC_MYSQLD").is_some(), "the fetched server has Group Replication");
    members
}

fn group_plan(primaries: Primaries, share: u64) -> Plan {
    Plan { redefines: false, group: Some(primaries), ..plan(share) }
}

/// Runs the checkers on a group until each member has had enough hits for the absence of stale reads to mean something.
fn judge_group(primaries: Primaries) {
    let Some(mut members) = start_group(primaries, &[]) else { return };
    let mut plan = group_plan(primaries, 60);
    loop {
        let report = histories::run_in_group(&mut members, plan.clone()).expect("it answers");
        print!("{report}");
        assert!(report.violations.is_empty(), "{report}");
        if report.proves_something_in_group() {
            return;
        }
        assert!(plan.time < PATIENCE, "with so few hits this run has proved nothing: {report}");
        plan.time *= 2;
    }
}

#[test]
#[ignore = "takes minutes; by hand, with --ignored"]
fn nobody_sees_the_past_in_a_group_with_one_primary() {
    judge_group(Primaries::First);
}

#[test]
fn nobody_sees_the_past_in_a_group_with_many_primaries() {
    judge_group(Primaries::All);
}

/// Checks that these checkers find results that a member stores while an applier has not committed yet what it writes.
#[test]
#[ignore = "takes minutes; by hand, with --ignored"]
fn a_group_whose_appliers_commits_are_reported_too_early_is_found_out() {
    let primaries = Primaries::First;
    let Some(mut members) = start_group(primaries, &[("FQC_FAULT", "commit:early")]) else { return };
    let mut plan = group_plan(primaries, 60);
    while histories::run_in_group(&mut members, plan.clone()).expect("it answers").violations.is_empty() {
        assert!(plan.time < PATIENCE, "no stale read was found");
        plan.time *= 2;
    }
}
