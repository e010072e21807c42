//! Progress by interrupts: messages with tags, non-blocking operations and windows of class
//! [`Message`](crate::Class::Message) that go on while a rank computes.
//!
//! ```
//! # use collectives::{Comm, Error, Source, Tag};
//! # use hal::{Clock, Core};
//! /// Rank 1 computes, and gets a long message of rank 0 meanwhile.
//! fn overlap<C: Core>(comm: &Comm<'_, C>) -> Result<(), Error> {
//!     let (messages, interrupting) = (comm.open_messages()?, comm.progress_by_interrupts()?);
//!     let mut data = [comm.rank() as u8; 20_000];
//!     if comm.rank() == 0 {
//!         comm.send_tagged(&data, 1, 7)?;
//!     } else if comm.rank() == 1 {
//!         let mut receive = comm.start_receive_tagged(&mut data, Source::Rank(0), Tag::Is(7))?;
//!         interrupting.compute(|core| core.compute(1_000_000))?;
//!         receive.wait()?;
//!         drop(receive);
//!         assert_eq!(data, [0; 20_000]);
//!     }
//!     interrupting.close()?;
//!     messages.close()
//! }
//! # let outcome = hal::sim::Machine::scc(2).run(|core| overlap(&Comm::world(core, regions::of_a_test()).unwrap()).unwrap());
//! # assert!(outcome.is_ok());
//! ```
//!
//! **Who is interrupted.** A rank that computes says so in a line of its MPB. Whoever puts something where that rank would look for it
//! looks at this line afterwards, and interrupts it. So a rank that waits is not interrupted, and while nobody asked for
//! this, nobody looks. What was put before the line was written, the rank finds itself: it looks after it has written.
//!
//! **What the handler may do.** It drives all that waits drive. So it uses the communicators at any instruction of what the rank
//! computes, which therefore has none of them: it is bound like another thread, and gets the core alone.

use hal::{Core, CoreId, Deadline, LINE_BYTES, Mpb, MpbLine, Place, Poll, Reason, Span, Wait};

use super::Comm;
use crate::{
    Error,
    collective::call::{Call, Collective},
};

/// What it is called.
const BY_INTERRUPTS: &str = "progress by interrupts";

/// What ranks say that compute.
const COMPUTES: u8 = 1;

/// How ranks that compute are interrupted.
pub(crate) struct Alarm<C> {
    /// The line in which each says whether it computes.
    line: usize,
    /// Protocols ask for less of a core than this.
    raise: fn(&C, CoreId),
}

impl<C> Clone for Alarm<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Alarm<C> {}

/// Ranks can compute and are interrupted by what comes, as long as this is there. To be [closed](Self::close).
pub struct Interrupting<'c, C: Core> {
    world: &'c Comm<'c, C>,
    line: usize,
}

impl<C: Core> Comm<'_, C> {
    /// Lets ranks [compute](Interrupting::compute) while what comes to them interrupts them. Collective over all ranks. It makes
    /// messages with tags, non-blocking operations and windows of class `message` a little slower: for each packet or line that goes, and
    /// for each packet of a window that is taken, a line of the other rank is looked at.
    ///
    /// Raising interrupts takes the target's register, so no rank may hold registers while it communicates.
    ///
    /// # Errors
    /// On all ranks alike: [`Error::NoSpareLines`] if the MPBs have no room; [`Error::WholeMachine`] on a communicator of some
    /// ranks; [`Error::InForce`] if it is so already; [`Error::RegistersWanted`] while there is a barrier of
    /// registers; [`Error::RegisterOutOfReach`] where nothing is atomic between the ranks; [`Error::ProfileInForce`];
    /// [`Error::CallsDiffer`] while calls are [compared](Self::check_arguments).
    pub fn progress_by_interrupts<'c>(&'c self) -> Result<Interrupting<'c, C>, Error> {
        self.check_call(|| Call::new(Collective::ProgressByInterrupts))?;
        self.check_whole(BY_INTERRUPTS)?;
        self.check_no_profile()?;
        self.check_registers()?;
        if self.has_register_barriers() {
            return Err(Error::RegistersWanted);
        }
        if self.is_interrupting() {
            return Err(Error::InForce { what: BY_INTERRUPTS });
        }
        let line = self.take_spare_lines(1, "who computes").ok_or(Error::NoSpareLines { wanted: 1 })?;
        let own = MpbLine::new(self.hal().core(), line);
        self.hal().put_made(LINE_BYTES, own, |_, bytes| bytes.fill(0));
        // Nobody looks before all are ready.
        self.synchronise();
        self.common().alarm.set(Some(Alarm { line, raise: C::raise_interrupt }));
        Ok(Interrupting { world: self, line })
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    /// Something is where the rank on `core` looks for it: if it computes, it is interrupted.
    #[inline]
    pub(crate) fn alert(&self, core: CoreId) {
        if let Some(alarm) = self.common().alarm.get() {
            alarm.look(self.hal(), core);
        }
    }
}

