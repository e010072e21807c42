//! Messages with tags, as MPI has them: matched at the receiver by communicator, source and tag.
//!
//! ```
//! # use collectives::{Comm, Error, Source, Tag};
//! # use hal::Core;
//! /// Rank 0 collects a word of every other rank, in the order in which they come, and answers each.
//! fn collect<C: Core>(comm: &Comm<'_, C>) -> Result<u32, Error> {
//!     const QUESTION: u32 = 1;
//!     const ANSWER: u32 = 2;
//!     let messages = comm.open_messages()?;
//!     let (mut word, mut sum) = ([comm.rank() as u32], 0);
//!     if comm.rank() == 0 {
//!         for _ in 1..comm.size() {
//!             let envelope = comm.receive_tagged(&mut word, Source::Any, Tag::Is(QUESTION))?;
//!             sum += word[0];
//!             comm.send_tagged(&[sum], envelope.source, ANSWER)?;
//!         }
//!     } else {
//!         comm.send_tagged(&word, 0, QUESTION)?;
//!         let mut answer = [0];
//!         comm.receive_tagged(&mut answer, Source::Rank(0), Tag::Any)?;
//!         sum = answer[0].min(1);
//!     }
//!     messages.close()?;
//!     Ok(sum)
//! }
//! # let outcome = hal::sim::Machine::scc(4).run(|core| collect(&Comm::world(core, regions::of_a_test()).unwrap()).unwrap());
//! # assert_eq!(outcome.unwrap().results(), [6, 1, 1, 1]);
//! ```
//!
//! **Order.** Of two messages from one rank on one communicator that fit a receive, the first one is received first, however
//! long they are. Messages of different communicators never meet.
//!
//! **Ready sends.** MPI's send whose receive is promised to be there (`MPI_Rsend`) is [`Comm::send_tagged`], or one of its other forms, as
//! MPI lets it be: the promise would save nothing. A short message goes at once anyway; and a longer one is fetched by its receiver, who
//! has to be told of it in any case.
//!
//! **Progress.** Whatever a rank waits for through any communicator, its messages go on meanwhile; while it computes they rest, unless it
//! [asks for interrupts](Comm::progress_by_interrupts).
//!
//! **What it takes.** [`Comm::open_messages`] takes lines of the MPBs: 20 on 48 ranks, and 48 more that staging gives once, if it
//! can, and a buffer in shared memory for each rank. A message of up to 240 bytes goes at once, in a packet of up to 8 lines, unless 16 messages of its sender wait
//! there for their receives; longer ones wait for their receive, and are then copied twice, by way of the sender's MPB, or of its
//! buffer in shared memory if the send was begun.
//! What comes unexpected is bounded: a rank keeps up to
//! 16 messages of each other one, of which the long ones are only announced.

mod calls;
mod interface;
mod label;
mod matching;
mod operations;
mod packet;
mod post;
pub mod request;
mod seen;
mod slots;
mod state;
#[cfg(test)]
mod tests;
mod waits;

use alloc::rc::Rc;
use core::cell::{OnceCell, RefCell};

use hal::{Core, Region, Span, kind};

use self::{
    post::{HALF_BYTES, Post},
    slots::Slots,
    waits::wait_for,
};
use crate::{
    Comm, Error, Placement,
    collective::call::{Call, Collective},
    comm::engines::Engine,
};

pub(crate) use self::post::tasks::{LAST_CONTEXT, Parts, Ranks};

pub use self::{
    interface::{Arrival, PreparedReceive, PreparedSend},
    label::{Envelope, Source, Tag},
    post::calls::{Answers, RemoteCall},
};

/// The post of this rank while it is open, as a state of the communicator of all ranks.
#[derive(Default)]
struct Opened {
    post: RefCell<Option<Rc<Post>>>,
    /// Whether staging has given lines for boxes.
    boxes: OnceCell<bool>,
}

/// Messages with tags, as long as they are open. To be [closed](Self::close): dropped otherwise, they stay open.
pub struct Messages<'c, C: Core> {
    world: &'c Comm<'c, C>,
    post: Rc<Post>,
}

