//! The state of a connection that the feed's thread shares: its session context, its prepared statements, and the answers that
//! wait for a report.

use crate::answer::Answer;
use crate::clock;
use crate::command::begins_a_read;
use crate::login_facts::LoginFacts;
use crate::prepared::{ContextId, Execution, PreparedStatements};
use crate::published::{PublishableResult, ServedContexts, ServedRead};
use crate::reason::ContextReason;
use crate::results::{Results, View};
use crate::uses::ResultSource;
use feed::{Attachment, CommandReport, Connection, FromNear, Protocol, SessionContext};
use flavour::Flavour;
use insight::ShapeId;
use locks::Mutex;
use sql::{Aggregates, LexMode};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use wire::{Command, Outcome, Query, columns_of};

/// The maximum number of answers of one connection that wait for their dependencies from the feed. If there are more, the oldest
/// is not stored.
const MOST_WAITING: usize = 8;
/// The state of one client connection to a near cache that works by leases: stored results are served on the connection only while the
/// server's permission for that, the lease, lasts. The thread that receives the server's messages uses this state too, so it is kept
/// under a lock.
pub struct LeasedConnection {
    /// The connection as the feed sees it, with its session contexts.
    pub connection: Connection,
    /// The differences between products and releases of servers, as they apply to this connection's server.
    pub flavour: &'static Flavour,
    pub statements: PreparedStatements,
    /// The capabilities that client and server have agreed on.
    pub capabilities: u64,
    /// The attachment to the feed when the last report came. None before the first report.
    attachment: Option<Attachment>,
    /// The commands whose answers may be stored, oldest first.
    waiting: VecDeque<UnreportedRead>,
}

/// A command whose answer is stored once both the answer is complete and the server's report on it has arrived.
struct UnreportedRead {
    /// The number of the command on the connection.
    command: u64,
    read: ReadCommand<'static>,
    /// The time when the command was sent to the server.
    sent_ns: u64,
    /// The time that the server took for the command, once the answer is complete.
    cost_ns: u64,
    answer: Answer,
    /// True if the client was answered from memory, and the server runs the command only later.
    is_served: bool,
    report: Option<(CommandReport, Attachment)>,
}

impl UnreportedRead {
    /// Called when the answer is complete: stores how long the server has taken for it.
    fn end(&mut self) {
        self.cost_ns = clock::now().saturating_sub(self.sent_ns);
    }

    /// Stores the answer with the dependencies of the report, and counts the miss unless the client had got its answer before.
    fn keep(&self, results: &Results, mode: LexMode, report: &CommandReport, attachment: Attachment) {
        let shape = self.read.shape(results, mode);
        let source = ResultSource { shape, cost_ns: self.cost_ns };
        let is_kept = results.store(self.read.key(), self.answer.result_set(), source, report, attachment);
        if !self.is_served {
            results.uses.count_miss(source, self.answer.bytes.len(), is_kept);
        }
    }
}

/// A command that may be a read.
pub enum ReadCommand<'p> {
    /// A query as text, without attributes. Its text begins at the offset `start` of the payload.
    Text { payload: Cow<'p, [u8]>, start: usize },
    /// An execution of a prepared statement.
    Execution(Box<Execution>),
}

