//! Keeping copies in step with memory: fetches, write-backs, and what gives way.

use alloc::vec::Vec;

use crate::{
    LINE_BYTES, Line, LineAddress, Region,
    cached::ViewAccess,
    kind,
    kit::{Conflict, Event, Exposures, Slices},
};

use super::super::{
    CachingRegion, Choice, Copies, FetchUnit, PAGE_BYTES, PageWindow, Platform,
    caching_region::{Claimed, LINES_PER_PAGE, lines_mask, lines_of},
    page_window::{EXPOSED_POSITION, address_at, position},
};

impl<W: PageWindow> Copies<W> {
    /// Makes the lines of `region` present; if it is exposed, it is one of `exposures`. Returns how many lines were
    /// fetched and how many dirty ones evicted.
    ///
    /// A region of more pages than there are frames does not become present as a whole; its pages fault when they are
    /// accessed.
    ///
    /// # Panics
    /// If pages cannot fault, and slices look at more of them than there are frames.
    pub(in super::super) fn touch<P: Platform<Window = W>>(
        &self,
        platform: &P,
        exposures: &Exposures,
        region: Region<kind::Cached>,
        access: ViewAccess,
    ) -> Touched {
        let _exclusion = self.window.exclude();
        let mut touched = Touched::default();
        let core = platform.core().index();
        // Where pages fault, one that is evicted under a slice comes back as it does on hardware.
        let lasts = access.lasts() && !self.window.faults();
        let protects = self.is_shared && !self.window.faults() && (lasts || !self.is_present(region));
        // Takes no memory of a heap unless something is held.
        let mut held_before = Vec::new();
        if protects {
            for (page, lines) in pages_of(region) {
                held_before.push(self.account().hold(core, page, lines));
            }
        }
        // Where pages do not fault, a store that follows would be lost in one that has gone again meanwhile.
        let stays = if access.writes() && !self.window.faults() { region } else { Region::new(region.start(), 0) };
        for (page, asked) in pages_of(region) {
            let wanted = match platform.fetch_unit() {
                FetchUnit::Page => match (page * PAGE_BYTES).checked_sub(EXPOSED_POSITION) {
                    None => u128::MAX,
                    Some(offset) => lines_mask(0, exposures.lines_from(offset)),
                },
                FetchUnit::Line => asked,
            };
            self.fetch(platform, page, wanted, stays, &mut touched);
            if lasts {
                self.account().hold(core, page, asked);
            }
            if access.writes() {
                self.window.set_dirty(page);
            }
        }
        let mut account = self.account();
        account.may_be_dirty |= access.writes();
        if protects && !lasts {
            for ((page, _), lines) in pages_of(region).zip(held_before) {
                account.hold_only(core, page, lines);
            }
        }
        touched
    }

    fn is_present(&self, region: Region<kind::Cached>) -> bool {
        let account = self.account();
        pages_of(region).all(|(page, lines)| account.present(page) & lines == lines)
    }

    fn fetch<P: Platform<Window = W>>(
        &self,
        platform: &P,
        page: usize,
        wanted: u128,
        stays: Region<kind::Cached>,
        touched: &mut Touched,
    ) {
        let new = self.make_room(platform, page, stays, touched);
        let missing = wanted & !self.account().present(page);
        for line in lines_of(missing) {
            if self.is_shared && self.account().present(page) >> line & 1 == 1 {
                continue;
            }
            let data = platform.read_line(line_address(platform, page, line));
            touched.lines_fetched += u64::from(self.account().install(&self.window, page, line, &data));
            platform.witness(|| Event::Fetched(address_at(page * PAGE_BYTES + line * LINE_BYTES, platform.core())));
        }
        if let Some(frame) = new {
            self.window.map(page, frame);
        }
    }

