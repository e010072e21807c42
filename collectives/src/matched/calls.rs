//! Calls as methods of the communicator.

use alloc::rc::Rc;

use hal::Core;

use super::{Answers, RemoteCall, post::calls::CONTEXT, waits::wait_for};
use crate::{Comm, Error};

/// The most bytes behind a call that go in packets with it.
const MOST_IN_PACKETS: usize = 512;

impl<C: Core> Comm<'_, C> {
    /// Says what answers the calls of others from now on, on the communicator of all ranks. To be said before any rank calls.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`].
    pub fn answer_calls(&self, answer: Option<Rc<dyn Answers>>) -> Result<(), Error> {
        self.post()?.calls().answer.replace(answer);
        Ok(())
    }

    /// Queues a call for a rank of the world, this one included; calls to one rank arrive in the order in which they are made.
    /// Returns at once; the call is answered when its receiver waits for something.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::NoSuchRank`].
    pub fn call(&self, call: RemoteCall) -> Result<(), Error> {
        self.world_of().check_rank(call.to)?;
        self.post()?.call(self.world_of(), call);
        Ok(())
    }

    /// Queues a [`call`](Self::call) with `bytes` behind what the call itself says. If they are long and for another rank, they go
    /// like a message whose sender waits, at twice the speed of packets: this then returns when they have arrived, for which
    /// the receiver has to wait for something.
    ///
    /// # Errors
    /// As [`call`](Self::call); [`Error::TimedOut`] on a dying machine.
    pub fn call_with(&self, call: RemoteCall, bytes: &[u8]) -> Result<(), Error> {
        let RemoteCall { to, tag, bytes: head } = call;
        if bytes.len() <= MOST_IN_PACKETS || to == self.world_of().rank() {
            return self.call(RemoteCall { to, tag, bytes: [&head, bytes].concat() });
        }
        let world = self.world_of();
        world.check_rank(to)?;
        let post = self.post()?;
        world.begin_announced(bytes);
        post.call_pieces(world, (to, tag), &head);
        post.send_waiting(world, to, [CONTEXT, tag], bytes)
    }

    /// How many calls this rank has answered, modulo 2³².
    ///
    /// # Errors
    /// [`Error::MessagesClosed`].
    pub fn answered_calls(&self) -> Result<u32, Error> {
        Ok(self.post()?.calls().answered.get())
    }

    /// Answers the calls that have come, and drives all else that is under way, without waiting.
    pub fn look_for_calls(&self) {
        self.look();
    }

    /// Waits, answering calls and driving all else that is under way, until `check` finds something.
    ///
    /// # Errors
    /// [`Error::TimedOut`] on a dying machine.
    pub fn wait_for_calls<R>(&self, check: impl FnMut() -> Option<R>) -> Result<R, Error> {
        wait_for(self, check)
    }
}
