//! The interface to a store that several near caches share. Each near cache has its own memory in front of it.
//!
//! A result that is found in the store is put into memory with a time of reading that is certainly not too late. From then on it
//! is treated like any result in memory.

use insight::report::Row;
use std::pin::Pin;
use std::time::Duration;

/// A future that a client's read waits for.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The outcome of a lookup in the store.
pub enum StoreLookup {
    /// There is a result that is young enough.
    Found(SharedResult),
    /// There is no result, and this near cache may put the answer there.
    Vacant(Box<dyn ReservedEntry>),
    /// There is no result, and this near cache does not put the answer there: another one may be about to, or the store did not
    /// answer.
    Nothing,
}

/// A result that another near cache has put into the store.
pub struct SharedResult {
    /// The bytes as they were stored. They are not checked, and may be no result at all.
    pub answer: Vec<u8>,
    pub rows: u64,
    /// A time in microseconds by this machine's clock, see [`clock::now`](crate::clock::now). The server was asked later than
    /// that.
    pub read_at: u64,
}

/// Bytes from the store, and their number of rows.
pub type StoredBytes = (Vec<u8>, u64);

/// An empty entry of the store that is reserved for the answer to one read. If it is dropped, it stays empty.
pub trait ReservedEntry: Send {
    /// Puts the answer into the entry. Does not wait; whether the store has accepted the answer remains unknown.
    fn fill(self: Box<Self>, answer: &[u8], rows: u64);
}

/// A store on other machines, such as memcached, that several near caches share. No method blocks.
pub trait Store: Send + Sync {
    /// Looks for an answer that is no older than `ttl`. If there is none, the first caller gets an entry to fill ([`ReservedEntry`]), so that
    /// only one of several near caches asks the server. `key` consists of the read and the session's identity. The wait is short,
    /// whatever the store does. Returns none if no server of the store can be asked, or if `ttl` is too short for it.
    fn get_or_reserve(&self, key: [&[u8]; 2], ttl: Duration) -> Option<BoxFuture<StoreLookup>>;

    /// Looks for bytes that [`put`](Self::put) has stored with this key, and their number of rows. Returns none if no server of
    /// the store can be asked. The future yields none if there are no such bytes or the store does not answer in time.
    fn get(&self, key: [&[u8]; 2]) -> Option<BoxFuture<Option<StoredBytes>>>;

    /// Puts bytes into the store. `key` consists of the read and the session's identity. The bytes contain their own version, so
    /// it does not matter if they replace newer ones.
    fn put(&self, key: [&[u8]; 2], bytes: &[u8], rows: u64);

    /// Counts a read that was answered from the store.
    fn count_hit(&self);

    /// Counts a value from the store that is not one whole result, and was not used.
    fn count_malformed(&self);

    /// Returns the store's rows for `SHOW FQC STATUS`. `hits` and `misses` are those of this near cache's memory.
    fn rows(&self, hits: u64, misses: u64) -> Vec<Row>;
}
