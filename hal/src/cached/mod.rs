//! Cached memory that cores share: local views, and the token without which no slice of them exists.
//!
//! A plain `&mut [T]` into cached shared memory that is held across a flush is unsound: the compiler may move stores
//! around the flush, and no clobber stops it. Therefore window memory is a [`LocalView`] with loads, stores and
//! copies, and slices come from it only together with a shared borrow of the core's one [`Caches`] token. Everything
//! that changes what cached memory means takes `&mut Caches`. So no slice survives a coherence point, by type. That nobody
//! else stores to what it looks at, whoever takes it promises.

pub(crate) mod access;
#[cfg(all(test, feature = "sim"))]
mod tests;

use core::{fmt, marker::PhantomData, ptr::NonNull};

use bytemuck::Pod;

use crate::{
    CoreId, Topology,
    address::{Region, SharedAddress, kind},
    elements::{self, Moves},
};

pub use self::access::{Touch, ViewAccess};

/// The caches of one core, as a token. There is exactly one per core; slices of cached memory borrow it, and what
/// writes back or invalidates borrows it mutably.
pub struct Caches {
    core: CoreId,
    machine: u64,
    /// The token stays with its core.
    not_send: PhantomData<*mut ()>,
}

impl Caches {
    /// Makes the token of `core`; for backends.
    ///
    /// # Safety
    /// At most one token may exist for a core at any time.
    pub unsafe fn new(core: &(impl Topology + ?Sized)) -> Self {
        Self { core: core.core(), machine: core.machine(), not_send: PhantomData }
    }

    /// Insists that this is the token of `core`: in the simulator another core's could be at hand, or another machine's.
    ///
    /// # Panics
    /// If it is not.
    pub fn assert_of(&self, core: &(impl Topology + ?Sized)) {
        assert!(self.core == core.core(), "the caches of {} are not those of {}", self.core, core.core());
        assert!(self.machine == core.machine(), "the caches of {} are those of another machine's", self.core);
    }
}

/// Why a region could not be claimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClaimError {
    /// This core holds a view of some of the same bytes already.
    Claimed {
        /// Where the region that was asked for starts.
        start: SharedAddress,
    },
    /// This core holds as many views as it can keep account of.
    TooMany {
        /// Local views that a core can hold.
        limit: usize,
    },
    /// The region lies behind a memory controller that the machine has not.
    NoSuchMemory {
        /// Where the region that was asked for starts.
        start: SharedAddress,
    },
    /// The region is private memory that this core does not expose, or not as one piece: another core's, or not any
    /// more.
    NotExposed {
        /// Where the region that was asked for starts.
        start: SharedAddress,
    },
    /// The elements do not fit the region.
    Length {
        /// Length of the region, in bytes.
        len_bytes: usize,
        /// Bytes of all elements together.
        wanted_bytes: usize,
    },
}

impl fmt::Display for ClaimError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claimed { start } => write!(out, "{start} is part of a local view that this core already holds"),
            Self::TooMany { limit } => write!(out, "this core holds {limit} local views, which is the limit"),
            Self::NoSuchMemory { start } => write!(out, "{start} does not exist"),
            Self::NotExposed { start } => {
                write!(out, "{start} is not part of what this core exposes, and it caches nobody else's private memory")
            }
            Self::Length { len_bytes, wanted_bytes } => {
                write!(out, "elements of {wanted_bytes} bytes do not fit a region of {len_bytes}")
            }
        }
    }
}

impl core::error::Error for ClaimError {}

/// What stands behind a view; implemented by backends.
///
/// # Safety
/// 1. Until a view is [released](Self::release), what `touch` was called for is there for reads and writes through the
///    view when it returns, and for the access that follows; for a slice, until the next coherence point. Where accesses are
///    [not watched](Self::watches_accesses), all of the view is there from the beginning.
/// 2. Until then, no other view of this core is given out of the same bytes.
/// 3. `core` and `machine` are always the same.
/// 4. Where other cores reach the same bytes, `touch` refuses the access if one of them has a slice that excludes it; no
///    such slice is made before the access has ended. From a touch for a slice on until the core's next coherence point,
///    they do not change what it looks at; what a mutable slice looks at, they do not look at.
pub unsafe trait ViewWindow: Topology {
    /// Whether `touch` is to be called for each access; always the same.
    fn watches_accesses(&self) -> bool {
        true
    }

