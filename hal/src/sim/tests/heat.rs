//! Traffic is counted where it is, and counting changes nothing.

use super::*;
use crate::{
    Clock, Counted, Counters, Mpb, MpbCoherence, MpbCopy, Place, Reason, TestAndSet, Topology, Uncached, Wait,
};

fn counting(machine: Machine) -> Machine {
    let options = Options { heat_map: true, ..machine.options().clone() };
    machine.with_options(options)
}

/// What core `from` of an SCC does, counted.
fn heat(from: usize, program: impl Fn(&SimCore)) -> HeatMap {
    let outcome = counting(Machine::scc(48)).run(|core| {
        if core.core().index() == from {
            program(core);
        }
    });
    outcome.unwrap().heat_map.unwrap()
}

/// Links with packets: column, row, direction, packets.
fn links(map: &HeatMap) -> Vec<(usize, usize, &'static str, u64)> {
    let columns = map.shape().0;
    let of_tile = |(index, packets): (usize, &[u64; 4])| {
        let packets = *packets;
        (0..4).map(move |direction| (index % columns, index / columns, DIRECTIONS[direction], packets[direction]))
    };
    map.links.iter().enumerate().flat_map(of_tile).filter(|(.., packets)| *packets > 0).collect()
}

#[test]
fn a_put_is_on_each_link_of_its_route() {
    // From tile (1, 1) to tile (4, 0): east along the row, then south.
    let map = heat(14, |core| core.put_from_own_mpb(1, line(9, 1), 7));
    assert_eq!(links(&map), [(1, 1, "east", 7), (2, 1, "east", 7), (3, 1, "east", 7), (4, 1, "south", 7)]);
    assert_eq!((map.tiles[4].mpb_writes, map.tiles[7].mpb_reads), (7, 7));
    assert_eq!((map.tiles[4].mpb_own, map.tiles[7].mpb_own), (0, 7));
    assert_eq!(map.tiles.iter().map(|tile| tile.mpb_reads + tile.mpb_writes).sum::<u64>(), 14);
    // What is got comes back: west along the row, then north.
    let map = heat(14, |core| core.get_to_own_mpb(line(9, 1), 1, 7));
    assert_eq!(links(&map), [(1, 0, "north", 7), (2, 0, "west", 7), (3, 0, "west", 7), (4, 0, "west", 7)]);
    // Nothing leaves a tile for its other core.
    assert!(links(&heat(14, |core| core.put_from_own_mpb(1, line(15, 1), 7))).is_empty());
}

#[test]
fn memory_and_registers_are_where_they_belong() {
    let map = heat(47, |core| {
        core.store_word(region(1), 0, 1);
        core.load_word(region(1), 0);
        drop(core.lock(CoreId::new(0), "a register"));
        core.put(&[1; 96], line(47, 1));
    });
    assert_eq!((map.controllers[0].words, map.tiles[0].registers), (2, 2));
    // Its nearest controller is the one in the east, of the upper half.
    assert_eq!(map.controllers.iter().map(|controller| controller.private_lines).collect::<Vec<_>>(), [0, 0, 0, 3]);
    // The word and the register's value come back along the lowest row and then to the north; what was written goes
    // along the highest row and then to the south.
    let ([_, east, ..], [.., north]) = (map.links[0], map.links[5]);
    let ([west, ..], [_, _, south, _]) = (map.links[23], map.links[18]);
    assert_eq!((east, north, west, south), (2, 2, 2, 2));
}

/// All cores put to the next, notify it, and count together.
fn work(core: &SimCore) -> Counters {
    let (me, all) = (core.core().index(), core.layout().cores());
    for round in 1..=5_u8 {
        core.compute(u64::from(round) * 300 * me as u64 % 5000);
        core.put(&[round; 64], line((me + 7) % all, 1));
        core.store(line((me + 7) % all, 4), 0, &[round]);
        core.drain();
        let places = [Place::Line(line(me, 4)), Place::Line(line((me + 1) % all, 4))];
        core.wait(&places, Reason::new("a flag"), |poll| {
            (poll.line(0).0[0] >= round && poll.line(1).0[0] >= round).then_some(())
        });
        let guard = core.lock(CoreId::new(0), "a turn");
        core.store_word(region(1), 0, core.load_word(region(1), 0) + 1);
        drop(guard);
    }
    core.counters()
}

