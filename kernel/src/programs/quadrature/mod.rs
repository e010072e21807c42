//! `quadrature`: the integral of a function with narrow peaks, by a master and workers.
//!
//! How much work an interval is shows while it is worked on, so nothing can be dealt out in advance. Rank 0 hands intervals out.
//! A worker looks at some, divides those that are not exact enough, and answers with the sum of the others and with what is left,
//! which rank 0 hands out again. This is what messages with tags are for:
//!
//! * answers are taken from **anybody**, whoever is done first;
//! * how long an answer is depends on what is left, so rank 0 **probes** for it before it has a buffer;
//! * a worker waits for work and for the end at once, by two receives, and **cancels** the one that nothing came for.
//!
//! Sums are integers, so the result is the same to the last bit however many ranks there are and whoever is first.

mod interval;

use alloc::{vec, vec::Vec};

use collectives::{Comm, Request, Source, Tag};
use hal::Core;

use self::interval::{Interval, Known, ONE, integrate};
use super::time::Shown;
use crate::{Failure, Program, Rank, args::KnownOption, println};

/// What messages are about.
const WORK: u32 = 1;
const ANSWER: u32 = 2;
const END: u32 = 3;

/// Words of an answer before what is left.
const KNOWN_WORDS: usize = 3;

/// Intervals that a worker looks at before it answers.
const MOST: usize = 64;

/// The interval is divided so often before it is handed out.
const DIVIDED: u32 = 4;

/// Integrates by a master and workers.
pub struct Quadrature;

impl Program for Quadrature {
    const NAME: &'static str = "quadrature";
    const ABOUT: &'static str = "integrates a function with peaks, whose work a master hands out to workers";
    const OPTIONS: &'static [KnownOption] =
        &[("digits", "the result has so many digits behind the point that are right, up to 9; 6 if not given")];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let comm = rank.comm;
        let digits: u32 = rank.args.get("digits", 6)?;
        if digits > 9 {
            return Err(Failure::new(format_args!("`digits={digits}`: there are 9 at most")).on_all_ranks());
        }
        let tolerance = (0..digits).fold(1.0, |tolerance, _| tolerance / 10.0);
        let messages = comm.open_messages()?;
        comm.barrier();
        let begin = rank.hal().now();
        match (comm.rank(), comm.size()) {
            (0, 1) => {
                let mut left: Vec<_> = all();
                let known = integrate(rank.hal(), &mut left, tolerance, usize::MAX);
                report(rank, known, &[], begin);
            }
            (0, _) => {
                let (known, answers) = hand_out(comm)?;
                report(rank, known, &answers, begin);
            }
            _ => work(comm, tolerance)?,
        }
        messages.close()?;
        Ok(())
    }
}

/// All that is to be integrated.
fn all() -> Vec<Interval> {
    Interval { from: 0.0, to: 1.0 }.divided(DIVIDED).collect()
}

/// Hands intervals out until nothing is left. Returns what is known then, and how many answers each worker has given.
fn hand_out<C: Core>(comm: &Comm<'_, C>) -> Result<(Known, Vec<u32>), Failure> {
    let (mut left, mut known, mut answers) = (all(), Known::default(), vec![0; comm.size()]);
    let mut idle: Vec<_> = (1..comm.size()).collect();
    loop {
        while let (Some(worker), Some(interval)) = (idle.last(), left.last()) {
            comm.send_tagged(&[interval.from, interval.to], *worker, WORK)?;
            idle.pop();
            left.pop();
        }
        if idle.len() + 1 == comm.size() {
            break;
        }
        // How long an answer is, its envelope says.
        let envelope = comm.probe(Source::Any, Tag::Is(ANSWER))?;
        let mut words = vec![0_u64; envelope.len_bytes / size_of::<u64>()];
        comm.receive_tagged(&mut words, Source::Rank(envelope.source), Tag::Is(ANSWER))?;
        let (found, rest) = words.split_at(KNOWN_WORDS);
        known.add(Known { sum: found[0] as i64, parts: found[1], evaluations: found[2] });
        left.extend(rest.chunks_exact(2).map(|ends| {
            let [from, to] = [ends[0], ends[1]].map(f64::from_bits);
            Interval { from, to }
        }));
        answers[envelope.source] += 1;
        idle.push(envelope.source);
    }
    idle.iter().try_for_each(|worker| comm.send_tagged::<u8>(&[], *worker, END))?;
    Ok((known, answers))
}

