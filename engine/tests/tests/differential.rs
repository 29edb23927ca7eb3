//! The plugin against a plain server, byte for byte. `FQC_TEST_STATEMENTS` (8000) and `FQC_TEST_SEED` set the length and the seed. The
//! run ends early only on a machine that needs more than ten minutes for it.

mod plugin;

use fqc_tests::differential::{self, Plan};
use fqc_tests::server::{Options, Server};

#[test]
fn a_cached_server_answers_like_a_plain_one() {
    let time = differential::PATIENCE;
    let statements = plugin::number("FQC_TEST_STATEMENTS", 8000);
    let plan = Plan { time, statements, seed: plugin::number("FQC_TEST_SEED", 1), ..Plan::default() };
    let arguments: Vec<_> = differential::ARGUMENTS.iter().map(|one| one.to_string()).collect();
    let options = Options { arguments, ..Options::default() };
    let mut cached =
        Server::start(Options { plugin: Some(plugin::path()), ..options.clone() }).expect("a cached server");
    let mut plain = Server::start(options).expect("a plain server");
    let (summary, difference) = differential::run(&mut plain, &mut cached, &plan).expect("both servers answer");
    print!("{summary}");
    if let Some(difference) = difference {
        panic!("{difference}");
    }
    assert!(
        summary.hits.unwrap_or(0) > 0,
        "without a hit this run has proved nothing; not kept:\n{}",
        cached.reasons()
    );
}
