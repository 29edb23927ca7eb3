//! What becomes of a command that has arrived: a hit, a miss, or something that the server must be told first.

pub mod arrival;
pub mod calc_found_rows;
pub mod deferred_begin;
pub mod hits;
pub mod injections;
pub mod misses;
mod named;
pub mod others;
pub mod questions;
pub mod unseen_results;
