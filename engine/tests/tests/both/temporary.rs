//! Temporary tables, on a server of either product: no result hides one, and a session that has dropped its own is served again.

use crate::traps::{Arena, all};
use crate::with_table;
use fqc_tests::client::Client;

const READ: &str = "SELECT v FROM t WHERE id = 1";
const HIDE: &str = "CREATE TEMPORARY TABLE t SELECT 1 AS id, 77 AS v";

/// A session that has been served from a table.
macro_rules! with_served {
    ($db:literal) => {{
        let (mut arena, _, mut client) = with_table($db);
        assert_eq!(arena.warm(&mut client, READ), "10");
        (arena, client)
    }};
}

fn check_never_hit(arena: &mut Arena, client: &mut Client, expected: &str) {
    (0..4).for_each(|_| arena.miss(client, READ, expected));
}

#[test]
fn a_session_that_has_dropped_its_temporary_tables_is_served_again() {
    let (mut arena, mut client) = with_served!("temporary_dropped");
    for _ in 0..3 {
        all(&mut client, &[HIDE, "CREATE TEMPORARY TABLE u (id INT)"]);
        check_never_hit(&mut arena, &mut client, "77");
        all(&mut client, &["DROP TEMPORARY TABLE t"]);
        check_never_hit(&mut arena, &mut client, "10");
        all(&mut client, &["DROP TEMPORARY TABLE u"]);
        assert_eq!(arena.warm(&mut client, READ), "10");
    }
}

#[test]
fn a_temporary_table_hides_another_also_under_a_new_name() {
    let (mut arena, mut client) = with_served!("temporary_renamed");
    all(&mut client, &["CREATE TEMPORARY TABLE u SELECT 1 AS id, 77 AS v", "ALTER TABLE u RENAME TO t"]);
    all(&mut client, &["CREATE TEMPORARY TABLE u (id INT)", "DROP TEMPORARY TABLE u"]);
    check_never_hit(&mut arena, &mut client, "77");
    all(&mut client, &["DROP TEMPORARY TABLE t"]);
    assert_eq!(arena.warm(&mut client, READ), "10");
}

#[test]
fn what_may_have_dropped_nothing_leaves_a_session_unserved() {
    let (mut arena, mut client) = with_served!("temporary_kept");
    all(&mut client, &[HIDE]);
    for drop in
        ["DROP TEMPORARY TABLE missing", "DROP TEMPORARY TABLE IF EXISTS missing", "DROP TABLE IF EXISTS missing"]
    {
        client.query(drop).unwrap();
        check_never_hit(&mut arena, &mut client, "77");
    }
}

#[test]
fn a_temporary_table_of_a_routine_is_not_forgotten_when_another_one_is_dropped() {
    let (mut arena, mut client) = with_served!("temporary_routine");
    all(&mut client, &[&format!("CREATE PROCEDURE hide() BEGIN {HIDE}; END"), "CREATE TEMPORARY TABLE u (id INT)"]);
    all(&mut client, &["CALL hide()", "DROP TEMPORARY TABLE u"]);
    check_never_hit(&mut arena, &mut client, "77");
}
