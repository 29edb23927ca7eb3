//! Results in memory that one process writes and others read, without locks and without a system call.
//!
//! The [`Writer`] is `fqc-near`; [`Reader`]s are libraries in the processes of applications. Between them lies a sealed file in
//! memory, which readers map read-only ([`map`]).
//!
//! Invariants:
//! - A reader can be stopped or killed at any instruction, and the writer goes on. A writer can be stopped or killed at any
//!   instruction, and readers go on: once its lease is over they find nothing.
//! - A result that a reader finds was true at some moment between the beginning and the end of [`Reader::find`]. The order of the
//!   reader's steps is the proof, see there.
//! - A reader copies a length or a position first, and compares it with the size of the memory before it uses it. So a faulty
//!   writer can make a reader find nothing, or nonsense, but never read past the end.
//!
//! Deliberately absent: who may map the memory, and what the writer puts into it.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

mod connection;
#[cfg(not(loom))]
mod counts;
mod entry;
#[cfg(not(loom))]
pub mod handover;
mod layout;
#[cfg(not(loom))]
mod map;
mod reader;
mod sync;
mod writer;

pub use connection::{ConnectionSlot, ConnectionState, Context, Scope, ServedStatement};
#[cfg(not(loom))]
pub use counts::{Counts, ForeignCounts, Outcome, ProcessCounts};
pub use entry::{Key, Record};
pub use layout::Layout;
#[cfg(not(loom))]
pub use map::{Map, create_memory, map_memory};
pub use reader::{FoundRecord, MissReason, Reader};
pub use sync::AtomicU64;
pub use writer::Writer;
