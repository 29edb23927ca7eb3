//! The differential tester on servers without the plugin: silent when nothing is wrong, loud when something is.

mod stale;

use std::time::Duration;

use fqc_tests::client::Endpoint;
use fqc_tests::differential::{self, Difference, Plan};
use fqc_tests::server::{Options, Server};

fn server() -> Server {
    let arguments = differential::ARGUMENTS.iter().map(|one| one.to_string()).collect();
    Server::start(Options { arguments, ..Options::default() }).expect("a plain server")
}

fn found(plan: Plan, through: impl Fn(Endpoint) -> Option<Endpoint>) -> Option<Difference> {
    let (mut plain, mut cached) = (server(), server());
    let plan = Plan { cached_endpoint: through(cached.endpoint()), ..plan };
    differential::run(&mut plain, &mut cached, &plan).expect("both servers answer").1
}

#[test]
fn two_plain_servers_do_not_differ() {
    let plan = Plan { statements: 6000, ..Plan::default() };
    if let Some(difference) = found(plan, |_| None) {
        panic!("{difference}");
    }
}

#[test]
fn a_stale_answer_is_found_and_its_history_shrunk() {
    let plan = Plan { time: Duration::from_secs(300), ..Plan::default() };
    let difference = found(plan, |direct| Some(stale::start(direct, 20))).expect("a planted fault is found");
    assert!(difference.history.len() < difference.steps, "{difference}");
}
