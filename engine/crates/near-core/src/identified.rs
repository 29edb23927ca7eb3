//! Serves results of servers without the plugin. The server is asked for the identity of each session, and a result is served
//! only to sessions with the same identity. A [`StalenessBound`] decides how old the result may be.
//!
//! The server's answer about a session is valid until a command may have changed the session: see `state`.

mod bound;
mod client_read;
mod effect;
mod parsed;
mod prepared;
pub mod question;
mod session_only;
mod state;

use crate::answer::{Answer, why_not_stored};
use crate::clock;
use crate::command::{LONGEST_COMMAND, begins_a_read};
use crate::follow::Follower;
use crate::freshness::{Arrival, Freshness, ReplacedReads, SentBytes, Served, Summary, Verdict};
use crate::login_facts::LoginFacts;
use crate::memory::Memory;
use crate::payloads::Payloads;
use crate::pending_read::{PendingRead, may_keep_found_rows};
use crate::published::PublishableRead;
use crate::reason::{ContextReason, Reason};
use crate::result_set::{ResultSet, RowEncoding};
use crate::results::Results;
use crate::store::{BoxFuture, Store};
use crate::uses::ResultSource;
use cache::Key;
use flavour::Flavour;
use insight::ShapeId;
use sql::{Aggregates, Hint, Kind, LexMode, Read, Refusal, Statement, classify};
use std::collections::VecDeque;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use wire::{Command, Expect, Outcome, Query, columns_of};

use client_read::append_found_rows;
use parsed::{Parsed, ReadKind};
use prepared::{PreparedRead, PreparedReads};
use state::State;

pub use bound::{AnsweredRead, Decision, FoundResult, StalenessBound};
pub use client_read::{ClientRead, ReadText};
pub use prepared::Identity;
pub use question::KnownSession;

/// The maximum number of answers of one connection that are being received to be stored. If there are more, the oldest is not
/// stored.
const MOST_WAITING: usize = 8;
/// The maximum length in bytes of the answer to the near cache's own query for the session context (account, schema and
/// settings). A longer answer counts as not understood.
const LONGEST_ANSWER: usize = 64 << 10;
/// The number given to the answer to the near cache's own query for the session context. Commands of the client have
/// greater numbers.
const QUESTION: u64 = 0;
/// The number given to the answer to the query that [`StalenessBound::further_question`] returns.
const FURTHER_QUESTION: u64 = u64::MAX;

/// Serves a connection to a server without the plugin: asks the server for the session's identity, and shares results among
/// sessions with the same one.
pub struct ByIdentity<B: StalenessBound> {
    memory: Arc<Memory>,
    bound: B,
    flavour: &'static Flavour,
    capabilities: u64,
    /// The server's address and version, which distinguish the session from sessions on other servers.
    server_label: String,
    state: State,
    prepared: PreparedReads,
    /// Reassembles the client's commands.
    commands: Payloads,
    /// The bytes of the answer to the current question.
    answer: Vec<u8>,
    /// The values in the answer to the question about the session, until the further question is answered, too.
    values: Option<Vec<Vec<u8>>>,
    /// The reads whose answers may be stored once they are complete, oldest first.
    waiting: VecDeque<SentRead<B>>,
    /// The last answer of the server, if it will be stored together with the number of rows found.
    counted: Option<SentRead<B>>,
    /// The number of the last command that the server has received.
    last: u64,
    /// The decision on the command that has arrived last, until it is sent.
    pending: Pending<B>,
    /// The last time at which the session had no open transaction. The snapshot of the present transaction is not older.
    moment: B::Moment,
    /// True if the client is itself a near cache. It must know the age of the results that it stores, so nothing is served to it
    /// from memory.
    is_near_cache: bool,
}

/// The decision on a command that has not been sent yet.
enum Pending<B: StalenessBound> {
    Nothing,
    /// The command waits until the server has described the session.
    Question,
    /// The command waits as the bound has decided, for example for another client's answer.
    Wait(BoxFuture<B::WaitOutcome>),
    /// The wait is over, and the command is decided on again.
    Tried(B::WaitOutcome),
    /// The command is a read that goes to the server, and its answer may be stored.
    Miss(Miss<B>),
}

/// A read that goes to the server, and whose answer may be stored.
struct Miss<B: StalenessBound> {
    read: ClientRead,
    /// True if the server has to be asked about the session before it gets this read.
    asks: bool,
    claim: B::Claim,
}

