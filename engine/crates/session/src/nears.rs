//! The near caches that are attached to this server, and the writers that wait for them. A near cache is a cache next to clients. It serves
//! results of this server while it has a lease, and its *feed*, a connection, reports to it which version cells are closed and opened.
//!
//! Invariants:
//! - a writer closes its cells before it checks whether a near cache is attached, and a near cache is attached before anything is sent to
//!   it. A fence stands between the two steps on each side, so at least one side sees the other;
//! - every opened cell is announced after it was opened, under the lock, with the version that it has then;
//! - before the engine stops following writes, it first admits no more near caches and then waits until the last lease has expired
//!   ([`Engine::detach_all`]).
//!
//! There are no sockets here. A host sends the bytes, and is woken when there are any.

use crate::engine::Engine;
use crate::engine::feed::{FeedWaker, Waker};
use crate::engine::near_totals::NearTotals;
use crate::entries::cells::unknown_change_of;
use cache::CellId;
use feed::{AttachPause, AttachedNear, CommandReport, FromNear, Malformed, NearId, NearOwner, ReportDependencies};
use std::sync::atomic::{Ordering, fence};

/// A near cache that has not renewed its lease for this long is detached.
const SILENCE_NS: u64 = 5_000_000_000;
/// The maximum number of messages in one payload from a near cache, not counting those that mark connections. Near
/// caches send three at most, and writers wait for the lock while the messages are handled.
const MOST_MESSAGES: usize = 64;

impl Engine {
    /// Attaches a near cache that speaks this version of the protocol. `name` is shown to operators. None if it may not attach: the engine
    /// does not follow writes, the cache is off or faulty, the product admits none, the server is a member of a replication group, or a
    /// pause keeps out this account and address.
    pub(crate) fn attach_near(&self, name: &str, who: NearOwner, version: u16) -> Option<NearId> {
        let feed = self.feed();
        feed.is_wanted.store(true, Ordering::Relaxed);
        let mut state = feed.state();
        let is_off = self.settings().is_obstructed() || self.settings().is_faulty();
        (state.admits && !state.keeps_out && !is_off && self.flavour().statements.admits_nears).then_some(())?;
        let now = self.now_ns();
        state.attach_pauses.pause_of(&who, now).is_none().then_some(())?;
        let id = state.server_end.attach(name, who, version, now);
        state.server_end.note_obstacle(id, self.near_obstacle());
        state.counting.attached(id, name);
        feed.has_nears.store(true, Ordering::Relaxed);
        // Pairs with the fence in `announce_closed`.
        fence(Ordering::SeqCst);
        Some(id)
    }

    /// Called when the host is ready to send the frames of this near cache. From now on `waker` is called when there are any, at once if
    /// some are waiting.
    pub fn begin_feed(&self, id: NearId, waker: Waker) {
        let mut state = self.feed().state();
        state.feed_wakers.insert(id, FeedWaker { waker, is_woken: false });
        self.feed().wake_feeds(state);
    }

    /// Returns the payload of the next packet for this near cache. None if there is none now: the waker is called when there is one again.
    pub fn take_frame(&self, id: NearId) -> Option<Vec<u8>> {
        let frame = self.feed().state().take(id)?;
        Some(frame.encode())
    }

    /// Handles a payload that this near cache has sent. After an error the host must end the feed. Messages that mark
    /// connections (request reports on their commands) are handled one by one, and outside of the lock that writers
    /// take.
    pub fn receive_from_near(&self, id: NearId, payload: &[u8]) -> Result<(), Malformed> {
        let messages = FromNear::decode_all(payload)?;
        let feed = self.feed();
        let mut others = Vec::new();
        for message in &messages {
            match message {
                FromNear::Mark { connection, scramble } => feed.marks.mark(*connection, *scramble, id),
                FromNear::Unmark { connection } => feed.marks.unmark(*connection, id),
                message if others.len() < MOST_MESSAGES => others.push(message),
                _ => return Err(Malformed),
            }
        }
        if !others.is_empty() {
            self.apply_messages(id, &others);
        }
        Ok(())
    }

