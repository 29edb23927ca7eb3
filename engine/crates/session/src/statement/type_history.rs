//! The types that a prepared statement's parameters have had, which matter to MySQL in later executions. It prepares a statement
//! again for the first types that it gets: if a number came first, it later compares a text as a number, and it treats a NULL like
//! the type before. So the result of an execution depends on earlier executions.
//!
//! An execution is cached only if its parameters have the types that the statement was prepared for, or if they got other types all
//! at once, never others since, and every value shows its type.

use wire::{BoundType, Interpretation, Parameter, ParameterTypes, Params};

/// The parameter types that the executions of one prepared statement have had so far.
#[derive(Debug, Default)]
pub struct ParameterTypeHistory {
    parameter_types: ParameterTypes,
    /// The current execution does not give the server all types by itself.
    is_part: bool,
    /// An execution has had other types than those that the statement was prepared again for, or types that are not clear. From then on no
    /// execution of the statement is cached.
    is_mixed: bool,
    /// The server itself has run an execution with the types that it was to prepare the statement again for.
    is_known: bool,
    /// The packet of the first execution with those types, if it was answered from the cache. The server still has to run it.
    owed: Option<Vec<u8>>,
}

impl ParameterTypeHistory {
    pub fn new(parameters: Vec<Parameter>) -> ParameterTypeHistory {
        ParameterTypeHistory { parameter_types: ParameterTypes::new(parameters), ..ParameterTypeHistory::default() }
    }

    /// Takes note of the types of an execution, served or not. `params` is None if they cannot be read.
    pub fn note_types(&mut self, params: Option<&Params>) {
        let interpretation = params.map_or(Interpretation::Unclear, |params| self.parameter_types.interpret(params));
        self.is_mixed |= matches!(interpretation, Interpretation::Mixed | Interpretation::Unclear);
        self.is_part = !matches!(interpretation, Interpretation::Alike | Interpretation::Reprepared(_));
        if let Interpretation::Reprepared(types) = interpretation {
            self.parameter_types.reprepare(types);
        }
    }

    /// The types that the server has prepared the statement again for. Empty if it has not.
    fn types(&self) -> &[BoundType] {
        self.parameter_types.reprepared_for()
    }

    /// Bytes for the key of an execution's result: everything that the result depends on besides its own types and values, namely the types
    /// that the server has prepared the statement for.
    pub fn basis(&self) -> Vec<u8> {
        self.parameter_types.parameter_bytes().chain(self.types().as_flattened().iter().copied()).collect()
    }

    /// True if the result of the current execution depends only on its own types and those in `basis`, so that it may be cached. If it
    /// gives only a part of the types, the result also depends on whether the server has prepared the statement again since, as it does
    /// when it has to reopen a table.
    pub fn is_plain(&self) -> bool {
        !self.is_mixed && !self.is_part
    }

    /// Notes that the current execution was answered from the cache. If it is the first with its types, the server
    /// still has to run it, because later executions may rely on them; `packet` is then called, and returns the packet
    /// for this.
    pub fn note_served(&mut self, packet: impl FnOnce() -> Vec<u8>) {
        if !self.types().is_empty() && !self.is_known && self.owed.is_none() {
            self.owed = Some(packet());
        }
    }

    /// Notes that the server runs the current execution.
    pub fn note_forwarded(&mut self) {
        self.is_mixed |= !self.is_known && self.is_part;
        self.is_known |= !self.types().is_empty();
        self.owed = None;
    }

    /// Notes that the server runs an earlier execution, which was answered from the cache.
    pub fn note_run(&mut self, params: &Params) {
        if params.types_of_values().eq(self.types().iter().copied()) {
            (self.is_known, self.owed) = (true, None);
        }
    }

    /// True if the server still has to run an execution that was answered from the cache, because later ones depend on its types.
    pub fn is_owed(&self) -> bool {
        self.owed.is_some()
    }

    /// True if the server must run the owed execution before the current one, which does not give all types by itself.
    pub fn is_due(&self) -> bool {
        self.owed.is_some() && self.is_part
    }

    /// Returns the packet of the execution that the server still has to run, and forgets it. None if there is none.
    pub fn take_owed(&mut self) -> Option<Vec<u8>> {
        self.owed.take()
    }
}
