//! Near caches that serve by rules, and what they share in stores.

#[path = "../beside/mod.rs"]
mod beside;
mod in_process;
mod observing;
mod reasons;
mod rules;
mod stores;
mod stores_tls;
mod transactions;
