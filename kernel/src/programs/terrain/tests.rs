use super::*;
use crate::{
    Input,
    launch::{Kept, Only, Simulation, on_threads::threads, run_on, simulate},
};
use hal::sim::{Freedom, Machine, Recording, Strategy};
use std::{collections::BTreeMap, format, string::String, vec::Vec};

/// A mountain range of no particular shape.
fn map(width: usize, height: usize) -> Vec<u8> {
    let samples = (0..width * height).map(|cell| {
        let (x, y) = (cell % width, cell / width);
        ((x * x * 31 + y * 977 + x * y * 7) % 5003) as u16
    });
    pgm::encode(width, height, samples)
}

fn run(words: &str, file: &[u8]) -> Simulation {
    simulate::<Only<Terrain>>(words, &[Input { name: "map.pgm", bytes: file }])
}

fn checksum_of(simulation: &Simulation) -> String {
    assert!(simulation.success, "{}", simulation.console);
    let line = simulation.console.lines().find(|line| line.contains("bit for bit")).unwrap();
    line.rsplit(' ').next().unwrap().into()
}

#[test]
fn every_number_of_ranks_has_the_same_result() {
    let file = map(37, 23);
    let alone = checksum_of(&run("cores=1 steps=9", &file));
    for ranks in [2, 3, 5, 7, 16, 48] {
        assert_eq!(checksum_of(&run(&format!("cores={ranks} steps=9"), &file)), alone, "{ranks} ranks");
    }
    assert_eq!(checksum_of(&run("cores=5 steps=9 coherent", &file)), alone);
}

/// Threads of the host, which really run side by side, hand over at random places, or see each other's stores at once.
#[test]
fn threads_have_the_same_result_as_simulated_cores() {
    let file = map(37, 23);
    let alone = checksum_of(&run("cores=1 steps=9", &file));
    for words in ["cores=1", "cores=2", "cores=5", "cores=8", "cores=4 preempt=3", "cores=4 coherent"] {
        let input = [Input { name: "map.pgm", bytes: &file }];
        assert_eq!(checksum_of(&threads::<Only<Terrain>>(&format!("{words} steps=9"), &input)), alone, "{words}");
    }
}

#[test]
fn tiny_maps_leave_ranks_over() {
    for (width, height) in [(1, 1), (2, 1), (1, 5), (3, 3)] {
        let file = map(width, height);
        let alone = checksum_of(&run("cores=1 steps=4", &file));
        for ranks in [2, 7, 16] {
            assert_eq!(checksum_of(&run(&format!("cores={ranks} steps=4"), &file)), alone);
        }
    }
}

#[test]
fn schedules_and_evictions_change_nothing() {
    let file = map(19, 17);
    let alone = checksum_of(&run("cores=1 steps=5", &file));
    for seed in 1..=20 {
        assert_eq!(checksum_of(&run(&format!("cores=6 steps=5 seed={seed}"), &file)), alone, "seed {seed}");
    }
}

#[test]
fn eight_bits_are_read_and_no_steps_leave_the_map_as_it_was() {
    let simulation = run("cores=3 steps=0", b"P5 3 2 255 abcdef");
    assert!(simulation.success, "{}", simulation.console);
    let base64 = "UDUKMyAyCjY1NTM1CgBhAGIAYwBkAGUAZg==";
    let frame = format!("@data terrain.pgm 25\n{base64}\n@end terrain.pgm ");
    assert!(simulation.console.contains(&frame), "{}", simulation.console);
}

#[test]
fn a_flat_map_stays_flat_and_a_peak_wears_down() {
    let machine = Machine::scc(1);
    let heights = |file: &'static [u8], steps| {
        machine.run(|core| alone::heights(core, file, steps).unwrap()).unwrap().results().remove(0)
    };
    assert_eq!(heights(b"P5 3 1 255 ddd", 9), [101.0; 3]);
    assert_eq!(heights(b"P5 3 1 255 dnd", 1), [103.0, 107.0, 103.0]);
}

#[test]
fn a_bad_map_is_one_line_from_rank_0() {
    let simulation = run("cores=4", b"P5 3 2 255 abc");
    assert!(!simulation.success);
    let failed: Vec<_> = simulation.console.lines().filter(|line| line.contains("failed")).collect();
    assert_eq!(
        failed,
        [
            "rank 0 failed: map.pgm is not a map that can be used: it is cut off: 6 bytes of samples are announced, 3 are there",
            "@done failed on 1 of 4 ranks"
        ]
    );
    let without = simulate::<Only<Terrain>>("cores=4", &[]);
    assert!(without.console.contains("rank 0 failed: input file 1 is missing (0 given)"), "{}", without.console);
}

