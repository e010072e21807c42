//! The coherence domains of a simulated machine: what their cores have cached in common.

use std::rc::Rc;

use crate::{
    Home, LINE_BYTES, Layout, Line, SharedAddress,
    emulated::{Copies, MAX_FRAMES},
    topology::MAX_CONTROLLERS,
};

use super::SimWindow;

/// All domains of a machine.
pub(super) struct Domains {
    copies: Vec<Rc<Copies<SimWindow>>>,
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
            let window = SimWindow::new((frames * cores).min(MAX_FRAMES), layout.controllers());
            Rc::new(Copies::new(window, layout.cores_per_domain() > 1))
        };
        Self {
            copies: (0..layout.domains()).map(copies).collect(),
            homes: std::array::from_fn(|controller| layout.home_domain(Home::Controller(controller as u16))),
            frames,
            controllers: layout.controllers(),
        }
    }

    /// The copies of controllers' memory that the cores of a domain share.
    pub(super) fn copies(&self, domain: usize) -> Rc<Copies<SimWindow>> {
        self.copies[domain].clone()
    }

    /// Room for the copies that a core has of what it exposes itself.
    pub(super) fn of_a_core(&self) -> Rc<Copies<SimWindow>> {
        Rc::new(Copies::new(SimWindow::new(self.frames, self.controllers), false))
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
    pub(super) fn pushed(&self, at: SharedAddress, data: &Line, mask: u32) {
        if let Home::Controller(controller) = at.home()
            && let Some(domain) = self.homes[usize::from(controller)]
        {
            self.copies[domain].pushed(at, data, mask);
        }
    }

    /// A word was stored to memory: see [`pushed`](Self::pushed).
    pub(super) fn pushed_word(&self, at: SharedAddress, value: u32) {
        let (mut line, within) = (Line::default(), at.offset() % LINE_BYTES);
        line.0[within..within + size_of::<u32>()].copy_from_slice(&value.to_le_bytes());
        self.pushed(at, &line, 0b1111 << within);
    }
}
