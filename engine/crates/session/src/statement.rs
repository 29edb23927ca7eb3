//! One statement while the server runs it, and what is kept between the statements of a session.

pub mod given;
pub mod prepared;
pub mod recording;
pub mod rendering;
pub mod rows;
pub mod running;
pub mod settings_query;
pub mod terms;
pub mod unseen;
pub mod verification;
