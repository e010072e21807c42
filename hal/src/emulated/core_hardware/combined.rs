//! Lines and words of an emulated core: what it reaches past its caches.

use crate::{
    Home, Line, LineAddress, MpbLine, Region, SharedAddress, Topology, kind,
    kit::{Account, CombinedLines, Event, Noting, Spot, UncachedWords, mask_of},
};

use super::{super::Platform, Emulated, Omit};

impl<P: Platform> Emulated<P> {
    /// Whether the home of a line is the own coherence domain, in which loads are always current.
    #[inline(always)]
    fn is_near(&self, at: LineAddress) -> bool {
        if !self.domain.is_shared() {
            return false;
        }
        let home = match at {
            LineAddress::Mpb(line) => Home::Core(line.core),
            LineAddress::Shared(address) => address.home(),
        };
        self.platform.home_domain(home) == Some(self.layout().domain(self.core()))
    }

    #[inline(always)]
    fn load_through_l1(&self, at: LineAddress) -> Line {
        if self.platform.coherent() || self.is_near(at) {
            return self.platform.read_line(at);
        }
        let key = at.key();
        if let Some(line) = self.lines.borrow().lookup(key) {
            return line;
        }
        let line = self.platform.read_line(at);
        self.lines.borrow_mut().fill(key, line);
        self.platform.witness(|| Event::Fill(at));
        line
    }

    #[inline(always)]
    fn store_through_buffer(&self, at: LineAddress, offset: usize, bytes: &[u8]) {
        if self.lines.borrow().pending().is_some_and(|pending| pending.at != at) {
            self.push_out_pending();
        }
        let (mask, is_coherent) = (mask_of(offset, bytes.len()), self.platform.coherent());
        if let Ok(data) = bytes.try_into() {
            // A whole line leaves the buffer at once, where nobody else can look at it.
            let line = Line(data);
            self.lines.borrow_mut().store_whole(at.key(), &line);
            if !is_coherent {
                self.platform.witness(|| Event::Store { at, mask });
            }
            self.trace_store(|| Spot::Line(at), mask, || self.platform.write_line(at, &line, mask));
            if !is_coherent {
                self.platform.witness(|| Event::PushedOut);
            }
            return;
        }
        let full = {
            let mut lines = self.lines.borrow_mut();
            lines.store(at, offset, bytes);
            lines.pending().is_some_and(|pending| pending.mask == u32::MAX)
        };
        self.platform.witness(|| Event::Store { at, mask });
        if is_coherent {
            let mut data = Line::default();
            data.0[offset..offset + bytes.len()].copy_from_slice(bytes);
            self.trace_store(|| Spot::Line(at), mask, || self.platform.write_line(at, &data, mask));
        }
        if full {
            self.push_out_pending();
        }
    }

    /// Word `index` of a region, within reach.
    fn reach_word(&self, region: Region<kind::Uncached>, index: usize) -> SharedAddress {
        let at = Account::word_address(region, index);
        if let Some(foreign) = self.account.assert_mapped(self, region, index * 4, 4) {
            self.platform.reach(foreign);
        }
        at
    }
}

impl<P: Platform> CombinedLines for Emulated<P> {
    #[inline]
    fn load_line(&self, at: LineAddress) -> Line {
        match at {
            LineAddress::Mpb(line) => self.load_mpb_line(line),
            LineAddress::Shared(_) => self.load_through_l1(at),
        }
    }

    // An address of its own, which fits a register, and is made a line's where that is asked for.
    fn load_mpb_line(&self, at: MpbLine) -> Line {
        self.load_through_l1(LineAddress::Mpb(at))
    }

    #[inline]
    fn store_line(&self, at: LineAddress, offset: usize, bytes: &[u8]) {
        match at {
            LineAddress::Mpb(line) => self.store_mpb_line(line, offset, bytes),
            LineAddress::Shared(_) => self.store_through_buffer(at, offset, bytes),
        }
    }

    fn store_mpb_line(&self, at: MpbLine, offset: usize, bytes: &[u8]) {
        self.store_through_buffer(LineAddress::Mpb(at), offset, bytes);
    }

    fn invalidate_lines(&self) {
        if !self.omits(Omit::INVALIDATE_MPB) {
            self.lines.borrow_mut().invalidate();
            self.platform.witness(|| Event::Invalidate);
        }
    }

    fn drain(&self) {
        if !self.omits(Omit::DRAIN) {
            self.push_out_pending();
            self.platform.fence();
        }
    }
}

impl<P: Platform> UncachedWords for Emulated<P> {
    fn load_word(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        let at = self.reach_word(region, index);
        let word = self.platform.read_word(at);
        self.platform.witness(|| Event::LoadWord(at));
        word
    }

    fn store_word(&self, region: Region<kind::Uncached>, index: usize, value: u32) {
        let at = self.reach_word(region, index);
        self.platform.write_word(at, value);
        self.platform.witness(|| Event::StoreWord(at));
    }
}
