//! The threads that serve connections.
//!
//! A connection stays on one thread, which waits for all its connections at once. So no byte has to wake another thread.

use std::future::{Future, pending};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tokio::runtime::{Builder, Handle};

#[derive(Clone)]
pub struct Threads {
    handles: Arc<[Handle]>,
    next: Arc<AtomicUsize>,
}

impl Threads {
    /// Starts `count` threads, or one for each processor if it is 0. They end with the process.
    pub fn start(count: usize) -> io::Result<Threads> {
        let count = if count > 0 { count } else { thread::available_parallelism()?.get() };
        let handles = (0..count).map(start).collect::<io::Result<_>>()?;
        Ok(Threads { handles, next: Arc::default() })
    }

    /// Runs a task on the next thread in turn.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        self.handles[turn % self.handles.len()].spawn(task);
    }
}

fn start(number: usize) -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    thread::Builder::new().name(format!("bytes-{number}")).spawn(move || runtime.block_on(pending::<()>()))?;
    Ok(handle)
}