    /// Makes `region` present for an access, and says what is to be done after it. Nothing if a slice of another core
    /// excludes it on a machine that is coming to its end: then there is no access.
    ///
    /// # Safety
    /// The region is of a view of this core that was not released. The view is borrowed as the access needs it: so slices of it
    /// that the access excludes are gone. The access follows, and then [`end_access`](Self::end_access).
    ///
    /// # Panics
    /// If a slice of another core excludes the access.
    unsafe fn touch(&self, region: Region<kind::Cached>, access: ViewAccess) -> Option<Touch>;

    /// Bytes of a region were accessed, of which the lines were touched; called in the same step.
    fn accessed(&self, region: Region<kind::Cached>, first_byte: usize, len: usize, access: ViewAccess) {
        let _ = (region, first_byte, len, access);
    }

    /// What was touched has been accessed. Called unless there is nothing to be done. What was absent, hardware without
    /// write-allocate sends to memory at once.
    ///
    /// # Safety
    /// [`touch`](Self::touch) has said this of the region, and this is the one call for it: what ends an operation that is
    /// another's lets the handler of interrupts into that.
    unsafe fn end_access(&self, region: Region<kind::Cached>, touch: Touch);

    /// Gives the claim of `region` back.
    ///
    /// # Safety
    /// The view that was claimed is not used any more.
    unsafe fn release(&self, region: Region<kind::Cached>);
}

/// This core's view of a region of cached shared memory, as `len` elements.
///
/// A slice of it cannot be used across a coherence point:
///
/// ```compile_fail,E0502
/// # use hal::{Cached, Caches, LocalView};
/// fn held_too_long(core: &impl Cached, view: &mut LocalView<'_, u32>, caches: &mut Caches) {
///     let region = view.region();
///     // SAFETY: nobody else reaches the memory.
///     let slice = unsafe { view.as_mut_slice(caches) };
///     core.write_back_invalidate(caches, region);
///     slice[0] = 1;
/// }
/// ```
///
/// but before it:
///
/// ```
/// # use hal::{Cached, Caches, LocalView};
/// fn given_up_in_time(core: &impl Cached, view: &mut LocalView<'_, u32>, caches: &mut Caches) {
///     let region = view.region();
///     // SAFETY: nobody else reaches the memory.
///     let slice = unsafe { view.as_mut_slice(caches) };
///     slice[0] = 1;
///     core.write_back_invalidate(caches, region);
/// }
/// ```
///
/// Holding one proves that no other view of this core overlaps it. It proves nothing about other cores: what they
/// wrote is visible only after they wrote back and this core invalidated, and what is stored here only after the
/// reverse. Cores that reach the same bytes, in a coherence domain or because memory is coherent, may all view them; if
/// their *slices* get into each other's way, or into the way of stores, that is found.
pub struct LocalView<'c, T: Pod> {
    elements: NonNull<T>,
    len: usize,
    region: Region<kind::Cached>,
    window: &'c dyn ViewWindow,
    is_watched: bool,
}

impl<'c, T: Pod> LocalView<'c, T> {
    /// Makes a view; for backends.
    ///
    /// # Safety
    /// 1. `elements` points to `region.len_bytes()` bytes that stay valid for reads and writes, once touched, for `'c`.
    /// 2. They are aligned for `T`, and `len` elements fit into them.
    /// 3. No other view of this core overlaps `region` until the window is told of the release.
    pub unsafe fn new(
        elements: NonNull<T>,
        len: usize,
        region: Region<kind::Cached>,
        window: &'c dyn ViewWindow,
    ) -> Self {
        Self { elements, len, region, window, is_watched: window.watches_accesses() }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The region that is viewed.
    pub fn region(&self) -> Region<kind::Cached> {
        self.region
    }

    /// Loads element `index` through the cache.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    pub fn load(&self, index: usize) -> T {
        self.assert_inside(index, 1);
        let elements = self.elements;
        let load = move |moves: Moves| {
            // SAFETY: the index was checked; conditions 1 and 2 of `new`.
            let element = unsafe { elements.add(index) };
            // SAFETY: inside the view by conditions 1 and 2 of `new`; the words around it are the region's, which consists of lines.
            unsafe { elements::load(element, moves) }
        };
        self.access(index, 1, ViewAccess::Load, load).unwrap_or_else(T::zeroed)
    }

