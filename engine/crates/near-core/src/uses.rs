//! Measures how stored results are used: counts for each shape of statement, and a sample of reads that estimates how other
//! memory sizes would do. These are the figures of `SHOW FQC QUERIES` and `SHOW FQC CURVE`.
//!
//! The measurements do not change any answer. Their memory is bounded, and not part of the option `size`.

use cache::{Cache, CellId, Entry, Key, Meta};
use insight::report::{self, Row};
use insight::{Curve, Digests, Moment, NOBODY, Outcome, Sample, ShapeId};
use sql::{Digest, LexMode};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The size of a result's slot in the index, in bytes.
const INDEX_BYTES: usize = 16;
/// The code in reports for a result that was not stored for lack of memory.
const NO_MEMORY: usize = 0;

/// The figures of `SHOW FQC QUERIES` and `SHOW FQC CURVE`, and the hits that were only observed.
#[derive(Default)]
pub struct Uses {
    digests: Digests,
    curve: Curve<ResultBasis>,
    /// The number of the server's answers that could be stored.
    misses: AtomicU64,
    pub observed: Observed,
}

/// The stamp of a sampled result, and the cells that it depends on. They show whether the result is still current.
struct ResultBasis {
    stamp: u64,
    cells: Box<[CellId]>,
}

/// Where a result comes from: the shape of its statement, and the time that the server took for it.
#[derive(Clone, Copy)]
pub struct ResultSource {
    /// The number of the shape, that is, the statement without its literals.
    pub shape: ShapeId,
    /// The time from sending the read until its answer was complete, in nanoseconds.
    pub cost_ns: u64,
}

impl ResultSource {
    /// The source of a result that another near cache has put into the shared store. Its cost is not known, and counts as zero.
    pub fn of_store(shape: ShapeId) -> ResultSource {
        ResultSource { shape, cost_ns: 0 }
    }
}

/// One use of a stored result: the statement that it is counted for, and the work that it saves the server.
#[derive(Clone, Copy)]
pub struct Use {
    shape: ShapeId,
    saved_ns: u64,
    bytes: usize,
}

impl Use {
    /// Returns what a hit on this entry saves.
    pub fn of(entry: &Entry) -> Use {
        Use { shape: ShapeId(entry.owner()), saved_ns: entry.cost_ns(), bytes: entry.value().len() }
    }
}

/// Counts the reads that the program would have answered from memory while the operator lets it only observe.
// All accesses are relaxed: no other memory access depends on these values.
#[derive(Default)]
pub struct Observed {
    is_on: AtomicBool,
    /// The number of reads that memory had an answer for.
    pub hits: AtomicU64,
    /// The observed hits for which the server's answer was different.
    pub different: AtomicU64,
    /// The time that serving those reads would have saved the server, in nanoseconds.
    pub saved_ns: AtomicU64,
}

impl Observed {
    /// Returns true if the program only observes: nothing is answered from memory.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Sets whether the program only observes. The counts stay.
    pub fn set_on(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
    }

    /// Counts a read that memory had an answer for. `is_same` is true if the server's answer was the same.
    pub fn count(&self, saved_ns: u64, is_same: bool) {
        self.hits.fetch_add(1, Ordering::Relaxed);
        self.different.fetch_add(u64::from(!is_same), Ordering::Relaxed);
        self.saved_ns.fetch_add(saved_ns, Ordering::Relaxed);
    }
}

impl Uses {
    /// Returns the number of the statement's shape, that is, its text without literals. Zero if the text cannot be parsed.
    pub fn query_shape(&self, text: &[u8], mode: LexMode) -> ShapeId {
        let mut shape = Vec::new();
        if sql::shape(text, mode, &mut shape) { self.shape(&shape[1..]) } else { NOBODY }
    }

    /// Returns the number of a prepared statement's shape. Literals in its text stay part of the shape.
    pub fn prepared_shape(&self, text: &[u8]) -> ShapeId {
        self.shape(text)
    }

    /// Returns the number of this shape, and assigns one if it is new.
    fn shape(&self, shape: &[u8]) -> ShapeId {
        self.digests.find(sql::shape_id(shape), || sql::abbreviated(&Digest::new(shape).text))
    }

