//! `bench-two-sided`: messages back and forth between two ranks, by length and distance.
//!
//! Rank 0 sends a message to a partner, who sends one of equal length back, as in RCCE's own ping-pong. Buffers are the same
//! each time, so that caches have them where there are any. Half of a round trip is what one message takes. Other ranks wait
//! in a barrier.
//!
//! Messages with tags are measured in a row as well: expected ones, whose receives are there before they are sent, and unexpected ones,
//! which are all there before the first one is received.

use alloc::{format, string::String, vec};

use collectives::{Comm, Error, Request, Source, Tag};
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

/// Our messages with tags.
const TAGGED: &str = "tagged";

/// Messages in a row, as many as may be there unexpected.
const BURST: usize = 16;

/// Bytes of a message that goes before its receive is there.
const SHORT_BYTES: usize = 240;

/// The tag of messages, and that of the word that lets a sender begin.
const TAG: u32 = 1;
const GO: u32 = 2;

/// Measures two-sided messages.
pub struct TwoSided;

impl Program for TwoSided {
    const NAME: &'static str = "bench-two-sided";
    const ABOUT: &'static str = "measures messages back and forth between rank 0 and ranks at three distances";
    const OPTIONS: &'static [KnownOption] = &[
        (
            "algorithm",
            "default, rcce for messages in chunks of RCCE's 251 lines, or tagged for messages with tags; default if not given",
        ),
        ("bytes", "bytes of a message; several lengths from 32 to 16384 if not given"),
        ("repetitions", "round trips that count, 10 if not given"),
    ];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let algorithm = rank.args.get("algorithm", String::from(DEFAULT))?;
        let why =
            format_args!("option `algorithm={algorithm}`: no such messages; there are {DEFAULT}, {RCCE} and {TAGGED}");
        demand([DEFAULT, RCCE, TAGGED].contains(&algorithm.as_str()), why)?;
        let (bytes, repetitions) = (rank.args.get("bytes", 0)?, repetitions(rank, 10)?);
        need_cores(rank.comm, 2)?;
        let profile = if algorithm == RCCE { Some(rank.comm.rcce_profile()?) } else { None };
        let opened = if algorithm == TAGGED { Some(rank.comm.open_messages()?) } else { None };
        let pairs = pairs(rank.comm);
        for pair in pairs {
            let sizes = if bytes == 0 { &SIZES[..] } else { core::slice::from_ref(&bytes) };
            for bytes in sizes {
                rank.phase(&format!("{bytes} bytes, {} routers", pair.routers));
                measure(rank, &algorithm, pair, *bytes, repetitions)?;
                if algorithm == TAGGED && *bytes <= SHORT_BYTES {
                    in_a_row(rank, pair, *bytes, repetitions)?;
                }
            }
        }
        drop(profile);
        opened.map_or(Ok(()), collectives::Messages::close)?;
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
                send(comm, algorithm, &sent, peer)?;
                receive(comm, algorithm, &mut received, peer)
            })?;
        } else {
            receive(comm, algorithm, &mut received, peer)?;
            send(comm, algorithm, &sent, peer)?;
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

fn send<C: Core>(comm: &Comm<'_, C>, algorithm: &str, message: &[u8], to: usize) -> Result<(), Error> {
    if algorithm == TAGGED { comm.send_tagged(message, to, TAG) } else { comm.send(message, to) }
}

fn receive<C: Core>(comm: &Comm<'_, C>, algorithm: &str, message: &mut [u8], from: usize) -> Result<(), Error> {
    if algorithm == TAGGED {
        comm.receive_tagged(message, Source::Rank(from), Tag::Is(TAG)).map(drop)
    } else {
        comm.receive(message, from)
    }
}

/// Messages in a row to the first rank of a pair: what each takes it, from when it lets the other one begin, or from when all are there.
fn in_a_row<C: Core>(rank: &Rank<'_, C>, pair: Pair, bytes: usize, repetitions: u32) -> Result<(), Failure> {
    let (comm, me) = (rank.comm, rank.comm.rank());
    comm.barrier();
    let Some(peer) = pair.peer_of(me) else { return Ok(()) };
    let mut buffers = vec![vec![0_u8; bytes]; BURST];
    let (mut expected, mut unexpected) = (Splits::new("each-expected"), Splits::new("each-unexpected"));
    for counts in turns(WARM_UP, repetitions) {
        if me != pair.ranks[0] {
            for _ in 0..2 {
                comm.receive_tagged::<u8>(&mut [], Source::Rank(peer), Tag::Is(GO))?;
                (0..BURST).try_for_each(|index| comm.send_tagged(&buffers[index], peer, TAG + index as u32 * GO))?;
            }
            continue;
        }
        let tag = |index: usize| Tag::Is(TAG + index as u32 * GO);
        let receives = buffers.iter_mut().enumerate();
        let receives =
            receives.map(|(index, buffer)| comm.start_receive_tagged(buffer, Source::Rank(peer), tag(index)));
        let mut receives = receives.collect::<Result<alloc::vec::Vec<_>, _>>()?;
        expected.take(rank.hal(), counts, || {
            comm.send_tagged::<u8>(&[], peer, GO)?;
            Request::wait_all(&mut receives).into_iter().try_for_each(|done| done.map(drop))
        })?;
        drop(receives);
        comm.send_tagged::<u8>(&[], peer, GO)?;
        comm.probe(Source::Rank(peer), tag(BURST - 1))?;
        unexpected.take(rank.hal(), counts, || {
            let mut all = buffers.iter_mut().enumerate();
            all.try_for_each(|(index, buffer)| comm.receive_tagged(buffer, Source::Rank(peer), tag(index)).map(drop))
        })?;
    }
    if me == pair.ranks[0] {
        let of = Of(TAGGED, pair.routers, bytes);
        let each = |ticks| ticks / BURST as u64;
        expected.send_as(rank, of, "each-expected", Unit::Ticks, &[], each);
        unexpected.send_as(rank, of, "each-unexpected", Unit::Ticks, &[], each);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Printed, refused, run, run_priced};

    fn median(by: &Printed, name: &str, metric: &str, key: (u64, u64)) -> u64 {
        crate::testing::median(by.at(name, metric, key))
    }

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
    fn messages_with_tags_take_little_longer() {
        let (ours, tagged) = (run::<TwoSided>("cores=48"), run::<TwoSided>("cores=48 algorithm=tagged"));
        for bytes in SIZES.map(|bytes| bytes as u64) {
            let untagged = median(&ours, DEFAULT, "half-round-trip", (9, bytes));
            let with_tag = median(&tagged, TAGGED, "half-round-trip", (9, bytes));
            assert!(10 * with_tag <= 13 * untagged, "{bytes} bytes: {with_tag} and {untagged}");
        }
        let [expected, unexpected] =
            ["each-expected", "each-unexpected"].map(|metric| median(&tagged, TAGGED, metric, (9, 32)));
        assert!(unexpected < expected, "{unexpected} and {expected}");
    }

    /// Here our software has its price.
    #[test]
    fn a_tag_on_eight_bytes_costs_little() {
        let (ours, tagged) =
            (run_priced::<TwoSided>("cores=48 bytes=8"), run_priced::<TwoSided>("cores=48 bytes=8 algorithm=tagged"));
        for routers in [1, 5, 9] {
            let untagged = median(&ours, DEFAULT, "half-round-trip", (routers, 8));
            let with_tag = median(&tagged, TAGGED, "half-round-trip", (routers, 8));
            assert!(10 * with_tag <= 13 * untagged, "{routers} routers: {with_tag} and {untagged}");
        }
    }

    #[test]
    fn what_cannot_be_measured_is_said_once() {
        refused::<TwoSided>(&[
            ("cores=1", "this takes 2 cores or more, and there are 1"),
            ("cores=2 algorithm=mpi", "option `algorithm=mpi`: no such messages; there are default, rcce and tagged"),
            ("cores=2 repetitions=0", "there is nothing to measure"),
        ]);
    }
}
