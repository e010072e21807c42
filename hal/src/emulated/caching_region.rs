//! A core's private caching region: its copies of cached shared memory.
//!
//! Pages of shared memory, and of what the core itself exposes of its private memory, are copied to private frames,
//! each with a *twin* that remembers what was fetched. A line that differs from its twin is dirty; write-back writes
//! whole lines, as hardware does, so that a neighbour's bytes in the same line are overwritten. The frames are few:
//! when they run out, a page is evicted, and eviction can also be provoked. A store of the value that was there
//! before is not seen as dirty, which hardware would write back.

use core::ops::Range;

use heapless::Vec;

use crate::{
    CoreId, LINE_BYTES, Line, LineAddress, Region, SharedAddress,
    address::Home,
    cached::ViewAccess,
    kind,
    topology::{EXPOSED_BYTES_PER_CORE, MAX_CONTROLLERS, SHARED_BYTES_PER_CONTROLLER},
};

use super::{Choice, Platform, exposures::Exposures, line_cache::mask_of};

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;

const LINES_PER_PAGE: usize = PAGE_BYTES / LINE_BYTES;

/// Frames that a region can have at most: few where memory and stacks are small and pages fault, more on a host, where
/// slices must fit.
const MAX_FRAMES: usize = if cfg!(target_os = "none") { 256 } else { 1024 };

/// Where the copies of what the core itself exposes begin in its window, after those of all controllers' shared memory.
pub const EXPOSED_POSITION: usize = MAX_CONTROLLERS * SHARED_BYTES_PER_CONTROLLER;

/// Bytes of a window.
pub const WINDOW_BYTES: usize = EXPOSED_POSITION + EXPOSED_BYTES_PER_CORE;

/// Where the copy of a byte is in the window of a core that may have one: of shared memory, and of what it exposes
/// itself.
pub(super) fn position(at: SharedAddress) -> usize {
    match at.home() {
        Home::Controller(_) => at.flat(),
        Home::Core(_) => EXPOSED_POSITION + at.offset(),
    }
}

/// The inverse of [`position`], in the window of `core`.
pub(super) fn address_at(position: usize, core: CoreId) -> SharedAddress {
    match position.checked_sub(EXPOSED_POSITION) {
        None => SharedAddress::from_flat(position),
        Some(offset) => SharedAddress::exposed(core, offset),
    }
}

/// Where the private copies live: one window as large as all memory that a core may have copies of, and a few twins.
pub trait PageWindow {
    /// Pages that can be resident at a time; more than an engine can keep account of are not used.
    fn frames(&self) -> usize;

    /// Whether an access to a page that is not resident makes it resident.
    fn faults(&self) -> bool;

    /// The address at which programs see the byte at `position`. Only touched pages may be accessed.
    fn address(&self, position: usize) -> *mut u8;

    /// Gives `page` the frame `frame`, with any contents.
    fn map(&self, page: usize, frame: usize);

    /// Takes the frame of `page` away.
    fn unmap(&self, page: usize);

    /// The twin of frame `frame`: [`PAGE_BYTES`] bytes.
    fn twin(&self, frame: usize) -> *mut u8;

    /// Whether `page` may have been stored to since [`set_clean`](Self::set_clean).
    fn is_dirty(&self, page: usize) -> bool;

    /// Notes that a program is about to store to `page`, where the window cannot see that by itself.
    fn set_dirty(&self, page: usize);

    /// Notes that `page` equals its twin.
    fn set_clean(&self, page: usize);
}

/// How much is fetched at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FetchUnit {
    /// Whole pages, as an MMU can.
    Page,
    /// Single lines, as hardware does.
    Line,
}

#[derive(Clone, Copy)]
struct Resident {
    page: u32,
    frame: u16,
    /// One bit for each line that was fetched.
    lines: u128,
    /// Whether a slice may look at it.
    held: bool,
}

/// The private caching region of one core.
#[derive(Default)]
pub struct CachingRegion {
    /// Sorted by page.
    resident: Vec<Resident, MAX_FRAMES>,
    free: Vec<u16, MAX_FRAMES>,
    frames_known: bool,
    /// Something was touched for writing since an eviction last found nothing dirty.
    may_be_dirty: bool,
}

impl CachingRegion {
    /// A region with nothing in it.
    pub const fn new() -> Self {
        Self { resident: Vec::new(), free: Vec::new(), frames_known: false, may_be_dirty: false }
    }

