//! What near caches are told of the results of a connection that they have marked.

mod talk;

use feed::{Frame, FromNear, NearId, ToNear, Told};
use session::{Definition, Engine, Reply, ViewName, Views};
use talk::*;

const READ: &str = "SELECT v FROM t WHERE id = 1";
const OF_VIEW: &str = "SELECT v FROM u AS x";

/// A near cache of this version that has marked all connections: those of these tests have no number.
fn attached(engine: &Engine, version: u16) -> NearId {
    let mut feed = connect(engine);
    feed.ask(&format!("ATTACH FQC NEAR 'near' PROTOCOL {version}"));
    feed.reply(&wire::ok_packet(1, 0, 0, AUTOCOMMIT, 0));
    let id = feed.session.feed().flatten().expect("it is attached");
    engine.begin_feed(id, Box::new(|| {}));
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
