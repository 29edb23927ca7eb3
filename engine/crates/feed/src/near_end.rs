//! The near cache's end of the feed.
//!
//! Invariants:
//! - the lease starts at a time that was noted before it was requested, so it ends here before it ends for the server;
//! - frames are applied in the order in which the server numbered them: one that arrives again is skipped, and a missing one ends
//!   the feed;
//! - a cell's version never decreases.

use crate::cells::CellStates;
use crate::message::{CommandReport, Frame, FromNear, ToNear};

/// The cell that stands for everything. Each result depends on it without naming it.
const EVERYTHING: u32 = 0;

/// The near cache's end of a feed: the attachment, the lease, and the state of the server's cells. It decides which results may be
/// served. Without an attachment (as by `default`) none may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NearEnd {
    attachment: Option<[u64; 2]>,
    lease_ns: u64,
    /// The time at which the lease ends, in nanoseconds by the near cache's own clock; 0 without a lease.
    until: u64,
    /// The number of the last frame that was applied.
    last_frame: u64,
    cells: CellStates,
}

/// Something that the host has to act on after [`NearEnd::receive`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NearEvent {
    /// A new [`Attachment`](crate::Attachment) has started. The host must not serve results of earlier ones any more.
    Attached([u64; 2]),
    /// The host gives this report to [`Connection::apply`](crate::Connection::apply) of the connection with the number
    /// [`CommandReport::connection`].
    Report(CommandReport),
    /// The server's cache reports no results for this reason, so that nothing can be served; empty if it reports them again.
    Obstacle(String),
}

/// The error of a frame that is missing or invalid. The host must close the feed; no result may be served until the next attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedBroken;

impl NearEnd {
    /// Applies a frame and returns what the host has to act on. A frame that was applied before is skipped. On an error, which ends the
    /// feed, the state is as after [`lose`](Self::lose). After success, send [`acknowledgement`](Self::acknowledgement) once all
    /// threads see the effects.
    pub fn receive(&mut self, frame: Frame) -> Result<Vec<NearEvent>, FeedBroken> {
        if frame.number <= self.last_frame {
            return Ok(Vec::new());
        }
        let is_next = frame.number == self.last_frame + 1;
        let begins = matches!(frame.messages.first(), Some(ToNear::Attached { .. }));
        if !is_next || begins != self.attachment.is_none() {
            self.lose();
            return Err(FeedBroken);
        }
        self.last_frame = frame.number;
        let mut events = Vec::new();
        for message in frame.messages {
            match self.apply(message) {
                Ok(one) => events.extend(one),
                Err(lost) => {
                    self.lose();
                    return Err(lost);
                }
            }
        }
        Ok(events)
    }

    fn apply(&mut self, message: ToNear) -> Result<Option<NearEvent>, FeedBroken> {
        match message {
            ToNear::Attached { attachment, lease_ns, .. } => {
                if self.attachment.replace(attachment).is_some() {
                    return Err(FeedBroken);
                }
                self.lease_ns = lease_ns;
                return Ok(Some(NearEvent::Attached(attachment)));
            }
            ToNear::Granted { sent } => self.until = self.until.max(sent.saturating_add(self.lease_ns)),
            ToNear::Closed { cells } => self.close(&cells)?,
            ToNear::Opened { cells } => self.open(&cells)?,
            ToNear::Report(report) => {
                self.open(&report.cells)?;
                return Ok(Some(NearEvent::Report(report)));
            }
            ToNear::Obstacle { why } => return Ok(Some(NearEvent::Obstacle(why))),
        }
        Ok(None)
    }

    /// Returns the message that acknowledges all frames up to the last one that was applied. Send it only when lookups on all threads
    /// see the effects of that frame: the server then lets writes become visible.
    pub fn acknowledgement(&self) -> FromNear {
        FromNear::Acknowledge { number: self.last_frame }
    }

    /// Returns the message that requests a new lease, which will start at `now`: send it at once. `now` is in nanoseconds by the near
    /// cache's own clock.
    pub fn renew(&self, now: u64) -> FromNear {
        FromNear::Renew { sent: now }
    }

    /// Returns the interval in which to send [`renew`](Self::renew), in nanoseconds: a quarter of the lease. Zero if there is no
    /// attachment.
    pub fn renew_every(&self) -> u64 {
        self.lease_ns / 4
    }

    /// Forgets the attachment, the lease and all cells, so that nothing may be served until the next attachment. The host calls this
    /// when the feed or its connection has ended.
    pub fn lose(&mut self) {
        *self = NearEnd::default();
    }

    /// Returns the present [`Attachment`](crate::Attachment), or none before a feed's first frame and after its end.
    pub fn attachment(&self) -> Option<[u64; 2]> {
        self.attachment
    }

    /// Returns the time, in nanoseconds by the near cache's own clock, at which the lease ends: no result may be served then unless the
    /// lease was renewed. Zero if no lease has been granted.
    pub fn lease_ends(&self) -> u64 {
        self.until
    }

    /// Returns the version of a cell, the server's sequence number of its last change (0 if none is known). None while a write on the
    /// cell is in progress.
    pub fn open_version(&self, cell: u32) -> Option<u64> {
        let cell = self.cells.get(cell);
        (!cell.is_closed()).then(|| cell.version())
    }

    /// Returns true if the lease is in force at `now`, a time in nanoseconds by the near cache's own clock. For a read, take `now` after
    /// the read has arrived, since the process may have been stopped before.
    pub fn has_lease(&self, now: u64) -> bool {
        self.attachment.is_some() && now < self.until
    }

    /// Returns true if a result may be served that was reported with these cells and this stamp under this attachment: the attachment
    /// still exists, the lease is in force, and nothing that the result depends on has changed or is being written. Take `now` after
    /// the read has arrived, in nanoseconds by the near cache's own clock. False: the read goes to the server.
    pub fn may_serve(&self, attachment: [u64; 2], mut cells: impl Iterator<Item = u32>, stamp: u64, now: u64) -> bool {
        self.attachment == Some(attachment)
            && self.has_lease(now)
            && self.is_unchanged(EVERYTHING, stamp)
            && cells.all(|cell| self.is_unchanged(cell, stamp))
    }

    /// Returns false if one of these cells has changed since the stamp, so that a result with them is stale for ever and can be dropped.
    /// True does not mean that it may be served: leases and writes in progress are not considered.
    pub fn may_be_fresh(&self, mut cells: impl Iterator<Item = u32>, stamp: u64) -> bool {
        cells.all(|cell| self.cells.get(cell).version() <= stamp)
    }

    fn is_unchanged(&self, cell: u32, stamp: u64) -> bool {
        let cell = self.cells.get(cell);
        !cell.is_closed() && cell.version() <= stamp
    }

    fn close(&mut self, cells: &[u32]) -> Result<(), FeedBroken> {
        cells.iter().try_for_each(|cell| self.cells.close(*cell)).ok_or(FeedBroken)
    }

    /// Opens these cells with these versions. Other threads must not see some of them before all are done: opening one cell may make a
    /// result servable that another cell of the same message invalidates. Err if a number exceeds the limit of cell numbers.
    fn open(&mut self, cells: &[(u32, u64)]) -> Result<(), FeedBroken> {
        cells.iter().try_for_each(|(cell, version)| self.cells.open(*cell, *version)).ok_or(FeedBroken)
    }
}
