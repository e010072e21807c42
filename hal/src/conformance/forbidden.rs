//! Accesses that a machine has to refuse, by a panic.

use alloc::{format, string::String, vec};

use crate::{Caches, Core, CoreId, LINE_BYTES, Lines, MpbLine, Region, Regions, SharedAddress, kind};

use super::{Defect, Room};

/// How many [forbidden accesses](access_forbidden) there are.
pub const FORBIDDEN: usize = 22;

/// Makes one of [`FORBIDDEN`] accesses that have no place, by its number from 0 on. On a machine that is right it panics.
///
/// Each takes a run of its own, on one core, while the others do nothing, or `catch_unwind` where the host has that: what became of
/// the core is for nobody to rely on. Nothing has to be exposed.
///
/// # Panics
/// On a machine that is right, and if there is no access of that number.
pub fn access_forbidden<C: Core>(
    core: &C,
    caches: &mut Caches,
    regions: &Regions,
    room: &Room,
    number: usize,
) -> Defect {
    let (me, layout) = (core.core(), core.layout());
    let nobody = CoreId::new(layout.cores());
    let other = CoreId::new((me.index() + 1) % layout.cores());
    let last = core.mpb_lines() - 1;
    let lines: Region<kind::Combined> = room.memory.mapped().lines_around(0, 2 * LINE_BYTES);
    let words: Region<kind::Uncached> = lines.mapped();
    let beyond: Region<kind::Combined> = Region::new(SharedAddress::new(layout.controllers(), 0), LINE_BYTES);
    let foreign: Region<kind::Combined> = regions.region(SharedAddress::exposed(other, 0), LINE_BYTES);
    let (mut word, mut two_lines) = ([0; 4], vec![0; 2 * LINE_BYTES]);
    // What is not mapped cannot be reached, and neither can what is mapped and not exposed.
    let map = || _ = core.map(foreign);
    let mut concealed = || {
        let exposure = core.expose(caches, Lines::<u32>::zeroed(LINE_BYTES / 4)).ok();
        let region = exposure.map(|exposure| (exposure.region(), exposure.end(caches)));
        region.expect("a line can be exposed").0
    };
    let what: String = match number {
        0 => {
            core.load_line(MpbLine::new(nobody, 1));
            format!("a load of a line of the MPB of {nobody}")
        }
        1 => {
            core.store(MpbLine::new(nobody, 1), 0, &[1]);
            core.drain();
            format!("a store to a line of the MPB of {nobody}")
        }
        2 => {
            core.load_line(MpbLine::new(me, last).plus(1));
            format!("a load of line {} of an MPB", last + 1)
        }
        3 => {
            core.put(&two_lines, MpbLine::new(me, last));
            core.drain();
            format!("a put of two lines to line {last} of an MPB, its last")
        }
        4 => {
            core.get(MpbLine::new(me, last), &mut two_lines);
            format!("a get of two lines from line {last} of an MPB, its last")
        }
        5 => {
            core.store(MpbLine::new(me, 0), 0, &[1]);
            "a store to line 0 of an MPB, the target of drains".into()
        }
        6 => {
            core.store(MpbLine::new(me, room.first_line), LINE_BYTES - 2, &[1; 4]);
            "a store beyond the end of a line".into()
        }
        7 => {
            core.read(lines, 2 * LINE_BYTES - 2, &mut word);
            "a read of combined memory beyond the end of its region".into()
        }
        8 => {
            core.write(lines, 2 * LINE_BYTES - 2, &word);
            "a write of combined memory beyond the end of its region".into()
        }
        9 => {
            core.load_word(words, 2 * LINE_BYTES / 4);
            "a load of a word beyond the end of its region".into()
        }
        10 => {
            core.store_word(words, 2 * LINE_BYTES / 4, 0);
            "a store of a word beyond the end of its region".into()
        }
        11 => {
            core.read(beyond, 0, &mut word);
            format!("a read of combined memory behind controller {}", layout.controllers())
        }
        12 => {
            core.load_word(beyond.mapped(), 0);
            format!("a load of a word behind controller {}", layout.controllers())
        }
        13 => {
            core.read(foreign, 0, &mut word);
            format!("a read of memory of {other} that is not mapped")
        }
        14 => {
            core.load_word(foreign.mapped(), 0);
            format!("a load of a word of {other} that is not mapped")
        }
        15 => {
            map();
            core.read(foreign, 0, &mut word);
            format!("a read of memory of {other} that is not exposed")
        }
        16 => {
            map();
            core.load_word(foreign.mapped(), 0);
            format!("a load of a word of {other} that is not exposed")
        }
        17 => {
            let region = concealed().mapped();
            core.read(region, 0, &mut word);
            "a read of memory of its own that is not exposed any more".into()
        }
        18 => {
            let region = concealed().mapped();
            core.load_word(region, 0);
            "a load of a word of its own that is not exposed any more".into()
        }
        19 => {
            core.try_acquire_register(nobody);
            format!("a read of the register of {nobody}")
        }
        20 => {
            core.free_register(nobody);
            format!("a write of the register of {nobody}")
        }
        21 => {
            core.read_counter(layout.atomic_counters());
            format!("a read of atomic counter {}", layout.atomic_counters())
        }
        _ => panic!("forbidden accesses have numbers below {FORBIDDEN}"),
    };
    Defect(format!("core {}: refusals: {what} has to panic", me.index()))
}
