//! The prepared statements of one connection: which of their executions are the same, whoever asks.
//!
//! Invariants:
//! - what a text means hangs on the session that prepared it. So an execution is answered from memory only under the number under which
//!   its statement was prepared: the server has told of another one of this very statement, or the number has been this one since before;
//! - types of parameters hold for later executions, too. One that would bind others than the server has goes there. Of a statement that was
//!   never run it has none: the first ones are with the read that it has not seen, until it does;
//! - which type a parameter has hangs on all that the server was given for it before: MySQL goes on with one that fits, and tells it of
//!   a NULL. So executions are the same only after the same types, and what is served gives the server none that it has not had;
//! - a statement of which something is not understood, or that was used in a rarer way, has all its executions passed on.

use crate::digest;
use feed::{Attachment, SessionContext};
use flavour::Flavour;
use insight::{NOBODY, ShapeId};
use ring::digest::{SHA256, SHA256_OUTPUT_LEN};
use sql::Aggregates;
use std::collections::{HashMap, VecDeque};
use wire::{
    BoundType, Command, Execute, LAST_STATEMENT, NO_TYPE, Outcome, OutcomeKind, Params, Taken, TakenFor, have_time,
};

/// Of more statements, and of more parameters, nothing is remembered: what one connection takes is bounded.
const MOST_STATEMENTS: usize = 256;
const MOST_PARAMETERS: u16 = 256;
/// Commands whose answers are awaited.
const MOST_AHEAD: usize = 16;

type Text = [u8; SHA256_OUTPUT_LEN];

/// What the server was given for the parameters of a statement.
#[derive(Clone, Default)]
struct Given {
    /// The type of each parameter's last value, [`NO_TYPE`] before there was one.
    types: Vec<BoundType>,
    /// Of all types that were ever given, in their order.
    history: [u8; 32],
}

impl Given {
    /// With an execution that binds these, too; none if it adds nothing.
    fn with(&self, params: &Params) -> Option<Given> {
        let kept = |(now, before): (BoundType, &BoundType)| if now == NO_TYPE { *before } else { now };
        let now = params.types_of_values().zip(&self.types).map(kept);
        if now.clone().eq(self.types.iter().copied()) {
            return None;
        }
        let types: Vec<BoundType> = now.collect();
        Some(Given { history: digest::of([&self.history, types.as_flattened()].into_iter()), types })
    }
}
/// The server's number for all that can change a result.
pub type Under = (Attachment, u64);

pub struct Statements {
    flavour: &'static Flavour,
    capabilities: u64,
    by_id: HashMap<u32, Statement>,
    /// In their order, without an answer yet.
    preparing: VecDeque<Preparing>,
    executing: VecDeque<Executing>,
}

struct Preparing {
    command: u64,
    text: Text,
    shape: ShapeId,
    says_found_rows: bool,
    aggregates: Aggregates,
}

struct Executing {
    command: u64,
    id: u32,
    types: Vec<u8>,
    gives_new: bool,
}

struct Statement {
    text: Text,
    shape: ShapeId,
    says_found_rows: bool,
    aggregates: Aggregates,
    /// Of its parameters.
    count: u16,
    /// The command that prepared it, and the last one that ran it on the server.
    prepared: u64,
    executed: u64,
    /// As the server has them: two bytes for each parameter. None while that is not certain.
    types: Option<Vec<u8>>,
    given: Given,
    /// MySQL: what the server takes the parameters for.
    taken_for: Option<TakenFor>,
    /// As the server has last told; to a client that knows another number it says that they have changed.
    columns: Option<u64>,
    /// Under which it has told of an execution.
    under: Option<Under>,
    passes: bool,
}

/// An execution that may be kept.
pub struct Execution {
    pub id: u32,
    /// Where it is counted.
    pub shape: ShapeId,
    /// What it has in common with those that get the same answer.
    pub key: Vec<u8>,
    /// So many bytes of the key are the same for all executions of the statement that bind these types.
    of_statement: usize,
    pub columns: Option<u64>,
    pub under: Option<Under>,
    /// The command that prepared its statement.
    pub prepared: u64,
    pub types: Vec<u8>,
    /// For each parameter its value, if that is certainly an integer.
    pub bound: Vec<Option<i128>>,
    /// It binds those that the server has.
    pub has_same_types: bool,
    /// It brings the first types.
    pub is_first: bool,
    pub aggregates: Aggregates,
    /// What the server will have been given, if that is something new.
    given: Option<Given>,
    /// All rows are asked for at once.
    is_plain: bool,
    /// How the server takes the values.
    taken: Taken,
}

