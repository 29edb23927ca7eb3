//! The server's end of the feed: all attached near caches, what each may hold, and which acknowledgements are outstanding.
//!
//! Every call is made under one lock of the host. The host follows these rules:
//!
//! - A **writer** closes its cells, calls [`ServerEnd::close`], and waits until [`ServerEnd::is_over`] returns true. Before that, no
//!   client may see its change. After it has opened its cells it calls [`ServerEnd::open`].
//! - A **reader** reports its result with [`ServerEnd::queue_report`], which marks the result's dependencies as held *before* it checks
//!   whether the result is current. So a writer that does not know of the result has closed its cells before that check.
//! - The host sends the frames of [`ServerEnd::take`] in this order, on one connection.
//!
//! Invariants:
//! - a lease that is granted after a closing is of no use before the closing is applied, since frames keep their order. So a
//!   writer waits for the lease that was in force at its closing, and later renewals do not make it wait longer;
//! - a lease outlives its feed: a detached near cache counts until its lease is over.

use crate::message::{CommandReport, Frame, FromNear, NearCacheCounts, ToNear};
use std::collections::BTreeMap;

/// The server's number of an attached near cache. A number is never used again.
pub type NearId = u64;

/// The cell that stands for everything. Each result depends on it without naming it.
const EVERYTHING: u32 = 0;
/// The first version of the protocol in which near caches understand [`CommandReport::holds_over_preparations`].
const PREPARATIONS: u16 = 2;
/// The first version of the protocol in which near caches serve results in transactions.
const TRANSACTIONS: u16 = 3;
/// The first version of the protocol in which near caches understand reports that only describe the session.
const SESSIONS: u16 = 4;
/// The first version of the protocol in which near caches understand [`ToNear::Obstacle`].
const OBSTACLES: u16 = 5;
/// The maximum number of messages that are queued for one near cache. A near cache that takes them more slowly is detached.
const MOST_WAITING: usize = 1 << 16;
/// The maximum number of cells in the messages that are queued for one near cache.
const MOST_CELLS_WAITING: usize = 1 << 18;
/// The maximum number of messages in one frame, which has to fit into a packet.
const MOST_AT_ONCE: usize = 512;

/// The length of leases, that is, of the time for which a near cache may serve results after its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseTerms {
    /// The length of a lease by the near cache's clock.
    pub lease_ns: u64,
    /// The time for which the server counts a lease longer than that, because clocks run at different speeds.
    pub margin_ns: u64,
}

impl Default for LeaseTerms {
    fn default() -> LeaseTerms {
        LeaseTerms { lease_ns: 100_000_000, margin_ns: 2_000_000 }
    }
}

/// The owner of a near cache: the account that its feed is logged in with, and the address that the feed comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NearOwner {
    pub account: String,
    pub address: String,
}

/// A near cache (a cache outside of the server, next to an application) that receives invalidations over a feed, with its statistics.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AttachedNear {
    pub name: String,
    pub who: NearOwner,
    /// The version of the protocol that both ends speak.
    pub version: u16,
    /// The counters that the near cache has last sent.
    pub counts: NearCacheCounts,
    /// The number of writes that had to wait for this near cache.
    pub waits: u64,
    /// The total time of those waits, in nanoseconds.
    pub waited_ns: u64,
    /// The time in nanoseconds that the last measured acknowledgement took, from when a writer began to wait for it.
    pub lag_ns: u64,
    /// The time at which the lease ends, in nanoseconds by the server's clock.
    pub lease_end: u64,
    /// The reason why the server's cache reports no results to this near cache; empty if there is none.
    pub obstacle: &'static str,
    /// True if the feed has ended. The near cache may serve until its lease ends.
    is_gone: bool,
    attachment: [u64; 2],
    outgoing: Vec<ToNear>,
    /// The number of cells in `outgoing`.
    cells_waiting: usize,
    /// The number of the last frame that was taken for sending.
    taken: u64,
    /// The number of the last frame that the near cache has acknowledged.
    acknowledged: u64,
    /// The first frame that a writer waits for and that is not acknowledged yet: its number, and the time since which the writer waits.
    /// None if no writer waits.
    awaited_ack: Option<(u64, u64)>,
    /// The cells of the tables for which this near cache may hold results, each with the greatest stamp of those results.
    holds: BTreeMap<u32, u64>,
}

