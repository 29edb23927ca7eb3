//! The prepared statements of one connection. They show which executions have the same result, also across connections.
//!
//! Invariants:
//! - the meaning of a text depends on the session that prepared it. So an execution is answered from memory only in the session
//!   context in which its statement was prepared: the server has reported an execution of this very statement under that context,
//!   or the context has been in force since before the statement was prepared;
//! - parameter types stay in force for later executions. An execution that would bind types other than the server's goes to the
//!   server. A statement that was never run has no types on the server yet: if its first execution is answered from memory, its
//!   types are kept with that pending read until the server runs the read;
//! - how the server interprets a parameter depends on all types that it was given before: MySQL keeps using an earlier type that
//!   fits, also for NULL. So executions share a result only after the same history of types, and one that would add a type to the
//!   history is not answered from memory, except for the first;
//! - if a statement is not fully understood, or is used with COM_STMT_SEND_LONG_DATA or COM_STMT_BULK_EXECUTE, all its executions
//!   go to the server.

use crate::command::begins_a_read;
use crate::digest;
use feed::{Attachment, SessionContext};
use flavour::Flavour;
use insight::{NOBODY, ShapeId};
use ring::digest::{SHA256, SHA256_OUTPUT_LEN};
use sql::Aggregates;
use std::collections::{HashMap, VecDeque};
use wire::{
    BoundType, Command, Execute, Interpretation, LAST_STATEMENT, NO_TYPE, Outcome, OutcomeKind, ParameterTypes, Params,
    have_time,
};

/// The maximum number of statements of one connection that are remembered. Executions of further ones go to the server.
const MOST_STATEMENTS: usize = 256;
/// The maximum number of parameters of a statement. Executions of others go to the server.
const MOST_PARAMETERS: u16 = 256;
/// The maximum number of prepares, and of executions, that may be waiting for their answers. Statements beyond that are not
/// served.
const MOST_AHEAD: usize = 16;

/// The SHA-256 of a statement's text.
type Text = [u8; SHA256_OUTPUT_LEN];

/// The parameter types that the server was given for a statement so far.
#[derive(Clone, Default)]
struct TypeHistory {
    /// The type of each parameter's last value, [`NO_TYPE`] before there was one.
    types: Vec<BoundType>,
    /// A hash of all lists of types that were ever given, in their order.
    history: [u8; 32],
}

impl TypeHistory {
    /// Returns the state after an execution that also binds these types. None if it adds nothing.
    fn with(&self, params: &Params) -> Option<TypeHistory> {
        let kept = |(now, before): (BoundType, &BoundType)| if now == NO_TYPE { *before } else { now };
        let now = params.types_of_values().zip(&self.types).map(kept);
        if now.clone().eq(self.types.iter().copied()) {
            return None;
        }
        let types: Vec<BoundType> = now.collect();
        Some(TypeHistory { history: digest::of([&self.history, types.as_flattened()].into_iter()), types })
    }
}
/// A session context: the attachment to a server's feed, and the server's number for everything except the read itself that can
/// change a result.
pub type ContextId = (Attachment, u64);

/// The prepared statements of one connection, and the parameter types that the server has for each. The caller passes it every
/// command that the server gets, and the outcomes that it asks for.
pub struct PreparedStatements {
    flavour: &'static Flavour,
    capabilities: u64,
    by_id: HashMap<u32, PreparedStatement>,
    /// The statements whose COM_STMT_PREPARE has not been answered, oldest first.
    preparing: VecDeque<Preparing>,
    /// The executions that have not been answered, oldest first.
    executing: VecDeque<Executing>,
}

/// A statement whose COM_STMT_PREPARE has not been answered.
struct Preparing {
    command: u64,
    text: Text,
    shape: ShapeId,
    /// True if its text may evaluate FOUND_ROWS().
    reads_found_rows: bool,
    is_read: bool,
    aggregates: Aggregates,
}

/// A COM_STMT_EXECUTE that went to the server and that the server has not answered.
struct Executing {
    command: u64,
    id: u32,
    types: Vec<u8>,
    /// True if the execution has added to the history of types.
    gives_new: bool,
}

