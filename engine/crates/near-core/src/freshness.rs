//! The interface that decides whether a result may be served. There is one implementation for each way to know that a result is
//! current enough.
//!
//! A [`Session`](crate::session::Session) controls the conversation between a client and its server. It calls the `Freshness` of
//! the connection for each command, and reports to it what the server receives and answers. Everything that all kinds have in
//! common, such as what the server must see before it is asked for `FOUND_ROWS()`, is written only in `session`.

use crate::follow::Follower;
use crate::pending_read::PendingRead;
use crate::prepared::ContextId;
use crate::published::ServedContexts;
use crate::session_flags::FlagOffsets;
use crate::uses::Use;
use flavour::Flavour;
use insight::report::Row;
use sql::Aggregates;
use std::task::{Context, Poll};
use wire::Outcome;

/// Bytes that a client has just sent, with the facts that decide whether they may be answered from memory.
pub struct Arrival<'a> {
    /// The payload, if the bytes are exactly one whole command. None for anything else, which can only go to the server.
    pub command: Option<&'a [u8]>,
    /// The state of the connection before these bytes.
    pub follower: &'a Follower,
    /// True if the client has received all bytes that were sent to it before.
    pub has_client_received_all: bool,
    /// True if the server need not receive this command: it has received one recently, and lacks no parameter types of executions
    /// that were answered from memory.
    pub may_stay_pending: bool,
    /// True if the server has run every read that this client received an answer to, and its FOUND_ROWS() is the client's.
    pub has_server_received_all: bool,
    /// The value that FOUND_ROWS() must have for the client, if the client's last read was answered from memory. None if that is
    /// not certain.
    pub found_rows: Option<u64>,
    /// A time after the bytes have arrived, by [`clock::now`](crate::clock::now).
    pub now_ns: u64,
}

/// The decision on bytes that have arrived.
pub enum Verdict {
    /// The client gets this result, and the server gets nothing.
    Serve(Served),
    /// The command waits. Call [`Freshness::decide`] again for it once [`Freshness::poll_wait`] is ready.
    Wait,
    /// Send the questions of [`Freshness::take_questions`] to the server. The command waits as with `Wait`.
    Ask,
    /// The bytes go to the server.
    Forward,
}

/// A result from memory that answers a read.
pub struct Served {
    /// The packets for the client, with the flags of a session outside of transactions.
    pub answer: Vec<u8>,
    /// The number of rows in the answer.
    pub rows: u64,
    /// The value of FOUND_ROWS() after the read. None if it is not certain.
    pub found_rows: Option<u64>,
    /// True if the server would give a warning, because the statement's text contains deprecated words.
    pub warns: bool,
    /// The offsets of the status flags in the answer. None if it may not be served in transactions.
    pub flag_offsets: Option<FlagOffsets>,
    /// The statistics in which the hit is counted.
    pub used: Option<Use>,
    /// The session context in which the result was found. None if the server assigns no numbers to contexts.
    pub context_id: Option<ContextId>,
    /// The parameter types that the read binds, if the server has none for its prepared statement yet.
    pub first_types: Option<Vec<u8>>,
    /// The session contexts in which other processes may serve this connection's next reads. None if they may not.
    pub served_contexts: Option<Box<ServedContexts>>,
}

impl Served {
    /// Builds a result that may be served only outside of transactions. All other fields are empty.
    pub fn new(answer: Vec<u8>, rows: u64) -> Served {
        Served {
            answer,
            rows,
            found_rows: None,
            warns: false,
            flag_offsets: None,
            used: None,
            context_id: None,
            first_types: None,
            served_contexts: None,
        }
    }

    /// Copies the result in a cache entry, with its offsets of status flags and its statistics.
    pub fn of(entry: &cache::Entry) -> Served {
        let (flag_offsets, used) = (FlagOffsets::from_bits(entry.flags()), Some(Use::of(entry)));
        Served { flag_offsets, used, ..Served::new(entry.value().to_vec(), entry.rows()) }
    }
}

/// The pending reads that need not be sent to the server, because the next command leaves the same state behind. Pending reads are
/// those that were answered from memory and that the server has not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacedReads {
    /// All pending reads must be sent.
    Nothing,
    /// All but the last pending read must be sent.
    Last,
    /// No pending read need be sent.
    All,
}

/// Bytes of the client that the server receives: one whole command, or parts of several commands.
pub struct SentBytes<'a> {
    pub bytes: &'a [u8],
    /// The payload of the whole command, or the beginning of that of the first one. Empty if no command begins in these bytes.
    pub payload: &'a [u8],
    /// True if the bytes are exactly one whole command.
    pub is_whole: bool,
    /// The number of commands that begin in these bytes.
    pub commands_begun: usize,
    /// True if, before these bytes, all commands were answered and no transaction was open.
    pub was_at_rest: bool,
    /// True if the bytes are the content of a file for LOAD DATA LOCAL.
    pub is_of_file: bool,
}

