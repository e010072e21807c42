//! `hal::conformance` on machines that are right, and on machines with a defect each: the message says which.

mod defective;

use hal::{
    Cached, Regions, Topology,
    conformance::{self, FORBIDDEN, Room},
    kit::HardwareCore,
    topology::MAX_CONTROLLERS,
};
use threads::Machine;

use defective::{Defect, Defective};

/// By how much seconds are too short where what is waited for never comes: nobody wants to wait for 20 of them. A busy host may keep a
/// core from what it is to do within one that is so short; then they are tried as they are.
const HASTE: [u64; 2] = [10, 1];

/// What the cores of a machine with a defect find.
fn found(cores: usize, defect: Defect, haste: u64) -> Vec<String> {
    let results = Machine::new(cores).run_on_hardware(|inner| {
        let core = HardwareCore::new(Defective::new(inner, defect, haste));
        let mut caches = core.take_caches().unwrap();
        // SAFETY: nothing else uses this machine.
        let regions = unsafe { Regions::new(MAX_CONTROLLERS) };
        conformance::check(&core, &mut caches, &regions, &Room::of_all(&regions, cores))
    });
    match results {
        Ok(results) => results.into_iter().filter_map(|result| Some(result.err()?.to_string())).collect(),
        Err(failure) => vec![failure.to_string()],
    }
}

#[test]
fn a_machine_that_is_right_passes() {
    for cores in [1, 2, 3, 8] {
        // Nothing is waited for in vain, and so nobody need be in haste.
        assert_eq!(found(cores, Defect::None, HASTE[1]), [""; 0], "{cores} cores");
    }
}

#[test]
fn machines_that_are_right_in_other_ways_pass() {
    for (machine, what) in [
        (Machine::new(4).with_coherence(true), "coherent"),
        (Machine::new(4).with_seeds(3, 0), "evicts"),
        (Machine::new(4).with_seeds(0, 3), "hands over"),
    ] {
        let results = machine.run(|core| {
            let mut caches = core.take_caches().unwrap();
            // SAFETY: nothing else uses this machine.
            let regions = unsafe { Regions::new(MAX_CONTROLLERS) };
            conformance::check(core, &mut caches, &regions, &Room::of_all(&regions, core.layout().cores()))
        });
        assert!(results.unwrap().iter().all(Result::is_ok), "{what}");
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
        11..=14 => "the machine has no such memory",
        15..=18 => " is not mapped on core 0",
        19..=26 => " is not exposed",
        _ => "atomic counter 96 of a machine that has 96",
    }
}

/// What a machine lets pass of the accesses that it has to refuse.
fn let_pass(machine: &Machine, defect: Defect) -> Vec<String> {
    let access = |number| {
        let results = machine.run_on_hardware(|inner| {
            let core = HardwareCore::new(Defective::new(inner, defect, HASTE[0]));
            let mut caches = core.take_caches().unwrap();
            // SAFETY: nothing else uses this machine.
            let regions = unsafe { Regions::new(MAX_CONTROLLERS) };
            let room = Room::of_all(&regions, core.layout().cores());
            let is_first = core.core().index() == 0;
            is_first.then(|| {
                let attempt = conformance::forbidden_access(&core, &mut caches, &regions, &room, number);
                attempt.map(|attempt| attempt.make().to_string())
            })
        });
        match results {
            Ok(results) => match results.into_iter().flatten().next()? {
                Ok(let_pass) => Some(let_pass),
                Err(why) => {
                    assert_eq!(why, "there is no other core", "access {number}");
                    None
                }
            },
            Err(failure) => {
                let refused = failure.summary();
                let is_right = refused.starts_with("core 0 panicked: ") && refused.contains(refusal(number));
                assert!(is_right, "access {number}: {refused}");
                None
            }
        }
    };
    (0..FORBIDDEN).filter_map(access).collect()
}

#[test]
fn machines_that_are_right_refuse_what_has_no_place() {
    for machine in [Machine::new(1), Machine::new(3), Machine::new(2).with_coherence(true)] {
        assert_eq!(let_pass(&machine, Defect::None), [""; 0], "{machine:?}");
    }
}

#[test]
fn what_is_let_pass_is_named() {
    for (defect, messages) in [
        (
            Defect::InventsLines,
            &["refusals: a load of a line of the MPB of core 2 has to panic", "a store to a line of the MPB of core 2"]
                [..],
        ),
        (
            Defect::InventsExposures,
            &[
                "a read of memory of core 1 that is not exposed",
                "a write of memory of core 1 that is not exposed",
                "a read of memory of its own",
            ],
        ),
        (
            Defect::InventsWords,
            &[
                "a load of a word of core 1 that is not mapped",
                "a store of a word of core 1 that is not mapped",
                "a load of a word of its own",
                "a store of a word of its own",
            ],
        ),
        (
            Defect::InventsRegisters,
            &["a read of the register of core 2", "a write of the register of core 2", "an interrupt of core 2"],
        ),
    ] {
        let found = let_pass(&Machine::new(2), defect);
        for message in messages {
            assert!(found.iter().any(|line| line.contains(message)), "{defect:?}: {found:#?}");
        }
    }
}

