//! By rules, a read in a transaction is answered from memory only if its rule allows that and the transaction has written nothing.

use super::rules::{LONG, ruled, served, servers, write};
use crate::beside::scene::{READ, ask, said};
use crate::beside::{Near, wait_until};
use fqc_tests::client::Client;
use fqc_tests::server::Server;

/// A rule that also serves reads in transactions, with a time to live that is longer than a test takes.
const INSIDE: &str = "[[rule]]\ntable = 'd.%'\ncache = 'always'\nttl = 3600\nin_transactions = true\n";
const OTHER: &str = "SELECT v FROM d.t WHERE id = 2";
const BEGINNINGS: [&str; 3] = ["BEGIN", "START TRANSACTION READ ONLY", "START TRANSACTION WITH CONSISTENT SNAPSHOT"];
/// How many times a read is sent to show that it is not served: if it may be, one of these reads is answered from memory.
const OFTEN: usize = 5;

/// Connects to the server itself, as root.
fn direct(server: &Server) -> Client {
    Client::root(&server.endpoint()).expect("a connection")
}

/// Sends a read several times, and returns the last answer. Panics with `what` if one of the answers came from memory.
fn never_served(near: &Near, client: &mut Client, read: &str, what: &str) -> String {
    let answers = (0..OFTEN).map(|_| served(near, client, read));
    let answers = answers.map(|(answer, is_hit)| (!is_hit).then_some(answer)).collect::<Option<Vec<_>>>();
    answers.unwrap_or_else(|| panic!("{what}: it is answered from memory")).pop().expect("an answer")
}

/// Repeats a read until it is answered from memory.
fn until_served(near: &Near, client: &mut Client, read: &str) {
    wait_until("an answer from memory", || served(near, client, read).1);
}

#[test]
fn a_read_in_a_transaction_is_answered_byte_for_byte_where_a_rule_says_so() {
    for (line, server) in servers() {
        let near = ruled(&server, INSIDE);
        for begin in BEGINNINGS {
            let (mut client, mut direct) = (near.client(), direct(&server));
            [&mut client, &mut direct].into_iter().for_each(|one| drop(one.must(begin).expect(begin)));
            ask(&mut direct, READ);
            let expected = direct.query(READ).expect("an answer").bytes;
            // Only from the second read on do the answer's status flags say that a transaction is open.
            ask(&mut client, OTHER);
            until_served(&near, &mut client, READ);
            assert_eq!(client.query(READ).expect("an answer").bytes, expected, "{line}, {begin}");
        }
    }
}

/// Checks that sessions with autocommit off and on serve each other's results. Python's drivers turn autocommit off at the beginning of
/// each connection.
#[test]
fn with_autocommit_off_results_are_shared_with_sessions_outside_of_transactions() {
    for (line, server) in servers() {
        let near = ruled(&server, INSIDE);
        let (mut client, mut other) = (near.client(), near.client());
        ask(&mut client, "SET autocommit = 0");
        let expected = direct(&server).query(READ).expect("an answer").bytes;
        ask(&mut client, READ);
        ask(&mut other, OTHER);
        assert!(served(&near, &mut other, READ).1, "{line}: {}", near.log());
        assert_eq!(other.query(READ).expect("an answer").bytes, expected, "{line}");
        assert!(served(&near, &mut client, OTHER).1, "{line}");
        ask(&mut client, "COMMIT");
        assert!(served(&near, &mut client, READ).1, "{line}");
    }
}

#[test]
fn without_that_word_reads_in_transactions_go_to_the_server() {
    for (line, server) in servers() {
        let near = ruled(&server, LONG);
        let mut client = near.client();
        until_served(&near, &mut client, READ);
        for begin in ["BEGIN", "SET autocommit = 0"] {
            ask(&mut client, begin);
            never_served(&near, &mut client, READ, &format!("{line}, {begin}"));
            ask(&mut client, "COMMIT");
        }
    }
}

#[test]
fn a_transaction_that_has_written_reads_its_own_rows_and_nobody_else_does() {
    for (line, server) in servers() {
        let near = ruled(&server, INSIDE);
        let (mut client, mut other) = (near.client(), near.client());
        for begin in ["BEGIN", "SET autocommit = 0"] {
            for end in ["ROLLBACK", "COMMIT"] {
                let what = format!("{line}, {begin}, {end}");
                let before = ask(&mut direct(&server), READ);
                until_served(&near, &mut other, READ);
                ask(&mut client, begin);
                until_served(&near, &mut client, READ);
                ask(&mut client, &format!("UPDATE d.t SET v = '{end} {begin}' WHERE id = 1"));
                assert_eq!(never_served(&near, &mut client, READ, &what), format!("{end} {begin}"));
                assert_eq!(served(&near, &mut other, READ), (before.clone(), true), "{what}");
                ask(&mut client, end);
                let after = ask(&mut direct(&server), READ);
                assert_eq!(ask(&mut client, READ), after, "{what}");
                assert_eq!(after == before, end == "ROLLBACK", "{what}");
                until_served(&near, &mut client, READ);
                ask(&mut client, "COMMIT");
                ask(&mut client, "SET autocommit = 1");
                // The other connection has written nothing, so it may get the older result for as long as the rule allows. This write ends
                // that.
                ask(&mut other, &format!("DELETE FROM d.u WHERE v = '{what}'"));
            }
        }
    }
}

#[test]
fn a_transaction_whose_reads_lock_is_not_served() {
    for (line, server) in servers() {
        let near = ruled(&server, INSIDE);
        let mut client = near.client();
        until_served(&near, &mut client, READ);
        for isolation in ["SET SESSION TRANSACTION ISOLATION LEVEL", "SET TRANSACTION ISOLATION LEVEL"] {
            for statement in [&format!("{isolation} SERIALIZABLE"), "BEGIN"] {
                ask(&mut client, statement);
            }
            never_served(&near, &mut client, READ, &format!("{line}, {isolation}"));
            for statement in ["COMMIT", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"] {
                ask(&mut client, statement);
            }
        }
        ask(&mut client, "BEGIN");
        assert_eq!(ask(&mut client, "SELECT v FROM d.t WHERE id = 1 FOR UPDATE"), "one");
        never_served(&near, &mut client, READ, &format!("{line}, a lock"));
    }
}

/// Checks that a row that is read late in a transaction is taken for as old as the transaction's snapshot, and so is not kept for longer
/// than its rule allows.
#[test]
fn the_age_of_what_a_transaction_reads_counts_from_its_beginning() {
    const SHORT: &str = "[[rule]]\ntable = 'd.t'\ncache = 'always'\nttl = 1\nin_transactions = true\n";
    for (line, server) in servers() {
        let near = ruled(&server, SHORT);
        let (mut client, mut other) = (near.client(), near.client());
        ask(&mut other, "SELECT v FROM d.t WHERE id = 3");
        ask(&mut client, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
        let begun = std::time::Instant::now();
        write(&server, "later");
        while begun.elapsed() < std::time::Duration::from_secs(1) {
            ask(&mut other, "DO SLEEP(0.1)");
        }
        assert_eq!(said(&client.query(READ).expect("an answer")), "one", "{line}");
        assert_eq!(served(&near, &mut other, READ), ("later".into(), false), "{line}");
    }
}
