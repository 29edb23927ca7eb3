//! The server's global offset table: where it looks up the functions that it imports.
//!
//! `Import::find` walks the relocations of the main executable; `Import::swap` makes the page writable, exchanges the
//! pointer and puts the protection back. Nothing in the server's code is overwritten. x86-64 and aarch64.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

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

/// One entry of the table: the address of an imported function.
#[derive(Clone, Copy, Debug)]
pub struct Import(*mut *mut c_void);

// SAFETY: the table lives as long as the process; accesses go through an atomic.
unsafe impl Send for Import {}
// SAFETY: as above.
unsafe impl Sync for Import {}

impl Import {
    /// The entry of `function` in the main executable, if it imports that function.
    pub fn find(function: &CStr) -> Option<Import> {
        let mut search = Search { function, found: None };
        // SAFETY: the callback gets the pointer that is passed here, and runs before this call returns.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
        search.found
    }

    pub fn current(&self) -> *mut c_void {
        // SAFETY: `find` took the address from the loader's own tables.
        unsafe { AtomicPtr::from_ptr(self.0) }.load(Ordering::Acquire)
    }

    /// Exchanges the pointer; the error is the system's.
    pub fn swap(&self, function: *mut c_void) -> std::io::Result<*mut c_void> {
        let was_writable = is_writable(self.0 as usize)?;
        let page = page_of(self.0.cast());
        if !was_writable {
            protect(page, libc::PROT_READ | libc::PROT_WRITE)?;
        }
        // SAFETY: the page is writable now; every call of the server reads one whole pointer.
        let old = unsafe { AtomicPtr::from_ptr(self.0) }.swap(function, Ordering::AcqRel);
        if !was_writable {
            protect(page, libc::PROT_READ)?;
        }
        Ok(old)
    }
}

/// A server linked with BIND_NOW has its table read-only; one with lazy binding must keep it writable.
fn is_writable(address: usize) -> std::io::Result<bool> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let covers = |line: &&str| {
        let (start, end) = line.split(' ').next().and_then(|range| range.split_once('-')).unwrap_or(("0", "0"));
        let hex = |text| usize::from_str_radix(text, 16).unwrap_or(0);
        (hex(start)..hex(end)).contains(&address)
    };
    let line = maps.lines().find(covers).ok_or_else(|| std::io::Error::other("the table is not mapped"))?;
    Ok(line.split(' ').nth(1).is_some_and(|rights| rights.starts_with("rw")))
}

fn page_of(address: *mut c_void) -> *mut c_void {
    // SAFETY: no memory is involved.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    (address as usize & !(size - 1)) as *mut c_void
}

fn protect(page: *mut c_void, protection: c_int) -> std::io::Result<()> {
    // SAFETY: the page holds a mapped table of the main executable; one page covers an aligned pointer.
    let failed = unsafe { libc::mprotect(page, size_of::<*mut c_void>(), protection) } != 0;
    if failed { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

struct Search<'a> {
    function: &'a CStr,
    found: Option<Import>,
}

/// Called for every loaded object; the first is the main executable, and the only one looked at.
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
    /// # Safety
    /// `entry` is the dynamic section of a loaded object, ended by a zero tag.
    unsafe fn read(mut entry: *const Dynamic) -> Tables {
        let mut tables = Tables::default();
        // SAFETY: the caller's promise.
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

    /// # Safety
    /// The tables are those of a loaded object at `base`.
    unsafe fn find(&self, base: u64, function: &CStr) -> Option<Import> {
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
            // SAFETY: the caller's promise.
            .find(|rela| unsafe { self.name(rela) } == function)
            .map(|rela| Import((base + rela.offset) as *mut *mut c_void))
    }

    /// # Safety
    /// As for `find`.
    unsafe fn name(&self, rela: &Relocation) -> &CStr {
        // SAFETY: the relocation's symbol index is within the symbol table, names are NUL-terminated.
        unsafe {
            let symbol = (self.symbols as *const libc::Elf64_Sym).add((rela.info >> 32) as usize);
            CStr::from_ptr((self.strings + u64::from((*symbol).st_name)) as *const _)
        }
    }
}
