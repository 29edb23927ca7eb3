//! The testers' only source of randomness: a seeded splitmix64, so that a seed identifies a run for ever, whatever versions of crates
//! change.

/// A generator of random numbers. Equal seeds give equal sequences. Each draw changes its state.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, uniform over all 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A random number, uniform in `0..bound`; `bound` must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.draw() % bound as u64) as usize
    }

    /// A random number, uniform in `low..=high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.draw() % (high - low + 1) as u64) as i64
    }

    /// True with a probability of `chance` percent.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.draw() % 100 < chance
    }

    /// True with a probability of `chance` in a thousand.
    pub fn per_mille(&mut self, chance: u64) -> bool {
        self.draw() % 1000 < chance
    }

    /// One of the choices, all equally probable. Panics if there are none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// One of the static texts in `choices`, all equally probable. Panics if there are none.
    pub fn word(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.below(choices.len())]
    }

    /// The index of one of the weights, chosen with a probability in proportion to it. Panics if all are 0.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let total: u32 = weights.iter().sum();
        let mut left = self.below(total as usize) as u32;
        for (index, &weight) in weights.iter().enumerate() {
            if left < weight {
                return index;
            }
            left -= weight;
        }
        unreachable!("the weights sum to more than what was drawn")
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_names_the_same_stream_for_ever() {
        let mut random = Random::new(1);
        assert_eq!(random.draw(), 0x910a_2dec_8902_5cc1);
    }

    #[test]
    fn a_weight_of_zero_is_never_chosen() {
        let mut random = Random::new(7);
        assert!((0..1000).all(|_| random.weighted(&[1, 0, 3]) != 1));
    }
}
