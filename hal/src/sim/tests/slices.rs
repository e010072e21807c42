//! Slices exclude what Rust says that nobody else does to them, wherever several cores reach the same bytes.

use std::cell::Cell;

use super::*;
use crate::{
    Cached, Caches, Combined, Counted, Expose, Interrupt, LINE_BYTES, Lines, LocalView, Mpb, MpbCoherence, Pod,
    Topology, Uncached, emulated::FetchUnit,
};

/// Two cores of one coherence domain, fetching by lines and by pages; and of a machine that is coherent.
fn machines() -> Vec<(&'static str, Machine)> {
    let options = |fetch_unit, coherent| Options { fetch_unit, coherent, cache_frames: 4, ..Options::default() };
    let domain = || Machine::new(Description::parse("scc+domains=1").unwrap()).with_cores(3);
    vec![
        ("by lines", domain().with_options(options(FetchUnit::Line, false))),
        ("by pages", domain().with_options(options(FetchUnit::Page, false))),
        ("coherent", Machine::scc(3).with_options(options(FetchUnit::Line, true))),
    ]
}

fn slice_of<'s, T: Pod>(view: &'s LocalView<'_, T>, caches: &'s Caches) -> &'s [T] {
    // SAFETY: whoever would change what it looks at is refused before, as these tests show.
    unsafe { view.as_slice(caches) }
}

fn mut_slice_of<'s, T: Pod>(view: &'s mut LocalView<'_, T>, caches: &'s Caches) -> &'s mut [T] {
    // SAFETY: whoever would look at it or change it is refused before, as these tests show.
    unsafe { view.as_mut_slice(caches) }
}

/// Cores that have caches of their own.
fn plain() -> Machine {
    Machine::scc(3)
}

fn set(core: &SimCore, flag: usize) {
    core.store(line(core.core().index(), flag), 0, &[1]);
    core.drain();
}

fn await_flag(core: &SimCore, of: usize, flag: usize) {
    await_byte(core, line(of, flag), 0, 1);
}

