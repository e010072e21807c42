//! Private memory that other cores reach: exposed by its owner, mapped by those who want it.
//!
//! Memory that a rank did not allocate as shared lies behind its core's private mapping, where no other core can name
//! it. On the chip a core reaches it by pointing a slot of its lookup table (LUT) at the owner's memory, 16 MB at a
//! time; the slot stays, so that only the first access of many pays for it.
//!
//! The hazards are those of shared memory, and one more. The owner has its memory in its caches and writes back whole
//! lines, so *whoever writes to a line writes to all of it*: a line that is exposed in part would take a put with it
//! when the owner writes back what else it keeps there, or the put would meet an object that has nothing to do with
//! it. Therefore only whole lines are exposed; [`Lines`] is private memory that consists of them.
//!
//! While memory is exposed, its owner sees it like any shared memory that others write to: by a
//! [`LocalView`](crate::LocalView) of the region, with a flush wherever its stores have to be seen, or others' have to
//! be seen by it.
//! So [`Expose::expose`] takes the memory away, and [`Exposure::end`] gives it back.

use alloc::{vec, vec::Vec};
use core::{
    fmt,
    marker::PhantomData,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
};

use bytemuck::Pod;

use crate::{
    CoreId, LINE_BYTES, Line, Returned, Topology,
    address::{Region, kind},
    cached::Caches,
};

/// Bytes that one slot of a core's lookup table maps.
pub const SLOT_BYTES: usize = 16 << 20;

/// Slots of the lookup table that a core has for other cores' memory, at most: 0x29 to 0x7F, which sccKit's default map
/// leaves unused.
pub const MAPPED_SLOTS: usize = 0x80 - 0x29;

/// Private memory that can be exposed.
///
/// # Safety
/// 1. `bytes` returns the same memory each time, wherever the value is moved to, as long as nothing else is called.
/// 2. Nobody reaches this memory but through the value.
/// 3. If the value is forgotten, the memory stays as it is for ever, and nobody ever reaches it: it is no memory that is lent to
///    the value for a time.
pub unsafe trait Exposable {
    /// The memory.
    fn bytes(&mut self) -> &mut [u8];
}

/// Private memory of `len` elements that starts on a line boundary and has the rest of its last line to itself.
#[derive(Clone, Debug)]
pub struct Lines<T> {
    lines: Vec<Line>,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Pod> Lines<T> {
    /// `len` elements of zero bytes.
    ///
    /// # Panics
    /// If the heap has no such room.
    pub fn zeroed(len: usize) -> Self {
        const {
            assert!(
                align_of::<T>() <= LINE_BYTES && size_of::<T>() > 0,
                "elements are aligned like lines and not empty"
            )
        };
        let bytes = len.checked_mul(size_of::<T>()).expect("memory of that size exists");
        let lines = vec![Line::default(); bytes.div_ceil(LINE_BYTES)];
        Self { lines, len, element: PhantomData }
    }

    /// A copy of `elements`.
    ///
    /// # Panics
    /// If the heap has no such room.
    pub fn copy_of(elements: &[T]) -> Self {
        let mut lines = Self::zeroed(elements.len());
        lines.copy_from_slice(elements);
        lines
    }
}

impl<T: Pod> Deref for Lines<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let bytes: &[u8] = bytemuck::cast_slice(&self.lines);
        bytemuck::cast_slice(&bytes[..self.len * size_of::<T>()])
    }
}

impl<T: Pod> DerefMut for Lines<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.lines);
        bytemuck::cast_slice_mut(&mut bytes[..self.len * size_of::<T>()])
    }
}

// SAFETY: 1. the elements of a vector stay where they are until it is changed; 2. and 3. they are its own.
unsafe impl<T: Pod> Exposable for Lines<T> {
    fn bytes(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}

// SAFETY: 1. the elements of a vector stay where they are until it is changed; 2. and 3. they are its own.
unsafe impl<T: Pod> Exposable for Vec<T> {
    fn bytes(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(self)
    }
}

/// Why memory could not be exposed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExposeError {
    /// The memory shares its first or last line with something else, see [the module](self).
    PartOfALine {
        /// Bytes of its first line that lie before it.
        before: usize,
        /// Length of the memory, in bytes.
        len_bytes: usize,
    },
    /// This core exposes as many pieces of memory as it can keep account of.
    TooMany {
        /// Pieces of memory that a core can expose at a time.
        limit: usize,
    },
    /// There are not as many addresses left among those by which others name this core's memory.
    NoRoom {
        /// Bytes that were asked for.
        len_bytes: usize,
    },
}

impl fmt::Display for ExposeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PartOfALine { before, len_bytes } => write!(
                out,
                "{len_bytes} bytes that begin {before} bytes into a line are not whole lines of {LINE_BYTES}; use Lines"
            ),
            Self::TooMany { limit } => {
                write!(out, "this core exposes {limit} pieces of memory, which is the limit; end some first")
            }
            Self::NoRoom { len_bytes } => {
                write!(out, "this core cannot expose {len_bytes} bytes more in one piece; end some exposures first")
            }
        }
    }
}

impl core::error::Error for ExposeError {}

/// Why a region could not be mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapError {
    /// The region is memory of a core that the machine does not have.
    NoSuchCore {
        /// The core that was named.
        core: CoreId,
    },
}

