//! The account of a caching region: which copies there are of cached shared memory.
//!
//! Pages of shared memory, and of what a core itself exposes of its private memory, are copied to private frames,
//! each with a *twin* that remembers what memory has. A line that differs from its twin is dirty. Everything here is one
//! step that no other core can come into; what takes time is made of such steps in [`Copies`](super::Copies).

use alloc::collections::BTreeMap;
use core::ptr::NonNull;

use crate::{
    LINE_BYTES, Line,
    elements::{self, Moves},
    kit::Under,
};

use super::{PAGE_BYTES, PageWindow};

/// Lines of a page.
pub(super) const LINES_PER_PAGE: usize = PAGE_BYTES / LINE_BYTES;

/// Frames that a region can have at most: few where memory is small and pages fault, more on a host, where slices must
/// fit.
pub const MAX_FRAMES: usize = if cfg!(target_os = "none") { 256 } else { 16384 };

/// A table with an entry for each frame. Where there is no host, the cores of a domain share it and have no heap in
/// common.
#[cfg(target_os = "none")]
type Table<T> = heapless::Vec<T, MAX_FRAMES>;
#[cfg(not(target_os = "none"))]
type Table<T> = alloc::vec::Vec<T>;

#[derive(Clone, Copy)]
struct Resident {
    page: u32,
    frame: u16,
    /// One bit for each line that was fetched.
    lines: u128,
}

/// What came of claiming a frame for a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Claimed {
    /// The page has a frame already.
    Resident,
    /// The page has this frame now, whose contents are any bytes.
    Frame(usize),
    /// All frames are taken.
    Full,
}

/// The account of the copies of one core, or of the cores of one coherence domain.
#[derive(Default)]
pub struct CachingRegion {
    /// Sorted by page.
    resident: Table<Resident>,
    free: Table<u16>,
    frames_known: bool,
    /// Something was touched for writing since an eviction last found nothing dirty.
    pub(super) may_be_dirty: bool,
    /// Which lines of which page which core looks at by slices, or is about to. Stays empty where pages fault, so that
    /// it takes no memory of a heap.
    held: BTreeMap<(u32, u16), u128>,
}

/// A line of the frame that begins here. Where processors run side by side, views of a domain's other cores may access it.
///
/// # Safety
/// The frame has such a line.
unsafe fn line_of(contents: *mut u8, line: usize) -> NonNull<Line> {
    // SAFETY: the caller says so; nothing is at address 0.
    unsafe { NonNull::new_unchecked(contents.add(line * LINE_BYTES)).cast() }
}

impl CachingRegion {
    /// A region with nothing in it.
    pub const fn new() -> Self {
        Self {
            resident: Table::new(),
            free: Table::new(),
            frames_known: false,
            may_be_dirty: false,
            held: BTreeMap::new(),
        }
    }

    fn find(&self, page: usize) -> Result<usize, usize> {
        self.resident.binary_search_by_key(&(page as u32), |resident| resident.page)
    }

    fn resident(&self, page: usize) -> Option<&Resident> {
        self.find(page).ok().map(|index| &self.resident[index])
    }

    /// The resident pages, in ascending order.
    pub(super) fn pages(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.resident.iter().map(|resident| resident.page as usize)
    }

    /// The lines of a page that are present.
    pub(super) fn present(&self, page: usize) -> u128 {
        self.resident(page).map_or(0, |resident| resident.lines)
    }

    /// Gives `page` a frame if it has none and there is one.
    pub(super) fn claim<W: PageWindow>(&mut self, window: &W, page: usize) -> Claimed {
        let Err(index) = self.find(page) else { return Claimed::Resident };
        if !self.frames_known {
            self.frames_known = true;
            let frames = window.frames().clamp(1, MAX_FRAMES) as u16;
            self.free.extend((0..frames).rev());
        }
        let Some(frame) = self.free.pop() else { return Claimed::Full };
        let resident = Resident { page: page as u32, frame, lines: 0 };
        // It fits, since every resident has a frame of its own.
        self.resident.extend([resident]);
        self.resident[index..].rotate_right(1);
        window.prepare(page);
        Claimed::Frame(usize::from(frame))
    }

    /// Puts a line of memory into a resident page, unless it is there. Returns whether it was not.
    pub(super) fn install<W: PageWindow>(&mut self, window: &W, page: usize, line: usize, data: &Line) -> bool {
        let Ok(index) = self.find(page) else { return false };
        let Resident { frame, lines, .. } = self.resident[index];
        if lines >> line & 1 == 1 {
            return false;
        }
        let contents = window.contents(page, usize::from(frame));
        // SAFETY: `line` lies inside the page's frame, and is aligned.
        unsafe { elements::store(line_of(contents, line), data, Moves::Alone) };
        self.resident[index].lines |= 1 << line;
        self.set_twin(window, page, line, data);
        true
    }

    /// A line that is present, and its twin.
    fn line_and_twin<W: PageWindow>(&self, window: &W, page: usize, line: usize) -> Option<(Line, Line)> {
        let Resident { frame, lines, .. } = *self.resident(page)?;
        if lines >> line & 1 == 0 {
            return None;
        }
        let frame = usize::from(frame);
        // SAFETY: `line` lies inside the page's frame, is aligned, and no mutable slice looks at it: the callers leave such
        // lines out.
        let data = unsafe { elements::load(line_of(window.contents(page, frame), line), Moves::Alone) };
        Some((data, self.twin(window, frame, line)))
    }

