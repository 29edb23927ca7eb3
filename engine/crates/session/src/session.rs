//! One connection: who it is, where it stands, and the facts that the server tells of it.

pub mod met;
pub mod own;

use crate::engine::Engine;
use crate::identity::account::Account;
use crate::identity::contexts::Identity;
use crate::identity::variables::{Knowledge, Variables};
use crate::report::ThreadFacts;
use crate::statement::prepared::Statements;
use crate::statement::recording::Finished;
use crate::statement::running::{HiddenError, Running};
use crate::statement::unseen::Pending;
use crate::statement::verification::Verification;
use crate::text::recent::Recent;
use crate::transaction::state::Transaction;
use crate::transaction::writes::Writes;
use met::Met;
use own::OwnCounts;
use sql::{Charset, LexMode};
use wire::{ClientHello, Greeting, ResponseTracker, capability, status};

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// From the greeting to the end of the authentication.
    Greeting,
    Commands,
    /// It was at work while the engine slept.
    Resting,
    /// Not understood, compressed, or older than the plugin: every byte passes, nothing is concluded.
    Foreign,
}

pub struct Session {
    pub(crate) phase: Phase,
    pub(crate) server_capabilities: u64,
    pub(crate) capabilities: u64,
    pub(crate) charset: u16,
    /// That of the client's texts, as the server tells: where it does not know the one that the client asked for, a reset gives
    /// the session whatever its thread had before.
    pub(crate) collation: u32,
    pub(crate) account: Option<Account>,
    pub(crate) database: Vec<u8>,
    pub(crate) database_known: bool,
    pub(crate) cache_type: u8,
    /// Counted among the sessions that want the cache.
    pub(crate) wishes: bool,
    /// A part of the identity of a session that tries the cache out: its results are its own.
    pub(crate) trial: Option<u64>,
    pub(crate) own: OwnCounts,
    /// When the server last told what is in force here; nothing is served before it has in the present epoch.
    pub(crate) told_in: u64,
    /// A statement began before the engine woke, or ended after it went to sleep.
    pub(crate) has_missed: bool,
    pub(crate) inherited: u64,
    /// The same when the server looked up what is granted to the account, and for the current database: it keeps that until
    /// another login, or another database is chosen. A reset leaves it as it is.
    pub(crate) granted: [u64; 2],
    /// It has met a stored routine, or executed what was prepared in another database: each time when the server comes back
    /// from another database, it looks up anew what is granted for the current one.
    pub(crate) goes_elsewhere: bool,
    /// What `Settings::inherited` said before the server began to set the session up.
    accepted_under: u64,
    pub(crate) variables: Variables,
    pub(crate) transaction: Transaction,
    pub(crate) writes: Writes,
    pub(crate) statements: Statements,
    pub(crate) status: u16,
    pub(crate) has_temporary_tables: bool,
    pub(crate) must_run: bool,
    /// It has begun again without what `init_connect` says.
    pub(crate) was_reset: bool,
    /// A role may have been set: it outlives a reset and a change of user.
    pub(crate) has_set_role: bool,
    /// A statement prepared in SQL may make some when it is executed.
    pub(crate) prepares_temporary: bool,
    /// The hit that the server answers in place of the cache, to be compared with it.
    pub(crate) verification: Option<Verification>,
    /// Rows of a served result that the server does not know of: what FOUND_ROWS() must say.
    pub(crate) unseen: Option<Pending>,
    /// The server's list of warnings is that of an older statement, and may not be empty.
    pub(crate) has_warnings: bool,
    pub(crate) running: Option<Running>,
    /// Nothing is followed any more, but the client must not see what the server still answers to us.
    pub(crate) draining: Option<ResponseTracker>,
    pub(crate) finished: Option<Finished>,
    /// Why the server has not done what the client takes for done: the answer to the command that waits.
    pub(crate) hidden_error: Option<HiddenError>,
    /// The last response was an error, which tells nothing of the transaction.
    pub(crate) has_failed: bool,
    /// Numbers of the identity for the text and the binary protocol; none while it must be computed anew.
    pub(crate) contexts: Option<[u64; 2]>,
    /// What `Settings::known_hosts` said when they were computed.
    contexts_under: Option<u64>,
    /// The last tables met, to spare the registry a look-up.
    pub(crate) met: Met,
    pub(crate) scratch: Vec<u8>,
    pub(crate) recent: Recent,
    /// The last read was of a shape whose results are hardly reused.
    pub(crate) has_passed_over: bool,
    /// Reads of which it was asked whether they are to be looked for.
    pub(crate) requests: u32,
    /// The statement now asked need not be looked for.
    pub(crate) is_hopeless: bool,
    /// The server has run nothing since its last report but a plain read: there is nothing new to report.
    pub(crate) is_uneventful: bool,
}

