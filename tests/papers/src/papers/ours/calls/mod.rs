//! The table of what calls of our library from C take: what the emulated board takes longer for a call than the simulator, which
//! charges operations of the machine, and protocols, by tables of their own.

use crate::{
    bench::{Bench, Finding, Machine, Missing, Rows, Samples, Setting, everywhere, table},
    xtask,
};
use anyhow::Result;
use descriptions::{CallPrice, CallPrices};
use host::{progress::Progress, workspace};

/// Tools that run the program, and what rows of each are called.
const BOARD: (&str, &str) = ("board", "calls@scc-board");
const SIMULATOR: (&str, &str) = ("sim", "calls@scc-priced");

/// What is added to the tools' options for each half of the program.
const HALVES: [&[&str]; 2] = [&[], &["-D", "GORY"]];

/// Ranks that are measured.
const RANKS: u32 = 2;

/// Calls, as the table of functions names them.
const CALLS: [&str; 12] = [
    CLOCK,
    "put",
    "get",
    "flag_write",
    "flag_read",
    "flag_wait",
    "barrier",
    "send",
    "receive",
    "broadcast",
    "reduce",
    "acquire",
];

/// The look at the clock that is in the times of all others.
const CLOCK: &str = "now_ns";

/// The call that has been made before a program begins, by what sets RCCE up: the program's first one is none.
const MADE_BEFORE: &str = "barrier";

/// Cycles of a core of the SCC in a microsecond, as rows have times.
const CYCLES_PER_US: f64 = 533.0;

/// By how much the table may differ from what is measured, in percent and in cycles: compilers differ a little.
const BAND: (f64, f64) = (10.0, 40.0);

/// Calls of RCCE on two ranks.
pub(crate) const CALLS_IN_C: Bench = Bench {
    name: "c-calls",
    about: "calls of RCCE from C on the emulated board and in the simulator, and what they make of the simulator's times",
    measure: Some(measure),
    // It is more than runs of the image.
    only_on: Some(Machine::Simulated(host::machine::Machine::SCC)),
    report: Some(report),
    file: Some(|rows| Some(("calls-in-c.toml", measured(rows).ok()?.text()))),
    claims: &[everywhere("the table of what calls in C take is what is measured").holds(is_measured)],
    ..Bench::PLAIN
};

fn measure(setting: &Setting<'_>) -> Result<Vec<Samples>> {
    let progress = Progress::bar("calls from C", 2 * HALVES.len() as u64);
    let source = workspace::root().join("tests/papers/src/papers/ours/calls/calls.c");
    let mut all = Vec::new();
    for (tool, name) in [BOARD, SIMULATOR] {
        for half in HALVES {
            let tool = [&[tool], half].concat();
            all.extend(xtask::run_c(&tool, &source, RANKS, &[name.to_owned()], setting.limit)?.samples);
            progress.step();
        }
    }
    Ok(all)
}

/// Cycles of a call, or of its first, without the look at the clock beside it.
fn cycles(rows: &Rows, by: &str, call: &str, which: &str) -> Result<f64, Missing> {
    let of = |call: &str, which: &str| rows.median(by, &format!("{call}.{which}"), 0, 0);
    let clock = if call == CLOCK { 0.0 } else { of(CLOCK, "each")? };
    Ok((of(call, which)? - clock) * CYCLES_PER_US)
}

/// What the table should be, by the one that the simulator has charged by.
fn measured(rows: &Rows) -> Result<CallPrices, Missing> {
    let by = CallPrices::measured();
    let price = |name: &&str| {
        let [each, first] = ["each", "first"]
            .map(|which| Ok(cycles(rows, BOARD.1, name, which)? - cycles(rows, SIMULATOR.1, name, which)?));
        let (each, first, old) = (each?, first?, by.of(name));
        let rounded = |cycles: f64| cycles.max(0.0).round() as u64;
        let first = if *name == MADE_BEFORE { 0.0 } else { first - each + old.first as f64 };
        Ok(((*name).to_owned(), CallPrice { each: rounded(each + old.each as f64), first: rounded(first) }))
    };
    CALLS.iter().map(price).collect()
}

fn is_measured(rows: &Rows) -> Result<Finding, Missing> {
    let (table, new) = (CallPrices::measured(), measured(rows)?);
    let (percent, cycles) = BAND;
    let differs = |old: u64, new: u64| old.abs_diff(new) as f64 > (old as f64 * percent / 100.0).max(cycles);
    let other = new.all().find(|(name, new)| {
        let old = table.of(name);
        differs(old.each, new.each) || differs(old.first, new.first)
    });
    let told =
        other.map_or_else(|| "as measured".into(), |(name, new)| format!("{name}: {new:?}, not {:?}", table.of(name)));
    Ok(Finding::new(told, format!("+- {percent} % or {cycles} cycles"), other.is_none()))
}

/// What calls take by both.
fn report(rows: &Rows) -> String {
    let lines = CALLS.iter().map(|name| {
        let shown = |by: &str, which: &str| {
            cycles(rows, by, name, which).map_or_else(|Missing| "-".to_owned(), |cycles| format!("{cycles:.0}"))
        };
        let [board, simulator] = [BOARD.1, SIMULATOR.1].map(|by| ["each", "first"].map(|which| shown(by, which)));
        [vec![(*name).to_owned()], board.to_vec(), simulator.to_vec()].concat()
    });
    table::aligned(&["cycles of", "board", "first", "simulator", "first"], lines, |column| column > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::sample;

    /// Rows of a board that takes `more` cycles longer than the table says.
    fn rows(more: f64) -> Rows {
        let table = CallPrices::measured();
        let row = |by: &str, name: &str, which: &str, cycles: f64| {
            sample(by, [2, 0, 0], &format!("{name}.{which} ns"), (cycles * 1e3 / CYCLES_PER_US).round() as u64)
        };
        let all = CALLS.iter().flat_map(|name| {
            let CallPrice { each, first } = table.of(name);
            let (each, first) = (each as f64, (each + first) as f64);
            // The clock is in all others.
            let clock = if *name == CLOCK { 0.0 } else { 2_000.0 + table.of(CLOCK).each as f64 };
            [
                row(SIMULATOR.1, name, "each", clock + each),
                row(SIMULATOR.1, name, "first", clock + first),
                row(BOARD.1, name, "each", clock + each + more),
                row(BOARD.1, name, "first", clock + first + more),
            ]
        });
        Rows::pool(all.collect::<Vec<_>>())
    }

    #[test]
    fn a_table_that_is_measured_again_is_the_same() {
        assert!(is_measured(&rows(0.0)).unwrap().holds());
        let other = is_measured(&rows(5_000.0)).unwrap();
        assert!(!other.holds());
        assert_eq!(is_measured(&Rows::pool([])).err(), Some(Missing));
    }
}
