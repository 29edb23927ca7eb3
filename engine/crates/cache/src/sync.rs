//! The only place that chooses between real synchronisation and that of the model checker.

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
