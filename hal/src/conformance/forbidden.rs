//! Accesses that a machine has to refuse, by a panic.

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString},
};

use crate::{
    Caches, Core, CoreId, LINE_BYTES, Lines, MpbLine, Region, Regions, SharedAddress, address::MAX_CONTROLLERS, kind,
};

use super::{Defect, Room};

/// How many [forbidden accesses](forbidden_access) there are.
pub const FORBIDDEN: usize = COUNTER + 1;

/// The first access to memory: [`KINDS`] kinds of accesses are made to each of [`PLACES`] places that are not there for the core.
const FIRST_OF_MEMORY: usize = 11;
const KINDS: usize = 4;
const PLACES: usize = 4;

/// What comes behind them.
const REGISTER_READ: usize = FIRST_OF_MEMORY + KINDS * PLACES;
const REGISTER_WRITE: usize = REGISTER_READ + 1;
const INTERRUPT: usize = REGISTER_WRITE + 1;
const COUNTER: usize = INTERRUPT + 1;

/// An access that a machine has to refuse, prepared.
pub struct Attempt<'c> {
    what: String,
    core: CoreId,
    access: Box<dyn FnOnce() + 'c>,
}

impl Attempt<'_> {
    /// Makes the access. Whoever catches the panic looks at its message, too: it is to be the machine's, about this place.
    ///
    /// # Panics
    /// On a machine that is right.
    pub fn make(self) -> Defect {
        (self.access)();
        Defect(format!("core {}: refusals: {} has to panic", self.core.index(), self.what))
    }

    /// What is accessed.
    pub fn what(&self) -> &str {
        &self.what
    }
}

/// Prepares one of [`FORBIDDEN`] accesses that have no place, by its number from 0 on. All that is made in [`Attempt::make`] is the
/// access: on a machine that is right it panics.
///
/// Each takes a run of its own, on one core, while the others do nothing, or `catch_unwind` around `make` where the host has that:
/// what became of the core is for nobody to rely on. Nothing has to be exposed. Of the machines here, the simulator and the host's
/// threads are tried by all of them; QEMU's cores are the same emulated ones, and the SCC's are not tried, where each would be a boot.
///
/// # Errors
/// Why this machine has no such access.
///
/// # Panics
/// If there is no access of that number.
pub fn forbidden_access<'c, C: Core>(
    core: &'c C,
    caches: &mut Caches,
    regions: &Regions,
    room: &Room,
    number: usize,
) -> Result<Attempt<'c>, String> {
    let (me, layout) = (core.core(), core.layout());
    let (nobody, last) = (CoreId::new(layout.cores()), core.mpb_lines() - 1);
    let lines: Region<kind::Combined> = room.memory.mapped().lines_around(0, 2 * LINE_BYTES);
    let words: Region<kind::Uncached> = lines.mapped();
    let first_line = room.first_line;
    let (what, access): (String, Box<dyn FnOnce() + 'c>) = match number {
        0 => (
            format!("a load of a line of the MPB of {nobody}"),
            Box::new(move || _ = core.load_line(MpbLine::new(nobody, 1))),
        ),
        1 => (
            format!("a store to a line of the MPB of {nobody}"),
            Box::new(move || {
                core.store(MpbLine::new(nobody, 1), 0, &[1]);
                core.drain();
            }),
        ),
        2 => {
            let beyond = MpbLine { core: me, line: last as u16 + 1 };
            (format!("a load of line {} of an MPB", last + 1), Box::new(move || _ = core.load_line(beyond)))
        }
        3 => (
            format!("a put of two lines to line {last} of an MPB, its last"),
            Box::new(move || {
                core.put(&[0; 2 * LINE_BYTES], MpbLine::new(me, last));
                core.drain();
            }),
        ),
        4 => (
            format!("a get of two lines from line {last} of an MPB, its last"),
            Box::new(move || core.get(MpbLine::new(me, last), &mut [0; 2 * LINE_BYTES])),
        ),
        5 => (
            "a store to line 0 of an MPB, the target of drains".to_string(),
            Box::new(move || core.store(MpbLine::new(me, 0), 0, &[1])),
        ),
        6 => (
            "a store beyond the end of a line".to_string(),
            Box::new(move || core.store(MpbLine::new(me, first_line), LINE_BYTES - 2, &[1; 4])),
        ),
        7 => (
            "a read of combined memory beyond the end of its region".to_string(),
            Box::new(move || core.read(lines, 2 * LINE_BYTES - 2, &mut [0; 4])),
        ),
        8 => (
            "a write of combined memory beyond the end of its region".to_string(),
            Box::new(move || core.write(lines, 2 * LINE_BYTES - 2, &[0; 4])),
        ),
        9 => (
            "a load of a word beyond the end of its region".to_string(),
            Box::new(move || _ = core.load_word(words, 2 * LINE_BYTES / 4)),
        ),
        10 => (
            "a store of a word beyond the end of its region".to_string(),
            Box::new(move || core.store_word(words, 2 * LINE_BYTES / 4, 0)),
        ),
        FIRST_OF_MEMORY..REGISTER_READ => {
            let (place, access) = ((number - FIRST_OF_MEMORY) / KINDS, (number - FIRST_OF_MEMORY) % KINDS);
            let (region, whose) = absent(core, caches, regions, place)?;
            let (verb, access): (_, Box<dyn FnOnce() + 'c>) = match access {
                0 => ("a read of memory", Box::new(move || core.read(region, 0, &mut [0; 4]))),
                1 => (
                    "a write of memory",
                    Box::new(move || {
                        core.write(region, 0, &[0; 4]);
                        core.drain();
                    }),
                ),
                2 => ("a load of a word", Box::new(move || _ = core.load_word(region.mapped(), 0))),
                _ => ("a store of a word", Box::new(move || core.store_word(region.mapped(), 0, 0))),
            };
            (format!("{verb} {whose}"), access)
        }
        REGISTER_READ => {
            (format!("a read of the register of {nobody}"), Box::new(move || _ = core.try_acquire_register(nobody)))
        }
        REGISTER_WRITE => {
            (format!("a write of the register of {nobody}"), Box::new(move || core.free_register(nobody)))
        }
        INTERRUPT => (format!("an interrupt of {nobody}"), Box::new(move || core.raise_interrupt(nobody))),
        COUNTER => {
            let counter = layout.atomic_counters();
            (format!("a read of atomic counter {counter}"), Box::new(move || _ = core.read_counter(counter)))
        }
        _ => panic!("forbidden accesses have numbers below {FORBIDDEN}"),
    };
    Ok(Attempt { what, core: me, access })
}

