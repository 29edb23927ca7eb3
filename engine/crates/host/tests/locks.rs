//! Hits request no lock.
//!
//! Locks are counted only with debug assertions, which tests have unless they are built with optimisation.
#![cfg(debug_assertions)]

mod played;

use host::catalogue;
use played::{Host, Played, engine};

const READ: &str = "SELECT v FROM t WHERE id = 7";
const HITS: usize = 500;

#[test]
fn hits_ask_for_no_lock() {
    let engine = engine();
    let mut host = Host::connected(&engine);
    host.server_runs(READ, "seven");
    catalogue::look_up_requested(&engine, &mut Played).expect("the table is known");
    host.server_prepares(1, "SELECT v FROM t WHERE id = ?");
    host.server_executes(1, 8, "eight");
    let before = locks::asked_for();
    for _ in 0..HITS {
        assert!(host.serves(READ, "seven"));
        assert!(host.serves_execution(1, 8, "eight"));
    }
    assert_eq!(locks::asked_for(), before);
    host.server_runs("SELECT v FROM t WHERE id = 9", "nine");
    assert!(locks::asked_for() > before, "a miss asks for some, so they are counted");
}

#[test]
fn a_read_that_is_stored_asks_for_the_locks_of_its_table_and_of_its_shard() {
    let engine = engine();
    let mut host = Host::connected(&engine);
    host.server_runs(READ, "seven");
    catalogue::look_up_requested(&engine, &mut Played).expect("the table is known");
    let mut read = |id: usize| host.server_runs(&format!("SELECT v FROM t WHERE id = {id}"), "v");
    // Repeated until the shape is known, the cache has what it needs, and no memory is requested.
    (100..200).for_each(&mut read);
    let before = locks::asked_for();
    read(200);
    assert_eq!(locks::asked_for() - before, 2);
}
