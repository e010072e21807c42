//! Time on a board that keeps it: what accesses and instructions take, in cycles that the time stamp counter tells.
//!
//! The numbers are those of `descriptions`, worked out by hand: 45 cycles for an MPB, 18 for L2, and so on, and 10 ns of
//! the mesh (5.33 cycles) for each router. A core goes on with a whole cycle.

use emulator::{Counts, ended::Ended, machine::Machine};
use iced_x86::{IcedError, code_asm::*};

use crate::{boards::*, programs::interrupted};

/// Where programs leave what they have measured, from the start of the shared memory.
const RESULT: u32 = 0x800;
/// Private memory that nothing else uses.
const DATA: u32 = 0x28_0000;

type Program<'p> = &'p dyn Fn(&mut CodeAssembler) -> Result<(), IcedError>;

/// A machine that keeps time with these cores.
fn timed(cores: &[usize], code: &[u8]) -> Machine {
    let mut chip = chip(0, code);
    cores.iter().for_each(|core| chip.release(*core));
    Machine::timed(chip)
}

fn result(machine: &mut Machine) -> u64 {
    result_at(machine, 0)
}

/// What is so many bytes behind it.
fn result_at(machine: &mut Machine, place: u64) -> u64 {
    machine.with_chip(|chip| {
        let mut bytes = [0; 4];
        chip.memory(0).peek(SHARED_MEMORY + u64::from(RESULT) + place, &mut bytes);
        u32::from_le_bytes(bytes).into()
    })
}

/// What core `core` of `cores` that run the same program measures of it, the last of three times. The program may count
/// on EBP, which tells the times.
fn measured(core: usize, cores: &[usize], program: Program<'_>) -> u64 {
    let code = assemble(|a| {
        let (mut again, mut others) = (a.create_label(), a.create_label());
        a.mov(ebx, esi)?;
        paging(a)?;
        a.mov(ebp, 3)?;
        a.set_label(&mut again)?;
        // What was stored before is answered.
        a.mov(eax, dword_ptr(OWN + 0x100))?;
        a.rdtsc()?;
        a.mov(esi, eax)?;
        program(a)?;
        a.rdtsc()?;
        a.sub(eax, esi)?;
        a.dec(ebp)?;
        a.jne(again)?;
        a.cmp(ebx, core as i32)?;
        a.jne(others)?;
        a.mov(dword_ptr(SHARED + RESULT), eax)?;
        done(a)?;
        // The others keep at it.
        a.set_label(&mut others)?;
        a.mov(ebp, i32::MAX)?;
        a.jmp(again)
    });
    let mut machine = timed(cores, &code);
    assert_eq!(run(&mut machine).1, Ended::Succeeded);
    result(&mut machine)
}

/// Cycles of a program on one core, less those of an empty one.
fn cycles(core: usize, program: Program<'_>) -> u64 {
    measured(core, &[core], program) - measured(core, &[core], &|_| Ok(()))
}

fn load_mpb(a: &mut CodeAssembler) -> Result<(), IcedError> {
    a.db(&[0x0F, 0x0A])?;
    a.mov(eax, dword_ptr(MPB + 0x40))
}

/// Loads from shared memory again and again, and ends the run if one takes less than it may.
fn watch(a: &mut CodeAssembler, times: u32) -> Result<(), IcedError> {
    let (mut again, mut fine) = (a.create_label(), a.create_label());
    a.mov(ebp, times)?;
    a.set_label(&mut again)?;
    a.rdtsc()?;
    a.mov(edi, eax)?;
    a.mov(eax, dword_ptr(SHARED))?;
    a.rdtsc()?;
    a.sub(eax, edi)?;
    a.cmp(eax, 97)?;
    a.jae(fine)?;
    say(a, "@done failed")?;
    a.set_label(&mut fine)?;
    a.dec(ebp)?;
    a.jne(again)
}

fn store_line(a: &mut CodeAssembler, line: u32) -> Result<(), IcedError> {
    (0..8).try_for_each(|word| a.mov(dword_ptr(MPB + line + 4 * word), eax))
}

fn wait_for_answer(a: &mut CodeAssembler) -> Result<(), IcedError> {
    a.mov(eax, dword_ptr(OWN + 0x100))
}

