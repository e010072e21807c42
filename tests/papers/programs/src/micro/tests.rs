use super::*;
use crate::testing::{refused, run};
use std::{format, string::String, vec::Vec};

#[test]
fn completion_follows_the_model() {
    let printed = run::<MpbDistance>("cores=48");
    let of = |algorithm: &str, d: u64, bytes: u64| printed.at(algorithm, "completion", (d, bytes));
    for d in 1..=9 {
        // Formulas 11, 7, 12 and 8 of the paper's figure 2.
        assert_eq!(of("get-to-mpb", d, 4096), [330 + 128 * (126 + 10 * d + 136); 3]);
        assert_eq!(of("put-from-mpb", d, 32), [69 + 136 + 126 + 10 * d; 3]);
        assert_eq!(of("get-to-memory", d, 128), [95 + 4 * (126 + 10 * d + 471); 3]);
        assert_eq!(of("put-from-memory", d, 256), [190 + 8 * (218 + 126 + 10 * d); 3]);
    }
    let formulas = run::<MpbModel>("cores=48").0.replace("algorithm=model-", "algorithm=");
    let lines = |console: &str| -> Vec<String> {
        let of_completion = console.lines().filter(|line| line.contains("metric=completion unit=ns"));
        // What was measured is there three times.
        let mut lines: Vec<_> =
            of_completion.map(|line| line.split(' ').take(8).collect::<Vec<_>>().join(" ")).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&formulas), lines(&printed.0));
}

#[test]
fn one_core_shares_with_nobody_and_48_share_badly() {
    let printed = run::<MpbContention>("cores=48 span=200 machine=scc");
    let alone = printed.at("get", "average", (1, 4096));
    assert_eq!(alone, printed.at("get", "completion", (1, 4096)));
    // Those that have no part in it do not disturb it: the time is that of formula 11, and that of invalidating.
    assert!((35_146..=35_149).contains(&alone[0]), "{alone:?}");
    let puts = printed.at("put", "completion", (48, 32));
    assert_eq!(puts.len(), 48);
    assert!(*puts.iter().max().unwrap() > 3 * *puts.iter().min().unwrap(), "{puts:?}");
}

#[test]
fn programs_run_or_refuse_on_any_number_of_cores() {
    const LINK: &str = "this takes a mesh of two columns or more";
    for cores in [1, 3, 47] {
        run::<MpbDistance>(&format!("cores={cores} repetitions=1"));
        run::<MpbContention>(&format!("cores={cores} span=40 machine=scc"));
    }
    for words in ["cores=47 machine=scc span=40", "machine=mesh:2x1x1 span=40"] {
        run::<MeshLink>(words);
    }
    refused::<MeshLink>(&[("cores=1", LINK), ("cores=3", LINK), ("machine=mesh:1x4x2", LINK)]);
}