/// A read that was sent to the server, and whose answer may be stored once it is complete.
struct SentRead<B: StalenessBound> {
    number: u64,
    read: ClientRead,
    /// The generation of the session when the read was sent; see [`State`].
    generation: u64,
    sent_ns: u64,
    /// The time of the read: it sees everything that was committed until then.
    moment: B::Moment,
    answer: Answer,
    claim: B::Claim,
}

impl<B: StalenessBound> SentRead<B> {
    /// Returns true if no other command came between this read and command `number`.
    fn comes_right_before(&self, number: u64) -> bool {
        self.number + 1 == number
    }
}

/// The state of the connection that a [`StalenessBound`] may use for its decisions.
pub struct ReadConditions<'a> {
    pub results: &'a Arc<Results>,
    capabilities: u64,
    /// The mode in which texts are parsed until the server has described the session.
    pub mode: LexMode,
    /// A time in microseconds. If no command is pending and no transaction is open, results that were read later include
    /// everything that the session wrote.
    pub wrote_at: u64,
    /// True if the server need not receive this read; see [`Arrival::may_stay_pending`].
    pub may_stay_pending: bool,
    /// A time after the read has arrived, by [`clock::now`].
    pub now_ns: u64,
}

/// The part of an [`Arrival`] that a [`StalenessBound`] needs.
#[derive(Clone, Copy)]
struct ArrivalFacts {
    may_stay_pending: bool,
    now_ns: u64,
}

impl ArrivalFacts {
    /// Returns the present time, for a read that was answered by the server.
    fn now() -> ArrivalFacts {
        ArrivalFacts { may_stay_pending: true, now_ns: clock::now() }
    }

    fn of(arrival: &Arrival<'_>) -> ArrivalFacts {
        ArrivalFacts { may_stay_pending: arrival.may_stay_pending, now_ns: arrival.now_ns }
    }
}

impl<'a> ReadConditions<'a> {
    fn new(memory: &'a Memory, state: &State, capabilities: u64, at: ArrivalFacts) -> ReadConditions<'a> {
        let (mode, wrote_at, ArrivalFacts { may_stay_pending, now_ns }) = (state.mode, state.wrote_at(), at);
        ReadConditions { results: &memory.results, capabilities, mode, wrote_at, may_stay_pending, now_ns }
    }

    /// Describes this read for other processes. None if they may not answer it.
    pub fn publishable(&self, read: &'a ClientRead) -> Option<PublishableRead<'a>> {
        let (payload, statement) = read.for_others.as_ref()?;
        let (published, aggregates) = (self.results.published.as_deref()?, Aggregates::of(&read.text));
        Some(PublishableRead { published, payload, statement: *statement, aggregates, capabilities: self.capabilities })
    }

    /// Returns how the rows of the read's answer are encoded.
    pub fn row_encoding(&self, read: &ClientRead) -> RowEncoding {
        RowEncoding { is_binary: read.execution_facts.is_some(), capabilities: self.capabilities }
    }

    /// Returns the number of the read's shape (its text without literals), in whose statistics it is counted.
    pub fn shape(&self, read: &ClientRead, known: &KnownSession) -> ShapeId {
        match read.execution_facts {
            Some(_) => self.results.uses.prepared_shape(&read.text),
            None => self.results.uses.query_shape(&read.text, known.mode),
        }
    }

    /// Returns true if this result suits the read: in a transaction its flags can be set, and it has as many columns as the
    /// client expects of an execution.
    pub fn is_suitable(&self, read: &ClientRead, found: &FoundResult) -> bool {
        let has_as_many = |columns| columns_of(&found.answer, self.capabilities) == columns;
        let can_be_inside = !read.is_in_transaction || found.flag_offsets.is_some();
        can_be_inside && read.execution_facts.is_none_or(|prepared| has_as_many(prepared.columns))
    }

    /// Returns the result in an answer from the shared store. None if it is not one whole result with this number of rows; it
    /// must not be used then, and `store` counts it. This is checked once, when the answer is taken into memory.
    pub fn result<'r>(
        &self,
        read: &ClientRead,
        answer: &'r [u8],
        rows: u64,
        store: Option<&dyn Store>,
    ) -> Option<ResultSet<'r>> {
        let expect = if read.execution_facts.is_some() { Expect::Execute } else { Expect::Query };
        let result = ResultSet::read(answer, rows, expect, self.capabilities);
        store.iter().filter(|_| result.is_none()).for_each(|store| store.count_malformed());
        result
    }
}