    /// Stores element `index` through the cache: visible to other cores after a flush, or at any time before.
    ///
    /// # Panics
    /// If there is no such element.
    #[inline]
    pub fn store(&mut self, index: usize, value: T) {
        self.assert_inside(index, 1);
        let elements = self.elements;
        let store = move |moves: Moves| {
            // SAFETY: the index was checked; conditions 1 and 2 of `new`.
            let element = unsafe { elements.add(index) };
            // SAFETY: inside the view by conditions 1 and 2 of `new`; the words around it are the region's, which consists of lines.
            unsafe { elements::store(element, &value, moves) }
        };
        self.access(index, 1, ViewAccess::Store, store);
    }

    /// Copies elements from `first` on into `target`.
    ///
    /// # Panics
    /// If the view ends before.
    pub fn copy_to(&self, first: usize, target: &mut [T]) {
        self.assert_inside(first, target.len());
        for (piece, elements) in target.chunks_mut(Self::PIECE).enumerate() {
            let first = first + piece * Self::PIECE;
            let count = elements.len();
            let copied = self.access(first, count, ViewAccess::Load, |moves| {
                for (index, element) in elements.iter_mut().enumerate() {
                    // SAFETY: the range was checked; conditions 1 and 2 of `new`.
                    let from = unsafe { self.elements.add(first + index) };
                    // SAFETY: inside the view by conditions 1 and 2 of `new`; the words around it are the region's, which consists of lines.
                    *element = unsafe { elements::load(from, moves) };
                }
            });
            if copied.is_none() {
                return;
            }
        }
    }

    /// Copies `source` over the elements from `first` on.
    ///
    /// # Panics
    /// If the view ends before.
    pub fn copy_from(&mut self, first: usize, source: &[T]) {
        self.assert_inside(first, source.len());
        for (piece, elements) in source.chunks(Self::PIECE).enumerate() {
            let first = first + piece * Self::PIECE;
            let copied = self.access(first, elements.len(), ViewAccess::Store, |moves| {
                for (index, element) in elements.iter().enumerate() {
                    // SAFETY: the range was checked; conditions 1 and 2 of `new`.
                    let to = unsafe { self.elements.add(first + index) };
                    // SAFETY: inside the view by conditions 1 and 2 of `new`; the words around it are the region's, which consists of lines.
                    unsafe { elements::store(to, element, moves) };
                }
            });
            if copied.is_none() {
                return;
            }
        }
    }

    /// All elements as a slice, for as long as no coherence point is passed.
    ///
    /// # Safety
    /// While the slice is in use, nobody stores to the memory of the view: no other core in any way, and this core neither
    /// past its views nor by what it has not drained.
    ///
    /// See [what may be relied on](crate::soundness).
    ///
    /// # Panics
    /// If `caches` are another core's; and where somebody keeps account of slices, if another core has a mutable slice of
    /// some of the bytes.
    pub unsafe fn as_slice<'s>(&'s self, caches: &'s Caches) -> &'s [T] {
        caches.assert_of(self.window);
        // SAFETY: conditions 1 and 2 of `new`. While the slice lives, this core stores through no other view (condition 3)
        // and passes no coherence point (`caches`); the caller answers for everybody else.
        let slice = |_| unsafe { core::slice::from_raw_parts(self.elements.as_ptr(), self.len) };
        self.access(0, self.len, ViewAccess::Slice, slice).unwrap_or_default()
    }

