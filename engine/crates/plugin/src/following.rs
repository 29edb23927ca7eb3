//! Following the server: threads whose connection is not followed, and when statements are followed at all.

pub mod closed_elsewhere;
pub mod earlier_connections;
pub mod light_mode;
pub mod sessions;
pub mod unfollowed_threads;
pub mod waking;
