//! What near caches learn about results of the connections that they have marked.

mod talk;

use feed::{CommandReport, Frame, FromNear, NearId, ToNear};
use session::{Decision, Definition, Engine, Reply, SessionState, Verdict, ViewName, Views};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use talk::*;

const READ: &str = "SELECT v FROM t WHERE id = 1";
const OF_VIEW: &str = "SELECT v FROM u AS x";

/// Attaches a near cache (a cache next to clients, which serves results under a lease) that uses this version of the
/// protocol. Returns its number.
fn attached(engine: &Engine, version: u16) -> NearId {
    attached_with(engine, version, Arc::new(|| {}))
}

/// Attaches a near cache that uses this version of the protocol, and returns its number. The engine calls `waker` when
/// it has something to send to the near cache.
fn attached_with(engine: &Engine, version: u16, waker: Arc<dyn Fn() + Send + Sync>) -> NearId {
    let mut feed = connect(engine);
    feed.ask(&format!("ATTACH FQC NEAR 'near' PROTOCOL {version}"));
    feed.reply(&wire::ok_packet(1, 0, 0, AUTOCOMMIT, 0));
    let id = feed.session.feed().flatten().expect("it is attached");
    engine.begin_feed(id, waker);
    id
}

/// Has the near cache request reports on this connection (mark it). The engine ignores that unless `scramble` is the
/// check value of the connection's greeting.
fn mark_with(talk: &Talk, id: NearId, scramble: u64) {
    let mark = FromNear::Mark { connection: talk.number, scramble };
    talk.engine.receive_from_near(id, &FromNear::encode_all(&[mark])).expect("it is understood");
}

/// Has the near cache request reports on this connection (mark it), with the right check value of its greeting.
fn mark(talk: &Talk, id: NearId) {
    mark_with(talk, id, feed::check_of(&greeting(talk.number)[wire::Header::SIZE..]));
}

/// Opens a new connection, and has the near cache request reports on it.
fn connect_marked(engine: &Engine, id: NearId) -> Talk<'_> {
    let talk = connect(engine);
    mark(&talk, id);
    talk
}

/// Takes the messages that the engine has for this near cache since the last call.
fn messages(engine: &Engine, id: NearId) -> impl Iterator<Item = ToNear> {
    let frames = std::iter::from_fn(move || engine.take_frame(id)).map(|frame| Frame::decode(&frame).expect("a frame"));
    frames.flat_map(|frame| frame.messages)
}

/// Takes the reports for this near cache since the last call, about results and about sessions.
fn all_told(engine: &Engine, id: NearId) -> Vec<CommandReport> {
    messages(engine, id)
        .filter_map(|message| if let ToNear::Report(told) = message { Some(told) } else { None })
        .collect()
}

/// Takes the reports about results for this near cache since the last call. Those about sessions are dropped.
fn told(engine: &Engine, id: NearId) -> Vec<CommandReport> {
    all_told(engine, id).into_iter().filter(|told| !told.is_of_session).collect()
}

/// Changes privileges, as a GRANT does.
fn grant(engine: &Engine) {
    engine.settings().begin_change();
    engine.settings().note_grants();
    engine.settings().end_change();
}

/// Reports that the running statement uses a stored routine. When the server returns from it, it looks up the session's
/// privileges again.
fn meet_routine(talk: &mut Talk) {
    let routines = session::Report::Locked { db: b"mysql", name: b"proc", is_read_only: true };
    talk.session.report(talk.engine, routines);
}

#[test]
fn of_a_read_that_makes_its_session_another_one_nothing_is_told() {
    let engine = engine();
    let name = ViewName { db: b"d".to_vec(), name: b"u".to_vec() };
    engine.catalogue().publish(Views::new(engine.catalogue().generation(), false, [name]));
    let views = engine.catalogue().views().expect("they are known");
    let mut a = connect(&engine);
    a.read(OF_VIEW, "one", AUTOCOMMIT);
    let asked = views.take_requested_definitions();
    views.set_definition(&asked[0], Definition { against: None, views: Vec::new() });
    let near = attached(&engine, feed::VERSION);
    mark(&a, near);
    a.read(OF_VIEW, "one", AUTOCOMMIT);
    assert_eq!(told(&engine, near).len(), 1, "it can be told of");
    grant(&engine);
    engine.drop_results();
    // The result is stored, but the session goes on with the new privileges.
    a.ask(OF_VIEW);
    meet_routine(&mut a);
    a.session.report(&engine, locked(b"t", true));
    assert_eq!(a.reply(&rows("one", AUTOCOMMIT)), Reply::Send);
    assert_eq!(engine.cache().stats().entries, 1);
    assert_eq!(told(&engine, near), []);
}

