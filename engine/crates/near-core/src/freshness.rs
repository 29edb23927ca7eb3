//! The interface that decides whether a result may be served. There is one implementation for each way to know that a result is
//! current enough.
//!
//! A [`Session`](crate::session::Session) controls the conversation between a client and its server. It calls the `Freshness` of
//! the connection for each command, and reports to it what the server receives and answers. Everything that all kinds have in
//! common, such as what the server must see before it is asked for `FOUND_ROWS()`, is written only in `session`.

use crate::follow::Follower;
use crate::prepared::Under;
use crate::published::Standing;
use crate::session_flags::Places;
use crate::unseen::Unseen;
use crate::uses::Use;
use flavour::Flavour;
use insight::report::Row;
use sql::Aggregates;
use std::task::{Context, Poll};
use wire::Outcome;

/// Bytes that a client has just sent.
pub struct Arrival<'a> {
    /// The payload, if the bytes are one whole command.
    pub command: Option<&'a [u8]>,
    pub follower: &'a Follower,
    /// True if the client has received everything that came before.
    pub is_heard: bool,
    /// True if the server need not see this command: it has received a command recently, and knows all types that were bound to
    /// parameters.
    pub may_stay_unseen: bool,
    /// True if the server has run every read that this client has received, and has the client's number of rows found.
    pub has_seen_all: bool,
    /// The value of `FOUND_ROWS()`, if the client's last read was answered from memory. None if it is not certain.
    pub found: Option<u64>,
    /// A time after the bytes have arrived.
    pub now_ns: u64,
}

pub enum Verdict {
    Serve(Served),
    /// The command waits until [`Freshness::poll_wait`] is ready.
    Wait,
    /// The command waits as with `Wait`, after the server was sent the questions of [`Freshness::ahead`].
    Ask,
    /// The command goes to the server.
    Forward,
}

/// A result that is served.
pub struct Served {
    pub answer: Vec<u8>,
    pub rows: u64,
    /// The value of `FOUND_ROWS()` after the read, if it differs from the number of rows.
    pub found: Option<u64>,
    /// True if the server warns of words in the text.
    pub warns: bool,
    /// The places of the status flags in the answer. None if it may not be served in transactions.
    pub places: Option<Places>,
    /// The statistics that count the hit.
    pub used: Option<Use>,
    /// The server's number for the session's context. None if the server assigns no such numbers.
    pub under: Option<Under>,
    /// The types that the read binds, if the server has none for its statement yet.
    pub first_types: Option<Vec<u8>>,
    /// The contexts with which other processes may serve this connection's next reads. None if they may not.
    pub standing: Option<Box<Standing>>,
}

impl Served {
    /// Builds a result that may be served only outside of transactions.
    pub fn new(answer: Vec<u8>, rows: u64) -> Served {
        Served {
            answer,
            rows,
            found: None,
            warns: false,
            places: None,
            used: None,
            under: None,
            first_types: None,
            standing: None,
        }
    }

    pub fn of(entry: &cache::Entry) -> Served {
        let (places, used) = (Places::from_bits(entry.flags()), Some(Use::of(entry)));
        Served { places, used, ..Served::new(entry.value().to_vec(), entry.rows()) }
    }
}

/// The unseen reads that need not be sent to the server, because the next command leaves the same state behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    Nothing,
    /// Only the last read need not be sent.
    Last,
    All,
}

/// Bytes that the server receives: one whole command, or parts of several commands.
pub struct Sent<'a> {
    pub bytes: &'a [u8],
    /// The payload of the whole command, or the beginning of the first one.
    pub payload: &'a [u8],
    pub is_whole: bool,
    /// The number of commands that begin in these bytes.
    pub begun: usize,
    /// True if, before these bytes, all commands were answered and no transaction was open.
    pub was_at_rest: bool,
    /// True if the bytes are the content of a file.
    pub is_of_file: bool,
}

/// The part of a report on the cache that depends on the kind of freshness.
#[derive(Default)]
pub struct Summary {
    /// The value of the row `Cache`: whether results are served, and otherwise why not.
    pub cache: String,
    /// Further rows of `SHOW FQC STATUS`.
    pub rows: Vec<Row>,
    /// True if `SHOW FQC REASONS` is answered here, not by the server.
    pub has_reasons: bool,
}

/// Decides which results may be served on one connection, and which answers to it are stored.
pub trait Freshness: Send {
    fn flavour(&self) -> &'static Flavour;

    /// Returns this kind's part of reports on the cache. None if the server answers such reports.
    fn summary(&self) -> Option<Summary>;

    fn decide(&mut self, arrival: &Arrival<'_>) -> Verdict;

    /// Is ready when `decide` is to be called again for the same command, after [`Verdict::Wait`] or [`Verdict::Ask`].
    fn poll_wait(&mut self, _context: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// Is called before anything is sent to the server.
    fn before_sending(&mut self, _follower: &Follower, _now_ns: u64) {}

    /// Returns questions to send before the client's command, each with a number. Their answers come back in `of_server` with
    /// these numbers, and the client does not see them.
    fn ahead(&mut self) -> Vec<(u64, Vec<u8>)> {
        Vec::new()
    }

    /// Is called when the server receives these bytes of the client. If this returns a number, the answer to the last command
    /// comes back in `of_server` with it.
    fn forward(&mut self, sent: &Sent<'_>) -> Option<u64>;

    /// Is called when the server receives a read that was already served in this context. Returns the number of the command.
    fn forward_served(&mut self, _payload: &[u8], _under: Option<Under>) -> u64 {
        0
    }

    /// Is called when the server receives a command that the client has not sent.
    fn forward_hidden(&mut self, _payload: &[u8]) {}

    /// Receives bytes of the answer to the command with this number. The outcome comes with the last bytes. Returns true if the
    /// answer has certainly set `FOUND_ROWS()` on the server. That matters only if `is_astray` is true, which means that
    /// `FOUND_ROWS()` may not belong to the client's last read.
    fn of_server(&mut self, number: u64, bytes: &[u8], outcome: Option<&Outcome>, is_astray: bool) -> bool;

    /// Returns true if this command may be a read that another process has answered.
    fn may_be_for_others(&mut self, _payload: &[u8]) -> bool {
        false
    }

    /// Is called when the server has answered a read that was already served.
    fn answered_served(&mut self, _number: u64, _outcome: &Outcome) {}

    /// Is called when the server has answered a command of the client.
    fn answered(&mut self, _outcome: &Outcome) {}

    /// Is called when results that were stored before must no longer be served on this connection.
    fn outdate(&mut self) {}

    /// Returns true if this command may evaluate `FOUND_ROWS()`.
    fn asks_for_found_rows(&mut self, payload: &[u8]) -> bool;

    /// Returns the unseen reads that this command replaces. `has_warned` is true if the server may hold warnings of a statement
    /// before those reads.
    fn replaces(&mut self, unseen: &Unseen, payload: &[u8], has_warned: bool) -> Replaces;

    /// Returns whether the statement that this command runs aggregates rows.
    fn aggregates(&self, payload: &[u8]) -> Aggregates;
}