/// What core 0 does with its view before others come, and what core 1 does then; core 0 uses its slice once more. Returns
/// what the machine says.
fn meet(
    machine: &Machine,
    hold: impl Fn(&mut LocalView<'_, u32>, &Caches, &dyn Fn()),
    come: impl Fn(&SimCore),
) -> String {
    let outcome = machine.run(|core| match core.core().index() {
        0 => {
            let caches = core.take_caches().unwrap();
            let mut view = core.claim::<u32>(region(4), 32).unwrap();
            hold(&mut view, &caches, &|| {
                set(core, 1);
                await_flag(core, 1, 2);
            });
        }
        1 => {
            await_flag(core, 0, 1);
            come(core);
            set(core, 2);
        }
        _ => {}
    });
    outcome.map_or_else(|failure| failure.to_string(), |_| String::new())
}

fn mutably(view: &mut LocalView<'_, u32>, caches: &Caches, others: &dyn Fn()) {
    let slice = mut_slice_of(view, caches);
    slice.fill(7);
    others();
    assert!(slice.iter().all(|word| *word == 7));
}

fn shared(view: &mut LocalView<'_, u32>, caches: &Caches, others: &dyn Fn()) {
    let slice = slice_of(view, caches);
    let before = slice.to_vec();
    others();
    assert_eq!(before, slice);
}

type Come = fn(&SimCore);

/// What stores to some of the memory.
const STORES: [(&str, Come); 5] = [
    ("a store to memory by core 1", |core| core.claim::<u32>(region(2), 16).unwrap().store(3, 9)),
    ("a store to memory by core 1", |core| core.claim::<u8>(region(2), 64).unwrap().copy_from(3, &[9; 50])),
    ("a store to memory", |core| {
        core.write(region(4), 50, &[9; 60]);
        core.drain();
    }),
    ("a store to memory", |core| core.store_word(region(4), 20, 9)),
    ("a mutable slice of memory by core 1", |core| {
        let caches = core.take_caches().unwrap();
        mut_slice_of(&mut core.claim::<u16>(region(1), 16).unwrap(), &caches)[0] = 9;
    }),
];

/// Whether an access past all views reaches what slices look at: copies do not change with memory that is not at home in
/// their domain.
fn reaches_slices(machine: &str, what: &str) -> bool {
    machine == "coherent" || what != "a store to memory"
}

/// What loads some of it.
const LOADS: [(&str, Come); 3] = [
    ("a load of memory by core 1", |core| _ = core.claim::<u32>(region(2), 16).unwrap().load(3)),
    ("a load of memory by core 1", |core| core.claim::<u8>(region(2), 64).unwrap().copy_to(3, &mut [0; 50])),
    ("a slice of memory by core 1", |core| {
        let caches = core.take_caches().unwrap();
        assert_eq!(slice_of(&core.claim::<u16>(region(1), 16).unwrap(), &caches)[0], 0);
    }),
];

#[test]
fn mutable_slices_exclude_everything() {
    for (name, machine) in machines() {
        for (what, come) in STORES.into_iter().chain(LOADS) {
            let said = meet(&machine, mutably, come);
            if !reaches_slices(name, what) {
                assert_eq!(said, "", "{name}: {what}");
                continue;
            }
            let expected = format!("slice conflict: {what}");
            assert!(said.contains(&expected) && said.contains("mutable slice of core 0"), "{name}: {what}: {said:?}");
        }
        // Where memory is what a slice looks at, so do loads past all views.
        if name == "coherent" {
            let said = meet(&machine, mutably, |core| core.read(region(4), 0, &mut [0; 8]));
            assert!(said.contains("a load of memory that a mutable slice of core 0 looks at"), "{said:?}");
            let said = meet(&machine, mutably, |core| _ = core.load_word(region(4), 31));
            assert!(said.contains("a load of memory that a mutable slice of core 0 looks at"), "{said:?}");
        }
    }
}

#[test]
fn slices_exclude_stores_and_nothing_else() {
    for (name, machine) in machines() {
        for (what, come) in STORES {
            let said = meet(&machine, shared, come);
            let is_excluded = said.contains(&format!("slice conflict: {what}"));
            assert_eq!(is_excluded, reaches_slices(name, what), "{name}: {what}: {said:?}");
        }
        for (what, come) in LOADS {
            assert_eq!(meet(&machine, shared, come), "", "{name}: {what}");
        }
    }
}

/// A core's own ways past its view are no better than another core's.
#[test]
fn a_core_does_not_get_under_its_own_slice() {
    // Elsewhere such a store does not reach what the slice looks at.
    for (name, machine) in machines().into_iter().filter(|(name, _)| *name == "coherent") {
        let outcome = machine.run(|core| {
            if core.core().index() == 0 {
                let caches = core.take_caches().unwrap();
                let view = core.claim::<u32>(region(4), 32).unwrap();
                let slice = slice_of(&view, &caches);
                core.store_word(region(4), 20, 9);
                assert_eq!(slice[20], 0);
            }
        });
        let said = outcome.map_or_else(|failure| failure.to_string(), |_| String::new());
        assert!(said.contains("slice conflict: a store to memory that a slice of core 0 looks at"), "{name}: {said:?}");
    }
}

/// A slice that is gone is in nobody's way: after a coherence point of its core, of whatever region, or when its view
/// shows it.
#[test]
fn slices_end() {
    let ends: [fn(&SimCore, LocalView<'_, u32>, &mut Caches); 5] = [
        |core, _, caches| core.end_slices(caches),
        |core, _, caches| core.write_back_invalidate(caches, Region::new(SharedAddress::new(3, 0), LINE_BYTES)),
        |core, _, caches| core.write_back_invalidate_all(caches),
        |core, _, caches| _ = core.expose(caches, Lines::<u32>::zeroed(8)).unwrap(),
        |_, view, _| drop(view),
    ];
    for (name, machine) in machines() {
        for (index, end) in ends.into_iter().enumerate() {
            let outcome = machine.run(|core| match core.core().index() {
                0 => {
                    let mut caches = core.take_caches().unwrap();
                    let mut view = core.claim::<u32>(region(4), 32).unwrap();
                    mut_slice_of(&mut view, &caches).fill(1);
                    end(core, view, &mut caches);
                    set(core, 1);
                }
                1 => {
                    await_flag(core, 0, 1);
                    core.claim::<u32>(region(4), 32).unwrap().store(0, 2);
                }
                _ => {}
            });
            assert!(outcome.is_ok(), "{name}, {index}: {}", outcome.err().unwrap());
        }
        // A mutable slice that gave way to loads, and views without slices that overlap.
        let said = meet(
            &machine,
            |view, _, others| {
                view.store(0, 5);
                others();
                assert_eq!(view.load(0), 6);
            },
            |core| core.claim::<u32>(region(1), 8).unwrap().store(0, 6),
        );
        assert_eq!(said, "", "{name}");
        let handed_on = |view: &mut LocalView<'_, u32>, caches: &Caches, others: &dyn Fn()| {
            mut_slice_of(view, caches).fill(7);
            assert_eq!(view.load(3), 7);
            others();
        };
        let load: Come = |core| assert_eq!(core.claim::<u32>(region(1), 8).unwrap().load(0), 7);
        assert_eq!(meet(&machine, handed_on, load), "", "{name}");
    }
}

/// What a core does with memory while it unwinds, or is unwound, has no effect: nothing changes under a slice then.
#[test]
fn an_unwinding_core_does_not_get_under_a_slice() {
    struct Late<'c>(&'c SimCore, LocalView<'c, u32>, Caches);

    impl Drop for Late<'_> {
        fn drop(&mut self) {
            let Self(core, view, caches) = self;
            view.store(3, 9);
            view.copy_from(0, &[9; 32]);
            assert_eq!(mut_slice_of(view, caches).len(), 0);
            core.write_back_invalidate(caches, region(4));
            core.write_back_invalidate_all(caches);
        }
    }

    struct Held<'s>(&'s [u32], &'s Cell<bool>);

    impl Drop for Held<'_> {
        fn drop(&mut self) {
            self.1.set(self.0.iter().all(|word| *word == 7));
        }
    }

    for (name, machine) in machines() {
        for is_mutable in [true, false] {
            let is_unchanged = Cell::new(false);
            let said = meet(
                &machine,
                |view, caches, others| {
                    view.copy_from(0, &[7; 32]);
                    let slice = if is_mutable { mut_slice_of(view, caches) } else { slice_of(view, caches) };
                    let _held = Held(slice, &is_unchanged);
                    others();
                },
                |core| {
                    let _late = Late(core, core.claim(region(4), 32).unwrap(), core.take_caches().unwrap());
                    panic!("on purpose");
                },
            );
            assert!(said.contains("on purpose"), "{name}: {said:?}");
            assert!(is_unchanged.get(), "{name}");
        }
    }
}

