//! What cores did with what they share, noted for a timeline: a board's image says nothing of itself, so this is what its
//! accesses look like from outside.
//!
//! Neighbouring lines that are loaded or stored one after the other are one operation. A line that is loaded again and
//! again without having changed is waited for, until it is another one or the core does something else.

use std::{collections::VecDeque, fmt};

use super::{Chip, System, cache::LINE_BYTES};
use crate::Board;

/// Cycles after which a core that looks at a line again does not wait for it.
const POLL_CYCLES: u64 = 20_000;

/// Cycles between two lines that are still one operation.
const GAP_CYCLES: u64 = 500;

/// Lines that a core may wait for at the same time.
const LOOKED: usize = 8;

/// What is noted that a core loads or stores: bytes of MPBs and of memory that it does not cache, test-and-set registers, and
/// interrupts. Accesses to cached pages are not noted. The numbers are those that `hal` has for the same places of MPBs and registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spot {
    Line { owner: u32, line: u32 },
    Memory { controller: u32, line: u32 },
    Register(u32),
    Interrupt(u32),
}

impl Spot {
    /// Where a byte is. Only memory and MPBs have names.
    fn of(board: &Board, place: System) -> Option<Self> {
        let geometry = &board.geometry;
        match place {
            System::Mpb { tile, offset } => {
                let owner = tile as u32 * geometry.cores_per_tile + offset / geometry.mpb_bytes;
                Some(Self::Line { owner, line: offset % geometry.mpb_bytes / LINE_BYTES as u32 })
            }
            System::Memory { controller, address } => {
                Some(Self::Memory { controller: controller as u32, line: (address / LINE_BYTES as u64) as u32 })
            }
            System::Registers { .. } | System::Board { .. } => None,
        }
    }

    fn key(self) -> u64 {
        match self {
            Self::Line { owner, line } => u64::from(owner) << 8 | u64::from(line),
            Self::Memory { controller, line } => 1 << 63 | u64::from(controller) << 32 | u64::from(line),
            Self::Register(core) => 1 << 62 | u64::from(core),
            Self::Interrupt(core) => 1 << 60 | u64::from(core),
        }
    }

    /// The core whose it is, unless that is `core` itself.
    fn peer(self, core: usize) -> Option<u32> {
        match self {
            Self::Line { owner, .. } | Self::Register(owner) | Self::Interrupt(owner) => {
                Some(owner).filter(|owner| *owner as usize != core)
            }
            Self::Memory { .. } => None,
        }
    }

    /// What loads and stores of it are called, and waits for it.
    const fn names(self) -> [&'static str; 3] {
        match self {
            Self::Line { .. } => ["MPB get", "MPB put", "MPB"],
            Self::Memory { .. } => ["memory read", "memory write", "shared memory"],
            Self::Register(_) => ["test-and-set", "release", "test-and-set register"],
            Self::Interrupt(_) => ["interrupt", "interrupt", "interrupt"],
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { owner, line } => write!(out, "MPB line {line} of core {owner}"),
            Self::Memory { controller, line } => {
                write!(out, "line at {:#x} behind controller {controller}", u64::from(*line) * LINE_BYTES as u64)
            }
            Self::Register(core) => write!(out, "test-and-set register of core {core}"),
            Self::Interrupt(core) => write!(out, "interrupt of core {core}"),
        }
    }
}

/// Bytes of a line, a bit for each.
pub(super) fn mask(address: u64, len: usize) -> u32 {
    (((1_u64 << len) - 1) << (address % LINE_BYTES as u64)) as u32
}

enum Record {
    Span { begin: u64, end: u64, peer: Option<u32>, bytes: u64, name: &'static str, next: u64 },
    Place { spot: Spot, mask: u32 },
    Wait { begin: u64, end: u64, peer: Option<u32>, polls: u64, what: &'static str },
    Store { first: u64, count: u32, mask: u32, begin: u64, visible: u64 },
    Phase { at: u64, name: Box<str> },
}

struct Peer(Option<u32>);

impl fmt::Display for Peer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(core) => core.fmt(out),
            None => out.write_str("-"),
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Span { begin, end, peer, bytes, name, .. } => {
                write!(out, "h 1 {begin} {end} {} {bytes} {name}", Peer(*peer))
            }
            Self::Place { spot, mask } => write!(out, "p {:x} {mask:x} {spot}", spot.key()),
            Self::Wait { begin, end, peer, polls, what } => {
                write!(out, "w 1 {begin} {end} {} {polls} ok {what}", Peer(*peer))
            }
            Self::Store { first, count, mask, begin, visible } => {
                write!(out, "t {first:x} {count} {mask:x} {begin} {visible}")
            }
            Self::Phase { at, name } => write!(out, "m {at} {name}"),
        }
    }
}

/// A line that a core has loaded, and what it found there.
struct Look {
    spot: Spot,
    mask: u32,
    value: u64,
    end: u64,
}

