//! Draws the counterparts of the papers' figures and tables, from fresh runs, and puts all of them into one report.
//!
//! A [`Figure`] says where it comes from and what is in it, and takes its rows from the benches through [`Evidence`],
//! which runs each of them once. There is a module for each paper.

mod chart;
pub(crate) mod curves;
pub(crate) mod figure;
pub(crate) mod numbers;
mod report;
mod sections;

use crate::{
    bench::Evidence,
    papers::{self, Paper},
};
use anyhow::{Context, Result, bail};
use clap::Args;
use figure::{Content, Figure};
use host::{command_line, interrupt, progress::Progress, workspace};
use report::{Body, Shown};
use sections::Part;
use std::{fs, path::Path, time::Duration};

/// The ID that lists all figures.
const LIST: &str = "list";

/// Draw the papers' figures and tables from fresh runs
///
/// Runs the benches that the figures are made of, and draws ours, the formulas and the numbers that the papers publish
/// over the papers' axes: target/figures/ID.svg, and target/figures/report.html with all that was drawn, as one file
/// that needs no other. The table of `cargo xtask fidelity` and heat maps of traffic are in the report as well. What
/// cannot be drawn is named in the last line, and the exit status is not 0.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Only this figure; can be given several times, and `list` shows them all
    #[arg(long, value_name = "ID")]
    only: Vec<String>,

    /// Seconds of processor time until a run that does not end is given up
    #[arg(long, value_name = "SECONDS", default_value_t = command_line::TIMEOUT_S, value_parser = command_line::seconds())]
    timeout: u64,
}

/// Carries out `cargo xtask figures`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    if arguments.only.iter().any(|id| id == LIST) {
        let name = |paper: &Paper, figure: &Figure| format!("{}, {}: {}", paper.name, figure.number, figure.title);
        papers::figures().for_each(|(paper, figure)| println!("{}: {}", figure.id, name(paper, figure)));
        sections::ALL.iter().for_each(|part| println!("{}: {}", part.id, part.title));
        return Ok(());
    }
    let (figures, parts) = pick(&arguments.only)?;
    let directory = workspace::target().join("figures");
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;

    let limit = Duration::from_secs(arguments.timeout);
    let mut evidence = Evidence::new(limit);
    let progress = Progress::bar("figures", (figures.len() + parts.len()) as u64);
    let (mut shown, mut sections, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for (paper, figure) in figures {
        progress.say(figure.id);
        match show(paper, figure, &mut evidence, &directory) {
            Ok(figure) => shown.push(figure),
            Err(why) if interrupt::requested() => return Err(why.context(figure.id)),
            // The others may well be drawn; the benches behind them have been paid for.
            Err(why) => failed.push(format!("{}: {why:#}", figure.id)),
        }
        progress.step();
    }
    for part in parts {
        progress.say(part.id);
        match part.section(&mut evidence, limit) {
            Ok(section) => sections.push(section),
            Err(why) if interrupt::requested() => return Err(why.context(part.id)),
            Err(why) => failed.push(format!("{}: {why:#}", part.id)),
        }
        progress.step();
    }
    drop(progress);
    for section in &sections {
        if let Body::Svg(svg) = &section.body {
            write(&directory.join(format!("{}.svg", section.id)), svg)?;
        }
    }

    let report = directory.join("report.html");
    write(&report, &report::html(&shown, &sections, PREFACE))?;
    let drawn = shown.iter().filter(|shown| shown.svg.is_some()).count();
    let (tables, others) = (shown.len() - drawn, sections.len());
    let report = workspace::display(&report);
    let wrote = format!("wrote {drawn} figures, {tables} tables and {others} other sections, all in {report}");
    if failed.is_empty() {
        println!("{wrote}");
        return Ok(());
    }
    bail!("{wrote}; {} cannot be drawn: {}", failed.len(), failed.join("; "))
}

/// What a reader of the report has to know first.
const PREFACE: &str = "Lines are ours, from runs of the programs in the simulator's virtual time; nothing is fitted \
                       to a figure unless its note says so. Thin lines are formulas. Triangles are numbers that a \
                       paper's text or tables give; curves that a paper only draws are not shown.";

/// A figure and its paper.
type Known = (&'static Paper, &'static Figure);

/// The figures and other parts of these names, or all if there are none.
fn pick(ids: &[String]) -> Result<(Vec<Known>, Vec<&'static Part>)> {
    let known: Vec<_> =
        papers::figures().map(|(_, figure)| figure.id).chain(sections::ALL.iter().map(|part| part.id)).collect();
    if let Some(unknown) = ids.iter().find(|id| !known.contains(&id.as_str())) {
        bail!("no figure is called `{unknown}`; there are {}", known.join(", "));
    }
    let is_wanted = |id: &str| ids.is_empty() || ids.iter().any(|wanted| wanted == id);
    let figures = papers::figures().filter(|(_, figure)| is_wanted(figure.id)).collect();
    Ok((figures, sections::ALL.iter().filter(|part| is_wanted(part.id)).collect()))
}

/// Measures a figure, and draws and writes it if it is no table.
fn show(paper: &'static Paper, figure: &'static Figure, evidence: &mut Evidence, directory: &Path) -> Result<Shown> {
    let content = figure.content(evidence)?;
    let svg = match &content {
        Content::Plots(plots) => Some(chart::svg(plots)?),
        Content::Table(_) => None,
    };
    if let Some(svg) = &svg {
        write(&directory.join(format!("{}.svg", figure.id)), svg)?;
    }
    Ok(Shown { paper, figure, content, svg })
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_differ_and_can_be_file_names() {
        let all = || papers::figures().map(|(_, figure)| figure.id).chain(sections::ALL.iter().map(|part| part.id));
        let ids: BTreeSet<_> = all().collect();
        assert_eq!(ids.len(), all().count());
        let fits = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        assert!(ids.iter().all(|id| id.chars().all(fits) && *id != LIST && *id != "report"));
    }

    #[test]
    fn figures_say_where_they_are_from() {
        for (_, figure) in papers::figures() {
            assert!(figure.number.starts_with("Fig. ") || figure.number.starts_with("Table "), "{}", figure.id);
            assert!(!figure.title.is_empty() && !figure.title.ends_with('.'), "{}", figure.id);
        }
    }

    #[test]
    fn figures_are_picked_by_name() {
        let (figures, parts) = pick(&[]).unwrap();
        assert_eq!([figures.len(), parts.len()], [papers::figures().count(), sections::ALL.len()]);
        let ids = ["oc-bcast-fig-8", "scosco-fig-4"].map(str::to_owned);
        let (figures, parts) = pick(&ids).unwrap();
        assert_eq!(figures.iter().map(|(_, figure)| figure.id).collect::<Vec<_>>(), ["scosco-fig-4", "oc-bcast-fig-8"]);
        assert!(parts.is_empty());
        let (figures, parts) = pick(&["fidelity".to_owned()]).unwrap();
        assert!(figures.is_empty() && parts.len() == 1);
        let message = pick(&["fig-8".to_owned()]).err().unwrap().to_string();
        assert!(message.starts_with("no figure is called `fig-8`; there are scosco-") && !message.contains('\n'));
    }
}
