//! The near caches that are attached to this server, and the writers that wait for them.
//!
//! Invariants:
//! - a writer has closed its cells before it looks whether a near cache is attached, and a near cache is attached before anything is
//!   told to it; between each pair stands a fence, so one of the two sees the other;
//! - whatever opens a cell is told after it, under the lock, as the cell is then;
//! - whatever ends the following of writes first admits nobody any more, and then waits until the last lease is over
//!   ([`Engine::detach_all`]).
//!
//! Deliberately absent: sockets. A host moves the bytes, and is woken when there are any.

use crate::engine::Engine;
use crate::engine::feed::{Bell, Waker};
use crate::engine::near_counts::NearCounts;
use crate::entries::cells::whole_of;
use cache::CellId;
use feed::{Attached, Basis, CommandReport, FromNear, Malformed, NearId, Pause, Who};
use std::sync::atomic::{Ordering, fence};

/// A near cache that asks for no lease for so long is detached.
const SILENCE_NS: u64 = 5_000_000_000;
/// Messages in one payload, besides marks: near caches send three at most, and writers need the lock that handling them takes.
const MOST_SAID: usize = 64;

impl Engine {
    /// None while writes are not followed, and while they are kept out.
    pub(crate) fn attach_near(&self, name: &str, who: Who, version: u16) -> Option<NearId> {
        let feed = self.feed();
        feed.is_wanted.store(true, Ordering::Relaxed);
        let mut state = feed.state();
        let is_off = self.settings().is_obstructed() || self.settings().is_faulty();
        (state.admits && !is_off && self.flavour().statements.admits_nears).then_some(())?;
        let now = self.now_ns();
        state.kept_out.pause_of(&who, now).is_none().then_some(())?;
        let id = state.nears.attach(name, who, version, now);
        state.counting.attached(id, name);
        feed.has_nears.store(true, Ordering::Relaxed);
        // Pairs with the fence in `announce_closed`.
        fence(Ordering::SeqCst);
        Some(id)
    }

    /// The host that moves the bytes is there.
    pub fn begin_feed(&self, id: NearId, waker: Waker) {
        let mut state = self.feed().state();
        state.bells.insert(id, Bell { waker, is_rung: false });
        self.feed().ring(state);
    }

    /// What is to be sent next: the payload of one packet.
    pub fn take_frame(&self, id: NearId) -> Option<Vec<u8>> {
        let frame = self.feed().state().take(id)?;
        Some(frame.encode())
    }

    /// A payload from the near cache. Marks are handled one by one, and not under the lock that writers take.
    pub fn hear_near(&self, id: NearId, payload: &[u8]) -> Result<(), Malformed> {
        let messages = FromNear::decode_all(payload)?;
        let feed = self.feed();
        let mut said = Vec::new();
        for message in &messages {
            match message {
                FromNear::Mark { connection, scramble } => feed.marks.mark(*connection, *scramble, id),
                FromNear::Unmark { connection } => feed.marks.unmark(*connection, id),
                message if said.len() < MOST_SAID => said.push(message),
                _ => return Err(Malformed),
            }
        }
        if !said.is_empty() {
            self.hear_said(id, &said);
        }
        Ok(())
    }

    fn hear_said(&self, id: NearId, said: &[&FromNear]) {
        let feed = self.feed();
        let mut state = feed.state();
        for message in said {
            state.counting.hear(id, message);
            state.nears.hear(id, message, self.now_ns());
        }
        feed.heard.notify_all();
    }

    /// Why near caches of this account at this address may not attach now.
    pub(crate) fn keeps_out(&self, who: &Who) -> Option<Pause> {
        let mut state = self.feed().state();
        let now = self.now_ns();
        state.nears.forget_gone(now);
        state.keep_out_missed(now);
        state.kept_out.pause_of(who, now)
    }

    /// For the log: who has been kept out since this was last asked, in words.
    pub fn take_kept_out(&self) -> Vec<String> {
        let begun = self.feed().state().take_begun();
        begun.iter().map(|(who, pause)| format!("{} at {}: {}", who.account, who.address, kept_out(pause))).collect()
    }

    /// Whether its feed goes on.
    pub fn is_near_attached(&self, id: NearId) -> bool {
        let mut state = self.feed().state();
        state.nears.detach_silent(self.now_ns(), SILENCE_NS);
        state.nears.is_attached(id)
    }

