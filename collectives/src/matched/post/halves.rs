//! Long messages whose senders do not wait: by halves, through the sender's buffer in shared memory.

use hal::Core;

use super::{HALF_BYTES, Post};
use crate::{
    Comm,
    matched::packet::{Kind, Packet},
};

impl Post {
    /// Writes as much of the messages that are wanted as there is room for.
    pub(super) fn stream<C: Core>(&self, world: &Comm<'_, C>) {
        loop {
            let half = self.half.get();
            let mut cleared = self.cleared.borrow_mut();
            let Some(outgoing) = cleared.front_mut().filter(|_| self.free[half].get()) else { return };
            let bytes = outgoing.bytes.as_deref().unwrap_or_default();
            let part = &bytes[outgoing.written..outgoing.len.min(outgoing.written + HALF_BYTES)];
            world.hal().write(self.buffers[world.rank()], half * HALF_BYTES, part);
            // The packet that tells of them pushes the last of them out of the write-combine buffer.
            let (to, number) = (outgoing.to, part.len() as u32);
            outgoing.written += part.len();
            if outgoing.written == outgoing.len {
                outgoing.state.finish_sent();
                cleared.pop_front();
            }
            drop(cleared);
            self.free[half].set(false);
            self.half.set(1 - half);
            self.post(world, to, &Packet::new(Kind::Data, number).tagged(0, half as u32));
        }
    }

    /// The rank whose half is ready.
    pub(in crate::matched) fn ready_from(&self) -> Option<usize> {
        self.ready.get().map(|(from, ..)| from)
    }

    /// Reads what is ready, into the buffer of the receive that waits for it or into a copy.
    pub(in crate::matched) fn read<C: Core>(&self, world: &Comm<'_, C>, from: usize, direct: Option<&mut [u8]>) {
        let Some((_, place, len)) = self.ready.take() else { return };
        let (hal, half) = (world.hal(), place as usize);
        // The look that found the packet has emptied L1, and nobody has read of this half since.
        let mut peers = self.peers.borrow_mut();
        let Some(incoming) = peers[from].incoming.front_mut() else { return };
        let read = |bytes: &mut [u8]| hal.read(self.buffers[from], half * HALF_BYTES, bytes);
        match direct {
            Some(buffer) => read(&mut buffer[incoming.read..incoming.read + len]),
            None => incoming.state.with_copy(|copy| read(&mut copy[incoming.read..incoming.read + len])),
        }
        incoming.read += len;
        if incoming.read == incoming.label.len {
            incoming.state.finish_read();
            peers[from].incoming.pop_front();
        }
        drop(peers);
        self.post(world, from, &Packet::new(Kind::Taken, 0).tagged(0, place));
    }
}
