//! What happens on a core, as it is told to a machine that checks programs.

use crate::{CoreId, LineAddress, Region, SharedAddress, Span, cached::access::ViewAccess, kind};

use super::terms::CounterAccess;

/// What bytes of a line are loaded for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadedFor {
    /// To decide by what is there. That orders this core after the store.
    Look,
    /// To decide by it in the poll of a wait: what is not there yet, a later poll sees.
    Poll,
    /// To copy data, which has to be there.
    Copy,
    /// To be offered, line by line, to somebody who may have been told by the first ones that the others mean nothing.
    Offer,
}

/// What a program asks for itself, to see what others have stored or to let them see what it has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Upkeep {
    /// A drain of the write-combine buffer.
    Drain,
    /// An invalidation of the MPB lines in L1.
    Invalidation,
    /// A region of cached memory is written back and forgotten.
    Flush,
    /// All cached memory is.
    Purge,
}

/// One thing that a core does to memory that others see, told at the moment at which it takes effect.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// Loads bytes of a line through L1.
    Load {
        /// The line.
        at: LineAddress,
        /// Its bytes that matter.
        mask: u32,
        /// What for.
        what_for: LoadedFor,
    },
    /// L1 gets a line from memory.
    Fill(LineAddress),
    /// L1 forgets all its lines.
    Invalidate,
    /// Stores bytes of a line, which collect in the write-combine buffer.
    Store {
        /// The line.
        at: LineAddress,
        /// Its bytes.
        mask: u32,
    },
    /// What was in the write-combine buffer is in memory.
    PushedOut,
    /// Loads an uncached word.
    LoadWord(SharedAddress),
    /// Stores an uncached word.
    StoreWord(SharedAddress),
    /// Has taken a test-and-set register.
    Acquired(CoreId),
    /// Frees a test-and-set register.
    Freed(CoreId),
    /// Has accessed an atomic counter.
    Counter(usize, CounterAccess),
    /// Raises an interrupt.
    Raised(CoreId),
    /// Takes an interrupt.
    Taken,
    /// Accesses bytes of a local view.
    View {
        /// The first byte.
        start: SharedAddress,
        /// Bytes.
        len: usize,
        /// How.
        access: ViewAccess,
    },
    /// The cache gets a line from memory.
    Fetched(SharedAddress),
    /// The cache has written a whole line back.
    WrittenBack {
        /// The line.
        at: SharedAddress,
        /// Those of its bytes that were changed.
        changed: u32,
    },
    /// A region was written back and forgotten; nothing stands for all that is cached.
    Flushed(Option<Region<kind::Cached>>),
    /// Private memory is exposed.
    Exposed(Region<kind::Cached>),
    /// What was exposed is private again.
    Concealed(Region<kind::Cached>),
    /// The program asks for this, which happens between here and its end.
    Asked(Upkeep),
    /// What the program has asked for last is done.
    Done,
    /// An operation begins.
    Begin(Span),
    /// The operation ends that began last.
    End,
}
