//! Finds out whether one function calls another, by reading the machine code of the function.
//!
//! Invariant: no byte outside the function is read. Anything that is not known to be a function calls nothing.

use std::ffi::c_void;
use std::ptr::null_mut;

const CALL: u8 = 0xe8;
const LENGTH: usize = 5;

/// True if the function at address `function` contains a direct x86-64 call of the address `other`. False if `function` is not known to be
/// the start of a function, and on other processors.
pub fn calls(function: usize, other: usize) -> bool {
    if !cfg!(target_arch = "x86_64") {
        return false;
    }
    let length = (0..).take_while(|at| start_of_function_at(function.wrapping_add(*at)) == Some(function)).count();
    let is_call = |at: usize| {
        // SAFETY: all these bytes belong to the function.
        let code = unsafe { ((function + at) as *const [u8; LENGTH]).read() };
        let distance = i32::from_le_bytes([code[1], code[2], code[3], code[4]]);
        code[0] == CALL && (function + at + LENGTH).wrapping_add_signed(distance as isize) == other
    };
    (0..(length + 1).saturating_sub(LENGTH)).any(is_call)
}

/// Returns the start of the function that contains an address, from the unwind tables. Any address may be passed. None if no known function
/// contains it.
fn start_of_function_at(address: usize) -> Option<usize> {
    let mut bases = UnwindBases { text: null_mut(), data: null_mut(), function: null_mut() };
    // SAFETY: the call only searches for the number, and fills the structure if there is an entry.
    let entry = unsafe { _Unwind_Find_FDE(address as *mut c_void, &mut bases) };
    (!entry.is_null()).then_some(bases.function as usize)
}

#[repr(C)]
struct UnwindBases {
    text: *mut c_void,
    data: *mut c_void,
    function: *mut c_void,
}

// From the library that also unwinds Rust's panics.
unsafe extern "C" {
    fn _Unwind_Find_FDE(address: *mut c_void, bases: *mut UnwindBases) -> *const c_void;
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::calls;
    use std::arch::global_asm;

    // Functions as compilers emit them, without padding in between.
    global_asm!(
        ".pushsection .text",
        "fqc_test_register: .cfi_startproc",
        "ret",
        ".cfi_endproc",
        // With a guard for jumps (CET), and a byte that looks like the end of the function.
        "fqc_test_guarded: .cfi_startproc",
        "endbr64",
        "push rbx",
        "mov rbx, rax",
        "call fqc_test_register",
        "pop rbx",
        "ret",
        ".cfi_endproc",
        // The next function makes the call, not this one.
        "fqc_test_short: .cfi_startproc",
        "xor eax, eax",
        "ret",
        ".cfi_endproc",
        // The call is its last instruction.
        "fqc_test_last: .cfi_startproc",
        "call fqc_test_register",
        ".cfi_endproc",
        // As from a compiler that emits no unwind tables.
        "fqc_test_untold:",
        "call fqc_test_register",
        "ret",
        ".popsection",
        ".pushsection .data",
        "fqc_test_bytes: .byte 0xe8, 0, 0, 0, 0, 0",
        ".popsection",
    );

    unsafe extern "C" {
        fn fqc_test_register();
        fn fqc_test_guarded();
        fn fqc_test_short();
        fn fqc_test_last();
        fn fqc_test_untold();
        static fqc_test_bytes: u8;
    }

    fn calls_register(function: usize) -> bool {
        calls(function, fqc_test_register as *const () as usize)
    }

    #[test]
    fn a_function_that_calls_another_is_known() {
        assert!(calls_register(fqc_test_guarded as *const () as usize));
        assert!(calls_register(fqc_test_last as *const () as usize));
    }

    #[test]
    fn a_function_does_not_call_what_its_neighbour_calls() {
        assert!(!calls_register(fqc_test_register as *const () as usize));
        assert!(!calls_register(fqc_test_short as *const () as usize));
    }

    #[test]
    fn what_is_no_known_function_calls_nothing() {
        let inside = fqc_test_guarded as *const () as usize + 1;
        let bytes = &raw const fqc_test_bytes as usize;
        for address in [inside, bytes, fqc_test_untold as *const () as usize, 0, 1, 0x2_0000_002d, usize::MAX] {
            assert!(!calls_register(address), "{address:x}");
            assert!(!calls(address, address.wrapping_add(5)), "{address:x}");
        }
    }
}
