//! The table of software's prices: from what the emulated board counts for calls, and what the simulator charges for the same
//! calls and for how many operations of the HAL in them.
//!
//! An operation of the HAL takes what was counted for it alone. What a call of a protocol takes beside those in it is
//! linear in their number, in that of its peers and, where calls of several lengths were counted, in that of its lines, next to what was counted in all its calls. What L2 takes for code that L1 does not
//! have is in that, and is taken off of operations of the HAL, which have theirs there where they follow each other.

use crate::bench::{Finding, Missing, Rows, excess, table};
use descriptions::{SoftwarePrices, SpanPrice, boards::Board};
use std::{collections::BTreeMap, iter};

/// What the algorithms of rows end with that are the simulator's, with everything priced.
const SIMULATED: &str = "@scc-priced";

/// Prices are in tenths of cycles.
const TENTHS: f64 = 10.0;

/// By how much the table may differ from what is measured, in percent and in cycles: compilers differ a little.
const BAND: (f64, f64) = (5.0, 3.0);

/// A call: algorithm, metric, parameter and bytes of its rows.
struct Call(&'static str, &'static str, u64, u64);

/// A span, and calls that tell what it takes.
struct Priced {
    /// The one that is charged once.
    span: &'static str,
    /// The one that carries it on, whose operations take what those in it take.
    end: Option<&'static str>,
    /// Whether it is for as many peers as the parameter of its calls says.
    has_peers: bool,
    calls: &'static [Call],
}

/// A span that is for no peers, or for one.
const fn priced(span: &'static str, calls: &'static [Call]) -> Priced {
    Priced { span, end: None, has_peers: false, calls }
}

/// A collective operation of few words and of many.
macro_rules! collective {
    ($span:literal) => {
        priced(
            $span,
            &[
                Call(concat!($span, "-2"), "root", 0, 0),
                Call(concat!($span, "-2"), "others", 0, 0),
                Call(concat!($span, "-128"), "root", 0, 0),
                Call(concat!($span, "-128"), "others", 0, 0),
            ],
        )
    };
}

