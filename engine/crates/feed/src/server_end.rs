//! The server's end: all near caches that are attached, what each may hold, and who must have acknowledged what.
//!
//! Protocol of a host, whose every call here is made under one lock:
//!
//! - A **writer** closes its cells, then calls [`Nears::close`], and then waits until [`Nears::is_over`]: before that its change
//!   can become visible to nobody. After it has opened its cells it calls [`Nears::open`].
//! - A **reader**'s result is told with [`Nears::tell`], which marks what it depends on as held *before* it asks whether the result
//!   is fresh. So a writer that does not know of the result has closed its cells before that question.
//! - What [`Nears::take`] gives is sent in this order, on one connection.
//!
//! Invariants:
//! - a lease that is granted after a closing is of no use before that closing is applied, since frames keep their order. So a
//!   writer waits for the lease as it was at its closing, and later renewals do not make it wait longer;
//! - a lease outlives its feed: what is detached still counts until its lease is over.

use crate::message::{CommandReport, Counts, Frame, FromNear, ToNear};
use std::collections::BTreeMap;

pub type NearId = u64;

const EVERYTHING: u32 = 0;
/// From this version on, near caches know what holds over preparations.
const PREPARATIONS: u16 = 2;
/// From this version on, near caches know of transactions.
const TRANSACTIONS: u16 = 3;
/// From this version on, near caches understand messages about a session alone.
const SESSIONS: u16 = 4;
/// Messages that wait to be sent to one near cache; one that takes them more slowly is detached.
const MOST_WAITING: usize = 1 << 16;
/// Cells that these messages name together.
const MOST_CELLS_WAITING: usize = 1 << 18;
/// Messages of one frame, which has to fit into a packet.
const MOST_AT_ONCE: usize = 512;

/// How long a lease lasts, and how much longer the server waits, for clocks of different speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    pub lease_ns: u64,
    pub margin_ns: u64,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms { lease_ns: 100_000_000, margin_ns: 2_000_000 }
    }
}

/// The account of a near cache's feed, and the address that it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Who {
    pub account: String,
    pub address: String,
}

/// An attached near cache, as the report shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attached {
    pub name: String,
    pub who: Who,
    pub version: u16,
    pub counts: Counts,
    /// Writers that have waited for it, and for how long together.
    pub waits: u64,
    pub waited_ns: u64,
    /// How long its last acknowledgement of a closing took.
    pub lag_ns: u64,
    /// By the server's clock, when its lease is over.
    pub until: u64,
    is_gone: bool,
    attachment: [u64; 2],
    outgoing: Vec<ToNear>,
    /// Cells that `outgoing` names.
    cells_waiting: usize,
    /// Frames taken, and the last that was acknowledged.
    taken: u64,
    acknowledged: u64,
    /// The last closing that somebody waits for: its frame, and when.
    asked: Option<(u64, u64)>,
    /// The tables of which it may hold a result, with the latest stamp of those.
    holds: BTreeMap<u32, u64>,
}

/// Whose acknowledgement a writer waits for: which frame, and until when at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wait(Vec<(NearId, u64, u64)>);

impl Wait {
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

/// What a result depends on: tables, by their cells of any change, and cells.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'a> {
    pub tables: &'a [u32],
    pub cells: &'a [u32],
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nears {
    terms: Terms,
    life: u64,
    next: NearId,
    attached: BTreeMap<NearId, Attached>,
    /// Owners of near caches that did not acknowledge a closing in time. `take_missed` empties this list.
    missed: Vec<Who>,
}

impl Nears {
    /// `life`: another number for each life of the server.
    pub fn new(terms: Terms, life: u64) -> Nears {
        Nears { terms, life, next: 1, attached: BTreeMap::new(), missed: Vec::new() }
    }

    pub fn attach(&mut self, name: &str, who: Who, version: u16, now: u64) -> NearId {
        let id = self.next;
        self.next += 1;
        let attachment = [self.life, id];
        let first = ToNear::Attached { version, attachment, lease_ns: self.terms.lease_ns };
        let attached = Attached {
            name: name.to_owned(),
            who,
            version,
            counts: Counts::default(),
            waits: 0,
            waited_ns: 0,
            lag_ns: 0,
            until: now,
            is_gone: false,
            attachment,
            outgoing: vec![first],
            cells_waiting: 0,
            taken: 0,
            acknowledged: 0,
            asked: None,
            holds: BTreeMap::new(),
        };
        self.attached.insert(id, attached);
        id
    }

