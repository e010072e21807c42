//! The counters of events (`CESR`, `CTR0` and `CTR1` of a P54C): executed instructions, and where a core executed them; and of a
//! core that keeps time, cycles in which it waits, and lines of instructions that L1 does not have.
//!
//! A block counts when it has ended: as a whole when the next one begins, or up to the instruction at which the core left
//! it. Each turn of a repeated string instruction counts, as it takes its time on a P54C.

use std::collections::HashMap;

use super::code::Code;

/// The register that selects what is counted.
pub(super) const CESR: u32 = 0x11;
/// The first counter.
pub(super) const CTR0: u32 = 0x12;
/// The second one.
pub(super) const CTR1: u32 = 0x13;
/// Selects executed instructions at all levels of privilege for the first counter, and nothing for the second.
const INSTRUCTIONS: u64 = 0x16 | 0b011 << 6;
/// Selects cycles at all levels of privilege in which a core waits for what it loads, for the first counter, and in which it
/// waits for room for what it stores, for the second.
const WAITS: u64 = (0x1A | 0b011 << 6) | (0x19 | 0b011 << 6) << 16;

/// Selects lines of instructions that L1 does not have at all levels of privilege for the first counter, and nothing for the
/// second.
const CODE_MISSES: u64 = 0x0E | 0b011 << 6;

/// Instructions in a row, and what called them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Run {
    /// Number of what called, among [`Profile::calls`].
    caller: usize,
    first: u32,
    len: u32,
}

/// A call: the instruction, and what called the function that it is in.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Call {
    caller: usize,
    at: u32,
}

/// How often a core has executed what, and by which calls it got there.
struct Profile {
    calls: Vec<Call>,
    numbers: HashMap<Call, usize>,
    times: HashMap<Run, u64>,
    /// The calls that are under way: where on the stack each returns to, and its number.
    stack: Vec<(u32, usize)>,
    /// Whether the block before has ended with a call, and which instruction that is.
    entered: Option<u32>,
}

/// Nobody that is known has called.
const ROOT: usize = 0;

impl Profile {
    fn new() -> Self {
        let root = Call { caller: ROOT, at: 0 };
        Self { calls: vec![root], numbers: HashMap::new(), times: HashMap::new(), stack: Vec::new(), entered: None }
    }

    /// The call that is under way.
    fn caller(&self) -> usize {
        self.stack.last().map_or(ROOT, |(_, call)| *call)
    }

    /// A block begins, with this stack pointer. What returned while nothing was counted is not under way any more.
    fn begin(&mut self, stack: u32) {
        if let Some(at) = self.entered.take() {
            self.enter(at, stack);
        }
        while self.stack.pop_if(|(returns_to, _)| *returns_to < stack).is_some() {}
    }

    fn note(&mut self, code: &Code, first: u32, len: u32, last: u32) {
        *self.times.entry(Run { caller: self.caller(), first, len }).or_default() += 1;
        self.entered = match [code.byte(last), code.byte(last.wrapping_add(1))] {
            [Some(0xE8), _] => Some(last),
            [Some(0xFF), Some(operand)] if operand >> 3 & 7 == 2 => Some(last),
            _ => None,
        };
    }

    fn enter(&mut self, at: u32, stack: u32) {
        let call = Call { caller: self.caller(), at };
        let number = *self.numbers.entry(call).or_insert_with(|| {
            self.calls.push(call);
            self.calls.len() - 1
        });
        self.stack.push((stack, number));
    }

    /// The calls that lead to one, the outermost first.
    fn path(&self, mut number: usize) -> Vec<u32> {
        let mut path = Vec::new();
        while number != ROOT {
            path.push(self.calls[number].at);
            number = self.calls[number].caller;
        }
        path.reverse();
        path
    }
}

/// A core's counters of events.
pub(super) struct Events {
    /// What is counted: nothing, or one of the selections above.
    selected: u64,
    counters: [u64; 2],
    /// Address and length of the block that runs, unless what it did was counted.
    block: Option<(u32, u32)>,
    profile: Option<Profile>,
}

