//! Serves results by leases: the server has granted a lease and reports which results are invalidated. No stale result is served.
//!
//! Invariants:
//! - a connection is served only what the server could answer at some time after the read has arrived: the server has reported
//!   the session context of its last command, or the commands since then change nothing;
//! - in a transaction, a connection is served only what the transaction's snapshot shows. The server sends the snapshot's stamp
//!   on the feed, and sends none for a transaction that may have written something.

use crate::clock;
use crate::command::{LONGEST, begins_a_read, is_harmless};
use crate::freshness::{Arrival, Freshness, Replaces, Sent, Served, Summary, Verdict};
use crate::leased::{Instant, Leased, Read, lock};
use crate::memory::Memory;
use crate::prepared::Under;
use crate::reason::Own;
use crate::unseen::Unseen;
use flavour::{Flavour, MARIADB};
use locks::Mutex;
use sql::Aggregates;
use std::sync::Arc;
use wire::Outcome;

/// Serves one connection by leases. Dropping it ends the server's reports on the connection.
pub struct Leases {
    memory: Arc<Memory>,
    /// The connection's number on the server.
    number: u32,
    leased: Arc<Mutex<Leased>>,
    /// True if reports on the cache are answered here, and not by the server.
    reports: bool,
}

impl Leases {
    /// Creates the state of a connection that has just logged in, and asks the server to report on it. `number` and `greeting`
    /// come from the server's greeting, see [`feed::Connection::greeted`]. `reports` is true if reports on the cache are answered
    /// here, not by the server.
    pub fn new(memory: &Arc<Memory>, number: u32, greeting: u64, capabilities: u64, reports: bool) -> Leases {
        let leased = Arc::new(Mutex::new(Leased::new(number, greeting, capabilities)));
        memory.enter(number, &leased);
        Leases { memory: memory.clone(), number, leased, reports }
    }

    /// Returns the result for this command, if one may be served.
    fn serve(&self, payload: &[u8], arrival: &Arrival<'_>) -> Option<Served> {
        let leased = lock(&self.leased);
        let read = leased.read(payload)?;
        // A read without a table leaves the server's warnings unchanged, so it is served only if those are the ones that the
        // client knows.
        let may_serve = |entry: &cache::Entry| arrival.has_seen_all || !entry.cells().is_empty();
        let served = |entry: &cache::Entry| may_serve(entry).then(|| Served::of(entry));
        let results = &self.memory.results;
        let (served, under, standing) = leased.serve(results, (payload, &read), instant(arrival), served)?;
        Some(Served { under: Some(under), standing, first_types: read.first_types(), ..served? })
    }

    /// Returns the reason why this command was not answered from memory. None if it is no read.
    fn why(&self, arrival: &Arrival<'_>) -> Option<Own> {
        let (payload, follower) = (arrival.command?, arrival.follower);
        let leased = lock(&self.leased);
        let read = leased.read(payload).filter(|read| begins_a_read(&read.key()[1..]))?;
        let is_settled = follower.is_in_transaction() || follower.is_autonomous();
        Some(match () {
            () if payload.len() > LONGEST => Own::TooLong,
            () if !self.memory.results.has_lease(arrival.now_ns) => Own::NoLease,
            () if !arrival.is_heard || !is_settled => Own::Transaction,
            () if !arrival.may_stay_unseen => Own::KeepAlive,
            () => leased.why(&self.memory.results, &read, instant(arrival)),
        })
    }
}