const PRICED: &[Priced] = &[
    Priced {
        has_peers: true,
        ..priced(
            "start",
            &[
                Call("pscw-default", "start", 1, 0),
                Call("pscw-default", "start", 13, 0),
                Call("pscw-default", "start", 31, 0),
                Call("pscw-scosco", "start", 13, 0),
            ],
        )
    },
    Priced {
        has_peers: true,
        ..priced(
            "complete",
            &[
                Call("pscw-default", "complete", 1, 0),
                Call("pscw-default", "complete", 13, 0),
                Call("pscw-default", "complete", 31, 0),
                Call("pscw-scosco", "complete", 1, 0),
                Call("pscw-scosco", "complete", 13, 0),
                Call("pscw-scosco", "complete", 31, 0),
            ],
        )
    },
    priced("post", &[Call("pscw-default", "post", 13, 0), Call("pscw-scosco", "post", 13, 0)]),
    priced("wait", &[Call("pscw-default", "wait", 13, 0), Call("pscw-scosco", "wait", 13, 0)]),
    priced(
        "barrier",
        &[
            Call("barrier-default", "root", 0, 0),
            Call("barrier-default", "inner", 0, 0),
            Call("barrier-default", "others", 0, 0),
        ],
    ),
    Priced {
        end: Some("end of rounds"),
        ..priced(
            "arrive in rounds",
            &[
                Call("barrier-dissemination", "root", 0, 0),
                Call("barrier-dissemination", "others", 0, 0),
                Call("barrier-dissemination-of-2", "root", 0, 0),
                Call("barrier-dissemination-of-2", "others", 0, 0),
            ],
        )
    },
    Priced {
        end: Some("end at the root"),
        ..priced(
            "arrive at the root",
            &[
                Call("barrier-rcce-linear", "root", 0, 0),
                Call("barrier-rcce-linear", "others", 0, 0),
                Call("barrier-rcce-linear-of-2", "root", 0, 0),
                Call("barrier-rcce-linear-of-2", "others", 0, 0),
            ],
        )
    },
    Priced {
        end: Some("end in a tree"),
        ..priced(
            "arrive in a tree",
            &[
                Call("barrier-group", "root", 0, 0),
                Call("barrier-group", "inner", 0, 0),
                Call("barrier-group", "others", 0, 0),
            ],
        )
    },
    priced(
        "broadcast",
        &[
            Call("broadcast-default", "root", 0, 0),
            Call("broadcast-default", "others", 0, 0),
            Call("broadcast-default-3072", "root", 0, 0),
            Call("broadcast-default-3072", "others", 0, 0),
        ],
    ),
    priced(
        "broadcast in chunks",
        &[
            Call("broadcast-oc-k7", "root", 0, 0),
            Call("broadcast-oc-k7", "inner", 0, 0),
            Call("broadcast-oc-k7", "others", 0, 0),
            Call("broadcast-oc-k7-3072", "root", 0, 0),
            Call("broadcast-oc-k7-3072", "inner", 0, 0),
            Call("broadcast-oc-k7-3072", "others", 0, 0),
        ],
    ),
    collective!("reduce"),
    collective!("allreduce"),
    collective!("scan"),
    collective!("reduce-scatter"),
    collective!("gather"),
    collective!("scatter"),
    collective!("allgather"),
    collective!("alltoall"),
    priced("send", &[Call("send-receive", "send", 0, 32)]),
    priced("receive", &[Call("send-receive", "receive", 0, 32)]),
    Priced {
        end: Some("send chunks"),
        ..priced(
            "send in chunks",
            &[
                Call("send-receive", "send", 0, 64),
                Call("send-receive", "send", 0, 1024),
                Call("send-receive", "send", 0, 8192),
            ],
        )
    },
    Priced {
        end: Some("receive chunks"),
        ..priced(
            "receive in chunks",
            &[
                Call("send-receive", "receive", 0, 64),
                Call("send-receive", "receive", 0, 1024),
                Call("send-receive", "receive", 0, 8192),
            ],
        )
    },
    priced(
        "send tagged",
        &[
            Call("send-receive-tagged", "send", 0, 8),
            Call("send-receive-tagged", "send", 0, 104),
            Call("send-receive-tagged", "send", 0, 200),
        ],
    ),
    priced(
        "receive tagged",
        &[
            Call("send-receive-tagged", "receive", 0, 8),
            Call("send-receive-tagged", "receive", 0, 104),
            Call("send-receive-tagged", "receive", 0, 200),
        ],
    ),
    priced(
        "send by sections",
        &[
            Call("send-receive-sections", "send", 0, 8),
            Call("send-receive-sections", "send", 0, 104),
            Call("send-receive-sections", "send", 0, 200),
        ],
    ),
    priced(
        "receive by sections",
        &[
            Call("send-receive-sections", "receive", 0, 8),
            Call("send-receive-sections", "receive", 0, 104),
            Call("send-receive-sections", "receive", 0, 200),
        ],
    ),
];

/// What is left of cycles in which so many lines of code came from L2.
fn with_code(cycles: f64, misses: f64) -> f64 {
    let board = Board::built_in("scc").expect("the SCC is a board that comes with Atoll");
    let l2_cycles = board.mesh().expect("the SCC has a mesh").hardware.l2_cycles;
    (cycles - misses * l2_cycles as f64).max(0.0)
}

impl Call {
    /// Cycles that the board has counted. In them is what L2 takes for code that L1 does not have, as others ran before: a barrier, and what
    /// makes the call find what it waits for.
    fn counted(&self, rows: &Rows) -> Result<f64, Missing> {
        let Self(algorithm, metric, param, bytes) = self;
        rows.median(algorithm, &format!("{metric}.cycles"), *param, *bytes)
    }

    /// Cycles that the simulator has charged, operations of the HAL, and lines that the call is about.
    fn charged(&self, rows: &Rows) -> Result<[f64; 3], Missing> {
        let Self(algorithm, metric, param, bytes) = self;
        let median = |of| rows.median(&format!("{algorithm}{SIMULATED}"), &format!("{metric}.{of}"), *param, *bytes);
        Ok([median("cycles")?, median("operations")?, median("lines")?])
    }

    fn name(&self) -> String {
        let Self(algorithm, metric, param, bytes) = self;
        format!("{algorithm} {metric}, {}", param + bytes)
    }
}

impl Priced {
    /// What is in the table now.
    fn price(&self, table: &SoftwarePrices) -> SpanPrice {
        table.span(self.span)
    }

