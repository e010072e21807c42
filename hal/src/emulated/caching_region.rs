//! A core's private caching region: its copies of cached shared memory.
//!
//! Pages of shared memory are copied to private frames, each with a *twin* that remembers what was fetched. A line that differs
//! from its twin is dirty; write-back writes whole lines, as hardware does, so that a neighbour's bytes in the same line
//! are overwritten. The frames are few: when they run out, a page is evicted, and eviction can also be provoked. A store
//! of the value that was there before is not seen as dirty, which hardware would write back.

use heapless::Vec;

use crate::{
    LINE_BYTES, Line, LineAddress, Region, SharedAddress, kind,
    topology::{MAX_CONTROLLERS, SHARED_BYTES_PER_CONTROLLER},
};

use super::{Choice, Platform, line_cache::mask_of};

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;

const LINES_PER_PAGE: usize = PAGE_BYTES / LINE_BYTES;

/// Frames that a region can have at most.
const MAX_FRAMES: usize = 256;

/// Where the private copies live: one window as large as all shared memory, and a few twins.
pub trait PageWindow {
    /// Pages that can be resident at a time; more than 256 are not used.
    fn frames(&self) -> usize;

    /// Whether an access to a page that is not resident makes it resident.
    fn faults(&self) -> bool;

    /// The address at which programs see byte `flat` of shared memory. Only touched pages may be accessed.
    fn address(&self, flat: usize) -> *mut u8;

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
    page: u16,
    frame: u16,
    /// One bit for each line that was fetched.
    lines: u128,
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

    /// Makes the lines of `region` present. Returns how many lines were fetched and how many dirty ones evicted.
    ///
    /// A region of more pages than there are frames does not become present as a whole; its pages fault when they are
    /// accessed.
    ///
    /// # Panics
    /// If pages cannot fault and the region has more of them than there are frames.
    pub fn touch<P: Platform>(
        &mut self,
        platform: &P,
        window: &P::Window,
        region: Region<kind::Cached>,
        write: bool,
    ) -> Touched {
        let pages = (region.start().flat() % PAGE_BYTES + region.len_bytes()).div_ceil(PAGE_BYTES);
        assert!(
            window.faults() || pages <= window.frames(),
            "{pages} pages of cached memory at once are more than the {} frames of this core; copy in parts",
            window.frames()
        );
        let mut touched = Touched::default();
        self.may_be_dirty |= write;
        let (first, end) =
            (region.start().flat() / LINE_BYTES, region.start().flat() / LINE_BYTES + region.len_lines());
        let mut line = first;
        while line < end {
            let page = line / LINES_PER_PAGE;
            let page_end = end.min((page + 1) * LINES_PER_PAGE);
            let wanted = match platform.fetch_unit() {
                FetchUnit::Page => u128::MAX,
                FetchUnit::Line => lines_mask(line % LINES_PER_PAGE, page_end - line),
            };
            self.fetch(platform, window, page, wanted, &mut touched);
            if write {
                window.set_dirty(page);
            }
            line = page_end;
        }
        touched
    }

    /// Writes back what is dirty in `region` and forgets its lines; where the unit is a page, the rest of its pages too.
    /// Returns the number of lines written back.
    pub fn write_back_invalidate<P: Platform>(
        &mut self,
        platform: &P,
        window: &P::Window,
        region: Region<kind::Cached>,
    ) -> u64 {
        if region.is_empty() {
            return 0;
        }
        let first = region.start().flat() / LINE_BYTES;
        let end = first + region.len_lines();
        let mut written = 0;
        for page in first / LINES_PER_PAGE..=(end - 1) / LINES_PER_PAGE {
            let Ok(index) = self.position(page) else { continue };
            let lines = match platform.fetch_unit() {
                FetchUnit::Page => u128::MAX,
                FetchUnit::Line => {
                    let (from, to) = (first.max(page * LINES_PER_PAGE), end.min((page + 1) * LINES_PER_PAGE));
                    lines_mask(from % LINES_PER_PAGE, to - from)
                }
            };
            written += self.write_back(platform, window, index, lines);
            self.forget(window, index, lines);
        }
        written
    }

    /// Writes everything dirty back and forgets everything. Returns the number of lines written back.
    pub fn write_back_invalidate_all<P: Platform>(&mut self, platform: &P, window: &P::Window) -> u64 {
        let mut written = 0;
        while let Some(index) = self.resident.len().checked_sub(1) {
            written += self.write_back(platform, window, index, u128::MAX);
            self.forget(window, index, u128::MAX);
        }
        written
    }

    /// Whether an eviction could find something to write back.
    pub fn may_be_dirty(&self) -> bool {
        self.may_be_dirty
    }

    /// Evicts one dirty line of some resident page, as the platform chooses: writes it back. Returns the number of lines
    /// written back, 0 if none is dirty.
    ///
    /// The copy stays, now clean; dropping it would change memory under a slice that a program holds.
    pub fn evict_a_line<P: Platform>(&mut self, platform: &P, window: &P::Window) -> u64 {
        let dirty_pages = || (0..self.resident.len()).filter(|index| self.dirty_lines(window, *index, u128::MAX) != 0);
        let pages = dirty_pages().count();
        let victim = if pages == 0 { None } else { dirty_pages().nth(platform.choose(Choice::VictimPage, pages)) };
        let Some(index) = victim else {
            self.may_be_dirty = false;
            return 0;
        };
        let lines = self.dirty_lines(window, index, u128::MAX);
        let victim = platform.choose(Choice::VictimLine, lines.count_ones() as usize);
        let line = (0..LINES_PER_PAGE).filter(|line| lines >> line & 1 == 1).nth(victim);
        self.may_be_dirty = pages > 1 || lines.count_ones() > 1;
        line.map_or(0, |line| self.write_back(platform, window, index, 1 << line))
    }