/// The part of a report on the cache that depends on the kind of freshness: leases, the binary log, or rules.
#[derive(Default)]
pub struct Summary {
    /// The value of the row `Cache`: whether results are served, and otherwise why not.
    pub cache: String,
    /// Further rows of `SHOW FQC STATUS`.
    pub rows: Vec<Row>,
    /// True if `SHOW FQC REASONS` is answered by the near cache, not by the server.
    pub has_reasons: bool,
}

/// Decides which results may be served on one connection, and which of its answers are stored. There is one implementation for
/// leases, and one for both the binary log and rules.
pub trait Freshness: Send {
    /// Returns the product and dialect of the server.
    fn flavour(&self) -> &'static Flavour;

    /// Returns this kind's part of reports on the cache. None if such reports go to the server.
    fn summary(&self) -> Option<Summary>;

    /// Decides on bytes that have arrived. After [`Verdict::Wait`] and [`Verdict::Ask`] it is called again for the same bytes.
    /// After [`Verdict::Forward`], the session may still answer the command itself, with a report on the cache or an error.
    fn decide(&mut self, arrival: &Arrival<'_>) -> Verdict;

    /// Is ready when `decide` is to be called again for the command that waits. If it is pending, `context` is woken, or an
    /// answer of the server must arrive first.
    fn poll_wait(&mut self, _context: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// Is called before any bytes of the client are sent to the server. `follower` describes the connection before these bytes.
    fn before_sending(&mut self, _follower: &Follower, _now_ns: u64) {}

    /// Returns questions to send before the client's command: packets, each with a number. Their answers must be passed to
    /// [`answer_bytes`](Self::answer_bytes) with these numbers, and the client must not receive them.
    fn take_questions(&mut self) -> Vec<(u64, Vec<u8>)> {
        Vec::new()
    }

    /// Is called when the server receives these bytes of the client. If this returns a number, the answer to the last command in
    /// them must be passed to [`answer_bytes`](Self::answer_bytes) with that number. None: that answer is of no use, and need not be
    /// passed.
    fn forward(&mut self, sent: &SentBytes<'_>) -> Option<u64>;

    /// Is called when the server receives a read that was already answered from memory, in the session context `context_id`; none if
    /// the host does not know it. Returns the number of the command, with which its outcome comes in
    /// [`answered_served`](Self::answered_served).
    fn forward_served(&mut self, _payload: &[u8], _context_id: Option<ContextId>) -> u64 {
        0
    }

    /// Is called when the server receives a command that the client has not sent, other than a question of
    /// [`take_questions`](Self::take_questions).
    fn forward_hidden(&mut self, _payload: &[u8]) {}

    /// Receives bytes of the answer to the command with this number. `outcome` comes with the last bytes. Returns true if the
    /// answer has certainly set FOUND_ROWS() on the server. That matters only if `has_found_rows_diverged` is true, which means that
    /// FOUND_ROWS() there may not belong to the client's last read.
    fn answer_bytes(
        &mut self,
        number: u64,
        bytes: &[u8],
        outcome: Option<&Outcome>,
        has_found_rows_diverged: bool,
    ) -> bool;

    /// Returns true if this command may be a read that another process has answered from mapped memory.
    fn may_be_answered_elsewhere(&mut self, _payload: &[u8]) -> bool {
        false
    }

    /// Is called when the server has answered a read of [`forward_served`](Self::forward_served), with its number.
    fn answered_served(&mut self, _number: u64, _outcome: &Outcome) {}

    /// Is called when the server has answered a command of the client.
    fn answered(&mut self, _outcome: &Outcome) {}

    /// Called to invalidate, for this connection alone, all results that were stored before this call: they must not be served on it any
    /// more.
    fn invalidate_stored(&mut self) {}

    /// Returns true if this command may evaluate FOUND_ROWS(). False means that it certainly does not.
    fn asks_for_found_rows(&mut self, payload: &[u8]) -> bool;

    /// Returns which of the pending reads need not be sent before this command, because it leaves the same state behind.
    /// `has_warned` is true if the server may hold warnings of a statement before those reads.
    fn replaces(&mut self, pending_read: &PendingRead, payload: &[u8], has_warned: bool) -> ReplacedReads;

    /// Returns whether the statement that this command runs aggregates rows. An aggregate over no rows leaves FOUND_ROWS()
    /// unchanged.
    fn aggregates(&self, payload: &[u8]) -> Aggregates;

    /// Returns true if this command is known to be a read that sets FOUND_ROWS(), unless it fails or aggregates over no rows.
    /// Other commands may send rows and leave the number as it is, for example an execution of a prepared SHOW WARNINGS.
    fn sets_found_rows(&mut self, payload: &[u8]) -> bool;
}
