//! The state of one connection, in parts that each keep their own invariants.

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

/// How far a connection has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// From the greeting to the end of the authentication.
    #[default]
    Greeting,
    Commands,
    /// It was at work while the engine slept.
    Resting,
    /// Not understood, compressed, or older than the plugin: every byte passes, nothing is concluded.
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
    /// The hit that the server answers in place of the cache, to be compared with it.
    pub(crate) verification: Option<Verification>,
    pub(crate) reuse: Reuse,
    pub(crate) recent: Recent,
    pub(crate) met: RecentTables,
    pub(crate) own: ReadCounts,
    pub(crate) near: Near,
}

impl Session {
    /// A connection that the server has just accepted, and not yet looked at.
    /// `accepted_under`: what `Settings::inherited` said before the connection was accepted.
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

    /// The server's first packet. False if this is not the beginning of a client connection.
    pub fn on_greeting(&mut self, engine: &Engine, bytes: &[u8]) -> bool {
        if let Some(packet) = wire::Packet::parse(bytes)
            && let Some(greeting) = wire::Greeting::parse(packet.payload)
        {
            self.near.greet(engine, greeting.connection_id, packet.payload);
        }
        self.identity.greet(bytes)
    }

    /// The client's answer to the greeting, or, inside TLS, its second half. True if TLS begins now.
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

    /// The connection ends: whatever it was doing has ended too.
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

    /// Nothing can be concluded about this connection any more: its bytes pass, and what it holds closed stays closed
    /// until it ends.
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

    /// The server has nothing left to answer.
    pub fn is_at_rest(&self) -> bool {
        self.work.running.is_none()
    }

    /// The server is opening a snapshot for a read that is served.
    pub fn opens_snapshot(&self) -> bool {
        self.work.running.as_ref().is_some_and(|running| matches!(running.purpose, Purpose::OpenSnapshot(_)))
    }

    /// Past the authentication, and its bytes are understood.
    pub fn is_in_commands(&self) -> bool {
        matches!(self.phase, Phase::Commands | Phase::Resting)
    }

    /// What the server tells of its statements is told here.
    pub fn is_followed(&self) -> bool {
        self.phase == Phase::Commands
    }

    /// The server has told what is in force here since the engine woke, and nothing that was done here in a doze is in doubt.
    pub(crate) fn is_told(&self, engine: &Engine) -> bool {
        self.phase == Phase::Commands
            && self.told.dozed_in == 0
            && engine.vigil().is_awake()
            && self.told.in_epoch == engine.vigil().epoch()
    }

    /// The identity's number for the text (false) or binary (true) protocol; none if the session must not be cached.
    pub(crate) fn context(&mut self, engine: &Engine, is_binary: bool) -> Option<u64> {
        let was_reset = self.identity.was_reset();
        let known = |inherited| engine.settings().usual_beginnings(inherited, was_reset).map(|known| known.habits);
        self.identity.begin_late(|inherited| known(inherited).filter(|_| engine.vigil().is_awake()));
        self.identity.number(engine.contexts(), engine.settings().known_hosts(), is_binary)
    }
}
