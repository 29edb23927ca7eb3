//! What must be known of the server's catalogue; the host publishes it.
//!
//! A generation begins when anything is defined, altered or dropped. Results are stored only while the published names
//! are those of the present generation.

use crate::text::views::Views;
use locks::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Catalogue {
    generation: AtomicU64,
    /// How often anything, a single table included, has been defined anew.
    definitions: AtomicU64,
    views: RwLock<Arc<Views>>,
}

impl Default for Catalogue {
    fn default() -> Self {
        // The first generation is 1, and the empty names are of generation 0: nothing is stored before they are read.
        Catalogue { generation: AtomicU64::new(1), definitions: AtomicU64::new(0), views: RwLock::default() }
    }
}

impl Catalogue {
    pub fn generation(&self) -> u64 {
        // Acquire: pairs with `outdate`.
        self.generation.load(Ordering::Acquire)
    }

    /// Something was defined, altered or dropped. To be called before its cells are opened.
    pub fn outdate(&self) {
        // AcqRel: pairs with `generation`, in the reader of names and in the storing session.
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.note_definition();
    }

    pub fn note_definition(&self) {
        self.definitions.fetch_add(1, Ordering::AcqRel);
    }

    pub fn definitions(&self) -> u64 {
        self.definitions.load(Ordering::Acquire)
    }

    pub fn publish(&self, views: Views) {
        *self.views.write().unwrap_or_else(|e| e.into_inner()) = Arc::new(views);
    }

    /// The names, if they are those of the present.
    pub fn views(&self) -> Option<Arc<Views>> {
        let views = self.views.read().unwrap_or_else(|e| e.into_inner()).clone();
        (views.generation == self.generation()).then_some(views)
    }
}
