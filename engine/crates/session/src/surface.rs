//! What a user sees in SQL: MySQL's names for the cache's variables, and `SHOW FQC`.

pub mod intercept;
mod misuse;
pub mod report;