impl<C> Comm<'_, C> {
    /// Whether ranks that compute are interrupted by what comes to them.
    pub(crate) fn is_interrupting(&self) -> bool {
        self.common().alarm.get().is_some()
    }
}

impl<C: Mpb + Wait> Alarm<C> {
    #[cold]
    fn look(&self, hal: &C, core: CoreId) {
        if core == hal.core() {
            return;
        }
        // What was put is in memory before this looks, or the rank begins to compute in between and neither sees the other.
        hal.drain();
        // A poll, since what L1 may have of the line is out of date.
        let place = [Place::Line(MpbLine::new(core, self.line))];
        let computes = |poll: &Poll<'_>| Some(poll.line(0).0[0] == COMPUTES);
        if hal.wait_until(&place, Deadline::At(0), Reason::new("nothing"), computes) == Ok(true) {
            (self.raise)(hal, core);
        }
    }
}

impl<C: Core> Interrupting<'_, C> {
    /// Computes, and lets messages with tags, non-blocking operations and windows of class `message` of this rank go on meanwhile, whenever something comes to it. The
    /// computation gets the core, and must not wait there for what only others can do. What a program has given the communicators to
    /// call is called within the computation, too: operators of reductions, [answers](crate::Answers) to calls, work of waits. So
    /// nothing that these borrow may be borrowed around the computation.
    ///
    /// # Errors
    /// [`Error::Subscribed`] if interrupts of this rank have another handler.
    pub fn compute<R>(&self, computation: impl FnOnce(&C) -> R + Send) -> Result<R, Error> {
        let (world, hal) = (self.world, self.world.hal());
        let _span = hal.span(Span::new("compute"));
        let own = MpbLine::new(hal.core(), self.line);
        hal.set_flag(own, 0, COMPUTES);
        world.look_until_nothing_comes();
        let computed = hal.handle_interrupts_during(|_| world.look_until_nothing_comes(), computation);
        hal.set_flag(own, 0, 0);
        computed.ok_or(Error::Subscribed { rank: world.rank() })
    }

    /// Ends it. Collective over all ranks.
    ///
    /// # Errors
    /// [`Error::CallsDiffer`] while calls are [compared](Comm::check_arguments).
    pub fn close(self) -> Result<(), Error> {
        let world = self.world;
        world.check_call(|| Call::new(Collective::EndProgressByInterrupts))?;
        world.common().alarm.set(None);
        // Nobody looks at the line any more.
        world.synchronise();
        world.give_back_lines(self.line, 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{rc::Rc, vec, vec::Vec};

    use hal::{
        Clock, Interrupt, MpbCoherence, Region, SharedAddress, Uncached, kind,
        sim::{Machine, SimCore, Spontaneous, Strategy},
    };

    use super::*;
    use crate::{
        Answers, Operator, RemoteCall, Source, Tag,
        in_all_orders::{in_all_orders, look_at_all_orders},
    };

    /// What a rank says that begins to compute, and the look of one that has something for it, in all orders: either the first sees it
    /// when it looks once more, or it is interrupted. Otherwise it would compute for ever, since the other one waits for it.
    #[test]
    fn what_comes_is_found_or_interrupts_in_all_orders() {
        let runs = in_all_orders(Spontaneous::default(), |world| {
            let line = world.mpb_layout().spare().start;
            world.common().alarm.set(Some(Alarm { line, raise: SimCore::raise_interrupt }));
            let interrupting = Interrupting { world, line };
            let is_over = regions::of_a_test().region(SharedAddress::new(0, 1 << 20), 32);
            // Two chunks: the second one of rank 1 goes only when it has got the first one back.
            let mut ones = [1_u32; 7];
            let mut request = world.start_allreduce(crate::InPlace, &mut ones, Operator::SUM).expect("there are lines");
            if world.rank() == 0 {
                request.wait().unwrap();
                world.hal().store_word(is_over, 0, 1);
            } else {
                let computed = interrupting.compute(|core| {
                    let found = |poll: &Poll<'_>| (poll.word(0) == 1).then_some(());
                    core.wait(&[Place::Word(is_over, 0)], Reason::new("rank 0 to have the sums"), found);
                });
                computed.expect("there is no other handler");
                request.wait().unwrap();
            }
            drop(request);
            assert_eq!(ones, [2; 7]);
        });
        assert!(runs > 1, "{runs} runs");
    }

    /// Of what is still in the write-combine buffer when a rank looks, the other one would not know: it begins to compute, does not find
    /// it, and is not interrupted.
    #[test]
    fn whoever_looks_has_drained_in_all_orders() {
        fn is_raised() -> Region<kind::Uncached> {
            regions::of_a_test().region(SharedAddress::new(0, 1 << 20), 32)
        }
        look_at_all_orders(
            Spontaneous::default(),
            |world| {
                let (hal, line) = (world.hal(), world.mpb_layout().spare().start);
                let computes = MpbLine::new(world.core_of(1), line);
                if world.rank() == 0 {
                    let raise = |hal: &SimCore, _| hal.store_word(is_raised(), 0, 1);
                    world.common().alarm.set(Some(Alarm { line, raise }));
                    hal.store(computes.plus(1), 0, &[7]);
                    world.alert(computes.core);
                    hal.load_word(is_raised(), 0) == 1
                } else {
                    hal.set_flag(computes, 0, COMPUTES);
                    hal.invalidate_mpb();
                    hal.load_line(computes.plus(1)).0[0] == 7
                }
            },
            |outcome| assert_ne!(outcome.expect("nobody waits").results(), [false, false]),
        );
    }

    /// Answers with nothing.
    struct Nothing;

    impl Answers for Nothing {
        fn answer(&self, _: usize, _: u32, _: Vec<u8>) -> Vec<RemoteCall> {
            vec![]
        }

        fn land(&self, _: usize, _: u32, _: &[u8], _: core::ops::Range<usize>, _: &mut dyn FnMut(&mut [u8])) {}
    }

    /// A long message of rank 2, and calls of rank 0, come to rank 1 after so many cycles, of which it computes as many before it lets others
    /// interrupt it. It gets the message while it computes.
    fn a_message_comes_with_calls(machine: &Machine, calls: u32, [after, before]: [u64; 2]) {
        let outcome = machine.run(|core| {
            let world = Comm::world(core, regions::of_a_test()).unwrap();
            let (messages, interrupting) = (world.open_messages().unwrap(), world.progress_by_interrupts().unwrap());
            world.answer_calls(Some(Rc::new(Nothing))).unwrap();
            let is_sent = regions::of_a_test().region(SharedAddress::new(0, 1 << 20), 32);
            world.barrier();
            if world.rank() == 1 {
                let mut data = vec![0_u8; 20_000];
                let mut receive = world.start_receive_tagged(&mut data, Source::Rank(2), Tag::Any).unwrap();
                core.compute(before);
                interrupting.compute(|core| (0..100).for_each(|_| core.compute(100_000))).unwrap();
                assert_eq!((core.load_word(is_sent, 0), world.answered_calls()), (1, Ok(calls)));
                receive.wait().unwrap();
            } else {
                core.compute(after);
                if world.rank() == 0 {
                    let call = || world.call(RemoteCall { to: 1, tag: 0, bytes: vec![1] });
                    (0..calls).for_each(|_| call().unwrap());
                } else {
                    world.send_tagged(&vec![1_u8; 20_000], 1, 0).unwrap();
                    core.store_word(is_sent, 0, 1);
                }
            }
            interrupting.close().unwrap();
            world.answer_calls(None).unwrap();
            messages.close().unwrap();
        });
        outcome.unwrap();
    }

    /// A call that was answered does not keep a rank from going on with what has come with it, before it computes: nobody interrupts it
    /// for that.
    #[test]
    fn what_comes_with_a_call_goes_on() {
        a_message_comes_with_calls(&Machine::scc(3), 1, [0, 1_000_000]);
    }

    /// Nor does one that was answered when it was interrupted, while more came: one interrupt may say so of all of it.
    #[test]
    fn what_comes_while_calls_are_answered_goes_on() {
        for seed in 0..60 {
            let machine = Machine::scc(3).with_strategy(Strategy::Seeded { seed });
            a_message_comes_with_calls(&machine, 6, [100_000, 0]);
        }
    }
}