#[test]
fn an_access_takes_what_its_place_and_the_way_there_take() {
    // From tiles (0, 0), (1, 0) and (5, 3): 1, 2 and 9 routers. CL1INVMB takes a cycle, and a load that hits another.
    assert_eq!([0, 2, 46].map(|core| cycles(core, &load_mpb)), [53, 58, 95]);
    // The second load of a line hits, and goes beside another instruction.
    let twice: Program<'_> = &|a| {
        load_mpb(a)?;
        (0..8).try_for_each(|_| a.mov(eax, dword_ptr(MPB + 0x44)))
    };
    assert_eq!(cycles(0, twice), 53 + 8);
    // An uncached word behind the controller of tile (0, 0), by an instruction that goes beside the one before.
    assert_eq!([0, 46].map(|core| cycles(core, &|a| a.mov(eax, dword_ptr(SHARED)))), [97, 140]);
    // The board's registers, which hang off tile (3, 0).
    assert_eq!(cycles(0, &|a| a.mov(eax, dword_ptr(BOARD + 0x8224))), 667);
    // A register of the own tile.
    assert_eq!(cycles(0, &wait_for_answer), 51);
    // A lock of tile (0, 0): 45 cycles, and 1 or 9 routers.
    assert_eq!([0, 46].map(|core| cycles(core, &|a| a.mov(eax, dword_ptr(REGISTERS + 0x200)))), [51, 93]);
}

#[test]
fn a_store_to_a_register_is_answered_when_it_has_been_there_and_back() {
    // A cycle for both instructions, and the next access, to the own tile, waits for the answer. A lock is given back, and an
    // entry of a lookup table written.
    let stored = |core: usize, register: u32| {
        cycles(core, &|a| {
            a.mov(dword_ptr(REGISTERS + register), ebp)?;
            wait_for_answer(a)
        })
    };
    const ENTRY: u32 = 0x800 + 8 * 0x70;
    let places = [(0, 0x200), (46, 0x200), (0, ENTRY)];
    assert_eq!(places.map(|(core, register)| stored(core, register)), [51, 93, 51].map(|way| 1 + way + 51));
}

#[test]
fn caches_answer_what_they_have() {
    let new_line: Program<'_> = &|a| {
        a.mov(ecx, ebp)?;
        a.shl(ecx, 6)?;
        a.mov(eax, dword_ptr(ecx + DATA))
    };
    // A shift, an address that waits for it, a load, and a line of memory in 100.05 cycles.
    assert_eq!(cycles(0, new_line), 3 + 101);
    let known: Program<'_> = &|a| a.mov(eax, dword_ptr(DATA));
    assert_eq!(cycles(0, known), 0, "it goes beside another");
    // L2 keeps what L1 is emptied of.
    let flush: Program<'_> = &|a| a.wbinvd();
    let flushed: Program<'_> = &|a| {
        a.wbinvd()?;
        a.mov(eax, dword_ptr(DATA))
    };
    let flush_cycles = cycles(0, flush);
    assert_eq!(cycles(0, flushed) - flush_cycles, 18 + 1);
    assert!((10_000..10_020).contains(&flush_cycles), "{flush_cycles}");
    // L2 takes a store as well, if it has the line, which the load brings into both.
    let stored: Program<'_> = &|a| {
        a.wbinvd()?;
        a.mov(dword_ptr(DATA), ebp)?;
        a.mov(eax, dword_ptr(DATA))
    };
    assert_eq!(cycles(0, stored) - flush_cycles, 18 + (18 + 1));
}

#[test]
fn caches_have_four_ways_of_their_sizes() {
    // Five lines, in the last of three turns. The program's own are in other sets.
    let five =
        |apart: u32| cycles(0, &|a| (0..5).try_for_each(|line| a.mov(eax, dword_ptr(DATA + 0x7C0 + line * apart))));
    // Those of L1 are 4 KB, those of L2 64 KB: half of that is two sets.
    let in_l1 = five(0x800);
    assert_eq!([five(0x1000) - in_l1, five(0x8000) - in_l1], [18 * 5; 2]);
    // Of five in one set of L2, that still has one when its turn comes.
    assert_eq!(five(0x1_0000) - in_l1, 101 * 4 + 18);
}

