//! What reductions cost in virtual time, on the SCC with and without contention.

use crate::latency::{barrier_latency, latency, machines};
use collectives::{Barrier, Operator, Reduction, Release, Scan};
use hal::sim::Machine;

fn allreduce(machine: &Machine, reduction: Reduction, len: usize) -> u64 {
    latency(machine, |context| {
        let (operands, mut result) = (vec![1.0; len], vec![0.0; len]);
        Ok(context.comm.using(reduction, |comm| comm.allreduce(&operands, &mut result, &Operator::<f64>::SUM))?)
    })
}

fn scan(machine: &Machine, scan: Scan, len: usize) -> u64 {
    latency(machine, |context| {
        let (operands, mut result) = (vec![1.0; len], vec![0.0; len]);
        Ok(context.comm.using(scan, |comm| comm.scan(&operands, &mut result, &Operator::<f64>::SUM))?)
    })
}

/// 8 bytes on 48 cores: at most 1.6 dissemination barriers, and a line read from and written to memory.
#[test]
fn a_short_allreduce_costs_little_more_than_a_barrier() {
    for machine in machines() {
        let dissemination = Barrier::Dissemination { partners: 1, flags: Release::Push };
        let barrier = barrier_latency(&machine, dissemination);
        let reduced = allreduce(&machine, Reduction::Default, 1);
        println!("barrier {barrier} ns, allreduce {reduced} ns");
        assert!(reduced <= barrier * 16 / 10 + 208 + 461, "{reduced} ns, while a barrier takes {barrier} ns");
        // Nor more than that of a barrier of 2 µs.
        assert!(reduced <= 3200 + 208 + 461, "{reduced} ns");
    }
}

/// The default is the better one of the two that it chooses from, or a quarter slower at most, and beats two-sided
/// messages.
#[test]
fn defaults_are_fast() {
    for machine in machines() {
        for bytes in [8, 128, 256, 512, 2048, 8192] {
            let [default, tree, blocks, two_sided] =
                [Reduction::Default, Reduction::Tree, Reduction::Blocks, Reduction::TwoSided]
                    .map(|reduction| allreduce(&machine, reduction, bytes / 8));
            println!("allreduce of {bytes}: {default} ns, tree {tree}, blocks {blocks}, two-sided {two_sided}");
            assert!(4 * default <= 5 * tree.min(blocks) && 3 * default <= two_sided, "allreduce of {bytes} bytes");
            let [default, doubling, chain, two_sided] = [Scan::Default, Scan::Doubling, Scan::Chain, Scan::TwoSided]
                .map(|algorithm| scan(&machine, algorithm, bytes / 8));
            println!("scan of {bytes}: {default} ns, doubling {doubling}, chain {chain}, two-sided {two_sided}");
            assert!(4 * default <= 5 * doubling.min(chain) && 3 * default <= two_sided, "scan of {bytes} bytes");
        }
    }
}