/// The acknowledgements that a writer waits for after [`ServerEnd::close`], before its change may become visible: near cache, frame
/// number, and the time when the near cache's lease ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PendingAcks(Vec<(NearId, u64, u64)>);

impl PendingAcks {
    /// Returns true if the writer has to wait for no near cache.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

/// The dependencies of a result that is reported to a near cache.
#[derive(Clone, Copy, Debug)]
pub struct ReportDependencies<'a> {
    /// For each table that was read, the number of the cell that every write to the table closes.
    pub tables: &'a [u32],
    /// The cells that the result depends on, as the report lists them; they may be finer, such as those of rows.
    pub cells: &'a [u32],
}

/// The server's end of all its feeds: the near caches (caches outside of the server, next to applications), which tables each may hold
/// results of, and the messages queued for each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServerEnd {
    terms: LeaseTerms,
    /// The first half of all attachments, different for each start of the server.
    life: u64,
    next: NearId,
    attached: BTreeMap<NearId, AttachedNear>,
    /// Owners of near caches that did not acknowledge a closing in time. `take_missed` empties this list.
    missed: Vec<NearOwner>,
}

impl ServerEnd {
    /// Creates the server's end, without near caches. `life` must be different for each start of any server, since it makes
    /// [`Attachment`](crate::Attachment)s unique.
    pub fn new(terms: LeaseTerms, life: u64) -> ServerEnd {
        ServerEnd { terms, life, next: 1, attached: BTreeMap::new(), missed: Vec::new() }
    }

    /// Attaches a near cache and queues the first message for it. It has no lease until it requests one. `version` is that of the
    /// protocol that both ends speak; `now` is in nanoseconds by the server's clock, here and in all other methods.
    pub fn attach(&mut self, name: &str, who: NearOwner, version: u16, now: u64) -> NearId {
        let id = self.next;
        self.next += 1;
        let attachment = [self.life, id];
        let first = ToNear::Attached { version, attachment, lease_ns: self.terms.lease_ns };
        let attached = AttachedNear {
            name: name.to_owned(),
            who,
            version,
            counts: NearCacheCounts::default(),
            waits: 0,
            waited_ns: 0,
            lag_ns: 0,
            lease_end: now,
            obstacle: "",
            is_gone: false,
            attachment,
            outgoing: vec![first],
            cells_waiting: 0,
            taken: 0,
            acknowledged: 0,
            awaited_ack: None,
            holds: BTreeMap::new(),
        };
        self.attached.insert(id, attached);
        id
    }

    /// Applies a message from a near cache, which arrived at `now` (nanoseconds by the server's clock); it may queue an
    /// answer. Ignored if the near cache is not attached any more. Does nothing for `Mark` and `Unmark`, which request
    /// and end reports on a connection: the host itself keeps track of these connections.
    pub fn receive(&mut self, id: NearId, message: &FromNear, now: u64) {
        let Some(near) = self.attached.get_mut(&id).filter(|near| !near.is_gone) else { return };
        match message {
            FromNear::Renew { sent } => {
                near.lease_end = near.lease_end.max(now + self.terms.lease_ns + self.terms.margin_ns);
                near.say(ToNear::Granted { sent: *sent });
            }
            FromNear::Acknowledge { number } => {
                near.acknowledged = near.acknowledged.max((*number).min(near.taken));
                if let Some((_, since)) = near.awaited_ack.take_if(|(frame, _)| *frame <= near.acknowledged) {
                    near.lag_ns = now.saturating_sub(since);
                }
            }
            FromNear::Counted(counts) => near.counts = *counts,
            FromNear::Left => _ = self.attached.remove(&id),
            FromNear::Mark { .. } | FromNear::Unmark { .. } => {}
        }
    }

