//! The prepared statements of one connection, in the binary protocol and, by their names, in SQL.

use crate::reason::{Own, Reason};
use crate::statement::given::Given;
use crate::statement::terms::Terms;
use crate::text::kinds::may_be_anything;
use crate::text::reading::Reading;
use sql::{Kind, Refusal, Statement};
use std::collections::HashMap;
use std::sync::Arc;
use wire::{Execute, LAST_STATEMENT};

#[derive(Debug)]
pub struct Prepared {
    pub text: Arc<[u8]>,
    pub reading: Arc<Reading>,
    /// Its mode and database are those of the time when it was prepared.
    pub terms: Terms,
    pub parameters: u16,
    /// As the server has last told; none while it has an execution, and after one that failed: for that it may have taken the
    /// statement to have others.
    pub columns: Option<u64>,
    /// Two bytes for each parameter, as last bound.
    pub types: Vec<u8>,
    /// The server has had these types, too: not if they came with an execution that was answered without it.
    pub knows_types: bool,
    pub given: Given,
    /// The server keeps rows of the last execution for it.
    pub has_cursor: bool,
    /// Values have come in pieces since the last execution that did not fail: of pieces for no parameter the server tells then,
    /// each time until the statement is reset.
    pub has_long_data: bool,
    /// The identity under which it was prepared.
    pub context: u64,
    /// For clients that keep column metadata themselves: what the metadata they have was made from.
    pub metadata: Option<Metadata>,
}

/// Column metadata depends on how tables were defined, and on the types of the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    pub definitions: u64,
    pub types: Vec<u8>,
}

impl Prepared {
    /// Takes over how this execution binds its parameters.
    pub fn bind(&mut self, execute: &Execute) {
        if execute.has_attributes(self.parameters) {
            // Whatever it binds holds for later executions, too.
            (self.types, self.knows_types) = (Vec::new(), true);
        } else if self.parameters > 0
            // The server takes them from an execution that fails, too.
            && let Some(types) = execute.new_types(self.parameters).filter(|types| *types != self.types)
        {
            (self.types, self.knows_types) = (types.to_vec(), false);
        }
    }

    /// Why the result of this execution may not be kept, whatever its text says. `context`: the number of the present session context.
    pub fn refusal(&self, execute: &Execute, context: Option<u64>) -> Option<Reason> {
        if execute.has_attributes(self.parameters) {
            return Some(Own::Attributes.into());
        }
        if self.has_long_data || self.has_cursor || execute.flags != 0 || execute.iterations != 1 {
            return Some(Own::Cursor.into());
        }
        if !self.given.is_plain() {
            return Some(Own::ParameterTypes.into());
        }
        if wire::have_time(&self.types) {
            return Some(Reason::Text(Refusal::CurrentDate));
        }
        context.filter(|context| *context != self.context).map(|_| Own::StatementContext.into())
    }

    /// The server gets this execution.
    pub fn note_forwarded(&mut self, execute: &Execute) {
        (self.knows_types, self.has_cursor) = (true, execute.flags != 0);
        self.columns = None;
        self.given.note_forwarded();
    }

    /// The server gets an earlier execution.
    pub fn note_run(&mut self, execute: &Execute) {
        self.knows_types = execute.new_types(self.parameters).is_none_or(|types| types == self.types);
        if let Some(params) = execute.params(self.parameters, &self.types) {
            self.given.note_run(&params);
        }
    }

    /// The same; a packet is given where it must get another one, which tells what it does not know.
    pub fn forward(&mut self, execute: &Execute, packet: &[u8], capabilities: u64) -> Option<Vec<u8>> {
        let lacks_types = !self.knows_types && execute.new_types(self.parameters).is_none();
        self.note_forwarded(execute);
        lacks_types.then(|| wire::with_types(packet, &self.types, capabilities))
    }
}

#[derive(Debug, Default)]
pub struct Statements {
    by_id: HashMap<u32, Prepared>,
    /// The statement whose types the server has just been told, by an execution that it keeps refusing until this is done.
    pub to_reset: Option<u32>,
    last: Option<u32>,
    by_name: HashMap<Vec<u8>, Named>,
    /// That of a PREPARE that runs now.
    unnamed: Option<(Vec<u8>, Named)>,
}

/// What EXECUTE of a name runs, in which database.
#[derive(Clone, Debug)]
pub struct Named {
    pub statement: Statement,
    pub database: Option<Box<[u8]>>,
}

/// Of more names in one session nothing is remembered.
const MOST_NAMED: usize = 256;

impl Statements {
    pub fn insert(&mut self, id: u32, prepared: Prepared) {
        self.last = Some(id);
        self.by_id.insert(id, prepared);
    }

    pub fn get_mut(&mut self, id: u32) -> Option<&mut Prepared> {
        let id = if id == LAST_STATEMENT { self.last? } else { id };
        self.by_id.get_mut(&id)
    }

    /// A statement whose next execution the server would understand otherwise than it is meant.
    pub fn misunderstood(&mut self) -> Option<(u32, &mut Prepared)> {
        self.by_id.iter_mut().find(|(_, prepared)| !prepared.knows_types).map(|(id, prepared)| (*id, prepared))
    }

    /// A statement of which the server has not had the execution that its later ones go by.
    pub fn owing(&self) -> Option<u32> {
        self.by_id.iter().find(|(_, prepared)| prepared.given.is_owed()).map(|(id, _)| *id)
    }

    pub fn are_understood(&self) -> bool {
        self.to_reset.is_none() && self.by_id.values().all(|prepared| prepared.knows_types && !prepared.given.is_owed())
    }

    pub fn remove(&mut self, id: u32) {
        let id = if id == LAST_STATEMENT { self.last.take() } else { Some(id) };
        id.and_then(|id| self.by_id.remove(&id));
    }

    pub fn clear(&mut self) {
        *self = Statements::default();
    }

    pub fn by_name(&self, name: &[u8]) -> Option<&Named> {
        self.by_name.get(name)
    }

    /// The server gets a statement of this kind, or runs one inside another: what it may name anew is known no more.
    pub fn note_sent(&mut self, kind: &Kind) {
        match kind {
            Kind::Prepare(Some(preparation)) => _ = self.by_name.remove(&preparation.name),
            Kind::Prepare(None) | Kind::Deallocate | Kind::Call => self.by_name.clear(),
            kind if may_be_anything(kind) => self.by_name.clear(),
            _ => {}
        }
    }

    pub fn begin_naming(&mut self, name: Vec<u8>, named: Named) {
        self.unnamed = Some((name, named));
    }

    pub fn end_naming(&mut self, has_failed: bool) {
        let named = self.unnamed.take().filter(|_| !has_failed && self.by_name.len() < MOST_NAMED);
        self.by_name.extend(named);
    }

    /// A prepare has failed: nothing is known of "the last one".
    pub fn forget_last(&mut self) {
        self.last = None;
    }
}
