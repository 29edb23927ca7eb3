//! Following the server's binary log as a replica does, where the server lends no right to serve: what changed is dropped, and no
//! result is served that is older than the operator allows.
//!
//! Invariants:
//! - a result is served only while everything that anybody could see at some moment, no longer ago than the bound, has been heard
//!   and did not touch it. The moments are this machine's own: the server is asked where its log ends, and the time is taken before;
//! - a result is kept only if all that was heard of its tables could be seen already when its read was sent. A change stands in the log
//!   before it can be seen;
//! - after a write through this program nothing is served until the log has been heard as far as that write;
//! - what is not understood changes everything, and a table of which not all is known is not kept.
//!
//! A read whose text names rows by their key hangs on these, and every other one on its tables. Only where not all of an event is
//! understood, or the key is no integer, a change of some rows is one of the whole table.

mod by_log;
pub mod changes;
pub mod event;
pub mod gtid;
mod log;
mod packed;
pub mod place;
pub mod product;
pub mod rows;
mod words;

pub use by_log::ByLog;
pub use changes::Privileges;
pub use log::{Begun, Log, Noted, Progress, Read};
pub use place::Absolute;
pub use product::tables_made;