impl Default for Session {
    fn default() -> Self {
        Session {
            phase: Phase::Greeting,
            server_capabilities: 0,
            capabilities: 0,
            charset: 0,
            collation: 0,
            account: None,
            database: Vec::new(),
            database_known: false,
            cache_type: 0,
            wishes: false,
            trial: None,
            own: OwnCounts::default(),
            told_in: 0,
            has_missed: false,
            inherited: 0,
            granted: [0; 2],
            goes_elsewhere: false,
            accepted_under: 0,
            variables: Variables::new(LexMode::default()),
            transaction: Transaction::default(),
            writes: Writes::default(),
            statements: Statements::default(),
            status: status::AUTOCOMMIT,
            has_temporary_tables: false,
            must_run: false,
            was_reset: false,
            has_set_role: false,
            prepares_temporary: false,
            verification: None,
            unseen: None,
            has_warnings: false,
            running: None,
            draining: None,
            finished: None,
            hidden_error: None,
            has_failed: false,
            contexts: None,
            contexts_under: None,
            met: Met::default(),
            scratch: Vec::new(),
            recent: Recent::default(),
            has_passed_over: false,
            requests: 0,
            is_hopeless: false,
            is_uneventful: false,
        }
    }
}

impl Session {
    /// A connection that the server has just accepted, and not yet looked at.
    /// `accepted_under`: what `Settings::inherited` said before the connection was accepted.
    pub fn accepted(accepted_under: u64) -> Session {
        Session { accepted_under, ..Session::default() }
    }

    /// The server's first packet. False if this is not the beginning of a client connection.
    pub fn on_greeting(&mut self, bytes: &[u8]) -> bool {
        let greeting = wire::Packet::parse(bytes)
            .filter(|packet| packet.header.sequence == 0)
            .and_then(|packet| Greeting::parse(packet.payload));
        self.server_capabilities = greeting.as_ref().map_or(0, |greeting| greeting.capabilities);
        greeting.is_some()
    }

    /// The client's answer to the greeting, or, inside TLS, its second half. True if TLS begins now.
    pub fn on_hello(&mut self, engine: &Engine, payload: &[u8]) -> bool {
        let Some(hello) = ClientHello::parse(payload) else {
            self.abandon(engine);
            return false;
        };
        if hello.ssl_requested {
            return true;
        }
        self.capabilities = hello.capabilities & self.server_capabilities;
        self.charset = hello.charset;
        self.database = hello.database.unwrap_or_default();
        if self.capabilities & (capability::COMPRESS | capability::ZSTD_COMPRESS) != 0 {
            self.abandon(engine);
        }
        false
    }

    /// The server has authenticated this connection.
    pub fn on_connected(&mut self, engine: &Engine, account: Account, facts: &ThreadFacts) {
        if self.phase == Phase::Foreign {
            return;
        }
        self.account = Some(account);
        self.granted = [engine.number_of(self.accepted_under); 2];
        self.begin_anew(engine, self.accepted_under);
        // What the client asked for: the server has not made it the session's own yet.
        let database = std::mem::take(&mut self.database);
        self.take_facts(engine, &ThreadFacts { database: &database, ..*facts });
        self.phase = Phase::Commands;
    }

    /// Another user or a reset: settings, transaction, temporary tables and prepared statements are gone. The number of rows
    /// found stays.
    fn begin_anew(&mut self, engine: &Engine, accepted_under: u64) {
        self.inherited = accepted_under;
        let ignore_space = self.capabilities & capability::IGNORE_SPACE != 0;
        let charset = Charset::of_collation(self.charset);
        self.variables = Variables::new(LexMode { ignore_space, charset, ..LexMode::default() });
        self.transaction = Transaction::default();
        self.statements.clear();
        self.has_temporary_tables = false;
        self.prepares_temporary = false;
        self.contexts = None;
        // While the engine sleeps, what new sessions inherit may change unseen.
        if self.has_set_role || !engine.settings.is_unchanged_since(accepted_under) || !engine.vigil.is_awake() {
            self.become_private(engine);
        }
        let beginnings = engine.settings.usual_beginnings(accepted_under, self.was_reset);
        let known = beginnings.filter(|_| engine.vigil.is_awake());
        self.variables.habits = known.unwrap_or_default().habits;
        (self.variables.is_uncertain, self.variables.is_unread) = (known.is_none(), known.is_none());
    }

    /// The same in the course of a session: what `init_connect` has set is gone, too.
    pub(crate) fn begin_again(&mut self, engine: &Engine, inherited: u64) {
        self.was_reset = true;
        self.begin_anew(engine, inherited);
    }

    /// COM_CHANGE_USER has succeeded; its response is still to come.
    pub fn on_user_changed(&mut self, account: Account) {
        self.account = Some(account);
        self.contexts = None;
    }

    pub fn on_type(&mut self, engine: &Engine, cache_type: u8) {
        self.cache_type = cache_type;
        self.wish(engine, cache_type != 0 && !self.is_resting());
        self.contexts = None;
    }

