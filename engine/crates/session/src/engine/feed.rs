//! The state of the near caches that are attached to this server. The operations on it are in `server_end`.

use crate::engine::marks::Marks;
use crate::engine::near_totals::NearCounting;
use feed::{AttachPause, AttachPauses, Frame, LeaseTerms, NearId, NearOwner, ServerEnd};
use locks::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
use std::time::Duration;

/// Called when there is something to send to a near cache, or when its feed is to end. Any thread may call it, also
/// under a lock, so it must not block.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// The near caches that are attached to this server. A near cache is a cache next to clients, which serves results
/// under a lease; its feed is the connection over which it receives invalidations.
pub struct Feed {
    /// A near cache is attached, or one that has left may still serve results for a while.
    pub(crate) has_nears: AtomicBool,
    /// A near cache has tried to attach, and the last attached one has not left since.
    pub(crate) is_wanted: AtomicBool,
    pub(crate) marks: Arc<Marks>,
    state: Mutex<State>,
    /// Notified when a message of a near cache has arrived, or one was detached. Writers that wait for near caches wait
    /// for this.
    pub(crate) message_received: Condvar,
}

pub(crate) struct State {
    pub server_end: ServerEnd,
    pub counting: NearCounting,
    pub attach_pauses: AttachPauses,
    /// Pauses (times in which an account and address may not attach) that have started since they were last logged.
    begun: Vec<(NearOwner, AttachPause)>,
    /// The engine is following writes, so near caches may attach.
    pub admits: bool,
    /// The server may hold reads back for a moment, which near caches would not notice, so none may attach.
    pub keeps_out: bool,
    pub feed_wakers: HashMap<NearId, FeedWaker>,
}

/// Wakes the thread that sends the frames of a feed.
pub(crate) struct FeedWaker {
    pub waker: Waker,
    /// The waker was called, and the feed has not been drained since.
    pub is_woken: bool,
}

impl Default for Feed {
    fn default() -> Feed {
        let life = std::hash::RandomState::new().build_hasher().finish();
        let server_end = ServerEnd::new(LeaseTerms::default(), life);
        Feed {
            has_nears: AtomicBool::new(false),
            is_wanted: AtomicBool::new(false),
            marks: Arc::default(),
            state: Mutex::new(State {
                server_end,
                counting: NearCounting::default(),
                attach_pauses: AttachPauses::default(),
                begun: Vec::new(),
                admits: false,
                keeps_out: false,
                feed_wakers: HashMap::new(),
            }),
            message_received: Condvar::new(),
        }
    }
}

impl Feed {
    /// True if a near cache is attached, or if one that has left may still serve results for a while. Writers must then
    /// announce what they close.
    #[inline]
    pub fn has_nears(&self) -> bool {
        self.has_nears.load(Ordering::Relaxed)
    }

    /// True from an attempt of a near cache to attach until the last one has left. Only a hint: a change may be seen
    /// late.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allows or forbids near caches to attach. Forbidding leaves attached ones as they are: before the engine stops
    /// following writes, it must detach them, too.
    pub fn admit(&self, admits: bool) {
        self.state().admits = admits;
    }

    /// Calls the wakers of the feeds that have something to send and were not woken for it yet. The lock is released
    /// first, because a woken thread takes it at once.
    pub(crate) fn wake_feeds(&self, mut state: MutexGuard<'_, State>) {
        let wakers = state.take_wakers();
        drop(state);
        wakers.iter().for_each(|wake| wake());
    }

    /// Releases the lock and waits for `message_received`, at most this many nanoseconds, then locks again. It may return early,
    /// so the caller checks its condition again.
    pub(crate) fn wait<'a>(&self, state: MutexGuard<'a, State>, left_ns: u64) -> MutexGuard<'a, State> {
        // Waits at least 10 microseconds, so that a coarse clock does not make the caller spin.
        let left = Duration::from_nanos(left_ns.max(10_000));
        self.message_received.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Largest number of pauses that wait to be logged. Beyond it only lines of the log are lost.
const MOST_BEGUN: usize = 100;

impl State {
    /// Starts a pause, in which near caches of the same account and address may not attach, for each near cache that
    /// did not answer a writer in time. `now` is the engine's time in nanoseconds.
    pub fn begin_pauses(&mut self, now: u64) {
        let terms = self.server_end.terms();
        for who in self.server_end.take_missed() {
            if let Some(pause) = self.attach_pauses.missed(who.clone(), now, terms.lease_ns + terms.margin_ns)
                && self.begun.len() < MOST_BEGUN
            {
                self.begun.push((who, pause));
            }
        }
    }

    /// The pauses that have started since the last call, for the log.
    pub fn take_begun(&mut self) -> Vec<(NearOwner, AttachPause)> {
        std::mem::take(&mut self.begun)
    }

    /// The wakers of feeds that have something to send and were not woken for it yet.
    fn take_wakers(&mut self) -> Vec<Waker> {
        let State { server_end, feed_wakers, .. } = self;
        let mut wakers = Vec::new();
        for id in server_end.pending() {
            if let Some(feed_waker) = feed_wakers.get_mut(&id).filter(|feed_waker| !feed_waker.is_woken) {
                feed_waker.is_woken = true;
                wakers.push(feed_waker.waker.clone());
            }
        }
        wakers
    }

    /// Returns the next frame to be sent to this near cache, and removes it. None if there is none now: the next
    /// message then calls the feed's waker again.
    pub fn take(&mut self, id: NearId) -> Option<Frame> {
        let frame = self.server_end.take(id);
        if frame.is_none() {
            self.feed_wakers.get_mut(&id).into_iter().for_each(|feed_waker| feed_waker.is_woken = false);
        }
        frame
    }
}