#[test]
fn a_line_that_is_displaced_goes_to_memory_if_it_was_written() {
    /// Lines of one set of either cache, of which there are four ways.
    const LINES: u32 = 12;
    const WAY: u32 = 0x1_0000;
    let all = |stores: bool| {
        cycles(0, &|a| {
            for line in 0..LINES {
                a.mov(eax, dword_ptr(DATA + line * WAY))?;
                if stores {
                    a.mov(dword_ptr(DATA + line * WAY), eax)?;
                }
            }
            wait_for_answer(a)
        })
    };
    let (read, written) = (all(false), all(true));
    // Each line comes in 100.05 cycles. One that goes takes 113.9, for which the next one waits.
    let lines = u64::from(LINES);
    assert!((101 * lines + 51..104 * lines + 51).contains(&read), "{read}");
    assert!((113 * lines..117 * lines).contains(&(written - read)), "{read}, and {written} with stores");
}

#[test]
fn a_store_goes_on_by_itself_and_the_next_access_waits_for_it() {
    let answered: Program<'_> = &|a| {
        store_line(a, 0x40)?;
        wait_for_answer(a)
    };
    let one: Program<'_> = &|a| store_line(a, 0x40);
    assert_eq!(cycles(0, one), 4, "nobody waits");
    // Eight stores, two in a cycle, the last of which goes out: 60 cycles and 5.33, and the load after that.
    assert_eq!(cycles(0, answered), 4 + 66 + 51);
    let two: Program<'_> = &|a| {
        store_line(a, 0x40)?;
        store_line(a, 0x60)?;
        wait_for_answer(a)
    };
    // So does a line that L2 has, and not L1.
    let from_l2 = |stores: bool| {
        cycles(0, &|a| {
            a.mov(eax, dword_ptr(DATA))?;
            a.wbinvd()?;
            if stores {
                store_line(a, 0x40)?;
            }
            a.mov(eax, dword_ptr(DATA))
        })
    };
    assert_eq!(from_l2(true) - from_l2(false), 4 + 66);
    // The second line waits for the answer to the first. All sixteen stores are one block, whose cycles pass first.
    assert_eq!(cycles(0, two), 8 + 66 + 66 + 51);
    // A line of which a part is combined goes out when another one begins: that of the turn before, and the first.
    let parts: Program<'_> = &|a| {
        a.mov(dword_ptr(MPB + 0x40), eax)?;
        a.mov(dword_ptr(MPB + 0x60), eax)?;
        wait_for_answer(a)
    };
    assert_eq!(cycles(0, parts), 1 + 66 + 66 + 51);
}

#[test]
fn branches_and_turns_take_their_time() {
    // Two instructions in a cycle, and the first and the last guess is wrong in a warm loop: the last.
    let turns: Program<'_> = &|a| {
        let mut again = a.create_label();
        a.mov(ecx, 100)?;
        a.set_label(&mut again)?;
        a.dec(ecx)?;
        a.jne(again)
    };
    assert_eq!(cycles(0, turns), 100 + 4);
    // Two functions return to one place each, and one to two places in turn, both of which are taken for the other.
    let calls = |functions: usize| {
        cycles(0, &|a| {
            let (mut first, mut second, mut end) = (a.create_label(), a.create_label(), a.create_label());
            // Its stack is in L1.
            a.mov(esp, DATA + 0x20)?;
            a.mov(eax, dword_ptr(esp - 4))?;
            a.call(first)?;
            a.call([first, second][functions - 1])?;
            a.jmp(end)?;
            a.set_label(&mut first)?;
            a.ret()?;
            a.set_label(&mut second)?;
            a.ret()?;
            a.set_label(&mut end)?;
            a.nop()
        })
    };
    assert_eq!(calls(1) - calls(2), 2 * 3);
    // 9 cycles to begin, and one for each further of 64 words, which miss: one word after the other, in 97 cycles each.
    let fill: Program<'_> = &|a| {
        a.mov(ecx, 64)?;
        a.mov(edi, DATA)?;
        a.rep().stosd()
    };
    let copies = cycles(0, fill);
    assert!((63 * 97..64 * 100).contains(&copies), "{copies}");
    // Where L1 has the lines, a word takes a cycle.
    let known = |words: u32| {
        cycles(0, &|a| {
            (0..8).try_for_each(|line| a.mov(eax, dword_ptr(DATA + 0x20 * line)))?;
            a.mov(ecx, words)?;
            a.mov(edi, DATA)?;
            a.rep().stosd()
        })
    };
    assert_eq!(known(64) - known(32), 32);
}