impl Execution {
    /// The statement, as other processes have to know it to answer its executions.
    pub fn statement(&self) -> mapped::Statement {
        let columns = self.columns.unwrap_or(u64::MAX).to_le_bytes();
        mapped::Statement { id: self.id, scope: digest::of([&self.key[..self.of_statement], &columns].into_iter()) }
    }

    /// Returns true if it is known what the server takes the values for.
    fn is_clear(&self) -> bool {
        matches!(self.taken, Taken::Alike | Taken::Reprepared(_))
    }

    /// It binds the types that the server has, and has had values of for all that is not NULL.
    pub fn is_known(&self) -> bool {
        self.has_same_types && self.given.is_none()
    }

    /// The server would take it as it is meant, and its statement means what it does under this number.
    pub fn may_be_served(&self, attachment: Attachment, session: SessionContext) -> bool {
        let is_told = || self.under == Some((attachment, session.context));
        (self.is_known() || self.is_first) && (session.since < self.prepared || is_told())
    }
}

impl Statements {
    /// `capabilities`: those in force.
    pub fn new(flavour: &'static Flavour, capabilities: u64) -> Statements {
        Statements {
            flavour,
            capabilities,
            by_id: HashMap::new(),
            preparing: VecDeque::new(),
            executing: VecDeque::new(),
        }
    }

    /// None if it has to pass.
    pub fn execution(&self, payload: &[u8]) -> Option<Execution> {
        let is_under_way = |id| self.executing.iter().any(|one| one.id == id);
        let may_be_kept =
            |execution: &Execution| execution.is_plain && execution.is_clear() && !have_time(&execution.types);
        self.read(payload).filter(|execution| may_be_kept(execution) && !is_under_way(execution.id))
    }

    fn read(&self, payload: &[u8]) -> Option<Execution> {
        let execute = Execute::parse(payload, self.capabilities)?;
        let statement = self.by_id.get(&execute.id).filter(|statement| !statement.passes)?;
        let known = statement.types.as_deref();
        let params = execute.params(statement.count, known.unwrap_or_default())?;
        let given = statement.given.with(&params);
        let history = &given.as_ref().unwrap_or(&statement.given).history;
        let head = [&[Command::StmtExecute as u8][..], &statement.text, &statement.count.to_le_bytes()].concat();
        let taken_for: Vec<_> = statement.taken_for.iter().flat_map(TakenFor::parameter_bytes).collect();
        let mut key = [&head, &taken_for, params.types, history].concat();
        let of_statement = key.len();
        key.extend([params.nulls, params.values].concat());
        Some(Execution {
            id: execute.id,
            shape: statement.shape,
            key,
            of_statement,
            columns: statement.columns,
            under: statement.under,
            prepared: statement.prepared,
            types: params.types.to_vec(),
            bound: params.iter().map(|param| param.integer()).collect(),
            has_same_types: known == Some(params.types),
            is_first: params.are_types_new && statement.executed == statement.prepared,
            aggregates: statement.aggregates,
            taken: statement.taken_for.as_ref().map_or(Taken::Alike, |taken_for| taken_for.take(&params)),
            given,
            is_plain: execute.flags == 0 && execute.iterations == 1,
        })
    }

    /// This command binds a TIME, so that what it answers depends on the day.
    pub fn binds_time(&self, payload: &[u8]) -> bool {
        self.read(payload).is_some_and(|execution| have_time(&execution.types))
    }

    /// The command that prepared what this one runs.
    pub fn preparation(&self, payload: &[u8]) -> Option<u64> {
        let is_execution = payload[0] == Command::StmtExecute as u8;
        self.by_id.get(&id_of(payload)).filter(|_| is_execution).map(|statement| statement.prepared)
    }

    /// What this command has prepared is there, or may still be.
    pub fn has(&self, number: u64) -> bool {
        self.preparing.iter().any(|one| one.command == number) || self.by_id.values().any(|one| one.prepared == number)
    }

    /// Whether the rows that were found may be what this execution asks for; none if it runs what is not known.
    pub fn asks_for_found_rows(&self, payload: &[u8]) -> Option<bool> {
        let is_execution = payload[0] == Command::StmtExecute as u8;
        let statement = self.by_id.get(&id_of(payload)).filter(|_| is_execution);
        statement.map(|statement| statement.says_found_rows)
    }