impl Freshness for Leases {
    fn flavour(&self) -> &'static Flavour {
        &MARIADB
    }

    fn summary(&self) -> Option<Summary> {
        self.reports.then(|| Summary { cache: verdict(&self.memory), ..Summary::default() })
    }

    fn decide(&mut self, arrival: &Arrival<'_>) -> Verdict {
        let follower = arrival.follower;
        let is_settled = follower.is_autonomous() || follower.is_in_transaction();
        let may_be_served = arrival.is_heard && arrival.may_stay_unseen && is_settled;
        let command = arrival.command.filter(|payload| may_be_served && payload.len() <= LONGEST);
        if let Some(served) = command.and_then(|payload| self.serve(payload, arrival)) {
            return Verdict::Serve(served);
        }
        self.why(arrival).into_iter().for_each(|why| self.memory.reasons.count(why.into()));
        Verdict::Forward
    }

    fn forward(&mut self, sent: &Sent<'_>) -> Option<u64> {
        let &Sent { payload, is_whole, begun, .. } = sent;
        let mut leased = lock(&self.leased);
        if is_whole && begun == 1 && is_harmless(payload) {
            leased.connection.forward_harmless();
            leased.statements.forward(0, payload, true);
            return None;
        }
        // The payload of a command that is not whole is not known here, so a report on it does not match and is ignored.
        let told = if is_whole { payload } else { &[] };
        let number = (0..begun).map(|_| leased.connection.forward(told)).last()?;
        let is_kept = is_whole && payload.len() <= LONGEST && self.memory.is_attached();
        let read = if is_kept { leased.read(payload) } else { None };
        let mut is_noted =
            leased.forward(&self.memory.results, number, if begun == 1 { payload } else { &[] }, is_whole);
        if let Some(read) = read {
            leased.note(&self.memory.results, number, read);
            is_noted = true;
        }
        is_noted.then_some(number)
    }

    fn forward_served(&mut self, payload: &[u8], under: Option<Under>) -> u64 {
        lock(&self.leased).forward_served(&self.memory.results, payload, under)
    }

    fn forward_hidden(&mut self, payload: &[u8]) {
        lock(&self.leased).connection.forward(payload);
    }

    fn of_server(&mut self, number: u64, bytes: &[u8], outcome: Option<&Outcome>, _: bool) -> bool {
        lock(&self.leased).take(&self.memory.results, number, bytes, outcome);
        false
    }

    fn may_be_for_others(&mut self, payload: &[u8]) -> bool {
        lock(&self.leased).read(payload).is_some_and(|read| match read {
            Read::Text(payload) => begins_a_read(&payload[1..]),
            Read::Execution(execution) => execution.is_known(),
        })
    }

    fn answered_served(&mut self, number: u64, outcome: &Outcome) {
        lock(&self.leased).statements.answered(number, outcome);
    }

    fn asks_for_found_rows(&mut self, payload: &[u8]) -> bool {
        sql::may_ask_for_found_rows(payload) || lock(&self.leased).statements.asks_for_found_rows(payload) == Some(true)
    }

    /// Only the last unseen read can be replaced, by the same command or by an execution of the same statement. A statement that
    /// aggregates does not replace it: over no rows, it leaves FOUND_ROWS() unchanged.
    fn replaces(&mut self, unseen: &Unseen, payload: &[u8], _: bool) -> Replaces {
        let capabilities = lock(&self.leased).capabilities;
        let replaces = unseen.is_replaced_by(payload, capabilities) && self.aggregates(payload) == Aggregates::No;
        if unseen.is_same(payload) || replaces { Replaces::Last } else { Replaces::Nothing }
    }

    fn aggregates(&self, payload: &[u8]) -> Aggregates {
        lock(&self.leased).statements.aggregates(payload)
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        self.memory.leave(self.number, &self.leased);
    }
}

fn instant(arrival: &Arrival<'_>) -> Instant {
    Instant { now_ns: arrival.now_ns, is_inside: arrival.follower.is_in_transaction() }
}

/// Returns the value of the row `Cache` in reports.
fn verdict(memory: &Memory) -> String {
    let obstacle = memory.obstacle.get();
    match (memory.results.has_lease(clock::now()), obstacle.is_empty()) {
        (true, true) => "ON, beside the application".into(),
        (false, true) => "OFF: no lease; the server, or the way to it, is slow".into(),
        (_, false) => format!("OFF: {obstacle}"),
    }
}