#[test]
fn that_it_holds_over_preparations_is_told_while_privileges_are_as_at_the_login() {
    for version in [1, feed::VERSION] {
        let engine = engine();
        let near = attached(&engine, version);
        let (mut a, mut b) = (connect_marked(&engine, near), connect_marked(&engine, near));
        let holds = |talk: &mut Talk, is_served| {
            match is_served {
                true => assert!(talk.is_served(READ)),
                false => talk.read(READ, "one", AUTOCOMMIT),
            }
            let told = told(&engine, near);
            assert_eq!(told.len(), 1);
            told[0].holds_over_preparations
        };
        assert_eq!([holds(&mut a, false), holds(&mut b, true)], [version > 1; 2]);
        grant(&engine);
        assert!(!holds(&mut a, true), "a preparation may make it look up privileges anew");
        assert_eq!(holds(&mut connect_marked(&engine, near), false), version > 1);
    }
}

/// Checks that a near cache of the newest protocol receives the reason why no results are reported, once for each change. An older one,
/// which does not know the message, does not receive it.
#[test]
fn a_near_cache_learns_why_no_results_are_reported_if_its_version_knows_the_message() {
    for version in [4, feed::VERSION] {
        let engine = engine();
        let near = attached(&engine, version);
        let obstacles = || -> Vec<String> {
            let renew = FromNear::encode_all(&[FromNear::Renew { sent: 1 }]);
            (0..2).for_each(|_| engine.receive_from_near(near, &renew).expect("it is valid"));
            let why = |message| if let ToNear::Obstacle { why } = message { Some(why) } else { None };
            messages(&engine, near).filter_map(why).collect()
        };
        let told = |why: &str| if version == feed::VERSION { vec![why.to_owned()] } else { vec![] };
        assert_eq!(obstacles(), told("the server's cache is off"));
        let settings = engine.settings();
        settings.set_size(1 << 20);
        settings.set_global_type(1);
        assert_eq!(obstacles(), told(""));
        settings.set_global_type(0);
        assert_eq!(obstacles(), told("the server's cache is off"));
        settings.set_observes(true);
        assert_eq!(obstacles(), told("the server's cache only observes"));
        assert!(obstacles().is_empty());
        settings.set_global_type(1);
        assert_eq!(obstacles(), told(""));
    }
}

#[test]
fn whoever_moves_the_bytes_of_a_feed_is_woken_once_until_nothing_is_left() {
    let engine = engine();
    let rung = Arc::new(AtomicUsize::new(0));
    let counter = rung.clone();
    let near = attached_with(&engine, feed::VERSION, Arc::new(move || _ = counter.fetch_add(1, Ordering::Relaxed)));
    let rings = || rung.swap(0, Ordering::Relaxed);
    assert_eq!(rings(), 1, "it is attached");
    let mut a = connect_marked(&engine, near);
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ));
    assert_eq!(rings(), 0, "it has not yet taken what there was");
    assert_eq!(told(&engine, near).len(), 2);
    for _ in 0..2 {
        assert!(a.is_served(READ) && a.is_served(READ));
        assert_eq!(rings(), 1);
        assert!(engine.take_frame(near).is_some());
        assert!(a.is_served(READ));
        assert_eq!(rings(), 0, "it goes on taking");
        assert_eq!(told(&engine, near).len(), 1);
    }
}

#[test]
fn a_near_cache_does_not_take_another_ones_connection() {
    let engine = engine();
    let (near, other) = (attached(&engine, feed::VERSION), attached(&engine, feed::VERSION));
    let mut a = connect_marked(&engine, near);
    // The other near cache knows the connection id, but not the greeting.
    mark_with(&a, other, 0);
    a.read(READ, "one", AUTOCOMMIT);
    assert_eq!((told(&engine, near).len(), told(&engine, other).len()), (1, 0));
    engine.detach_near(other);
    assert!(a.is_served(READ));
    assert_eq!(told(&engine, near).len(), 1);
}

#[test]
fn a_near_cache_that_has_lost_its_feed_marks_its_connections_anew() {
    let engine = engine();
    let before = attached(&engine, feed::VERSION);
    let mut a = connect_marked(&engine, before);
    let after = attached(&engine, feed::VERSION);
    mark(&a, after);
    engine.detach_near(before);
    a.read(READ, "one", AUTOCOMMIT);
    assert_eq!(told(&engine, after).len(), 1);
}

