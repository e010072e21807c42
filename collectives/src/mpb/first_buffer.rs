//! What the first staging buffer of this rank is known to hold.
//!
//! Communicators of some ranks get that buffer [lent](crate::mpb::sequence), and some of their operations look in it for lines with a tag,
//! the number of the operation. Anything else that was there before could look like such a line, so the rank clears the buffer first.
//! That takes about as long as a short operation, and mostly is not needed: as long as one communicator alone has tagged lines
//! there, all tags in the buffer are numbers of its earlier operations, and it never looks for one of these again.
//!
//! So a rank keeps two things: which communicator was the last to have tagged lines in the buffer, and how many lines, from the first
//! one on, anybody has put other data into since. If the same communicator wants tagged lines again, only these lines are
//! cleared. Whoever puts other data there says so ([`first_buffer_is_raw`](Comm::first_buffer_is_raw)); tagged lines are had by
//! [`slots_turn`](Comm::slots_turn) alone, which calls [`clear_first_buffer`](Comm::clear_first_buffer).

use core::cell::Cell;

use hal::{LINE_BYTES, MpbCopy, MpbLine, Topology};

use crate::Comm;

/// What is known of the lines of the buffer.
#[derive(Default)]
pub(crate) struct FirstBuffer {
    /// How many lines, from the first on, may hold data without tags.
    raw: Cell<usize>,
    /// The context of the communicator that had tagged lines here last, and how many, from the first on. But for data without tags,
    /// these hold zeros or what it has put there. The communicator of all ranks, whose context is 0, never has any.
    tagged: Cell<(u32, usize)>,
}

impl<C> Comm<'_, C> {
    /// Remembers that the first `lines` lines of this rank's first staging buffer may hold data without tags from now on.
    #[inline]
    pub(crate) fn first_buffer_is_raw(&self, lines: usize) {
        let raw = &self.world_of().buffers().first_buffer.raw;
        if lines > raw.get() {
            raw.set(lines);
        }
    }
}

