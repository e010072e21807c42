//! `cargo xtask`: the host tool of Atoll. It sets up a machine, builds images, boots them in QEMU, simulates, tests, and
//! measures.
//!
//! One module per command, whose doc comment is its help; the rest are the parts they share: the console protocol
//! ([`console`]), a guest with a time limit ([`guest`]), the image ([`image`]) and what must not be in it ([`p54c`]).

mod agreement;
mod board;
mod board_table;
mod build;
mod build_images;
mod c;
mod catalogue;
mod check;
mod cluster;
mod debugger;
mod described;
mod emulation;
mod emulator;
mod findings;
mod flash;
mod guest;
mod host_command;
mod image;
mod kernel_line;
mod laboratory;
mod loading;
mod machine_table;
mod memory;
mod monitor;
mod new;
mod p54c;
mod picture;
mod places;
mod program;
mod qemu;
mod question;
mod read_log;
mod relief;
mod report;
mod result_files;
mod run;
mod setup;
mod signal;
mod sim;
mod sim_replay;
mod statics;
mod symbols;
mod test;
#[cfg(test)]
mod testing;
mod trace;
mod wanted;
mod without_std;

use clap::{Parser, Subcommand};
use host::{command_line, cores, interrupt, machine, process, progress, workspace};
use std::process::ExitCode;
use transcript::console;

/// Set up, build, run, simulate, test and measure Atoll.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Setup(setup::Arguments),
    Build(build_images::Arguments),
    New(new::Arguments),
    Run(run::Arguments),
    Sim(sim::Arguments),
    Check(check::Arguments),
    Cc(c::cc::Arguments),
    Machines(machine_table::Arguments),
    Boards(board_table::Arguments),
    Board(board::Arguments),
    Cluster(cluster::Arguments),
    Test(test::Arguments),
    /// Measure: a table, a CSV file, and claims that are checked
    Bench(laboratory::Arguments),
    /// Compare the simulator with what the papers measured
    Fidelity(laboratory::Arguments),
    /// Draw the papers' figures and tables from fresh runs
    Figures(laboratory::Arguments),
    Flash(flash::Arguments),
    ReadLog(read_log::Arguments),
}

fn main() -> ExitCode {
    command_line::main(|cli: Cli| match cli.command {
        Command::Setup(arguments) => setup::main(&arguments),
        Command::Build(arguments) => build_images::main(&arguments),
        Command::New(arguments) => new::main(&arguments),
        Command::Run(arguments) => run::main(&arguments),
        Command::Sim(arguments) => sim::main(&arguments),
        Command::Check(arguments) => check::main(&arguments),
        Command::Cc(arguments) => c::cc::main(&arguments),
        Command::Machines(arguments) => machine_table::main(&arguments),
        Command::Boards(arguments) => board_table::main(&arguments),
        Command::Board(arguments) => board::main(&arguments),
        Command::Cluster(arguments) => cluster::main(&arguments),
        Command::Test(arguments) => test::main(&arguments),
        Command::Bench(arguments) => laboratory::main("bench", &arguments),
        Command::Fidelity(arguments) => laboratory::main("fidelity", &arguments),
        Command::Figures(arguments) => laboratory::main("figures", &arguments),
        Command::Flash(arguments) => flash::main(&arguments),
        Command::ReadLog(arguments) => read_log::main(&arguments),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_options_take_one_line() {
        command_line::assert_refused_in_one_line::<Cli>(
            "xtask",
            &[
                &["run", "--cores", "0"],
                &["run", "--cores", "x"],
                &["run", "--seed", "0"],
                &["run", "--bogus"],
                &["run", "x", "--trace", "/"],
                &["sim", "x", "--trace", "/dev"],
                &["sim", "x", "--heatmap", "/dev/null/x.svg"],
                &["check", "x", "--report", ""],
                &["board", "x", "--profile", "../.."],
                &["check", "x", "--seeds", "y"],
                &["check", "x", "--seeds", "2", "--seed", "3"],
                &["bogus"],
                &["build", "--for", "abacus"],
                &["test", "--cores", "1,x"],
                &["cluster", "--nodes", "0"],
                &["cluster", "--cores", "x"],
                &["cluster", "--deadline", "0"],
                &["read-log"],
                &["flash"],
                &["flash", "--board", "scc"],
                &["flash", "--board", "scc", "--out", "x", "--cores", "0"],
            ],
        );
    }

    #[test]
    fn the_laboratory_gets_all_words() {
        for line in
            [&["bench", "pscw", "--machine", "qemu", "--", "targets=3"][..], &["fidelity", "--help"], &["figures"]]
        {
            let cli = Cli::try_parse_from(["xtask"].iter().chain(line)).unwrap();
            let (Command::Bench(arguments) | Command::Fidelity(arguments) | Command::Figures(arguments)) = cli.command
            else {
                panic!("{line:?}")
            };
            assert_eq!(arguments.words, line[1..]);
        }
    }
}
