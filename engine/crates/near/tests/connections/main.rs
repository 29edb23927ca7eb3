//! Tests of the relay of connections, and of the program as a service.

mod anything;
#[path = "../beside/mod.rs"]
mod beside;
mod relay;
mod reports;
mod service;
mod tls;
