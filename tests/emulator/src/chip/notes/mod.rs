//! What cores did with what they share, noted for a timeline.
//!
//! Neighbouring lines that are loaded or stored one after the other are one operation. An image that was built to be traced
//! [says](descriptions::boards::announced) which operations and waits begin and end: accesses are parts of these, and what a core
//! looks at within a wait is what it waits for. Other images say nothing of themselves, so there is only what their accesses look
//! like from outside: a line that is loaded again and again without having changed is waited for, until it is another one or the
//! core does something else.

mod of_core;
mod spot;

use descriptions::{
    boards::announced::Announced,
    trace::{self, Kind, Line},
};

use super::{Chip, System, cache::LINE_BYTES};
use crate::Board;

use self::{
    of_core::{Name, OfCore, Open, Record},
    spot::Spot,
};

/// Cycles after which a core that looks at a line again does not wait for it.
const POLL_CYCLES: u64 = 20_000;

/// Cycles between two lines that are still one operation.
const GAP_CYCLES: u64 = 500;

/// Lines that a core may wait for at the same time.
const LOOKED: usize = 8;

/// All that a core does whose image says nothing.
const ALL: &str = "start and program";

/// Bytes of a line, a bit for each.
pub(super) fn mask(address: u64, len: usize) -> u32 {
    (((1_u64 << len) - 1) << (address % LINE_BYTES as u64)) as u32
}

/// What all cores did, if anybody wants to know.
#[derive(Default)]
pub(super) struct Notes {
    /// Records of a core that are kept.
    limit: usize,
    /// Where the image says what it does, if it does.
    says_at: Option<u32>,
    cores: Vec<OfCore>,
}

impl Notes {
    /// Whether anybody wants to know.
    #[cfg(feature = "cpu")]
    pub(super) fn are_kept(&self) -> bool {
        self.limit > 0
    }

    /// The access of a core takes from `begin` to `end`.
    #[inline]
    pub(super) fn lasts(&mut self, core: usize, begin: Option<u64>, end: u64) {
        if let Some(notes) = self.cores.get_mut(core) {
            notes.begin = begin.unwrap_or(notes.begin);
            notes.end = end.max(notes.begin);
        }
    }

    /// What the core did until now, if what it does now is noted: what images do outside of what they say they do is not.
    fn noted(&mut self, core: usize) -> Option<&mut OfCore> {
        let says = self.says_at.is_some();
        let notes = self.cores.get_mut(core)?;
        if notes.open.is_empty() {
            if says {
                return None;
            }
            let (begin, name) = (notes.begin, Name::Known(ALL));
            notes.open.push(Open { begin, kind: Kind::Operation, peer: None, bytes: 0, name });
        }
        Some(notes)
    }

    /// A core has loaded this from bytes of a line.
    #[inline]
    pub(super) fn loaded(&mut self, board: &Board, core: usize, place: System, bytes: &[u8]) {
        if self.limit > 0
            && let Some(spot) = Spot::of(board, place)
        {
            let mut value = 0xCBF2_9CE4_8422_2325_u64;
            bytes.iter().for_each(|byte| value = (value ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3));
            self.looked(core, (spot, mask(address(place), bytes.len()), value), bytes.len());
        }
    }

    /// A core has asked for a test-and-set register of a core.
    pub(super) fn asked(&mut self, core: usize, register: usize, is_free: bool) {
        self.looked(core, (Spot::Register(register as u32), u32::MAX, is_free.into()), 0);
    }

    fn looked(&mut self, core: usize, look: (Spot, u32, u64), bytes: usize) {
        let (limit, said) = (self.limit, self.says_at.is_some());
        if let Some(notes) = self.noted(core) {
            notes.looked(limit, core, look, bytes, said);
        }
    }

    /// A core has stored to bytes of a line, which others see now.
    #[inline]
    pub(super) fn stored(&mut self, board: &Board, core: usize, place: System, mask: u32, now: u64) {
        if self.limit > 0
            && let Some(spot) = Spot::of(board, place)
        {
            self.changed(core, (spot, mask), now);
        }
    }

