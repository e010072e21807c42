//! Measures: runs in-kernel programs, pools what they send, and checks what is claimed about it.

mod all;
mod claims;
mod compare;
mod csv;
mod description;
mod evidence;
mod fit;
mod flame;
mod machine;
mod runs;
mod series;
mod setting;
pub(crate) mod table;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use claims::{Claim, Finding, Number, everywhere, excess, extremes, in_virtual_time, on_scc};
#[cfg(test)]
pub(crate) use description::Run;
pub(crate) use description::{Bench, Column, Sweep};
pub(crate) use evidence::Evidence;
pub(crate) use fit::Fit;
pub(crate) use machine::{BOARD, Machine, Memory, PAPERS_MACHINE, processors};
pub(crate) use series::{Key, Line, Missing, Row, Rows, Samples, Unit};
pub(crate) use setting::Setting;

use crate::{papers, verdict::Verdict};
use anyhow::{Context, Result, bail, ensure};
use claims::Checked;
use clap::Args;
use compare::Comparison;
use host::{command_line, workspace};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// The NAME that stands for all benches.
const ALL: &str = "all";

/// The NAME of `--compare-board`.
const HELD_TOGETHER: &str = "held-together";

/// The NAME that lists all benches.
const LIST: &str = "list";

/// Measure: a table, a CSV file, and claims that are checked
///
/// Runs programs of the image that measure, pools the samples of all ranks, and shows quartiles. All rows go to
/// target/bench/NAME.csv, or NAME-MACHINE.csv for other machines than the default. The exit status is 0 only when
/// every run has succeeded and every claim that could be checked holds. `all` runs all benches, with one line for each, and
/// goes on with the others when one fails.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of a bench; `all` of them, or `list` to show them
    #[arg(required_unless_present = "compare_board", default_value_if("compare_board", "true", HELD_TOGETHER))]
    name: String,

    /// Compare the simulator's times, in which everything has its price, with the emulated board's: the bench
    /// `held-together`
    #[arg(long, conflicts_with_all = ["name", "compare"])]
    compare_board: bool,

    /// Show what has changed since this file was written; of `all`, the directory with all files
    #[arg(long, value_name = "OLD.csv")]
    compare: Option<PathBuf>,

    /// Percent by which a median has to differ from the old one to be shown as changed
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, requires = "compare", value_parser = threshold)]
    threshold: f64,

    /// The machine in virtual time: `scc`, another one with a name (`machines` lists them), `FILE.toml`, `mesh:WxHxC`, or
    /// `cluster-fpga:NxC`, with suffixes as `sim` has them. On meshes with `+ideal`, as papers see them, benches run
    /// other variants as well where they compare these; `threads`, `threads+coherent` or `threads+write-back` of the host,
    /// in real time; or `qemu` for counters only
    #[arg(long, value_name = "M", default_value_t)]
    machine: Machine,

    /// Number of cores [default: all of the machine's, 48 for qemu, the host's processors for threads]
    #[arg(long, value_name = "N")]
    cores: Option<u32>,

    /// Install what is missing without asking
    #[arg(long)]
    yes: bool,

    /// Seconds of processor time until a run that does not end is given up
    #[arg(long, value_name = "SECONDS", default_value_t = command_line::TIMEOUT_S, value_parser = command_line::seconds())]
    timeout: u64,

    /// Show counters, too, where times are shown
    #[arg(long)]
    counters: bool,

    /// Write where instructions were executed, as folded stacks for flame graphs; for `instructions`
    #[arg(long, value_name = "FILE", value_parser = command_line::new_file())]
    flame: Option<PathBuf>,

    /// Options of the programs
    #[arg(last = true, value_name = "key=value")]
    words: Vec<String>,
}

/// What times of the simulator are made of, for tables on the screen.
const MODEL: &str = "Times of algorithms without `@` are those of accesses and of what a program says that it computes: the library's own \
                     instructions are not in them (`cargo xtask bench instructions` adds them).";

