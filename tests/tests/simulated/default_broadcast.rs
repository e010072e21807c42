//! Our broadcasts where the suite does not go: many cores, much data, and without what makes them correct.

use crate::common::run;
use hal::{
    emulated::Omit,
    sim::{Description, Machine},
};
use tests::{check, suite};

/// Runs all tests of the suite that are about them.
fn suite_on(machine: &Machine, what: &str) {
    for name in suite::NAMES.iter().filter(|name| name.starts_with("default_broadcast::")) {
        assert_eq!(run(machine, |context| suite::run_simulated(name, context)), Ok(()), "{name} {what}");
    }
}

#[test]
fn about_as_many_ranks_as_read_directly() {
    for cores in [49, 50] {
        suite_on(&Machine::scc(cores), &format!("on {cores} cores"));
    }
}

/// Central tiles may be one or two, and tiles may have one core.
#[test]
fn on_other_meshes() {
    for mesh in ["mesh:1x1x5", "mesh:7x1x1", "mesh:1x8x1", "mesh:3x3x1", "mesh:4x3x4"] {
        suite_on(&Machine::new(Description::parse(mesh).expect("a mesh")), mesh);
    }
}

/// Messages of these lengths, one after the other.
fn on_all(machine: &Machine, lens: &[usize], root: usize) {
    let result = run(machine, |context| {
        for (sent, len) in (7_u8..).zip(lens) {
            let byte = if context.rank() == root { sent } else { 0 };
            let mut message = vec![byte; *len];
            context.comm.broadcast(&mut message, root)?;
            check!(message.iter().all(|byte| *byte == sent), "the message of {len} bytes");
        }
        Ok(())
    });
    assert_eq!(result, Ok(()), "from rank {root}");
}

#[test]
fn a_megabyte() {
    for cores in [2, 5] {
        on_all(&Machine::scc(cores), &[1 << 20], cores - 1);
    }
}

#[test]
fn on_4096_cores() {
    let machine = Machine::new(Description::parse("mesh:64x32x2+ideal").expect("a mesh"));
    on_all(&machine, &[28, 100, 5000], 4095);
}

/// Short messages, and long ones that fit the ring, drain nothing: all that they write is whole lines, or pushed out
/// by one. The ring is used again by signals, which need their drain.
#[test]
fn only_signals_need_a_drain() {
    let broadcasts = |omitted: Omit, lens: &'static [usize]| {
        run(&Machine::scc(5), |context| {
            context.comm.barrier();
            context.hal().omit(omitted);
            for len in lens {
                let mut message = vec![context.rank() as u8; *len];
                context.comm.broadcast(&mut message, 0)?;
                check!(message.iter().all(|byte| *byte == 0), "the message");
            }
            context.hal().omit(Omit::empty());
            context.comm.barrier();
            Ok(())
        })
    };
    let (within, beyond): (&[usize], &[usize]) = (&[28, 29, 84, 1001], &[40_000]);
    assert_eq!(broadcasts(Omit::empty(), within), Ok(()));
    assert_eq!(broadcasts(Omit::empty(), beyond), Ok(()));
    assert_eq!(broadcasts(Omit::DRAIN, within), Ok(()));
    let failure = broadcasts(Omit::DRAIN, beyond).expect_err("nobody hears that the ring is free");
    assert!(failure.contains("has not drained"), "{failure}");
}

/// A line that a poll has seen once stays in L1, and so do the lines of a slot that is used again.
#[test]
fn polls_need_their_invalidation() {
    for len in [20, 1000, 40_000] {
        let without = |omitted: Omit| {
            run(&Machine::scc(3), |context| {
                context.comm.barrier();
                context.hal().omit(omitted);
                for round in 0..9u8 {
                    let mut message = vec![if context.rank() == 1 { round } else { 0xEE }; len];
                    context.comm.broadcast(&mut message, 1)?;
                    check!(message.iter().all(|byte| *byte == round), "the message of round {round}");
                }
                Ok(())
            })
        };
        assert_eq!(without(Omit::empty()), Ok(()));
        assert!(without(Omit::INVALIDATE_MPB).is_err(), "{len} bytes pass on stale lines");
    }
}
