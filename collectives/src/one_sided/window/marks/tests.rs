//! Epochs of ranks whose marks are first and last in words and lines, again and again: numbers wrap around, and where marks
//! are stays what was found out.

use hal::{Cached, Clock, sim::Machine};

use crate::{Class, Comm, Group, Window};

/// More than a number has values.
const EPOCHS: u32 = 9;

/// Cycles after which a rank comes that is late.
const LATE: u64 = 100_000;

#[test]
fn pairs_find_each_other() {
    for ranks in [31, 32, 33, 48] {
        let outcome = Machine::scc(ranks).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).unwrap();
            let mut caches = core.take_caches().unwrap();
            let (window, mut view) = Window::<_, u32>::create(&comm, &mut caches, 1).unwrap();
            let peers = [1, 2, 3, 4, 30, 31, 32, ranks - 1].into_iter().filter(|peer| *peer < ranks);
            for (origin, target) in peers.flat_map(|peer| [(0, peer), (peer, 0)]) {
                let [origins, targets] = [origin, target].map(|rank| Group::of([rank]).unwrap());
                for epoch in 1..=EPOCHS {
                    if comm.rank() == origin {
                        let access = window.start(&targets).unwrap();
                        access.put_value(target, 0, epoch).unwrap();
                        access.complete();
                    } else if comm.rank() == target {
                        window.while_posted(&mut view, &mut caches, &origins, |_| ()).unwrap();
                        assert_eq!(view.load(0), epoch, "from rank {origin} to {target} of {ranks}");
                    }
                }
            }
        });
        outcome.unwrap();
    }
}

/// So few that marks are pushed to each.
#[test]
fn a_few_find_each_other() {
    for ranks in [31, 32, 33, 48] {
        let outcome = Machine::scc(ranks).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).unwrap();
            let mut caches = core.take_caches().unwrap();
            let (window, mut view) = Window::<_, u32>::create(&comm, &mut caches, 1).unwrap();
            let groups = [[1, 3], [3, 4], [4, ranks - 1], [ranks - 3, ranks - 2]];
            let mut groups = groups.map(|few| (Group::of([0]).unwrap(), Group::of(few).unwrap())).to_vec();
            groups.push((Group::of([0, 1, 3]).unwrap(), Group::of((2..ranks).filter(|rank| *rank != 3)).unwrap()));
            for (one, few) in groups {
                for epoch in 1..=2 * EPOCHS {
                    let (origins, targets) = if epoch <= EPOCHS { (&one, &few) } else { (&few, &one) };
                    if origins.contains(comm.rank()) {
                        let access = window.start(targets).unwrap();
                        // Of several origins, all put the same.
                        targets.iter().for_each(|target| access.put_value(target, 0, epoch).unwrap());
                        access.complete();
                    } else if targets.contains(comm.rank()) {
                        window.while_posted(&mut view, &mut caches, origins, |_| ()).unwrap();
                        assert_eq!(view.load(0), epoch, "from {origins:?} to {targets:?} of {ranks}");
                    }
                }
            }
        });
        outcome.unwrap();
    }
}

/// One rank is late in turns, and nobody goes on without it.
#[test]
fn nobody_is_left_out() {
    let classes = [Class::Default, Class::TriggerOnly];
    for (ranks, class) in [31, 32, 33, 48].into_iter().flat_map(|ranks| classes.map(|class| (ranks, class))) {
        let outcome = Machine::scc(ranks).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).unwrap();
            let mut caches = core.take_caches().unwrap();
            let (window, mut view) = Window::<_, u32>::with_class(&comm, &mut caches, 1, class).unwrap();
            let [one, others] = [Group::of([0]).unwrap(), Group::of(1..ranks).unwrap()];
            let late = [1, 4, 30, 31, 32, ranks - 1].into_iter().filter(|late| *late < ranks);
            let mut times = std::vec::Vec::new();
            for (late, is_origin) in late.flat_map(|late| [(late, false), (late, false), (late, true), (late, true)]) {
                comm.barrier();
                if comm.rank() == late {
                    core.compute(LATE);
                }
                let before = core.now();
                let (targets, origins) = if is_origin { (&one, &others) } else { (&others, &one) };
                if (comm.rank() == 0) == is_origin {
                    window.while_posted(&mut view, &mut caches, origins, |_| ()).unwrap();
                } else {
                    window.start(targets).unwrap().complete();
                }
                times.push((late, before, core.now()));
            }
            times
        });
        let outcome = outcome.unwrap();
        for (epoch, (late, _, over)) in outcome.cores[0].result.iter().enumerate() {
            let came = outcome.cores[*late].result[epoch].1;
            assert!(*over >= came, "epoch {epoch} of {ranks} ranks, {class}, was over before rank {late} came");
        }
    }
}

/// Each has an epoch with all others, so that all keep their marks where the others look: one is late in turns, and nobody goes on
/// without it.
#[test]
fn all_wait_for_each() {
    for ranks in [31, 32, 33, 48] {
        let outcome = Machine::scc(ranks).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).unwrap();
            let mut caches = core.take_caches().unwrap();
            let (window, mut view) = Window::<_, u32>::create(&comm, &mut caches, 1).unwrap();
            let others = Group::of((0..ranks).filter(|rank| *rank != comm.rank())).unwrap();
            let mut times = std::vec::Vec::new();
            for late in [0, 0, 3, 3, 30, 30, ranks - 1, ranks - 1] {
                comm.barrier();
                if comm.rank() == late {
                    core.compute(10 * LATE);
                }
                let before = core.now();
                window
                    .while_posted(&mut view, &mut caches, &others, |_| window.start(&others).unwrap().complete())
                    .unwrap();
                times.push((late, before, core.now()));
            }
            times
        });
        let outcome = outcome.unwrap();
        for (rank, core) in outcome.cores.iter().enumerate() {
            for (epoch, (late, _, over)) in core.result.iter().enumerate() {
                let came = outcome.cores[*late].result[epoch].1;
                assert!(*over >= came, "epoch {epoch} of rank {rank} of {ranks} was over before rank {late} came");
            }
        }
    }
}
