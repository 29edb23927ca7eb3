//! Statistics of a query cache about its own use: which statements gain by it, how it would do at other sizes, and which rules a user has
//! set for it.
//!
//! - [`Curve`] predicts the hit ratio at an eighth to eight times the size, from a sample of the requests.
//! - [`Digests`] counts for each shape of statement: requests, hits, reasons for not storing, and the time saved.
//! - [`policy`] decides from such counts how many results of a shape are worth storing.
//! - [`Interval`] decides whether the cache as a whole is worth its cost, and [`Repeats`] whether it could be.
//! - [`Rules`] are the user's rules for statements, tables and accounts, as JSON.
//! - [`Timeline`] gives an upper bound for the age of a result, from its stamp.
//!
//! Invariants: a hit never waits for a lock here, and memory is bounded whatever happens.
//! This crate has no SQL, sockets or clocks (time is an argument), and no influence on what a hit returns.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

mod curve;
mod digests;
pub mod policy;
mod repeats;
pub mod report;
pub mod rules;
mod server_rules;
mod timeline;
mod worth;

pub use curve::{Curve, FACTORS, Moment, Point, Sample, Trial};
pub use digests::{Digest, Digests, NOBODY, Outcome, REASONS, ShapeId};
pub use repeats::{Count, Repeats};
pub use rules::{Caching, Pattern, digest_of};
pub use server_rules::{Rules, Subject};
pub use timeline::Timeline;
pub use worth::Interval;