/// Five jumps, each `way` bytes farther, in three turns: lines of instructions that L1 did not have in the last one, and what that and
/// the first one took.
fn five_jumps(way: usize) -> [u64; 3] {
    const CESR: u32 = 0x11;
    const CTR0: u32 = 0x12;
    let select = |a: &mut CodeAssembler, register: u32, value: u32| {
        a.mov(ecx, register)?;
        a.mov(eax, value)?;
        a.xor(edx, edx)?;
        a.wrmsr()
    };
    let code = assemble(|a| {
        let mut again = a.create_label();
        paging(a)?;
        a.mov(ebp, 3)?;
        a.set_label(&mut again)?;
        select(a, CTR0, 0)?;
        select(a, CESR, 0x0E | 0b011 << 6)?;
        a.rdtsc()?;
        a.mov(edi, eax)?;
        for _ in 0..5 {
            let mut next = a.create_label();
            a.jmp(next)?;
            a.db(&vec![0x90; way - 5])?;
            a.set_label(&mut next)?;
        }
        a.rdtsc()?;
        a.sub(eax, edi)?;
        a.mov(edi, eax)?;
        select(a, CESR, 0)?;
        a.mov(ecx, CTR0)?;
        a.rdmsr()?;
        a.mov(dword_ptr(SHARED + RESULT + 4 * ebp), edi)?;
        a.dec(ebp)?;
        a.jne(again)?;
        a.mov(dword_ptr(SHARED + RESULT), eax)?;
        done(a)
    });
    let mut machine = timed(&[0], &code);
    assert_eq!(run(&mut machine).1, Ended::Succeeded);
    [0, 4, 12].map(|place| result_at(&mut machine, place))
}

#[test]
fn lines_of_code_that_l1_does_not_have_are_counted_and_come_from_l2_or_memory() {
    // A set of L1 has four ways, of 4 KB each. So has a set of the buffer of branches, of which none is foretold then.
    let ([misses, cycles, first], [none, without, new]) = (five_jumps(0x1000), five_jumps(0x1020));
    assert_eq!([misses, none], [5, 0]);
    assert_eq!(cycles - without, (18 + 3) * misses);
    // At first no cache has any, and no jump is foretold. A line of memory comes in 100.05 cycles.
    assert_eq!([first - without, new - without], [(101 + 3) * 5; 2]);
    // Half as far from each other they are in two sets.
    assert_eq!(five_jumps(0x800)[0], 0);
}

/// The CPU library forgets translations when its host is busy, too, and a run is to be the same there.
#[test]
fn what_is_translated_again_changes_no_cache() {
    const LOADS: u64 = 100;
    let code = assemble(|a| {
        let mut again = a.create_label();
        paging(a)?;
        a.mov(ebp, LOADS as i32)?;
        a.set_label(&mut again)?;
        // All translations are forgotten.
        a.mov(eax, cr3)?;
        a.mov(cr3, eax)?;
        a.mov(edx, dword_ptr(IDT))?;
        a.dec(ebp)?;
        a.jne(again)?;
        done(a)
    });
    let mut machine = timed(&[0], &code);
    assert_eq!(run(&mut machine).1, Ended::Succeeded);
    let counts = machine.with_chip(|chip| *chip.counts(0));
    let loads = counts.l1_hits + counts.l2_hits + counts.memory_lines_read;
    assert!((LOADS..LOADS + 20).contains(&loads), "{loads} loads");
}

#[test]
fn who_meets_others_waits() {
    let all: Vec<usize> = (0..48).collect();
    let alone = measured(46, &[46], &load_mpb);
    let crowd = measured(46, &all, &load_mpb);
    assert!(crowd > alone * 3 / 2, "{alone} alone, {crowd} with 47 others");
}

