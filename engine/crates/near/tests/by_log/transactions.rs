//! With `in-transactions` and the binary log, reads in transactions that have written nothing are answered from memory, too.

use crate::beside::followed::{Kind, LONG, direct, is_said, kinds, run};
use crate::beside::scene::{READ, ask, hits, until_served};
use crate::beside::{Near, wait_until};
use fqc_tests::server::Server;

const OTHER: &str = "SELECT v FROM d.t WHERE id = 2";

/// Starts a near cache that follows the server's log and also serves reads in transactions, and waits until it may serve.
fn following(kind: &Kind, server: &Server) -> Near {
    kind.following_with(server, LONG, &["--in-transactions", "yes"])
}

#[test]
fn a_read_in_a_transaction_is_answered_from_memory_byte_for_byte() {
    for kind in kinds() {
        let server = kind.logging();
        let near = following(&kind, &server);
        for begin in ["BEGIN", "START TRANSACTION READ ONLY"] {
            let (mut client, mut direct) = (near.client(), direct(&server));
            [&mut client, &mut direct].into_iter().for_each(|one| run(one, &[begin]));
            ask(&mut direct, READ);
            let expected = direct.query(READ).expect("an answer").bytes;
            until_served(&near, &mut client, READ);
            let before = hits(&near);
            assert_eq!(client.query(READ).expect("an answer").bytes, expected, "{}, {begin}", kind.name);
            assert_eq!(hits(&near), before + 1, "{}", near.log());
        }
    }
}

#[test]
fn what_transactions_read_is_kept_for_those_that_follow() {
    for kind in kinds() {
        let server = kind.logging();
        let near = following(&kind, &server);
        until_served(&near, &mut near.client(), READ);
        for round in 0..5 {
            let mut client = near.client();
            run(&mut client, &["SET autocommit = 0"]);
            // The near cache asks for the session's settings before it can look up the first read.
            ask(&mut client, OTHER);
            let before = hits(&near);
            assert_eq!(ask(&mut client, READ), "1");
            assert_eq!(hits(&near), before + 1, "{}, round {round}: {}", kind.name, near.log());
        }
        wait_until("what was read in a transaction is served outside of one", || {
            let mut client = near.client();
            ask(&mut client, READ);
            let before = hits(&near);
            ask(&mut client, OTHER);
            hits(&near) > before
        });
    }
}

/// Checks that an old row is not kept for others that a transaction reads from its snapshot after the near cache has received the row's
/// change.
#[test]
fn a_row_of_an_old_snapshot_is_not_kept_for_others() {
    for kind in kinds() {
        let server = kind.logging();
        let near = following(&kind, &server);
        let (mut client, mut other) = (near.client(), near.client());
        for value in ["11", "12", "13"] {
            until_served(&near, &mut client, OTHER);
            run(&mut client, &["START TRANSACTION WITH CONSISTENT SNAPSHOT"]);
            let old = ask(&mut client, "SELECT v FROM d.t ORDER BY id");
            run(&mut direct(&server), &[&format!("UPDATE d.t SET v = {value} WHERE id = 1")]);
            is_said(&near, &mut other, READ, value);
            run(&mut direct(&server), &["UPDATE d.t SET v = v + 100 WHERE id = 1"]);
            assert_eq!(ask(&mut client, "SELECT v FROM d.t ORDER BY id"), old, "{}", kind.name);
            is_said(&near, &mut other, READ, &format!("1{value}"));
            is_said(&near, &mut other, "SELECT v FROM d.t ORDER BY id", &format!("1{value};2"));
            run(&mut client, &["COMMIT"]);
        }
    }
}

#[test]
fn a_transaction_that_has_written_reads_its_own_rows_and_nobody_else_does() {
    for kind in kinds() {
        let server = kind.logging();
        let near = following(&kind, &server);
        let (mut client, mut other) = (near.client(), near.client());
        for (round, end) in ["ROLLBACK", "COMMIT"].into_iter().enumerate() {
            let before = until_served(&near, &mut other, READ);
            let value = (20 + round).to_string();
            run(&mut client, &["BEGIN", &format!("UPDATE d.t SET v = {value} WHERE id = 1")]);
            let hits_before = hits(&near);
            for _ in 0..3 {
                assert_eq!(ask(&mut client, READ), value, "{}", kind.name);
            }
            assert_eq!(hits(&near), hits_before, "{}: it has written", kind.name);
            assert_eq!(ask(&mut other, READ), before, "{}", kind.name);
            run(&mut client, &[end]);
            let after = if end == "COMMIT" { value } else { before };
            [&mut client, &mut other].into_iter().for_each(|one| assert_eq!(ask(one, READ), after, "{}", kind.name));
        }
    }
}