#[test]
fn a_payload_that_says_too_much_at_once_ends_the_feed() {
    let engine = engine();
    let near = attached(&engine, feed::VERSION);
    let payload = |count| FromNear::encode_all(&vec![FromNear::Acknowledge { number: 0 }; count]);
    assert!(engine.receive_from_near(near, &payload(64)).is_ok());
    assert!(engine.receive_from_near(near, &payload(65)).is_err());
    let marks: Vec<_> = (0..60_000).map(|connection| FromNear::Mark { connection, scramble: 0 }).collect();
    assert!(engine.receive_from_near(near, &FromNear::encode_all(&marks)).is_ok(), "it may have many connections");
}

#[test]
fn who_has_missed_its_time_may_attach_again_after_a_pause() {
    static NOW: AtomicU64 = AtomicU64::new(0);
    let engine = engine_at(|| NOW.load(Ordering::Relaxed));
    let pass = |ns: u64| _ = NOW.fetch_add(ns, Ordering::Relaxed);
    let near = attached(&engine, feed::VERSION);
    let mut a = connect_marked(&engine, near);
    a.read(READ, "one", AUTOCOMMIT);
    engine.receive_from_near(near, &FromNear::encode_all(&[FromNear::Renew { sent: 0 }])).expect("it is understood");
    // The near cache disappears without saying so, and a writer has to wait for its lease.
    let mut writer = connect(&engine);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            writer.ask("UPDATE t SET v = 2");
            writer.session.report(&engine, locked(b"t", false));
        });
        // The writer must be waiting before the lease expires.
        while !messages(&engine, near).any(|message| matches!(message, ToNear::Closed { .. })) {
            std::thread::yield_now();
        }
        while engine.near_totals().waits == 0 {
            pass(1_000_000);
            std::thread::yield_now();
        }
        waits.join().expect("it goes on");
    });
    let asks = || {
        let mut feed = connect(&engine);
        let decision = feed.ask(&format!("ATTACH FQC NEAR 'near' PROTOCOL {}", feed::VERSION));
        let Decision::Replace(query) = decision else { panic!("{decision:?}") };
        String::from_utf8_lossy(&query).contains("SIGNAL SQLSTATE '45000'")
    };
    assert!(asks(), "it is refused with words");
    assert_eq!(engine.take_begun_pauses().len(), 1, "the log has it");
    pass(1_000_000_000);
    assert!(!asks(), "its pause is over");
}

const OF_U: &str = "SELECT v FROM u WHERE id = 1";

/// Runs a read of this table on the server, and returns the snapshot in the report to the near cache about its result.
fn snapshot_told(talk: &mut Talk, near: NearId, table: &[u8], text: &str, flags: u16) -> Option<u64> {
    assert_eq!(talk.ask(text), Decision::Forward, "{text}");
    talk.session.report(talk.engine, locked(table, true));
    talk.reply(&rows("one", flags));
    let told = told(talk.engine, near);
    assert_eq!(told.len(), 1, "{text}");
    told[0].snapshot
}

/// Lets another session write table `u`, so that the current stamp is a later one.
fn write_u(engine: &Engine) {
    let mut other = connect(engine);
    assert_eq!(other.ask("UPDATE u SET v = 'two'"), Decision::Forward);
    other.session.report(engine, locked(b"u", false));
    other.reply(&wire::ok_packet(1, 1, 0, AUTOCOMMIT, 0));
}

#[test]
fn the_snapshot_of_a_transaction_is_told_until_it_writes() {
    let engine = engine();
    let near = attached(&engine, feed::VERSION);
    let mut a = connect_marked(&engine, near);
    assert_eq!(snapshot_told(&mut a, near, b"t", READ, AUTOCOMMIT), None, "outside");
    let before = engine.versions().now().0;
    a.run("START TRANSACTION READ WRITE", IN_TRANS);
    assert_eq!(snapshot_told(&mut a, near, b"u", OF_U, IN_TRANS), Some(before));
    connect(&engine).write("UPDATE t SET v = 'two' WHERE id = 7", AUTOCOMMIT);
    assert!(a.is_served(OF_U));
    assert_eq!(told(&engine, near)[0].snapshot, Some(before), "it does not change");
    a.write("UPDATE t SET v = 'two' WHERE id = 8", IN_TRANS);
    assert!(a.is_served(OF_U));
    assert_eq!(told(&engine, near)[0].snapshot, None, "a near cache does not know what was written");
    a.run("COMMIT", AUTOCOMMIT);
    assert!(a.is_served(OF_U));
    assert_eq!(told(&engine, near)[0].snapshot, None);
}

