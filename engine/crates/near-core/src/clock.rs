//! The clock for leases and ages of results.

/// Returns the time in nanoseconds since the start of the machine. The clock continues while the machine sleeps, because a lease
/// must be over afterwards. `u64::MAX` if there is no such clock: every lease is then over.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is valid for the call to write.
    let outcome = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut time) };
    // Without a clock the time is so late that no lease is in force.
    if outcome == 0 { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { u64::MAX }
}

/// Converts nanoseconds to microseconds, rounding down. The store has room for nine years of microseconds since the start of the
/// machine.
pub fn microseconds(now_ns: u64) -> u64 {
    now_ns / 1000
}