    /// Notes the reason why the server's cache reports no results; an empty text if it reports them. Queues a message for this near
    /// cache if the reason has changed, and its version of the protocol has this message.
    pub fn note_obstacle(&mut self, id: NearId, why: &'static str) {
        let Some(near) = self.attached.get_mut(&id).filter(|near| near.obstacle != why) else { return };
        near.obstacle = why;
        if near.version >= OBSTACLES {
            near.say(ToNear::Obstacle { why: why.to_owned() });
        }
    }

    /// Announces to near caches that writes on what these cells stand for are in progress, so that results that depend on them are not
    /// served until [`open`](Self::open); only near caches that may hold such results are notified. The caller has closed the cells at
    /// the server before. Returns the acknowledgements to wait for before a client may see the write: poll [`is_over`](Self::is_over)
    /// until it returns true. `cells` must contain the cell that every write to the table closes, because near caches are found by it.
    /// `now` is in nanoseconds by the server's clock.
    pub fn close(&mut self, cells: &[u32], now: u64) -> PendingAcks {
        self.forget_gone(now);
        let mut wait = PendingAcks::default();
        for (id, near) in self.attached.iter_mut().filter(|(_, near)| near.may_hold(cells)) {
            near.say(ToNear::Closed { cells: cells.to_vec() });
            if near.lease_end > now {
                let frame = near.last_frame();
                near.awaited_ack = near.awaited_ack.or(Some((frame, now)));
                near.waits += 1;
                wait.0.push((*id, frame, near.lease_end));
            }
        }
        wait
    }

    /// Returns true if no near cache can still serve what was closed: each one has acknowledged it, or its lease is over. If false,
    /// call it again after the next message from a near cache, or at [`next_deadline`](Self::next_deadline). Removes from `wait` what
    /// need not be waited for any more, and detaches near caches whose lease ended without an acknowledgement. `now` is in nanoseconds
    /// by the server's clock.
    pub fn is_over(&mut self, wait: &mut PendingAcks, now: u64) -> bool {
        wait.0.retain(|(id, frame, until)| {
            let Some(near) = self.attached.get_mut(id) else { return false };
            if near.acknowledged >= *frame {
                return false;
            }
            if *until <= now {
                self.missed.extend(near.awaited_ack.take().map(|_| near.who.clone()));
                near.go();
                return false;
            }
            true
        });
        wait.is_none()
    }

    /// Returns the next time at which the lease of a near cache in `wait` is over, in nanoseconds by the server's clock; none if `wait`
    /// is empty.
    pub fn next_deadline(&self, wait: &PendingAcks) -> Option<u64> {
        wait.0.iter().map(|(_, _, until)| *until).min()
    }

    /// Adds the time that a writer has waited to the statistics of all near caches in `wait`, which should be as
    /// [`close`](Self::close) returned it: [`is_over`](Self::is_over) removes near caches from it.
    pub fn note_waited(&mut self, wait: &PendingAcks, waited_ns: u64) {
        for (id, ..) in &wait.0 {
            self.attached.get_mut(id).into_iter().for_each(|near| near.waited_ns += waited_ns);
        }
    }

    /// Announces to near caches that no write is in progress on these cells any more, with the version of each, so that results that are
    /// not older may be served again. `version_if_open` returns the version of a cell at the server, or none while another write on it
    /// is in progress; such a cell is left out.
    ///
    /// The second parameter lists the cells of tables whose earlier results are all stale, each with the cell whose change did that, so that near
    /// caches need not be notified of those tables any more. Results that were reported after this change still count as held, since the
    /// cells may have been open for a while.
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

