//! Decides whether the cache as a whole is worth the cost of following a server's statements. Pure: it takes counts and returns a verdict.
//!
//! A hit saves what the server would have spent on the statement. Following costs about the same for every statement that the server
//! runs. Where statements are expensive, few hits are enough; where they are cheap, about one in ten has to be a hit.

/// The extra processor time for following a statement, that is, for knowing what it reads and writes, compared with light mode, in which
/// the engine does not. It includes the server's time for generating events, and was measured on a virtual machine: 7 600 instructions.
const FOLLOWING_NS: f64 = 4500.0;
/// The processor time for storing a result, measured where it takes 7 600 instructions.
const STORING_NS: f64 = 4300.0;
/// If the cache costs less than this part of one processor, there is nothing to gain by switching it off.
const NOTICEABLE: f64 = 0.005;
/// If one result is stored in this many statements, without evicting another, the cache is being filled, and may be worth more when it
/// is full.
const FILLING: u64 = 16;

/// The work of a server and of its cache in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// The statements that the server executed itself, without those that the cache answered.
    pub statements: u64,
    /// The statements that the cache answered.
    pub hits: u64,
    /// The results that were stored.
    pub inserts: u64,
    /// The results that were evicted.
    pub evictions: u64,
    /// How long the server had taken to compute the results that were served.
    pub saved_ns: u64,
    /// How long the server took to compute the results that were stored.
    pub stored_ns: u64,
    /// The processor time that the whole server process used.
    pub cpu_ns: u64,
    /// The length of the interval.
    pub elapsed_ns: u64,
}

impl Interval {
    /// True if the cache cost noticeably more processor time in this interval than its hits saved, and is not just being filled. If that is
    /// so for long, the engine can stop following statements (light mode).
    pub fn costs_more_than_it_saves(self) -> bool {
        let costs = self.statements as f64 * FOLLOWING_NS + self.inserts as f64 * STORING_NS;
        let is_noticeable = costs >= NOTICEABLE * self.elapsed_ns as f64;
        let is_filling = self.is_many(self.inserts.saturating_sub(self.evictions));
        is_noticeable && !is_filling && self.hits as f64 * self.per_hit_ns() < costs
    }

    fn is_many(self, inserts: u64) -> bool {
        inserts * FILLING >= self.statements
    }

    /// Estimates the processor time that the server would have used for one hit: that of the average statement. If many results are stored,
    /// their times show whether hits are cheaper, such as repeated point reads next to reports that are not repeated.
    fn per_hit_ns(self) -> f64 {
        let share = if self.is_many(self.inserts) {
            let of = |total: u64, count: u64| total as f64 / count.max(1) as f64;
            of(self.saved_ns, self.hits) / of(self.stored_ns, self.inserts).max(1.0)
        } else {
            1.0
        };
        self.per_statement_ns() * share.min(1.0)
    }

    fn per_statement_ns(self) -> f64 {
        self.cpu_ns as f64 / self.statements.max(1) as f64
    }

    /// True if a cache could be worth its cost, judged by an interval in which nothing was served. `repeated` is the part of the statements
    /// that were repeated, from 0 to 1. Only `statements` and `cpu_ns` are used.
    pub fn could_pay(self, repeated: f64) -> bool {
        repeated * self.per_statement_ns() > (1.0 - repeated) * FOLLOWING_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Returns an interval of one second in which one processor is busy with point reads of 27 us each, and there are this many hits.
    fn point_reads(hits: u64) -> Interval {
        Interval { statements: 37_000, hits, inserts: 500, cpu_ns: SECOND, elapsed_ns: SECOND, ..Interval::default() }
    }

    #[test]
    fn cheap_statements_take_many_hits_and_dear_ones_few() {
        assert!(point_reads(0).costs_more_than_it_saves() && point_reads(2000).costs_more_than_it_saves());
        assert!(!point_reads(7000).costs_more_than_it_saves());
        let dear = Interval { statements: 2000, hits: 20, cpu_ns: 4 * SECOND, ..point_reads(0) };
        assert!(!Interval { inserts: 0, ..dear }.costs_more_than_it_saves());
    }

    #[test]
    fn a_server_with_little_to_do_and_a_cache_that_fills_are_left_alone() {
        assert!(!Interval { elapsed_ns: 60 * SECOND, ..point_reads(0) }.costs_more_than_it_saves());
        assert!(!Interval { inserts: 10_000, ..point_reads(0) }.costs_more_than_it_saves());
    }

    /// Returns an interval in which most reads are stored, nearly as many results are evicted for them, and one read in eight is a hit.
    fn reports_and_point_reads(saved_ns: u64) -> Interval {
        let stored = Interval { inserts: 12_000, evictions: 11_900, stored_ns: 12_000 * 100_000, ..point_reads(3000) };
        Interval { statements: 19_000, saved_ns, ..stored }
    }

    #[test]
    fn a_full_cache_that_goes_on_storing_is_judged_by_what_it_serves() {
        assert!(reports_and_point_reads(3000 * 30_000).costs_more_than_it_saves());
        assert!(!reports_and_point_reads(3000 * 100_000).costs_more_than_it_saves());
        assert!(!Interval { evictions: 0, ..reports_and_point_reads(0) }.costs_more_than_it_saves());
    }

    #[test]
    fn what_comes_again_is_worth_a_try_from_the_same_part_on() {
        assert!(!point_reads(0).could_pay(0.05));
        assert!(point_reads(0).could_pay(0.15));
        assert!(!Interval::default().could_pay(0.0));
    }
}
