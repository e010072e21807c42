//! What a program is, and what a rank gives it.

use core::fmt;

use collectives::Comm;
use hal::{Caches, Core};

use crate::{
    Arguments, Failure,
    args::KnownOption,
    output::{Frame, Plain},
};

/// A program that runs on every rank of a machine.
pub trait Program {
    /// The program's name on the command line.
    const NAME: &'static str;

    /// What the program does, in a few words.
    const ABOUT: &'static str;

    /// The options that it understands: name and what it is for. Others are refused before it starts.
    const OPTIONS: &'static [KnownOption] = &[];

    /// What one rank does. The machine succeeds if all ranks return `Ok`.
    ///
    /// # Errors
    /// Whatever keeps the rank from doing its part, in one line.
    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure>;
}

/// Where lines for the user and the host go.
pub trait Console: Sync {
    /// Prints text in one piece: no other rank's text comes between. It ends with a line end.
    fn write(&self, text: fmt::Arguments<'_>);
}

/// An input file.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The name of the file, as it was given.
    pub name: &'a str,
    /// The contents of the file.
    pub bytes: &'a [u8],
}

/// One rank of a running program: all that it knows and can do.
pub struct Rank<'r, C> {
    /// The ranks, and communication between them.
    pub comm: &'r Comm<'r, C>,
    /// The caches of this core.
    pub caches: Caches,
    /// The options that the program was started with.
    pub args: Arguments<'r>,
    pub(crate) console: &'r dyn Console,
    pub(crate) inputs: &'r [Input<'r>],
    pub(crate) heap_bytes: usize,
}

impl<'r, C: Core> Rank<'r, C> {
    /// The hardware of this rank.
    pub fn hal(&self) -> &'r C {
        self.comm.hal()
    }

    /// Input file `index`, from 0. Only rank 0 may count on it: on a board the others do not have it.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn input(&self, index: usize) -> Result<Input<'r>, Failure> {
        self.inputs.get(index).copied().ok_or_else(|| {
            Failure::new(format_args!(
                "input file {} is missing ({} given); name it with --input",
                index + 1,
                self.inputs.len()
            ))
        })
    }

    /// Bytes of the whole heap of this rank, of which the communicator has its part already.
    pub fn heap_bytes(&self) -> usize {
        self.heap_bytes
    }

    /// Prints a line; lines of different ranks never mix. A line that begins with `@`, as those for the host's tools
    /// do, gets a space before it. [`println!`](crate::println) is shorter.
    pub fn print(&self, line: fmt::Arguments<'_>) {
        self.console.write(format_args!("{}\n", Plain(line)));
    }

    /// Sends a result file to the host. Its name has letters, digits, `.`, `_` and `-`.
    ///
    /// # Errors
    /// If the name has others.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let frame = Frame::new(name, bytes)?;
        self.console.write(format_args!("{frame}"));
        Ok(())
    }

    /// Prints a line for the host's tools, such as `test NAME ok`: one that begins with `@`.
    pub fn tell_host(&self, line: fmt::Arguments<'_>) {
        self.console.write(format_args!("@{line}\n"));
    }

    /// A phase of the program begins. Whoever watches hears of it from rank 0, and traces have it from all ranks.
    pub fn phase(&self, name: &str) {
        self.hal().mark(name);
        if self.comm.rank() == 0 {
            self.tell_host(format_args!("phase {name}"));
        }
    }
}
