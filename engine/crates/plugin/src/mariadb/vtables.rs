//! The server's tables of virtual functions, which it exports with its classes.

use crate::exports::symbol;
use crate::pointers::Pointer;
use std::ffi::{CStr, c_void};

/// What stands before the functions: the offset of the object, and its type.
const HEAD: usize = 2;
/// More than any class here has.
const MOST: usize = 64;

/// The place of a function in the table of a class. Both by their exported names; none unless it stands there once.
pub fn find(table: &CStr, function: &CStr) -> Option<Pointer> {
    let table: *mut *mut c_void = symbol(table).ok()?.cast();
    let function = symbol(function).ok()?;
    // SAFETY: an exported table of pointers, which ends where another one begins, with a null, or the section does.
    let places = (HEAD..HEAD + MOST).map(|index| unsafe { Pointer::at(table.add(index)) });
    let mut found = places.take_while(|place| !place.current().is_null()).filter(|place| place.current() == function);
    found.next().filter(|_| found.next().is_none())
}
