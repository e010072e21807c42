//! The image `integration`: the suite, the programs that have to end the machine, and the one whose counters are compared.

#![no_std]
#![cfg_attr(target_os = "none", no_main)]

extern crate alloc;

use alloc::string::String;

use hal::Core;
use kernel::{Failure, Program, Rank};
use measurements::Rounds;
use tests::{
    Context,
    fatal::{self, FATAL},
    suite::{self, Needs},
};

/// Runs the suite, or the tests whose names contain the filter, and reports each.
struct Suite;

impl Program for Suite {
    const NAME: &'static str = "suite";
    const ABOUT: &'static str = "runs the integration tests one after another";
    const OPTIONS: &'static [(&'static str, &'static str)] = &[
        ("filter", "part of the names of the tests to run"),
        (
            "only",
            "tests whose outcome depends on the number of cores (`size`), on the machine (`machine`), or those for the `largest` machines",
        ),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let filter: String = rank.args.get("filter", String::new())?;
        let only: String = rank.args.get("only", String::new())?;
        let mut passed = 0;
        let layout = *rank.hal().layout();
        let needs = match &*only {
            "" => Needs::empty(),
            "size" => Needs::SIZE,
            "machine" => Needs::MACHINE,
            "largest" => Needs::LARGEST,
            _ => return Err(Failure::new(format_args!("`only={only}`: size, machine or largest")).on_all_ranks()),
        };
        let is_wanted =
            |name: &&&str| name.contains(&*filter) && suite::needs(name).contains(needs) && suite::suits(name, &layout);
        for name in suite::NAMES.iter().filter(is_wanted) {
            rank.phase(name);
            rank.comm.check_arguments(true);
            if let Err(failed) =
                suite::run(name, &mut Context { comm: rank.comm, caches: &mut rank.caches, all_is_coherent: false })
            {
                // The others cannot go on without this rank; the machine will end, and this line says why.
                rank.tell_host(format_args!("test {name} failed rank {}: {failed}", rank.comm.rank()));
                return Err(Failure::new(format_args!("{name}: {failed}")));
            }
            rank.comm.barrier();
            if rank.comm.rank() == 0 {
                rank.tell_host(format_args!("test {name} ok"));
            }
            passed += 1;
        }
        if passed == 0 {
            return Err(Failure::new(format_args!("no test's name contains `{filter}`")).on_all_ranks());
        }
        Ok(())
    }
}

/// Runs one of the programs that have to end the machine.
struct Fatal;

impl Program for Fatal {
    const NAME: &'static str = "fatal";
    const ABOUT: &'static str = "runs a program that has to end the machine with a report, or lists them";
    const OPTIONS: &'static [(&'static str, &'static str)] = &[("case", "which one; none lists them")];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let case: String = rank.args.get("case", String::new())?;
        if case.is_empty() {
            if rank.comm.rank() == 0 {
                FATAL.iter().for_each(|(name, report)| rank.tell_host(format_args!("fatal {name} {report}")));
            }
            return Ok(());
        }
        if !fatal::MORE.contains(&&*case) && !FATAL.iter().any(|(name, _)| *name == case) {
            return Err(Failure::new(format_args!("there is no fatal program `{case}`")).on_all_ranks());
        }
        let result =
            fatal::run(&case, &mut Context { comm: rank.comm, caches: &mut rank.caches, all_is_coherent: false });
        result.map_err(Failure::new)
    }
}

/// Never ends, so that something can happen to the machine meanwhile.
struct Endless;

impl Program for Endless {
    const NAME: &'static str = "endless";
    const ABOUT: &'static str = "meets in barriers without end";

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        rank.phase("endless");
        loop {
            rank.comm.barrier();
        }
    }
}

kernel::image!(Suite, Fatal, Endless, Rounds);
