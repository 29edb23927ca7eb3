//! Following the server: threads whose bytes are not seen, and when statements are followed at all.

pub mod bystanders;
pub mod cut;
pub mod dozing;
pub mod sessions;
pub mod strangers;
pub mod waking;
