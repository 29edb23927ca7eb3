//! Wakes tasks when there is something to do, on any asynchronous runtime.

use locks::Mutex;
use std::future::poll_fn;
use std::sync::{MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A flag with which one thread wakes tasks of others. It stays set until a task resets it with [`wait`](Self::wait).
#[derive(Default)]
pub struct WakeFlag(Mutex<State>);

#[derive(Default)]
struct State {
    is_set: bool,
    waiting: Vec<Waker>,
}

impl WakeFlag {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the flag, and wakes all tasks that wait for it.
    pub fn set(&self) {
        let waiting = {
            let mut state = self.state();
            state.is_set = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Is ready once the flag is set, and does not reset it. If it is pending, the next call of [`set`](Self::set) wakes the task of
    /// `context`.
    pub fn poll_set(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.is_set {
            return Poll::Ready(());
        }
        if !state.waiting.iter().any(|one| one.will_wake(context.waker())) {
            state.waiting.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// Waits until the flag is set, and resets it. To be awaited by one task at a time: a second one may see the flag reset.
    pub async fn wait(&self) {
        poll_fn(|context| self.poll_set(context)).await;
        self.state().is_set = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_ring_wakes_those_who_wait_and_is_remembered_until_it_is_heard() {
        let flag = WakeFlag::default();
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let mut context = Context::from_waker(&waker);
        assert!(flag.poll_set(&mut context).is_pending() && flag.poll_set(&mut context).is_pending());
        flag.set();
        assert_eq!(woken.0.load(Ordering::Relaxed), 1, "a task that looks twice waits once");
        assert!(flag.poll_set(&mut context).is_ready() && flag.poll_set(&mut context).is_ready());
        assert!(pin!(flag.wait()).poll(&mut context).is_ready());
        assert!(pin!(flag.wait()).poll(&mut context).is_pending());
    }
}
