//! Boards with small programs, assembled here.

use emulator::{Board, Chip, Settings, machine::Machine};
use iced_x86::{IcedError, code_asm::*};

/// Where programs begin.
pub(crate) const CODE: u32 = 0x10_0000;
/// Top of a program's stack.
pub(crate) const STACK: u32 = 0x20_0000;
/// An interrupt descriptor table, at first empty.
pub(crate) const IDT: u32 = 0x4000;
/// A page directory, and after it a table for the first 4 MB.
pub(crate) const DIRECTORY: u32 = 0x8000;
/// Selector of the code segment.
pub(crate) const CODE_SELECTOR: u32 = 8;

/// Register window of tile (0, 0).
pub(crate) const REGISTERS: u32 = 0xE000_0000;
/// MPB of tile (0, 0).
pub(crate) const MPB: u32 = 0xC000_0000;
/// Shared memory behind controller 0.
pub(crate) const SHARED: u32 = 0x8000_0000;
/// The board's registers.
pub(crate) const BOARD: u32 = 0xF900_0000;
/// The own tile's registers.
pub(crate) const OWN: u32 = 0xF800_0000;

/// 16 MB of controller 0 that hold the page that all cores start in.
const RESET_BLOCK: u64 = 100;

/// Where core 0's first instruction is in the memory behind controller 0.
pub(crate) const FIRST_INSTRUCTION: u64 = ((RESET_BLOCK + 1) << 24) - 16;
const SHARED_BLOCK: u64 = 101;
/// Where the shared memory is behind controller 0.
pub(crate) const SHARED_MEMORY: u64 = SHARED_BLOCK << 24;

/// What a program writes to end: the line, and a halt.
pub(crate) fn say(a: &mut CodeAssembler, line: &str) -> Result<(), IcedError> {
    a.mov(dx, 0x3F8)?;
    for byte in line.bytes().chain([b'\n']) {
        a.mov(al, u32::from(byte))?;
        a.out(dx, al)?;
    }
    Ok(())
}

/// Ends the program.
pub(crate) fn done(a: &mut CodeAssembler) -> Result<(), IcedError> {
    say(a, "@done ok")?;
    a.cli()?;
    a.hlt()
}

/// Puts the address of a jump to a label into EAX.
pub(crate) fn address(a: &mut CodeAssembler, label: CodeLabel) -> Result<(), IcedError> {
    let mut over = a.create_label();
    a.call(over)?;
    a.jmp(label)?;
    a.set_label(&mut over)?;
    a.pop(eax)
}

/// Sets a gate of the interrupt descriptor table, whose handler is at a label.
pub(crate) fn gate(a: &mut CodeAssembler, vector: u32, handler: CodeLabel) -> Result<(), IcedError> {
    address(a, handler)?;
    a.mov(ebx, eax)?;
    a.and(eax, 0xFFFF)?;
    a.or(eax, CODE_SELECTOR << 16)?;
    a.and(ebx, 0xFFFF_0000_u32 as i32)?;
    a.or(ebx, 0x8E00)?;
    a.mov(dword_ptr(IDT + 8 * vector), eax)?;
    a.mov(dword_ptr(IDT + 8 * vector + 4), ebx)?;
    // The table's pointer is behind it.
    a.mov(word_ptr(IDT + 0x800), 0x7FF)?;
    a.mov(dword_ptr(IDT + 0x802), IDT)?;
    a.lidt(fword_ptr(IDT + 0x800))
}

/// Turns paging on, with caches, and MPBT pages allowed.
pub(crate) fn paging(a: &mut CodeAssembler) -> Result<(), IcedError> {
    a.mov(eax, 0x800)?;
    a.mov(cr4, eax)?;
    a.mov(eax, DIRECTORY)?;
    a.mov(cr3, eax)?;
    a.mov(eax, 0x8001_0011_u32)?;
    a.mov(cr0, eax)
}

/// Gets what resets the cores of the own tile: EDX has core 1 and its L2 in reset, EBX has them released.
pub(crate) fn resets_of_core_1(a: &mut CodeAssembler) -> Result<(), IcedError> {
    a.mov(edx, dword_ptr(OWN + 0x80))?;
    a.mov(ebx, edx)?;
    a.and(ebx, !0xA)
}

/// The page that cores start in: from there to a flat protected mode.
fn reset_page() -> Vec<u8> {
    let mut page = vec![0x90; 4096];
    let boot = [
        &[0xFA][..],                                       // cli
        &[0x2E, 0x66, 0x0F, 0x01, 0x16, 0x40, 0xF0],       // lgdt cs:[0xF040]
        &[0x0F, 0x20, 0xC0, 0x0C, 0x01, 0x0F, 0x22, 0xC0], // CR0.PE
        &[0x66, 0xEA, 0x00, 0x00, 0x10, 0x00, 0x08, 0x00], // jmp 8:CODE
    ]
    .concat();
    page[..boot.len()].copy_from_slice(&boot);
    page[0x40..0x46].copy_from_slice(&[0x17, 0, 0x50, 0xF0, 0xFF, 0xFF]);
    let descriptors = [0_u64, 0x00CF_9A00_0000_FFFF, 0x00CF_9200_0000_FFFF];
    for (place, descriptor) in (0x50..).step_by(8).zip(descriptors) {
        page[place..place + 8].copy_from_slice(&descriptor.to_le_bytes());
    }
    page[0xFF0..0xFF3].copy_from_slice(&[0xE9, 0x0D, 0xF0]);
    page
}

