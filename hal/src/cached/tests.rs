use std::cell::RefCell;

use super::*;
use crate::{LINE_BYTES, Layout, Line, kit::Slices};

/// Memory that two cores see in common, without any caches.
struct Common {
    slices: RefCell<Slices>,
    layout: Layout,
}

/// One of them.
struct Side<'c> {
    common: &'c Common,
    core: CoreId,
}

impl Topology for Side<'_> {
    fn core(&self) -> CoreId {
        self.core
    }

    fn layout(&self) -> &Layout {
        &self.common.layout
    }
}

// SAFETY: 1. the memory outlives `Common`; 2. each test claims once for a core; 3. never changed; 4. by
// `Slices`.
unsafe impl ViewWindow for Side<'_> {
    unsafe fn touch(&self, region: Region<kind::Cached>, access: ViewAccess) -> Option<Touch> {
        let met = self.common.slices.borrow_mut().access(self.core, region, access);
        assert!(met.is_ok(), "{}", met.unwrap_err());
        Some(Touch::default())
    }

    unsafe fn end_access(&self, _region: Region<kind::Cached>, _touch: Touch) {}

    unsafe fn release(&self, region: Region<kind::Cached>) {
        self.common.slices.borrow_mut().end_view(self.core, region);
    }
}

/// The sides of two cores with their views of the same two lines, and the caches of the first.
fn with_two_views(test: impl FnOnce(LocalView<'_, u32>, LocalView<'_, u32>, &Caches)) {
    // Reached by this pointer alone from here on.
    let mut memory = [Line::default(); 2];
    let start = NonNull::from(&mut memory).cast::<u32>();
    let common = Common { slices: RefCell::default(), layout: Layout::scc() };
    let region = Region::new(SharedAddress::new(0, 0), 2 * LINE_BYTES);
    let sides = [0, 1].map(|core| Side { common: &common, core: CoreId::new(core) });
    // SAFETY: 1. and 2. 16 words from a line boundary; 3. one view for each core.
    let [first, second] = sides.each_ref().map(|side| unsafe { LocalView::new(start, 16, region, side) });
    // SAFETY: the only one of that core.
    test(first, second, &unsafe { Caches::new(&sides[0]) });
}

#[test]
fn views_overlap_and_slices_take_turns() {
    with_two_views(|mut first, mut second, caches| {
        second.store(3, 7);
        // SAFETY: the other core comes when the slice is gone.
        let slice = unsafe { first.as_mut_slice(caches) };
        assert_eq!(slice[3], 7);
        slice[4] = 8;
        drop(first);
        assert_eq!(second.load(4), 8);
        second.copy_from(0, &[1; 16]);
    });
}

#[test]
#[should_panic(expected = "slice conflict: a store to memory by core 1 that a mutable slice of core 0 looks at")]
fn nobody_stores_under_a_slice() {
    with_two_views(|mut first, mut second, caches| {
        // SAFETY: the other core is refused.
        let slice = unsafe { first.as_mut_slice(caches) };
        second.store(3, 7);
        slice[3] = 8;
    });
}
