//! The concurrent checkers on a server without the plugin: silent when nothing is wrong, loud when something is.

mod stale;

use std::time::Duration;

use fqc_tests::client::Endpoint;
use fqc_tests::histories::{self, Plan, Report};
use fqc_tests::server::{Options, Server};

fn report(through: impl Fn(Endpoint) -> Option<Endpoint>) -> Report {
    let arguments = histories::ARGUMENTS.iter().map(|one| one.to_string()).collect();
    let mut server = Server::start(Options { arguments, ..Options::default() }).expect("a plain server");
    let through = through(server.endpoint());
    histories::run(&mut server, Plan { time: Duration::from_secs(8), through, ..Plan::default() }).expect("it answers")
}

#[test]
fn a_plain_server_violates_nothing() {
    let report = report(|_| None);
    assert!(report.violations.is_empty(), "{report}");
    for check in
        ["register checks", "sum checks", "snapshot checks", "own writes checks", "pair checks", "event checks"]
    {
        assert!(report.counts.get(check).is_some_and(|count| *count > 0), "no {check} at all:\n{report}");
    }
}

#[test]
fn a_stale_answer_is_a_violation() {
    let report = report(|direct| Some(stale::start(direct, 50)));
    assert!(report.violations.iter().any(|violation| violation.contains("stale read")), "{report}");
}
