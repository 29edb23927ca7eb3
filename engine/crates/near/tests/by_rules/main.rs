//! Tests of near caches that serve by rules, and of the stores that they share.

#[path = "../beside/mod.rs"]
mod beside;
mod in_process;
mod observing;
mod reasons;
mod rules;
mod stores;
mod stores_tls;
mod transactions;
