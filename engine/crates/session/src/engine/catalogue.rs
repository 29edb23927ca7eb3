//! The engine's knowledge of the server's catalogue. The host reads the catalogue and publishes it here.
//!
//! A new generation begins whenever anything is defined, altered or dropped. Results are stored only while the
//! published names belong to the current generation.

use crate::text::views::Views;
use locks::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Catalogue {
    generation: AtomicU64,
    /// Number of definitions so far, including those of a single table.
    definitions: AtomicU64,
    views: RwLock<Arc<Views>>,
    /// The generation that is known to have no views. It spares reads the lock of `views`.
    without_views: AtomicU64,
    /// The generation that is known to have no triggers outside of the schema `sys`.
    without_triggers: AtomicU64,
}

impl Default for Catalogue {
    fn default() -> Self {
        // The first generation is 1 and the empty names belong to generation 0, so nothing is stored before the
        // catalogue is read.
        let [generation, definitions, without_views, without_triggers] = [1, 0, 0, 0].map(AtomicU64::new);
        Catalogue { generation, definitions, views: RwLock::default(), without_views, without_triggers }
    }
}

impl Catalogue {
    pub fn generation(&self) -> u64 {
        // Acquire: pairs with the Release in `outdate`.
        self.generation.load(Ordering::Acquire)
    }

    /// Something was defined, altered or dropped. Must be called before the cells of the change are opened.
    pub fn outdate(&self) {
        // AcqRel: pairs with the Acquire in `generation`, for the thread that reads the names and for the session that
        // stores.
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.note_definition();
    }

    pub fn note_definition(&self) {
        self.definitions.fetch_add(1, Ordering::AcqRel);
    }

    pub fn definitions(&self) -> u64 {
        self.definitions.load(Ordering::Acquire)
    }

    /// Publishes the names of all views, as they were read in the generation that `views` contains.
    pub fn publish(&self, views: Views) {
        let without_views = if views.are_none() { views.generation } else { 0 };
        let mut published = self.views.write().unwrap_or_else(|e| e.into_inner());
        *published = Arc::new(views);
        // Release: pairs with `has_no_views`.
        self.without_views.store(without_views, Ordering::Release);
    }

    /// True if it is known that the current generation has no views.
    pub fn has_no_views(&self) -> bool {
        self.without_views.load(Ordering::Acquire) == self.generation()
    }

    /// Notes that there are no triggers. `generation` is the one from before the server was asked.
    pub fn note_no_triggers(&self, generation: u64) {
        self.without_triggers.store(generation, Ordering::Release);
    }

    /// True if it is known that the current generation has no triggers outside of the schema `sys`.
    pub fn has_no_triggers(&self) -> bool {
        self.without_triggers.load(Ordering::Acquire) == self.generation()
    }

    /// The published views, if they belong to the current generation.
    pub fn views(&self) -> Option<Arc<Views>> {
        let views = self.views.read().unwrap_or_else(|e| e.into_inner()).clone();
        (views.generation == self.generation()).then_some(views)
    }
}
