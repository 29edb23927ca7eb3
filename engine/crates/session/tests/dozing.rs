//! A connection that is used while the engine is in light mode ("dozing"), and afterwards.

mod talk;

use session::{Decision, EarlierStatements, Engine, Report};
use talk::*;
use wire::ok_packet;

const READ: &str = "SELECT v FROM t WHERE id = 1";
const OFF: u16 = 0;

/// Wakes the engine as the host does: decides that nothing was missed in the last light mode, and looks up the tables
/// again.
fn wake(engine: &Engine) {
    wake_as(engine, false);
}

/// Wakes the engine as the host does. `is_lost` is the host's decision whether sessions may have done something in the
/// last light mode that was missed.
fn wake_as(engine: &Engine, is_lost: bool) {
    let past = EarlierStatements::wake(engine);
    engine.mode().judge_last_light_mode(is_lost);
    past.end(engine);
    let generation = engine.catalogue().generation();
    engine.catalogue().publish(session::Views::new(generation, false, []));
    for name in [b"t", b"u"] {
        let table = engine.tables().find(engine.versions(), b"d", name);
        table.set_verdict(table.era(generation), session::Verdict::Snapshot);
    }
}

/// Sends a statement that is forwarded unexamined, and answers it with these status flags. The server reports nothing
/// about it.
fn pass(talk: &mut Talk, text: &str, flags: u16) {
    assert_eq!(talk.ask(text), Decision::Forward, "{text}");
    talk.reply(&ok_packet(1, 1, 0, flags, 0));
}

/// Runs the session's first statement after the engine woke, and reports the session's state at its end.
fn tell(talk: &mut Talk) {
    talk.run("DO 1", AUTOCOMMIT);
    talk.session.report(talk.engine, ended(state()));
}

#[test]
fn nothing_is_served_in_a_doze_and_old_sessions_are_served_after_it() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    assert!(b.is_served(READ));
    engine.enter_light_mode();
    assert!(!a.is_served(READ) && !b.is_served("INSERT INTO t VALUES (3, 'c')"));
    pass(&mut b, "BEGIN", IN_TRANS);
    pass(&mut b, "UPDATE t SET v = 'two'", IN_TRANS);
    pass(&mut b, "COMMIT", AUTOCOMMIT);
    wake(&engine);
    tell(&mut a);
    tell(&mut b);
    assert!(!a.is_served(READ), "what was stored before is gone");
    a.reply(&rows("two", AUTOCOMMIT));
    a.read(READ, "two", AUTOCOMMIT);
    assert!(a.is_served(READ) && b.is_served(READ), "both have been followed all the time");
}

#[test]
fn a_transaction_that_wrote_while_unfollowed_closes_everything_when_it_ends() {
    for end in ["COMMIT", "BEGIN", "CREATE TABLE x (a INT)", "SET autocommit = 1"] {
        let engine = engine();
        let (mut a, mut b) = (connect(&engine), connect(&engine));
        engine.enter_light_mode();
        pass(&mut b, "BEGIN", IN_TRANS);
        pass(&mut b, "UPDATE t SET v = 'two'", IN_TRANS);
        wake(&engine);
        tell(&mut a);
        a.read(READ, "one", AUTOCOMMIT);
        assert!(a.is_served(READ), "nothing has been committed");
        assert!(!b.is_served(READ), "in its transaction another value may be true");
        b.session.report(&engine, locked(b"t", true));
        b.reply(&rows("two", IN_TRANS));
        b.session.report(&engine, ended(state()));
        assert!(a.is_served(READ) && a.client.0 == rows("one", AUTOCOMMIT), "its own value was stored");
        assert_eq!(b.ask(end), Decision::Forward);
        assert!(!a.is_served(READ), "{end}: the commit is on its way");
        a.reply(&rows("one", AUTOCOMMIT));
        b.reply(&ok_packet(1, 0, 0, AUTOCOMMIT, 0));
        assert!(!a.is_served(READ), "{end}: it has been committed");
        a.reply(&rows("two", AUTOCOMMIT));
        a.read(READ, "two", AUTOCOMMIT);
        assert!(a.is_served(READ));
    }
}

