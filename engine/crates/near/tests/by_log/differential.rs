//! Sends the same statements through `fqc-near`, which follows the server's log, and to a plain server, and compares the answers byte for
//! byte. `FQC_TEST_STATEMENTS` (default 1000) is the number of statements for each product and aim, and `FQC_TEST_SEED` the seed. A run
//! ends early only on a machine that needs more than ten minutes for it.

use crate::beside;
use crate::beside::followed::{Kind, kinds, mariadb};
use fqc_tests::differential::{self, Aim, Difference, Plan, Summary};
use fqc_tests::server::{Options, Server};
use std::time::Duration;

/// Returns the value of an environment variable, or the default if it is not set.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a whole number"))
}

/// Two servers with the same settings: `plain` is asked directly, `followed` through a near cache that follows its log.
struct Pair {
    plain: Server,
    followed: Server,
}

impl Pair {
    /// Starts both servers, with a binary log and the settings that the differential tester needs.
    fn of(kind: &Kind) -> Pair {
        let logging = differential::logging(kind.options.product);
        let arguments = differential::ARGUMENTS.iter().map(|one| one.to_string()).chain(logging).collect();
        let options = Options { arguments, ..kind.options.clone() };
        let [plain, followed] = [(); 2].map(|()| Server::start(options.clone()).expect("a server"));
        Pair { plain, followed }
    }

    /// Sends the statements of the plan to both servers, and returns the first difference between their answers, or none. `plan`: its near
    /// cache and epoch are set here.
    fn compare(&mut self, plan: Plan) -> (Summary, Option<Difference>) {
        let plan = Plan { follower: Some(beside::program()), epoch: 1000, ..plan };
        differential::run(&mut self.plain, &mut self.followed, &plan).expect("both servers answer")
    }
}

#[test]
fn what_is_answered_by_the_log_is_what_a_plain_server_answers() {
    for kind in kinds() {
        let mut pair = Pair::of(&kind);
        for aim in [Aim::Everything, Aim::Rows] {
            let (statements, seed) = (number("FQC_TEST_STATEMENTS", 1000), number("FQC_TEST_SEED", 1));
            let plan = Plan { statements, seed, aim, time: differential::PATIENCE, ..Plan::default() };
            let (summary, difference) = pair.compare(plan);
            println!("{}: {summary}", kind.name);
            if let Some(difference) = difference {
                panic!("{}: {difference}", kind.name);
            }
            assert!(summary.proves_something_beside(), "{}: so few hits prove nothing: {summary}", kind.name);
        }
    }
}

/// Checks that the differential tester finds a planted fault: writes that are not in the log, so that the near cache cannot receive them.
#[test]
fn writes_that_are_hidden_from_the_log_are_found() {
    let first_words = "SET SESSION sql_log_bin = 0";
    let plan = Plan { first_words, aim: Aim::Rows, time: Duration::from_secs(300), ..Plan::default() };
    let (_, difference) = Pair::of(&mariadb()).compare(Plan { shrink_time: Duration::from_secs(2), ..plan });
    assert!(difference.expect("a planted fault is found").what.contains("rows"));
}
