//! The engine's knowledge of the server's catalogue. The host reads the catalogue and publishes it here.
//!
//! A *generation* is a period in which nothing is defined, altered or dropped, and its number. Results are stored only
//! while the published names belong to the current generation.

use crate::text::views::Views;
use locks::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Catalogue {
    generation: AtomicU64,
    /// The number of times that anything was defined, altered or dropped so far, see the method `definitions`.
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
    /// The number of the current generation. It grows whenever anything in the server's catalogue is defined, altered
    /// or dropped.
    pub fn generation(&self) -> u64 {
        // Acquire: pairs with the Release in `invalidate`.
        self.generation.load(Ordering::Acquire)
    }

    /// Called when something was defined, altered or dropped: what was published is stale from here on, and no result is stored
    /// before the catalogue was read again. Must be called before results that depend on the definition may be stored again.
    pub fn invalidate(&self) {
        // AcqRel: pairs with the Acquire in `generation`, for the thread that reads the names and for the session that
        // stores.
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.note_definition();
    }

    /// Notes that the definition of a single table has changed, see `definitions`. The published names of views stay
    /// valid.
    pub fn note_definition(&self) {
        self.definitions.fetch_add(1, Ordering::AcqRel);
    }

    /// The number of times that anything was defined, altered or dropped so far, including the changes of a single
    /// table that leave the generation as it is. If it has grown, column metadata may have changed.
    pub fn definitions(&self) -> u64 {
        self.definitions.load(Ordering::Acquire)
    }

    /// Publishes the names of all views. `views.generation` is the number that `generation` returned before the server
    /// was asked for them. If definitions have changed since, the names do not count.
    pub fn publish(&self, views: Views) {
        let without_views = if views.are_none() { views.generation } else { 0 };
        let mut published = self.views.write().unwrap_or_else(|e| e.into_inner());
        *published = Arc::new(views);
        // Release: pairs with `has_no_views`.
        self.without_views.store(without_views, Ordering::Release);
    }

    /// True if the server is known to have no views, apart from those of system schemas. False means that there are
    /// some, or that it is not known since the last change of the catalogue.
    pub fn has_no_views(&self) -> bool {
        self.without_views.load(Ordering::Acquire) == self.generation()
    }

    /// Notes that the server has no triggers outside of the schema `sys`. `generation` is the number that the method of
    /// this name returned before the server was asked. If definitions have changed since, the note does not count.
    pub fn note_no_triggers(&self, generation: u64) {
        self.without_triggers.store(generation, Ordering::Release);
    }

    /// True if the server is known to have no triggers outside of the schema `sys`. False means that there are some, or
    /// that it is not known since the last change of the catalogue: a write may then run anything.
    pub fn has_no_triggers(&self) -> bool {
        self.without_triggers.load(Ordering::Acquire) == self.generation()
    }

    /// The published names of views. None if the catalogue has changed since they were read, or was never read: nothing
    /// can be stored then.
    pub fn views(&self) -> Option<Arc<Views>> {
        let views = self.views.read().unwrap_or_else(|e| e.into_inner()).clone();
        (views.generation == self.generation()).then_some(views)
    }
}
