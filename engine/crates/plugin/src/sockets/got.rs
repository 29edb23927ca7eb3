//! The global offset tables of the server and of a library in its process, which hold the functions that each imports.
//!
//! For x86-64 and aarch64.

use crate::pointers::Pointer;
use std::ffi::{CStr, CString, c_int, c_void};

#[cfg(target_arch = "x86_64")]
const FUNCTION_RELOCATIONS: [u32; 2] = [6, 7]; // R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT
#[cfg(target_arch = "aarch64")]
const FUNCTION_RELOCATIONS: [u32; 2] = [1025, 1026]; // R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT

const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_PLTRELSZ: i64 = 2;
const DT_JMPREL: i64 = 23;

/// A relocation: `info` holds the kind in its low and the symbol's index in its high half.
#[repr(C)]
struct Relocation {
    offset: u64,
    info: u64,
    _addend: i64,
}

#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

/// Returns the table entry for `function` in the main executable, none if it does not import that function.
pub fn find(function: &CStr) -> Option<Pointer> {
    let mut search = Search { function, found: None };
    // SAFETY: the callback gets the pointer that is passed here, and runs before this call returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

/// A library that is loaded into this process, and kept loaded for as long as this value lives.
pub struct Library {
    handle: *mut c_void,
    base: u64,
    dynamic: *const Dynamic,
}

impl Library {
    /// Finds a loaded library by the name of its file, without its folder. None if the process has not loaded one.
    pub fn find(file: &str) -> Option<Library> {
        let mut named = LibrarySearch { file: file.as_bytes(), found: None };
        // SAFETY: the callback gets the pointer that is passed here, and runs before this call returns.
        unsafe { libc::dl_iterate_phdr(Some(look_at_name), (&raw mut named).cast()) };
        let (path, base, dynamic) = named.found?;
        // SAFETY: a NUL-terminated path. Nothing is loaded: the call fails if the library has been unloaded since.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        let library = Library { handle, base, dynamic };
        (!handle.is_null()).then_some(library)
    }

    /// Returns the address at which the library is loaded.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the entry for `function` in the library's import table. None if the library does not call it through that table.
    pub fn entry(&self, function: &CStr) -> Option<Pointer> {
        // SAFETY: the dynamic section of a library that stays loaded while this value lives.
        unsafe { Tables::read(self.dynamic).find(self.base, function) }
    }

    /// Returns the address of a function that the library exports. None if it exports none by this name.
    pub fn symbol(&self, function: &CStr) -> Option<*mut c_void> {
        // SAFETY: a handle that is open while this value lives, and a NUL-terminated name.
        let found = unsafe { libc::dlsym(self.handle, function.as_ptr()) };
        (!found.is_null()).then_some(found)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle that `find` has opened.
            unsafe { libc::dlclose(self.handle) };
        }
    }
}

/// The search for a loaded library by the name of its file.
struct LibrarySearch<'a> {
    file: &'a [u8],
    /// Its path, the address at which it is loaded, and its dynamic section.
    found: Option<(CString, u64, *const Dynamic)>,
}

/// Compares the name of a loaded object with the wanted one in `data`. The loader calls this for every loaded object until it returns 1.
unsafe extern "C" fn look_at_name(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description; `data` is the `LibrarySearch` of `Library::find`.
    unsafe {
        let named = &mut *data.cast::<LibrarySearch>();
        if (*info).dlpi_name.is_null() {
            return 0;
        }
        let path = CStr::from_ptr((*info).dlpi_name);
        let headers = std::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum as usize);
        let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC);
        let is_it = path.to_bytes().rsplit(|byte| *byte == b'/').next() == Some(named.file);
        if let Some(dynamic) = dynamic.filter(|_| is_it) {
            let base = (*info).dlpi_addr;
            named.found = Some((path.to_owned(), base, (base + dynamic.p_vaddr) as *const Dynamic));
        }
        c_int::from(named.found.is_some())
    }
}

/// Returns the function that a call through the table entry of `function` ends up in. `entry` is what the table entry holds. In a server
/// with lazy binding, an entry that was never called points into the server's own code. That code looks the function up and overwrites the
/// entry, and with it any function that was put there. Returns `entry` if nothing else is found.
pub fn resolved(function: &CStr, entry: *mut c_void) -> *mut c_void {
    if !is_in_server_executable(entry) {
        return entry;
    }
    // SAFETY: the name is NUL-terminated; the loader only reads it.
    let everywhere =
        [libc::RTLD_DEFAULT, libc::RTLD_NEXT].map(|scope| unsafe { libc::dlsym(scope, function.as_ptr()) });
    everywhere.into_iter().find(|found| !found.is_null() && !is_in_server_executable(*found)).unwrap_or(entry)
}

