//! The threads that serve connections.
//!
//! A connection stays on one thread, which waits for all its connections at once. So no byte has to wake another thread.

use std::future::{Future, pending};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tokio::runtime::{Builder, Handle};

/// The threads that serve connections. A clone stands for the same threads.
#[derive(Clone)]
pub struct Threads {
    handles: Arc<[Handle]>,
    next: Arc<AtomicUsize>,
}

impl Threads {
    /// Starts `count` threads, or one for each processor if `count` is 0. They end with the process.
    pub fn start(count: usize) -> io::Result<Threads> {
        let count = if count > 0 { count } else { thread::available_parallelism()?.get() };
        let handles = (0..count).map(start).collect::<io::Result<_>>()?;
        Ok(Threads { handles, next: Arc::default() })
    }

    /// Starts a task on one of the threads, each in turn, where the task stays until it ends. Returns at once.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        self.handles[turn % self.handles.len()].spawn(task);
    }
}

/// Starts one thread with a runtime of its own. `number`: for its name.
fn start(number: usize) -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    thread::Builder::new().name(format!("bytes-{number}")).spawn(move || runtime.block_on(pending::<()>()))?;
    Ok(handle)
}
