//! What it gets wrong of lines, words and registers that all cores see.

use std::{
    thread,
    time::{Duration, Instant},
};

use hal::{
    CoreId, LINE_BYTES, Line, LineAddress, MpbLine, Region, Topology, kind,
    kit::{CombinedLines, CounterAccess, Registers, UncachedWords},
};

use super::{Defect, Defective, WANTED, is_exposed};

impl CombinedLines for Defective {
    fn load_line(&self, at: LineAddress) -> Line {
        if self.invents(at) {
            return Line::default();
        }
        let load = || self.inner.load_line(self.real(at));
        if self.is(Defect::KeepsStaleMemory) && matches!(at, LineAddress::Shared(_)) {
            return *self.stale_memory.borrow_mut().entry(at).or_insert_with(load);
        }
        load()
    }

    fn store_line(&self, at: LineAddress, offset: usize, bytes: &[u8]) {
        if self.invents(at) {
            return;
        }
        let at = self.real(at);
        if self.is(Defect::MergesStores) && bytes.len() < LINE_BYTES {
            self.inner.invalidate_lines();
            let mut line = self.inner.load_line(at).0;
            // Long enough for the other core to come in between, on a host that is busy, too.
            thread::sleep(Duration::from_micros(200));
            line[offset..offset + bytes.len()].copy_from_slice(bytes);
            return self.inner.store_line(at, 0, &line);
        }
        if self.is(Defect::LosesLines) {
            let mut held = self.held.borrow_mut();
            held.retain(|(line, ..)| *line == at);
            return held.push((at, offset, bytes.to_vec()));
        }
        if [Defect::KeepsWholeLines, Defect::DrainsMpbsFirst, Defect::DrainsLastFirst].contains(&self.defect) {
            self.held.borrow_mut().push((at, offset, bytes.to_vec()));
            if !self.is(Defect::KeepsWholeLines) && bytes.len() == LINE_BYTES {
                self.release();
            }
            return;
        }
        if self.is(Defect::StoresWholeLines) {
            let mut line = [0; LINE_BYTES];
            line[offset..offset + bytes.len()].copy_from_slice(bytes);
            return self.inner.store_line(at, 0, &line);
        }
        if self.is(Defect::TearsLines) && bytes.len() == LINE_BYTES {
            let (first, second) = bytes.split_at(LINE_BYTES / 2);
            self.inner.store_line(at, 0, first);
            self.inner.drain();
            // Cores in step with each other would never meet in the middle.
            thread::sleep(Duration::from_micros(500 + 300 * self.core().index() as u64));
            return self.inner.store_line(at, LINE_BYTES / 2, second);
        }
        let len = if self.is(Defect::CutsOffLines) { bytes.len().min(31) } else { bytes.len() };
        self.inner.store_line(at, offset, &bytes[..len]);
    }

    fn load_mpb_words(&self, at: MpbLine, first: usize, words: &mut [u32]) {
        let line = self.load_line(LineAddress::Mpb(at));
        let mut stale = self.stale.borrow_mut();
        for (index, word) in (first..).zip(words) {
            *word = line.word(index);
            if self.is(Defect::KeepsStaleWords) {
                *word = *stale.entry((at, index)).or_insert(*word);
            }
        }
    }

    fn store_mpb_words(&self, at: MpbLine, first: usize, words: impl ExactSizeIterator<Item = u32>) {
        let mut bytes: Vec<_> = words.flat_map(u32::to_le_bytes).collect();
        if self.is(Defect::StoresFirstWordOnly) {
            bytes.truncate(4);
        }
        self.store_line(LineAddress::Mpb(at), first * 4, &bytes);
    }

    fn get_lines(&self, from: MpbLine, lines: &mut [[u8; LINE_BYTES]], after: impl Fn(usize)) {
        for (index, line) in lines.iter_mut().enumerate() {
            *line = self.load_mpb_line(from.plus(index)).0;
            after(index);
        }
    }

    fn load_lines(&self, from: MpbLine, lines: usize, mut take: impl FnMut(usize, &[u8; LINE_BYTES])) {
        for index in 0..lines {
            let line = if self.is(Defect::LoadsOneLine) { 0 } else { index };
            take(index, &self.load_mpb_line(from.plus(line)).0);
        }
    }

    fn invalidate_lines(&self) {
        if !self.is(Defect::KeepsStaleLines) {
            self.inner.invalidate_lines();
        }
    }

    fn drain(&self) {
        self.release();
        if !self.is(Defect::DrainsNothing) {
            self.inner.drain();
        }
    }
}

impl UncachedWords for Defective {
    fn load_word(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        if self.is(Defect::InventsWords) && is_exposed(region.start()) {
            return 0;
        }
        let word = self.inner.load_word(region, index);
        self.forget_words(region);
        word
    }

    fn store_word(&self, region: Region<kind::Uncached>, index: usize, value: u32) {
        if self.is(Defect::InventsWords) && is_exposed(region.start()) {
            return;
        }
        let is_meeting = self.is(Defect::StaysAway) && region.start().offset() == 0 && value == 12;
        if !(self.is(Defect::LosesWords) && index == 7 || is_meeting) {
            self.inner.store_word(region, index, value);
            self.forget_words(region);
        }
    }
}

impl Registers for Defective {
    fn test_and_set(&self, core: CoreId) -> bool {
        if self.is(Defect::InventsRegisters) && core.index() >= self.layout().cores() {
            return true;
        }
        if self.is(Defect::RacesForRegisters) {
            let words = self.register_word();
            let is_free = self.inner.load_word(words, core.index()) == 0;
            if is_free {
                // What follows is later: another core may find the register free meanwhile, and is given time to.
                let [own, other] = [0, 1].map(|other| WANTED + (self.core().index() ^ other));
                self.inner.store_word(words, own, 1);
                let late = Instant::now() + Duration::from_millis(10);
                while self.inner.load_word(words, other) == 0 && Instant::now() < late {
                    thread::yield_now();
                }
                self.inner.store_word(words, core.index(), 1);
            }
            return is_free;
        }
        self.inner.test_and_set(self.register(core)) || self.is(Defect::GivesRegistersToAll)
    }

    fn free(&self, core: CoreId) {
        match self.defect {
            Defect::NeverFreesRegisters => {}
            Defect::InventsRegisters if core.index() >= self.layout().cores() => {}
            Defect::FreesOthers => self.inner.free(CoreId::new((core.index() + 1) % self.layout().cores())),
            Defect::RacesForRegisters => {
                self.inner.store_word(self.register_word(), WANTED + self.core().index(), 0);
                self.inner.store_word(self.register_word(), core.index(), 0);
            }
            _ => self.inner.free(self.register(core)),
        }
    }

    fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        let is_lost = self.is(Defect::CountsUpOnly) && access == CounterAccess::Decrement;
        self.inner.access_counter(counter, if is_lost { CounterAccess::Read } else { access })
    }
}
