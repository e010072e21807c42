//! The simulator: the whole machine in one host thread, in virtual time.
//!
//! Every core is a stackful coroutine that runs a program written for the HAL; every operation that other cores could
//! see is an event with a price in picoseconds, and one scheduler lets the events happen in the order of their times.
//! So a run is a pure function of the program, the machine's description and one list of choices: it can be repeated,
//! replayed from a recorded list, varied by a seed, or (for a few cores and operations) enumerated completely.
//!
//! What a core does not share costs nothing but its own time: the L1 and write-combine buffer, the private copies of
//! cached memory and the counters are those of [`EmulatedCore`](crate::emulated::EmulatedCore), the same as under
//! QEMU. What is here:
//!
//! * [`Description`], the machine's layout and the table of prices, each with its source; the `cost` module is the
//!   one place that turns an operation into time;
//! * [`Machine`], which runs a program on all cores and returns an [`Outcome`] or a [`Failure`];
//! * [`Strategy`], where everything that hardware and timing leave open is decided, by one function;
//! * [`Machine::check`], which names a program's [mistakes](Mistake) with memory that is not coherent;
//! * [`explore_exhaustively`], which tries all interleavings of a litmus program.
//!
//! On a machine with [`Contention`], accesses to memory meet at the ports of MPBs, at memory controllers and on links,
//! and wait for each other; the crate `prices` says how. A core that waits is left out there, too, but the accesses of its
//! polls go on, as others may meet them. Exhaustive exploration has no time, and so no contention.
//!
//! Where [`Options::everything_priced`] says so, private memory is reached through each core's L1 and L2 (the module `caches`
//! says what is in them), our software takes what was measured (`software`), and a core goes on after a store, as on the chip.
//!
//! On a [`Cluster`], what goes from node to node meets in the engines and at the sockets' limit of one load; the
//! `cluster_costs` and `network` modules say how. Polls over the engine are simulated, and polls of lines that the core's
//! cache holds are not.
//!
//! Elsewhere, a core that waits is taken out of the schedule until somebody writes what it reads, and comes back with
//! the clock and the failed polls it would have had by spinning. When nobody can move any more, the machine has
//! deadlocked, and says who waits for what and from whom.

mod access;
mod account;
mod asked;
mod blocks;
mod by_itself;
mod caches;
mod check;
mod choice;
mod cluster_costs;
mod cost;
mod course;
mod description;
mod deviation;
mod domains;
mod drive;
mod engine;
mod explore;
mod failure;
mod fault_report;
mod faults;
#[cfg(target_os = "linux")]
mod faults_of_threads;
mod float_control;
mod free;
mod heap;
mod heat;
mod interrupt_line;
mod lines;
mod loaded;
mod machine;
mod memory;
mod network;
mod orders;
mod outcome;
mod platform;
mod processor;
mod recency;
mod reused_memory;
mod software;
mod stacks;
mod stop;
mod train;
mod unwinding;
mod waiting;

#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
pub use self::faults_of_threads::report_faults_of;
pub use self::{
    check::{Access, AskedFor, Finding, Frame, LeftOut, Mistake, Step},
    choice::{Freedom, Recording, Schedule, Strategy},
    cluster_costs::Cluster,
    description::{Contention, Description, Parameters},
    deviation::{Deviation, NOTHING, NoDeviation, Told},
    engine::Work,
    explore::{Exploration, Explored, Failing, Search, Spontaneous, explore, explore_exhaustively},
    failure::{Deadlock, Failure, Finished, Waiting},
    faults::end_on_faults,
    heap::{SimHeap, off_account},
    heat::{ControllerHeat, DIRECTIONS, HeatMap, TileHeat},
    loaded::{LOADED_BASE, note_loaded_code},
    machine::{Look, Machine, Options},
    outcome::{Checked, CoreOutcome, Outcome},
    platform::{SimCore, SimPlatform},
    stop::{Shown, State, Stop},
};
