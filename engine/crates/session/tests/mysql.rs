//! Tests of what a session does differently if the server is MySQL.

mod talk;

use flavour::{MARIADB, MYSQL};
use session::Decision;
use talk::{AUTOCOMMIT, Talk, connect, engine_of};

const READ: &str = "SELECT v FROM t WHERE w = 1";

/// Stores the result of `READ`, runs the statement `EXECUTE s`, which may have set anything, and returns the decision
/// about `READ` after it.
fn after_execute(talk: &mut Talk) -> Decision {
    talk.read(READ, "one", AUTOCOMMIT);
    assert!(talk.is_served(READ));
    talk.ask("EXECUTE s");
    while talk.session.owes_server() {
        talk.reply(&talk::rows("1", AUTOCOMMIT));
        talk.ask("EXECUTE s");
    }
    talk.reply(&wire::ok_packet(1, 0, 0, AUTOCOMMIT, 0));
    talk.ask(READ)
}

#[test]
fn how_texts_are_read_is_asked_for_where_no_flag_tells_it() {
    let (mysql, mariadb) = (engine_of(&MYSQL, || 0), engine_of(&MARIADB, || 0));
    assert!(matches!(after_execute(&mut connect(&mysql)), Decision::Inject(_)));
    assert_eq!(after_execute(&mut connect(&mariadb)), Decision::Forward);
}

#[test]
fn quotes_of_names_stay_as_they_were_set() {
    let engine = engine_of(&MYSQL, || 0);
    let mut talk = connect(&engine);
    talk.run("SET sql_mode = 'ANSI_QUOTES'", AUTOCOMMIT);
    const CALL: &str = "SELECT v, \"f\"() FROM t WHERE w = 1";
    talk.read(CALL, "two", AUTOCOMMIT);
    assert!(!talk.is_served(CALL), "a stored function may be called");
}

#[test]
fn the_question_of_a_new_client_leaves_its_session_as_it_was() {
    let engine = engine_of(&MYSQL, || 0);
    let mut talk = connect(&engine);
    talk.read(READ, "one", AUTOCOMMIT);
    let mut other = connect(&engine);
    other.ask("select $$");
    other.reply(&wire::ErrPacket::build(1, 1064, b"42000", "You have an error in your SQL syntax"));
    assert!(other.is_served(READ));
}

#[test]
fn a_statement_is_prepared_as_the_server_knows_it() {
    let engine = engine_of(&MYSQL, || 0);
    let mut talk = connect(&engine);
    let mut prepared_as = |text: &str| {
        let mut packet = Vec::new();
        wire::push_packet(&mut packet, &mut 0, &[b"\x16", text.as_bytes()].concat());
        match talk.session.on_command(&engine, &packet, &mut talk.client) {
            Decision::Replace(other) => String::from_utf8_lossy(&other[5..]).into_owned(),
            Decision::Forward => text.to_owned(),
            decision => panic!("{decision:?}"),
        }
    };
    assert_eq!(prepared_as("SELECT SQL_CACHE v FROM t"), "SELECT           v FROM t");
    assert_eq!(prepared_as("RESET QUERY CACHE"), MYSQL.statements.query_cache_test.unwrap());
    assert_eq!(prepared_as("SELECT v FROM t"), "SELECT v FROM t");
}

/// Privileges have changed since the session chose its database. When the server returns from another database, it
/// looks them up again, so results are shared only as long as no statement has made it do that.
#[test]
fn what_runs_no_routine_leaves_what_is_granted_as_it_was() {
    let engine = engine_of(&MYSQL, || 0);
    let mut talk = connect(&engine);
    engine.settings().begin_change();
    engine.settings().note_grants();
    engine.settings().end_change();
    let stays = |talk: &mut Talk, text: &str| {
        let asks = |talk: &mut Talk| {
            let is_served = talk.is_served(READ);
            if !is_served {
                talk.session.report(&engine, talk::locked(b"t", true));
                talk.reply(&talk::rows("one", AUTOCOMMIT));
            }
            is_served
        };
        asks(talk);
        while matches!(talk.ask(text), Decision::Inject(_)) {
            talk.reply(&talk::rows("1", AUTOCOMMIT));
        }
        let has_rows = ["SELECT", "SHOW", "EXPLAIN"].iter().any(|word| text.starts_with(word));
        talk.reply(&if has_rows { talk::rows("1", AUTOCOMMIT) } else { wire::ok_packet(1, 0, 0, AUTOCOMMIT, 0) });
        asks(talk)
    };
    for text in [
        "SHOW GLOBAL STATUS LIKE 'Qcache_hits'",
        "SHOW VARIABLES LIKE 'sql_mode'",
        "SHOW WARNINGS",
        "SELECT 2",
        "SELECT NOW(), @@version, COUNT(*) FROM performance_schema.threads",
        "SET @a = (SELECT MAX(v) FROM t)",
        "DO 1",
        "SAVEPOINT s",
    ] {
        assert!(stays(&mut talk, text), "{text}");
    }
    for text in [
        "SELECT f()",
        "SELECT `now`()",
        "SELECT now ()",
        "SHOW STATUS WHERE Value = f()",
        "SHOW CREATE PROCEDURE p",
        "SHOW TABLE STATUS",
        "SELECT table_comment FROM information_schema.tables",
        "SELECT a FROM sys.version",
        "EXPLAIN SELECT 1",
        "UPDATE u SET v = 1",
    ] {
        assert!(!stays(&mut talk, text), "{text}");
    }
    engine.catalogue().note_no_triggers(engine.catalogue().generation());
    assert!(stays(&mut talk, "UPDATE u SET v = 1"), "where there are no triggers");
    assert!(!stays(&mut talk, "UPDATE u SET v = f()"), "where there are no triggers");
    engine.catalogue().invalidate();
    assert!(!engine.catalogue().has_no_triggers());
}