    /// Counts a lookup for the estimates. `hash` is that of the result's key, and `found` the entry with that key, current or
    /// not. `is_fresh` returns true if a result with this stamp and these cells could be served.
    pub fn count_request(&self, hash: u64, found: Option<&Entry>, is_fresh: impl Fn(u64, &[CellId]) -> bool) {
        if !self.curve.wants(hash) || self.curve.requested(hash, |basis| is_fresh(basis.stamp, &basis.cells)) {
            return;
        }
        if let Some(entry) = found.filter(|entry| is_fresh(entry.stamp().0, entry.cells())) {
            let basis = ResultBasis { stamp: entry.stamp().0, cells: entry.cells().into() };
            self.curve.stored(hash, sample(entry.size(), entry.cost_ns(), basis));
        }
    }

    /// Counts a hit on the stored result that `one` describes, for its shape of statement.
    pub fn count_hit(&self, one: Use) {
        self.digests.hit(one.shape, one.saved_ns / 1000, one.bytes as u64);
    }

    /// Stores an answer in `cache`, and samples it. Returns false if it was not stored for lack of room.
    pub fn keep(&self, cache: &Cache, key: &Key, meta: Meta, cells: &[CellId], answer: &[u8]) -> bool {
        let hash = cache.hash(key);
        let (stamp, cost_ns) = (meta.stamp.0, meta.cost_ns);
        let is_kept = cache.insert(hash, key, meta, cells, answer).is_ok();
        if self.curve.wants(hash) {
            let bytes = cache::entry_bytes(key, cells.len(), answer.len());
            self.curve.stored(hash, sample(bytes, cost_ns, ResultBasis { stamp, cells: cells.into() }));
        }
        is_kept
    }

    /// Counts a read that memory had an answer for while the program only observes. `is_same` is true if the server's answer was
    /// the same. `used` is none if the read is counted for no statement.
    pub fn count_observed(&self, used: Option<Use>, is_same: bool) {
        self.observed.count(used.map_or(0, |used| used.saved_ns), is_same);
        used.into_iter().for_each(|used| self.digests.observed(used.shape, used.saved_ns / 1000, Some(true)));
    }

    /// Counts an answer of the server, of this many bytes, that could be stored. `is_kept` is false if there was no room for it.
    pub fn count_miss(&self, source: ResultSource, bytes: usize, is_kept: bool) {
        // Relaxed: no other memory access depends on this counter.
        self.misses.fetch_add(1, Ordering::Relaxed);
        if self.observed.is_on() {
            return self.digests.observed(source.shape, source.cost_ns / 1000, Some(false));
        }
        let outcome = match is_kept {
            true => Outcome::Stored { bytes: bytes as u64 },
            false => Outcome::Refused { reason: NO_MEMORY },
        };
        self.digests.missed(source.shape, outcome);
    }

    /// Updates the estimates. Must be called every second. `hits` is the number of all hits since the start, and `size_bytes` the
    /// size that the cache may have.
    pub fn tick(&self, hits: u64, size_bytes: u64, now_ns: u64) {
        let [observed, misses] = [&self.observed.hits, &self.misses].map(|count| count.load(Ordering::Relaxed));
        let requests = hits + observed + misses;
        self.digests.make_room();
        self.curve.tick(Moment { requests, observed: 0, size_bytes, is_trial: false, now_ns });
    }

    /// Returns the rows of `SHOW FQC QUERIES`.
    pub fn queries(&self) -> Vec<Row> {
        report::queries(&self.digests, &Names)
    }

    /// Returns the rows of `SHOW FQC CURVE`; none until enough reads were seen.
    pub fn curve(&self) -> Vec<Row> {
        report::curve(&self.curve.points())
    }
}

fn sample(bytes: usize, cost_ns: u64, validity: ResultBasis) -> Sample<ResultBasis> {
    let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Sample { bytes: narrow((bytes + INDEX_BYTES) as u64), cost_us: narrow(cost_ns / 1000), validity }
}

/// The words for reasons and tables in these reports, which are those of the server.
struct Names;

impl report::Names for Names {
    fn reason(&self, _: usize) -> &'static str {
        "no_memory"
    }

    fn passed_over(&self) -> &'static str {
        "not_reused"
    }

    /// Returns none: a near cache knows tables only by their numbers, and not by name.
    fn table(&self, _: u32) -> Option<&str> {
        None
    }
}
