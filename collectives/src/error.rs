//! Why an operation of ranks was refused.

use core::fmt;

use hal::{ClaimError, CoreId, MPB_LINES, SharedAddress};

use crate::{
    collective::call::{Call, Differing},
    comm::group::MAX_RANKS,
    one_sided::window::{ElementType, NOTIFICATION_COUNTERS},
};

/// Makes the errors: of each what is known of it, its kind, and how it is said.
macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident $({ $($(#[$field_doc:meta])* $field:ident: $type:ty),+ $(,)? })?
        => $kind:ident, $($text:expr),+;)+) => {
        /// A refused operation. Nothing was sent or changed, unless the variant says otherwise. What a program can do about it,
        /// its [kind](Self::kind) says.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Error {
            $($(#[$doc])* $name $({ $($(#[$field_doc])* $field: $type),+ })?,)+
            /// The local view of a region cannot be had.
            Claim(ClaimError),
        }

        impl Error {
            /// What a program can do about it.
            pub fn kind(&self) -> ErrorKind {
                match self {
                    $(Self::$name { .. } => ErrorKind::$kind,)+
                    Self::Claim(ClaimError::Length { .. } | ClaimError::NoSuchMemory { .. }) => ErrorKind::Call,
                    Self::Claim(ClaimError::TooMany { .. }) => ErrorKind::Resources,
                    Self::Claim(ClaimError::Claimed { .. } | ClaimError::NotExposed { .. }) => ErrorKind::State,
                }
            }
        }

        impl fmt::Display for Error {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Self::$name $({ $($field),+ })? => write!(out, $($text),+),)+
                    Self::Claim(claim) => claim.fmt(out),
                }
            }
        }
    };
}

