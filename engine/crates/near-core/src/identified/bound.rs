//! The interface that bounds the age of results from servers without the plugin. Rules and the binary log implement it.

use super::{Asked, Here, Known};
use crate::answer::Answer;
use crate::freshness::{Served, Summary};
use crate::memory::Memory;
use crate::published::Standing;
use crate::reason::Own;
use crate::session_flags::Places;
use crate::store::Wait;
use crate::uses::{Source, Use};
use flavour::Flavour;

pub struct Found {
    pub answer: Vec<u8>,
    pub rows: u64,
    /// The places of the status flags in the answer. None if it may not be served in transactions.
    pub places: Option<Places>,
    /// True if the result is older than the rule's `soft_ttl`, so that it should be refreshed.
    pub is_due: bool,
    pub used: Use,
    /// The contexts with which other processes may serve the connection's next reads.
    pub standing: Option<Box<Standing>>,
}

impl Found {
    pub fn of(entry: &cache::Entry, is_due: bool) -> Found {
        let (answer, rows, used) = (entry.value().to_vec(), entry.rows(), Use::of(entry));
        Found { answer, rows, places: Places::from_bits(entry.flags()), is_due, used, standing: None }
    }
}

impl Found {
    pub fn served(self) -> Served {
        let Found { answer, rows, places, used, standing, .. } = self;
        Served { places, used: Some(used), standing, ..Served::new(answer, rows) }
    }
}

/// The decision on a read that may be served.
pub enum Decision<B: Bound> {
    Serve(Found),
    Wait(Wait<B::Tried>),
    /// The read goes to the server, and its answer may be stored.
    Forward(B::Claim),
}

/// A read that was answered, with the facts that its answer depends on.
pub struct Answered<'a, B: Bound> {
    pub asked: &'a Asked,
    pub answer: &'a Answer,
    pub known: &'a Known,
    pub source: Source,
    /// The time of the read: it sees everything that was committed until then.
    pub moment: B::Moment,
    pub claim: B::Claim,
}

pub trait Bound: Send + Sized + 'static {
    /// The time when a result was read, in the form in which this bound measures age.
    type Moment: Copy + Default + Send;
    /// The outcome of a wait, with which the read is decided on again.
    type Tried: Default + Send + 'static;
    /// A right that a read holds while the server answers it.
    type Claim: Default + Send;

    /// Returns a question that is sent to the server together with the one about the session. None if there is no such question.
    fn further_question(&self, _flavour: &'static Flavour) -> Option<&'static str> {
        None
    }

    /// Returns the part of a report on the cache that depends on this bound.
    fn summary(&self, memory: &Memory) -> Summary;

    /// Returns true if reads in transactions may be served from memory.
    fn serves_inside(&self) -> bool;

    /// Returns the present moment. The caller knows that the session has no open transaction.
    fn moment(&self, now_ns: u64) -> Self::Moment;

    /// Decides on a read. Returns none if the read may not be served at all. `known` describes the session, once the server has
    /// done so.
    fn decide(
        &mut self,
        here: &Here<'_>,
        asked: &Asked,
        known: Option<&Known>,
        tried: Self::Tried,
    ) -> Option<Decision<Self>>;

    /// Returns the reason why a read was not served.
    fn why(&mut self, here: &Here<'_>, asked: &Asked, known: &Known) -> Own;

    /// Is called when a write of this connection was answered, or may have been.
    fn wrote(&self, _now_ns: u64) {}

    /// Is called when a command was answered. What was remembered about the last read is then no longer valid.
    fn answered(&mut self) {}

    fn keep(&mut self, here: &Here<'_>, answered: Answered<'_, Self>);
}
