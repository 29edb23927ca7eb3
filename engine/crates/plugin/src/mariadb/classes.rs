//! The classes of audit events that this plugin receives, one bit each.

use crate::mariadb::abi::{CONNECTION_CLASS, GENERAL_CLASS, TABLE_CLASS};

pub const STATEMENTS: u64 = 1 << GENERAL_CLASS | 1 << TABLE_CLASS;
pub const ALL: u64 = STATEMENTS | 1 << CONNECTION_CLASS;
