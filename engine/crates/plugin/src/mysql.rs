//! Everything specific to MySQL: what the plugin declares to the server, how writes are reported, and how the server is queried.
//!
//! The audit interface reports statements and connections, but not reliably tables. So tables, definitions and commits are observed where
//! the server calls through virtual function tables that it exports (`vtables`): the storage engines' locks (`handlers`), exclusive
//! metadata locks (`definitions`), the transaction coordinator (`commits`), and the ends of prepared transactions (`second_phases`). Each
//! such function is called a seam. docs/adr/mysql-seams.md gives the reasons.

pub mod abi;
pub mod commits;
pub mod declarations;
pub mod definitions;
pub mod events;
pub mod group;
pub mod group_library;
pub mod handlers;
pub mod local;
pub mod obstacles;
pub mod processes;
pub mod product;
pub mod proofs;
pub mod reports;
pub mod second_phases;
pub mod selftest;
pub mod symbols;
pub mod vtables;