    /// Applies messages from a near cache, other than those that mark connections, and wakes the writers that wait for
    /// acknowledgements.
    fn apply_messages(&self, id: NearId, messages: &[&FromNear]) {
        let feed = self.feed();
        let mut state = feed.state();
        for message in messages {
            state.counting.receive(id, message);
            state.server_end.receive(id, message, self.now_ns());
        }
        state.server_end.note_obstacle(id, self.near_obstacle());
        feed.message_received.notify_all();
    }

    /// The reason why near caches get no reports about results, although they are attached: the cache stores nothing for new sessions. Empty
    /// if there is none.
    fn near_obstacle(&self) -> &'static str {
        let settings = self.settings();
        match (settings.global_type() != 0, self.memory_bytes() != 0) {
            (true, true) => "",
            (false, true) if settings.observes() => "the server's cache only observes",
            _ => "the server's cache is off",
        }
    }

    /// The pause that keeps out near caches of this account and address now, because one of them did not answer a writer in time. None if
    /// they may attach.
    pub(crate) fn attach_pause(&self, who: &NearOwner) -> Option<AttachPause> {
        let mut state = self.feed().state();
        let now = self.now_ns();
        state.server_end.forget_gone(now);
        state.begin_pauses(now);
        state.attach_pauses.pause_of(who, now)
    }

    /// The pauses, in which near caches of an account and address may not attach, that began since the last call, as lines for the log.
    pub fn take_begun_pauses(&self) -> Vec<String> {
        let begun = self.feed().state().take_begun();
        begun
            .iter()
            .map(|(who, pause)| format!("{} at {}: {}", who.account, who.address, pause_message(pause)))
            .collect()
    }

    /// True if this near cache is still attached; otherwise the host must end its feed. Also detaches those that have been silent for too
    /// long.
    pub fn is_near_attached(&self, id: NearId) -> bool {
        let mut state = self.feed().state();
        state.server_end.detach_silent(self.now_ns(), SILENCE_NS);
        state.server_end.is_attached(id)
    }

    /// Detaches a near cache whose feed has ended, and ends the reports on the connections that it has marked. A lease
    /// that it still has goes on: writers wait for it.
    pub fn detach_near(&self, id: NearId) {
        let feed = self.feed();
        let mut state = feed.state();
        state.server_end.detach(id, self.now_ns());
        state.counting.ended(id, self.now_ns());
        state.feed_wakers.remove(&id);
        feed.is_wanted.store(state.server_end.list().next().is_some(), Ordering::Relaxed);
        feed.message_received.notify_all();
        drop(state);
        feed.marks.unmark_all(id);
    }

    /// Keeps near caches out from here on, or admits them again. Use this where the server itself may hold reads back, since a near cache
    /// would go on serving then. Those that are attached are detached first, which blocks until none of them may serve any more.
    pub fn keep_nears_out(&self, keeps_out: bool) {
        let was = std::mem::replace(&mut self.feed().state().keeps_out, keeps_out);
        if keeps_out && !was {
            self.detach_all();
        }
    }

    /// Detaches all near caches. Blocks until none of them may serve results any more, because its lease has expired.
    pub fn detach_all(&self) {
        let feed = self.feed();
        let mut state = feed.state();
        let until = state.server_end.detach_all();
        state.counting.dismissed();
        state.feed_wakers.values().for_each(|feed_waker| (feed_waker.waker)());
        while let Some(left) = until.checked_sub(self.now_ns()).filter(|left| *left > 0) {
            state = feed.wait(state, left);
        }
        state.server_end.forget_gone(self.now_ns());
        feed.has_nears.store(false, Ordering::Relaxed);
    }

    /// Announces to near caches that a writer may change what these cells stand for. Blocks until no near cache can serve results that
    /// depend on them: each has acknowledged the message or lost its lease.
    #[inline]
    pub(crate) fn announce_closed(&self, cells: &[CellId]) {
        // Pairs with the fence in `attach_near`.
        fence(Ordering::SeqCst);
        if self.feed().has_nears() {
            self.close_near(cells, true);
        }
    }

    /// Announces to near caches that these cells are being written, without waiting for acknowledgements, as
    /// `announce_closed` would. For cells of single rows: near caches have already acknowledged the cell of their whole
    /// table.
    pub(crate) fn announce_narrowed(&self, cells: &[CellId]) {
        if self.feed().has_nears() {
            self.close_near(cells, false);
        }
    }

    #[cold]
    fn close_near(&self, cells: &[CellId], waits: bool) {
        let feed = self.feed();
        let mut state = feed.state();
        let began = self.now_ns();
        let mut wait = state.server_end.close(&numbers(cells), began);
        feed.wake_feeds(state);
        if wait.is_none() || !waits {
            return;
        }
        let all = wait.clone();
        let mut state = feed.state();
        while !state.server_end.is_over(&mut wait, self.now_ns()) {
            let deadline = state.server_end.next_deadline(&wait).unwrap_or(0);
            let left = deadline.saturating_sub(self.now_ns());
            state = feed.wait(state, left);
        }
        state.begin_pauses(self.now_ns());
        let waited = self.now_ns() - began;
        state.server_end.note_waited(&all, waited);
        state.counting.waited(waited);
        if state.server_end.is_idle() {
            feed.has_nears.store(false, Ordering::Relaxed);
        }
    }

    /// Announces to near caches that a writer is done with these cells: `changed` have new versions, so earlier results are invalid, and
    /// `same` are unchanged, so results are current again. Does not wait.
    #[inline]
    pub(crate) fn announce_opened(&self, changed: &[CellId], same: &[CellId]) {
        if self.feed().has_nears() {
            self.open_near(changed, same);
        }
    }

    #[cold]
    fn open_near(&self, changed: &[CellId], same: &[CellId]) {
        // After a change of unknown rows of a table, no earlier result from that table is current.
        let is_whole = |cell: &&CellId| changed.contains(&unknown_change_of(**cell));
        let outdated: Vec<(u32, u32)> =
            changed.iter().filter(is_whole).map(|cell| (cell.0, unknown_change_of(*cell).0)).collect();
        let cells = [changed, same].concat();
        let mut state = self.feed().state();
        state.server_end.open(&numbers(&cells), &outdated, |cell| self.versions().version_if_open(CellId(cell)));
        self.feed().wake_feeds(state);
    }

    /// Reports a result to a near cache. `cells` are the version cells that it depends on, and `tables` those that
    /// advance with any change of its tables. No report is sent if the result is not current by now.
    pub(crate) fn report_to_near(&self, id: NearId, tables: &[CellId], cells: &[CellId], report: CommandReport) {
        let (tables, cells) = (numbers(tables), numbers(cells));
        let basis = ReportDependencies { tables: &tables, cells: &cells };
        let mut state = self.feed().state();
        state.server_end.queue_report(id, basis, report, |cell| self.versions().version_if_open(CellId(cell)));
        self.feed().wake_feeds(state);
    }

    /// The attached near caches, as copies for `SHOW FQC NEAR`, and the current time in nanoseconds, which their leases are compared with.
    pub(crate) fn near_caches(&self) -> (Vec<AttachedNear>, u64) {
        (self.feed().state().server_end.list().cloned().collect(), self.now_ns())
    }

    /// The totals over all near caches of this server since it was started, as they are now.
    pub fn near_totals(&self) -> NearTotals {
        let state = self.feed().state();
        state.counting.now(state.server_end.list().count(), self.now_ns())
    }
}

/// A text for the log, and for a client that may not attach. It says nothing about the remaining time, so that repeated attempts get the
/// same message.
pub(crate) fn pause_message(pause: &AttachPause) -> String {
    let (misses, ms) = (pause.misses, pause.length_ns / 1_000_000);
    format!(
        "writers waited in vain for near caches of this account and address (x{misses}): none may attach for {ms} ms"
    )
}

fn numbers(cells: &[CellId]) -> Vec<u32> {
    cells.iter().map(|cell| cell.0).collect()
}
