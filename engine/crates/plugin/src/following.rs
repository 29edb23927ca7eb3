//! Following the server: threads whose bytes are not seen, and when statements are followed at all.

pub mod bystanders;
pub mod closed_elsewhere;
pub mod dozing;
pub mod earlier_connections;
pub mod sessions;
pub mod waking;
