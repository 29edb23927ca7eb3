//! A histogram of how long statements took.

use crate::flushable_counter::FlushableCounter;

/// Upper bounds of the buckets of the histogram in microseconds. Each is 2 to 2.5 times the one before, which bounds the error
/// of a quantile.
pub const BOUNDS_US: [u64; 16] = [
    100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
    5_000_000, 10_000_000,
];

/// One counter for each bound: statements that took at most this long, and longer than the bound before. The last counter
/// is for those above all bounds.
#[derive(Default)]
pub struct Durations([FlushableCounter; BOUNDS_US.len() + 1]);

impl Durations {
    /// Counts a statement that took this time.
    pub fn add(&self, nanoseconds: u64) {
        self.0[BOUNDS_US.partition_point(|bound| bound * 1000 < nanoseconds)].add(1);
    }

    /// Cumulative counts: for each bound, the statements that took no longer; at last, all of them. `instant` is a number of
    /// further statements that took almost no time, such as hits.
    pub fn within(&self, instant: u64) -> [u64; BOUNDS_US.len() + 1] {
        let mut sum = instant;
        std::array::from_fn(|index| {
            sum += self.0[index].sum();
            sum
        })
    }

    pub fn flush(&self) {
        self.0.iter().for_each(FlushableCounter::flush);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_duration_is_within_its_bound_and_all_longer_ones() {
        let durations = Durations::default();
        [0, 100_000, 100_001, 9_999_999_999, 10_000_000_001].into_iter().for_each(|each| durations.add(each));
        let within = durations.within(10);
        assert_eq!((within[0], within[1], within[14], within[15], within[16]), (12, 13, 13, 14, 15));
        durations.flush();
        assert_eq!(durations.within(0), [0; 17]);
    }
}
