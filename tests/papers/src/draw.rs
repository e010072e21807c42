//! What `xtask` has drawn: pictures of what programs have sent.

use crate::{heatmap::HeatMap, spectrum::Spectrum};
use anyhow::{Context, Result};
use clap::Args;
use host::workspace;
use std::{fs, path::PathBuf};

/// Draw where the traffic of a run was, and say where most of it was
#[derive(Args)]
pub(crate) struct HeatMapArguments {
    /// The table of traffic that the simulator has sent
    table: PathBuf,
    /// The picture, as SVG
    picture: PathBuf,
    /// What is written above it
    title: String,
}

/// Draws a heat map.
pub(crate) fn heat_map(arguments: &HeatMapArguments) -> Result<()> {
    let HeatMapArguments { table, picture, title } = arguments;
    let map = HeatMap::parse(&read(table)?)?;
    workspace::put(picture, map.svg(title)?.as_bytes())?;
    println!("{}", map.summary());
    Ok(())
}

/// Draw a power spectrum
#[derive(Args)]
pub(crate) struct SpectrumArguments {
    /// What the program has sent
    power: PathBuf,
    /// The plot, as SVG
    plot: PathBuf,
    /// The table, as CSV
    table: PathBuf,
}

/// Draws a spectrum and makes a table of it.
pub(crate) fn spectrum(arguments: &SpectrumArguments) -> Result<()> {
    let spectrum = Spectrum::parse(&read(&arguments.power)?)?;
    workspace::put(&arguments.plot, spectrum.svg()?.as_bytes())?;
    workspace::put(&arguments.table, spectrum.csv().as_bytes())
}

fn read(path: &PathBuf) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", workspace::display(path)))
}
