//! The server's tables of virtual functions, which it exports with its classes.

use crate::exports::symbol;
use crate::pointers::Pointer;
use std::ffi::{CStr, c_void};

/// What stands before the functions: the offset of the object, and its type.
const HEAD: usize = 2;
/// More than any class here has.
const MOST: usize = 256;

/// The place of a function in the table of a class. Both by their exported names; none unless it stands there once.
pub fn find(table: &CStr, function: &CStr) -> Option<Pointer> {
    let slot = slot(table, function)?;
    let table: *mut *mut c_void = symbol(table).ok()?.cast();
    // SAFETY: `slot` has found it there.
    Some(unsafe { Pointer::at(table.add(HEAD + slot)) })
}

/// Its number among the functions: the same in the tables of all classes that the one which declares it is the base of.
pub fn slot(table: &CStr, function: &CStr) -> Option<usize> {
    let table: *mut *mut c_void = symbol(table).ok()?.cast();
    let function = symbol(function).ok()?;
    // SAFETY: an exported table of pointers, which ends where another one begins, with a null, or the section does.
    let places = (0..MOST).map(|slot| unsafe { Pointer::at(table.add(HEAD + slot)) }.current());
    let mut found = places.take_while(|place| !place.is_null()).enumerate().filter(|(_, place)| *place == function);
    let (slot, _) = found.next()?;
    found.next().is_none().then_some(slot)
}
