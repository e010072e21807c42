//! The lines of a trace: what cores, or an emulator that looks at them from outside, tell the host's tools of what was done when.

use core::fmt::{self, Display, Formatter};

/// Bytes of a phase's name that are kept: a record has room for them, and needs no memory of the program's.
pub const PHASE_BYTES: usize = 32;

/// The name of a phase as traces have it: in one line, and no longer than [`PHASE_BYTES`].
pub fn phase(name: &str) -> impl Iterator<Item = char> {
    let mut left = PHASE_BYTES;
    name.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take_while(move |letter| left.checked_sub(letter.len_utf8()).inspect(|rest| left = *rest).is_some())
}

/// What something under way is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An operation of a protocol.
    Operation,
    /// An operation of the hardware.
    Hardware,
    /// A wait.
    Wait,
}

/// A line of a core's trace. Times are moments of the clock. What is within something else has a larger depth, and comes before
/// it. A mask has a bit for each byte of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line<N> {
    /// `c N LOST`, the first: moments in a second, and how many records are lost.
    Clock {
        /// Moments in a second.
        moments_per_second: u64,
        /// Records that are lost.
        lost: u64,
    },
    /// `l COLUMN ROW CORES`: where the core is.
    Tile {
        /// The tile's column.
        column: u32,
        /// The tile's row.
        row: u32,
        /// Cores that a tile has.
        cores: u32,
    },
    /// `s DEPTH BEGIN END PEER BYTES NAME`: an operation; `h` for one of the hardware.
    Operation {
        /// Operations that it is within.
        depth: u8,
        /// When it began.
        begin: u64,
        /// When it ended.
        end: u64,
        /// Whether it is one of the hardware.
        of_hardware: bool,
        /// The other core that it is about.
        peer: Option<u32>,
        /// Bytes that it is about.
        bytes: u64,
        /// What it is called.
        name: N,
    },
    /// `p KEY MASK NAME`: a place of the wait that follows.
    Place {
        /// A number that no other place has.
        key: u64,
        /// The bytes that are looked at.
        mask: u32,
        /// What the place is called.
        name: N,
    },
    /// `w DEPTH BEGIN END PEER POLLS OUTCOME NAME`: a wait; OUTCOME is `ok`, or `late` if its time was up.
    Wait {
        /// Operations that it is within.
        depth: u8,
        /// When it began.
        begin: u64,
        /// When it ended.
        end: u64,
        /// Whom it was for.
        peer: Option<u32>,
        /// Polls in vain.
        polls: u64,
        /// Whether its time was up.
        is_late: bool,
        /// What it was for.
        name: N,
    },
    /// `m MOMENT NAME`: a phase of the program begins.
    Phase {
        /// When.
        at: u64,
        /// What the program calls it, as [`phase`] has it.
        name: N,
    },
    /// `t KEY LINES MASK BEGIN VISIBLE`: a store to LINES places from this one on.
    Store {
        /// The number of the first place.
        first: u64,
        /// How many there are.
        count: u32,
        /// The bytes of each that are stored.
        mask: u32,
        /// When it began.
        begin: u64,
        /// When others could see the last of them.
        visible: u64,
    },
    /// `o DEPTH BEGIN PEER BYTES KIND NAME`: under way; KIND is `s` or `h`, or `w` for a wait.
    UnderWay {
        /// Operations that it is within.
        depth: u8,
        /// When it began.
        begin: u64,
        /// The other core that it is about.
        peer: Option<u32>,
        /// Bytes that it is about.
        bytes: u64,
        /// What it is.
        kind: Kind,
        /// What it is called, or waits for.
        name: N,
    },
}

/// A core, or `-`.
struct Peer(Option<u32>);

impl Display for Peer {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(core) => core.fmt(out),
            None => out.write_str("-"),
        }
    }
}

impl<N: Display> Display for Line<N> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock { moments_per_second, lost } => write!(out, "c {moments_per_second} {lost}"),
            Self::Tile { column, row, cores } => write!(out, "l {column} {row} {cores}"),
            Self::Operation { depth, begin, end, of_hardware, peer, bytes, name } => {
                let kind = if *of_hardware { 'h' } else { 's' };
                write!(out, "{kind} {depth} {begin} {end} {} {bytes} {name}", Peer(*peer))
            }
            Self::Place { key, mask, name } => write!(out, "p {key:x} {mask:x} {name}"),
            Self::Wait { depth, begin, end, peer, polls, is_late, name } => {
                let outcome = if *is_late { "late" } else { "ok" };
                write!(out, "w {depth} {begin} {end} {} {polls} {outcome} {name}", Peer(*peer))
            }
            Self::Phase { at, name } => write!(out, "m {at} {name}"),
            Self::Store { first, count, mask, begin, visible } => {
                write!(out, "t {first:x} {count} {mask:x} {begin} {visible}")
            }
            Self::UnderWay { depth, begin, peer, bytes, kind, name } => {
                let kind = match kind {
                    Kind::Operation => 's',
                    Kind::Hardware => 'h',
                    Kind::Wait => 'w',
                };
                write!(out, "o {depth} {begin} {} {bytes} {kind} {name}", Peer(*peer))
            }
        }
    }
}
