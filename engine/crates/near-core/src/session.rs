//! Controls the conversation between one client and its server: it decides where the client's bytes go, and remembers which reads
//! the server has not seen. The connection's [`Freshness`] decides whether a result may be served.
//!
//! Invariant: before anything else of the client reaches the server, the server gets the reads that it has not seen. So
//! FOUND_ROWS(), warnings and the like are what they would be without a near cache. A command that asks for FOUND_ROWS() waits
//! until the server has found as many rows as the client was given. If the numbers differ, the command gets an error.

use crate::clock;
use crate::command::LONGEST_COMMAND;
use crate::follow::Follower;
use crate::freshness::{Arrival, Freshness, ReplacedReads, SentBytes, Served, Verdict};
use crate::memory::Memory;
use crate::observed_read::ObservedRead;
use crate::pending_read::{HeldCommand, PendingRead, found_rows_error, has_as_many_rows, may_keep_found_rows, rows_in};
use crate::pending_report::PendingReport;
use crate::published::{PublishedConnection, ServedContexts};
use crate::report::{self, ReportRequest, Requester};
use sql::Aggregates;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use wire::hit_report::{HitReport, LeadingReport};
use wire::{Command, ErrPacket, Expect, Header, Outcome, Query, first_command, lone_command};

/// The time within which the server gets at least one command. The server ends idle connections, and one that is always answered
/// from memory would look idle to it.
const SEEN_EVERY_NS: u64 = 10_000_000_000;
/// A limit for the number of hits that one report of the library in the client's process may report (see [`HitReport`]). A greater
/// number is wrong, and counts as this one.
const MOST_REPORTED_HITS: u64 = 100_000_000;
const NOT_SUPPORTED: u16 = 1235;

/// Says what the caller of [`Session`] must do with bytes of the client.
pub enum Route {
    /// The bytes go to the server unchanged.
    Pass,
    /// Send these bytes to the server instead; there may be none.
    Replace(Vec<u8>),
    /// Send these bytes to the server instead; there may be none. A command of the client waits, so read nothing more of the
    /// client until [`Session::is_holding`] returns false, and poll [`Session::take_held`].
    Hold(Vec<u8>),
    /// Send these bytes to the client, and nothing to the server.
    Answer(Vec<u8>),
    /// Send `to_server` to the server, which answers none of it, and `answer` to the client.
    ReplaceAndAnswer { to_server: Vec<u8>, answer: Vec<u8> },
}

/// How the command that is being answered sets FOUND_ROWS() on the server if it sends rows.
#[derive(Default)]
enum FoundRowsEffect {
    /// Nothing follows from the command's answer.
    #[default]
    Unknown,
    OwnRows,
    /// It sets the number of its own rows. The pending read before it was dropped, because the command replaces it.
    ReplacesPending,
    /// The effect of `OwnRows`, or of `ReplacesPending` if `replaces_pending` is true, of a command that aggregates
    /// rows. An aggregate over no rows sends one row, and leaves FOUND_ROWS() as the read before has set it.
    Aggregate {
        replaces_pending: bool,
    },
}

impl FoundRowsEffect {
    /// Returns the effect of a read that sets FOUND_ROWS(), unless it aggregates over no rows. `replaces_pending` is true if it
    /// replaces the pending reads, which the server does not get then.
    fn of_read(aggregates: Aggregates, replaces_pending: bool) -> FoundRowsEffect {
        match aggregates {
            Aggregates::No if replaces_pending => FoundRowsEffect::ReplacesPending,
            Aggregates::No => FoundRowsEffect::OwnRows,
            _ => FoundRowsEffect::Aggregate { replaces_pending },
        }
    }

    /// Returns the new value of `Session::has_found_rows_diverged` after the command's answer: true if the server's FOUND_ROWS() no longer
    /// belongs to the last read that the client knows of, and false if it does. None if the value does not change.
    /// `counts_until_failure`: on this product, a read that fails after it has sent columns has set the number, too.
    fn diverges(self, outcome: &Outcome, counts_until_failure: bool) -> Option<bool> {
        let rows = rows_in(outcome);
        let sets_number = rows.is_some() || outcome.has_columns && counts_until_failure;
        match self {
            FoundRowsEffect::Aggregate { .. } if rows.is_some() => rows.filter(|rows| *rows > 1).map(|_| false),
            FoundRowsEffect::OwnRows | FoundRowsEffect::ReplacesPending if sets_number => Some(false),
            FoundRowsEffect::ReplacesPending | FoundRowsEffect::Aggregate { replaces_pending: true } => Some(true),
            _ => None,
        }
    }
}

/// The conversation between one client and its server after the login. It decides where all bytes of the client go, and serves
/// reads from memory. It does no I/O: the caller passes it the bytes of both sides, and sends what it returns.
pub struct Session {
    memory: Arc<Memory>,
    freshness: Box<dyn Freshness>,
    /// The last read that was answered from memory and that the server has not received.
    pending_read: Option<PendingRead>,
    /// The command that waits until the server has run the pending reads, because it asks for FOUND_ROWS().
    held: Option<HeldCommand>,
    /// The report that waits until the server has said whether the client's account may see it.
    pending_report: Option<Box<PendingReport>>,
    /// The command for which `Freshness::decide` is called again once `Freshness::poll_wait` is ready.
    waiting: Option<Vec<u8>>,
    /// The commands on their way to the server whose answers the client must not receive, oldest first. None stands for a
    /// question of the near cache itself.
    hidden: VecDeque<Option<HiddenRead>>,
    /// How the command that is being answered sets FOUND_ROWS() on the server.
    found_rows_effect: FoundRowsEffect,
    /// True if FOUND_ROWS() on the server may not be the number of the last read that the client knows of.
    has_found_rows_diverged: bool,
    /// The time at which the server last received a command, by [`clock::now`].
    seen_ns: u64,
    /// The number of this client's reads that were answered from memory.
    hits: u64,
    /// The read that memory has an answer for and that goes to the server nevertheless, because the operator lets the program
    /// only observe. The two answers are compared.
    observed_read: Option<ObservedRead>,
    /// The connection's slot in the mapped memory, where a library in the client's process finds answers to reads. None if only
    /// the near cache answers them.
    shared: Option<SharedConnection>,
}

/// The state of a connection whose reads may also be answered by a library in the client's process, from mapped memory.
struct SharedConnection {
    published: PublishedConnection,
    /// The number of bytes that the client has sent since the login.
    received: u64,
    /// The number of bytes that the client was given since the login.
    shown: u64,
    /// The session contexts of the read that is being served. They become `last` when its answer is passed on.
    served_contexts: Option<Box<ServedContexts>>,
    /// The session contexts of the read that was served last.
    last: Option<Box<ServedContexts>>,
    /// The beginning of what may be a [`HitReport`] of the library, until enough bytes have arrived to tell.
    partial: Vec<u8>,
}

/// A read that was answered from memory, and that the server has received since.
struct HiddenRead {
    /// The number that `Freshness::forward_served` gave to the command.
    number: u64,
    /// The number of rows that the client received. None if FOUND_ROWS() may be that of an older read.
    rows: Option<u64>,
}