    /// A core has freed the register of one.
    pub(super) fn freed(&mut self, core: usize, register: usize, now: u64) {
        self.changed(core, (Spot::Register(register as u32), u32::MAX), now);
    }

    /// A core has raised a pin of another one.
    pub(super) fn interrupted(&mut self, core: usize, other: usize, now: u64) {
        self.changed(core, (Spot::Interrupt(other as u32), u32::MAX), now);
    }

    fn changed(&mut self, core: usize, change: (Spot, u32), now: u64) {
        let (limit, said) = (self.limit, self.says_at.is_some());
        if let Some(notes) = self.noted(core) {
            notes.changed(limit, core, change, now, said);
        }
    }

    /// A core has printed a line, by which one that says nothing else may say that a phase of the program begins.
    pub(super) fn printed(&mut self, core: usize, line: &str, now: u64) {
        if let Some(name) = line.strip_prefix("@phase ").filter(|_| self.says_at.is_none()) {
            let (limit, name) = (self.limit, trace::phase(name).collect::<String>());
            if let Some(notes) = self.noted(core) {
                let phase = Line::Phase { at: now, name: Name::Said(name.into()) };
                notes.push(limit, Record::Line(phase));
            }
        }
    }
}

/// The address of a byte within what it is a part of.
fn address(place: System) -> u64 {
    match place {
        System::Memory { address, .. } => address,
        System::Mpb { offset, .. } | System::Registers { offset, .. } | System::Board { offset } => offset.into(),
    }
}

impl Chip {
    /// From now on, what cores do with what they share is noted: the last of it, as far as it fits into `bytes_per_core` bytes for each.
    /// If the image says what it does, that is by calls of the function at the address `says_at`.
    pub fn note(&mut self, bytes_per_core: usize, says_at: Option<u32>) {
        let limit = (bytes_per_core / size_of::<Record>()).max(1);
        let cores = (0..self.board().cores()).map(|_| OfCore::default()).collect();
        self.mesh.notes = Notes { limit, says_at, cores };
    }

    /// Where the image says what it does, if that is wanted.
    #[cfg(feature = "cpu")]
    pub(crate) fn says_at(&self) -> Option<u32> {
        self.mesh.notes.says_at
    }

    /// A core says what it does; `passed` cycles after what its clock shows.
    pub fn announced(&mut self, core: usize, announced: &Announced, name: &str, passed: u64) {
        let (now, limit) = (self.shown_cycles(core) + passed, self.mesh.notes.limit);
        if let Some(notes) = self.mesh.notes.cores.get_mut(core) {
            notes.announced(limit, announced, name, now);
        }
    }

