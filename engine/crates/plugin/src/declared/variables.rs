//! The system variables `fqc_*`: their declarations, and what is done when one is set. The server checks privileges, scope and type.

use crate::containment::contain;
use crate::declared::abi::*;
use crate::declared::checks::{
    MILLION, SIZE_MAX, check_limit, check_min_res_unit, check_size, check_type, check_verify_ppm,
};
use crate::declared::rules;
use crate::faults::Point;
use crate::server;
use crate::version;
use session::Settings;
use std::ffi::{CStr, c_char, c_int, c_ulong, c_ulonglong, c_void};
use std::ptr::null;
use std::sync::OnceLock;

const LIMIT_DEFAULT: u64 = 1_048_576;

static SIZE: Shared<c_ulonglong> = Shared::new(0);
static LIMIT: Shared<c_ulonglong> = Shared::new(LIMIT_DEFAULT);
static MIN_RES_UNIT: Shared<c_ulonglong> = Shared::new(4096);
static RELEASE_DATE: Shared<c_ulonglong> = Shared::new(version::RELEASE_DATE);
static VERSION: Shared<*const c_char> = Shared::new(version::TEXT.as_ptr());
static COMPATIBILITY: Shared<*const c_char> = Shared::new(c"5.7".as_ptr());
static VERIFY_PPM: Shared<c_ulonglong> = Shared::new(0);

struct Names([*const c_char; 4]);
// SAFETY: pointers to string literals, never written.
unsafe impl Sync for Names {}
static TYPE_NAMES: Names = Names([c"OFF".as_ptr(), c"ON".as_ptr(), c"DEMAND".as_ptr(), null()]);
// SAFETY: read-only for the server.
unsafe impl Sync for TypeLib {}
static TYPES: TypeLib = TypeLib { count: 3, name: c"".as_ptr(), names: TYPE_NAMES.0.as_ptr(), lengths: null() };

/// Declares a global number, `fqc_` or `query_` followed by `name`. The server rounds its values down to multiples of `block`.
const fn bytes(
    name: &'static CStr,
    comment: &'static CStr,
    check: Check,
    value: &'static Shared<c_ulonglong>,
    default: u64,
    max: u64,
    block: u64,
) -> Shared<GlobalNumber> {
    let mut header = header(VAR_LONGLONG | VAR_UNSIGNED, name, comment);
    header.check = Some(check);
    header.update = Some(update_number);
    Shared::new(GlobalNumber { header, value: value.get(), default, min: 0, max, block })
}

static VAR_SIZE: Shared<GlobalNumber> = bytes(
    c"size",
    c"Memory for the query cache in bytes, a multiple of 1024; 0 stores nothing. Also known as query_cache_size",
    check_size,
    &SIZE,
    0,
    SIZE_MAX,
    1024,
);
static VAR_LIMIT: Shared<GlobalNumber> = bytes(
    c"limit",
    c"Results larger than this many bytes are not stored. Also known as query_cache_limit",
    check_limit,
    &LIMIT,
    LIMIT_DEFAULT,
    u64::MAX,
    1,
);
static VAR_MIN_RES_UNIT: Shared<GlobalNumber> = bytes(
    c"min_res_unit",
    c"Accepted for compatibility; memory is allocated on demand",
    check_min_res_unit,
    &MIN_RES_UNIT,
    4096,
    u64::MAX,
    8,
);
static VAR_MINOR: Shared<GlobalNumber> = Shared::new(GlobalNumber {
    header: header(
        VAR_LONGLONG | VAR_UNSIGNED | VAR_READONLY,
        c"minor_version",
        c"Release date of the engine as a number",
    ),
    value: RELEASE_DATE.get(),
    default: version::RELEASE_DATE,
    min: 0,
    max: u64::MAX,
    block: 1,
});
static VAR_VERSION: Shared<GlobalString> = Shared::new(GlobalString {
    header: header(VAR_STR | VAR_READONLY, c"version", c"Version of the engine"),
    value: VERSION.get(),
    default: version::TEXT.as_ptr(),
});
static VAR_COMPATIBILITY: Shared<GlobalString> = Shared::new(GlobalString {
    header: header(
        VAR_STR | VAR_READONLY,
        c"compatibility",
        c"The server line whose query cache this engine behaves like",
    ),
    value: COMPATIBILITY.get(),
    default: c"5.7".as_ptr(),
});
static ALLOW_UNTESTED_SERVER: Shared<c_char> = Shared::new(0);
static VAR_ALLOW_UNTESTED_SERVER: Shared<GlobalBool> = Shared::new(GlobalBool {
    header: header(
        VAR_BOOL | VAR_READONLY,
        c"allow_untested_server",
        c"Load into a server of a version that this engine has not been tested on, if it has all that the engine needs; a self-test must pass before anything is served",
    ),
    value: ALLOW_UNTESTED_SERVER.get(),
    default: 0,
});
/// Declares a global variable that is ON or OFF. Setting it updates the engine's settings at once.
const fn global_bool(
    name: &'static CStr,
    comment: &'static CStr,
    value: &'static Shared<c_char>,
    default: c_char,
) -> Shared<GlobalBool> {
    let mut header = header(VAR_BOOL, name, comment);
    header.update = Some(update_bool);
    Shared::new(GlobalBool { header, value: value.get(), default })
}
static VAR_VERIFY_PPM: Shared<GlobalNumber> = bytes(
    c"verify_ppm",
    c"Of a million hits, how many run on the server instead, to be compared with what is stored",
    check_verify_ppm,
    &VERIFY_PPM,
    0,
    MILLION,
    1,
);
static VAR_TYPE: Shared<SessionEnum> = session_type(
    c"type",
    c"OFF: nothing is served or stored; ON: every qualifying read, but those with SQL_NO_CACHE; DEMAND: reads with SQL_CACHE. Also known as query_cache_type",
);