#[test]
fn a_read_that_is_served_here_opens_the_snapshot_that_is_told() {
    let engine = engine();
    let near = attached(&engine, feed::VERSION);
    let mut a = connect_marked(&engine, near);
    a.read(READ, "one", AUTOCOMMIT);
    write_u(&engine);
    assert!(a.is_served("BEGIN"));
    assert!(matches!(a.ask(READ), Decision::Inject(_)));
    let before = engine.versions().now().0;
    assert_eq!(a.reply(&wire::ok_packet(1, 0, 0, IN_TRANS, 0)), Reply::Swallow);
    assert!(a.is_served(READ));
    let told = told(&engine, near);
    assert_eq!((told.len(), told[1].snapshot), (2, Some(before)));
    assert!(told[1].stamp < before, "the result is older");
}

#[test]
fn no_snapshot_is_told_before_one_is_certainly_open() {
    let engine = engine();
    let near = attached(&engine, feed::VERSION);
    let mut a = connect_marked(&engine, near);
    a.run("START TRANSACTION READ WRITE", IN_TRANS);
    let before = engine.versions().now().0;
    assert_eq!(snapshot_told(&mut a, near, b"t", "SELECT COUNT(*) FROM t WHERE id = 9", IN_TRANS), None);
    write_u(&engine);
    assert_eq!(snapshot_told(&mut a, near, b"t", READ, IN_TRANS), Some(before), "as of the earliest moment");
}

#[test]
fn with_autocommit_off_the_snapshot_is_told_of_the_transaction_that_a_read_begins() {
    const OFF: u16 = 0;
    let engine = engine();
    let near = attached(&engine, feed::VERSION);
    let mut a = connect_marked(&engine, near);
    a.run("SET autocommit = 0", OFF);
    for read in [READ, "SELECT v FROM t WHERE id = 2"] {
        let now = engine.versions().now().0;
        assert_eq!(snapshot_told(&mut a, near, b"t", read, wire::status::IN_TRANS), Some(now));
        a.run("COMMIT", OFF);
        write_u(&engine);
    }
}

#[test]
fn at_read_committed_each_read_has_a_snapshot_of_its_own() {
    let engine = engine();
    let near = attached(&engine, feed::VERSION);
    let mut a = connect_at(&engine, READ_COMMITTED);
    mark(&a, near);
    assert_eq!(snapshot_told(&mut a, near, b"t", READ, AUTOCOMMIT), None, "outside");
    assert!(a.is_served("BEGIN") && a.is_served(READ));
    assert_eq!(told(&engine, near)[0].snapshot, Some(u64::MAX), "the server does not know of the transaction yet");
    assert!(matches!(a.ask("UPDATE u SET v = 'two'"), Decision::Inject(_)));
    a.reply(&wire::ok_packet(1, 0, 0, IN_TRANS, 0));
    assert_eq!(a.ask("UPDATE u SET v = 'two'"), Decision::Forward);
    a.session.report(&engine, locked(b"u", false));
    a.reply(&wire::ok_packet(1, 1, 0, IN_TRANS, 0));
    assert!(a.is_served(READ));
    assert_eq!(told(&engine, near)[0].snapshot, None, "it has written");
}

#[test]
fn no_snapshot_is_told_where_the_server_must_see_each_read() {
    for (first, begin) in [
        ("SET idle_transaction_timeout = 5", "START TRANSACTION READ WRITE"),
        ("SET idle_readonly_transaction_timeout = 5", "START TRANSACTION READ ONLY"),
        ("SET @a = 1", "XA START 'x'"),
    ] {
        let engine = engine();
        let near = attached(&engine, feed::VERSION);
        let mut a = connect_marked(&engine, near);
        a.run(first, AUTOCOMMIT);
        a.run(begin, IN_TRANS);
        assert_eq!(snapshot_told(&mut a, near, b"t", READ, IN_TRANS), None, "{first}; {begin}");
    }
}