#[derive(Default)]
struct OfCore {
    records: VecDeque<Record>,
    lost: u64,
    /// When it did the first of all.
    first: Option<u64>,
    /// From when on, and until when its access lasts.
    begin: u64,
    end: u64,
    looked: Vec<Look>,
    /// Polls in vain, and since when.
    polls: u64,
    waits_since: u64,
}

impl OfCore {
    fn push(&mut self, limit: usize, record: Record) {
        self.records.push_back(record);
        while self.records.len() > limit {
            // A wait goes with its places.
            while self.records.pop_front().is_some_and(|oldest| matches!(oldest, Record::Place { .. })) {}
            self.lost += 1;
        }
    }

    /// It waits no more, if it did.
    fn end_wait(&mut self, limit: usize, core: usize, end: u64) {
        let looked = std::mem::take(&mut self.looked);
        let polls = std::mem::take(&mut self.polls);
        let Some(last) = looked.last().filter(|_| polls > 0) else { return };
        // Whoever has not looked for long did something else.
        let end = if end.saturating_sub(last.end) < POLL_CYCLES { end } else { last.end };
        let [.., what] = last.spot.names();
        let wait = Record::Wait { begin: self.waits_since, end, peer: last.spot.peer(core), polls, what };
        looked.iter().for_each(|look| self.push(limit, Record::Place { spot: look.spot, mask: look.mask }));
        self.push(limit, wait);
    }

    /// An operation, which goes on with the last one if its place is the next.
    fn did(&mut self, limit: usize, core: usize, spot: Spot, name: &'static str, bytes: u64, end: u64) {
        let (key, from, is_line) = (spot.key(), self.begin, bytes == LINE_BYTES as u64);
        let last = match self.records.back() {
            Some(Record::Store { .. }) => self.records.len().checked_sub(2),
            _ => self.records.len().checked_sub(1),
        };
        if let Some(Record::Span { end: last, bytes: all, name: before, next, .. }) =
            last.and_then(|last| self.records.get_mut(last))
            && (*before, *next) == (name, key)
            && is_line
            && from.saturating_sub(*last) < GAP_CYCLES
        {
            (*last, *all, *next) = (end, *all + bytes, key + 1);
            return;
        }
        let peer = spot.peer(core);
        self.push(limit, Record::Span { begin: from, end, peer, bytes, name, next: key + u64::from(is_line) });
    }
}

/// What all cores did, if anybody wants to know.
#[derive(Default)]
pub(super) struct Notes {
    /// Records of a core that are kept.
    limit: usize,
    cores: Vec<OfCore>,
}

impl Notes {
    /// The access of a core takes so long.
    #[inline]
    pub(super) fn lasts(&mut self, core: usize, begin: Option<u64>, end: u64) {
        if let Some(notes) = self.cores.get_mut(core) {
            notes.begin = begin.unwrap_or(notes.begin);
            notes.end = end.max(notes.begin);
        }
    }

    /// A core has loaded this from bytes of a line.
    #[inline]
    pub(super) fn loaded(&mut self, board: &Board, core: usize, place: System, bytes: &[u8]) {
        if self.limit > 0
            && let Some(spot) = Spot::of(board, place)
        {
            let mut value = 0xCBF2_9CE4_8422_2325_u64;
            bytes.iter().for_each(|byte| value = (value ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3));
            self.looked(core, spot, mask(address(place), bytes.len()), value, bytes.len());
        }
    }

    /// A core has asked for a test-and-set register of a core.
    pub(super) fn asked(&mut self, core: usize, register: usize, is_free: bool) {
        if self.limit > 0 {
            self.looked(core, Spot::Register(register as u32), u32::MAX, is_free.into(), 0);
        }
    }

    fn looked(&mut self, core: usize, spot: Spot, mask: u32, value: u64, bytes: usize) {
        let (limit, notes) = (self.limit, &mut self.cores[core]);
        let (begin, end) = (notes.begin, notes.end);
        notes.first.get_or_insert(begin);
        let is_full = notes.polls > 0 || notes.looked.len() == LOOKED;
        // The first looks are accesses; a wait begins behind them.
        let since = notes.looked.iter().map(|look| look.end).max().unwrap_or(begin);
        match notes.looked.iter_mut().find(|look| (look.spot, look.mask) == (spot, mask)) {
            Some(look) if begin.saturating_sub(look.end) < POLL_CYCLES && look.value == value => {
                look.end = end;
                if notes.polls == 0 {
                    notes.waits_since = since;
                }
                notes.polls += 1;
                return;
            }
            // What it waited for has come.
            Some(_) => notes.end_wait(limit, core, end),
            None if is_full => notes.end_wait(limit, core, begin),
            None => {}
        }
        notes.looked.push(Look { spot, mask, value, end });
        let [load, ..] = spot.names();
        notes.did(limit, core, spot, load, bytes as u64, end);
    }

