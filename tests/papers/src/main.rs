//! The laboratory: measures again what papers publish, checks what is claimed of it, and draws the papers' figures.
//!
//! `cargo xtask bench`, `fidelity` and `figures` start it. It runs programs by `xtask sim`, `run` and `board`, as anybody
//! would, and reads the lines that they print ([`xtask`]). It draws what `xtask` asks it to, too: heat maps and spectra.

mod bench;
mod draw;
mod fidelity;
mod figures;
mod heatmap;
mod papers;
mod spectrum;
mod verdict;
mod xtask;

use clap::{Parser, Subcommand};
use host::command_line;
use std::process::ExitCode;

/// Measure again what papers publish.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Arguments),
    Fidelity(fidelity::Arguments),
    Figures(figures::Arguments),
    #[command(hide = true)]
    HeatMap(draw::HeatMapArguments),
    #[command(hide = true)]
    Spectrum(draw::SpectrumArguments),
}

fn main() -> ExitCode {
    command_line::main(|cli: Cli| match cli.command {
        Command::Bench(arguments) => bench::main(&arguments),
        Command::Fidelity(arguments) => fidelity::main(&arguments),
        Command::Figures(arguments) => figures::main(&arguments),
        Command::HeatMap(arguments) => draw::heat_map(&arguments),
        Command::Spectrum(arguments) => draw::spectrum(&arguments),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_options_take_one_line() {
        let lines: &[&[&str]] =
            &[&["bench"], &["bench", "pscw", "--machine", "abacus"], &["fidelity", "--timeout", "x"]];
        command_line::assert_refused_in_one_line::<Cli>("papers", lines);
    }
}
