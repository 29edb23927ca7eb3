//! Follows a response on its way to the client.

use crate::decision::Reply;
use crate::engine::Engine;
use crate::session::Session;
use crate::statement::prepared::Metadata;
use crate::statement::recording::FinishedRead;
use crate::statement::running::{Effect, HiddenError, Purpose, Running};
use flavour::Flavour;
use wire::{ErrPacket, Outcome, OutcomeKind, Progress};

impl Session {
    /// Takes bytes of a response, in their order, before the client gets any of them, and decides what the client gets. When
    /// the response is complete, results of what its command may have changed can be stored and served again. Call `after_send`
    /// once the client has the bytes.
    pub fn on_response(&mut self, engine: &Engine, bytes: &[u8]) -> Reply {
        let Some(running) = self.work.running.as_mut() else { return Reply::Send };
        let progress = running.tracker.feed(bytes);
        if let Some(recording) = &mut running.read {
            recording.record(bytes, engine.settings().limit());
        }
        let is_held = running.rendering.is_some();
        if is_held || running.begins() || matches!(running.purpose, Purpose::QuerySettings) {
            running.held.extend_from_slice(bytes);
        }
        let is_kept_back = running.is_kept_back();
        match progress {
            Progress::Done(outcome) => return self.finish(engine, outcome),
            Progress::LocalInfile => running.is_exchange = true,
            Progress::More => {}
            Progress::Confused => {
                let held = std::mem::take(&mut running.held);
                self.work.give_up();
                self.abandon(engine);
                return if is_held { Reply::Replace(held) } else { Reply::Send };
            }
        }
        self.writes.advance(engine);
        if is_kept_back { Reply::Swallow } else { Reply::Send }
    }

    /// True if these bytes answer a query of the engine's own in a session that was abandoned. The client must not get
    /// them. To be called before `on_response`, and only once for each piece.
    pub fn consumes_abandoned_response(&mut self, bytes: &[u8]) -> bool {
        self.work.consumes_abandoned_response(bytes)
    }

    /// True while the client's packets are not commands but belong to an exchange, such as a local file or an
    /// authentication. They are not passed to `on_command`.
    pub fn is_in_exchange(&self) -> bool {
        self.work.running.as_ref().is_some_and(|running| running.is_exchange)
    }

    /// Ends the running command: updates the session, and lets results of what the command may have changed be stored and
    /// served again. Returns what the client gets of the last bytes of the response.
    fn finish(&mut self, engine: &Engine, outcome: Outcome) -> Reply {
        let Some(mut running) = self.work.running.take() else { return Reply::Send };
        if let Some(started_ns) = running.started_ns {
            engine.counts().durations.add(engine.now_ns().saturating_sub(started_ns));
        }
        let was_open = self.transaction.is_open || self.transaction.is_doubtful;
        self.note_missed(engine, &running);
        if let Some(flags) = outcome.status {
            self.take_flags(&running, flags);
        }
        let has_failed = matches!(outcome.kind, OutcomeKind::Err { .. });
        self.transaction.has_failed = has_failed;
        self.diagnostics.note_warnings(&running, &outcome, has_failed);
        self.transaction.note_set_once(&running, has_failed);
        self.transaction.note_savepoints(&running, has_failed);
        self.transaction.note_branch(&running, has_failed);
        self.apply(engine, &running, &outcome, has_failed);
        self.recheck_grants(engine, &running);
        self.reopen_if_refused(engine, &running, &outcome);
        if let Some(table) = &running.generated {
            self.narrow(engine, table, &outcome);
        }
        self.reopen_if_unchanged(engine, &running, &outcome);
        self.end_writes(engine, &running, has_failed);
        self.transaction.note_snapshot(&running, &outcome, was_open, has_failed);
        if let Some(has_begun) = running.has_begun.filter(|_| std::mem::take(&mut self.transaction.has_failed)) {
            self.transaction.take_begun(has_begun);
        }
        self.note_hidden_error(engine, &mut running, &outcome, has_failed);
        if matches!(running.purpose, Purpose::QuerySettings) {
            self.take_setting_values(engine, &running.held);
        }
        self.note_execution(running.execution.take(), &outcome, has_failed);
        let reply = match (&running.purpose, &running.rendering) {
            (Purpose::Client, None) => Reply::Send,
            (Purpose::Client, Some(rendering)) => {
                Reply::Replace(rendering.apply(&running.held, self.identity.capabilities()).unwrap_or(running.held))
            }
            _ => Reply::Swallow,
        };
        if let Some(recording) = running.read {
            self.work.finished = Some(FinishedRead { recording, outcome });
        }
        reply
    }