    /// All elements as a mutable slice, for as long as no coherence point is passed.
    ///
    /// # Safety
    /// As for [`as_slice`](Self::as_slice); and no other core that sees this core's copies, in a coherence domain or
    /// because memory is coherent, loads from there either; nor does this core past its views.
    ///
    /// # Panics
    /// If `caches` are another core's; and where somebody keeps account of slices, if another core has a slice of some of
    /// the bytes.
    pub unsafe fn as_mut_slice<'s>(&'s mut self, caches: &'s Caches) -> &'s mut [T] {
        caches.assert_of(self.window);
        // SAFETY: conditions 1 and 2 of `new`. While the slice lives, `&mut self` and condition 3 make it this core's only
        // access, and no coherence point is passed (`caches`); the caller answers for everybody else.
        let slice = |_| unsafe { core::slice::from_raw_parts_mut(self.elements.as_ptr(), self.len) };
        self.access(0, self.len, ViewAccess::SliceMut, slice).unwrap_or_default()
    }

    /// Elements that are copied at a time: a page of bytes. What is about to be stored to stays in the cache until it is,
    /// so it must not be more than the cache holds.
    const PIECE: usize = if size_of::<T>() == 0 || size_of::<T>() > 4096 { 1 } else { 4096 / size_of::<T>() };

    #[inline]
    fn assert_inside(&self, first: usize, count: usize) {
        if first > self.len || count > self.len - first {
            outside(first, count, self.len);
        }
    }

    /// Carries out an access to elements of the view, and tells it how they move, unless it is refused on a
    /// machine that is coming to its end.
    #[inline]
    fn access<R>(
        &self,
        first: usize,
        count: usize,
        access: ViewAccess,
        carry_out: impl FnOnce(Moves) -> R,
    ) -> Option<R> {
        if !self.is_watched || count == 0 {
            Some(carry_out(Moves::Alone))
        } else {
            self.watched(first, count, access, || carry_out(Moves::InWords))
        }
    }

    /// Carries out an access of which the window is told. Apart, so that loops over elements are as short as they can be where it is not.
    #[cold]
    #[inline(never)]
    fn watched<R>(&self, first: usize, count: usize, access: ViewAccess, carry_out: impl FnOnce() -> R) -> Option<R> {
        let (first_byte, len) = (first * size_of::<T>(), count * size_of::<T>());
        let region = self.region.lines_around(first_byte, first_byte + len);
        // SAFETY: the region is of this view, whose borrow shows which of its slices are gone; the access follows.
        let touch = unsafe { self.window.touch(region, access) }?;
        let result = carry_out();
        self.window.accessed(self.region, first_byte, len, access);
        if touch != Touch::default() {
            // SAFETY: this is what was said of the region, and the one call for it.
            unsafe { self.window.end_access(region, touch) };
        }
        Some(result)
    }
}

#[cold]
fn outside(first: usize, count: usize, len: usize) -> ! {
    panic!("elements {first}..{} of a local view of {len}", first.saturating_add(count))
}

impl<T: Pod> Drop for LocalView<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this was the view, and it is gone.
        unsafe { self.window.release(self.region) };
    }
}

/// DRAM that cores share through the caches of this core: behind the controllers, and what it exposes of its own
/// private memory.
pub trait Cached: Topology {
    /// Takes this core's view of `region`, as `len` elements from its start. What it shows may have been cached at any
    /// time since the last invalidation.
    ///
    /// # Errors
    /// [`ClaimError`] if this core views some of the bytes already, may not view them, or the elements do not fit.
    fn claim<T: Pod>(&self, region: Region<kind::Cached>, len: usize) -> Result<LocalView<'_, T>, ClaimError>;

    /// Writes all dirty lines of `region` back to memory and forgets its lines. Panics if `caches` are another core's.
    ///
    /// More than the region may be written back and forgotten: whoever wrote to neighbouring memory must
    /// be as prepared for that as for an eviction.
    fn write_back_invalidate(&self, caches: &mut Caches, region: Region<kind::Cached>);

    /// Writes all dirty lines of this core back to memory and forgets all lines (`wbinvd`, and a purge of L2 where it
    /// has one).
    fn write_back_invalidate_all(&self, caches: &mut Caches);

    /// A coherence point that moves no data: this core's slices are gone, and what they excluded is allowed again to others
    /// that reach the same bytes. Where nobody else does, nothing happens. Panics if `caches` are another core's.
    fn end_slices(&self, caches: &mut Caches);

    /// The token of this core's caches, the first time that it is asked for.
    fn take_caches(&self) -> Option<Caches>;
}