impl<B: StalenessBound> ByIdentity<B> {
    /// Creates the state of a connection that has just logged in. `server` is the server's address, and `bound` decides how old
    /// results may be.
    pub fn new(memory: &Arc<Memory>, server: &str, login_facts: &LoginFacts, bound: B) -> ByIdentity<B> {
        let version = String::from_utf8_lossy(&login_facts.version);
        let flavour = login_facts.flavour();
        let capabilities = login_facts.capabilities;
        ByIdentity {
            memory: memory.clone(),
            bound,
            flavour,
            capabilities,
            server_label: format!("{server} {version}"),
            state: State::new(flavour, capabilities, login_facts.collation),
            prepared: PreparedReads::new(flavour, capabilities),
            commands: Payloads::of_commands(),
            answer: Vec::new(),
            values: None,
            waiting: VecDeque::new(),
            counted: None,
            last: QUESTION,
            pending: Pending::Nothing,
            moment: B::Moment::default(),
            is_near_cache: false,
        }
    }

    /// Returns the query in this command with its parsed text. None if the command is no query as text, or one that is too long.
    fn query<'p>(&mut self, payload: &'p [u8]) -> Option<(Query<'p>, Arc<Parsed>)> {
        let is_short = payload.len() <= LONGEST_COMMAND && payload[0] == Command::Query as u8;
        let query = is_short.then(|| Query::parse(&payload[1..], self.capabilities)).flatten()?;
        let parsed = self.state.parse(query.text, self.state.mode);
        Some((query, parsed))
    }

    /// Returns the read that this command runs. None if its answer may be neither stored nor served.
    fn read(&mut self, payload: &[u8], follower: &Follower) -> Option<ClientRead> {
        let is_shared = self.memory.results.published.is_some();
        let (mut read, statement) = match self.query(payload) {
            Some((query, parsed)) => {
                let kind = parsed.kind.filter(|_| !query.has_attributes)?;
                (ClientRead::text(&parsed, kind), is_shared.then_some(None))
            }
            None => {
                let runs = payload.len() <= LONGEST_COMMAND && payload[0] == Command::StmtExecute as u8;
                let (execution, prepared_read) = runs.then(|| self.prepared.execution(payload)).flatten()?;
                let statement = (is_shared && execution.is_known()).then(|| Some(execution.statement()));
                (ClientRead::execution(execution, prepared_read), statement)
            }
        };
        read.is_in_transaction = !follower.is_autonomous();
        let statement = statement.filter(|_| read.may_be_shared());
        read.for_others = statement.map(|statement| (payload.to_vec(), statement));
        Some(read)
    }

    /// Returns true if the state of the session and its transaction allows to answer this read from memory. Outside of
    /// transactions, this uses up the characteristics that SET TRANSACTION has given the next one.
    fn may_be_answered(&mut self, read: &ClientRead, follower: &Follower) -> bool {
        if !read.is_in_transaction {
            return !self.state.take_next_characteristics();
        }
        self.bound.serves_in_transactions() && follower.is_quiet() && self.state.may_serve_in_transaction()
    }

    /// Decides on a read. The flag is true if the server has to be asked about the session before it gets the read. None if the
    /// read goes to the server and its answer is not stored.
    fn decide_read(
        &mut self,
        read: &ClientRead,
        at: ArrivalFacts,
        tried: B::WaitOutcome,
    ) -> Option<(bool, Decision<B>)> {
        let session = self.state.known_session().filter(|_| !self.is_near_cache)?;
        let known = session.as_deref();
        let is_out =
            |known: &KnownSession| !self.means_the_same(read, known) || read.is_in_transaction && known.is_serializable;
        if known.is_some_and(is_out) {
            return None;
        }
        let conditions = ReadConditions::new(&self.memory, &self.state, self.capabilities, at);
        Some((known.is_none(), self.bound.decide(&conditions, read, known, tried)?))
    }

    /// Returns true if the read should wait until the server has described the session, because its result is probably in memory.
    fn asks_first(&self, read: &ClientRead) -> bool {
        read.execution_facts.is_none()
            && !self.is_near_cache
            && matches!(self.state.known_session(), Some(None))
            && self.memory.results.recent.has(hash(&self.memory.results, read))
    }

    /// Decides on a read whose answer depends on the session alone.
    fn decide_session_only(&mut self, arrival: &Arrival<'_>, read: ClientRead) -> Verdict {
        if let Some(served) = self.find_session_only(arrival, &read) {
            return Verdict::Serve(served);
        }
        self.memory.results.misses.fetch_add(1, Ordering::Relaxed);
        self.count_why(arrival, None, false);
        if !arrival.has_server_received_all {
            self.counted = None;
        }
        self.pending = Pending::Miss(Miss { read, asks: false, claim: B::Claim::default() });
        Verdict::Forward
    }

    /// Looks up the answer to a read that depends on the session alone. Such a read uses no table and leaves warnings unchanged,
    /// so it is served only if the server holds no warnings.
    fn find_session_only(&self, arrival: &Arrival<'_>, read: &ClientRead) -> Option<Served> {
        let known = self.state.description_in(self.state.generation()).filter(|_| !self.is_near_cache)?;
        let keeps_warnings = self.flavour.statements.keeps_warnings && arrival.follower.has_warned();
        let may_be_inside = !read.is_in_transaction || self.bound.serves_in_transactions();
        let may_be_served = arrival.has_client_received_all
            && arrival.may_stay_pending
            && arrival.follower.is_quiet()
            && self.state.may_serve_in_transaction()
            && may_be_inside
            && !keeps_warnings;
        may_be_served.then_some(())?;
        let number = if read.kind == ReadKind::FoundRows { Some(arrival.found_rows?) } else { None };
        let audience = session_only::Audience::new(&known.identity, number);
        let found = session_only::find(&self.memory.results, &read.text, &audience)?;
        (!read.is_in_transaction || found.flag_offsets.is_some()).then(|| read.served(found))
    }

    /// Counts the reason why this command is not answered from memory; see [`why`](Self::why).
    fn count_why(&mut self, arrival: &Arrival<'_>, read: Option<&ClientRead>, is_candidate: bool) {
        let why = self.why(arrival, read, is_candidate);
        why.into_iter().for_each(|why| self.memory.reasons.count(why));
    }

    /// Returns the reason why this command is not answered from memory; none if it reads nothing. `read` is the read, if its
    /// answer could be stored. `is_candidate` is true if neither the session's state nor its transaction is the reason.
    fn why(&mut self, arrival: &Arrival<'_>, read: Option<&ClientRead>, is_candidate: bool) -> Option<Reason> {
        let payload = arrival.command?;
        if let Some(read) = read {
            let why =
                if is_candidate { self.why_now(read, ArrivalFacts::of(arrival)) } else { ContextReason::Transaction };
            return Some(why.into());
        }
        let parsed = self.query(payload).map(|(_, parsed)| parsed);
        match (Command::from_byte(payload[0])?, parsed.as_deref().map(|parsed| &parsed.statement.kind)) {
            (Command::Query, Some(Kind::Read(Read { refusal: Some(refusal), .. }))) => Some(Reason::Text(*refusal)),
            (Command::Query, Some(Kind::Read(Read { hint: Hint::SqlNoCache, .. }))) => {
                Some(ContextReason::NoCacheHint.into())
            }
            (Command::Query, Some(Kind::Read(_))) => Some(ContextReason::Attributes.into()),
            (Command::Query, None) => begins_a_read(&payload[1..]).then_some(ContextReason::TooLong.into()),
            (Command::StmtExecute, _) if self.prepared.binds_time(payload) => Some(Reason::Text(Refusal::CurrentDate)),
            (Command::StmtExecute, _) => {
                self.prepared.runs_read(payload).then_some(ContextReason::ParameterTypes.into())
            }
            _ => None,
        }
    }

    /// Returns the reason why this read is not answered from memory, if neither the text nor the transaction is the reason.
    fn why_now(&mut self, read: &ClientRead, at: ArrivalFacts) -> ContextReason {
        let known = match self.state.known_session() {
            _ if self.is_near_cache => return ContextReason::NearCache,
            None => return ContextReason::SessionState,
            Some(None) => return ContextReason::FirstRead,
            Some(Some(known)) => known,
        };
        let why = match read {
            _ if !at.may_stay_pending => ContextReason::KeepAlive,
            _ if read.is_in_transaction && known.is_serializable => ContextReason::Transaction,
            _ if !self.means_the_same(read, &known) => ContextReason::StatementContext,
            _ => {
                let conditions = ReadConditions::new(&self.memory, &self.state, self.capabilities, at);
                self.bound.why(&conditions, read, &known)
            }
        };
        if why == ContextReason::Absent && !read.may_be_served() { ContextReason::ParameterTypes } else { why }
    }

    /// Returns true if the read has the same meaning in this session as when its statement was prepared. Always true for a text.
    fn means_the_same(&self, read: &ClientRead, known: &KnownSession) -> bool {
        read.execution_facts.is_none_or(|of| self.prepared.identity(of.preparation) == Some(known.identity))
    }

    /// Notes a command that the server receives. `is_at_rest` is true if everything before was answered and no transaction is
    /// open. Returns true if the outcome of its answer is needed.
    fn note_command(&mut self, payload: &[u8], is_whole: bool, is_at_rest: bool) -> bool {
        self.last += 1;
        self.is_near_cache |= payload.strip_prefix(&[Command::Query as u8]).is_some_and(question::is_question);
        let is_noted = self.prepared.forward(self.last, payload, is_whole);
        if !self.prepared.runs_read(payload) {
            self.state.note_command(payload, is_whole, is_at_rest);
            self.note_accounts();
        }
        if let Some(text) = payload.strip_prefix(&[Command::StmtPrepare as u8]).filter(|_| is_whole) {
            self.note_prepared(text);
        }
        if [Command::ResetConnection as u8, Command::ChangeUser as u8].contains(&payload[0]) {
            self.prepared.forget();
        }
        is_noted
    }

    /// Notes the time of a change of accounts, after which an old name may belong to another account. This is called both before
    /// and after the server runs the statement, since a session that reads in between may be either account.
    fn note_accounts(&self) {
        if self.state.may_change_accounts() {
            let (results, now) = (&self.memory.results, clock::microseconds(clock::now()));
            results.accounts_changed.fetch_max(now, Ordering::AcqRel);
            results.published.iter().for_each(|published| published.invalidate_before(now + 1));
        }
    }

    /// Notes the text of a statement that the server prepares, if its result may be stored.
    fn note_prepared(&mut self, text: &[u8]) {
        let statement = classify(text, self.state.mode);
        if may_serve(&statement) {
            let generation = self.state.generation();
            let identity = self.state.description_in(generation).map(|known| known.identity);
            let replaces = replaces_what_reads_leave(&statement);
            let may_skip_rows = sql::may_skip_rows(text);
            let prepared_read = PreparedRead { text: text.into(), replaces, may_skip_rows, identity, generation };
            self.prepared.note(self.last, prepared_read);
        }
    }

    /// Prepares to store the answer to the read that was just sent. Returns false if there is no room for it.
    fn note(&mut self, Miss { read, claim, .. }: Miss<B>) -> bool {
        let Some(answer) = Answer::new(&self.memory.results, read.key.len()) else { return false };
        let answer = answer.allowing_warnings(read.warnings);
        let answer = if read.is_in_transaction { answer.allowing_transaction() } else { answer };
        if self.waiting.len() == MOST_WAITING {
            self.waiting.pop_front();
        }
        let (number, generation, moment) = (self.last, self.state.generation(), self.moment);
        self.waiting.push_back(SentRead { number, read, generation, sent_ns: clock::now(), moment, answer, claim });
        true
    }

    /// Takes bytes of the answer to a question. The session is described once all questions are answered.
    fn question_answered(&mut self, number: u64, bytes: &[u8], is_complete: bool) {
        if self.answer.len() + bytes.len() <= LONGEST_ANSWER {
            self.answer.extend_from_slice(bytes);
        }
        if !is_complete {
            return;
        }
        let row = wire::only_row(&std::mem::take(&mut self.answer), self.capabilities);
        if number == QUESTION {
            self.values = row;
        } else if row.is_none_or(|row| row.get(1).is_none_or(|count| count != b"0")) {
            self.values = None;
        }
        if number == FURTHER_QUESTION || self.bound.further_question(self.flavour).is_none() {
            let values = self.values.take();
            self.state.learn(values.as_deref(), &[self.server_label.as_bytes(), &self.capabilities.to_le_bytes()]);
            let generation = self.state.generation();
            if let Some(known) = self.state.description_in(generation) {
                self.prepared.learn(generation, known.identity);
            }
        }
    }

    /// Stores an answer that is complete. Only now it is certain how the server parses the text, and which identity the session
    /// has.
    fn keep(&mut self, waiting: SentRead<B>) {
        let Some(known) = self.state.description_in(waiting.generation) else { return };
        let parsed = self.state.parse(&waiting.read.text, known.mode);
        if !self.means_the_same(&waiting.read, &known) || !waiting.read.is_same_as(&parsed) {
            return;
        }
        match waiting.read.kind {
            ReadKind::Rows => self.keep_rows(waiting, &known),
            ReadKind::CountedRows => self.counted = Some(SentRead { claim: B::Claim::default(), ..waiting }),
            ReadKind::FoundRows => self.keep_found(waiting, &known),
            ReadKind::Setting => self.keep_session_only(&waiting, &known, None),
        }
    }

    fn keep_rows(&mut self, waiting: SentRead<B>, known: &KnownSession) {
        let SentRead { read, answer, sent_ns, moment, claim, .. } = waiting;
        let conditions = ReadConditions::new(&self.memory, &self.state, self.capabilities, ArrivalFacts::now());
        let source =
            ResultSource { shape: conditions.shape(&read, known), cost_ns: conditions.now_ns.saturating_sub(sent_ns) };
        let answered = AnsweredRead { read: &read, answer: &answer, known, source, moment, claim };
        conditions.results.recent.note(hash(conditions.results, &read));
        self.bound.keep(&conditions, answered);
    }

    /// Stores the answer to `SELECT FOUND_ROWS()`, and together with its number the answer to the read before it.
    fn keep_found(&mut self, waiting: SentRead<B>, known: &KnownSession) {
        let counted = self.counted.take().filter(|counted| counted.comes_right_before(waiting.number));
        let row = wire::only_row(&waiting.answer.bytes, self.capabilities).unwrap_or_default();
        let found = row.first().and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
        let Some(found) = found else { return };
        self.keep_session_only(&waiting, known, Some(found));
        if let Some(mut counted) = counted {
            append_found_rows(&mut counted.answer.bytes, found);
            self.keep_rows(counted, known);
        }
    }

    /// Stores the answer to a read that depends on the session alone, and on `found` if that is the number in the answer.
    fn keep_session_only(&self, waiting: &SentRead<B>, known: &KnownSession, found: Option<u64>) {
        let SentRead { read, answer, sent_ns, .. } = waiting;
        let conditions = ReadConditions::new(&self.memory, &self.state, self.capabilities, ArrivalFacts::now());
        let source =
            ResultSource { shape: conditions.shape(read, known), cost_ns: conditions.now_ns.saturating_sub(*sent_ns) };
        let audience = session_only::Audience::new(&known.identity, found);
        session_only::store(conditions.results, &read.text, &audience, answer.result_set(), source);
    }

    /// Returns true if this answer may have left FOUND_ROWS() as the read before has set it.
    fn may_keep_found_rows(&self, read: &ClientRead, answer: &Answer) -> bool {
        let is_binary = read.execution_facts.is_some();
        answer.rows <= 1 && may_keep_found_rows(Aggregates::of(&read.text), &answer.bytes, self.capabilities, is_binary)
    }
}

