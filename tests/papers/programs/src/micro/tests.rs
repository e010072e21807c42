use super::*;
use kernel::{
    Program,
    launch::{Only, simulate},
};
use std::{string::String, vec::Vec};

/// The numbers of one series.
fn samples(console: &str, start: &str) -> Vec<u64> {
    let lines = console.lines().filter_map(|line| line.strip_prefix("@samples ")?.strip_prefix(start));
    lines.flat_map(|rest| rest.trim().split(' ').map(|number| number.parse().unwrap()).collect::<Vec<_>>()).collect()
}

fn run<P: Program>(words: &str) -> String {
    let simulation = simulate::<Only<P>>(words, &[]);
    assert!(simulation.success, "{words}: {}", simulation.console);
    simulation.console
}

#[test]
fn completion_follows_the_model() {
    let console = run::<MpbDistance>("cores=48");
    let of = |algorithm: &str, d: u64, bytes: u64| {
        let name = std::format!("algorithm={algorithm} ranks=48 param={d} bytes={bytes} metric=completion unit=ns");
        samples(&console, &name)
    };
    for d in 1..=9 {
        // Formulas 11, 7, 12 and 8 of the paper's figure 2.
        assert_eq!(of("get-to-mpb", d, 4096), [330 + 128 * (126 + 10 * d + 136); 3]);
        assert_eq!(of("put-from-mpb", d, 32), [69 + 136 + 126 + 10 * d; 3]);
        assert_eq!(of("get-to-memory", d, 128), [95 + 4 * (126 + 10 * d + 471); 3]);
        assert_eq!(of("put-from-memory", d, 256), [190 + 8 * (218 + 126 + 10 * d); 3]);
    }
    let formulas = run::<MpbModel>("cores=48").replace("algorithm=model-", "algorithm=");
    let lines = |console: &str| -> Vec<String> {
        let of_completion = console.lines().filter(|line| line.contains("metric=completion unit=ns"));
        // What was measured is there three times.
        let mut lines: Vec<_> =
            of_completion.map(|line| line.split(' ').take(8).collect::<Vec<_>>().join(" ")).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&formulas), lines(&console));
}

#[test]
fn one_core_shares_with_nobody_and_48_share_badly() {
    let console = run::<MpbContention>("cores=48 span=200 machine=scc+contention");
    let of = |algorithm: &str, n: u64, bytes: u64, metric: &str| {
        let name = std::format!("algorithm={algorithm} ranks=48 param={n} bytes={bytes} metric={metric} unit=ns");
        samples(&console, &name)
    };
    assert_eq!(of("get", 1, 4096, "average"), of("get", 1, 4096, "completion"));
    // Those that have no part in it do not disturb it: the time is that of formula 11, and that of invalidating.
    let alone = of("get", 1, 4096, "average")[0];
    assert!((35_146..=35_149).contains(&alone), "{alone}");
    let puts = of("put", 48, 32, "completion");
    assert_eq!(puts.len(), 48);
    assert!(*puts.iter().max().unwrap() > 3 * *puts.iter().min().unwrap(), "{puts:?}");
}

#[test]
fn programs_run_or_refuse_on_any_number_of_cores() {
    for cores in [1, 3, 47] {
        run::<MpbDistance>(&std::format!("cores={cores} repetitions=1"));
        run::<MpbContention>(&std::format!("cores={cores} span=40 machine=scc+contention"));
        let link = simulate::<Only<MeshLink>>(&std::format!("cores={cores} span=40 machine=scc+contention"), &[]);
        assert_eq!(link.success, cores == 47, "{}", link.console);
    }
    run::<MeshLink>("machine=mesh:2x1x1+contention span=40");
    let narrow = simulate::<Only<MeshLink>>("machine=mesh:1x4x2", &[]);
    assert!(!narrow.success && narrow.console.contains("two columns"), "{}", narrow.console);
}
