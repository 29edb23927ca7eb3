//! A session that tries the cache out (`fqc_trial`).

use crate::engine::Engine;
use crate::reason::Own;
use crate::session::Session;

impl Session {
    /// Begins or ends a trial: memory for it even where `fqc_size` is 0, and results that are nobody else's.
    pub(crate) fn try_out(&mut self, engine: &Engine, is_trial: bool) {
        if self.identity.is_trial() == is_trial {
            return;
        }
        if is_trial {
            engine.vigil().begin_trial()
        } else {
            engine.vigil().end_trial()
        }
        self.identity.set_trial(is_trial.then(|| engine.contexts().private()));
    }

    /// A read that is not stored, for a reason that shows before its response.
    pub(crate) fn note_refusal(&mut self, engine: &Engine, reason: Own) {
        engine.note_refusal(reason, 0);
        self.own.misses.count(Err(reason.into()));
    }
}
