//! The prepared statements of one connection that may be served.
//!
//! The meaning of a text depends on the session that prepared it, and its answer also on the session that runs it. So an
//! execution is served or stored only if the session has the same identity at both times: then the statement means what it would
//! mean if it were prepared now.

use crate::prepared::{Execution, Statements};
use flavour::Flavour;
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::Outcome;

/// The maximum size of all remembered texts in bytes. Executions of further statements go to the server.
const MOST_BYTES: usize = 256 << 10;

/// A hash of everything in a session that can change a result; see [`KnownSession::identity`](super::KnownSession::identity).
pub type Identity = [u8; 32];

/// A prepared statement that is a read whose result may be stored.
#[derive(Clone)]
pub struct Reading {
    pub text: Arc<[u8]>,
    /// True if an execution replaces everything that the read before it has left in the session: FOUND_ROWS() and warnings.
    pub replaces: bool,
    /// The identity of the session when the statement was prepared. None if it is not known yet.
    pub identity: Option<Identity>,
    /// The generation of the session when the statement was prepared: a number that grows with each command that may change the
    /// session.
    pub generation: u64,
}

/// The prepared statements of one connection, with the text and the session's identity for those that are reads.
pub struct Prepared {
    flavour: &'static Flavour,
    capabilities: u64,
    statements: Statements,
    /// The reads, by the number of the command that prepared them.
    readings: BTreeMap<u64, Reading>,
    /// The size of all texts in `readings`, in bytes.
    bytes: usize,
}

impl Prepared {
    /// Starts without statements. `capabilities` are those that client and server have agreed on.
    pub fn new(flavour: &'static Flavour, capabilities: u64) -> Prepared {
        let statements = Statements::new(flavour, capabilities);
        Prepared { flavour, capabilities, statements, readings: BTreeMap::new(), bytes: 0 }
    }

    /// Notes command `number`, which the server receives. `is_whole` is false if `payload` is only its beginning. Returns true if
    /// the outcome of the command must be passed to [`answered`](Self::answered).
    pub fn forward(&mut self, number: u64, payload: &[u8], is_whole: bool) -> bool {
        self.statements.forward(number, payload, is_whole)
    }

    /// Notes that command `number` prepares a read. If there is no room for its text, its executions go to the server.
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

    /// Takes the outcome of the answer to command `number`.
    pub fn answered(&mut self, number: u64, outcome: &Outcome) {
        self.statements.answered(number, outcome);
    }

    /// Sets the session's identity for statements that were prepared in this generation. The server is not asked before a
    /// statement is prepared, because the question would change FOUND_ROWS(). It is asked before the first execution, and its
    /// answer also holds for the time of the prepare if nothing has changed since.
    pub fn learn(&mut self, generation: u64, identity: Identity) {
        let of_it = self.readings.values_mut().filter(|reading| reading.generation == generation);
        of_it.for_each(|reading| reading.identity = Some(identity));
    }

    /// Returns the identity that the session had when command `number` prepared a read. None if it is not known, or the command
    /// prepared nothing that may be stored.
    pub fn identity(&self, number: u64) -> Option<Identity> {
        self.readings.get(&number)?.identity
    }

    /// Returns the execution that this command runs, with its statement. None if its answer may be neither stored nor served.
    pub fn execution(&self, payload: &[u8]) -> Option<(Execution, Reading)> {
        let execution = self.statements.execution(payload)?;
        let reading = self.readings.get(&execution.prepared)?.clone();
        Some((execution, reading))
    }

    /// Returns true if this execution may evaluate FOUND_ROWS(). None if it is no execution or the statement is not known.
    pub fn asks_for_found_rows(&self, payload: &[u8]) -> Option<bool> {
        self.statements.asks_for_found_rows(payload)
    }

    /// Returns the read that this command executes without a cursor. None if it executes anything else, or with a cursor.
    pub fn reading(&self, payload: &[u8]) -> Option<&Reading> {
        let number = self.statements.preparation(payload).filter(|_| is_plain(payload))?;
        self.readings.get(&number)
    }

    /// See [`Statements::binds_time`].
    pub fn binds_time(&self, payload: &[u8]) -> bool {
        self.statements.binds_time(payload)
    }

    /// Returns true if this command executes a prepared statement that is a read.
    pub fn runs_read(&self, payload: &[u8]) -> bool {
        self.statements.preparation(payload).is_some_and(|number| self.readings.contains_key(&number))
    }

    /// Forgets all statements, because the session has been reset.
    pub fn forget(&mut self) {
        *self = Prepared::new(self.flavour, self.capabilities);
    }
}

/// Returns true if this execution uses no cursor.
fn is_plain(payload: &[u8]) -> bool {
    const FLAGS: usize = 5;
    payload.get(FLAGS) == Some(&0)
}
