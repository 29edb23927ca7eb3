//! The virtual function tables that MySQL exports.
//!
//! A function's slot is found by searching the exported table for the address of the exported function, which must be there exactly once:
//! nothing is assumed about the layout of any class. The pointer in the slot is exchanged as in the global offset table.

use crate::exports::{size, symbol};
use crate::pointers::{Pointer, ReplacedSlots};
use locks::Mutex;
use std::ffi::{CStr, CString, c_void};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The word of a table with the offset to the top of the object: 0 in the first table of a class.
const OFFSET: usize = 0;
/// The word of a table with the address of the class's type information.
const TYPE: usize = 1;
/// The number of words of a table before the functions.
const BEFORE_FUNCTIONS: usize = 2;

/// The exported virtual function table of a class.
pub struct Vtable {
    name: &'static CStr,
    start: *mut *mut c_void,
    length: usize,
}

impl Vtable {
    /// Finds the table with this exported name. An error if there is none, or unless the words before the functions are those of a class
    /// whose objects begin with the address of this table.
    pub fn find(name: &'static CStr) -> Result<Vtable, String> {
        let start = symbol(name)?;
        let words = size(start).unwrap_or(0) / size_of::<*mut c_void>();
        let table = Vtable { name, start: start.cast(), length: words };
        if words <= BEFORE_FUNCTIONS {
            return Err(format!("the size of {} is not known", name.to_string_lossy()));
        }
        let class = symbol(&type_of(name))?;
        if !table.slot(OFFSET).current().is_null() || table.slot(TYPE).current() != class {
            return Err(format!("{} does not begin as the table of one class does", name.to_string_lossy()));
        }
        Ok(table)
    }

    /// Returns the address that the first word of each of the class's objects holds.
    pub fn address_point(&self) -> *mut c_void {
        // SAFETY: within the table.
        unsafe { self.start.add(BEFORE_FUNCTIONS) }.cast()
    }

    /// Returns the position of an exported function in the table, for `slot`. An error unless it is there exactly once.
    pub fn position(&self, function: &CStr) -> Result<usize, String> {
        let wanted = symbol(function)?;
        let mut found = (0..self.length).filter(|position| self.slot(*position).current() == wanted);
        match (found.next(), found.next()) {
            (Some(position), None) => Ok(position),
            (None, _) => Err(format!("{} is not in {}", function.to_string_lossy(), self.name.to_string_lossy())),
            _ => Err(format!("{} is twice in {}", function.to_string_lossy(), self.name.to_string_lossy())),
        }
    }

    /// Returns the slot at a position, counted in words from the start of the table. Panics if the table is not that long.
    pub fn slot(&self, position: usize) -> Pointer {
        assert!(position < self.length, "a slot outside of its table");
        // SAFETY: within an exported table of pointers, which lives as long as the process.
        unsafe { Pointer::at(self.start.add(position)) }
    }
}

/// Returns the exported name of the type information that belongs to a table: `_ZTI3THD` for `_ZTV3THD`.
fn type_of(table: &CStr) -> CString {
    let name = table.to_bytes().strip_prefix(b"_ZTV").unwrap_or_default();
    CString::new([b"_ZTI", name].concat()).unwrap_or_default()
}

/// A slot of a table, the plugin's function for it, and where the original function is stored for the plugin's function to call.
pub type Slot = (Pointer, *mut c_void, &'static AtomicPtr<c_void>);

/// The slots that one module has exchanged, to be restored together.
pub struct Slots(Mutex<ReplacedSlots>);

impl Slots {
    /// Creates an empty set, as long as the module has replaced no slot.
    pub const fn none() -> Slots {
        Slots(Mutex::new(ReplacedSlots::none()))
    }

    /// Puts the plugin's functions into all slots that `find` returns, or into none: `find` finds every slot before any is changed. Does
    /// nothing if they are there already. An error leaves all slots as they were.
    pub fn install(&self, find: impl FnOnce() -> Result<Vec<Slot>, String>) -> Result<(), String> {
        let mut exchanged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !exchanged.is_empty() {
            return Ok(());
        }
        let outcome = find()?.into_iter().try_for_each(|(slot, ours, original)| {
            exchanged.exchange(slot, ours, |before| original.store(before, Ordering::Release))
        });
        outcome.map_err(|error| {
            let _ = exchanged.put_back();
            format!("a table of functions could not be changed: {error}")
        })
    }

    /// Restores all slots. An error if one of them could not be restored; the others are.
    pub fn remove(&self) -> Result<(), String> {
        let outcome = self.0.lock().unwrap_or_else(PoisonError::into_inner).put_back();
        outcome.map_err(|error| format!("a table of functions could not be put back: {error}"))
    }
}