/// True if an address is in the main executable.
fn is_in_server_executable(address: *mut c_void) -> bool {
    let mut main = Main { address: address as u64, holds: false };
    // SAFETY: the callback gets the pointer that is passed here, and runs before this call returns.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut main).cast()) };
    main.holds
}

struct Main {
    address: u64,
    holds: bool,
}

/// Notes whether the main executable holds the address in `data`. The loader calls this for every loaded object until it returns 1; the
/// first is the main executable.
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description; `data` is the `Main` of `is_in_server_executable`.
    unsafe {
        let main = &mut *data.cast::<Main>();
        let headers = std::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum as usize);
        let start = |header: &libc::Elf64_Phdr| (*info).dlpi_addr + header.p_vaddr;
        let holds = |header: &libc::Elf64_Phdr| (start(header)..start(header) + header.p_memsz).contains(&main.address);
        main.holds = headers.iter().any(|header| header.p_type == libc::PT_LOAD && holds(header));
    }
    1
}

struct Search<'a> {
    function: &'a CStr,
    found: Option<Pointer>,
}

/// Searches the main executable for the table entry of the function in `data`. The loader calls this for every loaded object until it
/// returns 1; the first is the main executable.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description; `data` is `find`'s search.
    unsafe {
        let search = &mut *data.cast::<Search>();
        let base = (*info).dlpi_addr;
        let headers = std::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum as usize);
        if let Some(dynamic) = headers.iter().find(|h| h.p_type == libc::PT_DYNAMIC) {
            let table = Tables::read((base + dynamic.p_vaddr) as *const Dynamic);
            search.found = table.find(base, search.function);
        }
    }
    1
}

/// The tables of a loaded object that the search needs, from its dynamic section.
#[derive(Default)]
struct Tables {
    strings: u64,
    symbols: u64,
    rela: u64,
    rela_bytes: u64,
    plt: u64,
    plt_bytes: u64,
}

impl Tables {
    /// Reads from a dynamic section where the object's relocations, symbols and strings are.
    ///
    /// # Safety
    /// `entry` is the dynamic section of a loaded object, ended by a zero tag.
    unsafe fn read(mut entry: *const Dynamic) -> Tables {
        let mut tables = Tables::default();
        // SAFETY: the caller's guarantee.
        unsafe {
            while (*entry).tag != 0 {
                let value = (*entry).value;
                match (*entry).tag {
                    DT_STRTAB => tables.strings = value,
                    DT_SYMTAB => tables.symbols = value,
                    DT_RELA => tables.rela = value,
                    DT_RELASZ => tables.rela_bytes = value,
                    DT_JMPREL => tables.plt = value,
                    DT_PLTRELSZ => tables.plt_bytes = value,
                    _ => {}
                }
                entry = entry.add(1);
            }
        }
        tables
    }

    /// Returns the table entry that the loader fills in for `function`. None if the object does not import that function.
    ///
    /// # Safety
    /// The tables are those of a loaded object at `base`.
    unsafe fn find(&self, base: u64, function: &CStr) -> Option<Pointer> {
        [(self.plt, self.plt_bytes), (self.rela, self.rela_bytes)]
            .into_iter()
            .filter(|(start, _)| *start != 0)
            .flat_map(|(start, bytes)| {
                // SAFETY: the loader relocated the addresses in the dynamic section (glibc does).
                unsafe {
                    std::slice::from_raw_parts(start as *const Relocation, bytes as usize / size_of::<Relocation>())
                }
            })
            .filter(|rela| FUNCTION_RELOCATIONS.contains(&(rela.info as u32)))
            // SAFETY: the caller's guarantee.
            .find(|rela| unsafe { self.name(rela) } == function)
            // SAFETY: the loader's own table, which lives as long as the process.
            .map(|rela| unsafe { Pointer::at((base + rela.offset) as *mut *mut c_void) })
    }

    /// Returns the name of the symbol that a relocation is for.
    ///
    /// # Safety
    /// `self` describes the tables of a loaded object, and `rela` is one of its relocations.
    unsafe fn name(&self, rela: &Relocation) -> &CStr {
        // SAFETY: the relocation's symbol index is within the symbol table, names are NUL-terminated.
        unsafe {
            let symbol = (self.symbols as *const libc::Elf64_Sym).add((rela.info >> 32) as usize);
            CStr::from_ptr((self.strings + u64::from((*symbol).st_name)) as *const _)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn of_this_program() {}

    #[test]
    fn an_entry_that_was_not_looked_up_yet_leads_to_the_function_that_it_stands_for() {
        // SAFETY: the name is NUL-terminated.
        let recv = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"recv".as_ptr()) };
        let not_yet = of_this_program as *mut c_void;
        assert_eq!(resolved(c"recv", not_yet), recv);
        assert_eq!(resolved(c"recv", recv), recv);
        assert_eq!(resolved(c"no_such_function", not_yet), not_yet);
    }
}