    /// Shows what was noted as the lines `@trace` that other machines send (`hal::trace`): of those cores that did something,
    /// until the end of the run, or what was under way when it was cut off.
    pub fn tell_notes(&mut self, is_cut_off: bool, show: &mut dyn FnMut(&str)) {
        let Notes { limit, says_at, mut cores } = std::mem::take(&mut self.mesh.notes);
        let geometry = self.board().geometry;
        for (core, notes) in cores.iter_mut().enumerate() {
            if notes.open.is_empty() && notes.records.is_empty() {
                continue;
            }
            let now = self.cores[core].clock + self.skipped;
            let awaited = if is_cut_off && says_at.is_none() { notes.awaited(now) } else { None };
            if says_at.is_none() && awaited.is_none() {
                notes.end_wait(limit, core, now);
            }
            let mut tell = |line: &dyn std::fmt::Display| show(&format!("@trace {core} {line}"));
            let [column, row] = self.board().place_of(self.board().tile_of(core).0);
            let moments_per_second = u64::from(geometry.costs.core_mhz) * 1_000_000;
            tell(&Line::<&str>::Clock { moments_per_second, lost: notes.lost });
            tell(&Line::<&str>::Tile { column, row, cores: geometry.cores_per_tile });
            notes.records.iter().for_each(|record| tell(record));
            for (depth, Open { begin, kind, peer, bytes, name }) in (0..).zip(&notes.open) {
                let (begin, kind, peer, bytes) = (*begin, *kind, *peer, *bytes);
                if is_cut_off || says_at.is_some() {
                    tell(&Line::UnderWay { depth, begin, peer, bytes, kind, name });
                } else {
                    let end = now.max(notes.end);
                    tell(&Line::Operation { depth, begin, end, of_hardware: false, peer, bytes, name });
                }
            }
            if let Some((spot, begin)) = awaited {
                let ([.., name], peer) = (spot.names(), spot.peer(core));
                tell(&Line::UnderWay { depth: 1, begin, peer, bytes: 0, kind: Kind::Wait, name });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use descriptions::boards::Board as Described;

    fn told(act: impl Fn(&mut Notes, &Board), is_cut_off: bool) -> Vec<String> {
        told_by(None, act, is_cut_off)
    }

    fn told_by(says_at: Option<u32>, act: impl Fn(&mut Notes, &Board), is_cut_off: bool) -> Vec<String> {
        let board = Board::of(Described::built_in("scc").unwrap().mesh().unwrap());
        let mut chip = Chip::new(&board);
        chip.note(1 << 16, says_at);
        act(&mut chip.mesh.notes, &board);
        let mut lines = Vec::new();
        chip.tell_notes(is_cut_off, &mut |line| lines.push(line.to_owned()));
        lines
    }

    const PLACE: System = System::Mpb { tile: 1, offset: 8192 + 64 };

    #[test]
    fn who_looks_no_more_waits_no_more() {
        let looks = |notes: &mut Notes, board: &Board| {
            for at in [100, 110] {
                notes.lasts(5, Some(at), at + 5);
                notes.loaded(board, 5, PLACE, &[1; 32]);
            }
        };
        let computes = |notes: &mut Notes, board: &Board| {
            looks(notes, board);
            notes.lasts(5, Some(1_000_000), 1_000_005);
            notes.stored(board, 5, PLACE, u32::MAX, 1_000_005);
        };
        let wait = "@trace 5 w 1 105 115 3 1 ok MPB".to_owned();
        assert!(told(computes, false).contains(&wait));
        let asks_again_late = |notes: &mut Notes, board: &Board| {
            looks(notes, board);
            notes.lasts(5, Some(1_000_000), 1_000_005);
            notes.loaded(board, 5, PLACE, &[2; 32]);
        };
        assert!(told(asks_again_late, true).contains(&wait));
    }

    #[test]
    fn a_line_that_stays_is_waited_for_until_it_changes() {
        let polls = |notes: &mut Notes, board: &Board| {
            for (at, byte) in [(100, 1), (110, 1), (120, 1), (130, 2)] {
                notes.lasts(5, Some(at), at + 5);
                notes.loaded(board, 5, PLACE, &[byte; 32]);
            }
        };
        let expected = [
            "@trace 5 c 533000000 0",
            "@trace 5 l 2 0 2",
            "@trace 5 h 1 100 105 3 32 MPB get",
            "@trace 5 p 302 ffffffff MPB line 2 of core 3",
            "@trace 5 w 1 105 135 3 2 ok MPB",
            "@trace 5 h 1 130 135 3 32 MPB get",
            "@trace 5 s 0 100 135 - 0 start and program",
        ];
        assert_eq!(told(polls, false), expected);
        let in_vain = |notes: &mut Notes, board: &Board| {
            for at in [100, 110] {
                notes.lasts(3, Some(at), at + 5);
                notes.loaded(board, 3, PLACE, &[0; 4]);
            }
        };
        let cut_off = told(in_vain, true);
        assert_eq!(
            cut_off[2..],
            [
                "@trace 3 h 1 100 105 - 4 MPB get",
                "@trace 3 o 0 100 - 0 s start and program",
                "@trace 3 o 1 105 - 0 w MPB"
            ]
        );
    }

    #[test]
    fn neighbouring_lines_are_one_operation() {
        let puts = |notes: &mut Notes, board: &Board| {
            for index in 0..3 {
                let at = 100 + 10 * u64::from(index);
                notes.lasts(0, Some(at), at + 2);
                notes.stored(board, 0, System::Mpb { tile: 1, offset: 64 + 32 * index }, u32::MAX, at + 5);
            }
            notes.lasts(0, Some(200), 201);
            notes.freed(0, 7, 204);
        };
        assert_eq!(
            told(puts, false)[2..],
            [
                "@trace 0 h 1 100 125 2 96 MPB put",
                "@trace 0 t 202 3 ffffffff 100 125",
                "@trace 0 h 1 200 204 7 0 release",
                "@trace 0 t 4000000000000007 1 ffffffff 200 204",
                "@trace 0 s 0 100 201 - 0 start and program"
            ]
        );
    }

    #[test]
    fn the_oldest_is_lost_and_counted() {
        let many = |notes: &mut Notes, board: &Board| {
            for at in 0..5000 {
                notes.lasts(1, Some(at), at);
                notes.stored(board, 1, PLACE, 1, at);
            }
        };
        let told = told(many, false);
        let kept = (1 << 16) / size_of::<Record>();
        assert_eq!(told[0], format!("@trace 1 c 533000000 {}", 10_000 - kept));
        assert_eq!(told.len(), kept + 3);
    }

    /// What core 5 says at a moment.
    fn says(notes: &mut Notes, at: u64, what: u32, name: &str, number: Option<u32>) {
        let (limit, has_number) = (notes.limit, number.is_some().into());
        let announced = Announced { what, name: 0, name_bytes: 0, peer: 3, number: number.unwrap_or(0), has_number };
        notes.cores[5].announced(limit, &announced, name, at);
    }

    #[test]
    fn what_a_core_says_is_no_guess() {
        let act = |notes: &mut Notes, board: &Board| {
            let looks = |notes: &mut Notes, at: u64, byte: u8| {
                notes.lasts(5, Some(at), at + 5);
                notes.loaded(board, 5, PLACE, &[byte; 32]);
            };
            // Before it says anything.
            looks(notes, 10, 1);
            says(notes, 90, Announced::BEGINS, "receive", Some(64));
            notes.printed(5, "@phase of rank 0", 92);
            says(notes, 95, Announced::PHASE, "halos", None);
            looks(notes, 100, 1);
            says(notes, 110, Announced::WAITS, "chunk", Some(7));
            // It finds something else each time, and waits all the same.
            for at in [120, 130, 140] {
                looks(notes, at, at as u8);
            }
            says(notes, 150, Announced::HAS_WAITED, "chunk", Some(7));
            notes.lasts(5, Some(160), 162);
            notes.stored(board, 5, PLACE, u32::MAX, 165);
            // It goes on before others have seen that.
            says(notes, 163, Announced::ENDS, "", None);
            says(notes, 170, Announced::WAITS, "an answer", None);
            looks(notes, 175, 1);
            says(notes, 180, Announced::IS_LATE, "an answer", None);
            // What has begun before anybody listened.
            says(notes, 190, Announced::ENDS, "", None);
            says(notes, 200, Announced::BEGINS, "send", Some(8));
        };
        let told = told_by(Some(0x1000), act, true);
        assert_eq!(
            told[2..],
            [
                "@trace 5 m 95 halos",
                "@trace 5 h 1 100 105 3 32 MPB get",
                "@trace 5 p 302 ffffffff MPB line 2 of core 3",
                "@trace 5 w 1 110 150 3 2 ok chunk 7",
                "@trace 5 h 1 160 165 3 32 MPB put",
                "@trace 5 t 302 1 ffffffff 160 165",
                "@trace 5 s 0 90 165 3 64 receive",
                "@trace 5 p 302 ffffffff MPB line 2 of core 3",
                "@trace 5 w 0 170 180 3 0 late an answer",
                "@trace 5 o 0 200 3 8 s send",
            ]
        );
    }

    #[test]
    fn printed_phases_are_as_long_as_others() {
        let prints = |notes: &mut Notes, _: &Board| {
            notes.lasts(0, Some(7), 7);
            notes.printed(0, "@phase a name of forty letters, the last of \u{e9}\u{e9}\u{e9}", 7);
            notes.printed(0, "phase of nothing", 8);
        };
        assert_eq!(
            told(prints, true)[2..],
            ["@trace 0 m 7 a name of forty letters, the las", "@trace 0 o 0 7 - 0 s start and program"]
        );
    }
}
