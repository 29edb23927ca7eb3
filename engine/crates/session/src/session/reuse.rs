//! Reads whose results are hardly reused: whether they are looked up, and stored.

use crate::engine::Engine;
use cache::Key;
use insight::ShapeId;

#[derive(Default)]
pub struct Reuse {
    /// The last read was of a shape whose results are hardly reused.
    has_passed_over: bool,
    /// Reads of which it was asked whether they are to be looked for.
    requests: u32,
    /// The statement now asked need not be looked for.
    is_hopeless: bool,
    /// Where it is counted, and the hash of its key, as far as they were needed before it went to the server.
    shape: Option<ShapeId>,
    hash: Option<u64>,
}

impl Reuse {
    /// After a read that was passed over no hit is expected: the next is read before it is looked for.
    pub fn expects_none(&mut self) -> bool {
        std::mem::take(&mut self.has_passed_over)
    }

    pub fn is_hopeless(&self) -> bool {
        self.is_hopeless
    }

    /// A read is asked. `shape`: where it is counted; none if it is to be looked for whatever it is.
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

    /// The hash was that of another text's key.
    pub fn forget_hash(&mut self) {
        self.hash = None;
    }

    pub fn shape(&self) -> Option<ShapeId> {
        self.shape
    }

    /// Whether this one is not among the few that are stored nevertheless.
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