    /// Which connections are marked is the host's to know.
    pub fn hear(&mut self, id: NearId, message: &FromNear, now: u64) {
        let Some(near) = self.attached.get_mut(&id).filter(|near| !near.is_gone) else { return };
        match message {
            FromNear::Renew { sent } => {
                near.until = near.until.max(now + self.terms.lease_ns + self.terms.margin_ns);
                near.say(ToNear::Granted { sent: *sent });
            }
            FromNear::Acknowledge { number } => {
                near.acknowledged = near.acknowledged.max((*number).min(near.taken));
                if let Some((_, since)) = near.asked.take_if(|(frame, _)| *frame <= near.acknowledged) {
                    near.lag_ns = now.saturating_sub(since);
                }
            }
            FromNear::Counted(counts) => near.counts = *counts,
            FromNear::Left => _ = self.attached.remove(&id),
            FromNear::Mark { .. } | FromNear::Unmark { .. } => {}
        }
    }

    /// Writers have closed these cells. Cells of tables are the cells of any change, which every write closes.
    pub fn close(&mut self, cells: &[u32], now: u64) -> Wait {
        self.forget_gone(now);
        let mut wait = Wait::default();
        for (id, near) in self.attached.iter_mut().filter(|(_, near)| near.may_hold(cells)) {
            near.say(ToNear::Closed { cells: cells.to_vec() });
            if near.until > now {
                let frame = near.last_frame();
                near.asked = near.asked.or(Some((frame, now)));
                near.waits += 1;
                wait.0.push((*id, frame, near.until));
            }
        }
        wait
    }

    /// Whether nobody who could serve what was closed may still do so. Whoever has missed its time is detached.
    pub fn is_over(&mut self, wait: &mut Wait, now: u64) -> bool {
        wait.0.retain(|(id, frame, until)| {
            let Some(near) = self.attached.get_mut(id) else { return false };
            if near.acknowledged >= *frame {
                return false;
            }
            if *until <= now {
                self.missed.extend(near.asked.take().map(|_| near.who.clone()));
                near.go();
                return false;
            }
            true
        });
        wait.is_none()
    }

    /// The first moment at which waiting is over for one near cache even if it says nothing.
    pub fn next_deadline(&self, wait: &Wait) -> Option<u64> {
        wait.0.iter().map(|(_, _, until)| *until).min()
    }

    /// A writer has waited for so long for those that it waited for.
    pub fn note_waited(&mut self, wait: &Wait, waited_ns: u64) {
        for (id, ..) in &wait.0 {
            self.attached.get_mut(id).into_iter().for_each(|near| near.waited_ns += waited_ns);
        }
    }

    /// Writers have opened these cells. `version_if_open`: as they are now. `outdated`: tables of which no earlier result is
    /// fresh any more, each with the cell whose change did that. Whatever was told since is held: the cells have been open for a while.
    pub fn open(&mut self, cells: &[u32], outdated: &[(u32, u32)], version_if_open: impl Fn(u32) -> Option<u64>) {
        let mut opened: Option<Vec<(u32, u64)>> = None;
        for near in self.attached.values_mut().filter(|near| near.may_hold(cells)) {
            let opened = opened.get_or_insert_with(|| {
                cells.iter().filter_map(|cell| Some((*cell, version_if_open(*cell)?))).collect()
            });
            let version = |cell: u32| opened.iter().find(|(open, _)| *open == cell).map(|(_, version)| *version);
            if !opened.is_empty() {
                near.say(ToNear::Opened { cells: opened.clone() });
            }
            near.holds.retain(|table, stamp| {
                let by = outdated.iter().find(|(one, _)| one == table).and_then(|(_, by)| version(*by));
                [version(EVERYTHING), by].into_iter().flatten().all(|version| version <= *stamp)
            });
        }
    }

    /// Tells of a result, if it is fresh then. The versions of `told` are filled in here.
    pub fn tell(
        &mut self,
        id: NearId,
        basis: Basis,
        mut report: CommandReport,
        version_if_open: impl Fn(u32) -> Option<u64>,
    ) -> bool {
        let knows = |near: &&mut Attached| !near.is_gone && (!report.is_of_session || near.version >= SESSIONS);
        let Some(near) = self.attached.get_mut(&id).filter(knows) else { return false };
        for table in basis.tables {
            let latest = near.holds.entry(*table).or_insert(report.stamp);
            *latest = report.stamp.max(*latest);
        }
        let version = |cell: &u32| {
            let version = version_if_open(*cell).filter(|version| *version <= report.stamp)?;
            Some((*cell, version))
        };
        let all = [EVERYTHING];
        let Some(cells) = all.iter().chain(basis.cells).map(version).collect() else { return false };
        report.cells = cells;
        report.holds_over_preparations &= near.version >= PREPARATIONS;
        report.is_for_transactions &= near.version >= TRANSACTIONS;
        report.snapshot = report.snapshot.filter(|_| near.version >= TRANSACTIONS);
        near.say(ToNear::Report(report));
        true
    }

