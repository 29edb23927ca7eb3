//! Serves results by leases: the server has granted a lease and reports which results are invalidated. No stale result is served.
//!
//! Invariants:
//! - a connection is served only what the server could answer at some time after the read has arrived: the server has reported
//!   the session context of its last command, or the commands since then change nothing;
//! - in a transaction, a connection is served only what the transaction's snapshot shows. The server sends the snapshot's stamp
//!   on the feed, and sends none for a transaction that may have written something.

use crate::clock;
use crate::command::{LONGEST_COMMAND, begins_a_read, is_harmless};
use crate::freshness::{Arrival, Freshness, ReplacedReads, SentBytes, Served, Summary, Verdict};
use crate::leased::{LeasedConnection, ReadCommand, ServeTime, lock};
use crate::login_facts::LoginFacts;
use crate::memory::Memory;
use crate::pending_read::PendingRead;
use crate::prepared::ContextId;
use crate::reason::ContextReason;
use flavour::Flavour;
use locks::Mutex;
use sql::Aggregates;
use std::sync::Arc;
use wire::Outcome;

/// Serves one connection by leases. Dropping it ends the server's reports on the connection.
pub struct ByLeases {
    memory: Arc<Memory>,
    /// The connection's number on the server.
    number: u32,
    leased: Arc<Mutex<LeasedConnection>>,
    /// True if reports on the cache are answered here, and not by the server.
    answers_reports: bool,
}

impl ByLeases {
    /// Creates the state of a connection that has just logged in, and asks the server to report on it. `answers_reports` is true if
    /// reports on the cache are answered here, not by the server.
    pub fn new(memory: &Arc<Memory>, login_facts: &LoginFacts, answers_reports: bool) -> ByLeases {
        let number = login_facts.number;
        let leased = Arc::new(Mutex::new(LeasedConnection::new(login_facts)));
        memory.register(number, &leased);
        ByLeases { memory: memory.clone(), number, leased, answers_reports }
    }

    /// Returns the result for this command, if one may be served.
    fn serve(&self, payload: &[u8], arrival: &Arrival<'_>) -> Option<Served> {
        let leased = lock(&self.leased);
        let read = leased.read(payload)?;
        // A read without a table leaves the server's warnings unchanged, so it is served only if those are the ones that the
        // client knows.
        let may_serve = |entry: &cache::Entry| arrival.has_server_received_all || !entry.cells().is_empty();
        let served = |entry: &cache::Entry| may_serve(entry).then(|| Served::of(entry));
        let results = &self.memory.results;
        let (served, context_id, served_contexts) =
            leased.serve(results, (payload, &read), serve_time(arrival), served)?;
        Some(Served { context_id: Some(context_id), served_contexts, first_types: read.first_types(), ..served? })
    }

    /// Returns the reason why this command was not answered from memory. None if it is no read.
    fn why(&self, arrival: &Arrival<'_>) -> Option<ContextReason> {
        let (payload, follower) = (arrival.command?, arrival.follower);
        let leased = lock(&self.leased);
        let read = leased.read(payload).filter(|read| read.text().is_none_or(begins_a_read))?;
        let is_settled = follower.is_in_transaction() || follower.is_autonomous();
        Some(match () {
            () if payload.len() > LONGEST_COMMAND => ContextReason::TooLong,
            () if !self.memory.results.has_lease(arrival.now_ns) => ContextReason::NoLease,
            () if !arrival.has_client_received_all || !is_settled => ContextReason::Transaction,
            () if !arrival.may_stay_pending => ContextReason::KeepAlive,
            () => leased.why(&self.memory.results, &read, serve_time(arrival)),
        })
    }
}