    /// Queues a report on a result for this near cache, which then counts as holding results of `basis.tables`. Returns false, and
    /// queues nothing, if the result is not current any more, or the near cache is not attached or does not know reports of this kind.
    /// `version_if_open` returns the version of a cell at the server, or none while a write on it is in progress. The cells of
    /// `report` are filled in here, and what the near cache's protocol version does not have is left out.
    pub fn queue_report(
        &mut self,
        id: NearId,
        basis: ReportDependencies,
        mut report: CommandReport,
        version_if_open: impl Fn(u32) -> Option<u64>,
    ) -> bool {
        let knows = |near: &&mut AttachedNear| !near.is_gone && (!report.is_of_session || near.version >= SESSIONS);
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

    /// Removes the next frame from the queue of this near cache and returns it; none if there is nothing to send. The host must send all
    /// frames in this order. Call it again until it returns none.
    pub fn take(&mut self, id: NearId) -> Option<Frame> {
        let near = self.attached.get_mut(&id).filter(|near| !near.is_gone && !near.outgoing.is_empty())?;
        near.taken += 1;
        let count = near.outgoing.len().min(MOST_AT_ONCE);
        let messages: Vec<_> = near.outgoing.drain(..count).collect();
        near.cells_waiting -= messages.iter().map(ToNear::cells).sum::<usize>();
        Some(Frame { number: near.taken, messages })
    }

    /// Returns the near caches for which messages are queued: call [`take`](Self::take) for them.
    pub fn pending(&self) -> impl Iterator<Item = NearId> {
        self.attached.iter().filter(|(_, near)| !near.outgoing.is_empty()).map(|(id, _)| *id)
    }

    /// Detaches near caches that have not renewed their lease for longer than `silence_ns` after its end. `now` is in nanoseconds by
    /// the server's clock.
    pub fn detach_silent(&mut self, now: u64, silence_ns: u64) {
        self.attached.values_mut().filter(|near| near.lease_end + silence_ns < now).for_each(AttachedNear::go);
        self.forget_gone(now);
    }

    /// Marks the feed of this near cache as ended. Nothing is sent to it any more, but it may serve until its lease is over, so writers
    /// still wait for that. `now` is in nanoseconds by the server's clock.
    pub fn detach(&mut self, id: NearId, now: u64) {
        if let Some(near) = self.attached.get_mut(&id) {
            near.go();
        }
        self.forget_gone(now);
    }

    /// Marks all feeds as ended, and returns the time when the last lease is over, in nanoseconds by the server's clock (0 without near
    /// caches). Until then the near caches may serve, so the host waits for it.
    pub fn detach_all(&mut self) -> u64 {
        self.attached.values_mut().for_each(AttachedNear::go);
        self.attached.values().map(|near| near.lease_end).max().unwrap_or(0)
    }

    /// Returns true if the feed of this near cache has not ended. False: the host should close the feed's connection.
    pub fn is_attached(&self, id: NearId) -> bool {
        self.attached.get(&id).is_some_and(|near| !near.is_gone)
    }

    /// Returns true if there are no near caches, not even detached ones with a lease: no write has to be announced.
    pub fn is_idle(&self) -> bool {
        self.attached.is_empty()
    }

    /// Returns the near caches whose feed has not ended, for statistics.
    pub fn list(&self) -> impl Iterator<Item = &AttachedNear> {
        self.attached.values().filter(|near| !near.is_gone)
    }

    /// Removes detached near caches whose lease is over at `now` (nanoseconds by the server's clock): they may not serve anything, so no
    /// writer has to wait for them.
    pub fn forget_gone(&mut self, now: u64) {
        for (_, near) in self.attached.extract_if(.., |_, near| near.is_gone && near.lease_end <= now) {
            self.missed.extend(near.awaited_ack.map(|_| near.who));
        }
    }

    /// Returns the owners of near caches that did not acknowledge a write before their lease was over, one entry for each near cache,
    /// since the last call. For [`AttachPauses::missed`](crate::AttachPauses::missed).
    pub fn take_missed(&mut self) -> Vec<NearOwner> {
        std::mem::take(&mut self.missed)
    }

    /// Returns the length of leases, as it was given to [`new`](Self::new).
    pub fn terms(&self) -> LeaseTerms {
        self.terms
    }
}

impl AttachedNear {
    /// Returns true if the near cache may hold results that depend on one of these cells: it holds some of the table, or the cell stands
    /// for everything.
    fn may_hold(&self, cells: &[u32]) -> bool {
        cells.iter().any(|cell| *cell == EVERYTHING || self.holds.contains_key(cell))
    }

