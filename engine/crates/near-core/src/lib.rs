//! The part of `fqc-near` that decides what is served and what is kept. It needs no runtime, sockets, TLS or configuration file.
//!
//! A [`session::Session`] leads the conversation between one client and its server: bytes go in, and what becomes of them comes out. Results
//! are in [`memory::Memory`]. Whether one is fresh enough to be served, the session's [`freshness::Freshness`] decides: by leases that
//! the server has lent ([`leases`]), by the server's binary log ([`binlog`]), or by an operator's rules ([`by_rules`]). The last two know for
//! whom a result is because the server is asked ([`identified`]).
//!
//! The program `fqc-near` is the shell around this crate.

pub mod answer;
pub mod bell;
pub mod binlog;
pub mod by_rules;
pub mod clock;
pub mod command;
pub mod counter;
pub mod digest;
pub mod follow;
pub mod freshness;
pub mod identified;
mod inquiry;
mod leased;
pub mod leases;
pub mod memory;
pub mod obstacle;
pub mod one_line;
pub mod payloads;
pub mod prepared;
pub mod published;
pub mod reason;
mod recent;
pub mod report;
pub mod result_set;
pub mod results;
pub mod rules;
pub mod say;
pub mod session;
pub mod session_flags;
pub mod store;
mod trial;
pub mod unseen;
pub mod uses;