    /// Makes the lines of `region` present; if it is exposed, it is one of `exposures`. Returns how many lines were
    /// fetched and how many dirty ones evicted.
    ///
    /// A region of more pages than there are frames does not become present as a whole; its pages fault when they are
    /// accessed.
    ///
    /// # Panics
    /// If pages cannot fault, and slices, or this store, look at more of them than there are frames.
    pub(super) fn touch<P: Platform>(
        &mut self,
        platform: &P,
        window: &P::Window,
        exposures: &Exposures,
        region: Region<kind::Cached>,
        access: ViewAccess,
    ) -> Touched {
        let mut touched = Touched::default();
        self.may_be_dirty |= access.writes();
        let first = position(region.start()) / LINE_BYTES;
        let end = first + region.len_lines();
        // Where pages do not fault, a store that follows would be lost in one that has gone again meanwhile.
        let stays = if access.writes() && !window.faults() { first..end } else { 0..0 };
        let stays = stays.start / LINES_PER_PAGE..stays.end.div_ceil(LINES_PER_PAGE);
        let mut line = first;
        while line < end {
            let page = line / LINES_PER_PAGE;
            let page_end = end.min((page + 1) * LINES_PER_PAGE);
            let wanted = match platform.fetch_unit() {
                FetchUnit::Page => match (page * PAGE_BYTES).checked_sub(EXPOSED_POSITION) {
                    None => u128::MAX,
                    Some(offset) => lines_mask(0, exposures.lines_from(offset)),
                },
                FetchUnit::Line => lines_mask(line % LINES_PER_PAGE, page_end - line),
            };
            let index = self.fetch(platform, window, page, (wanted, &stays), &mut touched);
            // Where pages fault, one that is evicted under a slice comes back as it does on hardware.
            self.resident[index].held |= access.lasts() && !window.faults();
            if access.writes() {
                window.set_dirty(page);
            }
            line = page_end;
        }
        touched
    }

    /// Writes back what is dirty in `region` and forgets its lines; where the unit is a page, the rest of its pages
    /// too. No slice may be alive.
    pub fn write_back_invalidate<P: Platform>(
        &mut self,
        platform: &P,
        window: &P::Window,
        region: Region<kind::Cached>,
    ) -> Flushed {
        self.no_slices_are_left();
        let mut flushed = Flushed::default();
        if region.is_empty() {
            return flushed;
        }
        let first = position(region.start()) / LINE_BYTES;
        let end = first + region.len_lines();
        for page in first / LINES_PER_PAGE..=(end - 1) / LINES_PER_PAGE {
            let Ok(index) = self.position(page) else { continue };
            let (from, to) = (first.max(page * LINES_PER_PAGE), end.min((page + 1) * LINES_PER_PAGE));
            let asked = lines_mask(from % LINES_PER_PAGE, to - from);
            flushed.lines_written += self.write_back(platform, window, index, asked);
            let forgotten = match platform.fetch_unit() {
                FetchUnit::Page => {
                    flushed.neighbours_written += self.write_back(platform, window, index, !asked);
                    u128::MAX
                }
                FetchUnit::Line => asked,
            };
            self.forget(window, index, forgotten);
        }
        flushed
    }

    /// Writes everything dirty back and forgets everything. Returns the number of lines written back. No slice may be
    /// alive.
    pub fn write_back_invalidate_all<P: Platform>(&mut self, platform: &P, window: &P::Window) -> u64 {
        self.no_slices_are_left();
        let mut written = 0;
        while let Some(index) = self.resident.len().checked_sub(1) {
            written += self.write_back(platform, window, index, u128::MAX);
            self.forget(window, index, u128::MAX);
        }
        written
    }

    /// Sends what was just stored to `region` to memory at once, byte by byte, as hardware without write-allocate does
    /// when the line is not cached; where the unit is a line, the lines are forgotten again.
    pub fn store_through<P: Platform>(&mut self, platform: &P, window: &P::Window, region: Region<kind::Cached>) {
        let first = position(region.start()) / LINE_BYTES;
        for line in first..first + region.len_lines() {
            let Ok(index) = self.position(line / LINES_PER_PAGE) else { continue };
            let Resident { lines: present, held, .. } = self.resident[index];
            let bit = 1 << (line % LINES_PER_PAGE);
            if present & bit == 0 {
                continue;
            }
            let (data, twin) = self.line_and_twin(window, index, line % LINES_PER_PAGE);
            let mask = (0..LINE_BYTES).fold(0, |mask, byte| mask | u32::from(data.0[byte] != twin.0[byte]) << byte);
            if mask != 0 {
                platform.write_line(LineAddress::Shared(address_at(line * LINE_BYTES, platform.core())), &data, mask);
                self.set_twin(window, index, line % LINES_PER_PAGE, &data);
            }
            if platform.fetch_unit() == FetchUnit::Line && !held {
                self.forget(window, index, bit);
            }
        }
    }

