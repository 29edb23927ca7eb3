//! MySQL goes by the types that a prepared statement's parameters have had: it compares with text as with a number if a number came
//! first, and tells of a NULL by the type before. So what an execution is answered hangs on those before it.
//!
//! Cached are the executions of a statement that only gets what it was prepared for, or that got the types of its parameters at
//! once and never others since, and where every value tells its type.

use wire::{BoundType, Parameter, Params, Taken, TakenFor};

#[derive(Debug, Default)]
pub struct Given {
    taken_for: TakenFor,
    /// The execution at hand does not give the server all types by itself.
    is_part: bool,
    /// Other types have come since, or nobody knows which.
    is_mixed: bool,
    /// The server has had the first types, too.
    is_known: bool,
    /// The first execution, as the server must get it, if it was answered without it.
    owed: Option<Vec<u8>>,
}

impl Given {
    pub fn new(parameters: Vec<Parameter>) -> Given {
        Given { taken_for: TakenFor::new(parameters), ..Given::default() }
    }

    /// An execution has come.
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

    /// What the answer of an execution hangs on beside it.
    pub fn basis(&self) -> Vec<u8> {
        self.taken_for.parameter_bytes().chain(self.types().as_flattened().iter().copied()).collect()
    }

    /// What the execution at hand is answered hangs on these types alone. For a part of them it also hangs on whether the server
    /// has prepared the statement anew since, which it also does where it has to open a table again.
    pub fn is_plain(&self) -> bool {
        !self.is_mixed && !self.is_part
    }

    /// The execution at hand was answered without the server.
    pub fn note_served(&mut self, packet: impl FnOnce() -> Vec<u8>) {
        if !self.types().is_empty() && !self.is_known && self.owed.is_none() {
            self.owed = Some(packet());
        }
    }

    /// The server gets the execution at hand.
    pub fn note_forwarded(&mut self) {
        self.is_mixed |= !self.is_known && self.is_part;
        self.is_known |= !self.types().is_empty();
        self.owed = None;
    }

    /// The server gets an earlier one.
    pub fn note_run(&mut self, params: &Params) {
        if params.types_of_values().eq(self.types().iter().copied()) {
            (self.is_known, self.owed) = (true, None);
        }
    }

    pub fn is_owed(&self) -> bool {
        self.owed.is_some()
    }

    /// The server must run what is owed before the execution at hand.
    pub fn is_due(&self) -> bool {
        self.owed.is_some() && self.is_part
    }

    pub fn take_owed(&mut self) -> Option<Vec<u8>> {
        self.owed.take()
    }
}
