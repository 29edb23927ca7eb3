//! Everything specific to MySQL: what the plugin declares to it, where it is told of writes, and how it is queried.
//!
//! The audit interface tells of statements and connections, but not reliably of tables. So tables, definitions and commits come
//! from where the server itself calls through tables of virtual functions, which it exports (`vtables`): the storage engines'
//! locks (`handlers`), exclusive metadata locks (`definitions`), the transaction coordinator (`commits`), and the ends of what was
//! prepared (`second_phases`).
//! docs/adr/mysql-seams.md says why.

pub mod abi;
pub mod commits;
pub mod definitions;
pub mod door;
pub mod events;
pub mod gate;
pub mod handlers;
pub mod local;
pub mod processes;
pub mod product;
pub mod reach;
pub mod second_phases;
pub mod selftest;
pub mod symbols;
pub mod vtables;
