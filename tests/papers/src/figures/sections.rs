//! What belongs into the report without being the counterpart of a figure: how true the simulator is, and where the
//! traffic of programs was.

use super::{
    figure::Table,
    report::{Body, Section},
};
use crate::{
    bench::Evidence,
    fidelity::{self, Checked, output},
    heatmap::{self, HeatMap},
    xtask::{self, Run},
};
use anyhow::{Context, Result};
use host::progress::Progress;
use std::time::Duration;

/// A part of the report that has to be measured first.
pub(super) struct Part {
    /// What `--only` wants.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    kind: Kind,
}

enum Kind {
    Fidelity,
    /// Of a program, with its words.
    HeatMap {
        program: &'static str,
        words: &'static [&'static str],
    },
}

/// All of them.
pub(super) const ALL: &[Part] = &[
    Part { id: "fidelity", title: "Fidelity: the simulator and what the papers measured", kind: Kind::Fidelity },
    Part {
        id: "heat-map-terrain",
        title: "Traffic of the main job",
        kind: Kind::HeatMap { program: "terrain", words: &[] },
    },
    Part {
        id: "heat-map-oc-bcast",
        title: "Traffic of broadcasts of 1 MiB by OC-Bcast, k = 7",
        kind: Kind::HeatMap {
            program: "bench-broadcast",
            words: &["algorithm=oc-k7", "sizes=1048576", "modes=separated", "repetitions=1"],
        },
    },
    Part {
        id: "heat-map-default",
        title: "Traffic of broadcasts of 1 MiB by our default",
        kind: Kind::HeatMap {
            program: "bench-broadcast",
            words: &["algorithm=default", "sizes=1048576", "modes=separated", "repetitions=1"],
        },
    },
];

/// The machine that traffic is drawn on.
const MACHINE: &str = "scc";

/// Its cores.
const CORES: u32 = 48;

impl Part {
    /// Measures it.
    pub(super) fn section(&self, evidence: &mut Evidence, limit: Duration) -> Result<Section> {
        let (note, body) = match self.kind {
            Kind::Fidelity => {
                let checked = fidelity::table(evidence)?;
                (output::NOTES.concat(), Body::Table(fidelity_table(&checked)))
            }
            Kind::HeatMap { program, words } => {
                let (svg, summary) = heat_map(self.title, program, words, limit)?;
                let note = format!(
                    "Machine {MACHINE}, {CORES} cores, of the whole run of {program} with its start and end: {summary}."
                );
                (note, Body::Svg(svg))
            }
        };
        Ok(Section { id: self.id, title: self.title, note, body })
    }
}

/// The entries as they are printed, with what there is to say about those without a verdict.
fn fidelity_table(checked: &[Checked]) -> Table {
    let row = |checked: &Checked| {
        let why = checked.entry.status.why().unwrap_or_default().to_owned();
        checked.cells().into_iter().chain([why]).collect()
    };
    let header = Checked::HEADER.into_iter().chain(["why"]).map(str::to_owned).collect();
    Table { header, rows: checked.iter().map(row).collect() }
}

/// Runs a program and draws its traffic; returns the picture, and a line about where most was.
fn heat_map(title: &str, program: &str, words: &[&str], limit: Duration) -> Result<(String, String)> {
    let machine = MACHINE.parse()?;
    xtask::build(&[program], xtask::backend(&machine), false)?;
    let _progress = Progress::new(format!("traffic of {program}"));
    let run = Run {
        program,
        machine: &machine,
        cores: CORES,
        words: words.iter().map(ToString::to_string).collect(),
        has_input: true,
        heat_map: true,
        priced: false,
        flame: None,
        yes: false,
        limit,
    };
    let transcript = run.transcript()?;
    let table = transcript.files.iter().find(|file| file.name == heatmap::FILE);
    let map = HeatMap::parse(&table.context("the simulator has not sent a table of its traffic")?.bytes)?;
    Ok((map.svg(title)?, map.summary()))
}
