//! The schedule without time: every interleaving of the operations, each once.
//!
//! Every core runs up to its next operation on shared memory and stops before it. Then one of the waiting operations
//! is chosen. Two interleavings that differ only in the order of operations that do not touch the same bytes, or only
//! read them, cannot be told apart by any program; *sleep sets* (Godefroid) leave such repetitions out: when the
//! subtree below operation `a` has been explored, the subtrees below its siblings need not begin with `a` until
//! something that conflicts with it has happened.

use std::collections::VecDeque;

use super::{
    access::Access,
    choice::{Chooser, Question},
    network::Stored,
};

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// This core runs.
    Core(usize),
    /// This takes effect in memory.
    Store(Stored),
    /// No core has anything to do.
    Nobody,
    /// Whatever could run has been explored in another order.
    Redundant,
}

/// Which core goes next, when any may.
pub(super) struct FreeSchedule {
    /// Cores that are not known to be before an operation: to be run up to the next one.
    local: VecDeque<usize>,
    /// The operation that each core is about to make.
    about_to: Vec<Option<Access>>,
    /// Cores whose operation has been explored first in a sibling's subtree.
    asleep: Vec<usize>,
    /// Whether the order of any two operations may make a difference.
    nothing_commutes: bool,
    /// The operations so far, in their order.
    made: Vec<Made>,
    /// Of each core, operations that it has begun, a wait with all its polls as one.
    numbers: Vec<u32>,
    waits_anew: Vec<bool>,
    polls: Vec<bool>,
}

/// An operation that was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) core: usize,
    /// The how manyth of the core.
    pub(super) number: u32,
    pub(super) is_poll: bool,
    pub(super) access: Access,
}

impl FreeSchedule {
    pub(super) fn new(cores: usize, nothing_commutes: bool) -> Self {
        Self {
            local: VecDeque::new(),
            about_to: vec![None; cores],
            asleep: Vec::new(),
            nothing_commutes,
            made: Vec::new(),
            numbers: vec![0; cores],
            waits_anew: vec![false; cores],
            polls: vec![false; cores],
        }
    }

    /// A core begins to wait: the operations of all polls to come are one.
    pub(super) fn begins_wait(&mut self, core: usize) {
        self.waits_anew[core] = true;
    }

    /// The operations so far, in their order.
    pub(super) fn made(&self) -> &[Made] {
        &self.made
    }

    /// From now on leaves no interleaving out.
    pub(super) fn nothing_commutes(&mut self) {
        self.nothing_commutes = true;
    }

    /// `core` can go on to its next operation.
    pub(super) fn can_run(&mut self, core: usize) {
        self.local.push_back(core);
    }

    /// `core` stops before an operation, in a poll or not.
    pub(super) fn stops_before(&mut self, core: usize, access: Access, is_polling: bool) {
        self.numbers[core] += u32::from(!is_polling || std::mem::take(&mut self.waits_anew[core]));
        self.polls[core] = is_polling;
        self.about_to[core] = Some(access);
    }

    pub(super) fn next(&mut self, chooser: &mut Chooser) -> Next {
        if let Some(core) = self.local.pop_front() {
            return Next::Core(core);
        }
        let waiting = || (0..self.about_to.len()).filter(|core| self.about_to[*core].is_some());
        let awake: Vec<usize> = waiting().filter(|core| !self.asleep.contains(core)).collect();
        if awake.is_empty() {
            return if waiting().next().is_none() { Next::Nobody } else { Next::Redundant };
        }
        let chosen = chooser.choose(Question::Next, awake.len());
        let core = awake[chosen];
        let access = self.about_to[core].take().expect("a core that is awake is about to do something");
        self.made.push(Made { core, number: self.numbers[core], is_poll: self.polls[core], access });
        self.asleep.extend_from_slice(&awake[..chosen]);
        if self.nothing_commutes {
            self.asleep.clear();
        }
        let about_to = &self.about_to;
        self.asleep.retain(|other| about_to[*other].is_some_and(|waiting| !waiting.conflicts(&access)));
        Next::Core(core)
    }
}
