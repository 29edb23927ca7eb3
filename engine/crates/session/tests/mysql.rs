//! What a session does otherwise where the server is MySQL.

mod talk;

use flavour::{MARIADB, MYSQL};
use session::Decision;
use talk::{AUTOCOMMIT, Talk, connect, engine_of};

const READ: &str = "SELECT v FROM t WHERE w = 1";

/// What the server gets for a read after a statement that may have set anything.
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
