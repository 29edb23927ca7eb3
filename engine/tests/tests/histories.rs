//! The plugin under concurrent sessions and injected faults. `FQC_TEST_SECONDS` (10, over all runs) and `FQC_TEST_SEED` set the time and
//! the seed.

mod plugin;

use std::time::{Duration, Instant};

use fqc_tests::histories::{self, Plan};
use fqc_tests::server::{Options, Server};

/// The longest extension of a run. Only a fault takes so long.
const PATIENCE: Duration = Duration::from_secs(1200);

fn judge(mut plan: Plan, extra: &[&str]) {
    let arguments: Vec<_> = histories::ARGUMENTS.iter().chain(extra).map(|one| one.to_string()).collect();
    let environment = plan.dozes.then(|| ("FQC_FAULT".to_owned(), "doze:random".to_owned()));
    let environment = environment.into_iter().collect();
    let options = Options { plugin: Some(plugin::path()), arguments, environment, ..Options::default() };
    let mut server = Server::start(options).expect("a cached server");
    // The counters of an unloaded plugin are lost.
    let (counts_hits, dozes) = (!plan.reinstalls, plan.dozes);
    let begun = Instant::now();
    // On a busy machine the time may end before anything was served, or before light mode began. Then the run is repeated with more time.
    loop {
        let report = histories::run(&mut server, plan.clone()).expect("the server answers");
        print!("{report}");
        assert!(report.violations.is_empty(), "{report}");
        let has_dozed = !dozes || server.error_log().contains("it dozes until");
        let has_hits = report.hits.unwrap_or(0) > 0 || !counts_hits;
        if has_dozed && has_hits {
            return;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "it has proved nothing: dozed {has_dozed}, not kept:\n{}",
            server.reasons()
        );
        plan.time *= 2;
    }
}

fn plan(share: u64) -> Plan {
    let time = Duration::from_millis(plugin::number("FQC_TEST_SECONDS", 10) * share * 10);
    Plan { time, seed: plugin::number("FQC_TEST_SEED", 1), ..Plan::default() }
}

#[test]
fn nobody_sees_the_past() {
    judge(Plan { redefines: false, ..plan(25) }, &[]);
}

#[test]
fn nobody_sees_the_past_while_the_engine_dozes_now_and_then() {
    judge(Plan { redefines: false, dozes: true, ..plan(15) }, &[]);
}

#[test]
fn nobody_sees_the_past_while_the_schema_changes() {
    judge(plan(20), &[]);
}

#[test]
fn nobody_sees_the_past_under_a_pool_of_threads() {
    judge(plan(20), &["--thread-handling=pool-of-threads"]);
}

#[test]
fn nobody_sees_the_past_while_the_plugin_comes_and_goes() {
    judge(Plan { reinstalls: true, ..plan(20) }, &[]);
}
