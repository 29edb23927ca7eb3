//! The plugin against a plain server, byte for byte, with MySQL's statements; and two plain servers against each other.
//! `FQC_TEST_STATEMENTS` (4000, over all aims) and `FQC_TEST_SEED` set the length and the seed. The run ends early only on a machine that
//! needs more than ten minutes for it.

use std::path::PathBuf;

use crate::traps::plugin;
use fqc_tests::differential::{self, Aim, Plan};
use fqc_tests::server::{Options, Product, Server};

const SYNTAX_ERROR: u16 = 1064;

fn start(plugin: Option<PathBuf>, further: &[&str]) -> Server {
    let arguments = differential::ARGUMENTS.iter().chain(further).map(|one| one.to_string()).collect();
    let options = Options { product: Product::MySql, plugin, arguments, ..Options::default() };
    Server::start(options).expect("a server")
}

fn server() -> Server {
    start(None, &[])
}

fn judge(aim: Aim, further: &[&str]) {
    let (mut plain, mut cached) = (start(None, further), start(Some(plugin::path()), further));
    let is_any_case = further.contains(&differential::IN_ANY_CASE);
    let statements = plugin::number("FQC_TEST_STATEMENTS", 4000) / 4;
    let (seed, time) = (plugin::number("FQC_TEST_SEED", 1), differential::PATIENCE);
    let plan = Plan { time, statements, seed, aim, is_any_case, ..Plan::default() };
    let (summary, difference) = differential::run(&mut plain, &mut cached, &plan).expect("both servers answer");
    print!("{summary}");
    if let Some(difference) = difference {
        panic!("{difference}");
    }
    assert!(summary.hits.unwrap_or(0) > 0, "it has proved nothing; not kept:\n{}", cached.reasons());
}

#[test]
fn a_cached_server_answers_like_a_plain_one() {
    judge(Aim::Everything, &[]);
}

#[test]
fn a_cached_server_tells_rows_apart_like_a_plain_one() {
    judge(Aim::Rows, &[]);
}

#[test]
fn a_cached_server_takes_names_in_any_case_like_a_plain_one() {
    judge(Aim::Everything, &[differential::IN_ANY_CASE]);
}

#[test]
fn a_cached_server_answers_like_a_plain_one_where_innodb_itself_follows_foreign_keys() {
    judge(Aim::Rows, &["--innodb-native-foreign-keys=ON"]);
}

/// Checks that the numbers of rows do not depend on the ids of the connections, which are others once a near cache has connections of its
/// own. The second connection's read must not open the table again: with the server's default settings the number is then 3.
#[test]
fn a_read_on_another_connection_does_not_change_the_next_number_of_a_row() {
    let server = server();
    let [mut writer, mut reader] = [(); 2].map(|()| server.admin().unwrap());
    writer.must("CREATE DATABASE d0").unwrap();
    writer.must("CREATE TABLE d0.t0 (id INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE)").unwrap();
    // InnoDB has saved the number 2 when it meets the duplicate, and has not advanced the number in memory yet.
    writer.must("INSERT INTO d0.t0 (id, a) VALUES (1, 1), (2, 1)").expect_err("a duplicate");
    reader.must("SELECT * FROM d0.t0").unwrap();
    writer.must("INSERT INTO d0.t0 (a) VALUES (1)").unwrap();
    assert_eq!(writer.scalar("SELECT LAST_INSERT_ID()").unwrap().as_deref(), Some("2"));
}

#[test]
fn two_plain_servers_do_not_differ_and_understand_what_they_are_asked() {
    let (mut plain, mut other) = (server(), server());
    let plan = Plan { statements: 2000, epoch: 1000, ..Plan::default() };
    let (summary, difference) = differential::run(&mut plain, &mut other, &plan).expect("both servers answer");
    if let Some(difference) = difference {
        panic!("{difference}");
    }
    let misunderstood = summary.per_error.get(&SYNTAX_ERROR).copied().unwrap_or(0);
    // On a slow machine there are few statements.
    assert!(misunderstood <= 3 + summary.statements / 1000, "{summary}");
    let failed: u64 = summary.per_error.values().sum();
    assert!(failed < summary.statements / 5, "{summary}");
}
