//! What must be known of the server's catalogue, published by whoever can ask it.
//!
//! A generation begins when anything is defined, altered or dropped. Results are stored only while the published facts
//! are those of the present generation.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

#[derive(Default)]
pub struct Facts {
    pub generation: u64,
    /// Names of all views but those of system schemas, in ASCII lower case, without their schemas.
    pub views: HashSet<Vec<u8>>,
    /// The server finds them by names in another case, too, as it folds letters beyond ASCII.
    pub folds_case: bool,
}

impl Facts {
    /// `name`: in ASCII lower case.
    pub fn may_be_view(&self, name: &[u8]) -> bool {
        self.views.contains(name) || self.folds_case && !name.is_ascii()
    }
}

pub struct Catalogue {
    generation: AtomicU64,
    /// How often anything, a single table included, has been defined anew.
    definitions: AtomicU64,
    facts: RwLock<Arc<Facts>>,
}

impl Default for Catalogue {
    fn default() -> Self {
        // The first generation is 1, and the empty facts are of generation 0: nothing is stored before they are read.
        Catalogue { generation: AtomicU64::new(1), definitions: AtomicU64::new(0), facts: RwLock::default() }
    }
}

impl Catalogue {
    pub fn generation(&self) -> u64 {
        // Acquire: pairs with `outdate`.
        self.generation.load(Ordering::Acquire)
    }

    /// Something was defined, altered or dropped. To be called before its cells are opened.
    pub fn outdate(&self) {
        // AcqRel: pairs with `generation`, in the reader of facts and in the storing session.
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.note_definition();
    }

    pub fn note_definition(&self) {
        self.definitions.fetch_add(1, Ordering::AcqRel);
    }

    pub fn definitions(&self) -> u64 {
        self.definitions.load(Ordering::Acquire)
    }

    pub fn publish(&self, facts: Facts) {
        *self.facts.write().unwrap_or_else(|e| e.into_inner()) = Arc::new(facts);
    }

    pub(crate) fn holding(&self, work: &mut dyn FnMut()) {
        let _held = self.facts.write().unwrap_or_else(|e| e.into_inner());
        work();
    }

    /// The facts, if they are those of the present.
    pub fn facts(&self) -> Option<Arc<Facts>> {
        let facts = self.facts.read().unwrap_or_else(|e| e.into_inner()).clone();
        (facts.generation == self.generation()).then_some(facts)
    }
}
