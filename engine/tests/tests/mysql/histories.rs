//! The concurrent checkers on MySQL. `FQC_TEST_SECONDS` (10, over all runs) and `FQC_TEST_SEED` set the time and the seed.

use std::path::PathBuf;
use std::time::Duration;

use crate::traps::plugin;
use fqc_tests::histories::{self, Plan, Report};
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