impl ReadCommand<'_> {
    /// Returns the key of the read's result. Results are stored under it, the session context and the attachment.
    pub fn key(&self) -> &[u8] {
        match self {
            ReadCommand::Text { payload, .. } => payload,
            ReadCommand::Execution(execution) => &execution.key,
        }
    }

    /// Returns the text of the statement. None if this is an execution of a prepared statement.
    pub fn text(&self) -> Option<&[u8]> {
        match self {
            ReadCommand::Text { payload, start } => Some(&payload[*start..]),
            ReadCommand::Execution(_) => None,
        }
    }

    /// Returns the number of the read's shape (its text without literals), in whose statistics it is counted. `mode` is the default
    /// one of the server's product, because that of the session is not known here.
    fn shape(&self, results: &Results, mode: LexMode) -> ShapeId {
        match self {
            ReadCommand::Text { payload, start } => results.uses.query_shape(&payload[*start..], mode),
            ReadCommand::Execution(execution) => execution.shape,
        }
    }

    /// Returns whether the statement aggregates rows.
    pub fn aggregates(&self) -> Aggregates {
        match self {
            ReadCommand::Text { payload, start } => Aggregates::of(&payload[*start..]),
            ReadCommand::Execution(execution) => execution.aggregates,
        }
    }

    /// Returns the protocol in which the answer comes. The server assigns session contexts for each of them.
    pub fn protocol(&self) -> Protocol {
        match self {
            ReadCommand::Text { .. } => Protocol::Text,
            ReadCommand::Execution(_) => Protocol::Binary,
        }
    }

    fn into_owned(self) -> ReadCommand<'static> {
        match self {
            ReadCommand::Text { payload, start } => ReadCommand::Text { payload: payload.into_owned().into(), start },
            ReadCommand::Execution(execution) => ReadCommand::Execution(execution),
        }
    }

    /// Returns true if, in this session context, a result that is stored under the read's key is the answer to it.
    /// False for an execution whose statement may mean something else there than its text says, or whose values the
    /// server would interpret in another way.
    fn is_valid_in(&self, attachment: Attachment, session: SessionContext) -> bool {
        match self {
            ReadCommand::Text { .. } => true,
            ReadCommand::Execution(execution) => execution.may_be_served(attachment, session),
        }
    }

    /// Sets the session context in which an execution was served.
    fn with_context(mut self, context_id: Option<ContextId>) -> Self {
        if let ReadCommand::Execution(execution) = &mut self {
            execution.reported_context = context_id;
        }
        self
    }

    /// Returns the parameter types that an execution binds, if the server has none for its statement yet.
    pub fn first_types(&self) -> Option<Vec<u8>> {
        match self {
            ReadCommand::Execution(execution) if execution.is_first => Some(execution.types.clone()),
            _ => None,
        }
    }

    /// Returns the prepared statement that another process needs to know to answer the same command. `None`: it may not answer
    /// the command; `Some(None)`: the command runs no prepared statement.
    fn for_others(&self) -> Option<Option<mapped::ServedStatement>> {
        match self {
            ReadCommand::Text { .. } => Some(None),
            ReadCommand::Execution(execution) => execution.is_known().then(|| Some(execution.statement())),
        }
    }

    /// Returns true if a result with this many columns is what the client expects: always for a text, and for an
    /// execution only if the number is known (not none) and that of its statement.
    fn expects(&self, columns: Option<u64>) -> bool {
        match self {
            ReadCommand::Text { .. } => true,
            ReadCommand::Execution(execution) => columns.is_some() && execution.columns == columns,
        }
    }
}

/// The moment at which a read is to be served: the time, and the state of the transaction.
pub struct ServeTime {
    /// A time after the read has arrived, by [`clock::now`].
    pub now_ns: u64,
    /// True if the status flags of the server's last answer show that the session is in a transaction.
    pub is_in_transaction: bool,
}

impl LeasedConnection {
    /// Creates the state of a connection that has no prepared statement and no report yet. `login_facts` are those of the
    /// connection's login.
    pub fn new(login_facts: &LoginFacts) -> LeasedConnection {
        let &LoginFacts { number, greeting, capabilities, .. } = login_facts;
        let flavour = login_facts.flavour();
        LeasedConnection {
            connection: Connection::greeted(number, greeting),
            flavour,
            statements: PreparedStatements::new(flavour, capabilities),
            capabilities,
            attachment: None,
            waiting: VecDeque::new(),
        }
    }

    /// Returns the message that makes the server report on this connection.
    pub fn mark(&self) -> FromNear {
        self.connection.mark()
    }

    /// Forgets what the server has reported, because the attachment to the feed is over. Nothing is served until the next report.
    pub fn forget(&mut self) {
        self.attachment = None;
        self.connection.forget();
        self.waiting.clear();
    }

    /// Takes the server's report on a command of this connection. If the command's answer is complete, it is stored.
    pub fn receive_report(&mut self, results: &Results, report: CommandReport, attachment: Attachment) {
        if !self.connection.apply(&report) {
            return;
        }
        self.attachment = Some(attachment);
        self.waiting.retain(|waiting| waiting.command >= report.command);
        if report.is_of_session {
            return self.waiting.retain(|waiting| waiting.command != report.command);
        }
        let waiting = self.waiting.front_mut().filter(|waiting| waiting.command == report.command);
        // A read that was answered from memory is not a miss, although the server ran it as well.
        let is_miss = waiting.as_ref().is_none_or(|waiting| !waiting.is_served);
        results.misses.fetch_add(u64::from(is_miss), Ordering::Relaxed);
        if let Some(waiting) = waiting {
            if let ReadCommand::Execution(execution) = &waiting.read {
                self.statements.report(execution.id, report.command, attachment, report.context);
            }
            waiting.report = Some((report, attachment));
            self.store(results);
        }
    }

