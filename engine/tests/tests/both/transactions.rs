//! Isolation levels, snapshots and the ends of transactions, on a server of either product: a hit equals what the transaction itself
//! would have read.

use crate::traps::{all, rows_text, small_table};
use crate::with_table;
use fqc_tests::client::Client;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

pub const READ: &str = "SELECT v FROM t WHERE id = 1";

pub fn set_v(client: &mut Client, value: i32) {
    client.must(&format!("UPDATE t SET v = {value} WHERE id = 1")).unwrap();
}

#[track_caller]
pub fn sees(client: &mut Client, read: &str, expected: &str) {
    assert_eq!(rows_text(&client.query(read).unwrap()), expected, "`{read}`");
}

#[test]
fn repeatable_read_keeps_its_snapshot() {
    let (mut arena, mut writer, mut reader) = with_table("t_snapshot");
    let mut other = arena.client();
    arena.warm(&mut reader, READ);
    reader.must("BEGIN").unwrap();
    arena.hit(&mut reader, READ, "10");
    set_v(&mut writer, 11);
    sees(&mut reader, READ, "10");
    assert_eq!(arena.warm(&mut other, READ), "11");
    (0..3).for_each(|_| sees(&mut reader, READ, "10"));
    sees(&mut reader, "SELECT v FROM t WHERE id = 1 -- never asked before", "10");
    arena.hit(&mut other, READ, "11");
    reader.must("COMMIT").unwrap();
    arena.hit(&mut reader, READ, "11");
}

#[test]
fn the_snapshot_is_that_of_the_first_read_not_of_the_begin() {
    let (mut arena, mut writer, mut reader) = with_table("t_first");
    for begin in ["BEGIN", "START TRANSACTION", "SET autocommit = 0"] {
        arena.warm(&mut reader, READ);
        reader.must(begin).unwrap();
        let old: i32 = arena.server_answer(READ).parse().unwrap();
        set_v(&mut writer, old + 1);
        sees(&mut reader, READ, &(old + 1).to_string());
        set_v(&mut writer, old + 2);
        sees(&mut reader, READ, &(old + 1).to_string());
        all(&mut reader, &["COMMIT", "SET autocommit = 1"]);
        sees(&mut reader, READ, &(old + 2).to_string());
    }
}

