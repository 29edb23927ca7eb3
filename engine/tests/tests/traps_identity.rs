//! What distinguishes two statements for the cache, on MariaDB.

mod traps;

#[path = "both/identity.rs"]
mod both;
#[path = "both/settings.rs"]
mod settings;
#[path = "both/temporary.rs"]
mod temporary;

use both::texts;
use fqc_tests::client::{Login, Param, capability};
use std::sync::Arc;
use traps::{Arena, all, binary_rows_text, check_separates_results, rows_text, small_table, start, with_table};

/// The engine's data about MariaDB, for the tests that run on either product.
const FLAVOUR: &flavour::Flavour = &flavour::MARIADB;

/// Statements of MariaDB that change a setting although their text does not show it.
const HIDDEN: &[&str] = &[
    "EXECUTE IMMEDIATE 'SET sql_select_limit = 1'",
    "BEGIN NOT ATOMIC SET sql_select_limit = 1; END",
    "SET STATEMENT max_statement_time = 5 FOR CALL zones()",
];

fn enter(db: &str) -> Arena {
    Arena::enter(db)
}

/// Checks that results with different collations are kept apart. With one and the same character set, results can have the collation of the
/// login or the default one, and only the column's description shows which.
#[test]
fn collation_of_results() {
    let mut arena = Arena::enter("i_collated");
    texts(&arena);
    let read = "SELECT a FROM t WHERE id = 1";
    let asked = "SET sql_mode = CONCAT(@@sql_mode, '')";
    let ways: [&[&str]; 6] = [
        &[],
        &[asked],
        &["SET STATEMENT character_set_results = latin1 FOR SELECT 1"],
        &["SET character_set_results = CONCAT('utf8', 'mb4')"],
        &["SET NAMES utf8mb4 COLLATE utf8mb4_bin", asked],
        &["SET NAMES utf8mb4 COLLATE utf8mb4_bin"],
    ];
    let login = Login { collation: 46, ..arena.login() };
    let session = |arena: &Arena, ways: &[&[&str]]| {
        let mut client = arena.client_as(&login);
        ways.iter().for_each(|way| all(&mut client, way));
        client
    };
    for (before, after) in ways.iter().flat_map(|before| ways.iter().map(move |after| (*before, *after))) {
        let mut first = session(&arena, &[before]);
        arena.warm(&mut first, read);
        all(&mut first, after);
        let truth = session(&arena, &[&["SET SESSION fqc_type = OFF"], before, after]).query(read).unwrap();
        assert!(first.query(read).unwrap() == truth, "{before:?}, {after:?}, in one session");
        let truth = session(&arena, &[&["SET SESSION fqc_type = OFF"], after]).query(read).unwrap();
        assert!(session(&arena, &[after]).query(read).unwrap() == truth, "{before:?}, then another: {after:?}");
    }
}

#[test]
fn max_sort_length_and_old_mode() {
    let mut arena = Arena::enter("i_sort");
    let mut maker = arena.client();
    all(&mut maker, &["CREATE TABLE t (a VARCHAR(200))", "INSERT INTO t VALUES (REPEAT('x', 100)), (REPEAT('y', 99))"]);
    let read = "SELECT LENGTH(a) FROM t ORDER BY a DESC";
    check_separates_results(
        &mut arena,
        read,
        ("SET max_sort_length = 1024", "99;100"),
        ("SET max_sort_length = 1000", "99;100"),
    );
    let read = "SELECT LENGTH(a), CAST(_utf8 'x' AS CHAR) FROM t ORDER BY a";
    check_separates_results(
        &mut arena,
        read,
        ("SET old_mode = 'UTF8_IS_UTF8MB3'", "100,x;99,x"),
        ("SET old_mode = ''", "100,x;99,x"),
    );
}

#[test]
fn a_double_bar() {
    let mut arena = Arena::enter("i_bar");
    texts(&arena);
    let read = "SELECT '1' || n FROM t WHERE id = 2";
    check_separates_results(
        &mut arena,
        read,
        ("SET sql_mode = 'PIPES_AS_CONCAT'", "13"),
        ("SET SESSION sql_mode = ''", "1"),
    );
}

