//! `bench-instructions`: how many instructions calls execute, and how many cycles of its own a core spends on them, in steady
//! state, failed polls apart.
//!
//! On a machine that counts: the emulated board does, and the simulator, whose software has prices, tells what it has charged
//! for how many operations of the HAL. Where a call waits, whoever it waits for came before,
//! so that the first poll succeeds; where that cannot be (nobody is released before all have arrived), the first poll counts,
//! and looks at one flag, as the last one does. What counting itself takes is taken off.
//!
//! Instructions have the metrics below. To those of cycles `.cycles` is added, `.code-misses` to those of lines of instructions that L1
//! did not have, for which the core waits in these cycles, `.operations` to those of operations, and `.lines` to those of the lines that spans
//! with prices are about.
//!
//! | algorithm | metrics | what was varied |
//! |---|---|---|
//! | `pscw-CLASS` | `origin` (START and COMPLETE), `start`, `complete`, `post` and `wait` (each target) | number of targets |
//! | `barrier-NAME` (`group`: the default as an object; of two ranks `barrier-NAME-of-2`), `broadcast-NAME` of 28 bytes, `broadcast-NAME-3072` | `root`, `inner` ranks of a tree, `others` | |
//! | `OPERATION-WORDS` of collective operations on 8 ranks | `root`, `others` | words of a rank or a block, in the name |
//! | `broadcast-oc-k7` | `chunk`, beside its puts and gets | |
//! | `send-receive` | `send`, `receive`, and `both` of 32 bytes | bytes |
//! | `send-receive-tagged`, `send-receive-sections` | `send` and `receive`, each the answer to the one before | bytes |
//! | `put`, `get`, `put-made`, `get-used`, `get-to-mpb` | `line`, and a `call` without its lines | |
//! | `poll` | `line`, a `call` without its lines, and `failed`, which has cycles only | |
//! | `wait` | of one that goes on after its first poll: what it takes to `begin` that, and to `end`, cycles only | |
//! | `flag` | `set`; `line`: `load` | |
//! | `word`, `element` | `load`, `store` | |
//! | `register` | `acquire`, `free` | |
//! | `memory` | of new memory, and of the same once more, ticks only: `fill` and `fill-again`, `copy` and `copy-again` | |

mod alone;
mod messages;
mod together;

use alloc::{format, vec, vec::Vec};
use core::hint::black_box;

use hal::{Core, Countable};

use super::measure::{Of, demand, need_cores, turns};
use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

/// Calls of a loop that do not count: all that happens only once has happened by then. A multiple of how many things are counted in turn,
/// so that those that count begin with the first.
const WARM_UP: u32 = 6;

/// Microseconds after which a rank comes that is to find that another was there: few, as of 48 ranks that come one after the other
/// the last one comes 48 times as late, and the emulator executes all the looks at the clock of the others meanwhile. Epochs and
/// exchanges, which take longer, wait for several times as long.
const LATE_US: u64 = 10;

/// What there is to count, and what is added to the name of a metric for it.
const COUNTABLE: [(Countable, &str); 5] = [
    (Countable::Instructions, ""),
    (Countable::Cycles, ".cycles"),
    (Countable::CodeMisses, ".code-misses"),
    (Countable::Operations, ".operations"),
    (Countable::Lines, ".lines"),
];

/// Counts instructions.
pub struct Instructions;

