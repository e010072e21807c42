//! One-sided communication against messages: section 5.

use crate::bench::{Bench, Line, Missing, Rows, Sweep, Unit, everywhere, extremes, in_virtual_time, on_scc};

/// What is compared.
const EACH: &str = "algorithm={default|truly-one-sided|scosco|immediate|deferred|message|two-sided}";

/// Hundredths of the communication that the computation takes at each size.
const PERCENT: u64 = 120;

/// The side of the largest matrices of tables 1 to 3.
pub(crate) const LARGEST: u64 = 256;

/// The algorithms in which the target does nothing between post and wait.
const ONE_SIDED: [&str; 5] = ["default", "truly-one-sided", "scosco", "immediate", "deferred"];

/// Section 5.1, latency.
pub(crate) const LATENCY: Bench = Bench {
    name: "rma-latency",
    about: "ping-pongs of puts and gets of 1 B to 1 MB, by routers between the two ranks (Lai and Panda, 5.1)",
    runs: &[Sweep("bench-rma-latency", &[EACH])],
    shown: &[1],
    sizes: &[1, 64, 1 << 10, 64 << 10],
    ..Bench::PLAIN
};

/// Section 5.1, bandwidth.
pub(crate) const BANDWIDTH: Bench = Bench {
    name: "rma-bandwidth",
    about: "bursts of puts and gets of 1 B to 1 MB, by routers between the two ranks (Lai and Panda, 5.1)",
    runs: &[Sweep("bench-rma-bandwidth", &[EACH])],
    shown: &[1],
    sizes: &[1, 1 << 10, 64 << 10],
    claims: &[in_virtual_time("puts of 64 KB and more reach 90 % of reading and writing lines").at_least(
        90.0,
        "%",
        |rows| Ok(100.0 * share_of_lines(rows, 64 << 10)?),
    )],
    ..Bench::PLAIN
};

/// Section 5.2.
pub(crate) const SCALING: Bench =
    Bench {
        name: "rma-scaling",
        about: "one rank and k others: empty epochs with a window for each, and bursts of puts of k origins (Lai and \
                Panda, 5.2)",
        runs: &[Sweep("bench-rma-crowd", &["bytes={524288|65536}", EACH]), Sweep("bench-rma-synchronisation", &[EACH])],
        shown: &[1, 2, 4, 8, 16, 32],
        sizes: &[0, 64 << 10],
        claims: &[in_virtual_time("default: synchronising with k ranks takes at most half of what messages take")
            .at_most(0.5, "of it", |rows| {
                let [origin, target] = ["origin", "target"].map(|side| most_of(rows, side, "default", "two-sided"));
                Ok(origin?.max(target?))
            })],
        ..Bench::PLAIN
    };

/// Section 5.2, figure 17 (b), where accesses wait for each other.
pub(crate) const CONTENTION: Bench = Bench {
    name: "rma-contention",
    about: "bursts of puts of 64 KB of k origins that wait for each other at one target (Lai and Panda, figure 17 b)",
    // One rank more than there are origins, since ranks that take no part would poll meanwhile.
    runs: &[Sweep(
        "bench-rma-crowd",
        &[
            "{cores=47 least=46|cores=33 least=32|cores=17 least=16|cores=9 least=8|cores=5 least=4|cores=3 \
             least=2|cores=2 least=1}",
            "algorithm=default",
            "machine=+contention",
        ],
    )],
    ..Bench::PLAIN
};

/// Section 5.4, tables 1 to 3.
pub(crate) const SKEW: Bench = Bench {
    name: "rma-skew",
    about: "16 puts to a target that multiplies n x n matrices meanwhile (Lai and Panda, 3 and 5.4)",
    runs: &[Sweep("bench-rma-skew", &[EACH])],
    shown: &[0, 32, 64, 128],
    claims: &[
        in_virtual_time("one-sided: the origin's time stays within 10 % of that without skew").at_most(
            10.0,
            "%",
            |rows| Ok(100.0 * (growth(rows)? - 1.0)),
        ),
        // The bound is ours; the paper says that it shoots up.
        in_virtual_time("two-sided: the origin waits for the multiplication of 256 x 256").at_least(
            0.9,
            "of it",
            |rows| waited(rows, "two-sided"),
        ),
    ],
    ..Bench::PLAIN
};

