//! Commands that the engine itself sends to the server before the client's command.

use crate::engine::Engine;
use crate::packets::command_packet;
use crate::session::Session;
use crate::statement::running::{Purpose, Running};
use wire::{Command, Execute, Expect, Header, Query};

impl Session {
    /// Returns the packet of a COM_QUERY with this text, as the engine sends it to the server on this connection. Nothing is
    /// noted as running yet.
    pub(crate) fn query_packet(&self, text: &[u8]) -> Vec<u8> {
        Query::packet(text, self.identity.capabilities())
    }

    /// Notes that the server runs this command of the engine's own, with a response of this kind, and returns its packet. The
    /// caller must have it sent to the server. The client does not see the response.
    pub(crate) fn inject(&mut self, engine: &Engine, purpose: Purpose, (packet, expect): (Vec<u8>, Expect)) -> Vec<u8> {
        self.work.running = Some(Running::new(engine, purpose, expect, self.identity.capabilities()));
        packet
    }

    /// Returns a COM_PING, for a host that has to send the server something after an answer from the cache. Its response is
    /// hidden from the client.
    pub fn idle(&mut self, engine: &Engine) -> Vec<u8> {
        self.inject(engine, Purpose::Idle, (command_packet(Command::Ping, b""), Expect::Ok))
    }

    /// Called before a command that will be forwarded in pieces, so that it cannot be examined first. Returns the packet that
    /// the server must get before it, and whose response is hidden. The host calls this again after that response, until it
    /// returns None.
    pub fn before_pieces(&mut self, engine: &Engine) -> Option<Vec<u8>> {
        self.end_previous_command(engine);
        let hidden_error = self.work.hidden_error.take();
        self.give_up_pending_read(hidden_error);
        self.inject_parameter_types(engine)
            .or_else(|| self.inject_deferred_begin(engine))
            .or_else(|| self.statements.owing().and_then(|id| self.inject_skipped_execution(engine, id)))
            .or_else(|| self.inject_pending_read(engine, |_| true))
    }

    /// Returns the packet of an earlier execution of this statement that was answered from the cache, if the server has yet to
    /// run it because later executions depend on its parameter types. It is noted as running.
    pub(crate) fn inject_skipped_execution(&mut self, engine: &Engine, id: u32) -> Option<Vec<u8>> {
        let prepared = self.statements.get_mut(id)?;
        let owed = prepared.type_history.take_owed()?;
        if let Some(execute) = Execute::parse(&owed[Header::SIZE..], self.identity.capabilities()) {
            prepared.note_run(&execute);
        }
        (prepared.columns, prepared.has_cursor) = (None, false);
        // This execution may open the transaction's snapshot.
        self.transaction.after_other(engine.versions().now());
        Some(self.inject(engine, Purpose::PendingRead { keeps_warnings: false }, (owed, Expect::Execute)))
    }

    /// Returns the packet of a command that gives the server parameter types which it has not seen yet, since an execution
    /// without types goes by them. The caller repeats this until it returns None.
    pub(crate) fn inject_parameter_types(&mut self, engine: &Engine) -> Option<Vec<u8>> {
        if let Some(id) = self.statements.to_reset.take() {
            let reset = command_packet(Command::StmtReset, &id.to_le_bytes());
            return Some(self.inject(engine, Purpose::Types, (reset, Expect::Ok)));
        }
        let capabilities = self.identity.capabilities();
        let (id, prepared) = self.statements.misunderstood()?;
        prepared.knows_types = true;
        let packet = match engine.flavour().statements.keeps_unreadable_types {
            true => wire::types_alone(id, &prepared.types, capabilities),
            false => {
                let packet = wire::types_refused(id, &prepared.types, capabilities);
                self.statements.to_reset = Some(id);
                packet
            }
        };
        Some(self.inject(engine, Purpose::Types, (packet, Expect::Execute)))
    }

    /// True if the server still lacks something that the client already has an answer for, such as a BEGIN, or if the running
    /// response must not reach the client unchanged. The host must not stop following the connection then.
    pub fn owes_server(&self) -> bool {
        self.transaction.deferred_begin.is_some()
            || !self.statements.are_understood()
            || self.work.running.as_ref().is_some_and(Running::is_kept_back)
    }
}
