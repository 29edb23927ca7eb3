//! The state of one connection. Each part keeps its own invariants.

pub mod diagnostics;
pub mod granted;
pub mod identity;
pub mod near;
pub mod read_counts;
pub mod recent_tables;
pub mod reuse;
pub mod temporary;
pub mod told;
pub mod work;

use crate::engine::Engine;
use crate::statement::prepared::Statements;
use crate::statement::running::Purpose;
use crate::statement::verification::Verification;
use crate::text::recent::Recent;
use crate::transaction::state::Transaction;
use crate::transaction::writes::Writes;
use diagnostics::Diagnostics;
use flavour::Flavour;
use identity::{Agreement, Identity};
use near::Near;
use read_counts::ReadCounts;
use recent_tables::RecentTables;
use reuse::Reuse;
use temporary::TemporaryTables;
use told::Told;
use work::Work;

/// The phase of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// From the server's greeting to the end of the authentication.
    #[default]
    Greeting,
    Commands,
    /// The session was active while the engine did not follow it (see `reports::resting`).
    Resting,
    /// The packets are not followed: not understood, compressed, or a connection older than the plugin. Every byte passes
    /// unchanged.
    Foreign,
}

pub struct Session {
    pub(crate) phase: Phase,
    pub(crate) identity: Identity,
    pub(crate) told: Told,
    /// Counted among the sessions that want the cache.
    pub(crate) wishes: bool,
    pub(crate) transaction: Transaction,
    pub(crate) writes: Writes,
    pub(crate) temporary: TemporaryTables,
    pub(crate) statements: Statements,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) work: Work,
    /// A hit that is sent to the server after all, to be compared with its answer.
    pub(crate) verification: Option<Verification>,
    pub(crate) reuse: Reuse,
    pub(crate) recent: Recent,
    pub(crate) met: RecentTables,
    pub(crate) own: ReadCounts,
    pub(crate) near: Near,
}

impl Session {
    /// A connection that the server has just accepted and not looked at yet. `accepted_under` is the value of
    /// `Settings::inherited` from before the connection was accepted.
    pub fn accepted(flavour: &'static Flavour, accepted_under: u64) -> Session {
        Session {
            phase: Phase::default(),
            identity: Identity::new(flavour),
            told: Told { accepted_under, ..Told::default() },
            wishes: false,
            transaction: Transaction::default(),
            writes: Writes::default(),
            temporary: TemporaryTables::default(),
            statements: Statements::default(),
            diagnostics: Diagnostics::default(),
            work: Work::default(),
            verification: None,
            reuse: Reuse::default(),
            recent: Recent::default(),
            met: RecentTables::default(),
            own: ReadCounts::default(),
            near: Near::default(),
        }
    }

    /// Takes the server's first packet. False if this is not the beginning of a client connection.
    pub fn on_greeting(&mut self, engine: &Engine, bytes: &[u8]) -> bool {
        if let Some(packet) = wire::Packet::parse(bytes)
            && let Some(greeting) = wire::Greeting::parse(packet.payload)
        {
            self.near.greet(engine, greeting.connection_id, packet.payload);
        }
        self.identity.greet(bytes)
    }

    /// Takes the client's reply to the greeting, or its second half inside TLS. True if TLS begins now.
    pub fn on_hello(&mut self, engine: &Engine, payload: &[u8]) -> bool {
        match self.identity.agree(payload) {
            Agreement::Plain => false,
            Agreement::Tls => true,
            Agreement::Foreign(reason) => {
                reason.into_iter().for_each(|reason| engine.reasons().count(reason.into(), 0));
                self.abandon(engine);
                false
            }
        }
    }

    /// The connection has ended, and so has everything that it was doing.
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
        self.wish(engine, false);
        self.try_out(engine, false);
    }

    /// Stops following this connection. Its packets pass, and the cells that it has closed stay closed until it ends.
    pub fn abandon(&mut self, engine: &Engine) {
        for cell in std::mem::take(&mut self.transaction.written) {
            self.writes.close(engine, cell);
        }
        self.writes.announce(engine);
        self.work.abandon();
        self.phase = Phase::Foreign;
        self.wish(engine, false);
        self.try_out(engine, false);
    }

    pub fn is_foreign(&self) -> bool {
        self.phase == Phase::Foreign
    }

    /// True if the server is running no command of this connection.
    pub fn is_at_rest(&self) -> bool {
        self.work.running.is_none()
    }

    /// True while the server opens a snapshot for a read that is served from the cache.
    pub fn opens_snapshot(&self) -> bool {
        self.work.running.as_ref().is_some_and(|running| matches!(running.purpose, Purpose::OpenSnapshot(_)))
    }

    /// True after the authentication, if the packets are understood.
    pub fn is_in_commands(&self) -> bool {
        matches!(self.phase, Phase::Commands | Phase::Resting)
    }

    /// True if the server's reports about statements of this connection are handled here.
    pub fn is_followed(&self) -> bool {
        self.phase == Phase::Commands
    }

    /// True if the server has reported the session's state since the engine woke, and nothing that the session did in a doze
    /// is in doubt.
    pub(crate) fn is_told(&self, engine: &Engine) -> bool {
        self.phase == Phase::Commands
            && self.told.dozed_in == 0
            && engine.vigil().is_awake()
            && self.told.in_epoch == engine.vigil().epoch()
    }

    /// The number of the session context for the text (false) or binary (true) protocol. None if this session must not be
    /// cached.
    pub(crate) fn context(&mut self, engine: &Engine, is_binary: bool) -> Option<u64> {
        let was_reset = self.identity.was_reset();
        let known = |inherited| engine.settings().usual_beginnings(inherited, was_reset).map(|known| known.habits);
        self.identity.begin_late(|inherited| known(inherited).filter(|_| engine.vigil().is_awake()));
        self.identity.number(engine.contexts(), engine.settings().known_hosts(), is_binary)
    }
}
