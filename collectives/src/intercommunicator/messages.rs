//! Messages to and from ranks of the other group.

use bytemuck::Pod;
use hal::Core;

use super::Intercommunicator;
use crate::{Arrival, Envelope, Error, Request, Source, Tag};

impl<'c, C: Core> Intercommunicator<'c, C> {
    /// As [`Comm::send_tagged`](crate::Comm::send_tagged), to a rank of the other group.
    ///
    /// # Errors
    /// Those of [`Comm::send_tagged`](crate::Comm::send_tagged).
    pub fn send_tagged<T: Pod>(&self, message: &[T], to: usize, tag: u32) -> Result<(), Error> {
        self.across.send_tagged(message, to, tag)
    }

    /// As [`Comm::send_tagged_synchronously`](crate::Comm::send_tagged_synchronously), to a rank of the other group.
    ///
    /// # Errors
    /// Those of [`Comm::send_tagged_synchronously`](crate::Comm::send_tagged_synchronously).
    pub fn send_tagged_synchronously<T: Pod>(&self, message: &[T], to: usize, tag: u32) -> Result<(), Error> {
        self.across.send_tagged_synchronously(message, to, tag)
    }

    /// As [`Comm::send_tagged_buffered`](crate::Comm::send_tagged_buffered), to a rank of the other group.
    ///
    /// # Errors
    /// Those of [`Comm::send_tagged_buffered`](crate::Comm::send_tagged_buffered).
    pub fn send_tagged_buffered<T: Pod>(&self, message: &[T], to: usize, tag: u32) -> Result<(), Error> {
        self.across.send_tagged_buffered(message, to, tag)
    }

    /// As [`Comm::start_send_tagged`](crate::Comm::start_send_tagged), to a rank of the other group.
    ///
    /// # Errors
    /// Those of [`Comm::start_send_tagged`](crate::Comm::start_send_tagged).
    pub fn start_send_tagged<T: Pod>(&self, message: &[T], to: usize, tag: u32) -> Result<Request<'_, 'c, C>, Error> {
        self.across.start_send_tagged(message, to, tag)
    }

    /// As [`Comm::receive_tagged`](crate::Comm::receive_tagged), from ranks of the other group.
    ///
    /// # Errors
    /// Those of [`Comm::receive_tagged`](crate::Comm::receive_tagged).
    pub fn receive_tagged<T: Pod>(&self, buffer: &mut [T], source: Source, tag: Tag) -> Result<Envelope, Error> {
        self.across.receive_tagged(buffer, source, tag)
    }

    /// As [`Comm::start_receive_tagged`](crate::Comm::start_receive_tagged), from ranks of the other group.
    ///
    /// # Errors
    /// Those of [`Comm::start_receive_tagged`](crate::Comm::start_receive_tagged).
    pub fn start_receive_tagged<'r, T: Pod>(
        &'r self,
        buffer: &'r mut [T],
        source: Source,
        tag: Tag,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.across.start_receive_tagged(buffer, source, tag)
    }

    /// As [`Comm::exchange_tagged`](crate::Comm::exchange_tagged), with ranks of the other group.
    ///
    /// # Errors
    /// Those of [`Comm::exchange_tagged`](crate::Comm::exchange_tagged).
    pub fn exchange_tagged<T: Pod, U: Pod>(
        &self,
        send: (&[T], usize, u32),
        receive: (&mut [U], Source, Tag),
    ) -> Result<Envelope, Error> {
        self.across.exchange_tagged(send, receive)
    }

    /// As [`Comm::probe`](crate::Comm::probe), for messages of ranks of the other group.
    ///
    /// # Errors
    /// Those of [`Comm::probe`](crate::Comm::probe).
    pub fn probe(&self, source: Source, tag: Tag) -> Result<Envelope, Error> {
        self.across.probe(source, tag)
    }

    /// As [`Comm::try_probe`](crate::Comm::try_probe), for messages of ranks of the other group.
    ///
    /// # Errors
    /// Those of [`Comm::try_probe`](crate::Comm::try_probe).
    pub fn try_probe(&self, source: Source, tag: Tag) -> Result<Option<Envelope>, Error> {
        self.across.try_probe(source, tag)
    }

    /// As [`Comm::find_tagged`](crate::Comm::find_tagged), for messages of ranks of the other group.
    ///
    /// # Errors
    /// Those of [`Comm::find_tagged`](crate::Comm::find_tagged).
    pub fn find_tagged<'r>(&'r self, source: Source, tag: Tag) -> Result<Arrival<'r, 'c, C>, Error> {
        self.across.find_tagged(source, tag)
    }
}
