//! Polls that cannot succeed: a board on which they are left out does the same, to the cycle, as one that executes them.

use emulator::{Counts, Settings, ended::Ended, machine::Machine};
use iced_x86::{IcedError, code_asm::*};

use crate::boards::*;

/// Where a core counts its polls: in private memory that nothing else uses.
const POLLS: u32 = 0x28_0000;
/// What a core that is interrupted counts.
const INTERRUPTS: u32 = 0x28_0040;
/// Where cores leave that, and when they are done: a line for each.
const RESULTS: u32 = SHARED + 0x800;
/// Words of shared memory that cores wait for.
const WORDS: u32 = SHARED + 0x2000;
/// Lines of MPBs that they wait for.
const LINES: u32 = MPB + 0x400;
/// A line that nobody waits for: a store to it lets the one before go out.
const OTHER_LINE: u32 = MPB + 0x1F00;
const APIC: u32 = 0xFEE0_0000;

/// What cores wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Line,
    Word,
    /// First one is told, and later the other, in turns.
    Both,
}

/// Rounds in which one core after the other is told the number of the round, and tells the next.
#[derive(Clone, Copy)]
struct Ring {
    cores: usize,
    rounds: u32,
    waits: Waits,
    /// Core 0 is interrupted before it is told.
    interrupts: bool,
}

/// Everything that can be told of a run.
#[derive(PartialEq, Eq, Debug)]
struct Told {
    lines: Vec<(usize, String)>,
    ended: Ended,
    rounds: u64,
    time: u64,
    cores: Vec<(u64, Counts)>,
    results: Vec<u8>,
}

/// EBX and ECX are the polls before and with this one. Jumps where a wait would look around, and counts.
fn count(a: &mut CodeAssembler, look: CodeLabel) -> Result<(), IcedError> {
    a.mov(ebx, dword_ptr(POLLS))?;
    a.lea(ecx, dword_ptr(ebx + 1))?;
    a.test(cl, 0xFE)?;
    a.je(look)?;
    a.mov(dword_ptr(POLLS), ecx)?;
    // It decides by nothing but what it polls.
    a.db(&[0xF2, 0x90])
}

/// Looks around, and counts.
fn look(a: &mut CodeAssembler) -> Result<(), IcedError> {
    a.mov(dword_ptr(POLLS), ecx)?;
    a.rdtsc()?;
    a.mov(eax, dword_ptr(SHARED))?;
    a.pause()
}

/// EDI is the place of the core whose number is in EAX, from a place on.
fn place(a: &mut CodeAssembler, first: u32) -> Result<(), IcedError> {
    a.mov(edi, eax)?;
    a.and(edi, 1)?;
    a.shl(edi, 13)?;
    a.shr(eax, 1)?;
    a.shl(eax, 5)?;
    a.lea(edi, dword_ptr(edi + eax + first))
}

/// Some cycles pass, as many as the round in EBP has.
fn pass(a: &mut CodeAssembler, cycles: i32) -> Result<(), IcedError> {
    let mut again = a.create_label();
    a.imul_3(ecx, ebp, 37)?;
    a.add(ecx, cycles)?;
    a.set_label(&mut again)?;
    a.dec(ecx)?;
    a.jne(again)
}

