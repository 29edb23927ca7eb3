//! Classifies statements by their bytes alone: the kind of a statement, whether its result may be cached, and, given a table's key column,
//! the rows that it can touch.
//!
//! Invariants: total (any bytes give an answer), linear in the text, no recursion, no I/O. What is not
//! understood is `Kind::Opaque`, which may change or commit anything; a read is cacheable only if every
//! function in it is on the flavour's list of deterministic ones.
//! Deliberately absent: a grammar. Syntax errors are the server's to find, so an ill-formed text may be
//! classified as if it were well formed; it then fails on the server and is never stored.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

mod abbreviated;
mod aggregates;
mod certain;
mod charset;
mod classify;
mod ddl;
mod deprecated;
mod digest;
mod found;
mod lex;
mod mentions;
mod mode;
mod named;
mod numbers;
mod reasons;
mod refusal;
mod selection;
mod set;
mod setting;
mod shape;
mod show;
mod sources;
mod statement;
pub mod surface;
pub mod touched;
mod transaction;
mod view;
mod walk;

pub use abbreviated::abbreviated;
pub use aggregates::{Aggregates, is_aggregate};
pub use certain::certainly_reads;
pub use charset::{CHARACTER_SETS, Charset};
pub use classify::{classify, is_deterministic};
pub use deprecated::deprecations;
pub use digest::Digest;
pub use found::{asks_for_found_rows_alone, may_ask_for_found_rows, may_count_found_rows, may_skip_rows};
pub use mentions::{contains_ignoring_case, may_create_temporary_table, may_search, mentions};
pub use mode::LexMode;
pub use numbers::Numbers;
pub use refusal::Refusal;
pub use selection::{Pattern, Selection, SelectionError};
pub use setting::shows_setting_alone;
pub use shape::{shape, shape_and_numbers, shape_id, without_comments};
pub use sources::sources;
pub use statement::*;
pub use view::{ViewRefusal, view};
