//! `cargo xtask`: the host tool of Atoll. It sets up a machine, builds images, boots them in QEMU, simulates, tests, and
//! measures.
//!
//! One module per command, whose doc comment is its help; the rest are the parts they share: the console protocol
//! ([`console`]), a guest with a time limit ([`guest`]), the image ([`image`]) and what must not be in it ([`p54c`]).

mod bench;
mod board;
mod board_table;
mod build;
mod catalogue;
mod cluster;
mod emulation;
mod emulator;
mod fidelity;
mod figures;
mod flash;
mod guest;
mod heatmap;
mod image;
mod image_check;
mod inquiry;
mod machine_table;
mod memory;
mod p54c;
mod parameter_table;
mod picture;
mod plot;
mod program;
mod qemu;
mod question;
mod read_log;
mod results;
mod run;
mod setup;
mod signal;
mod sim;
mod statics;
mod symbols;
mod test;
mod trace;
mod words;

use clap::{Parser, Subcommand};
use host::{cores, interrupt, machine, process, progress, workspace};
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
    Run(run::Arguments),
    Sim(sim::Arguments),
    Machines(machine_table::Arguments),
    Boards(board_table::Arguments),
    Board(board::Arguments),
    Cluster(cluster::Arguments),
    Test(test::Arguments),
    Bench(bench::Arguments),
    Fidelity(fidelity::Arguments),
    Figures(figures::Arguments),
    Flash(flash::Arguments),
    ReadLog(read_log::Arguments),
    ImageCheck(image_check::Arguments),
}

fn main() -> ExitCode {
    end_with_the_reader();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error)
            if !error.use_stderr()
                || error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            error.exit()
        }
        Err(error) => {
            eprintln!("{}", usage_line(&error.to_string()));
            return ExitCode::from(2);
        }
    };
    interrupt::install();
    let result = match cli.command {
        Command::Setup(arguments) => setup::main(&arguments),
        Command::Run(arguments) => run::main(&arguments),
        Command::Sim(arguments) => sim::main(&arguments),
        Command::Machines(arguments) => machine_table::main(&arguments),
        Command::Boards(arguments) => board_table::main(&arguments),
        Command::Board(arguments) => board::main(&arguments),
        Command::Cluster(arguments) => cluster::main(&arguments),
        Command::Test(arguments) => test::main(&arguments),
        Command::Bench(arguments) => bench::main(&arguments),
        Command::Fidelity(arguments) => fidelity::main(&arguments),
        Command::Figures(arguments) => figures::main(&arguments),
        Command::Flash(arguments) => flash::main(&arguments),
        Command::ReadLog(arguments) => read_log::main(&arguments),
        Command::ImageCheck(arguments) => image_check::main(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The test command has printed its verdict, and its last line stays the last.
        Err(error) if error.is::<test::Failed>() => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {}", one_line(&format!("{error:#}")));
            ExitCode::from(if interrupt::requested() { 130 } else { 1 })
        }
    }
}

/// Lets `cargo xtask sim terrain | head` end like any other filter; Rust would make it a panic of `println!`.
fn end_with_the_reader() {
    // SAFETY: no other thread runs yet, and the default action is no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Joins the lines of a message.
fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What clap complains about, without its paragraphs of usage and tips.
fn usage_line(message: &str) -> String {
    const APPENDED: [&str; 3] = ["Usage:", "For more information", "tip:"];
    let kept = message.lines().take_while(|line| !APPENDED.iter().any(|word| line.trim().starts_with(word)));
    let line = one_line(&kept.collect::<Vec<_>>().join("\n"));
    // This is how the standard library calls a word that is no number.
    line.replace("invalid digit found in string", "not a number") + "; see --help"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn wrong_options_take_one_line() {
        for words in [
            &["run", "--cores", "0"][..],
            &["run", "--cores", "x"],
            &["run", "--seed", "0"],
            &["run", "--bogus"],
            &["sim"],
            &["bogus"],
            &["test", "--cores", "1,x"],
            &["bench"],
            &["cluster", "--nodes", "0"],
            &["cluster", "--cores", "x"],
            &["cluster", "--deadline", "0"],
            &["bench", "pscw", "--machine", "abacus"],
            &["read-log"],
            &["flash"],
            &["flash", "--board", "scc"],
            &["flash", "--board", "pc", "--out", "x", "--device", "y"],
            &["flash", "--board", "scc", "--out", "x", "--cores", "0"],
        ] {
            let error = Cli::try_parse_from(["xtask"].iter().chain(words)).err().expect("refused");
            let line = usage_line(&error.to_string());
            assert!(line.starts_with("error: ") && line.ends_with("; see --help") && !line.contains('\n'), "{line}");
            assert!(!line.contains("Usage") && !line.contains("tip:") && !line.contains("digit"), "{line}");
        }
    }
}