    /// Stores the answers that are complete and have been reported.
    fn store(&mut self, results: &Results) {
        let mode = LexMode::new(self.flavour);
        self.waiting.retain(|waiting| match &waiting.report {
            Some((report, attachment)) if waiting.answer.is_complete => {
                waiting.keep(results, mode, report, *attachment);
                false
            }
            _ => true,
        });
    }

    /// Passes the result for this read to `with`. Returns what that returns, the session context in which the result was found,
    /// and the contexts in which other processes may answer the connection's next reads, if they may. None if the read may not be
    /// served now. `payload` is the command that contains the read. The feed must agree on whether the session is in a
    /// transaction: it has sent a snapshot if and only if the session is in one.
    pub fn serve<T>(
        &self,
        results: &Results,
        (payload, read): (&[u8], &ReadCommand),
        ServeTime { now_ns: now, is_in_transaction }: ServeTime,
        with: impl FnOnce(&cache::Entry) -> T,
    ) -> Option<(T, ContextId, Option<Box<ServedContexts>>)> {
        let attachment = self.attachment?;
        let snapshot = self.connection.snapshot();
        (snapshot.is_some() == is_in_transaction).then_some(())?;
        let view = results.view();
        let session = self.session(&view, attachment, read, now)?;
        view.is_context_current(attachment, session.stamp, now).then_some(())?;
        let is_expected = |entry: &cache::Entry| read.expects(columns_of(entry.value(), self.capabilities));
        let context = session.context;
        let statement = if results.published.is_some() { read.for_others() } else { None };
        let served_contexts = statement.map(|statement| {
            let of = |protocol| self.context_for_others(&view, attachment, protocol, now);
            let (text, binary) = (of(Protocol::Text), of(Protocol::Binary));
            ServedContexts { attachment, text, binary, since: 0, statement }
        });
        let answer = view.find(attachment, context, read.key(), (now, snapshot), |entry| {
            is_expected(entry).then(|| {
                if let Some(served_contexts) = &served_contexts {
                    let cells: Vec<u32> = entry.cells().iter().map(|cell| cell.0).collect();
                    let result = PublishableResult { entry, cells: &cells, reads_tables: false, until: u64::MAX };
                    let (aggregates, capabilities) = (read.aggregates(), self.capabilities);
                    view.publish(&ServedRead { served_contexts, payload, aggregates, capabilities, result });
                }
                with(entry)
            })
        })?;
        Some((answer?, (attachment, context), served_contexts.map(Box::new)))
    }

    /// Returns the session context for reads of this protocol in the form that other processes use. Its number is zero if it is
    /// not known.
    fn context_for_others(&self, view: &View, attachment: Attachment, protocol: Protocol, now: u64) -> mapped::Context {
        let session = self.session_context(view, attachment, protocol, now);
        session.map_or_else(mapped::Context::default, |session| mapped::Context {
            number: session.context,
            stamp: session.stamp,
        })
    }

    /// Returns the session context in which the server would run this read. None if it is not known, or if a result
    /// that is stored under the read's key need not be its answer there, see `ReadCommand::is_valid_in`.
    fn session(&self, view: &View, attachment: Attachment, read: &ReadCommand, now: u64) -> Option<SessionContext> {
        self.session_context(view, attachment, read.protocol(), now)
            .filter(|session| read.is_valid_in(attachment, *session))
    }

    /// Returns the session context in which the server would run reads of this protocol. None while the server has not reported
    /// on a command that may have changed it.
    fn session_context(
        &self,
        view: &View,
        attachment: Attachment,
        protocol: Protocol,
        now: u64,
    ) -> Option<SessionContext> {
        let is_known = |command, session: SessionContext| {
            let waiting = self.waiting.iter().find(|waiting| waiting.command == command);
            let is_of = |read: &ReadCommand| match read {
                ReadCommand::Text { .. } => true,
                ReadCommand::Execution(execution)
                    if execution.reported_context == Some((attachment, session.context)) =>
                {
                    true
                }
                // The report on the statement may have arrived after this command was sent.
                ReadCommand::Execution(execution) => {
                    self.statements.is_valid_in(execution.id, command, attachment, session)
                }
            };
            let read = waiting.map(|waiting| &waiting.read).filter(|read| is_of(read));
            read.is_some_and(|read| view.has(attachment, session.context, read.key(), now))
        };
        self.connection.session_context_through(protocol, is_known)
    }

