//! One connection seen from outside: commands go in, decisions come out. The server's part is played by prepared
//! packets.

mod talk;

use session::{ContextReason, Decision, Definition, InitialState, Reply, Verdict, ViewName, Views};
use std::sync::atomic::{AtomicU64, Ordering};
use talk::*;
use wire::{ErrPacket, ok_packet};

const READ: &str = "SELECT v FROM t WHERE id = 1";

#[test]
fn a_repeated_read_is_served_to_every_session_of_the_account() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ) && b.is_served(READ));
    assert_eq!(b.client.0, rows("one", AUTOCOMMIT));
}

#[test]
fn a_hit_stays_one_when_it_becomes_known_who_has_several_hosts() {
    let engine = engine();
    let mut a = connect(&engine);
    a.read(READ, "one", AUTOCOMMIT);
    engine.settings().note_hosts(engine.settings().inherited());
    assert!(a.is_served(READ), "its identity has changed");
    let mut b = connect_from(&engine, b"10.0.0.2");
    assert!(!b.is_served(READ), "an address was not told apart while nobody knew");
    b.reply(&rows("one", AUTOCOMMIT));
    a.read("SELECT v FROM t WHERE id = 2", "two", AUTOCOMMIT);
    a.read("SELECT v FROM t WHERE id = 2", "two", AUTOCOMMIT);
    assert!(b.is_served("SELECT v FROM t WHERE id = 2"), "since its last miss it shares with other addresses");
}

#[test]
fn a_write_makes_the_read_run_again() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    b.write("UPDATE t SET v = 'two'", AUTOCOMMIT);
    assert!(!a.is_served(READ));
}

#[test]
fn nothing_is_served_while_a_write_is_in_flight() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    b.ask("UPDATE t SET v = 'two'");
    b.session.report(&engine, locked(b"t", false));
    assert!(!a.is_served(READ));
}

#[test]
fn a_commit_closes_what_its_transaction_has_written() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    b.run("START TRANSACTION READ WRITE", IN_TRANS);
    b.write("UPDATE t SET v = 'two'", IN_TRANS);
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ), "nothing has been committed");
    assert!(!b.is_served(READ), "the transaction sees its own write");
    b.reply(&rows("two", IN_TRANS));
    assert_eq!(b.ask("COMMIT"), Decision::Forward);
    assert!(!a.is_served(READ), "the commit is on its way");
    b.reply(&ok_packet(1, 0, 0, AUTOCOMMIT, 0));
    assert!(!a.is_served(READ), "the commit has happened");
}

#[test]
fn a_result_is_not_stored_if_its_table_changed_meanwhile() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    assert_eq!(a.ask(READ), Decision::Forward);
    a.session.report(&engine, locked(b"t", true));
    b.write("UPDATE t SET v = 'two'", AUTOCOMMIT);
    a.reply(&rows("one", AUTOCOMMIT));
    assert!(!a.is_served(READ));
}

#[test]
fn a_deferred_begin_opens_the_snapshot_at_the_first_served_read() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served("BEGIN"));
    assert_eq!(a.client.0, ok_packet(1, 0, 0, IN_TRANS, 0));
    let Decision::Inject(first) = a.ask(READ) else { panic!("the server must open its snapshot") };
    assert_eq!(first, packet("START TRANSACTION WITH CONSISTENT SNAPSHOT"));
    assert_eq!(a.reply(&ok_packet(1, 0, 0, IN_TRANS, 0)), Reply::Swallow);
    assert!(a.is_served(READ));
    assert_eq!(a.client.0, rows("one", IN_TRANS), "the flags are this session's own");
    b.write("UPDATE t SET v = 'two'", AUTOCOMMIT);
    b.read(READ, "two", AUTOCOMMIT);
    assert!(!a.is_served(READ), "newer than the snapshot");
    assert!(b.is_served(READ));
}

#[test]
fn a_snapshot_that_may_be_open_is_as_old_as_what_may_have_opened_it() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served("BEGIN"));
    assert_eq!(a.ask("SET @a = 1"), Decision::Inject(packet("BEGIN")));
    assert_eq!(a.reply(&ok_packet(1, 0, 0, IN_TRANS, 0)), Reply::Swallow);
    a.run("SET @a = 1", IN_TRANS);
    assert!(!a.is_served(READ), "the server's snapshot may not be open");
    a.session.report(&engine, locked(b"t", true));
    assert_eq!(a.reply(&rows("one", IN_TRANS)), Reply::Send);
    assert!(a.is_served(READ), "it has read a row");
    b.write("UPDATE t SET v = 'two'", AUTOCOMMIT);
    b.read(READ, "two", AUTOCOMMIT);
    assert!(!a.is_served(READ), "newer than the snapshot");
}