impl<B: StalenessBound> Freshness for ByIdentity<B> {
    fn flavour(&self) -> &'static Flavour {
        self.flavour
    }

    fn summary(&self) -> Option<Summary> {
        Some(Summary { has_reasons: true, ..self.bound.summary(&self.memory) })
    }

    fn decide(&mut self, arrival: &Arrival<'_>) -> Verdict {
        let follower = arrival.follower;
        if follower.is_at_rest() {
            self.state.note_at_rest();
        }
        let tried = match std::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Tried(tried) => tried,
            _ => B::WaitOutcome::default(),
        };
        let read = arrival.command.and_then(|payload| self.read(payload, follower));
        let read = match read {
            Some(read) if read.kind.depends_on_session_alone() => return self.decide_session_only(arrival, read),
            read => read,
        };
        let candidate =
            read.as_ref().filter(|read| arrival.has_client_received_all && self.may_be_answered(read, follower));
        let is_candidate = candidate.is_some();
        if candidate.is_some_and(|read| arrival.may_stay_pending && self.asks_first(read)) {
            self.pending = Pending::Question;
            return Verdict::Ask;
        }
        let decision = candidate.and_then(|read| self.decide_read(read, ArrivalFacts::of(arrival), tried));
        match decision {
            Some((_, Decision::Serve(found))) => {
                self.counted = None;
                return read.map_or(Verdict::Forward, |read| Verdict::Serve(read.served(found)));
            }
            Some((_, Decision::Wait(wait))) => {
                self.pending = Pending::Wait(wait);
                return Verdict::Wait;
            }
            Some((asks, Decision::Forward(claim))) => {
                self.memory.results.misses.fetch_add(1, Ordering::Relaxed);
                self.count_why(arrival, read.as_ref(), is_candidate);
                self.pending = read.map_or(Pending::Nothing, |read| Pending::Miss(Miss { read, asks, claim }));
            }
            None => self.count_why(arrival, read.as_ref(), is_candidate),
        }
        Verdict::Forward
    }

    fn poll_wait(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if matches!(self.pending, Pending::Question) && self.state.is_asking() {
            return Poll::Pending;
        }
        if let Pending::Wait(wait) = &mut self.pending {
            self.pending = Pending::Tried(ready!(wait.as_mut().poll(context)));
        }
        Poll::Ready(())
    }

    fn before_sending(&mut self, follower: &Follower, now_ns: u64) {
        if follower.is_at_rest() {
            self.moment = self.bound.moment(now_ns);
        }
    }

    fn take_questions(&mut self) -> Vec<(u64, Vec<u8>)> {
        let asks = match &self.pending {
            Pending::Question => true,
            Pending::Miss(miss) => miss.asks,
            _ => false,
        };
        if !asks {
            return Vec::new();
        }
        self.state.note_question_sent();
        self.answer.clear();
        let question = question::question(self.flavour);
        let further = self.bound.further_question(self.flavour).map(|question| (FURTHER_QUESTION, question));
        let packet = |question: &str| Query::packet(question.as_bytes(), self.capabilities);
        let all = iter::once((QUESTION, question.as_str())).chain(further);
        all.map(|(number, question)| (number, packet(question))).collect()
    }

    fn forward(&mut self, sent: &SentBytes<'_>) -> Option<u64> {
        let mut is_noted = false;
        let mut commands = std::mem::replace(&mut self.commands, Payloads::of_commands());
        commands.feed(sent.bytes, |payload, is_whole| {
            is_noted |= !sent.is_of_file && self.note_command(payload, is_whole, sent.was_at_rest);
        });
        self.commands = commands;
        self.counted.take_if(|counted| self.last > counted.number && !counted.comes_right_before(self.last));
        if let Pending::Miss(miss) = std::mem::replace(&mut self.pending, Pending::Nothing) {
            is_noted |= self.note(miss);
        }
        (sent.is_whole && is_noted).then_some(self.last)
    }

    fn forward_hidden(&mut self, _: &[u8]) {
        self.counted = None;
    }

    fn answer_bytes(
        &mut self,
        number: u64,
        bytes: &[u8],
        outcome: Option<&Outcome>,
        has_found_rows_diverged: bool,
    ) -> bool {
        if number == QUESTION || number == FURTHER_QUESTION {
            self.question_answered(number, bytes, outcome.is_some());
            return false;
        }
        outcome.into_iter().for_each(|outcome| self.prepared.answered(number, outcome));
        let Some(at) = self.waiting.iter().position(|waiting| waiting.number == number) else { return false };
        let SentRead { read, answer, .. } = &mut self.waiting[at];
        if !answer.take(bytes, outcome) {
            self.memory.reasons.count(why_not_stored(outcome, read.warnings).into());
            self.waiting.remove(at);
            return false;
        }
        let Some(waiting) = outcome.and_then(|_| self.waiting.remove(at)) else { return false };
        let sets_found_rows =
            has_found_rows_diverged && number == self.last && !self.may_keep_found_rows(&waiting.read, &waiting.answer);
        self.keep(waiting);
        sets_found_rows
    }

    fn may_be_answered_elsewhere(&mut self, payload: &[u8]) -> bool {
        match self.query(payload) {
            Some((query, parsed)) => !query.has_attributes && may_serve(&parsed.statement),
            None => self.prepared.execution(payload).is_some_and(|(execution, _)| execution.is_known()),
        }
    }

    fn answered(&mut self, outcome: &Outcome) {
        let now = clock::now();
        self.state.answered(outcome, clock::microseconds(now));
        self.note_accounts();
        if self.state.is_writing() {
            self.bound.note_write(now);
        }
    }

    fn invalidate_stored(&mut self) {
        let now = clock::now();
        self.state.invalidate_before(clock::microseconds(now));
        self.bound.note_write(now);
    }

    /// Returns true if this command, or a prepared statement that it runs, may evaluate FOUND_ROWS().
    fn asks_for_found_rows(&mut self, payload: &[u8]) -> bool {
        let may_run_it = match Command::from_byte(payload[0]) {
            Some(Command::Query) => {
                let parsed = self.query(payload).map(|(_, parsed)| parsed);
                self.state.asks_for_found_rows_by_text()
                    && parsed.is_none_or(|parsed| may_run_prepared(&parsed.statement.kind, payload))
            }
            Some(Command::StmtExecute) => {
                self.prepared.asks_for_found_rows(payload).unwrap_or(self.state.asks_for_found_rows_by_command())
            }
            Some(Command::StmtBulkExecute | Command::Multi) => self.state.asks_for_found_rows_by_command(),
            _ => false,
        };
        sql::may_ask_for_found_rows(payload) || may_run_it
    }

    /// A read that goes to the server replaces all pending reads before it, unless it leaves FOUND_ROWS() or warnings unchanged.
    fn replaces(&mut self, _: &PendingRead, payload: &[u8], has_warned: bool) -> ReplacedReads {
        let keeps_warnings = has_warned && self.flavour.statements.keeps_warnings;
        let names_table = |statement: &Statement| matches!(statement.kind, Kind::Read(read) if read.names_table);
        let by_text = self.query(payload).is_some_and(|(_, parsed)| {
            replaces_what_reads_leave(&parsed.statement) && (names_table(&parsed.statement) || !keeps_warnings)
        });
        let by_command = self.prepared.prepared_read(payload).is_some_and(|prepared_read| prepared_read.replaces);
        if by_text || by_command { ReplacedReads::All } else { ReplacedReads::Nothing }
    }

    fn aggregates(&self, payload: &[u8]) -> Aggregates {
        if payload[0] == Command::Query as u8 {
            let query = Query::parse(&payload[1..], self.capabilities);
            return query.map_or(Aggregates::Perhaps, |query| Aggregates::of(query.text));
        }
        self.prepared
            .prepared_read(payload)
            .map_or(Aggregates::Perhaps, |prepared_read| Aggregates::of(&prepared_read.text))
    }

    fn sets_found_rows(&mut self, payload: &[u8]) -> bool {
        match self.query(payload) {
            Some((_, parsed)) => {
                matches!(parsed.statement.kind, Kind::Read(Read { leaves_found_rows: false, .. }))
            }
            None => self.prepared.prepared_read(payload).is_some_and(|prepared_read| prepared_read.replaces),
        }
    }
}

