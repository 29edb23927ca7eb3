//! Passes what users have set on to the engine.

use crate::connections;
use crate::engine::engine;
use crate::following::waking;
use crate::server;
use crate::signal;
use session::Engine;

/// A SET has run. All but the memory itself follows at once; resizing is the worker's.
pub fn changed() {
    connections::admit();
    publish(engine());
    signal::wake();
}

/// The same, but not by a SET of a session.
pub fn changed_unseen() {
    publish(engine());
    signal::wake();
}

pub fn publish(engine: &Engine) {
    server::get().publish_settings(engine.settings());
    engine.settings().switch(engine.memory_bytes() > 0);
    waking::attend(engine);
}

pub fn apply(engine: &Engine) {
    publish(engine);
    let bytes = engine.memory_bytes();
    if engine.cache().budget() != bytes {
        engine.cache().resize(bytes);
    }
}

/// To be called before an answer leaves that may be that of a SET GLOBAL: nobody is told of it before nothing is served.
#[inline]
pub fn note_obstacle() {
    let is_obstructed = server::get().obstacle().is_some();
    engine().settings().set_obstructed(is_obstructed);
    if is_obstructed && engine().feed().has_nears() {
        engine().detach_all();
    }
}
