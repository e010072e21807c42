//! `wave`: a wave in a box, after AWM-Olsen, the earthquake simulation that Lai and Panda's *Designing Truly One-Sided MPI-2 RMA*
//! ends with (section 5.6).
//!
//! The ranks split a grid of cells into blocks. In each step they exchange faces with up to six neighbours, compute,
//! and sum up the energy of the whole wave and its highest displacement, which all get to know. They do it by puts in
//! epochs or by messages; the arithmetic and its order are the same. In the end rank 0 computes the wave alone and
//! compares bit for bit; the energy, which the scheme conserves, is compared in each step.

mod alone;
mod exchange;
mod extent;
mod field;
mod grid;
mod one_sided;
mod options;
mod physics;
mod report;
#[cfg(test)]
mod tests;
mod tree;
mod two_sided;

use hal::Core;

use crate::{Failure, Program, Rank, args::KnownOption, println};

use self::{
    alone::Checked,
    exchange::{Computing, Exchange},
    field::Field,
    one_sided::{OneSided, Windows},
    options::{Options, Version},
    physics::Totals,
    report::Laps,
    two_sided::TwoSided,
};

/// By how much the energy of a step may differ from that of the first, as a part of it. Rounding makes it some 1e-14.
const ENERGY_TOLERANCE: f64 = 1e-10;

/// Lets a wave run through a box on all ranks, and checks the result.
pub struct Wave;

impl Program for Wave {
    const NAME: &'static str = "wave";
    const ABOUT: &'static str = "lets a wave run through a box, one-sided or two-sided, and checks it bit for bit";
    const OPTIONS: &'static [KnownOption] = options::KNOWN;

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let options = Options::of(rank)?;
        let (comm, steps) = (rank.comm, options.steps);
        let mut field = Field::new(&options.grid, comm.rank())?;
        let mut laps = Laps::new();

        let totals = match options.version {
            Version::OneSided => {
                rank.phase("window creation");
                let (windows, views) = Windows::create(comm, &mut rank.caches, &options.grid, options.class)?;
                let exchange = OneSided::new(comm, &mut rank.caches, &options.grid, &windows, views)?;
                run_steps(rank, exchange, field.as_mut(), steps, &mut laps)?
            }
            Version::TwoSided => {
                let exchange = TwoSided::new(comm, &options.grid);
                run_steps(rank, exchange, field.as_mut(), steps, &mut laps)?
            }
        };
        laps.send(rank, &options);
        report::print(rank, &options, &laps)?;
        if comm.rank() == 0 {
            println!(rank, "energy {:e}, highest displacement {:e}", totals.energy, totals.highest);
            // As bits, since they depend on the blocks, not on how these communicate.
            let (energy, highest) = (totals.energy.to_bits(), totals.highest.to_bits());
            rank.tell_host(format_args!("result totals {energy:016x} {highest:016x}"));
        }
        if options.is_checked {
            rank.phase("check");
            check(rank, &options, field, totals)?;
        }
        Ok(())
    }
}

/// Makes all steps. Returns the totals of the last.
fn run_steps<C: Core>(
    rank: &Rank<'_, C>,
    mut exchange: impl Exchange,
    mut field: Option<&mut Field>,
    steps: u32,
    laps: &mut Laps,
) -> Result<Totals, Failure> {
    let hal = rank.hal();
    rank.phase("steps");
    // Otherwise the first step would be charged with the wait for the last block to be set up.
    rank.comm.barrier();
    let mut first = None;
    let mut totals = Totals::NONE;
    for number in 1..=steps {
        let mut computing = Computing::default();
        let begin = hal.now();
        let own = match &mut field {
            Some(field) => exchange.step(field, &mut computing, number == steps)?,
            None => Totals::NONE,
        };
        let reduction = hal.now();
        totals = exchange.reduce(own, number == steps)?;
        laps.note(begin, reduction, hal.now(), computing.ticks);
        let expected = *first.get_or_insert(totals.energy);
        check_energy(number, totals.energy, expected)?;
    }
    Ok(totals)
}

/// Refuses a wave that has gained or lost energy. All ranks have the same numbers.
fn check_energy(step: u32, energy: f64, expected: f64) -> Result<(), Failure> {
    if differ(energy, expected) {
        let text = format_args!("step {step} has changed the energy from {expected:e} to {energy:e}");
        return Err(Failure::new(text).on_all_ranks());
    }
    Ok(())
}

/// Whether two energies are not the same but for rounding. What is no number differs from everything.
fn differ(energy: f64, expected: f64) -> bool {
    let difference = energy - expected;
    let most = ENERGY_TOLERANCE * expected;
    !(-most..=most).contains(&difference)
}

/// Compares the result with that of one core. Collective.
fn check<C: Core>(
    rank: &mut Rank<'_, C>,
    options: &Options,
    field: Option<Field>,
    totals: Totals,
) -> Result<(), Failure> {
    let checked = alone::check(rank.comm, &mut rank.caches, &options.grid, field, options.steps)?;
    let Some(Checked { checksum, totals: expected, difference }) = checked else { return Ok(()) };
    difference?;
    if totals.highest.to_bits() != expected.highest.to_bits() || differ(totals.energy, expected.energy) {
        return Err(Failure::new(format_args!("the ranks have {totals:?}, one core has {expected:?}")));
    }
    rank.tell_host(format_args!("result checksum {checksum:08x}"));
    println!(rank, "result equals that of one core bit for bit; its checksum is {checksum:08x}");
    Ok(())
}
