//! The interface that bounds the age of results from servers without the plugin. Rules and the binary log implement it.

use super::{ClientRead, KnownSession, ReadConditions};
use crate::answer::Answer;
use crate::freshness::{Served, Summary};
use crate::memory::Memory;
use crate::published::ServedContexts;
use crate::reason::ContextReason;
use crate::session_flags::FlagOffsets;
use crate::store::BoxFuture;
use crate::uses::{ResultSource, Use};
use flavour::Flavour;

/// A stored result that may be served.
pub struct FoundResult {
    /// The packets, with the status flags of a session outside of transactions.
    pub answer: Vec<u8>,
    pub rows: u64,
    /// The offsets of the status flags in the answer. None if it may not be served in transactions.
    pub flag_offsets: Option<FlagOffsets>,
    /// True if the result is older than the rule's `soft_ttl`, so that one read should go to the server to refresh it.
    pub is_due: bool,
    pub used: Use,
    /// The session contexts in which other processes may serve the connection's next reads. None if they may not.
    pub served_contexts: Option<Box<ServedContexts>>,
}

impl FoundResult {
    /// Copies the result in a cache entry.
    pub fn of(entry: &cache::Entry, is_due: bool) -> FoundResult {
        let (answer, rows, used) = (entry.value().to_vec(), entry.rows(), Use::of(entry));
        FoundResult {
            answer,
            rows,
            flag_offsets: FlagOffsets::from_bits(entry.flags()),
            is_due,
            used,
            served_contexts: None,
        }
    }
}

impl FoundResult {
    /// Returns the result in the form in which the session serves it.
    pub fn served(self) -> Served {
        let FoundResult { answer, rows, flag_offsets, used, served_contexts, .. } = self;
        Served { flag_offsets, used: Some(used), served_contexts, ..Served::new(answer, rows) }
    }
}

/// The decision on a read that may be served from memory or whose answer may be stored.
pub enum Decision<B: StalenessBound> {
    /// The client gets this result.
    Serve(FoundResult),
    /// The read waits for this future. Then [`StalenessBound::decide`] is called again with what the future yields.
    Wait(BoxFuture<B::WaitOutcome>),
    /// The read goes to the server, and its answer may be stored. The claim is held until then.
    Forward(B::Claim),
}

/// A read that the server has answered, with the facts that its answer depends on.
pub struct AnsweredRead<'a, B: StalenessBound> {
    pub read: &'a ClientRead,
    pub answer: &'a Answer,
    /// The session that the answer belongs to.
    pub known: &'a KnownSession,
    /// The statement's shape and the time that the server took, for the statistics.
    pub source: ResultSource,
    /// The time of the read as [`StalenessBound::moment`] gave it: the answer includes everything that was committed until then.
    pub moment: B::Moment,
    pub claim: B::Claim,
}

/// Bounds the age of results on one connection, and looks them up and stores them.
pub trait StalenessBound: Send + Sized + 'static {
    /// The time when a result was read, in the form in which this bound measures age.
    type Moment: Copy + Default + Send;
    /// The outcome of a wait, with which the read is decided on again. The default value means that the read has not waited.
    type WaitOutcome: Default + Send + 'static;
    /// A right that a read holds while the server answers it, for example to be the only one that refreshes a result. It ends
    /// when the value is dropped.
    type Claim: Default + Send;

    /// Returns a query to send to the server together with the question about the session. Nothing is served or stored in the
    /// session unless the second column of its row is 0. None if there is no such question.
    fn further_question(&self, _flavour: &'static Flavour) -> Option<&'static str> {
        None
    }

    /// Returns the part of a report on the cache that depends on this bound.
    fn summary(&self, memory: &Memory) -> Summary;

    /// Returns true if reads in transactions may be served from memory.
    fn serves_in_transactions(&self) -> bool;

    /// Returns the moment of a read that is sent now, as this bound measures age: a position in the log, or a time. The caller guarantees
    /// that the session has no open transaction, so the read sees everything that was committed until now.
    fn moment(&self, now_ns: u64) -> Self::Moment;

    /// Decides on a read. `known` describes the session; without it nothing can be served yet. `tried` is the outcome of the
    /// wait, if there was one. Returns none if the read goes to the server and its answer must not be stored.
    fn decide(
        &mut self,
        conditions: &ReadConditions<'_>,
        read: &ClientRead,
        known: Option<&KnownSession>,
        tried: Self::WaitOutcome,
    ) -> Option<Decision<Self>>;

    /// Returns the reason why a read was not served that [`decide`](Self::decide) has just sent to the server.
    fn why(&mut self, conditions: &ReadConditions<'_>, read: &ClientRead, known: &KnownSession) -> ContextReason;

    /// Is called when a write of this connection was answered, or may have been. Results that were read before must not be served
    /// on the connection.
    fn note_write(&self, _now_ns: u64) {}

    /// Stores the answer to a read, if its result is still recent enough to be served, and counts it in the statistics.
    fn keep(&mut self, conditions: &ReadConditions<'_>, answered: AnsweredRead<'_, Self>);
}