    /// The server gets this command, of which a part may be missing. True: its answer has to be shown to `answered`.
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
                *self = Statements::new(self.flavour, self.capabilities);
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
        let (says_found_rows, aggregates) = (sql::may_ask_for_found_rows(text), Aggregates::of(text));
        let text = ring::digest::digest(&SHA256, text).as_ref().try_into().unwrap_or_default();
        self.preparing.push_back(Preparing { command: number, text, shape: NOBODY, says_found_rows, aggregates });
        true
    }

    /// What this command prepares is counted there.
    pub fn is_of_shape(&mut self, number: u64, shape: ShapeId) {
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
        let Some(Execution { types, given, is_plain, taken, .. }) = execution else {
            statement.passes = true;
            return false;
        };
        if let (Some(taken_for), Taken::Reprepared(types)) = (&mut statement.taken_for, taken) {
            taken_for.reprepare(types);
        }
        let gives_new = given.is_some();
        if !is_plain {
            statement.passes |= gives_new;
            return false;
        }
        given.into_iter().for_each(|given| statement.given = given);
        self.executing.push_back(Executing { command: number, id, types, gives_new });
        true
    }

    fn close(&mut self, id: u32) {
        self.by_id.remove(&id);
        if id == LAST_STATEMENT {
            self.pass(LAST_STATEMENT);
        }
    }

    /// All executions of this statement go to the server from here on, until it is prepared again.
    fn pass(&mut self, id: u32) {
        let is_it = |one: u32| one == id || id == LAST_STATEMENT;
        self.by_id.iter_mut().filter(|(one, _)| is_it(**one)).for_each(|(_, statement)| statement.passes = true);
    }

    /// Of what this command runs.
    pub fn aggregates(&self, payload: &[u8]) -> Aggregates {
        match Command::from_byte(payload[0]) {
            Some(Command::StmtExecute) => {
                self.by_id.get(&id_of(payload)).map_or(Aggregates::Perhaps, |statement| statement.aggregates)
            }
            _ => Aggregates::of(&payload[1..]),
        }
    }

    /// The server has answered a command.
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
                // From one that failed the server has taken the types, or not.
                _ => statement.passes |= gives_new,
            }
        }
    }

    fn prepared(&mut self, preparing: Preparing, outcome: &Outcome) {
        let Preparing { command, text, shape, says_found_rows, aggregates } = preparing;
        let OutcomeKind::Prepared { id, params, columns } = outcome.kind else { return };
        self.by_id.remove(&id);
        if self.by_id.len() >= MOST_STATEMENTS {
            return;
        }
        let passes = params > MOST_PARAMETERS;
        let heeds_types = self.flavour.statements.heeds_earlier_types && !passes;
        let statement = Statement {
            text,
            shape,
            says_found_rows,
            aggregates,
            count: params,
            prepared: command,
            executed: command,
            types: (params == 0).then(Vec::new),
            given: Given { types: vec![NO_TYPE; params.min(MOST_PARAMETERS).into()], ..Given::default() },
            taken_for: heeds_types.then(|| TakenFor::new(outcome.parameters.clone())),
            columns: Some(columns.into()),
            under: None,
            passes,
        };
        self.by_id.insert(id, statement);
    }

    /// The statement that this command runs was prepared under this number.
    pub fn is_of(&self, id: u32, number: u64, attachment: Attachment, session: SessionContext) -> bool {
        let statement = self.by_id.get(&id).filter(|statement| statement.prepared < number);
        let is_told = |statement: &Statement| statement.under == Some((attachment, session.context));
        statement.is_some_and(|statement| session.since < statement.prepared || is_told(statement))
    }

    /// The server has told of an execution.
    pub fn report(&mut self, id: u32, number: u64, attachment: Attachment, context: u64) {
        if let Some(statement) = self.by_id.get_mut(&id).filter(|statement| statement.prepared < number) {
            statement.under = Some((attachment, context));
        }
    }
}

/// Of a command of one statement; if it is not there, it may be any.
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

    /// Of one parameter, whose type comes along or not.
    fn execute(id: u32, kind: Option<u8>) -> Vec<u8> {
        let types = kind.map_or(vec![0], |kind| vec![1, kind, 0]);
        let value: &[u8] = if kind == Some(STRING) { b"\x01a" } else { &[1; 8] };
        [&[23][..], &id.to_le_bytes(), &[0, 1, 0, 0, 0, 0], &types, value].concat()
    }

    const ROWS: OutcomeKind = OutcomeKind::ResultSet { rows: 1, columns: 2 };

    /// Its statement 7 has been prepared.
    fn statements() -> Statements {
        let mut statements = Statements::new(&flavour::MARIADB, 0);
        assert!(statements.forward(1, b"\x16SELECT a, b FROM t WHERE c = ?", true));
        statements.answered(1, &outcome(OutcomeKind::Prepared { id: 7, params: 1, columns: 2 }));
        statements
    }

    fn is_served(statements: &Statements, payload: &[u8]) -> bool {
        is_served_since(9, statements, payload)
    }

    /// The server's number has been the same from this command on.
    fn is_served_since(since: u64, statements: &Statements, payload: &[u8]) -> bool {
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
