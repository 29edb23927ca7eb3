//! The classes of audit events that this plugin receives, one bit each.

use crate::mariadb::abi::{CONNECTION_CLASS, GENERAL_CLASS, TABLE_CLASS};

/// The classes of events about statements and tables. The plugin does not need them while the engine is suspended or in light mode.
pub const STATEMENTS: u64 = 1 << GENERAL_CLASS | 1 << TABLE_CLASS;
/// All classes of events that the plugin receives; besides statements, those about connections.
pub const ALL: u64 = STATEMENTS | 1 << CONNECTION_CLASS;
