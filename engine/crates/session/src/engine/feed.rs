//! What is known of the near caches that are attached to this server. What is done with it is in `nears`.

use crate::engine::near_counts::Counting;
use feed::{Frame, NearId, Nears, Terms};
use locks::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
use std::time::Duration;

/// Called when there is something to send to a near cache, or its feed is over.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

pub struct Feed {
    /// Somebody is attached, or a lease may still run.
    pub(crate) has_nears: AtomicBool,
    /// A near cache has come, and has not gone since.
    pub(crate) is_wanted: AtomicBool,
    /// Changes whenever connections are marked or no longer.
    pub(crate) marks_changed: AtomicU64,
    state: Mutex<State>,
    pub(crate) heard: Condvar,
}

pub(crate) struct State {
    pub nears: Nears,
    pub counting: Counting,
    /// Writes are followed: near caches may attach.
    pub admits: bool,
    pub marks: HashMap<u32, (NearId, u64)>,
    pub bells: HashMap<NearId, Bell>,
}

/// Wakes whoever moves the bytes of a feed.
pub(crate) struct Bell {
    pub waker: Waker,
    /// It has rung, and whoever heard it has not yet taken all that there was.
    pub is_rung: bool,
}

impl Default for Feed {
    fn default() -> Feed {
        let life = std::hash::RandomState::new().build_hasher().finish();
        let nears = Nears::new(Terms::default(), life);
        Feed {
            has_nears: AtomicBool::new(false),
            is_wanted: AtomicBool::new(false),
            marks_changed: AtomicU64::new(1),
            state: Mutex::new(State {
                nears,
                counting: Counting::default(),
                admits: false,
                marks: HashMap::new(),
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

    /// Relaxed: a hint.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn marks_changed(&self) -> u64 {
        self.marks_changed.load(Ordering::Acquire)
    }

    /// The near cache that has marked this connection.
    pub fn mark_of(&self, connection: u32, greeting: u64) -> Option<NearId> {
        self.state().marks.get(&connection).filter(|(_, known)| *known == greeting).map(|(id, _)| *id)
    }

    /// Whether writes are followed from here on. Before they are not, whoever is attached must go.
    pub fn admit(&self, admits: bool) {
        self.state().admits = admits;
    }

    /// Those who have something to send are woken, and not under the lock: it is what they ask for first.
    pub(crate) fn ring(&self, mut state: MutexGuard<'_, State>) {
        let wakers = state.take_wakers();
        drop(state);
        wakers.iter().for_each(|wake| wake());
    }

    pub(crate) fn wait<'a>(&self, state: MutexGuard<'a, State>, left_ns: u64) -> MutexGuard<'a, State> {
        // A little more than nothing, so that a clock of coarse steps does not make this spin.
        let left = Duration::from_nanos(left_ns.max(10_000));
        self.heard.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl State {
    /// Of those that have something to send and have not been woken for it.
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

    /// What is to be sent next. Nothing: whatever comes from here on rings.
    pub fn take(&mut self, id: NearId) -> Option<Frame> {
        let frame = self.nears.take(id);
        if frame.is_none() {
            self.bells.get_mut(&id).into_iter().for_each(|bell| bell.is_rung = false);
        }
        frame
    }
}
