//! The simulator, in which everything has its price, beside the emulated board, which executes our very instructions: how far
//! their times differ.

use crate::bench::{BOARD, Bench, Finding, Missing, Rows, Sweep, everywhere, excess, table};

/// What the algorithms of rows end with that are the simulator's, with everything priced.
const SIMULATED: &str = "@scc-priced";

/// What is compared: how long an operation takes.
const TIMES: [&str; 5] = ["origin", "target", "latency", "last-to-last", "half-round-trip"];

/// By how much times may differ in the median, and any, in percent.
const MEDIAN: f64 = 10.0;
const ANY: f64 = 20.0;

/// Runs on both.
const BOTH: &str = "machine={scc-board|scc priced}";

const BROADCASTS: &str = "algorithm={default|oc-k7}";
const BARRIERS: &str = "algorithm=default,dissemination,rcce-linear";
const EPOCHS: &str = "{cores=48 targets=31|cores=13 targets=12|cores=2 targets=1}";

/// The default of each family and the baseline of its paper; one line, 96 lines and 8 KB; 2, 13 and 48 cores.
///
/// Nothing is demanded of all: what is outside of 10 % in the median and 20 % in any, and why, is in `ARCHITECTURE.md`, 8.1.
pub(crate) const ALL: Bench = Bench {
    name: "held-together",
    about: "times of the simulator, in which everything has its price, beside those of the emulated board: the default of \
            each family and its paper's baseline, of one line, 96 lines and 8 KB, on 2, 13 and 48 cores",
    runs: &[
        Sweep(
            "bench-broadcast",
            &[
                BOTH,
                BROADCASTS,
                // The first broadcast of a run finds neither its code nor its data in the caches; of nine it is not the median.
                "{sizes=28 repetitions=9|sizes=3072,8192 repetitions=3}",
                "cores={48|13|2}",
                "modes=separated",
            ],
        ),
        Sweep("bench-barrier", &[BOTH, BARRIERS, "cores={48|13|2}", "repetitions=20"]),
        Sweep("bench-pscw", &[BOTH, "class={default|scosco}", EPOCHS]),
        Sweep("bench-two-sided", &[BOTH, "algorithm={default|rcce}", "bytes={32|3072|8192}", "cores={48|13|2}"]),
    ],
    derive: epochs,
    report: Some(report),
    claims: &[
        everywhere("by how much simulator and emulated board differ in the median")
            .reports(|rows| median(rows).map(|percent| format!("{percent:.1} %"))),
        everywhere("by how much simulator and emulated board differ at most")
            .reports(|rows| worst(rows).map(|finding| finding.measured)),
    ],
    ..Bench::PLAIN
};

/// Those of them that are held to the bounds, as far as they are quick to measure.
pub(crate) const SHORT: Bench = Bench {
    name: "held-together-short",
    about: "twelve of the times of `held-together`, which are held within 10 % in the median and 20 % in any: none of 48 ranks",
    runs: &[
        Sweep(
            "bench-broadcast",
            &[BOTH, "algorithm=default", "sizes=3072,8192", "cores=13", "modes=separated repetitions=3"],
        ),
        Sweep("bench-barrier", &[BOTH, BARRIERS, "cores=13", "repetitions=10"]),
        Sweep("bench-pscw", &[BOTH, "class=scosco", "cores=13 targets=12", "repetitions=3"]),
        Sweep("bench-two-sided", &[BOTH, "algorithm=default", "bytes={3072|8192}", "cores=2", "repetitions=6"]),
        Sweep("bench-two-sided", &[BOTH, "algorithm=rcce", "bytes=8192", "cores=13", "repetitions=6"]),
    ],
    derive: |rows| {
        epochs(rows);
        // Barriers that follow each other at once are quicker on the board than what was counted.
        rows.retain(|row| row.key.metric != "latency" || row.key.bytes > 0);
    },
    claims: &[
        everywhere("simulator and emulated board differ by 10 % at most in the median").at_most(MEDIAN, "%", median),
        everywhere("simulator and emulated board differ by 20 % at most in any").holds(worst),
    ],
    ..ALL
};

/// Adds what both sides of an epoch take.
fn epochs(rows: &mut Rows) {
    rows.add_sum_of_medians("origin", &["start", "complete"]);
    rows.add_sum_of_medians("target", &["post", "wait"]);
}

/// A time: what it is of, and how long it is on the board and in the simulator.
struct Pair {
    name: String,
    board: f64,
    simulator: f64,
}

impl Pair {
    /// By how much the simulator's is longer, in percent.
    fn excess(&self) -> f64 {
        excess(self.simulator, self.board)
    }
}

