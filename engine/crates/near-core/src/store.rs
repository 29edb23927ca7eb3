//! What near caches share, as far as serving from memory looks at it: results that others have read, behind the memory of each.
//!
//! What is found is put into memory, as if it had been read at a moment that is certainly not too late, and what decides about memory
//! decides about it.

use insight::report::Row;
use std::pin::Pin;
use std::time::Duration;

/// What a read waits for.
pub type Wait<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What became of a look.
pub enum Looked {
    Found(Found),
    /// The answer may be put there.
    Vacant(Box<dyn Place>),
    Nothing,
}

pub struct Found {
    pub answer: Vec<u8>,
    pub rows: u64,
    /// In microseconds by our clock: the server was asked later than that.
    pub read_at: u64,
}

/// What waits for one answer.
pub trait Place: Send {
    fn fill(self: Box<Self>, answer: &[u8], rows: u64);
}

pub trait Store: Send + Sync {
    /// For an answer to what has this key, no older than `ttl`. Ends soon, whatever the store does; none if nobody can be asked.
    fn look(&self, key: [&[u8]; 2], ttl: Duration) -> Option<Wait<Looked>>;

    /// What was put there for this key, as it was, with its rows.
    fn find(&self, key: [&[u8]; 2]) -> Option<Wait<Option<(Vec<u8>, u64)>>>;

    /// Whoever finds it knows by itself whether it is outdated. So nothing is lost if it takes the place of a newer one.
    fn put(&self, key: [&[u8]; 2], bytes: &[u8], rows: u64);

    /// A read was answered with what was there.
    fn count_hit(&self);

    /// A value was found that is not one whole result.
    fn count_malformed(&self);

    /// Of a report on the cache, whose memory had so many hits and misses.
    fn rows(&self, hits: u64, misses: u64) -> Vec<Row>;
}
