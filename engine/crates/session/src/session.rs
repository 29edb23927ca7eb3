//! [`Session`]: what the engine knows of one client connection. Each part of it is a type in a file of its own, with invariants
//! of its own.

pub mod diagnostics;
pub mod granted;
pub mod identity;
pub mod near;
pub mod read_counts;
pub mod recent_tables;
pub mod report_coverage;
pub mod reuse;
pub mod temporary;
pub mod work;

use crate::engine::Engine;
use crate::statement::prepared::Statements;
use crate::statement::running::Purpose;
use crate::statement::verification::Verification;
use crate::text::recent_analyses::RecentAnalyses;
use crate::transaction::state::Transaction;
use crate::transaction::writes::Writes;
use diagnostics::Diagnostics;
use flavour::Flavour;
use identity::{HandshakeOutcome, Identity};
use near::Near;
use read_counts::ReadCounts;
use recent_tables::RecentTables;
use report_coverage::ReportCoverage;
use reuse::Reuse;
use temporary::TemporaryTables;
use work::Work;

/// How far a connection has come, and whether the engine follows what it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// From the server's greeting to the end of the authentication.
    #[default]
    Greeting,
    /// Authenticated. Every command and response is followed, and the cache may serve the session.
    Commands,
    /// The session did something while the engine was not following it (see `reports::unserved`). Its packets are still searched
    /// for the cache's own names, but it is served nothing, and its writes are known from the server's reports alone.
    Unserved,
    /// The packets are not followed: they are not understood or compressed, or the connection is older than the plugin or has
    /// ended. Every byte passes unchanged.
    Foreign,
}

/// One client connection as the engine follows it. The host passes it the connection's packets and the server's reports about
/// the connection, in the order in which they occur.
pub struct Session {
    pub(crate) phase: Phase,
    pub(crate) identity: Identity,
    pub(crate) coverage: ReportCoverage,
    /// This session is counted in `EngineMode::interested_sessions`, the number of sessions that have the cache on.
    pub(crate) is_interested: bool,
    pub(crate) transaction: Transaction,
    pub(crate) writes: Writes,
    pub(crate) temporary: TemporaryTables,
    pub(crate) statements: Statements,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) work: Work,
    /// Set from the lookup until the read is forwarded, if the read is a hit that the server runs all the same, so that the
    /// stored result can be compared with the server's (`fqc_verify_ppm`).
    pub(crate) verification: Option<Verification>,
    pub(crate) reuse: Reuse,
    pub(crate) recent_analyses: RecentAnalyses,
    pub(crate) recent_tables: RecentTables,
    pub(crate) read_counts: ReadCounts,
    pub(crate) near: Near,
}

impl Session {
    /// A session for a connection that the server has just accepted and not read from yet. `inherited_at_accept` is the value of
    /// `Settings::inherited` (a number that changes whenever what new sessions inherit changes) from before the server accepted
    /// it.
    pub fn accepted(flavour: &'static Flavour, inherited_at_accept: u64) -> Session {
        Session {
            phase: Phase::default(),
            identity: Identity::new(flavour),
            coverage: ReportCoverage { inherited_at_accept, ..ReportCoverage::default() },
            is_interested: false,
            transaction: Transaction::default(),
            writes: Writes::default(),
            temporary: TemporaryTables::default(),
            statements: Statements::default(),
            diagnostics: Diagnostics::default(),
            work: Work::default(),
            verification: None,
            reuse: Reuse::default(),
            recent_analyses: RecentAnalyses::default(),
            recent_tables: RecentTables::default(),
            read_counts: ReadCounts::default(),
            near: Near::default(),
        }
    }

    /// Takes the server's first packet, with its header. False if it is not the greeting of a client connection: the caller
    /// must then `abandon` the session.
    pub fn on_greeting(&mut self, engine: &Engine, bytes: &[u8]) -> bool {
        if let Some(packet) = wire::Packet::parse(bytes)
            && let Some(greeting) = wire::Greeting::parse(packet.payload)
        {
            self.near.greet(engine, greeting.connection_id, packet.payload);
        }
        self.identity.greet(bytes)
    }

