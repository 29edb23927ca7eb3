//! What the server tells besides its responses, of connections and of threads whose bytes are not seen.

pub mod bystander;
pub mod facts;
pub mod past;
pub mod resting;
pub mod trial;
