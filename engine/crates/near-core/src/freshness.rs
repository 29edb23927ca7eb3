//! What decides whether a result is fresh enough to be served: one interface, with an implementation for each kind of freshness.
//!
//! A [`Session`](crate::session::Session) leads the conversation between a client and its server. It asks the `Freshness` of the
//! connection about each command, and tells it what the server gets and answers. So everything that is the same for all kinds, such as
//! what the server must see before it is asked for `FOUND_ROWS()`, is written in `session` alone.

use crate::follow::Follower;
use crate::prepared::Under;
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
    /// The client has got everything that came before.
    pub is_heard: bool,
    /// The server needs to see nothing now: it has had a command of late, and all the types that were bound to parameters.
    pub may_stay_unseen: bool,
}

pub enum Verdict {
    Serve(Served),
    /// The command waits, see [`Freshness::poll_wait`].
    Wait,
    /// The server gets the command.
    Forward,
}

/// A result that is served.
pub struct Served {
    pub answer: Vec<u8>,
    pub rows: u64,
    /// Where it has its status flags, if it may be served in transactions.
    pub places: Option<Places>,
    /// Where the hit is counted.
    pub used: Option<Use>,
    /// The context under which it is served; none if the server gives out none.
    pub under: Option<Under>,
    /// The types that the read binds, if the server does not have them yet.
    pub first_types: Option<Vec<u8>>,
}

impl Served {
    pub fn of(entry: &cache::Entry) -> Served {
        Served {
            answer: entry.value().to_vec(),
            rows: entry.rows(),
            places: Places::from_bits(entry.flags()),
            used: Some(Use::of(entry)),
            under: None,
            first_types: None,
        }
    }
}

/// Which of the reads that the server has not seen need not be sent to it, because the next command leaves behind what they would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    Nothing,
    /// The last one.
    Last,
    All,
}

/// Bytes that the server gets: one whole command, or what there is of several.
pub struct Sent<'a> {
    pub bytes: &'a [u8],
    /// Of the whole command, or what there is of the first one.
    pub payload: &'a [u8],
    pub is_whole: bool,
    /// Commands that begin in these bytes.
    pub begun: usize,
    /// The connection was at rest before.
    pub was_at_rest: bool,
    /// The bytes are the content of a file.
    pub is_of_file: bool,
}

/// What a report on the cache says of a kind of freshness.
#[derive(Default)]
pub struct Standing {
    /// Whether something is served, and why not.
    pub cache: String,
    /// Further rows of `SHOW FQC STATUS`.
    pub rows: Vec<Row>,
    /// Why reads are not served is known here, and not on the server.
    pub has_reasons: bool,
}

/// What one connection may be served, and what is kept of its answers.
pub trait Freshness: Send {
    fn flavour(&self) -> &'static Flavour;

    /// What a report on the cache says; none if the server answers it.
    fn standing(&self) -> Option<Standing>;

    fn decide(&mut self, arrival: &Arrival<'_>) -> Verdict;

    /// After [`Verdict::Wait`]: ready when the same command is to be decided about once more.
    fn poll_wait(&mut self, _context: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// The server is about to get something. `follower`: as it was before that.
    fn before_sending(&mut self, _follower: &Follower) {}

    /// Questions that the server gets ahead of the client's command, each with the number under which its answer is noted. The client
    /// sees none of the answers.
    fn ahead(&mut self) -> Vec<(u64, Vec<u8>)> {
        Vec::new()
    }

    /// The server gets these bytes of the client. Returns the number under which the answer to the last command is noted.
    fn forward(&mut self, sent: &Sent<'_>) -> Option<u64>;

    /// The server gets a read that was served before, under this context. Returns the number of the command.
    fn forward_served(&mut self, _payload: &[u8], _under: Option<Under>) -> u64 {
        0
    }

    /// The server gets a command that is none of the client's.
    fn forward_hidden(&mut self, _payload: &[u8]) {}

    /// Bytes of an answer that is noted under this number, with the last of which comes its outcome. True: it is certain that the
    /// answer has set the number of rows found.
    fn of_server(&mut self, number: u64, bytes: &[u8], outcome: Option<&Outcome>) -> bool;

    /// The server has answered a read that was served before.
    fn answered_served(&mut self, _number: u64, _outcome: &Outcome) {}

    /// The server has answered a command of the client.
    fn answered(&mut self, _outcome: &Outcome) {}

    /// What was kept so far is outdated for this connection.
    fn outdate(&mut self) {}

    /// What this command runs may ask for the rows that the last read has found.
    fn asks_for_found_rows(&mut self, payload: &[u8]) -> bool;

    fn replaces(&mut self, unseen: &Unseen, payload: &[u8]) -> Replaces;

    /// Of what this command runs.
    fn aggregates(&self, payload: &[u8]) -> Aggregates;
}