/// Section 5.5, figure 19.
pub(crate) const OVERLAP: Bench = Bench {
    name: "rma-overlap",
    about: "16 puts whose origin or target computes, by hundredths of their time (Lai and Panda, 5.5)",
    runs: &[Sweep("bench-rma-engine", &[]), Sweep("bench-rma-overlap", &[EACH])],
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
        in_virtual_time("one-sided: an origin that copies by itself has no overlap").at_most(0.05, "", |rows| {
            let all =
                of_one_sided(rows, "origin.overlap", |line| Ok(line.points().map(|(_, overlap)| overlap).collect()))?;
            Ok(extremes(all.into_iter().map(f64::abs))?.1)
        }),
        in_virtual_time("copy engine: origin and target overlap with puts of 64 KB and more, at T_comp = 1.2 T_comm")
            .at_least(0.9, "", |rows| {
                let [origin, target] =
                    ["origin.overlap", "target.overlap"].map(|side| overlaps(rows, "copy-engine", side, 64 << 10));
                Ok(extremes([origin?, target?].concat())?.0)
            }),
        // In smaller bursts the target's write-back and invalidation of its part weigh more.
        in_virtual_time("one-sided: the target overlaps fully with puts of 1 MB").at_least(0.95, "", |rows| {
            let of = |line: &Line<'_>| Ok(vec![line.row(PERCENT, 1 << 20)?.quartiles.median]);
            Ok(extremes(of_one_sided(rows, "target.overlap", of)?)?.0)
        }),
    ],
    ..Bench::PLAIN
};

/// Section 5.3, figure 18.
pub(crate) const LINES: Bench = Bench {
    name: "rma-lines",
    about: "lines that 16 puts of each of 7 origins to one target move, counted (Lai and Panda, 5.3)",
    runs: &[Sweep("bench-rma-lines", &[EACH])],
    sizes: &[32, 1 << 10],
    ..Bench::PLAIN
};

/// Sections 4.3 and 4.4.
pub(crate) const PRIVATE: Bench = Bench {
    name: "rma-private",
    about: "puts and gets to windows over private memory and in shared memory, by routers (Lai and Panda, 4.3 and 4.4)",
    runs: &[Sweep("bench-rma-private", &[])],
    shown: &[1],
    sizes: &[1, 1 << 10],
    claims: &[everywhere("a target's private memory is mapped once, for all windows over it").at_most(
        3.0,
        "for three targets",
        |rows| Ok(rows.line("private", "mappings")?.points().map(|(_, mapped)| mapped).sum::<f64>()),
    )],
    ..Bench::PLAIN
};

/// Copy engines in an application, on the same number of cores.
pub(crate) const OFFLOAD: Bench = Bench {
    name: "offload",
    about: "steps of an application that puts and computes, with some of the cores as copy engines, by percent of work",
    runs: &[Sweep("bench-offload", &["engines={0|8|12|24}"])],
    shown: &[0, 25, 50, 100, 200],
    claims: &[
        on_scc("24 engines of 48 cores pay where the work is half as long as the copies").at_most(
            1.0,
            "of a step without",
            |rows| with_engines(rows, 50),
        ),
        on_scc("24 engines of 48 cores cost more than they bring where it is four times as long").at_least(
            1.0,
            "of a step without",
            |rows| with_engines(rows, 400),
        ),
    ],
    ..Bench::PLAIN
};

/// What a step with 24 engines takes of one without, where the work has this share.
fn with_engines(rows: &Rows, share: u64) -> Result<f64, Missing> {
    Ok(rows.line("engines-24", "step")?.at(share)? / rows.line("engines-0", "step")?.at(share)?)
}

