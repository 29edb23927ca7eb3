//! Checks values for the system variables. Messages are worded like the server's for its own `query_cache_*` variables, because users
//! reach these variables by those names too.

use crate::containment::contain;
use crate::declared::abi::*;
use crate::faults::Point;
use crate::server;
use std::ffi::{c_char, c_int, c_longlong, c_ulong, c_ulonglong, c_void};

/// The highest value of `fqc_size`, in bytes.
pub const SIZE_MAX: u64 = 10_485_760_000;
pub const MILLION: u64 = 1_000_000;

/// A value that a user gave in `SET ... =`.
enum Given {
    /// The number's 64 bits, and true if they are to be read as unsigned.
    Number(i64, bool),
    Text(String),
    Null,
    Other,
}

/// Reads the value that a user gave.
///
/// # Safety
/// `value` comes from the server's call of a check function that has not returned.
unsafe fn given(value: *mut GivenValue) -> Given {
    // SAFETY: the server has filled the function table.
    unsafe {
        match ((*value).value_type)(value) {
            VALUE_TYPE_INT => {
                let mut number: c_longlong = 0;
                if ((*value).val_int)(value, &mut number) != 0 {
                    return Given::Null;
                }
                Given::Number(number, ((*value).is_unsigned)(value) != 0)
            }
            VALUE_TYPE_STRING => {
                let mut buffer = [0 as c_char; 256];
                let mut length = buffer.len() as c_int;
                let text = ((*value).val_str)(value, buffer.as_mut_ptr(), &mut length);
                if text.is_null() {
                    return Given::Null;
                }
                let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length.max(0) as usize);
                Given::Text(String::from_utf8_lossy(bytes).into_owned())
            }
            _ => Given::Other,
        }
    }
}

/// Runs a check, which returns 0 to accept a value. If it panics, raises an error and refuses the value, because the server sends no
/// response at all for a check that fails without an error.
fn checked(check: impl FnOnce() -> c_int) -> c_int {
    contain(Point::Variable, None, || Some(check())).unwrap_or_else(|| {
        server::get().raise(
            server::get().flavour().errors.unknown,
            false,
            "The query cache is switched off after a fault; see the error log",
        );
        1
    })
}

/// Raises the error for a value that the variable cannot have. Returns 1, with which a check refuses the value.
fn wrong_value(name: &str, value: &str) -> c_int {
    server::get().raise(
        server::get().flavour().errors.wrong_value_for_variable,
        false,
        &format!("Variable '{name}' can't be set to the value of '{value}'"),
    );
    1
}

/// Checks a value for `fqc_type`: 0, 1 and 2, or OFF, ON and DEMAND in any case. Returns 0 to accept it; otherwise an error was raised.
pub unsafe extern "C" fn check_type(_: *mut Thd, _: *mut c_void, save: *mut c_void, value: *mut GivenValue) -> c_int {
    // SAFETY: called by the server.
    checked(|| unsafe { type_given(save, value) })
}

/// Checks a value for `fqc_type`, and stores its number in `save`. Returns 0 to accept it; otherwise an error was raised.
///
/// # Safety
/// As for every check function: the pointers come from the server's call.
unsafe fn type_given(save: *mut c_void, value: *mut GivenValue) -> c_int {
    // SAFETY: the caller's guarantee.
    let number = match unsafe { given(value) } {
        Given::Number(number, _) if (0..=2).contains(&number) => number as c_ulong,
        Given::Number(number, false) => {
            return wrong_value("query_cache_type", &number.to_string());
        }
        Given::Number(number, true) => {
            return wrong_value("query_cache_type", &(number as u64).to_string());
        }
        Given::Text(text) => match ["off", "on", "demand"].iter().position(|n| n.eq_ignore_ascii_case(&text)) {
            Some(index) => index as c_ulong,
            None => match text.parse::<u64>() {
                Ok(index @ 0..=2) => index,
                _ => return wrong_value("query_cache_type", &text),
            },
        },
        Given::Null => return wrong_value("query_cache_type", "NULL"),
        Given::Other => return wrong_type("query_cache_type"),
    };
    // SAFETY: the server provides space for a value of the variable's type.
    unsafe { *save.cast::<c_ulong>() = number };
    0
}

/// Raises the error for a value of the wrong type. Returns 1, with which a check refuses the value.
fn wrong_type(name: &str) -> c_int {
    server::get().raise(
        server::get().flavour().errors.wrong_type_for_variable,
        false,
        &format!("Incorrect argument type to variable '{name}'"),
    );
    1
}

/// Clamps a number to `0..=max`, rounds it down to a multiple of `block`, and stores it in `save`. If that changes the number, raises a
/// warning that quotes the given one, as the server does. `name` is the variable's name in messages.
///
/// # Safety
/// As for every check function: the pointers come from the server's call.
unsafe fn check_number(name: &str, max: u64, block: u64, save: *mut c_void, value: *mut GivenValue) -> c_int {
    // SAFETY: the caller's guarantee.
    let (number, shown) = match unsafe { given(value) } {
        Given::Number(number, false) => (number.max(0) as u64, number.to_string()),
        Given::Number(number, true) => (number as u64, (number as u64).to_string()),
        _ => return wrong_type(name),
    };
    let fixed = number.min(max) / block * block;
    if fixed.to_string() != shown {
        server::get().raise(
            server::get().flavour().errors.truncated_wrong_value,
            true,
            &format!("Truncated incorrect {name} value: '{shown}'"),
        );
    }
    // SAFETY: the caller's guarantee.
    unsafe { *save.cast::<c_ulonglong>() = fixed };
    0
}

pub unsafe extern "C" fn check_size(_: *mut Thd, _: *mut c_void, save: *mut c_void, value: *mut GivenValue) -> c_int {
    // SAFETY: called by the server.
    checked(|| unsafe { check_number("query_cache_size", SIZE_MAX, 1024, save, value) })
}

pub unsafe extern "C" fn check_limit(_: *mut Thd, _: *mut c_void, save: *mut c_void, value: *mut GivenValue) -> c_int {
    // SAFETY: called by the server.
    checked(|| unsafe { check_number("query_cache_limit", u64::MAX, 1, save, value) })
}

pub unsafe extern "C" fn check_verify_ppm(
    _: *mut Thd,
    _: *mut c_void,
    save: *mut c_void,
    value: *mut GivenValue,
) -> c_int {
    // SAFETY: called by the server.
    checked(|| unsafe { check_number("fqc_verify_ppm", MILLION, 1, save, value) })
}

pub unsafe extern "C" fn check_min_res_unit(
    _: *mut Thd,
    _: *mut c_void,
    save: *mut c_void,
    value: *mut GivenValue,
) -> c_int {
    // SAFETY: called by the server.
    checked(|| unsafe { check_number("fqc_min_res_unit", u64::MAX, 8, save, value) })
}