/// Carries out `cargo xtask bench`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    if arguments.name == LIST {
        papers::benches().for_each(|bench| println!("{}: {}", bench.name, bench.about));
        return Ok(());
    }
    let bench = if arguments.name == ALL { None } else { Some(find(&arguments.name)?) };
    let machine = machine_of(arguments, bench)?;
    let count = arguments.cores.unwrap_or_else(|| machine.default_cores());
    machine.check(count)?;
    let flame = match bench {
        Some(bench) if bench.only_on == Some(Machine::Board) => {
            Some(arguments.flame.clone().map_or_else(|| flame::default_path(bench.name), Ok)?)
        }
        _ => None,
    };
    let setting = Setting {
        machine,
        cores: count,
        words: &arguments.words,
        limit: Duration::from_secs(arguments.timeout),
        board: true,
        yes: arguments.yes,
        flame: flame.as_deref(),
    };
    if machine.is_host() {
        println!("{}", machine::host_name());
    }
    let Some(bench) = bench else { return all::run(arguments, &setting) };
    // The new file may take the place of the old one.
    let old = arguments.compare.as_deref().map(csv::Medians::read).transpose()?;
    let rows = measure(bench, &setting)?;
    let path = write(bench, machine, &rows)?;
    if let Some((name, text)) = bench.file.and_then(|file| file(&rows)) {
        let path = path.with_file_name(name);
        workspace::put(&path, text.as_bytes())?;
        println!("wrote {}", workspace::display(&path));
    }
    // Where there are no times, counters are all there is to see.
    let counters = arguments.counters || bench.only_on.is_none() && !rows.iter().any(|row| row.key.unit.is_of_time());
    if let Some(report) = bench.report.filter(|_| !counters) {
        println!("{}\n", report(&rows));
    } else if bench.columns.is_empty() || counters {
        println!("{}\n", table::rows(&rows, |row| is_shown(row, &rows, bench, counters)));
    } else {
        println!("{}\n", table::columns(&rows, bench.columns));
    }
    // Rows of other machines say so, and in these everything has its price.
    let is_of_accesses = |row: &Row| row.key.unit.is_of_time() && !row.key.algorithm.contains('@');
    if matches!(machine, Machine::Simulated(_)) && rows.iter().any(is_of_accesses) {
        println!("{MODEL}\n");
    }
    if let Some(file) = &flame {
        println!("{}\n\nall of it, for flame graphs: {}\n", flame::functions(file)?, workspace::display(file));
    }
    let checked = check(bench, &rows, &setting);
    if !checked.is_empty() {
        println!("{}\n", table::claims(&checked));
    }
    if let Some(old) = old {
        let new = csv::Medians::of(bench.name, &machine.to_string(), &rows)?;
        let comparison = Comparison::of(&old, &new, arguments.threshold);
        if let Some(table) = comparison.table() {
            println!("{table}\n");
        }
        println!("compared with {}: {}", shown(arguments.compare.as_deref()), comparison.summary());
    }
    println!("wrote {}, {} rows", workspace::display(&path), rows.iter().count());
    println!("{}", conclude(bench.name, &checked)?);
    Ok(())
}

/// The machine of a bench, or of all that can run on more than one.
fn machine_of<'a>(arguments: &'a Arguments, bench: Option<&'static Bench>) -> Result<&'a Machine> {
    let chosen = &arguments.machine;
    match bench.and_then(|bench| bench.only_on.as_ref()) {
        Some(own) => {
            ensure!(*chosen == Machine::default() || chosen == own, "{} is about {own}, not {chosen}", arguments.name);
            Ok(own)
        }
        None => {
            ensure!(arguments.flame.is_none(), "--flame is an option of `instructions`");
            Ok(chosen)
        }
    }
}

/// A file of the user's, for messages.
fn shown(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| workspace::display(path).to_string())
}

/// A percentage that can be a threshold.
fn threshold(text: &str) -> Result<f64, String> {
    let percent = text.parse::<f64>().map_err(|_| "not a number".to_owned())?;
    if percent.is_finite() && percent >= 0.0 { Ok(percent) } else { Err("not a percentage".into()) }
}

/// Writes the rows of a bench where they belong, and says where that is.
fn write(bench: &Bench, machine: &Machine, rows: &Rows) -> Result<PathBuf> {
    let is_default = *machine == Machine::default() || bench.only_on.is_some();
    let path = csv::path(bench.name, &machine.to_string(), is_default);
    csv::write(&path, bench.name, &machine.to_string(), rows)?;
    Ok(path)
}

/// Checks what a bench claims.
fn check(bench: &Bench, rows: &Rows, setting: &Setting<'_>) -> Vec<Checked> {
    let machine = setting.machine;
    // On a mesh nobody knows beforehand how much there is.
    let complete = !machine.is_no_scc()
        && !machine.is_variant()
        && setting.cores == machine.default_cores()
        && setting.words.is_empty();
    bench.claims.iter().map(|claim| claim.check(rows, machine.is_in(claim.on), complete)).collect()
}

/// Runs a bench; returns its rows, with those that are computed from others.
fn measure(bench: &Bench, setting: &Setting<'_>) -> Result<Rows> {
    rows_of(bench, setting.machine, setting.run_all(bench)?)
}

