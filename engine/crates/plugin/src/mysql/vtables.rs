//! Tables of virtual functions that the server exports.
//!
//! A function's slot is found by looking for the address of the exported function in the exported table, and must be found
//! exactly once: nothing is assumed about the layout of any class. The pointer in the slot is exchanged as in the offset table.

use crate::exports::symbol;
use crate::pointers::Pointer;
use std::ffi::{CStr, c_int, c_void};

/// Before the functions of a table: the offset to the top of the object, and what the class is.
const BEFORE_FUNCTIONS: usize = 2;

pub struct Vtable {
    name: &'static CStr,
    start: *mut *mut c_void,
    length: usize,
}

#[repr(C)]
struct Place {
    file: *const std::ffi::c_char,
    base: *mut c_void,
    symbol: *const std::ffi::c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dladdr1(address: *const c_void, place: *mut Place, extra: *mut *mut c_void, flags: c_int) -> c_int;
}
const RTLD_DL_SYMENT: c_int = 1;

impl Vtable {
    pub fn find(name: &'static CStr) -> Result<Vtable, String> {
        let start = symbol(name)?;
        let mut place = Place {
            file: std::ptr::null(),
            base: std::ptr::null_mut(),
            symbol: std::ptr::null(),
            address: std::ptr::null_mut(),
        };
        let mut entry = std::ptr::null_mut();
        // SAFETY: room for what the loader tells; on success `entry` is the symbol's entry in its table.
        let size = unsafe {
            let found = dladdr1(start, &mut place, &mut entry, RTLD_DL_SYMENT) != 0 && !entry.is_null();
            if found && place.address == start { (*entry.cast::<libc::Elf64_Sym>()).st_size } else { 0 }
        };
        let length = size as usize / size_of::<*mut c_void>();
        if length <= BEFORE_FUNCTIONS {
            return Err(format!("the size of {} is not known", name.to_string_lossy()));
        }
        Ok(Vtable { name, start: start.cast(), length })
    }

    /// What the first word of the class's objects holds.
    pub fn address_point(&self) -> *mut c_void {
        // SAFETY: within the table.
        unsafe { self.start.add(BEFORE_FUNCTIONS) }.cast()
    }

    /// The position of an exported function.
    pub fn position(&self, function: &CStr) -> Result<usize, String> {
        let wanted = symbol(function)?;
        let mut found = (0..self.length).filter(|position| self.slot(*position).current() == wanted);
        match (found.next(), found.next()) {
            (Some(position), None) => Ok(position),
            (None, _) => Err(format!("{} is not in {}", function.to_string_lossy(), self.name.to_string_lossy())),
            _ => Err(format!("{} is twice in {}", function.to_string_lossy(), self.name.to_string_lossy())),
        }
    }

    pub fn slot(&self, position: usize) -> Pointer {
        assert!(position < self.length, "a slot outside of its table");
        // SAFETY: within an exported table of pointers, which lives as long as the process.
        unsafe { Pointer::at(self.start.add(position)) }
    }
}

/// Slots that hold our functions, and what they held before.
pub struct Exchanged(Vec<(Pointer, usize)>);

impl Exchanged {
    pub const fn none() -> Exchanged {
        Exchanged(Vec::new())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn exchange(&mut self, slot: Pointer, function: *mut c_void) -> Result<(), String> {
        let old = slot.swap(function).map_err(|error| format!("a table of functions could not be changed: {error}"))?;
        self.0.push((slot, old as usize));
        Ok(())
    }

    /// A thread may still be inside of ours, which stays valid.
    pub fn put_back(&mut self) -> Result<(), String> {
        let mut outcome = Ok(());
        for (slot, old) in self.0.drain(..).rev() {
            if let Err(error) = slot.swap(old as *mut c_void) {
                outcome = Err(format!("a table of functions could not be put back: {error}"));
            }
        }
        outcome
    }
}