impl Session {
    /// Starts the conversation of a connection that has just logged in. `freshness` decides which results may be served on it.
    pub fn new(memory: &Arc<Memory>, freshness: impl Freshness + 'static) -> Session {
        Session {
            memory: memory.clone(),
            freshness: Box::new(freshness),
            pending_read: None,
            held: None,
            pending_report: None,
            waiting: None,
            hidden: VecDeque::new(),
            found_rows_effect: FoundRowsEffect::Unknown,
            has_found_rows_diverged: false,
            seen_ns: clock::now(),
            hits: 0,
            observed_read: None,
            shared: None,
        }
    }

    /// Lets a library in the client's process answer reads of this connection as well. Without mapped memory, or without room in
    /// it, this does nothing. `greeting` is the hash ([`feed::check_of`]) of the greeting that the client got; by this value the
    /// library finds the connection. To be called before any bytes are passed to this session, and only if the client does not
    /// use TLS.
    pub fn share(&mut self, greeting: u64) {
        let published =
            self.memory.results.published.as_ref().and_then(|published| published.reserve_connection(greeting));
        let shared = |published| SharedConnection {
            published,
            received: 0,
            shown: 0,
            served_contexts: None,
            last: None,
            partial: Vec::new(),
        };
        self.shared = published.map(shared);
    }

    /// Counts bytes of the server that are passed to the client. The library in the client's process serves the connection only
    /// while it has counted as many. Bytes of [`Route::Answer`] are counted already.
    pub fn count_shown(&mut self, count: usize) {
        self.shared.iter_mut().for_each(|shared| shared.shown += count as u64);
    }

