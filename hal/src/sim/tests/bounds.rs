//! Names that lead nowhere: whoever makes one reaches nothing by it.

use std::cell::RefCell;

use super::*;
use crate::{
    Cached, ClaimError, Combined, Mpb, Regions, Topology, Uncached,
    conformance::{FORBIDDEN, Room, forbidden_access},
};

/// There are more addresses than the machine has memory.
#[test]
fn memory_that_the_machine_has_not_is_refused() {
    for coherent in [false, true] {
        let machine = Machine::scc(2).with_options(Options { coherent, ..Options::default() });
        let start = SharedAddress::new(machine.layout().controllers(), 0);
        let claimed = machine.run(|core| core.claim::<u32>(Region::new(start, 64), 16).map(drop)).unwrap();
        assert_eq!(claimed.results(), [Err(ClaimError::NoSuchMemory { start }); 2]);
        let accesses: [fn(&SimCore, SharedAddress); 3] = [
            |core, start| core.write(Region::new(start, 64), 0, &[1; 32]),
            |core, start| core.read(Region::new(start, 64), 0, &mut [0; 4]),
            |core, start| _ = core.load_word(Region::new(start, 64), 0),
        ];
        for access in accesses {
            assert!(machine.run(|core| access(core, start)).is_err());
        }
    }
}

#[test]
fn lines_that_no_mpb_has_are_refused() {
    let beyond = MpbLine { line: 300, ..line(0, 1) };
    let failed = Machine::scc(2).run(|core| core.load_line(beyond)).unwrap_err().to_string();
    assert!(failed.contains("MPB line 300 of core 0 does not exist"), "{failed}");
}

#[test]
fn accesses_that_have_no_place_are_refused() {
    for (coherent, number) in [false, true].into_iter().flat_map(|coherent| (0..FORBIDDEN).map(move |n| (coherent, n)))
    {
        let machine = Machine::scc(2).with_options(Options { coherent, ..Options::default() });
        let outcome = machine.run(|core| {
            let mut caches = core.take_caches().unwrap();
            // SAFETY: nothing else uses this machine.
            let regions = unsafe { Regions::new(core.layout().controllers()) };
            let room = Room::of_all(&regions, 2);
            (core.core().index() == 0).then(|| {
                let attempt = forbidden_access(core, &mut caches, &regions, &room, number);
                attempt.expect("each of them can be made here").make().to_string()
            })
        });
        let failed = outcome.map(|outcome| outcome.results().remove(0)).unwrap_err().to_string();
        assert!(failed.contains("core 0 panicked") && failed.contains(refusal(number)), "{number}: {failed}");
    }
}

/// What a refusal of the access with this number says.
fn refusal(number: usize) -> &'static str {
    match number {
        0..=2 | 27..=29 => " does not exist",
        3 | 4 => "no MPB has that line",
        5 => "is the drain target",
        6 => "a store stays within a line",
        7..=10 => " of a region of ",
        11..=14 => "shared memory 0x0 behind controller 4 does not exist",
        15..=18 => " is not mapped on core 0",
        19..=26 => " is not exposed",
        _ => "atomic counter 96 of a machine that has 96",
    }
}

/// A core may itself run a machine, whose cores have the same numbers.
#[test]
fn caches_of_another_machine_are_refused() {
    let outcome = Machine::scc(1).run(|outer| {
        let caches = RefCell::new(outer.take_caches().unwrap());
        let inner = Machine::scc(1).run(|inner| {
            assert_eq!(inner.core(), outer.core());
            inner.end_slices(&mut caches.borrow_mut());
        });
        outer.end_slices(&mut caches.borrow_mut());
        inner.unwrap_err().to_string()
    });
    let said = outcome.unwrap().results().remove(0);
    assert!(said.contains("the caches of core 0 are those of another machine's"), "{said}");
}
