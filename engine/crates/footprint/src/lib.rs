//! The vocabulary in which reads and writes say what they touch.
//!
//! A *footprint* is what one statement touches: whole tables; or, where table and statement allow it, the *points* (single
//! values of an integer key column, `id = 7`, `id IN (7, 9)`) or the *range* (`id BETWEEN 7 AND 9`) of one table.
//! Two footprints that cannot be proved disjoint collide: a point lies in its table, a range holds its points, and a whole
//! table holds everything.
//!
//! Deliberately absent: SQL, versions, and any knowledge of a server's catalogue.

mod column;
mod keys;
mod table;

pub use column::KeyColumn;
pub use keys::Keys;
pub use table::{NameCase, TableName};
