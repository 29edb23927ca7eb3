//! Shows that another kind of freshness takes one implementation of a trait. This one serves for ever what its own connection has
//! read before.

use near_core::answer::Answer;
use near_core::follow::Follower;
use near_core::freshness::{Arrival, Freshness, ReplacedReads, SentBytes, Served, Summary, Verdict};
use near_core::memory::Memory;
use near_core::pending_read::PendingRead;
use near_core::session::{Route, Session};
use sql::Aggregates;
use std::collections::HashMap;
use std::sync::Arc;
use wire::{Outcome, capability, push_packet, status, surface::text_result};

/// Serves the results of its own connection for ever.
struct ForEver {
    memory: Arc<Memory>,
    results: HashMap<Vec<u8>, Answer>,
    sent: (Vec<u8>, Option<Answer>),
}

impl Freshness for ForEver {
    fn flavour(&self) -> &'static flavour::Flavour {
        &flavour::MYSQL
    }

    fn summary(&self) -> Option<Summary> {
        Some(Summary { cache: "ON, for ever".into(), ..Summary::default() })
    }

    fn decide(&mut self, arrival: &Arrival<'_>) -> Verdict {
        let known = arrival.command.filter(|_| arrival.follower.is_quiet()).and_then(|read| self.results.get(read));
        let served = |Answer { bytes, rows, .. }: &Answer| {
            let (answer, rows) = (bytes.clone(), *rows);
            Served::new(answer, rows)
        };
        known.map_or(Verdict::Forward, |answer| Verdict::Serve(served(answer)))
    }

    fn forward(&mut self, sent: &SentBytes<'_>) -> Option<u64> {
        self.sent = (sent.payload.to_vec(), Answer::new(&self.memory.results, sent.payload.len()));
        Some(1)
    }

    fn answer_bytes(&mut self, _: u64, bytes: &[u8], outcome: Option<&Outcome>, _: bool) -> bool {
        let (read, answer) = &mut self.sent;
        let is_kept = answer.as_mut().is_some_and(|answer| answer.take(bytes, outcome) && outcome.is_some());
        self.results.extend(answer.take_if(|_| is_kept).map(|answer| (std::mem::take(read), answer)));
        false
    }

    fn asks_for_found_rows(&mut self, payload: &[u8]) -> bool {
        payload.ends_with(b"FOUND_ROWS()")
    }

    fn replaces(&mut self, _: &PendingRead, _: &[u8], _: bool) -> ReplacedReads {
        ReplacedReads::Nothing
    }

    fn aggregates(&self, payload: &[u8]) -> Aggregates {
        Aggregates::of(&payload[1..])
    }

    fn sets_found_rows(&mut self, _: &[u8]) -> bool {
        false
    }
}

fn command(text: &str) -> Vec<u8> {
    let mut packet = Vec::new();
    push_packet(&mut packet, &mut 0, &[b"\x03", text.as_bytes()].concat());
    packet
}

#[test]
fn another_kind_of_freshness_serves_and_the_server_sees_what_it_has_to() {
    let memory = Arc::new(Memory::new(1 << 22));
    let for_ever = ForEver { memory: memory.clone(), results: HashMap::new(), sent: Default::default() };
    let (mut session, mut follower) = (Session::new(&memory, for_ever), Follower::new(capability::DEPRECATE_EOF));
    follower.set_login_flags(status::AUTOCOMMIT);
    let read = command("SELECT v FROM t");
    let rows = text_result(&["v"], &[vec![Some("1".into())]], capability::DEPRECATE_EOF, status::AUTOCOMMIT);
    assert!(matches!(session.client_bytes(&mut follower, &read, true), Route::Pass));
    follower.server_bytes(&rows, |part| {
        session.answer_bytes(1, part.bytes, part.outcome.as_ref());
        part.outcome.iter().for_each(|outcome| session.answer_completed(outcome, part.is_hidden));
    });
    assert!(matches!(session.client_bytes(&mut follower, &read, true), Route::Answer(answer) if answer == rows));
    assert!(matches!(session.client_bytes(&mut follower, &read, true), Route::Answer(_)));
    let asks = command("SELECT FOUND_ROWS()");
    let held = session.client_bytes(&mut follower, &asks, true);
    assert!(matches!(held, Route::Hold(sent) if sent == read), "the read goes first");
    assert!(session.is_holding());
}