#[test]
fn a_setting_for_one_statement() {
    let mut arena = Arena::enter("i_statement");
    texts(&arena);
    let mut client = arena.client();
    let read = "SELECT id FROM t ORDER BY id";
    assert_eq!(arena.warm(&mut client, read), "1;2");
    let limited = format!("SET STATEMENT sql_select_limit = 1 FOR {read}");
    (0..3).for_each(|_| assert_eq!(rows_text(&client.query(&limited).unwrap()), "1"));
    arena.hit(&mut client, read, "1;2");
}

#[test]
fn a_database_that_is_dropped_under_a_session() {
    let mut arena = Arena::enter("i_dropped");
    let mut client = arena.client();
    let make = ["CREATE DATABASE i_gone", "CREATE TABLE i_gone.t (v INT)", "INSERT INTO i_gone.t VALUES (1)"];
    all(&mut client, &make);
    client.must("USE i_gone").unwrap();
    assert_eq!(arena.warm(&mut client, "SELECT v FROM t"), "1");
    let mut other = arena.client();
    other.must("DROP DATABASE i_gone").unwrap();
    arena.miss(&mut client, "SELECT v FROM t", "error 1146");
    all(&mut other, &make);
    other.must("UPDATE i_gone.t SET v = 2").unwrap();
    assert_eq!(arena.warm(&mut client, "SELECT v FROM t"), "2");
    client.must("DROP DATABASE i_gone").unwrap();
    arena.miss(&mut client, "SELECT v FROM t", "error 1046");
}

#[test]
fn accounts() {
    let mut arena = Arena::enter("i_accounts");
    let mut root = arena.client();
    small_table(&mut root, "t", "InnoDB");
    let reader = "CREATE USER reader@'127.0.0.1' IDENTIFIED BY 'r'";
    let stranger = "CREATE USER stranger@'127.0.0.1' IDENTIFIED BY 's'";
    all(&mut root, &[reader, stranger, "GRANT SELECT ON i_accounts.* TO reader@'127.0.0.1'"]);
    let read = "SELECT v FROM i_accounts.t WHERE id = 1";
    assert_eq!(arena.warm(&mut root, read), "10");
    let mut stranger = arena.client_as(&Login { database: None, ..Login::user("stranger", "s") });
    (0..3).for_each(|_| arena.miss(&mut stranger, read, "error 1142"));
    let login = Login { database: Some(arena.db.clone()), ..Login::user("reader", "r") };
    let mut reader = arena.client_as(&login);
    assert_eq!(arena.warm(&mut reader, read), "10");
    assert!(reader.change_user(&Login { database: None, ..Login::user("stranger", "s") }).unwrap().failure().is_none());
    (0..3).for_each(|_| arena.miss(&mut reader, read, "error 1142"));
    assert!(reader.change_user(&login).unwrap().failure().is_none());
    arena.hit(&mut reader, read, "10");
}

/// Checks logins with a collation that the server does not know. It takes its own one at first, and after a reset that of an earlier
/// session on the same thread.
#[test]
fn an_unknown_collation_of_the_handshake_after_a_reset() {
    const UNKNOWN: u8 = 255;
    let arena = Arena::enter("i_unknown");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    let read = "SELECT COLLATION('a') FROM t WHERE id = 1";
    // utf8mb3, utf8mb4, binary, latin1
    for before in [33, 45, 63, 8].into_iter().cycle().take(24) {
        let known = Login { collation: before, ..arena.login() };
        (0..8).map(|_| arena.client_as(&known)).for_each(|mut client| drop(client.ping().unwrap()));
        let mut client = arena.client_as(&Login { collation: UNKNOWN, ..arena.login() });
        for _ in 0..2 {
            let truth = rows_text(&client.query("SELECT COLLATION('a')").unwrap());
            (0..4).for_each(|_| assert_eq!(rows_text(&client.query(read).unwrap()), truth, "after {before}"));
            assert!(client.reset_connection().unwrap().failure().is_none());
        }
    }
}