    /// A core has stored to bytes of a line, which others see now.
    #[inline]
    pub(super) fn stored(&mut self, board: &Board, core: usize, place: System, mask: u32, now: u64) {
        if self.limit > 0
            && let Some(spot) = Spot::of(board, place)
        {
            self.changed(core, spot, mask, now);
        }
    }

    /// A core has freed the register of one.
    pub(super) fn freed(&mut self, core: usize, register: usize, now: u64) {
        if self.limit > 0 {
            self.changed(core, Spot::Register(register as u32), u32::MAX, now);
        }
    }

    /// A core has told the pins of one something else.
    pub(super) fn interrupted(&mut self, core: usize, other: usize, now: u64) {
        if self.limit > 0 {
            self.changed(core, Spot::Interrupt(other as u32), u32::MAX, now);
        }
    }

    fn changed(&mut self, core: usize, spot: Spot, mask: u32, now: u64) {
        let (limit, notes) = (self.limit, &mut self.cores[core]);
        let begin = notes.begin;
        let visible = now.max(begin);
        notes.first.get_or_insert(begin);
        notes.end_wait(limit, core, begin);
        let [_, store, _] = spot.names();
        let key = spot.key();
        // Registers and pins carry no data.
        let bytes = match spot {
            Spot::Line { .. } | Spot::Memory { .. } => mask.count_ones().into(),
            Spot::Register(_) | Spot::Interrupt(_) => 0,
        };
        notes.did(limit, core, spot, store, bytes, visible);
        if let Some(Record::Store { first, count, mask: u32::MAX, visible: last, .. }) = notes.records.back_mut()
            && mask == u32::MAX
            && *first + u64::from(*count) == key
        {
            (*count, *last) = (*count + 1, visible);
            return;
        }
        notes.push(limit, Record::Store { first: key, count: 1, mask, begin, visible });
    }

    /// A core has printed a line, which may say that a phase of the program begins.
    pub(super) fn printed(&mut self, core: usize, line: &str, now: u64) {
        if let Some(name) = line.strip_prefix("@phase ")
            && self.limit > 0
        {
            self.cores[core].push(self.limit, Record::Phase { at: now, name: name.into() });
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
    /// From now on, what cores do with what they share is noted: the last of it, as far as it fits into so much memory for each.
    pub fn note(&mut self, bytes_per_core: usize) {
        let limit = (bytes_per_core / size_of::<Record>()).max(1);
        let cores = (0..self.board().cores()).map(|_| OfCore::default()).collect();
        self.mesh.notes = Notes { limit, cores };
    }

    /// Shows what was noted as the lines `@trace` that other machines send (`hal::trace`): of those cores that did something,
    /// until the end of the run, or what was under way when it was cut off.
    pub fn tell_notes(&mut self, is_cut_off: bool, show: &mut dyn FnMut(&str)) {
        let Notes { limit, mut cores } = std::mem::take(&mut self.mesh.notes);
        let geometry = self.board().geometry;
        for (core, notes) in cores.iter_mut().enumerate() {
            let Some(first) = notes.first else { continue };
            let (waits_since, last) = (notes.waits_since, self.shown(core));
            let still_looks = |look: &&Look| notes.polls > 0 && last.saturating_sub(look.end) < POLL_CYCLES;
            let awaited = notes.looked.last().filter(|_| is_cut_off).filter(still_looks).map(|look| look.spot);
            if awaited.is_none() {
                notes.end_wait(limit, core, last.max(waits_since));
            }
            let mut tell = |line: &dyn fmt::Display| show(&format!("@trace {core} {line}"));
            let [column, row] = self.board().place_of(self.board().tile_of(core).0);
            tell(&format_args!("c {} {}", u64::from(geometry.costs.core_mhz) * 1_000_000, notes.lost));
            tell(&format_args!("l {column} {row} {}", geometry.cores_per_tile));
            notes.records.iter().for_each(|record| tell(record));
            if is_cut_off {
                tell(&format_args!("o 0 {first} - 0 s program"));
            } else {
                let last = last.max(notes.end);
                tell(&format_args!("s 0 {first} {last} - 0 program"));
            }
            if let Some(spot) = awaited {
                let [.., what] = spot.names();
                tell(&format_args!("o 1 {waits_since} {} 0 w {what}", Peer(spot.peer(core))));
            }
        }
    }

    /// Cycles of a core, as its notes have them.
    fn shown(&self, core: usize) -> u64 {
        self.cores[core].clock + self.skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use descriptions::boards::Board as Described;

    fn told(act: impl Fn(&mut Notes, &Board), is_cut_off: bool) -> Vec<String> {
        let board = Board::of(Described::built_in("scc").unwrap().mesh().unwrap());
        let mut chip = Chip::new(&board);
        chip.note(1 << 16);
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
            "@trace 5 s 0 100 135 - 0 program",
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
            ["@trace 3 h 1 100 105 - 4 MPB get", "@trace 3 o 0 100 - 0 s program", "@trace 3 o 1 105 - 0 w MPB"]
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
                "@trace 0 s 0 100 201 - 0 program"
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
}
