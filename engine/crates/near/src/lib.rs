//! `fqc-near`, the near cache: a proxy on the application's machine that answers repeated reads from its memory.
//!
//! The shell around `near-core`: it relays connections, does TLS, reads the options, attaches to the server's feed or binary log, and
//! reports to the control plane. Each client gets a server connection of its own. The bytes of both sides pass unchanged, except for reads
//! that are answered from memory. The login is passed on, so the program never knows a client's password.
//!
//! Invariants: no bytes are read from one side while the other side has not taken all earlier ones; whatever a client or a server sends can
//! end at most its own connection.
//! Deliberately absent: connection pools, and decisions about what may be kept or served, which `near-core` makes.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

mod account;
mod attachment;
mod broken_handshakes;
mod config;
mod control_plane;
mod dial;
mod following;
pub mod http;
pub mod import;
mod login;
pub mod manual;
mod metrics;
mod notify;
pub mod options;
mod os;
pub mod pump;
mod random;
mod relay;
mod reporting;
mod server;
pub mod service;
mod share;
mod shared;
mod store;
mod stream;
mod threads;
mod tls;

pub use service::run;