/// A prepared statement of the connection.
struct PreparedStatement {
    text: Text,
    shape: ShapeId,
    /// True if its text may evaluate FOUND_ROWS().
    reads_found_rows: bool,
    /// True if its text begins as a read does.
    is_read: bool,
    aggregates: Aggregates,
    /// The number of its parameters.
    count: u16,
    /// The number of the command that prepared the statement.
    prepared: u64,
    /// The number of the last command that ran it on the server.
    executed: u64,
    /// The parameter types that the server uses now, two bytes for each. None while they are not certain.
    types: Option<Vec<u8>>,
    type_history: TypeHistory,
    /// How the server interprets each parameter, for products where that depends on earlier values (MySQL).
    taken_for: Option<ParameterTypes>,
    /// The number of columns in the server's last answer. None while it is not certain. The server reports changed metadata to a
    /// client that knows another number.
    columns: Option<u64>,
    /// The session context in which the server has last reported an execution of this statement; none before that.
    reported_context: Option<ContextId>,
    /// True if all executions go to the server, and none is stored.
    passes: bool,
}

/// An execution of a prepared statement whose answer may be stored or served.
pub struct Execution {
    /// The server's number of the statement on this connection.
    pub id: u32,
    /// The statement in whose statistics the execution is counted.
    pub shape: ShapeId,
    /// The key of the result. Executions with the same key have the same answer in the same context.
    pub key: Vec<u8>,
    /// The length of the part of the key that all executions of the statement with these types share.
    of_statement: usize,
    /// The number of columns that the client expects in the answer. None while that is not certain.
    pub columns: Option<u64>,
    /// The session context in which the server has last reported an execution of the statement. None if it has reported none.
    pub reported_context: Option<ContextId>,
    /// The number of the command that prepared the statement.
    pub prepared: u64,
    /// The types of all parameters in this execution, two bytes for each.
    pub types: Vec<u8>,
    /// For each parameter its value if it is certainly an integer, and otherwise none.
    pub bound: Vec<Option<i128>>,
    /// True if it binds the types that the server uses for the statement now.
    pub has_same_types: bool,
    /// True if the server has not run the statement yet, and the execution brings types.
    pub is_first: bool,
    pub aggregates: Aggregates,
    /// The state of the types after this execution. None if the execution adds nothing to it.
    type_history: Option<TypeHistory>,
    /// True if it uses no cursor, so that all rows are sent at once.
    is_plain: bool,
    /// How the server interprets the values.
    taken: Interpretation,
}

impl Execution {
    /// Identifies the statement for other processes, which need that to answer executions of it. The scope covers its text, its
    /// types and its number of columns.
    pub fn statement(&self) -> mapped::ServedStatement {
        let columns = self.columns.unwrap_or(u64::MAX).to_le_bytes();
        mapped::ServedStatement {
            id: self.id,
            scope: digest::of([&self.key[..self.of_statement], &columns].into_iter()),
        }
    }

    /// Returns true if it is certain from the types alone how the server interprets the values, so that a result can be stored
    /// under its key.
    fn is_clear(&self) -> bool {
        matches!(self.taken, Interpretation::Alike | Interpretation::Reprepared(_))
    }

    /// Returns true if the execution binds the types that the server uses now, and adds nothing to their history. It may then be
    /// answered without the server receiving it.
    pub fn is_known(&self) -> bool {
        self.has_same_types && self.type_history.is_none()
    }

    /// Returns true if the server would interpret the values of this execution like those of any other with its key, and the
    /// statement was prepared in the session context `session` or was reported in it. Under `attachment`, a stored result with
    /// its key is then right.
    pub fn may_be_served(&self, attachment: Attachment, session: SessionContext) -> bool {
        let is_reported = || self.reported_context == Some((attachment, session.context));
        (self.is_known() || self.is_first) && (session.since < self.prepared || is_reported())
    }
}

impl PreparedStatements {
    /// Creates the list, without any statement. `capabilities` are those that client and server have agreed on.
    pub fn new(flavour: &'static Flavour, capabilities: u64) -> PreparedStatements {
        PreparedStatements {
            flavour,
            capabilities,
            by_id: HashMap::new(),
            preparing: VecDeque::new(),
            executing: VecDeque::new(),
        }
    }