impl Ring {
    fn code(self) -> Vec<u8> {
        assemble(|a| {
            let [mut again, mut first, mut end, mut handler] = std::array::from_fn(|_| a.create_label());
            paging(a)?;
            a.mov(dword_ptr(INTERRUPTS), 0)?;
            a.mov(dword_ptr(POLLS), 0)?;
            a.mov(eax, dword_ptr(POLLS))?;
            a.mov(ebp, 1)?;
            if self.interrupts {
                let mut others = a.create_label();
                a.test(esi, esi)?;
                a.jne(others)?;
                gate(a, 0x41, handler)?;
                a.mov(dword_ptr(APIC + 0xF0), 0x1FF)?;
                a.mov(dword_ptr(APIC + 0x350), 0x41)?;
                a.sti()?;
                a.set_label(&mut others)?;
                a.nop()?;
            }
            a.set_label(&mut again)?;
            a.test(esi, esi)?;
            a.je(first)?;
            self.wait(a)?;
            self.tell(a)?;
            a.jmp(end)?;
            a.set_label(&mut first)?;
            pass(a, 3000)?;
            self.tell(a)?;
            self.wait(a)?;
            a.set_label(&mut end)?;
            a.inc(ebp)?;
            a.cmp(ebp, self.rounds as i32 + 1)?;
            a.jne(again)?;
            a.mov(edi, esi)?;
            a.shl(edi, 5)?;
            a.rdtsc()?;
            a.mov(dword_ptr(edi + RESULTS), eax)?;
            for (offset, from) in [(4, POLLS), (8, INTERRUPTS)] {
                a.mov(eax, dword_ptr(from))?;
                a.mov(dword_ptr(edi + RESULTS + offset), eax)?;
            }
            let mut others = a.create_label();
            a.test(esi, esi)?;
            a.jne(others)?;
            done(a)?;
            a.set_label(&mut others)?;
            a.cli()?;
            a.hlt()?;
            a.set_label(&mut handler)?;
            a.push(eax)?;
            a.inc(dword_ptr(INTERRUPTS))?;
            a.and(dword_ptr(OWN + 0x10), !3)?;
            a.mov(dword_ptr(APIC + 0xB0), 0)?;
            a.pop(eax)?;
            a.iretd()
        })
    }

    /// Waits until the core is told the number of the round.
    fn wait(self, a: &mut CodeAssembler) -> Result<(), IcedError> {
        let [mut again, mut around, mut missing, mut found] = std::array::from_fn(|_| a.create_label());
        a.set_label(&mut again)?;
        a.db(&[0x0F, 0x0A])?;
        for (waits, first) in [(Waits::Line, LINES), (Waits::Word, WORDS)] {
            if self.waits == waits || self.waits == Waits::Both {
                a.mov(eax, esi)?;
                place(a, first)?;
                a.mov(edx, dword_ptr(edi))?;
                if self.waits == Waits::Both && waits == Waits::Line {
                    // Both are read, whatever the first is.
                    a.push(edx)?;
                }
            }
        }
        if self.waits == Waits::Both {
            a.pop(eax)?;
            a.cmp(eax, ebp)?;
            a.jne(missing)?;
        }
        a.cmp(edx, ebp)?;
        a.je(found)?;
        a.set_label(&mut missing)?;
        a.nop()?;
        count(a, around)?;
        a.jmp(again)?;
        a.set_label(&mut around)?;
        look(a)?;
        a.jmp(again)?;
        a.set_label(&mut found)?;
        a.nop()
    }

    /// Tells the next core the number of the round.
    fn tell(self, a: &mut CodeAssembler) -> Result<(), IcedError> {
        let inside = a.create_label();
        if self.interrupts {
            let mut others = a.create_label();
            a.cmp(esi, self.cores as i32 - 1)?;
            a.jne(others)?;
            pass(a, 500)?;
            a.or(dword_ptr(REGISTERS + 0x10), 2)?;
            pass(a, 700)?;
            a.set_label(&mut others)?;
            a.nop()?;
        }
        let next = |a: &mut CodeAssembler, first: u32, inside: CodeLabel| {
            a.lea(eax, dword_ptr(esi + 1))?;
            a.cmp(eax, self.cores as i32)?;
            a.jne(inside)?;
            a.xor(eax, eax)?;
            let mut inside = inside;
            a.set_label(&mut inside)?;
            place(a, first)?;
            a.mov(dword_ptr(edi), ebp)?;
            if first == LINES {
                a.mov(dword_ptr(OTHER_LINE), ebp)?;
            }
            Ok::<_, IcedError>(())
        };
        match self.waits {
            Waits::Line => next(a, LINES, inside),
            Waits::Word => next(a, WORDS, inside),
            Waits::Both => {
                let [mut odd, mut end, second, third, fourth] = std::array::from_fn(|_| a.create_label());
                a.test(ebp, 1)?;
                a.jne(odd)?;
                next(a, LINES, inside)?;
                pass(a, 20)?;
                next(a, WORDS, second)?;
                a.jmp(end)?;
                a.set_label(&mut odd)?;
                next(a, WORDS, third)?;
                pass(a, 20)?;
                next(a, LINES, fourth)?;
                a.set_label(&mut end)?;
                a.nop()
            }
        }
    }
}