    /// Makes a page resident, if need be in place of another, but of none with lines that stay. Returns its frame if it
    /// was not.
    fn make_room<P: Platform<Window = W>>(
        &self,
        platform: &P,
        page: usize,
        stays: Region<kind::Cached>,
        touched: &mut Touched,
    ) -> Option<usize> {
        let stays = |page: usize| pages_of(stays).any(|(staying, _)| staying == page);
        loop {
            let claimed = self.account().claim(&self.window, page);
            match claimed {
                Claimed::Resident => return None,
                Claimed::Frame(frame) => return Some(frame),
                Claimed::Full => {}
            }
            let victim = {
                let account = self.account();
                let victims = || account.pages().filter(|page| !account.is_held(*page) && !stays(*page));
                let count = victims().count();
                assert!(
                    count > 0,
                    "slices look at all {} pages that this core can cache, or a store at more; copy in parts",
                    account.pages().count()
                );
                victims().nth(platform.choose(Choice::VictimPage, count)).expect("there are as many")
            };
            self.window.hide(victim);
            self.window.settle();
            touched.lines_evicted += self.write_back(platform, victim, u128::MAX);
            self.forget_what_is_clean(platform, victim, u128::MAX);
        }
    }

    /// Writes back what is dirty in `region` and forgets its lines; where the unit is a page, the rest of its pages
    /// too. This core has no slices.
    pub(in super::super) fn write_back_invalidate<P: Platform<Window = W>>(
        &self,
        platform: &P,
        region: Region<kind::Cached>,
    ) -> Flushed {
        let _exclusion = self.window.exclude();
        self.account().release(platform.core().index());
        let mut flushed = Flushed::default();
        self.hide_all(|page| pages_of(region).any(|(other, _)| other == page));
        for (page, asked) in pages_of(region) {
            if self.account().present(page) == 0 {
                continue;
            }
            let forgotten = match platform.fetch_unit() {
                FetchUnit::Page => u128::MAX,
                FetchUnit::Line => asked,
            };
            loop {
                flushed.lines_written += self.write_back(platform, page, asked);
                flushed.neighbours_written += self.write_back(platform, page, forgotten & !asked);
                if self.forget_what_is_clean(platform, page, forgotten) {
                    break;
                }
            }
            self.refetch(platform, page, forgotten);
        }
        flushed
    }

    /// Writes everything dirty back and forgets everything. Returns the number of lines written back. This core has no
    /// slices.
    pub(in super::super) fn write_back_invalidate_all<P: Platform<Window = W>>(&self, platform: &P) -> u64 {
        let _exclusion = self.window.exclude();
        self.account().release(platform.core().index());
        self.hide_all(|_| true);
        let mut written = 0;
        let mut bound = usize::MAX;
        while let Some(page) = self.last_page_below(bound) {
            bound = page;
            loop {
                written += self.write_back(platform, page, u128::MAX);
                if self.forget_what_is_clean(platform, page, u128::MAX) {
                    break;
                }
            }
            self.refetch(platform, page, u128::MAX);
        }
        written
    }

    fn last_page_below(&self, bound: usize) -> Option<usize> {
        self.account().pages().rfind(|page| *page < bound)
    }

    /// Takes resident pages away from the programs of all cores that see them, where these run meanwhile.
    fn hide_all(&self, is_meant: impl Fn(usize) -> bool) {
        if self.is_shared && self.window.faults() {
            let account = self.account();
            let meant = account.pages().filter(|page| is_meant(*page));
            if meant.inspect(|page| self.window.hide(*page)).count() > 0 {
                self.window.settle();
            }
        }
    }

    /// Forgets lines of a page, which have been written back, as far as no other core has stored to them meanwhile or
    /// holds them. Returns whether none is left that is dirty.
    fn forget_what_is_clean<P: Platform<Window = W>>(&self, platform: &P, page: usize, lines: u128) -> bool {
        let untouchable = if self.is_shared { self.untouchable(platform, page) } else { 0 };
        let mut account = self.account();
        let dirty = if self.is_shared { account.dirty_lines(&self.window, page, lines & !untouchable) } else { 0 };
        let kept = if self.is_shared { dirty | account.held_lines(page) } else { 0 };
        account.forget(&self.window, page, lines & !kept);
        dirty == 0
    }

