//! Handles the server's reports, for connections and for threads whose packets are not seen.

pub mod bystander;
pub mod dozing;
pub mod earlier_statements;
pub mod entrance;
pub mod resting;
pub mod session_starts;
pub mod tables;
pub mod trial;
pub mod unreported_connection;