    /// Takes the bytes that the client has just sent, and returns where they go. `follower` is updated for those that go to the
    /// server. `has_client_received_all` is true if the client has received all bytes that were sent to it before. Must not be called while
    /// [`is_holding`](Self::is_holding) is true.
    pub fn client_bytes(&mut self, follower: &mut Follower, bytes: &[u8], has_client_received_all: bool) -> Route {
        let Some(shared) = &mut self.shared else { return self.take(follower, bytes, has_client_received_all) };
        shared.received += bytes.len() as u64;
        if shared.partial.is_empty() && !(follower.is_quiet() && LeadingReport::parse(bytes) != LeadingReport::Absent) {
            let route = self.take(follower, bytes, has_client_received_all);
            return self.answered(route);
        }
        shared.partial.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut shared.partial);
        let rest = match LeadingReport::parse(&bytes) {
            LeadingReport::Absent => &bytes[..],
            LeadingReport::Incomplete => {
                shared.partial = bytes;
                return Route::Replace(Vec::new());
            }
            LeadingReport::Complete(report, rest) => {
                self.apply_hit_report(&report);
                rest
            }
        };
        if rest.is_empty() {
            return Route::Replace(Vec::new());
        }
        let route = match self.take(follower, rest, has_client_received_all) {
            Route::Pass => Route::Replace(rest.to_vec()),
            route => route,
        };
        self.answered(route)
    }

    /// Takes over a hit report: the number of hits in the client's process, and the last read that was answered there, which becomes
    /// the pending read. If that command cannot be such a read, FOUND_ROWS() is unknown from here on.
    fn apply_hit_report(&mut self, report: &HitReport<'_>) {
        let (results, hits) = (&self.memory.results, report.hits.min(MOST_REPORTED_HITS));
        self.hits += hits;
        results.hits.fetch_add(hits, Ordering::Relaxed);
        results.hits_in_applications.fetch_add(hits, Ordering::Relaxed);
        let payload = lone_command(report.packet).filter(|payload| payload.len() <= LONGEST_COMMAND);
        if !payload.is_some_and(|payload| self.freshness.may_be_answered_elsewhere(payload)) {
            self.has_found_rows_diverged = true;
            return;
        }
        let (packet, rows) = (report.packet.to_vec(), Some(report.rows));
        let last = self.shared.as_ref().and_then(|shared| shared.last.as_ref());
        let context_id = last.map(|last| last.context_id(&packet[Header::SIZE..]));
        let (found_rows, warns, first_types, before) = (None, false, None, Vec::new());
        self.pending_read = Some(PendingRead { packet, rows, found_rows, warns, context_id, first_types, before });
    }

    /// Counts the bytes of an answer from memory, and lets other processes serve the connection in the same contexts. Returns
    /// `route` unchanged.
    fn answered(&mut self, route: Route) -> Route {
        if let (Route::Answer(answer) | Route::ReplaceAndAnswer { answer, .. }, Some(shared)) =
            (&route, &mut self.shared)
        {
            shared.shown += answer.len() as u64;
            if let Some(served_contexts) = shared.served_contexts.take() {
                let until = self.seen_ns.saturating_add(SEEN_EVERY_NS);
                shared.published.set_connection(&served_contexts, [shared.received, shared.shown], until);
                shared.last = Some(served_contexts);
            }
        }
        route
    }

    /// Takes bytes of the client that contain no hit reports, and returns where they go. Many clients close a statement
    /// and send their next command in one write, since COM_STMT_CLOSE has no answer. Each of the two is taken by
    /// itself, so that the next command can be served.
    fn take(&mut self, follower: &mut Follower, bytes: &[u8], has_client_received_all: bool) -> Route {
        let (mut to_server, mut rest) = (Vec::new(), bytes);
        while let Some((close, others)) = close_before_others(rest).filter(|_| follower.is_between_commands()) {
            match self.take_one(follower, close, has_client_received_all) {
                Route::Replace(bytes) => to_server.extend(bytes),
                _ => to_server.extend_from_slice(close),
            }
            rest = others;
        }
        let route = self.take_one(follower, rest, has_client_received_all);
        if to_server.is_empty() {
            return route;
        }
        match route {
            Route::Pass => Route::Replace([&to_server, rest].concat()),
            Route::Replace(bytes) => Route::Replace([to_server, bytes].concat()),
            Route::Hold(bytes) => Route::Hold([to_server, bytes].concat()),
            Route::Answer(answer) => Route::ReplaceAndAnswer { to_server, answer },
            Route::ReplaceAndAnswer { to_server: bytes, answer } => {
                Route::ReplaceAndAnswer { to_server: [to_server, bytes].concat(), answer }
            }
        }
    }

    /// Takes one command, or bytes that are none. Refuses to attach a near cache through this program, and adds the parameter
    /// types that the server lacks to an execution.
    fn take_one(&mut self, follower: &mut Follower, bytes: &[u8], has_client_received_all: bool) -> Route {
        let command = follower.is_between_commands().then(|| lone_command(bytes)).flatten();
        if has_client_received_all && follower.is_quiet() && command.is_some_and(attaches) {
            return Route::Answer(refusal());
        }
        let pending_read = self.pending_read.as_ref().filter(|_| command.is_some());
        let Some(completed) =
            pending_read.and_then(|pending_read| pending_read.with_missing_types(bytes, follower.capabilities()))
        else {
            return self.decide(follower, bytes, has_client_received_all);
        };
        match self.decide(follower, &completed, has_client_received_all) {
            Route::Pass => Route::Replace(completed),
            route => route,
        }
    }

    /// Asks [`Freshness`] to decide on these bytes, and does what it decides: answers the command from memory, sends it
    /// to the server, or holds it.
    fn decide(&mut self, follower: &mut Follower, bytes: &[u8], has_client_received_all: bool) -> Route {
        let command = follower.is_between_commands().then(|| lone_command(bytes)).flatten();
        let now_ns = clock::now();
        let may_stay_pending = self.may_stay_pending(command, follower.capabilities(), now_ns);
        let has_server_received_all = self.pending_read.is_none() && !self.has_found_rows_diverged;
        let found_rows = self.pending_read.as_ref().and_then(|pending_read| pending_read.found_rows);
        let arrival = Arrival {
            command,
            follower,
            has_client_received_all,
            may_stay_pending,
            has_server_received_all,
            found_rows,
            now_ns,
        };
        match self.freshness.decide(&arrival) {
            Verdict::Serve(served) if self.memory.results.uses.observed.is_on() => {
                self.observed_read = Some(ObservedRead::new(served.answer, served.flag_offsets, served.used));
            }
            Verdict::Serve(served) => return Route::Answer(self.serve(follower, bytes, served)),
            Verdict::Wait => {
                self.waiting = Some(bytes.to_vec());
                return Route::Hold(Vec::new());
            }
            Verdict::Ask => {
                self.waiting = Some(bytes.to_vec());
                return Route::Hold(self.ask(follower, now_ns));
            }
            Verdict::Forward => {}
        }
        let is_settled = has_client_received_all && follower.is_quiet();
        if let Some(request) =
            command.filter(|_| is_settled).and_then(|payload| self.requested_report(follower, payload))
        {
            return if request.is_public() {
                self.report(follower, &request)
            } else {
                self.hold_report(follower, request)
            };
        }
        let has_pending = self.has_found_rows_diverged || self.pending_read.is_some() || !self.hidden.is_empty();
        let asks = has_pending && command.is_some_and(|payload| self.freshness.asks_for_found_rows(payload));
        if asks && self.pending_read.is_none() && is_settled {
            return Route::Answer(found_rows_error());
        }
        self.send(follower, bytes, command, asks, now_ns)
    }

    /// Returns the bytes for the server before a waiting command: the reads that it has not seen, and the questions of
    /// [`Freshness::take_questions`].
    fn ask(&mut self, follower: &mut Follower, now_ns: u64) -> Vec<u8> {
        self.seen_ns = now_ns;
        let pending_read = self.pending_read.take();
        let mut packets =
            pending_read.map(|pending_read| self.forward_pending_reads(follower, pending_read)).unwrap_or_default();
        let questions = self.freshness.take_questions();
        self.append_questions(follower, questions, &mut packets);
        packets
    }

    /// Appends questions of the near cache to `packets`. The client must not receive their answers, and they change FOUND_ROWS()
    /// on the server.
    fn append_questions(&mut self, follower: &mut Follower, questions: Vec<(u64, Vec<u8>)>, packets: &mut Vec<u8>) {
        self.has_found_rows_diverged |= !questions.is_empty();
        for (number, packet) in questions {
            self.hide(follower);
            follower.number_last_answer(number);
            packets.extend(packet);
        }
    }

    /// Returns true if the server need not receive this command: it has received one within [`SEEN_EVERY_NS`], and knows the
    /// parameter types of the pending reads or learns them from `command`.
    fn may_stay_pending(&self, command: Option<&[u8]>, capabilities: u64, now_ns: u64) -> bool {
        let may_be_forgotten = |pending_read: &PendingRead| {
            command.is_some_and(|payload| pending_read.may_be_forgotten_for(payload, capabilities))
        };
        // Other processes can answer executions of a statement only once the server has the statement's types.
        let is_short_of_types =
            self.shared.is_some() && self.pending_read.as_ref().is_some_and(PendingRead::brings_types);
        let is_seen = now_ns.saturating_sub(self.seen_ns) < SEEN_EVERY_NS;
        is_seen && !is_short_of_types && self.pending_read.as_ref().is_none_or(may_be_forgotten)
    }

    /// Returns the answer to `packet` for the client, with the flags of its transaction. Counts the hit, and makes the read the
    /// pending one.
    fn serve(&mut self, follower: &Follower, packet: &[u8], served: Served) -> Vec<u8> {
        let Served {
            mut answer,
            rows,
            found_rows,
            warns,
            flag_offsets,
            used,
            context_id,
            first_types,
            served_contexts,
        } = served;
        let is_in_transaction = !follower.is_autonomous();
        if let Some(shared) = &mut self.shared {
            shared.served_contexts = served_contexts.filter(|_| !is_in_transaction);
        }
        flag_offsets
            .iter()
            .filter(|_| is_in_transaction)
            .for_each(|flag_offsets| flag_offsets.set_flags(&mut answer, follower.flags()));
        let results = &self.memory.results;
        results.hits.fetch_add(1, Ordering::Relaxed);
        results.hits_in_transactions.fetch_add(u64::from(is_in_transaction), Ordering::Relaxed);
        used.into_iter().for_each(|used| results.uses.count_hit(used));
        self.hits += 1;
        let has_found_rows_diverged = self.has_found_rows_diverged;
        let same =
            self.pending_read.as_mut().filter(|pending_read| !has_found_rows_diverged && pending_read.is_alone(packet));
        if let Some(same) = same {
            // The same read leaves the same state once more.
            (same.rows, same.context_id, same.first_types) = (Some(rows), context_id, first_types);
            same.found_rows = same.found_rows.and(found_rows);
            return answer;
        }
        let payload = &packet[Header::SIZE..];
        let is_binary = payload[0] == Command::StmtExecute as u8;
        let may_keep_earlier = rows <= 1
            && may_keep_found_rows(self.freshness.aggregates(payload), &answer, follower.capabilities(), is_binary);
        let earlier = self.pending_read.take().filter(|_| may_keep_earlier);
        let found_rows = found_rows.filter(|_| !may_keep_earlier);
        let rows = (earlier.is_some() || !self.has_found_rows_diverged || !may_keep_earlier).then_some(rows);
        let packet = packet.to_vec();
        let pending_read = PendingRead { packet, rows, found_rows, warns, context_id, first_types, before: Vec::new() };
        self.pending_read = Some(earlier.into_iter().fold(pending_read, PendingRead::after));
        answer
    }

    /// Sends these bytes to the server, after the pending reads that it must run first. If `asks` is true, which means that the
    /// command may evaluate FOUND_ROWS(), the command waits until those reads are answered.
    fn send(
        &mut self,
        follower: &mut Follower,
        bytes: &[u8],
        command: Option<&[u8]>,
        asks: bool,
        now_ns: u64,
    ) -> Route {
        let stays =
            |pending_read: &PendingRead| command.is_some_and(|payload| pending_read.may_follow(payload, follower));
        let pending_read = self.pending_read.take_if(|pending_read| !stays(pending_read));
        self.freshness.before_sending(follower, now_ns);
        let replaces = match pending_read.as_ref().zip(command) {
            Some((pending_read, payload)) => self.freshness.replaces(pending_read, payload, follower.has_warned()),
            None => ReplacedReads::Nothing,
        };
        let may_have_diverged = self.has_found_rows_diverged || pending_read.is_some();
        let pending_read = match replaces {
            ReplacedReads::Nothing => pending_read,
            ReplacedReads::Last => pending_read.and_then(PendingRead::earlier),
            ReplacedReads::All => None,
        };
        let holds = asks && (pending_read.is_some() || !self.hidden.is_empty());
        let questions = if holds { Vec::new() } else { self.freshness.take_questions() };
        if follower.is_quiet() {
            let matters = may_have_diverged || !questions.is_empty();
            let read = command.filter(|payload| matters && self.freshness.sets_found_rows(payload));
            self.found_rows_effect = read.map_or(FoundRowsEffect::Unknown, |payload| {
                FoundRowsEffect::of_read(self.freshness.aggregates(payload), replaces != ReplacedReads::Nothing)
            });
        }
        let mut packets =
            pending_read.map(|pending_read| self.forward_pending_reads(follower, pending_read)).unwrap_or_default();
        if holds {
            self.held = Some(HeldCommand { command: bytes.to_vec(), awaited: self.hidden.len() });
            return Route::Hold(packets);
        }
        let is_all_replaced = replaces == ReplacedReads::All;
        self.has_found_rows_diverged |=
            is_all_replaced && matches!(self.found_rows_effect, FoundRowsEffect::Aggregate { .. });
        self.append_questions(follower, questions, &mut packets);
        self.forward(follower, bytes);
        if packets.is_empty() { Route::Pass } else { Route::Replace([&packets, bytes].concat()) }
    }

    /// Notes that the next answer of the server belongs to a query of the near cache's own, so that the client must not
    /// receive it.
    fn hide(&mut self, follower: &mut Follower) {
        follower.expect_hidden(Expect::Query);
        self.hidden.push_back(None);
    }

    /// Returns true while a command of the client waits. Nothing more of the client may be read then. A waiting command is taken
    /// with [`take_held`](Self::take_held).
    pub fn is_holding(&self) -> bool {
        self.held.is_some() || self.pending_report.is_some() || self.waiting.is_some()
    }

    /// Returns where the waiting command goes, once it need not wait longer. None if it still waits, or if no command does. To be
    /// called after bytes of the server were taken in, and whenever `context` is woken.
    pub fn take_held(&mut self, context: &mut Context<'_>, follower: &mut Follower) -> Option<Route> {
        let route = self.held(context, follower)?;
        Some(self.answered(route))
    }

    fn held(&mut self, context: &mut Context<'_>, follower: &mut Follower) -> Option<Route> {
        if self.waiting.is_some()
            && let Poll::Ready(()) = self.freshness.poll_wait(context)
            && let Some(packet) = self.waiting.take()
        {
            return Some(match self.decide(follower, &packet, true) {
                Route::Pass => Route::Replace(packet),
                route => route,
            });
        }
        if let Some(pending_report) = self.pending_report.take_if(|pending_report| pending_report.is_over()) {
            return Some(match pending_report.decided() {
                Ok(request) => self.report(follower, &request),
                Err(error) => Route::Answer(error),
            });
        }
        let HeldCommand { command, .. } = self.held.take_if(|held| held.awaited == 0)?;
        if self.has_found_rows_diverged {
            // After this error, a client that reads again must get current rows.
            self.freshness.invalidate_stored();
            return Some(Route::Answer(found_rows_error()));
        }
        self.forward(follower, &command);
        Some(Route::Replace(command))
    }

    /// Takes the outcome of an answer of the server; must be called when the answer is complete. `is_hidden` is true if the client must not
    /// receive the answer, because it did not send the command, or already has an answer to it.
    pub fn answer_completed(&mut self, outcome: &Outcome, is_hidden: bool) {
        if is_hidden {
            return self.hidden_answer_completed(outcome);
        }
        let counts_until_failure = self.freshness.flavour().statements.counts_until_failure;
        let diverges = std::mem::take(&mut self.found_rows_effect).diverges(outcome, counts_until_failure);
        self.has_found_rows_diverged = diverges.unwrap_or(self.has_found_rows_diverged);
        self.freshness.answered(outcome);
    }

    /// Takes the outcome of a complete answer that the client must not receive, because it did not send the command or already has an
    /// answer to it.
    fn hidden_answer_completed(&mut self, outcome: &Outcome) {
        if let Some(HiddenRead { number, rows }) = self.hidden.pop_front().flatten() {
            self.freshness.answered_served(number, outcome);
            self.has_found_rows_diverged |= !has_as_many_rows(rows, outcome);
        }
        self.held.iter_mut().for_each(|held| held.awaited -= 1);
        self.pending_report.iter_mut().for_each(|pending_report| pending_report.hidden_answer_completed(outcome));
    }

    /// Takes bytes of an answer. `number` is the number that was given to its command ([`Follower::number_last_answer`]); answers without
    /// a number are not passed. `outcome` comes with the last bytes.
    pub fn answer_bytes(&mut self, number: u64, bytes: &[u8], outcome: Option<&Outcome>) {
        if let Some(observed_read) = self.observed_read.as_mut().filter(|observed_read| observed_read.is_of(number)) {
            observed_read.take(bytes);
            if let Some((observed_read, outcome)) =
                outcome.and_then(|outcome| Some((self.observed_read.take()?, outcome)))
            {
                let (uses, used) = (&self.memory.results.uses, observed_read.used);
                observed_read.end(outcome).into_iter().for_each(|is_same| uses.count_observed(used, is_same));
            }
        }
        if ObservedRead::is_observed_number(number) {
            return;
        }
        let sets_found_rows = self.freshness.answer_bytes(number, bytes, outcome, self.has_found_rows_diverged);
        self.has_found_rows_diverged &= !sets_found_rows;
    }

    /// Returns the report on the cache that this command asks for (`SHOW FQC STATUS` and the like). None if it asks for none, or
    /// for one that the server answers.
    fn requested_report(&self, follower: &Follower, payload: &[u8]) -> Option<ReportRequest> {
        let query =
            Some(payload).filter(|payload| payload.len() <= LONGEST_COMMAND && payload[0] == Command::Query as u8);
        let query = Query::parse(&query?[1..], follower.capabilities())?;
        report::requested(query.text, || self.freshness.summary())
    }

    /// Answers a report on the cache from the near cache's own figures.
    fn report(&self, follower: &Follower, request: &ReportRequest) -> Route {
        let requester = Requester::of(follower, self.hits);
        let summary = self.freshness.summary().unwrap_or_default();
        Route::Answer(report::answer(&self.memory, &summary, request, &requester))
    }

    /// Asks the server whether the client's account may see this report. The client's command waits until the server has
    /// answered.
    fn hold_report(&mut self, follower: &mut Follower, request: ReportRequest) -> Route {
        let pending_read = self.pending_read.take();
        self.pending_report =
            Some(Box::new(PendingReport::new(request, pending_read.iter().map(PendingRead::count).sum())));
        let mut packets =
            pending_read.map(|pending_read| self.forward_pending_reads(follower, pending_read)).unwrap_or_default();
        let packet = PendingReport::packet(self.freshness.flavour(), follower.capabilities());
        self.hide(follower);
        self.freshness.forward_hidden(&packet[Header::SIZE..]);
        self.seen_ns = clock::now();
        packets.extend(packet);
        Route::Hold(packets)
    }

    /// Returns the packets of the pending reads, oldest first. The caller sends them to the server; their answers are expected,
    /// and the client must not receive them.
    fn forward_pending_reads(&mut self, follower: &mut Follower, mut pending_read: PendingRead) -> Vec<u8> {
        self.has_found_rows_diverged = false;
        let before = std::mem::take(&mut pending_read.before);
        let mut packets = Vec::new();
        for one in before.into_iter().chain([pending_read]) {
            follower.expect_hidden(one.expect());
            let PendingRead { packet, rows, context_id, .. } = one;
            let number = self.freshness.forward_served(&packet[Header::SIZE..], context_id);
            self.hidden.push_back(Some(HiddenRead { number, rows }));
            packets.extend(packet);
        }
        packets
    }

    /// Notes that these bytes of the client are sent to the server, for each command in them.
    fn forward(&mut self, follower: &mut Follower, bytes: &[u8]) {
        self.seen_ns = clock::now();
        let mut rest = bytes;
        while let Some(payload) = follower.is_between_commands().then(|| first_command(rest)).flatten() {
            let (command, others) = rest.split_at(Header::SIZE + payload.len());
            self.forward_piece(follower, command, payload, true);
            rest = others;
        }
        if !rest.is_empty() {
            let begins =
                follower.is_between_commands() && Header::parse(rest).is_some_and(|header| header.sequence == 0);
            let payload = if begins { &rest[Header::SIZE..] } else { &[] };
            self.forward_piece(follower, rest, payload, false);
        }
    }

    /// Notes a piece of what is sent to the server. `payload` is that of a whole command, or the beginning of the first one in
    /// `bytes`.
    fn forward_piece(&mut self, follower: &mut Follower, bytes: &[u8], payload: &[u8], is_whole: bool) {
        let (before, was_at_rest, is_of_file) =
            (follower.commands_begun(), follower.is_at_rest(), follower.is_in_file());
        follower.client_bytes(bytes);
        let commands_begun = follower.commands_begun() - before;
        let number =
            self.freshness.forward(&SentBytes { bytes, payload, is_whole, commands_begun, was_at_rest, is_of_file });
        let observed_read = self.observed_read.as_mut().filter(|observed_read| !observed_read.is_sent());
        let number = observed_read.map(|observed_read| observed_read.send(number)).or(number);
        number.into_iter().for_each(|number| follower.number_last_answer(number));
    }
}

