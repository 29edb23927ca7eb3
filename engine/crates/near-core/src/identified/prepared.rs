//! The prepared statements of one connection that may be served.
//!
//! The meaning of a text depends on the session that prepared it, and its answer also on the session that runs it. So an
//! execution is served or stored only if the session has the same identity at both times: then the statement means what it would
//! mean if it were prepared now.

use crate::prepared::{Execution, PreparedStatements};
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
pub struct PreparedRead {
    pub text: Arc<[u8]>,
    /// True if an execution replaces everything that the read before it has left in the session: FOUND_ROWS() and warnings.
    pub replaces: bool,
    /// True if FOUND_ROWS() after an execution may be greater than the number of its rows.
    pub may_skip_rows: bool,
    /// The identity of the session when the statement was prepared. None if it is not known yet.
    pub identity: Option<Identity>,
    /// The generation of the session when the statement was prepared: a number that grows with each command that may change the
    /// session.
    pub generation: u64,
}

/// The prepared statements of one connection, with the text and the session's identity for those that are reads.
pub struct PreparedReads {
    flavour: &'static Flavour,
    capabilities: u64,
    statements: PreparedStatements,
    /// The reads, by the number of the command that prepared them.
    prepared_reads: BTreeMap<u64, PreparedRead>,
    /// The size of all texts in `prepared_reads`, in bytes.
    bytes: usize,
}

impl PreparedReads {
    /// Creates the list, without any statement. `capabilities` are those that client and server have agreed on.
    pub fn new(flavour: &'static Flavour, capabilities: u64) -> PreparedReads {
        let statements = PreparedStatements::new(flavour, capabilities);
        PreparedReads { flavour, capabilities, statements, prepared_reads: BTreeMap::new(), bytes: 0 }
    }

    /// Notes command `number`, which the server receives. `is_whole` is false if `payload` is only its beginning. Returns true if
    /// the outcome of the command must be passed to [`answered`](Self::answered).
    pub fn forward(&mut self, number: u64, payload: &[u8], is_whole: bool) -> bool {
        self.statements.forward(number, payload, is_whole)
    }

    /// Notes that command `number` prepares a read. If there is no room for its text, its executions go to the server.
    pub fn note(&mut self, number: u64, prepared_read: PreparedRead) {
        if self.bytes + prepared_read.text.len() > MOST_BYTES {
            let statements = &self.statements;
            self.prepared_reads.retain(|number, _| statements.has(*number));
            self.bytes = self.prepared_reads.values().map(|prepared_read| prepared_read.text.len()).sum();
        }
        if self.bytes + prepared_read.text.len() <= MOST_BYTES {
            self.bytes += prepared_read.text.len();
            self.prepared_reads.insert(number, prepared_read);
        }
    }

    /// Takes the outcome of the answer to command `number`.
    pub fn answered(&mut self, number: u64, outcome: &Outcome) {
        self.statements.answered(number, outcome);
    }

    /// Sets the session's identity for statements that were prepared in this generation of the session's state, that
    /// is, since the last command that may have changed the session. The server is not asked before a statement is
    /// prepared, because the query would change FOUND_ROWS(). It is asked before the first execution, and its answer
    /// also holds for the time of the prepare if nothing has changed since.
    pub fn learn(&mut self, generation: u64, identity: Identity) {
        let of_it = self.prepared_reads.values_mut().filter(|prepared_read| prepared_read.generation == generation);
        of_it.for_each(|prepared_read| prepared_read.identity = Some(identity));
    }

    /// Returns the identity that the session had when command `number` prepared a read. None if it is not known, or the command
    /// prepared nothing that may be stored.
    pub fn identity(&self, number: u64) -> Option<Identity> {
        self.prepared_reads.get(&number)?.identity
    }

    /// Returns the execution that this command runs, with its statement. None if its answer may be neither stored nor served.
    pub fn execution(&self, payload: &[u8]) -> Option<(Execution, PreparedRead)> {
        let execution = self.statements.execution(payload)?;
        let prepared_read = self.prepared_reads.get(&execution.prepared)?.clone();
        Some((execution, prepared_read))
    }

    /// Returns true if this execution may evaluate FOUND_ROWS(). None if it is no execution or the statement is not known.
    pub fn asks_for_found_rows(&self, payload: &[u8]) -> Option<bool> {
        self.statements.asks_for_found_rows(payload)
    }

    /// Returns the read that this command executes without a cursor. None if it executes anything else, or with a cursor.
    pub fn prepared_read(&self, payload: &[u8]) -> Option<&PreparedRead> {
        let number = self.statements.preparation(payload).filter(|_| is_plain(payload))?;
        self.prepared_reads.get(&number)
    }

    /// Returns true if this command executes a prepared statement and binds a value of type TIME. The answer may then
    /// depend on the current date.
    pub fn binds_time(&self, payload: &[u8]) -> bool {
        self.statements.binds_time(payload)
    }

    /// Returns true if this command executes a prepared statement that is a read.
    pub fn runs_read(&self, payload: &[u8]) -> bool {
        self.statements.preparation(payload).is_some_and(|number| self.prepared_reads.contains_key(&number))
    }

    /// Forgets all statements, because the session has been reset.
    pub fn forget(&mut self) {
        *self = PreparedReads::new(self.flavour, self.capabilities);
    }
}

/// Returns true if this execution uses no cursor.
fn is_plain(payload: &[u8]) -> bool {
    const FLAGS: usize = 5;
    payload.get(FLAGS) == Some(&0)
}
