//! What near caches are told of the results of a connection that they have marked.

mod talk;

use feed::{Frame, FromNear, NearId, ToNear, Told};
use session::{Definition, Engine, Reply, ViewName, Views};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use talk::*;

const READ: &str = "SELECT v FROM t WHERE id = 1";
const OF_VIEW: &str = "SELECT v FROM u AS x";

/// A near cache of this version that has marked all connections: those of these tests have no number.
fn attached(engine: &Engine, version: u16) -> NearId {
    attached_with(engine, version, Arc::new(|| {}))
}

fn attached_with(engine: &Engine, version: u16, waker: Arc<dyn Fn() + Send + Sync>) -> NearId {
    let mut feed = connect(engine);
    feed.ask(&format!("ATTACH FQC NEAR 'near' PROTOCOL {version}"));
    feed.reply(&wire::ok_packet(1, 0, 0, AUTOCOMMIT, 0));
    let id = feed.session.feed().flatten().expect("it is attached");
    engine.begin_feed(id, waker);
    let mark = FromNear::Mark { connection: 0, scramble: 0 };
    engine.hear_near(id, &FromNear::encode_all(&[mark])).expect("it is understood");
    id
}

/// What was told since this was last asked.
fn told(engine: &Engine, id: NearId) -> Vec<Told> {
    let frames = std::iter::from_fn(|| engine.take_frame(id)).map(|frame| Frame::decode(&frame).expect("a frame"));
    let messages = frames.flat_map(|frame| frame.messages);
    messages.filter_map(|message| if let ToNear::Told(told) = message { Some(told) } else { None }).collect()
}

/// Something is granted to somebody.
fn grant(engine: &Engine) {
    engine.settings().begin_change();
    engine.settings().note_grants();
    engine.settings().end_change();
}

/// The statement that runs meets a stored routine: when the server is back from there, it looks up anew what is granted.
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
    let asked = views.take_asked();
    views.settle(&asked[0], Definition { against: None, views: Vec::new() });
    let near = attached(&engine, feed::VERSION);
    a.read(OF_VIEW, "one", AUTOCOMMIT);
    assert_eq!(told(&engine, near).len(), 1, "it can be told of");
    grant(&engine);
    engine.drop_results();
    // It is stored, but the session goes on with what is granted now.
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
        let (mut a, mut b) = (connect(&engine), connect(&engine));
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
        assert_eq!(holds(&mut connect(&engine), false), version > 1);
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
    let mut a = connect(&engine);
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