    /// Its feed has ended.
    pub fn detach_near(&self, id: NearId) {
        let feed = self.feed();
        let mut state = feed.state();
        state.nears.detach(id, self.now_ns());
        state.counting.ended(id, self.now_ns());
        state.bells.remove(&id);
        feed.is_wanted.store(state.nears.list().next().is_some(), Ordering::Relaxed);
        feed.heard.notify_all();
        drop(state);
        feed.marks.unmark_all(id);
    }

    /// When this returns, no near cache has a lease that had one before.
    pub fn detach_all(&self) {
        let feed = self.feed();
        let mut state = feed.state();
        let until = state.nears.detach_all();
        state.counting.dismissed();
        state.bells.values().for_each(|bell| (bell.waker)());
        while let Some(left) = until.checked_sub(self.now_ns()).filter(|left| *left > 0) {
            state = feed.wait(state, left);
        }
        state.nears.forget_gone(self.now_ns());
        feed.has_nears.store(false, Ordering::Relaxed);
    }

    /// Cells that a writer has closed: returns when no near cache can serve anything of them.
    #[inline]
    pub(crate) fn announce_closed(&self, cells: &[CellId]) {
        // Pairs with the fence in `attach_near`.
        fence(Ordering::SeqCst);
        if self.feed().has_nears() {
            self.close_near(cells, true);
        }
    }

    /// The same for what is closed already by another cell, whose closing was waited for.
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
        let mut wait = state.nears.close(&numbers(cells), began);
        feed.ring(state);
        if wait.is_none() || !waits {
            return;
        }
        let all = wait.clone();
        let mut state = feed.state();
        while !state.nears.is_over(&mut wait, self.now_ns()) {
            let deadline = state.nears.next_deadline(&wait).unwrap_or(0);
            let left = deadline.saturating_sub(self.now_ns());
            state = feed.wait(state, left);
        }
        state.keep_out_missed(self.now_ns());
        let waited = self.now_ns() - began;
        state.nears.note_waited(&all, waited);
        state.counting.waited(waited);
        if state.nears.is_idle() {
            feed.has_nears.store(false, Ordering::Relaxed);
        }
    }

    /// Cells that a writer has opened: `changed` with new versions, `same` as they were.
    #[inline]
    pub(crate) fn announce_opened(&self, changed: &[CellId], same: &[CellId]) {
        if self.feed().has_nears() {
            self.open_near(changed, same);
        }
    }

    #[cold]
    fn open_near(&self, changed: &[CellId], same: &[CellId]) {
        // Of a table of which unknown rows have changed no earlier result is fresh.
        let is_whole = |cell: &&CellId| changed.contains(&whole_of(**cell));
        let outdated: Vec<(u32, u32)> =
            changed.iter().filter(is_whole).map(|cell| (cell.0, whole_of(*cell).0)).collect();
        let cells = [changed, same].concat();
        let mut state = self.feed().state();
        state.nears.open(&numbers(&cells), &outdated, |cell| self.versions().version_if_open(CellId(cell)));
        self.feed().ring(state);
    }

    /// Tells a near cache what a result depends on, if that is fresh. `tables`: their cells of any change.
    pub(crate) fn tell_near(&self, id: NearId, tables: &[CellId], cells: &[CellId], told: CommandReport) {
        let (tables, cells) = (numbers(tables), numbers(cells));
        let basis = Basis { tables: &tables, cells: &cells };
        let mut state = self.feed().state();
        state.nears.tell(id, basis, told, |cell| self.versions().version_if_open(CellId(cell)));
        self.feed().ring(state);
    }

    /// For the report: the near caches, and the time by which their leases are counted.
    pub(crate) fn near_caches(&self) -> (Vec<Attached>, u64) {
        (self.feed().state().nears.list().cloned().collect(), self.now_ns())
    }

    /// What near caches have done since the server started.
    pub fn near_counts(&self) -> NearCounts {
        let state = self.feed().state();
        state.counting.now(state.nears.list().count(), self.now_ns())
    }
}

/// Says nothing of the time that is left, so that who tries again gets the same words.
pub(crate) fn kept_out(pause: &Pause) -> String {
    let (misses, ms) = (pause.misses, pause.length_ns / 1_000_000);
    format!(
        "writers waited in vain for near caches of this account and address (x{misses}): none may attach for {ms} ms"
    )
}

fn numbers(cells: &[CellId]) -> Vec<u32> {
    cells.iter().map(|cell| cell.0).collect()
}
