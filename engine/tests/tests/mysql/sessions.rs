//! What a session has set, and what its client is told of it.

use crate::shared::enter;
use crate::traps::{all, said, small_table};
use fqc_tests::client::capability;

/// The server tells such a client of each transaction, also where `session_track_transaction_info` is off.
#[test]
fn a_client_that_tracks_its_session_is_told_of_its_transactions() {
    let mut arena = enter("tracked");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    let mut login = arena.login();
    login.capabilities |= capability::SESSION_TRACK;
    let (mut served, mut plain) = (arena.client_as(&login), arena.client_as(&login));
    plain.must("SET SESSION fqc_type = OFF").unwrap();
    let statements = [
        &["BEGIN", read, read, "COMMIT", "START TRANSACTION READ ONLY", read, "ROLLBACK"][..],
        &["SET autocommit = 0", read, read, "COMMIT", read, "SET autocommit = 1"],
        &["SET session_track_transaction_info = 'STATE'", "BEGIN", read, read, "COMMIT"],
    ];
    for statement in statements.concat() {
        arena.warm(&mut admin, read);
        assert_eq!(served.query(statement).unwrap(), plain.query(statement).unwrap(), "`{statement}`");
    }
    assert!(served.reset_connection().unwrap().failure().is_none());
    served.must("USE tracked").unwrap();
    arena.warm(&mut served, read);
}

/// What the server skips then, or refuses, is for it to say.
#[test]
fn a_session_that_numbers_its_transactions_is_left_to_the_server() {
    let mut arena = enter("numbered");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    let (read, write) = ("SELECT SUM(v) FROM t", "UPDATE t SET v = v + 1 WHERE id = 1");
    let mut reader = arena.client();
    arena.warm(&mut reader, read);
    let number = "SET gtid_next = '00000000-0000-0000-0000-0000000000aa:1'";
    all(&mut reader, &[number, write]);
    assert_eq!(said(&reader.query(write).unwrap()), "error 1837");
    arena.warm(&mut admin, read);
    for _ in 0..3 {
        assert!(!arena.ask(&mut reader, read).1);
    }
    all(&mut reader, &["SET gtid_next = 'AUTOMATIC'"]);
    assert_eq!(arena.warm(&mut reader, read), "151");
}

#[test]
fn collations_that_hang_on_what_was_set_before_are_not_shared() {
    let mut arena = enter("collated");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    // The collation is that of the connection, which SET NAMES has taken from what was the default.
    let read = "SELECT COUNT(*) FROM t WHERE id = 1 AND 'ß' = 's'";
    let other = "SET default_collation_for_utf8mb4 = utf8mb4_general_ci";
    let usual = "SET default_collation_for_utf8mb4 = DEFAULT";
    for (first, expected) in [
        (&["SET NAMES utf8mb4"][..], "0"),
        (&[other, "SET NAMES utf8mb4"], "1"),
        (&[other, "SET NAMES utf8mb4", usual], "1"),
        (&[other, usual, "SET NAMES utf8mb4"], "0"),
    ] {
        let mut session = arena.client_with(first);
        assert_eq!(arena.warm(&mut session, read), expected, "{first:?}");
    }
}
