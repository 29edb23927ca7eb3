//! The time by which leases are counted.

/// In nanoseconds. It goes on while the machine sleeps: a lease must be over after that.
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is valid for the call to write.
    let outcome = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut time) };
    // Without a clock no lease runs.
    if outcome == 0 { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { u64::MAX }
}

/// Rounded towards the past. The store has room for nine years of them, since the machine has started.
pub fn microseconds(now_ns: u64) -> u64 {
    now_ns / 1000
}