/// The rows that samples of a bench become, with those that are computed from others.
fn rows_of(bench: &Bench, machine: &Machine, samples: Vec<Samples>) -> Result<Rows> {
    // Machines that runs have of their own have a time.
    let has_time = |samples: &Samples| machine.has_time() || samples.key.variant.starts_with('@');
    let meaningful = |samples: &Samples| has_time(samples) || !samples.key.unit.is_of_time();
    let mut rows = Rows::pool(samples.into_iter().filter(meaningful));
    ensure!(rows.iter().next().is_some(), "{} measures nothing but times, and on {machine} there are none", bench.name);
    (bench.derive)(&mut rows);
    Ok(rows)
}

fn find(name: &str) -> Result<&'static Bench> {
    let names = || papers::benches().map(|bench| bench.name).collect::<Vec<_>>().join(", ");
    let found = papers::benches().find(|bench| bench.name == name);
    found.with_context(|| format!("no bench is called `{name}`; there are {}", names()))
}

/// Whether a row is worth a line on the screen.
fn is_shown(row: &Row, rows: &Rows, bench: &Bench, counters: bool) -> bool {
    let is_picked = |picks: &[u64], of: fn(&Key) -> u64| {
        let most = rows.iter().map(|row| of(&row.key)).max();
        // Where nothing is picked, all of it is shown.
        picks.is_empty() || picks.contains(&of(&row.key)) || Some(of(&row.key)) == most
    };
    // Most calls do not do most things, and one line after the other of zeros hides what they do.
    let says_something = || rows.line(&row.key.name(), &row.key.metric).is_ok_and(|line| !line.is_zero());
    is_picked(bench.shown, |key| key.param)
        && is_picked(bench.sizes, |key| key.bytes)
        && (row.key.unit != Unit::Count || counters && says_something())
}

/// The last line, where all claims hold.
fn conclude(name: &str, checked: &[Checked]) -> Result<String> {
    let count = |verdict| checked.iter().filter(|checked| checked.verdict == verdict).count();
    let failed: Vec<_> = checked.iter().filter(|checked| checked.verdict == Verdict::Fails).collect();
    if !failed.is_empty() {
        let failed: Vec<_> = failed.iter().map(ToString::to_string).collect();
        bail!("{name}: {} of {} claims FAILS: {}", failed.len(), checked.len(), failed.join("; "));
    }
    if checked.is_empty() {
        return Ok(format!("{name}: ok, nothing is claimed"));
    }
    let others =
        [(Verdict::Reported, "only reported"), (Verdict::NotChecked, "not checked")].map(
            |(verdict, what)| match count(verdict) {
                0 => String::new(),
                number => format!(", {number} {what}"),
            },
        );
    Ok(format!("{name}: ok, {} claims hold{}", count(Verdict::Holds), others.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_fails_fails_the_bench() {
        let of = |verdicts: &[Verdict]| {
            let checked = |verdict: &Verdict| Checked { text: "t", finding: None, verdict: *verdict };
            conclude("x", &verdicts.iter().map(checked).collect::<Vec<_>>())
        };
        assert!(of(&[Verdict::Holds, Verdict::NotChecked]).is_ok() && of(&[]).is_ok());
        let message = of(&[Verdict::Holds, Verdict::Fails, Verdict::NotChecked]).unwrap_err().to_string();
        assert_eq!(message, "x: 1 of 3 claims FAILS: t: rows that it needs are missing");
    }

    #[test]
    fn the_screen_shows_what_says_something() {
        let of = |metric, at_seven| {
            (1..9).map(move |k| testing::sample("a", [9, k, 0], metric, if k == 7 { at_seven } else { 0 }))
        };
        let all = of("post ns", 0).chain(of("post.drains count", 1)).chain(of("wait.drains count", 0));
        let rows = Rows::pool(all);
        let bench = Bench { shown: &[1, 2, 20], ..Bench::PLAIN };
        let shown = |counters| -> Vec<_> {
            let shown = rows.iter().filter(|row| is_shown(row, &rows, &bench, counters));
            shown.map(|row| (row.key.metric.as_str(), row.key.param)).collect()
        };
        assert_eq!(shown(false), [("post", 1), ("post", 2), ("post", 8)]);
        assert_eq!(shown(true)[3..], [("post.drains", 1), ("post.drains", 2), ("post.drains", 8)]);
    }

    #[test]
    fn names_that_no_bench_has() {
        assert_eq!(find("pscw").unwrap().name, "pscw");
        assert!(find("scwp").err().unwrap().to_string().contains("there are pscw"));
    }
}
