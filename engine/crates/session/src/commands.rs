//! How a command of the client is handled: it is answered from the cache, or forwarded, possibly after a command of the
//! engine's own.

pub mod arrival;
pub mod calc_found_rows;
pub mod deferred_begin;
pub mod hits;
pub mod injections;
pub mod misses;
mod named;
pub mod others;
pub mod pending_reads;
pub mod setting_queries;