/// Code for all cores, which begin with a stack, flat segments and their number in ESI.
pub(crate) fn assemble(program: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<u8> {
    let mut a = CodeAssembler::new(32).expect("32 bits");
    let mut whole = || {
        a.mov(eax, 0x10)?;
        a.mov(ds, eax)?;
        a.mov(es, eax)?;
        a.mov(ss, eax)?;
        a.mov(esp, STACK)?;
        // Number of the core: bits 2:0 which of its tile, 6:3 the column, 10:7 the row.
        a.mov(eax, dword_ptr(OWN + 0x100))?;
        a.mov(esi, eax)?;
        a.shr(esi, 3)?;
        a.and(esi, 15)?;
        a.mov(ebx, eax)?;
        a.shr(ebx, 7)?;
        a.imul_3(ebx, ebx, 6)?;
        a.add(esi, ebx)?;
        a.add(esi, esi)?;
        a.and(eax, 7)?;
        a.add(esi, eax)
    };
    whole().expect("this can be assembled");
    program(&mut a).expect("this can be assembled");
    a.assemble(CODE.into()).expect("all labels are set")
}

/// A board with `code` in the memory of all cores, of which the first `cores` are started.
pub(crate) fn board(cores: usize, code: &[u8]) -> Machine {
    Machine::new(chip(cores, code))
}

/// The same, before it begins.
pub(crate) fn chip(cores: usize, code: &[u8]) -> Chip {
    chip_with(Settings::default(), cores, code)
}

/// The same, that behaves in another way.
pub(crate) fn chip_with(settings: Settings, cores: usize, code: &[u8]) -> Chip {
    let board = Board::scc(4);
    let mut chip = Chip::with_settings(&board, settings);
    chip.memory_mut(0).poke(((RESET_BLOCK + 1) << 24) - 4096, &reset_page());
    for core in 0..board.cores() {
        let memory = chip.memory_mut(0);
        let private = (core as u64) << 24;
        memory.poke(private + u64::from(CODE), code);
        memory.poke(private + u64::from(IDT), &[0; 4096]);
        memory.poke(private + u64::from(DIRECTORY), &tables());
        let west = |block: u64| 6 << 10 | block;
        let mut entries = vec![(0, west(core as u64)), (0xFF, west(RESET_BLOCK)), (0x80, west(SHARED_BLOCK))];
        for tile in 0..24 {
            let route = route(tile);
            entries.push((0xC0 + tile, route | 0xC00));
            entries.push((0xE0 + tile, route | 0x800));
        }
        let tile = core / 2;
        entries.push((0xF8, route(tile) | 0x800));
        entries.push((0xF9, 0x07500));
        for (slot, entry) in entries {
            let offset = 0x800 * (1 + core % 2) + 8 * slot;
            chip.host_write((tile % 6) as u32, (tile / 6) as u32, 2, offset as u32, entry).expect("it is a register");
        }
    }
    (0..cores).for_each(|core| chip.release(core));
    chip
}

/// Where a tile is, as entries of lookup tables say it.
fn route(tile: usize) -> u64 {
    (((tile / 6) << 17) | ((tile % 6) << 13)) as u64
}

/// A page directory whose first table maps 4 MB as they are, and which has a table for each window: the last
/// pages of the first 4 MB.
fn tables() -> Vec<u8> {
    let mut words = vec![0_u32; 9 * 1024];
    // The bits of the pages of each window.
    let windows = [(0_u32, 0x003), (SHARED, 0x01B), (MPB, 0x08B), (REGISTERS, 0x01B), (OWN, 0x01B), (BOARD, 0x01B)];
    for (number, (address, bits)) in windows.into_iter().enumerate() {
        words[(address >> 22) as usize] = (DIRECTORY + 4096 * (number as u32 + 1)) | 3;
        for page in 0..1024_u32 {
            words[1024 * (number + 1) + page as usize] = (address + 4096 * page) | bits;
        }
    }
    // A page that is not there, one that may only be read, and the shared memory in two other ways.
    words[1024 + 0x3FF] = 0;
    words[1024 + 0x3FE] = 0x3F_E001;
    words[2 * 1024 + 0x3FF] = SHARED | 0x08B;
    words[2 * 1024 + 0x3FE] = SHARED | 0x003;
    // The local APIC.
    words[(0xFEE0_0000_u32 >> 22) as usize] = (DIRECTORY + 4096 * 7) | 3;
    words[7 * 1024 + (0xFEE0_0000_u32 >> 12 & 0x3FF) as usize] = 0xFEE0_001B;
    // The segments' descriptors, which returns from interrupts look at, are in the page that cores start in.
    words[1023] = (DIRECTORY + 4096 * 8) | 3;
    words[8 * 1024 + 1023] = 0xFFFF_F003;
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// How often a board is asked whether to go on, 64 rounds each: several times what the tests take.
const MOST_QUESTIONS: u32 = 10_000;

/// The lines that a board prints until it ends, and how it ends.
pub(crate) fn run(machine: &mut Machine) -> (Vec<(usize, String)>, emulator::ended::Ended) {
    let mut lines = Vec::new();
    let mut questions = 0;
    let give_up = || {
        questions += 1;
        questions > MOST_QUESTIONS
    };
    let ended = machine.run(give_up, |core, line| lines.push((core, line.to_owned())));
    (lines, ended)
}
