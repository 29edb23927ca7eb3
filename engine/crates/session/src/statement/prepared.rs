//! The prepared statements of one connection: those of the binary protocol, and those prepared in SQL by their names.

use crate::reason::{ContextReason, Reason};
use crate::statement::parse_context::ParseContext;
use crate::statement::type_history::ParameterTypeHistory;
use crate::text::analysis::Analysis;
use crate::text::kinds::may_be_anything;
use sql::{Kind, Refusal, Statement};
use std::collections::HashMap;
use std::sync::Arc;
use wire::{Execute, LAST_STATEMENT};

/// A prepared statement of the binary protocol, as the engine knows it.
#[derive(Debug)]
pub struct Prepared {
    pub text: Arc<[u8]>,
    pub analysis: Arc<Analysis>,
    /// How the text is parsed. Mode and database are those of the time when it was prepared.
    pub parse_context: ParseContext,
    pub parameters: u16,
    /// Number of columns as the server last reported it. None while the server runs an execution and after one that failed, because
    /// the server may then have prepared the statement again with another number of columns.
    pub columns: Option<u64>,
    /// The types of the parameters as last bound, two bytes each. Empty if none were bound yet, or if they are not known.
    pub types: Vec<u8>,
    /// The server has these types too. False if they came with an execution that was answered from the cache.
    pub knows_types: bool,
    /// The types that earlier executions have had, on a server where they matter to later ones.
    pub type_history: ParameterTypeHistory,
    /// The server has an open cursor for the last execution.
    pub has_cursor: bool,
    /// COM_STMT_SEND_LONG_DATA has come since the last execution that succeeded. If it was for a parameter that does not exist, the
    /// server reports an error at each execution until the statement is reset.
    pub has_long_data: bool,
    /// The number of the session context at PREPARE; 0 if the session was not cached. Executions in another context are not cached.
    pub context: u64,
    /// For clients that keep column metadata themselves: what their metadata was made from. None if they have none.
    pub metadata: Option<Metadata>,
}

/// The dependencies of a result's column metadata: the definitions of tables, and the types of the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    pub definitions: u64,
    pub types: Vec<u8>,
}

impl Prepared {
    /// Takes over the parameter types that this execution binds. To be called for each execution, served or not, because later ones may
    /// rely on them.
    pub fn bind(&mut self, execute: &Execute) {
        if execute.has_attributes(self.parameters) {
            // The types that it binds are not read, and hold for later executions too.
            (self.types, self.knows_types) = (Vec::new(), true);
        } else if self.parameters > 0
            // The server keeps the types even of an execution that fails.
            && let Some(types) = execute.new_types(self.parameters).filter(|types| *types != self.types)
        {
            (self.types, self.knows_types) = (types.to_vec(), false);
        }
    }

    /// Why the result of this execution must neither be served from the cache nor stored, whatever its text is; None if nothing speaks
    /// against it. `context` is the number of the current session context, if the session is cached.
    pub fn refusal(&self, execute: &Execute, context: Option<u64>) -> Option<Reason> {
        if execute.has_attributes(self.parameters) {
            return Some(ContextReason::Attributes.into());
        }
        if self.has_long_data || self.has_cursor || execute.flags != 0 || execute.iterations != 1 {
            return Some(ContextReason::Cursor.into());
        }
        if !self.type_history.is_plain() {
            return Some(ContextReason::ParameterTypes.into());
        }
        if wire::have_time(&self.types) {
            return Some(Reason::Text(Refusal::CurrentDate));
        }
        context.filter(|context| *context != self.context).map(|_| ContextReason::StatementContext.into())
    }

    /// Notes that the server gets this execution, so that it knows the types.
    pub fn note_forwarded(&mut self, execute: &Execute) {
        (self.knows_types, self.has_cursor) = (true, execute.flags != 0);
        self.columns = None;
        self.type_history.note_forwarded();
    }

    /// Notes that the server gets an earlier execution, one that was answered from the cache.
    pub fn note_run(&mut self, execute: &Execute) {
        self.knows_types = execute.new_types(self.parameters).is_none_or(|types| types == self.types);
        if let Some(params) = execute.params(self.parameters, &self.types) {
            self.type_history.note_run(&params);
        }
    }

