//! Tracks how the commands of a session may have changed it: whether the server has to be asked about the session again, and
//! whether anything may be stored.
//!
//! Invariant: each answer of the server about the session belongs to a generation, and every command that may change the session
//! starts a new generation.

use super::effect::{self, Effect};
use super::parsed::Parsed;
use super::question::{self, KnownSession};
use crate::digest;
use flavour::Flavour;
use sql::{
    Assignment, CHARACTER_SETS, Charset, Kind, LexMode, SetTransaction, Target, TransactionScope, Value, classify,
    may_ask_for_found_rows,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::{Command, Outcome, OutcomeKind, Query, capability};

/// The key in [`State::set`] for changes of user variables. Views may read user variables through functions. Their values are not
/// known, so a hash of the statements that have set them, in their order, stands for them.
const VARIABLES: &[u8] = b"@";

/// The state of one session as far as it is known. The caller passes it each command before it is sent, and each outcome. A
/// generation is a number that grows with each command that may change the session; a description by the server is valid in one
/// generation only.
pub struct State {
    capabilities: u64,
    /// True if a query may contain several statements.
    may_be_several: bool,
    /// The character set of the login.
    charset: Charset,
    /// The mode in which the session's texts are parsed, as far as it is known.
    pub mode: LexMode,
    /// The text that was parsed last: each command is examined several times on its way.
    last_parsed: Option<Arc<Parsed>>,
    /// The number of commands so far that may have changed the session.
    generation: u64,
    /// The generation to which the last question about the session belongs.
    asked_generation: Option<u64>,
    /// The server's last description of the session, with the generation to which it belongs. The inner value is none if nothing
    /// may be stored or served in that generation.
    description: Option<(u64, Option<Arc<KnownSession>>)>,
    /// True if the session has state that the server cannot be asked for, such as a temporary table. Nothing is stored or served
    /// then.
    has_unknown_state: bool,
    /// The generation in which the session was reset to its initial state, while the answer to that command is pending.
    reset_generation: Option<u64>,
    /// True if SET TRANSACTION has given the next transaction its own characteristics.
    is_next_special: bool,
    /// True if a prepared statement of the session may write.
    may_execute_writes: bool,
    /// True if a statement that was prepared by a PREPARE text may evaluate FOUND_ROWS().
    asks_for_found_rows_by_text: bool,
    /// True if a statement that was prepared by COM_STMT_PREPARE may evaluate FOUND_ROWS().
    asks_for_found_rows_by_command: bool,
    /// True if something may have been written that is not answered or not committed.
    is_writing: bool,
    /// True if a statement that may change accounts was sent and is not answered.
    is_about_accounts: bool,
    /// True if a statement that may change accounts was prepared.
    may_execute_about_accounts: bool,
    /// The time when the last write was answered, in microseconds.
    wrote_at: u64,
    /// Settings that the server does not report, or not in full, with what the client has set them to.
    set: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl State {
    /// Returns the state of a session that has just logged in. `collation` is the number of the collation in the login.
    pub fn new(flavour: &'static Flavour, capabilities: u64, collation: u16) -> State {
        let charset = Charset::of_collation(collation, &flavour.charsets);
        State {
            capabilities,
            may_be_several: capabilities & capability::MULTI_STATEMENTS != 0,
            charset,
            mode: LexMode { charset, ..LexMode::new(flavour) },
            last_parsed: None,
            generation: 0,
            asked_generation: None,
            description: None,
            has_unknown_state: false,
            reset_generation: None,
            is_next_special: false,
            may_execute_writes: false,
            asks_for_found_rows_by_text: false,
            asks_for_found_rows_by_command: false,
            is_writing: false,
            is_about_accounts: false,
            may_execute_about_accounts: false,
            wrote_at: 0,
            set: BTreeMap::new(),
        }
    }

    fn flavour(&self) -> &'static Flavour {
        self.mode.flavour
    }

    /// Parses the text of a statement in this lexical mode (the settings of the session that change how texts are
    /// parsed). The result for the last text is kept, so the same text is not parsed twice in a row.
    pub fn parse(&mut self, text: &[u8], mode: LexMode) -> Arc<Parsed> {
        if let Some(last) = self.last_parsed.as_ref().filter(|last| last.is_of(text, mode)) {
            return last.clone();
        }
        self.last_parsed.insert(Parsed::of(text, mode)).clone()
    }

    /// Returns the present generation: a number that grows with each command that may change the session.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the server's description of the session as it is now. `None`: nothing may be stored or served; `Some(None)`: the
    /// server has to be asked first.
    pub fn known_session(&self) -> Option<Option<Arc<KnownSession>>> {
        if self.has_unknown_state {
            return None;
        }
        match self.description_in(self.generation) {
            Some(known) => Some(Some(known)),
            None if self.asked_generation == Some(self.generation) => None,
            None => Some(None),
        }
    }

    /// Returns the server's description of the session in this generation (between two commands that may change the
    /// session). None if there is none, or if nothing may be stored or served.
    pub fn description_in(&self, generation: u64) -> Option<Arc<KnownSession>> {
        let description = self.description.as_ref().filter(|(of, _)| *of == generation);
        description.and_then(|(_, known)| known.clone())
    }

    /// Returns true if a read in the open transaction may be answered from memory: the transaction has written nothing, and SET
    /// TRANSACTION has given it no characteristics.
    pub fn may_serve_in_transaction(&self) -> bool {
        !self.is_writing && !self.is_next_special
    }

    /// Notes that everything is answered and that no transaction is open, so that no write is pending any more. Only the caller
    /// knows this.
    pub fn note_at_rest(&mut self) {
        (self.is_writing, self.is_about_accounts) = (false, false);
    }

    /// Returns true if a statement was sent that may create, drop or rename accounts, and is not answered.
    pub fn may_change_accounts(&self) -> bool {
        self.is_about_accounts
    }

    /// Returns true if something may have been written that is not answered, or not committed.
    pub fn is_writing(&self) -> bool {
        self.is_writing
    }

    /// Returns a time in microseconds. If no command is pending and no transaction is open, results that were read later include
    /// everything that the session wrote.
    pub fn wrote_at(&self) -> u64 {
        self.wrote_at
    }

    /// Returns true if a statement that was prepared by a PREPARE text may evaluate FOUND_ROWS().
    pub fn asks_for_found_rows_by_text(&self) -> bool {
        self.asks_for_found_rows_by_text
    }

    /// Returns true if a statement that was prepared by COM_STMT_PREPARE may evaluate FOUND_ROWS().
    pub fn asks_for_found_rows_by_command(&self) -> bool {
        self.asks_for_found_rows_by_command
    }

    /// From now on, results that were read before `now_us`, in microseconds, are stale for the session.
    pub fn invalidate_before(&mut self, now_us: u64) {
        self.wrote_at = now_us;
    }

    /// Returns true if SET TRANSACTION has given the next transaction characteristics of its own, and forgets them. The read that
    /// the caller decides on may have to run with them.
    pub fn take_next_characteristics(&mut self) -> bool {
        std::mem::take(&mut self.is_next_special)
    }

    /// Returns true if the server was asked about the session and has not answered.
    pub fn is_asking(&self) -> bool {
        self.asked_generation.is_some() && self.description.as_ref().map(|(of, _)| *of) != self.asked_generation
    }

    /// Notes that the query for the session's settings is now sent to the server. Its answer counts only if no later
    /// command may have changed the session.
    pub fn note_question_sent(&mut self) {
        self.asked_generation = Some(self.generation);
    }

    /// Takes the values in the answer to the last question about the session; none if the answer is not understood, so that
    /// nothing may be stored or served. The last argument contains further values that distinguish the session. An answer that
    /// came too late, because settings may have changed since the question, counts as not understood.
    pub fn learn(&mut self, values: Option<&[Vec<u8>]>, extra: &[&[u8]]) {
        let set: Vec<&[u8]> = self.set.iter().flat_map(|(name, value)| [name.as_slice(), value]).collect();
        let of_question = self.asked_generation.unwrap_or_default();
        let is_now = of_question == self.generation;
        // Settings may have changed since the question, so its answer no longer describes the session.
        let values = values.filter(|_| is_now);
        let known = values.and_then(|values| question::known(self.flavour(), values, &[extra, &set].concat()));
        if let Some(known) = &known {
            self.mode = known.mode;
        }
        self.description = Some((of_question, known.map(Arc::new)));
    }

    /// Takes the outcome of a complete answer to a command of the client. `now_us` is the time in microseconds.
    pub fn answered(&mut self, outcome: &Outcome, now_us: u64) {
        self.last_parsed = None;
        if self.is_writing {
            self.wrote_at = now_us;
        }
        let begins = self.reset_generation.take().is_some_and(|generation| generation == self.generation);
        if begins && outcome.kind == OutcomeKind::Ok {
            (self.has_unknown_state, self.is_next_special) = (false, false);
            (self.may_execute_writes, self.may_execute_about_accounts) = (false, false);
            (self.asks_for_found_rows_by_text, self.asks_for_found_rows_by_command) = (false, false);
            self.set.clear();
            self.mode = LexMode { charset: self.charset, ..LexMode::new(self.flavour()) };
        }
    }

    /// Notes a command that is about to be sent, and the changes that it may make to the session. `payload` is not empty;
    /// `is_whole` is false if it is only the beginning. `is_at_rest` is true if everything before was answered and no transaction
    /// is open.
    pub fn note_command(&mut self, payload: &[u8], is_whole: bool, is_at_rest: bool) {
        let body = &payload[1..];
        match Command::from_byte(payload[0]) {
            Some(Command::Query) => match Query::parse(body, self.capabilities) {
                Some(query) if is_whole => self.note_statement(query.text),
                query => self.change(effect::of_beginning(query.map_or(body, |query| query.text), self.may_be_several)),
            },
            Some(Command::StmtPrepare) => self.note_prepared(body, is_whole),
            Some(Command::StmtExecute | Command::StmtBulkExecute) if !self.may_execute_writes => {}
            Some(Command::StmtExecute | Command::StmtBulkExecute) => {
                self.is_about_accounts |= self.may_execute_about_accounts;
                self.change(Effect::Rows);
            }
            Some(Command::SetOption) => self.may_be_several = true,
            Some(Command::InitDb) => self.change(Effect::Settings),
            Some(Command::CreateDb | Command::DropDb | Command::Refresh) => self.change(Effect::Rows),
            Some(Command::ResetConnection | Command::ChangeUser) => {
                self.change(Effect::Rows);
                self.reset_generation = is_at_rest.then_some(self.generation);
            }
            Some(
                Command::Quit
                | Command::Ping
                | Command::Statistics
                | Command::ProcessInfo
                | Command::ProcessKill
                | Command::FieldList
                | Command::Debug
                | Command::StmtClose
                | Command::StmtReset
                | Command::StmtFetch
                | Command::StmtSendLongData,
            ) => {}
            _ => self.change(Effect::Anything),
        }
    }

    /// Notes the statement of a query that is about to be sent.
    fn note_statement(&mut self, text: &[u8]) {
        let parsed = self.parse(text, self.mode);
        let statement = &parsed.statement;
        let kind = &statement.kind;
        if effect::may_set_variables(kind, text) {
            let before = self.set.get(VARIABLES).map_or(&[][..], Vec::as_slice);
            let now = digest::of([before, text].into_iter());
            self.set.insert(VARIABLES.to_vec(), now.to_vec());
            self.change(Effect::Settings);
        }
        self.asks_for_found_rows_by_text |= matches!(kind, Kind::Prepare(_)) && may_ask_for_found_rows(text);
        let is_about_accounts = effect::is_about_accounts(kind, text);
        let executes = matches!(kind, Kind::Execute(_) | Kind::Executed(_)) && self.may_execute_about_accounts;
        self.is_about_accounts |= is_about_accounts || executes;
        self.may_execute_about_accounts |= is_about_accounts && matches!(kind, Kind::Prepare(_));
        match kind {
            Kind::Set(assignments) => {
                if statement.may_write_by_the_way {
                    self.change(Effect::Rows);
                }
                assignments.iter().for_each(|one| self.note_assignment(one));
            }
            Kind::SetTransaction(SetTransaction { scope: TransactionScope::Next, .. }) => self.is_next_special = true,
            _ => self.change(effect::of(statement)),
        }
    }

    /// Notes the text of a statement that is about to be prepared. If its executions could change settings, the session's state
    /// counts as unknown from now on.
    fn note_prepared(&mut self, text: &[u8], is_whole: bool) {
        self.asks_for_found_rows_by_command |= !is_whole || may_ask_for_found_rows(text);
        let statement = is_whole.then(|| classify(text, self.mode));
        let effect = match statement {
            Some(statement) if effect::may_set_variables(&statement.kind, text) => Effect::Anything,
            Some(statement) => {
                self.may_execute_about_accounts |= effect::is_about_accounts(&statement.kind, text);
                effect::of(&statement)
            }
            None => effect::of_beginning(text, false),
        };
        match effect {
            Effect::Nothing => {}
            Effect::Rows => self.may_execute_writes = true,
            _ => self.change(Effect::Anything),
        }
    }

    /// Notes that a command may have this effect.
    fn change(&mut self, effect: Effect) {
        if effect > Effect::Nothing {
            self.generation += 1;
        }
        self.is_writing |= effect >= Effect::Rows;
        self.has_unknown_state |= effect == Effect::Anything;
    }

    fn note_assignment(&mut self, assignment: &Assignment) {
        match &assignment.target {
            Target::UserVariable => {}
            Target::OneShot(_) => self.is_next_special = true,
            Target::Session(name) => self.note_session_variable(name, &assignment.value),
            Target::Names { .. } | Target::Charset => {
                CHARACTER_SETS.iter().for_each(|name| drop(self.set.remove(*name)));
                self.set_charset(&assignment.value);
                let collation = match &assignment.target {
                    Target::Names { collation } => collation.as_deref(),
                    _ => None,
                };
                let named =
                    [b"names ", assignment.value.plain().unwrap_or_default(), b" ", collation.unwrap_or_default()];
                self.set.insert(b"names".to_vec(), named.concat());
                self.change(Effect::Settings);
            }
            Target::Global(_) | Target::Role | Target::DefaultRole | Target::Password => self.change(Effect::Settings),
        }
    }

    fn note_session_variable(&mut self, name: &[u8], value: &Value) {
        let is_character_set = CHARACTER_SETS.contains(&name);
        let is_asked = question::covers_variable(self.flavour(), name);
        if !is_asked && self.flavour().variables.has_no_effect(name) {
            return;
        }
        self.change(Effect::Settings);
        if name == b"character_set_client" {
            self.set_charset(value);
        }
        // The server does not report the collation that results have.
        if !is_asked || is_character_set {
            match (value, value.plain()) {
                (_, Some(plain)) => _ = self.set.insert(name.to_vec(), [b"=", plain].concat()),
                (Value::Default, _) => _ = self.set.insert(name.to_vec(), b"default".to_vec()),
                _ => self.change(Effect::Anything),
            }
        }
    }

    /// Sets the character set in which texts are parsed until the server reports it.
    fn set_charset(&mut self, charset: &Value) {
        self.mode.charset = match charset {
            Value::Default => self.charset,
            _ => Charset::of_value(charset, &self.flavour().charsets),
        };
    }
}