/// All that was measured on both.
fn pairs(rows: &Rows) -> Result<Vec<Pair>, Missing> {
    let is_time = |metric: &str| TIMES.contains(&metric);
    let of_board = rows.iter().filter(|row| row.key.variant == BOARD && is_time(&row.key.metric));
    let pair = |row: &crate::bench::Row| {
        let key = &row.key;
        let same = |other: &&crate::bench::Row| {
            other.key.variant == SIMULATED
                && (&other.key.algorithm, other.key.ranks, other.key.param, other.key.bytes, &other.key.metric)
                    == (&key.algorithm, key.ranks, key.param, key.bytes, &key.metric)
        };
        let simulator = rows.iter().find(same).ok_or(Missing)?.quartiles.median;
        let name = format!("{} {}, {} ranks, {}, {} bytes", key.algorithm, key.metric, key.ranks, key.param, key.bytes);
        Ok(Pair { name, board: row.quartiles.median, simulator })
    };
    let pairs = of_board.map(pair).collect::<Result<Vec<_>, _>>()?;
    if pairs.is_empty() { Err(Missing) } else { Ok(pairs) }
}

fn median(rows: &Rows) -> Result<f64, Missing> {
    let mut all: Vec<_> = pairs(rows)?.iter().map(|pair| pair.excess().abs()).collect();
    all.sort_by(f64::total_cmp);
    Ok(f64::midpoint(all[(all.len() - 1) / 2], all[all.len() / 2]))
}

fn worst(rows: &Rows) -> Result<Finding, Missing> {
    Finding::worst(pairs(rows)?.into_iter().map(|pair| (pair.excess().abs(), pair.name)), ANY)
}

/// All pairs.
fn report(rows: &Rows) -> String {
    let line = |pair: &Pair| {
        let [board, simulator] = [pair.board, pair.simulator].map(|time| format!("{time:.2}"));
        vec![pair.name.clone(), board, simulator, format!("{:+.1} %", pair.excess())]
    };
    let pairs = pairs(rows).unwrap_or_default();
    table::aligned(&["time", "board, us", "simulator, us", "differs"], pairs.iter().map(line), |column| column > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Run, Samples, testing::sample};

    fn rows(simulated: &[(&str, u64)]) -> Rows {
        let one = |(name, time): &(&str, u64)| {
            let key = [13, 13, 0];
            [
                sample(&format!("{name}@scc-board"), key, "latency ns", 1_000),
                sample(&format!("{name}@scc-priced"), key, "latency ns", *time),
            ]
        };
        Rows::pool(simulated.iter().flat_map(one).collect::<Vec<_>>())
    }

    #[test]
    fn times_are_compared_pair_by_pair() {
        let near = rows(&[("a", 1_100), ("b", 950), ("c", 1_190)]);
        assert!((median(&near).unwrap() - 10.0).abs() < 1e-6 && worst(&near).unwrap().holds());
        let far = rows(&[("a", 1_000), ("b", 790)]);
        assert!((median(&far).unwrap() - 10.5).abs() < 1e-6, "half of them are below, and half above");
        let finding = worst(&far).unwrap();
        assert!(!finding.holds() && finding.measured.contains("b latency"), "{finding:?}");
        assert!(report(&far).contains("-21.0 %"), "{}", report(&far));
        assert_eq!(median(&Rows::pool([])), Err(Missing));
        let alone = [sample("a@scc-board", [13, 13, 0], "latency ns", 1)];
        assert_eq!(median(&Rows::pool(alone)), Err(Missing));
    }

    /// What a run of the short bench sends.
    fn sent(run: &Run) -> Vec<Samples> {
        let word = |key: &str| run.value::<String>(key);
        let list = |words: Option<String>| -> Vec<String> {
            words.unwrap_or_else(|| "0".into()).split(',').map(str::to_owned).collect()
        };
        let metrics: &[&str] = match run.program {
            "bench-broadcast" => &["latency"],
            "bench-barrier" => &["latency", "last-to-last"],
            "bench-pscw" => &["start", "complete", "post", "wait"],
            "bench-two-sided" => &["half-round-trip"],
            other => panic!("what does {other} send?"),
        };
        let ranks = run.cores().unwrap().into();
        // Messages go over three distances where there are as many: to the nearest rank, half-way and to the farthest one.
        let params = match (run.program, ranks) {
            ("bench-two-sided", 13) => 0..3,
            _ => 0..1,
        };
        let mut samples = Vec::new();
        for algorithm in list(word("algorithm").or(word("class"))) {
            for bytes in list(word("sizes").or(word("bytes"))) {
                let name = format!("{}-{algorithm}{}", run.program, run.suffix()).replace("bench-pscw-", "");
                for param in params.clone() {
                    let key = [ranks, param, bytes.parse().unwrap()];
                    samples.extend(metrics.iter().map(|metric| sample(&name, key, &format!("{metric} ns"), 1_000)));
                }
            }
        }
        samples
    }

    #[test]
    fn twelve_times_are_held() {
        let mut rows = Rows::pool(SHORT.runs().iter().flat_map(sent).collect::<Vec<_>>());
        (SHORT.derive)(&mut rows);
        let names: Vec<_> = pairs(&rows).unwrap().into_iter().map(|pair| pair.name).collect();
        assert_eq!(names.len(), 12, "{names:#?}");
    }

    #[test]
    fn each_time_is_measured_on_both() {
        for bench in [ALL, SHORT] {
            let runs = bench.runs();
            let count = |variant: &str| runs.iter().filter(|run| run.suffix() == variant).count();
            assert!(count(BOARD) > 0 && count(BOARD) == count(SIMULATED) && count(BOARD) * 2 == runs.len());
        }
    }
}
