//! The client libraries that applications use, each through a near cache, unchanged: they read what they would read from the server, and
//! most of it is answered beside them.

use crate::beside::scene::{Scene, hits};
use fqc_tests::connectors::{self, BOTH, ITEM, expected, run};
use std::process::Command;

/// A program reads twenty times in each of five groups outside of transactions. After a write the server answers until the near cache
/// has received its notification, which takes longer on a busy machine.
const LEAST_HITS: u64 = 20;

/// How many of its reads a program got from the near cache.
fn hits_of(ways: &[&str], command: &mut Command) -> u64 {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut admin = scene.direct();
    ITEM.iter().for_each(|one| drop(admin.must(one).expect(one)));
    let said = run(command.env("FQC_PORT", near.port().to_string()));
    assert_eq!(said, expected(ways));
    hits(near)
}

fn scenario(ways: &[&str], command: &mut Command) {
    let hits = hits_of(ways, command);
    assert!(hits >= LEAST_HITS * ways.len() as u64, "only {hits} reads came from memory");
}

#[test]
fn pymysql() {
    scenario(&["text"], &mut connectors::of_python("pymysql"));
}

#[test]
fn mysqlclient() {
    scenario(&["text"], &mut connectors::of_python("MySQLdb"));
}

#[test]
fn mysql2() {
    scenario(&BOTH, &mut connectors::mysql2());
}

/// It prepares a statement for each read.
#[test]
fn go_sql_driver() {
    scenario(&BOTH, &mut connectors::go_sql_driver());
}

/// At connect it sets things by expressions, which the server's engine asks for before a read by text alone.
#[test]
fn connector_j() {
    assert!(hits_of(&BOTH, &mut connectors::connector_j()) >= LEAST_HITS);
}
