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

/// Checks that the differential tester leaves a database and an account of others in place, and finds no difference because of them. The
/// plugin's self-test, which compares a slow server for some time, has a similar test.
#[test]
fn what_others_have_made_stays() {
    let (mut plain, mut cached) = (server(), server());
    for one in [&plain, &cached] {
        let mut admin = one.admin().unwrap();
        admin.must("CREATE DATABASE fqc_self_test_1").unwrap();
        admin.must("CREATE USER other").unwrap();
    }
    let plan = Plan { statements: 200, epoch: 100, ..Plan::default() };
    let (_, difference) = differential::run(&mut plain, &mut cached, &plan).expect("both servers answer");
    assert!(difference.is_none(), "{difference:?}");
    let left = "SELECT COUNT(*) FROM information_schema.schemata JOIN mysql.user \
        WHERE schema_name = 'fqc_self_test_1' AND user = 'other'";
    assert_eq!(cached.admin().unwrap().scalar(left).unwrap().as_deref(), Some("1"));
}

#[test]
fn a_stale_answer_is_found_and_its_history_shrunk() {
    let plan = Plan { time: Duration::from_secs(300), ..Plan::default() };
    let difference =
        found(plan, |direct| Some(stale::start(direct, stale::one_in(1)))).expect("a planted fault is found");
    assert!(difference.history.len() < difference.steps, "{difference}");
}

#[test]
fn a_wrong_number_of_rows_found_is_found() {
    let fault = stale::Fault { rate: 1, begins: b"SELECT FOUND_ROWS()" };
    let plan = Plan { time: Duration::from_secs(300), shrink_time: Duration::from_secs(2), ..Plan::default() };
    let difference = found(plan, |direct| Some(stale::start(direct, fault))).expect("a planted fault is found");
    assert!(difference.what.contains("FOUND_ROWS()"), "{difference}");
}
