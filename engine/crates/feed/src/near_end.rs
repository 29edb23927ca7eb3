//! The near cache's end of the feed.
//!
//! Invariants:
//! - the lease starts at a time that was noted before it was requested, so it ends here before it ends for the server;
//! - frames are applied in the order in which the server numbered them: one that arrives again is skipped, and a missing one ends
//!   the feed;
//! - a cell's version never decreases.

use crate::cells::Cells;
use crate::message::{CommandReport, Frame, FromNear, ToNear};

/// The cell that stands for everything. Each result depends on it without naming it.
const EVERYTHING: u32 = 0;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Near {
    attachment: Option<[u64; 2]>,
    lease_ns: u64,
    /// The time at which the lease ends, by the near cache's own clock.
    until: u64,
    /// The number of the last frame that was applied.
    heard: u64,
    cells: Cells,
}

/// An action that the host has to take after a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A new attachment has started. No result of an earlier one may be served.
    Attached([u64; 2]),
    /// The host gives this report to the [`Connection`](crate::Connection) that has this number.
    Report(CommandReport),
}

/// A frame is missing or invalid. The feed is over: no result is served until the next attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl Near {
    /// Applies a frame and returns what the host has to do next. After an error the state is as after [`lose`](Self::lose).
    pub fn hear(&mut self, frame: Frame) -> Result<Vec<Heard>, Lost> {
        if frame.number <= self.heard {
            return Ok(Vec::new());
        }
        let is_next = frame.number == self.heard + 1;
        let begins = matches!(frame.messages.first(), Some(ToNear::Attached { .. }));
        if !is_next || begins != self.attachment.is_none() {
            self.lose();
            return Err(Lost);
        }
        self.heard = frame.number;
        let mut heard = Vec::new();
        for message in frame.messages {
            match self.apply(message) {
                Ok(one) => heard.extend(one),
                Err(lost) => {
                    self.lose();
                    return Err(lost);
                }
            }
        }
        Ok(heard)
    }

    fn apply(&mut self, message: ToNear) -> Result<Option<Heard>, Lost> {
        match message {
            ToNear::Attached { attachment, lease_ns, .. } => {
                if self.attachment.replace(attachment).is_some() {
                    return Err(Lost);
                }
                self.lease_ns = lease_ns;
                return Ok(Some(Heard::Attached(attachment)));
            }
            ToNear::Granted { sent } => self.until = self.until.max(sent.saturating_add(self.lease_ns)),
            ToNear::Closed { cells } => self.close(&cells)?,
            ToNear::Opened { cells } => self.open(&cells)?,
            ToNear::Report(report) => {
                self.open(&report.cells)?;
                return Ok(Some(Heard::Report(report)));
            }
        }
        Ok(None)
    }

    /// Returns the message to send when all threads see the effects of the last frame.
    pub fn acknowledgement(&self) -> FromNear {
        FromNear::Acknowledge { number: self.heard }
    }

    /// Returns the message that requests a lease, to be sent at once: the lease will start at `now`.
    pub fn renew(&self, now: u64) -> FromNear {
        FromNear::Renew { sent: now }
    }

    /// Returns the interval between two renewals in nanoseconds, a quarter of the lease.
    pub fn renew_every(&self) -> u64 {
        self.lease_ns / 4
    }

    /// Forgets all state. The host calls this when the feed or its connection has ended.
    pub fn lose(&mut self) {
        *self = Near::default();
    }

    pub fn attachment(&self) -> Option<[u64; 2]> {
        self.attachment
    }

    /// Returns the time at which the lease ends, and no result may be served any more. Zero means that no lease has been granted.
    pub fn lease_ends(&self) -> u64 {
        self.until
    }

    /// Returns the version of a cell, or none while the cell is closed.
    pub fn open_version(&self, cell: u32) -> Option<u64> {
        let cell = self.cells.get(cell);
        (!cell.is_closed()).then(|| cell.version())
    }

    /// Returns true if the lease is in force. `now` must be noted after the read has arrived.
    pub fn has_lease(&self, now: u64) -> bool {
        self.attachment.is_some() && now < self.until
    }

    /// Returns true if a result may be served that was reported with these cells and this stamp under this attachment. `now` must
    /// be noted after the read has arrived.
    pub fn may_serve(&self, attachment: [u64; 2], mut cells: impl Iterator<Item = u32>, stamp: u64, now: u64) -> bool {
        self.attachment == Some(attachment)
            && self.has_lease(now)
            && self.is_unchanged(EVERYTHING, stamp)
            && cells.all(|cell| self.is_unchanged(cell, stamp))
    }

    /// Returns true if a result with these cells and this stamp is current, or will be once its closed cells are open again
    /// unchanged. If false, the result can be dropped.
    pub fn may_be_fresh(&self, mut cells: impl Iterator<Item = u32>, stamp: u64) -> bool {
        cells.all(|cell| self.cells.get(cell).version() <= stamp)
    }

    fn is_unchanged(&self, cell: u32, stamp: u64) -> bool {
        let cell = self.cells.get(cell);
        !cell.is_closed() && cell.version() <= stamp
    }

    fn close(&mut self, cells: &[u32]) -> Result<(), Lost> {
        cells.iter().try_for_each(|cell| self.cells.close(*cell)).ok_or(Lost)
    }

    /// Opens these cells in one step. The caller must not let reads see some of them before all are done: opening one cell may
    /// make a result servable that another cell of the same message invalidates.
    fn open(&mut self, cells: &[(u32, u64)]) -> Result<(), Lost> {
        cells.iter().try_for_each(|(cell, version)| self.cells.open(*cell, *version)).ok_or(Lost)
    }
}
