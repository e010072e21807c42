//! What each core knows of what the others have done before.

use std::rc::Rc;

/// How a core has learnt of another one's stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Via {
    /// By a look at what it has stored.
    Store,
    Register,
    Counter,
    Interrupt,
}

/// What whoever learns it knows: a core up to a number of its own order, and of the others what that core knew.
#[derive(Clone, Debug)]
pub(super) struct Learnt {
    core: usize,
    pub(super) until: u32,
    others: Rc<[u32]>,
}

impl Learnt {
    /// Both are known.
    pub(super) fn join(&mut self, other: &Self) {
        let mut others: Vec<u32> = self.others.iter().zip(&*other.others).map(|(a, b)| *a.max(b)).collect();
        others[self.core] = others[self.core].max(self.until);
        others[other.core] = others[other.core].max(other.until);
        self.until = others[self.core];
        self.others = others.into();
    }

    /// Whether the core that has told both had learnt nothing in between.
    pub(super) fn is_same_step(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.others, &other.others)
    }
}

/// A core's knowledge.
pub(super) struct Clock {
    core: usize,
    /// Of each core, up to which number of its order all happens before.
    known: Vec<u32>,
    via: Vec<Via>,
    /// What each core has told last, directly.
    heard: Vec<Option<Learnt>>,
    told: Option<Rc<[u32]>>,
}

impl Clock {
    pub(super) fn new(core: usize, cores: usize) -> Self {
        Self { core, known: vec![0; cores], via: vec![Via::Store; cores], heard: vec![None; cores], told: None }
    }

    /// The number of the core's last step.
    pub(super) fn now(&self) -> u32 {
        self.known[self.core]
    }

    /// The core's next step.
    pub(super) fn step(&mut self) -> u32 {
        self.known[self.core] += 1;
        self.known[self.core]
    }

    /// Takes a step, and tells all up to it.
    pub(super) fn tell(&mut self) -> Learnt {
        self.step();
        self.told()
    }

    /// Tells all up to the last step.
    pub(super) fn told(&mut self) -> Learnt {
        let others = self.told.get_or_insert_with(|| self.known.as_slice().into()).clone();
        Learnt { core: self.core, until: self.known[self.core], others }
    }

    /// What it tells of an earlier step.
    pub(super) fn of_step(&self, step: u32) -> Learnt {
        Learnt { core: self.core, until: step, others: self.known.as_slice().into() }
    }

    pub(super) fn learn(&mut self, learnt: &Learnt, via: Via) {
        if learnt.core == self.core {
            // What others had told meanwhile may be among it.
            if !self.told.as_ref().is_some_and(|told| Rc::ptr_eq(told, &learnt.others)) {
                self.raise(&learnt.others, via);
            }
            return;
        }
        if self.known[learnt.core] < learnt.until {
            self.raise(&learnt.others, via);
            self.known[learnt.core] = learnt.until;
            self.via[learnt.core] = via;
            self.heard[learnt.core] = Some(learnt.clone());
            self.told = None;
        }
    }

    fn raise(&mut self, others: &[u32], via: Via) {
        for (core, known) in others.iter().enumerate() {
            if core != self.core && self.known[core] < *known {
                self.known[core] = *known;
                self.via[core] = via;
                self.told = None;
            }
        }
    }

    /// Whether a step of another core happens before what this one does now.
    pub(super) fn knows(&self, core: u16, step: u32) -> bool {
        self.known[usize::from(core)] >= step
    }

    /// How it has learnt last of that core.
    pub(super) fn via(&self, core: u16) -> Via {
        self.via[usize::from(core)]
    }

    /// Whether another core has told something of that step as last thing, and has learnt nothing in between: then it has
    /// told too early.
    pub(super) fn was_told_before(&self, core: u16, told: &Learnt) -> bool {
        self.heard[usize::from(core)].as_ref().is_some_and(|heard| heard.is_same_step(told))
    }
}
