//! Privileges from roles: whenever they may have changed, the server decides who may read.

use crate::shared::enter;
use crate::traps::{Arena, all, rows_text, small_table};
use fqc_tests::client::{Client, Login};

const READS: [&str; 2] = ["SELECT v FROM roles.t WHERE id = 2", "SELECT v FROM roles.w WHERE id = 2"];

/// Two sessions of one account. `plain` is never served by the cache.
struct Pair {
    served: Client,
    plain: Client,
}

impl Pair {
    /// Logs this user in twice.
    fn of(arena: &Arena, user: &str) -> Pair {
        let login = Login { database: None, ..Login::user(user, "") };
        let (served, mut plain) = (arena.client_as(&login), arena.client_as(&login));
        plain.must("SET SESSION fqc_type = OFF").unwrap();
        Pair { served, plain }
    }

    /// Runs a statement, which must succeed, in both sessions.
    fn both(&mut self, statement: &str) {
        [&mut self.served, &mut self.plain].into_iter().for_each(|one| drop(one.must(statement).unwrap()));
    }

    /// Runs a read of the table, and one of a view that checks who reads, in both sessions. Panics, naming what came before (`after`),
    /// unless their responses are equal. Returns the answers.
    fn answers(&mut self, after: &str) -> [String; 2] {
        READS.map(|read| {
            let truth = self.plain.query(read).unwrap();
            (0..6).for_each(|_| assert_eq!(self.served.query(read).unwrap(), truth, "`{read}` after `{after}`"));
            rows_text(&truth)
        })
    }
}

fn prepared(admin: &mut Client) {
    small_table(admin, "t", "InnoDB");
    all(
        admin,
        &[
            "CREATE SQL SECURITY INVOKER VIEW w AS SELECT id, v FROM t",
            "CREATE ROLE of_table, of_view, of_column, of_both",
            "GRANT SELECT ON roles.t TO of_table",
            "GRANT SELECT ON roles.w TO of_view",
            "GRANT SELECT (id) ON roles.t TO of_column",
            "GRANT of_table, of_view TO of_both",
            "CREATE USER ruth@'%' IDENTIFIED BY ''",
            "GRANT of_table, of_view, of_column, of_both TO ruth@'%'",
        ],
    );
}

#[test]
fn the_roles_of_a_session_decide_what_it_is_served() {
    let mut arena = enter("roles");
    let mut admin = arena.client();
    prepared(&mut admin);
    let mut pair = Pair::of(&arena, "ruth");
    assert_eq!(pair.answers("the login"), ["error 1142", "error 1142"]);
    for (set, expected) in [
        ("SET ROLE of_table", ["20", "error 1142"]),
        ("SET ROLE NONE", ["error 1142", "error 1142"]),
        ("SET ROLE of_both", ["20", "20"]),
        ("SET ROLE of_view", ["error 1142", "error 1356"]),
        ("SET ROLE of_table, of_view", ["20", "20"]),
        ("SET ROLE of_column", ["error 1143", "error 1142"]),
        ("SET ROLE ALL EXCEPT of_table, of_both", ["error 1143", "error 1356"]),
        ("SET ROLE ALL", ["20", "20"]),
        ("SET ROLE DEFAULT", ["error 1142", "error 1142"]),
        ("SET ROLE of_both", ["20", "20"]),
    ] {
        pair.both(set);
        assert_eq!(pair.answers(set), expected, "{set}");
        READS.iter().zip(expected).filter(|(_, expected)| *expected == "20").for_each(|(read, _)| {
            arena.warm(&mut pair.served, read);
        });
    }
    admin.must("ALTER USER ruth@'%' DEFAULT ROLE of_table").unwrap();
    let mut later = Pair::of(&arena, "ruth");
    assert_eq!(later.answers("a login with a default role"), ["20", "error 1142"]);
    arena.warm(&mut later.served, READS[0]);
    all(&mut admin, &["DROP USER ruth@'%'", "DROP ROLE of_table, of_view, of_column, of_both", "DROP DATABASE roles"]);
}

/// Checks that an existing session gets the server's answer after changes of roles and their privileges. Only the server knows when such a
/// change takes effect for it.
#[test]
fn roles_that_change_under_a_session() {
    let arena = enter("roles");
    let mut admin = arena.client();
    prepared(&mut admin);
    let mut pair = Pair::of(&arena, "ruth");
    pair.both("SET ROLE of_both");
    let mut answers = Vec::new();
    for change in [
        "REVOKE SELECT ON roles.w FROM of_view",
        "GRANT SELECT ON roles.w TO of_view",
        "REVOKE of_table FROM of_both",
        "GRANT of_table TO of_both",
        "REVOKE of_both FROM ruth@'%'",
        "SET GLOBAL mandatory_roles = 'of_both'",
        "SET GLOBAL mandatory_roles = ''",
        "GRANT of_both TO ruth@'%'",
        "GRANT SELECT ON roles.t TO ruth@'%'",
        "REVOKE SELECT ON roles.t FROM ruth@'%'",
        "DROP ROLE of_table",
        "FLUSH PRIVILEGES",
    ] {
        admin.must(change).unwrap();
        answers.push(pair.answers(change));
        // A session that begins now has the privileges that are granted now.
        Pair::of(&arena, "ruth").answers(&format!("{change}, and a login"));
        if pair.plain.query("SET ROLE of_both").unwrap().failure().is_none() {
            pair.served.must("SET ROLE of_both").unwrap();
        }
        answers.push(pair.answers(&format!("{change}, and SET ROLE")));
    }
    let both = ["20", "20"];
    assert!(answers.iter().any(|one| *one == both) && answers.iter().any(|one| *one != both), "{answers:?}");
    all(&mut admin, &["DROP USER ruth@'%'", "DROP ROLE of_view, of_column, of_both", "DROP DATABASE roles"]);
}

