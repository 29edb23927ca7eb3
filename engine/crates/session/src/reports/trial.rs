//! Sessions that try the cache out (`fqc_trial`).

use crate::engine::Engine;
use crate::reason::ContextReason;
use crate::session::Session;

impl Session {
    /// Begins or ends the session's trial of the cache. A trial has memory even if `fqc_size` is 0, and its results are
    /// shared with no other session. No effect if that is so already.
    pub(crate) fn try_out(&mut self, engine: &Engine, is_trial: bool) {
        if self.identity.is_trial() == is_trial {
            return;
        }
        if is_trial {
            engine.mode().begin_trial()
        } else {
            engine.mode().end_trial()
        }
        self.identity.set_trial(is_trial.then(|| engine.contexts().private()));
    }

    /// Counts a read of this session that is not stored, for a reason that is known before its response.
    pub(crate) fn note_refusal(&mut self, engine: &Engine, reason: ContextReason) {
        engine.note_refusal(reason, 0);
        self.read_counts.misses.count(Err(reason.into()));
    }
}
