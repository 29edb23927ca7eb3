//! The keys of the rows of one table that a statement touches.

/// A superset of the primary keys of the rows of one table that a statement reads or writes. It can touch no row with any other key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Single keys in no order, perhaps with repetitions. Empty if the statement can touch no row.
    Points(Vec<i128>),
    /// All keys from `low` to `high`, both included; none if `low` is greater.
    Range { low: i128, high: i128 },
}

impl Keys {
    pub fn contains(&self, key: i128) -> bool {
        match self {
            Keys::Points(points) => points.contains(&key),
            Keys::Range { low, high } => (*low..=*high).contains(&key),
        }
    }

    /// Returns the keys one by one, in no order and perhaps with repetitions. None if there are more than `most`, repetitions included.
    pub fn points(&self, most: usize) -> Option<Vec<i128>> {
        match self {
            Keys::Points(points) => (points.len() <= most).then(|| points.clone()),
            Keys::Range { low, high } => (high - low < most as i128).then(|| (*low..=*high).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: i128, high: i128) -> Keys {
        Keys::Range { low, high }
    }

    #[test]
    fn a_small_range_can_be_told_as_points() {
        assert_eq!(range(-1, 1).points(3), Some(vec![-1, 0, 1]));
        assert_eq!(range(-1, 1).points(2), None);
        assert_eq!(range(i128::from(i64::MIN), i128::from(u64::MAX)).points(64), None);
        assert_eq!(range(2, 1).points(0), Some(vec![]));
    }
}
