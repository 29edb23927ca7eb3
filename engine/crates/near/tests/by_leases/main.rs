//! Near caches of a server with the plugin, which lends them what they may serve.

#[path = "../beside/mod.rs"]
mod beside;
mod clock;
mod connectors;
mod cut_off;
mod differential;
mod histories;
mod in_process;
mod prepared;
mod serve;
mod tiers;
mod transactions;