/// Returns a hash of the read's text or key. It does not depend on the session.
fn hash(results: &Results, read: &ClientRead) -> u64 {
    results.cache().hash(&Key { context: 0, parts: [&read.key, b""] })
}

/// Returns true if the result of this statement may be stored and served.
fn may_serve(statement: &Statement) -> bool {
    matches!(statement.kind, Kind::Read(Read { refusal: None, hint, .. }) if hint != Hint::SqlNoCache)
}

/// Returns true if the statement may be, contain or call an EXECUTE.
fn may_run_prepared(kind: &Kind, text: &[u8]) -> bool {
    match kind {
        Kind::Execute(_) | Kind::Executed(_) | Kind::Call => true,
        Kind::Compound | Kind::SetStatement(_) | Kind::Multiple | Kind::Opaque => {
            sql::contains_ignoring_case(text, b"execute") || sql::contains_ignoring_case(text, b"call")
        }
        _ => false,
    }
}

/// Returns true if FOUND_ROWS() and the warnings of the read before cannot be asked for after this statement, unless it
/// aggregates over no rows.
fn replaces_what_reads_leave(statement: &Statement) -> bool {
    matches!(statement.kind, Kind::Read(Read { leaves_found_rows: false, .. })) && !statement.reads_diagnostics
}