    /// The lines of a page that mutable slices look at. They are not to be looked at by anybody else, and stay as they are
    /// until the slices are gone. Where pages fault, they are taken away instead, as an operating system does it.
    fn untouchable<P: Platform<Window = W>>(&self, platform: &P, page: usize) -> u128 {
        if self.window.faults() {
            return 0;
        }
        let lines = |slices: &mut Slices| slices.mutable_lines(page * LINES_PER_PAGE, LINES_PER_PAGE, position);
        platform.with_slices(lines).unwrap_or(0)
    }

    /// Brings lines up to date that are present still, since other cores hold them.
    ///
    /// # Panics
    /// If memory has changed where a slice looks at the copy.
    fn refetch<P: Platform<Window = W>>(&self, platform: &P, page: usize, lines: u128) {
        let left = lines & self.account().present(page);
        for line in lines_of(left) {
            let data = platform.read_line(line_address(platform, page, line));
            let at = Region::new(address_at(page * PAGE_BYTES + line * LINE_BYTES, platform.core()), LINE_BYTES);
            let refreshed = platform.with_slices(|slices| self.refresh(slices, at, &data, u32::MAX));
            if let Some(Err(conflict)) = refreshed {
                panic!("{conflict}");
            }
        }
    }

    /// Brings bytes of a line up to what memory has now, as far as it is present and clean. Under a slice nothing is
    /// written.
    ///
    /// # Errors
    /// If a slice looks at bytes that would change.
    fn refresh(&self, slices: &Slices, at: Region<kind::Cached>, data: &Line, mask: u32) -> Result<(), Conflict> {
        let line = position(at.start()) / LINE_BYTES;
        let (page, line) = (line / LINES_PER_PAGE, line % LINES_PER_PAGE);
        let done = self.account().refresh(&self.window, page, line, data, mask, slices.over(at));
        if done { Ok(()) } else { Err(slices.changed_under(at)) }
    }

    /// Writes back those of `lines` of a page that are dirty. Returns how many were.
    fn write_back<P: Platform<Window = W>>(&self, platform: &P, page: usize, lines: u128) -> u64 {
        let dirty = self.account().dirty_lines(&self.window, page, lines & !self.untouchable(platform, page));
        let written = lines_of(dirty).map(|line| u64::from(self.write_back_line(platform, page, line, true))).sum();
        let present = self.account().present(page);
        if present != 0 && lines & present == present {
            self.window.set_clean(page);
        }
        written
    }

    /// Writes back a line, the whole or just the bytes that were stored, unless another core has done so meanwhile.
    /// Returns whether it was dirty.
    fn write_back_line<P: Platform<Window = W>>(&self, platform: &P, page: usize, line: usize, whole: bool) -> bool {
        let mut written = None;
        platform.write_back(line_address(platform, page, line), &mut || {
            // A slice may have come since.
            if self.untouchable(platform, page) >> line & 1 == 1 {
                return None;
            }
            let account = self.account();
            let (data, changed) = account.changes(&self.window, page, line).filter(|(_, changed)| *changed != 0)?;
            account.set_twin(&self.window, page, line, &data);
            written = Some(changed);
            Some((data, if whole { u32::MAX } else { changed }))
        });
        if let Some(changed) = written {
            let at = address_at(page * PAGE_BYTES + line * LINE_BYTES, platform.core());
            platform.witness(|| Event::WrittenBack { at, changed });
        }
        written.is_some()
    }

    /// Sends what was just stored to `region` to memory at once, byte by byte, as hardware without write-allocate does
    /// when the line is not cached; where the unit is a line, the lines are forgotten again.
    pub(in super::super) fn store_through<P: Platform<Window = W>>(&self, platform: &P, region: Region<kind::Cached>) {
        let _exclusion = self.window.exclude();
        for (page, lines) in pages_of(region) {
            for line in lines_of(lines) {
                let changes = self.account().changes(&self.window, page, line);
                let Some((_, changed)) = changes else { continue };
                if changed != 0 {
                    self.write_back_line(platform, page, line, false);
                }
                let held = self.account().is_held(page);
                if platform.fetch_unit() == FetchUnit::Line && !held {
                    self.forget_what_is_clean(platform, page, 1 << line);
                }
            }
        }
    }

