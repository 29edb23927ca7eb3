//! Runs the client libraries that applications use, unchanged, through a near cache. They must read what they would read from the server,
//! and most reads must be answered by the near cache.

use crate::beside::scene::{Scene, hits};
use crate::beside::wait_until;
use fqc_tests::connectors::{self, BOTH, ITEM, expected, run};
use std::process::Command;

/// The number of hits that a program with one way to read must have. It reads twenty times in each of five groups outside of transactions.
/// After a write the server answers until the near cache has received its notification.
const LEAST_HITS: u64 = 60;

/// The number of hits that a program must have whose reads are in transactions. Four groups of twenty reads follow no write in their
/// transaction, and the first read of each group goes to the server.
const LEAST_HITS_IN_TRANSACTIONS: u64 = 40;

/// Runs a program through a near cache until so many of its reads were answered from memory, and checks its output each time. On a busy
/// machine one run may be over before notifications come.
fn run_until_served(least_hits: u64, expected: &str, command: &mut Command) {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut admin = scene.direct();
    command.env("FQC_PORT", near.port().to_string());
    wait_until("reads from memory", || {
        ITEM.iter().for_each(|one| drop(admin.must(one).expect(one)));
        assert_eq!(run(command), expected);
        hits(near) >= least_hits
    });
}

/// Runs a program that reads in each of these ways, such as by text and by prepared statements, until enough reads of each were answered
/// from memory.
fn scenario(ways: &[&str], command: &mut Command) {
    run_until_served(LEAST_HITS * ways.len() as u64, &expected(ways), command);
}

#[test]
fn pymysql() {
    scenario(&["text"], &mut connectors::of_python("pymysql"));
}

#[test]
fn mysqlclient() {
    scenario(&["text"], &mut connectors::of_python("MySQLdb"));
}

/// Runs both libraries with autocommit off, which is their default.
#[test]
fn pymysql_and_mysqlclient_in_transactions() {
    for module in ["pymysql", "MySQLdb"] {
        let command = &mut connectors::of_python_in_transactions(module);
        run_until_served(LEAST_HITS_IN_TRANSACTIONS, &connectors::expected_in_transactions(), command);
    }
}

#[test]
fn mysql2() {
    scenario(&BOTH, &mut connectors::mysql2());
}

/// Runs this driver, which prepares a statement for each read.
#[test]
fn go_sql_driver() {
    scenario(&BOTH, &mut connectors::go_sql_driver());
}

/// Runs this connector, which sets variables to expressions when it connects. The server's engine looks up their values only before a read
/// by text, so fewer hits are demanded.
#[test]
fn connector_j() {
    run_until_served(LEAST_HITS, &expected(&BOTH), &mut connectors::connector_j());
}
