//! The engine on a stock MySQL server.
//!
//! Only built with the feature `mysql`: `make test-engine-mysql` brings a server first, and says so loudly where it cannot.

mod beside;
mod definitions;
mod dialect;
mod differential;
mod histories;
mod itself;
mod kills;
mod loading;
mod other_lines;
mod replicas;
mod served;
mod sessions;
mod shared;
mod surface;
#[path = "../traps/mod.rs"]
mod traps;
mod writes;