    /// Whether an eviction could find something to write back.
    pub(in super::super) fn may_be_dirty(&self) -> bool {
        let _exclusion = self.window.exclude();
        self.account().may_be_dirty
    }

    /// Evicts one dirty line of some resident page, as the platform chooses: writes it back. Returns the number of
    /// lines written back, 0 if none is dirty.
    ///
    /// The copy stays, now clean; dropping it would change memory under a slice that a program holds. What a mutable slice
    /// looks at, is left out: hardware could write it back, but no code may look at it.
    pub(in super::super) fn evict_a_line<P: Platform<Window = W>>(&self, platform: &P) -> u64 {
        let _exclusion = self.window.exclude();
        let victim = {
            let mut account = self.account();
            let dirty = |account: &CachingRegion, page| {
                account.dirty_lines(&self.window, page, !self.untouchable(platform, page))
            };
            let dirty_pages = || account.pages().filter(|page| dirty(&account, *page) != 0);
            let pages = dirty_pages().count();
            let victim = if pages == 0 { None } else { dirty_pages().nth(platform.choose(Choice::VictimPage, pages)) };
            // A mutable slice may be stored to at any time.
            let held = account.pages().any(|page| account.is_held(page) && self.window.is_dirty(page));
            let Some(page) = victim else {
                account.may_be_dirty = held;
                return 0;
            };
            let lines = dirty(&account, page);
            let victim = platform.choose(Choice::VictimLine, lines.count_ones() as usize);
            account.may_be_dirty = held || pages > 1 || lines.count_ones() > 1;
            lines_of(lines).nth(victim).map(|line| (page, line))
        };
        victim.map_or(0, |(page, line)| self.write_back(platform, page, 1 << line))
    }

    /// Another core has stored these bytes of a line to memory whose home this domain is: the copy changes with it, as
    /// far as it is clean.
    ///
    /// # Errors
    /// If one of the domain's slices looks at bytes that would change.
    #[cfg(feature = "sim")]
    pub(crate) fn pushed(
        &self,
        slices: &Slices,
        at: crate::SharedAddress,
        data: &Line,
        mask: u32,
    ) -> Result<(), Conflict> {
        self.refresh(slices, Region::new(at.line_start(), LINE_BYTES), data, mask)
    }

    /// The program comes to a line for the first time since its last flush, and fetches it now: these bytes of it are what memory has, as
    /// far as they are clean. A slice that was taken so that a program in C reaches the line by a pointer is no obstacle.
    #[cfg(feature = "sim")]
    pub(crate) fn fetched_late(&self, at: crate::SharedAddress, data: &Line, mask: u32) {
        let line = position(at) / LINE_BYTES;
        self.account().refresh(&self.window, line / LINES_PER_PAGE, line % LINES_PER_PAGE, data, mask, None);
    }
}

/// The pages of a region, and which lines of each.
fn pages_of(region: Region<kind::Cached>) -> impl Iterator<Item = (usize, u128)> {
    let first = position(region.start()) / LINE_BYTES;
    let end = first + region.len_lines();
    let mut line = first;
    core::iter::from_fn(move || {
        let page = line / LINES_PER_PAGE;
        let page_end = end.min((page + 1) * LINES_PER_PAGE);
        let lines = (line < end).then(|| (page, lines_mask(line % LINES_PER_PAGE, page_end - line)));
        line = page_end;
        lines
    })
}

fn line_address<P: Platform>(platform: &P, page: usize, line: usize) -> LineAddress {
    LineAddress::Shared(address_at(page * PAGE_BYTES + line * LINE_BYTES, platform.core()))
}

/// What a flush wrote back.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in super::super) struct Flushed {
    /// Lines of the region.
    pub(in super::super) lines_written: u64,
    /// Other lines of its pages.
    pub(in super::super) neighbours_written: u64,
}

/// What a touch had to do.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in super::super) struct Touched {
    /// Lines fetched.
    pub(in super::super) lines_fetched: u64,
    /// Dirty lines written back to make room.
    pub(in super::super) lines_evicted: u64,
}