#[test]
fn a_result_of_an_engine_that_joins_transactions_is_told_not_to_be_for_them() {
    let engine = engine();
    let near = attached(&engine, feed::VERSION);
    let mut a = connect_marked(&engine, near);
    let generation = engine.catalogue().generation();
    let table = engine.tables().find(engine.versions(), b"d", b"t");
    for (verdict, is_for) in [(Verdict::NoSavepoints, false), (Verdict::Plain, true), (Verdict::Snapshot, true)] {
        table.set_verdict(table.era(generation), verdict);
        engine.drop_results();
        a.read(READ, "one", AUTOCOMMIT);
        assert!(a.is_served(READ));
        let told: Vec<_> = told(&engine, near).iter().map(|told| told.is_for_transactions).collect();
        assert_eq!(told, [is_for; 2], "{verdict:?}");
    }
}

/// After a command without a report about a result, the near cache gets a report about the session. With it, it can
/// answer the first read after a `SET`, a `USE` or a write.
#[test]
fn as_what_a_session_stands_is_told_at_the_end_of_each_command_of_which_nothing_else_is() {
    let engine = engine();
    let near = attached(&engine, feed::VERSION);
    let mut a = connect_marked(&engine, near);
    for statement in ["SET NAMES latin1", "SET sql_mode = 'ANSI'", "SET @a = 1", "SELECT FOUND_ROWS()", "USE e"] {
        a.run(statement, AUTOCOMMIT);
        assert_eq!(all_told(&engine, near), [], "the server has not told yet what is in force");
        let database = if statement == "USE e" { b"e" } else { b"d" };
        let state = SessionState { database: Some(database), collation: 45, ..state() };
        a.session.report(&engine, ended(state));
        let told = all_told(&engine, near);
        assert_eq!(told.iter().map(|told| told.is_of_session).collect::<Vec<_>>(), [true], "{statement}");
        a.read(READ, "one", AUTOCOMMIT);
        let of_read = all_told(&engine, near);
        assert_eq!((of_read.len(), of_read[0].is_of_session), (1, false), "{statement}");
        assert_eq!((told[0].context, told[0].command + 1), (of_read[0].context, of_read[0].command), "{statement}");
        assert!(told[0].stamp <= of_read[0].stamp);
        engine.drop_results();
    }
}

#[test]
fn nothing_is_told_of_a_session_that_would_not_be_served() {
    let engine = engine();
    let begun = SessionState { has_begun: true, ..state() };
    for (statement, flags, state) in [
        ("START TRANSACTION READ WRITE", IN_TRANS, begun),
        ("SET autocommit = 0", 0, SessionState { autocommit: false, ..state() }),
        ("SET fqc_type = 0", AUTOCOMMIT, SessionState { cache_type: 0, ..state() }),
        ("LOCK TABLES t READ", AUTOCOMMIT, SessionState { in_lock_tables: true, ..state() }),
        ("CREATE TEMPORARY TABLE t (a INT)", AUTOCOMMIT, state()),
        ("XA START 'x'", IN_TRANS, begun),
    ] {
        let near = attached(&engine, feed::VERSION);
        let mut a = connect_marked(&engine, near);
        a.run(statement, flags);
        a.session.report(&engine, ended(state));
        assert_eq!(all_told(&engine, near), [], "{statement}");
        engine.detach_near(near);
    }
}

#[test]
fn an_older_near_cache_is_told_of_results_alone() {
    let engine = engine();
    let near = attached(&engine, 3);
    let mut a = connect_marked(&engine, near);
    a.run("SET NAMES latin1", AUTOCOMMIT);
    a.session.report(&engine, ended(state()));
    assert_eq!(all_told(&engine, near), []);
    a.read(READ, "one", AUTOCOMMIT);
    assert_eq!(all_told(&engine, near).len(), 1);
}

/// Checks what the plugin needs on a member of a replication group: the group may hold reads back for a moment, and a near cache would go
/// on serving.
#[test]
fn near_caches_are_kept_out_while_the_server_may_hold_reads_back() {
    let engine = engine();
    let attaches = || {
        let mut feed = connect(&engine);
        feed.ask("ATTACH FQC NEAR 'near' PROTOCOL 5");
        feed.reply(&wire::ok_packet(1, 0, 0, AUTOCOMMIT, 0));
        feed.session.feed().flatten().is_some()
    };
    let near = attached(&engine, feed::VERSION);
    engine.keep_nears_out(true);
    assert!(!engine.is_near_attached(near) && !attaches());
    engine.keep_nears_out(false);
    assert!(attaches());
}
