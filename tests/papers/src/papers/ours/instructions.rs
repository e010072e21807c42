//! What our own instructions cost on the board: how many a call executes, beside the budget that it has, and how many cycles
//! of its own a core spends on them.

use super::software;
use super::with_instructions::{self, BARRIER, BROADCAST, DISSEMINATION, EPOCHS, OC_BCAST, RCCE};
use crate::bench::{Bench, Finding, Machine, Missing, Rows, Sweep, everywhere, table};

/// Instructions of a call.
struct Budget {
    algorithm: &'static str,
    metric: &'static str,
    /// The parameter that the row has.
    param: u64,
    /// What it is to be, at most.
    goal: u64,
    /// What it must not exceed: what was measured when it was written down. Where it is above the goal, the call is not yet
    /// as lean as it is to be.
    most: u64,
}

/// A budget that holds, or one with what was measured instead.
const fn row(algorithm: &'static str, metric: &'static str, param: u64, goal: u64, most: u64) -> Budget {
    Budget { algorithm, metric, param, goal, most }
}

/// Compilers differ a little from version to version.
const BAND_PERCENT: u64 = 5;

const BUDGETS: &[Budget] = &[
    row("pscw-default", "origin", 13, 600, 570),
    row("pscw-default", "origin", 31, 1000, 827),
    row("pscw-default", "post", 1, 150, 144),
    row("pscw-default", "wait", 1, 200, 186),
    row("pscw-scosco", "origin", 13, 3900, 3410),
    row("pscw-scosco", "origin", 31, 9300, 7892),
    row("barrier-default", "root", 0, 400, 154),
    row("barrier-default", "inner", 0, 250, 202),
    row("barrier-default", "others", 0, 150, 91),
    row("barrier-dissemination", "others", 0, 600, 413),
    row("barrier-rcce-linear", "root", 0, 5640, 2516),
    row("broadcast-default", "root", 0, 250, 214),
    row("broadcast-default", "others", 0, 250, 241),
    // A node takes a signal, sends five, of which each finds the rank that it is for and drains, and takes those of seven children.
    row("broadcast-oc-k7", "chunk", 0, 300, 556),
    row("send-receive", "both", 0, 400, 379),
    row("put", "line", 0, 28, 22),
    row("put", "call", 0, 60, 22),
    row("get", "line", 0, 24, 23),
    row("get", "call", 0, 60, 18),
    row("put-made", "line", 0, 45, 34),
    row("put-made", "call", 0, 60, 33),
    row("get-used", "line", 0, 45, 33),
    row("get-used", "call", 0, 60, 28),
    row("word", "load", 0, 25, 19),
    row("word", "store", 0, 25, 18),
    row("register", "acquire", 0, 35, 22),
    row("register", "free", 0, 35, 19),
    // Two for the loop, the load, and the sum that is the program's: an atomic load is not made part of an addition.
    row("element", "load", 0, 4, 4),
    row("element", "store", 0, 4, 4),
];

impl Budget {
    /// What rows say it takes.
    fn measured(&self, rows: &Rows) -> Result<u64, Missing> {
        Ok(rows.line(self.algorithm, self.metric)?.at(self.param)? as u64)
    }

    /// What is refused.
    fn limit(&self) -> u64 {
        self.most * (100 + BAND_PERCENT) / 100
    }

    fn is_met(&self, measured: u64) -> bool {
        measured <= self.goal
    }

    fn name(&self) -> String {
        let Self { algorithm, metric, param, .. } = self;
        if *param == 0 { format!("{algorithm} {metric}") } else { format!("{algorithm} {metric}, {param}") }
    }
}