    /// Returns the execution that this command runs. None if its answer may be neither served from memory nor stored; that is
    /// also so while an earlier execution of the same statement has not been answered.
    pub fn execution(&self, payload: &[u8]) -> Option<Execution> {
        let is_under_way = |id| self.executing.iter().any(|one| one.id == id);
        let may_be_kept =
            |execution: &Execution| execution.is_plain && execution.is_clear() && !have_time(&execution.types);
        self.read(payload).filter(|execution| may_be_kept(execution) && !is_under_way(execution.id))
    }

    /// Decodes an execution of a known statement. None if the command is no execution that can be decoded, or all of the
    /// statement's executions go to the server.
    fn read(&self, payload: &[u8]) -> Option<Execution> {
        let execute = Execute::parse(payload, self.capabilities)?;
        let statement = self.by_id.get(&execute.id).filter(|statement| !statement.passes)?;
        let known = statement.types.as_deref();
        let params = execute.params(statement.count, known.unwrap_or_default())?;
        let type_history = statement.type_history.with(&params);
        let history = &type_history.as_ref().unwrap_or(&statement.type_history).history;
        let head = [&[Command::StmtExecute as u8][..], &statement.text, &statement.count.to_le_bytes()].concat();
        let taken_for: Vec<_> = statement.taken_for.iter().flat_map(ParameterTypes::parameter_bytes).collect();
        let mut key = [&head, &taken_for, params.types, history].concat();
        let of_statement = key.len();
        key.extend([params.nulls, params.values].concat());
        Some(Execution {
            id: execute.id,
            shape: statement.shape,
            key,
            of_statement,
            columns: statement.columns,
            reported_context: statement.reported_context,
            prepared: statement.prepared,
            types: params.types.to_vec(),
            bound: params.iter().map(|param| param.integer()).collect(),
            has_same_types: known == Some(params.types),
            is_first: params.are_types_new && statement.executed == statement.prepared,
            aggregates: statement.aggregates,
            taken: statement.taken_for.as_ref().map_or(Interpretation::Alike, |taken_for| taken_for.interpret(&params)),
            type_history,
            is_plain: execute.flags == 0 && execute.iterations == 1,
        })
    }

    /// Returns true if this command binds a value of type TIME. Its answer may then depend on the current date.
    pub fn binds_time(&self, payload: &[u8]) -> bool {
        self.read(payload).is_some_and(|execution| have_time(&execution.types))
    }

    /// Returns the number of the command that prepared the statement which `payload` executes. None if `payload` is no execution
    /// or the statement is not known.
    pub fn preparation(&self, payload: &[u8]) -> Option<u64> {
        self.executed(payload).map(|statement| statement.prepared)
    }

    /// Returns the statement that `payload` executes. None if `payload` is no execution or the statement is not known.
    fn executed(&self, payload: &[u8]) -> Option<&PreparedStatement> {
        let is_execution = payload[0] == Command::StmtExecute as u8;
        self.by_id.get(&id_of(payload)).filter(|_| is_execution)
    }

    /// Returns true if the statement that command `number` prepared still exists, or its preparation has not been answered.
    pub fn has(&self, number: u64) -> bool {
        self.preparing.iter().any(|one| one.command == number) || self.by_id.values().any(|one| one.prepared == number)
    }

    /// Returns true if this execution may evaluate FOUND_ROWS(), and false if it certainly does not. None if it is no execution
    /// or the statement is not known.
    pub fn asks_for_found_rows(&self, payload: &[u8]) -> Option<bool> {
        self.executed(payload).map(|statement| statement.reads_found_rows)
    }

    /// Notes command `number`, which the server receives. `is_whole` is false if `payload` is only its beginning. Returns true if
    /// the outcome of the command must be passed to [`answered`](Self::answered).
    pub fn forward(&mut self, number: u64, payload: &[u8], is_whole: bool) -> bool {
        match payload.first().and_then(|byte| Command::from_byte(*byte)) {
            Some(Command::StmtPrepare) if is_whole => self.prepare(number, &payload[1..]),
            Some(Command::StmtExecute) => self.execute(number, payload, is_whole),
            Some(Command::StmtSendLongData | Command::StmtBulkExecute) => {
                self.pass(id_of(payload));
                false
            }
            Some(Command::StmtClose) => {
                self.close(id_of(payload));
                false
            }
            Some(Command::ResetConnection | Command::ChangeUser) => {
                *self = PreparedStatements::new(self.flavour, self.capabilities);
                false
            }
            Some(Command::Multi) | None => {
                self.pass(LAST_STATEMENT);
                false
            }
            Some(_) => false,
        }
    }