#[test]
fn a_consistent_snapshot_is_that_of_its_begin() {
    let (mut arena, mut writer, mut reader) = with_table("t_consistent");
    arena.warm(&mut reader, READ);
    reader.must("START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
    set_v(&mut writer, 11);
    let mut other = arena.client();
    assert_eq!(arena.warm(&mut other, READ), "11");
    (0..3).for_each(|_| sees(&mut reader, READ, "10"));
    reader.must("COMMIT").unwrap();
    arena.hit(&mut reader, READ, "11");
    reader.must("START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
    arena.hit(&mut reader, READ, "11");
    reader.must("COMMIT").unwrap();
}

#[test]
fn one_snapshot_for_all_tables() {
    let (mut arena, mut writer, mut reader) = with_table("t_across");
    small_table(&mut writer, "u", "InnoDB");
    let other_read = "SELECT v FROM u WHERE id = 1";
    arena.warm(&mut reader, READ);
    arena.warm(&mut reader, other_read);
    reader.must("BEGIN").unwrap();
    arena.hit(&mut reader, READ, "10");
    all(&mut writer, &["BEGIN", "UPDATE t SET v = 11 WHERE id = 1", "UPDATE u SET v = 9 WHERE id = 1", "COMMIT"]);
    let mut other = arena.client();
    assert_eq!(arena.warm(&mut other, other_read), "9");
    sees(&mut reader, other_read, "10");
    sees(&mut reader, "SELECT t.v + u.v FROM t JOIN u USING (id) WHERE id = 1", "20");
    reader.must("COMMIT").unwrap();
    sees(&mut reader, "SELECT t.v + u.v FROM t JOIN u USING (id) WHERE id = 1", "20");
    arena.hit(&mut reader, other_read, "9");
}

/// Statements after which it is unknown whether the server has opened the transaction's snapshot.
const BEGINNINGS: [&str; 13] = [
    "SELECT v FROM t WHERE id = 99",
    "SELECT v FROM t WHERE 1 = 0",
    "SELECT v FROM t WHERE id > 3 AND id < 2",
    "SELECT v FROM t WHERE v IN (-1, -2) ORDER BY id LIMIT 1",
    "SELECT COUNT(*) FROM t",
    "SELECT v FROM t LIMIT 0",
    "SELECT COUNT(*) FROM t WHERE v > 1000",
    "SELECT MAX(v) FROM t",
    "SELECT t.v FROM t JOIN u USING (id) WHERE t.v > 1000",
    "SELECT 1",
    "SHOW TABLES",
    "SET @a = 1",
    "UPDATE u SET v = v + 1 WHERE id = 99",
];

#[test]
fn a_transaction_that_began_without_a_row_is_served_once_it_has_read_one() {
    let (mut arena, mut writer, mut reader) = with_table("t_no_row");
    small_table(&mut writer, "u", "InnoDB");
    let other_read = "SELECT v FROM t WHERE id = 2";
    for begin in ["BEGIN", "SET autocommit = 0"] {
        for beginning in BEGINNINGS {
            arena.warm(&mut reader, READ);
            arena.warm(&mut reader, other_read);
            all(&mut reader, &[begin, beginning]);
            sees(&mut reader, READ, "10");
            let (response, is_hit) = arena.ask(&mut reader, other_read);
            assert!(is_hit, "after {begin}, `{beginning}` and a row: {}", arena.server.reasons());
            assert_eq!(rows_text(&response), "20");
            all(&mut reader, &["COMMIT", "SET autocommit = 1"]);
        }
    }
}

#[test]
fn a_transaction_may_begin_with_a_served_read_that_shows_no_row() {
    let (mut arena, mut writer, mut reader) = with_table("t_no_row_served");
    small_table(&mut writer, "u", "InnoDB");
    for begin in ["BEGIN", "SET autocommit = 0"] {
        for (beginning, none) in [
            ("SELECT v FROM t WHERE id = 99", ""),
            ("SELECT COUNT(*) FROM t WHERE v > 1000", "0"),
            ("SELECT t.v FROM t JOIN u ON t.id = u.id WHERE t.v > 1000", ""),
        ] {
            set_v(&mut writer, 10);
            for read in [beginning, READ] {
                arena.warm(&mut reader, read);
            }
            reader.must(begin).unwrap();
            arena.hit(&mut reader, beginning, none);
            arena.hit(&mut reader, READ, "10");
            set_v(&mut writer, 11);
            sees(&mut reader, READ, "10");
            sees(&mut reader, "SELECT SUM(v) FROM t WHERE id < 2", "10");
            all(&mut reader, &["COMMIT", "SET autocommit = 1"]);
        }
    }
}

#[test]
fn a_transaction_that_began_without_a_row_sees_what_it_sees_without_the_cache() {
    let (mut arena, mut writer, _) = with_table("t_no_row_twin");
    small_table(&mut writer, "u", "InnoDB");
    let mut twins = [arena.client(), arena.client_with(&["SET SESSION fqc_type = OFF"])];
    let mut other = arena.client();
    let both = "SELECT t.v, u.v FROM t JOIN u USING (id) WHERE id = 1";
    let reads = [READ, both, READ, "SELECT v FROM u WHERE id = 1"];
    let mut value = 100;
    let mut change = || {
        value += 1;
        let update = |table: &str| format!("UPDATE {table} SET v = {value} WHERE id = 1");
        all(&mut writer, &["BEGIN", &update("t"), &update("u"), "COMMIT"]);
    };
    for (begin, beginning) in ["BEGIN", "SET autocommit = 0"].iter().flat_map(|one| BEGINNINGS.map(|two| (one, two))) {
        // The number of reads before another session writes.
        for undisturbed in 0..reads.len() {
            reads.iter().for_each(|read| drop(arena.warm(&mut other, read)));
            // The first statement may be served, too.
            (0..undisturbed).for_each(|_| drop(other.query(beginning).unwrap()));
            let mut seen = twins.each_mut().map(|twin| {
                all(twin, &[*begin]);
                vec![rows_text(&twin.query(beginning).unwrap())]
            });
            for (number, read) in reads.iter().enumerate() {
                if number >= undisturbed {
                    change();
                    (0..2).for_each(|_| drop(other.must(read).unwrap()));
                }
                for (twin, seen) in twins.iter_mut().zip(&mut seen) {
                    seen.push(rows_text(&twin.query(read).unwrap()));
                }
            }
            assert_eq!(seen[0], seen[1], "after {begin}, `{beginning}` and {undisturbed} reads");
            twins.iter_mut().for_each(|twin| all(twin, &["COMMIT", "SET autocommit = 1"]));
        }
    }
}

#[test]
fn what_an_old_snapshot_reads_is_not_kept_for_others() {
    let (mut arena, mut writer, mut reader) = with_table("t_old");
    all(&mut reader, &["START TRANSACTION WITH CONSISTENT SNAPSHOT", "SELECT v FROM t WHERE id = 2"]);
    set_v(&mut writer, 11);
    let mut other = arena.client();
    for _ in 0..4 {
        sees(&mut reader, READ, "10");
        sees(&mut other, READ, "11");
    }
    assert_eq!(arena.warm(&mut other, READ), "11");
    sees(&mut reader, READ, "10");
    reader.must("ROLLBACK").unwrap();
    arena.hit(&mut reader, READ, "11");
}

#[test]
fn own_writes_are_seen_and_nobody_elses() {
    let (mut arena, mut writer, mut reader) = with_table("t_own");
    arena.warm(&mut reader, READ);
    for end in ["ROLLBACK", "COMMIT"] {
        all(&mut writer, &["BEGIN", "UPDATE t SET v = 11 WHERE id = 1"]);
        (0..3).for_each(|_| arena.miss(&mut writer, READ, "11"));
        (0..3).for_each(|_| sees(&mut reader, READ, "10"));
        writer.must(end).unwrap();
    }
    arena.miss(&mut reader, READ, "11");
    assert_eq!(arena.warm(&mut reader, READ), "11");
    arena.hit(&mut writer, READ, "11");
}

#[test]
fn a_rollback_leaves_what_others_read() {
    let (mut arena, mut writer, mut reader) = with_table("t_rollback");
    arena.warm(&mut reader, READ);
    all(&mut writer, &["BEGIN", "DELETE FROM t"]);
    sees(&mut writer, "SELECT COUNT(*) FROM t", "0");
    writer.must("ROLLBACK").unwrap();
    sees(&mut writer, "SELECT COUNT(*) FROM t", "5");
    assert_eq!(arena.warm(&mut reader, "SELECT COUNT(*) FROM t"), "5");
    // A lost connection rolls back too.
    all(&mut writer, &["BEGIN", "DELETE FROM t"]);
    sees(&mut writer, "SELECT COUNT(*) FROM t", "0");
    writer.abort();
    (0..3).for_each(|_| sees(&mut reader, "SELECT COUNT(*) FROM t", "5"));
    assert_eq!(arena.warm(&mut reader, READ), "10");
}

#[test]
fn savepoints() {
    let (mut arena, mut writer, mut reader) = with_table("t_savepoints");
    arena.warm(&mut reader, READ);
    all(&mut writer, &["BEGIN", "UPDATE t SET v = 11 WHERE id = 1", "SAVEPOINT a", "UPDATE t SET v = 12 WHERE id = 1"]);
    sees(&mut writer, READ, "12");
    writer.must("ROLLBACK TO SAVEPOINT a").unwrap();
    (0..3).for_each(|_| sees(&mut writer, READ, "11"));
    (0..3).for_each(|_| sees(&mut reader, READ, "10"));
    all(&mut writer, &["RELEASE SAVEPOINT a", "COMMIT"]);
    arena.miss(&mut reader, READ, "11");
    assert_eq!(arena.warm(&mut reader, READ), "11");
}

#[test]
fn chained_transactions() {
    let (mut arena, mut writer, mut reader) = with_table("t_chain");
    arena.warm(&mut reader, READ);
    all(&mut writer, &["BEGIN", "UPDATE t SET v = 11 WHERE id = 1", "COMMIT AND CHAIN"]);
    arena.miss(&mut reader, READ, "11");
    writer.must("UPDATE t SET v = 12 WHERE id = 1").unwrap();
    (0..3).for_each(|_| sees(&mut reader, READ, "11"));
    writer.must("ROLLBACK AND CHAIN").unwrap();
    assert_eq!(arena.warm(&mut reader, READ), "11");
    all(&mut reader, &["BEGIN", "SELECT v FROM t WHERE id = 2", "COMMIT AND CHAIN"]);
    all(&mut writer, &["UPDATE t SET v = 13 WHERE id = 1", "COMMIT"]);
    sees(&mut reader, READ, "13");
    set_v(&mut writer, 14);
    sees(&mut reader, READ, "13");
    reader.must("COMMIT").unwrap();
    all(&mut reader, &["SET completion_type = 'CHAIN'", "BEGIN", "COMMIT"]);
    sees(&mut reader, READ, "14");
    set_v(&mut writer, 15);
    (0..3).for_each(|_| sees(&mut reader, READ, "14"));
    all(&mut reader, &["COMMIT"]);
    sees(&mut reader, READ, "15");
}

#[test]
fn autocommit_off() {
    let (mut arena, mut writer, mut reader) = with_table("t_autocommit");
    writer.must("SET autocommit = 0").unwrap();
    arena.warm(&mut reader, READ);
    set_v(&mut writer, 11);
    (0..3).for_each(|_| sees(&mut writer, READ, "11"));
    (0..3).for_each(|_| sees(&mut reader, READ, "10"));
    writer.must("COMMIT").unwrap();
    arena.miss(&mut reader, READ, "11");
    assert_eq!(arena.warm(&mut reader, READ), "11");
    // The first read opens a snapshot that lasts.
    sees(&mut writer, READ, "11");
    set_v(&mut reader, 12);
    (0..3).for_each(|_| sees(&mut writer, READ, "11"));
    assert_eq!(arena.warm(&mut reader, READ), "12");
    sees(&mut writer, READ, "11");
    writer.must("COMMIT").unwrap();
    sees(&mut writer, READ, "12");
    arena.hit(&mut writer, READ, "12");
}

#[test]
fn read_only_transactions() {
    let (mut arena, mut writer, mut reader) = with_table("t_readonly");
    arena.warm(&mut reader, READ);
    reader.must("START TRANSACTION READ ONLY").unwrap();
    sees(&mut reader, READ, "10");
    set_v(&mut writer, 11);
    (0..3).for_each(|_| sees(&mut reader, READ, "10"));
    assert_eq!(rows_text(&reader.query("UPDATE t SET v = 0").unwrap()), "error 1792");
    reader.must("COMMIT").unwrap();
    assert_eq!(arena.warm(&mut reader, READ), "11");
    reader.must("SET SESSION TRANSACTION READ ONLY").unwrap();
    arena.hit(&mut reader, READ, "11");
    reader.must("BEGIN").unwrap();
    assert_eq!(rows_text(&reader.query("UPDATE t SET v = 0").unwrap()), "error 1792");
    reader.must("COMMIT").unwrap();
}

#[test]
fn hits_end_with_the_first_own_write() {
    let (mut arena, mut writer, mut reader) = with_table("t_hits");
    arena.warm(&mut reader, READ);
    for _ in 0..3 {
        reader.must("BEGIN").unwrap();
        arena.hit(&mut reader, READ, "10");
        arena.hit(&mut reader, READ, "10");
        reader.must("UPDATE t SET v = v + 1 WHERE id = 1").unwrap();
        arena.miss(&mut reader, READ, "11");
        reader.must("ROLLBACK").unwrap();
        arena.warm(&mut reader, READ);
    }
    set_v(&mut writer, 11);
    sees(&mut reader, READ, "11");
}

/// Checks that the engine has the server run an aggregate again, to learn the number of rows found, before the client's transaction begins.
/// Inside a transaction that the client began later, the read would take locks, or open the snapshot too early.
#[test]
fn what_is_run_again_for_found_rows_is_run_before_the_transaction_begins() {
    let (mut arena, mut writer, mut reader) = with_table("t_replay");
    let sum = "SELECT SUM(v) FROM t";
    for isolation in ["SERIALIZABLE", "REPEATABLE READ"] {
        for begin in ["BEGIN", "START TRANSACTION READ ONLY", "SET autocommit = 0"] {
            all(&mut reader, &["SET autocommit = 1", &format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}")]);
            arena.warm(&mut reader, sum);
            let truth = arena.server_answer(sum);
            arena.hit(&mut reader, sum, &truth);
            reader.must(begin).unwrap();
            reader.must("SELECT MAX(a) FROM (SELECT 1 AS a) x").unwrap();
            all(&mut writer, &["SET innodb_lock_wait_timeout = 0", "UPDATE t SET v = v + 1 WHERE id = 1"]);
            let truth = arena.server_answer(READ);
            sees(&mut reader, READ, &truth);
            reader.must("COMMIT").unwrap();
        }
    }
}

#[test]
fn a_failed_statement_may_have_opened_a_snapshot() {
    let (mut arena, mut writer, mut reader) = with_table("x_doubt");
    let mut session = arena.client_with(&["SET autocommit = 0"]);
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut reader, read);
    let failing = "SELECT (SELECT id FROM t WHERE v > o.v) FROM t AS o ORDER BY id";
    for value in 100..103 {
        let old = arena.server_answer(read);
        assert_eq!(rows_text(&session.query(failing).unwrap()), "error 1242");
        set_v(&mut writer, value);
        // Each is read twice: a result stored by the first read is served to the second.
        sees(&mut session, read, &old);
        sees(&mut reader, read, &value.to_string());
        sees(&mut session, read, &old);
        all(&mut session, &["COMMIT"]);
        sees(&mut session, read, &value.to_string());
        all(&mut session, &["COMMIT"]);
    }
    arena.warm(&mut reader, read);
}

#[test]
fn with_autocommit_off_a_write_after_a_served_read_is_of_its_transaction() {
    let (mut arena, mut writer, mut reader) = with_table("x_first_write");
    writer.must("SET autocommit = 0").unwrap();
    arena.warm(&mut reader, READ);
    arena.hit(&mut writer, READ, "10");
    set_v(&mut writer, 11);
    sees(&mut writer, READ, "11");
    sees(&mut reader, READ, "10");
    writer.must("ROLLBACK").unwrap();
    sees(&mut reader, READ, "10");
    arena.warm(&mut reader, READ);
    arena.hit(&mut writer, READ, "10");
    set_v(&mut writer, 12);
    arena.check_write_shows(&mut reader, READ, || drop(writer.must("COMMIT").unwrap()), "12");
}

#[test]
fn the_rows_found_by_a_read_that_is_closed() {
    let (mut arena, _, mut reader) = with_table("x_found");
    let read = reader.prepare("SELECT v FROM t ORDER BY id LIMIT 1, 2").unwrap().1.unwrap();
    arena.warm_prepared(&mut reader, &read, &[]);
    reader.must("SELECT SQL_NO_CACHE v FROM t").unwrap();
    assert!(arena.ask_prepared(&mut reader, &read, &[]).1);
    reader.close(&read).unwrap();
    assert_eq!(rows_text(&reader.query("SELECT FOUND_ROWS()").unwrap()), "3");
}

/// Checks that no statement runs outside of its transaction when a deferred BEGIN is killed. The engine sends the BEGIN to the server with
/// the next statement, and a KILL QUERY may interrupt it then.
#[test]
fn a_begin_that_is_killed_on_its_way_leaves_nothing_outside_of_its_transaction() {
    const ROUNDS: usize = 4000;
    let (mut arena, _writer, mut reader) = with_table("x_killed");
    arena.warm(&mut reader, "SELECT v FROM t WHERE id = 1");
    let mut client = arena.client();
    let (mut killer, kill) = (arena.client(), format!("KILL QUERY {}", client.thread_id));
    let is_over = AtomicBool::new(false);
    let interrupted = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                killer.must(&kill).unwrap();
            }
        });
        let mut interrupted = 0;
        for round in 0..ROUNDS {
            // One round opens a snapshot with the first statement, the next round does not.
            let first =
                if round % 2 == 0 { "SELECT v FROM t WHERE id = 1" } else { "UPDATE t SET v = -1 WHERE id = 3" };
            if client.query("BEGIN").unwrap().failure().is_some() {
                continue;
            }
            for statement in [first, "UPDATE t SET v = -1 WHERE id = 2"] {
                interrupted += usize::from(client.query(statement).unwrap().failure().is_some());
            }
            while client.query("ROLLBACK").unwrap().failure().is_some() {}
        }
        is_over.store(true, Ordering::Relaxed);
        interrupted
    });
    assert!(interrupted > 0, "nothing was killed");
    assert_eq!(rows_text(&reader.must("SELECT SQL_NO_CACHE v FROM t WHERE id IN (2, 3)").unwrap()), "20;30");
}