#[test]
fn each_mpb_of_a_tile_has_a_port() {
    const LAST: usize = 46;
    // All others load from the MPB of core 0, and that one from it as well, or from that of core 1.
    let last = |offset: u32| {
        measured(LAST, &(0..48).collect::<Vec<_>>(), &|a| {
            let (mut other, mut end) = (a.create_label(), a.create_label());
            a.cmp(ebx, LAST as i32)?;
            a.jne(other)?;
            a.db(&[0x0F, 0x0A])?;
            a.mov(eax, dword_ptr(MPB + offset))?;
            a.jmp(end)?;
            a.set_label(&mut other)?;
            load_mpb(a)?;
            a.set_label(&mut end)?;
            a.nop()
        })
    };
    let (there, beside) = (last(0x40), last(0x2040));
    assert!(beside * 5 / 4 < there, "{beside} beside the crowd, {there} in it");
}

#[test]
fn memory_is_behind_the_controller_that_the_lookup_table_says() {
    /// Shared memory as lines of the MPB's type.
    const LINES: u32 = SHARED + 0x3F_F000;
    const ENTRY: u32 = OWN + 0x800 + 8 * 0x80;
    const NEAR: u32 = 6 << 10 | (SHARED_MEMORY >> 24) as u32;
    // East of tile (5, 0), which is 6 routers away.
    const FAR: u32 = 5 << 13 | 4 << 10 | (SHARED_MEMORY >> 24) as u32;
    let load = |entry: u32, address: u32| {
        cycles(0, &|a| {
            a.mov(dword_ptr(ENTRY), entry)?;
            a.db(&[0x0F, 0x0A])?;
            a.mov(eax, dword_ptr(address + 0x40))?;
            a.db(&[0x0F, 0x0A])?;
            a.mov(dword_ptr(ENTRY), NEAR)
        })
    };
    // A word in 97 and 121 cycles, and a line in 100.05 and 126.7.
    assert_eq!(load(FAR, SHARED) - load(NEAR, SHARED), 121 - 97);
    assert_eq!(load(FAR, LINES) - load(NEAR, LINES), 127 - 101);
}

#[test]
fn all_clocks_are_one_and_runs_repeat() {
    let program = assemble(|a| {
        let (mut wait, mut others) = (a.create_label(), a.create_label());
        a.mov(ebx, BOARD + 0xE000)?;
        paging(a)?;
        a.test(esi, esi)?;
        a.jne(others)?;
        // What the time stamp counter and the board's clock say of a while.
        a.rdtsc()?;
        a.mov(edi, eax)?;
        a.mov(ebp, dword_ptr(BOARD + 0x8224))?;
        a.set_label(&mut wait)?;
        a.pause()?;
        a.mov(eax, dword_ptr(ebx + 4))?;
        a.sub(eax, 0xDEAD_0000_u32 as i32)?;
        a.cmp(eax, 47)?;
        a.jne(wait)?;
        a.rdtsc()?;
        a.sub(eax, edi)?;
        a.mov(ecx, dword_ptr(BOARD + 0x8224))?;
        a.sub(ecx, ebp)?;
        // 533 cycles are 125 ticks.
        a.imul_3(ecx, ecx, 533)?;
        a.imul_3(eax, eax, 125)?;
        a.sub(eax, ecx)?;
        a.mov(dword_ptr(SHARED + RESULT), eax)?;
        done(a)?;
        a.set_label(&mut others)?;
        a.mov(eax, dword_ptr(MPB))?;
        a.mov(eax, dword_ptr(ebx))?;
        a.hlt()
    });
    let runs = || -> (Vec<(u64, Counts)>, u64) {
        let mut machine = timed(&(0..48).collect::<Vec<_>>(), &program);
        assert_eq!(run(&mut machine).1, Ended::Succeeded);
        let cores = machine.with_chip(|chip| (0..48).map(|core| (chip.cycles(core), *chip.counts(core))).collect());
        (cores, result(&mut machine))
    };
    let first = runs();
    // The accesses to the board's clock take effect at their ends: less than 1000 cycles on each side.
    let apart = (first.1 as u32 as i32).unsigned_abs() / 125;
    assert!(apart < 1_000, "{apart} cycles apart");
    assert_eq!(first, runs());
}

