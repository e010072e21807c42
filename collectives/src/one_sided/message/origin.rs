//! The origin's side: what puts, gets and accumulates send, and what completes an epoch.

use core::iter;

use hal::{Core, Deadline, Reason, TimedOut};

use crate::{Comm, Group};

use super::{
    Channel, Ticket,
    packet::{Body, Header, Kind, Transfer},
};

impl Channel {
    /// Whether `target` has posted `window` to this rank, for the epoch that is open or the next one.
    pub fn post_is_there<C: Core>(&self, comm: &Comm<'_, C>, window: u32, target: usize) -> bool {
        self.progress(comm);
        self.posts.contains(&(window, target))
    }

    /// Waits for the post of `target`. It stays there until the epoch is complete.
    ///
    /// # Errors
    /// [`TimedOut`] at the deadline, or at once if the machine is dying.
    pub fn await_post<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        window: u32,
        target: usize,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        let reason = Reason::new("the post of window").number(window);
        self.wait_for(comm, deadline, reason, || (!self.posts.contains(&(window, target))).then_some(target))
    }

    /// Puts bytes to `target`'s part, after waiting for its post. The bytes may be reused at once.
    pub fn put<C: Core>(&self, comm: &Comm<'_, C>, window: u32, target: usize, offset: usize, bytes: &[u8]) {
        self.issue(comm, target, Header::new(Kind::Put, window).at(offset), bytes);
    }

    /// Gets bytes from `target`'s part, after waiting for its post, and waits for them.
    pub fn get<C: Core>(&self, comm: &Comm<'_, C>, window: u32, target: usize, offset: usize, into: &mut [u8]) {
        let ticket = self.request(comm, window, target, offset, into.len());
        self.finish(comm, ticket, into);
    }

    /// Requests `len` bytes of `target`'s part, after waiting for its post. Several requests may be open; they are
    /// answered at the latest when the epoch is complete.
    pub fn request<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        window: u32,
        target: usize,
        offset: usize,
        len: usize,
    ) -> Ticket {
        let ticket = self.requests.open(window, target, len);
        if len > 0 && self.await_post(comm, window, target, Deadline::Never).is_ok() {
            self.release_held(comm, window, target);
            let header = Header::new(Kind::Get, window).at(offset).with(len as u32);
            self.hold(comm, target, Transfer::bare(header));
            self.progress(comm);
        }
        ticket
    }

    /// Lets `target` apply operation `code` to its part and `operand`, after waiting for its post; each element is
    /// updated atomically with respect to other accumulates. Hands out what was there before, if that is wanted, after
    /// waiting for it.
    ///
    /// # Panics
    /// If `fetched` and `operand` have different lengths.
    #[expect(clippy::too_many_arguments, reason = "the operation has as many")]
    pub fn accumulate<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        window: u32,
        target: usize,
        offset: usize,
        code: u32,
        operand: &[u8],
        fetched: Option<&mut [u8]>,
    ) {
        match fetched {
            None => {
                self.issue(comm, target, Header::new(Kind::Accumulate, window).at(offset).with(code), operand);
            }
            Some(fetched) => {
                assert_eq!(fetched.len(), operand.len(), "what is fetched is as long as the operand");
                let ticket = self.request_fetch(comm, window, target, offset, code, operand);
                self.finish(comm, ticket, fetched);
            }
        }
    }

    /// Accumulates and requests what was there before, as [`request`](Self::request) does.
    pub fn request_fetch<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        window: u32,
        target: usize,
        offset: usize,
        code: u32,
        operand: &[u8],
    ) -> Ticket {
        let ticket = self.requests.open(window, target, operand.len());
        self.issue(comm, target, Header::new(Kind::Fetch, window).at(offset).with(code), operand);
        ticket
    }

    /// Lets `target` replace the bytes at `offset` if they are the expected ones, after waiting for its post, and
    /// requests what was there before.
    ///
    /// # Panics
    /// If `expected` and `replacement` have different lengths, or do not fit into one packet.
    pub fn request_swap<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        window: u32,
        target: usize,
        offset: usize,
        expected: &[u8],
        replacement: &[u8],
    ) -> Ticket {
        assert_eq!(expected.len(), replacement.len(), "a replacement is as long as what it replaces");
        let both = [expected, replacement].concat();
        assert!(both.len() <= self.packet_bytes(), "a swap is one packet");
        let ticket = self.requests.open(window, target, expected.len());
        self.issue(comm, target, Header::new(Kind::Swap, window).at(offset), &both);
        ticket
    }

    /// Waits until a request is answered and hands the bytes out.
    ///
    /// # Panics
    /// If `into` is not as long as what was requested.
    pub fn finish<C: Core>(&self, comm: &Comm<'_, C>, ticket: Ticket, into: &mut [u8]) {
        if !self.requests.is_answered(&ticket) {
            self.release_held(comm, ticket.window, ticket.target);
        }
        let reason = Reason::new("bytes of window").number(ticket.window);
        let missing = || (!self.requests.is_answered(&ticket)).then_some(ticket.target);
        if self.wait_for(comm, Deadline::Never, reason, missing).is_ok()
            && let Some(bytes) = self.requests.take(&ticket)
        {
            into.copy_from_slice(&bytes);
        }
    }

    /// Notifies `target`, after waiting for its post: what was put and accumulated to it before is in its part when it
    /// gets to know.
    pub fn notify<C: Core>(&self, comm: &Comm<'_, C>, window: u32, target: usize, notification: u32) {
        if self.await_post(comm, window, target, Deadline::Never).is_ok() {
            self.release_held(comm, window, target);
            self.send(comm, target, Transfer::bare(Header::new(Kind::Notify, window).with(notification)));
            self.progress(comm);
        }
    }

    /// Completes the access epoch to `targets`, after waiting for their posts, and takes these. Returns when all
    /// packets are on their way and all requests are answered.
    #[inline(never)]
    pub fn complete<C: Core>(&self, comm: &Comm<'_, C>, window: u32, targets: &Group) {
        for target in targets.iter() {
            if self.await_post(comm, window, target, Deadline::Never).is_err() {
                // The machine is dying, and this is part of a destructor.
                return;
            }
            self.posts.take(&(window, target));
            let held = self.held.borrow_mut().remove(&(window, target));
            let mut transfer = held.unwrap_or_else(|| Transfer::bare(Header::new(Kind::Complete, window)));
            transfer.header.last = true;
            self.send(comm, target, transfer);
        }
        let reason = Reason::new("packets to be taken on window").number(window);
        let unsettled = |target: &usize| self.is_queued(window, *target) || self.requests.any_open(window, *target);
        // It does not time out, unless the machine is dying.
        let _ = self.wait_for(comm, Deadline::Never, reason, || targets.iter().find(unsettled));
    }

    /// Sends bytes to `target`, after waiting for its post, but for the last packet, which may have to complete the
    /// epoch.
    fn issue<C: Core>(&self, comm: &Comm<'_, C>, target: usize, header: Header, bytes: &[u8]) {
        let Some(before_last) = bytes.len().checked_sub(1).map(|len| len / self.transport.capacity()) else { return };
        if self.await_post(comm, header.window, target, Deadline::Never).is_err() {
            return;
        }
        self.release_held(comm, header.window, target);
        let (before, last) = bytes.split_at(before_last * self.transport.capacity());
        if !before.is_empty() {
            self.send(comm, target, Transfer::new(header, Body::Bytes(before.into())));
        }
        let last_header = header.at(header.offset as usize + before.len());
        self.hold(comm, target, Transfer::new(last_header, Body::Bytes(last.into())));
        self.progress(comm);
    }

    /// Keeps a packet until it is known whether it is the last one of its epoch. It needs none to `target` itself.
    fn hold<C: Core>(&self, comm: &Comm<'_, C>, target: usize, transfer: Transfer) {
        if target == comm.rank() {
            self.send(comm, target, transfer);
        } else {
            self.held.borrow_mut().insert((transfer.header.window, target), transfer);
        }
    }

    /// Sends the packet that was held for `target`: it is not the last one.
    fn release_held<C: Core>(&self, comm: &Comm<'_, C>, window: u32, target: usize) {
        let held = self.held.borrow_mut().remove(&(window, target));
        iter::once(held).flatten().for_each(|transfer| self.send(comm, target, transfer));
    }
}
