use super::*;
use crate::launch::{Only, Simulation, simulate};
use collectives::Class;
use std::{
    format,
    string::{String, ToString},
    vec::Vec,
};

fn run(words: &str) -> Simulation {
    simulate::<Only<Wave>>(words, &[])
}

/// Checksum and totals of a run that has succeeded.
fn results(words: &str) -> (String, String) {
    let simulation = run(words);
    assert!(simulation.success, "{words}: {}", simulation.console);
    let of = |name: &str| {
        let head = format!("@result {name} ");
        let line = simulation.console.lines().find_map(|line| line.strip_prefix(&head));
        line.unwrap_or_else(|| panic!("{words}: {}", simulation.console)).to_string()
    };
    (of("checksum"), of("totals"))
}

#[test]
fn every_number_of_ranks_has_the_same_result_in_both_versions() {
    let (alone, _) = results("cores=1 size=13x11x9 steps=7");
    for ranks in [2, 3, 5, 7, 8, 16, 47, 48] {
        let words = format!("cores={ranks} size=13x11x9 steps=7");
        let one_sided = results(&words);
        assert_eq!(one_sided.0, alone, "{ranks} ranks");
        assert_eq!(results(&format!("{words} halo=two-sided")), one_sided, "{ranks} ranks");
    }
    assert_eq!(results("cores=5 size=13x11x9 steps=7 coherent").0, alone);
}

#[test]
fn tiny_grids_leave_ranks_over() {
    for size in ["1x1x1", "2x1x3", "1x5x1", "1x1x40", "4x4x4", "5x3x2"] {
        let (alone, _) = results(&format!("cores=1 size={size} steps=5"));
        for ranks in [2, 7, 16] {
            for halo in ["one-sided", "two-sided"] {
                let words = format!("cores={ranks} size={size} steps=5 halo={halo}");
                assert_eq!(results(&words).0, alone, "{words}");
            }
        }
    }
}

#[test]
fn every_class_has_the_same_result() {
    let words = "cores=9 size=10x9x8 steps=5";
    let default = results(words);
    for class in Class::ALL {
        for schedule in ["", "seed=1", "seed=2", "seed=3"] {
            assert_eq!(results(&format!("{words} class={class} {schedule}")), default, "{class} {schedule}");
        }
    }
}

#[test]
fn schedules_and_evictions_change_nothing() {
    let words = "cores=6 size=8x7x6 steps=4";
    let expected = results(words);
    for seed in 1..=20 {
        for halo in ["one-sided", "two-sided"] {
            assert_eq!(results(&format!("{words} halo={halo} seed={seed}")), expected, "seed {seed}, {halo}");
        }
    }
}

#[test]
fn weak_scaling_gives_every_rank_as_much() {
    for ranks in [1, 2, 5, 12] {
        let simulation = run(&format!("cores={ranks} size=4x3x2 weak steps=2"));
        assert!(simulation.success, "{}", simulation.console);
        let senders = simulation.console.matches("metric=weak.step unit=ns").count();
        assert_eq!(senders, ranks);
        assert!(simulation.console.contains("bit for bit"));
    }
    assert!(run("cores=3 size=24x24x24 weak").console.contains("wave in 24x24x72 cells, 1x1x3 blocks, 10 steps"));
}

#[test]
fn one_step_is_enough_and_checks_can_be_left_out() {
    assert_eq!(results("cores=4 size=6x6x6 steps=1").0, results("cores=1 size=6x6x6 steps=1").0);
    let simulation = run("cores=4 size=6x6x6 steps=3 verify=false");
    assert!(simulation.success && !simulation.console.contains("bit for bit"), "{}", simulation.console);
}

#[test]
fn steps_are_measured_on_ranks_with_cells() {
    let simulation = run("cores=7 size=5x5x8 steps=3 halo=two-sided");
    let head = "@samples algorithm=two-sided ranks=7 param=7 bytes=720 metric=step unit=ns ";
    let lines: Vec<_> = simulation.console.lines().filter_map(|line| line.strip_prefix(head)).collect();
    assert_eq!(lines.len(), 6, "{}", simulation.console);
    assert!(lines.iter().all(|line| line.split(' ').count() == 3));
}

#[test]
fn many_steps_keep_the_energy() {
    for size in ["1x1x1", "9x8x7"] {
        let (alone, _) = results(&format!("cores=1 size={size} steps=400"));
        assert_eq!(results(&format!("cores=4 size={size} steps=400")).0, alone);
    }
}

#[test]
fn energies_are_compared() {
    assert!(!differ(1.0, 1.0) && !differ(1.0 + 1e-12, 1.0) && !differ(0.0, 0.0));
    assert!(differ(1.0 + 1e-9, 1.0) && differ(1.0 - 1e-9, 1.0) && differ(f64::NAN, 1.0) && differ(1.0, f64::NAN));
}

#[test]
fn mistakes_are_one_line() {
    for (words, message) in [
        ("size=3x4", "option `size=3x4`: a size is NXxNYxNZ, with at least 1 cell and at most 268435456"),
        ("steps=0", "option `steps=0`: number would be zero for non-zero type"),
        ("halo=none", "option `halo=none`: no such halo exchange; there are one-sided and two-sided"),
        ("verify=maybe", "option `verify=maybe`: provided string was not `true` or `false`"),
        ("size=1x4x4 weak", "`size=1x4x4 weak`: blocks are too thin, or 4 of them are too many cells"),
        ("cells=3", "unknown option `cells=3`; options are `size` (cells each way, 24x24x24 if not given), "),
        ("class=fast", "option `class=fast`: no such synchronisation class; there are default"),
    ] {
        let simulation = run(&format!("cores=4 {words}"));
        assert!(!simulation.success);
        assert!(simulation.console.contains(&format!("rank 0 failed: {message}")), "{}", simulation.console);
        assert_eq!(simulation.console.matches(" failed: ").count(), 1);
    }
}