/// Declares a variable, global and for each session, with the values OFF, ON and DEMAND.
const fn session_type(name: &'static CStr, comment: &'static CStr) -> Shared<SessionEnum> {
    let mut header = header(VAR_ENUM | VAR_THDLOCAL, name, comment);
    header.check = Some(check_type);
    header.update = Some(update_type);
    Shared::new(SessionEnum { header, offset: -1, default: 0, resolve: None, typelib: &raw const TYPES })
}

const fn session_bool(name: &'static CStr, comment: &'static CStr) -> Shared<SessionBool> {
    Shared::new(SessionBool {
        header: header(VAR_BOOL | VAR_THDLOCAL, name, comment),
        offset: -1,
        default: 0,
        resolve: None,
    })
}
static VAR_WLOCK: Shared<SessionBool> = session_bool(
    c"wlock_invalidate",
    c"Accepted for compatibility; tables that are locked for writing are never served",
);
static VAR_STRIP: Shared<SessionBool> =
    session_bool(c"strip_comments", c"Accepted for compatibility; comments are part of a statement's identity");

static VAR_TRIAL: Shared<SessionBool> = Shared::new(SessionBool {
    header: VarHeader {
        flags: VAR_BOOL | VAR_THDLOCAL | VAR_NOCMDOPT,
        name: c"trial".as_ptr(),
        comment: c"This session tries the cache out: with fqc_type ON it is served, even while fqc_size is 0, from results that are nobody else's. Cannot be turned on for all".as_ptr(),
        check: None,
        update: Some(update_trial),
    },
    offset: -1,
    default: 0,
    resolve: None,
});

/// Declares the global on/off variables, and `publish_switches`, which copies their values to the engine's settings. Each is declared here
/// and nowhere else; setting one updates the engine's setting of the same meaning at once.
macro_rules! switches {
    ($($variable:ident, $set:ident: global_bool($name:literal, $default:literal, $comment:literal);)*) => {
        $(static $variable: Shared<c_char> = Shared::new($default);)*

        const SWITCHES: usize = [$(stringify!($variable)),*].len();

        static SWITCH_LIST: List<SWITCHES> = List([$({
            static DECLARATION: Shared<GlobalBool> = global_bool($name, $comment, &$variable, $default);
            DECLARATION.get() as *const c_void
        },)*]);

        fn publish_switches(settings: &Settings) {
            $(settings.$set(is_on(&$variable));)*
        }
    };
}

switches! {
    DEFER_BEGIN, set_defers_begin: global_bool(
        c"defer_begin", 1,
        c"Tell the server of a BEGIN with the transaction's first statement, so that reads in it can be served"
    );
    ADAPTATION, set_adapts: global_bool(
        c"adaptation", 1,
        c"Store only a few results of statements whose results are removed before they are read again"
    );
    DOZE, set_allows_light_mode: global_bool(
        c"doze", 0,
        c"While the cache saves less than it costs: store nothing and follow sessions by their bytes alone, until more statements are repeated"
    );
    OBSERVE, set_observes: global_bool(
        c"observe", 0,
        c"While fqc_type is OFF: note what fqc_size would hold, to tell the hits and the time that it would save; nothing is served or stored"
    );
    ROW_FOOTPRINTS, set_tracks_rows: global_bool(
        c"row_footprints", 1,
        c"Tell rows of a table apart where statements name them by key, so that a write outdates only results that read its rows"
    );
}

