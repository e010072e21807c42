//! Copies of cached shared memory: those that the cores of one coherence domain have in common, and those that a core
//! has of what it exposes itself. On the SCC, where every core is a domain, the two are one.
//!
//! Write-back writes whole lines, as hardware does, so that a neighbour's bytes in the same line are overwritten. The
//! frames are few: when they run out, a page is evicted, and eviction can also be provoked. A store of the value that
//! was there before is not seen as dirty, which hardware would write back.
//!
//! **Several cores.** Accesses to memory take time, and other cores of the domain go on meanwhile. So nothing is
//! taken for granted across an access: a line that was read is only put in place if nobody else has fetched it, what
//! was stored while a line was written back makes it dirty again, and a line is forgotten only while it is clean. A line
//! that another core looks at by a slice, or is about to store to, cannot be forgotten where pages do not fault; it is
//! refetched in place, at once.

mod upkeep;

use core::cell::{RefCell, RefMut};

#[cfg(feature = "sim")]
use crate::{LINE_BYTES, Line, SharedAddress};

use super::{CachingRegion, PageWindow};
#[cfg(feature = "sim")]
use super::{PAGE_BYTES, page_window::position};

/// A window with copies, and the account of them.
pub struct Copies<W> {
    region: RefCell<CachingRegion>,
    window: W,
    is_shared: bool,
}

impl<W: PageWindow> Copies<W> {
    /// No copies yet, of one core or shared by several.
    pub const fn new(window: W, is_shared: bool) -> Self {
        Self { region: RefCell::new(CachingRegion::new()), window, is_shared }
    }

    /// Where they are.
    pub(super) fn window(&self) -> &W {
        &self.window
    }

    /// Whether several cores have them in common.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The copy of a line, if there is one, and which of its bytes memory does not have.
    #[cfg(feature = "sim")]
    pub(super) fn look(&self, at: SharedAddress) -> Option<(Line, u32)> {
        let position = position(at);
        self.region.borrow().changes(&self.window, position / PAGE_BYTES, position % PAGE_BYTES / LINE_BYTES)
    }

    /// The account, for one step.
    fn account(&self) -> RefMut<'_, CachingRegion> {
        self.region.borrow_mut()
    }
}
