//! Tests of near caches of a server with the plugin, which grants them a lease to serve results.

#[path = "../beside/mod.rs"]
mod beside;
mod clock;
mod connectors;
mod counted_processes;
mod cut_off;
mod differential;
mod histories;
mod in_process;
mod on_mysql;
mod prepared;
mod serve;
mod tiers;
mod transactions;
