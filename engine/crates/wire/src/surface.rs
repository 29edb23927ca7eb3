//! Results as the user should see them: names translated back, values replaced, own results built.
//!
//! Complete responses of a single result. `None` means it could not be done; the caller then
//! sends what it had.

mod build;
mod rename;
mod replace;
mod result;

pub use build::text_result;
pub use rename::rename_columns;
pub use replace::replace_values;
