//! The types that a prepared statement's parameters have had, which matter to MySQL in later executions. It prepares a statement
//! again for the first types that it gets: if a number came first, it later compares a text as a number, and it treats a NULL like
//! the type before. So the result of an execution depends on earlier executions.
//!
//! An execution is cached only if its parameters have the types that the statement was prepared for, or if they got other types all
//! at once, never others since, and every value shows its type.

use wire::{BoundType, Parameter, Params, Taken, TakenFor};

#[derive(Debug, Default)]
pub struct Given {
    taken_for: TakenFor,
    /// The current execution does not give the server all types by itself.
    is_part: bool,
    /// Other types have come since, or it is not clear which.
    is_mixed: bool,
    /// The server has run an execution with the types that it was prepared again for.
    is_known: bool,
    /// The first execution with these types, as a packet, if it was answered from the cache. The server still has to run it.
    owed: Option<Vec<u8>>,
}

impl Given {
    pub fn new(parameters: Vec<Parameter>) -> Given {
        Given { taken_for: TakenFor::new(parameters), ..Given::default() }
    }

    /// Takes note of an execution. `params` is none if they cannot be read.
    pub fn take(&mut self, params: Option<&Params>) {
        let taken = params.map_or(Taken::Unclear, |params| self.taken_for.take(params));
        self.is_mixed |= matches!(taken, Taken::Mixed | Taken::Unclear);
        self.is_part = !matches!(taken, Taken::Alike | Taken::Reprepared(_));
        if let Taken::Reprepared(types) = taken {
            self.taken_for.reprepare(types);
        }
    }

    fn types(&self) -> &[BoundType] {
        self.taken_for.reprepared_for()
    }

    /// Bytes for the key of an execution's result: everything that the result depends on besides its own types and values.
    pub fn basis(&self) -> Vec<u8> {
        self.taken_for.parameter_bytes().chain(self.types().as_flattened().iter().copied()).collect()
    }

    /// True if the result of the current execution depends only on its own types and those in `basis`. If it gives only a part of
    /// the types, the result also depends on whether the server has prepared the statement again since, as it does when it has to
    /// reopen a table.
    pub fn is_plain(&self) -> bool {
        !self.is_mixed && !self.is_part
    }

    /// The current execution was answered from the cache.
    pub fn note_served(&mut self, packet: impl FnOnce() -> Vec<u8>) {
        if !self.types().is_empty() && !self.is_known && self.owed.is_none() {
            self.owed = Some(packet());
        }
    }

    /// The server runs the current execution.
    pub fn note_forwarded(&mut self) {
        self.is_mixed |= !self.is_known && self.is_part;
        self.is_known |= !self.types().is_empty();
        self.owed = None;
    }

    /// The server runs an earlier execution.
    pub fn note_run(&mut self, params: &Params) {
        if params.types_of_values().eq(self.types().iter().copied()) {
            (self.is_known, self.owed) = (true, None);
        }
    }

    pub fn is_owed(&self) -> bool {
        self.owed.is_some()
    }

    /// True if the server must run the owed execution before the current one.
    pub fn is_due(&self) -> bool {
        self.owed.is_some() && self.is_part
    }

    pub fn take_owed(&mut self) -> Option<Vec<u8>> {
        self.owed.take()
    }
}
