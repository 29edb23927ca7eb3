//! A counter that many threads increase.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A count of events. It only grows, and no other memory access depends on it.
#[derive(Debug, Default)]
pub struct Counter(AtomicUsize);

impl Counter {
    pub fn add(&self, count: usize) {
        if count > 0 {
            self.0.fetch_add(count, Ordering::Relaxed);
        }
    }

    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
