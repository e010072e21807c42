//! What a multiboot 1 loader hands over: memory map, command line, modules.
//!
//! All of it is copied out before any memory is given away, so the loader's structures need no reservation; only the
//! contents of the modules stay where they are.

use crate::{bare::PAGE_BYTES, qemu::memory::addresses};
use core::ops::Range;
use heapless::{String, Vec};

/// What the loader leaves in `eax`.
pub(crate) const LOADER_MAGIC: u32 = 0x2BAD_B002;

/// Longest command line that is accepted, in bytes.
pub(crate) const COMMAND_LINE_BYTES: usize = 2048;
const MODULE_NAME_BYTES: usize = 256;
const MAX_MODULES: usize = 32;
const MAX_RANGES: usize = 32;
/// The last page below 4 GiB is left out, so that the end of a range is always a valid number.
const ADDRESS_LIMIT: u64 = 0xFFFF_F000;

const HAS_MEMORY_SIZE: u32 = 1 << 0;
const HAS_COMMAND_LINE: u32 = 1 << 2;
const HAS_MODULES: u32 = 1 << 3;
const HAS_MEMORY_MAP: u32 = 1 << 6;
const MEMORY_USABLE: u32 = 1;

/// A file that the loader put into memory.
pub(crate) struct Module {
    pub(crate) name: String<MODULE_NAME_BYTES>,
    pub(crate) contents: Range<usize>,
}

/// A copy of the loader's information.
pub(crate) struct Handed {
    pub(crate) command_line: String<COMMAND_LINE_BYTES>,
    pub(crate) modules: Vec<Module, MAX_MODULES>,
    /// Usable memory from 1 MiB up.
    pub(crate) usable: Vec<Range<usize>, MAX_RANGES>,
}

#[repr(C)]
struct Information {
    flags: u32,
    memory_lower_kib: u32,
    memory_upper_kib: u32,
    boot_device: u32,
    command_line: u32,
    module_count: u32,
    modules: u32,
    symbols: [u32; 4],
    memory_map_bytes: u32,
    memory_map: u32,
}

#[repr(C)]
struct ModuleEntry {
    start: u32,
    end: u32,
    name: u32,
    reserved: u32,
}

#[repr(C, packed)]
struct MemoryEntry {
    /// Bytes of the entry without this field.
    bytes: u32,
    start: u64,
    length: u64,
    kind: u32,
}

/// Copies the loader's information.
///
/// # Errors
/// A sentence that says what is too large or misplaced.
///
/// # Safety
/// `address` must be what a multiboot loader left in `ebx`, nothing may have changed memory since, and paging must be off.
pub(crate) unsafe fn read(address: usize) -> Result<Handed, &'static str> {
    // SAFETY: the caller says that the structure is there; it has fields beyond these, and all are plain numbers.
    let information = unsafe { &*core::ptr::with_exposed_provenance::<Information>(address) };
    let mut handed = Handed { command_line: String::new(), modules: Vec::new(), usable: Vec::new() };
    let has = |flag| information.flags & flag != 0;
    if has(HAS_COMMAND_LINE) {
        // SAFETY: the flag says that the field points to a text.
        unsafe { copy_text(information.command_line, &mut handed.command_line) }
            .map_err(|_| "the command line is longer than 2048 bytes")?;
    }
    if has(HAS_MODULES) {
        // SAFETY: the flag says that the fields describe the table of modules.
        unsafe { read_modules(information, &mut handed.modules)? }
    }
    if has(HAS_MEMORY_MAP) {
        // SAFETY: the flag says that the fields describe the memory map.
        unsafe { read_memory_map(information, &mut handed.usable) }
    } else if has(HAS_MEMORY_SIZE) {
        add_usable(0x10_0000, u64::from(information.memory_upper_kib) << 10, &mut handed.usable);
    }
    Ok(handed)
}

/// # Safety
/// The fields about modules must be valid.
unsafe fn read_modules(information: &Information, modules: &mut Vec<Module, MAX_MODULES>) -> Result<(), &'static str> {
    for index in 0..information.module_count as usize {
        // SAFETY: the caller says that the table has this many entries.
        let entry =
            unsafe { &*core::ptr::with_exposed_provenance::<ModuleEntry>(information.modules as usize).add(index) };
        let mut module = Module { name: String::new(), contents: entry.start as usize..entry.end as usize };
        // SAFETY: every module has a text, which may be empty.
        unsafe { copy_text(entry.name, &mut module.name) }
            .map_err(|_| "the name of a module is longer than 256 bytes")?;
        if module.contents.start < 0x10_0000 || module.contents.end > addresses::HEAP_BASE {
            return Err("a module lies below 1 MiB or above 2 GiB");
        }
        if !module.contents.start.is_multiple_of(PAGE_BYTES) {
            return Err("a module does not start on a page although the image asks for it");
        }
        modules.push(module).map_err(|_| "there are more than 32 modules")?;
    }
    Ok(())
}

/// # Safety
/// The fields about the memory map must be valid.
unsafe fn read_memory_map(information: &Information, usable: &mut Vec<Range<usize>, MAX_RANGES>) {
    let mut position = information.memory_map as usize;
    let end = position + information.memory_map_bytes as usize;
    while position < end {
        // SAFETY: the caller says that entries fill the map; the structure is packed, so any position is aligned.
        let entry = unsafe { core::ptr::with_exposed_provenance::<MemoryEntry>(position).read() };
        if entry.kind == MEMORY_USABLE {
            add_usable(entry.start, entry.length, usable);
        }
        position += entry.bytes as usize + size_of::<u32>();
    }
}

fn add_usable(start: u64, length: u64, usable: &mut Vec<Range<usize>, MAX_RANGES>) {
    let start_address = start.max(0x10_0000);
    let end = start.saturating_add(length).min(ADDRESS_LIMIT);
    if start_address < end {
        // More ranges than the table holds are only memory that is not used.
        let _ = usable.push(start_address as usize..end as usize);
    }
}

/// Copies a text that ends with a zero byte; bytes that are not ASCII become `?`.
///
/// # Safety
/// A text that ends with a zero byte must be at `address`.
unsafe fn copy_text<const N: usize>(address: u32, to: &mut String<N>) -> Result<(), heapless::CapacityError> {
    let mut from = core::ptr::with_exposed_provenance::<u8>(address as usize);
    loop {
        // SAFETY: the text's end has not been reached.
        let byte = unsafe { from.read() };
        if byte == 0 {
            return Ok(());
        }
        to.push(if byte.is_ascii() { byte as char } else { '?' })?;
        from = from.wrapping_add(1);
    }
}
