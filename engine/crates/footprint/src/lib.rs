//! Rows of one table by their keys: the rows that a read or write may touch, as far as table and statement determine them.
//!
//! The *footprint* of a statement is the whole table, or the *points* (single values of an integer key column, `id = 7`,
//! `id IN (7, 9)`) or the *range* (`id BETWEEN 7 AND 9`) of one table.
//!
//! Deliberately absent: SQL, versions, and any question to a server's catalogue.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

mod column;
mod columns;
mod keys;
mod unique;

pub use column::KeyColumn;
pub use columns::{CatalogueRow, computed, has_time, key_of};
pub use keys::Keys;
pub use unique::{KeyPart, PartKind, UniqueKey, unique_keys};
