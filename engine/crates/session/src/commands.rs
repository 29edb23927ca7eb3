//! What becomes of a command that has arrived: a hit, a miss, or something that the server must be told first.

pub mod arrival;
pub mod hits;
pub mod injections;
pub mod misses;
pub mod others;
