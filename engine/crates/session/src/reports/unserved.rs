//! Unserved sessions: those that were active while the engine did not follow them. It is not known what they have set, written or left
//! open. So they are served nothing, and their writes count like those of a thread whose packets are not seen. Their statements are
//! searched only for the cache's own names.

use crate::engine::Engine;
use crate::session::{Phase, Session};
use sql::{Kind, LexMode, Refusal, Statement};
use wire::{Command, capability};

impl Session {
    /// True if this session has done something that was not reported, or is about to with this command, which is None if it is not known.
    /// The caller must then call `stop_serving` before it handles the command: the session is served nothing from then on.
    pub(crate) fn has_lost_track(&mut self, engine: &Engine, command: Option<Command>, body: &[u8]) -> bool {
        if self.phase != Phase::Commands {
            return false;
        }
        self.review_light_mode(engine);
        if self.coverage.has_unreported_effects {
            return true;
        }
        if engine.mode().is_in_light_mode() {
            return self.hides_in_light_mode(engine, command, body);
        }
        !engine.mode().is_awake()
            && match command {
                Some(Command::Query) => {
                    let analysis = self.analyse(engine, body);
                    !keeps_track(&analysis.statement.kind) && !self.asks_only_itself(&analysis.statement, body)
                }
                Some(Command::StmtExecute | Command::StmtBulkExecute) | None => true,
                Some(_) => false,
            }
    }

    /// True for a read without a table, as clients send at their start. Unknown functions count as diagnostics, so they do not pass.
    fn asks_only_itself(&self, statement: &Statement, text: &[u8]) -> bool {
        matches!(statement.kind, Kind::Read(_))
            && !statement.reads_diagnostics
            && !sql::mentions(text, self.identity.mode(), |word| word == b"from")
    }

    /// Called for a connection that sends commands although its login was never reported, because the server is uninstalling the plugin.
    /// The session is not served from here on.
    pub fn begin_unreported(&mut self, engine: &Engine) {
        self.stop_serving(engine);
        engine.uninstallation().doubt();
    }

    /// Stops serving the session until its connection ends: nothing is served to it any more, and what was known of its settings, its
    /// transaction and its prepared statements is forgotten. Results that its statements kept from being served can be stored and served
    /// again.
    pub(crate) fn stop_serving(&mut self, engine: &Engine) {
        self.phase = Phase::Unserved;
        self.identity.stop_caching();
        self.transaction.begin_anew();
        self.statements.clear();
        self.writes.is_locked = false;
        self.writes.open(engine);
        self.set_interested(engine, false);
        self.try_out(engine, false);
    }

    /// True if the engine reads the session's packets but serves it nothing, because it no longer knows what the session has done.
    pub fn is_unserved(&self) -> bool {
        self.phase == Phase::Unserved
    }

    /// True if the session is not served and the engine waits for the end of no command. Its responses then pass unchanged,
    /// without `on_response`.
    #[inline]
    pub fn is_unwatched(&self) -> bool {
        self.phase == Phase::Unserved && self.work.is_idle()
    }

    /// True if this command of an unserved session may go to the server unchanged. Then it has been counted, and `on_command` must
    /// not be called for it. False means only that this is not certain, and `on_command` decides.
    #[inline]
    pub fn passes_unread(&mut self, engine: &Engine, payload: &[u8]) -> bool {
        let passes = self.is_unwatched() && certainly_passes(payload, self.identity.capabilities());
        if passes {
            self.near.count(engine, payload);
        }
        passes
    }

    /// Counts this session among those that want the cache, or no longer. No effect if that is so already.
    pub(crate) fn set_interested(&mut self, engine: &Engine, is_interested: bool) {
        if std::mem::replace(&mut self.is_interested, is_interested) != is_interested {
            if is_interested {
                engine.mode().add_interested_session()
            } else {
                engine.mode().remove_interested_session()
            }
        }
    }
}

/// True if a statement of this kind shows all its effects on the session in its text and its response. Then nothing is missed if the server
/// does not report it.
pub(crate) fn keeps_track(kind: &Kind) -> bool {
    match kind {
        Kind::Set(assignments) => assignments.iter().all(|assignment| assignment.value.plain().is_some()),
        Kind::Read(read) => read.refusal == Some(Refusal::NoTable),
        Kind::Show(_) | Kind::Use(_) | Kind::SetTransaction(_) | Kind::Empty | Kind::Kill => true,
        _ => false,
    }
}

/// True if `passes_unexamined` certainly holds for this command. The usual statements of a server whose cache is off are recognized without
/// searching for each of the engine's names.
#[inline]
fn certainly_passes(payload: &[u8], capabilities: u64) -> bool {
    let Some((byte, body)) = payload.split_first() else { return false };
    match Command::from_byte(*byte) {
        Some(Command::StmtExecute | Command::StmtClose | Command::Ping) => true,
        Some(Command::Query) if capabilities & capability::QUERY_ATTRIBUTES != 0 => {
            body.strip_prefix(&wire::NO_ATTRIBUTES).is_some_and(sql::surface::passes_unchanged)
        }
        Some(Command::Query | Command::StmtPrepare) => sql::surface::passes_unchanged(body),
        _ => false,
    }
}

/// True if neither the text nor the response of this command matters for an unserved session. It may then be forwarded without being
/// followed. The command is None if it is not known.
pub(crate) fn passes_unexamined(command: Option<Command>, body: &[u8], mode: LexMode) -> bool {
    match command {
        Some(Command::Query | Command::StmtPrepare) => {
            !may_concern_surface(body, mode) && !sql::surface::is_about_plugin(body, mode)
        }
        // After these, what follows on the connection may not be commands.
        Some(Command::ChangeUser | Command::BinlogDump | Command::BinlogDumpGtid | Command::RegisterSlave) | None => {
            false
        }
        Some(_) => true,
    }
}

/// True if the text may contain a name or a statement of the cache, or a LOAD DATA whose local file will follow.
fn may_concern_surface(text: &[u8], mode: LexMode) -> bool {
    const FIRST: [&[u8]; 4] = [b"show", b"flush", b"reset", b"load"];
    let word = &text[..text.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(text.len())];
    word.is_empty()
        || FIRST.iter().any(|first| first.eq_ignore_ascii_case(word))
        || sql::surface::may_need_rewrite_or_file(text, mode)
}