/// What is to be told of a run, and how many polls were not executed.
fn told(cores: usize, code: &[u8], executes_polls: bool) -> (Told, u64) {
    let mut machine = Machine::timed(chip_with(Settings { executes_polls, ..Settings::default() }, cores, code));
    let (lines, ended) = run(&mut machine);
    let rounds = machine.rounds();
    machine.with_chip(|chip| {
        let mut results = vec![0; 48 * 32];
        chip.memory(0).peek(SHARED_MEMORY + u64::from(RESULTS - SHARED), &mut results);
        let of_cores = (0..cores).map(|core| (chip.cycles(core), *chip.counts(core))).collect();
        (Told { lines, ended, rounds, time: chip.time(), cores: of_cores, results }, chip.polls_left_out())
    })
}

/// Runs a program both ways. Returns what is to be told of it, the same for both, and how many of the polls were left out.
fn both(cores: usize, code: &[u8]) -> (Told, u64) {
    let [(executed, none), (skipped, left_out)] = [true, false].map(|executes| told(cores, code, executes));
    assert_eq!(none, 0);
    assert!(executed == skipped, "executed: {executed:#x?}\nskipped: {skipped:#x?}");
    let again = told(cores, code, false);
    assert!(again == (executed, left_out), "two runs differ");
    (skipped, left_out)
}

/// Runs a ring both ways, and demands that so many in a hundred of its polls are left out.
fn ring(ring: Ring, percent: u64) -> Told {
    let (told, left_out) = both(ring.cores, &ring.code());
    assert_eq!(told.ended, Ended::Succeeded);
    let polls: u64 = told.cores.iter().map(|(_, counts)| counts.mpbt_invalidations).sum();
    assert!(100 * left_out >= percent * polls, "{left_out} of {polls} polls were left out");
    told
}

#[test]
fn waits_for_lines() {
    for (cores, rounds) in [(2, 40), (3, 40), (48, 6)] {
        ring(Ring { cores, rounds, waits: Waits::Line, interrupts: false }, 60);
    }
}

#[test]
fn waits_for_words() {
    for (cores, rounds) in [(2, 40), (5, 20)] {
        ring(Ring { cores, rounds, waits: Waits::Word, interrupts: false }, 60);
    }
}

#[test]
fn waits_for_two_places() {
    for (cores, rounds) in [(2, 120), (6, 30)] {
        ring(Ring { cores, rounds, waits: Waits::Both, interrupts: false }, 50);
    }
}

#[test]
fn waits_that_are_interrupted() {
    let told = ring(Ring { cores: 3, rounds: 20, waits: Waits::Line, interrupts: true }, 50);
    assert_eq!(told.results[8..12], 20_u32.to_le_bytes());
}

/// One core waits for what never comes; with `most`, until it has polled so often.
fn in_vain(most: Option<i32>) -> Vec<u8> {
    assemble(|a| {
        let [mut again, mut around, mut end] = std::array::from_fn(|_| a.create_label());
        paging(a)?;
        a.mov(dword_ptr(POLLS), 0)?;
        a.mov(eax, dword_ptr(POLLS))?;
        a.set_label(&mut again)?;
        a.db(&[0x0F, 0x0A])?;
        a.mov(eax, dword_ptr(LINES))?;
        a.cmp(eax, 1)?;
        a.je(end)?;
        count(a, around)?;
        a.jmp(again)?;
        a.set_label(&mut around)?;
        look(a)?;
        if let Some(most) = most {
            a.cmp(ecx, most)?;
            a.jae(end)?;
        }
        a.jmp(again)?;
        a.set_label(&mut end)?;
        a.mov(edx, dword_ptr(POLLS))?;
        a.mov(dword_ptr(RESULTS), edx)?;
        done(a)
    })
}

