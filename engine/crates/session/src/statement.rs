//! One statement while the server runs it, and what is kept between the statements of a session.

pub mod parse_context;
pub mod pending_read;
pub mod prepared;
pub mod recording;
pub mod rendering;
pub mod rows;
pub mod running;
pub mod settings_query;
pub mod type_history;
pub mod verification;