/// Numbers of a metric of each one-sided algorithm.
fn of_one_sided(
    rows: &Rows,
    metric: &str,
    of: impl Fn(&Line<'_>) -> Result<Vec<f64>, Missing>,
) -> Result<Vec<f64>, Missing> {
    let numbers = ONE_SIDED.map(|algorithm| of(&rows.line(algorithm, metric)?));
    Ok(numbers.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

/// The least share that any one-sided algorithm's puts of `bytes` bytes and more have of the throughput of lines at
/// the same distance.
fn share_of_lines(rows: &Rows, bytes: u64) -> Result<f64, Missing> {
    let lines = rows.line("lines", "put.throughput")?;
    let shares = of_one_sided(rows, "put.throughput", |puts| {
        let long = puts.rows().filter(|row| row.key.bytes >= bytes);
        long.map(|row| Ok(row.quartiles.median / lines.at(row.key.param)?)).collect()
    });
    Ok(extremes(shares?)?.0)
}

/// The largest share that a metric of one algorithm has of another's, over what was varied.
fn most_of(rows: &Rows, metric: &str, algorithm: &str, other: &str) -> Result<f64, Missing> {
    let (line, other) = (rows.line(algorithm, metric)?, rows.line(other, metric)?);
    let shares = line.points().map(|(param, median)| Ok(median / other.at(param)?));
    Ok(extremes(shares.collect::<Result<Vec<_>, Missing>>()?)?.1)
}

/// What the longest time of an origin is of that without skew, in the one-sided algorithm where it is most.
fn growth(rows: &Rows) -> Result<f64, Missing> {
    let shares = of_one_sided(rows, "origin", |line| {
        let base = line.at(0)?;
        Ok(line.points().map(|(_, median)| median / base).collect())
    });
    Ok(extremes(shares?)?.1)
}

/// How much of the target's largest multiplication an origin waits for.
pub(crate) fn waited(rows: &Rows, algorithm: &str) -> Result<f64, Missing> {
    let (origin, computation) = (rows.line(algorithm, "origin")?, rows.line(algorithm, "compute")?);
    Ok((origin.at(LARGEST)? - origin.at(0)?) / computation.at(LARGEST)?)
}

/// Overlaps at T_comp = 1.2 T_comm, of puts of `bytes` bytes and more.
pub(crate) fn overlaps(rows: &Rows, algorithm: &str, metric: &str, bytes: u64) -> Result<Vec<f64>, Missing> {
    let line = rows.line(algorithm, metric)?;
    let long = line.rows().filter(|row| row.key.param == PERCENT && row.key.bytes >= bytes);
    Ok(long.map(|row| row.quartiles.median).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Finding, testing::sample};

    /// Numbers of 4 ranks: param, bytes, metric with its unit, value.
    type Numbers<'n> = [(u64, u64, &'n str, u64)];

    /// Rows of all one-sided algorithms alike, and of another one.
    fn rows(points: &Numbers<'_>, other: &str, others: &Numbers<'_>) -> Rows {
        let of = |name: &str, numbers: &Numbers<'_>| {
            let numbers = numbers.iter();
            numbers
                .map(|(param, bytes, metric, value)| sample(name, [4, *param, *bytes], metric, *value))
                .collect::<Vec<_>>()
        };
        Rows::pool(ONE_SIDED.iter().flat_map(|algorithm| of(algorithm, points)).chain(of(other, others)))
    }

    #[test]
    fn long_puts_are_compared_with_lines_at_their_distance() {
        let put = "put.throughput kBps";
        let lines = [(1, 1, put, 2000), (9, 1, put, 222)];
        let measured = rows(&[(1, 64, put, 1900), (1, 32, put, 100), (9, 64, put, 211)], "lines", &lines);
        assert!((share_of_lines(&measured, 64).unwrap() - 0.95).abs() < 1e-9);
        assert_eq!(share_of_lines(&measured, 128), Err(Missing));
        assert_eq!(share_of_lines(&rows(&[(1, 64, put, 1900)], "lines", &[]), 64), Err(Missing));
    }

    #[test]
    fn overlaps_are_computed_from_three_times() {
        let of = |bytes, origin, target| {
            let times = [("comm", 1000, 1000), ("compute", 1200, 1200), ("total", origin, target)];
            times.map(|(what, origin, target)| {
                [("origin", origin), ("target", target)]
                    .map(|(side, value)| (PERCENT, bytes, format!("{side}.{what} ns"), value))
            })
        };
        let (points, engine) = (of(1 << 20, 2200, 1250), of(65536, 1290, 1290));
        let named = |numbers: &[[(u64, u64, String, u64); 2]; 3]| -> Vec<_> {
            let all = numbers.concat();
            all.into_iter().map(|(param, bytes, metric, value)| (param, bytes, &*metric.leak(), value)).collect()
        };
        let mut rows = rows(&named(&points), "copy-engine", &named(&engine));
        (OVERLAP.derive)(&mut rows);
        let findings: Vec<_> = OVERLAP.claims.iter().map(|claim| claim.finding(&rows).unwrap()).collect();
        assert!(findings.iter().all(Finding::holds));
        assert_eq!(
            findings.iter().map(|found| found.measured.as_str()).collect::<Vec<_>>(),
            ["0.000", "0.910", "0.950"]
        );
    }

    #[test]
    fn skew_is_told_by_growth() {
        let messages =
            [(0, "origin ns", 1000), (0, "compute ns", 0), (256, "origin ns", 5000), (256, "compute ns", 5000)];
        let messages = messages.map(|(param, metric, value)| (param, 1, metric, value));
        let rows = rows(&[(0, 1, "origin ns", 1000), (256, 1, "origin ns", 1200)], "two-sided", &messages);
        let findings: Vec<_> = SKEW.claims.iter().map(|claim| claim.finding(&rows).unwrap()).collect();
        assert!(findings.iter().all(|finding| !finding.holds()));
        assert_eq!((findings[0].measured.as_str(), findings[1].measured.as_str()), ("20.000 %", "0.800 of it"));
    }

    #[test]
    fn synchronisation_is_compared_at_each_number() {
        let ours = [(1, 0, "target ns", 400), (2, 0, "target ns", 800)];
        let rows = rows(&ours, "two-sided", &[(1, 0, "target ns", 1000), (2, 0, "target ns", 4000)]);
        assert_eq!(most_of(&rows, "target", "default", "two-sided"), Ok(0.4));
        assert_eq!(most_of(&rows, "origin", "default", "two-sided"), Err(Missing));
    }
}