    fn prepare(&mut self, number: u64, text: &[u8]) -> bool {
        if self.preparing.len() == MOST_AHEAD {
            return false;
        }
        let (reads_found_rows, is_read) = (sql::may_ask_for_found_rows(text), begins_a_read(text));
        let aggregates = Aggregates::of(text);
        let text = ring::digest::digest(&SHA256, text).as_ref().try_into().unwrap_or_default();
        let preparing = Preparing { command: number, text, shape: NOBODY, reads_found_rows, is_read, aggregates };
        self.preparing.push_back(preparing);
        true
    }

    /// Sets the statistics that count the executions of the statement which command `number` prepares. To be called before the
    /// answer to that command.
    pub fn set_shape(&mut self, number: u64, shape: ShapeId) {
        self.preparing.iter_mut().filter(|one| one.command == number).for_each(|one| one.shape = shape);
    }

    fn execute(&mut self, number: u64, payload: &[u8], is_whole: bool) -> bool {
        let id = id_of(payload);
        if id == LAST_STATEMENT {
            self.pass(LAST_STATEMENT);
        }
        let execution = if is_whole { self.read(payload) } else { None };
        let Some(statement) = self.by_id.get_mut(&id) else { return false };
        (statement.types, statement.columns, statement.executed) = (None, None, number);
        let execution = execution.filter(|execution| execution.is_clear() && self.executing.len() < MOST_AHEAD);
        let Some(Execution { types, type_history, is_plain, taken, .. }) = execution else {
            statement.passes = true;
            return false;
        };
        if let (Some(taken_for), Interpretation::Reprepared(types)) = (&mut statement.taken_for, taken) {
            taken_for.reprepare(types);
        }
        let gives_new = type_history.is_some();
        if !is_plain {
            statement.passes |= gives_new;
            return false;
        }
        type_history.into_iter().for_each(|type_history| statement.type_history = type_history);
        self.executing.push_back(Executing { command: number, id, types, gives_new });
        true
    }

    fn close(&mut self, id: u32) {
        self.by_id.remove(&id);
        if id == LAST_STATEMENT {
            self.pass(LAST_STATEMENT);
        }
    }

    /// Sends all executions of this statement to the server from here on, until the statement is prepared again.
    /// [`LAST_STATEMENT`] stands for all statements.
    fn pass(&mut self, id: u32) {
        let is_it = |one: u32| one == id || id == LAST_STATEMENT;
        self.by_id.iter_mut().filter(|(one, _)| is_it(**one)).for_each(|(_, statement)| statement.passes = true);
    }

    /// Returns whether the statement that this command runs, by text or as an execution, aggregates rows.
    pub fn aggregates(&self, payload: &[u8]) -> Aggregates {
        match Command::from_byte(payload[0]) {
            Some(Command::StmtExecute) => {
                self.by_id.get(&id_of(payload)).map_or(Aggregates::Perhaps, |statement| statement.aggregates)
            }
            _ => Aggregates::of(&payload[1..]),
        }
    }

    /// Returns true if this command executes a statement whose text begins as a read does. False if the statement is not known.
    pub fn runs_a_read(&self, payload: &[u8]) -> bool {
        self.executed(payload).is_some_and(|statement| statement.is_read)
    }