#[test]
fn counting_takes_no_time_and_skips_nothing() {
    for name in ["scc+ideal", "scc"] {
        let machine = Machine::new(Description::parse(name).unwrap()).with_cores(9);
        let plain = machine.run(work).unwrap();
        let skipping = counting(machine.clone()).run(work).unwrap();
        let polling = counting(machine).polling_for_real().run(work).unwrap();
        assert!(skipping.work.skipped_polls > 0 && polling.work.skipped_polls == 0, "{name}");
        assert_eq!((&plain.cores, &skipping.cores), (&skipping.cores, &polling.cores), "{name}");
        assert_eq!(skipping.heat_map, polling.heat_map, "{name}");
        assert_eq!(plain.heat_map, None);
    }
}

#[test]
fn totals_are_those_of_the_counters() {
    for name in ["scc+ideal", "scc"] {
        let machine = Machine::new(Description::parse(name).unwrap()).with_cores(9);
        let outcome = counting(machine).run(work).unwrap();
        let map = outcome.heat_map.as_ref().unwrap();
        let sum = |of: fn(&Counters) -> u64| outcome.cores.iter().map(|core| of(&core.counters)).sum::<u64>();
        assert_eq!(map.tiles.iter().map(|tile| tile.mpb_writes).sum::<u64>(), sum(|all| all.mpb_lines_written));
        // Of each poll that failed, its first line was read or both.
        let read: u64 = map.tiles.iter().map(|tile| tile.mpb_reads).sum();
        let least = sum(|all| all.mpb_lines_read + all.lines_polled + all.failed_polls);
        let most = sum(|all| all.mpb_lines_read + all.lines_polled + 2 * all.failed_polls);
        assert!((least..=most).contains(&read), "{read} of {least} to {most}");
        let words: u64 = map.controllers.iter().map(|controller| controller.words).sum();
        assert_eq!(words, sum(|all| all.words_read + all.words_written));
        // Each acquisition, its release, and those in vain.
        let registers: u64 = map.tiles.iter().map(|tile| tile.registers).sum();
        assert_eq!(registers, sum(|all| 2 * all.tsr_acquired + all.failed_acquires));
    }
}

#[test]
fn clusters_count_what_engines_carry() {
    let machine = Machine::new(Description::parse("cluster-asic:2x2").unwrap());
    let outcome = counting(machine).run(|core| {
        if core.core().index() == 0 {
            core.put_from_own_mpb(1, line(2, 1), 3);
            core.get_to_own_mpb(line(3, 1), 1, 1);
        }
    });
    let map = outcome.unwrap().heat_map.unwrap();
    assert!(map.is_cluster && links(&map).is_empty());
    // A line is one store, or four loads.
    assert_eq!((map.tiles[0].sent, map.tiles[1].received), (7, 7));
    assert_eq!((map.tiles[1].mpb_reads, map.tiles[1].mpb_writes), (1, 3));
    assert!(map.to_csv().starts_with("place,x,y,what,count\ncluster,2,1,cores,4\n"), "{}", map.to_csv());
}

#[test]
fn the_table_has_every_count() {
    let map = heat(14, |core| core.put_from_own_mpb(1, line(9, 1), 7));
    let table = map.to_csv();
    for line in ["mesh,6,4,cores,48", "tile,4,0,mpb_writes,7", "link,1,1,east,7", "controller3,5,2,lines_read,0"] {
        assert!(table.lines().any(|found| found == line), "{line} is not in {table}");
    }
}
