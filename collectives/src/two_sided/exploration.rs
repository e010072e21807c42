//! Messages between two ranks in all orders of their operations.

use std::vec::Vec;

use hal::sim::{Failure, SimCore, Spontaneous};

use crate::{
    Comm, Error,
    in_all_orders::{DRAINS, in_all_orders, look_at_all_orders},
};

/// What a rank sends as its message `number`.
fn message(rank: usize, number: u8, len: usize) -> Vec<u8> {
    std::vec![0x10 * rank as u8 + number; len]
}

/// No order makes the message of one rank the acknowledgement of the other's.
#[test]
fn ranks_that_only_send_to_each_other_never_end() {
    for len in [0, 5, 40] {
        let runs = look_at_all_orders(
            DRAINS,
            |comm| comm.send(&message(comm.rank(), 0, len), 1 - comm.rank()),
            |outcome| match outcome {
                Err(Failure::Deadlock(deadlock)) => assert_eq!(deadlock.cycle().map(|cores| cores.len()), Some(2)),
                other => panic!("{len} bytes: {other:?}"),
            },
        );
        assert!(runs > 1, "{runs} runs");
    }
}

/// Messages in both directions, one right after the other: each arrives as itself, and once.
#[test]
fn messages_cross_in_all_orders() {
    for (lens, spontaneous) in [(&[5, 0][..], Spontaneous::default()), (&[40], Spontaneous::default()), (&[5], DRAINS)]
    {
        let runs = in_all_orders(spontaneous, |comm| {
            let (me, peer) = (comm.rank(), 1 - comm.rank());
            for (number, len) in (0..).zip(lens.iter().copied()) {
                let mut got = std::vec![0; len];
                for sends in [me == 0, me == 1] {
                    if sends {
                        comm.send(&message(me, number, len), peer).unwrap();
                    } else {
                        comm.receive(&mut got, peer).unwrap();
                    }
                }
                assert_eq!(got, message(peer, number, len));
            }
        });
        assert!(runs > 1, "{runs} runs");
    }
}

/// Both ends are told that they name different lengths, and the next messages are as if nothing had happened, be it
/// that the one who refused sends at once.
#[test]
fn lengths_differ_in_all_orders() {
    for (sent, wanted) in [(5, 6), (40, 5), (0, 1), (3, 0)] {
        let refused = Err(Error::MessageLength { from: 0, to: 1, sent, wanted });
        in_all_orders(Spontaneous::default(), |comm| {
            let mut got = std::vec![0xEE; 3];
            if comm.rank() == 0 {
                assert_eq!(comm.send(&message(0, 1, sent), 1), refused);
                comm.receive(&mut got, 1).unwrap();
                assert_eq!(got, message(1, 2, 3));
                comm.send(&message(0, 3, 3), 1).unwrap();
            } else {
                let mut other = std::vec![0xEE; wanted];
                assert_eq!(comm.receive(&mut other, 0), refused);
                assert_eq!(other, std::vec![0xEE; wanted], "nothing was received");
                comm.send(&message(1, 2, 3), 0).unwrap();
                comm.receive(&mut got, 0).unwrap();
                assert_eq!(got, message(0, 3, 3));
            }
        });
    }
}

/// Two ranks that send to each other in steps, and receive in steps, come to their end in all orders; so do they where
/// a message has another length than its receiver wants, which the receiver alone is told.
#[test]
fn messages_in_steps_end_in_all_orders() {
    let both = |comm: &Comm<'_, SimCore>, len: usize, wanted: usize| {
        let (rank, peer) = (comm.rank(), 1 - comm.rank());
        let message = message(rank, 1, len);
        let mut sending = comm.start_sending(&message, peer)?;
        let mut receiving = comm.start_receiving(wanted, peer)?;
        let mut received = std::vec![0; wanted];
        let (mut sent, mut got) = (None, None);
        while sent.is_none() || got.is_none() {
            let senders = [peer];
            comm.await_step(
                if got.is_none() { &senders } else { &[] },
                sent.is_none().then_some(peer),
                hal::Deadline::Never,
            )?;
            if got.is_none() {
                got = comm.step_receiving(&mut receiving, &mut received).map(|over| over.then_some(())).transpose();
            }
            if sent.is_none() {
                sent = comm.step_sending(&mut sending, &message).map(|over| over.then_some(())).transpose();
            }
        }
        Ok::<_, Error>((sent, got, received))
    };
    for (len, wanted) in [(0, 0), (40, 40), (5, 6)] {
        let runs = look_at_all_orders(
            DRAINS,
            |comm| both(comm, len, wanted),
            |outcome| {
                for (rank, result) in outcome.expect("it ends").results().iter().enumerate() {
                    let (sent, got, received) = result.as_ref().expect("nothing is refused");
                    let refused = Error::MessageLength { from: 1 - rank, to: rank, sent: len, wanted };
                    assert_eq!(*sent, Some(Ok(())));
                    if len == wanted {
                        assert_eq!((got, received), (&Some(Ok(())), &message(1 - rank, 1, len)));
                    } else {
                        assert_eq!((got, received), (&Some(Err(refused)), &std::vec![0; wanted]));
                    }
                }
            },
        );
        assert!(runs > 1, "{runs} runs");
    }
}