/// Checks clients that ask the server to leave out the database that a name is qualified by.
#[test]
fn names_without_their_database() {
    let mut arena = Arena::enter("i_schema");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    all(
        &mut maker,
        &["CREATE DATABASE i_named", "CREATE TABLE i_named.t (v INT)", "INSERT INTO i_named.t VALUES (77)"],
    );
    let mut with = arena.client();
    let login = arena.login();
    let mut without = arena.client_as(&Login { capabilities: login.capabilities | capability::NO_SCHEMA, ..login });
    let read = "SELECT MIN(v) FROM i_named.t";
    assert_eq!(arena.warm(&mut with, read), "77");
    assert_eq!(arena.warm(&mut without, read), "10");
    without.must("UPDATE i_named.t SET v = 5 WHERE id = 1").unwrap();
    assert_eq!(arena.warm(&mut without, read), "5");
    arena.hit(&mut with, read, "77");
    without.must("TRUNCATE i_named.t").unwrap();
    assert_eq!(arena.warm(&mut without, read), "NULL");
    assert_eq!(rows_text(&with.query(read).unwrap()), "77");
}

#[test]
fn parameters_of_prepared_statements() {
    let mut arena = Arena::enter("i_parameters");
    let mut client = arena.client();
    all(&mut client, &["CREATE TABLE t (a VARCHAR(10))", "INSERT INTO t VALUES ('1'), ('01'), ('x')"]);
    let (_, prepared) = client.prepare("SELECT a FROM t WHERE a = ? ORDER BY a").unwrap();
    let prepared = prepared.unwrap();
    let text = arena.warm_prepared(&mut client, &prepared, &[Param::Text("1".into())]);
    assert_eq!(binary_rows_text(&text), "1");
    // A number matches both spellings, with a warning for the third one: such a result is never stored, and never mixed up.
    let number = client.execute(&prepared, &[Param::Int(1)]).unwrap();
    assert_eq!(binary_rows_text(&number), "01;1");
    let text = arena.warm_prepared(&mut client, &prepared, &[Param::Text("01".into())]);
    assert_eq!(binary_rows_text(&text), "01");
    let none = arena.warm_prepared(&mut client, &prepared, &[Param::Null]);
    assert_eq!(binary_rows_text(&none), "");
    let (response, is_hit) = arena.ask_prepared(&mut client, &prepared, &[Param::Text("1".into())]);
    assert_eq!((binary_rows_text(&response).as_str(), is_hit), ("1", true));
}

/// Checks that the engine notices the statement inside a SET STATEMENT, which can be any statement.
#[test]
fn what_set_statement_runs_is_not_overlooked() {
    let mut arena = Arena::enter("i_set_statement");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let read = "SELECT v / 4 FROM t WHERE id = 1";
    assert_eq!(arena.warm(&mut client, read), "2.5000");
    client.must("SET STATEMENT max_statement_time = 0 FOR SET SESSION div_precision_increment = 1").unwrap();
    (0..3).for_each(|_| assert_eq!(rows_text(&client.query(read).unwrap()), "2.5"));
    let mut other = arena.client();
    assert_eq!(arena.warm(&mut other, read), "2.5000");
    other.must("SET STATEMENT max_statement_time = 0 FOR CREATE TEMPORARY TABLE t (id INT, v INT)").unwrap();
    (0..3).for_each(|_| assert_eq!(rows_text(&other.query(read).unwrap()), ""));
}

/// Checks that the engine forgets the flags that the server has reported during a SET STATEMENT. While that is in force, the flags are
/// those of its settings.
#[test]
fn flags_of_set_statement_do_not_outlive_it() {
    let mut arena = Arena::enter("i_set_flags");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let read = "SELECT v, 'it\\'s' FROM t WHERE id = 1";
    arena.warm(&mut client, read);
    for mode in ["NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"] {
        client.must(&format!("SET STATEMENT sql_mode = '{mode}' FOR SELECT id FROM t")).unwrap();
        let response = client.query("START TRANSACTION").unwrap();
        assert!(format!("{:?}", response.parts).contains("status: 3,"), "{:?}", response.parts);
        assert_eq!(rows_text(&client.query(read).unwrap()), "10,it's");
        client.must("COMMIT").unwrap();
        arena.hit(&mut client, read, "10,it's");
    }
}

