//! The target's side: what the packets of origins do to its part, and what it waits for.

use alloc::vec;

use hal::{Core, Deadline, Reason, Region, TimedOut, kind};

use crate::{Comm, Group};

use super::{
    Channel,
    packet::{Body, Header, Kind, Transfer},
};

/// Applies an operation with this code to elements and operands, both as bytes, of equal length and with no
/// particular alignment.
pub type Apply = fn(code: u32, current: &mut [u8], operand: &[u8]);

/// This rank's part of a window.
#[derive(Clone, Copy)]
pub(super) struct Part {
    memory: Region<kind::Combined>,
    apply: Apply,
}

impl Channel {
    /// Makes this rank's part of `window` known to the engine, before it is posted for the first time. The rank has
    /// no view of it, and none of it in a cache, whenever it is posted.
    pub fn register(&self, window: u32, part: Region<kind::Combined>, apply: Apply) {
        self.parts.borrow_mut().insert(window, Part { memory: part, apply });
    }

    /// Forgets a window. There are no epochs on it any more.
    pub fn unregister(&self, window: u32) {
        self.parts.borrow_mut().remove(&window);
        self.requests.forget(window);
        self.notifications.retain(|(of, _)| *of != window);
    }

    /// Posts this rank's part of `window` to `origin`.
    #[inline(never)]
    pub fn post<C: Core>(&self, comm: &Comm<'_, C>, window: u32, origin: usize) {
        self.send(comm, origin, Transfer::bare(Header::new(Kind::Post, window)));
        self.progress(comm);
    }

    /// Waits until each of `origins` has completed an epoch, and takes these completions. Then all that they put is
    /// in memory.
    ///
    /// # Errors
    /// [`TimedOut`] at the deadline, or at once if the machine is dying; then nothing was taken.
    #[inline(never)]
    pub fn await_completions<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        window: u32,
        origins: &Group,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        let reason = Reason::new("origins to complete on window").number(window);
        // What goes to an origin is read from the part when there is room for it.
        let open = |origin: &usize| !self.completions.contains(&(window, *origin)) || self.is_queued(window, *origin);
        self.wait_for(comm, deadline, reason, || origins.iter().find(open))?;
        origins.iter().for_each(|origin| self.completions.take(&(window, origin)));
        self.drain_parts(comm);
        Ok(())
    }

    /// How often `notification` has come since the window was registered, from whomever. What its senders put before
    /// is in memory.
    pub fn notifications<C: Core>(&self, comm: &Comm<'_, C>, window: u32, notification: u32) -> u32 {
        self.drain_parts(comm);
        self.notifications.count(&(window, notification))
    }

    /// Does what a packet from `from` says.
    pub(super) fn dispatch<C: Core>(&self, comm: &Comm<'_, C>, from: usize, header: Header, payload: &[u8]) {
        let Header { window, offset, argument, .. } = header;
        let offset = offset as usize;
        match header.kind {
            Kind::Post => self.posts.add((window, from)),
            Kind::Complete => {}
            Kind::Put => self.write_part(comm, self.part(window, from).memory, offset, payload),
            Kind::Get => {
                let body = Body::Part(self.part(window, from).memory, argument as usize);
                self.send(comm, from, Transfer::new(Header::new(Kind::Reply, window).at(offset), body));
            }
            Kind::Accumulate | Kind::Fetch => {
                let part = self.part(window, from);
                let mut current = vec![0; payload.len()];
                self.read_part(comm, part.memory, offset, &mut current);
                if header.kind == Kind::Fetch {
                    let body = Body::Bytes(current.clone());
                    self.send(comm, from, Transfer::new(Header::new(Kind::Reply, window), body));
                }
                (part.apply)(argument, &mut current, payload);
                self.write_part(comm, part.memory, offset, &current);
            }
            Kind::Swap => {
                let part = self.part(window, from).memory;
                let (expected, replacement) = payload.split_at(payload.len() / 2);
                let mut current = vec![0; expected.len()];
                self.read_part(comm, part, offset, &mut current);
                if current == expected {
                    self.write_part(comm, part, offset, replacement);
                }
                self.send(comm, from, Transfer::new(Header::new(Kind::Reply, window), Body::Bytes(current)));
            }
            Kind::Reply => self.requests.answer(window, from, payload),
            Kind::Notify => self.notifications.add((window, argument)),
        }
        if header.last {
            self.completions.add((window, from));
        }
    }

    /// Reads from this rank's part as it is.
    pub(super) fn read_part<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        part: Region<kind::Combined>,
        offset: usize,
        bytes: &mut [u8],
    ) {
        // What packets wrote may be in the write-combine buffer, and what L1 has of the part may be from an earlier
        // epoch.
        self.drain_parts(comm);
        comm.hal().invalidate_mpb();
        comm.hal().read(part, offset, bytes);
    }

    fn write_part<C: Core>(&self, comm: &Comm<'_, C>, part: Region<kind::Combined>, offset: usize, bytes: &[u8]) {
        comm.hal().write(part, offset, bytes);
        self.undrained.set(true);
    }

    /// Sees to it that what packets wrote is in memory.
    fn drain_parts<C: Core>(&self, comm: &Comm<'_, C>) {
        if self.undrained.replace(false) {
            comm.hal().drain();
        }
    }

    fn part(&self, window: u32, from: usize) -> Part {
        let part = self.parts.borrow().get(&window).copied();
        part.unwrap_or_else(|| panic!("rank {from} accesses window {window}, of which there is no part here"))
    }
}
