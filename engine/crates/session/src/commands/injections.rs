//! Commands of the engine's own that the server gets before the client's.

use crate::engine::Engine;
use crate::packets::command_packet;
use crate::session::Session;
use crate::statement::running::{Purpose, Running};
use wire::{Command, Execute, Expect, Header, Query};

impl Session {
    /// A text for the server.
    pub(crate) fn own_query(&self, text: &[u8]) -> Vec<u8> {
        Query::packet(text, self.identity.capabilities())
    }

    /// The server gets this packet; the client does not see its response.
    pub(crate) fn inject(&mut self, engine: &Engine, purpose: Purpose, (packet, expect): (Vec<u8>, Expect)) -> Vec<u8> {
        self.work.running = Some(Running::new(engine, purpose, expect, self.identity.capabilities()));
        packet
    }

    /// A statement that does nothing, for a host that must give the server something after an answer.
    pub fn idle(&mut self, engine: &Engine) -> Vec<u8> {
        self.inject(engine, Purpose::Idle, (command_packet(Command::Ping, b""), Expect::Ok))
    }

    /// A command will pass before it can be looked at: whatever the server does not know of yet, it must be told now.
    /// To be asked until there is nothing left.
    pub fn before_pieces(&mut self, engine: &Engine) -> Option<Vec<u8>> {
        self.settle(engine);
        let hidden_error = self.work.hidden_error.take();
        self.give_up_unseen(hidden_error);
        self.tell_types(engine)
            .or_else(|| self.tell_begin(engine))
            .or_else(|| self.statements.owing().and_then(|id| self.tell_given(engine, id)))
            .or_else(|| self.tell_unseen(engine, |_| true))
    }

    /// The execution that the later ones of this statement go by, where it was answered without the server.
    pub(crate) fn tell_given(&mut self, engine: &Engine, id: u32) -> Option<Vec<u8>> {
        let prepared = self.statements.get_mut(id)?;
        let owed = prepared.given.take_owed()?;
        if let Some(execute) = Execute::parse(&owed[Header::SIZE..], self.identity.capabilities()) {
            prepared.note_run(&execute);
        }
        (prepared.columns, prepared.has_cursor) = (None, false);
        // It may have opened the transaction's snapshot.
        self.transaction.after_other(engine.versions().now());
        Some(self.inject(engine, Purpose::Unseen { keeps_warnings: false }, (owed, Expect::Execute)))
    }

    /// How parameters are bound that the server has not had: an execution that passes as it is may go by that. To be asked until
    /// there is nothing left.
    pub(crate) fn tell_types(&mut self, engine: &Engine) -> Option<Vec<u8>> {
        if let Some(id) = self.statements.to_reset.take() {
            let reset = command_packet(Command::StmtReset, &id.to_le_bytes());
            return Some(self.inject(engine, Purpose::Types, (reset, Expect::Ok)));
        }
        let capabilities = self.identity.capabilities();
        let (id, prepared) = self.statements.misunderstood()?;
        prepared.knows_types = true;
        let packet = match engine.flavour().statements.takes_unreadable_types {
            true => wire::types_alone(id, &prepared.types, capabilities),
            false => {
                let packet = wire::types_refused(id, &prepared.types, capabilities);
                self.statements.to_reset = Some(id);
                packet
            }
        };
        Some(self.inject(engine, Purpose::Types, (packet, Expect::Execute)))
    }

    /// The server does not know of something that the client was told, or answers what the client must not see.
    pub fn owes_server(&self) -> bool {
        self.transaction.deferred_begin.is_some()
            || !self.statements.are_understood()
            || self.work.running.as_ref().is_some_and(Running::is_kept_back)
    }
}