impl<C: Core> Comm<'_, C> {
    /// Opens messages with tags, for all communicators. Collective over all ranks, and before there are too few lines left.
    ///
    /// # Errors
    /// On all ranks alike: [`Error::NoSpareLines`] if the MPBs have no room; [`Error::OutOfSharedMemory`];
    /// [`Error::WholeMachine`] on a communicator of some ranks; [`Error::InForce`] if they are open;
    /// [`Error::ProfileInForce`]; [`Error::CallsDiffer`] while calls are [compared](Self::check_arguments).
    pub fn open_messages<'c>(&'c self) -> Result<Messages<'c, C>, Error> {
        self.check_call(|| Call::new(Collective::OpenMessages))?;
        self.check_whole("the opening of messages with tags")?;
        self.check_no_profile()?;
        let opened = self.state::<Opened>();
        if opened.post.borrow().is_some() {
            return Err(Error::InForce { what: "the post for messages with tags" });
        }
        let _span = self.hal().span(Span::new("open messages"));
        self.divide_lines();
        let take = |has_boxes| {
            let wanted = Slots::lines(self.size(), has_boxes)?;
            Some((self.take_spare_lines(wanted, "slots of messages with tags")?, wanted, has_boxes))
        };
        // What boxes take, staging gives once, lest other communicators and subscriptions go without.
        let are_given = || Slots::lines(self.size(), true).is_some() && self.widen_spare_lines(self.size());
        let with_boxes = if *opened.boxes.get_or_init(are_given) { take(true) } else { None };
        let wanted = Slots::lines(self.size(), false).unwrap_or_default();
        let (first, wanted, has_boxes) = with_boxes.or_else(|| take(false)).ok_or(Error::NoSpareLines { wanted })?;
        let near = |rank| (2 * HALF_BYTES, Placement::Near(self.core_of(rank)));
        let parts: alloc::vec::Vec<_> = (0..self.size()).map(near).collect();
        let buffers: alloc::vec::Vec<Region<kind::Combined>> =
            self.share_all(&parts).inspect_err(|_| self.give_back_lines(first, wanted))?;
        let post = Rc::new(Post::new(Slots::new(self, first, wanted, has_boxes), buffers.into_boxed_slice()));
        self.engines().add(post.clone());
        *opened.post.borrow_mut() = Some(post.clone());
        // Nobody sends before all are ready.
        self.synchronise();
        Ok(Messages { world: self, post })
    }

    /// The post of this rank.
    fn post(&self) -> Result<Rc<Post>, Error> {
        self.world_of().state::<Opened>().post.borrow().clone().ok_or(Error::MessagesClosed)
    }
}

impl<C: Core> Messages<'_, C> {
    /// Closes messages with tags. Collective over all ranks, each of which has received all that was sent to it.
    ///
    /// # Errors
    /// [`Error::RequestsOutstanding`], on a rank where something was not completed or has come and was not received; then messages
    /// stay open, and a program in which not all ranks get it is wrong. [`Error::CallsDiffer`] while calls are
    /// [compared](Comm::check_arguments).
    pub fn close(self) -> Result<(), Error> {
        let (world, post) = (self.world, self.post);
        world.check_call(|| Call::new(Collective::CloseMessages))?;
        let _span = world.hal().span(Span::new("close messages"));
        // First what programs have sent comes to where it goes, then what that was answered with.
        for _ in 0..2 {
            wait_for(world, || post.has_sent_all().then_some(()))?;
            world.synchronise();
            world.look();
        }
        world.synchronise();
        post.check_quiet()?;
        let engine: Rc<dyn Engine<C>> = post.clone();
        world.engines().remove(&engine);
        *world.state::<Opened>().post.borrow_mut() = None;
        // Nobody rings any more, and so nobody acknowledges.
        world.synchronise();
        let (first, count) = post.slots().taken_lines();
        world.give_back_lines(first, count);
        if world.rank() == 0 {
            post.buffers().iter().try_for_each(|buffer| world.allocator().free(*buffer))?;
        }
        Ok(())
    }
}
