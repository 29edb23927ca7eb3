//! Assumptions of the engine about MySQL's language, checked on a plain server.

use flavour::{MYSQL, Names};
use fqc_tests::client::{Client, Login};
use fqc_tests::server::{Options, Product, Server};
use sql::Charset;

fn server(arguments: &[&str]) -> Server {
    let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    Server::start(Options { product: Product::MySql, arguments, ..Options::default() }).expect("a plain server")
}

#[test]
fn what_is_taken_for_granted_of_the_language_holds() {
    let server = server(&[]);
    let mut admin = server.admin().expect("root through the socket");
    admin.must("CREATE DATABASE d").unwrap();
    admin.must("USE d").unwrap();
    for check in [
        no_stored_function_can_take_the_place_of_a_known_one,
        collations_are_read_as_their_character_set_is,
        the_catalogue_answers_every_question_without_a_warning,
        triggers_count_but_not_those_of_the_server,
        the_tests_of_privileges_fail_without_them_and_do_nothing_else,
        a_new_client_asks_what_the_server_cannot_read,
        a_reset_gives_the_session_the_servers_character_set,
        interruptions_are_told_in_the_servers_words,
    ] {
        check(&server, &mut admin);
    }
}

fn code(client: &mut Client, statement: &str) -> u16 {
    client.query(statement).unwrap().failure().map_or(0, |failure| failure.code)
}

/// Calls the function with `between` before the parenthesis. Returns whether the server ever looked for a stored function.
fn may_be_stored(client: &mut Client, name: &str, between: &str) -> bool {
    const NO_SUCH_FUNCTION: [u16; 2] = [1305, 1630];
    (0..5).any(|count| {
        let arguments = vec!["1"; count].join(",");
        NO_SUCH_FUNCTION.contains(&code(client, &format!("SELECT {name}{between}({arguments}) LIMIT 0")))
    })
}

fn no_stored_function_can_take_the_place_of_a_known_one(_: &Server, admin: &mut Client) {
    let known = &MYSQL.functions;
    let mut check = |names: Names, between: &str| {
        for name in names.as_slice() {
            assert!(!may_be_stored(admin, name, between), "{name}{between}()");
        }
    };
    check(known.deterministic, "");
    check(known.deterministic, " ");
    check(known.deterministic_with_argument, " ");
    check(known.deterministic_if_tight, "");
    check(known.syntax, " ");
    assert!(may_be_stored(admin, "count", " ") && may_be_stored(admin, "md5", ""));
}

fn collations_are_read_as_their_character_set_is(_: &Server, admin: &mut Client) {
    let all = admin.must("SELECT ID, CHARACTER_SET_NAME FROM information_schema.COLLATIONS").unwrap().rows(false);
    assert!(all.len() > 200);
    for row in all {
        let [id, name] = [0, 1].map(|column| row[column].clone().expect("a value"));
        let id = String::from_utf8(id).unwrap().parse().unwrap();
        let charset = Charset::of_collation(id, &MYSQL.charsets);
        assert_eq!(charset, Charset::of_name(&name, &MYSQL.charsets), "{id}");
    }
}

fn the_catalogue_answers_every_question_without_a_warning(_: &Server, admin: &mut Client) {
    admin.must("CREATE TABLE t (id INT PRIMARY KEY, j JSON, v VARCHAR(9) AS (j->>'$.a') VIRTUAL, w TIME)").unwrap();
    admin.must("CREATE VIEW v AS SELECT id FROM t").unwrap();
    let literal = |name: &str| {
        let digits: String = name.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("{} x'{digits}'", MYSQL.catalogue.utf8)
    };
    let (schema, table) = (literal("d"), literal("t"));
    let known = &MYSQL.catalogue;
    let mut ask = |question: &str, rows: usize| {
        let question = flavour::fill_in(question, &schema, &table);
        let found = admin.must(&question).unwrap().rows(false);
        assert_eq!(found.len(), rows, "{question}");
        assert!(admin.must(known.warnings).unwrap().rows(false).is_empty(), "{question}");
        found
    };
    assert_eq!(ask(known.table, 1)[0][0].as_deref(), Some(&b"InnoDB"[..]));
    assert_eq!(ask(known.no_password_expires, 1)[0][0].as_deref(), Some(&b"1"[..]));
    let columns = ask(known.columns, 4);
    assert!(footprint::has_time(&columns));
    let computed: Vec<_> = footprint::computed(&columns).map(String::from_utf8_lossy).collect();
    assert!(computed.len() == 1 && computed[0].contains("'$.a'"), "{computed:?}");
    known.unnamed_changes.iter().for_each(|question| _ = ask(question, 0));
    ask(known.unique_keys, 0);
    ask(known.users_with_several_hosts, 1);
    assert_eq!(ask(&known.views.replace("{schema}", "`d`"), 1)[0][0].as_deref(), Some(&b"v"[..]));
    let queries = MYSQL.side_effect_settings.all().map(|setting| setting.expression).join(", ");
    let values = ask(&format!("SELECT {queries}"), 1).remove(0);
    for (setting, value) in MYSQL.side_effect_settings.all().iter().zip(values) {
        assert!(setting.is_off(value.as_deref().expect("a value")), "{}", setting.expression);
    }
    let of_new_sessions = queries.replace("@@SESSION.", "@@GLOBAL.");
    ask(&format!("SELECT @@GLOBAL.sql_mode, @@GLOBAL.init_connect, {of_new_sessions}"), 1);
    let askable = MYSQL.variables.askable.iter().map(|name| format!("@@SESSION.{name}"));
    ask(&format!("SELECT {}", askable.collect::<Vec<_>>().join(", ")), 1);
    assert_eq!(ask(&known.view.replace("{table}", "'v'"), 1)[0][1].as_deref(), Some(&b"v"[..]));
    ask(known.own_plugin, 0);
    ask(known.other_listeners, 0);
}

