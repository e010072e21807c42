//! What cores look at by slices, where several cores reach the same bytes: in the copies of a coherence domain, and in
//! all shared memory of a machine that is coherent.
//!
//! Rust holds that nobody changes what a slice looks at, and that nobody even looks at what a mutable slice looks at. A
//! core's own view sees to that for itself, by lifetimes. Other cores, and other ways to the same memory, are refused
//! here. A slice counts from the call that made it until the core's next coherence point, at which it cannot exist any
//! more (`&mut Caches`), or until its view shows that it is gone: by being dropped, or by an access that borrows what the
//! slice had borrowed.
//!
//! Where every core has copies of its own, no access asks; the simulator keeps account all the same, since evictions
//! leave alone what a mutable slice looks at.

use core::fmt;

use crate::{CoreId, Region, SharedAddress, cached::access::ViewAccess, kind};

/// Slices that there can be at a time: in a domain, or in a machine that is coherent.
#[cfg(target_os = "none")]
const MAX_SLICES: usize = 1024;

#[cfg(target_os = "none")]
type Table<T> = heapless::Vec<T, MAX_SLICES>;
#[cfg(not(target_os = "none"))]
type Table<T> = alloc::vec::Vec<T>;

/// A slice, of all of a view.
#[derive(Clone, Copy)]
struct Slice {
    core: CoreId,
    region: Region<kind::Cached>,
    is_mutable: bool,
}

/// The slices of several cores, of which a machine has one account, under a lock.
///
/// ```
/// use hal::{CoreId, Regions, SharedAddress, cached::ViewAccess, kit::Slices};
///
/// // SAFETY: nobody reaches the region.
/// let region = unsafe { Regions::new(1) }.region(SharedAddress::new(0, 64), 32);
/// let [one, other] = [0, 1].map(CoreId::new);
/// let mut slices = Slices::new();
/// slices.access(one, region, ViewAccess::Slice).unwrap();
/// assert!(slices.access(other, region, ViewAccess::Load).is_ok());
/// let conflict = slices.access_memory(SharedAddress::new(0, 68), 4, true).unwrap_err();
/// assert!(conflict.to_string().contains("a store to memory that a slice of core 0 looks at"));
/// slices.end(one);
/// assert!(slices.is_empty());
/// ```
#[derive(Default)]
pub struct Slices(Table<Slice>);

/// What looks at some of the same memory as a slice, or is about to.
#[cfg(any(feature = "qemu", feature = "sim"))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Under {
    /// A slice.
    Shared,
    /// A mutable slice.
    Mutable,
}

impl Slices {
    /// An account without slices.
    pub const fn new() -> Self {
        Self(Table::new())
    }

    /// Whether there is none, so that nothing is excluded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// An access by a view of `core`, of all of the view's bytes if it makes a slice. What it borrows shows which earlier
    /// slices of the core are gone.
    ///
    /// # Errors
    /// If a slice of another core excludes it. Nothing is noted then.
    ///
    /// # Panics
    /// On bare metal, if there are as many slices as there is room for.
    pub fn access(&mut self, core: CoreId, region: Region<kind::Cached>, access: ViewAccess) -> Result<(), Conflict> {
        let is_gone = |slice: &Slice| slice.is_mutable || access.writes();
        self.0.retain(|slice| !(slice.core == core && slice.region.overlaps(&region) && is_gone(slice)));
        let excluded = |slice: &&Slice| slice.core != core && (slice.is_mutable || access.writes());
        self.find(region, excluded).map_or(Ok(()), |slice| Err(slice.conflict(what(access), Some(core))))?;
        if access.lasts() {
            let slice = Slice { core, region, is_mutable: access.writes() };
            #[cfg(target_os = "none")]
            assert!(!self.0.is_full(), "cores look at shared memory by {MAX_SLICES} slices, which is the limit");
            self.0.extend([slice]);
        }
        Ok(())
    }

