//! What goes on while a rank waits.

use alloc::{rc::Rc, vec::Vec};
use core::cell::{Cell, RefCell};

use hal::{Place, Poll};

use crate::Comm;

/// Something that a peer may depend on, whatever this rank waits for. It knows no more of its core than waits do.
pub(crate) trait Engine<C> {
    /// Whether nothing is outstanding.
    fn is_idle(&self) -> bool;

    /// Adds the places where something to do shows.
    fn add_places(&self, comm: &Comm<'_, C>, places: &mut Vec<Place>);

    /// Looks at all of these places, of which the first has number `first` in the poll. Returns whether there is
    /// something to do.
    fn has_news(&self, comm: &Comm<'_, C>, poll: &Poll<'_>, first: usize) -> bool;

    /// Does what the last look found. Waits for nothing but registers. Returns whether it has served others, who may go on
    /// asking for as long as they are served: a rank that only looks is not to be kept by that.
    fn handle(&self, comm: &Comm<'_, C>) -> bool;

    /// A wait ends although there may be more to serve: says at once what would otherwise be said with what comes next.
    fn settle(&self, _: &Comm<'_, C>) {}
}

/// An engine that a poll looks for: the number of its first place, and whether the poll has found something for it.
pub(super) type Driven<C> = (Rc<dyn Engine<C>>, usize, bool);

/// What one poll looks at: its places, and whose they are.
pub(super) struct Round<C> {
    pub(super) places: Vec<Place>,
    pub(super) engines: Vec<Driven<C>>,
}

/// The engines that all waits of a communicator drive.
pub(crate) struct Engines<C> {
    all: RefCell<Vec<Rc<dyn Engine<C>>>>,
    /// Memory for the next round: each poll of a wait takes some.
    spare: Cell<(Vec<Place>, Vec<Driven<C>>)>,
    /// Whether there are any: most programs have none, and each wait asks.
    are_some: Cell<bool>,
    /// What is done when engines have found something to do.
    work: RefCell<Option<Rc<dyn Fn()>>>,
    is_working: Cell<bool>,
}

impl<C> Default for Engines<C> {
    fn default() -> Self {
        Self {
            all: RefCell::default(),
            spare: Cell::default(),
            are_some: Cell::new(false),
            work: RefCell::default(),
            is_working: Cell::new(false),
        }
    }
}

impl<C> Engines<C> {
    /// Waits drive this engine from now on, if they do not yet.
    pub(crate) fn add(&self, engine: Rc<dyn Engine<C>>) {
        let mut engines = self.all.borrow_mut();
        self.are_some.set(true);
        if !engines.iter().any(|of| Rc::ptr_eq(of, &engine)) {
            engines.push(engine);
        }
    }

    /// Waits no longer drive this engine.
    pub(crate) fn remove(&self, engine: &Rc<dyn Engine<C>>) {
        let mut engines = self.all.borrow_mut();
        engines.retain(|of| !Rc::ptr_eq(of, engine));
        self.are_some.set(!engines.is_empty());
    }

    /// Whether a wait can leave all of them alone.
    #[inline]
    pub(crate) fn are_idle(&self) -> bool {
        !self.are_some.get() || self.all_are_idle()
    }

    #[cold]
    fn all_are_idle(&self) -> bool {
        self.all.borrow().iter().all(|engine| engine.is_idle())
    }

    /// Whether waits drive one of them.
    #[inline]
    pub(crate) fn are_one(&self) -> bool {
        self.all.borrow().len() == 1
    }

    /// Whenever engines have found something to do, this is done afterwards.
    pub(crate) fn set_work(&self, work: Option<Rc<dyn Fn()>>) {
        *self.work.borrow_mut() = work;
    }

    /// Does it, unless what it does has led here.
    pub(super) fn work(&self) {
        let work = self.work.borrow().clone();
        if let Some(work) = work
            && !self.is_working.replace(true)
        {
            work();
            self.is_working.set(false);
        }
    }

    /// What the next poll looks at: these places first, then those of all engines with something outstanding.
    pub(super) fn round(&self, comm: &Comm<'_, C>, places: &[Place]) -> Round<C> {
        let (mut all, mut engines) = self.spare.take();
        all.extend_from_slice(places);
        let busy = self.all.borrow();
        engines.extend(busy.iter().filter(|engine| !engine.is_idle()).map(|engine| (engine.clone(), 0, false)));
        drop(busy);
        for (engine, first, _) in &mut engines {
            *first = all.len();
            engine.add_places(comm, &mut all);
        }
        Round { places: all, engines }
    }

    /// A wait ends although there may be more to serve.
    pub(super) fn settle(&self, comm: &Comm<'_, C>) {
        self.all.borrow().iter().for_each(|engine| engine.settle(comm));
    }

    /// That round is over.
    pub(super) fn end_round(&self, round: Round<C>) {
        let Round { mut places, mut engines } = round;
        places.clear();
        engines.clear();
        self.spare.set((places, engines));
    }
}
