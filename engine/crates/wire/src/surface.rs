//! Results as the user should see them: column names translated back, values replaced, and results that the engine makes itself.
//!
//! All functions take complete responses with a single result. `None` means that the response could not be changed; the caller
//! then sends the one it had.

mod build;
mod rename;
mod replace;
mod result;

pub use build::text_result;
pub use rename::rename_columns;
pub use replace::replace_values;