/// An interrupt handler does not come between a view's look at slices and its access: it would let others take some.
#[test]
fn no_handler_comes_before_what_was_asked_for_is_done() {
    const WORDS: usize = 1024;
    for (name, machine) in machines().into_iter().filter(|(name, _)| *name != "coherent") {
        let outcome = machine.run(|core| match core.core().index() {
            0 => {
                let caches = core.take_caches().unwrap();
                let mut view = core.claim::<u32>(region(128), WORDS).unwrap();
                await_flag(core, 1, 1);
                core.raise_interrupt(CoreId::new(1));
                await_flag(core, 1, 2);
                let slice = mut_slice_of(&mut view, &caches);
                assert!(slice.iter().all(|word| *word == 9), "{name}: the handler came first");
                slice.fill(7);
                set(core, 3);
                await_flag(core, 1, 4);
                assert!(slice.iter().all(|word| *word == 7), "{name}: stored to under a slice");
            }
            1 => {
                let handler = |core: &SimCore, (): &()| {
                    set(core, 2);
                    await_flag(core, 0, 3);
                };
                let _handled = core.handle_interrupts((), handler).unwrap();
                let mut view = core.claim::<u32>(region(128), WORDS).unwrap();
                set(core, 1);
                // It takes so long to fetch the lines that the interrupt comes meanwhile.
                view.copy_from(0, &[9; WORDS]);
                set(core, 4);
            }
            _ => {}
        });
        assert!(outcome.is_ok(), "{}", outcome.err().unwrap());
    }
}

