//! Connections, statements and tables that come and go leave no memory behind in the server's process. The program `churn` runs the same
//! for hours.

mod traps;

use std::sync::Arc;

use fqc_tests::churn;
use fqc_tests::server::{Options, Server};
use traps::{Arena, plugin};

/// The bytes that allocators may keep after work that is over.
const NOISE: u64 = 10 << 20;

fn server() -> Server {
    let arguments = churn::ARGUMENTS.iter().map(|one| one.to_string()).collect();
    let environment = vec![churn::environment()];
    Server::start(Options { plugin: Some(plugin::path()), arguments, environment, ..Options::default() }).unwrap()
}

#[test]
fn rounds_of_everything_leave_nothing_behind() {
    const WARM: usize = 4;
    const ROUNDS: usize = 12;
    let course = churn::run(&server(), 1, |rounds| rounds < ROUNDS).unwrap();
    let least = |moments: &[(_, u64)]| moments.iter().map(|moment| moment.1).min().unwrap();
    let (before, after) = (least(&course.moments[WARM - 1..WARM + 1]), least(&course.moments[ROUNDS - 2..]));
    assert!(course.hits > 0, "without a hit nothing was tested\n{course}");
    assert!(after < before + NOISE, "{course}");
}

/// Checks that the server's memory does not grow with the number of tables the engine has looked up. For each new table the plugin runs
/// some statements of its own, and the server used to keep memory for them.
#[test]
fn tables_that_were_asked_about_leave_nothing_behind() {
    let server = Arc::new(server());
    let mut arena = Arena::on(server.clone(), "g_tables");
    let mut client = arena.client();
    let mut come_and_go = |number: u32| {
        client.must(&format!("CREATE TABLE t{number} (id INT PRIMARY KEY) ENGINE = MyISAM")).unwrap();
        arena.warm(&mut client, &format!("SELECT COUNT(*) FROM t{number}"));
        client.must(&format!("DROP TABLE t{number}")).unwrap();
    };
    (0..50).for_each(&mut come_and_go);
    let before = server.resident_bytes().unwrap();
    (50..350).for_each(&mut come_and_go);
    let grown = server.resident_bytes().unwrap().saturating_sub(before);
    assert!(grown < NOISE, "grew by {grown} bytes with 300 tables");
}
