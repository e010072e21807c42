//! How many instructions the CPU library translates at once.
//!
//! Of its own accord it takes up to 512, as long as no jump is among them. But it has room for 512 temporaries, does not look
//! whether there is any left, and never gives back the two of an x87 instruction (a register, and where the instruction is): long
//! formulas overran them, and ended the emulator. None of its functions sets how many instructions it takes, so the linker
//! leads its calls of the translator here (`build.rs`).

use std::ffi::{c_int, c_void};

/// What they leave of the temporaries is enough for what all instructions share, some 50.
const MOST: c_int = 192;

unsafe extern "C" {
    fn __real_gen_intermediate_code_x86_64(cpu: *mut c_void, block: *mut c_void, most: c_int);
}

/// Translates a block of the CPU library's, of at most `most` instructions.
///
/// # Safety
/// As of the translator itself, which only the CPU library calls.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_gen_intermediate_code_x86_64(cpu: *mut c_void, block: *mut c_void, most: c_int) {
    // SAFETY: 1. the types are those of `gen_intermediate_code` in the source of the version that `Cargo.toml` insists on,
    // 2.1.5 (`qemu/include/exec/exec-all.h`): compare again before another one is taken; 2. all is as the CPU library has passed it,
    // but for a smaller number, which it allows: it asks for one instruction itself where it steps.
    unsafe { __real_gen_intermediate_code_x86_64(cpu, block, most.min(MOST)) }
}
