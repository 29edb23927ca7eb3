//! Start and stop of the plugin, which load of it this is, and the connections' way in and out.

use crate::bystanders;
use crate::faults;
use crate::hooks;
use crate::io;
use crate::mariadb::local;
use crate::mariadb::log;
use crate::mariadb::status;
use crate::mariadb::symbols as server;
use crate::slots::{self, Slot, Taken};
use crate::strangers;
use crate::waking;
use crate::worker;
use flavour::MARIADB;
use host::Connection;
use session::Engine;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Which load of the plugin this is; even while it is not loaded.
static LOAD: AtomicU64 = AtomicU64::new(0);
/// When it began.
static LOADED_NS: AtomicU64 = AtomicU64::new(0);
static SEES_TLS: AtomicBool = AtomicBool::new(false);
/// Whatever a connection that is accepted now does will be reported.
static ADMITS: AtomicBool = AtomicBool::new(false);

pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(faults::forgetful(&MARIADB), now_ns))
}

fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

pub fn is_loaded() -> bool {
    load().is_some()
}

/// The present load, if there is one.
pub fn load() -> Option<u64> {
    Some(LOAD.load(Ordering::Acquire)).filter(|load| load % 2 == 1)
}

pub fn since_load() -> Duration {
    Duration::from_nanos(now_ns() - LOADED_NS.load(Ordering::Relaxed))
}

/// The server's threads may have met an earlier load of the plugin.
pub fn was_loaded_before() -> bool {
    LOAD.load(Ordering::Relaxed) > 1
}

/// The server reports to this plugin from here on: until its load is over it does not.
#[inline]
pub fn admit() {
    // Relaxed: whoever accepts a connection reads it on its own.
    if !ADMITS.load(Ordering::Relaxed) {
        ADMITS.store(true, Ordering::Release);
        worker::wake();
    }
}

pub fn start() -> Result<(), String> {
    worker::await_end();
    local::link();
    let server = server::find()?;
    if !status::redirect() {
        status::restore();
        return Err("the server's Qcache_ status rows were not found".into());
    }
    faults::arm();
    engine().forget();
    note_cluster();
    // What ran when the last load was over ended unseen: what is closed for it would stay so until its connection goes on.
    slots::visit(|taken| _ = lets_go(taken));
    waking::sleep(engine());
    now_ns();
    strangers::learn();
    // Before it has started nobody has connected.
    ADMITS.store(!server.has_started(), Ordering::Release);
    let sees_tls = hooks::install().inspect_err(|_| status::restore())?;
    SEES_TLS.store(sees_tls, Ordering::Relaxed);
    LOADED_NS.store(now_ns(), Ordering::Relaxed);
    LOAD.fetch_add(1, Ordering::AcqRel);
    bystanders::start();
    crate::mariadb::rules::adopt();
    worker::publish_wishes(engine());
    worker::start();
    let tls = if sees_tls { "" } else { "; its TLS library is built in, so TLS connections pass uncached" };
    log::note(&format!("{} loaded into server {}{tls}", crate::VERSION_TEXT.to_string_lossy(), server.version()));
    if !engine().flavour().is_tested(&server.version()) {
        log::warning("this server version has not been tested with this engine");
    }
    Ok(())
}

pub fn stop() {
    LOAD.fetch_add(1, Ordering::AcqRel);
    worker::stop();
    engine().settings().switch(false);
    engine().cache().clear();
    waking::sleep(engine());
    bystanders::stop();
    status::restore();
    if slots::all_clean() {
        hooks::remove();
        log::note("unloaded");
    } else {
        log::note("unloaded; connections in the middle of a command still pass through its hooks");
    }
}

/// Runs `work` with every lock held that this library has, which shows that what goes on meanwhile waits for none.
pub fn holding(work: &mut dyn FnMut()) {
    let inner = &mut || bystanders::holding(&mut || waking::holding(&mut || engine().holding(work)));
    let inner = &mut || strangers::holding(&mut || hooks::holding(&mut || status::holding(inner)));
    worker::holding(&mut || crate::mariadb::rules::holding(inner));
}

/// To be called before an answer leaves that may be that of a SET GLOBAL: nobody is told of a cluster before nothing is served.
#[inline]
pub fn note_cluster() {
    engine().settings().set_in_cluster(server::get().is_cluster_node());
}

/// A panic was caught.
pub fn contained() {
    engine().settings().fail();
    if status::NUMBERS.contained.fetch_add(1, Ordering::Relaxed) == 0 {
        log::error("a fault was contained; the cache is off until the server restarts, connections go on uncached");
    }
}

pub fn number_before_accept() -> u64 {
    engine().settings().inherited()
}

pub fn accepted(fd: c_int, number: u64) {
    note_cluster();
    let load = LOAD.load(Ordering::Acquire);
    if fd >= 0 && load % 2 == 1 && ADMITS.load(Ordering::Acquire) {
        slots::open(fd, load, Connection::accepted(engine().flavour(), number, server::get().has_thread_pool()));
    }
}

/// A server that ends stops listening first.
pub fn note_end(fd: c_int) {
    if server::get().is_ending() && !worker::is_this_thread() && io::is_listening(fd) {
        worker::ask_no_more();
    }
}

pub fn closing(fd: c_int) {
    let Some(mut taken) = slots::get(fd).and_then(slots::Slot::take) else { return };
    taken.slot.thread_id.store(0, Ordering::Release);
    if let Some(mut connection) = taken.content().take() {
        connection.session.close(engine());
    }
}

pub fn is_of_this_load(slot: &Slot) -> bool {
    slot.load.load(Ordering::Relaxed) == LOAD.load(Ordering::Acquire)
}

/// A connection of an earlier load, once nothing of it is in our hands, is left alone for good.
pub fn lets_go(taken: &mut Taken) -> bool {
    if is_of_this_load(taken.slot) {
        return false;
    }
    let is_clean = taken.content().as_ref().is_none_or(Connection::is_clean);
    if is_clean && let Some(mut connection) = taken.content().take() {
        connection.session.close(engine());
    }
    is_clean
}

/// The socket under a TLS connection.
pub fn descriptor_of(ssl: *mut c_void) -> c_int {
    type SslGetFd = unsafe extern "C" fn(*const c_void) -> c_int;
    static GET_FD: OnceLock<Option<SslGetFd>> = OnceLock::new();
    let function = GET_FD.get_or_init(|| {
        // SAFETY: the TLS library's public function of this name has this signature.
        server::symbol(c"SSL_get_fd").ok().map(|symbol| unsafe { std::mem::transmute::<*mut c_void, SslGetFd>(symbol) })
    });
    // SAFETY: the server passes its TLS connection.
    function.map_or(-1, |function| unsafe { function(ssl) })
}

/// Someone may have asked for the catalogue while a session was at work.
pub fn wake_if_wanted() {
    if engine().is_catalogue_wanted() {
        worker::wake();
    }
}

/// A SET has run. All but the memory itself follows at once; resizing is the worker's.
pub fn settings_changed() {
    admit();
    worker::publish_settings(engine());
    worker::wake();
}
