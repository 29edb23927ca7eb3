//! How old a result may be where the server lends no right to serve: one interface, which rules and the server's log implement.

use super::{Asked, Here, Known};
use crate::answer::Answer;
use crate::freshness::{Served, Standing};
use crate::memory::Memory;
use crate::reason::Own;
use crate::session_flags::Places;
use crate::store::Wait;
use crate::uses::{Source, Use};
use flavour::Flavour;

pub struct Found {
    pub answer: Vec<u8>,
    pub rows: u64,
    /// Where it has its status flags, if it may be served in transactions.
    pub places: Option<Places>,
    /// It is past its `soft_ttl`.
    pub is_due: bool,
    pub used: Use,
}

impl Found {
    pub fn of(entry: &cache::Entry, is_due: bool) -> Found {
        let (answer, rows, used) = (entry.value().to_vec(), entry.rows(), Use::of(entry));
        Found { answer, rows, places: Places::from_bits(entry.flags()), is_due, used }
    }
}

impl Found {
    pub fn served(self) -> Served {
        let Found { answer, rows, places, used, .. } = self;
        Served { answer, rows, places, used: Some(used), under: None, first_types: None }
    }
}

/// What becomes of a read that may be served.
pub enum Decision<B: Bound> {
    Serve(Found),
    Wait(Wait<B::Tried>),
    /// The server gets it, and its answer may be kept.
    Forward(B::Claim),
}

/// A read that was answered, and what it may be kept under.
pub struct Answered<'a, B: Bound> {
    pub asked: &'a Asked,
    pub answer: &'a Answer,
    pub known: &'a Known,
    pub source: Source,
    /// It shows all that was committed by then.
    pub moment: B::Moment,
    pub claim: B::Claim,
}

pub trait Bound: Send + Sized + 'static {
    /// When a result was read, as far as its age hangs on it.
    type Moment: Copy + Default + Send;
    /// What a read has waited for, when it is decided about once more.
    type Tried: Default + Send + 'static;
    /// What a read holds while the server answers it.
    type Claim: Send;

    /// A further question that the server is asked with the one about the session.
    fn further_question(&self, _flavour: &'static Flavour) -> Option<&'static str> {
        None
    }

    /// What a report on the cache says of it.
    fn standing(&self, memory: &Memory) -> Standing;

    /// Reads in transactions may be served if the results say so.
    fn serves_inside(&self) -> bool;

    /// The present moment, in which no transaction is open.
    fn moment(&self, now_ns: u64) -> Self::Moment;

    /// None if nothing lets this read be served. `known`: the session, if it is known.
    fn decide(
        &mut self,
        here: &Here<'_>,
        asked: &Asked,
        known: Option<&Known>,
        tried: Self::Tried,
    ) -> Option<Decision<Self>>;

    /// Why a read that was decided about was not served.
    fn why(&mut self, here: &Here<'_>, asked: &Asked, known: &Known) -> Own;

    /// A write through this connection was answered, or may have been.
    fn wrote(&self, _now_ns: u64) {}

    /// A command was answered: what is remembered of the last read counts no longer.
    fn answered(&mut self) {}

    fn keep(&mut self, here: &Here<'_>, answered: Answered<'_, Self>);
}
