//! Start and stop of the plugin.

use crate::admission;
use crate::connections;
use crate::declared::{rules, status_variables, variables};
use crate::engine::{begin_load, end_load, engine};
use crate::faults;
use crate::following::{closed_elsewhere, earlier_connections, unfollowed_threads, waking};
use crate::hooks;
use crate::log;
use crate::server::{self, Server};
use crate::settings;
use crate::signal;
use crate::sockets::descriptors;
use crate::version;
use crate::worker;

/// Loads the plugin: installs the hooks and starts the worker. An error says why that failed, and leaves the server unchanged.
pub fn start(server: &'static dyn Server) -> Result<(), String> {
    worker::await_end();
    server::set(server);
    server.begin()?;
    faults::arm();
    engine().forget();
    engine().uninstallation().set_host(signal::wake);
    settings::note_obstacle();
    // Statements that ran at the last unload ended unseen. Their writes would count as in progress until their connection is used again.
    descriptors::visit(|taken| _ = connections::release_if_unused(taken));
    waking::suspend(engine());
    earlier_connections::learn();
    connections::begin();
    let sees_tls = hooks::install().inspect_err(|_| server.end())?;
    begin_load();
    unfollowed_threads::start();
    server.loaded();
    rules::adopt();
    variables::publish_wishes(engine().settings());
    waking::wake_if_wanted(engine());
    worker::start();
    let tls = if sees_tls { "" } else { "; its TLS library is built in, so TLS connections pass uncached" };
    log::note(&format!("{} loaded into server {}{tls}", version::TEXT.to_string_lossy(), server.version()));
    let untested = admission::untested(&server.version());
    if let Some(server) = &untested {
        log::warning(&admission::warning(server));
    }
    status_variables::show_untested_server(untested);
    Ok(())
}

/// Unloads the plugin: ends the worker and drops all results. The hooks stay installed while a connection still needs them.
pub fn stop() {
    // The server also calls this for a plugin whose start has failed.
    if server::find().is_none() {
        return;
    }
    // Reports are ignored from the end of the load on.
    engine().feed().admit(false);
    engine().detach_all();
    end_load();
    worker::stop();
    engine().settings().switch(false);
    engine().drop_results();
    waking::suspend(engine());
    unfollowed_threads::stop();
    closed_elsewhere::forget();
    server::get().end();
    if descriptors::all_clean() {
        hooks::remove();
        log::note("unloaded");
    } else {
        log::note("unloaded; connections in the middle of a command still go through its hooks");
    }
}
