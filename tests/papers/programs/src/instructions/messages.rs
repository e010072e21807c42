//! Messages from rank to rank.

use alloc::{vec, vec::Vec};

use collectives::{Error, InPlace, Operator, Source, Tag};
use hal::Core;

use super::{Counter, come_late};
use crate::{measure::Of, mpi::rckmpi::Sections};
use kernel::{Failure, Rank};

/// Bytes of a short message.
const MESSAGE_BYTES: usize = 32;

/// Bytes of messages with tags.
const TAGGED_BYTES: [usize; 3] = [8, 104, 200];

/// Bytes of messages in chunks: in one, in some and in many.
const LONG_MESSAGE_BYTES: [usize; 3] = [64, 1024, 8192];

impl Counter {
    pub(super) fn messages<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal) = (rank.comm, rank.hal());
        for bytes in [MESSAGE_BYTES].into_iter().chain(LONG_MESSAGE_BYTES) {
            let mut message = vec![0_u8; bytes];
            let mut counts = Vec::new();
            for (counted, is_kept) in self.turns() {
                comm.barrier();
                let (done, count) = match comm.rank() {
                    0 => Self::count(hal, counted, || comm.send(&message, 1)),
                    1 => {
                        come_late(hal, 1);
                        Self::count(hal, counted, || comm.receive(&mut message, 0))
                    }
                    _ => (Ok(()), 0),
                };
                done?;
                if is_kept {
                    counts.push(count);
                }
            }
            let of = Of("send-receive", 0, bytes);
            match comm.rank() {
                0 => self.send(rank, of, "send", &counts),
                1 => self.send(rank, of, "receive", &counts),
                _ => {}
            }
            comm.allreduce(InPlace, &mut counts, &Operator::SUM)?;
            if comm.rank() == 0 && bytes == MESSAGE_BYTES {
                self.send(rank, of, "both", &counts);
            }
        }
        self.tagged_messages(rank)
    }

    /// Messages with tags, and by the protocol of RCKMPI.
    fn tagged_messages<C: Core>(&self, rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        const TAG: u32 = 1;
        let comm = rank.comm;
        let opened = comm.open_messages()?;
        let send = |message: &[u8], to| comm.send_tagged(message, to, TAG);
        let receive =
            |message: &mut [u8], from| comm.receive_tagged(message, Source::Rank(from), Tag::Is(TAG)).map(drop);
        self.answered_messages(rank, "send-receive-tagged", send, receive)?;
        opened.close()?;
        let sections = Sections::new(comm)?;
        let send = |message: &[u8], to| sections.send(message, to, TAG);
        let receive = |message: &mut [u8], from| sections.receive(message, from, TAG).map(drop);
        self.answered_messages(rank, "send-receive-sections", send, receive)
    }

    /// Messages between ranks 0 and 1, each the answer to the one before.
    fn answered_messages<C: Core>(
        &self,
        rank: &Rank<'_, C>,
        algorithm: &str,
        send: impl Fn(&[u8], usize) -> Result<(), Error>,
        receive: impl Fn(&mut [u8], usize) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
        for bytes in TAGGED_BYTES {
            let mut message = vec![0_u8; bytes];
            let [mut sent, mut received] = [Vec::new(), Vec::new()];
            // One receive of some fifteen looks at other senders, too: the median of five is that of one that does not.
            for (counted, is_kept) in (0..5).flat_map(|_| self.turns()) {
                comm.barrier();
                for sender in 0..2 {
                    // The receiver comes when the message is there: that of the answer has to wait for both.
                    let (done, count) = if me == sender {
                        come_late(hal, 1);
                        Self::count(hal, counted, || send(&message, 1 - sender))
                    } else if me == 1 - sender {
                        come_late(hal, 2 + 2 * sender as u64);
                        Self::count(hal, counted, || receive(&mut message, sender))
                    } else {
                        break;
                    };
                    done?;
                    if is_kept {
                        if me == sender { &mut sent } else { &mut received }.push(count);
                    }
                }
            }
            if me == 0 {
                let of = Of(algorithm, 0, bytes);
                self.send(rank, of, "send", &sent);
                self.send(rank, of, "receive", &received);
            }
        }
        Ok(())
    }
}
