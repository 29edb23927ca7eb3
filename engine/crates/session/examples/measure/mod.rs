//! Measures processor time rather than elapsed time, so that other work on the machine disturbs less.

/// The mean processor time of one call in nanoseconds. Each thread calls `make` once, and the function that it returns
/// `calls` times.
pub fn measure<F: FnMut()>(threads: u32, calls: u32, make: impl Fn() -> F + Sync) -> f64 {
    let spent: i64 = std::thread::scope(|scope| {
        let work = || {
            let mut call = make();
            let start = cpu_nanoseconds();
            (0..calls).for_each(|_| call());
            cpu_nanoseconds() - start
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("every call succeeds")).sum()
    });
    spent as f64 / f64::from(threads) / f64::from(calls)
}

/// The processor time of this thread so far in nanoseconds, exact to a few milliseconds.
fn cpu_nanoseconds() -> i64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    told.split(' ').next().and_then(|first| first.parse().ok()).expect("a number comes first")
}
