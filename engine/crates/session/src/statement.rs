//! One statement on its way through the server.

pub mod given;
pub mod prepared;
pub mod question;
pub mod recording;
pub mod rendering;
pub mod rows;
pub mod running;
pub mod terms;
pub mod unseen;
pub mod verification;