    /// What is to be sent next to this near cache, in one frame. None: nothing yet.
    pub fn take(&mut self, id: NearId) -> Option<Frame> {
        let near = self.attached.get_mut(&id).filter(|near| !near.is_gone && !near.outgoing.is_empty())?;
        near.taken += 1;
        let count = near.outgoing.len().min(MOST_AT_ONCE);
        let messages: Vec<_> = near.outgoing.drain(..count).collect();
        near.cells_waiting -= messages.iter().map(ToNear::cells).sum::<usize>();
        Some(Frame { number: near.taken, messages })
    }

    /// Those to whom something is to be sent.
    pub fn pending(&self) -> impl Iterator<Item = NearId> {
        self.attached.iter().filter(|(_, near)| !near.outgoing.is_empty()).map(|(id, _)| *id)
    }

    /// Whoever has had no lease for so long is detached.
    pub fn detach_silent(&mut self, now: u64, silence_ns: u64) {
        self.attached.values_mut().filter(|near| near.until + silence_ns < now).for_each(Attached::go);
        self.forget_gone(now);
    }

    /// Its feed has ended. It may serve as long as its lease runs.
    pub fn detach(&mut self, id: NearId, now: u64) {
        if let Some(near) = self.attached.get_mut(&id) {
            near.go();
        }
        self.forget_gone(now);
    }

    /// All feeds have ended. When the last lease is over.
    pub fn detach_all(&mut self) -> u64 {
        self.attached.values_mut().for_each(Attached::go);
        self.attached.values().map(|near| near.until).max().unwrap_or(0)
    }

    /// Whether its feed goes on.
    pub fn is_attached(&self, id: NearId) -> bool {
        self.attached.get(&id).is_some_and(|near| !near.is_gone)
    }

    /// Nobody has to be told anything, or waited for.
    pub fn is_idle(&self) -> bool {
        self.attached.is_empty()
    }

    /// Those whose feed goes on.
    pub fn list(&self) -> impl Iterator<Item = &Attached> {
        self.attached.values().filter(|near| !near.is_gone)
    }

    /// Those whose lease is over hold nothing that they may serve.
    pub fn forget_gone(&mut self, now: u64) {
        for (_, near) in self.attached.extract_if(.., |_, near| near.is_gone && near.until <= now) {
            self.missed.extend(near.asked.map(|_| near.who));
        }
    }

    /// Those for whose near caches writers have waited until a lease was over: one for each such near cache.
    pub fn take_missed(&mut self) -> Vec<Who> {
        std::mem::take(&mut self.missed)
    }

    pub fn terms(&self) -> Terms {
        self.terms
    }
}

impl Attached {
    fn may_hold(&self, cells: &[u32]) -> bool {
        cells.iter().any(|cell| *cell == EVERYTHING || self.holds.contains_key(cell))
    }

    fn say(&mut self, message: ToNear) {
        self.cells_waiting += message.cells();
        if self.outgoing.len() >= MOST_WAITING || self.cells_waiting > MOST_CELLS_WAITING {
            self.go();
        }
        if !self.is_gone {
            self.outgoing.push(message);
        }
    }

    /// The frame that will hold what was said last. Whoever is gone will never acknowledge it.
    fn last_frame(&self) -> u64 {
        let frames = self.outgoing.len().div_ceil(MOST_AT_ONCE) as u64;
        if self.is_gone { u64::MAX } else { self.taken + frames }
    }

    fn go(&mut self) {
        self.is_gone = true;
        self.outgoing = Vec::new();
        self.cells_waiting = 0;
    }

    pub fn holds(&self) -> usize {
        self.holds.len()
    }