/// Works until the end.
fn work<C: Core>(comm: &Comm<'_, C>, tolerance: f64) -> Result<(), Failure> {
    loop {
        let (mut ends, mut nothing) = ([0.0; 2], [0_u8; 0]);
        let mut receives = [
            comm.start_receive_tagged(&mut ends, Source::Rank(0), Tag::Is(WORK))?,
            comm.start_receive_tagged(&mut nothing, Source::Rank(0), Tag::Is(END))?,
        ];
        let Some((which, received)) = Request::wait_any(&mut receives)? else { return Ok(()) };
        received?;
        if !receives[1 - which].cancel() {
            return Err(Failure::new("work came together with the end"));
        }
        drop(receives);
        if which == 1 {
            return Ok(());
        }
        let mut left = vec![Interval { from: ends[0], to: ends[1] }];
        let known = integrate(comm.hal(), &mut left, tolerance, MOST);
        let mut answer = vec![known.sum as u64, known.parts, known.evaluations];
        answer.extend(left.iter().flat_map(|interval| [interval.from, interval.to].map(f64::to_bits)));
        comm.send_tagged(&answer, 0, ANSWER)?;
    }
}

fn report<C: Core>(rank: &Rank<'_, C>, known: Known, answers: &[u32], begin: u64) {
    let shown = Shown::of(rank.hal());
    let taken = shown.number(rank.hal().now() - begin);
    println!(
        rank,
        "the integral is {:.6}, of {} parts and {} evaluations",
        known.sum as f64 / ONE,
        known.parts,
        known.evaluations
    );
    if let [_, workers @ ..] = answers {
        let [least, most] = [workers.iter().min(), workers.iter().max()].map(|count| count.copied().unwrap_or(0));
        println!(
            rank,
            "{} answers of {} workers, {least} to {most} of each",
            workers.iter().sum::<u32>(),
            workers.len()
        );
    }
    if shown.tells_time {
        println!(rank, "it took {taken} {}", shown.unit());
    }
    rank.tell_host(format_args!("result integral {:016x} {}", known.sum, known.parts));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::{Only, simulate};
    use std::{
        format,
        string::{String, ToString},
    };

    fn result(words: &str) -> String {
        let simulation = simulate::<Only<Quadrature>>(words, &[]);
        assert!(simulation.success, "{words}: {}", simulation.console);
        let line = simulation.console.lines().find_map(|line| line.strip_prefix("@result integral "));
        line.unwrap_or_else(|| panic!("{words}: {}", simulation.console)).to_string()
    }

    #[test]
    fn every_number_of_ranks_finds_the_same() {
        let alone = result("cores=1");
        for words in ["cores=2", "cores=3", "cores=16", "cores=48", "cores=16 seed=3"] {
            assert_eq!(result(words), alone, "{words}");
        }
    }

    /// ∫ of the peaks are arcus tangents: 1000 (atan 700 + atan 300) + 5 (atan 0.5 + atan 4.5) − 6.
    #[test]
    fn the_integral_is_right() {
        let exact = 1000.0 * (700_f64.atan() + 300_f64.atan()) + 5.0 * (0.5_f64.atan() + 4.5_f64.atan()) - 6.0;
        for (digits, most) in [(3, 1e-3), (6, 1e-6)] {
            let found = result(&format!("cores=5 digits={digits}"));
            let sum = i64::from_str_radix(found.split(' ').next().unwrap(), 16).unwrap();
            let error = (sum as f64 / ONE - exact).abs();
            assert!(error <= most, "{digits} digits: {error}");
        }
        let refused = simulate::<Only<Quadrature>>("cores=3 digits=10", &[]);
        assert!(!refused.success && refused.console.contains("there are 9 at most"), "{}", refused.console);
    }
}
