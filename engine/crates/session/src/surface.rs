//! The cache's interface in SQL: MySQL's names for its variables, and `SHOW FQC`.

pub mod intercept;
mod misuse;
pub mod report;
