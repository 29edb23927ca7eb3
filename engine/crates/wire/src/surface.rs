//! Results in the form for users: column names translated back, values replaced, and results that the engine makes itself.
//!
//! All functions take complete responses with a single result. `None` means that the response could not be changed. The caller then sends
//! the original one.

mod build;
mod rename;
mod replace;
mod result;

pub use build::text_result;
pub use rename::rename_columns;
pub use replace::replace_values;
