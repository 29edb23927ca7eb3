//! Passes the values of system variables on to the engine.

use crate::connections;
use crate::engine::engine;
use crate::following::waking;
use crate::server;
use crate::signal;
use session::Engine;

/// Called after a SET of the plugin's global variables, or one of `fqc_type`. The new values take effect at once except the memory size,
/// which the worker changes.
pub fn changed() {
    connections::admit();
    publish(engine());
    signal::wake();
}

/// Applies changed settings like `changed`, for a change that did not come from a SET of a session. Such a change does
/// not prove that the server reports to this plugin, so new connections are not followed because of it.
pub fn changed_without_set() {
    publish(engine());
    signal::wake();
}

/// Copies the system variables to the engine's settings, switches the cache on or off, and wakes the engine if a setting or a session wants
/// the cache.
pub fn publish(engine: &Engine) {
    server::get().publish_settings(engine.settings());
    engine.settings().switch(engine.memory_bytes() > 0);
    waking::wake_if_wanted(engine);
}

/// Publishes the settings and resizes the cache to `fqc_size`. For the worker's thread, because resizing takes time.
pub fn apply(engine: &Engine) {
    publish(engine);
    let bytes = engine.memory_bytes();
    if engine.cache().budget() != bytes {
        engine.cache().resize(bytes);
    }
}

/// Passes the obstacle to serving on to the engine, or that there is none. Call before sending any response: it may be the one to a SET
/// GLOBAL, and its client must not receive it before serving has stopped.
#[inline]
pub fn note_obstacle() {
    let is_obstructed = server::get().obstacle().is_some();
    engine().settings().set_obstructed(is_obstructed);
    if is_obstructed && engine().feed().has_nears() {
        engine().detach_all();
    }
}
