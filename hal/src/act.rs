//! What a program does in its own memory, and in whose order, as it is told to a machine that checks programs.
//!
//! What a core does to memory that others see, `hal` knows by itself. A program's own memory it does not know, nor what its
//! ranks have agreed on there: that a put is under way until the end of its epoch, for one. Whoever carries such things out
//! says so by [`Trace::declare`](crate::Trace::declare). On all other machines that is nothing.

use bitflags::bitflags;

use crate::{CoreId, SharedAddress};

/// Bytes of a program's memory: addresses of the host.
pub type Bytes = core::ops::Range<usize>;

/// What tells one order from another: a message's context and tag, the lock of a window, and so on.
pub type Channel = [u64; 3];

/// What makes an operation atomic with others at its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Atomic {
    /// A number for the type of the values.
    pub basic: u32,
    /// Bytes of one value.
    pub value_bytes: usize,
    /// A number for the operator; nothing is as good as any.
    pub operator: Option<u32>,
    /// Whether what was there comes back: who sees what another one has done comes after it.
    pub fetches: bool,
}

/// Memory of a program that an operation reads or writes at its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where.
    pub bytes: Bytes,
    /// Whether it is written.
    pub writes: bool,
}

/// The other end of a one-sided operation.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The number of the window.
    pub window: u64,
    /// Whose part of it.
    pub core: CoreId,
    /// From where on, in units of the part.
    pub displacement: i64,
    /// Offsets from there, and lengths, in bytes.
    pub pieces: &'a [(i64, usize)],
    /// Whether it is written.
    pub writes: bool,
    /// With what it is atomic.
    pub atomic: Option<Atomic>,
    /// Whether what others do there is told by the accesses to memory that carry it out, so that only operations of one origin are
    /// compared.
    pub is_memory: bool,
}

bitflags! {
    /// What a program asserts of its accesses to a window, so that the library may leave something out.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct Asserted: u8 {
        /// Of a start: the posts are made already. Of a lock: nobody has or wants one that it would keep out.
        const NO_CHECK = 1;
        /// The core has not stored to its own part since it synchronised the window last.
        const NO_STORE = 1 << 1;
        /// Nobody puts to the core's part until it synchronises the window next.
        const NO_PUT = 1 << 2;
        /// Of a fence: it completes nothing.
        const NO_PRECEDE = 1 << 3;
        /// Of a fence: nothing follows that it would begin.
        const NO_SUCCEED = 1 << 4;
    }
}

/// How a core synchronises a window.
#[derive(Clone, Copy, Debug)]
pub enum Synchronisation<'a> {
    /// All do.
    Fence(Asserted),
    /// Lets others access its part.
    Post(&'a [CoreId], Asserted),
    /// They have all done so.
    Wait,
    /// Begins to access the parts of others.
    Start(&'a [CoreId], Asserted),
    /// Has done so.
    Complete,
    /// Asks for the lock of a part; nothing stands for all parts.
    Lock {
        /// Whose part.
        target: Option<CoreId>,
        /// Whether it keeps out all others.
        alone: bool,
        /// What is asserted.
        asserted: Asserted,
    },
    /// Gives the lock back.
    Unlock(Option<CoreId>),
}

/// One thing that a program does.
#[derive(Clone, Copy, Debug)]
pub enum Act<'a> {
    /// Loads or stores bytes of its own memory.
    Access {
        /// Which.
        bytes: (usize, usize),
        /// Whether it stores.
        stores: bool,
        /// That, as the predicate of a sentence.
        what: &'static str,
    },
    /// What the core has done comes before what `to` does once it has received this; what is sent on a channel is received in
    /// that order.
    Sends {
        /// Who receives.
        to: CoreId,
        /// By what.
        channel: Channel,
    },
    /// What was to be sent on a channel is taken back.
    Revokes {
        /// Who would have received it.
        to: CoreId,
        /// By what.
        channel: Channel,
        /// How many were sent later on the channel.
        later: usize,
    },
    /// The core has received what comes next on a channel.
    Receives {
        /// Who has sent.
        from: CoreId,
        /// By what.
        channel: Channel,
    },
    /// What the core has done comes before what those do who hear of the place.
    Tells(Channel),
    /// What all have done who have told at this place comes before what the core does.
    Hears {
        /// The place.
        place: Channel,
        /// Number of cores that will hear; the place is dropped after the last one. 0: it is never dropped.
        of: usize,
    },
    /// The core has a part of a window from now on, which whoever looks into a run that has stopped finds by it.
    HasPart {
        /// The number of the window, as programs know it.
        window: u32,
        /// Where the part begins.
        part: SharedAddress,
        /// Its length.
        len_bytes: usize,
    },
    /// The core has freed a part.
    FreesPart {
        /// The number of the window.
        window: u32,
        /// Where the part begins.
        part: SharedAddress,
    },
    /// The memory of a rank that operations on a window of a program in C reach, and how this core reaches it.
    Exposes {
        /// The number of the window.
        window: u64,
        /// Who contributes it.
        owner: CoreId,
        /// Where it is for this core.
        bytes: (usize, usize),
        /// What displacements count; nothing if they are addresses.
        unit: Option<usize>,
    },
    /// The memory of this core that begins there is not part of the window any more; nothing stands for all.
    Withdraws {
        /// The number of the window.
        window: u64,
        /// Where the memory begins.
        start: Option<usize>,
    },
    /// An operation is under way from now on.
    Begins {
        /// A number that no other operation of the core has.
        number: u64,
        /// What the core does, as the predicate of a sentence.
        what: &'static str,
        /// Memory of the core.
        own: &'a [Part],
        /// Memory of the target.
        target: Option<Target<'a>>,
    },
    /// An operation is over at this core, and at its target if it has written nothing there.
    Ends(u64),
    /// Operations on a window are over.
    Completes {
        /// The number of the window.
        window: u64,
        /// At which target; nothing stands for all.
        target: Option<CoreId>,
        /// At this core only.
        locally: bool,
    },
    /// Whether what the core copies or slices of shared memory from now on is handed on as it is, to a program that says itself what
    /// it loads and stores.
    HandsOn(bool),
    /// Cached memory that the program loads from and stores to is at these addresses from now on.
    Maps {
        /// The first address.
        start: usize,
        /// What is there.
        shared: SharedAddress,
        /// Bytes.
        len: usize,
    },
    /// The core synchronises a window.
    Synchronises {
        /// The number of the window.
        window: u64,
        /// How.
        how: Synchronisation<'a>,
    },
    /// The core does what it must not.
    Misuses {
        /// What it does, as the predicate of a sentence.
        what: &'static str,
        /// Why it must not.
        why: &'static str,
    },
}