#[test]
fn an_error_does_not_tell_that_no_transaction_is_open() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    engine.enter_light_mode();
    pass(&mut b, "BEGIN", IN_TRANS);
    pass(&mut b, "UPDATE t SET v = 'two'", IN_TRANS);
    wake(&engine);
    tell(&mut a);
    assert_eq!(b.ask("SELECT nothing FROM t"), Decision::Forward);
    b.reply(&wire::ErrPacket::build(1, 1054, b"42S22", "Unknown column"));
    a.read(READ, "one", AUTOCOMMIT);
    b.ask("COMMIT");
    assert!(!a.is_served(READ));
}

#[test]
fn what_a_session_sets_in_a_doze_counts_after_it() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    engine.enter_light_mode();
    pass(&mut b, "SET time_zone = '+01:00'", AUTOCOMMIT);
    pass(&mut b, READ, AUTOCOMMIT);
    wake(&engine);
    tell(&mut a);
    tell(&mut b);
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ));
    assert!(!b.is_served(READ), "it has another time zone");
}

#[test]
fn a_session_with_temporary_tables_from_a_doze_is_not_served() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    engine.enter_light_mode();
    pass(&mut b, "CREATE TEMPORARY TABLE t (id INT)", AUTOCOMMIT);
    wake(&engine);
    tell(&mut a);
    tell(&mut b);
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ) && !b.is_served(READ));
}

/// Returns whether a session is not served any more after it has sent this statement in light mode.
fn rests(text: &str) -> bool {
    let engine = engine();
    let mut b = connect(&engine);
    engine.enter_light_mode();
    let decision = b.ask(text);
    let rests = b.session.is_unserved();
    assert!(rests || decision == Decision::Forward, "{text}");
    rests
}

#[test]
fn what_may_run_a_stored_program_makes_its_session_rest() {
    for text in [
        "CALL p()",
        "EXECUTE s",
        "BEGIN NOT ATOMIC SET @a = 1; END",
        "LOCK TABLES t WRITE",
        "XA START 'x'",
        "USE sys",
        "SELECT sys.format_bytes(v) FROM t",
        "INSERT INTO t SELECT * FROM `SYS`.version",
        "SELECT 1; CALL p()",
        "anything",
    ] {
        assert!(rests(text), "{text}");
    }
    for text in [
        "SELECT v FROM sys_user",
        "SELECT v, 'sys' FROM t;",
        "UPDATE t SET v = f(1)",
        "SELECT 1; SELECT 2",
        "SHOW TABLES",
        "SAVEPOINT a",
        "/* who */ SELECT 1",
        "WITH c AS (SELECT 1) SELECT * FROM c",
        "SET @@sql_mode = CONCAT(@@sql_mode, '')",
    ] {
        assert!(!rests(text), "{text}");
    }
}

#[test]
fn a_session_in_the_schema_that_is_left_out_rests() {
    let engine = engine();
    let mut b = connect(&engine);
    b.run("USE sys", AUTOCOMMIT);
    b.session.report(&engine, ended(session::SessionState { database: Some(b"sys"), ..state() }));
    engine.enter_light_mode();
    b.ask(READ);
    assert!(b.session.is_unserved());
}

#[test]
fn where_stored_programs_were_made_in_a_doze_those_who_worked_in_it_rest() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    engine.enter_light_mode();
    pass(&mut b, READ, AUTOCOMMIT);
    wake_as(&engine, true);
    a.ask(READ);
    b.ask(READ);
    assert!(!a.session.is_unserved() && b.session.is_unserved());
}

#[test]
fn a_doze_that_becomes_sleep_is_not_followed_to_its_end() {
    let engine = engine();
    let mut b = connect(&engine);
    engine.enter_light_mode();
    pass(&mut b, READ, AUTOCOMMIT);
    engine.suspend();
    EarlierStatements::wake(&engine).end(&engine);
    b.ask(READ);
    assert!(b.session.is_unserved());
}