    /// What it should be, by the table that the simulator has charged by.
    fn measured(&self, rows: &Rows, by: &SoftwarePrices) -> Result<SpanPrice, Missing> {
        let price = self.price(by);
        let point = |call: &Call| {
            let [charged, operations, lines] = call.charged(rows)?;
            // The first parameter of an epoch is how many peers it has.
            let of = [1.0, if self.has_peers { call.2 as f64 } else { 0.0 }, operations, lines];
            let prices = [price.once, price.peer, price.each, price.line].map(|tenths| tenths as f64 / TENTHS);
            let within = charged - of.iter().zip(prices).map(|(number, price)| number * price).sum::<f64>();
            let counted = call.counted(rows)?;
            Ok((of, counted - within, counted.max(1.0)))
        };
        let mut points = self.calls.iter().map(point).collect::<Result<Vec<_>, _>>()?;
        let [.., lines] = points[0].0;
        if points.iter().all(|([.., others], ..)| *others == lines) {
            // What each has as often as the others is a part of what it takes once.
            points.iter_mut().for_each(|([.., lines], ..)| *lines = 0.0);
        }
        let [once, peer, each, line] = coefficients(&points).map(|cycles| (cycles * TENTHS).round() as u64);
        Ok(SpanPrice { once, peer, each, line })
    }
}

/// The coefficients, none of them negative, by which numbers of things make what they take together, next to the points (numbers,
/// what they take, and what that is a part of) by the squares of their distances in parts of that.
fn coefficients<const N: usize>(points: &[([f64; N], f64, f64)]) -> [f64; N] {
    const ROUNDS: usize = 20_000;
    let mut found = [0.0; N];
    for place in (0..N).cycle().take(ROUNDS * N) {
        // The best for this one while the others stay.
        let (mut slope, mut square) = (0.0, 0.0);
        for (numbers, taken, whole) in points {
            let others: f64 = (0..N).filter(|other| *other != place).map(|other| numbers[other] * found[other]).sum();
            slope += numbers[place] * (taken - others) / (whole * whole);
            square += numbers[place] * numbers[place] / (whole * whole);
        }
        found[place] = if square > 0.0 { f64::max(slope / square, 0.0) } else { 0.0 };
    }
    found
}

/// The table that these rows make.
fn measured(rows: &Rows) -> Result<SoftwarePrices, Missing> {
    let by = SoftwarePrices::measured();
    let operation = |what: &str, part: &str| {
        let median = |of| {
            let line = rows.line(what, &format!("{part}.{of}")).ok()?;
            Some(line.rows().next()?.quartiles.median)
        };
        // Of some only cycles are counted, in loops.
        Some(with_code(median("cycles")?, median("code-misses").unwrap_or(0.0)).round() as u64)
    };
    let mut spans: BTreeMap<String, SpanPrice> = BTreeMap::new();
    for priced in PRICED {
        let SpanPrice { once, peer, each, line } = priced.measured(rows, &by)?;
        let first = spans.entry(priced.span.to_owned()).or_default();
        (first.once, first.peer, first.line) = (once, peer, line);
        for name in iter::once(priced.span).chain(priced.end) {
            spans.entry(name.to_owned()).or_default().each = each;
        }
    }
    SoftwarePrices::new(operation, spans).ok_or(Missing)
}

/// The file that is written beside the rows, with its name.
pub(super) fn file(rows: &Rows) -> Option<(&'static str, String)> {
    Some(("software.toml", measured(rows).ok()?.text()))
}

/// Whether the table's operations of the HAL are what these rows say. What protocols take beside them follows from charges by the
/// table that there was: where operations have changed, it is right when it has been measured once more.
pub(super) fn is_measured(rows: &Rows) -> Result<Finding, Missing> {
    let (table, new) = (SoftwarePrices::measured(), measured(rows)?);
    let operations = SoftwarePrices::OPERATIONS.iter().map(|(what, part)| {
        (format!("{what}.{part}"), table.operation(what, part) as f64, new.operation(what, part) as f64)
    });
    let (percent, cycles) = BAND;
    let other = operations.into_iter().find(|(_, old, new)| (new - old).abs() > (old * percent / 100.0).max(cycles));
    let told =
        other.as_ref().map_or_else(|| "as measured".into(), |(name, old, new)| format!("{name}: {new}, not {old}"));
    Ok(Finding::new(told, format!("+- {percent} % or {cycles} cycles"), other.is_none()))
}

/// By how much what the simulator charges for calls differs from what the board counts: in the median, and at most.
fn deviations(rows: &Rows) -> Result<Vec<(f64, String)>, Missing> {
    let of = |call: &Call| Ok((excess(call.charged(rows)?[0], call.counted(rows)?).abs(), call.name()));
    let mut all = PRICED.iter().flat_map(|priced| priced.calls).map(of).collect::<Result<Vec<_>, _>>()?;
    all.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    Ok(all)
}