    /// Returns the reason why this read was not served from memory.
    pub fn why(&self, results: &Results, read: &ReadCommand, at: ServeTime) -> ContextReason {
        let Some(attachment) = self.attachment else { return ContextReason::FirstRead };
        if self.connection.snapshot().is_some() != at.is_in_transaction {
            return ContextReason::Transaction;
        }
        let (now, view) = (at.now_ns, results.view());
        match self.session(&view, attachment, read, now) {
            None => ContextReason::Unreported,
            Some(session) if !view.is_context_current(attachment, session.stamp, now) => ContextReason::Unreported,
            Some(session) if view.has_any(attachment, session.context, read.key()) => ContextReason::Outdated,
            Some(_) => ContextReason::Absent,
        }
    }

    /// Returns the read that this command may run. None if its answer may be neither stored nor served.
    pub fn read<'p>(&self, payload: &'p [u8]) -> Option<ReadCommand<'p>> {
        match Protocol::of(payload) {
            Protocol::Binary => self.statements.execution(payload).map(Box::new).map(ReadCommand::Execution),
            Protocol::Text if payload[0] == Command::Query as u8 => {
                let query = Query::parse(&payload[1..], self.capabilities).filter(|query| !query.has_attributes)?;
                Some(ReadCommand::Text { payload: payload.into(), start: payload.len() - query.text.len() })
            }
            Protocol::Text => None,
        }
    }

    /// Notes that the server receives a read that was already answered from memory, in the session context `context_id`. Returns the
    /// number of the command.
    pub fn forward_served(&mut self, results: &Arc<Results>, payload: &[u8], context_id: Option<ContextId>) -> u64 {
        let read = self.read(payload).map(|read| read.with_context(context_id));
        let number = self.connection.forward(payload);
        self.statements.forward(number, payload, true);
        if let Some(read) = read {
            self.await_report(results, number, read, true);
        }
        number
    }

    /// Notes command `number`, which the server receives. `is_whole` is false if `payload` is only its beginning. Returns true if
    /// the bytes of its answer must be passed to [`take`](Self::take).
    pub fn forward(&mut self, results: &Results, number: u64, payload: &[u8], is_whole: bool) -> bool {
        let is_noted = self.statements.forward(number, payload, is_whole);
        if let Some(text) =
            payload.strip_prefix(&[Command::StmtPrepare as u8]).filter(|text| is_noted && begins_a_read(text))
        {
            self.statements.set_shape(number, results.uses.prepared_shape(text));
        }
        is_noted
    }

    /// Prepares to store the answer to a read that the server receives as command `command`. The bytes of its answer must be
    /// passed to [`take`](Self::take).
    pub fn note(&mut self, results: &Arc<Results>, command: u64, read: ReadCommand<'_>) {
        self.await_report(results, command, read, false);
    }

    /// Prepares to store the answer to a read that the server receives as command `command`, once the server has
    /// reported on it. `is_served` is true if the client has already got its answer from memory.
    fn await_report(&mut self, results: &Arc<Results>, command: u64, read: ReadCommand<'_>, is_served: bool) {
        let Some(answer) = Answer::new(results, read.key().len()).map(Answer::allowing_transaction) else { return };
        let sent_ns = clock::now();
        if self.waiting.len() == MOST_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(UnreportedRead {
            command,
            read: read.into_owned(),
            sent_ns,
            cost_ns: 0,
            answer,
            is_served,
            report: None,
        });
    }

    /// Takes bytes of the answer to a command that was noted. `outcome` comes with the last ones. If the report on the command
    /// has arrived, the complete answer is stored.
    pub fn take(&mut self, results: &Results, command: u64, bytes: &[u8], outcome: Option<&Outcome>) {
        if let Some(outcome) = outcome {
            self.statements.answered(command, outcome);
        }
        let waiting = self.waiting.iter_mut().find(|waiting| waiting.command == command);
        if !waiting.is_some_and(|waiting| waiting.answer.take(bytes, outcome)) {
            self.waiting.retain(|waiting| waiting.command != command);
        } else if outcome.is_some() {
            self.waiting.iter_mut().filter(|waiting| waiting.command == command).for_each(UnreportedRead::end);
            self.store(results);
        }
    }
}

/// Locks the state of a connection; a panic of another thread that held the lock is ignored.
pub fn lock(leased: &Mutex<LeasedConnection>) -> MutexGuard<'_, LeasedConnection> {
    leased.lock().unwrap_or_else(PoisonError::into_inner)
}
