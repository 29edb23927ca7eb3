//! Deliberate faults, for the tests that show that none of them brings the server down.
//!
//! With `FQC_FAULT=recv:500` in the server's environment, the hook of that name panics from its 500th call on; with
//! `FQC_FAULT=capability:35` the engine does not know that capability; with `FQC_FAULT=symbol:name` the server does not seem to
//! export that name, and with `FQC_FAULT=version:8.0.36` it seems to be of that version; with
//! `FQC_FAULT=silent:Lock` the self-test on MySQL hears nothing from that seam, with `FQC_FAULT=silent:memory` nothing of that
//! engine's table. With `FQC_FAULT=doze:random` the
//! engine dozes and wakes at random, with `FQC_FAULT=doze:/a/path` while that file exists.

use flavour::Flavour;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

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

/// 0 almost everywhere. Relaxed, as the count: only a test looks at them.
static ARMED: AtomicU8 = AtomicU8::new(0);
static CALLS_LEFT: AtomicU64 = AtomicU64::new(0);

/// What is wished for under this name.
pub fn wish(name: &str) -> Option<String> {
    Some(std::env::var("FQC_FAULT").ok()?.strip_prefix(name)?.strip_prefix(':')?.to_owned())
}

pub fn arm() {
    let Ok(wish) = std::env::var("FQC_FAULT") else { return };
    let (name, calls) = wish.split_once(':').unwrap_or((&wish, "0"));
    if let Some((_, point)) = NAMES.iter().find(|(known, _)| *known == name) {
        CALLS_LEFT.store(calls.parse().unwrap_or(0), Ordering::Relaxed);
        ARMED.store(*point as u8, Ordering::Relaxed);
        crate::log::warning(&format!("FQC_FAULT is set: this process will panic on purpose in {name}"));
    }
}

/// The same flavour, but for the capability that is to be unknown.
pub fn forgetful(flavour: &'static Flavour) -> &'static Flavour {
    let wish = std::env::var("FQC_FAULT").ok();
    let Some(bit) = wish.and_then(|wish| wish.strip_prefix("capability:")?.parse::<u32>().ok()) else { return flavour };
    let mut other = *flavour;
    other.capabilities.known &= !1u64.checked_shl(bit).unwrap_or(0);
    Box::leak(Box::new(other))
}

#[inline]
pub fn may_strike(point: Point) {
    if ARMED.load(Ordering::Relaxed) == point as u8 {
        strike();
    }
}

#[cold]
fn strike() {
    let left = CALLS_LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    assert!(left.is_ok(), "a fault on purpose");
}
