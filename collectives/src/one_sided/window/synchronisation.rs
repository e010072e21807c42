//! The mechanisms behind the classes, as one: how posts and completions travel.
//!
//! What the default does in an epoch is there where it is called. The other mechanisms are calls (`…_otherwise`), so that nothing
//! is made ready for them in its epochs.

use alloc::rc::Rc;

use hal::{Core, Deadline, TimedOut};

use crate::{Comm, Error, Group, collective::element::apply_coded, one_sided::message::Channel};

use super::{
    class::Class,
    marks::{self, Home, Marks, Told},
    match_vector,
    peers::{Peers, Seen},
};

/// What synchronises the PSCW epochs of a window.
#[allow(
    clippy::large_enum_variant,
    reason = "a window has one, and each epoch looks at it; it is not as large on 32 bits"
)]
pub(super) enum Synchronisation {
    /// Match vectors and completion counters.
    MatchVector,
    /// Single-writer marks.
    Marks(Marks),
    /// Packets.
    Message(Rc<Channel>),
}

impl Synchronisation {
    /// The mechanism of a class. Collective: it may take spare lines of the MPBs, or open the channel for packets.
    pub(super) fn of<C: Core>(class: Class, comm: &Comm<'_, C>) -> Result<Self, Error> {
        let ranks = comm.size();
        Ok(match class {
            Class::Default => {
                let first = comm.take_spare_lines(marks::lines(ranks), "marks of a window");
                Self::Marks(Marks::new(first.map_or(Home::Words, |first| Home::Mpb { first }), comm))
            }
            Class::Message => {
                comm.check_whole("a window of class message")?;
                Self::Message(comm.open_channel()?)
            }
            Class::TrulyOneSided | Class::TriggerOnly | Class::Immediate | Class::Deferred => {
                comm.check_registers()?;
                Self::MatchVector
            }
        })
    }

    /// Words of each rank's synchronisation data that it needs.
    pub(super) fn words(&self, ranks: usize) -> usize {
        match self {
            Self::MatchVector => match_vector::words(ranks),
            Self::Marks(marks) if marks.home() == Home::Words => marks::words(ranks),
            Self::Marks(_) | Self::Message(_) => 0,
        }
    }

    /// Makes this rank ready for what others will send or write. A barrier has to follow.
    pub(super) fn prepare<C: Core>(&self, at: &Peers<'_, C>) {
        match self {
            Self::MatchVector => match_vector::clear(at),
            Self::Marks(marks) => marks.clear(at),
            Self::Message(channel) => channel.register(at.number, at.part(at.comm.rank()).mapped(), apply_coded),
        }
    }

    /// Gives back what it took for a window. Collective; nobody uses it any more.
    pub(super) fn release<C: Core>(&self, comm: &Comm<'_, C>, window: u32) -> Result<(), Error> {
        match self {
            Self::MatchVector => {}
            Self::Marks(marks) => {
                if let Home::Mpb { first } = marks.home() {
                    comm.give_back_lines(first, marks::lines(comm.size()));
                }
            }
            Self::Message(channel) => {
                channel.unregister(window);
                comm.close_channel()?;
            }
        }
        Ok(())
    }

    /// Tells `origins` that this rank's part is exposed. Never blocks but for registers.
    #[inline(always)]
    pub(super) fn post<C: Core>(&self, at: &Peers<'_, C>, origins: &Group) {
        match self {
            Self::Marks(marks) => marks.tell(at, origins, Told::Posted),
            others => others.post_otherwise(at, origins),
        }
    }

    #[inline(never)]
    fn post_otherwise<C: Core>(&self, at: &Peers<'_, C>, origins: &Group) {
        match self {
            Self::MatchVector => match_vector::post(at, origins),
            Self::Message(channel) => origins.iter().for_each(|origin| channel.post(at.comm, at.number, origin)),
            Self::Marks(_) => {}
        }
    }

    /// Whether `target` has posted, by one look unless `seen` says so. Others of `targets` may be seen, too.
    pub(super) fn has_posted<C: Core>(&self, at: &Peers<'_, C>, seen: &Seen, targets: &Group, target: usize) -> bool {
        if !seen.contains(target) {
            match self {
                Self::MatchVector => match_vector::await_post(at, seen, target, Deadline::At(0)),
                Self::Marks(marks) => marks.look(at, seen, target, targets, Told::Posted),
                Self::Message(channel) => {
                    if channel.post_is_there(at.comm, at.number, target) {
                        seen.insert(target);
                    }
                }
            }
        }
        seen.contains(target)
    }

    /// Waits for the posts of `targets` that were not seen. On a dying machine it returns without.
    pub(super) fn await_posts<C: Core>(&self, at: &Peers<'_, C>, seen: &Seen, targets: &Group) {
        match self {
            Self::MatchVector => {
                targets.iter().for_each(|target| match_vector::await_post(at, seen, target, Deadline::Never));
            }
            Self::Marks(marks) => {
                // It fails on a dying machine only.
                let _ = marks.take(at, seen, targets, Told::Posted, Deadline::Never);
            }
            Self::Message(channel) => {
                for target in targets.iter() {
                    if channel.await_post(at.comm, at.number, target, Deadline::Never).is_ok() {
                        seen.insert(target);
                    }
                }
            }
        }
    }

    /// Waits for those posts of `targets` that were not seen, consumes them all, and tells the targets that all
    /// accesses are complete.
    #[inline(always)]
    pub(super) fn complete<C: Core>(&self, at: &Peers<'_, C>, seen: &Seen, targets: &Group) {
        match self {
            Self::Marks(marks) => {
                // It fails on a dying machine only.
                let _ = marks.take_all(at, seen, targets, Told::Posted, Deadline::Never);
                marks.tell(at, targets, Told::Completed);
            }
            others => others.complete_otherwise(at, seen, targets),
        }
    }

    #[inline(never)]
    fn complete_otherwise<C: Core>(&self, at: &Peers<'_, C>, seen: &Seen, targets: &Group) {
        match self {
            Self::MatchVector => match_vector::complete(at, seen, targets),
            Self::Message(channel) => channel.complete(at.comm, at.number, targets),
            Self::Marks(_) => {}
        }
        seen.clear();
    }

    /// Waits until all of `origins` have completed. If it fails, those that have are in `seen`, for the next time.
    #[inline(always)]
    pub(super) fn await_completion<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        origins: &Group,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        match self {
            Self::Marks(marks) => marks.take_all(at, seen, origins, Told::Completed, deadline),
            others => others.await_completion_otherwise(at, seen, origins, deadline),
        }
    }

    #[inline(never)]
    fn await_completion_otherwise<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        origins: &Group,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        match self {
            Self::MatchVector => match_vector::await_completion(at, deadline)?,
            Self::Message(channel) => channel.await_completions(at.comm, at.number, origins, deadline)?,
            Self::Marks(_) => {}
        }
        seen.clear();
        Ok(())
    }
}