impl Freshness for ByLeases {
    fn flavour(&self) -> &'static Flavour {
        lock(&self.leased).flavour
    }

    fn summary(&self) -> Option<Summary> {
        self.answers_reports.then(|| Summary { cache: verdict(&self.memory), ..Summary::default() })
    }

    fn decide(&mut self, arrival: &Arrival<'_>) -> Verdict {
        let follower = arrival.follower;
        let is_settled = follower.is_autonomous() || follower.is_in_transaction();
        let may_be_served = arrival.has_client_received_all && arrival.may_stay_pending && is_settled;
        let command = arrival.command.filter(|payload| may_be_served && payload.len() <= LONGEST_COMMAND);
        if let Some(served) = command.and_then(|payload| self.serve(payload, arrival)) {
            return Verdict::Serve(served);
        }
        self.why(arrival).into_iter().for_each(|why| self.memory.reasons.count(why.into()));
        Verdict::Forward
    }

    fn forward(&mut self, sent: &SentBytes<'_>) -> Option<u64> {
        let &SentBytes { payload, is_whole, commands_begun, .. } = sent;
        let mut leased = lock(&self.leased);
        if is_whole && commands_begun == 1 && is_harmless(payload) {
            leased.connection.forward_harmless();
            leased.statements.forward(0, payload, true);
            return None;
        }
        // The payload of a command that is not whole is not known here, so a report on it does not match and is ignored.
        let known_payload = if is_whole { payload } else { &[] };
        let number = (0..commands_begun).map(|_| leased.connection.forward(known_payload)).last()?;
        let is_kept = is_whole && payload.len() <= LONGEST_COMMAND && self.memory.is_attached();
        let read = if is_kept { leased.read(payload) } else { None };
        let mut is_noted =
            leased.forward(&self.memory.results, number, if commands_begun == 1 { payload } else { &[] }, is_whole);
        if let Some(read) = read {
            leased.note(&self.memory.results, number, read);
            is_noted = true;
        }
        is_noted.then_some(number)
    }

    fn forward_served(&mut self, payload: &[u8], context_id: Option<ContextId>) -> u64 {
        lock(&self.leased).forward_served(&self.memory.results, payload, context_id)
    }

    fn forward_hidden(&mut self, payload: &[u8]) {
        lock(&self.leased).connection.forward(payload);
    }

    fn answer_bytes(&mut self, number: u64, bytes: &[u8], outcome: Option<&Outcome>, _: bool) -> bool {
        lock(&self.leased).take(&self.memory.results, number, bytes, outcome);
        false
    }

    fn may_be_answered_elsewhere(&mut self, payload: &[u8]) -> bool {
        lock(&self.leased).read(payload).is_some_and(|read| match &read {
            ReadCommand::Execution(execution) => execution.is_known(),
            text => text.text().is_some_and(begins_a_read),
        })
    }

    fn answered_served(&mut self, number: u64, outcome: &Outcome) {
        lock(&self.leased).statements.answered(number, outcome);
    }

    fn asks_for_found_rows(&mut self, payload: &[u8]) -> bool {
        sql::may_ask_for_found_rows(payload) || lock(&self.leased).statements.asks_for_found_rows(payload) == Some(true)
    }

    /// A pending read, which the server has not received, need not be sent to it if the next command replaces it by
    /// leaving the same state behind. Only the last pending read can be replaced, by the same command or by an
    /// execution of the same statement. A statement that aggregates does not replace it: over no rows, it leaves
    /// FOUND_ROWS() unchanged.
    fn replaces(&mut self, pending_read: &PendingRead, payload: &[u8], _: bool) -> ReplacedReads {
        let capabilities = lock(&self.leased).capabilities;
        let replaces = pending_read.is_replaced_by(payload, capabilities) && self.aggregates(payload) == Aggregates::No;
        if pending_read.is_same(payload) || replaces { ReplacedReads::Last } else { ReplacedReads::Nothing }
    }

    fn aggregates(&self, payload: &[u8]) -> Aggregates {
        lock(&self.leased).statements.aggregates(payload)
    }

    fn sets_found_rows(&mut self, payload: &[u8]) -> bool {
        let leased = lock(&self.leased);
        let begins = |read: ReadCommand| read.text().is_some_and(begins_a_read);
        leased.statements.runs_a_read(payload) || leased.read(payload).is_some_and(begins)
    }
}

impl Drop for ByLeases {
    fn drop(&mut self) {
        self.memory.unregister(self.number, &self.leased);
    }
}

fn serve_time(arrival: &Arrival<'_>) -> ServeTime {
    ServeTime { now_ns: arrival.now_ns, is_in_transaction: arrival.follower.is_in_transaction() }
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
