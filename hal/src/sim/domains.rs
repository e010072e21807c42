//! The coherence domains of a simulated machine: what their cores have cached in common.

use std::{
    cell::{RefCell, RefMut},
    rc::Rc,
};

use crate::{
    Home, LINE_BYTES, Layout, Line, SharedAddress,
    emulated::{Copies, HostWindow, MAX_FRAMES},
    kit::{Conflict, Slices},
    topology::MAX_CONTROLLERS,
};

/// All domains of a machine.
pub(super) struct Domains {
    copies: Vec<Rc<Copies<HostWindow>>>,
    /// What the cores of each look at by slices; where memory is coherent, the first is that of all cores.
    slices: Vec<RefCell<Slices>>,
    /// Whose the memory of each controller is.
    homes: [Option<usize>; MAX_CONTROLLERS],
    frames: usize,
    controllers: usize,
}

impl Domains {
    /// Empty caches, in which each core has room for the given number of pages.
    pub(super) fn new(layout: &Layout, frames: usize) -> Self {
        let copies = |domain| {
            let cores = layout.domain_cores(domain).len();
            let window = HostWindow::new((frames * cores).min(MAX_FRAMES), layout.controllers());
            Rc::new(Copies::new(window, layout.cores_per_domain() > 1))
        };
        Self {
            copies: (0..layout.domains()).map(copies).collect(),
            slices: (0..layout.domains()).map(|_| RefCell::default()).collect(),
            homes: std::array::from_fn(|controller| layout.home_domain(Home::Controller(controller as u16))),
            frames,
            controllers: layout.controllers(),
        }
    }

    /// The copies of controllers' memory that the cores of a domain share.
    pub(super) fn copies(&self, domain: usize) -> Rc<Copies<HostWindow>> {
        self.copies[domain].clone()
    }

    /// What the cores of a domain look at by slices.
    pub(super) fn slices(&self, domain: usize) -> RefMut<'_, Slices> {
        self.slices[domain].borrow_mut()
    }

    /// Room for the copies that a core has of what it exposes itself.
    pub(super) fn of_a_core(&self) -> Rc<Copies<HostWindow>> {
        Rc::new(Copies::new(HostWindow::new(self.frames, self.controllers), false))
    }

    /// See [`Layout::home_domain`].
    pub(super) fn home(&self, layout: &Layout, home: Home) -> Option<usize> {
        match home {
            Home::Controller(controller) => self.homes[usize::from(controller)],
            Home::Core(_) => layout.home_domain(home),
        }
    }

    /// These bytes of a line were stored to memory. If it is a controller's, its domain sees them in its copy; what a
    /// core exposes, its owner has by itself.
    ///
    /// # Errors
    /// If a slice of that domain looks at bytes that would change.
    pub(super) fn pushed(&self, at: SharedAddress, data: &Line, mask: u32) -> Result<(), Conflict> {
        if let Home::Controller(controller) = at.home()
            && let Some(domain) = self.homes[usize::from(controller)]
        {
            return self.copies[domain].pushed(&self.slices(domain), at, data, mask);
        }
        Ok(())
    }

    /// A word was stored to memory: see [`pushed`](Self::pushed).
    ///
    /// # Errors
    /// If a core of the domain has given out a slice that holds the word.
    pub(super) fn pushed_word(&self, at: SharedAddress, value: u32) -> Result<(), Conflict> {
        let (mut line, within) = (Line::default(), at.offset() % LINE_BYTES);
        line.0[within..within + size_of::<u32>()].copy_from_slice(&value.to_le_bytes());
        self.pushed(at, &line, 0b1111 << within)
    }
}