#[test]
fn a_deferred_begin_reaches_the_server_before_a_write() {
    let engine = engine();
    let mut a = connect(&engine);
    assert!(a.is_served("BEGIN"));
    assert_eq!(a.ask("UPDATE t SET v = 'two'"), Decision::Inject(packet("BEGIN")));
    assert_eq!(a.reply(&ok_packet(1, 0, 0, IN_TRANS, 0)), Reply::Swallow);
    a.write("UPDATE t SET v = 'two'", IN_TRANS);
}

#[test]
fn read_committed_is_served_in_transactions_but_for_own_writes() {
    let engine = engine();
    let mut a = connect_at(&engine, READ_COMMITTED);
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served("BEGIN") && a.is_served(READ));
    assert!(matches!(a.ask("UPDATE t SET v = 'two'"), Decision::Inject(_)));
    a.reply(&ok_packet(1, 0, 0, IN_TRANS, 0));
    a.write("UPDATE t SET v = 'two'", IN_TRANS);
    assert!(!a.is_served(READ));
}

#[test]
fn settings_that_change_results_divide_sessions() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    b.run("SET time_zone = '+03:00'", AUTOCOMMIT);
    assert!(!b.is_served(READ));
    b.session.report(&engine, locked(b"t", true));
    b.reply(&rows("three", AUTOCOMMIT));
    assert!(b.is_served(READ) && a.is_served(READ));
    a.run("SET time_zone = '+03:00'", AUTOCOMMIT);
    assert!(a.is_served(READ));
    assert_eq!(a.client.0, rows("three", AUTOCOMMIT), "the same settings share");
}

#[test]
fn found_rows_after_a_served_read_are_told_to_the_server_first() {
    let engine = engine();
    let mut a = connect(&engine);
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ));
    assert!(matches!(a.ask("SELECT FOUND_ROWS()"), Decision::Inject(_)));
    assert_eq!(a.reply(&rows("1", AUTOCOMMIT)), Reply::Swallow);
    assert_eq!(a.ask("SELECT FOUND_ROWS()"), Decision::Forward);
}

/// After a read that fails once it has sent rows, the server's FOUND_ROWS() counts these rows. If it fails before,
/// FOUND_ROWS() is still that of the read before it, which the server may not have seen.
#[test]
fn found_rows_of_a_served_read_are_told_after_one_that_fails_before_it_begins() {
    let half = &rows("one", AUTOCOMMIT)[..];
    let columns = half.len() - wire::packets(half).last().map_or(0, |end| end.payload.len() + 4);
    let error = |sequence| ErrPacket::build(sequence, 1690, b"22003", "out of range");
    let begun = [&half[..columns], &error(5)].concat();
    for (answer, is_state_known) in [(error(1), true), (begun, false)] {
        let engine = engine();
        let mut a = connect(&engine);
        a.read(READ, "one", AUTOCOMMIT);
        assert!(a.is_served(READ));
        assert_eq!(a.ask("SELECT v - 3 FROM t"), Decision::Forward);
        assert_eq!(a.reply(&answer), Reply::Send);
        assert_eq!(matches!(a.ask("SELECT FOUND_ROWS()"), Decision::Inject(_)), is_state_known);
    }
}

#[test]
fn a_statement_that_is_not_understood_closes_everything() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    b.ask("FROBNICATE t");
    assert!(!a.is_served(READ));
}

#[test]
fn a_statement_refused_for_its_syntax_leaves_the_cache_alone() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    b.ask("FROBNICATE t");
    b.reply(&wire::ErrPacket::build(1, 1064, b"42000", "You have an error in your SQL syntax"));
    assert!(a.is_served(READ));
}

#[test]
fn a_connection_that_ends_in_mid_commit_lets_go_of_its_tables() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    b.run("START TRANSACTION READ WRITE", IN_TRANS);
    b.write("UPDATE t SET v = 'two'", IN_TRANS);
    b.ask("COMMIT");
    b.session.close(&engine);
    a.read(READ, "two", AUTOCOMMIT);
    assert!(a.is_served(READ));
}

#[test]
fn results_with_warnings_are_not_stored() {
    let engine = engine();
    let mut a = connect(&engine);
    assert_eq!(a.ask(READ), Decision::Forward);
    a.session.report(&engine, locked(b"t", true));
    let mut response = rows("one", AUTOCOMMIT);
    let warnings_at = response.len() - 4;
    response[warnings_at] = 1;
    a.reply(&response);
    assert!(!a.is_served(READ));
}

