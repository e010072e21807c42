//! How much faster defaults are than what they stand against, in virtual time on the whole SCC, with and without contention.
//! Benches have all numbers; these are the ratios for whose sake the algorithms exist, with room for a quarter.

use std::cell::RefCell;

use crate::latency::{barrier_latency, latency, machines};
use collectives::{Barrier, Broadcast, Class, Group, Operator, Reduction, Window};
use hal::{Clock, sim::Machine};

/// Demands that a default is `times` times as fast as something else.
fn ahead(what: &str, machine: &Machine, default: u64, other: u64, times: f64) {
    let machine = &machine.description().name;
    println!("{what} on {machine}: {default} ns, {other} ns, {:.2} times as fast", other as f64 / default as f64);
    assert!(
        default as f64 * times <= other as f64,
        "{what} on {machine}: {default} ns is not {times} times {other} ns"
    );
}

/// What start and complete of an empty epoch with 13 targets take, once ranks are in step.
fn epoch(machine: &Machine, class: &str) -> u64 {
    const TARGETS: usize = 13;
    let taken = RefCell::new(0);
    let outcome = crate::common::run(machine, |context| {
        let class: Class = class.parse()?;
        let (window, mut view) = Window::<_, u32>::with_class(context.comm, context.caches, 0, class)?;
        let (origin, targets) = (Group::of([0])?, Group::of(1..=TARGETS)?);
        for _ in 0..6 {
            if context.rank() == 0 {
                let begin = context.hal().now();
                window.start(&targets)?.complete();
                *taken.borrow_mut() = context.hal().now() - begin;
            } else if context.rank() <= TARGETS {
                view = window.post(view, context.caches, &origin)?.wait(context.caches);
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
    taken.into_inner()
}

#[test]
fn epochs_beat_match_vectors() {
    for machine in machines() {
        ahead("an epoch, SCOSCo's", &machine, epoch(&machine, "default"), epoch(&machine, "scosco"), 18.0);
    }
}

fn broadcast(machine: &Machine, name: &str, len_bytes: usize) -> u64 {
    latency(machine, |context| {
        let broadcast: Broadcast = name.parse()?;
        Ok(context.comm.using(broadcast, |comm| comm.broadcast(&mut vec![7_u8; len_bytes], 0))?)
    })
}

#[test]
fn broadcasts_beat_those_of_the_papers() {
    for machine in machines() {
        for (len_bytes, of_trees, of_slices) in [(32, 3.0, 40.0), (96 * 32, 1.7, 3.5), (64 << 10, 1.2, 2.8)] {
            let default = broadcast(&machine, "default", len_bytes);
            for (name, times) in [("oc-k7", of_trees), ("scatter-allgather", of_slices)] {
                let other = broadcast(&machine, name, len_bytes);
                ahead(&format!("a broadcast of {len_bytes} bytes, {name}"), &machine, default, other, times);
            }
        }
    }
}

#[test]
fn barriers_beat_those_of_rcce() {
    for (machine, times) in machines().iter().zip([[2.4, 20.0], [1.3, 11.0]]) {
        let barrier = |name: &str| barrier_latency(machine, name.parse::<Barrier>().expect("there is such a barrier"));
        for (name, times) in ["dissemination", "rcce-linear"].into_iter().zip(times) {
            ahead(&format!("a barrier, {name}"), machine, barrier("default"), barrier(name), times);
        }
    }
}

#[test]
fn allreduces_beat_messages() {
    for machine in machines() {
        for (len, times) in [(1, 5.0), (64, 3.5), (1024, 2.6)] {
            let [default, two_sided] = [Reduction::Default, Reduction::TwoSided].map(|reduction| {
                latency(&machine, |context| {
                    let (operands, mut result) = (vec![1.0; len], vec![0.0; len]);
                    Ok(context
                        .comm
                        .using(reduction, |comm| comm.allreduce(&operands, &mut result, &Operator::<f64>::SUM))?)
                })
            });
            ahead(&format!("an allreduce of {len} values, two-sided"), &machine, default, two_sided, times);
        }
    }
}