    /// A line, if it is present, and which of its bytes differ from what memory had.
    pub(super) fn changes<W: PageWindow>(&self, window: &W, page: usize, line: usize) -> Option<(Line, u32)> {
        let (data, twin) = self.line_and_twin(window, page, line)?;
        let changed = |byte: usize| u32::from(data.0[byte] != twin.0[byte]) << byte;
        Some((data, (0..LINE_BYTES).fold(0, |mask, byte| mask | changed(byte))))
    }

    /// Notes that memory has this line now.
    pub(super) fn set_twin<W: PageWindow>(&self, window: &W, page: usize, line: usize, data: &Line) {
        let Some(resident) = self.resident(page) else { return };
        let twin = window.twin(usize::from(resident.frame));
        // SAFETY: `line` lies inside the twin.
        unsafe { twin.add(line * LINE_BYTES).copy_from_nonoverlapping(data.0.as_ptr(), LINE_BYTES) };
    }

    /// Brings a line up to what memory has now, as far as it is present: the bytes in `mask`, except those that are
    /// dirty. Returns false, and leaves the copy as it is, if a slice looks at a byte that would change.
    pub(super) fn refresh<W: PageWindow>(
        &self,
        window: &W,
        page: usize,
        line: usize,
        new: &Line,
        mask: u32,
        under: Option<Under>,
    ) -> bool {
        let Some(resident) = self.resident(page).filter(|resident| resident.lines >> line & 1 == 1) else {
            return true;
        };
        let bytes = || (0..LINE_BYTES).filter(|byte| mask >> byte & 1 == 1);
        if under == Some(Under::Mutable) {
            // What the slice has stored is not to be looked at. Memory is what it was, or somebody else has stored there.
            let twin = self.twin(window, usize::from(resident.frame), line);
            return bytes().all(|byte| twin.0[byte] == new.0[byte]);
        }
        let Some((data, mut twin)) = self.line_and_twin(window, page, line) else { return true };
        let changes = |byte: &usize| data.0[*byte] == twin.0[*byte] && data.0[*byte] != new.0[*byte];
        if under.is_some() && bytes().any(|byte| changes(&byte)) {
            return false;
        }
        let contents = window.contents(page, usize::from(resident.frame));
        for byte in bytes().filter(changes) {
            // SAFETY: inside the page's frame; no slice looks at it, or nobody uses the slice.
            unsafe { elements::store(line_of(contents, line).cast::<u8>().add(byte), &new.0[byte], Moves::InWords) };
        }
        bytes().for_each(|byte| twin.0[byte] = new.0[byte]);
        self.set_twin(window, page, line, &twin);
        true
    }

    fn twin<W: PageWindow>(&self, window: &W, frame: usize, line: usize) -> Line {
        let mut twin = Line::default();
        // SAFETY: `line` lies inside the twin.
        unsafe {
            let of_twin = window.twin(frame).add(line * LINE_BYTES);
            twin.0.as_mut_ptr().copy_from_nonoverlapping(of_twin, LINE_BYTES);
        }
        twin
    }

    /// Which of `lines` of a page are present and differ from their twins.
    pub(super) fn dirty_lines<W: PageWindow>(&self, window: &W, page: usize, lines: u128) -> u128 {
        if !window.is_dirty(page) {
            return 0;
        }
        let differs = |line: usize| self.line_and_twin(window, page, line).is_some_and(|(data, twin)| data != twin);
        lines_of(lines & self.present(page)).filter(|line| differs(*line)).fold(0, |dirty, line| dirty | 1 << line)
    }

    /// Forgets these lines of a page. The page goes with the last of them, unless somebody is about to need it.
    pub(super) fn forget<W: PageWindow>(&mut self, window: &W, page: usize, lines: u128) {
        let Ok(index) = self.find(page) else { return };
        self.resident[index].lines &= !lines;
        if self.resident[index].lines == 0 && !self.is_held(page) {
            let Resident { frame, .. } = self.resident.remove(index);
            window.unmap(page);
            self.free.extend([frame]);
        }
    }

    /// From now on `core` holds these lines of a page besides those that it held before, which are returned.
    pub(super) fn hold(&mut self, core: usize, page: usize, lines: u128) -> u128 {
        let held = self.held.entry((page as u32, core as u16)).or_insert(0);
        let before = *held;
        *held |= lines;
        before
    }

    /// From now on `core` holds just these lines of a page.
    pub(super) fn hold_only(&mut self, core: usize, page: usize, lines: u128) {
        let key = (page as u32, core as u16);
        if lines == 0 {
            self.held.remove(&key);
        } else {
            self.held.insert(key, lines);
        }
    }

    /// `core` holds nothing any more.
    pub(super) fn release(&mut self, core: usize) {
        self.held.retain(|(_, holder), _| usize::from(*holder) != core);
    }

    /// Which lines of a page anybody holds.
    pub(super) fn held_lines(&self, page: usize) -> u128 {
        let page = page as u32;
        self.held.range((page, 0)..=(page, u16::MAX)).fold(0, |lines, (_, held)| lines | held)
    }

    /// Whether anybody holds lines of a page.
    pub(super) fn is_held(&self, page: usize) -> bool {
        self.held_lines(page) != 0
    }
}

/// The numbers of the lines in a mask, in ascending order.
pub(super) fn lines_of(lines: u128) -> impl Iterator<Item = usize> {
    (0..LINES_PER_PAGE).filter(move |line| lines >> line & 1 == 1)
}

/// The mask of `count` lines from `first`.
pub(super) fn lines_mask(first: usize, count: usize) -> u128 {
    let ones = if count >= LINES_PER_PAGE { u128::MAX } else { (1 << count) - 1 };
    ones << first
}
