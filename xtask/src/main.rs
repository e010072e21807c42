//! `cargo xtask`: the host tool of Atoll. It sets up a machine, builds images, boots them in QEMU, simulates, and tests.
//!
//! One module per command, whose doc comment is its help; the rest are the parts they share: the console protocol
//! ([`console`]), a guest with a time limit ([`guest`]), the image ([`image`]) and what must not be in it ([`p54c`]).

mod build;
mod console;
mod cores;
mod emulation;
mod frame;
mod guest;
mod image;
mod image_check;
mod interrupt;
mod machine;
mod memory;
mod p54c;
mod picture;
mod process;
mod program;
mod progress;
mod qemu;
mod results;
mod run;
mod setup;
mod sim;
mod statics;
mod test;
mod words;
mod workspace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Set up, build, run, simulate and test Atoll.
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
    Test(test::Arguments),
    ImageCheck(image_check::Arguments),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error)
            if !error.use_stderr()
                || error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            error.exit()
        }
        Err(error) => {
            eprintln!("{}", one_line(&error.to_string()));
            return ExitCode::from(2);
        }
    };
    interrupt::install();
    let result = match cli.command {
        Command::Setup(arguments) => setup::main(&arguments),
        Command::Run(arguments) => run::main(&arguments),
        Command::Sim(arguments) => sim::main(&arguments),
        Command::Test(arguments) => test::main(&arguments),
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

/// Joins the lines of a message up to clap's usage and tip paragraphs.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let kept: Vec<_> =
        lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information")).collect();
    kept.join(" ")
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
        for words in
            [&["run", "--cores", "0"][..], &["run", "--bogus"], &["sim"], &["bogus"], &["test", "--cores", "1,x"]]
        {
            let error = Cli::try_parse_from(["xtask"].iter().chain(words)).err().expect("refused");
            let line = one_line(&error.to_string());
            assert!(line.starts_with("error: ") && !line.contains('\n') && !line.contains("Usage"), "{line}");
        }
    }
}
