//! What a core did, counted.
//!
//! The counters are part of the hardware abstraction because claims rest on them: that START touches no remote
//! memory, that POST is one locked update per origin, that two backends do the same. What depends on timing (polls,
//! TSR reads that found it taken, lines fetched into caches, evictions) is counted apart and never compared. So are the
//! reads of a poll that succeeds: a check that looks at several peers' marks stops at the first that it finds.

use core::{cell::Cell, ops::Sub};

macro_rules! counters {
    (
        compared { $( $(#[$compared_doc:meta])* $compared:ident ),* $(,)? }
        others { $( $(#[$other_doc:meta])* $other:ident ),* $(,)? }
    ) => {
        counters!(@ $( $(#[$compared_doc])* $compared, )* $( $(#[$other_doc])* $other, )*);

        impl Counters {
            /// How many counters, from the first, are the same on every backend and in every schedule.
            pub const COMPARED: usize = [$(stringify!($compared)),*].len();
        }
    };
    (@ $( $(#[$doc:meta])* $name:ident, )*) => {
        /// A snapshot of a core's operation counters.
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
        pub struct Counters { $( $(#[$doc])* pub $name: u64, )* }

        impl Counters {
            /// Names of all counters, in the order of [`values`](Self::values).
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Values of all counters, in the order of [`NAMES`](Self::NAMES).
            pub fn values(&self) -> impl Iterator<Item = u64> + use<> {
                [$(self.$name),*].into_iter()
            }
        }

        /// The live counters of a core.
        #[derive(Default)]
        pub struct Counting { $( $(#[$doc])* pub $name: Count, )* }

        impl Counting {
            /// The counters now.
            pub fn snapshot(&self) -> Counters {
                Counters { $( $name: self.$name.0.get(), )* }
            }
        }

        impl Sub for Counters {
            type Output = Self;
            fn sub(self, earlier: Self) -> Self {
                Self { $( $name: self.$name - earlier.$name, )* }
            }
        }
    };
}

counters! {
    compared {
        /// MPB lines loaded by flags and gets; those that waits read are not among them.
        mpb_lines_read,
        /// MPB lines written: runs of stores to one line, up to a drain, a full line or a store to another line (the
        /// drain target not counted).
        mpb_lines_written,
        /// Lines of combined memory loaded from memory or L1.
        combined_lines_read,
        /// Lines of combined memory written, counted like those of MPBs.
        combined_lines_written,
        /// Uncached words loaded; those that waits read are not among them.
        words_read,
        /// Uncached words stored.
        words_written,
        /// Test-and-set registers acquired.
        tsr_acquired,
        /// Explicit invalidations of MPB lines (those of polls are not counted).
        mpb_invalidations,
        /// Explicit drains of the write-combine buffer.
        drains,
        /// Times that cached memory was written back and invalidated, whole or by range.
        flushes,
        /// Dirty lines that flushes of their region wrote back. The same everywhere as long as nothing was evicted
        /// before; 0 on a board, whose caches do not say.
        lines_written_back,
        /// Slots of the lookup table that were pointed at another core's private memory.
        mappings,
    }
    others {
        /// Polls that found nothing.
        failed_polls,
        /// MPB lines read by polls that ended a wait.
        lines_polled,
        /// Uncached words read by polls that ended a wait.
        words_polled,
        /// Accesses to atomic counters of the board; those of waits are not among them.
        counter_accesses,
        /// Atomic counters read by polls that ended a wait.
        counters_polled,
        /// TSR reads that found the register taken.
        failed_acquires,
        /// Lines fetched into cached memory; 0 on a board, as for the next one.
        lines_fetched,
        /// Dirty lines that went to memory without being asked for: evicted, or on a page of a region that was flushed.
        lines_evicted,
        /// Interrupts raised on cores.
        interrupts_raised,
        /// Interrupts taken; several that were raised may be one when they are taken.
        interrupts_taken,
    }
}

impl Counters {
    /// Name and value of the counters that are the same on every backend and in every schedule.
    pub fn compared(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        Self::NAMES.iter().copied().zip(self.values()).take(Self::COMPARED)
    }
}

/// Whether cores count. Boards do so only with the feature `counters`: an image that is not to be compared with anything spends
/// no instruction on it, and all its counters stay 0.
pub const COUNTS: bool = cfg!(any(not(target_vendor = "scc"), feature = "counters"));

/// One live counter.
#[derive(Default)]
pub struct Count(Cell<u64>);

impl Count {
    /// Counts `events` more.
    #[inline]
    pub fn add(&self, events: u64) {
        if COUNTS {
            self.0.set(self.0.get() + events);
        }
    }
}

/// What a core can be asked to count while it does something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Countable {
    /// Instructions that it executes, where the core does execute them.
    Instructions,
    /// Cycles of its own: those in which it did not wait for memory. Where the core executes instructions these are theirs,
    /// and where software has prices they are what it was charged.
    Cycles,
    /// Lines of instructions that L1 does not have: the core waits for each, which is in [`Cycles`](Self::Cycles).
    CodeMisses,
    /// Operations of the HAL, of those that software's prices tell apart.
    Operations,
    /// Lines that operations of protocols are about that have prices; of those within each other the outermost ones.
    Lines,
}

/// Access to this core's counters.
pub trait Counted {
    /// The counters now; subtract an earlier snapshot for what happened between.
    fn counters(&self) -> Counters;

    /// Does something, and says how much of what can be counted this core has done for it, in and out of this method included.
    /// What failed polls do is not counted: it depends on when others do their part. Nothing where nobody counts that, or
    /// within another such call.
    fn count<R>(&self, what: Countable, action: impl FnOnce() -> R) -> (R, Option<u64>);
}
