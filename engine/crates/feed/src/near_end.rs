//! The near cache's end of the feed.
//!
//! Invariants:
//! - the lease counts from before it was asked for, and is never longer than what the server was asked for last;
//! - what the server said has the order in which it said it: a frame that comes again is passed over, one that is missing ends the
//!   feed;
//! - a cell's version never goes back.

use crate::cells::Cells;
use crate::message::{CommandReport, Frame, FromNear, ToNear};

/// Stands for everything: each result depends on it, without naming it.
const EVERYTHING: u32 = 0;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Near {
    attachment: Option<[u64; 2]>,
    lease_ns: u64,
    /// By its own clock, the first moment at which it may not serve.
    until: u64,
    /// The number of the last frame.
    heard: u64,
    cells: Cells,
}

/// What a host has to do after a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Under a new attachment: no result of an earlier one may be served.
    Attached([u64; 2]),
    /// For the [`Connection`](crate::Connection) of this number.
    Report(CommandReport),
}

/// A frame is missing, or is not what it should be. The feed is over: nothing more is served until the next attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl Near {
    /// Applies a frame, and tells what follows from it. After an error, as after [`lose`](Self::lose).
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

    /// To be sent when all threads see what was heard.
    pub fn acknowledgement(&self) -> FromNear {
        FromNear::Acknowledge { number: self.heard }
    }

    /// To be sent now: the lease will count from here.
    pub fn renew(&self, now: u64) -> FromNear {
        FromNear::Renew { sent: now }
    }

    /// A quarter of the lease.
    pub fn renew_every(&self) -> u64 {
        self.lease_ns / 4
    }

    /// The feed has ended, or its connection has.
    pub fn lose(&mut self) {
        *self = Near::default();
    }

    pub fn attachment(&self) -> Option<[u64; 2]> {
        self.attachment
    }

    /// The first moment at which nothing may be served. Zero: nothing has been granted.
    pub fn lease_ends(&self) -> u64 {
        self.until
    }

    /// Returns the version of a cell, or none while it is closed.
    pub fn open_version(&self, cell: u32) -> Option<u64> {
        let cell = self.cells.get(cell);
        (!cell.is_closed()).then(|| cell.version())
    }

    /// Whether the lease runs; `now` is noted after the read has arrived.
    pub fn has_lease(&self, now: u64) -> bool {
        self.attachment.is_some() && now < self.until
    }

    /// Whether a result that was told with these cells and this stamp, under this attachment, may be served. `now` is noted after the
    /// read has arrived.
    pub fn may_serve(&self, attachment: [u64; 2], mut cells: impl Iterator<Item = u32>, stamp: u64, now: u64) -> bool {
        self.attachment == Some(attachment)
            && self.has_lease(now)
            && self.is_unchanged(EVERYTHING, stamp)
            && cells.all(|cell| self.is_unchanged(cell, stamp))
    }

    /// Whether such a result is or will be fresh again. False: it can be dropped.
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

    /// All in one step: the one that opens may be the one that kept a result from being served which another has outdated.
    fn open(&mut self, cells: &[(u32, u64)]) -> Result<(), Lost> {
        cells.iter().try_for_each(|(cell, version)| self.cells.open(*cell, *version)).ok_or(Lost)
    }
}
