//! Windows of communicators, in whose epochs other things go on.

use std::vec::Vec;

use hal::{Caches, LocalView, Topology, sim::SimCore};

use super::Tested;
use crate::{Assertions, Error, Group, Operator, Window, testing::Random};

/// Elements that a rank puts or gets.
const RUN: usize = 20;

/// Where in a part others put to, and where its owner has something that others get; the first element is a sum.
const PUT: usize = 1;
const OWN: usize = PUT + RUN;

/// A window of a communicator, and what this rank's part has to have.
pub(super) struct Shared<'t> {
    on: &'t Tested<'t>,
    window: Window<'t, SimCore, u32>,
    /// Away while an epoch is open.
    view: Option<LocalView<'t, u32>>,
    part: Vec<u32>,
}

/// What a rank puts, and what it has for others.
fn run(rank: usize, number: u32) -> [u32; RUN] {
    core::array::from_fn(|at| (rank * 1000 + at) as u32 ^ number << 20)
}

impl<'t> Shared<'t> {
    /// Makes one, if some rank can allocate it.
    pub(super) fn make(on: &'t Tested<'t>, caches: &mut Caches) -> Option<Self> {
        let own = run(on.ranks[on.comm.rank()], 0);
        match Window::create(&on.comm, caches, OWN + RUN) {
            Ok((window, mut view)) => {
                own.iter().enumerate().for_each(|(at, value)| view.store(OWN + at, *value));
                Some(Self { on, window, view: Some(view), part: [&[0; OWN][..], &own].concat() })
            }
            Err(error) => {
                let is_out_of_reach = matches!(error, Error::RegisterOutOfReach { .. });
                assert!(is_out_of_reach && !can_accumulate(on), "a window of {:?}: {error}", on.ranks);
                None
            }
        }
    }

    /// An epoch, within which there is another operation.
    pub(super) fn open(&mut self, caches: &mut Caches, random: &mut Random, number: u32) {
        let (on, me, size) = (self.on, self.on.comm.rank(), self.on.ranks.len());
        let (shift, other) = (random.below(size), random.below(size));
        let (right, left, peer) = ((me + shift) % size, (me + size - shift) % size, (me + other) % size);
        let (put, mut got, addend) = (run(on.ranks[me], number), [0; RUN], [number + me as u32]);
        let Some(view) = self.view.take() else { unreachable!("no epoch is open") };
        let view = if random.below(2) == 0 {
            let epoch = self.window.fence(view, caches, Assertions::default()).unwrap();
            epoch.put(right, PUT, &put).unwrap();
            epoch.get(peer, OWN, &mut got).unwrap();
            if can_accumulate(on) {
                epoch.accumulate(0, 0, &addend, Operator::SUM).unwrap();
                self.part[0] += if me == 0 { number * size as u32 + (size * (size - 1) / 2) as u32 } else { 0 };
            }
            on.operate(random, number);
            let view = epoch.close(caches, Assertions::default());
            assert_eq!(got, run(on.ranks[peer], 0), "got from {peer} of {:?}", on.ranks);
            view
        } else {
            let exposure = self.window.post(view, caches, &Group::of([left]).unwrap()).unwrap();
            let access = self.window.start(&Group::of([right]).unwrap()).unwrap();
            access.put(right, PUT, &put).unwrap();
            on.operate(random, number);
            access.complete();
            exposure.wait(caches)
        };
        self.part[PUT..OWN].copy_from_slice(&run(on.ranks[left], number));
        let found: Vec<_> = (0..self.part.len()).map(|at| view.load(at)).collect();
        assert_eq!(found, self.part, "epoch {number} of {:?}", on.ranks);
        self.view = Some(view);
    }

    pub(super) fn free(self, caches: &mut Caches) {
        let Some(view) = self.view else { unreachable!("no epoch is open") };
        assert!(self.window.free(view, caches).is_ok());
    }
}

/// Whether ranks reach each other's registers, which lock what they combine.
fn can_accumulate(on: &Tested<'_>) -> bool {
    on.comm.hal().layout().registers_reach_everywhere()
}