/// What another domain stored to memory is not brought into a copy that a slice looks at, when a neighbour flushes.
#[test]
fn a_refresh_does_not_write_under_a_slice() {
    // Where memory is at home in the domain, stores of others show at once; elsewhere they are fetched.
    for (name, coming) in [("cluster-fpga:2x2", "pushed"), ("scc+domains=2", "refetched")] {
        let machine = Machine::new(Description::parse(name).unwrap()).with_cores(4);
        let memory = Region::<kind::Cached>::new(SharedAddress::new(0, 0), 2 * LINE_BYTES);
        let run = |stored_byte: usize| {
            machine.run(|core| match core.core().index() {
                0 => {
                    let caches = core.take_caches().unwrap();
                    let view = core.claim::<u8>(memory, 64).unwrap();
                    let slice = slice_of(&view, &caches);
                    assert_eq!(slice[40], 0);
                    set(core, 1);
                    await_flag(core, 1, 2);
                    assert_eq!(slice[40], 0);
                }
                1 => {
                    let mut caches = core.take_caches().unwrap();
                    await_flag(core, 3, 1);
                    core.write_back_invalidate(&mut caches, memory);
                    set(core, 2);
                }
                3 => {
                    await_flag(core, 0, 1);
                    // What is there already changes nothing.
                    core.write(memory.mapped(), 40, &[stored_byte as u8]);
                    core.drain();
                    set(core, 1);
                }
                _ => {}
            })
        };
        assert!(run(0).is_ok(), "{coming}");
        let said = run(9).map_or_else(|failure| failure.to_string(), |_| String::new());
        let expected = "slice conflict: a store to memory that a slice of core 0 looks at";
        assert!(said.contains(expected), "{coming}: {said:?}");
    }
}

/// A neighbour's flush leaves what a mutable slice looks at alone, and loses nothing of it.
#[test]
fn a_flush_does_not_look_under_a_mutable_slice() {
    for fetch_unit in [FetchUnit::Line, FetchUnit::Page] {
        let machine = Machine::new(Description::parse("scc+domains=1").unwrap()).with_cores(2);
        let machine = machine.with_options(Options { fetch_unit, ..Options::default() });
        let outcome = machine.run(|core| {
            if core.core().index() == 1 {
                let mut caches = core.take_caches().unwrap();
                await_flag(core, 0, 1);
                core.write_back_invalidate(&mut caches, region(8));
                core.write_back_invalidate_all(&mut caches);
                let unseen = core.load_word(region(1), 3);
                set(core, 2);
                return unseen;
            }
            let mut caches = core.take_caches().unwrap();
            let mut view = core.claim::<u32>(region(4), 32).unwrap();
            let slice = mut_slice_of(&mut view, &caches);
            slice.fill(7);
            set(core, 1);
            await_flag(core, 1, 2);
            assert!(slice.iter().all(|word| *word == 7));
            slice[3] = 8;
            core.write_back_invalidate(&mut caches, region(4));
            core.load_word(region(1), 3)
        });
        assert_eq!(outcome.unwrap().results(), [8, 0]);
    }
}

/// Where cores have caches of their own, slices are of those, and nothing is in anybody's way; nor does an eviction look
/// under a mutable slice.
#[test]
fn slices_of_private_copies_are_nobody_elses() {
    for (_, come) in STORES.into_iter().chain(LOADS) {
        assert_eq!(meet(&plain(), mutably, come), "");
        assert_eq!(meet(&plain(), shared, come), "");
    }
    let evicted = plain().run(|core| {
        let mut caches = core.take_caches().unwrap();
        let mut view =
            core.claim::<u32>(Region::new(SharedAddress::new(0, 4096 * core.core().index()), 64), 16).unwrap();
        let slice = mut_slice_of(&mut view, &caches);
        slice.fill(7);
        core.provoke_eviction();
        slice[0] = 8;
        let under_slice = core.counters().lines_evicted;
        assert_eq!(view.load(0), 8);
        core.provoke_eviction();
        core.write_back_invalidate_all(&mut caches);
        (under_slice, core.counters().lines_evicted, core.counters().lines_written_back)
    });
    assert!(evicted.unwrap().results().into_iter().all(|counts| counts == (0, 1, 1)));
}
