//! The virtual function tables that the server exports with its classes.

use crate::exports::symbol;
use crate::pointers::Pointer;
use std::ffi::{CStr, c_void};

/// The words of a table before the functions: the offset of the object, and its type.
const HEAD: usize = 2;
/// The most functions of a table that are searched; more than any class here has.
const MOST: usize = 256;

/// Returns the slot of a function in the virtual function table of a class, both by exported name. None unless the function is there
/// exactly once.
pub fn find(table: &CStr, function: &CStr) -> Option<Pointer> {
    let slot = slot(table, function)?;
    let table: *mut *mut c_void = symbol(table).ok()?.cast();
    // SAFETY: `slot` has found it there.
    Some(unsafe { Pointer::at(table.add(HEAD + slot)) })
}

/// Returns the index of a function in the virtual function table of a class, both by exported name. It is the same in the tables of all
/// classes derived from the one that declares it. None unless the function is there exactly once.
pub fn slot(table: &CStr, function: &CStr) -> Option<usize> {
    let table: *mut *mut c_void = symbol(table).ok()?.cast();
    let function = symbol(function).ok()?;
    // SAFETY: an exported table of pointers, which ends where another one begins, with a null, or the section does.
    let places = (0..MOST).map(|slot| unsafe { Pointer::at(table.add(HEAD + slot)) }.current());
    let mut found = places.take_while(|place| !place.is_null()).enumerate().filter(|(_, place)| *place == function);
    let (slot, _) = found.next()?;
    found.next().is_none().then_some(slot)
}