/// A region that is not there for the core, and whose it is.
fn absent<C: Core>(
    core: &C,
    caches: &mut Caches,
    regions: &Regions,
    place: usize,
) -> Result<(Region<kind::Combined>, String), String> {
    let (layout, controllers) = (core.layout(), core.layout().controllers());
    let other = CoreId::new((core.core().index() + 1) % layout.cores());
    if place == 0 {
        return if controllers == MAX_CONTROLLERS {
            Err(format!("there is no address behind controller {controllers}, since there are as many as can be named"))
        } else {
            Ok((
                Region::new(SharedAddress::new(controllers, 0), LINE_BYTES),
                format!("behind controller {controllers}"),
            ))
        };
    }
    if place == 3 {
        let exposure = core.expose(caches, Lines::<u32>::zeroed(LINE_BYTES / 4));
        let exposure = exposure.map_err(|refused| format!("nothing can be exposed: {}", refused.error))?;
        let region = exposure.region().mapped();
        exposure.end(caches);
        return Ok((region, "of its own that is not exposed any more".to_string()));
    }
    if other == core.core() {
        return Err("there is no other core".to_string());
    }
    let foreign = regions.region(SharedAddress::exposed(other, 0), LINE_BYTES);
    if place == 1 {
        // What is not mapped cannot be reached, …
        return Ok((foreign, format!("of {other} that is not mapped")));
    }
    // … and neither can what is mapped and not exposed.
    if core.mapped_slots() == 0 {
        return Err("nothing can be mapped".to_string());
    }
    core.map(foreign).map_err(|refused| format!("nothing can be mapped: {refused}"))?;
    Ok((foreign, format!("of {other} that is not exposed")))
}