impl Events {
    /// Nothing is counted; if it is, whether places are noted.
    pub(super) fn new(profiled: bool) -> Self {
        Self { selected: 0, counters: [0; 2], block: None, profile: profiled.then(Profile::new) }
    }

    /// Whether anything is counted now.
    pub(super) fn selects(&self) -> bool {
        self.selected != 0
    }

    /// Whether instructions are counted now.
    #[inline]
    pub(super) fn counts(&self) -> bool {
        self.selected == INSTRUCTIONS
    }

    /// The core has waited for `cycles` cycles, for room for what it stores or for what it loads.
    #[inline]
    pub(super) fn waited(&mut self, for_store: bool, cycles: u64) {
        if self.selected == WAITS {
            self.counters[usize::from(for_store)] += cycles;
        }
    }

    /// L1 did not have a line of instructions.
    #[inline]
    pub(super) fn missed_code(&mut self) {
        if self.selected == CODE_MISSES {
            self.counters[0] += 1;
        }
    }

    /// A block begins, with this stack pointer: the one before has run to its end.
    pub(super) fn begin_block(&mut self, code: &Code, linear: u32, len: u32, stack: impl FnOnce() -> u32) {
        if let Some((first, len)) = self.block.replace((linear, len)) {
            self.add(code, first, len);
        }
        if let Some(profile) = &mut self.profile {
            profile.begin(stack());
        }
    }

    /// The block that runs is left before the instruction at `linear`.
    pub(super) fn leave_block(&mut self, code: &Code, linear: u32) {
        if let Some((first, _)) = self.block.take() {
            self.add(code, first, linear.wrapping_sub(first));
        }
    }

    fn add(&mut self, code: &Code, first: u32, len: u32) {
        let mut last = first;
        for at in code.instructions(first, len) {
            self.counters[0] += 1;
            last = at;
        }
        if let Some(profile) = &mut self.profile
            && len > 0
        {
            profile.note(code, first, len, last);
        }
    }

    /// What a register shows.
    pub(super) fn load(&self, register: u32) -> Option<u64> {
        match register {
            CESR => Some(self.selected),
            CTR0 => Some(self.counters[0]),
            CTR1 => Some(self.counters[1]),
            _ => None,
        }
    }

    /// Changes a register. Nothing if it is not modelled, or not what it is set to.
    pub(super) fn store(&mut self, register: u32, value: u64) -> Option<()> {
        match (register, value) {
            (CESR, INSTRUCTIONS | WAITS | CODE_MISSES | 0) => self.selected = value,
            (CTR0, _) => self.counters[0] = value,
            (CTR1, _) => self.counters[1] = value,
            _ => return None,
        }
        Some(())
    }

    /// What was executed while instructions were counted: the calls that led to an instruction and its own address, and how
    /// often.
    pub(super) fn profile(&self, code: &Code) -> Vec<(Vec<u32>, u64)> {
        let Some(profile) = &self.profile else { return Vec::new() };
        let mut executed = Vec::new();
        for (run, times) in &profile.times {
            let path = profile.path(run.caller);
            executed.extend(code.instructions(run.first, run.len).map(|at| {
                let mut stack = path.clone();
                stack.push(at);
                (stack, *times)
            }));
        }
        executed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_counted_while_they_are_selected() {
        let mut events = Events::new(false);
        let wait = |events: &mut Events| {
            events.waited(false, 5);
            events.waited(true, 7);
        };
        wait(&mut events);
        events.store(CESR, WAITS).unwrap();
        assert!(!events.counts());
        wait(&mut events);
        wait(&mut events);
        events.store(CESR, INSTRUCTIONS).unwrap();
        wait(&mut events);
        assert_eq!([CESR, CTR0, CTR1].map(|register| events.load(register)), [Some(INSTRUCTIONS), Some(10), Some(14)]);
        assert!(events.store(CESR, 1).is_none());
        events.missed_code();
        events.store(CESR, CODE_MISSES).unwrap();
        wait(&mut events);
        events.missed_code();
        assert_eq!([CTR0, CTR1].map(|register| events.load(register)), [Some(11), Some(14)]);
    }
}
