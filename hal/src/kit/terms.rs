//! The words in which a core speaks with the machine below: what it waits on, what it spends, what it does to counters.

use crate::{CoreId, Place, Software};

/// What is done to an atomic counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CounterAccess {
    /// Raise by one.
    Increment,
    /// Lower by one.
    Decrement,
    /// Leave as it is.
    Read,
    /// Set.
    Set(u32),
}

impl CounterAccess {
    /// The counter afterwards.
    pub fn result(self, before: u32) -> u32 {
        match self {
            Self::Increment => before.wrapping_add(1),
            Self::Decrement => before.wrapping_sub(1),
            Self::Read => before,
            Self::Set(value) => value,
        }
    }
}

/// What a core waits on.
#[derive(Clone, Copy, Debug)]
pub enum Watch<'w> {
    /// Any of these places being written.
    Places(&'w [Place]),
    /// A test-and-set register being freed.
    Register(CoreId),
}

/// How a core comes back to poll again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Woken {
    /// Something may have changed: poll again.
    Poll {
        /// Further polls that a spinning core would have made meanwhile, in vain.
        missed_polls: u64,
    },
    /// The deadline has passed.
    TimedOut,
}

/// Work that costs time on the real machine but touches no memory that other cores see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expense {
    /// Call overhead of a put from memory (OC-Bcast Table 1, `o_put^mem`).
    PutFromMemory,
    /// Call overhead of a put whose lines the caller makes.
    PutMade,
    /// Call overhead of a put from the own MPB (`o_put^mpb`).
    PutFromMpb,
    /// Call overhead of a get to memory (`o_get^mem`).
    GetToMemory,
    /// Call overhead of a get whose lines the caller takes.
    GetUsed,
    /// Call overhead of a get to the own MPB (`o_get^mpb`).
    GetToMpb,
    /// Setting a flag is a put of one line: `o_put^mpb` and an access to a line of the own MPB, which is where a put
    /// would read its source and where a drain writes its dummy. The write of the flag's line is charged when it
    /// leaves the write-combine buffer; so a flag with its drain costs what `C_put^mpb(1)` says, and a drain has no
    /// price of its own.
    FlagStore,
    /// Call overhead of an access to an uncached word or a register; for lines it is part of the overheads above.
    /// Polls have none.
    WordCall(WordCall),
    /// Loading a line of an MPB by itself.
    LineLoad,
    /// What the loop of a transfer executes for a line; in Table 1 that is part of the line's price.
    Line(Transfer),
    /// Reads of private memory, in lines.
    PrivateRead {
        /// Lines.
        lines: u32,
    },
    /// Writes of private memory, in lines.
    PrivateWrite {
        /// Lines.
        lines: u32,
    },
    /// Computation.
    Cycles(u64),
    /// Software that is modelled and not run.
    Software(Software),
    /// `CL1INVMB`, one cycle.
    InvalidateMpb,
    /// Taking an interrupt: what the core does from the moment at which it arrives, apart from its handler; the way
    /// to it is charged as a delay of the arrival.
    TakeInterrupt,
    /// A write of an entry of the own lookup table, which is a register of the own tile.
    MapSlot,
    /// Writes back and invalidates by displacement, in lines.
    Flush {
        /// Lines.
        lines: u32,
    },
    /// Write back and invalidate everything.
    FlushAll,
}

/// Transfers whose lines cost software.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// From private memory to an MPB.
    Put,
    /// To an MPB, made by the caller.
    PutMade,
    /// From an MPB to private memory.
    Get,
    /// From an MPB, taken by the caller.
    GetUsed,
    /// From MPB to MPB.
    BetweenMpbs,
}

/// What accesses a word or a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordCall {
    /// A load of a word, or of an atomic counter.
    Load,
    /// A store of a word, or what changes an atomic counter.
    Store,
    /// A read of a test-and-set register.
    Acquire,
    /// A write of one.
    Free,
}
