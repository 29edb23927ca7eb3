//! Tests of near caches that follow a server's binary log.

#[path = "../beside/mod.rs"]
mod beside;
mod binlog;
mod differential;
mod executions;
mod group;
mod in_process;
mod lasting;
mod observing;
mod rows;
mod transactions;
mod unheard;
mod views;
