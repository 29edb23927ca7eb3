//! Near caches that follow a server's binary log.

#[path = "../beside/mod.rs"]
mod beside;
mod binlog;
mod differential;
mod executions;
mod found_rows;
mod in_process;
mod rows;
mod transactions;
mod unheard;
mod views;
