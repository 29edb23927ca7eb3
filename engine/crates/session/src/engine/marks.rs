//! The server's client connections, each with the near cache that has claimed it.
//!
//! Invariants:
//! - a near cache can mark only an existing connection, and only with the check of its greeting, whose random bytes only the two ends
//!   of the connection know. So there are never more marks than connections, and no near cache can take over the connection of
//!   another;
//! - a mark ends with its connection.

use feed::NearId;
use locks::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

/// The number that stands for "no near cache".
const NOBODY: NearId = 0;

/// The client connections by their connection ids. A near cache marks those that it wants to receive reports about.
#[derive(Default)]
pub(crate) struct Marks(Mutex<HashMap<u32, Arc<MarkableConnection>>>);

/// A connection that a near cache can mark, which means that the engine reports to that near cache on the connection's
/// commands.
struct MarkableConnection {
    /// [`check_of`](feed::check_of) the greeting of this connection.
    greeting: u64,
    owner: AtomicU64,
}

/// Lets near caches mark a live connection, to receive reports on its commands. Dropping it ends that.
pub(crate) struct MarkHandle {
    marks: Arc<Marks>,
    connection: u32,
    entry: Arc<MarkableConnection>,
}

impl Marks {
    /// Lets near caches mark this connection (receive reports on its commands) until the returned value is dropped. To
    /// be called before the client gets the greeting. `greeting` is the check value of the greeting's payload, which a
    /// near cache has to know.
    pub fn enter(self: &Arc<Marks>, connection: u32, greeting: u64) -> MarkHandle {
        let entry = Arc::new(MarkableConnection { greeting, owner: AtomicU64::new(NOBODY) });
        self.connections().insert(connection, entry.clone());
        MarkHandle { marks: self.clone(), connection, entry }
    }

    /// Makes the engine report the commands of this connection to the near cache `id`, and to no other one. Ignored if
    /// there is no such connection, or if `greeting` is not the check value of its greeting.
    pub fn mark(&self, connection: u32, greeting: u64, id: NearId) {
        if let Some(entry) = self.connections().get(&connection).filter(|entry| entry.greeting == greeting) {
            entry.owner.store(id, Ordering::Release);
        }
    }

    /// Ends the reports on this connection to the near cache `id`. Does nothing if they go to another near cache.
    pub fn unmark(&self, connection: u32, id: NearId) {
        self.connections().get(&connection).into_iter().for_each(|entry| entry.end(id));
    }

    /// Ends the reports on all connections that this near cache has marked, because it is gone.
    pub fn unmark_all(&self, id: NearId) {
        self.connections().values().for_each(|entry| entry.end(id));
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<u32, Arc<MarkableConnection>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MarkableConnection {
    /// Ends the reports on this connection if they go to the near cache `id`.
    fn end(&self, id: NearId) {
        let _ = self.owner.compare_exchange(id, NOBODY, Ordering::AcqRel, Ordering::Relaxed);
    }
}

impl MarkHandle {
    /// Returns the near cache that receives reports on this connection's commands. None if none does.
    pub fn owner(&self) -> Option<NearId> {
        Some(self.entry.owner.load(Ordering::Acquire)).filter(|id| *id != NOBODY)
    }
}

impl Drop for MarkHandle {
    fn drop(&mut self) {
        let mut connections = self.marks.connections();
        // The server may already have given the same connection id to a new connection.
        if connections.get(&self.connection).is_some_and(|entry| Arc::ptr_eq(entry, &self.entry)) {
            connections.remove(&self.connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_connections_that_exist_are_marked_and_marks_end_with_them() {
        let marks = Arc::new(Marks::default());
        let (one, other) = (marks.enter(1, 11), marks.enter(2, 12));
        (0..1_000_000).for_each(|number| marks.mark(number, 11, 7));
        assert_eq!(marks.connections().len(), 2);
        assert_eq!((one.owner(), other.owner()), (Some(7), None));
        drop(one);
        assert_eq!(marks.connections().len(), 1);
    }

    #[test]
    fn a_mark_is_taken_over_only_by_who_knows_the_greeting_and_ended_only_by_its_owner() {
        let marks = Arc::new(Marks::default());
        let connection = marks.enter(1, 11);
        marks.mark(1, 11, 7);
        marks.mark(1, 12, 8);
        marks.unmark(1, 8);
        marks.unmark_all(8);
        assert_eq!(connection.owner(), Some(7));
        // The same near cache after it has lost its feed.
        marks.mark(1, 11, 9);
        marks.unmark_all(7);
        assert_eq!(connection.owner(), Some(9));
        marks.unmark(1, 9);
        assert_eq!(connection.owner(), None);
    }

    #[test]
    fn a_number_that_comes_again_is_its_new_connections() {
        let marks = Arc::new(Marks::default());
        let old = marks.enter(1, 11);
        let new = marks.enter(1, 12);
        drop(old);
        marks.mark(1, 12, 7);
        assert_eq!(new.owner(), Some(7));
    }
}