    /// Something is in force that is not understood; a role may be, too.
    pub(crate) fn become_private(&mut self, engine: &Engine) {
        self.has_set_role = true;
        if self.variables.knowledge != Knowledge::Lost {
            self.variables.knowledge = Knowledge::Private(engine.contexts.private());
        }
        self.contexts = None;
    }

    pub(crate) fn forget_contexts(&mut self) {
        self.contexts = None;
    }

    /// The connection ends: whatever it was doing has ended too.
    pub fn on_close(&mut self, engine: &Engine) {
        self.writes.is_locked = false;
        for cell in std::mem::take(&mut self.transaction.written) {
            self.writes.close(engine, cell);
        }
        self.writes.open(engine);
        self.running = None;
        self.phase = Phase::Foreign;
        self.wish(engine, false);
        self.try_out(engine, false);
    }

    /// Nothing can be concluded about this connection any more: its bytes pass, and what it holds closed stays closed
    /// until it ends.
    pub fn abandon(&mut self, engine: &Engine) {
        for cell in std::mem::take(&mut self.transaction.written) {
            self.writes.close(engine, cell);
        }
        self.draining = self.running.take().filter(Running::is_hidden).map(|running| running.tracker);
        self.phase = Phase::Foreign;
        self.wish(engine, false);
        self.try_out(engine, false);
    }

    pub fn is_foreign(&self) -> bool {
        self.phase == Phase::Foreign
    }

    /// The server has nothing left to answer.
    pub fn is_at_rest(&self) -> bool {
        self.running.is_none()
    }

    /// Past the authentication, and its bytes are understood.
    pub fn is_in_commands(&self) -> bool {
        matches!(self.phase, Phase::Commands | Phase::Resting)
    }

    /// What the server tells of its statements is told here.
    pub fn is_followed(&self) -> bool {
        self.phase == Phase::Commands
    }

    /// The server has told what is in force here since the engine woke.
    pub(crate) fn is_told(&self, engine: &Engine) -> bool {
        self.phase == Phase::Commands && engine.vigil.is_awake() && self.told_in == engine.vigil.epoch()
    }

    /// No read may pass the server by, and it may be asked nothing unseen.
    pub(crate) fn wants_all(&self) -> bool {
        let habits = self.variables.habits;
        habits.traces || habits.reports && self.capabilities & capability::SESSION_TRACK != 0
    }

    /// The identity's number for the text (false) or binary (true) protocol; none if the session must not be cached.
    pub(crate) fn context(&mut self, engine: &Engine, is_binary: bool) -> Option<u64> {
        let under = engine.settings.known_hosts();
        // What was computed without that knowledge stays true with it, and a hit takes no lock to learn that others share it.
        let is_outdated = self.contexts_under.is_some() && self.contexts_under != under;
        if self.contexts.is_none() || is_outdated {
            self.contexts_under = under;
            self.contexts = self.compute_contexts(engine);
        }
        self.contexts.map(|numbers| numbers[usize::from(is_binary)])
    }

    /// A read was not found: under an identity that others share, the next may be.
    pub(crate) fn may_share_from_here(&mut self, engine: &Engine) {
        if self.contexts_under.is_none() && engine.settings.known_hosts().is_some() {
            self.contexts = None;
        }
    }

    fn compute_contexts(&self, engine: &Engine) -> Option<[u64; 2]> {
        let account = self.account.as_ref()?;
        if self.variables.knowledge == Knowledge::Lost || self.variables.is_uncertain {
            return None;
        }
        if self.must_run || self.wants_all() || !self.database_known {
            return None;
        }
        let mut identity = Identity::default();
        identity.push(&account.user).push(&account.host).push(&self.database);
        let knows_hosts = self.contexts_under.is_some();
        if !account.is_pattern() || !knows_hosts || engine.contexts.has_several_hosts(&account.user) {
            identity.push(b"address").push(&account.address);
        }
        identity.push(&(self.capabilities & capability::RESPONSE_SHAPING).to_le_bytes());
        identity.push(&self.charset.to_le_bytes()).push(&self.collation.to_le_bytes());
        identity.push(&[self.cache_type, u8::from(self.variables.mode.ignore_space)]);
        identity.push(&self.inherited.to_le_bytes());
        self.granted.iter().for_each(|number| _ = identity.push(&number.to_le_bytes()));
        if let Some(number) = self.trial {
            identity.push(b"trial").push(&number.to_le_bytes());
        }
        if let Knowledge::Private(number) = self.variables.knowledge {
            identity.push(&number.to_le_bytes());
        }
        for (name, value) in self.variables.iter() {
            identity.push(name).push(value);
        }
        let text = engine.contexts.number(identity.bytes());
        identity.push(b"binary");
        Some([text, engine.contexts.number(identity.bytes())])
    }
}
