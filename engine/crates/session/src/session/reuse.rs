//! Reads whose results are rarely reused: whether they are looked up, and whether they are stored.

use crate::engine::Engine;
use cache::Key;
use insight::ShapeId;

/// Decides for one session which reads are not worth a lookup or an entry. A shape is the text of a statement without
/// its literals.
#[derive(Default)]
pub struct Reuse {
    /// The result of the last read was not stored, because results of its shape are rarely reused.
    has_passed_over: bool,
    /// Number of reads for which it was decided whether to look them up.
    requests: u32,
    /// The current read is not looked up, because a hit is too unlikely.
    is_hit_unlikely: bool,
    /// The shape that counts the current read, and the hash of its key, as far as they were needed before it went to
    /// the server.
    shape: Option<ShapeId>,
    hash: Option<u64>,
}

impl Reuse {
    /// Returns whether the result of the last read was not stored because results of its shape are rarely reused, and
    /// forgets that. If true, no hit is expected, and the next read is to be classified before it is looked up.
    pub fn expects_no_reuse(&mut self) -> bool {
        std::mem::take(&mut self.has_passed_over)
    }

    /// True if the current read need not be looked up, because a hit is too unlikely.
    pub fn is_hit_unlikely(&self) -> bool {
        self.is_hit_unlikely
    }

    /// Called for each read, before the lookup: decides whether to look it up. `shape` is where the read is counted;
    /// None if it is to be looked up in any case.
    pub fn decide_lookup(&mut self, engine: &Engine, shape: Option<ShapeId>) {
        (self.shape, self.hash) = (shape, None);
        self.is_hit_unlikely = shape.is_some_and(|shape| {
            self.requests = self.requests.wrapping_add(1);
            !engine.insight().digests.looks_up(shape, self.requests)
        });
    }

    pub fn note_hash(&mut self, hash: u64) {
        self.hash = Some(hash);
    }

    /// Drops the noted hash: it is that of the key that was looked up, and the read is recorded under another one.
    pub fn forget_hash(&mut self) {
        self.hash = None;
    }

    pub fn shape(&self) -> Option<ShapeId> {
        self.shape
    }

    /// True if the result of this read is not to be stored, because results of its shape are rarely reused and it is
    /// not in the sample that is stored anyway. To be called once for each read, because the decision is counted.
    pub fn passes_over(&mut self, engine: &Engine, shape: ShapeId, key: &Key) -> bool {
        let digests = &engine.insight().digests;
        if digests.admits_all(shape) {
            return false;
        }
        let hash = self.hash.take().unwrap_or_else(|| engine.cache().hash(key));
        let is_passed_over = self.is_hit_unlikely || !digests.admits(shape, hash);
        if is_passed_over {
            engine.insight().passed_over(hash);
            self.has_passed_over = true;
        }
        is_passed_over
    }
}
