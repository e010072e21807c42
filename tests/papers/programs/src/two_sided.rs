//! `bench-two-sided`: messages back and forth between two ranks, by length and distance.
//!
//! Rank 0 sends a message to a partner, who sends one of equal length back, as in RCCE's own ping-pong. Buffers are the same
//! each time, so that caches have them where there are any. Half of a round trip is what one message takes. Other ranks wait
//! in a barrier.

use alloc::{format, string::String, vec};

use hal::Core;

use kernel::{Failure, Program, Rank, Unit, args::KnownOption};

use super::{
    measure::{Of, Splits, demand, need_cores, repetitions, turns},
    rma::{Pair, pairs},
};

/// Bytes of messages: a line, RCCE's usual sizes, and twice what an MPB has. A list of them may be asked for instead.
const SIZES: [usize; 6] = [32, 256, 1 << 10, 96 * 32, 1 << 13, 1 << 14];

/// Round trips that do not count.
const WARM_UP: u32 = 2;

/// Our messages.
const DEFAULT: &str = "default";

/// Our messages through the 251 lines that RCCE has for them.
const RCCE: &str = "rcce";

/// Measures two-sided messages.
pub struct TwoSided;

impl Program for TwoSided {
    const NAME: &'static str = "bench-two-sided";
    const ABOUT: &'static str = "measures messages back and forth between rank 0 and ranks at three distances";
    const OPTIONS: &'static [KnownOption] = &[
        ("algorithm", "default, or rcce for messages in chunks of RCCE's 251 lines; default if not given"),
        ("bytes", "bytes of a message; several lengths from 32 to 16384 if not given"),
        ("repetitions", "round trips that count, 10 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let algorithm = rank.args.get("algorithm", String::from(DEFAULT))?;
        let why = format_args!("option `algorithm={algorithm}`: no such messages; there are {DEFAULT} and {RCCE}");
        demand([DEFAULT, RCCE].contains(&algorithm.as_str()), why)?;
        let (bytes, repetitions) = (rank.args.get("bytes", 0)?, repetitions(rank, 10)?);
        need_cores(rank.comm, 2)?;
        let profile = if algorithm == RCCE { Some(rank.comm.rcce_profile()?) } else { None };
        let pairs = pairs(rank.comm);
        for pair in pairs {
            let sizes = if bytes == 0 { &SIZES[..] } else { core::slice::from_ref(&bytes) };
            for bytes in sizes {
                rank.phase(&format!("{bytes} bytes, {} routers", pair.routers));
                measure(rank, &algorithm, pair, *bytes, repetitions)?;
            }
        }
        drop(profile);
        Ok(())
    }
}

/// Round trips of a pair.
fn measure<C: Core>(
    rank: &Rank<'_, C>,
    algorithm: &str,
    pair: Pair,
    bytes: usize,
    repetitions: u32,
) -> Result<(), Failure> {
    let (comm, me) = (rank.comm, rank.comm.rank());
    comm.barrier();
    let Some(peer) = pair.peer_of(me) else { return Ok(()) };
    let (sent, mut received) = (vec![me as u8 + 1; bytes], vec![0; bytes]);
    let mut splits = Splits::new("half-round-trip");
    for counts in turns(WARM_UP, repetitions) {
        if me == pair.ranks[0] {
            splits.take(rank.hal(), counts, || {
                comm.send(&sent, peer)?;
                comm.receive(&mut received, peer)
            })?;
        } else {
            comm.receive(&mut received, peer)?;
            comm.send(&sent, peer)?;
        }
    }
    if received.iter().any(|byte| *byte != peer as u8 + 1) {
        return Err(Failure::new(format_args!("a message of rank {peer} has come with other bytes than were sent")));
    }
    if me == pair.ranks[0] {
        let of = Of(algorithm, pair.routers, bytes);
        splits.send_as(rank, of, "half-round-trip", Unit::Ticks, &[], |ticks| ticks / 2);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{refused, run};

    #[test]
    fn messages_take_longer_the_longer_and_the_farther_they_are() {
        let (ours, theirs) = (run::<TwoSided>("cores=48"), run::<TwoSided>("cores=48 algorithm=rcce"));
        let took = |routers, bytes| ours.value(DEFAULT, "half-round-trip", (routers, bytes));
        assert!(took(1, 1 << 10) > 10 * took(1, 32) && took(9, 1 << 10) > took(1, 1 << 10));
        // Lent lines have had other data, so that a receiver waits for the signal before it looks for the head.
        for bytes in SIZES.map(|bytes| bytes as u64) {
            let of_rcce = theirs.value(RCCE, "half-round-trip", (1, bytes));
            assert!(took(1, bytes) < of_rcce, "{bytes} bytes: {} and {of_rcce}", took(1, bytes));
        }
    }

    #[test]
    fn what_cannot_be_measured_is_said_once() {
        refused::<TwoSided>(&[
            ("cores=1", "this takes 2 cores or more, and there are 1"),
            ("cores=2 algorithm=mpi", "option `algorithm=mpi`: no such messages; there are default and rcce"),
            ("cores=2 repetitions=0", "there is nothing to measure"),
        ]);
    }
}