errors! {
    /// There is no such rank.
    NoSuchRank {
        /// The rank that was named.
        rank: usize,
        /// Ranks that there are, from 0.
        size: usize,
    } => Call, "rank {rank} does not exist; there are ranks 0 to {}", size - 1;
    /// A group has no member at a position.
    NoSuchMember {
        /// The position, from 0.
        position: usize,
        /// Members that the group has.
        len: usize,
    } => Call, "a group of {len} ranks has none at position {position}";
    /// A rank wanted to exchange a two-sided message with itself.
    SelfMessage {
        /// The rank, its own peer.
        rank: usize,
    } => Call, "rank {rank} cannot exchange a two-sided message with itself; copy the data instead";
    /// The two ends of a message, or of a block of an exchange, name different lengths. Both have this error, or all
    /// ranks for an exchange whose [arguments are checked](crate::Comm::check_arguments); and nothing was received.
    MessageLength {
        /// Who sends.
        from: usize,
        /// Who receives.
        to: usize,
        /// Bytes that the one sends.
        sent: usize,
        /// Bytes that the other wants.
        wanted: usize,
    } => Disagreement,
        "rank {from} sends {sent} bytes to rank {to}, which wants {wanted}; both ends have to name the same length";
    /// Ranks called different collective operations, or one with arguments that differ. All ranks have this error, if
    /// [`Comm::check_arguments`](crate::Comm::check_arguments) is on, and nothing has happened.
    CallsDiffer {
        /// The first rank whose call differs from rank 0's.
        rank: usize,
        /// The call of that rank, and the call of rank 0.
        calls: [Call; 2],
    } => Disagreement, "{}", Differing { rank, calls: &calls };
    /// A list of ranks names one of them twice.
    RankTwice {
        /// The rank.
        rank: usize,
    } => Call, "rank {rank} is named twice; a communicator has each rank once";
    /// Only the communicator of all ranks can do it.
    WholeMachine {
        /// What was wanted.
        what: &'static str,
    } => Call, "{what} takes the communicator of all ranks, and this is one of some";
    /// A message has come that is longer than the buffer of the receive, which stays as it was. The message is gone, and its
    /// sender does not know.
    Truncated {
        /// The rank that has sent it.
        from: usize,
        /// Its tag.
        tag: u32,
        /// Its length, in bytes.
        sent: usize,
        /// Bytes that there was room for.
        room: usize,
    } => Call, "rank {from} has sent {sent} bytes with tag {tag}, and the buffer has room for {room}";
    /// A send, a receive or a collective operation that was completed or cancelled before.
    Completed => Call, "this send, receive or collective operation was completed or cancelled before";
    /// There are no messages with tags until [`Comm::open_messages`](crate::Comm::open_messages) was called.
    MessagesClosed => State, "messages with tags are closed; open them first, on all ranks (Comm::open_messages)";
    /// More ranks than a communicator can have.
    TooManyRanks {
        /// Ranks that were wanted; [`MAX_RANKS`] are possible.
        size: usize,
    } => Machine, "{size} ranks are too many; a communicator has at most {MAX_RANKS}";
    /// The MPBs have fewer lines than the [plan](crate::mpb::layout) of a communicator takes.
    MpbTooSmall {
        /// Lines of each MPB.
        lines: usize,
    } => Machine, "this machine's MPBs have {lines} lines; a communicator's plan of them takes {MPB_LINES}";
    /// A number of copy engines that is 0, or leaves no rank for them to work for.
    Engines {
        /// Copy engines that were wanted.
        engines: usize,
        /// Ranks that there are.
        size: usize,
    } => Call, "{engines} copy engines of {size} ranks; there must be at least one, and one rank that is none";
    /// The MPBs have fewer spare lines left than a protocol needs.
    NoSpareLines {
        /// Lines that it needs in each MPB.
        wanted: usize,
    } => Resources, "the MPBs have no {wanted} lines left in a row; free windows and barriers first, or use what needs fewer";
    /// The numbers are used up that tell messages of communicators apart: a member has seen the last of some 2³¹.
    ContextsUsedUp => Resources, "all numbers of communicators are used up; keep a communicator instead of making it anew";
    /// An access reaches beyond the lines that the program has [for itself](crate::ProgramLines).
    BeyondLines {
        /// First byte behind the access.
        end: usize,
        /// Bytes that the program has in each MPB.
        len_bytes: usize,
    } => Call, "an access up to byte {end} of {len_bytes} that the program has in each MPB; reserve more lines";
    /// One element of a reduction does not fit the lines through which the algorithm passes it.
    ElementTooLarge {
        /// Bytes of an element.
        len_bytes: usize,
        /// Bytes of the largest element for this algorithm and number of ranks.
        limit_bytes: usize,
    } => Machine, "elements of {len_bytes} bytes do not fit the MPBs; this algorithm passes at most {limit_bytes}";
    /// The degree of a tree must be at least 1, and the number of partners in a round of dissemination.
    NoDegree => Call, "a tree needs a degree k of at least 1, and dissemination as many partners";
    /// The MPBs are lent to the profile of RCCE, and what was called needs lines of its own.
    ProfileInForce => State, "the MPBs are lent to the profile of RCCE; end it before anything but two-sided communication";
    /// Shared memory is used up.
    OutOfSharedMemory {
        /// Bytes that were asked for.
        len_bytes: usize,
    } => Resources, "no {len_bytes} bytes of shared memory are left in one piece; free some or ask for less";
    /// The memory behind one controller cannot hold a part that large.
    PartTooLarge {
        /// Bytes that were asked for.
        len_bytes: usize,
        /// Bytes of the largest part that fits.
        limit_bytes: usize,
    } => Machine, "{len_bytes} bytes do not fit behind one memory controller; at most {limit_bytes} do";
    /// A region was freed that is not allocated, or not with this start and length.
    NotAllocated {
        /// Address of the region's first byte.
        start: SharedAddress,
    } => Call, "nothing of that length is allocated at {start}";
    /// A core cannot reach a test-and-set register that the operation needs, because on its machine registers reach no
    /// further than their coherence domain. The shared heaps are under the register of core 0.
    RegisterOutOfReach {
        /// The core; core 0 for an operation of all ranks.
        core: CoreId,
        /// The core whose register it is.
        register: CoreId,
    } => Machine,
        "{core} cannot reach the test-and-set register of {register}, which this needs; nothing is atomic between coherence domains";
    /// A core joined the communicator of all cores a second time.
    SecondWorld => Call, "this core has joined the communicator of all cores before";
    /// A window could not be made because another rank failed in its part; that rank has the reason.
    WindowFailed {
        /// Number of the window.
        window: u32,
        /// The first rank that failed.
        rank: usize,
    } => OtherRank, "window {window} was not made, because rank {rank} failed in its part; that rank says why";
    /// Ranks wanted a window to be of different classes.
    ClassesDiffer {
        /// Number of the window.
        window: u32,
        /// The first rank that wanted another class than rank 0.
        rank: usize,
    } => Disagreement,
        "rank {rank} wants window {window} to be of another class than rank 0; the class has to be the same on all ranks";
    /// Ranks wanted a window to be of different elements, in which offsets and lengths are counted.
    ElementsDiffer {
        /// The window.
        window: u32,
        /// The first rank that wanted other elements than rank 0.
        rank: usize,
        /// The type that this rank named.
        element: ElementType,
        /// The type that rank 0 named.
        first: ElementType,
    } => Disagreement,
        "rank {rank} wants window {window} to be of {element}, rank 0 of {first}; the type of its elements has to be the same on all ranks";
    /// The window database behind a controller is full.
    DatabaseFull {
        /// Number of the memory controller, from 0.
        controller: usize,
    } => Resources, "the window database behind controller {controller} is full; free windows first";
    /// An access epoch was started on a window while one was open.
    AccessEpochOpen {
        /// Number of the window.
        window: u32,
    } => State, "window {window} has an open access epoch; end it before the next one";
    /// An exposure epoch was opened on a window while one was open.
    ExposureEpochOpen {
        /// Number of the window.
        window: u32,
    } => State, "this rank's part of window {window} is exposed or lent; take it back first";
    /// An operation named a target that its access epoch was not started for, or has not locked.
    NotInEpoch {
        /// The target's rank.
        rank: usize,
        /// Number of the window.
        window: u32,
        /// Number of the epoch on that window, from 1.
        epoch: u32,
    } => Call, "epoch {epoch} on window {window} has not started for rank {rank}, nor locked its part";
    /// A put or get reaches beyond the end of the target's part of the window.
    OutOfRange {
        /// The target's rank.
        rank: usize,
        /// Number of the window.
        window: u32,
        /// Number of the access epoch on that window, from 1.
        epoch: u32,
        /// First element behind the access.
        end: usize,
        /// Elements that the target exposes.
        len: usize,
    } => Call, "access up to element {end} of rank {rank}'s {len} on window {window} in access epoch {epoch}";
    /// A view was posted, fenced, lent or freed that is not this rank's part of the window.
    ForeignView {
        /// Number of the window.
        window: u32,
    } => Call, "the view is not of this rank's part of window {window}";
    /// A part was locked that this rank has locked already.
    Locked {
        /// The rank whose part it is.
        rank: usize,
        /// Number of the window.
        window: u32,
    } => State, "rank {rank}'s part of window {window} is locked by this rank already; unlock it first";
    /// A rank that holds the view of its own part wanted to lock it.
    NotLent {
        /// Number of the window.
        window: u32,
    } => State, "the own part of window {window} is not lent; lend its view before locks";
    /// A buffer does not fit the blocks of a vector operation, or the other buffer.
    Length {
        /// Elements of the buffer.
        len: usize,
        /// Elements that it should have.
        wanted: usize,
    } => Call, "a buffer of {len} elements does not fit; {wanted} are needed";
    /// There is not one block of an exchange, or of operands, for each rank.
    Pieces {
        /// Blocks that there are.
        pieces: usize,
        /// Ranks that there are.
        size: usize,
    } => Call, "{pieces} counts or places of blocks for {size} ranks";
    /// A rank's block reaches beyond the end of the buffer.
    PieceOutOfRange {
        /// The rank whose block it is.
        rank: usize,
        /// First element behind it.
        end: usize,
        /// Elements of the buffer.
        len: usize,
    } => Call, "the block of rank {rank} ends at element {end} of a buffer of {len}";
    /// Blocks that an exchange is to receive, or of operands, overlap.
    PiecesOverlap {
        /// The rank of one block.
        rank: usize,
        /// The rank of the block that it overlaps.
        other: usize,
    } => Call, "the blocks of ranks {rank} and {other} overlap";
    /// Blocks of a vector put overlap.
    BlocksOverlap {
        /// Elements of each block.
        block: usize,
        /// Elements from the first of a block to that of the next.
        stride: usize,
    } => Call,
        "blocks of {block} elements overlap if they begin {stride} apart; a vector put needs a stride of at least a block";
    /// There is no notification counter of this number.
    NoSuchCounter {
        /// The number that was named; counters are numbered from 0.
        counter: usize,
    } => Call, "notification counter {counter} does not exist; there are 0 to {}", NOTIFICATION_COUNTERS - 1;
    /// Ranks subscribed to notifications twice at a time, or one whose interrupts are handled by something else.
    Subscribed {
        /// The first rank that could not.
        rank: usize,
    } => State, "rank {rank} cannot subscribe, because its interrupts have a handler; close that first";
    /// A rank that has not subscribed wanted to notify others, or to be notified.
    NotSubscribed {
        /// The rank that has not subscribed.
        rank: usize,
    } => State, "rank {rank} has not subscribed to notifications";
    /// A message is longer than those who are to get it have room for.
    MessageTooLong {
        /// Bytes of the message.
        len_bytes: usize,
        /// Bytes that there is room for.
        limit_bytes: usize,
    } => Call, "a message of {len_bytes} bytes does not fit; mailboxes have {limit_bytes}";
    /// Non-blocking operations have not been completed.
    RequestsOutstanding => State, "non-blocking operations are outstanding; complete them first";
    /// Something that there is once is in force already.
    InForce {
        /// What.
        what: &'static str,
    } => State, "{what} is there already; close it before you ask for it again";
    /// Ranks wanted barriers at the same time that are not made of the same: flags, words, registers or counters.
    BarriersDiffer => Disagreement, "ranks want barriers of different kinds; make those of groups one after the other";
    /// The machine's board has fewer atomic counters left than were asked for, or none at all.
    NoAtomicCounters {
        /// Counters that were asked for, by all groups together.
        wanted: usize,
        /// Counters that are left.
        free: usize,
    } => Resources, "{wanted} atomic counters were asked for, and the machine's board has {free} left";
    /// A barrier of registers was asked for while ranks are subscribed to notifications, whose interrupts need these, or
    /// the other way round; or another such barrier has the registers.
    RegistersWanted => State,
        "a barrier of registers takes them for itself: end it, or the notifications that need them, first";
    /// A wait with a deadline took too long.
    TimedOut {
        /// What the rank waited for, and from whom.
        reason: hal::Reason,
    } => TimedOut, "timed out waiting for {reason}";
}

/// What a program can do about an [`Error`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ErrorKind {
    /// The call can never be right: an argument is wrong. The program has to be corrected.
    Call,
    /// Ranks do not call the same, or not with what has to agree. The program has to be corrected.
    Disagreement,
    /// Another rank has failed in an operation of all; that one has the reason, and knows whether to try again.
    OtherRank,
    /// Something is used up: memory, lines, requests, counters. The call can be right when some of it was freed.
    Resources,
    /// The machine cannot do this, whatever is freed. Another algorithm or machine may.
    Machine,
    /// Something is open that excludes it, or not open that it needs: an epoch, a lock, a profile, a subscription. The
    /// call can be right when that is over, or has begun.
    State,
    /// A deadline has passed. The call can be made again.
    TimedOut,
}

impl core::error::Error for Error {}

impl From<ClaimError> for Error {
    fn from(claim: ClaimError) -> Self {
        Self::Claim(claim)
    }
}

/// An error that gives back what the refused call had taken.
pub type Returned<T> = hal::Returned<Error, T>;

/// Drops what the call had taken.
impl<T> From<Returned<T>> for Error {
    fn from(returned: Returned<T>) -> Self {
        returned.error
    }
}