    /// Takes the payload of the client's reply to the greeting. True if the client only asks for TLS: it then sends the whole
    /// reply again inside TLS, and this must be called again. If the packets of the connection cannot be followed, abandons the
    /// session.
    pub fn on_hello(&mut self, engine: &Engine, payload: &[u8]) -> bool {
        match self.identity.agree(payload) {
            HandshakeOutcome::Plain => false,
            HandshakeOutcome::Tls => true,
            HandshakeOutcome::Foreign(reason) => {
                reason.into_iter().for_each(|reason| engine.reasons().count(reason.into(), 0));
                self.abandon(engine);
                false
            }
        }
    }

    /// Called when the connection has ended. Opens all version cells that the session kept closed, and invalidates what its
    /// open transaction has written. If the connection is a feed, its near cache is detached. No packet is followed after this.
    pub fn close(&mut self, engine: &Engine) {
        if let Some(id) = self.near.feed.take().flatten() {
            engine.detach_near(id);
        }
        self.near.end();
        self.writes.is_locked = false;
        for cell in std::mem::take(&mut self.transaction.written) {
            self.writes.close(engine, cell);
        }
        self.writes.announce(engine);
        self.writes.open(engine);
        self.work.running = None;
        self.phase = Phase::Foreign;
        self.set_interested(engine, false);
        self.try_out(engine, false);
    }

    /// Stops following this connection for good: its packets pass unchanged. The version cells that it has closed, and those of
    /// tables that its transaction has written, stay closed until `close`, so no result that depends on them is served.
    pub fn abandon(&mut self, engine: &Engine) {
        for cell in std::mem::take(&mut self.transaction.written) {
            self.writes.close(engine, cell);
        }
        self.writes.announce(engine);
        self.work.abandon();
        self.phase = Phase::Foreign;
        self.set_interested(engine, false);
        self.try_out(engine, false);
    }

    pub fn is_foreign(&self) -> bool {
        self.phase == Phase::Foreign
    }

    /// True if the server is running no command that this session follows, neither one of the client nor one of the engine's
    /// own.
    pub fn is_at_rest(&self) -> bool {
        self.work.running.is_none()
    }

    /// True while the server runs the engine's own START TRANSACTION WITH CONSISTENT SNAPSHOT. It is sent ahead of a read of
    /// the client that is then looked up in the cache again.
    pub fn opens_snapshot(&self) -> bool {
        self.work.running.as_ref().is_some_and(|running| matches!(running.purpose, Purpose::OpenSnapshot(_)))
    }

    /// True once the client is authenticated, if its packets are read. An unserved session counts too, although it is served
    /// nothing.
    pub fn is_in_commands(&self) -> bool {
        matches!(self.phase, Phase::Commands | Phase::Unserved)
    }

    /// True if the server's reports about statements of this connection are for this session. False before the end of the
    /// login, for an unserved session and if the packets are not followed: then they are for an
    /// [`UnfollowedThread`](crate::UnfollowedThread).
    pub fn is_followed(&self) -> bool {
        self.phase == Phase::Commands
    }

    /// True if the session's state is known: the server has reported it since the engine last woke, and it is decided that
    /// nothing that the session did in light mode was missed. Otherwise nothing is served or stored.
    pub(crate) fn is_state_known(&self, engine: &Engine) -> bool {
        self.phase == Phase::Commands
            && self.coverage.light_mode_epoch == 0
            && engine.mode().is_awake()
            && self.coverage.reported_in_epoch == engine.mode().epoch()
    }

    /// Returns the number of the session context, which is everything about the session that can change a result, for the text
    /// (false) or binary (true) protocol. Sessions with the same number share results. None if this session must not be cached.
    pub(crate) fn context(&mut self, engine: &Engine, is_binary: bool) -> Option<u64> {
        let was_reset = self.identity.was_reset();
        let known =
            |inherited| engine.settings().usual_initial_state(inherited, was_reset).map(|known| known.side_effects);
        self.identity.begin_late(|inherited| known(inherited).filter(|_| engine.mode().is_awake()));
        self.identity.number(engine.contexts(), engine.settings().known_hosts(), is_binary)
    }
}
