//! Results that wait until the types of their tables are known. `responses::late` decides whether they are stored.
//!
//! A client that repeats such a read at once waits for the look-up too: it takes about a millisecond, and the read can then be answered
//! from the cache. A look-up that takes longer delays the clients of each result only once.

use crate::engine::Engine;
use cache::Key;
use locks::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::Duration;

/// The longest time that a client waits for a result that is about to be stored. The look-up may wait for a lock, and then the server can
/// run the read sooner. Debug builds wait longer, because a look-up takes long on a busy test machine.
const PATIENCE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 5000 } else { 20 });

/// A result that waits until the host has looked up its tables in the server's catalogue.
pub trait WaitingResult: Send {
    fn key(&self) -> Key<'_>;

    /// Called after the tables of this result were looked up. Stores the result if nothing speaks against it.
    fn store(self: Box<Self>, engine: &Engine);

    /// Called if the result will not be stored. Counts why.
    fn drop_it(self: Box<Self>, engine: &Engine);
}

/// The results that wait until the host has looked up their tables.
#[derive(Default)]
pub struct LateResults {
    list: Mutex<List>,
    /// Notified when the list has become shorter.
    shortened: Condvar,
    /// The length of the list, so that most reads need not take its lock.
    length: AtomicUsize,
}

#[derive(Default)]
pub(crate) struct List {
    waiting: Vec<Entry>,
    /// Results taken from the list are being stored.
    is_storing: bool,
}

struct Entry {
    result: Box<dyn WaitingResult>,
    /// A client has waited its full time for this result. No other client waits for it.
    is_given_up: bool,
}

impl List {
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    fn of<'a>(&'a mut self, key: &'a Key) -> impl Iterator<Item = &'a mut Entry> {
        self.waiting.iter_mut().filter(move |waiting| waiting.result.key() == *key)
    }

    fn is_coming(&mut self, key: &Key) -> bool {
        self.is_storing || self.of(key).any(|waiting| !waiting.is_given_up)
    }
}

impl LateResults {
    pub(crate) fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a result to the list, whose lock the caller holds.
    pub(crate) fn push(&self, list: &mut List, result: Box<dyn WaitingResult>) {
        list.waiting.push(Entry { result, is_given_up: false });
        self.note_length(list);
    }

    /// Publishes the length of the list. The caller has changed the list and still holds its lock.
    fn note_length(&self, list: &List) {
        // Release: pairs with the Acquire in `await_stored`.
        self.length.store(list.len(), Ordering::Release);
    }

    /// Removes up to `count` results from the front of the list and passes each to `store`, which is called without a lock. Then wakes the
    /// clients that wait for one of them.
    pub(crate) fn take(&self, count: usize, store: impl FnMut(Box<dyn WaitingResult>)) {
        let mut list = self.list();
        let count = count.min(list.len());
        let taken: Vec<_> = list.waiting.drain(..count).map(|waiting| waiting.result).collect();
        list.is_storing = true;
        drop(list);
        taken.into_iter().for_each(store);
        let mut list = self.list();
        list.is_storing = false;
        self.note_length(&list);
        drop(list);
        self.shortened.notify_all();
    }

    /// Waits while a result with this key is about to be stored, at most for `PATIENCE`. Returns at once if there is none, or if a client
    /// has already waited that long for it.
    pub(crate) fn await_stored(&self, key: &Key) {
        if self.length.load(Ordering::Acquire) == 0 {
            return;
        }
        let waited = self.shortened.wait_timeout_while(self.list(), PATIENCE, |list| list.is_coming(key));
        let (mut list, result) = waited.unwrap_or_else(PoisonError::into_inner);
        if result.timed_out() {
            list.of(key).for_each(|waiting| waiting.is_given_up = true);
        }
    }
}
