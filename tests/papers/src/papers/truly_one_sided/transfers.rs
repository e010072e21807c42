//! One-sided communication against messages: Lai and Panda, *Designing Truly One-Sided MPI-2 RMA*, section 5.

use crate::bench::{Bench, Claim, Finding, Missing, On, Rows, Run, Unit};

/// Starts programs, with more words or without, for each algorithm that is compared.
macro_rules! for_each_algorithm {
    ($([$program:literal $(, $word:literal)*]),+ $(; $and:expr)?) => {
        &[$($and,)? $(
            Run { program: $program, words: &["algorithm=default" $(, $word)*] },
            Run { program: $program, words: &["algorithm=truly-one-sided" $(, $word)*] },
            Run { program: $program, words: &["algorithm=scosco" $(, $word)*] },
            Run { program: $program, words: &["algorithm=immediate" $(, $word)*] },
            Run { program: $program, words: &["algorithm=deferred" $(, $word)*] },
            Run { program: $program, words: &["algorithm=message" $(, $word)*] },
            Run { program: $program, words: &["algorithm=two-sided" $(, $word)*] },
        )+]
    };
}

/// The algorithms in which the target does nothing between post and wait.
const ONE_SIDED: [&str; 5] = ["default", "truly-one-sided", "scosco", "immediate", "deferred"];

/// Section 5.1, latency.
pub(crate) const LATENCY: Bench = Bench {
    name: "rma-latency",
    about: "ping-pongs of puts and gets of 1 B to 1 MB, by routers between the two ranks (Lai and Panda, 5.1)",
    runs: for_each_algorithm!(["bench-rma-latency"]),
    shown: &[1],
    sizes: &[1, 64, 1 << 10, 64 << 10],
    ..Bench::PLAIN
};

/// Section 5.1, bandwidth.
pub(crate) const BANDWIDTH: Bench = Bench {
    name: "rma-bandwidth",
    about: "bursts of puts and gets of 1 B to 1 MB, by routers between the two ranks (Lai and Panda, 5.1)",
    runs: for_each_algorithm!(["bench-rma-bandwidth"]),
    shown: &[1],
    sizes: &[1, 1 << 10, 64 << 10],
    claims: &[Claim {
        text: "puts of 64 KB and more reach 90 % of reading and writing lines",
        on: On::VirtualTime,
        check: |rows| Ok(Finding::at_least(100.0 * share_of_lines(rows, 64 << 10)?, 90.0, "%")),
    }],
    ..Bench::PLAIN
};

/// Section 5.2.
pub(crate) const SCALING: Bench = Bench {
    name: "rma-scaling",
    about: "one rank and k others: empty epochs with a window for each, and bursts of puts of k origins (Lai and Panda, 5.2)",
    runs: for_each_algorithm!(
        ["bench-rma-crowd", "bytes=524288"],
        ["bench-rma-crowd", "bytes=65536"],
        ["bench-rma-synchronisation"]
    ),
    shown: &[1, 2, 4, 8, 16, 32],
    sizes: &[0, 64 << 10],
    claims: &[Claim {
        text: "default: synchronising with k ranks takes at most half of what messages take",
        on: On::VirtualTime,
        check: |rows| {
            let shares = ["origin", "target"].map(|side| most_of(rows, side, "default", "two-sided"));
            let [origin, target] = shares;
            Ok(Finding::at_most(origin?.max(target?), 0.5, "of it"))
        },
    }],
    ..Bench::PLAIN
};

/// Runs of a crowd that meets at the target's memory, for each of some numbers of ranks: one more than there are
/// origins, since ranks that take no part would poll meanwhile.
macro_rules! crowds {
    ($($ranks:literal $origins:literal)*) => {
        &[$(crowd(&[concat!("cores=", $ranks), concat!("least=", $origins), "algorithm=default", MEETING]),)*]
    };
}

const MEETING: &str = "machine=+contention";

const fn crowd(words: &'static [&'static str]) -> Run {
    Run { program: "bench-rma-crowd", words }
}

/// Section 5.2, figure 17 (b), where accesses wait for each other.
pub(crate) const CONTENTION: Bench = Bench {
    name: "rma-contention",
    about: "bursts of puts of 64 KB of k origins that wait for each other at one target (Lai and Panda, figure 17 b)",
    runs: crowds!(47 46 33 32 17 16 9 8 5 4 3 2 2 1),
    ..Bench::PLAIN
};

