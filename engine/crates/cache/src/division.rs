//! How a budget is divided into shards and segments. Many shards keep writers apart, many segments evict less at once, and a small
//! budget cannot afford both.

/// The maximum number of shards.
pub(crate) const SHARDS: usize = if cfg!(miri) { 4 } else { 64 };

const SHARD_BYTES: u64 = 1 << 20;
/// The number of segments that a full shard has about, if they are of the maximum size.
pub(crate) const SEGMENTS_PER_SHARD: u64 = 64;
/// The least size in bytes of a new segment for many entries, unless [`Division::segment_bytes`] is smaller.
pub(crate) const LEAST_SEGMENT_BYTES: usize = 64 << 10;
const MAX_SEGMENT_BYTES: u64 = 1 << 20;

/// How the budget of a cache is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    /// The number of shards, a power of two.
    pub shards: usize,
    /// The maximum size of a segment of many entries, a multiple of the page size.
    pub segment_bytes: usize,
}

impl Division {
    /// Divides the memory of a cache into shards and their segments: the larger the budget, the more shards, up to `SHARDS`. A budget
    /// that is too small for one gives one shard with segments of one page. `budget` and `page`, the page size of the system, are in bytes.
    pub fn of(budget: u64, page: usize) -> Self {
        let affordable = (budget / SHARD_BYTES).clamp(1, SHARDS as u64);
        let shards = 1 << affordable.ilog2();
        let segment = budget / (shards * SEGMENTS_PER_SHARD);
        let segment = (segment as usize / page * page).clamp(page, MAX_SEGMENT_BYTES as usize);
        Division { shards: shards as usize, segment_bytes: segment }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "fewer shards there")]
    fn shards_and_segments_grow_with_the_budget() {
        let division = |budget| {
            let Division { shards, segment_bytes } = Division::of(budget, 4096);
            (shards, segment_bytes)
        };
        assert_eq!(division(0), (1, 4096));
        assert_eq!(division(64 << 10), (1, 4096));
        assert_eq!(division(1 << 20), (1, 16 << 10));
        assert_eq!(division(16 << 20), (16, 16 << 10));
        assert_eq!(division(1 << 30), (64, 256 << 10));
        assert_eq!(division(10_485_760_000), (64, 1 << 20));
    }
}
