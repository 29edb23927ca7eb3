//! The concurrent checkers on MySQL.

use std::time::Duration;

use fqc_tests::histories::{self, Plan};
use fqc_tests::server::{Options, Product, Server};

#[test]
fn a_plain_server_violates_nothing() {
    let arguments = histories::ARGUMENTS.iter().map(|one| one.to_string()).collect();
    let options = Options { product: Product::MySql, arguments, ..Options::default() };
    let mut server = Server::start(options).expect("a plain server");
    let plan = Plan { time: Duration::from_secs(3), ..Plan::default() };
    let report = histories::run(&mut server, plan).expect("it answers");
    assert!(report.violations.is_empty(), "{report}");
    assert!(report.counts.contains_key("register checks"), "{report}");
}