#[test]
fn waits_that_time_out() {
    let (told, left_out) = both(1, &in_vain(Some(5000)));
    // With the first look behind it.
    assert_eq!((told.ended, &told.results[..4]), (Ended::Succeeded, &5120_u32.to_le_bytes()[..]));
    assert!(left_out > 4500, "{left_out}");
}

/// A core is reset again and again while its polls are left out, each time elsewhere in a poll of two places, and the other core of its tile reads
/// what is in memory, and not what was read for that poll.
#[test]
fn waits_that_are_reset() {
    const STARTS: i32 = 40;
    let code = assemble(|a| {
        let [mut other, mut again, mut wait, mut poll, mut around, mut fine] =
            std::array::from_fn(|_| a.create_label());
        paging(a)?;
        a.test(esi, esi)?;
        a.jne(other)?;
        a.mov(dword_ptr(SHARED), 0)?;
        a.mov(ebp, STARTS)?;
        resets_of_core_1(a)?;
        a.xor(edi, edi)?;
        a.set_label(&mut again)?;
        a.mov(dword_ptr(OWN + 0x80), ebx)?;
        a.imul_3(ecx, ebp, 7)?;
        a.add(ecx, 20_000)?;
        a.set_label(&mut wait)?;
        a.dec(ecx)?;
        a.jne(wait)?;
        a.mov(dword_ptr(OWN + 0x80), edx)?;
        a.add(edi, dword_ptr(SHARED))?;
        a.dec(ebp)?;
        a.jne(again)?;
        a.mov(dword_ptr(RESULTS), edi)?;
        a.cmp(edi, STARTS * (STARTS + 1) / 2)?;
        a.je(fine)?;
        say(a, "@done failed")?;
        a.set_label(&mut fine)?;
        done(a)?;
        a.set_label(&mut other)?;
        a.inc(dword_ptr(SHARED))?;
        a.mov(dword_ptr(POLLS), 0)?;
        a.mov(eax, dword_ptr(POLLS))?;
        a.set_label(&mut poll)?;
        a.db(&[0x0F, 0x0A])?;
        a.mov(eax, dword_ptr(LINES))?;
        a.mov(eax, dword_ptr(WORDS))?;
        a.nop()?;
        count(a, around)?;
        a.jmp(poll)?;
        a.set_label(&mut around)?;
        look(a)?;
        a.jmp(poll)
    });
    let (told, left_out) = both(1, &code);
    assert_eq!(told.ended, Ended::Succeeded);
    assert!(left_out > 500, "{left_out}");
}

/// A program's own loop gives up after 100 polls, of which none is left out: nobody has said that it does not count.
#[test]
fn other_loops_are_executed() {
    let code = assemble(|a| {
        let mut again = a.create_label();
        paging(a)?;
        a.xor(ecx, ecx)?;
        a.set_label(&mut again)?;
        a.db(&[0x0F, 0x0A])?;
        a.mov(eax, dword_ptr(LINES))?;
        a.pause()?;
        a.inc(ecx)?;
        a.cmp(ecx, 100)?;
        a.jne(again)?;
        a.mov(dword_ptr(RESULTS), ecx)?;
        done(a)
    });
    let (told, left_out) = both(1, &code);
    assert_eq!((told.ended, &told.results[..4], left_out), (Ended::Succeeded, &100_u32.to_le_bytes()[..], 0));
}

#[test]
fn waits_for_ever() {
    let (told, left_out) = both(2, &in_vain(None));
    assert!(matches!(&told.ended, Ended::Stuck(places) if places.contains("core 1 running at")), "{:?}", told.ended);
    assert!(left_out > 1000, "{left_out}");
}
