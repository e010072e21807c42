//! Computation in C takes virtual time: the program adds up what it would have taken on a P54C (`spent.c`), and whatever it calls of
//! this side charges it first.

use alloc::{borrow::ToOwned, collections::BTreeMap, format, string::String};
use core::cell::{Cell, RefCell};

use kernel::{Failure, hal::Core};

/// A cycle, as the program counts.
const CYCLE: u64 = 16;

/// The option with what accesses to private memory take that L1 does not answer.
pub(crate) const OPTION: &str = "private_memory";

/// The option with what calls of our library take, beside the operations of the machine in them and protocols that have prices.
pub(crate) const CALLS_OPTION: &str = "call_prices";

/// What misses of L1 take: the same as `struct atoll_misses`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Misses {
    l2: u64,
    read_line: u64,
    write_line: u64,
    write_word: u64,
    /// Bytes of the stack below the program's first frame.
    stack_bytes: u64,
}

impl Misses {
    /// What they take on a core, by the option's numbers, which are picoseconds at no distance: of a hit of L2, a line that is read, one that is written,
    /// a word that is written, and a router; and the KiB of a stack.
    ///
    /// # Errors
    /// When it has other numbers.
    pub(crate) fn of<C: Core>(hal: &C, option: &str) -> Result<Self, Failure> {
        let mut numbers = option.split(',').map(str::parse);
        let mut number = || match numbers.next() {
            Some(Ok(number)) => Ok(number),
            _ => Err(Failure::new(format!("`{OPTION}={option}` has not six numbers")).on_all_ranks()),
        };
        let [l2, read, write, word, hop, stack_kib] =
            [number()?, number()?, number()?, number()?, number()?, number()?];
        let layout = hal.layout();
        let routers = layout.controller_distance(hal.core(), layout.nearest_controller(hal.core()));
        let way: u64 = 2 * u64::from(routers) * hop;
        let taken = |ps: u64| ps * u64::from(layout.prices().core_mhz) * CYCLE / 1_000_000;
        Ok(Self {
            l2: taken(l2),
            read_line: taken(read + way),
            write_line: taken(write + way),
            write_word: taken(word + way),
            stack_bytes: stack_kib << 10,
        })
    }
}

/// Cycles of calls by their names: of each, and how much longer a core's first one takes, until it has made that.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Calls(BTreeMap<String, [u64; 2]>);

impl Calls {
    /// The option's numbers, `NAME:EACH:FIRST` for each.
    ///
    /// # Errors
    /// When it is none of these.
    pub(crate) fn of(option: &str) -> Result<Self, Failure> {
        let call = |call: &str| {
            let mut parts = call.split(':');
            let name = parts.next()?.to_owned();
            let mut number = || parts.next()?.parse().ok();
            Some((name, [number()?, number()?]))
        };
        let calls: Option<_> = option.split(',').map(call).collect();
        let wrong = || Failure::new(format!("`{CALLS_OPTION}={option}` is no list of NAME:EACH:FIRST")).on_all_ranks();
        calls.map(Self).ok_or_else(wrong)
    }

    /// Cycles of a call that is made now.
    fn take(&mut self, name: &str) -> u64 {
        self.0.get_mut(name).map_or(0, |[each, first]| *each + core::mem::take(first))
    }
}

/// What the program has taken, and how much of it was charged.
#[derive(Default)]
pub(crate) struct Spent {
    misses: Option<Misses>,
    calls: RefCell<Calls>,
    /// Where the program adds up: all of it, and what of it is estimated.
    sums: Cell<Option<[*const u64; 2]>>,
    charged: Cell<u64>,
}

impl Spent {
    pub(crate) fn new(misses: Option<Misses>, calls: Calls) -> Self {
        Self { misses, calls: RefCell::new(calls), ..Self::default() }
    }

    /// What misses take, for C; a null pointer if computation takes no time.
    pub(crate) fn misses(&self) -> *const Misses {
        self.misses.as_ref().map_or(core::ptr::null(), |misses| misses)
    }

    /// The program adds up there.
    ///
    /// # Safety
    /// There are two numbers, which stay there and are changed by nobody else while this is used.
    pub(crate) unsafe fn note_sums(&self, spent: *const u64, estimated: *const u64) {
        self.sums.set(Some([spent, estimated]));
    }

    /// Charges a core what its program has taken since it was charged last.
    pub(crate) fn charge<C: Core>(&self, hal: &C) {
        let Some([spent, _]) = self.sums.get() else { return };
        // SAFETY: `note_sums` was promised that a number is there, and the program, which changes it, waits for this function.
        let cycles = unsafe { spent.read_volatile() } / CYCLE;
        let more = cycles - self.charged.replace(cycles);
        if more > 0 {
            hal.compute(more);
        }
    }

    /// Charges a core a call of our library.
    pub(crate) fn charge_call<C: Core>(&self, hal: &C, name: &str) {
        // What executes instructions for it takes time anyway.
        if cfg!(target_os = "none") || self.misses.is_none() {
            return;
        }
        let cycles = self.calls.borrow_mut().take(name);
        if cycles > 0 {
            hal.compute(cycles);
        }
    }

    /// Says how long this core has computed, and how much of that is estimated, if that was charged.
    pub(crate) fn told<C: Core>(&self, hal: &C) -> Option<String> {
        let [spent, estimated] = self.sums.get()?;
        // SAFETY: `note_sums` was promised that both numbers are there, and the program, which changes them, waits for this function.
        let [spent, estimated] = unsafe { [spent.read_volatile(), estimated.read_volatile()] };
        let us = spent / CYCLE / u64::from(hal.layout().prices().core_mhz).max(1);
        let percent = (100 * estimated).div_ceil(spent.max(1));
        let core = hal.core().index();
        Some(format!("core {core} has computed for {us} us in C, of which {percent} % are estimated"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_calls_take_longer() {
        let mut calls = Calls::of("put:3:40,get:5:0").unwrap();
        assert_eq!(["put", "put", "get", "other", "put"].map(|name| calls.take(name)), [43, 3, 5, 0, 3]);
        for wrong in ["put", "put:3", "put:3:x", ""] {
            assert!(Calls::of(wrong).unwrap_err().to_string().contains("NAME:EACH:FIRST"), "{wrong}");
        }
    }
}
