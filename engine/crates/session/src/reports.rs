//! Handles the server's reports, for connections and for threads whose packets are not seen.

pub mod earlier_statements;
pub mod entrance;
pub mod light_mode;
pub mod session_starts;
pub mod tables;
pub mod trial;
pub mod unfollowed_thread;
pub mod unreported_connection;
pub mod unserved;