/// Section 5.4, tables 1 to 3.
pub(crate) const SKEW: Bench = Bench {
    name: "rma-skew",
    about: "16 puts to a target that multiplies n x n matrices meanwhile (Lai and Panda, 3 and 5.4)",
    runs: for_each_algorithm!(["bench-rma-skew"]),
    shown: &[0, 32, 64, 128],
    claims: &[
        Claim {
            text: "one-sided: the origin's time stays within 10 % of that without skew",
            on: On::VirtualTime,
            check: |rows| Ok(Finding::at_most(100.0 * (growth(rows)? - 1.0), 10.0, "%")),
        },
        Claim {
            // The bound is ours; the paper says that it shoots up.
            text: "two-sided: the origin waits for the multiplication of 256 x 256",
            on: On::VirtualTime,
            check: |rows| {
                let origin = rows.line("two-sided", "origin")?;
                let computation = rows.line("two-sided", "compute")?.at(256)?;
                Ok(Finding::at_least((origin.at(256)? - origin.at(0)?) / computation, 0.9, "of it"))
            },
        },
    ],
    ..Bench::PLAIN
};

/// Section 5.5, figure 19.
pub(crate) const OVERLAP: Bench = Bench {
    name: "rma-overlap",
    about: "16 puts whose origin or target computes, by hundredths of their time (Lai and Panda, 5.5)",
    runs: for_each_algorithm!(["bench-rma-overlap"]; Run { program: "bench-rma-engine", words: &[] }),
    shown: &[25, 50, 75, 100, 120, 150],
    sizes: &[1, 1 << 10, 64 << 10, 256 << 10],
    derive: |rows| {
        for side in ["origin", "target"] {
            let of = ["comm", "compute", "total"].map(|what| format!("{side}.{what}"));
            let of = of.each_ref().map(String::as_str);
            // Both were measured in microseconds, so that the unit falls out.
            let overlap = |medians: &[f64]| (medians[0] + medians[1] - medians[2]) / medians[0];
            rows.add_from_medians(&format!("{side}.overlap"), Some(Unit::Fraction), &of, overlap);
        }
    },
    claims: &[
        Claim {
            text: "one-sided: an origin that copies by itself has no overlap",
            on: On::VirtualTime,
            check: |rows| {
                let mut most: f64 = 0.0;
                for algorithm in ONE_SIDED {
                    let line = rows.line(algorithm, "origin.overlap")?;
                    most = line.points().fold(most, |most, (_, overlap)| most.max(overlap.abs()));
                }
                Ok(Finding::at_most(most, 0.05, ""))
            },
        },
        Claim {
            text: "copy engine: origin and target overlap with puts of 64 KB and more, at T_comp = 1.2 T_comm",
            on: On::VirtualTime,
            check: |rows| {
                let mut least = f64::INFINITY;
                for side in ["origin.overlap", "target.overlap"] {
                    let line = rows.line("copy-engine", side)?;
                    let long = line.rows().filter(|row| row.key.bytes >= 64 << 10 && row.key.param == 120);
                    least = long.fold(least, |least, row| least.min(row.quartiles.median));
                }
                Ok(Finding::at_least(least, 0.9, ""))
            },
        },
        Claim {
            // In smaller bursts the target's write-back and invalidation of its part weigh more.
            text: "one-sided: the target overlaps fully with puts of 1 MB",
            on: On::VirtualTime,
            check: |rows| Ok(Finding::at_least(least_target_overlap(rows, 1 << 20)?, 0.95, "")),
        },
    ],
    ..Bench::PLAIN
};

/// Section 5.3, figure 18.
pub(crate) const LINES: Bench = Bench {
    name: "rma-lines",
    about: "lines that 16 puts of each of 7 origins to one target move, counted (Lai and Panda, 5.3)",
    runs: for_each_algorithm!(["bench-rma-lines"]),
    sizes: &[32, 1 << 10],
    ..Bench::PLAIN
};

