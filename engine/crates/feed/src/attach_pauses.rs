//! Pauses in which an account at an address may not attach near caches, because one of its near caches did not acknowledge a
//! write in time.
//!
//! Each time that a near cache fails to acknowledge in time, writers wait for one whole lease. Without a pause, a near cache that
//! attaches again and never acknowledges would delay writers by one lease after another. The pause doubles with each miss, up to
//! a limit. Misses are forgotten after a while without one.
//!
//! Pauses are by account and address, because near caches choose their own names.

use crate::server_end::NearOwner;
use std::collections::BTreeMap;

const FIRST_NS: u64 = 250_000_000;
/// The maximum number of times that the pause is doubled. It then lasts 8 s.
const MOST_DOUBLINGS: u32 = 5;
/// The time without a miss after which earlier misses are forgotten, so that the next pause has the first length again.
const FORGIVEN_NS: u64 = 60_000_000_000;
/// The maximum number of accounts with addresses that are remembered. Beyond it, the one with the oldest last miss is forgotten.
const MOST_REMEMBERED: usize = 1000;

/// A time in which the near caches of an account at an address may not attach. It starts with the last miss, that is, when a writer
/// had to wait until the lease of one of these near caches was over, because the near cache did not acknowledge in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachPause {
    /// The number of misses that led to this length of the pause.
    pub misses: u32,
    pub length_ns: u64,
    /// The time of the last miss, in nanoseconds by the server's clock.
    last: u64,
}

/// The pauses of all accounts and addresses whose near caches recently did not acknowledge a write in time.
#[derive(Debug, Default)]
pub struct AttachPauses(BTreeMap<NearOwner, AttachPause>);

impl AttachPause {
    fn is_over(&self, now: u64) -> bool {
        now >= self.last + self.length_ns
    }
}

impl AttachPauses {
    /// Notes a miss: a writer has waited until the lease of a near cache of this account and address was over. Returns the pause that
    /// starts now, or none if the last miss is less than `lease_ns` ago: then both count as one, because if a client's machine is
    /// stopped, all its near caches miss together. `now` is in nanoseconds by the server's clock.
    pub fn missed(&mut self, who: NearOwner, now: u64, lease_ns: u64) -> Option<AttachPause> {
        self.0.retain(|_, pause| now < pause.last + FORGIVEN_NS);
        let before = self.0.get(&who).map_or(0, |pause| pause.misses);
        if self.0.get(&who).is_some_and(|pause| now < pause.last + lease_ns) {
            return None;
        }
        let length_ns = FIRST_NS << before.min(MOST_DOUBLINGS);
        let pause = AttachPause { misses: before + 1, length_ns, last: now };
        self.0.insert(who, pause);
        if self.0.len() > MOST_REMEMBERED {
            let oldest = self.0.iter().min_by_key(|(_, pause)| pause.last).map(|(who, _)| who.clone());
            oldest.into_iter().for_each(|who| _ = self.0.remove(&who));
        }
        Some(pause)
    }

    /// Returns the pause in which near caches of this account and address must not be attached now, or none if they may. `now` is in
    /// nanoseconds by the server's clock.
    pub fn pause_of(&self, who: &NearOwner, now: u64) -> Option<AttachPause> {
        self.0.get(who).copied().filter(|pause| !pause.is_over(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE_NS: u64 = 102_000_000;

    fn who(number: usize) -> NearOwner {
        NearOwner { account: "'a'@'%'".into(), address: number.to_string() }
    }

    #[test]
    fn pauses_double_up_to_a_limit_and_begin_anew_after_good_behaviour() {
        let (mut kept_out, mut now) = (AttachPauses::default(), 0);
        let mut lengths = Vec::new();
        for _ in 0..9 {
            let pause = kept_out.missed(who(1), now, LEASE_NS).expect("it counts");
            assert_eq!(kept_out.pause_of(&who(1), now + pause.length_ns - 1), Some(pause));
            assert_eq!(kept_out.pause_of(&who(2), now), None, "others are not kept out");
            now += pause.length_ns;
            assert_eq!(kept_out.pause_of(&who(1), now), None);
            lengths.push(pause.length_ns / FIRST_NS);
        }
        assert_eq!(lengths, [1, 2, 4, 8, 16, 32, 32, 32, 32]);
        now += FORGIVEN_NS;
        assert_eq!(kept_out.missed(who(1), now, LEASE_NS).map(|pause| pause.length_ns), Some(FIRST_NS));
    }

    #[test]
    fn what_misses_its_time_together_has_missed_it_once() {
        let mut kept_out = AttachPauses::default();
        assert!(kept_out.missed(who(1), 0, LEASE_NS).is_some());
        assert_eq!(kept_out.missed(who(1), LEASE_NS - 1, LEASE_NS), None);
        assert_eq!(kept_out.missed(who(1), LEASE_NS, LEASE_NS).map(|pause| pause.misses), Some(2));
    }

    #[test]
    fn what_is_remembered_has_a_limit() {
        let mut kept_out = AttachPauses::default();
        for number in 0..3 * MOST_REMEMBERED {
            kept_out.missed(who(number), number as u64, LEASE_NS);
        }
        assert_eq!(kept_out.0.len(), MOST_REMEMBERED);
        assert!(kept_out.pause_of(&who(3 * MOST_REMEMBERED - 1), 3000).is_some());
    }
}
