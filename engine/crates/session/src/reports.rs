//! What the server tells besides its responses, of connections and of threads whose bytes are not seen.

pub mod beginnings;
pub mod bystander;
pub mod entrance;
pub mod past;
pub mod resting;
pub mod tables;
pub mod trial;
pub mod unheard;