/// A list of declarations of system variables, which ends with a null pointer if the server reads it.
pub struct List<const N: usize>(pub [*const c_void; N]);
// SAFETY: pointers to statics.
unsafe impl<const N: usize> Sync for List<N> {}

/// The variables that are not among the switches.
static OTHERS: List<13> = List([
    VAR_TYPE.get() as *const c_void,
    VAR_SIZE.get() as *const c_void,
    VAR_LIMIT.get() as *const c_void,
    VAR_MIN_RES_UNIT.get() as *const c_void,
    VAR_WLOCK.get() as *const c_void,
    VAR_STRIP.get() as *const c_void,
    VAR_VERSION.get() as *const c_void,
    VAR_MINOR.get() as *const c_void,
    VAR_COMPATIBILITY.get() as *const c_void,
    VAR_VERIFY_PPM.get() as *const c_void,
    rules::VAR_RULES.get() as *const c_void,
    VAR_TRIAL.get() as *const c_void,
    VAR_ALLOW_UNTESTED_SERVER.get() as *const c_void,
]);

// The `query_cache_*` variables of a second plugin named `query`, for a server that does not have these names. Each mirrors the `fqc_*`
// variable of the same meaning.
static CLASSIC_SIZE: Shared<c_ulonglong> = Shared::new(0);
static CLASSIC_LIMIT: Shared<c_ulonglong> = Shared::new(LIMIT_DEFAULT);
static CLASSIC_MIN_RES_UNIT: Shared<c_ulonglong> = Shared::new(4096);
static VAR_CLASSIC_SIZE: Shared<GlobalNumber> =
    bytes(c"cache_size", c"The same as fqc_size", check_size, &CLASSIC_SIZE, 0, SIZE_MAX, 1024);
static VAR_CLASSIC_LIMIT: Shared<GlobalNumber> =
    bytes(c"cache_limit", c"The same as fqc_limit", check_limit, &CLASSIC_LIMIT, LIMIT_DEFAULT, u64::MAX, 1);
static VAR_CLASSIC_MIN_RES_UNIT: Shared<GlobalNumber> = bytes(
    c"cache_min_res_unit",
    c"The same as fqc_min_res_unit",
    check_min_res_unit,
    &CLASSIC_MIN_RES_UNIT,
    4096,
    u64::MAX,
    8,
);
static VAR_CLASSIC_TYPE: Shared<SessionEnum> = session_type(c"cache_type", c"The same as fqc_type");
static VAR_CLASSIC_WLOCK: Shared<SessionBool> =
    session_bool(c"cache_wlock_invalidate", c"The same as fqc_wlock_invalidate");

/// The `query_cache_*` variables of the plugin `query`, as the server reads them.
pub static CLASSIC_LIST: List<6> = List([
    VAR_CLASSIC_TYPE.get() as *const c_void,
    VAR_CLASSIC_SIZE.get() as *const c_void,
    VAR_CLASSIC_LIMIT.get() as *const c_void,
    VAR_CLASSIC_MIN_RES_UNIT.get() as *const c_void,
    VAR_CLASSIC_WLOCK.get() as *const c_void,
    null(),
]);

/// The numbers that have two names: the variable `fqc_*`, the variable `query_cache_*` that mirrors it, and the default of both.
const NUMBERS: [(&Shared<c_ulonglong>, &Shared<c_ulonglong>, u64); 3] =
    [(&SIZE, &CLASSIC_SIZE, 0), (&LIMIT, &CLASSIC_LIMIT, LIMIT_DEFAULT), (&MIN_RES_UNIT, &CLASSIC_MIN_RES_UNIT, 4096)];

/// Makes the variables with two names equal. Called when one of the two plugins has been registered, with its defaults or the values of the
/// server's options. A value that is not a default was set by the administrator, and applies to both names.
pub fn reconcile() {
    for (ours, theirs, default) in NUMBERS {
        let value = if number(ours) == default { number(theirs) } else { number(ours) };
        // SAFETY: aligned words of this library, under the server's plugin lock.
        unsafe {
            ours.get().write_volatile(value);
            theirs.get().write_volatile(value);
        }
    }
    let all = type_pointers(std::ptr::null_mut());
    // SAFETY: null, or pointers to words that the server owns.
    let value = all.iter().filter_map(|pointer| unsafe { pointer.as_ref() }).copied().max().unwrap_or(0);
    set_types(std::ptr::null_mut(), value);
}