/// The schema `sys` has triggers.
fn triggers_count_but_not_those_of_the_server(_: &Server, admin: &mut Client) {
    let question = MYSQL.catalogue.triggers.expect("a question");
    let counted = |admin: &mut Client| admin.must(question).unwrap().rows(false).len();
    for (statement, count) in [
        ("CREATE PROCEDURE counted() BEGIN END", 0),
        ("CREATE TRIGGER counted BEFORE INSERT ON t FOR EACH ROW SET @a = 1", 1),
        ("DROP TRIGGER counted", 0),
        ("DROP PROCEDURE counted", 0),
    ] {
        admin.must(statement).unwrap();
        assert_eq!(counted(admin), count, "{statement}");
    }
}

#[test]
fn tables_that_innodb_changes_along_with_their_parents_are_left_out() {
    let server = server(&["--innodb-native-foreign-keys=ON"]);
    let mut admin = server.admin().unwrap();
    for text in [
        "CREATE DATABASE d",
        "CREATE TABLE d.p (id INT PRIMARY KEY)",
        "CREATE TABLE d.t (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES d.p (id) ON DELETE CASCADE)",
        "CREATE TABLE d.u (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES d.p (id))",
    ] {
        admin.must(text).unwrap();
    }
    let mut is_told = |table: &str| {
        let question = flavour::fill_in(MYSQL.catalogue.table, "'d'", &format!("'{table}'"));
        !admin.must(&question).unwrap().rows(false).is_empty()
    };
    assert!(is_told("p") && is_told("u"));
    assert!(!is_told("t"));
}

fn the_tests_of_privileges_fail_without_them_and_do_nothing_else(server: &Server, admin: &mut Client) {
    admin.must("CREATE USER u@'%'").unwrap();
    let user = || Client::connect(&server.endpoint(), &Login::user("u", "")).unwrap();
    let known = &MYSQL.statements;
    for (test, privilege) in [(known.process_test, "PROCESS"), (known.query_cache_test.expect("one"), "RELOAD")] {
        assert_eq!(code(&mut user(), test), 1227, "{test}");
        admin.must(&format!("GRANT {privilege} ON *.* TO u@'%'")).unwrap();
        let rows = user().must(test).unwrap().rows(false);
        assert!(rows.is_empty(), "{test}");
    }
}

fn a_new_client_asks_what_the_server_cannot_read(_: &Server, admin: &mut Client) {
    assert_eq!(code(admin, "select $$"), 1064);
}

fn a_reset_gives_the_session_the_servers_character_set(server: &Server, _: &mut Client) {
    let login = Login { collation: 8, ..Login::default() };
    let mut client = Client::connect(&server.endpoint(), &login).unwrap();
    let asked = "SELECT @@character_set_client";
    assert_eq!(client.scalar(asked).unwrap().as_deref(), Some("latin1"));
    client.reset_connection().unwrap();
    assert_eq!(client.scalar(asked).unwrap().as_deref(), Some("utf8mb4"));
    assert!(!MYSQL.charsets.survives_reset);
}

fn interruptions_are_told_in_the_servers_words(_: &Server, admin: &mut Client) {
    admin.must("CREATE TABLE n (id INT PRIMARY KEY)").unwrap();
    admin
        .must("INSERT INTO n WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 900) TABLE c")
        .unwrap();
    let slow = "SELECT /*+ MAX_EXECUTION_TIME(20) */ SUM(a.id * b.id * c.id) FROM n a, n b, n c";
    let response = admin.query(slow).unwrap();
    let failure = response.failure().expect("an interruption");
    let known = MYSQL.errors.interruptions.iter().find(|error| error.code == failure.code).expect("a known one");
    assert_eq!((failure.message.as_str(), failure.state.as_bytes()), (known.message, &known.state[..]));
}
