use super::*;
use crate::{
    Input,
    launch::{Only, Simulation, simulate},
};
use hal::{Clock, Software};
use std::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// A clock for what computes without a machine.
pub(super) struct NoClock;

impl Clock for NoClock {
    fn now(&self) -> u64 {
        0
    }

    fn ticks_per_second(&self) -> u64 {
        1
    }

    fn compute(&self, _cycles: u64) {}

    fn account_memory(&self, _lines_read: usize, _lines_written: usize) {}

    fn account(&self, _software: Software) {}
}

fn run(words: &str) -> Simulation {
    simulate::<Only<Fft>>(words, &[])
}

fn result(simulation: &Simulation, name: &str) -> String {
    assert!(simulation.success, "{}", simulation.console);
    let head = format!("@result {name} ");
    let line = simulation.console.lines().find_map(|line| line.strip_prefix(&head));
    line.unwrap_or_else(|| panic!("{}", simulation.console)).to_string()
}

fn checksum(words: &str) -> String {
    result(&run(words), "checksum")
}

#[test]
fn every_memory_placement_and_number_of_ranks_has_the_same_bits() {
    let words = "n=1024 output=none";
    let alone = checksum(&format!("cores=1 {words}"));
    for memory in ["cached flush=whole", "cached flush=ranges", "combined", "uncached"] {
        for placement in ["local", "random"] {
            for ranks in [2, 3, 16, 48] {
                let words = format!("cores={ranks} {words} memory={memory} placement={placement}");
                assert_eq!(checksum(&words), alone, "{words}");
            }
        }
    }
    assert_eq!(checksum(&format!("cores=5 {words} coherent")), alone);
}

#[test]
fn all_lengths() {
    for len in (2..13).map(|exponent| 1 << exponent) {
        let alone = checksum(&format!("cores=1 n={len}"));
        assert_eq!(checksum(&format!("cores=7 n={len}")), alone, "{len}");
        assert_eq!(checksum(&format!("cores=40 n={len} placement=random deal=5")), alone, "{len}");
    }
}

#[test]
fn schedules_and_evictions_change_nothing() {
    let expected = checksum("cores=6 n=256");
    for seed in 1..=20 {
        for memory in ["cached flush=whole", "cached flush=ranges", "combined", "uncached"] {
            let words = format!("cores=6 n=256 memory={memory} seed={seed}");
            assert_eq!(checksum(&words), expected, "{words}");
        }
    }
}

#[test]
fn the_strongest_bin_is_found() {
    // A square wave of period 16.
    assert_eq!(result(&run("cores=4 n=4096"), "peak"), "256");
    // The signal in the file turns backwards once in four samples, so that its only bin is in the upper half.
    let turns = [[1.0f64, 0.0], [0.0, -1.0], [-1.0, 0.0], [0.0, 1.0]];
    let bytes: Vec<u8> = turns.iter().cycle().take(64).flatten().flat_map(|part| part.to_le_bytes()).collect();
    let simulation = simulate::<Only<Fft>>("cores=3", &[Input { name: "turns", bytes: &bytes }]);
    assert_eq!(result(&simulation, "peak"), "48");
    assert!(simulation.console.contains("transform of 64 samples, 64 values, cached-ranges-local"));
    assert!(simulation.console.contains("@data spectrum.power 256\n"), "a complex signal has all its bins");
    let simulation = simulate::<Only<Fft>>("cores=3 n=128 output=full", &[Input { name: "turns", bytes: &bytes }]);
    assert_eq!(result(&simulation, "peak"), "96");
    assert!(simulation.console.contains("@data spectrum.complex 2048\n"));
}

#[test]
fn what_is_measured_is_sent() {
    let simulation = run("cores=3 n=64 memory=combined placement=random output=none");
    let head = "@samples algorithm=combined-random ranks=3 param=3 bytes=1024 metric=";
    for metric in
        ["total unit=ns", "flush unit=ns", "barrier unit=ns", "transpose unit=ns", "flush.share unit=permille"]
    {
        let lines = simulation.console.lines().filter(|line| line.starts_with(&format!("{head}{metric} ")));
        assert_eq!(lines.count(), 3, "{metric}: {}", simulation.console);
    }
    assert!(!simulation.console.contains("@data"));
}

#[test]
fn mistakes_are_one_line() {
    let mut bytes = [0; 16 * 10];
    bytes[16 * 9..][..8].copy_from_slice(&f64::MAX.to_le_bytes());
    for (words, len, message) in [
        ("n=1000", None, "option `n=1000`: a transform has a power of two from 4 to 4194304 values"),
        ("n=2", None, "option `n=2`: a transform has"),
        ("n=8", Some(144), "option `n=8`: there are more samples, 9"),
        ("n=0", Some(16), "option `n=0`: a transform has a power of two from 4 to 4194304 values"),
        ("n=2097152", None, "there is no room for a matrix of 33554432 bytes in shared memory"),
        ("n=4194304 placement=random", None, "there is no room for a matrix of 67108864 bytes in shared memory"),
        ("memory=fast", None, "option `memory=fast`: no such kind of memory; there are cached, combined and uncached"),
        ("placement=far", None, "option `placement=far`: no such placement; there are local and random"),
        ("flush=none", None, "option `flush=none`: no such way to flush; there are whole and ranges"),
        ("output=all", None, "option `output=all`: no such output; there are power, full and none"),
        ("", Some(17), "signal is not a signal that can be transformed: it has to consist of complex numbers"),
        ("", Some(160), "signal is not a signal that can be transformed: its numbers are too large"),
    ] {
        let input = len.map(|len| Input { name: "signal", bytes: &bytes[..len] });
        let simulation = simulate::<Only<Fft>>(&format!("cores=4 {words}"), input.as_slice());
        assert!(!simulation.success, "{words}");
        assert!(simulation.console.contains(&format!("rank 0 failed: {message}")), "{}", simulation.console);
        assert_eq!(simulation.console.matches(" failed: ").count(), 1);
    }
}
