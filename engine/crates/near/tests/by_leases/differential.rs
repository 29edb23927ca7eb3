//! Sends the same statements through `fqc-near` to a server with the plugin, and to a plain server, and compares the answers byte for byte.
//! The statements include transactions and autocommit off. `FQC_TEST_STATEMENTS` (default 4000 on MariaDB, 1500 on MySQL) is the number of
//! statements, and `FQC_TEST_SEED` the seed. The run ends early only on a machine that needs more than ten minutes.

use crate::beside;
use crate::beside::followed::{Kind, mariadb, mysql};
use fqc_tests::differential::{self, Aim, Plan};
use fqc_tests::near::Near;
use fqc_tests::server::{Options, Server};

/// Returns the value of an environment variable, or the default if it is not set.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a whole number"))
}

#[test]
fn what_is_answered_by_leases_is_what_a_plain_server_answers() {
    judge(mariadb(), 4000);
}

#[test]
fn what_is_answered_by_leases_is_what_a_plain_server_of_mysql_answers() {
    mysql("9.7").into_iter().for_each(|kind| judge(kind, 1500));
}

fn judge(kind: Kind, usual: u64) {
    let arguments = differential::ARGUMENTS.iter().map(|one| one.to_string()).collect();
    let options = Options { arguments, ..kind.options };
    let mut plain = Server::start(options.clone()).expect("a plain server");
    let plugin = Some(beside::plugin());
    let mut cached = Server::start(Options { plugin, ..options }).expect("a cached server");
    let near = Near::start(beside::program(), &cached, cached.port(), "root", "near").expect("a near cache");
    let (statements, seed) = (number("FQC_TEST_STATEMENTS", usual), number("FQC_TEST_SEED", 1));
    let cached_endpoint = Some(near.endpoint());
    let time = differential::PATIENCE;
    let plan = Plan { statements, seed, time, aim: Aim::Rows, cached_endpoint, ..Plan::default() };
    let (summary, difference) = differential::run(&mut plain, &mut cached, &plan).expect("both servers answer");
    println!(
        "{summary}answered beside the server: {:?}, {:?} in transactions",
        near.hits(),
        near.told("Hits in transactions")
    );
    if let Some(difference) = difference {
        panic!("{difference}");
    }
    let inside = near.told("Hits in transactions").expect("it tells of itself");
    assert!(inside > summary.statements / 400, "so few hits in transactions prove nothing: {inside}");
}
