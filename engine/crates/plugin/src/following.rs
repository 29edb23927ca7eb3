//! What is known of threads whose bytes are not seen, and when the engine follows statements at all.

pub mod bystanders;
pub mod strangers;
pub mod waking;
