//! One statement on its way through the server.

pub mod prepared;
pub mod recording;
pub mod rows;
pub mod running;
pub mod verification;
