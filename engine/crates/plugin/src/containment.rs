//! Keeps panics inside this library: a panic is counted and logged, and the cache is switched off for the process.

use crate::engine::engine;
use crate::faults::{self, Point};
use crate::log;
use crate::numbers::NUMBERS;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// Runs `work`. If it panics, switches the cache off (see `contained`) and returns `fallback`. `point` says which fault of the tests may be
/// injected here.
pub fn contain<T>(point: Point, fallback: T, work: impl FnOnce() -> T) -> T {
    let work = || {
        faults::panic_if_armed(point);
        work()
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        contained();
        fallback
    })
}

/// Switches the cache off for the rest of the process after a caught panic, and detaches all near caches. The first one is logged.
pub fn contained() {
    engine().settings().fail();
    // This thread may have been about to send an invalidation to near caches, so all of them are detached.
    engine().detach_all();
    if NUMBERS.contained.fetch_add(1, Ordering::Relaxed) == 0 {
        log::error(
            "a fault was contained; the cache is off until the server restarts, and connections continue without it",
        );
    }
}