/// Whether calls are charged in the simulator what the board counts, in the median.
pub(super) fn median_deviation(rows: &Rows) -> Result<f64, Missing> {
    let all = deviations(rows)?;
    all.get(all.len() / 2).map(|(percent, _)| *percent).ok_or(Missing)
}

/// The largest deviation, and of which call.
pub(super) fn worst_deviation(rows: &Rows) -> Result<String, Missing> {
    let all = deviations(rows)?;
    all.last().map(|(percent, call)| format!("{percent:.1} % ({call})")).ok_or(Missing)
}

/// What calls take of a core's own cycles, by both.
pub(super) fn report(rows: &Rows) -> String {
    let shown =
        |value: Result<f64, Missing>| value.map_or_else(|Missing| "-".to_owned(), |value| format!("{value:.0}"));
    let line = |call: &Call| {
        let charged = call.charged(rows);
        vec![
            call.name(),
            shown(call.counted(rows)),
            shown(charged.map(|[cycles, ..]| cycles)),
            shown(charged.map(|[_, operations, _]| operations)),
            shown(charged.map(|[.., lines]| lines)),
        ]
    };
    let lines = PRICED.iter().flat_map(|priced| priced.calls).map(line);
    table::aligned(&["own cycles of", "board", "simulator", "operations", "lines"], lines, |column| column > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::sample;

    #[test]
    fn no_coefficient_is_negative() {
        let is_near = |found: [f64; 2], expected: [f64; 2]| {
            assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-6), "{found:?}");
        };
        let point = |x: f64, y: f64, whole: f64| ([1.0, x], y, whole);
        is_near(coefficients(&[point(1.0, 5.0, 7.0), point(2.0, 8.0, 9.0), point(10.0, 32.0, 40.0)]), [2.0, 3.0]);
        is_near(coefficients(&[point(1.0, 1.0, 1.0), point(2.0, 4.0, 1.0)]), [0.0, 1.8]);
        is_near(coefficients(&[point(1.0, 4.0, 1.0), point(2.0, 2.0, 1.0)]), [3.0, 0.0]);
        is_near(coefficients(&[([1.0, 0.0], 5.0, 1.0)]), [5.0, 0.0]);
    }

    /// Rows of a board whose calls take `factor` times what the simulator charges by the table.
    fn rows(factor: u64) -> Rows {
        let table = SoftwarePrices::measured();
        let operations = SoftwarePrices::OPERATIONS.iter().map(|(what, part)| {
            sample(what, [48, 0, 32], &format!("{part}.cycles count"), factor * table.operation(what, part))
        });
        let calls = PRICED.iter().flat_map(|priced| priced.calls.iter().map(move |call| (priced, call))).enumerate();
        let of_calls = calls.flat_map(|(place, (priced, Call(algorithm, metric, param, bytes)))| {
            let SpanPrice { once, peer, each, line } = priced.price(&SoftwarePrices::measured());
            let (operations, lines) = (place as u64 % 7 + 1, bytes / 32);
            let peers = if priced.has_peers { *param } else { 0 };
            let charged = 1_000 + (once + peer * peers + each * operations + line * lines) / 10;
            let key = [48, *param, *bytes];
            let simulated = format!("{algorithm}{SIMULATED}");
            [
                sample(algorithm, key, &format!("{metric}.cycles count"), factor * charged),
                sample(&simulated, key, &format!("{metric}.cycles count"), charged),
                sample(&simulated, key, &format!("{metric}.operations count"), operations),
                sample(&simulated, key, &format!("{metric}.lines count"), lines),
            ]
        });
        Rows::pool(operations.chain(of_calls).collect::<Vec<_>>())
    }

    #[test]
    fn a_table_that_is_measured_again_is_the_same() {
        let (rows, other) = (rows(1), rows(2));
        assert!(is_measured(&rows).unwrap().holds());
        assert!(!is_measured(&other).unwrap().holds());
        let ((name, text), old) = (file(&rows).unwrap(), SoftwarePrices::measured());
        let new = SoftwarePrices::parse(&text).unwrap();
        assert_eq!((name, new.operation("put", "line")), ("software.toml", old.operation("put", "line")));
        assert_eq!((median_deviation(&rows), median_deviation(&other)), (Ok(0.0), Ok(50.0)));
        assert!(
            worst_deviation(&rows).unwrap().starts_with("0.0 %")
                && worst_deviation(&other).unwrap().starts_with("50.0 %")
        );
        assert_eq!(median_deviation(&Rows::pool([])), Err(Missing));
    }
}
