//! Calls as methods of the communicator.

use hal::Core;

use super::{
    Answer, RemoteCall,
    request::{look, wait_for},
};
use crate::{Comm, Error};

impl<C: Core> Comm<'_, C> {
    /// Says what answers the calls of others from now on, on the communicator of all ranks. To be said before any rank calls.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`].
    pub fn answer_calls(&self, answer: Option<Answer>) -> Result<(), Error> {
        self.post()?.calls().answer.replace(answer);
        Ok(())
    }

    /// Calls a rank of all ranks, which may be this one, behind what it was called before. Returns at once; the call is answered when
    /// its receiver waits for something.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::NoSuchRank`].
    pub fn call(&self, call: RemoteCall) -> Result<(), Error> {
        self.world_of().check_rank(call.to)?;
        self.post()?.call(self.world_of(), call);
        Ok(())
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
        look(self);
    }

    /// Waits, answering calls and driving all else that is under way, until `check` finds something.
    ///
    /// # Errors
    /// [`Error::TimedOut`] on a dying machine.
    pub fn wait_for_calls<R>(&self, check: impl FnMut() -> Option<R>) -> Result<R, Error> {
        wait_for(self, check)
    }
}
