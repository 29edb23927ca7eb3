//! Reads whose results are rarely reused: whether they are looked up, and whether they are stored.

use crate::engine::Engine;
use cache::Key;
use insight::ShapeId;

#[derive(Default)]
pub struct Reuse {
    /// The last read was passed over, because results of its shape are rarely reused.
    has_passed_over: bool,
    /// Number of reads for which it was decided whether to look them up.
    requests: u32,
    /// The current read need not be looked up.
    is_hopeless: bool,
    /// The shape that counts the current read, and the hash of its key, as far as they were needed before it went to
    /// the server.
    shape: Option<ShapeId>,
    hash: Option<u64>,
}

impl Reuse {
    /// True, once, after a read that was passed over: then no hit is expected, and the next read is classified before
    /// it is looked up.
    pub fn expects_none(&mut self) -> bool {
        std::mem::take(&mut self.has_passed_over)
    }

    pub fn is_hopeless(&self) -> bool {
        self.is_hopeless
    }

    /// Called for each read. `shape` is where it is counted; none if it is to be looked up in any case.
    pub fn ask(&mut self, engine: &Engine, shape: Option<ShapeId>) {
        (self.shape, self.hash) = (shape, None);
        self.is_hopeless = shape.is_some_and(|shape| {
            self.requests = self.requests.wrapping_add(1);
            !engine.insight().digests.looks_up(shape, self.requests)
        });
    }

    pub fn note_hash(&mut self, hash: u64) {
        self.hash = Some(hash);
    }

    /// Drops the hash, which was that of another text's key.
    pub fn forget_hash(&mut self) {
        self.hash = None;
    }

    pub fn shape(&self) -> Option<ShapeId> {
        self.shape
    }

    /// True if the result of this read is not to be stored, because results of its shape are rarely reused and it is
    /// not in the sample that is stored anyway.
    pub fn passes_over(&mut self, engine: &Engine, shape: ShapeId, key: &Key) -> bool {
        let digests = &engine.insight().digests;
        if digests.admits_all(shape) {
            return false;
        }
        let hash = self.hash.take().unwrap_or_else(|| engine.cache().hash(key));
        let is_passed_over = self.is_hopeless || !digests.admits(shape, hash);
        if is_passed_over {
            engine.insight().passed_over(hash);
            self.has_passed_over = true;
        }
        is_passed_over
    }
}