    /// Takes the outcome of the answer to command `number`. Outcomes of commands that were not noted change nothing.
    pub fn answered(&mut self, number: u64, outcome: &Outcome) {
        if let Some(at) = self.preparing.iter().position(|one| one.command == number) {
            let preparing = self.preparing.drain(..=at).next_back();
            preparing.into_iter().for_each(|preparing| self.prepared(preparing, outcome));
        }
        if let Some(at) = self.executing.iter().position(|one| one.command == number)
            && let Some(Executing { id, types, gives_new, .. }) = self.executing.drain(..=at).next_back()
            && let Some(statement) = self.by_id.get_mut(&id)
        {
            match outcome.kind {
                OutcomeKind::ResultSet { columns, .. } if statement.executed == number => {
                    (statement.types, statement.columns) = (Some(types), Some(columns));
                }
                OutcomeKind::ResultSet { .. } => {}
                // After an error it is not known whether the server has taken over the types.
                _ => statement.passes |= gives_new,
            }
        }
    }

    fn prepared(&mut self, preparing: Preparing, outcome: &Outcome) {
        let Preparing { command, text, shape, reads_found_rows, is_read, aggregates } = preparing;
        let OutcomeKind::Prepared { id, params, columns } = outcome.kind else { return };
        self.by_id.remove(&id);
        if self.by_id.len() >= MOST_STATEMENTS {
            return;
        }
        let passes = params > MOST_PARAMETERS;
        let heeds_types = self.flavour.statements.depends_on_earlier_types && !passes;
        let statement = PreparedStatement {
            text,
            shape,
            reads_found_rows,
            is_read,
            aggregates,
            count: params,
            prepared: command,
            executed: command,
            types: (params == 0).then(Vec::new),
            type_history: TypeHistory {
                types: vec![NO_TYPE; params.min(MOST_PARAMETERS).into()],
                ..TypeHistory::default()
            },
            taken_for: heeds_types.then(|| ParameterTypes::new(outcome.parameters.clone())),
            columns: Some(columns.into()),
            reported_context: None,
            passes,
        };
        self.by_id.insert(id, statement);
    }

    /// Returns true if statement `id`, executed by command `number`, was prepared in this session context or reported in it, so
    /// that it means there what its text says.
    pub fn is_valid_in(&self, id: u32, number: u64, attachment: Attachment, session: SessionContext) -> bool {
        let statement = self.by_id.get(&id).filter(|statement| statement.prepared < number);
        let is_reported =
            |statement: &PreparedStatement| statement.reported_context == Some((attachment, session.context));
        statement.is_some_and(|statement| session.since < statement.prepared || is_reported(statement))
    }

    /// Notes that the server has reported the execution of statement `id` by command `number`, in this session context. Ignored
    /// if the id belongs to a statement that was prepared later.
    pub fn report(&mut self, id: u32, number: u64, attachment: Attachment, context: u64) {
        if let Some(statement) = self.by_id.get_mut(&id).filter(|statement| statement.prepared < number) {
            statement.reported_context = Some((attachment, context));
        }
    }
}

