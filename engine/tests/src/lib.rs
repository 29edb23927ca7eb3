//! Testers that judge the plugin from outside, through the network protocol of real servers.
//!
//! Nothing here depends on another crate of the workspace: a mistake in the plugin's own reading of the protocol or of SQL must not be
//! repeated by its judge.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

pub mod arguments;
pub mod checkout;
pub mod churn;
pub mod client;
pub mod connectors;
pub mod differential;
pub mod group;
pub mod histories;
pub mod ideal;
pub mod near;
pub mod random;
pub mod replicas;
pub mod replication;
pub mod server;
pub mod wire;
