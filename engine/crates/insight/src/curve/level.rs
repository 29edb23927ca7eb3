//! One size at which the sample is replayed: S3-FIFO, as in the cache, over the numbers of the keys.
//!
//! A level's state of a key is one byte that the key itself carries: its queue, and its use count there.

use std::collections::VecDeque;

/// The state of one key in one [`Level`]: the queue that it is in (2 bits), and its use count there (2 bits). Zero if the level does not
/// know the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(u8);

const ABSENT: u8 = 0;
const SMALL: u8 = 1;
const MAIN: u8 = 2;
const GHOST: u8 = 3;
const MAX_USES: u8 = 3;

impl Mark {
    fn new(place: u8, uses: u8) -> Mark {
        Mark(place | uses << 2)
    }

    fn place(self) -> u8 {
        self.0 & 3
    }

    fn uses(self) -> u8 {
        self.0 >> 2
    }

    /// True if the simulated cache has the key's result.
    pub fn is_held(self) -> bool {
        matches!(self.place(), SMALL | MAIN)
    }

    /// True if the simulated cache does not know the key, not even as one whose result was evicted recently.
    pub fn is_gone(self) -> bool {
        self.place() == ABSENT
    }
}

/// The outcome of a request in a simulated cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// A hit: the key's result was in the cache.
    Held,
    /// A miss: the key's result was not in the cache, and has been added.
    Made,
}

/// Access of a simulated cache ([`Level`]) to the sampled keys, which are identified by numbers.
pub trait Keys {
    /// Returns the key's state in this level, that is, in the simulated cache of one size.
    fn mark(&mut self, key: u32) -> &mut Mark;
    /// Returns the size of the key's result.
    fn bytes(&self, key: u32) -> u64;
    /// Called when the simulated cache of this level has forgotten the key, also as one whose result was evicted
    /// recently.
    fn forgotten(&mut self, key: u32);
}

/// A simulated cache of one size, which evicts like the real one. It holds keys by number instead of results.
#[derive(Default)]
pub struct Level {
    /// The maximum size of all results together, in bytes.
    capacity: u64,
    /// The keys of new results, oldest first.
    small: VecDeque<u32>,
    /// The keys of results that were used, or requested again soon after their eviction.
    main: VecDeque<u32>,
    /// The keys whose results were recently evicted from `small`.
    ghosts: VecDeque<u32>,
    small_bytes: u64,
    main_bytes: u64,
}

impl Level {
    /// Simulates a request of a key. If the cache does not have its result, the result is added, and others are evicted for it.
    pub fn request(&mut self, key: u32, keys: &mut impl Keys) -> RequestOutcome {
        let mark = *keys.mark(key);
        if mark.is_held() {
            *keys.mark(key) = Mark::new(mark.place(), (mark.uses() + 1).min(MAX_USES));
            return RequestOutcome::Held;
        }
        let place = if mark.place() == GHOST { MAIN } else { SMALL };
        self.put(key, place, 0, keys);
        self.evict(keys);
        RequestOutcome::Made
    }

    /// Sets the capacity of the simulated cache in bytes, and evicts what exceeds it.
    pub fn resize(&mut self, capacity: u64, keys: &mut impl Keys) {
        self.capacity = capacity;
        self.evict(keys);
    }

    /// Accounts for a key's result that changes its size from `old` to `new` bytes. `mark` is the key's state in this level. Evicts
    /// nothing.
    pub fn grow(&mut self, mark: Mark, old: u64, new: u64) {
        let sum = match mark.place() {
            SMALL => &mut self.small_bytes,
            MAIN => &mut self.main_bytes,
            _ => return,
        };
        *sum = sum.saturating_sub(old) + new;
    }

    /// Drops all keys for which `is_kept` is false, without calling [`Keys::forgotten`]. `bytes` returns the size of a key's result.
    pub fn keep(&mut self, is_kept: impl Fn(u32) -> bool, bytes: impl Fn(u32) -> u64) {
        for queue in [&mut self.small, &mut self.main, &mut self.ghosts] {
            queue.retain(|key| is_kept(*key));
        }
        self.small_bytes = self.small.iter().map(|key| bytes(*key)).sum();
        self.main_bytes = self.main.iter().map(|key| bytes(*key)).sum();
    }

    fn put(&mut self, key: u32, place: u8, uses: u8, keys: &mut impl Keys) {
        *keys.mark(key) = Mark::new(place, uses);
        let bytes = keys.bytes(key);
        let (queue, sum) = match place {
            SMALL => (&mut self.small, &mut self.small_bytes),
            _ => (&mut self.main, &mut self.main_bytes),
        };
        queue.push_back(key);
        *sum += bytes;
    }

    fn evict(&mut self, keys: &mut impl Keys) {
        while self.small_bytes + self.main_bytes > self.capacity {
            let is_small_over = self.main.is_empty() || self.small_bytes * 9 > self.main_bytes;
            let is_done = if is_small_over { self.evict_small(keys) } else { self.evict_main(keys) };
            if is_done.is_none() {
                (self.small_bytes, self.main_bytes) = (0, 0);
                break;
            }
        }
        while self.ghosts.len() > self.small.len() + self.main.len() {
            let Some(key) = self.ghosts.pop_front() else { break };
            if keys.mark(key).place() == GHOST {
                self.drop(key, keys);
            }
        }
    }

    fn evict_small(&mut self, keys: &mut impl Keys) -> Option<()> {
        let key = self.small.pop_front()?;
        self.small_bytes = self.small_bytes.saturating_sub(keys.bytes(key));
        if keys.mark(key).uses() > 0 {
            self.put(key, MAIN, 0, keys);
        } else {
            *keys.mark(key) = Mark::new(GHOST, 0);
            self.ghosts.push_back(key);
        }
        Some(())
    }

    fn evict_main(&mut self, keys: &mut impl Keys) -> Option<()> {
        let key = self.main.pop_front()?;
        self.main_bytes = self.main_bytes.saturating_sub(keys.bytes(key));
        match keys.mark(key).uses() {
            0 => self.drop(key, keys),
            uses => self.put(key, MAIN, uses - 1, keys),
        }
        Some(())
    }

    fn drop(&mut self, key: u32, keys: &mut impl Keys) {
        *keys.mark(key) = Mark::default();
        keys.forgotten(key);
    }
}