/// All `fqc_*` variables, as the server reads them.
pub static LIST: List<{ OTHERS.0.len() + SWITCHES + 1 }> = List({
    let mut all = [null(); OTHERS.0.len() + SWITCHES + 1];
    let mut at = 0;
    while at < OTHERS.0.len() + SWITCHES {
        all[at] = if at < SWITCHES { SWITCH_LIST.0[at] } else { OTHERS.0[at - SWITCHES] };
        at += 1;
    }
    all
});

/// Callbacks for when a variable is set: `settings` after a global one was set, `cache_type` with the session of this thread and its new
/// value after `SET SESSION fqc_type`.
struct Listeners {
    settings: fn(),
    cache_type: fn(*mut Thd, u8),
}

static LISTENERS: OnceLock<Listeners> = OnceLock::new();

/// Registers the callbacks (see `Listeners`). Call at load. Only the first call in a process has an effect.
pub fn listen(settings: fn(), cache_type: fn(*mut Thd, u8)) {
    let _ = LISTENERS.set(Listeners { settings, cache_type });
}

fn settings_changed() {
    LISTENERS.get().iter().for_each(|listeners| (listeners.settings)());
}

unsafe extern "C" fn update_number(_: *mut Thd, _: *mut c_void, target: *mut c_void, save: *const c_void) {
    // SAFETY: called by the server under its system-variable lock, with the variable's own pointer.
    let value = unsafe { *save.cast::<c_ulonglong>() };
    // SAFETY: as above.
    unsafe { *target.cast::<c_ulonglong>() = value };
    for (ours, theirs, _) in NUMBERS {
        if [ours.get(), theirs.get()].contains(&target.cast()) {
            // SAFETY: both are words of this library, written under the same lock.
            unsafe {
                ours.get().write_volatile(value);
                theirs.get().write_volatile(value);
            }
        }
    }
    contain(Point::Variable, (), settings_changed);
}

unsafe extern "C" fn update_bool(_: *mut Thd, _: *mut c_void, target: *mut c_void, save: *const c_void) {
    // SAFETY: as above; the server has converted the value to zero or one.
    unsafe { *target.cast::<c_char>() = *save.cast::<c_char>() };
    contain(Point::Variable, (), settings_changed);
}

unsafe extern "C" fn update_type(thd: *mut Thd, _: *mut c_void, target: *mut c_void, save: *const c_void) {
    // SAFETY: called by the server with the pointer to the global or the session's value.
    let value = unsafe { *save.cast::<c_ulong>() };
    // SAFETY: as above.
    unsafe { *target.cast::<c_ulong>() = value };
    contain(Point::Variable, (), || {
        let is_global = type_pointers(std::ptr::null_mut()).contains(&target.cast());
        set_types(if is_global { std::ptr::null_mut() } else { thd }, value);
        if is_global {
            settings_changed();
        } else {
            LISTENERS.get().iter().for_each(|listeners| (listeners.cache_type)(thd, value as u8));
        }
    });
}

/// Assigns a value to `fqc_trial` of a session. A global value is refused with a warning, because new sessions would inherit it: a trial is
/// for single sessions that ask for it.
unsafe extern "C" fn update_trial(_: *mut Thd, _: *mut c_void, target: *mut c_void, save: *const c_void) {
    contain(Point::Variable, (), || {
        if target.cast() == trial_pointer(std::ptr::null_mut()) {
            server::get().raise(
                server::get().flavour().errors.truncated_wrong_value,
                true,
                "fqc_trial is a matter of single sessions: nothing was changed",
            );
            return;
        }
        // SAFETY: called by the server with the pointer to the session's value and a zero or a one.
        unsafe { *target.cast::<c_char>() = *save.cast::<c_char>() };
    });
}

/// Returns the address of `fqc_trial` of a session, or of the global value if `thd` is null. Null if the variable is not registered.
fn trial_pointer(thd: *mut Thd) -> *mut c_char {
    // SAFETY: as for `fqc_type`, below.
    unsafe { place(thd, (*VAR_TRIAL.get()).resolve, (*VAR_TRIAL.get()).offset) }
}

/// True if the session on this thread tries the cache out: it is served although the cache is off for others (`fqc_trial`).
pub fn is_trial(thd: *mut Thd) -> bool {
    // SAFETY: null, or a pointer to a byte that the server owns.
    unsafe { trial_pointer(thd).as_ref().is_some_and(|value| *value != 0) }
}