    /// An access to memory itself, past all views.
    ///
    /// # Errors
    /// If a slice excludes it.
    pub fn access_memory(&self, at: SharedAddress, len_bytes: usize, writes: bool) -> Result<(), Conflict> {
        if self.0.is_empty() {
            return Ok(());
        }
        let (start, end) = (at.offset(), at.offset() + len_bytes);
        let meets = |slice: &&Slice| {
            let first = slice.region.start().offset();
            slice.region.start().home() == at.home() && first < end && start < first + slice.region.len_bytes()
        };
        let found = self.0.iter().filter(meets).find(|slice| slice.is_mutable || writes);
        found.map_or(Ok(()), |slice| Err(slice.conflict(if writes { "a store to" } else { "a load of" }, None)))
    }

    /// `core` is at a coherence point: it has no slices.
    pub fn end(&mut self, core: CoreId) {
        self.0.retain(|slice| slice.core != core);
    }

    /// The view of `region` that `core` had is gone.
    pub fn end_view(&mut self, core: CoreId, region: Region<kind::Cached>) {
        self.0.retain(|slice| !(slice.core == core && slice.region.overlaps(&region)));
    }

    /// Which of `lines` lines from number `first` of a window on are under mutable slices, as bits. The window has an address
    /// where `position` says, in bytes.
    #[cfg(any(feature = "qemu", feature = "sim"))]
    pub(crate) fn mutable_lines(&self, first: usize, lines: usize, position: fn(SharedAddress) -> usize) -> u128 {
        let of = |slice: &Slice| {
            let start = position(slice.region.start()) / crate::LINE_BYTES;
            let (from, to) = (start.max(first), (start + slice.region.len_lines()).min(first + lines));
            (from..to).fold(0, |mask, line| mask | 1 << (line - first))
        };
        self.0.iter().filter(|slice| slice.is_mutable).fold(0, |mask, slice| mask | of(slice))
    }

    /// What looks at a line.
    #[cfg(any(feature = "qemu", feature = "sim"))]
    pub(crate) fn over(&self, line: Region<kind::Cached>) -> Option<Under> {
        let under = |slice: &Slice| if slice.is_mutable { Under::Mutable } else { Under::Shared };
        self.find(line, |slice| slice.is_mutable).or_else(|| self.find(line, |_| true)).map(under)
    }

    /// That a line was stored to in memory while a slice looks at its copy.
    #[cfg(any(feature = "qemu", feature = "sim"))]
    pub(crate) fn changed_under(&self, line: Region<kind::Cached>) -> Conflict {
        let slice = self.find(line, |slice| slice.is_mutable).or_else(|| self.find(line, |_| true));
        slice.expect("a slice looks at the line").conflict("a store to", None)
    }

    fn find(&self, region: Region<kind::Cached>, is_meant: impl Fn(&&Slice) -> bool) -> Option<&Slice> {
        self.0.iter().filter(|slice| slice.region.overlaps(&region)).find(is_meant)
    }
}

/// What reports call an access.
fn what(access: ViewAccess) -> &'static str {
    match access {
        ViewAccess::Load => "a load of",
        ViewAccess::Store => "a store to",
        ViewAccess::Slice => "a slice of",
        ViewAccess::SliceMut => "a mutable slice of",
    }
}

impl Slice {
    fn conflict(&self, access: &'static str, by: Option<CoreId>) -> Conflict {
        Conflict { access, by, at: self.region.start(), holder: self.core, is_mutable: self.is_mutable }
    }
}

/// An access that a slice excludes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    access: &'static str,
    /// Whose access it is, if it is known.
    by: Option<CoreId>,
    /// Where what the slice looks at starts.
    at: SharedAddress,
    holder: CoreId,
    is_mutable: bool,
}

impl Conflict {
    /// Whose slice it is.
    #[cfg(feature = "sim")]
    pub(crate) fn holder(&self) -> CoreId {
        self.holder
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { access, by, at, holder, is_mutable } = self;
        write!(out, "slice conflict: {access} memory")?;
        by.map_or(Ok(()), |core| write!(out, " by {core}"))?;
        let slice = if *is_mutable { "mutable slice" } else { "slice" };
        write!(out, " that a {slice} of {holder} looks at, from {at} on, until {holder}'s next coherence point")
    }
}