#[test]
fn a_mode_that_new_sessions_inherit() {
    let server = Arc::new(start(&[]));
    let mut arena = Arena::on(server.clone(), "i_mode");
    small_table(&mut arena.client(), "t", "InnoDB");
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE USER u IDENTIFIED BY 'pw'", "GRANT ALL ON i_mode.* TO u"]);
    let login = Login { database: Some("i_mode".into()), ..Login::user("u", "pw") };
    let read = "SELECT v FROM t WHERE id = 1";
    for mode in ["SET GLOBAL sql_mode = 'ORACLE'", "SET GLOBAL init_connect = 'SET sql_mode = ORACLE'"] {
        admin.must(mode).unwrap();
        let mut session = arena.client_as(&login);
        for _ in 0..4 {
            arena.miss(&mut session, read, "10");
            // Only in this mode it is a function.
            let (response, is_hit) = arena.ask(&mut session, "SELECT SYSDATE, v FROM t WHERE id = 1");
            assert!(response.failure().is_none() && !is_hit, "{mode}: {}", rows_text(&response));
        }
        admin.must("SET GLOBAL sql_mode = DEFAULT").unwrap();
    }
    // An `init_connect` that does not change the sql_mode does not keep sessions from being served.
    admin.must("SET GLOBAL init_connect = 'SET NAMES utf8mb4'").unwrap();
    arena.share(&login, read, "10");
    // A session that was reset has lost the settings of `init_connect`.
    admin.must("SET GLOBAL init_connect = 'SET NAMES latin1'").unwrap();
    let length = "CHAR_LENGTH('\u{e4}'), v FROM t WHERE id = 1";
    let (mut begun, mut reset) = (arena.client_as(&login), arena.client_as(&login));
    reset.reset_connection().unwrap();
    reset.must("USE i_mode").unwrap();
    let read = format!("SELECT {length}");
    assert_eq!(arena.warm(&mut begun, &read), "2,10");
    assert_eq!(rows_text(&reset.query(format!("SELECT SQL_NO_CACHE {length}")).unwrap()), "1,10");
    assert_eq!(rows_text(&reset.query(&read).unwrap()), "1,10");
}

/// Checks that the same settings in another order count as different. The meaning of a value may depend on settings made before it.
#[test]
fn the_order_of_settings() {
    let mut arena = Arena::enter("i_order");
    texts(&arena);
    let modern = "SET old_mode = ''; SET NAMES utf8; SET old_mode = 'UTF8_IS_UTF8MB3'";
    // The collation that SET NAMES chooses is a setting only in newer servers.
    let named = rows_text(&arena.client_with(&["SET NAMES utf8mb4"]).query("SELECT COLLATION('x')").unwrap());
    for (read, one, other) in [
        (
            "SELECT COLLATION('x') FROM t WHERE id = 1",
            ("SET collation_connection = latin1_bin, character_set_connection = utf8mb4", "utf8mb4_general_ci"),
            ("SET character_set_connection = utf8mb4, collation_connection = latin1_bin", "latin1_bin"),
        ),
        (
            "SELECT COLLATION('x') FROM t WHERE id = 2",
            (modern, &*named),
            ("SET old_mode = 'UTF8_IS_UTF8MB3'; SET NAMES utf8", &named.replace("utf8mb4", "utf8mb3")),
        ),
    ] {
        let session = |arena: &Arena, way: &str| arena.client_with(&way.split("; ").collect::<Vec<_>>());
        let mut first = session(&arena, one.0);
        assert_eq!(arena.warm(&mut first, read), one.1, "after `{}`", one.0);
        let mut second = session(&arena, other.0);
        assert_eq!(arena.warm(&mut second, read), other.1, "after `{}`", other.0);
        let mut third = session(&arena, one.0);
        arena.hit(&mut third, read, one.1);
    }
}