    /// Queues a message. Detaches the near cache instead if too much is queued already. Does nothing if it is detached.
    fn say(&mut self, message: ToNear) {
        self.cells_waiting += message.cells();
        if self.outgoing.len() >= MOST_WAITING || self.cells_waiting > MOST_CELLS_WAITING {
            self.go();
        }
        if !self.is_gone {
            self.outgoing.push(message);
        }
    }

    /// Returns the number of the frame that will contain the message that was queued last. For a detached near cache the number
    /// is one that it can never acknowledge.
    fn last_frame(&self) -> u64 {
        let frames = self.outgoing.len().div_ceil(MOST_AT_ONCE) as u64;
        if self.is_gone { u64::MAX } else { self.taken + frames }
    }

    /// Marks the feed as ended and drops what is queued.
    fn go(&mut self) {
        self.is_gone = true;
        self.outgoing = Vec::new();
        self.cells_waiting = 0;
    }

    /// The number of tables for which this near cache may hold results.
    pub fn holds(&self) -> usize {
        self.holds.len()
    }

    /// Returns the [`Attachment`](crate::Attachment) of this near cache.
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

    fn with_result(stamp: u64, version: u64) -> (ServerEnd, NearId) {
        let mut nears = ServerEnd::new(LeaseTerms::default(), 1);
        let id = nears.attach("near", NearOwner::default(), 1, 0);
        nears.receive(id, &FromNear::Renew { sent: 0 }, 0);
        assert!(nears.queue_report(
            id,
            ReportDependencies { tables: &[TABLE], cells: &[TABLE] },
            report(stamp),
            |_| Some(version)
        ));
        (nears, id)
    }

    #[test]
    fn of_a_session_alone_only_near_caches_are_told_that_understand_it() {
        for version in [1, TRANSACTIONS, SESSIONS] {
            let mut nears = ServerEnd::new(LeaseTerms::default(), 1);
            let id = nears.attach("near", NearOwner::default(), version, 0);
            let report = CommandReport { is_of_session: true, ..CommandReport::default() };
            assert_eq!(
                nears.queue_report(id, ReportDependencies { tables: &[], cells: &[] }, report, |_| Some(0)),
                version == SESSIONS
            );
        }
    }

    /// A read can run after a cell was opened and before that opening is announced.
    #[test]
    fn what_was_read_after_an_opening_is_held_even_if_the_opening_is_told_later() {
        let (mut nears, _) = with_result(101, 100);
        nears.open(&[TABLE, TABLE + 1], &[(TABLE, TABLE + 1)], |_| Some(100));
        assert!(!nears.close(&[TABLE], 1).is_none(), "the next writer waits for it");
        // A concurrent write of other rows has opened the table's cell with a later version.
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
            let mut nears = ServerEnd::new(LeaseTerms::default(), 1);
            let id = nears.attach("near", NearOwner::default(), version, 0);
            assert!(nears.queue_report(id, ReportDependencies { tables: &[], cells: &[] }, report(1), |_| Some(1)));
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
        let after = LeaseTerms::default().lease_ns + LeaseTerms::default().margin_ns;
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
            assert_eq!(nears.take_missed(), [NearOwner::default()]);
        }
        let (mut nears, id) = with_result(1, 1);
        let mut wait = nears.close(&[TABLE], 0);
        nears.receive(id, &FromNear::Left, 1);
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