/// Sections 4.3 and 4.4.
pub(crate) const PRIVATE: Bench = Bench {
    name: "rma-private",
    about: "puts and gets to windows over private memory and in shared memory, by routers (Lai and Panda, 4.3 and 4.4)",
    runs: &[Run { program: "bench-rma-private", words: &[] }],
    shown: &[1],
    sizes: &[1, 1 << 10],
    claims: &[Claim {
        text: "a target's private memory is mapped once, for all windows over it",
        on: On::Every,
        check: |rows| {
            let mappings = rows.line("private", "mappings")?;
            Ok(Finding::at_most(mappings.points().map(|(_, mapped)| mapped).sum::<f64>(), 3.0, "for three targets"))
        },
    }],
    ..Bench::PLAIN
};

/// Copy engines in an application, on the same number of cores.
pub(crate) const OFFLOAD: Bench = Bench {
    name: "offload",
    about: "steps of an application that puts and computes, with some of the cores as copy engines, by percent of work",
    runs: &[
        Run { program: "bench-offload", words: &["engines=0"] },
        Run { program: "bench-offload", words: &["engines=8"] },
        Run { program: "bench-offload", words: &["engines=12"] },
        Run { program: "bench-offload", words: &["engines=24"] },
    ],
    shown: &[0, 25, 50, 100, 200],
    claims: &[
        Claim {
            text: "24 engines of 48 cores pay where the work is half as long as the copies",
            on: On::Scc,
            check: |rows| {
                let (with, without) = (rows.line("engines-24", "step")?, rows.line("engines-0", "step")?);
                Ok(Finding::at_most(with.at(50)? / without.at(50)?, 1.0, "of a step without"))
            },
        },
        Claim {
            text: "24 engines of 48 cores cost more than they bring where it is four times as long",
            on: On::Scc,
            check: |rows| {
                let (with, without) = (rows.line("engines-24", "step")?, rows.line("engines-0", "step")?);
                Ok(Finding::at_least(with.at(400)? / without.at(400)?, 1.0, "of a step without"))
            },
        },
    ],
    ..Bench::PLAIN
};

/// The least share that any one-sided algorithm's puts of `bytes` bytes and more have of the throughput of lines at
/// the same distance.
fn share_of_lines(rows: &Rows, bytes: u64) -> Result<f64, Missing> {
    let lines = rows.line("lines", "put.throughput")?;
    let mut shares = Vec::new();
    for algorithm in ONE_SIDED {
        let puts = rows.line(algorithm, "put.throughput")?;
        for row in puts.rows().filter(|row| row.key.bytes >= bytes) {
            shares.push(row.quartiles.median / lines.at(row.key.param)?);
        }
    }
    shares.into_iter().reduce(f64::min).ok_or(Missing)
}

/// The largest share that a metric of one algorithm has of another's, over what was varied.
fn most_of(rows: &Rows, metric: &str, algorithm: &str, other: &str) -> Result<f64, Missing> {
    let (line, other) = (rows.line(algorithm, metric)?, rows.line(other, metric)?);
    let shares = line.points().map(|(param, median)| Ok(median / other.at(param)?));
    shares.collect::<Result<Vec<_>, _>>()?.into_iter().reduce(f64::max).ok_or(Missing)
}

/// What the longest time of an origin is of that without skew, in the one-sided algorithm where it is most.
fn growth(rows: &Rows) -> Result<f64, Missing> {
    let mut most: f64 = 0.0;
    for algorithm in ONE_SIDED {
        let line = rows.line(algorithm, "origin")?;
        let base = line.at(0)?;
        most = line.points().fold(most, |most, (_, median)| most.max(median / base));
    }
    Ok(most)
}

