//! The engine of this process, and the number of times that the plugin has been loaded.

use crate::faults;
use crate::server;
use session::Engine;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Counts loads and unloads: odd while the plugin is loaded, even while it is not.
static LOAD: AtomicU64 = AtomicU64::new(0);
/// When the current load started, in nanoseconds of the monotonic clock.
static LOADED_NS: AtomicU64 = AtomicU64::new(0);

/// Returns the engine of this process. The first call creates it; it outlives each unload of the plugin.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get().unwrap_or_else(|| fill(&ENGINE))
}

/// Creates the engine on a separate thread and waits for it, because that needs more stack than the server's threads may have
/// (`thread_stack`).
#[cold]
fn fill(place: &'static OnceLock<Engine>) -> &'static Engine {
    const STACK_BYTES: usize = 2 << 20;
    let make = || place.get_or_init(|| Engine::new(faults::without_capability(server::get().flavour()), now_ns));
    let made = thread::Builder::new().name("fqc-install".into()).stack_size(STACK_BYTES).spawn(make);
    made.ok().and_then(|made| made.join().ok()).unwrap_or_else(make)
}

/// Returns the monotonic clock in nanoseconds. Called twice per statement, so it avoids the checks of `Instant`.
fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid structure to fill; the monotonic clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Notes that the plugin is loaded: from here on, `is_loaded` is true.
pub fn begin_load() {
    LOADED_NS.store(now_ns(), Ordering::Relaxed);
    LOAD.fetch_add(1, Ordering::AcqRel);
}

/// Notes that the plugin is being unloaded: from here on, `is_loaded` is false.
pub fn end_load() {
    LOAD.fetch_add(1, Ordering::AcqRel);
}

/// True from the moment at which a load cannot fail any more until the plugin is unloaded. Otherwise reports of the server are ignored.
pub fn is_loaded() -> bool {
    load().is_some()
}

/// Returns the number of the current load, which is odd and differs from that of every other load; none if the plugin is not loaded.
pub fn load() -> Option<u64> {
    Some(load_number()).filter(|load| load % 2 == 1)
}

/// Returns the number of loads and unloads so far: odd while the plugin is loaded, even while it is not.
#[inline]
pub fn load_number() -> u64 {
    LOAD.load(Ordering::Acquire)
}

/// Returns the time since the current load, or the last one, began.
pub fn since_load() -> Duration {
    Duration::from_nanos(now_ns() - LOADED_NS.load(Ordering::Relaxed))
}

/// True if the plugin was loaded before in this process, so that the server's threads may still hold a reference to that load. Call while
/// it is loaded.
pub fn was_loaded_before() -> bool {
    LOAD.load(Ordering::Relaxed) > 1
}
