//! Deliberate faults, for the tests that show that none of them brings the server down.
//!
//! With `FQC_FAULT=recv:500` in the server's environment, the hook of that name panics on every call after the first 500.
//! Other values:
//! - `capability:35`: the engine does not know that capability.
//! - `symbol:name`: the server seems not to export that name.
//! - `version:8.0.36`: the server seems to have that version.
//! - `silent:Lock`: the self-test on MySQL receives no report from that seam; `silent:memory`: none about a table of that storage engine.
//! - `group:deaf`: on a member of a replication group, the plugin ignores that the group holds reads back.
//! - `commit:early`: on MySQL, the commit of a thread without a followed connection, such as a replication applier, is reported before it
//!   happens.
//! - `doze:random`: the engine enters and leaves light mode at random; `doze:/a/path`: it is in light mode while that file exists.

use flavour::Flavour;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// A place in the plugin's code where tests can have it panic.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Point {
    Accept = 1,
    Recv,
    Send,
    Close,
    Event,
    Variable,
    Worker,
}

const NAMES: [(&str, Point); 7] = [
    ("accept", Point::Accept),
    ("recv", Point::Recv),
    ("send", Point::Send),
    ("close", Point::Close),
    ("event", Point::Event),
    ("variable", Point::Variable),
    ("worker", Point::Worker),
];

/// The armed `Point` as a number, 0 outside of tests. Relaxed, like the count, because only tests use them.
static ARMED: AtomicU8 = AtomicU8::new(0);
/// How many calls pass before the armed point panics.
static CALLS_LEFT: AtomicU64 = AtomicU64::new(0);

/// Returns what follows `name:` in `FQC_FAULT`; none if the variable is not set, or names another fault.
pub fn argument(name: &str) -> Option<String> {
    Some(std::env::var("FQC_FAULT").ok()?.strip_prefix(name)?.strip_prefix(':')?.to_owned())
}

/// Reads `FQC_FAULT` and arms the hook that it names, if any: the hook panics after the number of calls that is given there. Logs a warning
/// then.
pub fn arm() {
    let Ok(wish) = std::env::var("FQC_FAULT") else { return };
    let (name, calls) = wish.split_once(':').unwrap_or((&wish, "0"));
    if let Some((_, point)) = NAMES.iter().find(|(known, _)| *known == name) {
        CALLS_LEFT.store(calls.parse().unwrap_or(0), Ordering::Relaxed);
        ARMED.store(*point as u8, Ordering::Relaxed);
        crate::log::warning(&format!("FQC_FAULT is set: this process will panic on purpose in {name}"));
    }
}

/// Returns `flavour`, or a copy of it without the capability that `FQC_FAULT` names. A copy is never freed.
pub fn without_capability(flavour: &'static Flavour) -> &'static Flavour {
    let wish = std::env::var("FQC_FAULT").ok();
    let Some(bit) = wish.and_then(|wish| wish.strip_prefix("capability:")?.parse::<u32>().ok()) else { return flavour };
    let mut other = *flavour;
    other.capabilities.known &= !1u64.checked_shl(bit).unwrap_or(0);
    Box::leak(Box::new(other))
}

/// Panics if this point is armed and as many calls as were set have passed. Otherwise does nothing.
#[inline]
pub fn panic_if_armed(point: Point) {
    if ARMED.load(Ordering::Relaxed) == point as u8 {
        strike();
    }
}

#[cold]
fn strike() {
    let left = CALLS_LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    assert!(left.is_ok(), "a fault on purpose");
}