    /// Whether an eviction could find something to write back.
    pub fn may_be_dirty(&self) -> bool {
        self.may_be_dirty
    }

    /// Evicts one dirty line of some resident page, as the platform chooses: writes it back. Returns the number of
    /// lines written back, 0 if none is dirty.
    ///
    /// The copy stays, now clean; dropping it would change memory under a slice that a program holds.
    pub fn evict_a_line<P: Platform>(&mut self, platform: &P, window: &P::Window) -> u64 {
        let dirty_pages = || (0..self.resident.len()).filter(|index| self.dirty_lines(window, *index, u128::MAX) != 0);
        let pages = dirty_pages().count();
        let victim = if pages == 0 { None } else { dirty_pages().nth(platform.choose(Choice::VictimPage, pages)) };
        // A mutable slice may be stored to at any time.
        let held = self.resident.iter().any(|resident| resident.held && window.is_dirty(resident.page as usize));
        let Some(index) = victim else {
            self.may_be_dirty = held;
            return 0;
        };
        let lines = self.dirty_lines(window, index, u128::MAX);
        let victim = platform.choose(Choice::VictimLine, lines.count_ones() as usize);
        let line = (0..LINES_PER_PAGE).filter(|line| lines >> line & 1 == 1).nth(victim);
        self.may_be_dirty = held || pages > 1 || lines.count_ones() > 1;
        line.map_or(0, |line| self.write_back(platform, window, index, 1 << line))
    }

    fn position(&self, page: usize) -> Result<usize, usize> {
        self.resident.binary_search_by_key(&(page as u32), |resident| resident.page)
    }

    fn fetch<P: Platform>(
        &mut self,
        platform: &P,
        window: &P::Window,
        page: usize,
        (wanted, stays): (u128, &Range<usize>),
        touched: &mut Touched,
    ) -> usize {
        let index = match self.position(page) {
            Ok(index) => index,
            Err(_) => self.allocate(platform, window, page, stays, touched),
        };
        let missing = wanted & !self.resident[index].lines;
        if missing == 0 {
            return index;
        }
        let dirty = window.is_dirty(page);
        let frame = self.resident[index].frame;
        for line in (0..LINES_PER_PAGE).filter(|line| missing >> line & 1 == 1) {
            let position = page * PAGE_BYTES + line * LINE_BYTES;
            let data = platform.read_line(LineAddress::Shared(address_at(position, platform.core())));
            // SAFETY: the page is mapped (it is resident) and `line` lies inside it and inside its twin.
            unsafe {
                window.address(position).copy_from_nonoverlapping(data.0.as_ptr(), LINE_BYTES);
                window
                    .twin(usize::from(frame))
                    .add(line * LINE_BYTES)
                    .copy_from_nonoverlapping(data.0.as_ptr(), LINE_BYTES);
            }
            touched.lines_fetched += 1;
        }
        self.resident[index].lines |= missing;
        if !dirty {
            // Filling the copy has made an MMU window look dirty.
            window.set_clean(page);
        }
        index
    }

    /// Gives `page` a frame, if need be that of another page, but none of those that stay.
    fn allocate<P: Platform>(
        &mut self,
        platform: &P,
        window: &P::Window,
        page: usize,
        stays: &Range<usize>,
        touched: &mut Touched,
    ) -> usize {
        if !self.frames_known {
            self.frames_known = true;
            let frames = window.frames().clamp(1, MAX_FRAMES) as u16;
            self.free.extend((0..frames).rev());
        }
        if self.free.is_empty() {
            let may_go = |resident: &Resident| !resident.held && !stays.contains(&(resident.page as usize));
            let victims = || (0..self.resident.len()).filter(|index| may_go(&self.resident[*index]));
            let count = victims().count();
            assert!(
                count > 0,
                "slices look at all {} pages that this core can cache, or a store at more; copy in parts",
                self.resident.len()
            );
            let victim = victims().nth(platform.choose(Choice::VictimPage, count)).expect("there are as many");
            touched.lines_evicted += self.write_back(platform, window, victim, u128::MAX);
            self.forget(window, victim, u128::MAX);
        }
        let frame = self.free.pop().expect("a frame is free after an eviction");
        window.map(page, usize::from(frame));
        window.set_clean(page);
        let index = self.position(page).expect_err("the page was not resident");
        let resident = Resident { page: page as u32, frame, lines: 0, held: false };
        assert!(self.resident.insert(index, resident).is_ok(), "there are no more residents than frames");
        index
    }