/// Returns the address of `fqc_type` of a session, or of the global value if `thd` is null. Null if the variable is not registered.
fn type_pointer(thd: *mut Thd) -> *mut c_ulong {
    // SAFETY: the server fills offset and function when it registers the variable, before any statement runs.
    unsafe { place(thd, (*VAR_TYPE.get()).resolve, (*VAR_TYPE.get()).offset) }
}

/// Returns the addresses of `fqc_type` and `query_cache_type`, its second name, of a session, or of the global values
/// if `thd` is null. An address is null if the name is not registered.
fn type_pointers(thd: *mut Thd) -> [*mut c_ulong; 2] {
    // SAFETY: as above.
    let classic = unsafe { place(thd, (*VAR_CLASSIC_TYPE.get()).resolve, (*VAR_CLASSIC_TYPE.get()).offset) };
    [type_pointer(thd), classic]
}

/// Sets `fqc_type` and `query_cache_type`, its second name, for a session, or the global values if `thd` is null. Names
/// that are not registered are skipped.
fn set_types(thd: *mut Thd, value: c_ulong) {
    for pointer in type_pointers(thd).into_iter().filter(|pointer| !pointer.is_null()) {
        // SAFETY: a word that the server owns, while it handles a SET of it or holds the plugin lock.
        unsafe { *pointer = value };
    }
}

/// Returns the address of the value of a session, or of the global value if `thd` is null. Null if the server has not registered the
/// variable.
///
/// # Safety
/// `resolve` and `offset` are what the server has filled in for one variable of type `T`; `thd` is one of its sessions, or null.
unsafe fn place<T>(
    thd: *mut Thd,
    resolve: Option<unsafe extern "C" fn(*mut Thd, c_int) -> *mut T>,
    offset: c_int,
) -> *mut T {
    // SAFETY: the caller's guarantee.
    resolve.map_or(std::ptr::null_mut(), |resolve| unsafe { resolve(thd, offset) })
}

/// Returns `fqc_type` (0 OFF, 1 ON, 2 DEMAND) of the session on this thread, or the global value if `thd` is null. 0 if the variable is not
/// registered.
pub fn type_of(thd: *mut Thd) -> u8 {
    // SAFETY: null, or a pointer to a word that the server owns.
    unsafe { type_pointer(thd).as_ref().map_or(0, |value| *value as u8) }
}

/// Copies the values of the global variables to the engine's settings, where they take effect.
pub fn publish(settings: &Settings) {
    settings.set_size(number(&SIZE));
    settings.set_limit(number(&LIMIT));
    settings.set_verify_ppm(number(&VERIFY_PPM));
    settings.set_global_type(type_of(std::ptr::null_mut()));
    publish_switches(settings);
}

/// Copies only the settings that say whether the cache is wanted (`fqc_type`, `fqc_observe`). For a server that has not started: an option
/// file may have set them.
pub fn publish_wishes(settings: &Settings) {
    settings.set_global_type(type_of(std::ptr::null_mut()));
    settings.set_observes(is_on(&OBSERVE));
}

/// True if the server was started with `fqc_allow_untested_server = ON`. Known before the plugin starts.
pub fn allows_untested_server() -> bool {
    is_on(&ALLOW_UNTESTED_SERVER)
}

fn number(variable: &Shared<c_ulonglong>) -> u64 {
    // SAFETY: an aligned word that the server writes under its lock; 64-bit reads are never torn.
    unsafe { variable.get().read_volatile() }
}

fn is_on(variable: &Shared<c_char>) -> bool {
    // SAFETY: as above.
    unsafe { variable.get().read_volatile() != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declared::status_variables;

    const FILE: &str = include_str!("../../../../../docs/reference/engine.json");

    fn stated(key: &str) -> Vec<String> {
        let (_, rest) = FILE.split_once(&format!("\"{key}\": [")).expect("a list of this name");
        let (list, _) = rest.split_once(']').expect("its end");
        list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn the_variables_are_those_that_are_stated() {
        let declared = LIST.0.iter().take_while(|variable| !variable.is_null()).map(|variable| {
            // SAFETY: each declaration begins with its header, whose name is a literal.
            let name = unsafe { CStr::from_ptr((*variable.cast::<VarHeader>()).name) };
            format!("fqc_{}", name.to_str().unwrap())
        });
        let mut names: Vec<_> = declared.collect();
        names.sort();
        assert_eq!(names, stated("variables"));
    }

    #[test]
    fn the_counters_are_those_that_are_stated() {
        let mut names: Vec<_> = status_variables::names().collect();
        names.sort();
        assert_eq!(names, stated("counters"));
    }
}