#[test]
fn results_of_views_are_stored_once_their_definitions_are_known() {
    let engine = engine();
    let mut a = connect(&engine);
    let publish = |name: &[u8]| {
        let name = ViewName { db: b"d".to_vec(), name: name.to_vec() };
        engine.catalogue().publish(Views::new(engine.catalogue().generation(), false, [name]));
        engine.catalogue().views().unwrap()
    };
    publish(b"v");
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ), "its column has the name of a view");
    for against in [None, Some(ContextReason::ViewFunction)] {
        let (read, mut b) = ("SELECT v FROM t AS x", connect(&engine));
        let views = publish(b"t");
        b.read(read, "one", AUTOCOMMIT);
        assert!(!b.is_served(read), "the view is unknown");
        let asked = views.take_requested_definitions();
        assert_eq!(asked.len(), 1);
        views.set_definition(&asked[0], Definition { against, views: Vec::new() });
        b.reply(&rows("one", AUTOCOMMIT));
        b.read(read, "one", AUTOCOMMIT);
        assert_eq!(b.is_served(read), against.is_none());
        engine.cache().clear();
    }
}

#[test]
fn a_reset_drops_results_that_wait_for_what_is_known_of_their_table() {
    for is_reset in [false, true] {
        let engine = engine();
        let mut a = connect(&engine);
        assert_eq!(a.ask("SELECT v FROM w"), Decision::Forward);
        a.session.report(&engine, locked(b"w", true));
        assert_eq!(a.reply(&rows("one", AUTOCOMMIT)), Reply::Send);
        if is_reset {
            a.run("RESET QUERY CACHE", AUTOCOMMIT);
        }
        let table = engine.tables().find(engine.versions(), b"d", b"w");
        let era = table.era(engine.catalogue().generation());
        table.set_verdict(era, Verdict::Snapshot);
        table.set_key(era, Some(key()));
        engine.store_late_results(1);
        assert_eq!(engine.cache().stats().entries, u64::from(!is_reset));
    }
}

#[test]
fn a_read_whose_result_waited_is_counted_by_its_session_too() {
    for (verdict, told) in [
        (Some(Verdict::Snapshot), ["Inserts of this connection\x011", "Not cached of this connection\x010"]),
        (Some(Verdict::Sequence), ["Not cached of this connection\x011", "not cached\x08sequence"]),
        (None, ["Not cached of this connection\x011", "not cached\x07changed"]),
    ] {
        let engine = engine();
        let mut a = connect(&engine);
        assert_eq!(a.ask("SELECT v FROM w"), Decision::Forward);
        a.session.report(&engine, locked(b"w", true));
        assert_eq!(a.reply(&rows("one", AUTOCOMMIT)), Reply::Send);
        let table = engine.tables().find(engine.versions(), b"d", b"w");
        match verdict {
            Some(verdict) => table.set_verdict(table.era(engine.catalogue().generation()), verdict),
            None => engine.drop_results(),
        }
        engine.store_late_results(1);
        // The server only decides whether the account may see the report.
        assert!(matches!(a.ask("SHOW FQC STATUS"), Decision::Replace(_)));
        let Reply::Replace(status) = a.reply(&rows("one", AUTOCOMMIT)) else { panic!("no report") };
        let status = String::from_utf8_lossy(&status);
        assert!(told.iter().all(|words| status.contains(words)), "{verdict:?}: {status}");
    }
}

#[test]
fn a_read_under_set_transaction_runs_on_the_server() {
    let engine = engine();
    let mut a = connect(&engine);
    a.read(READ, "one", AUTOCOMMIT);
    a.run("SET TRANSACTION READ ONLY", AUTOCOMMIT);
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ), "the read has used it up");
}

/// Sends reads of one shape that never repeat, until hardly any result of that shape is stored.
fn grow_poor(talk: &mut Talk) {
    talk.engine.settings().set_adapts(true);
    for number in 0..40_000 {
        talk.read(&format!("SELECT v FROM t WHERE w = {number}"), "1", AUTOCOMMIT);
        if number % 10_000 == 0 {
            talk.engine.tick();
        }
    }
    talk.engine.tick();
}

#[test]
fn of_a_shape_that_is_hardly_found_some_are_not_even_looked_up() {
    let engine = engine();
    let mut talk = connect(&engine);
    grow_poor(&mut talk);
    let mut cold = 1_000_000..;
    let mut served = |talk: &mut Talk| {
        talk.read(&format!("SELECT v FROM t WHERE w = {}", cold.next().unwrap()), "1", AUTOCOMMIT);
        let is_served = talk.is_served("SELECT v FROM t WHERE w = 7");
        if !is_served {
            talk.session.report(talk.engine, locked(b"t", true));
            talk.reply(&rows("1", AUTOCOMMIT));
        }
        is_served
    };
    assert!((0..1000).any(|_| served(&mut talk)), "a few are stored and looked up");
    let hits = (0..400).filter(|_| served(&mut talk)).count();
    assert!((50..350).contains(&hits), "{hits}");
    assert_eq!(engine.counts().misses.sum(), engine.counts().not_cached.sum() + engine.counts().inserts.sum());
}

