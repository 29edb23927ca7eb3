//! MySQL goes by the types that a prepared statement's parameters have had: it compares with text as with a number if a number came
//! first, and tells of a NULL by the type before. So what an execution is answered hangs on those before it.
//!
//! Cached are the executions of a statement that only gets what it was prepared for, or that got the types of its parameters at
//! once and never others since, and where every value tells its type.

use wire::{Fit, Parameter, Params, fit};

#[derive(Debug, Default)]
pub struct Given {
    /// What the server takes the parameters for.
    parameters: Vec<Parameter>,
    /// Of the values of the first execution for which the server prepares anew, two bytes for each parameter. Empty: there was none.
    types: Vec<u8>,
    /// The execution at hand does not give the server all of them by itself.
    is_part: bool,
    /// Other types have come since, or nobody knows which.
    is_mixed: bool,
    /// The server has had them, too.
    is_known: bool,
    /// The first execution, as the server must get it, if it was answered without it.
    owed: Option<Vec<u8>>,
}

/// What a NULL gives.
const NOTHING: [u8; 2] = [0xff; 2];

impl Given {
    pub fn new(parameters: Vec<Parameter>) -> Given {
        Given { parameters, ..Given::default() }
    }

    /// An execution has come.
    pub fn take(&mut self, params: Option<&Params>) {
        let fit = params.map_or(Fit::Unclear, |params| fit(&self.parameters, params));
        let Some(params) = params.filter(|_| fit != Fit::Unclear) else {
            (self.is_mixed, self.is_part) = (true, true);
            return;
        };
        self.is_part = false;
        if fit == Fit::Same && self.types.is_empty() {
            return;
        }
        let types = of_values(params);
        let gives = |kind: &[u8; 2]| *kind != NOTHING;
        if self.types.is_empty() {
            self.types = types.clone();
        }
        let mut pairs = types.as_chunks().0.iter().zip(self.types.as_chunks().0);
        self.is_mixed |= pairs.any(|(now, before)| gives(now) && now != before);
        self.is_part = types != self.types;
    }

    /// What the answer of an execution hangs on beside it.
    pub fn basis(&self) -> Vec<u8> {
        self.parameters.iter().flat_map(Parameter::bytes).chain(self.types.iter().copied()).collect()
    }

    /// What the execution at hand is answered hangs on these types alone. For a part of them it also hangs on whether the server
    /// has prepared the statement anew since, which it also does where it has to open a table again.
    pub fn is_plain(&self) -> bool {
        !self.is_mixed && !self.is_part
    }

    /// The execution at hand was answered without the server.
    pub fn note_served(&mut self, packet: impl FnOnce() -> Vec<u8>) {
        if !self.types.is_empty() && !self.is_known && self.owed.is_none() {
            self.owed = Some(packet());
        }
    }

    /// The server gets the execution at hand.
    pub fn note_forwarded(&mut self) {
        self.is_mixed |= !self.is_known && self.is_part;
        self.is_known |= !self.types.is_empty();
        self.owed = None;
    }

    /// The server gets an earlier one.
    pub fn note_run(&mut self, params: &Params) {
        if of_values(params) == self.types {
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

fn of_values(params: &Params) -> Vec<u8> {
    params.types_of_values().flat_map(|kind| kind.unwrap_or(NOTHING)).collect()
}
