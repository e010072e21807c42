//! Lines that programs have for themselves, and messages in steps.

use collectives::{Comm, Error, MpbLayout, Operator};
use hal::{
    Clock, Deadline, Reason,
    sim::{Machine, SimCore},
};

const RANKS: [usize; 5] = [1, 2, 5, 16, 48];

fn on_each(program: impl Fn(&Comm<'_, SimCore>) + Sync) {
    for size in RANKS {
        let outcome = Machine::scc(size).run(|core| {
            program(&Comm::world(core, regions::of_a_test()).expect("the machine is small enough"));
        });
        outcome.unwrap_or_else(|failure| panic!("{size} ranks: {failure}"));
    }
}

fn pattern(rank: usize, len: usize) -> Vec<u8> {
    (0..len).map(|index| (7 * rank + index) as u8).collect()
}

#[test]
fn any_bytes_come_to_any_place_and_back() {
    on_each(|comm| {
        let (rank, size) = (comm.rank(), comm.size());
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        let lines = comm.reserve_lines(20).unwrap();
        assert_eq!(lines.len_bytes(), 640);
        for (offset, len) in
            [(0, 0), (0, 1), (31, 1), (31, 2), (5, 22), (5, 27), (5, 100), (64, 64), (640, 0), (609, 31)]
        {
            lines.put(&vec![0xEE; 640], rank, 0).unwrap();
            comm.barrier();
            lines.put(&pattern(rank, len), right, offset).unwrap();
            comm.barrier();
            let mut all = vec![0; 640];
            lines.get(rank, 0, &mut all).unwrap();
            let mut expected = vec![0xEE; 640];
            expected[offset..offset + len].copy_from_slice(&pattern(left, len));
            assert_eq!(all, expected, "{len} bytes at {offset}");
            let mut part = vec![0; len];
            lines.get(right, offset, &mut part).unwrap();
            assert_eq!(part, pattern(rank, len));
            comm.barrier();
        }
        // From MPB to MPB, by lines and by bytes.
        for (from, to, len) in [(0, 320, 64), (3, 330, 50)] {
            lines.put(&pattern(rank, 64), rank, 0).unwrap();
            comm.barrier();
            lines.put_own(from, right, to, len).unwrap();
            comm.barrier();
            let mut part = vec![0; len];
            lines.get(rank, to, &mut part).unwrap();
            assert_eq!(part, pattern(left, 64)[from..from + len]);
            lines.get_to_own(right, from, to + 100, len).unwrap();
            lines.get(rank, to + 100, &mut part).unwrap();
            assert_eq!(part, pattern(right, 64)[from..from + len]);
            comm.barrier();
        }
    });
}

#[test]
fn accesses_beyond_the_lines_are_refused() {
    on_each(|comm| {
        let lines = comm.reserve_lines(2).unwrap();
        let beyond = |end| Err(Error::BeyondLines { end, len_bytes: 64 });
        assert_eq!(lines.put(&[0; 2], 0, 63), beyond(65));
        assert_eq!(lines.get(0, 65, &mut []), beyond(65));
        assert_eq!(lines.store_word(0, 16, 1), beyond(68));
        assert_eq!(lines.load_word(0, usize::MAX), Err(Error::BeyondLines { end: usize::MAX, len_bytes: 64 }));
        assert_eq!(lines.put_own(0, 0, 32, 64), beyond(96));
        let size = comm.size();
        assert_eq!(lines.put(&[0], size, 0), Err(Error::NoSuchRank { rank: size, size }));
        let late = lines.wait_for_word_of(0, 3, Reason::new("what does not come"), Deadline::At(0), |word| word == 1);
        assert!(matches!(late, Err(Error::TimedOut { .. })));
    });
}

#[test]
fn staging_gives_lines_away_and_everything_goes_on() {
    on_each(|comm| {
        let (rank, size) = (comm.rank(), comm.size());
        let spare = comm.mpb_layout().spare().len();
        let mut lines = comm.reserve_lines(spare - 1).unwrap();
        let flag = comm.reserve_lines(1).unwrap();
        // The line behind is somebody else's.
        assert_eq!(lines.extend(spare), Err(Error::NoSpareLines { wanted: spare }));
        drop(flag);
        let most = lines.limit_bytes() / 32;
        assert_eq!(lines.extend(most + 1), Err(Error::NoSpareLines { wanted: most + 1 }));
        lines.extend(most).unwrap();
        lines.extend(3).unwrap();
        assert_eq!(lines.len_bytes(), most * 32);
        let mine = pattern(rank, most * 32);
        lines.put(&mine, rank, 0).unwrap();
        // Messages and operations of all go through what is left.
        let mut sum = vec![0; 3000];
        comm.allreduce(&vec![rank as u32; 3000], &mut sum, &Operator::SUM).unwrap();
        assert_eq!(sum, vec![(size * (size - 1) / 2) as u32; 3000]);
        if rank == 0 && size > 1 {
            comm.send(&pattern(9, 10_000), size - 1).unwrap();
        } else if rank + 1 == size && size > 1 {
            let mut message = vec![0; 10_000];
            comm.receive(&mut message, 0).unwrap();
            assert_eq!(message, pattern(9, 10_000));
        }
        let mut found = vec![0; most * 32];
        lines.get(rank, 0, &mut found).unwrap();
        assert_eq!(found, mine);
        drop(lines);
        // They are spare now.
        assert_eq!(comm.mpb_layout().spare().len(), most);
        let lines = comm.reserve_lines(most).unwrap();
        assert_eq!(lines.load_word(rank, most * 8 - 1), Ok(0));
    });
}

#[test]
fn the_payload_of_rcce_is_shared_with_messages() {
    on_each(|comm| {
        let (rank, size) = (comm.rank(), comm.size());
        let before = comm.mpb_layout();
        let mut lines = comm.rcce_profile().unwrap().into_lines();
        assert_eq!(lines.len_bytes(), 0);
        for count in [3, 200, lines.limit_bytes() / 32] {
            lines.extend(count).unwrap();
            let mine = pattern(rank, count * 32);
            lines.put(&mine, rank, 0).unwrap();
            if rank > 0 {
                let mut message = [0; 1000];
                comm.receive(&mut message, rank - 1).unwrap();
                assert_eq!(message[..], pattern(rank - 1, 1000));
            }
            if rank + 1 < size {
                comm.send(&pattern(rank, 1000), rank + 1).unwrap();
            }
            let mut found = vec![0; count * 32];
            lines.get(rank, 0, &mut found).unwrap();
            assert_eq!(found, mine);
        }
        let most = MpbLayout::new(size).unwrap().rcce_payload().len() - 1;
        assert_eq!(lines.len_bytes(), most * 32);
        assert_eq!(lines.extend(most + 1), Err(Error::NoSpareLines { wanted: most + 1 }));
        drop(lines);
        assert_eq!(comm.mpb_layout(), before);
        let mut sum = [0];
        comm.allreduce(&[1u32], &mut sum, &Operator::SUM).unwrap();
        assert_eq!(sum, [size as u32]);
    });
}

/// Ranks put into the lines of one that has dropped them already, since all have to: what they put is gone before the lines are used
/// for something else.
#[test]
fn nothing_comes_to_lines_of_the_payload_after_their_end() {
    let outcome = Machine::scc(4).run(|core| {
        let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
        let mut lines = comm.rcce_profile().unwrap().into_lines();
        lines.extend(100).unwrap();
        if comm.rank() == 1 {
            core.compute(1_000_000);
            lines.put(&[7, 0, 0, 0].repeat(800), 0, 0).unwrap();
        }
        drop(lines);
        for turn in 0..9 {
            if comm.rank() == 0 {
                core.compute(100_000);
            }
            let mut all = [0_u32; 4];
            comm.allgather(&[comm.rank() as u32], &mut all).unwrap();
            assert_eq!(all, [0, 1, 2, 3], "turn {turn}");
        }
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn more_lines_than_there_can_be_are_refused() {
    on_each(|comm| {
        let mut lines = comm.reserve_lines(1).unwrap();
        for wanted in [usize::MAX, usize::MAX - 20, 257] {
            let refused = Error::NoSpareLines { wanted };
            assert_eq!((comm.reserve_lines(wanted).err(), lines.extend(wanted)), (Some(refused), Err(refused)));
        }
        assert_eq!(lines.len_bytes(), 32);
    });
}

/// Rank 0 receives from all others in steps, whoever comes; every other one sends in steps or at once.
#[test]
fn messages_in_steps_meet_plain_ones() {
    for len in [0, 1, 28, 29, 3068, 3069, 20_000] {
        on_each(|comm| {
            let (rank, size) = (comm.rank(), comm.size());
            match rank {
                0 => {
                    let mut open: Vec<_> =
                        (1..size).map(|from| (comm.start_receiving(len, from).unwrap(), None, vec![0; len])).collect();
                    while !open.is_empty() {
                        let senders: Vec<_> = open.iter().map(|(receiving, ..)| receiving.from()).collect();
                        comm.await_step(&senders, None, Deadline::Never).unwrap();
                        open.retain_mut(|(receiving, sent, message)| {
                            // Only the first chunk has a length before it.
                            if sent.is_none() {
                                *sent = comm.incoming(receiving.from()).unwrap();
                                assert!(sent.is_none_or(|sent| sent == len));
                            }
                            let over = comm.step_receiving(receiving, message).unwrap();
                            assert!(!over || *message == pattern(receiving.from(), len));
                            !over
                        });
                    }
                }
                _ if rank % 2 == 0 => comm.send(&pattern(rank, len), 0).unwrap(),
                _ => {
                    let message = pattern(rank, len);
                    let mut sending = comm.start_sending(&message, 0).unwrap();
                    assert_eq!(comm.start_sending(&message, 0), Err(Error::RequestsOutstanding));
                    assert_eq!(comm.reserve_lines(1).err(), Some(Error::RequestsOutstanding));
                    while !comm.step_sending(&mut sending, &message).unwrap() {
                        comm.await_step(&[], Some(0), Deadline::Never).unwrap();
                    }
                }
            }
            // The other way round: the receiver is the plain one.
            if rank == 0 {
                for to in 1..size {
                    let message = pattern(to, len);
                    let mut sending = comm.start_sending(&message, to).unwrap();
                    while !comm.step_sending(&mut sending, &message).unwrap() {
                        comm.await_step(&[], Some(to), Deadline::Never).unwrap();
                    }
                }
            } else {
                let mut message = vec![0; len];
                comm.receive(&mut message, 0).unwrap();
                assert_eq!(message, pattern(rank, len));
            }
        });
    }
}

/// A refusal turns both bits of messages: the sender, which receives in steps from the same rank, must not take it for a
/// message.
#[test]
fn a_refusal_is_no_message_for_stepwise_receivers() {
    let outcome = Machine::scc(2).run(|core| {
        let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
        let refused = Error::MessageLength { from: 0, to: 1, sent: 5, wanted: 6 };
        if comm.rank() == 1 {
            assert_eq!(comm.receive(&mut [0; 6], 0), Err(refused));
            comm.send(&pattern(1, 100), 0).unwrap();
            return;
        }
        let mut message = vec![0; 100];
        let mut receiving = comm.start_receiving(message.len(), 1).unwrap();
        let mut sending = comm.start_sending(&[7; 5], 1).unwrap();
        comm.await_step(&[1], Some(1), Deadline::Never).unwrap();
        assert_eq!(comm.incoming(1), Ok(None));
        assert_eq!(comm.step_receiving(&mut receiving, &mut message), Ok(false));
        assert_eq!(message, [0; 100]);
        assert_eq!(comm.step_sending(&mut sending, &[7; 5]), Err(refused));
        while !comm.step_receiving(&mut receiving, &mut message).unwrap() {
            comm.await_step(&[1], None, Deadline::Never).unwrap();
        }
        assert_eq!(message, pattern(1, 100));
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

/// The lines of a message in steps stay where they are until it is over.
#[test]
fn lines_do_not_move_under_a_stepwise_message() {
    let outcome = Machine::scc(2).run(|core| {
        let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
        let mut lines = comm.reserve_lines(1).unwrap();
        let most = lines.limit_bytes() / 32;
        if comm.rank() == 0 {
            let mut sending = comm.start_sending(&[7; 5], 1).unwrap();
            assert_eq!(lines.extend(most), Err(Error::RequestsOutstanding));
            comm.barrier();
            comm.await_step(&[], Some(1), Deadline::Never).unwrap();
            assert_eq!(comm.step_sending(&mut sending, &[7; 5]), Ok(true));
        } else {
            comm.barrier();
            let mut message = [0; 5];
            comm.receive(&mut message, 0).unwrap();
            assert_eq!(message, [7; 5]);
        }
        assert_eq!(lines.extend(most), Ok(()));
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}