#[test]
fn an_interrupt_wakes_a_core_that_halts_after_the_access_in_which_it_comes() {
    let (lines, ended) = run(&mut timed(&[0, 1], &interrupted(2, 0x31, true)));
    assert_eq!(ended, Ended::Succeeded);
    assert_eq!(lines[0], (0, "interrupted".into()));
}

#[test]
fn a_core_that_halts_with_a_timer_and_is_interrupted_goes_on_once() {
    const APIC: u32 = 0xFEE0_0000;
    let program = assemble(|a| {
        let (mut other, mut late, mut handler) = (a.create_label(), a.create_label(), a.create_label());
        paging(a)?;
        a.test(esi, esi)?;
        a.jne(other)?;
        gate(a, 0x31, handler)?;
        a.mov(dword_ptr(APIC + 0xF0), 0x1FF)?;
        a.mov(dword_ptr(APIC + 0x350), 0x31)?;
        a.mov(dword_ptr(APIC + 0x320), 0x51)?;
        a.mov(dword_ptr(APIC + 0x380), i32::MAX)?;
        a.mov(dword_ptr(SHARED), 1)?;
        a.sti()?;
        a.hlt()?;
        watch(a, 100)?;
        done(a)?;
        a.set_label(&mut handler)?;
        a.and(dword_ptr(OWN + 0x10), !3)?;
        a.mov(dword_ptr(APIC + 0xB0), 0)?;
        a.iretd()?;

        a.set_label(&mut other)?;
        a.cmp(dword_ptr(SHARED), 1)?;
        a.jne(other)?;
        a.mov(ecx, 5_100)?;
        a.set_label(&mut late)?;
        a.dec(ecx)?;
        a.jne(late)?;
        a.or(dword_ptr(REGISTERS + 0x10), 2)?;
        a.hlt()
    });
    assert_eq!(run(&mut timed(&[0, 1], &program)).1, Ended::Succeeded);
}

#[test]
fn a_core_that_is_reset_during_an_access_starts_once() {
    const STARTS: i32 = 20;
    let program = assemble(|a| {
        let (mut other, mut again, mut wait, mut fine) =
            (a.create_label(), a.create_label(), a.create_label(), a.create_label());
        paging(a)?;
        a.test(esi, esi)?;
        a.jne(other)?;
        a.mov(dword_ptr(SHARED), 0)?;
        a.mov(ebp, STARTS)?;
        resets_of_core_1(a)?;
        a.set_label(&mut again)?;
        a.mov(dword_ptr(OWN + 0x80), ebx)?;
        // The access is elsewhere each time.
        a.imul_3(ecx, ebp, 7)?;
        a.add(ecx, 20_000)?;
        a.set_label(&mut wait)?;
        a.dec(ecx)?;
        a.jne(wait)?;
        // It is released again while its access is still on its way.
        a.mov(dword_ptr(OWN + 0x80), edx)?;
        a.dec(ebp)?;
        a.jne(again)?;
        a.cmp(dword_ptr(SHARED), STARTS)?;
        a.je(fine)?;
        say(a, "@done failed")?;
        a.set_label(&mut fine)?;
        done(a)?;
        a.set_label(&mut other)?;
        a.inc(dword_ptr(SHARED))?;
        watch(a, u32::MAX)
    });
    assert_eq!(run(&mut timed(&[0], &program)).1, Ended::Succeeded);
}

#[test]
fn waits_that_end_are_no_standstill_however_many() {
    let program = assemble(|a| {
        let (mut again, mut wait) = (a.create_label(), a.create_label());
        paging(a)?;
        a.mov(ebp, 2)?;
        a.set_label(&mut again)?;
        a.rdtsc()?;
        a.mov(edi, edx)?;
        // 26 times 2^32 cycles: more than half of what a standstill takes.
        a.set_label(&mut wait)?;
        a.pause()?;
        a.rdtsc()?;
        a.sub(edx, edi)?;
        a.cmp(edx, 26)?;
        a.jb(wait)?;
        a.mov(dword_ptr(SHARED), ebp)?;
        a.dec(ebp)?;
        a.jne(again)?;
        done(a)
    });
    assert_eq!(run(&mut timed(&[0], &program)).1, Ended::Succeeded);
}
