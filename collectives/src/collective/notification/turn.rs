//! Turns of roots, and the waits of a notification.

use hal::{Core, CoreId, Deadline, LINE_BYTES, Place, Poll, Reason};

use crate::Error;

use super::{Delivery, Notifications, node::Doorbell};

impl<C: Core> Notifications<'_, C> {
    /// Finds out whether any member could not subscribe. Collective over all ranks, whose lines are zero.
    pub(super) fn agree(&self, refused: bool) -> Result<(), Error> {
        let (comm, hal) = (self.comm, self.comm.hal());
        let flags = |line| self.lines.acknowledgements(comm.core_of(0), line);
        comm.barrier();
        if let (true, Some(position)) = (refused, self.members.position_of(comm.rank())) {
            hal.store(flags(position / LINE_BYTES), position % LINE_BYTES, &[1]);
            hal.drain();
        }
        comm.barrier();
        hal.invalidate_mpb();
        let refused = (0..self.lines.acknowledgements).find_map(|line| {
            let byte = hal.load_line(flags(line)).0.iter().position(|flag| *flag != 0)?;
            self.members.rank_at(line * LINE_BYTES + byte)
        });
        comm.barrier();
        refused.map_or(Ok(()), |rank| Err(Error::Subscribed { rank }))
    }

    /// Where tickets are.
    fn first_member(&self) -> CoreId {
        self.comm.core_of(self.members.rank_at(0).unwrap_or(0))
    }

    /// Draws a ticket and waits until its turn has come.
    pub(super) fn take_turn(&self) -> Result<u32, Error> {
        let (hal, first) = (self.comm.hal(), self.first_member());
        let ticket = {
            let _register = hal.lock(first, "a ticket to notify");
            // L1 has no copy from the last time, nor from earlier use of the line: this rank has polled for its turn,
            // or in the barriers of its subscription, since then.
            let next = self.lines.next(first);
            let ticket = hal.load_line(next).word(0);
            hal.store(next, 0, &ticket.wrapping_add(1).to_le_bytes());
            hal.drain();
            ticket
        };
        let served = [Place::Line(self.lines.served(first))];
        let has_come = |poll: &Poll<'_>| (poll.line(0).word(0) == ticket).then_some(());
        let reason = Reason::new("its turn to notify, ticket").number(ticket);
        while self.wait(&served, Deadline::Never, reason, has_come)?.is_none() {}
        Ok(ticket)
    }

    /// Lets the next one notify.
    pub(super) fn end_turn(&self, ticket: u32) {
        let hal = self.comm.hal();
        hal.store(self.lines.served(self.first_member()), 0, &ticket.wrapping_add(1).to_le_bytes());
        hal.drain();
    }

    /// Waits until all other members have a chunk.
    pub(super) fn await_acknowledgements(&self, doorbell: &Doorbell) -> Result<(), Error> {
        let (comm, root) = (self.comm, usize::from(doorbell.root));
        let reason = Reason::new("a notification being received, chunk").number(doorbell.number);
        for line in 0..self.lines.acknowledgements {
            let positions = line * LINE_BYTES..self.members.len().min((line + 1) * LINE_BYTES);
            let all_there = |poll: &Poll<'_>| {
                let bytes = poll.line(0).0;
                let is_late =
                    |position: &usize| *position != root && bytes[position % LINE_BYTES] != doorbell.acknowledge;
                let late = positions.clone().find(is_late);
                late.inspect(|position| {
                    self.members.rank_at(*position).into_iter().for_each(|rank| poll.missing(comm.core_of(rank)));
                });
                late.is_none().then_some(())
            };
            let place = Place::Line(self.lines.acknowledgements(comm.core_of(comm.rank()), line));
            comm.wait_until(&[place], Deadline::Never, reason, all_there)
                .map_err(|late| Error::TimedOut { reason: late.reason })?;
        }
        Ok(())
    }

    /// Waits until `check` finds something among `places`, or there is something for [`progress`](Self::progress) to
    /// do, which it does then. Nothing in the latter case.
    pub(super) fn wait<R>(
        &self,
        places: &[Place],
        deadline: Deadline,
        reason: Reason,
        mut check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<Option<R>, Error> {
        let node = self.node()?;
        let mut all = places.to_vec();
        let polls = self.subscription.delivery == Delivery::Polling;
        if polls {
            all.push(Place::Line(self.lines.doorbell(self.comm.core_of(self.comm.rank()))));
        }
        let found = self.comm.wait_until(&all, deadline, reason, |poll| {
            if let Some(found) = check(poll) {
                return Some(Some(found));
            }
            let rung = polls.then(|| poll.line(places.len()));
            let has_news = node.with(|node| node.has_news() || rung.is_some_and(|line| node.is_rung(&line)));
            has_news.then_some(None)
        });
        match found {
            Ok(Some(found)) => Ok(Some(found)),
            Ok(None) => self.progress().map(|()| None),
            Err(late) => Err(Error::TimedOut { reason: late.reason }),
        }
    }
}