    pub fn attachment(&self) -> [u64; 2] {
        self.attachment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: u32 = 2;

    fn report(stamp: u64) -> CommandReport {
        let (is_for_transactions, snapshot) = (true, Some(stamp));
        CommandReport {
            connection: 7,
            command: 1,
            stamp,
            is_for_transactions,
            snapshot,
            holds_over_preparations: true,
            ..CommandReport::default()
        }
    }

    fn with_result(stamp: u64, version: u64) -> (Nears, NearId) {
        let mut nears = Nears::new(Terms::default(), 1);
        let id = nears.attach("near", Who::default(), 1, 0);
        nears.hear(id, &FromNear::Renew { sent: 0 }, 0);
        assert!(nears.tell(id, Basis { tables: &[TABLE], cells: &[TABLE] }, report(stamp), |_| Some(version)));
        (nears, id)
    }

    #[test]
    fn of_a_session_alone_only_near_caches_are_told_that_understand_it() {
        for version in [1, TRANSACTIONS, SESSIONS] {
            let mut nears = Nears::new(Terms::default(), 1);
            let id = nears.attach("near", Who::default(), version, 0);
            let report = CommandReport { is_of_session: true, ..CommandReport::default() };
            assert_eq!(nears.tell(id, Basis { tables: &[], cells: &[] }, report, |_| Some(0)), version == SESSIONS);
        }
    }

    /// Between the opening of a cell and its telling is time for a read.
    #[test]
    fn what_was_read_after_an_opening_is_held_even_if_the_opening_is_told_later() {
        let (mut nears, _) = with_result(101, 100);
        nears.open(&[TABLE, TABLE + 1], &[(TABLE, TABLE + 1)], |_| Some(100));
        assert!(!nears.close(&[TABLE], 1).is_none(), "the next writer waits for it");
        // Another write of other rows was faster.
        let (mut nears, _) = with_result(101, 100);
        nears.open(&[TABLE, TABLE + 1], &[(TABLE, TABLE + 1)], |cell| Some(if cell == TABLE { 105 } else { 100 }));
        assert!(!nears.close(&[TABLE], 1).is_none(), "the next writer waits for it");
        let (mut nears, _) = with_result(101, 100);
        nears.open(&[EVERYTHING], &[], |_| Some(100));
        assert!(!nears.close(&[TABLE], 1).is_none(), "the next writer waits for it");
    }

    #[test]
    fn near_caches_of_earlier_versions_are_told_in_their_words() {
        for (version, knows) in [(1, [false; 3]), (2, [true, false, false]), (3, [true; 3])] {
            let mut nears = Nears::new(Terms::default(), 1);
            let id = nears.attach("near", Who::default(), version, 0);
            assert!(nears.tell(id, Basis { tables: &[], cells: &[] }, report(1), |_| Some(1)));
            let messages = nears.take(id).expect("a frame").messages;
            let Some(ToNear::Report(report)) = messages.last() else { panic!("{messages:?}") };
            let said = [report.holds_over_preparations, report.is_for_transactions, report.snapshot.is_some()];
            assert_eq!(said, knows, "version {version}");
        }
    }

    #[test]
    fn who_takes_nothing_is_detached_before_much_waits_for_it() {
        for cells in [0, 1 << 10] {
            let (mut nears, id) = with_result(1, 1);
            let mut said = 0;
            while nears.is_attached(id) {
                nears.close(&vec![TABLE; cells + 1], 1);
                said += 1;
                assert!(said * cells <= MOST_CELLS_WAITING && said <= MOST_WAITING);
            }
            assert_eq!(nears.attached[&id].outgoing.capacity(), 0, "its memory is given back");
        }
    }

    #[test]
    fn who_lets_a_writer_wait_for_its_whole_lease_has_missed_its_time_also_if_its_feed_has_ended() {
        let after = Terms::default().lease_ns + Terms::default().margin_ns;
        for (ends, asks) in [(false, true), (true, true), (true, false)] {
            let (mut nears, id) = with_result(1, 1);
            let mut wait = nears.close(&[TABLE], 0);
            ends.then(|| nears.detach(id, 0));
            assert!(!nears.is_over(&mut wait, after - 1));
            assert_eq!(nears.take_missed(), []);
            if asks {
                assert!(nears.is_over(&mut wait, after));
            }
            nears.forget_gone(after);
            assert_eq!(nears.take_missed(), [Who::default()]);
        }
        let (mut nears, id) = with_result(1, 1);
        let mut wait = nears.close(&[TABLE], 0);
        nears.hear(id, &FromNear::Left, 1);
        assert!(nears.is_over(&mut wait, after) && nears.take_missed().is_empty());
    }

    #[test]
    fn what_was_read_before_an_opening_is_held_no_more() {
        let (mut nears, _) = with_result(99, 98);
        nears.open(&[TABLE, TABLE + 1], &[(TABLE, TABLE + 1)], |_| Some(100));
        assert!(nears.close(&[TABLE], 1).is_none());
        let (mut nears, _) = with_result(99, 98);
        nears.open(&[EVERYTHING], &[], |_| Some(100));
        assert!(nears.close(&[TABLE], 1).is_none());
    }
}
