//! Totals over all near caches since the server started, including those that are gone, and which of them disappeared without saying
//! so.

use feed::{FromNear, NearCacheCounts, NearId};
use std::collections::HashMap;

/// After this time, a near cache that disappeared is not expected back.
const EXPECTED_NS: u64 = 3_600_000_000_000;
/// Largest number of near caches that are remembered as having disappeared.
const MOST_DETACHED: usize = 1000;

/// Totals over all near caches of this server, as they were at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NearTotals {
    pub attached: u64,
    /// Near caches that disappeared within the last hour without saying so, and are not back.
    pub detached: u64,
    /// Reads that near caches have answered themselves. `misses` counts those that they sent to the server.
    pub hits: u64,
    pub misses: u64,
    /// Number of writers that had to wait for near caches. `waited_ns` is their total waiting time.
    pub waits: u64,
    pub waited_ns: u64,
}

/// Adds up what near caches report, and notes which of them have disappeared.
#[derive(Default)]
pub(crate) struct NearCounting {
    /// By attachment: the name of the near cache, and the counts that it sent last. A near cache counts from its own start, which may
    /// be long before it attached. So its first message is only the base line here.
    present: HashMap<NearId, (String, Option<NearCacheCounts>)>,
    /// For each near cache that disappeared without saying so: when that was, by its name.
    detached: HashMap<String, u64>,
    totals: NearTotals,
}

impl NearCounting {
    /// Notes that a near cache of this name has attached.
    pub fn attached(&mut self, id: NearId, name: &str) {
        self.detached.remove(name);
        self.present.insert(id, (name.to_owned(), None));
    }

    pub fn receive(&mut self, id: NearId, message: &FromNear) {
        match message {
            FromNear::Counted(counts) => self.counted(id, *counts),
            // It says that it leaves, so it is not counted as missing.
            FromNear::Left => _ = self.present.remove(&id),
            _ => {}
        }
    }

    fn counted(&mut self, id: NearId, counts: NearCacheCounts) {
        let Some((_, said)) = self.present.get_mut(&id) else { return };
        let before = said.replace(counts).unwrap_or(counts);
        self.totals.hits += counts.hits.saturating_sub(before.hits);
        self.totals.misses += counts.misses.saturating_sub(before.misses);
    }

    /// Counts a writer that had to wait for near caches, for this time.
    pub fn waited(&mut self, waited_ns: u64) {
        self.totals.waits += 1;
        self.totals.waited_ns += waited_ns;
    }

    /// Called when the feed of a near cache has ended. Unless it has said that it leaves, it is counted as missing for an hour or until it
    /// is back. `now` is a time in nanoseconds.
    pub fn ended(&mut self, id: NearId, now: u64) {
        let Some((name, _)) = self.present.remove(&id) else { return };
        self.detached.retain(|_, went| now.saturating_sub(*went) < EXPECTED_NS);
        if self.detached.len() < MOST_DETACHED {
            self.detached.insert(name, now);
        }
    }

    /// Called when the server has detached all near caches: none of them is counted as missing.
    pub fn dismissed(&mut self) {
        self.present.clear();
    }

    /// The totals at the time `now`, in nanoseconds. `attached` is the number of near caches that are attached.
    pub fn now(&self, attached: usize, now: u64) -> NearTotals {
        let detached = self.detached.values().filter(|went| now.saturating_sub(**went) < EXPECTED_NS).count();
        NearTotals { attached: attached as u64, detached: detached as u64, ..self.totals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(hits: u64, misses: u64) -> FromNear {
        FromNear::Counted(NearCacheCounts { hits, misses, ..NearCacheCounts::default() })
    }

    fn hear_counts(counting: &mut NearCounting, id: NearId, said: &[(u64, u64)]) {
        said.iter().for_each(|(hits, misses)| counting.receive(id, &counted(*hits, *misses)));
    }

    #[test]
    fn what_near_caches_counted_outlives_them_and_adds_up() {
        let mut counting = NearCounting::default();
        counting.attached(1, "a");
        counting.attached(2, "b");
        hear_counts(&mut counting, 1, &[(0, 0), (10, 1)]);
        hear_counts(&mut counting, 2, &[(0, 0), (1, 2)]);
        hear_counts(&mut counting, 1, &[(15, 1)]);
        counting.receive(1, &FromNear::Left);
        // The near cache may have been restarted.
        counting.attached(3, "a");
        hear_counts(&mut counting, 3, &[(0, 0), (2, 0)]);
        let now = counting.now(2, 0);
        assert_eq!((now.attached, now.hits, now.misses), (2, 18, 3));
    }

    #[test]
    fn what_was_counted_before_it_attached_again_is_counted_once() {
        let mut counting = NearCounting::default();
        counting.attached(1, "a");
        hear_counts(&mut counting, 1, &[(0, 0), (10, 1), (15, 1)]);
        counting.ended(1, 0);
        // The same process attaches again, and goes on with its counts.
        counting.attached(2, "a");
        hear_counts(&mut counting, 2, &[(15, 1), (18, 2)]);
        let now = counting.now(1, 0);
        assert_eq!((now.attached, now.hits, now.misses), (1, 18, 2));
    }

    #[test]
    fn who_went_without_a_word_is_missed_until_it_is_back_or_an_hour_is_over() {
        let mut counting = NearCounting::default();
        ["left", "back", "gone"].iter().zip(1..).for_each(|(name, id)| counting.attached(id, name));
        counting.receive(1, &FromNear::Left);
        (1..4).for_each(|id| counting.ended(id, 5));
        assert_eq!(counting.now(0, 5).detached, 2);
        counting.attached(4, "back");
        assert_eq!(counting.now(1, EXPECTED_NS).detached, 1);
        assert_eq!(counting.now(1, EXPECTED_NS + 5).detached, 0);
    }

    #[test]
    fn who_was_sent_away_is_not_missed() {
        let mut counting = NearCounting::default();
        counting.attached(1, "a");
        counting.dismissed();
        counting.ended(1, 5);
        assert_eq!(counting.now(0, 5).detached, 0);
    }
}
