//! The state of the near caches that are attached to this server. The operations on it are in `nears`.

use crate::engine::marks::Marks;
use crate::engine::near_counts::Counting;
use feed::{Frame, KeptOut, NearId, Nears, Pause, Terms, Who};
use locks::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
use std::time::Duration;

/// Called when there is something to send to a near cache, or when its feed ends.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

pub struct Feed {
    /// A near cache is attached, or a lease may still be running.
    pub(crate) has_nears: AtomicBool,
    /// A near cache has tried to attach. False again when none is left after one was detached.
    pub(crate) is_wanted: AtomicBool,
    pub(crate) marks: Arc<Marks>,
    state: Mutex<State>,
    pub(crate) heard: Condvar,
}

pub(crate) struct State {
    pub nears: Nears,
    pub counting: Counting,
    pub kept_out: KeptOut,
    /// Pauses that have started since they were last logged.
    begun: Vec<(Who, Pause)>,
    /// The engine is following writes, so near caches may attach.
    pub admits: bool,
    pub bells: HashMap<NearId, Bell>,
}

/// Wakes the thread that sends the frames of a feed.
pub(crate) struct Bell {
    pub waker: Waker,
    /// The waker was called, and the feed has not been drained since.
    pub is_rung: bool,
}

impl Default for Feed {
    fn default() -> Feed {
        let life = std::hash::RandomState::new().build_hasher().finish();
        let nears = Nears::new(Terms::default(), life);
        Feed {
            has_nears: AtomicBool::new(false),
            is_wanted: AtomicBool::new(false),
            marks: Arc::default(),
            state: Mutex::new(State {
                nears,
                counting: Counting::default(),
                kept_out: KeptOut::default(),
                begun: Vec::new(),
                admits: false,
                bells: HashMap::new(),
            }),
            heard: Condvar::new(),
        }
    }
}

impl Feed {
    #[inline]
    pub fn has_nears(&self) -> bool {
        self.has_nears.load(Ordering::Relaxed)
    }

    /// Relaxed, because this is only a hint.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allows or forbids near caches to attach. Once writes are not followed, those that are attached must be detached
    /// too.
    pub fn admit(&self, admits: bool) {
        self.state().admits = admits;
    }

    /// Wakes the feeds that have something to send. The lock is released first, because a woken thread takes it at
    /// once.
    pub(crate) fn ring(&self, mut state: MutexGuard<'_, State>) {
        let wakers = state.take_wakers();
        drop(state);
        wakers.iter().for_each(|wake| wake());
    }

    pub(crate) fn wait<'a>(&self, state: MutexGuard<'a, State>, left_ns: u64) -> MutexGuard<'a, State> {
        // Waits at least 10 microseconds, so that a coarse clock does not make the caller spin.
        let left = Duration::from_nanos(left_ns.max(10_000));
        self.heard.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Largest number of pauses that wait to be logged. Beyond it only lines of the log are lost.
const MOST_BEGUN: usize = 100;

impl State {
    /// Starts a pause for each account and address whose near cache did not answer a writer in time.
    pub fn keep_out_missed(&mut self, now: u64) {
        let terms = self.nears.terms();
        for who in self.nears.take_missed() {
            if let Some(pause) = self.kept_out.missed(who.clone(), now, terms.lease_ns + terms.margin_ns)
                && self.begun.len() < MOST_BEGUN
            {
                self.begun.push((who, pause));
            }
        }
    }

    pub fn take_begun(&mut self) -> Vec<(Who, Pause)> {
        std::mem::take(&mut self.begun)
    }

    /// The wakers of feeds that have something to send and were not woken for it yet.
    fn take_wakers(&mut self) -> Vec<Waker> {
        let State { nears, bells, .. } = self;
        let mut wakers = Vec::new();
        for id in nears.pending() {
            if let Some(bell) = bells.get_mut(&id).filter(|bell| !bell.is_rung) {
                bell.is_rung = true;
                wakers.push(bell.waker.clone());
            }
        }
        wakers
    }

    /// The next frame for this near cache. If there is none, the next message wakes its feed again.
    pub fn take(&mut self, id: NearId) -> Option<Frame> {
        let frame = self.nears.take(id);
        if frame.is_none() {
            self.bells.get_mut(&id).into_iter().for_each(|bell| bell.is_rung = false);
        }
        frame
    }
}
