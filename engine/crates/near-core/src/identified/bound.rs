//! The interface that bounds the age of results from servers without the plugin. Rules and the binary log implement it.

use super::{Asked, Here, Known};
use crate::answer::Answer;
use crate::freshness::{Served, Summary};
use crate::memory::Memory;
use crate::published::Standing;
use crate::reason::ContextReason;
use crate::session_flags::Places;
use crate::store::Wait;
use crate::uses::{Source, Use};
use flavour::Flavour;

/// A stored result that may be served.
pub struct Found {
    /// The packets, with the status flags of a session outside of transactions.
    pub answer: Vec<u8>,
    pub rows: u64,
    /// The offsets of the status flags in the answer. None if it may not be served in transactions.
    pub places: Option<Places>,
    /// True if the result is older than the rule's `soft_ttl`, so that one read should go to the server to refresh it.
    pub is_due: bool,
    pub used: Use,
    /// The session contexts in which other processes may serve the connection's next reads. None if they may not.
    pub standing: Option<Box<Standing>>,
}

impl Found {
    /// Copies the result in a cache entry.
    pub fn of(entry: &cache::Entry, is_due: bool) -> Found {
        let (answer, rows, used) = (entry.value().to_vec(), entry.rows(), Use::of(entry));
        Found { answer, rows, places: Places::from_bits(entry.flags()), is_due, used, standing: None }
    }
}

impl Found {
    /// Returns the result in the form in which the session serves it.
    pub fn served(self) -> Served {
        let Found { answer, rows, places, used, standing, .. } = self;
        Served { places, used: Some(used), standing, ..Served::new(answer, rows) }
    }
}

/// The decision on a read that may be served from memory or whose answer may be stored.
pub enum Decision<B: Bound> {
    /// The client gets this result.
    Serve(Found),
    /// The read waits for this future. Then [`Bound::decide`] is called again with what the future yields.
    Wait(Wait<B::Tried>),
    /// The read goes to the server, and its answer may be stored. The claim is held until then.
    Forward(B::Claim),
}

/// A read that the server has answered, with the facts that its answer depends on.
pub struct Answered<'a, B: Bound> {
    pub asked: &'a Asked,
    pub answer: &'a Answer,
    /// The session that the answer belongs to.
    pub known: &'a Known,
    /// The statement's shape and the time that the server took, for the statistics.
    pub source: Source,
    /// The time of the read as [`Bound::moment`] gave it: the answer includes everything that was committed until then.
    pub moment: B::Moment,
    pub claim: B::Claim,
}

/// Bounds the age of results on one connection, and looks them up and stores them.
pub trait Bound: Send + Sized + 'static {
    /// The time when a result was read, in the form in which this bound measures age.
    type Moment: Copy + Default + Send;
    /// The outcome of a wait, with which the read is decided on again. The default value means that the read has not waited.
    type Tried: Default + Send + 'static;
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
    fn serves_inside(&self) -> bool;

    /// Returns the present time in the form of this bound. The caller knows that the session has no open transaction, so its next
    /// read sees everything that was committed until now.
    fn moment(&self, now_ns: u64) -> Self::Moment;

    /// Decides on a read. `known` describes the session; without it nothing can be served yet. `tried` is the outcome of the
    /// wait, if there was one. Returns none if the read goes to the server and its answer must not be stored.
    fn decide(
        &mut self,
        here: &Here<'_>,
        asked: &Asked,
        known: Option<&Known>,
        tried: Self::Tried,
    ) -> Option<Decision<Self>>;

    /// Returns the reason why a read was not served that [`decide`](Self::decide) has just sent to the server.
    fn why(&mut self, here: &Here<'_>, asked: &Asked, known: &Known) -> ContextReason;

    /// Is called when a write of this connection was answered, or may have been. Results that were read before must not be served
    /// on the connection.
    fn wrote(&self, _now_ns: u64) {}

    /// Is called when a command was answered. What the bound has remembered about the last read may be wrong from then on.
    fn answered(&mut self) {}

    /// Stores the answer to a read, if it is still current enough, and counts it.
    fn keep(&mut self, here: &Here<'_>, answered: Answered<'_, Self>);
}
