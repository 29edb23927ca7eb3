//! Follows the server's binary log as a replica does, for servers that grant no leases. Results are dropped when the log shows
//! that their tables or rows have changed, and no result is served that is older than the operator's staleness bound.
//!
//! Invariants:
//! - a result is served only if all changes that were visible at some time within the staleness bound have been received, and
//!   none of them touches the result. Times are this machine's own: they are noted before the server is asked where its log ends;
//! - a result is stored only if every received change of its tables was already visible when its read was sent. The log contains
//!   a change before the change becomes visible;
//! - after a write through this program, no result is served until the log has been received up to that write;
//! - an event that is not understood invalidates everything, and results of a table that is not fully known are not stored.
//!
//! A read whose text selects rows by their key depends on these rows, and every other read depends on its tables. A change of
//! some rows counts as a change of the whole table only if the event is not fully understood or the key is not an integer.

mod by_log;
pub mod changes;
pub mod event;
pub mod gtid;
mod log;
mod packed;
pub mod position;
pub mod product;
mod row_versions;
pub mod rows;

pub use by_log::ByLog;
pub use changes::Privileges;
pub use log::{Log, LogState, Progress, SessionPrivileges, StorableRead};
pub use position::AbsolutePosition;
pub use product::created_tables_query;