/// The least overlap of a target of puts of `bytes` bytes that computes 1.2 times as long as they take, in any
/// one-sided algorithm.
fn least_target_overlap(rows: &Rows, bytes: u64) -> Result<f64, Missing> {
    let mut least = f64::INFINITY;
    for algorithm in ONE_SIDED {
        let line = rows.line(algorithm, "target.overlap")?;
        least = least.min(line.row(120, bytes)?.quartiles.median);
    }
    Ok(least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Samples;

    /// Rows of all one-sided algorithms alike: param, bytes, metric with its unit, value.
    fn rows(points: &[(u64, u64, &str, u64)], others: &[&str]) -> Rows {
        let of = |algorithm: &str| {
            let lines = points.iter().map(|(param, bytes, metric, value)| {
                Samples::parse(&format!(
                    "algorithm={algorithm} ranks=4 param={param} bytes={bytes} metric={metric} {value}"
                ))
                .unwrap()
            });
            lines.collect::<Vec<_>>()
        };
        let others = others.iter().map(|line| Samples::parse(line).unwrap());
        Rows::pool(ONE_SIDED.iter().flat_map(|algorithm| of(algorithm)).chain(others))
    }

    #[test]
    fn long_puts_are_compared_with_lines_at_their_distance() {
        let lines = [1, 9].map(|param| {
            format!("algorithm=lines ranks=4 param={param} bytes=1 metric=put.throughput unit=kBps {}", 2000 / param)
        });
        let lines = lines.each_ref().map(String::as_str);
        let put = "put.throughput unit=kBps";
        let measured = rows(&[(1, 64, put, 1900), (1, 32, put, 100), (9, 64, put, 211)], &lines);
        assert!((share_of_lines(&measured, 64).unwrap() - 0.95).abs() < 1e-9);
        assert_eq!(share_of_lines(&measured, 128), Err(Missing));
        assert_eq!(share_of_lines(&rows(&[(1, 64, put, 1900)], &[]), 64), Err(Missing));
    }

    #[test]
    fn overlaps_are_computed_from_three_times() {
        let points = |side: &'static str| {
            let names =
                [format!("{side}.comm unit=ns"), format!("{side}.compute unit=ns"), format!("{side}.total unit=ns")];
            names.into_iter().zip([1000, 1200, if side == "origin" { 2200 } else { 1250 }])
        };
        let points: Vec<_> = points("origin").chain(points("target")).collect();
        let points: Vec<_> = points.iter().map(|(name, value)| (120, 1 << 20, name.as_str(), *value)).collect();
        let engine = ["origin", "target"].map(|side| {
            [("comm", 1000), ("compute", 1200), ("total", 1290)].map(|(what, ns)| {
                format!("algorithm=copy-engine ranks=4 param=120 bytes=65536 metric={side}.{what} unit=ns {ns}")
            })
        });
        let engine: Vec<_> = engine.iter().flatten().map(String::as_str).collect();
        let mut rows = rows(&points, &engine);
        (OVERLAP.derive)(&mut rows);
        let check = |claim: &Claim| (claim.check)(&rows).unwrap();
        assert!(OVERLAP.claims.iter().all(|claim| check(claim).holds()));
        assert_eq!(check(&OVERLAP.claims[0]).measured, "0.000");
        assert_eq!(check(&OVERLAP.claims[1]).measured, "0.910");
        assert_eq!(check(&OVERLAP.claims[2]).measured, "0.950");
    }

    #[test]
    fn skew_is_told_by_growth() {
        let messages = ["origin unit=ns 1000", "compute unit=ns 0"].map(|rest| ("0", rest));
        let late = ["origin unit=ns 5000", "compute unit=ns 5000"].map(|rest| ("256", rest));
        let others = messages.into_iter().chain(late);
        let others: Vec<_> = others
            .map(|(param, rest)| format!("algorithm=two-sided ranks=4 param={param} bytes=1 metric={rest}"))
            .collect();
        let others: Vec<_> = others.iter().map(String::as_str).collect();
        let rows = rows(&[(0, 1, "origin unit=ns", 1000), (256, 1, "origin unit=ns", 1200)], &others);
        let findings: Vec<_> = SKEW.claims.iter().map(|claim| (claim.check)(&rows).unwrap()).collect();
        assert!(findings.iter().all(|finding| !finding.holds()));
        assert_eq!((findings[0].measured.as_str(), findings[1].measured.as_str()), ("20.000 %", "0.800 of it"));
    }

    #[test]
    fn synchronisation_is_compared_at_each_number() {
        let other = |param: u64, value: u64| {
            format!("algorithm=two-sided ranks=4 param={param} bytes=0 metric=target unit=ns {value}")
        };
        let others = [other(1, 1000), other(2, 4000)];
        let rows = rows(
            &[(1, 0, "target unit=ns", 400), (2, 0, "target unit=ns", 800)],
            &others.each_ref().map(String::as_str),
        );
        assert_eq!(most_of(&rows, "target", "default", "two-sided"), Ok(0.4));
        assert_eq!(most_of(&rows, "origin", "default", "two-sided"), Err(Missing));
    }
}
