//! Following the server: threads whose connection is not followed, and when statements are followed at all.

pub mod bystanders;
pub mod closed_elsewhere;
pub mod dozing;
pub mod earlier_connections;
pub mod sessions;
pub mod waking;