/// Returns true if a client tries to attach as a near cache. This is refused: commands that are answered here never reach the
/// server, so such a client and the server would count differently.
fn attaches(payload: &[u8]) -> bool {
    payload.strip_prefix(&[Command::Query as u8]).is_some_and(feed::attaches)
}

/// Splits a COM_STMT_CLOSE from the bytes that come after it. None if the bytes begin otherwise, or nothing comes after it.
fn close_before_others(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let close = first_command(bytes).filter(|payload| payload[0] == Command::StmtClose as u8)?;
    Some(bytes.split_at(Header::SIZE + close.len())).filter(|(_, others)| !others.is_empty())
}

/// Returns the error packet for a client that tries to attach as a near cache.
fn refusal() -> Vec<u8> {
    let message =
        "another fqc-near stands before the server; attach to the server itself, or serve by rules or the binary log";
    ErrPacket::build(1, NOT_SUPPORTED, b"42000", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leases::ByLeases;
    use crate::login_facts::LoginFacts;
    use feed::{CommandReport, Frame, ToNear, command_check};
    use std::cell::Cell;
    use std::rc::Rc;
    use wire::{Packet, capability, push_packet, status, surface::text_result};

    const GREETING: u64 = 9;
    const CAPABILITIES: u64 = capability::DEPRECATE_EOF;

    /// Returns the facts about a connection with this number to a MariaDB server.
    fn login_facts(number: u32) -> LoginFacts {
        let (greeting, capabilities) = (GREETING, CAPABILITIES);
        LoginFacts { number, greeting, version: b"10.11.19-MariaDB".into(), capabilities, ..LoginFacts::default() }
    }

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        push_packet(&mut out, &mut { sequence }, payload);
        out
    }

    /// Applies a frame of the feed with this frame number to `memory`, as if the server had sent it with these messages.
    fn receive(memory: &Memory, number: u64, messages: Vec<ToNear>) {
        assert!(memory.receive(Frame { number, messages }).is_ok());
    }

    /// The report on an execution often arrives when the next execution has been sent already. Its result must be served all the
    /// same.
    #[test]
    fn an_execution_is_served_though_the_one_before_was_sent_when_nothing_was_told_yet() {
        let memory = Arc::new(Memory::new(4 << 20));
        let begin = ToNear::Attached { version: 1, attachment: [1, 2], lease_ns: u64::MAX / 2 };
        receive(&memory, 1, vec![begin, ToNear::Granted { sent: u64::MAX / 2 }]);
        let mut session = Session::new(&memory, ByLeases::new(&memory, &login_facts(7), false));
        let mut follower = Follower::new(CAPABILITIES);
        let execution = packet(0, &[23, 1, 0, 0, 0, 0, 1, 0, 0, 0]);
        let prepared = packet(1, &[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        let rows = text_result(&["a"], &[vec![Some("1".into())]], CAPABILITIES, status::AUTOCOMMIT);
        let answers = [[prepared, packet(2, &[0; 8])].concat(), rows.clone(), rows];
        for (command, answer) in [packet(0, b"\x16SELECT 1"), execution.clone(), execution.clone()].iter().zip(&answers)
        {
            assert!(matches!(session.client_bytes(&mut follower, command, true), Route::Pass));
            let mut shown = Vec::new();
            follower.server_bytes(answer, |part| {
                shown.extend(part.number.map(|one| (one, part.bytes.to_vec(), part.outcome)))
            });
            shown.iter().for_each(|(number, bytes, outcome)| session.answer_bytes(*number, bytes, outcome.as_ref()));
        }
        let check = command_check(GREETING, Packet::parse(&execution).expect("a packet").payload);
        let report = CommandReport {
            connection: 7,
            command: 2,
            check,
            context: 3,
            stamp: 5,
            cells: vec![(1, 1)],
            ..CommandReport::default()
        };
        receive(&memory, 2, vec![ToNear::Report(report)]);
        assert!(matches!(session.client_bytes(&mut follower, &execution, true), Route::Answer(_)));
    }

    const READ: &[u8] = b"\x03SELECT v FROM t";
    const OTHER: &[u8] = b"\x03SELECT v FROM u";
    /// Status flags of a session in a transaction.
    const INSIDE: u16 = status::IN_TRANS | status::IN_TRANS_READONLY;

    /// A client's connection through a near cache that has been granted a lease. Its reads depend on cell 1.
    struct TestConnection {
        /// The connection's number on the server.
        number: u32,
        memory: Arc<Memory>,
        session: Session,
        follower: Follower,
        /// The number of the last frame on the feed, which all connections of the near cache share.
        frames: Rc<Cell<u64>>,
    }

    impl TestConnection {
        /// Returns the first connection of a near cache that has been granted a lease.
        fn new() -> TestConnection {
            let line = TestConnection::of(7, &Arc::new(Memory::new(4 << 20)), Rc::default());
            let begin = ToNear::Attached { version: 3, attachment: [1, 2], lease_ns: u64::MAX / 2 };
            line.receive(vec![begin, ToNear::Granted { sent: u64::MAX / 2 }]);
            line
        }

        /// Returns a connection with this number to the near cache of `memory`. `frames` counts the frames of its feed.
        fn of(number: u32, memory: &Arc<Memory>, frames: Rc<Cell<u64>>) -> TestConnection {
            let session = Session::new(memory, ByLeases::new(memory, &login_facts(number), false));
            TestConnection { number, memory: memory.clone(), session, follower: Follower::new(CAPABILITIES), frames }
        }

        /// Returns another connection of this near cache.
        fn another(&self) -> TestConnection {
            TestConnection::of(self.number + 1, &self.memory, self.frames.clone())
        }

        /// Lets the server send these messages on the feed, in the next frame.
        fn receive(&self, messages: Vec<ToNear>) {
            self.frames.set(self.frames.get() + 1);
            receive(&self.memory, self.frames.get(), messages);
        }

        /// Lets the client send a command. Returns the answer if the near cache gives one itself; none if the command went to the
        /// server.
        fn served(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
            match self.session.client_bytes(&mut self.follower, &packet(0, payload), true) {
                Route::Answer(answer) => Some(answer),
                _ => None,
            }
        }

        /// Lets the server send these bytes, which answer the pending commands.
        fn answer(&mut self, answer: &[u8]) {
            let mut shown = Vec::new();
            self.follower.server_bytes(answer, |part| {
                shown.extend(part.number.map(|one| (one, part.bytes.to_vec(), part.outcome)))
            });
            shown
                .iter()
                .for_each(|(number, bytes, outcome)| self.session.answer_bytes(*number, bytes, outcome.as_ref()));
        }

        /// Lets the client send a command that the near cache does not answer, and the server answer OK with these status flags.
        fn run(&mut self, payload: &[u8], flags: u16) {
            assert!(self.served(payload).is_none());
            self.answer(&wire::ok_packet(1, 0, 0, flags, 0));
        }

        /// Lets the server run this read in session context 3 and report it on the feed with the dependencies in `report`.
        /// `report.command` is the number of the read on this connection. `flags` are the status flags of its answer.
        fn read(&mut self, payload: &[u8], flags: u16, report: CommandReport) {
            self.read_in(3, payload, flags, report);
        }

        /// Lets the server run this read in the session context `context` and report it on the feed with the dependencies in `report`.
        /// `flags` are the status flags of its answer.
        fn read_in(&mut self, context: u64, payload: &[u8], flags: u16, report: CommandReport) {
            assert!(self.served(payload).is_none());
            self.answer(&one_row(flags));
            let check = command_check(GREETING, payload);
            self.receive(vec![ToNear::Report(CommandReport { connection: self.number, check, context, ..report })]);
        }
    }

    /// Returns a result set with one row, and with these status flags.
    fn one_row(flags: u16) -> Vec<u8> {
        text_result(&["v"], &[vec![Some("1".into())]], CAPABILITIES, flags)
    }

    /// Returns a report on a read of cell 1 that may be shared with sessions in transactions. `snapshot` is the stamp of the
    /// connection's own transaction, if it is in one.
    fn inside(command: u64, snapshot: Option<u64>) -> CommandReport {
        CommandReport {
            command,
            snapshot,
            is_for_transactions: true,
            stamp: 5,
            cells: vec![(1, 4)],
            ..CommandReport::default()
        }
    }

    #[test]
    fn a_transaction_is_served_what_has_not_changed_since_its_snapshot() {
        for (snapshot, is_served) in [(Some(5), true), (Some(4), true), (Some(3), false), (None, false)] {
            let mut line = TestConnection::new();
            line.run(b"\x03BEGIN", INSIDE);
            line.read(READ, INSIDE, inside(2, snapshot));
            assert_eq!(line.served(READ), is_served.then(|| one_row(INSIDE)), "{snapshot:?}");
        }
    }

    #[test]
    fn sessions_inside_and_outside_of_transactions_share_results_and_get_flags_of_their_own() {
        let mut line = TestConnection::new();
        line.read(READ, status::AUTOCOMMIT, inside(1, None));
        assert_eq!(line.served(READ), Some(one_row(status::AUTOCOMMIT)));
        line.run(b"\x03SET autocommit = 0", 0);
        line.answer(&wire::ok_packet(1, 0, 0, 0, 0));
        line.read(OTHER, status::IN_TRANS, inside(4, Some(5)));
        assert_eq!(line.served(READ), Some(one_row(status::IN_TRANS)));
        assert_eq!(line.served(OTHER), Some(one_row(status::IN_TRANS)));
    }

    #[test]
    fn what_is_not_told_to_be_for_transactions_is_served_outside_of_them() {
        let report = |command, snapshot| CommandReport { is_for_transactions: false, ..inside(command, snapshot) };
        let mut line = TestConnection::new();
        line.read(READ, status::AUTOCOMMIT, report(1, None));
        assert!(line.served(READ).is_some());
        let mut line = TestConnection::new();
        line.run(b"\x03BEGIN", INSIDE);
        line.read(READ, INSIDE, report(2, Some(5)));
        assert!(line.served(READ).is_none());
    }

    #[test]
    fn nothing_is_served_where_the_server_s_flags_and_what_it_told_differ() {
        let mut line = TestConnection::new();
        line.read(READ, INSIDE, inside(1, None));
        assert!(line.served(READ).is_none());
        let mut line = TestConnection::new();
        line.read(READ, status::AUTOCOMMIT, inside(1, Some(5)));
        assert!(line.served(READ).is_none());
    }

    #[test]
    fn after_anything_but_a_read_of_its_memory_a_transaction_is_unknown() {
        for other in [&b"\x03COMMIT"[..], b"\x03SAVEPOINT s", b"\x03SELECT 1 INTO @a", b"\x03UPDATE u SET v = 1"] {
            let mut line = TestConnection::new();
            line.run(b"\x03BEGIN", INSIDE);
            line.read(READ, INSIDE, inside(2, Some(5)));
            line.run(other, INSIDE);
            assert!(line.served(READ).is_none());
        }
    }

    #[test]
    fn what_others_have_read_since_it_changed_is_not_served_in_an_earlier_snapshot() {
        let mut line = TestConnection::new();
        line.run(b"\x03BEGIN", INSIDE);
        line.read(READ, INSIDE, inside(2, Some(5)));
        line.receive(vec![ToNear::Closed { cells: vec![1] }, ToNear::Opened { cells: vec![(1, 6)] }]);
        let mut other = line.another();
        other.read(READ, status::AUTOCOMMIT, CommandReport { stamp: 7, cells: vec![(1, 6)], ..inside(1, None) });
        assert!(other.served(READ).is_some());
        assert!(line.served(READ).is_none());
    }

    /// Another process that maps the results, and finds the connection's slot there. It has only the file descriptor.
    struct Other {
        reader: mapped::Reader<mapped::Map>,
        slot: mapped::ConnectionSlot,
    }

    /// The hash of the greeting that the client got. Another process finds the connection by this value.
    const SHOWN_GREETING: u64 = 11;

    /// Returns a connection of an attached near cache that shares its results, and a process that maps them.
    fn shared() -> (TestConnection, Other) {
        let layout = mapped::Layout::new(4, 4, 12).with_connections(0);
        let (map, file) = mapped::create_memory(layout).expect("memory");
        let published = crate::published::Published::new(map, layout, 3).expect("it is large enough");
        let results = crate::results::Results::with_published(4 << 20, Some(Arc::new(published)));
        let mut line = TestConnection::of(7, &Arc::new(Memory::with_results(results)), Rc::default());
        line.session.share(SHOWN_GREETING);
        line.attach(1);
        let reader = mapped::Reader::new(mapped::map_memory(&file).expect("a map")).expect("a writer's memory");
        let slot = reader.connection_slot(SHOWN_GREETING).expect("the connection is there");
        (line, Other { reader, slot })
    }

    impl Other {
        /// Returns the answer that this process would give to the command, if the byte counts of the client were those that the
        /// writer has noted.
        fn find(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
            let connection = self.reader.connection(&self.slot, SHOWN_GREETING)?;
            let bound = wire::execution(payload).map(|(_, bound)| bound);
            let scope = connection.statement.map(|statement| statement.scope);
            let (context, parts) = match (&scope, bound) {
                (Some(scope), Some(bound)) => (connection.binary, [&scope[..], bound]),
                _ => (connection.text, [payload, b""]),
            };
            let mut answer = Vec::new();
            self.reader.find_for(&connection, &context, parts, || 0, &mut answer).ok().map(|_| answer)
        }

        /// Returns how many bytes the client had sent and received when it was last served. None if the slot is free.
        fn counts(&self) -> Option<[u64; 2]> {
            self.reader.connection(&self.slot, SHOWN_GREETING).map(|one| [one.received, one.shown])
        }
    }

    impl TestConnection {
        /// Lets the client prepare a statement with one parameter, to which the server gives this id.
        fn prepare(&mut self, id: u8) {
            assert!(self.served(b"\x16SELECT v FROM t WHERE id = ?").is_none());
            let prepared = packet(1, &[0, id, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]);
            self.answer(&[prepared, packet(2, &[0; 8]), packet(3, &[0; 8])].concat());
        }

        /// Lets the server begin an attachment with this number, and grant a lease.
        fn attach(&self, attachment: u64) {
            let begin = ToNear::Attached { version: 3, attachment: [attachment, 2], lease_ns: u64::MAX / 2 };
            self.receive(vec![begin, ToNear::Granted { sent: u64::MAX / 2 }]);
        }
    }

    #[test]
    fn other_processes_find_a_result_that_was_served_until_its_cells_are_closed() {
        let (mut line, mut other) = shared();
        line.read(READ, status::AUTOCOMMIT, inside(1, None));
        assert_eq!(other.find(READ), None, "it was not asked for again");
        assert!(line.served(READ).is_some());
        assert_eq!(other.find(READ), Some(one_row(status::AUTOCOMMIT)));
        line.receive(vec![ToNear::Closed { cells: vec![1] }]);
        assert_eq!(other.find(READ), None);
        line.receive(vec![ToNear::Opened { cells: vec![(1, 6)] }]);
        assert_eq!(other.find(READ), None, "it has changed");
        line.read(READ, status::AUTOCOMMIT, CommandReport { stamp: 7, cells: vec![(1, 6)], ..inside(2, None) });
        assert!(line.served(READ).is_some() && other.find(READ).is_some());
        line.memory.detach();
        assert_eq!(other.find(READ), None, "the lease is over");
        line.frames.set(0);
        line.attach(2);
        assert_eq!(other.find(READ), None, "it belongs to another attachment");
    }

    #[test]
    fn other_processes_serve_a_connection_only_as_far_as_both_have_counted() {
        let (mut line, mut other) = shared();
        line.read(READ, status::AUTOCOMMIT, inside(1, None));
        line.session.count_shown(50);
        assert_eq!(other.find(READ), None, "the connection was not served yet");
        assert!(line.served(READ).is_some());
        let sent = packet(0, READ).len() as u64;
        let counted = [2 * sent, 50 + one_row(status::AUTOCOMMIT).len() as u64];
        assert_eq!(other.counts(), Some(counted));
        line.run(b"\x03SET time_zone = '+00:00'", status::AUTOCOMMIT);
        assert_eq!(other.counts(), Some(counted), "it holds for as many bytes as before");
        drop(line);
        assert_eq!(other.counts(), None);
    }

    /// Builds an execution with one parameter, with or without its type.
    fn execute(id: u8, kind: Option<u8>, value: u64) -> Vec<u8> {
        let types = kind.map_or(vec![0], |kind| vec![1, kind, 0]);
        [&[23, id, 0, 0, 0, 0, 1, 0, 0, 0, 0][..], &types, &value.to_le_bytes()].concat()
    }

    /// The type of an eight-byte integer.
    const INTEGER: Option<u8> = Some(8);

    /// Returns a connection that has prepared statement 7, and whose first execution the server has reported.
    fn executed() -> (TestConnection, Other) {
        let (mut line, other) = shared();
        line.prepare(7);
        let report = CommandReport { holds_over_preparations: true, ..inside(2, None) };
        line.read(&execute(7, INTEGER, 1), status::AUTOCOMMIT, report);
        (line, other)
    }

    /// The server assigns different context numbers to the two protocols, and other processes must find both.
    #[test]
    fn other_processes_know_the_contexts_of_texts_and_of_executions() {
        let (mut line, mut other) = executed();
        line.read_in(4, READ, status::AUTOCOMMIT, inside(3, None));
        for read in [READ, &execute(7, INTEGER, 1), READ] {
            assert!(line.served(read).is_some());
            let connection = other.reader.connection(&other.slot, SHOWN_GREETING).expect("it was served");
            assert_eq!([connection.text.number, connection.binary.number], [4, 3]);
            assert!(other.find(read).is_some());
        }
        assert_eq!(other.find(OTHER), None);
    }

    #[test]
    fn other_processes_find_executions_of_a_statement_that_was_served_with_the_types_that_the_server_has() {
        for kind in [INTEGER, None] {
            let (mut line, mut other) = executed();
            assert_eq!(other.find(&execute(7, kind, 1)), None, "it was not asked for again");
            assert!(line.served(&execute(7, kind, 1)).is_some());
            assert_eq!(other.find(&execute(7, kind, 1)), Some(one_row(status::AUTOCOMMIT)));
            for different in [execute(7, kind, 2), execute(7, Some(3), 1)] {
                assert_eq!(other.find(&different), None);
            }
            line.receive(vec![ToNear::Closed { cells: vec![1] }]);
            assert_eq!(other.find(&execute(7, kind, 1)), None);
        }
    }

    #[test]
    fn the_server_gets_the_types_of_a_statement_at_its_second_execution_so_that_other_processes_may_answer_it() {
        for is_shared in [true, false] {
            let (mut line, _) = executed();
            line.session.shared = line.session.shared.take().filter(|_| is_shared);
            line.prepare(8);
            assert!(line.served(&execute(8, INTEGER, 1)).is_some());
            assert_eq!(line.served(&execute(8, INTEGER, 1)).is_none(), is_shared);
        }
    }

    #[test]
    fn the_server_sees_an_execution_that_another_process_answered_before_the_next_command() {
        let (mut line, mut other) = executed();
        assert!(line.served(&execute(7, INTEGER, 1)).is_some() && other.find(&execute(7, INTEGER, 1)).is_some());
        for (execution, is_sent) in [(execute(7, INTEGER, 1), true), (execute(7, Some(3), 1), false)] {
            let read = packet(0, &execution);
            let report = HitReport { hits: 1, rows: 1, packet: &read }.write();
            let bytes = [report, packet(0, b"\x03SELECT FOUND_ROWS()")].concat();
            let Route::Hold(sent) = line.session.client_bytes(&mut line.follower, &bytes, true) else {
                assert!(!is_sent);
                continue;
            };
            assert!(is_sent && sent == read);
            line.answer(&one_row(status::AUTOCOMMIT));
            line.session.take_held(&mut Context::from_waker(std::task::Waker::noop()), &mut line.follower);
            line.answer(&one_row(status::AUTOCOMMIT));
        }
    }

    #[test]
    fn a_connection_in_a_transaction_is_not_served_by_other_processes() {
        let (mut line, other) = shared();
        line.run(b"\x03BEGIN", INSIDE);
        line.read(READ, INSIDE, inside(2, Some(5)));
        assert!(line.served(READ).is_some());
        assert_eq!(other.counts(), Some([0; 2]));
    }

    #[test]
    fn the_server_sees_a_read_that_another_process_served_before_the_next_command() {
        let (mut line, _) = shared();
        let read = packet(0, READ);
        let report = HitReport { hits: 3, rows: 1, packet: &read }.write();
        let command = packet(0, b"\x03SELECT FOUND_ROWS()");
        for cut in [0, 3, 20, report.len(), report.len() + 7] {
            let before = line.memory.results.hits.load(Ordering::Relaxed);
            let bytes = [&report[..], &command].concat();
            let mut sent = Vec::new();
            for part in [&bytes[..cut], &bytes[cut..]] {
                match line.session.client_bytes(&mut line.follower, part, true) {
                    Route::Replace(bytes) | Route::Hold(bytes) => sent.extend(bytes),
                    Route::Pass => sent.extend_from_slice(part),
                    Route::Answer(_) | Route::ReplaceAndAnswer { .. } => panic!("nothing is known of the rows found"),
                }
                if cut > report.len() {
                    break;
                }
            }
            assert!(sent.starts_with(&read), "cut at {cut}");
            assert_eq!(line.memory.results.hits.load(Ordering::Relaxed), before + 3);
            let (next, _) = shared();
            line = next;
        }
    }

    const CLOSE: &[u8] = b"\x19\x01\0\0\0";
    const FOUND: &[u8] = b"\x03SELECT FOUND_ROWS()";

    #[test]
    fn a_read_is_served_that_comes_in_one_write_with_the_close_of_a_statement() {
        let mut line = TestConnection::new();
        line.read(READ, status::AUTOCOMMIT, inside(1, None));
        // A client may send any number of them.
        let closes = packet(0, CLOSE).repeat(100_000);
        match line.session.client_bytes(&mut line.follower, &[&closes[..], &packet(0, READ)].concat(), true) {
            Route::ReplaceAndAnswer { to_server, answer } => {
                assert_eq!((to_server, answer), (closes, one_row(status::AUTOCOMMIT)));
            }
            _ => panic!("the read is not served"),
        }
        let rest = [packet(0, CLOSE), packet(0, OTHER)].concat();
        match line.session.client_bytes(&mut line.follower, &rest, true) {
            Route::Replace(bytes) => {
                assert!(bytes.starts_with(&packet(0, CLOSE)) && bytes.ends_with(&packet(0, OTHER)))
            }
            _ => panic!("the other read is not sent"),
        }
    }

    #[test]
    fn rows_found_that_are_not_known_are_refused_in_one_write_with_the_close_of_a_statement() {
        let mut line = TestConnection::new();
        line.session.has_found_rows_diverged = true;
        match line.session.client_bytes(&mut line.follower, &[packet(0, CLOSE), packet(0, FOUND)].concat(), true) {
            Route::ReplaceAndAnswer { to_server, answer } => {
                assert_eq!((to_server, answer), (packet(0, CLOSE), found_rows_error()))
            }
            _ => panic!("the server's number is taken for the client's"),
        }
    }

    #[test]
    fn rows_found_wait_for_the_answers_of_reads_that_were_sent_with_the_command_before() {
        let two_rows = text_result(&["v"], &vec![vec![Some("1".into())]; 2], CAPABILITIES, status::AUTOCOMMIT);
        for (rows, is_right) in [(one_row(status::AUTOCOMMIT), true), (two_rows, false)] {
            let mut line = TestConnection::new();
            line.read(READ, status::AUTOCOMMIT, inside(1, None));
            assert!(line.served(READ).is_some());
            assert!(line.served(b"\x02d").is_none());
            let found_rows = line.session.client_bytes(&mut line.follower, &packet(0, FOUND), true);
            assert!(matches!(found_rows, Route::Hold(bytes) if bytes.is_empty()));
            let take = |line: &mut TestConnection| {
                line.session.take_held(&mut Context::from_waker(std::task::Waker::noop()), &mut line.follower)
            };
            assert!(take(&mut line).is_none());
            let TestConnection { session, follower, .. } = &mut line;
            follower.server_bytes(&rows, |part| {
                part.outcome.iter().for_each(|outcome| session.answer_completed(outcome, part.is_hidden));
            });
            match take(&mut line) {
                Some(Route::Replace(command)) => assert!(is_right && command == packet(0, FOUND)),
                Some(Route::Answer(answer)) => assert!(!is_right && answer == found_rows_error()),
                _ => panic!("the command still waits"),
            }
        }
    }
}