impl fmt::Display for MapError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchCore { core } => write!(out, "{core} does not exist, nor does its memory"),
        }
    }
}

impl core::error::Error for MapError {}

/// What stands behind an exposure; implemented by backends.
pub trait ExposureHost {
    /// Writes the owner's copies of the region back, forgets them, and takes the region away from all cores.
    ///
    /// # Safety
    /// The region is one that this host has exposed and not concealed since.
    ///
    /// # Errors
    /// A core that has not [let go](Expose::let_go) of it: then it stays exposed.
    ///
    /// # Panics
    /// If a local view of it is left, or `caches` are another core's.
    unsafe fn conceal(&self, caches: &mut Caches, region: Region<kind::Cached>) -> Result<(), CoreId>;
}

/// Private memory that is exposed: as long as this exists, it is reached by its [region](Self::region) only.
///
/// It proves nothing about what others do with it. Those who have reached it [let go](Expose::let_go) of it before its
/// [`end`](Self::end); when they do is a protocol's matter. Dropping an exposure leaves its memory exposed, and never
/// frees it.
#[must_use = "the memory stays exposed and is leaked"]
pub struct Exposure<'c, M> {
    host: &'c dyn ExposureHost,
    memory: ManuallyDrop<M>,
    region: Region<kind::Cached>,
}

impl<'c, M: Exposable> Exposure<'c, M> {
    /// Makes an exposure; for backends.
    ///
    /// # Safety
    /// 1. `host` has exposed the bytes of `memory` as `region`.
    /// 2. They stay exposed until the exposure conceals them; when that returns, no core reaches them any more.
    pub unsafe fn new(host: &'c dyn ExposureHost, memory: M, region: Region<kind::Cached>) -> Self {
        Self { host, memory: ManuallyDrop::new(memory), region }
    }

    /// The memory as others name it, whole lines of it: the owner [claims](crate::Cached::claim) and flushes it,
    /// others put and get it mapped as combined, after [`map`](Expose::map).
    pub fn region(&self) -> Region<kind::Cached> {
        self.region
    }

    /// Takes the memory away from the other cores and gives it back to its owner, with what has been put there. Drains,
    /// and writes back and invalidates, as [`expose`](Expose::expose) does.
    ///
    /// # Panics
    /// If the owner still has a local view of it, another core has reached it and not [let go](Expose::let_go) of it, or
    /// `caches` are another core's. Then nobody gets the memory back.
    pub fn end(self, caches: &mut Caches) -> M {
        let start = self.region.start();
        self.try_end(caches).unwrap_or_else(|(core, _)| panic!("{core} has not let go of {start}, whose exposure ends"))
    }

    /// As [`end`](Self::end), where others may still have the memory.
    ///
    /// # Errors
    /// A core that has reached it and not let go of it, and the exposure, which goes on.
    ///
    /// # Panics
    /// If the owner still has a local view of it, or `caches` are another core's.
    pub fn try_end(self, caches: &mut Caches) -> Result<M, (CoreId, Self)> {
        // SAFETY: condition 1 of `new`, and it has not been concealed: a call that does so uses the exposure up.
        match unsafe { self.host.conceal(caches, self.region) } {
            Ok(()) => Ok(ManuallyDrop::into_inner(self.memory)),
            Err(core) => Err((core, self)),
        }
    }
}

/// Exposing private memory, and mapping what others expose.
pub trait Expose: Topology {
    /// Lets other cores reach `memory`, which stays where it is and what it is. Its lines are written back and
    /// invalidated, as they may be in the owner's caches.
    ///
    /// # Errors
    /// [`Returned`] with the reason and the memory, in particular if that does not consist of whole lines.
    ///
    /// # Panics
    /// If `caches` are another core's.
    fn expose<M: Exposable>(&self, caches: &mut Caches, memory: M)
    -> Result<Exposure<'_, M>, Returned<ExposeError, M>>;

    /// Makes what another core exposes reachable for this one, by combined and uncached accesses. To be called before
    /// each use: it costs a register access for each [slot](SLOT_BYTES) that is not mapped already, and nothing
    /// otherwise. If all [`mapped_slots`](Self::mapped_slots) are in use, the one that was asked for least recently is
    /// unmapped.
    ///
    /// A mapping is of the owner's memory, whatever it exposes there and when; what is not exposed at the time of an access
    /// is refused then, by a panic. Regions of controllers' memory and of this core's own are always reachable.
    ///
    /// # Errors
    /// [`MapError`] if there is no such memory.
    fn map(&self, region: Region<kind::Combined>) -> Result<(), MapError>;

    /// How many slots can be mapped at a time.
    fn mapped_slots(&self) -> usize;

    /// Says that this core will not reach what a region has of another core's exposures any more, unless it says so by
    /// another access. What this core has stored is drained. Slots stay mapped. Before everybody has done so who has
    /// reached it, an exposure cannot [end](Exposure::end).
    fn let_go(&self, region: Region<kind::Combined>);

    /// Gives up the slots that the region lies in, with all else that lies in them, and [lets go](Self::let_go) of it.
    /// What this core has stored there is drained, and MPB and combined lines are invalidated, since a slot may come to
    /// stand for other memory.
    fn unmap(&self, region: Region<kind::Combined>);
}
