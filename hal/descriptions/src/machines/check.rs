//! Checks what concerns several parameters of a machine, or the parts of one.

use super::{MOST_CORES, cores};
use crate::{Shape, Values};

pub(super) fn values(values: &Values) -> Result<(), String> {
    let cores = cores(values);
    if cores > MOST_CORES {
        return Err(format!("layout: {cores} cores are more than {MOST_CORES}"));
    }
    if values.number("layout.domains") > cores {
        return Err(format!("layout.domains: {cores} cores cannot be more domains"));
    }
    values.check_controllers()?;
    let points = values.pairs("prices.word_cycles");
    let in_range = |[routers, cycles]: &[u64; 2]| *routers <= MOST_CORES && *cycles <= 1_000_000_000;
    let ascend = points.windows(2).all(|pair| pair[0][0] < pair[1][0] && pair[0][1] <= pair[1][1]);
    if !(ascend && points.iter().all(in_range)) {
        return Err("prices.word_cycles: routers have to ascend, and cycles must not descend".into());
    }
    if values.shape() == Shape::Cluster { Ok(()) } else { services(values, points) }
}

/// What an access meets is busy with it before the way back begins: both are part of the access's price, at each
/// distance.
fn services(values: &Values, points: &[[u64; 2]]) -> Result<(), String> {
    let number = |key: &str| values.number(key);
    let (hop_ps, mhz) = (number("prices.hop_ps"), number("prices.core_mhz"));
    for (service, price) in [
        ("contention.mpb_port_ps", "prices.mpb_ps"),
        ("contention.mpb_port_write_ps", "prices.mpb_ps"),
        ("contention.controller_ps", "prices.memory_read_ps"),
        ("contention.controller_ps", "prices.memory_write_ps"),
    ] {
        // The nearest is a router away, there and back.
        if number(service) > number(price) + hop_ps {
            return Err(format!("{service} is part of what an access takes, and longer than {price} and a hop"));
        }
    }
    let service_ps = number("contention.controller_ps");
    // Nearer than the first of them, each router less takes two hops less.
    let first = points.first().filter(|[routers, _]| *routers > 1);
    let nearest = first.map(|[routers, cycles]| (1, *cycles, 2 * (routers - 1) * hop_ps));
    let measured = points.iter().map(|[routers, cycles]| (*routers, *cycles, 0));
    for (routers, cycles, nearer_ps) in measured.chain(nearest) {
        let least_ps = routers * hop_ps + nearer_ps + service_ps;
        if cycles * 1_000_000 / mhz < least_ps {
            return Err(format!(
                "prices.word_cycles: {cycles} cycles are less than the way back over {routers} hops and \
                 contention.controller_ps; they contain both"
            ));
        }
    }
    Ok(())
}