#[test]
fn the_zone_in_which_a_moment_of_history_was_named() {
    let mut arena = Arena::enter("i_history");
    let mut client = arena.client_with(&[
        "SET time_zone = '+00:00'",
        "CREATE TABLE h (v INT) WITH SYSTEM VERSIONING",
        "SET timestamp = 1000000000",
        "INSERT INTO h VALUES (1)",
        "SET timestamp = 1000003600",
        "UPDATE h SET v = 2",
    ]);
    let (read, moment) = ("SELECT v FROM h", "SET system_versioning_asof = '2001-09-09 02:00:00'");
    assert_eq!(arena.warm(&mut client, read), "2");
    for zone in ["SET time_zone = '+05:00'", "SET time_zone = CONCAT('+05', ':00')"] {
        let mut later = arena.client_with(&["SET time_zone = '+00:00'", moment, zone]);
        assert_eq!(arena.warm(&mut later, read), "1", "{zone}");
        let mut sooner = arena.client_with(&[zone, moment]);
        assert_eq!(arena.warm(&mut sooner, read), "", "{zone}");
    }
}

/// Checks a setting that a session makes twice. It may have had another value in between, and no text shows that.
#[test]
fn what_is_set_again_after_something_unknown() {
    let mut arena = Arena::enter("i_again");
    let flags = "SET SESSION default_regex_flags = 'DOTALL'";
    let hidden = "CREATE PROCEDURE hidden() SET SESSION default_regex_flags = ''";
    arena.client_with(&["CREATE TABLE t (a VARCHAR(9))", "INSERT INTO t VALUES ('a\\nb')", hidden]);
    let read = "SELECT a REGEXP 'a.b' FROM t";
    for unknown in [
        "SET SESSION default_regex_flags = CONCAT('', '')",
        "SET SESSION default_regex_flags = '', SESSION max_sort_length = 'none'",
        "CALL hidden()",
        "EXECUTE IMMEDIATE 'SET SESSION default_regex_flags = \"\"'",
    ] {
        let (mut client, mut plain) = (arena.client(), arena.client_with(&["SET SESSION fqc_type = OFF"]));
        arena.warm(&mut client, read);
        for statement in [flags, unknown, flags, unknown, flags] {
            [&mut client, &mut plain].into_iter().for_each(|one| drop(one.query(statement).unwrap()));
            let truth = rows_text(&plain.query(read).unwrap());
            (0..3).for_each(|_| assert_eq!(rows_text(&client.query(read).unwrap()), truth, "{statement}, {unknown}"));
        }
    }
}

#[test]
fn notes_that_a_session_does_not_want() {
    let mut arena = Arena::enter("i_notes");
    let mut loud = arena.client_with(&["CREATE TABLE t (a VARCHAR(9))", "INSERT INTO t VALUES ('12 ')"]);
    let mut quiet = arena.client_with(&["SET sql_notes = 0"]);
    let read = "SELECT a + 0 FROM t";
    arena.warm(&mut quiet, read);
    arena.miss(&mut loud, read, "12");
    assert_eq!(rows_text(&loud.query("SHOW COUNT(*) WARNINGS").unwrap()), "1");
}

/// Checks that a definition is still understood after a setting that does not affect the lexer.
#[test]
fn a_definition_after_a_setting_by_an_expression() {
    let mut arena = Arena::enter("i_defined");
    let mut maker = arena.client();
    for (number, engine) in ["MyISAM", "Aria", "MEMORY", "InnoDB"].into_iter().enumerate() {
        small_table(&mut maker, &format!("t{number}"), engine);
        for set in ["SET optimizer_switch = 'mrr=on'", "SET time_zone = DEFAULT", "SET sql_select_limit = 50 + 50"] {
            let mut client = arena.client_with(&[set, "CREATE OR REPLACE TABLE u (a INT)"]);
            arena.warm(&mut client, &format!("SELECT v FROM t{number} WHERE id = 1"));
        }
    }
}
