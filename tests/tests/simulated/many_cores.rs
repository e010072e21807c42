//! Thousands of cores: the collectives work beyond what QEMU boots.

use crate::common::run;
use collectives::{Broadcast, Error, OcBcast, Placement};
use hal::{
    kind,
    sim::{Description, Machine},
};
use tests::{allocation::check_heaps_are_whole, broadcast, check, check_eq, suite};

#[test]
fn a_barrier_and_a_broadcast_on_4096_cores() {
    let machine = Machine::new(Description::parse("mesh:64x32x2+ideal").expect("a mesh"));
    let result = run(&machine, |context| {
        context.comm.barrier();
        let mut message = [if context.rank() == 4095 { 7_u8 } else { 0 }; 100];
        context.comm.using(Broadcast::OcBcast(OcBcast::default()), |comm| comm.broadcast(&mut message, 4095))?;
        check_eq!(message, [7; 100], "the message");
        for algorithm in ["oc-k7+leaves+tiles", "binomial"] {
            broadcast::broadcast(context, algorithm, 1234, 100, 1)?;
        }
        Ok(())
    });
    assert_eq!(result, Ok(()));
}

/// There are no lines for marks then, so that those of the default class are in uncached memory.
#[test]
fn windows_on_1024_cores() {
    for name in ["pscw::neighbours_ring", "marks::more_windows_than_lines"] {
        assert_eq!(run(&Machine::scc(1024), |context| suite::run_simulated(name, context)), Ok(()), "{name}");
    }
}

#[test]
fn packets_through_uncached_memory_on_200_cores() {
    for name in suite::NAMES.iter().filter(|name| name.starts_with("channel::")) {
        assert_eq!(run(&Machine::scc(200), |context| suite::run_simulated(name, context)), Ok(()), "{name}");
    }
}

#[test]
fn packets_on_1024_cores() {
    let name = "channel::two_windows_interleaved";
    assert_eq!(run(&Machine::scc(1024), |context| suite::run_simulated(name, context)), Ok(()));
}

#[test]
fn a_channel_without_memory_is_refused_on_all_cores() {
    let result = run(&Machine::scc(151), |context| {
        let allocator = context.comm.allocator();
        let mut taken = Vec::new();
        if context.rank() == 0 {
            for len_bytes in [1 << 20, 1 << 14, 1 << 11] {
                while let Ok(region) = allocator.allocate::<kind::Uncached>(len_bytes, Placement::Striped(0)) {
                    taken.push(region);
                }
            }
            // Enough for some ranks and not for all.
            let some = taken.iter().position(|region| region.len_bytes() == 1 << 14);
            allocator.free(taken.swap_remove(some.expect("pieces of all sizes fit")))?;
        }
        let refused = context.comm.open_channel().map(drop);
        check!(matches!(refused, Err(Error::OutOfSharedMemory { .. })), "without memory: {refused:?}");
        taken.into_iter().try_for_each(|region| allocator.free(region))?;
        let _ = context.comm.open_channel()?;
        context.comm.close_channel()?;
        if context.rank() == 0 {
            check_heaps_are_whole(context)?;
        }
        Ok(())
    });
    assert_eq!(result, Ok(()));
}
