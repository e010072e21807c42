//! Thousands of cores.

use super::*;
use crate::{Mpb, MpbCoherence, Place, Reason, Topology, Wait};

/// A dissemination barrier over flags of one byte each.
fn barrier(core: &SimCore) {
    let (me, all) = (core.core().index(), core.layout().cores());
    let mut distance = 1;
    let mut round = 1;
    while distance < all {
        core.store(line((me + distance) % all, 1), round, &[1]);
        core.drain();
        let reason = Reason::new("round").number(round as u32).from(CoreId::new((me + all - distance) % all));
        core.wait(&[Place::Line(line(me, 1))], reason, |poll| (poll.line(0).0[round] == 1).then_some(()));
        distance *= 2;
        round += 1;
    }
}

#[test]
fn four_thousand_cores_meet() {
    let machine = Machine::new(Description::parse("mesh:64x32x2").unwrap());
    assert_eq!(machine.layout().cores(), 4096);
    let outcome = machine.run(barrier).unwrap();
    assert_eq!(outcome.cores.len(), 4096);
    let expected_at_least = 12 * (69_000 + 136_000 + 131_000);
    assert!(outcome.time_ps > expected_at_least, "{}", outcome.time_ps);
}

#[test]
fn four_thousand_cores_meet_by_chance() {
    let machine = Machine::scc(4099).with_seed(5);
    assert!(machine.run(barrier).is_ok());
}

#[test]
fn descriptions_are_parsed_or_refused_in_one_line() {
    assert_eq!(Description::parse("scc").unwrap().layout.cores(), 48);
    assert_eq!(Description::parse("scc-calibrated").unwrap().name, "scc-calibrated");
    assert_eq!(Description::parse("mesh:3x5x1").unwrap().layout.cores(), 15);
    for wrong in [
        "",
        "SCC",
        "mesh:",
        "mesh:3x4",
        "mesh:0x4x2",
        "mesh:-1x4x2",
        "mesh:300x300x1",
        "mesh:3x4x5x6",
        "mesh:99999x1x1",
        "scc+",
        "scc+flats",
        "scc+flat+flat",
        "scc+contention+flat+contention",
        "+flat",
        "cluster-fpga:",
        "cluster-fpga:8",
        "cluster-asic:8x0",
        "cluster-asic:8x8x8",
        "cluster-asic:256x256",
        "cluster-fpga+flat",
        "cluster-fpga:8x8+contention",
        "cluster",
    ] {
        let error = Description::parse(wrong).unwrap_err().to_string();
        assert!(error.lines().count() == 1 && error.contains("mesh:WxHxC") && error.contains("+flat"), "{error}");
    }
    let cluster = Description::parse("cluster-fpga").unwrap();
    assert_eq!((cluster.layout.cores(), cluster.layout.domains(), cluster.layout.controllers()), (1024, 64, 64));
    let cluster = Description::parse("cluster-asic:5x3").unwrap();
    assert_eq!((cluster.layout.cores(), cluster.layout.domains(), cluster.layout.rows()), (15, 5, 2));
    assert_eq!(cluster.parameters, Parameters::CLUSTER_ASIC);
    let variant = |name| {
        let description = Description::parse(name).unwrap();
        assert_eq!(description.name, name);
        (description.parameters.contention, description.parameters.flat)
    };
    assert_eq!(variant("scc"), (None, false));
    assert_eq!(variant("mesh:3x5x1+flat"), (None, true));
    assert_eq!(variant("scc-calibrated+contention"), (Some(Contention::SCC), false));
    assert_eq!(variant("scc+flat+contention"), (Some(Contention::SCC), true));
}
