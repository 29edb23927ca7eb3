//! The stream of statements speaks MySQL, and two plain servers agree on it.

use fqc_tests::differential::{self, Plan};
use fqc_tests::server::{Options, Product, Server};

const SYNTAX_ERROR: u16 = 1064;

fn server() -> Server {
    let arguments = differential::ARGUMENTS.iter().map(|one| one.to_string()).collect();
    Server::start(Options { product: Product::MySql, arguments, ..Options::default() }).expect("a plain server")
}

#[test]
fn two_plain_servers_do_not_differ_and_understand_what_they_are_asked() {
    let (mut plain, mut other) = (server(), server());
    let plan = Plan { statements: 6000, epoch: 1500, ..Plan::default() };
    let (summary, difference) = differential::run(&mut plain, &mut other, &plan).expect("both servers answer");
    if let Some(difference) = difference {
        panic!("{difference}");
    }
    let misunderstood = summary.per_error.get(&SYNTAX_ERROR).copied().unwrap_or(0);
    assert!(misunderstood < summary.statements / 1000, "{summary}");
    let failed: u64 = summary.per_error.values().sum();
    assert!(failed < summary.statements / 5, "{summary}");
}
