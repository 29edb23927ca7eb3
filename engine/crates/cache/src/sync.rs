//! The one place that chooses between real synchronisation and the model checker's.

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex,
    atomic::{AtomicPtr, AtomicU64, Ordering},
};
#[cfg(not(loom))]
pub(crate) use {
    locks::Mutex,
    std::sync::atomic::{AtomicPtr, AtomicU64, Ordering},
};