/// Checks partial revokes: a privilege that is granted globally can be revoked for one schema.
#[test]
fn rights_that_are_revoked_in_part() {
    let mut arena = enter("roles");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    all(
        &mut admin,
        &[
            "CREATE VIEW w AS SELECT id, v FROM t",
            "SET GLOBAL partial_revokes = ON",
            "CREATE USER paula@'%' IDENTIFIED BY ''",
            "GRANT SELECT ON *.* TO paula@'%'",
        ],
    );
    let mut pair = Pair::of(&arena, "paula");
    for (change, expected) in [
        ("DO 1", ["20", "20"]),
        ("REVOKE SELECT ON roles.* FROM paula@'%'", ["error 1142", "error 1142"]),
        ("GRANT SELECT ON roles.* TO paula@'%'", ["20", "20"]),
    ] {
        admin.must(change).unwrap();
        pair.answers(change);
        let mut later = Pair::of(&arena, "paula");
        assert_eq!(later.answers(change), expected, "{change}");
        if expected[0] == "20" {
            arena.warm(&mut later.served, READS[0]);
        }
    }
    all(&mut admin, &["DROP USER paula@'%'", "SET GLOBAL partial_revokes = OFF", "DROP DATABASE roles"]);
}

/// Checks that no account gets a result that only another may see. The accounts differ in columns, in views with the rights of reader or
/// definer, and in the rows that a view shows them.
#[test]
fn an_account_is_answered_nothing_that_another_may_see() {
    let mut arena = enter("apart");
    let mut admin = arena.client();
    small_table(&mut admin, "t", "InnoDB");
    all(
        &mut admin,
        &[
            "CREATE TABLE o (owner VARCHAR(80), v INT)",
            "INSERT INTO o VALUES ('ana@127.0.0.1', 1), ('ben@127.0.0.1', 2)",
            "CREATE SQL SECURITY DEFINER VIEW own AS SELECT v FROM o WHERE owner = USER()",
            "CREATE SQL SECURITY INVOKER VIEW i AS SELECT id, v FROM t WHERE id = 1",
            "CREATE VIEW d AS SELECT id, v FROM t WHERE id = 1",
            "CREATE USER ana@'%' IDENTIFIED BY '', ben@'%' IDENTIFIED BY ''",
            "GRANT SELECT ON apart.* TO ana@'%'",
            "GRANT SELECT ON apart.own TO ben@'%'",
            "GRANT SELECT ON apart.i TO ben@'%'",
            "GRANT SELECT (id) ON apart.d TO ben@'%'",
            "GRANT SELECT (id) ON apart.t TO ben@'%'",
        ],
    );
    let login = |user: &str| Login { database: None, ..Login::user(user, "") };
    let mut pairs = ["ana", "ben"].map(|user| Pair::of(&arena, user));
    let mut both = arena.client_as(&login("ana"));
    for (read, expected) in [
        ("SELECT v FROM apart.t WHERE id = 1", ["10", "error 1143"]),
        ("SELECT id FROM apart.t WHERE id = 1", ["1", "1"]),
        ("SELECT v FROM apart.own", ["1", "2"]),
        ("SELECT v FROM apart.o WHERE v = 1", ["1", "error 1142"]),
        ("SELECT v FROM apart.i", ["10", "error 1356"]),
        ("SELECT v FROM apart.d", ["10", "error 1143"]),
        ("SELECT id FROM apart.d", ["1", "1"]),
    ] {
        for _ in 0..4 {
            for (user, (pair, expected)) in ["ana", "ben"].iter().zip(pairs.iter_mut().zip(expected)) {
                let truth = pair.plain.query(read).unwrap();
                assert_eq!(rows_text(&truth), expected, "`{read}` as {user}");
                assert!(both.change_user(&login(user)).unwrap().failure().is_none());
                for _ in 0..2 {
                    assert_eq!(pair.served.query(read).unwrap(), truth, "`{read}` as {user}");
                    assert_eq!(both.query(read).unwrap(), truth, "`{read}` as {user}, who was another");
                }
            }
        }
    }
    arena.warm(&mut pairs[0].served, "SELECT v FROM apart.t WHERE id = 1");
    all(&mut admin, &["DROP USER ana@'%', ben@'%'", "DROP DATABASE apart"]);
}
