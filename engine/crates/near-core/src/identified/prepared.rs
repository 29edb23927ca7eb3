//! The prepared statements of one connection that may be served.
//!
//! What a text means hangs on the session that prepared it, and an answer also on the session that runs it. So an execution is served
//! or kept only if the two have the same identity: then it means what it would if it were prepared now.

use crate::prepared::{Execution, Statements};
use flavour::Flavour;
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::Outcome;

/// Of the texts that are remembered. Executions of further statements pass.
const MOST_BYTES: usize = 256 << 10;

pub type Identity = [u8; 32];

/// A statement that is a read.
#[derive(Clone)]
pub struct Reading {
    pub text: Arc<[u8]>,
    /// Its execution leaves nothing of what the read before has left.
    pub replaces: bool,
    /// That of the session when it was prepared; none if it is not known.
    pub identity: Option<Identity>,
    /// In which it was prepared.
    pub generation: u64,
}

pub struct Prepared {
    flavour: &'static Flavour,
    capabilities: u64,
    statements: Statements,
    /// By the number of the command that prepared it.
    readings: BTreeMap<u64, Reading>,
    bytes: usize,
}

impl Prepared {
    /// `capabilities`: those in force.
    pub fn new(flavour: &'static Flavour, capabilities: u64) -> Prepared {
        let statements = Statements::new(flavour, capabilities);
        Prepared { flavour, capabilities, statements, readings: BTreeMap::new(), bytes: 0 }
    }

    /// The server gets this command, of which a part may be missing. True: its answer has to be shown to `answered`.
    pub fn forward(&mut self, number: u64, payload: &[u8], is_whole: bool) -> bool {
        self.statements.forward(number, payload, is_whole)
    }

    /// This command prepares a read.
    pub fn note(&mut self, number: u64, reading: Reading) {
        if self.bytes + reading.text.len() > MOST_BYTES {
            let statements = &self.statements;
            self.readings.retain(|number, _| statements.has(*number));
            self.bytes = self.readings.values().map(|reading| reading.text.len()).sum();
        }
        if self.bytes + reading.text.len() <= MOST_BYTES {
            self.bytes += reading.text.len();
            self.readings.insert(number, reading);
        }
    }

    pub fn answered(&mut self, number: u64, outcome: &Outcome) {
        self.statements.answered(number, outcome);
    }

    /// The session has this identity in this generation. The server is not asked before a statement is prepared, since that would leave
    /// other rows to be found: it is asked before the first execution, which counts if nothing has changed since.
    pub fn learn(&mut self, generation: u64, identity: Identity) {
        let of_it = self.readings.values_mut().filter(|reading| reading.generation == generation);
        of_it.for_each(|reading| reading.identity = Some(identity));
    }

    /// That of the session when this command prepared a read, if it is known.
    pub fn identity(&self, number: u64) -> Option<Identity> {
        self.readings.get(&number)?.identity
    }

    /// What this command runs, if its answer may be kept.
    pub fn execution(&self, payload: &[u8]) -> Option<(Execution, Reading)> {
        let execution = self.statements.execution(payload)?;
        let reading = self.readings.get(&execution.prepared)?.clone();
        Some((execution, reading))
    }

    /// Whether the rows that were found may be what this execution asks for; none if it runs what is not known.
    pub fn asks_for_found_rows(&self, payload: &[u8]) -> Option<bool> {
        self.statements.asks_for_found_rows(payload)
    }

    /// What this command runs all at once, if it is a read.
    pub fn reading(&self, payload: &[u8]) -> Option<&Reading> {
        let number = self.statements.preparation(payload).filter(|_| is_plain(payload))?;
        self.readings.get(&number)
    }

    /// See [`Statements::binds_time`].
    pub fn binds_time(&self, payload: &[u8]) -> bool {
        self.statements.binds_time(payload)
    }

    /// This command runs a read.
    pub fn runs_read(&self, payload: &[u8]) -> bool {
        self.statements.preparation(payload).is_some_and(|number| self.readings.contains_key(&number))
    }

    /// The session is at its beginning again.
    pub fn forget(&mut self) {
        *self = Prepared::new(self.flavour, self.capabilities);
    }
}

/// An execution without a cursor.
fn is_plain(payload: &[u8]) -> bool {
    const FLAGS: usize = 5;
    payload.get(FLAGS) == Some(&0)
}