/// Returns the statement id in a command. [`LAST_STATEMENT`], which may be any statement, if the command contains none.
fn id_of(payload: &[u8]) -> u32 {
    wire::statement_id(payload).unwrap_or(LAST_STATEMENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Expect, Progress, ResponseTracker, ok_packet};

    const INTEGER: u8 = 8;
    const STRING: u8 = 253;

    fn outcome(kind: OutcomeKind) -> Outcome {
        let Progress::Done(outcome) = ResponseTracker::new(Expect::Ok, 0).feed(&ok_packet(1, 0, 0, 0, 0)) else {
            panic!("it is an answer");
        };
        Outcome { kind, ..outcome }
    }

    /// Builds an execution of statement `id` with one parameter. `kind` is its type; none leaves the type out.
    fn execute(id: u32, kind: Option<u8>) -> Vec<u8> {
        let types = kind.map_or(vec![0], |kind| vec![1, kind, 0]);
        let value: &[u8] = if kind == Some(STRING) { b"\x01a" } else { &[1; 8] };
        [&[23][..], &id.to_le_bytes(), &[0, 1, 0, 0, 0, 0], &types, value].concat()
    }

    const ROWS: OutcomeKind = OutcomeKind::ResultSet { rows: 1, columns: 2 };

    /// Returns the statements of a connection that has prepared one, whose id is 7, with one parameter.
    fn statements() -> PreparedStatements {
        let mut statements = PreparedStatements::new(&flavour::MARIADB, 0);
        assert!(statements.forward(1, b"\x16SELECT a, b FROM t WHERE c = ?", true));
        statements.answered(1, &outcome(OutcomeKind::Prepared { id: 7, params: 1, columns: 2 }));
        statements
    }

    /// Returns true if an execution is served in a context that has been in force since after the statement was prepared.
    fn is_served(statements: &PreparedStatements, payload: &[u8]) -> bool {
        is_served_since(9, statements, payload)
    }

    /// Returns true if an execution is served in a context that has been in force since command `since`.
    fn is_served_since(since: u64, statements: &PreparedStatements, payload: &[u8]) -> bool {
        let session = SessionContext { context: 3, stamp: 0, since };
        statements.execution(payload).is_some_and(|execution| execution.may_be_served([1, 2], session))
    }

    #[test]
    fn what_was_told_of_is_served_with_the_types_that_the_server_has() {
        let mut statements = statements();
        let integer = execute(7, Some(INTEGER));
        assert!(statements.forward(2, &integer, true));
        statements.answered(2, &outcome(ROWS));
        assert!(!is_served(&statements, &integer), "nothing was told");
        statements.report(7, 2, [1, 2], 3);
        assert!(is_served(&statements, &integer) && is_served(&statements, &execute(7, None)));
        assert!(!is_served(&statements, &execute(7, Some(STRING))) && !is_served(&statements, &execute(8, None)));
        let keys = [&integer, &execute(7, None)].map(|one| statements.execution(one).map(|execution| execution.key));
        assert!(keys[0].is_some() && keys[0] == keys[1]);
    }

    #[test]
    fn the_first_execution_is_served_if_the_statement_was_prepared_under_the_same_number() {
        let mut statements = statements();
        let integer = execute(7, Some(INTEGER));
        assert!(is_served_since(0, &statements, &integer));
        assert!(!is_served_since(1, &statements, &integer) && !is_served_since(0, &statements, &execute(7, None)));
        statements.forward(2, &integer, true);
        assert!(!is_served_since(0, &statements, &integer), "the server may have these types, or none");
        statements.answered(2, &outcome(ROWS));
        assert!(is_served_since(0, &statements, &execute(7, None)));
    }

    #[test]
    fn of_the_types_of_an_execution_that_failed_nothing_is_known() {
        let mut statements = statements();
        statements.report(7, 2, [1, 2], 3);
        for (number, kind) in [(2, ROWS), (3, OutcomeKind::Err { code: 1205 })] {
            assert!(statements.forward(number, &execute(7, Some(INTEGER)), true));
            assert!(!is_served(&statements, &execute(7, None)), "its answer has not come");
            statements.answered(number, &outcome(kind));
            assert_eq!(is_served(&statements, &execute(7, None)), number == 2);
        }
        assert!(!statements.forward(4, &execute(7, None), true));
    }

    #[test]
    fn what_is_not_certain_passes() {
        let uses: [&[u8]; 5] =
            [b"\x18\x07\0\0\0\0\0a", b"\xfa\x07\0\0\0", b"\x17\xff\xff\xff\xff", b"\x19\xff\xff\xff\xff", b""];
        for payload in uses {
            let mut statements = statements();
            statements.forward(2, &execute(7, Some(INTEGER)), true);
            statements.answered(2, &outcome(ROWS));
            statements.report(7, 2, [1, 2], 3);
            assert!(is_served(&statements, &execute(7, None)));
            statements.forward(3, payload, true);
            assert!(!is_served(&statements, &execute(7, None)), "{payload:?}");
        }
    }

    #[test]
    fn what_a_connection_takes_is_bounded() {
        let mut statements = statements();
        for number in 2..2000 {
            statements.forward(number, b"\x16SELECT 1", true);
            let kind = OutcomeKind::Prepared { id: number as u32, params: 300, columns: 1 };
            statements.answered(number, &outcome(kind));
        }
        assert_eq!(statements.by_id.len(), MOST_STATEMENTS);
        assert!(statements.execution(&execute(9, Some(INTEGER))).is_none());
        (0..100).for_each(|number| _ = statements.forward(3000 + number, b"\x16SELECT 1", true));
        assert_eq!(statements.preparing.len(), MOST_AHEAD);
    }
}