#[test]
fn a_statement_that_spans_a_doze_is_followed_if_its_text_says_all() {
    for (text, rests) in [("UPDATE u SET v = 1", false), ("CALL p()", true), ("UPDATE u SET v = sys.f()", true)] {
        let engine = engine();
        let (mut a, mut b) = (connect(&engine), connect(&engine));
        b.run("BEGIN NOT ATOMIC END", AUTOCOMMIT);
        b.run("START TRANSACTION READ WRITE", IN_TRANS);
        b.ask(text);
        engine.enter_light_mode();
        // The table of this statement is locked now, but nothing is reported about it.
        let past = EarlierStatements::wake(&engine);
        b.reply(&ok_packet(1, 1, 0, IN_TRANS, 0));
        engine.mode().judge_last_light_mode(false);
        past.end(&engine);
        tell(&mut a);
        b.ask("COMMIT");
        assert_eq!(b.session.is_unserved(), rests, "{text}");
        // If the session is not served, its statements are followed through the server's reports.
        assert_eq!(engine.versions().is_open(cache_everything()), rests, "{text}");
    }
}

fn cache_everything() -> cache::CellId {
    cache::Versions::EVERYTHING
}

#[test]
fn a_statement_that_was_sent_in_a_doze_and_is_told_of_after_it_leaves_nothing_closed() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    engine.enter_light_mode();
    assert_eq!(b.ask("UPDATE t SET v = 'two'"), Decision::Forward);
    wake(&engine);
    tell(&mut a);
    b.session.report(&engine, Report::Statement { text: b"UPDATE t SET v = 'two'" });
    b.session.report(&engine, locked(b"t", false));
    assert!(!a.is_served(READ));
    a.reply(&rows("one", AUTOCOMMIT));
    b.reply(&ok_packet(1, 1, 0, AUTOCOMMIT, 0));
    b.session.report(&engine, ended(state()));
    a.read(READ, "two", AUTOCOMMIT);
    assert!(a.is_served(READ));
}

#[test]
fn what_the_server_was_not_told_it_is_told_before_anything_passes() {
    let engine = engine();
    let mut b = connect(&engine);
    assert_eq!(b.ask("BEGIN"), Decision::Answered);
    engine.enter_light_mode();
    assert_eq!(b.ask("UPDATE t SET v = 2"), Decision::Inject(packet("BEGIN")));
    b.reply(&ok_packet(1, 0, 0, IN_TRANS, 0));
    assert_eq!(b.ask("UPDATE t SET v = 2"), Decision::Forward);
    assert_eq!(b.ask("BEGIN"), Decision::Forward, "in a doze none is answered without the server");
}

#[test]
fn with_autocommit_off_a_transaction_is_unfollowed_until_one_has_ended() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    b.run("SET autocommit = 0", OFF);
    engine.enter_light_mode();
    pass(&mut b, "UPDATE t SET v = 'two'", wire::status::IN_TRANS);
    wake(&engine);
    tell(&mut a);
    a.read(READ, "one", AUTOCOMMIT);
    b.ask("COMMIT");
    assert!(!a.is_served(READ));
    a.reply(&rows("one", AUTOCOMMIT));
    b.reply(&ok_packet(1, 0, 0, OFF, 0));
    a.read(READ, "two", AUTOCOMMIT);
    b.ask("UPDATE u SET v = 1");
    b.session.report(&engine, locked(b"u", false));
    b.reply(&ok_packet(1, 1, 0, wire::status::IN_TRANS, 0));
    b.ask("COMMIT");
    assert!(a.is_served(READ), "what this one has written is known: another table");
}

#[test]
fn an_execution_with_many_rows_of_parameters_is_not_followed_while_asleep() {
    let engine = engine();
    let mut b = connect(&engine);
    engine.suspend();
    let mut packet = Vec::new();
    wire::push_packet(&mut packet, &mut 0, &[0xfa, 1, 0, 0, 0, 0, 0]);
    b.session.on_command(&engine, &packet, &mut b.client);
    assert!(b.session.is_unserved());
}