impl Program for Instructions {
    const NAME: &'static str = "bench-instructions";
    const ABOUT: &'static str = "counts the instructions of calls, on the emulated board";
    const OPTIONS: &'static [KnownOption] = &[
        ("only", "pscw, barriers, broadcasts, messages or lines, all of these if not given; or collectives"),
        ("repetitions", "calls of each kind that count, for all that is counted together, 3 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let only = rank.args.get("only", alloc::string::String::new())?;
        let repetitions = super::measure::repetitions(rank, 3)?;
        need_cores(rank.comm, 2)?;
        let counted: Vec<_> =
            COUNTABLE.into_iter().filter_map(|(what, suffix)| Counted::new(rank.hal(), what, suffix)).collect();
        demand(
            !counted.is_empty(),
            "this machine counts no instructions and prices no software; `cargo xtask board` does",
        )?;
        let counter = Counter { counted, repetitions };
        let parts: [(&str, Part<C>); 6] = [
            ("collectives", Counter::collectives),
            ("pscw", Counter::epochs),
            ("barriers", Counter::barriers),
            ("broadcasts", Counter::broadcasts),
            ("messages", Counter::messages),
            ("lines", Counter::lines),
        ];
        let known = only.is_empty() || parts.iter().any(|(name, _)| *name == only);
        demand(
            known,
            format_args!("option `only={only}`: there are pscw, barriers, broadcasts, messages, lines and collectives"),
        )?;
        for (name, part) in parts {
            // Those of many ranks take long, and say no more than those of few.
            if only == name || only.is_empty() && name != "collectives" {
                rank.phase(name);
                part(&counter, rank)?;
            }
        }
        Ok(())
    }
}

type Part<C> = fn(&Counter, &mut Rank<'_, C>) -> Result<(), Failure>;

/// Something that is counted.
struct Counted {
    what: Countable,
    /// What is added to names of metrics.
    suffix: &'static str,
    /// What counting itself takes.
    own: u64,
}

impl Counted {
    /// Nothing if the core does not count that.
    fn new<C: Core>(hal: &C, what: Countable, suffix: &'static str) -> Option<Self> {
        // By code that the caches have.
        let mut own = None;
        for _ in 0..black_box(WARM_UP) {
            own = hal.count(what, || ()).1;
        }
        Some(Self { what, suffix, own: own? })
    }
}

/// Counts what calls do: in one call one thing, in the next one the next.
struct Counter {
    counted: Vec<Counted>,
    repetitions: u32,
}

/// Lets time pass, so that others are there first.
fn come_late(hal: &impl Core, times: u64) {
    let until = hal.now() + times * LATE_US * hal.ticks_per_second() / 1_000_000;
    while hal.now() < until {
        hal.relax();
    }
}

impl Counter {
    /// The turns of a loop: what is counted in each, and whether it counts.
    fn turns(&self) -> impl Iterator<Item = (&Counted, bool)> {
        let all = turns(WARM_UP, self.repetitions.next_multiple_of(self.counted.len() as u32));
        self.counted.iter().cycle().zip(all)
    }

    /// Makes a call, and counts it.
    #[inline(always)]
    fn count<C: Core, R>(hal: &C, counted: &Counted, call: impl FnOnce() -> R) -> (R, u64) {
        let (result, count) = hal.count(counted.what, call);
        (result, count.unwrap_or_default().saturating_sub(counted.own))
    }

    /// Sends what calls have taken, in turns of all that is counted, the first thing first.
    fn send<C: Core>(&self, rank: &Rank<'_, C>, of: Of<'_>, metric: &str, counts: &[u64]) {
        for (place, counted) in self.counted.iter().enumerate() {
            let its = counts.iter().skip(place).step_by(self.counted.len()).copied();
            of.send(rank, &format!("{metric}{}", counted.suffix), Unit::Count, its);
        }
    }

    /// Sends what a line takes, and a call without its lines, by calls with few lines and with many.
    fn few_and_many<C: Core>(&self, rank: &Rank<'_, C>, of: Of<'_>, lines: [usize; 2], few: &[u64], many: &[u64]) {
        let each = few.iter().zip(many).map(|(few, many)| many.saturating_sub(*few) / (lines[1] - lines[0]) as u64);
        let each: Vec<_> = each.collect();
        let call: Vec<_> =
            few.iter().zip(&each).map(|(few, line)| few.saturating_sub(line * lines[0] as u64)).collect();
        self.send(rank, of, "line", &each);
        self.send(rank, of, "call", &call);
    }

    /// What a call takes that depends on nobody, of each thing that is counted.
    #[inline(always)]
    fn steady<C: Core, R>(&self, hal: &C, mut call: impl FnMut() -> R) -> Vec<u64> {
        let mut last = vec![0; self.counted.len()];
        for (place, (counted, _)) in self.turns().enumerate() {
            let result;
            (result, last[place % self.counted.len()]) = Self::count(hal, counted, &mut call);
            black_box(result);
        }
        last
    }
}
