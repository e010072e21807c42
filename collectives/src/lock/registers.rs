//! Waiting for test-and-set registers, and agreeing on whether they can be reached.

use hal::{Core, CoreId, Deadline, Mpb, TestAndSet, Topology, TsrGuard, Wait};

use crate::{Comm, Error, Operator, collective::reduction};

impl<C: Topology> Comm<'_, C> {
    /// Refuses, on all ranks alike, what needs every register on a machine where they do not reach everywhere.
    pub(crate) fn check_registers(&self) -> Result<(), Error> {
        let layout = self.hal().layout();
        if layout.registers_reach_everywhere() {
            return Ok(());
        }
        let register = CoreId::new(layout.domain_cores(1).start);
        Err(Error::RegisterOutOfReach { core: CoreId::new(0), register })
    }

    /// Refuses the register of `rank`'s core if this rank cannot reach it.
    pub(crate) fn check_register(&self, rank: usize) -> Result<(), Error> {
        let (core, register) = (self.hal().core(), self.core_of(rank));
        if self.hal().layout().reaches_register(core, register) {
            Ok(())
        } else {
            Err(Error::RegisterOutOfReach { core, register })
        }
    }
}

impl<C: Core> Comm<'_, C> {
    /// The first rank at which something holds, if it does at any. Collective.
    pub(crate) fn first_where(&self, holds: bool) -> Result<Option<usize>, Error> {
        let mut first = [if holds { self.rank() as u32 } else { u32::MAX }];
        reduction::allreduce(self, &mut first, &Operator::MIN)?;
        Ok((first != [u32::MAX]).then_some(first[0] as usize))
    }

    /// Whether all ranks can reach the registers that they need, which are those of the cores that each names.
    /// Collective.
    ///
    /// # Errors
    /// On every rank alike: [`Error::RegisterOutOfReach`] for one of those who cannot.
    pub(crate) fn agree_on_registers(&self, needed: impl IntoIterator<Item = CoreId>) -> Result<(), Error> {
        let layout = self.hal().layout();
        if layout.registers_reach_everywhere() {
            return Ok(());
        }
        let own = self.hal().core();
        let missing = needed.into_iter().find(|register| !layout.reaches_register(own, *register));
        let mut most = [missing.map_or(0, |register| 1 + ((own.index() as u32) << 12 | register.index() as u32))];
        reduction::allreduce(self, &mut most, &Operator::MAX)?;
        match most[0].checked_sub(1) {
            None => Ok(()),
            Some(pair) => Err(Error::RegisterOutOfReach {
                core: CoreId::new(pair as usize >> 12),
                register: CoreId::new(pair as usize & 0xFFF),
            }),
        }
    }
}

impl<'c, C: Mpb + Wait + TestAndSet> Comm<'c, C> {
    /// Takes the register of `core`, and says whether it could before the deadline. Packets that arrive meanwhile are
    /// handled, and non-blocking operations go on, as in other waits of the communicator, be the deadline over or not. On
    /// a machine that is dying it may return without.
    pub(crate) fn take_register(&self, core: CoreId, deadline: Deadline, purpose: &'static str) -> bool {
        let hal = self.hal();
        loop {
            if hal.is_dying() {
                return false;
            }
            if deadline == Deadline::Never && !self.is_needed_meanwhile() {
                hal.acquire_register(core, purpose);
                return true;
            }
            if hal.try_acquire_register(core) {
                return true;
            }
            if matches!(deadline, Deadline::At(ticks) if hal.now() >= ticks) {
                // Whoever only ever tests has no other wait, and others may need it before they free the register.
                self.drive_engines(Deadline::At(0));
                return false;
            }
            self.drive_engines(self.in_a_moment());
        }
    }

    /// Waits for the register of `core` like [`take_register`](Self::take_register) and holds it until the guard is
    /// dropped. For registers that programs may hold, too, while they communicate: only while it has the register is this
    /// rank not interrupted.
    pub(crate) fn lock_register(&self, core: CoreId, purpose: &'static str) -> TsrGuard<'c, C> {
        let hal = self.hal();
        while self.is_needed_meanwhile() && !hal.is_dying() {
            match hal.try_lock(core) {
                Some(guard) => return guard,
                None => self.drive_engines(self.in_a_moment()),
            }
        }
        hal.lock(core, purpose)
    }

    /// Whether others may wait for this rank while it waits for a register: for its engines, or for the handler of its
    /// interrupts.
    fn is_needed_meanwhile(&self) -> bool {
        !self.engines().are_idle() || self.has_subscribers()
    }

    fn in_a_moment(&self) -> Deadline {
        let moment = (self.hal().ticks_per_second() / 1_000_000).max(1);
        Deadline::At(self.hal().now().saturating_add(moment))
    }

    /// Lets others go on until a moment has passed in which this rank can only look at registers, which no wait can look
    /// at together with places.
    fn drive_engines(&self, until: Deadline) {
        // It always takes until then.
        let _ = self.wait_until::<()>(&[], until, hal::Reason::new("a register"), |_| None);
    }
}