/// Counts the instructions of calls.
pub(crate) const INSTRUCTIONS: Bench = Bench {
    name: "instructions",
    about: "instructions of calls on the emulated board with an SCC, failed polls apart, beside their budgets; and what \
            they make of the simulator's times",
    runs: &[
        Sweep("bench-instructions", &[]),
        Sweep("bench-instructions", &["cores=2", "only=barriers"]),
        Sweep("bench-instructions", &["cores=8", "only=collectives"]),
        Sweep("bench-instructions", &["machine=scc", "priced"]),
        Sweep("bench-instructions", &["machine=scc", "priced", "cores=2", "only=barriers"]),
        Sweep("bench-instructions", &["machine=scc", "priced", "cores=8", "only=collectives"]),
        Sweep("bench-pscw", &["machine=scc+ideal", "class={default|scosco}", "targets={13|31}"]),
        Sweep(
            "bench-barrier",
            &["machine=scc+ideal", "algorithm=default,dissemination,rcce-linear", "repetitions=500"],
        ),
        Sweep("bench-broadcast", &["machine=scc+ideal", "algorithm={default|oc-k7}", "sizes=28", "modes=separated"]),
    ],
    derive: with_instructions::derive,
    only_on: Some(Machine::Board),
    report: Some(report),
    file: Some(software::file),
    claims: &[
        everywhere("the table of software's prices is what is measured").holds(software::is_measured),
        everywhere("calls are charged in the simulator what the board counts, in the median").at_most(
            10.0,
            "%",
            software::median_deviation,
        ),
        // Calls that each follow others are quicker than those that were counted, and of a broadcast's loops one is dearer than
        // another one.
        everywhere("calls are charged in the simulator what the board counts, the worst")
            .reports(software::worst_deviation),
        everywhere("no call executes more instructions than it did, but for 5 % that compilers differ").holds(|rows| {
            Finding::all(BUDGETS.iter().map(|budget| {
                let (measured, limit) = (budget.measured(rows)?, budget.limit());
                Ok(Finding::new(format!("{}: {measured}", budget.name()), format!("<= {limit}"), measured <= limit))
            }))
        }),
        everywhere("calls that are within their budgets").reports(|rows| {
            let measured = BUDGETS.iter().map(|budget| Ok((budget, budget.measured(rows)?)));
            let measured = measured.collect::<Result<Vec<_>, Missing>>()?;
            let met = measured.iter().filter(|(budget, measured)| budget.is_met(*measured)).count();
            Ok(format!("{met} of {}", BUDGETS.len()))
        }),
        everywhere("with instructions: an origin's epoch with 13 targets is at least 12 times below scosco's")
            .at_least(12.0, "x", |rows| EPOCHS[0][0].times_under(&EPOCHS[0][1], rows)),
        everywhere("with instructions: an origin's epoch with 31 targets is at least 15 times below scosco's")
            .at_least(15.0, "x", |rows| EPOCHS[1][0].times_under(&EPOCHS[1][1], rows)),
        everywhere("with instructions: the default barrier is at least 10 times below RCCE's").at_least(
            10.0,
            "x",
            |rows| BARRIER.times_under(&RCCE, rows),
        ),
        everywhere("with instructions: the default barrier takes at most 0.65 of what dissemination takes").at_most(
            0.65,
            "x",
            |rows| DISSEMINATION.times_under(&BARRIER, rows),
        ),
        everywhere("with instructions: a broadcast of 28 bytes is at least 3 times below OC-Bcast's, k = 7").at_least(
            3.0,
            "x",
            |rows| BROADCAST.times_under(&OC_BCAST, rows),
        ),
        // Without reads before them the stores go out to memory, each time, as no cache allocates a line for a store.
        everywhere("memory that was filled or copied to is in the caches: once more takes at most half").at_most(
            0.5,
            "of it",
            |rows| {
                let of = |metric: &str| rows.line("memory", metric)?.at_bytes(FILLED_BYTES);
                Ok((of("fill-again")? / of("fill")?).max(of("copy-again")? / of("copy")?))
            },
        ),
    ],
    ..Bench::PLAIN
};

/// Bytes that are filled and copied.
const FILLED_BYTES: u64 = 32 << 10;

/// The budgets, and what was measured.
fn report(rows: &Rows) -> String {
    let lines = BUDGETS.iter().map(|budget| {
        let measured = budget.measured(rows);
        let verdict = match measured {
            Ok(measured) if budget.is_met(measured) => "within",
            Ok(_) => "above",
            Err(Missing) => "not measured",
        };
        let shown = measured.map_or_else(|Missing| "-".to_owned(), |measured| measured.to_string());
        vec![budget.name(), budget.goal.to_string(), shown, verdict.to_owned()]
    });
    let budgets =
        table::aligned(&["instructions of", "budget", "measured", ""], lines, |column| [1, 2].contains(&column));
    format!("{budgets}\n\n{}\n\n{}", software::report(rows), with_instructions::report(rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::sample;

    fn rows(change: impl Fn(&Budget) -> u64) -> Rows {
        Rows::pool(BUDGETS.iter().map(|budget| {
            sample(budget.algorithm, [48, budget.param, 0], &format!("{} count", budget.metric), change(budget))
        }))
    }

    #[test]
    fn a_call_that_takes_more_is_named() {
        let check = |rows: &Rows| INSTRUCTIONS.claims[3].check(rows, true, true);
        assert!(check(&rows(|budget| budget.most)).finding.is_some_and(|finding| finding.holds()));
        let more = rows(|budget| if budget.metric == "wait" { budget.limit() + 1 } else { budget.most });
        let finding = check(&more).finding.expect("all rows are there");
        assert!(!finding.holds() && finding.measured.contains(" wait, "), "{finding:?}");
    }

    #[test]
    fn the_table_says_which_budgets_are_met() {
        let text = report(&rows(|budget| if budget.metric == "post" { budget.goal + 1 } else { budget.goal }));
        assert!(text.contains("within") && text.contains("above") && !text.contains("not measured"), "{text}");
    }
}