#[test]
fn the_table_tells_milliseconds_and_the_speed_up() {
    let simulation = run("cores=4 steps=9", &map(120, 100));
    let row = |name: &str| {
        let mut table = simulation.console.lines().skip_while(|line| !line.starts_with("milliseconds "));
        let line = table.find_map(|line| line.trim_start().strip_prefix(name));
        let words = line.unwrap_or_else(|| panic!("no {name} in {}", simulation.console)).split_whitespace();
        words.filter_map(|word| word.parse().ok()).collect::<Vec<f64>>()
    };
    let parallel = ["broadcast ", "windows and barrier ", "stencil ", "gather "].map(|name| row(name)[1]);
    let (alone, speed_up) = (row("one core alone ")[0], row("speed-up over one core: "));
    // 12 000 cells, 9 times, in cycles of 533 MHz.
    assert!((alone - 12_000.0 * 9.0 * field::CELL_CYCLES as f64 / 533_000.0).abs() < 0.01, "{alone}");
    for (told, took) in speed_up.into_iter().zip([parallel[2], parallel.iter().sum()]) {
        assert!((told - alone / took).abs() < 0.11, "{told} instead of {}", alone / took);
        assert!(told > 0.5 && told <= 4.0, "{told} on 4 cores");
    }
}

/// The drains of rank 5.
fn drains(words: &str) -> u32 {
    let simulation = run(words, &map(37, 23));
    let line = simulation.console.lines().find_map(|line| line.strip_prefix("@counters 5 ")).unwrap();
    line.split(' ').find_map(|word| word.strip_prefix("drains=")).unwrap().parse().unwrap()
}

#[test]
fn the_barrier_is_dissemination_unless_another_is_named() {
    let [default, dissemination, tree] =
        ["", "barrier=dissemination", "barrier=tree-k15-push"].map(|word| drains(&format!("cores=16 steps=3 {word}")));
    assert_eq!(default, dissemination);
    // Twice a flag in each of four rounds, instead of one to the root.
    assert_eq!(dissemination, tree + 2 * (4 - 1));
}

#[test]
fn any_barrier_will_do() {
    let file = map(19, 17);
    let alone = checksum_of(&run("cores=1 steps=5", &file));
    for name in ["default", "tree-k2-pull", "rcce-linear", "central", "locked-counter", "registers", "atomic-counters"]
    {
        let simulation = run(&format!("cores=7 steps=5 barrier={name}"), &file);
        assert_eq!(checksum_of(&simulation), alone, "{name}");
        assert!(simulation.console.contains(&format!("barrier {name}")), "{}", simulation.console);
    }
    let simulation = run("cores=7 barrier=nosuch", &file);
    assert!(
        !simulation.success && simulation.console.contains("rank 0 failed: option `barrier=nosuch`: no such barrier")
    );
}

/// The counters of a run in which cores are held up at random, by rank and name.
fn counters_with_delays(file: &[u8], seed: u64) -> BTreeMap<String, String> {
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let choices = (0..200_000).map(|_| if draw() % 16 == 0 { draw() } else { 0 }).collect();
    let freedom = Freedom { delays: true, ..Freedom::NONE };
    let machine = Machine::scc(12).with_strategy(Strategy::Replay(Recording { freedom, choices }));
    let console = Kept::default();
    let input = Input { name: "map.pgm", bytes: file };
    assert!(run_on::<Only<Terrain>>(&machine, "steps=10", &[input], &console));
    let text = console.into_text();
    let lines = text.lines().filter_map(|line| line.strip_prefix("@counters ")?.split_once(' '));
    let counters = lines.flat_map(|(rank, words)| words.split(' ').map(move |word| (rank, word)));
    let counters = counters.filter_map(|(rank, word)| Some((rank, word.split_once('=')?)));
    counters.map(|(rank, (name, value))| (format!("{name} of rank {rank}"), value.into())).collect()
}

#[test]
fn counters_do_not_depend_on_the_schedule() {
    let file = map(60, 60);
    let first = counters_with_delays(&file, 1);
    assert_eq!(first.len(), 12 * hal::Counters::COMPARED);
    for seed in 2..10 {
        assert_eq!(counters_with_delays(&file, seed), first, "seed {seed}");
    }
}
