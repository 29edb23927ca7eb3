//! The interface to a store that several near caches share. Each near cache has its own memory in front of it.
//!
//! A result that is found in the store is put into memory with a time of reading that is certainly not too late. From then on it
//! is treated like any result in memory.

use insight::report::Row;
use std::pin::Pin;
use std::time::Duration;

/// A future for which a read waits.
pub type Wait<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The outcome of a lookup in the store.
pub enum Looked {
    Found(Found),
    /// There is no result, and this near cache may put the answer there.
    Vacant(Box<dyn Place>),
    Nothing,
}

pub struct Found {
    pub answer: Vec<u8>,
    pub rows: u64,
    /// A time in microseconds by this machine's clock. The server was asked later than that.
    pub read_at: u64,
}

/// Bytes from the store, and their number of rows.
pub type Stored = (Vec<u8>, u64);

/// An empty place in the store that is reserved for one answer.
pub trait Place: Send {
    fn fill(self: Box<Self>, answer: &[u8], rows: u64);
}

pub trait Store: Send + Sync {
    /// Looks for an answer with this key that is no older than `ttl`. The wait is short, whatever the store does. Returns none if
    /// no server of the store can be asked.
    fn look(&self, key: [&[u8]; 2], ttl: Duration) -> Option<Wait<Looked>>;

    /// Looks for the bytes with this key, and their number of rows. Returns none if no server of the store can be asked.
    fn find(&self, key: [&[u8]; 2]) -> Option<Wait<Option<Stored>>>;

    /// Puts bytes into the store that contain their own version. So they may replace newer ones.
    fn put(&self, key: [&[u8]; 2], bytes: &[u8], rows: u64);

    /// Counts a read that was answered from the store.
    fn count_hit(&self);

    /// Counts a value in the store that is not one whole result.
    fn count_malformed(&self);

    /// Returns the store's rows for `SHOW FQC STATUS`. `hits` and `misses` are those of the memory.
    fn rows(&self, hits: u64, misses: u64) -> Vec<Row>;
}