    /// Whoever calls has the token of the caches to itself, and no slice is without a borrow of that.
    fn no_slices_are_left(&mut self) {
        self.resident.iter_mut().for_each(|resident| resident.held = false);
    }

    fn line_and_twin<W: PageWindow>(&self, window: &W, index: usize, line: usize) -> (Line, Line) {
        let Resident { page, frame, .. } = self.resident[index];
        let position = page as usize * PAGE_BYTES + line * LINE_BYTES;
        let (mut data, mut twin) = (Line::default(), Line::default());
        // SAFETY: the page is mapped (it is resident) and `line` lies inside it and inside its twin.
        unsafe {
            data.0.as_mut_ptr().copy_from_nonoverlapping(window.address(position), LINE_BYTES);
            let of_twin = window.twin(usize::from(frame)).add(line * LINE_BYTES);
            twin.0.as_mut_ptr().copy_from_nonoverlapping(of_twin, LINE_BYTES);
        }
        (data, twin)
    }

    fn set_twin<W: PageWindow>(&self, window: &W, index: usize, line: usize, data: &Line) {
        let twin = window.twin(usize::from(self.resident[index].frame));
        // SAFETY: `line` lies inside the twin.
        unsafe { twin.add(line * LINE_BYTES).copy_from_nonoverlapping(data.0.as_ptr(), LINE_BYTES) };
    }

    /// Which of `lines` of a resident page are present and differ from their twins.
    fn dirty_lines<W: PageWindow>(&self, window: &W, index: usize, lines: u128) -> u128 {
        let Resident { page, lines: present, .. } = self.resident[index];
        if !window.is_dirty(page as usize) {
            return 0;
        }
        (0..LINES_PER_PAGE).filter(|line| (lines & present) >> line & 1 == 1).fold(0, |dirty, line| {
            let (data, twin) = self.line_and_twin(window, index, line);
            dirty | u128::from(data != twin) << line
        })
    }

    fn write_back<P: Platform>(&mut self, platform: &P, window: &P::Window, index: usize, lines: u128) -> u64 {
        let Resident { page, lines: present, .. } = self.resident[index];
        let page = page as usize;
        let dirty = self.dirty_lines(window, index, lines);
        for line in (0..LINES_PER_PAGE).filter(|line| dirty >> line & 1 == 1) {
            let (data, _) = self.line_and_twin(window, index, line);
            let at = address_at(page * PAGE_BYTES + line * LINE_BYTES, platform.core());
            platform.write_line(LineAddress::Shared(at), &data, mask_of(0, LINE_BYTES));
            self.set_twin(window, index, line, &data);
        }
        if lines & present == present {
            window.set_clean(page);
        }
        u64::from(dirty.count_ones())
    }

    fn forget<W: PageWindow>(&mut self, window: &W, index: usize, lines: u128) {
        self.resident[index].lines &= !lines;
        if self.resident[index].lines == 0 {
            let Resident { page, frame, .. } = self.resident.remove(index);
            window.unmap(page as usize);
            assert!(self.free.push(frame).is_ok(), "a frame is freed once");
        }
    }
}

/// What a flush wrote back.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flushed {
    /// Lines of the region.
    pub lines_written: u64,
    /// Other lines of its pages.
    pub neighbours_written: u64,
}

/// What a touch had to do.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Touched {
    /// Lines fetched.
    pub(super) lines_fetched: u64,
    /// Dirty lines written back to make room.
    pub(super) lines_evicted: u64,
}

fn lines_mask(first: usize, count: usize) -> u128 {
    let ones = if count >= LINES_PER_PAGE { u128::MAX } else { (1 << count) - 1 };
    ones << first
}

const _: () = assert!(WINDOW_BYTES / PAGE_BYTES <= u32::MAX as usize, "a page number fits 32 bits");
