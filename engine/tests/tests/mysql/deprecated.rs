//! Results that the server warns about because of their text alone are kept together with their warnings.

use crate::shared::{TestTurn, enter};
use crate::traps::{all, rows_text};
use fqc_tests::client::{Client, Login, Response, capability, command};

const READ: &str = "SELECT v FROM t WHERE s LIKE BINARY 'a%'";

/// A session that is served, and one that is not.
struct Pair {
    served: Client,
    plain: Client,
}

impl Pair {
    fn new(place: &TestTurn, login: &Login) -> Pair {
        let mut plain = place.client_as(login);
        plain.must("SET SESSION fqc_type = OFF").unwrap();
        Pair { served: place.client_as(login), plain }
    }

    /// Sends a command (its byte and text) in both sessions, and panics unless the responses are equal.
    #[track_caller]
    fn alike(&mut self, kind: u8, text: &str) -> Response {
        let [served, plain] = [&mut self.served, &mut self.plain].map(|one| {
            one.send(kind, text.as_bytes()).unwrap();
            one.read_response().unwrap()
        });
        assert_eq!(served, plain, "`{text}`: {} instead of {}", rows_text(&served), rows_text(&plain));
        served
    }

    #[track_caller]
    fn hit(&mut self, place: &mut TestTurn, read: &str) {
        let (served, is_hit) = place.ask(&mut self.served, read);
        assert_eq!(served, self.plain.query(read).unwrap(), "{read}");
        assert!(is_hit, "`{read}` was not answered from memory:\n{}", place.server.reasons());
    }
}

fn with_texts(db: &str) -> TestTurn {
    let place = enter(db);
    place.client_with(&[
        "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(9), v INT)",
        "INSERT INTO t VALUES (1, 'abc', 10), (2, 'Abd', 20), (3, 'abe', 30)",
    ]);
    place
}

fn logins(place: &TestTurn) -> [Login; 2] {
    let capabilities = capability::BASE | capability::MULTI_STATEMENTS;
    [place.login(), Login { capabilities, ..place.login() }]
}

#[test]
fn a_hit_reports_the_warnings_of_its_text() {
    let mut place = with_texts("deprecated");
    for login in logins(&place) {
        for read in [READ, "SELECT s, v FROM t WHERE s = BINARY 'abc' OR s LIKE BINARY '%e' ORDER BY id"] {
            let mut pair = Pair::new(&place, &login);
            place.warm(&mut pair.served, read);
            pair.hit(&mut place, read);
            assert!(rows_text(&pair.alike(command::QUERY, "SHOW WARNINGS")).contains("1287"));
            for question in [
                "SHOW COUNT(*) WARNINGS",
                "SELECT @@warning_count",
                "SHOW ERRORS",
                "SELECT FOUND_ROWS()",
                "SHOW WARNINGS LIMIT 1",
            ] {
                pair.hit(&mut place, read);
                pair.alike(command::QUERY, question);
                pair.alike(command::QUERY, "SHOW WARNINGS");
            }
            pair.hit(&mut place, read);
            pair.alike(command::QUERY, "GET DIAGNOSTICS CONDITION 1 @code = MYSQL_ERRNO, @text = MESSAGE_TEXT");
            assert!(rows_text(&pair.alike(command::QUERY, "SELECT @code, @text")).contains("1287"));
        }
    }
}

#[test]
fn what_comes_between_a_hit_with_warnings_and_the_question_counts() {
    let mut place = with_texts("deprecated_between");
    let mut pair = Pair::new(&place, &place.login());
    let other = "SELECT v FROM t WHERE id = 1";
    place.warm(&mut pair.served, READ);
    place.warm(&mut pair.served, other);
    let between = [
        (command::QUERY, "SELECT 1"),
        (command::QUERY, "DO 1"),
        (command::QUERY, "SET @a = 1"),
        (command::QUERY, "SELECT nothing FROM t"),
        (command::QUERY, other),
        (command::QUERY, READ),
        (command::QUERY, "BEGIN"),
        (command::QUERY, "COMMIT"),
        (command::QUERY, "USE deprecated_between"),
        (command::QUERY, "UPDATE t SET v = v + 0 WHERE id = 9"),
        (command::QUERY, "SELECT ROW_COUNT()"),
        (command::QUERY, "PREPARE p FROM 'SHOW WARNINGS'"),
        (command::QUERY, "EXECUTE p"),
        (command::QUERY, "SHOW TABLES"),
        (command::PING, ""),
        (command::INIT_DB, "deprecated_between"),
    ];
    for (kind, between) in between {
        for question in ["SHOW WARNINGS", "SELECT @@warning_count", "SELECT FOUND_ROWS()"] {
            pair.alike(command::QUERY, "DO 1");
            place.warm(&mut pair.served, READ);
            pair.hit(&mut place, READ);
            pair.alike(kind, between);
            pair.alike(command::QUERY, question);
            pair.alike(command::QUERY, "ROLLBACK");
        }
    }
}

#[test]
fn a_write_invalidates_a_result_with_warnings() {
    let mut place = with_texts("deprecated_written");
    let mut writer = place.client();
    let mut reader = place.client();
    place.check_write_shows(&mut reader, READ, || all(&mut writer, &["UPDATE t SET v = 11 WHERE id = 1"]), "11;30");
}

/// Checks that a result is not stored if, besides the warning about a deprecated form, its rows raise warnings, too.
#[test]
fn a_result_with_other_warnings_is_not_kept() {
    let mut place = with_texts("deprecated_rows");
    let mut reader = place.client();
    for read in [
        "SELECT v, s + 1 FROM t WHERE s LIKE BINARY 'a%'",
        "SELECT v FROM t WHERE s LIKE BINARY 'a%' AND v > '1x'",
        "SELECT CAST(s AS BINARY), s + 1 FROM t WHERE id = 1",
    ] {
        place.check_never_hit(&mut reader, read, "SELECT v FROM t WHERE id = 1");
    }
}

#[test]
fn executions_whose_preparation_warned_are_served_without_warnings() {
    let mut place = with_texts("deprecated_prepared");
    let mut pair = Pair::new(&place, &place.login());
    let [served, plain] = [&mut pair.served, &mut pair.plain].map(|one| one.prepare(READ).unwrap().1.unwrap());
    place.warm_prepared(&mut pair.served, &served, &[]);
    for _ in 0..2 {
        let (response, is_hit) = place.ask_prepared(&mut pair.served, &served, &[]);
        assert!(is_hit);
        assert_eq!(response, pair.plain.execute(&plain, &[]).unwrap());
        pair.alike(command::QUERY, "SHOW WARNINGS");
    }
}

#[test]
fn rows_counted_beyond_a_limit_are_answered_with_the_warnings_of_both_texts() {
    let mut place = with_texts("deprecated_counted");
    let (read, found) = ("SELECT SQL_CALC_FOUND_ROWS v FROM t WHERE s LIKE BINARY 'a%' LIMIT 1", "SELECT FOUND_ROWS()");
    for login in logins(&place) {
        let mut pair = Pair::new(&place, &login);
        place.warm(&mut pair.served, read);
        pair.hit(&mut place, read);
        pair.alike(command::QUERY, found);
        for question in ["SHOW WARNINGS", "SELECT @@warning_count", "SHOW COUNT(*) WARNINGS", found] {
            pair.hit(&mut place, read);
            pair.alike(command::QUERY, question);
            for _ in 0..2 {
                pair.hit(&mut place, read);
                pair.hit(&mut place, found);
                pair.alike(command::QUERY, question);
                pair.alike(command::QUERY, question);
            }
        }
    }
}