#[test]
fn a_read_that_is_passed_over_changes_no_facts_unless_something_ran_inside() {
    let engine = engine();
    let mut talk = connect(&engine);
    grow_poor(&mut talk);
    let mut number = 1_000_000;
    let mut told = |inside: &[&str]| {
        number += 1;
        let text = format!("SELECT v FROM t WHERE w = {number}");
        assert_eq!(talk.ask(&text), Decision::Forward);
        talk.session.report(&engine, session::Report::Statement { text: text.as_bytes() });
        inside
            .iter()
            .for_each(|text| talk.session.report(&engine, session::Report::Statement { text: text.as_bytes() }));
        talk.session.report(&engine, locked(b"t", true));
        talk.reply(&rows("1", AUTOCOMMIT));
        talk.session.expects_end(&engine, false)
    };
    let plain = (0..200).filter(|_| told(&[])).count();
    assert!((1..20).contains(&plain), "only those that are stored: {plain}");
    assert_eq!((0..200).filter(|_| told(&["SET @a = 1"])).count(), 200);
}

#[test]
fn the_server_is_asked_for_the_database_where_another_may_have_been_chosen() {
    let engine = engine();
    let mut talk = connect(&engine);
    let is_asked = |talk: &mut Talk, text: &str| {
        talk.run(text, AUTOCOMMIT);
        talk.session.expects_database(&engine)
    };
    let tell = |talk: &mut Talk, database| {
        talk.session.report(&engine, ended(session::SessionState { database, ..state() }));
    };
    for text in ["UPDATE t SET v = 1", "SELECT v FROM t", "COMMIT"] {
        assert!(!is_asked(&mut talk, text), "{text}");
        tell(&mut talk, None);
    }
    for text in ["USE e", "CALL p()", "DROP DATABASE e", "CREATE TABLE u (a INT)", "DO 1; USE d"] {
        assert!(is_asked(&mut talk, text), "{text}");
        tell(&mut talk, Some(b"d"));
    }
    // The server has reported the state after the first of the two statements only.
    assert!(talk.session.expects_database(&engine));
    tell(&mut talk, Some(b"e"));
    assert!(is_asked(&mut talk, "SELECT v FROM t"));
    tell(&mut talk, Some(b"e"));
    assert!(!is_asked(&mut talk, "SELECT v FROM t"));
}

#[test]
fn what_is_learned_of_beginnings_holds_for_those_that_began_before() {
    let engine = engine();
    let mut a = connect_unmet(&engine);
    assert!(matches!(a.ask(READ), Decision::Inject(_)), "it would have to be asked");
    let mut b = connect_unmet(&engine);
    let initial_side_effects = InitialState { parses_as_usual: true, ..InitialState::default() };
    engine.settings().note_initial_state(engine.settings().inherited(), initial_side_effects);
    b.read(READ, "one", AUTOCOMMIT);
    assert!(b.is_served(READ));
}

#[test]
fn what_the_server_answers_is_counted_by_how_long_it_took_and_what_is_served_as_instant() {
    static CLOCK_NS: AtomicU64 = AtomicU64::new(0);
    let engine = engine_at(|| CLOCK_NS.load(Ordering::Relaxed));
    let mut a = connect(&engine);
    let answered = || {
        let counts = engine.counts();
        let within = counts.durations.within(counts.hits.sum());
        (within[0], within[5], within[session::BOUNDS_US.len()])
    };
    let before = answered();
    assert_eq!(a.ask(READ), Decision::Forward);
    a.session.report(&engine, locked(b"t", true));
    CLOCK_NS.fetch_add(4_000_000, Ordering::Relaxed);
    a.session.report(&engine, ended(state()));
    a.reply(&rows("one", AUTOCOMMIT));
    let first = answered();
    assert_eq!((first.0 - before.0, first.1 - before.1, first.2 - before.2), (0, 1, 1), "within 5 ms, not 100 us");
    assert!(a.is_served(READ) && a.is_served(READ));
    let second = answered();
    assert_eq!((second.0 - first.0, second.1 - first.1, second.2 - first.2), (2, 2, 2));
    engine.counts().flush();
    assert_eq!(answered(), (0, 0, 0));
}