    /// Notes that the server gets this execution. Returns the packet that the server must get instead, if the execution relies on types
    /// that the server does not have; None if it can be sent as it is.
    pub fn forward(&mut self, execute: &Execute, packet: &[u8], capabilities: u64) -> Option<Vec<u8>> {
        let lacks_types = !self.knows_types && execute.new_types(self.parameters).is_none();
        self.note_forwarded(execute);
        lacks_types.then(|| wire::with_types(packet, &self.types, capabilities))
    }
}

/// All prepared statements of one connection. By the id `LAST_STATEMENT` the methods find the one that was prepared last.
#[derive(Debug, Default)]
pub struct Statements {
    by_id: HashMap<u32, Prepared>,
    /// The statement whose types the server has just got by an execution that it refuses. It refuses all further ones until the
    /// statement is reset, which is still to be done.
    pub to_reset: Option<u32>,
    /// The id of the statement that was prepared last. None if that is not known.
    last: Option<u32>,
    by_name: HashMap<Vec<u8>, NamedStatement>,
    /// The name and statement of the PREPARE that is running now.
    unnamed: Option<(Vec<u8>, NamedStatement)>,
}

/// The statement that was prepared in SQL under a name, and the database in which that was done (none if unknown).
#[derive(Clone, Debug)]
pub struct NamedStatement {
    pub statement: Statement,
    pub database: Option<Box<[u8]>>,
}

/// Largest number of names that are remembered in one session.
const MOST_NAMED: usize = 256;

impl Statements {
    pub fn insert(&mut self, id: u32, prepared: Prepared) {
        self.last = Some(id);
        self.by_id.insert(id, prepared);
    }

    /// The statement with this id; None if it is not known.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Prepared> {
        let id = if id == LAST_STATEMENT { self.last? } else { id };
        self.by_id.get_mut(&id)
    }

    /// Returns a statement whose bound types the server does not have, and its id. The server would misinterpret an execution that brings
    /// no types. None if there is no such statement.
    pub fn misunderstood(&mut self) -> Option<(u32, &mut Prepared)> {
        self.by_id.iter_mut().find(|(_, prepared)| !prepared.knows_types).map(|(id, prepared)| (*id, prepared))
    }

    /// Returns the id of a statement for which the server still has to run an earlier execution, because later ones depend on its types;
    /// None without such a statement.
    pub fn owing(&self) -> Option<u32> {
        self.by_id.iter().find(|(_, prepared)| prepared.type_history.is_owed()).map(|(id, _)| *id)
    }

    /// True if the server lacks nothing that executions answered from the cache have brought: no types and no execution.
    pub fn are_understood(&self) -> bool {
        self.to_reset.is_none()
            && self.by_id.values().all(|prepared| prepared.knows_types && !prepared.type_history.is_owed())
    }

    pub fn remove(&mut self, id: u32) {
        let id = if id == LAST_STATEMENT { self.last.take() } else { Some(id) };
        id.and_then(|id| self.by_id.remove(&id));
    }

    pub fn clear(&mut self) {
        *self = Statements::default();
    }

    /// The statement that is certainly behind this name. None if that is not known.
    pub fn by_name(&self, name: &[u8]) -> Option<&NamedStatement> {
        self.by_name.get(name)
    }

    /// Called when the server gets a statement of this kind, or runs one inside another. Forgets the names that it may prepare again or
    /// remove.
    pub fn note_sent(&mut self, kind: &Kind) {
        match kind {
            Kind::Prepare(Some(preparation)) => _ = self.by_name.remove(&preparation.name),
            Kind::Prepare(None) | Kind::Deallocate | Kind::Call => self.by_name.clear(),
            kind if may_be_anything(kind) => self.by_name.clear(),
            _ => {}
        }
    }

    /// Called when a PREPARE in SQL goes to the server. The name counts once `end_naming` is called.
    pub fn begin_naming(&mut self, name: Vec<u8>, named: NamedStatement) {
        self.unnamed = Some((name, named));
    }

    /// Called at the end of a PREPARE in SQL. If it has succeeded, its statement is found by its name from here on.
    pub fn end_naming(&mut self, has_failed: bool) {
        let named = self.unnamed.take().filter(|_| !has_failed && self.by_name.len() < MOST_NAMED);
        self.by_name.extend(named);
    }

    /// Called after a prepare that has failed: from here on it is not known which statement was prepared last.
    pub fn forget_last(&mut self) {
        self.last = None;
    }
}