    fn position(&self, page: usize) -> Result<usize, usize> {
        self.resident.binary_search_by_key(&(page as u16), |resident| resident.page)
    }

    fn fetch<P: Platform>(
        &mut self,
        platform: &P,
        window: &P::Window,
        page: usize,
        wanted: u128,
        touched: &mut Touched,
    ) {
        let index = match self.position(page) {
            Ok(index) => index,
            Err(_) => self.allocate(platform, window, page, touched),
        };
        let missing = wanted & !self.resident[index].lines;
        if missing == 0 {
            return;
        }
        let dirty = window.is_dirty(page);
        let frame = self.resident[index].frame;
        for line in (0..LINES_PER_PAGE).filter(|line| missing >> line & 1 == 1) {
            let flat = page * PAGE_BYTES + line * LINE_BYTES;
            let data = platform.read_line(LineAddress::Shared(SharedAddress::from_flat(flat)));
            // SAFETY: the page is mapped (it is resident) and `line` lies inside it and inside its twin.
            unsafe {
                window.address(flat).copy_from_nonoverlapping(data.0.as_ptr(), LINE_BYTES);
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
    }

    fn allocate<P: Platform>(&mut self, platform: &P, window: &P::Window, page: usize, touched: &mut Touched) -> usize {
        if !self.frames_known {
            self.frames_known = true;
            let frames = window.frames().clamp(1, MAX_FRAMES) as u16;
            self.free.extend((0..frames).rev());
        }
        if self.free.is_empty() {
            let victim = platform.choose(Choice::VictimPage, self.resident.len());
            touched.lines_evicted += self.write_back(platform, window, victim, u128::MAX);
            self.forget(window, victim, u128::MAX);
        }
        let frame = self.free.pop().expect("a frame is free after an eviction");
        window.map(page, usize::from(frame));
        window.set_clean(page);
        let index = self.position(page).expect_err("the page was not resident");
        let resident = Resident { page: page as u16, frame, lines: 0 };
        assert!(self.resident.insert(index, resident).is_ok(), "there are no more residents than frames");
        index
    }

    /// Which of `lines` of a resident page are present and differ from their twins.
    fn dirty_lines<W: PageWindow>(&self, window: &W, index: usize, lines: u128) -> u128 {
        let Resident { page, frame, lines: present } = self.resident[index];
        let (page, frame) = (usize::from(page), usize::from(frame));
        if !window.is_dirty(page) {
            return 0;
        }
        let mut dirty = 0;
        for line in (0..LINES_PER_PAGE).filter(|line| (lines & present) >> line & 1 == 1) {
            let (mut data, mut twin) = (Line::default(), Line::default());
            // SAFETY: the page is mapped (it is resident) and `line` lies inside it and inside its twin.
            unsafe {
                data.0
                    .as_mut_ptr()
                    .copy_from_nonoverlapping(window.address(page * PAGE_BYTES + line * LINE_BYTES), LINE_BYTES);
                twin.0.as_mut_ptr().copy_from_nonoverlapping(window.twin(frame).add(line * LINE_BYTES), LINE_BYTES);
            }
            dirty |= u128::from(data != twin) << line;
        }
        dirty
    }

    fn write_back<P: Platform>(&mut self, platform: &P, window: &P::Window, index: usize, lines: u128) -> u64 {
        let Resident { page, frame, lines: present } = self.resident[index];
        let (page, frame) = (usize::from(page), usize::from(frame));
        if !window.is_dirty(page) {
            return 0;
        }
        let dirty = self.dirty_lines(window, index, lines);
        for line in (0..LINES_PER_PAGE).filter(|line| dirty >> line & 1 == 1) {
            let flat = page * PAGE_BYTES + line * LINE_BYTES;
            let mut data = Line::default();
            // SAFETY: the page is mapped (it is resident) and `line` lies inside it.
            unsafe { data.0.as_mut_ptr().copy_from_nonoverlapping(window.address(flat), LINE_BYTES) };
            platform.write_line(LineAddress::Shared(SharedAddress::from_flat(flat)), &data, mask_of(0, LINE_BYTES));
            // SAFETY: as above, and `line` lies inside the twin.
            unsafe { window.twin(frame).add(line * LINE_BYTES).copy_from_nonoverlapping(data.0.as_ptr(), LINE_BYTES) };
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
            window.unmap(usize::from(page));
            assert!(self.free.push(frame).is_ok(), "a frame is freed once");
        }
    }
}

/// What a touch had to do.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Touched {
    /// Lines fetched.
    pub lines_fetched: u64,
    /// Dirty lines written back to make room.
    pub lines_evicted: u64,
}

fn lines_mask(first: usize, count: usize) -> u128 {
    let ones = if count >= LINES_PER_PAGE { u128::MAX } else { (1 << count) - 1 };
    ones << first
}

const _: () = assert!(
    MAX_CONTROLLERS * SHARED_BYTES_PER_CONTROLLER / PAGE_BYTES <= u16::MAX as usize,
    "a page number fits 16 bits"
);
