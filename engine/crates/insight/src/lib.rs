//! What a query cache knows of its own use: which statements gain by it, how it would do at other sizes, and what rules a
//! user set for it.
//!
//! - [`Curve`] predicts the hit ratio at an eighth to eight times the size, from a sample of the requests.
//! - [`Digests`] counts for each shape of statement: requests, hits, why not, and the time saved.
//! - [`policy`] decides from such counts how many results of a shape are worth storing.
//! - [`While`] tells whether the cache as a whole is worth what it costs, and [`Repeats`] whether it could be.
//! - [`Rules`] is what a user says of statements, tables and accounts, as JSON.
//! - [`Timeline`] tells how long ago a moment of the cache's own sequence was.
//!
//! Invariants: the path of a hit takes no lock that it would wait for, and memory is bounded whatever happens.
//! Deliberately absent: SQL, sockets, clocks (time is an argument), and any influence on what a hit answers.

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
pub use worth::While;
