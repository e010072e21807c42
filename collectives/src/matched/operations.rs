//! Collective operations over messages, as they are begun.

use core::cell::Cell;

use hal::Core;

use super::{
    Parts, Ranks,
    request::{Buffer, Request},
};
use crate::{Comm, Error};

/// Operations that this rank has begun on a communicator: the tag of each is its number.
#[derive(Default)]
struct Begun(Cell<u32>);

impl<'c, C: Core> Comm<'c, C> {
    /// Begins an operation over messages, which all ranks begin in the same order.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`].
    pub(crate) fn start_over_messages<'r, W: Future<Output = Parts> + 'static>(
        &'r self,
        name: &'static str,
        buffer: Buffer<'r>,
        work: impl FnOnce(Ranks) -> W,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let post = self.post()?;
        let number = &self.state::<Begun>().0;
        let tag = number.get();
        number.set(tag.wrapping_add(1));
        let progress = post.tasks().begin(self, &post, (name, tag), work);
        Ok(Request::over_messages(self, progress, buffer))
    }

    /// Whether messages with tags are open.
    pub(crate) fn has_messages(&self) -> bool {
        self.post().is_ok()
    }

    /// Refuses if an operation over messages on this communicator is not over.
    ///
    /// # Errors
    /// [`Error::RequestsOutstanding`].
    pub(crate) fn check_no_tasks(&self) -> Result<(), Error> {
        let are_some = self.post().is_ok_and(|post| post.tasks().are_under_way(Some(self.context())));
        if are_some { Err(Error::RequestsOutstanding) } else { Ok(()) }
    }
}