#[test]
fn a_begin_is_deferred_or_not_from_the_moment_that_is_set() {
    let (mut arena, mut admin, mut client) = with_table("t_defer");
    arena.warm(&mut client, READ);
    let begun = |admin: &mut Client| rows_text(&admin.must("SHOW GLOBAL STATUS LIKE 'Com_begin'").unwrap());
    for is_deferred in [false, true].repeat(10) {
        let before = begun(&mut admin);
        admin.must(&format!("SET GLOBAL fqc_defer_begin = {is_deferred}")).unwrap();
        client.must("BEGIN").unwrap();
        assert_eq!(begun(&mut admin) == before, is_deferred, "fqc_defer_begin = {is_deferred}");
        client.must("COMMIT").unwrap();
    }
}

/// Checks that a savepoint set before the first read still exists after a served read. With autocommit off, the server accepts a savepoint
/// before it starts a transaction.
#[test]
fn a_savepoint_before_the_first_read_outlives_a_served_one() {
    let (mut arena, mut other, mut client) = with_table("t_savepoints_first");
    all(&mut other, &["CREATE PROCEDURE save() SAVEPOINT s"]);
    for level in ["REPEATABLE READ", "READ COMMITTED"] {
        all(&mut client, &[&format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"), "SET autocommit = 0"]);
        for before in [&["SAVEPOINT s"][..], &["SHOW TABLES", "SAVEPOINT s", "SELECT 1"], &["CALL save()"]] {
            arena.warm(&mut other, READ);
            all(&mut client, before);
            (0..2).for_each(|_| assert_eq!(rows_text(&client.must(READ).unwrap()), "10", "{level}, {before:?}"));
            all(&mut client, &["ROLLBACK TO SAVEPOINT s", "RELEASE SAVEPOINT s", "COMMIT"]);
            arena.hit(&mut client, READ, "10");
            all(&mut client, &["COMMIT"]);
        }
    }
}