    /// If the server refused the statement before it began, lets the results that were not served during the statement be
    /// served again, since they are still current. Not if the session has written something: the statement may have committed
    /// that before its privileges were checked.
    fn reopen_if_refused(&mut self, engine: &Engine, running: &Running, outcome: &Outcome) {
        let has_written = self.writes.is_locked || !self.transaction.written.is_empty();
        if running.is_inert && !has_written && was_refused(engine.flavour(), outcome) {
            self.writes.reopen(engine);
        }
    }

    /// Keeps the error of a hidden command, to answer the client's own statement with it. Restores the pending read (a
    /// served result that the server has not seen) if the server still has not caught up with it.
    fn note_hidden_error(&mut self, engine: &Engine, running: &mut Running, outcome: &Outcome, has_failed: bool) {
        if running.begins() {
            let error = || HiddenError { answer: running.held.clone(), is_of_begin: true };
            self.work.hidden_error = has_failed.then(error);
            if has_failed {
                self.begin_once_more();
            }
        }
        let is_pending_read = matches!(running.purpose, Purpose::PendingRead { .. });
        let interruption = interruption(engine.flavour(), outcome).filter(|_| is_pending_read);
        if let Some(answer) = interruption {
            self.work.hidden_error = Some(HiddenError { answer, is_of_begin: false });
            self.diagnostics.pending_read = running.replaced.take();
        } else if has_failed
            && !is_pending_read
            && running.replaced.is_some()
            && !has_counted(engine.flavour(), outcome)
        {
            self.diagnostics.pending_read = running.replaced.take();
        }
    }

    /// Notes what the response to an execution of a prepared statement shows about it: the number of its columns, and their
    /// metadata. `execution` is the statement's id and the metadata; none if the command was no execution, and then nothing is
    /// noted.
    fn note_execution(&mut self, execution: Option<(u32, Metadata)>, outcome: &Outcome, has_failed: bool) {
        let Some((id, metadata)) = execution else { return };
        let Some(prepared) = self.statements.get_mut(id) else { return };
        prepared.has_long_data &= has_failed;
        if let OutcomeKind::ResultSet { columns, .. } = outcome.kind {
            (prepared.metadata, prepared.columns) = (Some(metadata), Some(columns));
        }
    }

    /// Called when the server is ready for the next command. If a command still counts as running, its response was not
    /// understood: it is ended as one that has failed.
    pub(crate) fn end_previous_command(&mut self, engine: &Engine) {
        let Some(running) = self.work.running.take() else { return };
        self.note_missed(engine, &running);
        self.transaction.note_savepoints(&running, true);
        self.transaction.note_branch(&running, true);
        self.end_writes(engine, &running, true);
        if running.begins() {
            self.begin_once_more();
        }
        if let Effect::Statement(statement) = &running.effect {
            self.apply_statement(engine, &running, statement, true);
            self.recheck_grants(engine, &running);
            self.transaction.after_other(running.moment);
        }
    }
}

/// The error packet for a statement that was killed, timed out or waited too long for a lock, with sequence number 1.
/// None if it ended in any other way.
fn interruption(flavour: &Flavour, outcome: &Outcome) -> Option<Vec<u8>> {
    let OutcomeKind::Err { code } = outcome.kind else { return None };
    let error = flavour.errors.interruptions.iter().find(|error| error.code == code)?;
    Some(ErrPacket::build(1, code, error.state, error.message))
}

/// True if the read failed after it had sent rows, so that FOUND_ROWS() counts those.
fn has_counted(flavour: &Flavour, outcome: &Outcome) -> bool {
    flavour.statements.counts_until_failure && outcome.has_columns
}

/// True if the server refused the statement before it began.
fn was_refused(flavour: &Flavour, outcome: &Outcome) -> bool {
    let is_early = |code: u16| flavour.errors.before_beginning.contains(&code);
    matches!(outcome.kind, OutcomeKind::Err { code } if is_early(code)) && outcome.results == 0
}
