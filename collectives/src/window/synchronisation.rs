//! The mechanisms behind the classes, as one: how posts and completions travel.

use hal::{Core, Deadline, Reason, TimedOut};

use crate::Group;

use super::{
    class::Class,
    marks::{self, Home, Marks, Told},
    match_vector,
    peers::{Peers, Seen},
};

/// What synchronises the PSCW epochs of a window.
pub(super) enum Synchronisation {
    /// Match vectors and completion counters.
    MatchVector,
    /// Single-writer marks.
    Marks(Marks),
}

impl Synchronisation {
    /// The mechanism of a class. Collective: it may take spare lines of the MPBs.
    pub(super) fn of<C: Core>(class: Class, comm: &crate::Comm<'_, C>) -> Self {
        let marks = |home| Self::Marks(Marks::new(home, comm.size()));
        match class {
            Class::Default => marks(
                comm.spare_lines().take(marks::lines(comm.size())).map_or(Home::Words, |first| Home::Mpb { first }),
            ),
            _ => Self::MatchVector,
        }
    }

    /// Words of each rank's synchronisation data that it needs.
    pub(super) fn words(&self, ranks: usize) -> usize {
        match self {
            Self::MatchVector => match_vector::words(ranks),
            Self::Marks(marks) if marks.home() == Home::Words => marks::words(ranks),
            Self::Marks(_) => 0,
        }
    }

    /// Clears what others will write to on this rank. A barrier has to follow.
    pub(super) fn clear<C: Core>(&self, at: &Peers<'_, C>) {
        match self {
            Self::MatchVector => match_vector::clear(at),
            Self::Marks(marks) => marks.clear(at),
        }
    }

    /// Gives back what it took. Collective; nobody uses it any more.
    pub(super) fn release<C: Core>(&self, at: &Peers<'_, C>) {
        if let Self::Marks(marks) = self
            && let Home::Mpb { first } = marks.home()
        {
            at.comm.spare_lines().give_back(first, marks::lines(at.comm.size()));
        }
    }

    /// Tells `origins` that this rank's part is exposed. Never blocks but for registers.
    pub(super) fn post<C: Core>(&self, at: &Peers<'_, C>, origins: &Group) {
        match self {
            Self::MatchVector => match_vector::post(at, origins),
            Self::Marks(marks) => marks.tell(at, origins, Told::Posted),
        }
    }

    /// Whether `target` has posted, by one look unless `seen` says so. Others of `targets` may be seen, too.
    pub(super) fn has_posted<C: Core>(&self, at: &Peers<'_, C>, seen: &Seen, targets: &Group, target: usize) -> bool {
        if !seen.contains(target) {
            match self {
                Self::MatchVector => match_vector::await_post(at, seen, target, Deadline::At(0)),
                Self::Marks(marks) => marks.look(at, seen, target, targets, Told::Posted),
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
                let reason = Reason::new(POST).number(at.number);
                // It fails on a dying machine only.
                let _ = marks.take(at, seen, targets, Told::Posted, Deadline::Never, reason);
            }
        }
    }

    /// Waits for those posts of `targets` that were not seen, consumes them all, and tells the targets that all accesses are complete.
    pub(super) fn complete<C: Core>(&self, at: &Peers<'_, C>, seen: &Seen, targets: &Group) {
        match self {
            Self::MatchVector => match_vector::complete(at, seen, targets),
            Self::Marks(marks) => {
                self.await_posts(at, seen, targets);
                marks.tell(at, targets, Told::Completed);
            }
        }
        seen.clear();
    }

    /// Waits until all of `origins` have completed. If it fails, those that have are in `seen`, for the next time.
    pub(super) fn await_completion<C: Core>(
        &self,
        at: &Peers<'_, C>,
        seen: &Seen,
        origins: &Group,
        deadline: Deadline,
    ) -> Result<(), TimedOut> {
        match self {
            Self::MatchVector => match_vector::await_completion(at, deadline)?,
            Self::Marks(marks) => {
                let reason = Reason::new("origins to complete on window").number(at.number);
                marks.take(at, seen, origins, Told::Completed, deadline, reason)?;
            }
        }
        seen.clear();
        Ok(())
    }
}

const POST: &str = "the post of window";
