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
    /// The generation that is known to have no views, so that reads need not ask for the lock.
    without_views: AtomicU64,
    /// The generation that is known to have no triggers outside of the schema `sys`.
    without_triggers: AtomicU64,
}

impl Default for Catalogue {
    fn default() -> Self {
        // The first generation is 1, and the empty names are of generation 0: nothing is stored before they are read.
        let [generation, definitions, without_views, without_triggers] = [1, 0, 0, 0].map(AtomicU64::new);
        Catalogue { generation, definitions, views: RwLock::default(), without_views, without_triggers }
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
        let without_views = if views.are_none() { views.generation } else { 0 };
        let mut published = self.views.write().unwrap_or_else(|e| e.into_inner());
        *published = Arc::new(views);
        // Release: pairs with `has_no_views`.
        self.without_views.store(without_views, Ordering::Release);
    }

    /// Whether it is known that there are none at present.
    pub fn has_no_views(&self) -> bool {
        self.without_views.load(Ordering::Acquire) == self.generation()
    }

    /// `generation`: the one from before it was asked whether there are any.
    pub fn note_no_triggers(&self, generation: u64) {
        self.without_triggers.store(generation, Ordering::Release);
    }

    /// As for views.
    pub fn has_no_triggers(&self) -> bool {
        self.without_triggers.load(Ordering::Acquire) == self.generation()
    }

    /// The names, if they are those of the present.
    pub fn views(&self) -> Option<Arc<Views>> {
        let views = self.views.read().unwrap_or_else(|e| e.into_inner()).clone();
        (views.generation == self.generation()).then_some(views)
    }
}
