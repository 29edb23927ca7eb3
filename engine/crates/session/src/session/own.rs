//! What became of this connection's own reads.

use crate::reason::Reason;

/// What became of this connection's own reads.
#[derive(Default)]
pub struct OwnCounts {
    pub hits: u64,
    pub inserts: u64,
    pub not_cached: u64,
    pub last_refusal: Option<Reason>,
}

impl OwnCounts {
    pub fn count(&mut self, stored: Result<(), Reason>) {
        match stored {
            Ok(()) => self.inserts += 1,
            Err(reason) => {
                self.not_cached += 1;
                self.last_refusal = Some(reason);
            }
        }
    }
}
