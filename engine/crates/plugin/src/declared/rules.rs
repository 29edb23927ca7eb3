//! The system variable `fqc_rules`: JSON that is checked before it is accepted, and reads back as it was written.

use crate::containment::contain;
use crate::declared::abi::*;
use crate::engine::engine;
use crate::faults::Point;
use crate::log;
use crate::server;
use insight::Rules;
use locks::Mutex;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::PoisonError;

/// The longest text of `fqc_rules` that is accepted, in bytes.
const LONGEST: usize = 1 << 20;

static RULES: Shared<*const c_char> = Shared::new(c"".as_ptr());
/// Owns the text that `RULES` points to, once `update` has set it. None before: then the text is the server's or a constant.
/// The server reads and changes the variable under one lock.
static OWNED: Mutex<Option<CString>> = Mutex::new(None);

thread_local! {
    /// The text that `check` has accepted on this thread, kept until the server has assigned it.
    static CHECKED: RefCell<CString> = RefCell::default();
}

pub static VAR_RULES: Shared<GlobalString> = Shared::new(GlobalString {
    header: VarHeader {
        check: Some(check),
        update: Some(update),
        ..header(VAR_STR, c"rules", c"What is never cached, or for a time through writes, as JSON: a list of {digest, table, schema, account, cache, ttl}; the first that fits decides")
    },
    value: RULES.get(),
    default: c"".as_ptr(),
});

/// Takes over the value that the server was started with. An invalid one is logged, and no rules are in force.
pub fn adopt() {
    // SAFETY: a string of the server's options or of ours; both outlive the plugin's start.
    let text = unsafe { RULES.get().read_volatile().as_ref().map(|text| CStr::from_ptr(text)) };
    let text = text.map(CStr::to_string_lossy).unwrap_or_default();
    match Rules::parse(&text) {
        Ok(rules) => engine().insight().set_rules(rules),
        Err(error) => log::error(&format!("fqc_rules is invalid and is not used: {error}")),
    }
}

/// Returns the text that a user gave. None if it is NULL, longer than `LONGEST`, or contains a zero byte.
///
/// # Safety
/// `value` comes from the server's call of a check function that has not returned.
unsafe fn given(value: *mut GivenValue) -> Option<CString> {
    let mut buffer = vec![0 as c_char; 1024];
    let mut length = buffer.len() as c_int;
    // SAFETY: the server has filled the function table; it allocates a text that does not fit into `buffer` elsewhere.
    unsafe {
        let text = ((*value).val_str)(value, buffer.as_mut_ptr(), &mut length);
        if text.is_null() || length as usize > LONGEST {
            return None;
        }
        CString::new(std::slice::from_raw_parts(text.cast::<u8>(), length.max(0) as usize)).ok()
    }
}

/// Accepts a text that is a valid list of rules, and keeps it for `update`. Returns 0 to accept it; otherwise an error was
/// raised.
unsafe extern "C" fn check(_: *mut Thd, _: *mut c_void, save: *mut c_void, value: *mut GivenValue) -> c_int {
    contain(Point::Variable, 1, || {
        // SAFETY: called by the server.
        let text = unsafe { given(value) };
        let parsed = text
            .as_ref()
            .ok_or("a text of at most 1 MiB is needed".to_owned())
            .and_then(|text| Rules::parse(text.to_str().map_err(|_| "the text is not UTF-8")?));
        match (parsed, text) {
            (Ok(_), Some(text)) => CHECKED.with(|checked| {
                *checked.borrow_mut() = text;
                // SAFETY: the server provides space for a pointer, and reads it on this thread before the next check.
                unsafe { *save.cast::<*const c_char>() = checked.borrow().as_ptr() };
                0
            }),
            (Err(error), _) => refuse(&error),
            (Ok(_), None) => refuse("a text is needed"),
        }
    })
}

/// Raises the error that says why a value is refused. Returns 1, with which a check refuses the value.
fn refuse(error: &str) -> c_int {
    server::get().raise(
        server::get().flavour().errors.wrong_arguments,
        false,
        &format!("Incorrect arguments to fqc_rules: {error}"),
    );
    1
}

/// Assigns a checked text, and puts its rules in force at once.
unsafe extern "C" fn update(_: *mut Thd, _: *mut c_void, target: *mut c_void, save: *const c_void) {
    contain(Point::Variable, (), || {
        // SAFETY: a pointer that `check` stored on this thread, or the default.
        let text = unsafe { CStr::from_ptr(*save.cast::<*const c_char>()) }.to_owned();
        let rules = text.to_str().map_err(|error| error.to_string()).and_then(Rules::parse);
        let mut owned = OWNED.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the server passes the variable's own pointer, under the lock that its readers take, too.
        unsafe { *target.cast::<*const c_char>() = text.as_ptr() };
        // The variable points to the new text, so the old one may be freed.
        *owned = Some(text);
        engine().insight().set_rules(rules.unwrap_or_default());
    });
}