#[test]
fn each_defect_is_named() {
    let mut misnamed = Vec::new();
    for (defect, message) in [
        (Defect::DrainsNothing, "the drain pushes nothing out"),
        (Defect::KeepsStaleLines, "the invalidation leaves lines in L1"),
        (Defect::StoresWholeLines, "stores have to be masked by bytes"),
        (Defect::FlushesNothing, "and flushed the region, and this core, which has flushed its own copy, finds "),
        (Defect::FlushesAllOfNothing, "and flushed everything, and this core, which has flushed its own copy, finds "),
        (Defect::GivesRegistersToAll, "registers: one that core 0 holds is taken a second time"),
        (Defect::NeverFreesRegisters, "registers: one that was freed cannot be taken again"),
        (Defect::LosesInterrupts, "interrupts: what core 1 has raised does not arrive"),
        (Defect::TakesInterruptsTwice, "interrupts: one that was raised once was taken 2 times"),
        (Defect::ForgetsDeadlines, "waits: one with a deadline of "),
        (Defect::ClockGoesBack, "clock: "),
        (Defect::LosesWords, "uncached words: core 1 has stored 0x20007 to word 7, which is 0x0"),
        (Defect::ExposesNothingNew, "exposed memory: core 1 has exposed 1, and this core finds 0"),
        (
            Defect::ConcealsNothing,
            "exposed memory: core 1 has exposed 1001 after other memory, which it has concealed, and",
        ),
        (Defect::NeverLetsGo, "core 1 has said that it lets go of "),
        (Defect::ConcealsWhatIsReached, "and its owner gets it back: `conceal` has to refuse that"),
        (Defect::TearsLines, "is read in parts, as "),
        (Defect::CountsUpOnly, " is 11 and should be 9"),
        (Defect::CutsOffLines, "MPB copies: of a put of 32 bytes and a get of them, byte 31 is "),
        (Defect::LosesLines, "a store to another line loses what is in the write-combine buffer"),
        (Defect::HalvesMpbs, "`mpb_lines` says 256, and there are fewer"),
        (Defect::MergesStores, "of two stores to a line at once, one is lost"),
        (Defect::FlushesDirtyLinesOnly, "or this one leaves what was there before"),
        (Defect::StoresFetchNothing, "a store has to fetch the rest of its line"),
        (Defect::SlicesStayClean, " by a mutable slice and flushed everything, and this core"),
        (Defect::FlushesNoExposures, " by a view of what it exposes, and flushed, and this core finds 0: "),
        (Defect::WordsReachNothing, "and its owner gets it back: `conceal` has to refuse that"),
        (Defect::ForgetsNoSlots, "`forget_slot` has to leave no line in L1"),
        (Defect::HasOneRegister, " is free and cannot be taken, while others take theirs: each core has its own"),
        (Defect::FreesOthers, "registers: one that was freed cannot be taken again"),
        (Defect::RacesForRegisters, " under the lock of core 0 have come to "),
        (Defect::InterruptsItself, "one has come that was raised on another core: it goes to its target alone"),
        (Defect::KeepsInterrupts, "`take_interrupt` does not take it"),
        (Defect::HasClocksApart, "ticks begin at the same moment for all cores"),
        (Defect::IsTwoMachines, "all cores of a machine say the same"),
        (Defect::StaysAway, "has not come to meeting 12, in the check of lines, within 20 s: "),
        (Defect::KeepsWholeLines, "within 10 s: a line that is stored as a whole leaves by itself"),
        (
            Defect::DrainsMpbsFirst,
            " to memory, to MPB line 2 of core 0 and then to the flag in MPB line 1 of core 0, and drained",
        ),
        (Defect::DrainsLastFirst, "and then 2 to the same bytes, and byte 4 is 1 and not 2: "),
        (Defect::LosesWakeUps, "`park` has not come back, though something was stored since `before_poll`"),
        (Defect::KeepsStaleWords, "`load_mpb_words` loads what `load_line` would"),
        (Defect::StoresFirstWordOnly, " to words [2, 3, 4] of MPB line 1 of core 0 by `store_mpb_words` and drained"),
        (
            Defect::LoadsOneLine,
            "MPB copies: of 96 bytes that `store_lines` has stored and `load_lines` loads, byte 32 is ",
        ),
        (Defect::IsOneMpb, "that is what it has itself stored to another core's line: two MPBs are one"),
        (Defect::KeepsStaleMemory, "finds that byte 29 is 0 and not 46: `invalidate_lines` has to forget all lines, "),
        (Defect::WritesNeighboursBack, "have stored to lines side by side and flushed them, and what core "),
        (Defect::FlushesAllButLast, "and flushed the region, and this core, which has flushed its own copy, finds "),
        (
            Defect::FlushesAllButExposures,
            "by a view of what it exposes, and flushed everything, and this core finds 200",
        ),
        (Defect::LetsGoOfWholesOnly, "has said that it lets go of a part of what is exposed at "),
        (
            Defect::LetsGoOfOneOnly,
            "has let go of a region in which two pieces are exposed, and `conceal` says that it has ",
        ),
        (
            Defect::TogglesInterrupts,
            "interrupts: what core 1 has raised twice, before this core took it, does not arrive",
        ),
        (Defect::NeverInterruptsItself, "interrupts: one that a core raises on itself does not arrive"),
        (
            Defect::SleepsThroughInterrupts,
            "waits without a deadline, and what this core has raised does not come within 10 s",
        ),
        (Defect::ClockStandsStill, "polls of a wait, and "),
        (Defect::NeverTimesOut, ": `park` does not say `TimedOut`"),
    ] {
        let named = |haste| {
            let found = found(2, defect, haste);
            if found.iter().any(|line| line.contains(message)) { Ok(()) } else { Err(found) }
        };
        if let Err(found) = named(HASTE[0]).or_else(|_| named(HASTE[1])) {
            misnamed.push((defect, found));
        }
    }
    assert!(misnamed.is_empty(), "{misnamed:#?}");
}
