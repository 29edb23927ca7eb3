//! Implements `Server` for MariaDB.

use crate::admission;
use crate::declared::variables;
use crate::exports;
use crate::mariadb::abi::{GENERAL_CLASS, ME_ERROR_LOG_ONLY, ME_NOTE, ME_WARNING, TABLE_CLASS};
use crate::mariadb::appliers;
use crate::mariadb::classes;
use crate::mariadb::local::{self, Local};
use crate::mariadb::native;
use crate::mariadb::neighbours;
use crate::mariadb::processes;
use crate::mariadb::snapshots;
use crate::mariadb::status;
use crate::mariadb::symbols::{self, Symbols};
use crate::mariadb::{events, messages};
use crate::server::{Level, Reports, Server};
use crate::settings;
use flavour::Flavour;
use host::Link;
use session::{EarlierStatement, Engine, Settings};
use std::sync::atomic::Ordering;

/// Checks that the plugin may be loaded into this server and finds every symbol that it needs. The error says why not, or names the first
/// symbol that this server build does not export.
pub fn find() -> Result<&'static dyn Server, String> {
    admission::check()?;
    symbols::find().map(|symbols| symbols as &dyn Server)
}

impl Server for Symbols {
    fn begin(&self) -> Result<(), String> {
        local::link();
        variables::listen(settings::changed, events::type_changed);
        if !status::redirect() {
            status::restore();
            return Err("the server's Qcache_ status rows were not found".into());
        }
        Ok(())
    }

    fn loaded(&self) {
        appliers::install();
        snapshots::install();
    }

    fn end(&self) {
        snapshots::remove();
        appliers::remove();
        status::restore();
    }

    fn version(&self) -> String {
        exports::server_version().unwrap_or_default()
    }

    fn flavour(&self) -> &'static Flavour {
        flavour::of(&Server::version(self))
    }

    fn has_started(&self) -> bool {
        Symbols::has_started(self)
    }

    fn is_ending(&self) -> bool {
        Symbols::is_ending(self)
    }

    fn has_thread_pool(&self) -> bool {
        Symbols::has_thread_pool(self)
    }

    /// Returns none: on MariaDB only a session's own thread closes its connection. A thread that kills a session just
    /// shuts the connection down.
    fn session_here(&self) -> Option<u64> {
        None
    }

    fn obstacle(&self) -> Option<&'static str> {
        self.is_cluster_node().then_some("this server is a node of a Galera cluster (wsrep_on)")
    }

    fn print(&self, level: Level, text: &str) {
        let level = match level {
            Level::Note => ME_NOTE,
            Level::Warning => ME_WARNING,
            Level::Error => 0,
        };
        messages::print(self, level | ME_ERROR_LOG_ONLY, text);
    }

    fn raise(&self, number: u32, is_warning: bool, text: &str) {
        messages::raise(self, number, is_warning, text);
    }

    fn enter_thread(&self) {
        local::enter_thread();
        native::begin();
    }

    fn leave_thread(&self) {
        local::leave_thread();
    }

    fn link(&self) -> Box<dyn Link> {
        Box::new(Local::default())
    }

    fn unlink(&self) {
        local::unlink();
    }

    fn publish_settings(&self, settings: &Settings) {
        variables::publish(settings);
    }

    fn adopt_settings(&self, engine: &Engine, link: &mut dyn Link) -> Result<bool, String> {
        native::adopt_settings(engine, link, self.reports_no_statements())
    }

    fn doubt_settings(&self) {
        native::doubt();
    }

    fn examine(&self, _: &mut dyn Link) -> Result<(), String> {
        Ok(())
    }

    fn danger(&self, link: &mut dyn Link) -> Result<Option<String>, String> {
        let folders = local::folders(|question| link.query(question))?;
        Ok(neighbours::all(folders).next().map(|neighbours::Neighbour { process, folder, .. }| {
            format!(
                "another server (process {process}) has the same tmpdir, {}: whichever of them starts removes the temporary tables of the other, \
                 which can crash; give each a tmpdir of its own in its option file, and restart it",
                folder.display()
            )
        }))
    }

    fn reports_no_statements(&self) -> bool {
        const STATEMENTS: u64 = 1 << GENERAL_CLASS | 1 << TABLE_CLASS;
        self.reported_classes().is_some_and(|mask| mask.load(Ordering::Relaxed) & STATEMENTS == 0)
    }

    fn set_reports(&self, reports: Reports) {
        let Some(mask) = self.reported_classes() else { return };
        // Relaxed: a statement that starts before its thread sees the change is waited for, or no longer matters.
        match reports {
            Reports::All => mask.fetch_or(classes::ALL, Ordering::Relaxed),
            Reports::Connections => mask.fetch_and(!classes::STATEMENTS, Ordering::Relaxed),
            Reports::Nothing => mask.fetch_and(!classes::ALL, Ordering::Relaxed),
        };
    }

    fn renew_plugins(&self) {
        Symbols::renew_plugins(self);
    }

    fn running(&self, link: &mut dyn Link) -> Result<Vec<EarlierStatement>, String> {
        processes::running(link)
    }

    fn lasting_threads(&self, link: &mut dyn Link) -> Result<Vec<EarlierStatement>, String> {
        processes::lasting_threads(link)
    }
}