impl<C: Topology + MpbCopy> Comm<'_, C> {
    /// Makes the first `lines` lines of this rank's first staging buffer hold nothing but zeros and tagged lines of earlier operations of
    /// this communicator: clears those that may hold anything else. Nobody else uses them meanwhile.
    pub(crate) fn clear_first_buffer(&self, lines: usize) {
        let FirstBuffer { raw, tagged } = &self.world_of().buffers().first_buffer;
        let (context, known) = tagged.get();
        let cleared = if context == self.context() && raw.get() < lines && lines <= known { raw.get() } else { lines };
        if cleared == lines {
            tagged.set((self.context(), lines));
        }
        raw.set(0);
        if cleared > 0 {
            let own = MpbLine::new(self.hal().core(), self.mpb_layout().lent().start);
            self.hal().put_made(cleared * LINE_BYTES, own, |_, bytes| bytes.fill(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{vec, vec::Vec};

    use hal::{
        Counted, Mpb, MpbCoherence,
        sim::{Machine, SimCore},
    };

    use super::*;
    use crate::{
        Broadcast, InPlace, OcBcast, Operator, Pieces, Reduction, Scan, Source, Tag,
        collective::broadcast::Rounds,
        mpb::{
            sequence::Writers,
            tagged::{self, tagged_data},
        },
    };

    /// Lines that a turn wants: more than a communicator of some ranks has for itself.
    const LINES: usize = 40;

    /// Takes a turn for tags, looks whether some are there already, and counts the lines that were cleared.
    fn lines_cleared(comm: &Comm<'_, SimCore>) -> u64 {
        let (hal, mut cleared) = (comm.hal(), 0);
        comm.operate(|| {
            let before = hal.counters().mpb_lines_written;
            let turn = comm.slots_turn([LINES, 0], false, 0);
            cleared = hal.counters().mpb_lines_written - before;
            assert_eq!(turn.written, comm.mpb_layout().lent().start, "they are lent");
            hal.invalidate_mpb();
            let is_there = |line: usize| {
                let found = Mpb::load_line(hal, comm.mpb_line(comm.rank(), line));
                tagged_data(&found, turn.tag).is_some()
            };
            assert!(
                !(turn.written..turn.written + LINES).any(is_there),
                "rank {} finds a tag that nobody has put",
                comm.rank()
            );
        });
        comm.barrier();
        cleared
    }

    /// Everything that comes to the first buffer, with bytes that look like the tags that are looked for next.
    fn fill(what: usize, world: &Comm<'_, SimCore>, [comm, other, poor]: [&Comm<'_, SimCore>; 3]) {
        // Of some turns to come, as many of this communicator may be in between.
        let tags = comm.sequence().next_tag()..;
        let words = |len: usize| -> Vec<u32> {
            tags.clone().take(3).cycle().flat_map(|tag| [tag; LINE_BYTES / 4]).take(len).collect()
        };
        let (me, peer) = (world.rank(), world.rank() ^ 1);
        let exchange = |send: &dyn Fn(&[u8]), receive: &dyn Fn(&mut [u8]), len: usize| {
            for sends in [me % 2 == 0, me % 2 == 1] {
                if sends {
                    send(bytemuck::cast_slice(&words(len)));
                } else {
                    receive(bytemuck::cast_slice_mut(&mut vec![0_u32; len]));
                }
            }
        };
        let same = |comm: &Comm<'_, SimCore>, by, len| {
            comm.using(by, |comm| comm.allreduce(InPlace, &mut words(len), &Operator::MAX)).unwrap();
        };
        match what {
            0 | 1 => exchange(
                &|message| comm.send(message, peer).unwrap(),
                &|message| comm.receive(message, peer).unwrap(),
                [8, 2000][what],
            ),
            2 => exchange(
                &|message| world.send_within(tagged::Source::Memory, message, peer).unwrap(),
                &|message| world.receive_within(message, peer).unwrap(),
                300,
            ),
            3 => exchange(
                &|message| world.send_tagged(message, peer, 1).unwrap(),
                &|message| {
                    world.receive_tagged(message, Source::Rank(peer), Tag::Is(1)).unwrap();
                },
                500,
            ),
            4 => {
                let by = Broadcast::OcBcast(OcBcast::with_degree(2));
                world.using(by, |comm| comm.broadcast(&mut words(1000), 0)).unwrap();
            }
            5 => same(world, Reduction::Blocks, 3000),
            6 => same(comm, Reduction::Blocks, 300),
            7 => same(comm, Reduction::Blocks, 1500),
            8 => {
                for comm in [world, comm] {
                    comm.using(Scan::Chain, |comm| comm.scan(InPlace, &mut words(1000), &Operator::MAX)).unwrap();
                }
            }
            9 => {
                comm.using(Broadcast::ScatterAllgather(Rounds::Overlapped), |comm| comm.broadcast(&mut words(1000), 0))
                    .unwrap();
            }
            // Its tags are those of the first one.
            10 => {
                while other.sequence().next_tag() < comm.sequence().next_tag() {
                    other.turn(0, Writers::Owner);
                }
                for _ in 0..3 {
                    other.using(Scan::Doubling, |comm| comm.scan(InPlace, &mut words(200), &Operator::MAX)).unwrap();
                }
            }
            11 => {
                poor.broadcast(&mut words(1000), 0).unwrap();
                same(poor, Reduction::Tree, 8);
            }
            12 => comm.reduce_scatter(&words(400), &mut vec![0; 100], &Operator::MAX).unwrap(),
            // In goes, and then from pair to pair.
            13 => comm.reduce_scatter(&words(1600), &mut vec![0; 400], &Operator::MAX).unwrap(),
            14 => {
                let counts = [400, 500, 400, 300];
                let (blocks, mut block) = (words(1600), vec![0; counts[me]]);
                comm.reduce_scatter(Pieces::packed(&counts).of(&blocks), &mut block, &Operator::MAX).unwrap();
            }
            _ => comm.scatter(&words(if me == 0 { 760 } else { 0 }), &mut [0; 190], 0).unwrap(),
        }
        world.barrier();
    }

    #[test]
    fn no_tag_is_found_that_nobody_has_put() {
        let outcome = Machine::scc(4).run(|core| {
            let world = Comm::world(core, regions::of_a_test()).unwrap();
            let messages = world.open_messages().unwrap();
            let made: Vec<_> = (0..5).map(|_| world.dup().unwrap()).collect();
            assert!(!made[4].mpb_layout().has_own_lines());
            for what in 0..=15 {
                // First with tags of the communicator there, then with none.
                lines_cleared(&made[0]);
                fill(what, &world, [&made[0], &made[1], &made[4]]);
                lines_cleared(&made[0]);
            }
            drop(messages);
        });
        outcome.unwrap();
    }

    #[test]
    fn only_what_may_hold_anything_is_cleared() {
        let outcome = Machine::scc(4).run(|core| {
            let world = Comm::world(core, regions::of_a_test()).unwrap();
            let [one, other] = [0, 1].map(|_| world.dup().unwrap());
            let send = |len: usize| {
                for parity in [0, 1] {
                    let mut message = vec![1; len];
                    if world.rank() % 2 == parity {
                        world.send(&message, world.rank() ^ 1).unwrap();
                    } else {
                        world.receive(&mut message, world.rank() ^ 1).unwrap();
                    }
                }
            };
            let cleared = |comm| lines_cleared(comm);
            let [first, again] = [cleared(&one), cleared(&one)];
            send(20);
            let riding = cleared(&one);
            send(32);
            let short = cleared(&one);
            send(300);
            let longer = cleared(&one);
            [first, again, riding, short, longer, cleared(&other), cleared(&one)]
        });
        // Beside the flags of a barrier, which are fewer than lines of it.
        let lines = LINES as u64;
        for cleared in outcome.unwrap().results() {
            let [first, again, riding, short, longer, of_other, of_one] = cleared;
            assert_eq!((riding, short - again, longer - again), (again, 1, 10), "{cleared:?}");
            assert_eq!([first, of_other, of_one].map(|all| all - again), [lines; 3], "{cleared:?}");
        }
    }
}
